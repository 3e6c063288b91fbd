import { expect, it } from '@jest/globals';
import { describeRequests, differences, expectBody, expectError, type Json, ROOT, type SiteClient } from '../support/site-client.ts';

/** The header that acknowledges `tec/v1`. */
const ACKNOWLEDGED = { 'X-TEC-EEA': 'yes' };

const MODIFIED = ['modified', 'modified_utc'];
const START = ['start_date', 'start_date_details', 'utc_start_date', 'utc_start_date_details'];
const END = ['end_date', 'end_date_details', 'utc_end_date', 'utc_end_date_details'];
const UTC_TIMES = ['utc_start_date', 'utc_start_date_details', 'utc_end_date', 'utc_end_date_details'];

/** Records in which every field has a value other than its default. */
const FULL = {
  events: {
    title: 'Harbour day',
    start_date: '2027-05-01 10:00:00',
    end_date: '2027-05-01 18:00:00',
    author: 2,
    date: '2025-02-03 04:05:06',
    description: 'Boats.',
    slug: 'harbour',
    excerpt: 'Short.',
    status: 'private',
    timezone: 'America/New_York',
    all_day: false,
    image: 10,
    cost: '€ 5',
    website: 'https://example.org/harbour',
    show_map: true,
    show_map_link: true,
    hide_from_listings: true,
    sticky: true,
    featured: true,
    categories: [2],
    tags: [11],
    venue: [12, 13],
    organizer: [24, 25],
  },
  venues: {
    venue: 'Old mill',
    author: 2,
    date: '2025-02-03 04:05:06',
    description: 'Wheels.',
    status: 'private',
    show_map: true,
    show_map_link: true,
    address: 'Via Roma 1',
    city: 'Turin',
    country: 'Italy',
    province: 'TO',
    state: 'Piedmont',
    zip: '10100',
    phone: '011 1',
    stateprovince: 'Piemonte',
    website: 'https://example.org/mill',
    image: 10,
    geo_lat: 45.07,
    geo_lng: 7.69,
  },
  organizers: {
    organizer: 'Millers',
    author: 2,
    date: '2025-02-03 04:05:06',
    description: 'Flour.',
    status: 'private',
    phone: '011 2',
    website: 'https://example.org/millers',
    email: 'millers@example.org',
    image: 10,
  },
  categories: { name: 'Boats', description: 'On water', slug: 'on-water', parent: 2 },
  tags: { name: 'wet', description: 'Bring a towel', slug: 'towel' },
} as const;
type Path = keyof typeof FULL;

/** Changes of one field: the field, a new value, and the members of the record that depend on it. */
const CHANGES: readonly (readonly [Path, string, unknown, readonly string[]])[] = [
  ['events', 'title', 'Quay day', ['title']],
  ['events', 'description', 'Ships.', ['description']],
  ['events', 'excerpt', 'Shorter.', ['excerpt']],
  ['events', 'slug', 'quay', ['slug', 'url']],
  ['events', 'author', 1, ['author']],
  // Terms show the number of published records that have them.
  ['events', 'status', 'publish', ['status', 'categories', 'tags']],
  ['events', 'status', 'draft', ['status', 'url']],
  ['events', 'date', '2024-01-02 03:04:05', ['date', 'date_utc']],
  ['events', 'date_utc', '2024-01-02 03:04:05', ['date', 'date_utc']],
  ['events', 'start_date', '2027-05-01 11:30:00', START],
  ['events', 'end_date', '2027-05-01 19:30:00', END],
  ['events', 'timezone', 'Asia/Tokyo', ['timezone', 'timezone_abbr', ...UTC_TIMES]],
  ['events', 'all_day', true, ['all_day', ...START, ...END]],
  ['events', 'image', 11, ['image']],
  ['events', 'cost', '$ 7', ['cost', 'cost_details']],
  ['events', 'website', 'https://example.net/', ['website']],
  ['events', 'show_map', false, ['show_map']],
  ['events', 'show_map_link', false, ['show_map_link']],
  ['events', 'hide_from_listings', false, ['hide_from_listings']],
  ['events', 'sticky', false, ['sticky']],
  ['events', 'featured', false, ['featured']],
  ['events', 'categories', [5], ['categories']],
  ['events', 'tags', [12], ['tags']],
  ['events', 'venue', [14], ['venue']],
  ['events', 'organizer', [26], ['organizer']],
  ['venues', 'venue', 'New mill', ['venue']],
  ['venues', 'author', 1, ['author']],
  ['venues', 'date', '2024-01-02 03:04:05', ['date', 'date_utc']],
  ['venues', 'date_utc', '2024-01-02 03:04:05', ['date', 'date_utc']],
  ['venues', 'description', 'Stones.', ['description']],
  ['venues', 'status', 'publish', ['status']],
  ['venues', 'show_map', false, ['show_map']],
  ['venues', 'show_map_link', false, ['show_map_link']],
  ['venues', 'address', 'Via Po 2', ['address']],
  ['venues', 'city', 'Asti', ['city']],
  ['venues', 'country', 'France', ['country']],
  ['venues', 'province', 'AT', ['province']],
  ['venues', 'state', 'Savoy', ['state']],
  ['venues', 'zip', '14100', ['zip']],
  ['venues', 'phone', '0141 1', ['phone']],
  ['venues', 'stateprovince', 'Savoie', ['stateprovince']],
  ['venues', 'website', 'https://example.net/', ['website']],
  ['venues', 'image', 11, ['image']],
  ['venues', 'geo_lat', 44.9, ['geo_lat']],
  ['venues', 'geo_lng', 8.2, ['geo_lng']],
  ['organizers', 'organizer', 'Bakers', ['organizer']],
  ['organizers', 'author', 1, ['author']],
  ['organizers', 'date', '2024-01-02 03:04:05', ['date', 'date_utc']],
  ['organizers', 'date_utc', '2024-01-02 03:04:05', ['date', 'date_utc']],
  ['organizers', 'description', 'Bread.', ['description']],
  ['organizers', 'status', 'publish', ['status']],
  ['organizers', 'phone', '0141 2', ['phone']],
  ['organizers', 'website', 'https://example.net/', ['website']],
  ['organizers', 'email', 'bakers@example.org', ['email']],
  ['organizers', 'image', 11, ['image']],
  ['categories', 'name', 'Ships', ['name']],
  ['categories', 'description', 'At sea', ['description']],
  ['categories', 'slug', 'at-sea', ['slug', 'url']],
  ['categories', 'parent', 5, ['parent', 'url', 'urls', '_links']],
  ['tags', 'name', 'dry', ['name']],
  ['tags', 'description', 'Bring sand', ['description']],
  ['tags', 'slug', 'sand', ['slug', 'url']],
];

/** Fields that can be emptied: the empty values, the member, and its value then (undefined: left out of the record). */
const EMPTIED: readonly (readonly [Path, string, readonly unknown[], unknown])[] = [
  ['events', 'description', [null, '', []], ''],
  ['events', 'excerpt', [null, '', []], ''],
  ['events', 'image', [null, '', [], 0, '0', false], false],
  ['events', 'cost', [null, '', []], ''],
  ['events', 'website', [null, '', []], ''],
  ['events', 'timezone', [null, '', []], 'Europe/Rome'],
  ['events', 'show_map', [null, ''], false],
  ['events', 'show_map_link', [null, ''], false],
  ['events', 'hide_from_listings', [null, ''], false],
  ['events', 'sticky', [null, ''], false],
  ['events', 'featured', [null, ''], false],
  ['events', 'categories', [null, '', []], []],
  ['events', 'tags', [null, '', []], []],
  ['events', 'venue', [null, '', []], []],
  ['events', 'organizer', [null, '', []], []],
  ['venues', 'description', [null, '', []], undefined],
  ['venues', 'address', [null, '', []], undefined],
  ['venues', 'city', [null, '', []], undefined],
  ['venues', 'country', [null, '', []], undefined],
  ['venues', 'province', [null, '', []], undefined],
  ['venues', 'state', [null, '', []], undefined],
  ['venues', 'zip', [null, '', []], undefined],
  ['venues', 'phone', [null, '', []], undefined],
  ['venues', 'stateprovince', [null, '', []], undefined],
  ['venues', 'website', [null, '', []], undefined],
  ['venues', 'image', [null, '', [], 0, '0', false], undefined],
  ['venues', 'show_map', [null, ''], false],
  ['venues', 'show_map_link', [null, ''], false],
  ['venues', 'geo_lat', [null, '', []], undefined],
  ['venues', 'geo_lng', [null, '', []], undefined],
  ['organizers', 'description', [null, '', []], undefined],
  ['organizers', 'phone', [null, '', []], undefined],
  ['organizers', 'website', [null, '', []], undefined],
  ['organizers', 'email', [null, '', []], undefined],
  ['organizers', 'image', [null, '', [], 0, '0', false], undefined],
  ['categories', 'description', [null, '', []], ''],
  ['categories', 'parent', [null, '', [], 0], 0],
  ['tags', 'description', [null, '', []], ''],
];

/** Fields that cannot be emptied. */
const KEPT: readonly (readonly [Path, string])[] = [
  ...(['title', 'start_date', 'end_date', 'date', 'date_utc', 'author', 'status', 'slug'] as const).map(
    (field) => ['events', field] as const,
  ),
  ...(['venue', 'date', 'date_utc', 'author', 'status'] as const).map((field) => ['venues', field] as const),
  ...(['organizer', 'date', 'date_utc', 'author', 'status'] as const).map((field) => ['organizers', field] as const),
  ...(['name', 'slug'] as const).flatMap((field) => [['categories', field] as const, ['tags', field] as const]),
];

const METHODS = ['POST', 'PUT', 'PATCH'] as const;

describeRequests('changes of a record', (ask) => {
  const change = (method: string, path: string, body: object, as = 'admin') =>
    ask.send(method, `/wp-json/calendar/events/v1${path}`, { body, as });

  /**
   * Writes a full record and changes it once. Returns the record before and after, without members that every change
   * affects.
   */
  async function changeOf(path: Path, body: object, method = 'PATCH'): Promise<{ before: Json; after: Json; changed: string[] }> {
    const { id } = await ask.create(`/${path}`, FULL[path]);
    const before = await ask.read(`/${path}/${id}`, 'admin');
    ask.setClock('2026-11-20T12:30:00Z');
    expectBody(await change(method, `/${path}/${id}`, body));
    const after = await ask.read(`/${path}/${id}`, 'admin');
    const changed = differences({ ...before, json_ld: 0 }, { ...after, json_ld: 0 });
    return { before, after, changed: changed.filter((name) => !MODIFIED.includes(name)) };
  }

  it.each(CHANGES)('D1 changes in %s only %s (to %j) and dependent members', async (path, field, value, members) => {
    const method = METHODS[CHANGES.findIndex((row) => row[0] === path && row[1] === field) % 3]!;
    const { changed, before, after } = await changeOf(path, { [field]: value }, method);
    expect({ method, changed }).toEqual({ method, changed: [...members].sort() });
    if ('modified' in before) expect([before.modified, after.modified]).toEqual([FULL.events.date, '2026-11-20 13:30:00']);
  });

  it.each(EMPTIED)('D1 empties the %s field %s by each of %j', async (path, field, values, cleared) => {
    const { id } = await ask.create(`/${path}`, FULL[path]);
    for (const value of values) {
      expectBody(await change('PATCH', `/${path}/${id}`, { [field]: FULL[path][field as never] }));
      const full = await ask.read(`/${path}/${id}`, 'admin');
      expectBody(await change('PATCH', `/${path}/${id}`, { [field]: value }));
      const after = await ask.read(`/${path}/${id}`, 'admin');
      expect({ value, filled: JSON.stringify(full[field]) !== JSON.stringify(cleared), is: after[field] }).toEqual({
        value,
        filled: true,
        is: cleared,
      });
    }
  });

  it.each(KEPT)('D1 refuses to empty the %s field %s', async (path, field) => {
    const { id } = await ask.create(`/${path}`, FULL[path]);
    const before = await ask.allRows();
    for (const value of [null, '', []])
      expectError(await change('PATCH', `/${path}/${id}`, { [field]: value }), 400, 'rest_invalid_param', [field]);
    expect(await ask.allRows()).toEqual(before);
  });

  it.each(Object.keys(FULL) as Path[])(
    'D1 changes nothing of %s, not even the date of modification, by a request without fields',
    async (path) => {
      const { id } = await ask.create(`/${path}`, FULL[path]);
      const before = await ask.allRows();
      ask.setClock('2026-11-20T15:00:00Z');
      for (const method of METHODS) {
        expectBody(await change(method, `/${path}/${id}`, {}));
        expectBody(await change(method, `/${path}/${id}`, { nothing: 1, ID: 5, post_type: 'post', meta: { a: 1 } }));
      }
      expect(await ask.allRows()).toEqual(before);
    },
  );

  it('D1 applies to changes by slug too', async () => {
    await ask.create('/events', { ...FULL.events, status: 'publish' });
    const before = await ask.read('/events/by-slug/harbour', 'admin');
    expectBody(await change('PUT', '/events/by-slug/harbour', { excerpt: 'New.' }));
    const after = await ask.read('/events/by-slug/harbour', 'admin');
    expect(differences({ ...before, json_ld: 0 }, { ...after, json_ld: 0 })).toEqual(['excerpt', ...MODIFIED]);
  });

  it('D1 keeps the status of a record if the user could not publish it', async () => {
    const { id } = await ask.create('/events', { ...FULL.events, status: 'draft' }, 'admin');
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_author: 4 }));
    expect((await ask.update(`/events/${id}`, { excerpt: 'Mine.' }, 'contrib')).status).toBe('draft');
    expect((await ask.update('/events/79', { excerpt: 'Mine.' }, 'auth')).status).toBe('publish');
    expect((await ask.update('/events/85', { excerpt: 'Later.' }, 'ed')).status).toBe('future');
    expect((await ask.update('/events/84', { excerpt: 'Hidden.' }, 'ed')).status).toBe('private');
  });

  it('D1 schedules a published record whose date is moved to the future, and publishes a scheduled one whose date is moved to the past', async () => {
    for (const path of ['/events/38', '/venues/13', '/organizers/25']) {
      expect(await ask.update(path, { date: '2027-01-01 10:00:00' })).toMatchObject({
        status: 'future',
        date: '2027-01-01 10:00:00',
        date_utc: '2027-01-01 09:00:00',
      });
      expect(await ask.update(path, { date_utc: '2026-01-01 10:00:00' })).toMatchObject({
        status: 'publish',
        date: '2026-01-01 11:00:00',
      });
    }
  });

  it('D1 publishes a scheduled record now if the status publish is requested', async () => {
    expect(await ask.update('/events/85', { status: 'publish' })).toMatchObject({
      status: 'publish',
      date: '2026-11-20 13:00:00',
      date_utc: '2026-11-20 12:00:00',
    });
  });

  it('D1 publishes a draft at the date that it has in UTC, or that is sent with the status, otherwise now', async () => {
    const draft = { title: 'Draft', start_date: '2027-01-01', end_date: '2027-01-01', status: 'draft' };
    const past = { date: '2020-01-02 04:04:05', date_utc: '2020-01-02 03:04:05' };
    const published = async (sent: object, more: object = {}) => {
      const { id } = await ask.create('/events', { ...draft, ...sent });
      return ask.update(`/events/${id}`, { status: 'publish', ...more });
    };
    expect(await published({ date_utc: past.date_utc })).toMatchObject(past);
    expect(await published({}, { date: past.date })).toMatchObject(past);
    expect(await published({ date: past.date })).toMatchObject({ date_utc: '2026-11-20 12:00:00' });
  });

  it.each([
    ['events', { title: 'Draft', start_date: '2027-01-01', end_date: '2027-01-01' }],
    ['venues', { venue: 'Draft' }],
    ['organizers', { organizer: 'Draft' }],
  ] as const)('D1 accepts a draft of %s sent back as it was read, with the zero date in UTC', async (path, body) => {
    const draft = await ask.create(`/${path}`, { ...body, status: 'draft' });
    expect(draft.date_utc).toBe('0000-00-00 00:00:00');
    for (const method of METHODS) {
      const after = expectBody(await change(method, `/${path}/${draft.id}`, draft));
      expect(after).toMatchObject({ date: draft.date, date_utc: draft.date_utc, status: 'draft' });
    }
    expect(await ask.create(`/${path}`, { ...body, status: 'draft', date_utc: draft.date_utc })).toMatchObject({
      date_utc: draft.date_utc,
    });
  });

  it.each(['0000-00-00 00:00:00', '0000-00-00T00:00:00', '0000-00-00 00:00', '0000-00-00'])(
    'D1 keeps the date of publication if it gets the zero date as %s',
    async (zero) => {
      for (const path of ['/events/38', '/venues/13', '/organizers/25']) {
        const { date, date_utc, status } = await ask.read(path);
        for (const body of [{ date: zero }, { date_utc: zero }, { date: zero, date_utc: zero }])
          expect(await ask.update(path, body)).toMatchObject({ date, date_utc, status });
        expect(await ask.update(path, { date: '2020-01-02 03:04:05', date_utc: zero })).toMatchObject({
          date: '2020-01-02 03:04:05',
          date_utc: '2020-01-02 02:04:05',
        });
      }
    },
  );

  it.each(['0000-00-00 12:00:00', '0000-00-01', '0000-01-00 00:00:00', '0999-12-31'])(
    'D46 refuses %s as a date of publication, which is not the zero date',
    async (text) => {
      for (const field of ['date', 'date_utc'])
        expectError(await change('PATCH', '/events/38', { [field]: text }), 400, 'rest_invalid_param', [field]);
    },
  );

  it('D1 gives a draft without a date of its own the date of its publication', async () => {
    const { id, date_utc } = await ask.create('/events', {
      title: 'Draft',
      start_date: '2027-01-01',
      end_date: '2027-01-01',
      status: 'draft',
    });
    expect(date_utc).toBe('0000-00-00 00:00:00');
    ask.setClock('2026-11-25T08:00:00Z');
    expect(await ask.update(`/events/${id}`, { status: 'publish' })).toMatchObject({
      status: 'publish',
      date: '2026-11-25 09:00:00',
      date_utc: '2026-11-25 08:00:00',
    });
  });

  it('D1 keeps the slug of a draft, which becomes unique when it is published', async () => {
    for (const [path, body] of [
      ['/events', { title: 'Spring Fair', slug: 'spring-fair', start_date: '2027-01-01', end_date: '2027-01-02', status: 'draft' }],
      ['/venues', { venue: 'Teatro Rossi', status: 'draft' }],
    ] as const) {
      // A user who may not edit the existing venue of this name gets a new one.
      const { id, slug } = await ask.create(path, body, 'contrib');
      expect(slug).toBe(path === '/events' ? 'spring-fair' : 'teatro-rossi');
      const published = await ask.update(`${path}/${id}`, { status: 'publish' });
      expect(published.slug).toBe(`${slug}-2`);
      expect((await ask.update(`${path}/${id}`, { status: 'private' })).slug).toBe(`${slug}-2`);
    }
  });

  it('D1 keeps the date of a draft', async () => {
    const { id } = await ask.create('/events', {
      title: 'Draft',
      start_date: '2027-01-01',
      end_date: '2027-01-01',
      status: 'draft',
      date: '2025-03-04 05:06:07',
    });
    ask.setClock('2026-11-25T08:00:00Z');
    const { date } = await ask.update(`/events/${id}`, { title: 'Still a draft' });
    expect(date).toBe('2025-03-04 05:06:07');
  });

  it.each([
    ['/events', 86],
    ['/venues', 20],
    ['/organizers', 31],
  ])('D1 leaves a record of %s in the trash unless a status is given', async (path, id) => {
    expect((await ask.update(`${path}/${id}`, { description: 'Changed below ground' })).status).toBe('trash');
    expect((await ask.update(`${path}/${id}`, { status: 'publish' })).status).toBe('publish');
  });

  it('D1 keeps an all-day event all-day with new times, in whole days', async () => {
    expect(await ask.update('/events/41', { start_date: '2027-12-02 15:00:00', end_date: '2027-12-03 16:00:00' })).toMatchObject({
      all_day: true,
      start_date: '2027-12-02 00:00:00',
      end_date: '2027-12-03 23:59:59',
      utc_end_date: '2027-12-03 22:59:59',
    });
    expect(await ask.update('/events/41', { start_date: '2027-12-01 20:00:00' })).toMatchObject({
      all_day: true,
      start_date: '2027-12-01 00:00:00',
      end_date: '2027-12-03 23:59:59',
    });
  });

  it('D1 keeps the times of an event that is no longer all-day', async () => {
    expect(await ask.update('/events/41', { all_day: false })).toMatchObject({
      all_day: false,
      start_date: '2027-12-01 00:00:00',
      end_date: '2027-12-24 23:59:59',
    });
  });
});

describeRequests('dates changed separately and together', (ask) => {
  /** Event 38: 2027-04-10 from 10:00 to 18:00 in New York. */
  const occurrence = async (ask: SiteClient, id: number) => (await ask.db().from('tec_occurrences').where('post_id', id))[0];

  it('D2 changes only the start if only the start is given', async () => {
    const after = await ask.update('/events/38', { start_date: '2027-04-10 12:00:00' });
    expect(after).toMatchObject({
      start_date: '2027-04-10 12:00:00',
      utc_start_date: '2027-04-10 16:00:00',
      end_date: '2027-04-10 18:00:00',
      utc_end_date: '2027-04-10 22:00:00',
      timezone: 'America/New_York',
    });
    expect(await occurrence(ask, 38)).toMatchObject({
      start_date: '2027-04-10 12:00:00',
      start_date_utc: '2027-04-10 16:00:00',
      duration: 6 * 3600,
    });
  });
  it.each([
    ['our namespace', `${ROOT}/events`, { all_day: true, end_date: '2027-04-12' }],
    ['tec/v1', '/wp-json/tec/v1/events', { all_day: true, end_date: '2027-04-12' }],
    ['wp/v2', '/wp-json/wp/v2/tribe_events', { meta: { _EventAllDay: true, _EventEndDate: '2027-04-12 00:00:00' } }],
  ])('D2 removes the duration of an event that becomes all-day in %s', async (_, path, body) => {
    const durations = () => ask.db().from('postmeta').where({ post_id: 38, meta_key: '_EventDuration' }).select('meta_value');
    expect(await durations()).toEqual([{ meta_value: '28800' }]);
    expect((await ask.send('PUT', `${path}/38`, { as: 'admin', body, headers: ACKNOWLEDGED })).status).toBe(200);
    expect(await durations()).toEqual([]);
    expect(await occurrence(ask, 38)).toMatchObject({ start_date: '2027-04-10 00:00:00', duration: 3 * 86_400 - 1 });
    expect((await ask.send('GET', '/wp-json/tec/v1/events/38', { headers: ACKNOWLEDGED })).body.duration).toBe(3 * 86_400 - 1);
    await ask.update('/events/38', { all_day: false });
    expect(await durations()).toEqual([{ meta_value: String(3 * 86_400 - 1) }]);
  });
  it('D2 shows the length of an all-day event whose old duration the plugin has left', async () => {
    await ask.update('/events/38', { all_day: true });
    await ask.db().from('postmeta').insert({ post_id: 38, meta_key: '_EventDuration', meta_value: '28800' });
    const durationOf = async () => (await ask.send('GET', '/wp-json/tec/v1/events/38', { headers: ACKNOWLEDGED })).body.duration;
    expect(await durationOf()).toBe(86_399);
    await ask.db().from('postmeta').where({ post_id: 38, meta_key: '_EventDuration' }).update({ meta_value: '86399' });
    expect(await durationOf()).toBe('86399');
  });
  it('D2 changes only the end if only the end is given', async () => {
    const after = await ask.update('/events/38', { end_date: '2027-04-11 01:00:00' });
    expect(after).toMatchObject({
      start_date: '2027-04-10 10:00:00',
      end_date: '2027-04-11 01:00:00',
      utc_end_date: '2027-04-11 05:00:00',
    });
    expect(await occurrence(ask, 38)).toMatchObject({
      end_date: '2027-04-11 01:00:00',
      end_date_utc: '2027-04-11 05:00:00',
      duration: 15 * 3600,
    });
  });
  it('D2 keeps the local times if only the zone changes, and computes the UTC times again', async () => {
    const after = await ask.update('/events/38', { timezone: 'Asia/Tokyo' });
    expect(after).toMatchObject({
      timezone: 'Asia/Tokyo',
      timezone_abbr: 'JST',
      start_date: '2027-04-10 10:00:00',
      utc_start_date: '2027-04-10 01:00:00',
      end_date: '2027-04-10 18:00:00',
      utc_end_date: '2027-04-10 09:00:00',
    });
    expect(await occurrence(ask, 38)).toMatchObject({
      start_date: '2027-04-10 10:00:00',
      start_date_utc: '2027-04-10 01:00:00',
      end_date_utc: '2027-04-10 09:00:00',
    });
  });
  it.each([
    ['a start after the stored end', { start_date: '2027-04-10 19:00:00' }],
    ['an end before the stored start', { end_date: '2027-04-10 09:59:59' }],
    ['both the wrong way round', { start_date: '2027-04-10 12:00:00', end_date: '2027-04-10 11:00:00' }],
  ])('D2 refuses %s with an error for end_date', async (_, body) => {
    const before = await ask.allRows();
    expectError(await ask.patch('/events/38', { ...body, title: 'Not this' }), 400, 'rest_invalid_param', ['end_date']);
    expect(await ask.allRows()).toEqual(before);
  });

  it.each([
    ['by a second', '2027-01-01 10:00:00', '2027-01-01 09:59:59', {}],
    ['by a year', '2027-01-01 10:00:00', '2026-01-01 10:00:00', {}],
    ['by days of an all-day event', '2027-01-02', '2027-01-01', { all_day: true }],
  ])('D3 refuses a new event that ends before it starts %s and writes nothing', async (_, start_date, end_date, more) => {
    const before = await ask.allRows();
    const answer = await ask.post('/events', {
      title: 'Backwards',
      start_date,
      end_date,
      venue: { venue: 'Never' },
      tags: ['never'],
      ...more,
    });
    expectError(answer, 400, 'rest_invalid_param', ['end_date']);
    expect(await ask.allRows()).toEqual(before);
  });
  it('D3 accepts an event that ends when it starts', async () => {
    expect(
      await ask.create('/events', { title: 'Instant', start_date: '2027-01-01 10:00:00', end_date: '2027-01-01 10:00:00' }),
    ).toMatchObject({ start_date: '2027-01-01 10:00:00', end_date: '2027-01-01 10:00:00' });
  });
});
