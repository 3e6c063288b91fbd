import { expect, it } from '@jest/globals';
import { describeRequests, differences, expectBody, expectError, idsOf, type Json } from '../support/site-client.ts';

const EVENT = { title: 'Test event', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const OPTIONAL = {
  events:
    'author date date_utc description slug excerpt status timezone all_day image cost website show_map show_map_link hide_from_listings sticky featured categories tags venue organizer',
  venues:
    'author date date_utc description status show_map show_map_link address city country province state zip phone stateprovince website image geo_lat geo_lng',
  organizers: 'author date date_utc description status phone website email image',
  categories: 'description slug parent',
  tags: 'description slug',
} as const;
const REQUIRED = {
  events: EVENT,
  venues: { venue: 'Test' },
  organizers: { organizer: 'Test' },
  categories: { name: 'Test' },
  tags: { name: 'Test' },
} as const;
const TEXTS = {
  events: 'description slug excerpt external_id',
  venues: 'description address city country province state zip phone stateprovince external_id',
  organizers: 'description phone email external_id',
  categories: 'description slug',
  tags: 'description slug',
} as const;
const PATHS = Object.keys(OPTIONAL) as (keyof typeof OPTIONAL)[];

describeRequests('plain values', (ask) => {
  it.each([
    ['true', true],
    ['false', false],
  ])('D7 accepts JSON %s for the maps of a venue', async (_, value) => {
    const venue = await ask.create('/venues', { venue: 'Barn', show_map: value, show_map_link: value });
    expect(venue).toMatchObject({ show_map: value, show_map_link: value });
    expect(await ask.update(`/venues/${venue.id}`, { show_map: !value, show_map_link: !value })).toMatchObject({
      show_map: !value,
      show_map_link: !value,
    });
  });
  it('D7 accepts a JSON number for a ZIP code and for an image', async () => {
    const venue = await ask.create('/venues', { venue: 'Barn', zip: 10100, image: 10 });
    expect(venue).toMatchObject({ zip: '10100', image: { id: 10 } });
    expect((await ask.update(`/venues/${venue.id}`, { zip: 20100, image: 11 })).image.id).toBe(11);
    expect((await ask.create('/organizers', { organizer: 'Farmers', image: 10 })).image.id).toBe(10);
    const event = await ask.create('/events', { ...EVENT, image: 10 });
    expect(event.image.id).toBe(10);
    expect((await ask.update(`/events/${event.id}`, { image: 11 })).image.id).toBe(11);
  });

  it.each(PATHS)('D7 treats null and the empty text as absent when %s are created', async (path) => {
    const plain = await ask.create(`/${path}`, REQUIRED[path]);
    await ask.writeRows((db) => db.from('posts').where('ID', plain.id).update({ post_title: 'Another', post_name: 'another' }));
    for (const id of path === 'tags' || path === 'categories' ? [plain.id] : []) expectBody(await ask.del(`/${path}/${id}`));
    for (const empty of [null, '']) {
      const fields = OPTIONAL[path].split(' ');
      const record = await ask.create(`/${path}`, { ...REQUIRED[path], ...Object.fromEntries(fields.map((field) => [field, empty])) });
      const changed = differences(plain, record).filter(
        (name) => !['id', 'global_id', 'global_id_lineage', 'rest_url', 'urls', '_links', 'term_taxonomy_id'].includes(name),
      );
      // An empty boolean means false, even if the default of a new venue is true.
      expect({ empty, changed }).toEqual({ empty, changed: path === 'venues' ? ['show_map', 'show_map_link'] : [] });
      if (path === 'tags' || path === 'categories') expectBody(await ask.del(`/${path}/${record.id}`));
      else
        await ask.writeRows((db) =>
          db
            .from('posts')
            .where('ID', record.id)
            .update({ post_title: 'Another', post_name: `another-${record.id}` }),
        );
    }
  });
  it.each(PATHS)('D1 treats an empty list for a text as absent when %s are created', async (path) => {
    const texts = TEXTS[path].split(' ');
    const record = await ask.create(`/${path}`, { ...REQUIRED[path], ...Object.fromEntries(texts.map((field) => [field, []])) });
    for (const field of texts.filter((name) => name !== 'slug')) expect(record[field] ?? '').toBe('');
  });
  it.each([
    ['events', 'title'],
    ['venues', 'venue'],
    ['organizers', 'organizer'],
    ['categories', 'name'],
    ['tags', 'name'],
  ] as const)('D1 refuses an empty list as the name of new %s', async (path, field) => {
    for (const empty of ['', []])
      expectError(await ask.post(`/${path}`, { ...REQUIRED[path], [field]: empty }), 400, 'rest_invalid_param', [field]);
  });
  it.each([['Jazz'], {}, { raw: 'Jazz' }, [[]]])('D1 refuses %j for a text', async (value) => {
    expectError(await ask.patch('/events/38', { description: value }), 400, 'rest_invalid_param', ['description']);
    expectError(await ask.patch('/venues/12', { zip: value }), 400, 'rest_invalid_param', ['zip']);
    expectError(await ask.patch('/tags/12', { description: value }), 400, 'rest_invalid_param', ['description']);
  });
  it.each(PATHS.flatMap((path) => OPTIONAL[path].split(' ').map((field) => [path, field] as const)))(
    'D7 accepts null and the empty text on a new record of %s for the field %s',
    async (path, field) => {
      for (const [empty, name] of [
        [null, 'One'],
        ['', 'Two'],
      ] as const) {
        const [title] = Object.keys(REQUIRED[path]);
        await ask.create(`/${path}`, { ...REQUIRED[path], [title!]: name, [field]: empty });
      }
    },
  );

  it.each(['/events/38', '/venues/12', '/organizers/24'])('D7 refuses to empty the author and the status of %s', async (path) => {
    for (const empty of [null, '']) {
      expectError(await ask.patch(path, { author: empty }), 400, 'rest_invalid_param', ['author']);
      expectError(await ask.patch(path, { status: empty }), 400, 'rest_invalid_param', ['status']);
    }
  });
  it.each(['/events/38', '/categories/5', '/tags/12'])('D7 refuses to empty the slug of %s', async (path) => {
    for (const empty of [null, '']) expectError(await ask.patch(path, { slug: empty }), 400, 'rest_invalid_param', ['slug']);
  });
  it.each([0, '0', false, null, '', []])('D7 removes the image for %j', async (value) => {
    for (const path of ['/events/39', '/venues/12', '/organizers/24']) {
      expect((await ask.read(path)).image.id).toBe(10);
      expect((await ask.update(path, { image: value })).image || undefined).toBeUndefined();
    }
  });
  it.each([null, ''])('D7 reads %j as false for a boolean in a change', async (value) => {
    const full = { ...EVENT, show_map: true, show_map_link: true, hide_from_listings: true, sticky: true, featured: true, all_day: true };
    const { id } = await ask.create('/events', full);
    const emptied = Object.fromEntries(
      ['show_map', 'show_map_link', 'hide_from_listings', 'sticky', 'featured', 'all_day'].map((field) => [field, value]),
    );
    expect(await ask.update(`/events/${id}`, emptied)).toMatchObject(
      Object.fromEntries(Object.keys(emptied).map((field) => [field, false])),
    );
    expect(await ask.update('/venues/12', { show_map: value, show_map_link: value })).toMatchObject({
      show_map: false,
      show_map_link: false,
    });
  });
  it.each([
    ['/events', { ...EVENT, title: 5 }, 'title'],
    ['/venues', { venue: 5 }, 'venue'],
    ['/venues', { venue: 'Barn', phone: 5 }, 'phone'],
    ['/venues', { venue: 'Barn', address: 5 }, 'address'],
    ['/organizers', { organizer: 5 }, 'organizer'],
    ['/organizers', { organizer: 'Farmers', phone: 5 }, 'phone'],
    ['/categories', { name: 5 }, 'name'],
    ['/tags', { name: 5 }, 'name'],
  ])('D7 refuses a JSON number for a text of %s: %j', async (path, body, param) => {
    expectError(await ask.post(path, body), 400, 'rest_invalid_param', [param]);
    const id = { '/events': 38, '/venues': 12, '/organizers': 24, '/categories': 5, '/tags': 12 }[path];
    expectError(await ask.patch(`${path}/${id}`, { [param]: 5 }), 400, 'rest_invalid_param', [param]);
  });

  it('D10 answers empty_content with 400', async () => {
    for (const title of [' ', '\t\n', '<p></p>']) expectError(await ask.post('/events', { ...EVENT, title }), 400, 'empty_content');
  });
  it.each([
    ['/categories/5', { slug: 'music' }],
    ['/tags/12', { slug: 'outdoor' }],
  ])('D10 answers duplicate_term_slug with 400 on %s', async (path, body) => {
    const before = await ask.allRows();
    expectError(await ask.patch(path, body), 400, 'duplicate_term_slug');
    expect(await ask.allRows()).toEqual(before);
  });
  it('D10 allows a term to keep its own slug', async () => {
    expect((await ask.update('/categories/5', { slug: 'sport' })).slug).toBe('sport');
  });

  it.each([0, '0'])('D12 moves a category to the top level for the parent %j', async (parent) => {
    expect((await ask.update('/categories/4', { parent })).parent).toBe(0);
    expect((await ask.create('/categories', { name: 'Top', parent })).parent).toBe(0);
    expect((await ask.read('/categories/4')).urls).not.toHaveProperty('up');
  });
  it('D12 lists the top level for parent=0', async () => {
    expect(idsOf(await ask.read('/categories?parent=0&hide_empty=0&per_page=50')).sort((a, b) => a - b)).toEqual([2, 5, 6, 7, 8, 10]);
    expect(idsOf(await ask.read('/categories?parent=2&hide_empty=0&per_page=50')).sort((a, b) => a - b)).toEqual([3, 9]);
  });

  it.each([
    ['UTC-5.5', '15:30'],
    ['UTC-3.75', '13:45'],
    ['UTC-0.5', '10:30'],
    ['UTC+0', '10:00'],
    ['UTC+5.5', '04:30'],
    ['UTC+5:30', '04:30'],
    ['UTC+5.75', '04:15'],
    ['UTC+12.75', '21:15'],
    ['UTC-12', '22:00'],
    ['UTC+14', '20:00'],
    ['UTC-9:30', '19:30'],
    ['+02:00', '08:00'],
    ['-03:30', '13:30'],
  ])('D29 converts times with the offset %s: ten in the morning is %s in UTC', async (timezone, time) => {
    const event = await ask.create('/events', { ...EVENT, timezone });
    expect([event.timezone, event.start_date, event.utc_start_date.slice(11, 16)]).toEqual([timezone, '2027-05-01 10:00:00', time]);
    expect((await ask.update('/events/38', { timezone })).utc_start_date.slice(11, 16)).toBe(time);
  });
  it.each(['UTC+14.5', 'UTC+14:01', 'UTC-12.5', 'UTC+15', 'UTC-13', 'UTC+99', '+15:00', '-12:30'])(
    'D29 refuses the offset %s',
    async (timezone) => {
      expectError(await ask.post('/events', { ...EVENT, timezone }), 400, 'rest_invalid_param', ['timezone']);
      expectError(await ask.patch('/events/38', { timezone }), 400, 'rest_invalid_param', ['timezone']);
    },
  );

  it.each([0, '0', '0.00', [0]])('D30 reads the cost %j as free, on a new event and on a change', async (cost) => {
    const stored = String(Array.isArray(cost) ? cost[0] : cost);
    const event = await ask.create('/events', { ...EVENT, cost });
    expect([event.cost, event.cost_details.values]).toEqual(['Free', [stored]]);
    expect(await ask.metaValues(event.id, '_EventCost')).toEqual([stored]);
    expect((await ask.update('/events/39', { cost })).cost).toBe('Free');
    expect(await ask.metaValues(39, '_EventCost')).toEqual([stored]);
    expect((await ask.read(`/events/${event.id}?translation_language=it`)).cost).toBe('Gratis');
  });
  it.each([null, '', []])('D30 removes the cost for %j', async (cost) => {
    expect((await ask.create('/events', { ...EVENT, cost })).cost).toBe('');
    expect((await ask.read('/events/57')).cost).not.toBe('');
    expect(await ask.update('/events/57', { cost })).toMatchObject({ cost: '', cost_details: { values: [] } });
    expect(await ask.metaValues(57, '_EventCost')).toEqual([]);
  });
});

const YES = ['true', 'TRUE', 'True', '1', 'yes', 'YES', 'Yes', 'on', 'ON', 'On'];
const NO = ['false', 'FALSE', 'False', '0', 'no', 'NO', 'No', 'off', 'OFF', 'Off'];
const EVENT_FLAGS = ['all_day', 'show_map', 'show_map_link', 'hide_from_listings', 'sticky', 'featured'];

describeRequests('dates and booleans', (ask) => {
  it('D31 accepts the first day of Unix time as a date', async () => {
    const event = await ask.create('/events', {
      title: 'Epoch',
      start_date: '1970-01-01',
      end_date: '1970-01-01 00:00:00',
      date: '1970-01-01',
      timezone: 'UTC',
    });
    expect(event).toMatchObject({
      start_date: '1970-01-01 00:00:00',
      end_date: '1970-01-01 00:00:00',
      utc_start_date: '1970-01-01 00:00:00',
      date: '1970-01-01 00:00:00',
    });
    expect((await ask.update('/events/38', { start_date: '1970-01-01' })).start_date).toBe('1970-01-01 00:00:00');
    for (const path of ['/venues/12', '/organizers/24'])
      expect((await ask.update(path, { date: '1970-01-01' })).date).toBe('1970-01-01 00:00:00');
  });
  it.each(['start_date', 'end_date', 'starts_before', 'starts_after', 'ends_before', 'ends_after'])(
    'D31 accepts the first day of Unix time in the filter %s',
    async (name) => {
      const { total } = await ask.read(
        `/events?${name}=1970-01-01&per_page=1&${name === 'start_date' ? 'end_date=2099-01-01' : name === 'end_date' ? 'start_date=1960-01-01' : ''}`,
      );
      expect(total > 0).toBe(['start_date', 'starts_after', 'ends_after'].includes(name));
    },
  );

  it.each([...YES.map((form) => [form, true] as const), ...NO.map((form) => [form, false] as const)])(
    'D31 reads %s as %s in every boolean',
    async (form, meant) => {
      const flags = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, form]));
      const expected = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, meant]));
      expect(await ask.create('/events', { ...EVENT, ...flags(EVENT_FLAGS) })).toMatchObject(expected(EVENT_FLAGS));
      const encoded = new URLSearchParams(flags(EVENT_FLAGS)).toString();
      const answer = await ask.send('POST', '/wp-json/calendar/events/v1/events/38', { as: 'admin', body: encoded, headers: FORM });
      expect(expectBody(answer)).toMatchObject(expected(EVENT_FLAGS));
      expect(await ask.create('/venues', { venue: 'Barn', ...flags(['show_map', 'show_map_link']) })).toMatchObject(
        expected(['show_map', 'show_map_link']),
      );
    },
  );
  it.each([...YES.map((form) => [form, true] as const), ...NO.map((form) => [form, false] as const)])(
    'D31 reads %s as %s in wp/v2 and tec/v1, too',
    async (form, meant) => {
      const ids = async (path: string) => expectBody(await ask.send('GET', `/wp-json/${path}`, { headers })).map(({ id }: Json) => id);
      const headers = { 'X-TEC-EEA': 'known' };
      for (const path of ['wp/v2/tribe_events_cat?hide_empty=', 'tec/v1/events?featured='])
        expect([path, await ids(path + form)]).toEqual([path, await ids(path + meant)]);
      const { id } = await ask.create('/venues', { venue: 'Barn' });
      const removed = await ask.send('DELETE', `/wp-json/wp/v2/tribe_venue/${id}?force=${form}`, { as: 'admin' });
      expect(Boolean(expectBody(removed).deleted)).toBe(meant);
    },
  );
  it.each([
    [true, true],
    [1, true],
    [false, false],
    [0, false],
  ])('D31 reads JSON %j as %s', async (value, meant) => {
    expect(await ask.create('/events', { ...EVENT, ...Object.fromEntries(EVENT_FLAGS.map((name) => [name, value])) })).toMatchObject(
      Object.fromEntries(EVENT_FLAGS.map((name) => [name, meant])),
    );
  });
  it.each(EVENT_FLAGS)('D31 refuses other values for %s', async (name) => {
    for (const value of ['maybe', 2, [], {}, 'y e s'])
      expectError(await ask.post('/events', { ...EVENT, [name]: value }), 400, 'rest_invalid_param', [name]);
  });

  it.each([
    ['/events?start_date=2019-01-01&end_date=2040-01-01&per_page=50&featured='],
    ['/events?start_date=2019-01-01&end_date=2040-01-01&per_page=50&ticketed='],
    ['/events?start_date=2019-01-01&end_date=2040-01-01&per_page=50&geoloc='],
    ['/events?start_date=2027-04-10+15:00&end_date=2027-04-10+20:00&strict_dates='],
    ['/venues?per_page=50&has_events='],
    ['/venues?per_page=50&only_with_upcoming='],
    ['/organizers?per_page=50&has_events='],
    ['/organizers?per_page=50&only_with_upcoming='],
    ['/categories?per_page=50&hide_empty='],
    ['/tags?per_page=50&hide_empty='],
  ])('D31 reads every spelling of true and false in %s', async (path) => {
    await ask.writeRows((db) =>
      db.from('postmeta').insert([
        { post_id: 12, meta_key: '_VenueLat', meta_value: '43.7' },
        { post_id: 12, meta_key: '_VenueLng', meta_value: '10.4' },
      ]),
    );
    await ask.writeRows(async (db) => {
      const [id] = await db.knex(db.table('posts')).insert({
        ...(await db.from('posts').where('ID', 1).first()),
        ID: undefined,
        post_type: 'tribe_rsvp_tickets',
        post_name: 'ticket',
      });
      await db.from('postmeta').insert({ post_id: Number(id), meta_key: '_tribe_rsvp_for_event', meta_value: '39' });
    });
    const [yes, no] = [idsOf(await ask.read(`${path}1`)), idsOf(await ask.read(`${path}0`))];
    expect(yes).not.toEqual(no);
    for (const form of YES) expect({ form, ids: idsOf(await ask.read(path + form)) }).toEqual({ form, ids: yes });
    for (const form of NO) expect({ form, ids: idsOf(await ask.read(path + form)) }).toEqual({ form, ids: no });
  });
});

describeRequests('costs', (ask) => {
  it.each([
    ['a list without blanks', '10,20,30', '$10 – $30', ['10', '20', '30'], '', ''],
    ['a list', '10, 20, 30', '$10 – $30', ['10', '20', '30'], '', ''],
    ['a range', '10 - 20', '$10 – $20', ['10', '20'], '', ''],
    ['a decimal comma', '10,50', '$10,50', ['10.50'], '', ''],
    ['a decimal point', '10.50', '$10.50', ['10.50'], '', ''],
    ['thousands and a decimal comma', '1.000,50', '$1.000,50', ['1000.50'], '', ''],
    ['thousands and a decimal point', '1,500.75', '$1,500.75', ['1500.75'], '', ''],
    ['thousands alone', '1,500', '$1,500', ['1500'], '', ''],
    ['a symbol before the amount', '€ 10,50', '€10,50', ['10.50'], '€', 'prefix'],
    ['a symbol behind the amount', '15€', '15€', ['15'], '€', 'postfix'],
    ['symbols at both ends of a range', '£5 - £10', '£5 – £10', ['5', '10'], '£', 'prefix'],
    ['a symbol of letters', 'US$ 25', 'US$25', ['25'], 'US$', 'prefix'],
    ['words', 'By donation', 'By donation', ['by-donation'], '', ''],
  ])('D37 reads %s: %s', async (_, cost, shown, values, symbol, position) => {
    const details = { currency_symbol: symbol, currency_position: position, values };
    const event = await ask.create('/events', { ...EVENT, cost });
    expect(event).toMatchObject({ cost: shown, cost_details: details });
    expect(await ask.metaValues(event.id, '_EventCost')).toEqual([cost]);
    expect(await ask.update('/events/39', { cost })).toMatchObject({ cost: shown, cost_details: details });
    expect(await ask.metaValues(39, '_EventCost')).toEqual([cost]);
  });
  it('D37 stores numbers without the rounding errors of binary fractions, as PHP writes them', async () => {
    const { id, cost } = await ask.create('/events', { ...EVENT, cost: [3 * 33.3, 0.1 + 0.2, 100_000.5, 7] });
    expect(cost).toBe('$0.3 – $100000.5');
    expect(await ask.metaValues(id, '_EventCost')).toEqual(['99.9', '0.3', '100000.5', '7']);
    const core = await ask.send('PUT', `/wp-json/wp/v2/tribe_events/${id}`, {
      as: 'admin',
      body: { title: 1.1 + 2.2, meta: { _EventCost: 3 * 33.3 } },
    });
    expect(core.body).toMatchObject({ title: { raw: '3.3' }, meta: { _EventCost: '99.9' } });
    expect((await ask.create('/venues', { venue: 'Hall', zip: 1.1 + 2.2 })).zip).toBe('3.3');
  });
  it('D37 stores a list as it was sent, with a row for each cost', async () => {
    const event = await ask.create('/events', { ...EVENT, cost: ['€ 20', '€ 5,50', '€ 10'] });
    expect(event).toMatchObject({ cost: '€5,50 – €20', cost_details: { values: ['5.50', '10', '20'], currency_symbol: '€' } });
    expect(await ask.metaValues(event.id, '_EventCost')).toEqual(['€ 20', '€ 5,50', '€ 10']);
    await ask.update(`/events/${event.id}`, { cost: '7' });
    expect(await ask.metaValues(event.id, '_EventCost')).toEqual(['7']);
  });
});

describeRequests('URLs and texts', (ask) => {
  const stored: Readonly<Record<string, string>> = {
    '/events/38': '_EventURL',
    '/venues/12': '_VenueURL',
    '/organizers/24': '_OrganizerWebsite',
  };
  const records = Object.keys(stored);

  it.each([
    ['an internationalised host', 'https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['a host of another script', 'http://例え.テスト/', 'http://xn--r8jz45g.xn--zckzah/'],
    ['a path in other letters', 'https://example.org/straße/ä', 'https://example.org/stra%C3%9Fe/%C3%A4'],
    ['a query in other letters', 'https://example.org/?q=ü', 'https://example.org/?q=%C3%BC'],
    ['http', 'http://example.org/a?b=c#d', 'http://example.org/a?b=c#d'],
    ['ftp', 'ftp://example.org/file', 'ftp://example.org/file'],
    ['mailto', 'mailto:info@example.org', 'mailto:info@example.org'],
    ['tel', 'tel:+39050123', 'tel:+39050123'],
  ])('D38 accepts %s and stores it in ASCII', async (_, website, ascii) => {
    for (const path of records) {
      expectBody(await ask.patch(path, { website }));
      expect(await ask.metaValues(Number(path.split('/')[2]), stored[path]!)).toEqual([ascii]);
    }
    expect((await ask.create('/events', { ...EVENT, website })).website).toBe(ascii);
  });
  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt://example.org/%0aalert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'gopher://example.org/',
    'irc://example.org',
    'example.org',
    '//example.org/',
    '/path',
    'https://',
    'http:// example.org',
    'java\tscript:alert(1)',
    'https://exa mple.org/',
  ])('D38 refuses %j', async (website) => {
    for (const path of records) expectError(await ask.patch(path, { website }), 400, 'rest_invalid_param', ['website']);
    expectError(await ask.post('/events', { ...EVENT, website }), 400, 'rest_invalid_param', ['website']);
  });

  const DIRTY = 'a\u0000b\u0001c\u0008d\u000be\u001bf\u007fg';
  it('D39 removes control characters, except tabs and line breaks, from every text', async () => {
    const lines = `${DIRTY}\th\ni\r\nj`;
    const event = await ask.create('/events', { ...EVENT, title: DIRTY, description: lines, excerpt: lines, cost: DIRTY });
    const row = (await ask.db().from('posts').where('ID', event.id).first())!;
    expect([row.post_title, row.post_content.replaceAll('\r\n', '\n'), row.post_excerpt.replaceAll('\r\n', '\n')]).toEqual([
      'abcdefg',
      'abcdefg\th\ni\nj',
      'abcdefg\th\ni\nj',
    ]);
    const venue = await ask.create('/venues', { venue: DIRTY, description: lines, address: DIRTY, city: DIRTY, phone: DIRTY });
    expect(venue).toMatchObject({ venue: 'abcdefg', address: 'abcdefg', city: 'abcdefg', phone: 'abcdefg' });
    expect(await ask.create('/organizers', { organizer: DIRTY, email: DIRTY })).toMatchObject({ organizer: 'abcdefg', email: 'abcdefg' });
    expect(await ask.create('/categories', { name: DIRTY, description: DIRTY })).toMatchObject({ name: 'abcdefg', description: 'abcdefg' });
    expect(await ask.create('/tags', { name: DIRTY, description: DIRTY })).toMatchObject({ name: 'abcdefg', description: 'abcdefg' });
    // Metas that no field of the calendar stands for, the words beside a picture, and the name of a password.
    const metas = { _EventCostDescription: DIRTY, _tribe_events_status_reason: DIRTY, _VenueCity: DIRTY };
    const admin = { as: 'admin' };
    const core = await ask.send('PUT', '/wp-json/wp/v2/tribe_events/39', { ...admin, body: { meta: metas } });
    expect(core.body.meta).toMatchObject({ _EventCostDescription: 'abcdefg', _tribe_events_status_reason: 'abcdefg' });
    const picture = await ask.send('PUT', '/wp-json/wp/v2/media/10', { ...admin, body: { alt_text: DIRTY, caption: DIRTY } });
    expect(picture.body).toMatchObject({ alt_text: 'abcdefg', caption: { raw: 'abcdefg' } });
    const password = await ask.send('POST', '/wp-json/wp/v2/users/me/application-passwords', { ...admin, body: { name: DIRTY } });
    expect(password.body.name).toBe('abcdefg');
    const values = Object.entries(await ask.allRows()).flatMap(([table, rows]) =>
      rows.flatMap((one) => Object.entries(one as object).map(([column, value]) => `${table}.${column}: ${value}`)),
    );
    expect(values.filter((value) => /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(value))).toEqual([]);
  });
  it.each([
    ['an empty tag', '<b></b>'],
    ['blanks in tags', '<p> </p>'],
    ['a comment', '<!-- x -->'],
    ['white space', ' \t\n '],
    ['entities of blanks', '&nbsp;&#8203;'],
    ['invisible characters', '\u200b\u200d\u2060\ufeff'],
    ['control characters', '\u0001\u0002'],
    ['a script', '<script>x()</script>'],
  ])('D39 refuses %s as a title or name', async (_, name) => {
    const before = await ask.allRows();
    const refused = async (method: 'post' | 'patch', path: string, field: string, more: object = {}) => {
      const { status } = await ask[method](path, { ...more, [field]: name });
      expect({ method, path, status }).toEqual({ method, path, status: 400 });
    };
    await refused('post', '/events', 'title', { start_date: '2027-01-01', end_date: '2027-01-01' });
    await refused('post', '/venues', 'venue');
    await refused('post', '/organizers', 'organizer');
    await refused('post', '/categories', 'name');
    await refused('post', '/tags', 'name');
    await refused('patch', '/events/38', 'title');
    await refused('patch', '/venues/12', 'venue');
    await refused('patch', '/organizers/24', 'organizer');
    await refused('patch', '/categories/5', 'name');
    await refused('patch', '/tags/12', 'name');
    expect(await ask.allRows()).toEqual(before);
  });
  it('D39 accepts a title with visible characters', async () => {
    for (const title of ['<b>x</b>', '🎸', '0.5', '&amp;', '日本'])
      expect(((await ask.create('/events', { ...EVENT, title })) as Json).id).toBeGreaterThan(92);
  });
});
