import { describe, expect, it } from '@jest/globals';
import { attemptsOf } from '../../src/accounts/attempts.ts';
import { feedFilters } from '../../src/kinds/feed-list.ts';
import { addCustomField } from '../../src/records/custom-fields.ts';
import { findDangers, readPage } from '../support/html-page.ts';
import { describeRequests, type Json, SUITE_TIME } from '../support/site-client.ts';

const HOME = 'http://127.0.0.1:8081';
const MOST_BYTES = 60 * 1024;

describeRequests(
  'public pages',
  (ask) => {
    const get = (path: string, headers: Record<string, string> = {}) => ask.send('GET', path, { headers });
    const page = async (path: string, status = 200) => {
      const answer = await get(path);
      expect([path, answer.status, answer.headers['content-type']]).toEqual([path, status, 'text/html; charset=UTF-8']);
      return readPage(answer.text);
    };
    const pathOf = (url: string): string => url.replace(HOME, '');
    const made = (values: object): Promise<Json> =>
      ask.create('/events', {
        title: 'Fair',
        start_date: '2026-12-05 10:00:00',
        end_date: '2026-12-05 12:00:00',
        status: 'publish',
        ...values,
      });

    it('mark an event as past when it has ended, even in cached answers, and mark today only on the current day', async () => {
      const { url } = await made({ title: 'Short one', start_date: '2026-11-20 12:00:00', end_date: '2026-11-20 13:30:00' });
      const isOver = async () => (await get(pathOf(url))).text.includes('This event is over.');
      expect([await isOver(), await isOver()]).toEqual([false, false]);
      ask.setClock('2026-11-20T12:31:00Z');
      expect(await isOver()).toBe(true);
      const { url: later } = await made({ start_date: '2026-11-22 12:00:00', end_date: '2026-11-22 13:00:00' });
      expect((await get(pathOf(later))).text).not.toContain('This event is over.');
      ask.setClock('2026-11-22T12:01:00Z');
      expect((await get(pathOf(later))).text).toContain('This event is over.');
      ask.setClock(SUITE_TIME);
      const today = async (path: string) => /aria-current="page">Today</.test((await get(path)).text);
      expect([await today('/events/today/'), await today('/events/2026-12-05/')]).toEqual([true, false]);
    });

    it('name the short URL of an event in head and header, which redirects to the page', async () => {
      const { url, id } = await made({ title: 'Short address' });
      const { headers, text } = await get(pathOf(url));
      const shortlinks = (html: string) =>
        readPage(html)
          .elements.filter(({ attributes: { rel } }) => rel === 'shortlink')
          .map(({ attributes: { href } }) => href);
      expect(shortlinks(text)).toEqual([`${HOME}/?p=${id}`]);
      expect(headers.link).toContain(`<${HOME}/?p=${id}>; rel=shortlink`);
      expect((await get(`/?p=${id}`)).headers.location).toBe(url);
      for (const path of ['/events/list/', '/venue/teatro-rossi/']) {
        const other = await get(path);
        expect([path, shortlinks(other.text), String(other.headers.link).includes('shortlink')]).toEqual([path, [], false]);
      }
    });

    it("are at WordPress's own addresses of the archive and of parts of a text, too", async () => {
      const { slug, url } = await made({});
      const canonical = async (path: string) =>
        (await page(path)).elements.find(({ attributes: { rel } }) => rel === 'canonical')?.attributes.href;
      expect(await Promise.all(['/event/', `/event/${slug}/2/`].map(canonical))).toEqual([`${HOME}/events/list/`, url]);
      expect(await canonical('/event/page/2/')).toBe(`${HOME}/events/list/page/2/`);
      for (const path of ['/event/feed/', '/event/rss/', '/event/?feed=rss2'])
        expect([path, (await get(path)).text]).toEqual([path, expect.stringContaining('<rss version="2.0"')]);
      expect((await get('/event/?ical=1')).text).toContain('BEGIN:VCALENDAR');
    });

    it.each(['venue', 'organizer'])('redirect from the address of the draft of a %s once it is published', async (kind) => {
      for (const structure of ['/%postname%/', '']) {
        await ask.options({ permalink_structure: structure });
        const draft = await ask.create(`/${kind}s`, { [kind]: `New one ${structure}`, status: 'draft' });
        expect(pathOf(draft.url)).toBe(`/?post_type=tribe_${kind}&p=${draft.id}`);
        expect((await get(pathOf(draft.url))).status).toBe(404);
        const { url } = await ask.update(`/${kind}s/${draft.id}`, { status: 'publish' });
        const { status, headers } = await get(pathOf(draft.url));
        expect([status, headers.location]).toEqual([301, url]);
        expect((await get(`/?post_type=tribe_events&p=${draft.id}`)).status).toBe(404);
      }
    });

    it('redirect from former slugs of records, as WordPress does', async () => {
      const { id } = await made({ slug: 'spring-fete' });
      await ask.update(`/events/${id}`, { slug: 'summer-fete' });
      await ask.writeRows((db) => db.from('postmeta').insert({ post_id: 12, meta_key: '_wp_old_slug', meta_value: 'old-hall' }));
      const { url: hall } = await ask.read('/venues/12');
      const leads = async (path: string) => {
        const { status, headers } = await get(path);
        return [status, headers.location?.replace(HOME, '')];
      };
      expect(await leads('/event/spring-fete/')).toEqual([301, '/event/summer-fete/']);
      expect(await leads('/event/spring-fete/?ical=1')).toEqual([301, '/event/summer-fete/?ical=1']);
      expect(await leads('/event/spring-fete/ical/')).toEqual([301, '/event/summer-fete/ical/']);
      expect(await leads('/event/spring-fete/ical/?outlook-ical=1')).toEqual([301, '/event/summer-fete/?outlook-ical=1']);
      expect(await leads('/venue/old-hall/')).toEqual([301, pathOf(hall)]);
      expect(await leads('/event/old-hall/')).toEqual([404, undefined]);
      await ask.update(`/events/${id}`, { status: 'draft' });
      expect(await leads('/event/spring-fete/')).toEqual([404, undefined]);
    });

    it('redirect from a former slug to the event that had it last', async () => {
      const renamed = async (as: 'auth' | 'ed', slug: string, ...later: string[]) => {
        const { id } = await ask.create(
          '/events',
          { title: 'Fair', start_date: '2026-12-05 10:00:00', end_date: '2026-12-05 12:00:00', status: 'publish', slug },
          as,
        );
        for (const next of later) await ask.update(`/events/${id}`, { slug: next }, as);
        return id as number;
      };
      const target = async (slug: string) => (await get(`/event/${slug}/`)).headers.location?.replace(HOME, '');
      // More than the number of records that are examined.
      for (let time = 0; time < 11; time += 1) await renamed('auth', 'quay-fair', `other-${time}`);
      const own = await renamed('auth', 'quay-fair', 'mine');
      const id = await renamed('ed', 'quay-fair', 'quay-fair-2027');
      expect(await target('quay-fair')).toBe('/event/quay-fair-2027/');
      // Further names of the other event do not make its first one the latest.
      for (const slug of ['mine-2', 'mine-3']) await ask.update(`/events/${own}`, { slug }, 'auth');
      expect(await target('quay-fair')).toBe('/event/quay-fair-2027/');
      expect(await target('mine')).toBe('/event/mine-3/');
      await ask.update(`/events/${id}`, { status: 'draft' }, 'ed');
      expect(await target('quay-fair')).toBe('/event/mine-3/');
    });

    it('redirect to an event that gave up a slug last, whatever slug it had before', async () => {
      const first = (await made({ slug: 'fair-a' })).id as number;
      await ask.update(`/events/${first}`, { slug: 'lent' });
      const second = (await made({ slug: 'passing' })).id as number;
      await ask.update(`/events/${first}`, { slug: 'fair-b' });
      await ask.update(`/events/${second}`, { slug: 'lent' });
      await ask.update(`/events/${second}`, { slug: 'passing' });
      expect((await get('/event/lent/')).headers.location).toBe(`${HOME}/event/passing/`);
      await ask.update(`/events/${first}`, { slug: 'lent' });
      await ask.update(`/events/${first}`, { slug: 'fair-b' });
      expect((await get('/event/lent/')).headers.location).toBe(`${HOME}/event/fair-b/`);
    });

    it('redirect from former slugs although records of other kinds and drafts had them later', async () => {
      const { id } = await made({ slug: 'gala' });
      await ask.update(`/events/${id}`, { slug: 'gala-night' });
      await ask.writeRows(async (db) => {
        const others = await db.from('posts').where('post_status', 'draft').orWhere('post_type', 'tribe_venue').select('ID');
        expect(others.length).toBeGreaterThan(10);
        for (const { ID } of others) await db.from('postmeta').insert({ post_id: ID, meta_key: '_wp_old_slug', meta_value: 'gala' });
      });
      expect((await get('/event/gala/')).headers.location).toBe(`${HOME}/event/gala-night/`);
    });

    it('link from a month with more events than it shows to the days that may have more', async () => {
      const day = (number: number) => `2033-03-${String(number).padStart(2, '0')}`;
      const days = [...Array.from({ length: 14 * 30 }, (_, at) => 1 + Math.floor(at / 30)), 20, 20];
      for (let from = 0; from < days.length; from += 100) {
        const requests = days.slice(from, from + 100).map((number) => ({
          method: 'POST',
          path: '/calendar/events/v1/events',
          body: {
            title: `Of day ${number}`,
            start_date: `${day(number)} 10:00:00`,
            end_date: `${day(number)} 11:00:00`,
            status: 'publish',
          },
        }));
        const { status } = await ask.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } });
        expect(status).toBe(207);
      }
      const { elements, links } = await page('/events/2033-03/');
      const cells = elements.filter(({ name, attributes }) => name === 'td' && attributes.class !== 'other-month');
      const of = (number: number) => cells[number - 1]!.text;
      expect(of(13)).toMatch(/2\d more/);
      for (const number of [14, 15, 20, 31]) expect([number, of(number)]).toEqual([number, expect.stringContaining('All events')]);
      expect(links).toContain(`${HOME}/events/${day(20)}/`);
      expect((await page(`/events/${day(20)}/`)).text).toContain('Of day 20');
      // A list has at most as many events as a month, whatever the settings say.
      await ask.options({ posts_per_page: '99999' });
      const list = await page('/events/list/?tribe-bar-date=2033-03-01');
      expect(list.elements.filter(({ name }) => name === 'article').length).toBe(400);
      const second = await page('/events/list/page/2/?tribe-bar-date=2033-03-01');
      expect([list.links.map(pathOf), second.elements.some(({ name }) => name === 'article')]).toEqual([
        expect.arrayContaining(['/events/list/page/2/?tribe-bar-date=2033-03-01']),
        true,
      ]);
    });

    it('keep their filters in other views, and on the days of a month', async () => {
      await made({ title: 'Fair of wool', start_date: '2033-05-04 10:00:00', end_date: '2033-05-04 12:00:00', featured: true });
      for (const [path, day, list] of [
        ['/events/2033-05/featured/', '/events/2033-05-04/featured/', '/events/list/featured/'],
        ['/events/2033-05/?tribe-bar-search=wool', '/events/2033-05-04/?tribe-bar-search=wool', '/events/list/?tribe-bar-search=wool'],
      ] as const) {
        const { links } = await page(path);
        for (const link of [day, list]) expect([path, links.map(pathOf)]).toEqual([path, expect.arrayContaining([link])]);
        expect((await page(day)).text).toContain('Fair of wool');
      }
    });

    it('mark the next day as today when it begins, also in months and days given in the URL', async () => {
      const marked = async (path: string) => /aria-current="date"|aria-current="page">Today</.test((await get(path)).text);
      const paths = ['/events/2026-11/', '/events/2026-12/', '/events/2026-11-30/', '/events/2026-12-01/'];
      const all = () => Promise.all(paths.map(marked));
      await made({ title: 'Two days', start_date: '2026-11-30 10:00:00', end_date: '2026-12-01 12:00:00' });
      ask.setClock('2026-11-30T12:00:00Z');
      expect(await all()).toEqual([true, false, true, false]);
      ask.setClock('2026-12-01T12:00:00Z');
      expect(await all()).toEqual([false, true, false, true]);
      // Also on a day without events.
      ask.setClock('2045-03-15T12:00:00Z');
      const { elements } = await page('/events/2045-03/');
      const [today, ...others] = elements.filter(({ attributes }) => attributes['aria-current'] === 'date');
      expect([today?.name, today?.attributes.datetime, others]).toEqual(['time', '2045-03-15', []]);
    });

    it('show wherever an event appears that it is cancelled or postponed, for a protected one only when it is opened', async () => {
      const { id, url } = await made({ title: 'Off', start_date: '2026-12-05 20:00:00', end_date: '2026-12-05 21:00:00', venue: 12 });
      const change = (body: object) => ask.send('POST', `/wp-json/wp/v2/tribe_events/${id}`, { as: 'admin', body });
      const places = ['/events/list/', '/events/2026-12/', '/events/2026-12-05/', '/venue/teatro-rossi/'];
      const marked = async (prefix: string, word: string) =>
        Promise.all(places.map(async (path) => (await get(prefix + path)).text.includes(`mark">${word}`)));
      const everywhere = places.map(() => true);
      const nowhere = places.map(() => false);
      for (const [state, english, italian] of [
        ['canceled', 'Cancelled', 'Annullato'],
        ['postponed', 'Postponed', 'Rinviato'],
        ['moved-online', 'Takes place online', 'Si svolge online'],
      ] as const) {
        await change({ meta: { _tribe_events_status: state } });
        expect([state, await marked('', english), await marked('/it', italian)]).toEqual([state, everywhere, everywhere]);
      }
      await change({ meta: { _tribe_events_status: 'canceled' }, password: 'sesame' });
      const opened = await ask.send('POST', pathOf(url), {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'post_password=sesame',
      });
      const says = (text: string) => text.includes('This event has been cancelled.');
      expect([says((await get(pathOf(url))).text), says(opened.text), await marked('', 'Cancelled')]).toEqual([false, true, nowhere]);
    });

    it.each([
      ['/venue/venue-without-events/', 'venue-17'],
      ['/events/category/music/?tribe-bar-date=2099-01-01', 'category-2'],
      ['/events/tag/outdoor/?tribe-bar-date=2099-01-01', 'tag-13'],
    ])('have their subject in Surrogate-Key, even if they show no events: %s', async (path, key) =>
      expect((await get(path)).headers['surrogate-key']).toBe(`${key} events`),
    );

    it('show custom fields in readable form: chosen values, URLs as links', async () => {
      const fields = { who: ['checkbox', ['Children', 'Adults', 'Seniors']], free: ['checkbox', []], stream: ['url', []] } as const;
      for (const [name, [type, choices]] of Object.entries(fields)) await addCustomField(ask.running().site, { name, type, choices });
      const custom = { who: 'Children|Seniors', free: 'yes', stream: 'https://www.stream.example/a?b=1&c=2' };
      const { url } = await made({ title: 'Own fields', custom_fields: custom });
      const { text } = await get(`/it${pathOf(url)}`);
      for (const shown of ['<dd>Children, Seniors</dd>', '<dd>sì</dd>', 'b=1&amp;c=2">stream.example/a?b=1&amp;c=2</a>'])
        expect(text).toContain(shown);
    });

    it('show the time of an early-morning event on the day that the calendar counts it to', async () => {
      await ask.options({ tribe_events_calendar_options: 'a:1:{s:14:"multiDayCutoff";s:5:"04:00";}' });
      await made({ title: 'Late show', start_date: '2034-01-06 01:00:00', end_date: '2034-01-07 05:00:00' });
      const { text } = await get('/events/2034-01/');
      const times = [...text.matchAll(/<li><a[^>]*>(?:<span class="day-time">([^<]*)<\/span>)?<bdi>Late show/g)].map(([, time]) =>
        time?.trim(),
      );
      expect(times).toEqual(['1:00 AM', undefined, undefined]);
    });

    it('show an event that lasts until midnight only on the day before', async () => {
      const until = (title: string, start: string, end: string) =>
        made({ title, start_date: `2034-03-${start}`, end_date: `2034-03-${end}` });
      await until('Ball', '10 21:00:00', '11 00:00:00');
      await until('Toast', '11 00:00:00', '11 00:00:00');
      await until('Night walk', '10 23:00:00', '11 00:01:00');
      const namesOn = ({ text }: { readonly text: string }) =>
        ['Ball', 'Toast', 'Night walk'].filter((title) => text.includes(`>${title}<`));
      expect(namesOn(await get('/events/2034-03-10/'))).toEqual(['Ball', 'Night walk']);
      expect(namesOn(await get('/events/2034-03-11/'))).toEqual(['Toast', 'Night walk']);
      const { text } = await get('/events/2034-03/');
      const days = new Map(text.split('<td').map((cell) => [/datetime="([^"]*)"/.exec(cell)?.[1], namesOn({ text: cell })]));
      expect([days.get('2034-03-10'), days.get('2034-03-11')]).toEqual([
        ['Ball', 'Night walk'],
        ['Toast', 'Night walk'],
      ]);
      await until('Last ball', '31 21:00:00', '31 24:00:00');
      expect((await get('/events/2034-04/')).text).not.toContain('Last ball');
    });

    it('count a single event in the singular if a day of a month has no room for it', async () => {
      // An event of the sample site lasts for years.
      for (const title of ['One', 'Two', 'Three'])
        await made({ title, start_date: '2034-02-06 10:00:00', end_date: '2034-02-06 11:00:00' });
      const { text } = await get('/it/events/2034-02/');
      expect(/day-more"><a[^>]*>([^<]*)</.exec(text)?.[1]).toBe('un altro');
    });

    it('show no time for an event without dates, and do not mark it as past', async () => {
      const { id, url } = await made({ title: 'Some day' });
      await ask.writeRows((db) => db.from('postmeta').where('post_id', id).where('meta_key', 'like', '_Event%Date%').delete());
      const { text } = await get(pathOf(url));
      expect(text).toContain('Some day');
      for (const wrong of ['1970', 'This event is over.', 'google.com/calendar/event', '<time']) expect(text).not.toContain(wrong);
    });

    it('add an event of another zone to a calendar with its local time, whichever time the page shows', async () => {
      await ask.options({ tribe_events_calendar_options: 'a:1:{s:26:"tribe_events_timezone_mode";s:4:"site";}' });
      const { url } = await made({ start_date: '2026-12-05 10:00:00', end_date: '2026-12-05 12:00:00', timezone: 'America/New_York' });
      const { elements, text } = await page(pathOf(url));
      const google = new URL(elements.find(({ attributes: { href } }) => href?.includes('google.com/calendar/event'))!.attributes.href!);
      expect([google.searchParams.get('dates'), google.searchParams.get('ctz')]).toEqual([
        '20261205T100000/20261205T120000',
        'America/New_York',
      ]);
      expect(text).toMatch(/4:00\s?–[\s\u2060]*6:00 PM/);
    });

    it('add an event to Google with the full address, and in UTC if its zone has no name', async () => {
      const { url } = await made({
        start_date: '2026-12-05 10:00:00',
        end_date: '2026-12-05 12:00:00',
        timezone: 'UTC+2',
        venue: { venue: 'Mill & barn', address: '1 Long Lane', city: 'Asti' },
      });
      const { elements } = await page(pathOf(url));
      const { searchParams: google } = new URL(
        elements.find(({ attributes: { href } }) => href?.includes('google.com/calendar/event'))!.attributes.href!,
      );
      expect([google.get('dates'), google.get('ctz'), google.get('location')]).toEqual([
        '20261205T080000Z/20261205T100000Z',
        null,
        'Mill & barn, 1 Long Lane, Asti',
      ]);
    });

    it('show no zone for an old event without a zone', async () => {
      const { id, url } = await made({});
      await ask.writeRows((db) => db.from('postmeta').where('post_id', id).where('meta_key', 'like', '_EventTimezone%').delete());
      expect((await get(pathOf(url))).text).not.toMatch(/\(\s*\)/);
    });

    it('show the place and the cost of an event before its text', async () => {
      const { url, venue } = await made({ venue: { venue: 'The mill', city: 'Asti' }, cost: '€ 12', description: 'Bring a chair.' });
      const { text } = await get(pathOf(url));
      const top = text.slice(text.indexOf('<h1'), text.lastIndexOf('Bring a chair.'));
      expect(top).toContain(`<a href="${venue.url}"><bdi>The mill</bdi></a>, <bdi>Asti</bdi>`);
      expect(top).toContain('<span class="hidden">Cost: </span>€12');
      const { text: plain } = await get(pathOf((await made({ title: 'Without either' })).url));
      expect(plain).not.toContain('record-where');
    });

    it.each([
      [
        '/%postname%/',
        ['/event/', '/venue/', '/organizer/', '/events/category/', '/events/2', '/_fasti/', '/events/list/page/', '?eventDisplay=past'],
      ],
      [
        '',
        [
          '?tribe_events=',
          '?tribe_venue=',
          '?tribe_organizer=',
          '?tribe_events_cat=',
          'eventDisplay=month',
          'paged=2',
          'eventDisplay=past',
        ],
      ],
    ])('link only to existing pages, all of them well-formed (permalinks like %j)', async (structure, kinds) => {
      await ask.options({ permalink_structure: structure });
      const seen = new Map<string, string>([['/', 'the start']]);
      const checked: string[] = [];
      for (const [path, from] of seen) {
        if (checked.length > MOST_WALKED) break;
        const answer = await get(path);
        // Feeds of categories and short URLs are redirected to the address of their page, as in WordPress.
        const mayRedirect = path.includes('ical=1') || path.startsWith('/?p=');
        expect([path, from, answer.status]).toEqual([path, from, mayRedirect && answer.status === 301 ? 301 : 200]);
        checked.push(path);
        if (!answer.headers['content-type']?.startsWith('text/html')) continue;
        const read = readPage(answer.text);
        expect([path, read.faults, findDangers(read)]).toEqual([path, [], []]);
        expect([path, Buffer.byteLength(answer.text) < MOST_BYTES]).toEqual([path, true]);
        for (const link of read.links) {
          const target = pathOf(link).replace(/#.*$/, '');
          if (target.startsWith('/') && !target.startsWith('/doc') && !seen.has(target)) seen.set(target, path);
        }
      }
      expect(kinds.filter((kind) => !checked.some((path) => path.includes(kind)))).toEqual([]);
    });

    it.each([
      ['/', 'Upcoming events'],
      ['/events/', 'Upcoming events'],
      ['/events/list/', 'Upcoming events'],
      ['/events/month/', 'Events in November 2026'],
      ['/events/2026-12/', 'Events in December 2026'],
      ['/events/today/', 'Events on Friday, November 20, 2026'],
      ['/events/2026-12-05/', 'Events on Saturday, December 5, 2026'],
      ['/events/?eventDisplay=past', 'Past events'],
      ['/events/featured/', 'Featured events'],
      ['/events/?tribe-bar-search=fair', 'Search: fair'],
      ['/events/?tribe-bar-search=+f%01air%00', 'Search: fair'],
      ['/events/?tribe-bar-search=++%00', 'Upcoming events'],
      ['/it/events/2026-12/', 'Eventi di dicembre 2026'],
    ])('%s has the heading %j', async (path, heading) => {
      await made({ featured: true });
      const { elements } = await page(path);
      expect(elements.find(({ name }) => name === 'h1')?.text).toBe(heading);
    });

    it('list the same events as the API, page by page', async () => {
      await ask.options({ tribe_events_calendar_options: { postsPerPage: '7' } });
      const listed: string[] = [];
      for (let path: string | undefined = '/events/list/'; path !== undefined; ) {
        const { elements } = await page(path);
        listed.push(...cardsOf(elements));
        const next = elements.find(({ name, attributes }) => name === 'link' && attributes.rel === 'next');
        path = next && pathOf(next.attributes.href ?? '');
      }
      const urls: string[] = [];
      for (let number = 1, pages = 1; number <= pages; number += 1) {
        const body = await ask.read(
          `/events?per_page=50&page=${number}&start_date=2000-01-01&end_date=2200-01-01&ends_after=2026-11-20T13:00:00%2B01:00&strict_dates=1`,
        );
        urls.push(...body.events.map(({ url }: Json) => url));
        pages = body.total_pages;
      }
      expect(listed.length).toBeGreaterThan(14);
      expect(listed).toEqual(urls);
    });

    it('show an event with the data of the API', async () => {
      const { url } = await made({
        title: 'Fair & fête',
        description: '<p>Bread, <b>wine</b>.</p>',
        cost: '5',
        website: 'https://example.org/?a=1&b=2',
      });
      const { elements, text } = await page(pathOf(url));
      expect(elements.find(({ name }) => name === 'h1')?.text).toBe('Fair & fête');
      expect(text).toContain('Saturday, December 5, 2026');
      expect(elements.find(({ name }) => name === 'b')?.text).toBe('wine');
      expect(elements.some(({ attributes }) => attributes.href === 'https://example.org/?a=1&b=2')).toBe(true);
      const data = elements.find(({ attributes }) => attributes.type === 'application/ld+json')?.text ?? '';
      expect(JSON.parse(data)).toMatchObject({ '@type': 'Event', startDate: expect.stringMatching(/^2026-12-05T10:00:00/) });
      const meta = (property: string) => elements.find(({ attributes }) => attributes.property === property)?.attributes.content;
      expect([meta('og:title'), meta('og:url'), meta('og:description')]).toEqual([
        expect.stringContaining('Fair & fête'),
        url,
        'Bread, wine.',
      ]);
    });

    it.each([
      ['', '/events/list/', 'en_US'],
      ['', '/it/events/list/', 'it_IT'],
      ['en_GB', '/events/list/', 'en_GB'],
      ['it_IT', '/en/events/list/', 'en_US'],
    ])('give language and place as Open Graph data: WPLANG "%s", %s: %s', async (WPLANG, path, locale) => {
      await ask.options({ WPLANG });
      const { elements } = await page(path);
      expect(elements.find(({ attributes }) => attributes.property === 'og:locale')?.attributes.content).toBe(locale);
    });

    it.each(['/', '/events/list/', '/events/2026-12/', '/events/2026-12-05/', '/events/?tribe-bar-search=fair', '/venue/town-hall/'])(
      "%s has JSON-LD of its events, each equal to that of the event's page",
      async (path) => {
        const { id, url } = await made({ venue: { venue: 'Town hall', slug: 'town-hall' } });
        const { id: locked, url: lockedUrl } = await made({ title: 'Locked fair' });
        await ask.writeRows((db) => db.from('posts').where({ ID: locked }).update({ post_password: 'swordfish' }));
        const { elements, links } = await page(path);
        const data = elements.flatMap(({ attributes, text }) => (attributes.type === 'application/ld+json' ? [JSON.parse(text)] : []));
        const described: Json[] = data.find(Array.isArray) ?? [];
        expect(described).toContainEqual((await ask.read(`/events/${id}`)).json_ld);
        expect(described.map((event) => event.url)).toContain(url);
        expect(described.map((event) => event.url)).not.toContain(lockedUrl);
        expect(described.filter((event) => !links.includes(event.url))).toEqual([]);
      },
    );

    it.each([
      ['/venue/town-hall/', 'Place'],
      ['/organizer/town-band/', 'Person'],
    ])('%s has JSON-LD of the page with the vocabulary of schema.org', async (path, type) => {
      await made({ venue: { venue: 'Town hall', slug: 'town-hall' }, organizer: { organizer: 'Town band', slug: 'town-band' } });
      const { elements } = await page(path);
      const data = elements.flatMap(({ attributes, text }) => (attributes.type === 'application/ld+json' ? [JSON.parse(text)] : []));
      expect(data.find((one) => one['@type'] === type)).toMatchObject({ '@context': 'http://schema.org' });
    });

    it('show the images of the event in a gallery without ids, and so do news feeds', async () => {
      const { id, url } = await made({ title: 'Gallery day', description: '[gallery]' });
      const shown = async () => [(await get(pathOf(url))).text, (await get('/events/feed/?tribe-bar-search=Gallery')).text];
      expect((await shown()).map((text) => text.includes('galleryid'))).toEqual([false, false]);
      await ask.writeRows(async (db) => {
        const image = await db.from('posts').where({ post_type: 'attachment', post_mime_type: 'image/png' }).first('ID');
        await db.from('posts').where('ID', image!.ID).update({ post_parent: id });
      });
      expect((await shown()).map((text) => text.includes('galleryid'))).toEqual([true, true]);
    });

    it('remain small even with long JSON-LD', async () => {
      const long = 'A day of music, bread and wine for everybody, old and young, with games. '.repeat(4);
      for (let day = 1; day <= 30; day += 1) {
        const date = `2027-03-${String(day).padStart(2, '0')}`;
        await made({ title: `Fair ${day}`, description: long, start_date: `${date} 10:00:00`, end_date: `${date} 11:00:00` });
      }
      const answer = await get('/events/2027-03/');
      expect(answer.text).toContain('application/ld+json');
      expect(Buffer.byteLength(answer.text)).toBeLessThan(MOST_BYTES);
    });

    describe('the filter boxes', () => {
      const CHOICES: Readonly<Record<string, (event: Json) => string>> = {
        categories: ({ categories: [one] }) => one.slug,
        tags: ({ tags: [one] }) => one.slug,
        venue: ({ venue }) => String(venue.id),
        organizer: ({ organizer: [one] }) => String(one.id),
        city: ({ venue }) => venue.city,
        state: ({ venue }) => venue.stateprovince,
        country: ({ venue }) => venue.country,
        featured: () => '1',
        until: () => '2026-12-05',
      };
      const narrowable = async () => {
        const venue = (at: string) => ({ venue: `Hall ${at}`, city: `Town ${at}`, stateprovince: `Land ${at}`, country: `Realm ${at}` });
        const event = (at: string) => ({
          categories: [`Sort ${at}`],
          tags: [`Word ${at}`],
          venue: venue(at),
          organizer: { organizer: `Band ${at}` },
        });
        const mine = await made({ title: 'Wanted fair', featured: true, ...event('A') });
        const other = await made({
          title: 'Other fair',
          start_date: '2026-12-06 10:00:00',
          end_date: '2026-12-06 12:00:00',
          ...event('B'),
        });
        return { mine, other };
      };
      const names = Object.keys(feedFilters).filter((name) => name !== 'search');

      it('exist for every filter, with all choices', async () => {
        const { mine } = await narrowable();
        const { elements } = await page('/events/list/?filters=open');
        const boxes = new Map(elements.flatMap(({ attributes: { id, name } }) => (id?.startsWith('filter-') ? [[String(name), id]] : [])));
        expect([...boxes.keys()].sort()).toEqual([...names].sort());
        const offered = elements.flatMap(({ name, attributes: { value = '' } }) => (name === 'option' ? [value] : []));
        for (const name of ['categories', 'tags', 'venue', 'organizer', 'city', 'state', 'country'])
          expect([name, offered.includes(CHOICES[name]!(mine))]).toEqual([name, true]);
      });

      it.each(names)('filter lists, months and days by %s, stay in the URLs, and can be removed', async (name) => {
        const { mine, other } = await narrowable();
        const query = `${name}=${encodeURIComponent(CHOICES[name]!(mine))}`;
        for (const path of ['/events/list/', '/events/2026-12/', '/events/2026-12-05/']) {
          const { elements, links, text } = await page(`${path}?${query}`);
          expect([path, links.includes(mine.url), links.includes(other.url)]).toEqual([path, true, false]);
          expect([path, text]).toEqual([path, expect.not.stringContaining(`pages:filter`)]);
          const asked = links.filter((link) => link.includes(query) && link.startsWith(`${HOME}/events/`));
          expect(asked.some((link) => link.includes('/month/'))).toBe(true);
          expect(links).toContain(`${HOME}${path}`);
          const box = elements.find(({ attributes: { id } }) => id === `filter-${name}`);
          expect(box).toBeDefined();
          expect(elements.some(({ attributes }) => attributes.name === 'robots')).toBe(true);
        }
        const feed = await get(`/?post_type=tribe_events&ical=1&eventDisplay=list&${query}`);
        expect([feed.text.includes('Wanted fair'), feed.text.includes('Other fair')]).toEqual([true, false]);
      });

      it.each([
        '/events/list/?tribe-bar-search=Wanted',
        '/events/featured/',
        '/events/category/sort-a/',
        '/events/tag/word-a/?tribe-bar-search=fair',
        ...names.map((name) => `/events/list/?${name}=`),
      ])('of %s apply to its Subscribe buttons and the links in its head', async (path) => {
        const { mine } = await narrowable();
        const { elements } = await page(path.replace(/([a-z]+)=$/, (_, name) => `${name}=${encodeURIComponent(CHOICES[name]!(mine))}`));
        const inside = (href: string) => ['cid', 'url'].flatMap((name) => new URL(href).searchParams.get(name) ?? []);
        const feeds = elements
          .flatMap(({ attributes: { href = '' } }) => (/^(https?|webcal):/.test(href) ? [href, ...inside(href)] : []))
          .filter((href) => /^(https?|webcal):\/\/(?!www\.google|outlook).*[?&]ical=1/.test(href));
        expect(feeds.length).toBeGreaterThan(4);
        for (const feed of new Set(feeds.map((href) => pathOf(href.replace(/^webcal:/, 'http:'))))) {
          let answer = await get(feed);
          if (answer.status === 301) answer = await get(pathOf(answer.headers.location!));
          expect([feed, answer.text.includes('Wanted fair'), answer.text.includes('Other fair')]).toEqual([feed, true, false]);
        }
      });

      it('show the filters of the path of the page', async () => {
        const { mine } = await narrowable();
        const { elements } = await page(`/events/category/${mine.categories[0].slug}/list/?filters=open`);
        expect(elements.filter(({ attributes }) => attributes.selected !== undefined).map(({ attributes }) => attributes.value)).toContain(
          mine.categories[0].slug,
        );
      });

      it('are opened by a link on each page', async () => {
        await narrowable();
        for (const path of ['/events/list/', '/events/2026-12/', '/events/2026-12-05/']) {
          const { elements, links } = await page(path);
          expect([path, elements.filter(({ attributes: { id } }) => id?.startsWith('filter-'))]).toEqual([path, []]);
          const open = links.find((link) => link.endsWith('?filters=open'));
          expect([path, open]).toEqual([path, expect.stringContaining(HOME)]);
          const asked = await page(open!.slice(HOME.length));
          expect([open, asked.elements.some(({ attributes: { id } }) => id === 'filter-venue')]).toEqual([open, true]);
          expect(asked.elements.some(({ attributes }) => attributes.name === 'robots')).toBe(true);
        }
      });

      it('leave empty parameters out of the URL', async () => {
        const answer = await get('/events/list/?tribe-bar-search=fair&tribe-bar-date=&categories=&venue=&until=');
        expect([answer.status, answer.headers.location]).toEqual([301, '/events/list/?tribe-bar-search=fair']);
      });

      it('show the words of a search in the URL in the search bar, unless that has some', async () => {
        await narrowable();
        const sent = async (query: string) => {
          const { elements } = await page(`/events/list/?${query}`);
          return elements.flatMap(({ name, attributes }) =>
            name === 'input' && /search$/.test(attributes.name ?? '') ? [[attributes.name, attributes.value]] : [],
          );
        };
        expect(await sent('search=fair')).toEqual([['tribe-bar-search', 'fair']]);
        expect(await sent('search=fair&tribe-bar-search=Wanted')).toEqual([['tribe-bar-search', 'Wanted']]);
      });

      it('lead to an error if the URL names a record that does not exist', async () => {
        const { elements } = await page('/events/list/?venue=987654', 400);
        expect(elements.find(({ name }) => name === 'h1')?.text).toBe('This address cannot be understood');
      });
    });

    it('name the URL of the same data in the API, and of the feeds', async () => {
      const { id, url } = await made({});
      const answer = await get(pathOf(url));
      expect(answer.headers['x-tec-api-root']).toBe(`${HOME}/wp-json/tribe/events/v1/events/${id}`);
      expect(answer.headers.link).toContain(`<${HOME}/wp-json/wp/v2/tribe_events/${id}>; rel="alternate"`);
      const { elements } = readPage(answer.text);
      const types = elements.flatMap(({ attributes: { rel, type = '' } }) => (rel === 'alternate' ? [type] : []));
      expect(types).toEqual(['text/calendar', 'application/rss+xml', 'application/json']);
    });

    it.each([
      ['venues', 12, 'tribe_venue'],
      ['organizers', 24, 'tribe_organizer'],
    ])('of %s name the URL of the same record in the API', async (kind, id, type) => {
      const { url } = await ask.read(`/${kind}/${id}`);
      const { headers, text } = await get(pathOf(url));
      const root = `${HOME}/wp-json/tribe/events/v1/${kind}/${id}`;
      expect(headers['x-tec-api-root']).toBe(root);
      expect(headers.link).toContain(`<${HOME}/wp-json/wp/v2/${type}/${id}>; rel="alternate"`);
      const { elements } = readPage(text);
      expect(elements.flatMap(({ attributes: { type: format, href } }) => (format === 'application/json' ? [href] : []))).toEqual([root]);
    });

    it('show only the beginning of a description whose words have no blanks between them', async () => {
      const spaced = Array.from({ length: 28 }, () => 'Konzerte').join(' ');
      const summaryOf = async (title: string, description: string) => {
        await made({ title, description });
        const { elements } = await page(`/events/list/?tribe-bar-search=${title}`);
        return elements.find(({ attributes: { class: name } }) => name === 'card-summary')?.text;
      };
      expect(await summaryOf('Teahouse', '茶'.repeat(20_000))).toBe(`${'茶'.repeat(300)}…`);
      expect(await summaryOf('Concerthall', `${spaced}, Ende`)).toBe(`${spaced}…`);
    });

    it('have URLs that end with a slash', async () => {
      const answer = await get('/events/list?tribe-bar-search=a');
      expect([answer.status, answer.headers.location]).toEqual([301, `${HOME}/events/list/?tribe-bar-search=a`]);
    });

    it('redirect each visitor with the query that this one has sent, even if others come at the same moment', async () => {
      const { id } = await made({ slug: 'spring-fete' });
      await ask.update(`/events/${id}`, { slug: 'summer-fete' });
      const queries = ['?mc_eid=ANNA', '?mc_eid=OTTO', '?mc_eid=ADA'];
      const leads = (path: string) =>
        Promise.all(queries.map(async (query) => String((await get(path + query)).headers.location).replace(HOME, '')));
      expect(await leads('/event/spring-fete/')).toEqual(queries.map((query) => `/event/summer-fete/${query}`));
      expect(await leads('/event/spring-fete/ical/')).toEqual(queries.map((query) => `/event/summer-fete/ical/${query}`));
      expect(await leads('/events/list')).toEqual(queries.map((query) => `/events/list/${query}`));
      expect(await leads('/events//list/')).toEqual(queries.map((query) => `/events/list/${query}`));
    });

    it('allow only their own stylesheets and scripts', async () => {
      const { headers } = await get('/events/');
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'; script-src 'self';/);
      const style = (await page('/events/')).elements.find(({ attributes }) => attributes.rel === 'stylesheet')?.attributes.href ?? '';
      const asset = await get(style);
      expect([asset.status, asset.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
    });

    it('have styles while the site is served by two versions, which nobody keeps', async () => {
      const style = (await page('/events/')).elements.find(({ attributes }) => attributes.rel === 'stylesheet')?.attributes.href ?? '';
      const ofOtherVersion = await get(style.replace(/\.[\da-f]{10}\./, '.0123456789.'));
      expect([ofOtherVersion.status, ofOtherVersion.headers['cache-control']]).toEqual([200, 'no-cache']);
      expect(ofOtherVersion.text).toBe((await get(style)).text);
      expect((await get(style.replace(/[^/]*$/, 'none.0123456789.css'))).status).toBe(404);
    });

    it('may be shown in frames of other sites if they have no form that is sent', async () => {
      const framable = async (path: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) => {
        const { text, headers } = await ask.send(options.method ?? 'GET', path, {
          headers: { accept: 'text/html', ...options.headers },
          body: options.body ?? null,
        });
        expect(text).toMatch(/^<!doctype html>/);
        const isFramable = !String(headers['content-security-policy']).includes("frame-ancestors 'none'");
        expect([path, headers['x-frame-options']]).toEqual([path, isFramable ? undefined : expect.stringMatching(/^(SAMEORIGIN|DENY)$/)]);
        if (isFramable) expect(text.match(/<form(?![^>]* method="get")[^>]*>/)).toBeNull();
        return isFramable;
      };
      const { id, url } = await made({ title: 'Quiet gathering' });
      for (const path of [
        '/',
        '/events/',
        '/events/month/',
        '/events/2026-12-05/',
        '/events/category/music/',
        '/venue/teatro-rossi/',
        pathOf(url),
      ])
        expect([path, await framable(path)]).toEqual([path, true]);
      for (const path of ['/doc', '/admin/sign-in', '/event/nothing/']) expect([path, await framable(path)]).toEqual([path, false]);
      await ask.writeRows((db) => db.from('posts').where({ ID: id }).update({ post_password: 'swordfish' }));
      expect(await framable(pathOf(url))).toBe(false);
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      expect(await framable(pathOf(url), { method: 'POST', headers: form, body: 'post_password=swordfish' })).toBe(false);
    });

    describe('with hidden or protected records', () => {
      it.each(['draft', 'pending', 'private', 'future', 'trash'])('do not show records with the status %s', async (status) => {
        const { id, url } = await made({ title: 'Quiet gathering' });
        await ask.writeRows((db) => db.from('posts').where({ ID: id }).update({ post_status: status }));
        for (const path of ['/events/list/?tribe-bar-search=Quiet', '/events/2026-12-05/', '/events/2026-12/'])
          expect((await page(path)).links.filter((link) => link === url)).toEqual([]);
        expect((await page(pathOf(url), 404)).text).not.toContain('Quiet');
      });

      it('leave hidden events out of lists, and show them at their own URL', async () => {
        const { url } = await made({ title: 'Quiet gathering', hide_from_listings: true });
        expect((await page('/events/2026-12-05/')).text).not.toContain('Quiet');
        expect((await page(pathOf(url))).text).toContain('Quiet gathering');
      });

      it('ask for the password of a protected event, and show the event when it is entered', async () => {
        const { id, url } = await made({ title: 'Quiet gathering', description: 'Under the bridge', venue: { venue: 'Secret cellar' } });
        const buttonsOf = ({ text }: { readonly text: string }) => ['google.com', `${url}?ical=1`].map((link) => text.includes(link));
        expect(buttonsOf(await get(pathOf(url)))).toEqual([true, true]);
        await ask.writeRows((db) => db.from('posts').where({ ID: id }).update({ post_password: 'swordfish' }));
        const enter = (word: string) =>
          ask.send('POST', pathOf(url), {
            headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
            body: `post_password=${word}`,
          });
        const closed = await page(pathOf(url));
        expect(closed.text).toContain('Protected: Quiet gathering');
        expect(closed.text).not.toMatch(/bridge|cellar/);
        expect(closed.elements.some(({ attributes }) => attributes.name === 'post_password')).toBe(true);
        const wrong = await enter('perch');
        expect([wrong.status, readPage(wrong.text).text]).toEqual([200, expect.stringContaining('This password is not correct.')]);
        expect(wrong.text).not.toMatch(/bridge|cellar/);
        expect((await enter('x'.repeat(5000))).status).toBe(413);
        const right = await enter('swordfish');
        expect(readPage(right.text).text).toMatch(/Under the bridge.*Secret cellar/);
        // The file would be that of the closed event.
        expect(buttonsOf(right)).toEqual([true, false]);
        expect(right.headers['cache-control']).toContain('no-store');
        expect((await page(pathOf(url))).text).not.toMatch(/bridge|cellar/);
        expect((await page('/events/2026-12-05/')).text).not.toMatch(/bridge|cellar/);
      });

      it('do not show a private venue, either at its URL or on the page of an event', async () => {
        const { venue, url } = await made({ venue: { venue: 'Secret cellar' } });
        await ask.writeRows((db) => db.from('posts').where({ ID: venue.id }).update({ post_status: 'private' }));
        expect((await page(pathOf(url))).text).not.toContain('cellar');
        await page(pathOf(venue.url), 404);
      });
    });

    describe('for missing records', () => {
      it.each(['/event/nothing/', '/events/category/nothing/', '/venue/nothing/', '/events/list/page/999/', '/events/2036-13/'])(
        'answer %s with an HTML page and 404',
        async (path) => {
          const answer = await get(path, { accept: 'text/html' });
          expect([answer.status, readPage(answer.text).text]).toEqual([404, expect.stringContaining('Page not found')]);
          expect(readPage(answer.text).faults).toEqual([]);
        },
      );
      it('are JSON for programs, and for all clients in the API', async () => {
        expect((await get('/nothing')).body).toMatchObject({ code: 'rest_no_route' });
        expect((await get('/nothing', { accept: 'text/html,*/*' })).text).toMatch(/^<!doctype html>/);
        expect((await get('/wp-json/nothing', { accept: 'text/html' })).body).toMatchObject({ code: 'rest_no_route' });
      });
    });

    it('have an icon, and the files that search engines ask for', async () => {
      const icon = await get('/favicon.ico');
      expect(icon.status).toBe(302);
      expect((await get(String(icon.headers.location))).headers['content-type']).toBe('image/svg+xml');
      expect((await get('/robots.txt')).text).toContain(`Sitemap: ${HOME}/sitemap.xml`);
    });

    it('tell search engines not to index a hidden site, and let them read that', async () => {
      const robots = async (path: string) => {
        const { elements } = readPage((await get(path)).text);
        return elements.find(({ attributes: { name } }) => name === 'robots')?.attributes.content;
      };
      const { url } = await made({});
      const paths = ['/', '/events/month/', pathOf(url), '/venue/teatro-rossi/', '/events/category/music/', '/doc'];
      expect(await Promise.all(paths.map(robots))).toEqual(paths.map(() => undefined));
      await ask.options({ blog_public: '0' });
      expect(await Promise.all(paths.map(robots))).toEqual(paths.map(() => 'noindex, nofollow'));
      expect((await get('/robots.txt')).text).toBe('User-agent: *\nDisallow: /admin/\n');
    });

    it("redirect from WordPress's admin paths to the desk", async () => {
      for (const path of ['/wp-admin/', '/wp-admin', '/wp-login.php']) {
        const answer = await get(path);
        expect([path, answer.status, answer.headers.location]).toEqual([path, 302, '/admin']);
      }
    });

    it('are in the sitemap if anybody may see them in full', async () => {
      const locations = async (path: string) => [...(await get(path)).text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url]) => pathOf(url!));
      const { id, url } = await made({});
      const files = await locations('/sitemap.xml');
      expect(files).toEqual(expect.arrayContaining(['/sitemap-pages-1.xml', '/sitemap-events-1.xml', '/sitemap-venues-1.xml']));
      const all = (await Promise.all(files.map(locations))).flat();
      expect(all).toContain(pathOf(url));
      for (const path of all) expect([path, (await get(path.replaceAll('&amp;', '&'))).status]).toEqual([path, 200]);
      await ask.writeRows((db) => db.from('posts').where({ ID: id }).update({ post_password: 'swordfish' }));
      expect(await locations('/sitemap-events-1.xml')).not.toContain(pathOf(url));
      expect((await get('/sitemap-events-9.xml')).status).toBe(404);
    });

    it('are all in the sitemap, however many categories there are', async () => {
      const number = 1100;
      const ids = Array.from({ length: number }, (_, index) => 7000 + index);
      await ask.writeRows(async (db) => {
        for (let at = 0; at < number; at += 100) {
          const some = ids.slice(at, at + 100);
          await db.from('terms').insert(some.map((id) => ({ term_id: id, name: `Many ${id}`, slug: `many-${id}`, term_group: 0 })));
          const rows = some.map((id) => ({
            term_taxonomy_id: id,
            term_id: id,
            taxonomy: 'tribe_events_cat',
            description: '',
            parent: 0,
            count: 1,
          }));
          await db.from('term_taxonomy').insert(rows);
        }
      });
      const locations = async (path: string) => [...(await get(path)).text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url]) => pathOf(url!));
      const files = (await locations('/sitemap.xml')).filter((path) => path.startsWith('/sitemap-pages-'));
      expect(files).toEqual(['/sitemap-pages-1.xml', '/sitemap-pages-2.xml']);
      const [first, second] = await Promise.all(files.map(locations));
      expect(first).toHaveLength(1000);
      const all = [...first!, ...second!];
      expect(new Set(all).size).toBe(all.length);
      expect(all).toEqual(expect.arrayContaining(ids.map((id) => `/events/category/many-${id}/list/`)));
      expect((await get('/sitemap-pages-3.xml')).status).toBe(404);
    });

    it('are cached until something changes', async () => {
      const first = await get('/events/2026-12-05/');
      const again = await get('/events/2026-12-05/', { 'if-none-match': String(first.headers.etag) });
      expect(again.status).toBe(304);
      await made({ title: 'A new fair' });
      expect((await get('/events/2026-12-05/')).text).toContain('A new fair');
    });

    // This test is the last one, since the address is blocked afterwards.
    it('refuse passwords from an address that was wrong too often', async () => {
      const { id, url } = await made({});
      await ask.writeRows((db) => db.from('posts').where({ ID: id }).update({ post_password: 'swordfish' }));
      const attempts = attemptsOf(ask.running().site, 'record-password');
      const enter = () =>
        ask.send('POST', pathOf(url), { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'post_password=perch' });
      expect((await enter()).status).toBe(200);
      while (attempts.secondsToWait('127.0.0.1', new Date(SUITE_TIME)) === undefined)
        attempts.countFailure('127.0.0.1', undefined, new Date(SUITE_TIME));
      const refused = await enter();
      expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
      expect(refused.text).toContain('There were too many requests. Try again a little later.');
    });
  },
  { PAGES: 'on' },
);

/** Enough pages to include all kinds. */
const MOST_WALKED = 150;

/** URLs of the events that a page lists. */
const cardsOf = (elements: ReturnType<typeof readPage>['elements']): string[] =>
  elements.flatMap(({ name, attributes }, at) => (name === 'a' && elements[at - 1]?.name === 'h3' ? [attributes.href ?? ''] : []));
