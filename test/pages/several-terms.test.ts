import { expect, it } from '@jest/globals';
import { readPage } from '../support/html-page.ts';
import { describeRequests } from '../support/site-client.ts';

describeRequests(
  'pages of several terms',
  (ask) => {
    const home = async () => (await ask.running().site.settings()).home;
    const get = async (path: string) => {
      const answer = await ask.send('GET', path);
      const place = String(answer.headers.location ?? '').slice((await home()).length);
      const last = answer.status === 301 ? await ask.send('GET', place) : answer;
      expect([path, last.status]).toEqual([path, 200]);
      return last;
    };
    const page = async (path: string) => readPage((await get(path)).text);
    /** The paths to which a page links, except those to which every page does. */
    const ownLinks = async (path: string): Promise<string[]> => {
      const start = await home();
      const [links, others] = [(await page(path)).links, (await page('/?post_type=tribe_events&eventDisplay=list')).links];
      const hrefs = links.map((href) => href.replace(/^webcal:/, 'http:')).filter((href) => href.startsWith(start));
      return [...new Set(hrefs)].filter((href) => !others.includes(href)).map((href) => href.slice(start.length));
    };
    const linked = async (path: string, rel: string) => {
      const link = (await page(path)).elements.find(({ attributes }) => attributes.rel === rel);
      return link?.attributes.href?.slice((await home()).length);
    };
    const EVENTS = [
      { title: 'Of both', categories: ['Aa', 'Bb'], tags: ['Tt'] },
      { title: 'Of the first', categories: ['Aa'] },
      { title: 'Of the second', categories: ['Bb'] },
      { title: 'Of the tag', tags: ['Tt'] },
    ];
    const make = async () => {
      await ask.options({ posts_per_page: '2', tribe_events_calendar_options: { postsPerPage: '2' } });
      for (const event of EVENTS)
        for (const day of ['10', '11', '12'])
          await ask.create('/events', {
            ...event,
            title: `${event.title} ${day}`,
            start_date: `2026-12-${day} 10:00`,
            end_date: `2026-12-${day} 11:00`,
            status: 'publish',
          });
    };
    const TITLE = /Of (?:both|the first|the second|the tag) 1[012]/g;
    const titlesIn = (text: string) => new Set(text.match(TITLE) ?? []);

    it.each([
      ['/%postname%/', '/events/category/aa/list/?tag=tt', ['Of both'], '/events/list/?tribe_events_cat=aa&tag=tt'],
      ['/%postname%/', '/events/tag/tt/2026-12/?tribe_events_cat=aa', ['Of both'], '/events/2026-12/?tribe_events_cat=aa&tag=tt'],
      ['/%postname%/', '/events/category/aa+bb/', ['Of both'], '/events/list/?tribe_events_cat=aa%2Bbb'],
      [
        '/%postname%/',
        '/?post_type=tribe_events&tribe_events_cat=aa,bb',
        ['Of both', 'Of the first', 'Of the second'],
        '/events/list/?tribe_events_cat=aa%2Cbb',
      ],
      ['/%postname%/', '/events/2026-12-10/?tribe_events_cat=bb&tag=tt', ['Of both'], '/events/2026-12-10/?tribe_events_cat=bb&tag=tt'],
      [
        '',
        '/?post_type=tribe_events&tribe_events_cat=aa&tag=tt',
        ['Of both'],
        '/?post_type=tribe_events&eventDisplay=list&tribe_events_cat=aa&tag=tt',
      ],
      [
        '',
        '/?post_type=tribe_events&tribe_events_cat=aa,bb',
        ['Of both', 'Of the first', 'Of the second'],
        '/?post_type=tribe_events&eventDisplay=list&tribe_events_cat=aa%2Cbb',
      ],
    ])('keep all of them in every link (permalinks like %j, %s)', async (structure, path, named, canonical) => {
      await make();
      await ask.options({ permalink_structure: structure });
      expect(await linked(path, 'canonical')).toBe(canonical);
      const links = (await ownLinks(path)).filter((href) => !/^\/(event\/|\?tribe_events=|wp-json|index\.php)/.test(href));
      expect(links.length).toBeGreaterThan(5);
      for (const link of links) {
        const strange = [...titlesIn((await get(link)).text)].filter((title) => !named.includes(title.slice(0, -3)));
        expect([link, strange]).toEqual([link, []]);
      }
    });

    it('consist of the same list as its first page', async () => {
      await make();
      const found = new Set<string>();
      for (let path: string | undefined = '/events/category/aa+bb/'; path !== undefined; path = await linked(path, 'next'))
        for (const title of titlesIn((await get(path)).text)) found.add(title);
      expect(found).toEqual(new Set(['Of both 10', 'Of both 11', 'Of both 12']));
      expect(await linked('/events/list/page/2/?tribe_events_cat=aa%2Bbb', 'prev')).toBe('/events/list/?tribe_events_cat=aa%2Bbb');
    });

    it.each([
      ['/events/category/aa/list/?tag=tt', { tribe_events_cat: 'aa', tag: 'tt' }, {}],
      ['/events/category/aa/list/?tag=tt&filters=open', {}, { categories: 'aa', tags: 'tt' }],
      ['/events/list/?tribe_events_cat=aa,bb&filters=open', {}, { categories: 'aa,bb' }],
      ['/events/category/aa+bb/list/?filters=open', { tribe_events_cat: 'aa+bb' }, {}],
      ['/events/category/aa/list/?categories=bb', { tribe_events_cat: 'aa' }, { categories: 'bb' }],
    ])('are searched within: %s', async (path, hidden, chosen) => {
      await make();
      const { elements } = await page(path);
      const inputs = elements.filter(({ attributes }) => attributes.type === 'hidden').map(({ attributes }) => attributes);
      expect(Object.fromEntries(inputs.map(({ name, value }) => [name, value]))).toEqual(hidden);
      const selected = elements.filter(({ name, attributes }) => name === 'option' && 'selected' in attributes && attributes.value !== '');
      expect(selected.map(({ attributes }) => attributes.value)).toEqual(Object.values(chosen));
    });

    it('name none that does not exist', async () => {
      await make();
      expect(await linked('/events/list/?tribe_events_cat=aa,gone,bb', 'canonical')).toBe('/events/list/?tribe_events_cat=aa%2Cbb');
      expect(await linked('/events/list/?tribe_events_cat=aa,gone', 'canonical')).toBe('/events/category/aa/list/');
    });

    it('may be many', async () => {
      const names = Array.from({ length: 50 }, (_, index) => `Category number ${100 + index}`);
      await ask.create('/events', {
        title: 'Of many',
        categories: names,
        status: 'publish',
        start_date: '2026-12-10',
        end_date: '2026-12-10',
      });
      const address = (await linked(
        `/?post_type=tribe_events&${names.map((name) => `tribe_events_cat[]=${name.toLowerCase().replaceAll(' ', '-')}`).join('&')}`,
        'canonical',
      ))!;
      expect(await linked(address, 'canonical')).toBe(address);
      expect(new URL(address, 'http://localhost').searchParams.get('tribe_events_cat')?.split(',')).toHaveLength(50);
    });

    it('are the same list of the API in the header as on the page', async () => {
      await make();
      for (const [path, list] of [
        ['/events/category/aa/list/?tag=tt', 'events/?categories=aa&tags=tt'],
        ['/events/category/aa+bb/list/', 'events/'],
        ['/events/category/aa+bb/list/?ical=1', 'events/'],
        ['/events/category/aa/list/', 'events/?categories=aa'],
      ] as const)
        expect([path, (await get(path)).headers['x-tec-api-root']]).toEqual([
          path,
          expect.stringMatching(`/v1/${list.replace('?', '[?]')}$`),
        ]);
    });

    it('can be purged by each of them', async () => {
      await make();
      const { headers } = await get('/events/list/?tribe_events_cat=aa&tag=tt&eventDisplay=past');
      expect(headers['surrogate-key']).toMatch(/^category-\d+ tag-\d+ events$/);
    });

    it('name the list of the API with the same events', async () => {
      await make();
      const api = async (path: string) => {
        const link = (await page(path)).elements.find(({ attributes }) => attributes.type === 'application/json');
        return link?.attributes.href?.split('/wp-json/')[1];
      };
      expect(await api('/events/category/aa/?tag=tt')).toBe('tribe/events/v1/events/?categories=aa&tags=tt');
      expect(await api('/events/list/?tribe_events_cat=aa,bb')).toBe('tribe/events/v1/events/?categories=aa%2Cbb');
      expect(await api('/events/category/aa+bb/')).toBe('tribe/events/v1/events/');
    });
  },
  { PAGES: 'on' },
);
