import { expect, it } from '@jest/globals';
import { describeRequests, expectBody, expectError, idsOf, type Json } from '../support/site-client.ts';

const CORE = '/wp-json/wp/v2';
const TEC = '/wp-json/tec/v1';
const EVENT = { title: 'Test event', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const CHOSEN = { start_date: '2030-01-01', end_date: '2031-12-31', per_page: '50' };
const listing = (more: string) => `/events?${new URLSearchParams(CHOSEN)}&${more}`;

describeRequests('other differences', (ask) => {
  it('D41 keeps backslashes in titles and texts', async () => {
    const event = await ask.create('/events', { ...EVENT, title: 'C:\\new', description: 'a\\b' });
    expect((await ask.read(`/events/${event.id}`, 'admin')).title).toContain('\\new');
    const [row] = (await ask.db().from('posts').where('ID', event.id).select('post_title', 'post_content')) as Json[];
    expect(row).toEqual({ post_title: 'C:\\new', post_content: 'a\\b' });
  });
  it('D41 finds texts with a backslash, as they are stored here and as the plugin stores them', async () => {
    const kept = await ask.create('/events', { ...EVENT, title: 'Path C:\\temp', status: 'publish' });
    const stripped = await ask.create('/events', { ...EVENT, title: 'Path C:temp', status: 'publish' });
    const other = await ask.create('/events', { ...EVENT, title: 'Path C: temp', status: 'publish' });
    const found = async (search: string) => {
      const { events } = await ask.read(`/events?${new URLSearchParams({ start_date: '2027-05-01', per_page: '50', search })}`);
      return [kept, stripped, other].map(({ id }) => idsOf({ events }).includes(id));
    };
    expect(await found('C:\\temp')).toEqual([true, true, false]);
    expect(await found('C:\\\\temp')).toEqual([true, false, false]);
    expect(await found('C:temp')).toEqual([false, true, false]);
    expect(await found('path -C:\\temp')).toEqual([false, false, true]);
    const { body } = await ask.send('GET', `${CORE}/search?${new URLSearchParams({ search: 'C:\\temp', per_page: '50' })}`);
    expect(body.map(({ id }: Json) => id).toSorted()).toEqual([kept.id, stripped.id].toSorted());
  });
  it('D42 reads a Unix time in a date as that moment', async () =>
    expect((await ask.create('/events', { ...EVENT, date: '1609495200' })).date_utc).toBe('2021-01-01 10:00:00'));
  it('D42 ignores an offset in a date, and refuses a Unix time as a number, as the reference does', async () => {
    const sent = '2025-01-01T10:00:00+05:00';
    expect((await ask.create('/events', { ...EVENT, date: sent })).date).toBe('2025-01-01 10:00:00');
    expect((await ask.create('/events', { ...EVENT, date_utc: sent })).date_utc).toBe('2025-01-01 10:00:00');
    expectError(await ask.post('/events', { ...EVENT, date: 1_609_495_200 }, 'admin'), 400, 'rest_invalid_param', ['date']);
  });
  it.each([
    ['America/Santiago', '-03'],
    ['Australia/Lord_Howe', '+11'],
  ])('D43 abbreviates the zone %s as at the start of the event', async (timezone, abbreviation) => {
    const event = await ask.create('/events', { ...EVENT, start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 11:00:00', timezone });
    expect(event.timezone_abbr).toBe(abbreviation);
  });
  it('D44 applies order and orderby, and uses the default order for an unknown value', async () => {
    const usual = idsOf(await ask.read(listing('orderby=nothing&order=sideways')));
    expect(usual).toEqual(idsOf(await ask.read(listing(''))));
    expect(idsOf(await ask.read(listing('orderby=id&order=desc')))).toEqual(usual.toSorted((one, other) => other - one));
  });
  it('D45 returns only the member of json_ld that _fields names', async () =>
    expect(await ask.read('/events/44?_fields=json_ld.name')).toEqual({ json_ld: { name: 'New year concert' } }));
  it('D46 refuses dates of the years 1 to 999', async () =>
    expectError(await ask.post('/events', { ...EVENT, date: '0999-01-01 10:00:00' }, 'admin'), 400, 'rest_invalid_param', ['date']));
  it('refuses a UTC date that is after the year 9999 in the time zone of the site', async () =>
    expectError(await ask.post('/events', { ...EVENT, date_utc: '9999-12-31 23:59:59' }, 'admin'), 400, 'rest_invalid_param', [
      'date_utc',
    ]));
  it('D47 accepts 0 as a title, a description and an excerpt', async () => {
    const event = await ask.create('/events', { ...EVENT, title: '0', description: '0', excerpt: '0' });
    expect([event.title, event.description, event.excerpt].map((text) => text.replace(/<[^>]*>|\s/g, ''))).toEqual(['0', '0', '0']);
    expect((await ask.post('/venues', { venue: '0' }, 'admin')).body).toMatchObject({ venue: '0' });
  });
  it('D47 accepts the slug of an event that is called 0', async () => {
    const event = await ask.create('/events', { ...EVENT, title: '0' });
    expect(event).toMatchObject({ title: '0', slug: '0' });
    expect(await ask.update(`/events/${event.id}`, { slug: event.slug })).toMatchObject({ slug: '0' });
  });
  it.each(['tags', 'categories'])('D47 refuses 0 as the name of %s, as the reference does, and says why', async (path) => {
    const { status, body } = await ask.post(`/${path}`, { name: '0' }, 'admin');
    expect([status, body.data.params.name]).toEqual([400, expect.stringContaining('`0` counts as an empty text here.')]);
  });
  it.each(['/events', '/venues', '/organizers', '/categories', '/tags'])('D47 says why 0 is refused as a search in %s', async (path) => {
    const { status, body } = await ask.get(`${path}?search=0`);
    expect([status, body.data.params.search]).toEqual([400, expect.stringContaining('`0` counts as an empty text here.')]);
  });
  it('D48 gives a record the same global_id in every language', async () => {
    const own = (await ask.read('/events/44')).global_id;
    const { body } = await ask.send('GET', '/it/wp-json/calendar/events/v1/events/44');
    expect([own, body.global_id]).toEqual(['127.0.0.1?id=44', '127.0.0.1?id=44']);
  });

  it.each(['author', 'slug', 'description', 'image'])('D49 treats an empty %s on create as absent', async (field) => {
    const plain = await ask.create('/events', EVENT);
    expect((await ask.create('/events', { ...EVENT, [field]: '' })).author).toBe(plain.author);
  });
  it.each([
    ['nothing', [''], []],
    ['zero', [0], []],
    ['null', [null], []],
    ['nothing beside an id', ['', 24], [24]],
    ['zero beside an id', [24, 0], [24]],
  ])('D49 ignores %s in a list of organizers', async (_, organizer, ids) => {
    const event = await ask.create('/events', { ...EVENT, organizer });
    expect(event.organizer.map(({ id }: { id: number }) => id)).toEqual(ids);
  });
  it('D49 removes all organizers for a list with an empty member', async () => {
    const event = await ask.create('/events', { ...EVENT, organizer: [24] });
    expect((await ask.update(`/events/${event.id}`, { organizer: [''] })).organizer).toEqual([]);
  });
  it('D49 ignores empty members of list filters', async () => {
    for (const [name, id] of [['organizer', 24], ['venue', 12], ['categories', 3], ['tags', 11]] as const) {
      const named = idsOf(await ask.read(listing(`${name}[]=${id}`)));
      expect(named.length).toBeGreaterThan(0);
      expect({ name, ids: idsOf(await ask.read(listing(`${name}[]=&${name}[]=${id}`))) }).toEqual({ name, ids: named });
      expectError(await ask.get(listing(`${name}[]=`)), 400, 'rest_invalid_param', [name]);
    }
  }); // biome-ignore format: pairs
  it('D49 accepts a list with the status publish alone from all callers', async () => {
    expect(idsOf(await ask.read(listing('status[]=publish')))).toEqual(idsOf(await ask.read(listing(''))));
    for (const other of ['status[]=draft', 'status[]=publish&status[]=draft', 'status=publish,publish'])
      expectError(await ask.get(listing(other)), 400, 'rest_invalid_param', ['status']);
  });

  it('D50 derives the zone and the UTC times from the dates sent to wp/v2', async () => {
    const meta = {
      _EventStartDate: '2030-07-02 15:00:00',
      _EventEndDate: '2030-07-02 16:00:00',
      _EventStartDateUTC: '2001-01-01 00:00:00',
    };
    const { body } = await ask.send('POST', `${CORE}/tribe_events/44`, { as: 'admin', body: { meta } });
    expect(body.meta).toMatchObject({ _EventStartDateUTC: '2030-07-02 13:00:00', _EventEndDateUTC: '2030-07-02 14:00:00' });
  });
  it('D51 accepts any text in the header that acknowledges tec/v1', async () =>
    expect((await ask.send('GET', `${TEC}/venues/12`, { headers: { 'X-TEC-EEA': 'true' } })).status).toBe(200));
  it.each(['venue=12.5', 'organizer=24.5', 'include=44.5'])('D52 refuses %s', async (query) =>
    expectError(await ask.get(listing(query)), 400, 'rest_invalid_param', [query.split('=')[0]!]),
  );
  it('D53 finds past events of wp/v2 by their slug or id', async () => {
    const ids = async (query: string) => (await ask.send('GET', `${CORE}/tribe_events?${query}`)).body.map(({ id }: { id: number }) => id);
    expect(await ids('slug=past-concert')).toEqual([33]);
    expect(await ids('include=33')).toEqual([33]);
    expect(await ids('search=past&per_page=100')).not.toContain(33);
  });
  it.each([
    ["L'acqua - \"storia\"...", 'L’acqua – “storia”…'],
    ['L’acqua – “storia”…', "L'acqua - \"storia\"..."],
  ])('D54 finds %j in events, venues, categories and tags by %j, word by word and as a whole', async (name, typed) => {
    const { id } = await ask.create('/events', { title: 'Palio', description: name, status: 'publish', start_date: '2027-05-01 10:00', end_date: '2027-05-01 11:00' });
    const { id: venue } = await ask.create('/venues', { venue: name });
    const { id: category } = await ask.create('/categories', { name });
    const { id: tag } = await ask.create('/tags', { name });
    for (const search of [typed, `“${typed.slice(0, 9)}”`, typed.slice(0, 7)]) {
      const found = async (path: string) => ask.read(`/${path}${path.includes('?') ? '&' : '?'}search=${encodeURIComponent(search)}`);
      expect([search, ...idsOf(await found('events?start_date=2027-05-01'))]).toEqual([search, id]);
      expect(idsOf(await found('venues'))).toEqual([venue]);
    }
    for (const [path, term] of [['categories', category], ['tags', tag]] as const)
      expect(idsOf(await ask.read(`/${path}?hide_empty=false&search=${encodeURIComponent(typed)}`))).toEqual([term]);
    const everywhere = await ask.send('GET', `${CORE}/search?search=${encodeURIComponent(typed)}`);
    expect(everywhere.body.map((found: Json) => found.id)).toEqual([id]);
  }); // biome-ignore format: pairs

  it('Addition offset skips tags, and the URLs of the next pages work without it', async () => {
    const all = expectBody(await ask.get('/tags?per_page=50')).tags.map(({ id }: { id: number }) => id);
    const { tags, next_rest_url: next } = expectBody(await ask.get('/tags?offset=2&per_page=2'));
    expect(tags.map(({ id }: { id: number }) => id)).toEqual(all.slice(2, 4));
    expect(next).not.toContain('offset');
  });
});
