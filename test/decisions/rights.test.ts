import { expect, it } from '@jest/globals';
import { passwordOf } from '../support/running-site.ts';
import { describeRequests, expectBody, expectError, idsOf, type Json, type UserName } from '../support/site-client.ts';

const EVENT = { title: 'Test event', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const NEW = { '/events': EVENT, '/venues': { venue: 'Barn' }, '/organizers': { organizer: 'Farmers' } } as const;
const WIDE = 'start_date=2019-01-01&end_date=2040-01-01&per_page=50';
const PEOPLE = [undefined, 'sub', 'contrib', 'auth', 'ed', 'admin'] as const;
/** Unpublished events, by author and status. */
const [MINE_CONTRIB, DRAFT, PENDING, PRIVATE, FUTURE, TRASHED, MINE_AUTH] = [80, 82, 83, 84, 85, 86, 88];
const UNPUBLISHED = [MINE_CONTRIB, DRAFT, PENDING, PRIVATE, FUTURE, TRASHED, MINE_AUTH];

describeRequests('contents of lists', (ask) => {
  /** Ids of all pages, and the total. */
  async function all(path: string, as: UserName): Promise<{ ids: number[]; total: number }> {
    const first = await ask.read(`${path}${path.includes('?') ? '&' : '?'}page=1`, as);
    const ids = idsOf(first);
    for (let page = 2; page <= first.total_pages; page++)
      ids.push(...idsOf(await ask.read(`${path}${path.includes('?') ? '&' : '?'}page=${page}`, as)));
    return { ids, total: first.total };
  }

  it.each([
    [undefined, []],
    ['sub', []],
    ['contrib', [MINE_CONTRIB]],
    ['auth', [MINE_AUTH]],
    ['ed', [MINE_CONTRIB, DRAFT, PENDING, PRIVATE, FUTURE, MINE_AUTH]],
    ['admin', [MINE_CONTRIB, DRAFT, PENDING, PRIVATE, FUTURE, MINE_AUTH]],
  ] as const)('D13 contain for %s only these unpublished events: %j', async (as, unpublished) => {
    const { ids, total } = await all(`/events?${WIDE}`, as);
    expect(ids.filter((id) => UNPUBLISHED.includes(id)).sort()).toEqual([...unpublished]);
    expect(total).toBe(ids.length);
  });
  it.each([
    ['contrib', 'draft', [MINE_CONTRIB]],
    ['contrib', 'private', []],
    ['contrib', 'pending', []],
    ['contrib', 'future', []],
    ['contrib', 'trash', []],
    ['auth', 'draft', [MINE_AUTH]],
    ['auth', 'draft,pending,private,future', [MINE_AUTH]],
    ['ed', 'private', [PRIVATE]],
    ['ed', 'draft,pending', [MINE_CONTRIB, DRAFT, PENDING, MINE_AUTH]],
    ['ed', 'trash', [TRASHED]],
    ['admin', 'future,trash', [FUTURE, TRASHED]],
  ] as const)('D13 contain for %s with status=%s only %j', async (as, status, ids) => {
    const listed = await all(`/events?${WIDE}&status=${status}`, as);
    expect(listed).toEqual({ ids: expect.anything(), total: ids.length });
    expect(listed.ids.sort()).toEqual([...ids]);
  });
  it.each(['/venues', '/organizers'])('D13 contain in %s the drafts of others for editors only', async (path) => {
    const draft = path === '/venues' ? 18 : 29;
    for (const as of PEOPLE) {
      const { ids, total } = await all(`${path}?per_page=50`, as);
      expect({ as, drafts: ids.includes(draft), total }).toEqual({ as, drafts: as === 'ed' || as === 'admin', total: ids.length });
    }
  });
  it('D13 contain records in the trash for users who may edit them, though GET of such a record is refused', async () => {
    await ask.writeRows((db) => db.from('posts').where('ID', MINE_CONTRIB).update({ post_status: 'trash' }));
    expect((await all(`/events?${WIDE}&status=trash`, 'contrib')).ids).toEqual([MINE_CONTRIB]);
    expect((await all(`/events?${WIDE}&status=trash`, 'ed')).ids.sort()).toEqual([MINE_CONTRIB, TRASHED]);
    for (const as of ['contrib', 'ed', 'admin'] as const)
      expectError(await ask.get(`/events/${MINE_CONTRIB}`, as), 403, 'event-no-longer-available');
  });
  it('D13 contain protected events without their texts, for everybody', async () => {
    for (const as of PEOPLE) {
      const [event] = (await ask.read('/events?include=73', as)).events;
      expect(event).toMatchObject({
        id: 73,
        title: 'Password protected',
        start_date: '2030-09-01 10:00:00',
        description: '',
        excerpt: '',
        cost: '',
        website: '',
        image: false,
        all_day: null,
        featured: null,
        sticky: null,
        categories: [],
        tags: [],
        venue: [],
        organizer: [],
      });
      expectError(await ask.get('/events/73', as), 403, 'event-password-protected');
    }
  });
  it('D13 match search words only in records that the caller may read', async () => {
    await ask.writeRows((db) => db.from('posts').whereIn('ID', UNPUBLISHED).update({ post_excerpt: 'zebra crossing' }));
    const found = async (as: UserName) => (await all(`/events?${WIDE}&search=zebra`, as)).ids.sort();
    expect(await found(undefined)).toEqual([]);
    expect(await found('contrib')).toEqual([MINE_CONTRIB]);
    expect(await found('auth')).toEqual([MINE_AUTH]);
    expect(await found('ed')).toEqual(UNPUBLISHED.filter((id) => id !== TRASHED));
  });
  it('D13 do not match the hidden text of a protected event', async () => {
    for (const as of PEOPLE) {
      for (const words of ['secret', 'body', 'excerpt']) expect((await all(`/events?${WIDE}&search=${words}`, as)).ids).not.toContain(73);
    }
    expect((await all(`/events?${WIDE}&search=secret&password=opensesame`, undefined)).ids).toContain(73);
    expect((await all(`/events?${WIDE}&search=-secret+protected`, 'ed')).ids).toContain(73);
  });
  it.each([
    ['/venues', 22, ['Hidden', '999', 'Firenze'], 'secret venue', 'venuepass'],
    ['/organizers', 30, ['111', 'secret@example'], 'secret organizer', 'orgpass'],
  ])('D13 do not match the hidden text of the protected record of %s, only its name', async (path, id, hidden, name, password) => {
    for (const as of PEOPLE) {
      for (const words of hidden) expect((await all(`${path}?search=${encodeURIComponent(words)}`, as)).ids).not.toContain(id);
      expect((await all(`${path}?search=${encodeURIComponent(name)}`, as)).ids).toEqual([id]);
    }
    expect((await all(`${path}?search=${encodeURIComponent(hidden[0]!)}&password=${password}`, undefined)).ids).toEqual([id]);
  });

  it.each([
    ['categories', '5', 'featured=true'],
    ['tags', '11', ''],
    ['venue', '12', ''],
    ['organizer', '24', ''],
    ['featured', 'true', ''],
    ['featured', 'false', ''],
    ['city', 'Pisa', ''],
    ['country', 'Italy', ''],
    ['state', 'PI', ''],
    ['geoloc', 'true', ''],
    ['geoloc', 'false', ''],
    ['geoloc_lat', '43.7&geoloc_lng=10.4', ''],
  ])('D35 do not match a protected event by %s=%s unless its password is sent', async (name, value) => {
    await ask.writeRows((db) =>
      db.from('postmeta').insert([
        { post_id: 12, meta_key: '_VenueLat', meta_value: '43.7' },
        { post_id: 12, meta_key: '_VenueLng', meta_value: '10.4' },
      ]),
    );
    const negative = value === 'false' && name === 'geoloc';
    if (name === 'featured' && value === 'true')
      await ask.writeRows((db) => db.from('postmeta').insert({ post_id: 73, meta_key: '_tribe_featured', meta_value: '1' }));
    if (negative) await ask.writeRows((db) => db.from('postmeta').where({ post_id: 73, meta_key: '_EventVenueID' }).delete());
    for (const as of PEOPLE) {
      const { ids, total } = await all(`/events?${WIDE}&${name}=${value}`, as);
      expect({ as, told: ids.includes(73), some: ids.length > 0, total }).toEqual({ as, told: false, some: true, total: ids.length });
    }
    expect((await all(`/events?${WIDE}&${name}=${value}&password=opensesame`, undefined)).ids).toContain(73);
  });
  it.each(['city=Firenze', 'geoloc=true', 'geoloc_lat=43.8&geoloc_lng=11.2'])(
    'D35 do not match an event by a hidden property of its protected venue (%s)',
    async (filter) => {
      await ask.writeRows((db) =>
        db.from('postmeta').insert([
          { post_id: 22, meta_key: '_VenueLat', meta_value: '43.8' },
          { post_id: 22, meta_key: '_VenueLng', meta_value: '11.2' },
        ]),
      );
      for (const as of PEOPLE) expect((await all(`/events?${WIDE}&${filter}`, as)).ids).not.toContain(68);
    },
  );
  it('D35 ignore unreadable and protected events in filters of venues and organizers by their events', async () => {
    await ask.writeRows((db) =>
      db.from('postmeta').insert([
        { post_id: 73, meta_key: '_EventVenueID', meta_value: '17' },
        { post_id: FUTURE, meta_key: '_EventVenueID', meta_value: '16' },
        { post_id: PRIVATE, meta_key: '_EventOrganizerID', meta_value: '28' },
      ]),
    );
    const listed = async (path: string, as: UserName) => (await all(`${path}?per_page=50&has_events=1`, as)).ids;
    expect(await listed('/venues', undefined)).not.toContain(17);
    expect(await listed('/venues', undefined)).not.toContain(16);
    expect(await listed('/organizers', 'contrib')).not.toContain(28);
    expect(await listed('/venues', 'ed')).toContain(16);
    expect(await listed('/organizers', 'ed')).toContain(28);
    for (const as of PEOPLE) expect((await all('/venues?per_page=50&only_with_upcoming=1', as)).ids).not.toContain(17);
    expect((await all('/venues?per_page=50&only_with_upcoming=1', undefined)).ids).not.toContain(16);
  });
  it.each([
    ['/events', 'venue', 18],
    ['/events', 'organizer', 29],
    ['/events', 'post_parent', DRAFT],
    ['/venues', 'event', DRAFT],
    ['/organizers', 'event', PRIVATE],
    ['/categories', 'post', PENDING],
    ['/categories', 'event', FUTURE],
    ['/tags', 'post', DRAFT],
    ['/tags', 'event', PRIVATE],
  ])('D35 treat records that the caller may not read as unknown: %s?%s=%d', async (path, name, id) => {
    for (const as of PEOPLE) {
      const unknown = await ask.get(`${path}?${name}=999999`, as);
      const answer = await ask.get(`${path}?${name}=${id}`, as);
      if (as === 'ed' || as === 'admin') expectBody(answer);
      else {
        expectError(answer, 400, 'rest_invalid_param', [name]);
        expect(answer.body).toEqual(unknown.body);
      }
    }
  });
  it.each(['/venues', '/organizers', '/categories', '/tags'])(
    'D35 treat a protected event as unknown in %s?event= without its password',
    async (path) => {
      for (const as of PEOPLE) expectError(await ask.get(`${path}?event=73`, as), 400, 'rest_invalid_param', ['event']);
    },
  );
  it('D35 apply to writes, where a venue or organizer that the caller may not read is unknown', async () => {
    expectError(await ask.post('/events', { ...EVENT, venue: 18 }, 'auth'), 400, 'rest_invalid_param', ['venue']);
    expectError(await ask.patch(`/events/${MINE_CONTRIB}`, { organizer: [29] }, 'contrib'), 400, 'rest_invalid_param', ['organizer']);
    expect((await ask.create('/events', { ...EVENT, venue: 18, organizer: [29] }, 'ed')).venue.id).toBe(18);
  });
});

describeRequests('access control', (ask) => {
  it.each([
    ['/events/by-slug/spring-fair', 38, '/events'],
    ['/venues/by-slug/teatro-rossi', 12, '/venues'],
    ['/organizers/by-slug/acme-events', 24, '/organizers'],
  ])('D14 refuses writes by slug to %s like those by id', async (path, id, collection) => {
    const before = await ask.allRows();
    for (const as of ['contrib', 'auth', 'sub'] as const) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const body = method === 'DELETE' ? null : { description: 'Not mine' };
        const [bySlug, byId] = await Promise.all(
          [path, `${collection}/${id}`].map((place) => ask.send(method, `/wp-json/calendar/events/v1${place}`, { as, body })),
        );
        expectError(bySlug!, 403, 'rest_forbidden');
        expect([bySlug!.body, bySlug!.headers.allow]).toEqual([byId!.body, byId!.headers.allow]);
      }
    }
    const anonymous = await ask.send('DELETE', `/wp-json/calendar/events/v1${path}`);
    expectError(anonymous, 401, 'rest_forbidden');
    expect(await ask.allRows()).toEqual(before);
  });
  it('D14 allows users to write their own records by slug', async () => {
    expect(expectBody(await ask.patch('/events/by-slug/by-author', { excerpt: 'Mine' }, 'auth')).id).toBe(79);
    expect(expectBody(await ask.del('/events/by-slug/by-author', 'auth')).status).toBe('trash');
  });

  it.each([
    ['draft', ['ed', 'admin']],
    ['pending', ['ed', 'admin']],
    ['private', ['ed', 'admin']],
    ['future', ['ed', 'admin']],
    ['trash', []],
  ] as const)(
    'D15 shows venues and organizers with the status %s only to users who may read them, wherever an event is shown',
    async (status, readers) => {
      await ask.writeRows((db) => db.from('posts').whereIn('ID', [18, 29]).update({ post_status: status, post_title: 'Unseen' }));
      for (const as of PEOPLE) {
        const expected = (readers as readonly UserName[]).includes(as) ? [18, [29]] : [undefined, []];
        const single = await ask.read('/events/67', as);
        const bySlug = await ask.read('/events/by-slug/with-draft-venue', as);
        const [listed] = (await ask.read('/events?include=67', as)).events;
        const found = (await ask.read(`/events?${WIDE}&search=with+draft+venue`, as)).events[0];
        for (const event of [single, bySlug, listed, found]) {
          expect({ as, shown: [event.venue.id, event.organizer.map((organizer: Json) => organizer.id)] }).toEqual({ as, shown: expected });
        }
        const told = JSON.stringify([single, bySlug, listed, found]).includes('Unseen');
        expect({ as, told }).toEqual({ as, told: (readers as readonly UserName[]).includes(as) });
        if (!(readers as readonly UserName[]).includes(as)) expect(single.json_ld).not.toHaveProperty('location.name');
      }
    },
  );
  it('D15 hides unreadable venues and organizers in the answers to writes', async () => {
    await ask.writeRows((db) => db.from('posts').where('ID', 67).update({ post_author: 3 }));
    expect(await ask.update('/events/67', { excerpt: 'Mine' }, 'auth')).toMatchObject({ venue: [], organizer: [] });
    expect(await ask.metaValues(67, '_EventVenueID')).toEqual(['18']);
  });

  it('D16 answers a wrong password and an unknown name alike, in words and in time', async () => {
    const basic = (name: string, password: string) => ({ Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` });
    const attempt = async (name: string, path = '/wp-json/calendar/events/v1/events', method = 'GET') => {
      const begun = performance.now();
      const { status, body } = await ask.send(method, path, { headers: basic(name, 'abcd efgh ijkl mnop qrst uvwx') });
      return { status, body, slow: performance.now() - begun >= 50 };
    };
    const known = await attempt('admin');
    expect(known).toMatchObject({ status: 401, body: { code: 'incorrect_password', data: { status: 401 } }, slow: true });
    expect(await attempt('nobody-of-this-name')).toEqual(known);
    expect(await attempt('nobody@example.org')).toEqual(known);
    expect(await attempt('nobody', '/wp-json/calendar/events/v1/nowhere')).toEqual(known);
    expect(await attempt('admin', '/wp-json/calendar/events/v1/nowhere', 'POST')).toEqual(known);
    expect((await ask.send('GET', '/wp-json/calendar/events/v1/events', { headers: basic('admin', passwordOf('admin')) })).status).toBe(
      200,
    );
  });

  it('D18 shows everybody the name of a protected venue, embedded or not, and nothing else of it', async () => {
    const blanked = {
      id: 22,
      venue: 'Secret venue',
      slug: 'secret-venue',
      address: '',
      city: '',
      phone: '',
      show_map: null,
      show_map_link: null,
    };
    for (const as of PEOPLE) {
      const places = [
        await ask.read('/venues/22', as),
        (await ask.read('/venues/by-slug/secret-venue', as)) as Json,
        (await ask.read('/events/68', as)).venue,
        (await ask.read('/events?include=68', as)).events[0].venue,
        (await ask.read('/venues?search=secret+venue', as)).venues[0],
      ];
      for (const venue of places) {
        expect(venue).toMatchObject(blanked);
        expect(venue).not.toHaveProperty('json_ld');
        expect(JSON.stringify(venue)).not.toMatch(/Hidden 7|Firenze|999/);
      }
      expect((await ask.read('/events/68', as)).json_ld.location || undefined).toBeUndefined();
    }
  });
  it('D18 shows everybody the name of a protected organizer, and nothing else of it', async () => {
    for (const as of PEOPLE) {
      const places = [
        await ask.read('/organizers/30', as),
        (await ask.read('/events/68', as)).organizer[0],
        (await ask.read('/organizers?search=secret', as)).organizers[0],
      ];
      for (const organizer of places) {
        expect(organizer).toMatchObject({ id: 30, organizer: 'Secret organizer', phone: '', email: '' });
        expect(JSON.stringify(organizer)).not.toMatch(/secret@|111/);
      }
    }
  });
  it('D18 shows protected venues and organizers in full with their password', async () => {
    expect(await ask.read('/venues/22?password=venuepass')).toMatchObject({
      venue: 'Secret venue',
      address: 'Hidden 7',
      city: 'Firenze',
      show_map: true,
    });
    expect(await ask.read('/organizers/30?password=orgpass')).toMatchObject({ phone: '111', email: 'secret@example.test' });
    expect((await ask.read('/venues?search=secret&password=venuepass')).venues[0].city).toBe('Firenze');
    expect((await ask.read('/venues/22?password=wrong')).city).toBe('');
  });
});

const INTERNAL =
  'inherit auto-draft request-pending request-confirmed request-failed request-completed tribe-ea-success tribe-ea-failed tribe-ea-schedule tribe-ea-pending tribe-ea-draft tribe-ignored any publish,draft PUBLISH new'.split(
    ' ',
  );
const RECORDS = [
  ['/events', 38],
  ['/venues', 12],
  ['/organizers', 24],
] as const;

describeRequests('values of status and author', (ask) => {
  it.each(RECORDS)('D33 can be any of the five statuses of WordPress on %s', async (path, id) => {
    for (const status of ['publish', 'draft', 'pending', 'private'] as const) {
      expect((await ask.create(path, { ...NEW[path], ...(path === '/events' ? {} : { description: status }), status }, 'ed')).status).toBe(
        status,
      );
      expect((await ask.update(`${path}/${id}`, { status }, 'ed')).status).toBe(status);
    }
    expect(
      (
        await ask.create(
          path,
          { ...NEW[path], ...(path === '/events' ? {} : { description: 'future' }), status: 'future', date: '2027-01-01' },
          'ed',
        )
      ).status,
    ).toBe('future');
    expect((await ask.update(`${path}/${id}`, { status: 'future', date: '2027-01-01' }, 'ed')).status).toBe('future');
  });
  it.each(RECORDS)('D33 become publish for a record of %s scheduled for a past date', async (path, id) => {
    expect((await ask.update(`${path}/${id}`, { status: 'future' }, 'ed')).status).toBe('publish');
  });
  it.each(RECORDS)('D33 cannot be any other status on %s', async (path, id) => {
    const before = await ask.allRows();
    for (const status of INTERNAL) {
      expectError(await ask.post(path, { ...NEW[path], status }), 400, 'rest_invalid_param', ['status']);
      expectError(await ask.patch(`${path}/${id}`, { status }), 400, 'rest_invalid_param', ['status']);
    }
    expect(await ask.allRows()).toEqual(before);
  });
  it.each(RECORDS)('D33 can be trash only for users who may delete the record, on %s', async (path, id) => {
    expect((await ask.update(`${path}/${id}`, { status: 'trash' }, 'ed')).status).toBe('trash');
    const plural = `tribe_${path.slice(1)}`;
    const own = await ask.create(path, NEW[path], 'auth');
    const denied = `a:2:{s:6:"author";b:1;s:${`delete_published_${plural}`.length}:"delete_published_${plural}";b:0;}`;
    await ask.writeRows((db) => db.from('usermeta').where({ user_id: 3, meta_key: 'wp_capabilities' }).update({ meta_value: denied }));
    expectError(await ask.patch(`${path}/${own.id}`, { status: 'trash' }, 'auth'), 403, 'rest_forbidden');
    expect((await ask.update(`${path}/${own.id}`, { status: 'draft' }, 'auth')).status).toBe('draft');
    expect((await ask.update(`${path}/${own.id}`, { status: 'trash' }, 'auth')).status).toBe('trash');
  });

  it.each(RECORDS.map(([path]) => path))(
    'D34 cannot be another author of %s without the right to edit the records of others',
    async (path) => {
      for (const as of ['auth', 'contrib'] as const) {
        const own = await ask.create(path, { ...NEW[path], ...(path === '/events' ? {} : { description: as }) }, as);
        const before = await ask.allRows();
        expectError(await ask.post(path, { ...NEW[path], author: 1 }, as), 403, 'rest_forbidden');
        expectError(await ask.patch(`${path}/${own.id}`, { author: 1, description: 'x' }, as), 403, 'rest_forbidden');
        expect(await ask.allRows()).toEqual(before);
        expect((await ask.update(`${path}/${own.id}`, { author: Number(own.author) }, as)).author).toBe(own.author);
      }
    },
  );
  it.each(RECORDS)('D34 can be any existing author of %s for editors', async (path, id) => {
    expect((await ask.create(path, { ...NEW[path], author: 5 }, 'ed')).author).toBe('5');
    expect((await ask.update(`${path}/${id}`, { author: 4 }, 'ed')).author).toBe('4');
    expectError(await ask.patch(`${path}/${id}`, { author: 999 }, 'ed'), 400, 'rest_invalid_param', ['author']);
  });

  it.each(RECORDS.map(([path]) => path))('D36 become pending if a contributor asks for private, publish or future, on %s', async (path) => {
    for (const status of ['private', 'publish', 'future'] as const) {
      const record = await ask.create(path, { ...NEW[path], ...(path === '/events' ? {} : { description: status }), status }, 'contrib');
      expect(record.status).toBe('pending');
      expect((await ask.update(`${path}/${record.id}`, { status: 'draft' }, 'contrib')).status).toBe('draft');
      expect((await ask.update(`${path}/${record.id}`, { status }, 'contrib')).status).toBe('pending');
    }
  });
  it('D36 remain private for authors and editors', async () => {
    for (const as of ['auth', 'ed'] as const)
      expect((await ask.create('/events', { ...EVENT, status: 'private' }, as)).status).toBe('private');
  });
});
