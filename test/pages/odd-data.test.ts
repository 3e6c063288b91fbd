import { expect, it } from '@jest/globals';
import { readPage } from '../support/html-page.ts';
import { describeRequests, type Json } from '../support/site-client.ts';

const HOME = 'http://127.0.0.1:8081';

describeRequests(
  'pages and feeds of old or unusual data',
  (ask) => {
    const get = async (path: string): Promise<string> => {
      const { status, text } = await ask.send('GET', path.replace(HOME, ''), { headers: {} });
      expect([path, status]).toEqual([path, 200]);
      return text;
    };
    const page = async (path: string) => readPage(await get(path));
    const made = (values: object = {}): Promise<Json> =>
      ask.create('/events', {
        title: 'Fair',
        start_date: '2026-12-05 10:00:00',
        end_date: '2026-12-05 12:00:00',
        status: 'publish',
        venue: { venue: 'Hall', city: 'Lund' },
        organizer: { organizer: 'Club', email: 'club@example.org' },
        categories: ['Fairs'],
        tags: ['Old'],
        ...values,
      });

    it('show names that mix scripts in their own direction wherever an event names them', async () => {
      const name = 'אולם (2)';
      const values = { venue: { venue: name, address: name }, organizer: { organizer: name }, categories: [name], tags: [name] };
      const { url } = await made(values);
      const text = await get(url);
      // The venue is named twice, once with its address.
      expect(text.split(`<bdi>${name}</bdi>`).length - 1).toBe(6);
      expect(text.match(new RegExp(`>${name.replace(/[()]/g, '.')}<`, 'g'))).toHaveLength(6);
    });

    it('show venues, organizers and terms without a name, which is empty in the API', async () => {
      const event = await made();
      const [venue, [organizer]] = [event.venue, event.organizer];
      await ask.writeRows(async (db) => {
        await db.from('posts').whereIn('ID', [venue.id, organizer.id]).update({ post_title: '' });
        const ids = [...event.categories, ...event.tags].map(({ id }: Json) => id);
        await db.from('terms').whereIn('term_id', ids).update({ name: '' });
      });
      const shown = await ask.read(`/events/${event.id}`);
      expect([shown.venue.venue, shown.organizer[0].organizer]).toEqual(['', '']);
      expect([(await ask.read(`/venues/${venue.id}`)).venue, (await ask.read(`/organizers/${organizer.id}`)).organizer]).toEqual(['', '']);

      const calendar = await get('/events/2026-12-05/?ical=1');
      expect(calendar).toContain('LOCATION:Lund');
      expect(calendar).toContain('ORGANIZER:mailto:club@example.org');
      expect(await get('/events/feed/')).toContain('<ev:location>Lund</ev:location>');
      const paths = [
        event.url,
        venue.url,
        organizer.url,
        event.categories[0].urls.self ?? '',
        '/events/list/?filters=open',
        '/events/2026-12-05/',
      ];
      for (const path of paths) {
        const { elements } = await page(path);
        const empty = elements.filter(
          ({ name, text, attributes }) => /^(a|h1|h2|option)$/.test(name) && text.trim() + (attributes['aria-label'] ?? '') === '',
        );
        expect([path, empty.map(({ name, attributes }) => `${name} ${attributes.href ?? ''}`)]).toEqual([path, []]);
      }
    });

    it.each(['&#8203;', '<b> </b>', '\u00ad\u200d', '&nbsp;'])(
      'give a record whose name has no visible characters a substitute name: %j',
      async (post_title) => {
        const { id, url, venue } = await made();
        await ask.writeRows((db) => db.from('posts').whereIn('ID', [id, venue.id]).update({ post_title }));
        const heading = async (path: string) => (await page(path)).elements.find(({ name }) => name === 'h1')?.text;
        expect([await heading(url), await heading(venue.url)]).toEqual(['Untitled event', 'Unnamed']);
      },
    );

    it('link to websites stored without a scheme, but not to a single word', async () => {
      const event = await made();
      const [venue, [organizer]] = [event.venue, event.organizer];
      const websites = async (text: string) => {
        await ask.writeRows(async (db) => {
          const metas = [
            [event.id, '_EventURL'],
            [venue.id, '_VenueURL'],
            [organizer.id, '_OrganizerWebsite'],
          ] as const;
          for (const [post_id, meta_key] of metas) {
            await db.from('postmeta').where({ post_id, meta_key }).delete();
            await db.from('postmeta').insert({ post_id, meta_key, meta_value: text });
          }
        });
        const links = [];
        for (const { url } of [event, venue, organizer]) {
          const { elements, text: shown } = await page(url);
          links.push(
            elements.find(
              ({ name, attributes }) =>
                name === 'a' && !/^(https?:\/\/(127|www\.(google|openstreetmap))|#|mailto)/.test(attributes.href ?? ''),
            )?.attributes.href,
          );
          expect([url, shown]).toEqual([url, expect.stringContaining(text.replace('www.', '').replace('&', ' & '))]);
        }
        return links;
      };
      expect(await websites('www.example.org/a?b=1&c=2')).toEqual(Array(3).fill('http://www.example.org/a?b=1&c=2'));
      expect(await websites('ask Maria')).toEqual(Array(3).fill(undefined));
    });

    it('show texts with a reference to half of a surrogate pair', async () => {
      const event = await made();
      const half = 'Half &#xD83C; whole &#55356;&#57225;';
      await ask.writeRows((db) =>
        db.from('posts').whereIn('ID', [event.id, event.venue.id, event.organizer[0].id]).update({ post_title: half }),
      );
      await ask.writeRows((db) =>
        db.from('postmeta').where({ post_id: event.venue.id, meta_key: '_VenueCity' }).update({ meta_value: half }),
      );
      await ask.writeRows((db) =>
        db
          .from('postmeta')
          .where({ post_id: event.organizer[0].id, meta_key: '_OrganizerEmail' })
          .update({ meta_value: '&#xD83C;@example.org' }),
      );
      for (const { url } of [event, event.venue, event.organizer[0]]) expect((await page(url)).text).toContain('Half \ufffd whole 🎉');
      expect(await get('/events/2026-12-05/?ical=1')).toContain('SUMMARY:Half \ufffd whole 🎉');
    });

    it('write a field of several lines, as sent by forms, on one line of a calendar', async () => {
      const event = await made();
      const fields = { 1: { name: '_ecp_custom_1', label: 'Programme', type: 'textarea', values: '' } };
      await ask.options({ tribe_events_calendar_options: { 'custom-fields': fields } });
      await ask.writeRows((db) =>
        db.from('postmeta').insert({ post_id: event.id, meta_key: '_ecp_custom_1', meta_value: 'First\r\nSecond\rThird\u0007' }),
      );
      expect(await get('/events/2026-12-05/?ical=1')).toContain('X-FASTI-FIELD;X-NAME=_ecp_custom_1;VALUE=TEXT:First\\nSecond\\nThird\r\n');
    });

    it('exist for an event without dates and metas, but not for one that visitors may not see', async () => {
      const [event, draft] = [await made(), await made({ title: 'Draft', status: 'draft', slug: 'draft-fair' })];
      await ask.writeRows(async (db) => {
        for (const { id } of [event, draft]) {
          for (const table of ['tec_events', 'tec_occurrences'] as const) await db.from(table).where('post_id', id).delete();
          await db.from('postmeta').where('post_id', id).delete();
        }
        await db.from('posts').where('ID', draft.id).update({ post_name: 'draft-fair' });
      });
      const { elements, text } = await page(event.url);
      expect([elements.find(({ name }) => name === 'h1')?.text, text.includes('1970')]).toEqual(['Fair', false]);
      expect(await get(`${event.url}?ical=1`)).toContain('SUMMARY:Fair');
      for (const path of ['/event/draft-fair/', '/event/draft-fair/?ical=1', '/event/no-such-fair/'])
        expect([path, (await ask.send('GET', path, { headers: {} })).status]).toEqual([path, 404]);
    });

    it('have slugs in other scripts, which are stored percent-encoded', async () => {
      const slug = (text: string) => encodeURIComponent(text).toLowerCase();
      await ask.options({
        tribe_events_calendar_options: { eventsSlug: slug('события'), singleEventSlug: `${slug('день')}/${slug('один')}` },
        tag_base: slug('метка'),
        fasti_suggest_slug: slug('предложить'),
      });
      const event = await made();
      expect(event.url).toBe(`${HOME}/${slug('день')}/${slug('один')}/fair/`);
      const { links } = await page(`/${slug('события')}/`);
      const own = links.filter((link) => link.startsWith(`${HOME}/%`) && !/\d{4}-\d\d/.test(link));
      expect(own.length).toBeGreaterThan(8);
      for (const link of [...new Set([...own, event.url, `/${slug('метка')}/old/`, `/${slug('события').toUpperCase()}/`])]) await get(link);
      expect(await get(`${event.url}?ical=1`)).toContain('SUMMARY:Fair');
      expect(await get(`/${slug('события')}/${slug('предложить')}/`)).toContain('<form');
    });

    it('contain many events that are requested by id', async () => {
      const { id } = await made();
      const ids = [...Array.from({ length: 600 }, (_, at) => 90_000 + at), id].join(',');
      expect(await get(`/?event_ids=${ids}&ical=1&per_page=1000`)).toContain('SUMMARY:Fair');
    });

    it.each([
      ['+44 (0)20 7946 0000', 'tel:+442079460000'],
      ['Tel.: 06 123-456', 'tel:06123456'],
      ['030/1234567', 'tel:0301234567'],
      ['06 1234 / 06 5678', undefined],
      ['06 1234, 06 5678', undefined],
      ['06 1234 ext. 5', undefined],
      ['ask at the bar', undefined],
    ])('link to the intended telephone number: %s', async (phone, href) => {
      const { venue } = await made({ venue: { venue: 'Hall', phone } });
      const { elements, text } = await page(venue.url);
      const links = elements.flatMap(({ attributes: { href: link = '' } }) => (link.startsWith('tel:') ? [link] : []));
      expect([links, text]).toEqual([href === undefined ? [] : [href], expect.stringContaining(phone)]);
    });

    it("exist for categories that are each other's parents", async () => {
      const { categories } = await made({ categories: ['One', 'Two', 'Alone'] });
      const [one, two, alone] = ['One', 'Two', 'Alone'].map((name) => categories.find((term: Json) => term.name === name).id);
      await ask.writeRows(async (db) => {
        const parents = [
          [one, two],
          [two, one],
          [alone, alone],
        ];
        for (const [term_id, parent] of parents) await db.from('term_taxonomy').where({ term_id }).update({ parent });
      });
      const urls = await Promise.all([one, alone].map(async (id) => (await ask.read(`/categories/${id}`)).url));
      expect(urls).toEqual([`${HOME}/events/category/one/two/one/`, `${HOME}/events/category/alone/alone/`]);
      for (const url of urls) expect((await page(url)).text).toContain('Fair');
      expect(await ask.create('/categories', { name: 'Below', parent: one })).toMatchObject({ slug: 'below' });
    });

    it('derive UTC times of events that have only local times, and give none if these are missing too', async () => {
      const [here, there, never] = [
        await made({ title: 'Here' }),
        await made({ title: 'There', timezone: 'America/New_York' }),
        await made({ title: 'Never' }),
      ];
      await ask.writeRows(async (db) => {
        const ids = [here.id, there.id, never.id];
        const gone = ['_EventStartDateUTC', '_EventEndDateUTC', '_EventTimezoneAbbr'];
        await db.from('postmeta').whereIn('post_id', ids).whereIn('meta_key', gone).delete();
        await db.from('postmeta').where({ post_id: here.id, meta_key: '_EventTimezone' }).delete();
        const dates = ['_EventStartDate', '_EventEndDate'];
        await db.from('postmeta').where('post_id', never.id).whereIn('meta_key', dates).update({ meta_value: 'never' });
        await db.from('posts').where('ID', here.id).update({ post_author: 9999 });
      });
      const calendar = await get(`/?event_ids=${here.id},${there.id}&ical=1`);
      expect(calendar.match(/^DTSTART.*10(?=0000)\S*|^DTSTART:20261205\S*/gm)).toEqual([
        'DTSTART:20261205T090000Z',
        'DTSTART;TZID=America/New_York:20261205T100000',
      ]);
      await ask.options({ posts_per_rss: '100' });
      const news = await get('/events/feed/');
      for (const moment of ['2026-12-05T10:00:00+01:00', '2026-12-05T10:00:00-05:00'])
        expect(news).toContain(`<ev:startdate>${moment}</ev:startdate>`);
      const atom = await get('/events/feed/atom/');
      expect(news + atom).not.toMatch(/>(?:0000|never)|<name><\/name>/);
      await ask.options({ tribe_events_calendar_options: { tribe_events_timezone_mode: 'site' } });
      expect((await page(there.url)).text).toContain('4:00 – ');
      ask.setClock('2026-12-06T12:00:00Z');
      expect((await page(there.url)).text).toContain('This event is over.');
    });

    it('redirect a form with empty fields and two leading slashes to the same host', async () => {
      const { status, headers } = await ask.send('GET', '//events/list/?tribe-bar-search=&city=', { headers: {} });
      expect([status, headers.location]).toEqual([301, '/events/list/']);
    });

    it('redirect an address with several slashes in a row to that with single ones', async () => {
      for (const [path, to] of [
        ['//events', '/events/'],
        ['///events//', '/events/'],
        ['/events//list/?tribe-bar-date=2027-01-01', '/events/list/?tribe-bar-date=2027-01-01'],
        ['//events/?ical=1', '/events/?ical=1'],
        ['//index.php/events/', '/index.php/events/'],
      ] as const) {
        const { status, headers } = await ask.send('GET', path, { headers: {} });
        expect([path, status, headers.location]).toEqual([path, 301, `http://127.0.0.1:8081${to}`]);
        const there = await ask.send('GET', to, { headers: {} });
        expect([to, there.status]).toEqual([to, 200]);
      }
      for (const path of ['//', '//doc/', '//robots.txt', '//events/feed/', '/events//feed/atom'])
        expect([path, (await ask.send('GET', path, { headers: {} })).status]).toEqual([path, 200]);
      const [desk, doubled] = [await ask.send('GET', '/admin', { headers: {} }), await ask.send('GET', '//admin', { headers: {} })];
      expect([doubled.status, doubled.headers.location]).toEqual([desk.status, desk.headers.location]);
    });

    it('does not link from the first day of the calendar to the day before it', async () => {
      await made({ start_date: '1000-01-01 10:00:00', end_date: '1000-01-01 12:00:00' });
      const text = await get('/events/1000-01-01/');
      expect(text).toContain('/events/1000-01-02/');
      expect(text).not.toContain('0999-12');
    });
  },
  { PAGES: 'on' },
);
