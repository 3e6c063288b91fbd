import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import nodeIcal, { type VEvent } from 'node-ical';
import { SaxesParser } from 'saxes';
import { basic, serveDatabase } from '../support/running-site.ts';
import { describeRequests, expectBody, type Json } from '../support/site-client.ts';

const HOME = 'http://127.0.0.1:8081';

/** Events of a calendar as read by an independent parser, by the id at the start of their UID. */
function parsed(text: string): Map<number, VEvent> {
  const events = Object.values(nodeIcal.sync.parseICS(text)).filter((part): part is VEvent => part?.type === 'VEVENT');
  return new Map(events.map((event) => [Number.parseInt(event.uid, 10), event]));
}

/** The value of a property without the parameters that the parser adds to it. */
const plain = (value: unknown): unknown => (value !== null && typeof value === 'object' && 'val' in value ? value.val : value);
const moment = (text: string) => new Date(`${text.replace(' ', 'T')}Z`).getTime();

describeRequests('feeds', (ask) => {
  const get = (path: string, headers: Record<string, string> = {}) => ask.send('GET', path, { headers });
  const calendar = async (path: string) => {
    const answer = await get(path);
    expect({ status: answer.status, type: answer.headers['content-type'] }).toEqual({ status: 200, type: 'text/calendar; charset=UTF-8' });
    return parsed(answer.text);
  };
  /** Ids of the events that have not ended, in the order of their start. */
  const lasting = async () => {
    const records = await whole('start_date=2000-01-01&end_date=2100-01-01');
    return records.filter(({ end_date: end }) => end > '2026-11-20 13:00:00').map(({ id }) => id);
  };
  /** All events of the list that the API returns to an anonymous caller. */
  const whole = async (query = ''): Promise<Json[]> => {
    const records: Json[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const body = await ask.read(`/events?per_page=50&page=${page}&${query}`);
      records.push(...body.events);
      pages = body.total_pages;
    }
    return records;
  };

  describe('in iCalendar format', () => {
    it.each(['/?ical=1', '/events/?ical=1', '/events/list/?ical=1', '/events/ical/', '/?post_type=tribe_events&ical=1'])(
      'contain at %s the first 30 events that have not ended',
      async (path) => expect([...(await calendar(path)).keys()]).toEqual((await lasting()).slice(0, 30)),
    );
    it('list all shown terms in Surrogate-Key, including those of protected events', async () => {
      const keys = async (path: string) => String((await get(path)).headers['surrogate-key']).split(' ');
      const [category] = (await ask.read('/events/73?password=opensesame')).categories;
      expect(await keys('/event/password-protected/?ical=1')).toEqual(expect.arrayContaining(['event-73', `category-${category.id}`]));
      const shown = (await whole('start_date=2026-11-21')).flatMap(({ categories }) => categories).map(({ id }: Json) => `category-${id}`);
      expect(await keys('/events/?ical=1&per_page=1000')).toEqual(expect.arrayContaining(shown));
    });
    it('contain more events if per_page is larger than 30, never fewer', async () => {
      expect([...(await calendar('/events/?ical=1&per_page=1000')).keys()]).toEqual(await lasting());
      expect((await lasting()).length).toBeGreaterThan(30);
      expect((await calendar('/events/?ical=1&per_page=3')).size).toBe(30);
    });
    it('have no X-WR-CAL properties if the site has no name', async () => {
      await ask.options({ blogname: '' });
      expect((await get('/events/?ical=1')).text).not.toMatch(/X-WR-CAL/);
    });
    it('continue on the second page after the end of the first', async () =>
      expect([...(await calendar('/events/?ical=1&per_page=31&paged=2')).keys()]).toEqual((await lasting()).slice(31)));

    it('continue after 30 events if per_page is 30, and after as many as a page has if it is smaller or missing', async () => {
      const ids = await lasting();
      const length = 10;
      await ask.options({ posts_per_page: String(length) });
      expect([...(await calendar('/events/?ical=1&paged=2')).keys()]).toEqual(ids.slice(length, length + 30));
      expect([...(await calendar('/events/?ical=1&paged=2&per_page=29')).keys()]).toEqual(ids.slice(length, length + 30));
      expect([...(await calendar('/events/?ical=1&paged=2&per_page=30')).keys()]).toEqual(ids.slice(30, 60));
    });
    it('omit an event from the minute in which it ends', async () => {
      const record = await ask.create('/events', {
        title: 'Under way',
        start_date: '2026-11-20 09:00:00',
        end_date: '2026-11-20 13:05:00',
        status: 'publish',
      });
      const isListed = async (path: string) => [...(await calendar(path)).keys()].includes(record.id);
      const seen = async (moment: string) => {
        ask.setClock(moment);
        return [await isListed('/events/list/?ical=1'), await isListed('/events/list/?ical=1&eventDisplay=past')];
      };
      expect(await seen('2026-11-20T12:00:00Z')).toEqual([true, false]);
      expect(await seen('2026-11-20T12:04:59Z')).toEqual([true, false]);
      expect(await seen('2026-11-20T12:05:00Z')).toEqual([false, true]);
    });

    it('give title, dates, URL and categories of each event to an independent parser', async () => {
      const events = await calendar('/events/list/?ical=1&per_page=1000&tribe-bar-date=2000-01-01');
      const records = await whole('start_date=2000-01-01&end_date=2100-01-01');
      expect(events.size).toBe(records.length);
      for (const record of records) {
        const event = events.get(record.id)!;
        const summary = String(plain(event.summary));
        if (!/[&<]/.test(record.title)) expect(summary).toBe(record.title);
        // For a protected event it is hidden whether it lasts all day.
        if (record.all_day) expect(event.datetype).toBe('date');
        else expect([event.start.getTime(), event.end?.getTime()]).toEqual([moment(record.utc_start_date), moment(record.utc_end_date)]);
        expect(event.url).toBe(record.url);
        const names = record.id === 73 ? ['Sport'] : record.categories.map(({ name }: Json) => name.replaceAll('&amp;', '&'));
        expect(event.categories ?? []).toEqual(names);
      }
    });

    it.each([
      ['summer-concert', 39],
      ['new-york-spring', 48],
      ['christmas-market', 41],
    ])('give %s the UID of The Events Calendar, made of its id and local times', async (slug, id) => {
      const { uid } = (await calendar(`/event/${slug}/?ical=1`)).get(id)!;
      const { start_date: start, end_date: end } = await ask.read(`/events/${id}`);
      expect(uid).toBe(`${id}-${moment(start) / 1000}-${moment(end) / 1000}@127.0.0.1`);
    });

    it('give an all-day event dates, with an exclusive end', async () => {
      const { text } = await get('/event/christmas-market/?ical=1');
      const record = await ask.read('/events/41');
      const [start, last]: [string, string] = [record.start_date.slice(0, 10), record.end_date.slice(0, 10)];
      const after = new Date(moment(`${last} 00:00:00`) + 86_400_000).toISOString().slice(0, 10);
      expect(text.match(/^DT(START|END).*$/gm)).toEqual([
        `DTSTART;VALUE=DATE:${start.replaceAll('-', '')}`,
        `DTEND;VALUE=DATE:${after.replaceAll('-', '')}`,
      ]);
    });

    it('define each time zone once, before its first use', async () => {
      const { text } = await get('/events/list/?ical=1&per_page=1000&tribe-bar-date=2000-01-01');
      const told = [...text.matchAll(/^TZID:(.*)\r$/gm)].map(([, name]) => name);
      const named = [...new Set([...text.matchAll(/;TZID=([^:]*):/g)].map(([, name]) => name))];
      expect(told.slice().sort()).toEqual(named.slice().sort());
      for (const name of named) expect(text.indexOf(`TZID:${name}\r`)).toBeLessThan(text.indexOf(`;TZID=${name}:`));
    });

    it('have lines of at most 75 bytes that end with CRLF', async () => {
      const { text } = await get('/events/list/?ical=1&per_page=1000&tribe-bar-date=2000-01-01');
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      expect(Math.max(...text.split('\r\n').map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75);
    });

    it('contain name, address and coordinates of the venue', async () => {
      const record = (await whole('start_date=2000-01-01&end_date=2100-01-01')).find(({ venue }) => venue.id === 13);
      const event = (await calendar(`/?tribe_events=${record.slug}&ical=1`)).get(record.id)!;
      const { venue, address, city, country } = record.venue;
      expect(String(plain(event.location))).toMatch(new RegExp(`^${venue}, ${address}, ${city}, .*${country}$`));
      expect(event.geo).toEqual({ lat: record.venue.geo_lat, lon: record.venue.geo_lng });
    });

    it('escape line breaks in texts, so that they cannot inject properties', async () => {
      const evil = 'A, b; c\\d "q"\r\nEND:VEVENT\nBEGIN:VEVENT\r\nUID:evil\u0000\u0085x';
      await ask.writeRows(async (db) => {
        await db
          .from('posts')
          .where('ID', 39)
          .update({ post_title: evil, post_content: `<p>one</p>\n<p>two</p> ${evil}` });
        await db.from('posts').where('ID', 12).update({ post_title: evil });
        await db.from('postmeta').where({ post_id: 39, meta_key: '_EventURL' }).update({ meta_value: 'https://a.example/\r\nUID:evil' });
      });
      const { text } = await get('/event/summer-concert/?ical=1');
      expect(text.match(/^(BEGIN|END):VEVENT\r$/gm)).toEqual(['BEGIN:VEVENT\r', 'END:VEVENT\r']);
      expect(text.match(/^UID.*$/gm)).toHaveLength(1);
      expect(String(plain(parsed(text).get(39)!.summary))).toBe('A, b; c\\d "q" END:VEVENT BEGIN:VEVENT UID:evilx');
      expect(String(plain(parsed(text).get(39)!.description))).toMatch(/^one\n\ntwo\n\n/);
    });

    it('mark canceled events, unless a password hides the status', async () => {
      const path = '/event/spring-fair/?ical=1';
      const status = async (query = '') => (await calendar(`${path}${query}`)).get(38)?.status;
      const before = await status();
      await ask.writeRows((db) => db.from('postmeta').insert({ post_id: 38, meta_key: '_tribe_events_status', meta_value: 'canceled' }));
      const called = await status();
      await ask.writeRows((db) => db.from('posts').where('ID', 38).update({ post_password: 'secret' }));
      expect([before, called, await status(), await status('&password=secret')]).toEqual([undefined, 'CANCELLED', undefined, 'CANCELLED']);
    });

    it('have an ASCII file name that differs between sets of events', async () => {
      await ask.options({ blogname: 'Città &amp; "Più"' });
      const names = await Promise.all(
        ['/events/ical/', '/event/summer-concert/?ical=1'].map(async (path) => (await get(path)).headers['content-disposition']),
      );
      for (const name of names) expect(name).toMatch(/^attachment; filename="citta-piu-[\da-f]{11}\.ics"$/);
      expect(names[0]).not.toBe(names[1]);
    });

    it('have PRODID and description in the language of the path', async () => {
      const { text } = await get('/it/event/summer-concert/?ical=1');
      expect(text).toMatch(/^PRODID:.*\/\/IT\r$/m);
      expect(text).toContain('X-WR-CALDESC:Eventi di Sample Calendar');
      expect((await get('/it/events/feed/')).text).toContain('<language>en-US</language>');
    });

    it('have PRODID and description in the language of the site, regardless of Accept-Language', async () => {
      const described = async (language: string) =>
        (await get('/events/?ical=1', { 'Accept-Language': language })).text
          .match(/^(?:PRODID|X-WR-CALDESC):.*/gm)
          ?.map((line) => line.trim());
      const english = ['PRODID:-//Sample Calendar//Fasti//EN', 'X-WR-CALDESC:Events of Sample Calendar'];
      expect(await described('it')).toEqual(english);
      await ask.options({ WPLANG: 'it_IT' });
      expect(await described('en')).toEqual(['PRODID:-//Sample Calendar//Fasti//IT', 'X-WR-CALDESC:Eventi di Sample Calendar']);
    });
  });

  describe('with filters', () => {
    it.each(['search=concert', 'featured=true', 'venue=12', 'city=Pisa'])('%s contain the same events as the list', async (query) => {
      const listed = (await whole(`start_date=2000-01-01&end_date=2100-01-01&${query}`)).map(({ id }) => id);
      expect([...(await calendar(`/events/list/?ical=1&per_page=1000&tribe-bar-date=2000-01-01&${query}`)).keys()]).toEqual(listed);
    });
    it('ignore parameters that the pages of the plugin ignore', async () =>
      expect((await get('/events/?ical=1&start_date=2030-01-01&end_date=2030-02-01&include=39&per_page=2')).text).toBe(
        (await get('/events/?ical=1')).text,
      ));
    it('ignore an empty last day', async () =>
      expect((await get('/events/?ical=1&until=')).text).toBe((await get('/events/?ical=1')).text));
    it('return 400 for a value that the list refuses', async () => {
      const answer = await get('/events/?ical=1&venue=x');
      expect([answer.status, answer.body.code]).toEqual([400, 'rest_invalid_param']);
    });
    it.each([
      '/events/category/nothing/?ical=1',
      '/events/tag/nothing/?ical=1',
      '/?tribe_events_cat=nothing&ical=1',
      '/event/nothing/?ical=1',
      '/?p=1&ical=1',
      '/events/category/nothing/feed/',
      '/venue/teatro-rossi/?ical=1',
      ...['0000-00-00', '0000-01-01', '0999-12-31', '2027-02-29', '0000-00', '0000-01'].flatMap((date) => [
        `/events/${date}/`,
        `/events/${date}/?ical=1`,
      ]),
      '/event/summer-concert/0000-00-00/?ical=1',
    ])('return 404 for %s', async (path) => expect((await get(path)).status).toBe(404));
    it('return an empty calendar for a month without events', async () =>
      expect((await calendar('/events/month/2040-01/?ical=1')).size).toBe(0));
  });

  describe('at documented addresses', () => {
    const page = readFileSync(new URL('../../docs/feeds.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(\/[^`]*)` \| (\S+) \|/gm)].map(([, address, type]) => [address!, type!] as const);
    it('are listed in the table of docs/feeds.md', () => expect(rows.length).toBeGreaterThan(45));
    it.each(rows)('respond at %s with the type %s', async (address, type) => {
      const answer = await get(address);
      const moved = answer.status === 301 ? await get(String(answer.headers.location).slice(HOME.length)) : answer;
      expect([moved.status, moved.headers['content-type']]).toEqual([200, `${type}; charset=UTF-8`]);
    });
    it.each([
      ['list', ''],
      ['category', '&tribe_events_cat=sport'],
      ['month', '&tribe-bar-date=2028-05'],
    ])('are reachable through the links of Subscribe buttons: %s', async (_, more) => {
      const webcal = `webcal://127.0.0.1:8081/?post_type=tribe_events${more}&ical=1&eventDisplay=list`;
      const google = `https://www.google.com/calendar/render?cid=${encodeURIComponent(webcal)}`;
      const asked = new URL(new URL(google).searchParams.get('cid')!);
      const answer = await get(`${asked.pathname || '/'}${asked.search}`);
      const path = answer.status === 301 ? String(answer.headers.location).slice(HOME.length) : `/${asked.search}`;
      expect((await calendar(path)).size).toBeGreaterThan(0);
    });
  });

  it.each([
    ['/events/?x=1', '', undefined],
    ['/events/category/sport/', 'events/?categories=sport', 'wp/v2/tribe_events_cat/5'],
    ['/event/spring-fair/', 'events/38', 'wp/v2/tribe_events/38'],
    ['/event/private-event/', '', undefined],
    ['/events/featured/', 'events/?featured=1', undefined],
    ['/venue/teatro-rossi/', '', undefined],
  ])('are linked, together with the API, from the page %s, which itself returns 404', async (path, route, core) => {
    const { status, headers } = await get(path);
    expect([status, headers['x-tec-api-root'], headers['x-tec-api-origin']]).toEqual([
      404,
      `${HOME}/wp-json/tribe/events/v1/${route}`,
      HOME,
    ]);
    expect(headers.link).toContain(`<${HOME}/events/?ical=1>; rel="alternate"; type="text/calendar"`);
    expect(headers.link).toContain(`<${HOME}/wp-json/>; rel="https://api.w.org/"`);
    expect(String(headers.link).includes('/wp-json/wp/v2/')).toBe(core !== undefined);
    if (core !== undefined) expect(headers.link).toContain(`<${HOME}/wp-json/${core}>; rel="alternate"`);
    expect(/<([^>]*)>; rel=shortlink/.exec(String(headers.link))?.[1]).toBe(route === 'events/38' ? `${HOME}/?p=38` : undefined);
  });

  it('need about as many queries for many events as for few', async () => {
    // Not shared with WordPress, so that no queries look for changes of other programs.
    const { site, send, close } = await serveDatabase(ask.db(), { env: { SHARED_WITH_WORDPRESS: 'off', CACHE: 'off' } });
    const queries = async (path: string) => {
      const before = site.db.queries();
      expect((await send('GET', path)).status).toBe(200);
      return site.db.queries() - before;
    };
    for (const form of ['ical/', 'feed/']) {
      const [few, many] = [await queries(`/events/2030-06-11/${form}?x=1`), await queries(`/events/${form}?tribe-bar-date=2001-01-01`)];
      expect(few).toBeGreaterThan(0);
      expect(many).toBeLessThanOrEqual(few + 2);
    }
    await close();
  });

  describe('and non-public records', () => {
    it.each([
      ['draft-event', 82],
      ['pending-event', 83],
      ['private-event', 84],
      ['scheduled-event', 85],
    ] as const)('omit %s even for administrators', async (slug, id) => {
      await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_name: slug }));
      for (const headers of [{}, { Authorization: basic('admin') }]) {
        for (const path of [`/event/${slug}/?ical=1`, `/event/${slug}/?format=jsonld`]) {
          const answer = await get(path, headers);
          expect([answer.status, answer.text.includes('VEVENT')]).toEqual([404, false]);
        }
        expect([...parsed((await get(`/?ical=1&event_ids=${id}`, headers)).text).keys()]).toEqual([]);
        expect([...parsed((await get('/events/list/?ical=1&tribe-bar-date=2000-01-01&per_page=1000', headers)).text).keys()]).not.toContain(
          id,
        );
      }
    });
    it('list a protected event without its hidden fields', async () => {
      const event = (await calendar('/events/list/?ical=1&per_page=1000&tribe-bar-date=2000-01-01')).get(73)!;
      expect([String(plain(event.description)), event.location, event.organizer]).toEqual(['Password protected', undefined, undefined]);
      const read = async (query: string) => (await calendar(`/event/password-protected/?ical=1${query}`)).get(73)!;
      expect((await read('')).location).toBeUndefined();
      expect(String(plain((await read('&password=opensesame')).location))).toMatch(/^Teatro Rossi/);
    });
    it('omit a venue that is not public', async () =>
      expect((await calendar('/event/with-draft-venue/?ical=1')).get(67)!.location).toBeUndefined());
  });

  describe('in RSS and Atom format', () => {
    /** Names and texts of the elements, as read by an independent parser. */
    function elements(xml: string): [string, string][] {
      const found: [string, string][] = [];
      const texts: string[] = [];
      const parser = new SaxesParser();
      parser.on('error', (error) => {
        throw error;
      });
      parser.on('opentag', () => texts.push(''));
      parser.on('text', (text) => texts.push((texts.pop() ?? '') + text));
      parser.on('closetag', ({ name }) => found.push([name, texts.pop()!]));
      parser.write(xml).close();
      return found;
    }
    const all = (xml: string, wanted: string) =>
      elements(xml)
        .filter(([name]) => name === wanted)
        .map(([, text]) => text);

    it('contain events that have not ended, including hidden ones', async () => {
      const answer = await get('/events/feed/');
      expect(answer.headers['content-type']).toBe('application/rss+xml; charset=UTF-8');
      expect(all(answer.text, 'guid')).toHaveLength(10);
      expect(all((await get('/events/category/sport/feed/')).text, 'title')).toEqual([
        'Sport - Sample Calendar',
        'Autumn run',
        'Hidden event',
        'Protected: Password protected',
      ]);
    });
    it('give the last change of the site as their date if they have no items', async () => {
      await ask.options({ tribe_last_save_post: '1795075200.5' });
      const page = '/events/category/unused-category/feed/';
      expect(all((await get(page)).text, 'lastBuildDate')).toEqual(['Thu, 19 Nov 2026 08:00:00 +0000']);
      expect(all((await get(`${page}atom/`)).text, 'updated')).toEqual(['2026-11-19T08:00:00Z']);
    });
    it('are well-formed XML with any text', async () => {
      await ask.writeRows((db) =>
        db
          .from('posts')
          .where('ID', 39)
          .update({ post_title: ']]>\u0001 &nbsp;<b>&amp;amp;</b>', post_content: 'x ]]> &hellip; \u000b\ufffe' }),
      );
      expect(all((await get('/events/2027-07-01/feed/')).text, 'title').at(-1)).toBe(']]> &amp;');
    });
    it('keep escaped tags in descriptions as text', async () => {
      const text = '&lt;img src=x onerror=alert(1)&gt; &amp;amp;';
      await ask.writeRows((db) =>
        db
          .from('posts')
          .where('ID', 39)
          .update({ post_excerpt: '', post_content: `<p>${text}</p>` }),
      );
      expect(all((await get('/events/2027-07-01/feed/')).text, 'description').at(-1)).toBe(text);
    });
    it('give the size of an image in bytes, or 0 if it is unknown', async () => {
      const pictured = (await whole('start_date=2026-11-21')).find(({ image }) => image)!;
      const enclosure = async () =>
        /<enclosure url="([^"]+)" length="(\d+)"/
          .exec((await get(`/events/feed/?search=${encodeURIComponent(pictured.slug)}`)).text)
          ?.slice(1);
      const { url, id, filesize } = pictured.image;
      expect(filesize).toBeGreaterThan(0);
      await ask.writeRows((db) => db.from('posts').where('ID', pictured.id).update({ post_title: pictured.slug }));
      expect(await enclosure()).toEqual([url, String(filesize)]);
      await ask.writeRows((db) => db.from('postmeta').where({ post_id: id, meta_key: '_wp_attachment_metadata' }).delete());
      expect(await enclosure()).toEqual([url, '0']);
    });
    it('give the type of an image by its extension, and no image without a type', async () => {
      const pictured = (await whole('start_date=2026-11-21')).find(({ image }) => image)!;
      await ask.writeRows((db) => db.from('posts').where('ID', pictured.id).update({ post_title: pictured.slug }));
      const typeOf = async (file: string) => {
        const metas = { post_id: pictured.image.id, meta_key: '_wp_attached_file' };
        await ask.writeRows((db) => db.from('postmeta').where(metas).update({ meta_value: file }));
        const { text } = await get(`/events/feed/?search=${encodeURIComponent(pictured.slug)}`);
        return /<enclosure url="[^"]+" length="\d+" type="([^"]+)"/.exec(text)?.[1];
      };
      expect(await typeOf('2026/11/logo.svg')).toBe('image/svg+xml');
      expect(await typeOf('2026/11/photo.jpe')).toBe('image/jpeg');
      expect(await typeOf('2026/11/photo.raw')).toBeUndefined();
    });
    it('give the start with the UTC offset of the time zone', async () =>
      expect(all((await get('/events/feed/?search=Tokyo')).text, 'ev:startdate')[0]).toMatch(/\+09:00$/));
    it('give the stored moments of an event in the hour that the clock shows twice', async () => {
      const event = (await whole('start_date=2026-11-21')).find(({ timezone }) => timezone === 'Europe/Rome')!;
      const metas = {
        ...{ _EventStartDate: '2027-10-31 02:30:00', _EventStartDateUTC: '2027-10-31 00:30:00' },
        ...{ _EventEndDate: '2027-10-31 02:30:00', _EventEndDateUTC: '2027-10-31 01:30:00' },
      };
      await ask.writeRows(async (db) => {
        await db.from('posts').where('ID', event.id).update({ post_title: 'Repeated hour' });
        for (const [key, value] of Object.entries(metas))
          await db.from('postmeta').where({ post_id: event.id, meta_key: key }).update({ meta_value: value });
      });
      const { text } = await get('/events/feed/?search=Repeated%20hour');
      expect([all(text, 'ev:startdate')[0], all(text, 'ev:enddate')[0]]).toEqual([
        '2027-10-31T02:30:00+02:00',
        '2027-10-31T02:30:00+01:00',
      ]);
    });
  });

  it('include the JSON-LD of an event at its address', async () => {
    const answer = await get('/event/summer-concert/?format=jsonld');
    expect(answer.headers['content-type']).toBe('application/ld+json; charset=UTF-8');
    expect(answer.body).toEqual((await ask.read('/events/39')).json_ld);
  });

  it('contain URLs in the language of the path', async () => {
    const answer = await get('/it/event/summer-concert/?ical=1');
    expect(answer.text.replaceAll('\r\n ', '')).toContain(`URL:${HOME}/it/event/summer-concert/`);
  });

  it('return 304 if the ETag matches, and 200 after a change of an event', async () => {
    const first = await get('/events/?ical=1');
    const tag = String(first.headers.etag);
    expect((await get('/events/?ical=1', { 'If-None-Match': tag })).status).toBe(304);
    expectBody(await ask.post('/events/39', { title: 'Changed' }));
    expect((await get('/events/?ical=1', { 'If-None-Match': tag })).status).toBe(200);
    const head = await ask.send('HEAD', '/events/?ical=1');
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it.each([
    '/events/',
    '/?page_id=2&ical=1',
    '/?post_type=product&ical=1',
    '/?name=hello-world&author_name=admin&ical=1',
    '/?cat=1&ical=1',
    '/?attachment_id=10&ical=1',
    '/feed/',
    '/feed/?post_type=post',
  ])('return 404 for %s, which is no feed of the calendar', async (path) => expect((await get(path)).status).toBe(404));

  it.each([
    ['/feed/?post_type=tribe_events', 'application/rss+xml'],
    ['/feed/rss2/?post_type=tribe_events', 'application/rss+xml'],
    ['/feed/atom/?post_type=tribe_events', 'application/atom+xml'],
  ])('contain at %s the same items as the feed of events', async (path, type) => {
    const [answer, usual] = [await get(path), await get(path.replace('/feed/', '/events/feed/').replace(/\?.*/, ''))];
    expect([answer.status, answer.headers['content-type']]).toEqual([200, `${type}; charset=UTF-8`]);
    const items = (text: string) => text.match(/<title.*?<\/title>/g)?.slice(1);
    expect(items(answer.text)).toEqual(items(usual.text));
  });

  it('respond to POST as to GET', async () => {
    const [posted, got] = [await ask.send('POST', '/events/?ical=1'), await ask.send('GET', '/events/?ical=1')];
    expect([posted.status, posted.text]).toEqual([200, got.text]);
    expect((await ask.send('PUT', '/events/?ical=1')).status).toBe(404);
  });
});
