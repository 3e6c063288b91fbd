import { describe, expect, it } from '@jest/globals';
import nodeIcal, { type VEvent } from 'node-ical';
import { SaxesParser } from 'saxes';
import { bodyOf, describeAsking, idsOf, type Json } from '../support/asking.ts';
import { basic } from '../support/running-site.ts';

const HOME = 'http://127.0.0.1:8081';

/** Events of a calendar as a parser of somebody else reads them, by the id that their name begins with. */
function parsed(text: string): Map<number, VEvent> {
  const events = Object.values(nodeIcal.sync.parseICS(text)).filter((part): part is VEvent => part?.type === 'VEVENT');
  return new Map(events.map((event) => [Number.parseInt(event.uid, 10), event]));
}

/** Parameters that a parser puts beside a value are left out. */
const plain = (value: unknown): unknown => (value !== null && typeof value === 'object' && 'val' in value ? value.val : value);
const moment = (text: string) => new Date(`${text.replace(' ', 'T')}Z`).getTime();

describeAsking('feeds', (ask) => {
  const get = (path: string, headers: Record<string, string> = {}) => ask.send('GET', path, { headers });
  const calendar = async (path: string) => {
    const answer = await get(path);
    expect({ status: answer.status, type: answer.headers['content-type'] }).toEqual({ status: 200, type: 'text/calendar; charset=UTF-8' });
    return parsed(answer.text);
  };
  /** The whole list of the interface, as anybody sees it. */
  const whole = async (query = ''): Promise<Json[]> => {
    const records: Json[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const body = await ask.read(`/events?per_page=50&page=${page}&${query}`);
      records.push(...body.events);
      pages = body.total_pages;
    }
    return records;
  };

  describe('as a calendar', () => {
    it.each(['/?ical=1', '/events/?ical=1', '/events/list/?ical=1', '/events/ical/', '/?post_type=tribe_events&ical=1'])(
      '%s holds what the list holds',
      async (path) => expect([...(await calendar(path)).keys()]).toEqual((await whole()).map(({ id }) => id)),
    );

    it('tells when, where, who and what, to a parser of somebody else', async () => {
      const events = await calendar('/events/?ical=1&start_date=2000-01-01&end_date=2100-01-01');
      const records = await whole('start_date=2000-01-01&end_date=2100-01-01');
      expect(events.size).toBe(records.length);
      for (const record of records) {
        const event = events.get(record.id)!;
        const summary = String(plain(event.summary));
        if (!/[&<]/.test(record.title)) expect(summary).toBe(record.title);
        if (record.all_day) expect(event.datetype).toBe('date');
        else expect([event.start.getTime(), event.end?.getTime()]).toEqual([moment(record.utc_start_date), moment(record.utc_end_date)]);
        expect(event.url).toBe(record.url);
        expect(event.categories ?? []).toEqual(record.categories.map(({ name }: Json) => name.replaceAll('&amp;', '&')));
      }
    });

    it('is named as The Events Calendar names events, by id, start and end', async () => {
      const { uid } = (await calendar('/event/summer-concert/?ical=1')).get(39)!;
      const record = await ask.read('/events/39');
      expect(uid).toBe(`39-${moment(record.utc_start_date) / 1000}-${moment(record.utc_end_date) / 1000}@127.0.0.1`);
    });

    it('takes the wall clock of an event elsewhere in the zone of the site for that', async () => {
      const record = await ask.read('/events/48');
      const [, start] = (await calendar('/event/new-york-spring/?ical=1')).get(48)!.uid.split('-');
      expect([record.timezone, Number(start) - moment(record.start_date) / 1000]).toEqual(['America/New_York', -3600]);
    });

    it('gives days where an event lasts whole days, the end being the day after', async () => {
      const { text } = await get('/event/christmas-market/?ical=1');
      const record = await ask.read('/events/41');
      const [start, last]: [string, string] = [record.start_date.slice(0, 10), record.end_date.slice(0, 10)];
      const after = new Date(moment(`${last} 00:00:00`) + 86_400_000).toISOString().slice(0, 10);
      expect(text.match(/^DT(START|END).*$/gm)).toEqual([
        `DTSTART;VALUE=DATE:${start.replaceAll('-', '')}`,
        `DTEND;VALUE=DATE:${after.replaceAll('-', '')}`,
      ]);
    });

    it('brings along each zone that it names, once and before', async () => {
      const { text } = await get('/events/?ical=1&start_date=2000-01-01&end_date=2100-01-01');
      const told = [...text.matchAll(/^TZID:(.*)\r$/gm)].map(([, name]) => name);
      const named = [...new Set([...text.matchAll(/;TZID=([^:]*):/g)].map(([, name]) => name))];
      expect(told.slice().sort()).toEqual(named.slice().sort());
      for (const name of named) expect(text.indexOf(`TZID:${name}\r`)).toBeLessThan(text.indexOf(`;TZID=${name}:`));
    });

    it('has lines of at most 75 bytes, ended by CR and LF', async () => {
      const { text } = await get('/events/?ical=1&start_date=2000-01-01&end_date=2100-01-01');
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      expect(Math.max(...text.split('\r\n').map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75);
    });

    it('says where: name, address and coordinates of the venue', async () => {
      const record = (await whole('start_date=2000-01-01&end_date=2100-01-01')).find(({ venue }) => venue.id === 13);
      const event = (await calendar(`/?tribe_events=${record.slug}&ical=1`)).get(record.id)!;
      const { venue, address, city, country } = record.venue;
      expect(String(plain(event.location))).toMatch(new RegExp(`^${venue}, ${address}, ${city}, .*${country}$`));
      expect(event.geo).toEqual({ lat: record.venue.geo_lat, lon: record.venue.geo_lng });
    });

    it('keeps what people write from becoming lines of the calendar', async () => {
      const evil = 'A, b; c\\d "q"\r\nEND:VEVENT\nBEGIN:VEVENT\r\nUID:evil\u0000\u0085x';
      await ask.rows(async (db) => {
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
      expect(String(plain(parsed(text).get(39)!.summary))).toBe('A, b; c\\d “q” END:VEVENT BEGIN:VEVENT UID:evilx');
      expect(String(plain(parsed(text).get(39)!.description))).toMatch(/^one\n\ntwo\n\n/);
    });

    it('is saved under a name of letters and digits', async () => {
      expect((await get('/event/tokyo-budokan-%F0%9F%8E%B8/?ical=1')).headers['content-disposition']).toBe(
        'attachment; filename="tokyo-budokan.ics"',
      );
      expect((await get('/?ical=1')).headers['content-disposition']).toBe('attachment; filename="events.ics"');
    });
  });

  describe('narrowed', () => {
    it('by a category in the address, with those below it', async () => {
      const { slug } = (await ask.read('/categories/2')) as Json;
      expect([...(await calendar(`/events/category/${slug}/?ical=1`)).keys()]).toEqual((await whole('categories=2')).map(({ id }) => id));
    });
    it('by a tag in the address', async () => {
      const { slug } = (await ask.read('/tags/11')) as Json;
      for (const path of [`/events/tag/${slug}/?ical=1`, `/tag/${slug}/?ical=1`])
        expect([...(await calendar(path)).keys()]).toEqual((await whole('tags=11')).map(({ id }) => id));
    });
    it.each([
      'search=concert',
      'featured=true',
      'venue=12',
      'start_date=2000-01-01&end_date=2026-01-01',
      'per_page=3',
      'per_page=3&page=2',
      'include=39,33',
    ])('by %s, as the list is', async (query) =>
      expect([...(await calendar(`/events/?ical=1&${query}`)).keys()]).toEqual(
        idsOf(await ask.read(`/events?${query.includes('per_page') ? query : `${query}&per_page=50`}`)),
      ),
    );
    it('to what is past, the latest first', async () => {
      const starts = [...(await calendar('/events/?ical=1&eventDisplay=past')).values()].map(({ start }) => start.getTime());
      expect(starts.length).toBeGreaterThan(2);
      expect(starts).toEqual([...starts].sort((a, b) => b - a));
    });
    it('refuses what the list refuses', async () => {
      const answer = await get('/events/?ical=1&per_page=0');
      expect([answer.status, answer.body.code]).toEqual([400, 'rest_invalid_param']);
    });
    it.each([
      '/events/category/nothing/?ical=1',
      '/events/tag/nothing/?ical=1',
      '/event/nothing/?ical=1',
      '/events/category/nothing/feed/',
    ])('%s is not there', async (path) => expect((await get(path)).status).toBe(404));
  });

  describe('to whoever asks', () => {
    it.each([
      ['draft-event', 82],
      ['pending-event', 83],
      ['private-event', 84],
      ['scheduled-event', 85],
    ] as const)('%s is not told of', async (slug, id) => {
      await ask.rows((db) => db.from('posts').where('ID', id).update({ post_name: slug }));
      for (const headers of [{}, { Authorization: basic('admin') }]) {
        for (const path of [`/event/${slug}/?ical=1`, `/event/${slug}/?format=jsonld`]) {
          const answer = await get(path, headers);
          expect([answer.status, answer.text.includes('VEVENT')]).toEqual([403, false]);
        }
        expect([...parsed((await get(`/events/?ical=1&include=${id}`, headers)).text).keys()]).toEqual([]);
        expect([...parsed((await get('/events/?ical=1&start_date=2000-01-01&status=any', headers)).text).keys()]).not.toContain(id);
      }
    });
    it('what is protected is listed without what it hides', async () => {
      const event = (await calendar('/events/?ical=1&start_date=2000-01-01&end_date=2100-01-01')).get(73)!;
      expect([event.description, event.location, event.categories]).toEqual([undefined, undefined, undefined]);
      expect((await get('/event/password-protected/?ical=1')).status).toBe(403);
      expect((await get('/event/password-protected/?ical=1&password=opensesame')).status).toBe(200);
    });
    it('a venue that is not public is left out', async () =>
      expect((await calendar('/event/with-draft-venue/?ical=1')).get(67)!.location).toBeUndefined());
  });

  describe('as news', () => {
    /** Names of elements and their texts, by a parser of somebody else. */
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

    it('holds what the list holds', async () => {
      const answer = await get('/events/feed/');
      expect(answer.headers['content-type']).toBe('application/rss+xml; charset=UTF-8');
      const { events } = await ask.read('/events');
      expect(all(answer.text, 'guid')).toEqual(events.map(({ id }: Json) => `${HOME}/?post_type=tribe_events&p=${id}`));
      expect(all(answer.text, 'link').slice(1)).toEqual(events.map(({ url }: Json) => url));
      expect(all(answer.text, 'content:encoded')).toEqual(events.map(({ description }: Json) => description).filter(Boolean));
    });
    it('is narrowed by the address and by filters', async () => {
      const { slug } = await ask.read('/categories/5');
      expect(all((await get(`/events/category/${slug}/feed/?per_page=2`)).text, 'guid')).toHaveLength(
        idsOf(await ask.read('/events?categories=5&per_page=2')).length,
      );
    });
    it('is XML whatever people write', async () => {
      await ask.rows((db) =>
        db
          .from('posts')
          .where('ID', 39)
          .update({ post_title: ']]>\u0001 &nbsp;<b>&amp;amp;</b>', post_content: 'x ]]> &hellip; \u000b\ufffe' }),
      );
      expect(all((await get('/events/feed/?include=39')).text, 'title').at(-1)).toBe(']]> &amp;');
    });
    it('describes in HTML, as readers expect: what looks like a tag stays a text', async () => {
      const text = '&lt;img src=x onerror=alert(1)&gt; &amp;amp;';
      await ask.rows((db) =>
        db
          .from('posts')
          .where('ID', 39)
          .update({ post_excerpt: '', post_content: `<p>${text}</p>` }),
      );
      expect(all((await get('/events/feed/?include=39')).text, 'description').at(-1)).toBe(text);
    });
    it('tells start and end with the offset of the zone', async () =>
      expect(all((await get('/events/feed/?include=49')).text, 'ev:startdate')[0]).toMatch(/\+09:00$/));
  });

  it('structured data of an event are at its address', async () => {
    const answer = await get('/event/summer-concert/?format=jsonld');
    expect(answer.headers['content-type']).toBe('application/ld+json; charset=UTF-8');
    expect(answer.body).toEqual((await ask.read('/events/39')).json_ld);
  });

  it('is answered in the language of the address', async () => {
    const answer = await get('/it/events/?ical=1&include=39');
    expect(answer.text.replaceAll('\r\n ', '')).toContain(`URL:${HOME}/it/event/summer-concert/`);
  });

  it('is not sent again to who has it, and changes with the events', async () => {
    const first = await get('/events/?ical=1');
    const tag = String(first.headers.etag);
    expect((await get('/events/?ical=1', { 'If-None-Match': tag })).status).toBe(304);
    bodyOf(await ask.post('/events/39', { title: 'Changed' }));
    expect((await get('/events/?ical=1', { 'If-None-Match': tag })).status).toBe(200);
    const head = await ask.send('HEAD', '/events/?ical=1');
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('leaves what is no feed to others', async () => {
    expect((await get('/events/')).status).toBe(404);
    expect((await ask.send('POST', '/events/?ical=1')).status).toBe(404);
  });
});
