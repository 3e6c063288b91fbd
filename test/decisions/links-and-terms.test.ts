import { describe, expect, it } from '@jest/globals';
import { describeRequests, expectBody, expectError, type Json, ROOT, type UserName } from '../support/site-client.ts';

const EVENT = { title: 'Test event', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const idsIn = (records: Json): number[] => (Array.isArray(records) ? records : [records]).map((record: Json) => record.id);

describeRequests('terms of an event', (ask) => {
  const count = async (table: 'terms' | 'term_taxonomy') => (await ask.db().from(table).select('term_id')).length;

  it.each([
    ['tags', 'an id', 13, 13],
    ['tags', 'an id as text', '13', 13],
    ['tags', 'a slug', 'ete-2030', 14],
    ['tags', 'a name', 'Été 2030', 14],
    ['tags', 'a name in another case', 'FAMILY', 12],
    ['tags', 'a name with an ampersand', 'R&B', 16],
    ['categories', 'an id', 5, 5],
    ['categories', 'an id as text', '5', 5],
    ['categories', 'a slug', 'food-drink', 7],
    ['categories', 'a name', 'Food & Drink', 7],
    ['categories', 'a name in another case', 'jazz', 4],
  ])('D4 links the existing term of %s by %s', async (field, _, wish, id) => {
    const before = await count('terms');
    for (const value of [wish, [wish]]) {
      const event = await ask.create('/events', { ...EVENT, [field]: value });
      expect(idsIn(event[field])).toEqual([id]);
    }
    expect(await count('terms')).toBe(before);
  });

  it.each(['tags', 'categories'])('D32 finds a term of %s by its name in an object with a slug if no term has the slug', async (field) => {
    const { id } = await ask.create(`/${field}`, { name: 'Live music', slug: 'concerti' });
    const linked = async (slug: string) => idsIn((await ask.create('/events', { ...EVENT, [field]: [{ slug }] }))[field]);
    expect([await linked('Live music'), await linked('concerti')]).toEqual([[id], [id]]);
    const { id: other } = await ask.create(`/${field}`, { name: 'Concerts', slug: 'live-music' });
    expect(await linked('Live music')).toEqual([other]);
  });

  it.each([
    ['tags', 'admin', 'post_tag'],
    ['tags', 'ed', 'post_tag'],
    ['categories', 'admin', 'tribe_events_cat'],
    ['categories', 'ed', 'tribe_events_cat'],
    ['categories', 'auth', 'tribe_events_cat'],
  ] as const)('D4 creates a term of %s from a new name by %s', async (field, as, taxonomy) => {
    const event = await ask.create('/events', { ...EVENT, [field]: ['Brand new', 'brand NEW'] }, as);
    expect(event[field]).toMatchObject([{ name: 'Brand new', slug: 'brand-new', taxonomy, count: 1 }]);
  });

  it.each([
    ['tags', 'auth'],
    ['tags', 'contrib'],
    ['categories', 'contrib'],
  ] as const)('D4 refuses a new name in the %s of %s, who may not create such terms, and writes nothing', async (field, as) => {
    const own = as === 'auth' ? 79 : 80;
    const before = await ask.allRows();
    expectError(await ask.post('/events', { ...EVENT, [field]: [5, 'Brand new'] }, as), 403, 'rest_forbidden');
    expectError(await ask.post(`/events/${own}`, { title: 'Changed', [field]: 'Brand new' }, as), 403, 'rest_forbidden');
    expect(await ask.allRows()).toEqual(before);
  });

  describe('whose name or slug is a number', () => {
    const HEADER = 'x-fasti-warning';
    const add = async (path: string, body: Record<string, unknown>): Promise<number> => (await ask.create(path, body)).id;

    it.each([['tags'], ['categories']])('D4 are found in %s by name and by slug', async (field) => {
      const byName = await add(`/${field}`, { name: '2030', slug: 'twenty-thirty' });
      const bySlug = await add(`/${field}`, { name: 'Next year', slug: '2031' });
      for (const value of [['2030', '2031'], [2030, 2031], '2030,2031']) {
        const created = await ask.post('/events', { ...EVENT, [field]: value });
        expect([created.status, idsIn(created.body[field]).sort(), created.headers[HEADER]]).toEqual([201, [byName, bySlug], undefined]);
        const changed = await ask.patch('/events/38', { [field]: value });
        expect([idsIn(changed.body[field]).sort(), changed.headers[HEADER]]).toEqual([[byName, bySlug], undefined]);
        expect((await ask.read(`/${field}/${byName}`)).count).toBeGreaterThan(1);
        await ask.update('/events/38', { [field]: null });
      }
    });

    it('D4 are found by a number as it was sent', async () => {
      const id = await add('/tags', { name: '007', slug: '007' });
      for (const [tags, warning] of [[['007', 12]], [['7', 12], 'tags: there is no term 7; it was left out']] as const) {
        const created = await ask.post('/events', { ...EVENT, tags });
        const expected = warning ? [12] : [12, id];
        expect([idsIn(created.body.tags).sort(), created.headers[HEADER]]).toEqual([expected, warning]);
        const changed = await ask.patch('/events/38', { tags });
        expect([idsIn(changed.body.tags).sort(), changed.headers[HEADER]]).toEqual([expected, warning]);
      }
    });

    it('D4 are found by id first', async () => {
      await add('/tags', { name: '13' });
      const event = await ask.create('/events', { ...EVENT, tags: ['13'] });
      expect(idsIn(event.tags)).toEqual([13]);
    });

    it('D4 are not meant by an object with an id', async () => {
      await add('/tags', { name: '2030' });
      const { status, body, headers } = await ask.post('/events', { ...EVENT, tags: [{ id: 2030 }, 12] });
      expect([status, idsIn(body.tags), headers[HEADER]]).toEqual([201, [12], 'tags: there is no term 2030; it was left out']);
    });

    it.each(['tags', 'categories'])('D32 are not ids in an object with a name or a slug: %s', async (field) => {
      const byName = await add(`/${field}`, { name: '13', slug: 'thirteen' });
      const byNameAndId = await add(`/${field}`, { name: '5', slug: 'five' });
      const named = await ask.create('/events', { ...EVENT, [field]: [{ name: '13' }, { name: '5' }] });
      expect(idsIn(named[field])).toEqual([byName, byNameAndId].sort((one, other) => one - other));
      const { body, headers } = await ask.post('/events', { ...EVENT, [field]: [{ slug: '13' }, { slug: '5' }] });
      expect([body[field], headers[HEADER]]).toEqual([
        [],
        `${field}: there is no term 13; it was left out, ${field}: there is no term 5; it was left out`,
      ]);
      const fresh = await ask.create('/events', { ...EVENT, [field]: [{ name: '12' }, { name: '4' }] });
      expect(fresh[field].map(({ name }: Json) => name).sort()).toEqual(['12', '4']);
    });

    it('D4 are found by events of a batch that are written at once', async () => {
      const id = await add('/tags', { name: '2030' });
      const body = { ...EVENT, tags: ['2030', 12, '2031'] };
      const requests = [1, 2].map(() => ({ method: 'POST', path: `${ROOT.replace('/wp-json', '')}/events`, body }));
      const { body: answer } = await ask.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } });
      for (const response of answer.responses) expect(idsIn(response.body.tags).sort()).toEqual([12, id].sort());
    });

    it('D4 are named in a warning, beside slugs, if no term has them', async () => {
      const value = [12, 99_999, 'family', '00', { slug: 'no-such' }];
      const created = await ask.post('/events', { ...EVENT, tags: value, categories: 99_998, lang: 'it' });
      expect([created.status, idsIn(created.body.tags)]).toEqual([201, [12]]);
      expect(String(created.headers[HEADER]).split(', ')).toEqual([
        'categories: non esiste un termine 99998; non viene assegnato',
        'tags: non esiste un termine 99999; non viene assegnato',
        'tags: non esiste un termine 0; non viene assegnato',
        'tags: non esiste un termine no-such; non viene assegnato',
      ]);
      const changed = await ask.patch('/events/38', { tags: value });
      expect(changed.headers[HEADER]).toContain('tags: there is no term 99999; it was left out');
    });

    it('D4 are refused as a filter if no term has them', async () =>
      expectError(await ask.get('/events?tags=2030'), 400, 'rest_invalid_param'));
  });

  it.each(['&nbsp;', '\u200b'])('D39 refuses a name without visible text: %j', async (name) => {
    for (const field of ['tags', 'categories']) {
      const { status, body } = await ask.post('/events', { ...EVENT, [field]: [name] });
      expect([status, body.data.params]).toEqual([
        400,
        { [field]: expect.stringMatching(/^A title or name must contain readable text\./) },
      ]);
    }
  });

  it('D4 allows users who may not create terms to use the existing ones', async () => {
    const event = await ask.create('/events', { ...EVENT, tags: ['family', 13], categories: ['Sport'] }, 'contrib');
    expect([idsIn(event.tags).sort(), idsIn(event.categories)]).toEqual([[12, 13], [5]]);
  });

  it.each([
    ['an object with an id', { id: 5 }, [5]],
    ['an object with an id as text', { id: '5' }, [5]],
    ['an object with a name', { name: 'Sport' }, [5]],
    ['an object with a slug', { slug: 'sport' }, [5]],
    ['objects in a list', [{ id: 5 }, { name: 'Jazz' }, { slug: 'music' }], [4, 2, 5]],
    ['an object with numbered members, as PHP writes a list with gaps', { 1: 4, 3: 'music' }, [4, 2]],
    ['an object with numbered objects', { 0: { id: 4 }, 2: { slug: 'music' } }, [4, 2]],
    ['objects beside ids and names', [{ id: 5 }, 4, 'music'], [4, 2, 5]],
  ])('D32 accepts %s', async (_, categories, ids) => {
    expect(idsIn((await ask.create('/events', { ...EVENT, categories })).categories)).toEqual(ids);
    expect(idsIn((await ask.update('/events/38', { categories })).categories)).toEqual(ids);
  });
  it('D32 accepts objects in the list of tags', async () => {
    const { tags } = await ask.create('/events', { ...EVENT, tags: [{ id: 12 }, { name: 'made here' }, { slug: 'rb' }] });
    expect(tags.map((tag: Json) => tag.name)).toEqual(['Family', 'made here', 'R&amp;B']);
  });
  it.each([
    ['a list in a list', [[5]]],
    ['an object without a known member', [{ term: 5 }]],
    ['an empty object in a list', [{}]],
    ['an id that is none', [{ id: 'five' }]],
    ['an empty name', [{ name: '' }]],
    ['a name that is a list', [{ name: ['Sport'] }]],
    ['a fraction', [1.5]],
    ['true', true],
  ])('D32 refuses %s with an error for the parameter', async (_, value) => {
    const before = await ask.allRows();
    for (const field of ['categories', 'tags']) {
      expectError(await ask.post('/events', { ...EVENT, [field]: value }), 400, 'rest_invalid_param', [field]);
      expectError(await ask.patch('/events/38', { [field]: value }), 400, 'rest_invalid_param', [field]);
    }
    expect(await ask.allRows()).toEqual(before);
  });
});

describeRequests('venues and organizers of an event', (ask) => {
  const titled = async (type: string, title: string) => ask.db().from('posts').where({ post_type: type, post_title: title });

  it.each([
    ['an id', 12, [12]],
    ['an id as text', '12', [12]],
    ['an id in a list', [12], [12]],
    ['several ids', [13, 12], [13, 12]],
    ['ids as text with commas', '13,12', [13, 12]],
    ['an object with an id', { id: 12 }, [12]],
    ['objects with ids', [{ id: 13 }, { id: '12' }], [13, 12]],
    ['the same id twice', [12, 12], [12]],
  ])('D5 accepts %s', async (_, value, ids) => {
    const event = await ask.create('/events', { ...EVENT, venue: value, organizer: [] });
    expect(idsIn(event.venue)).toEqual(ids);
    expect(Array.isArray(event.venue)).toBe(ids.length !== 1);
    expect(await ask.metaValues(event.id, '_EventVenueID')).toEqual(ids.map(String));

    const organizers = ids.map((id) => id + 12);
    const shifted = JSON.parse(JSON.stringify(value).replace(/\d+/g, (id) => String(Number(id) + 12)));
    const other = await ask.create('/events', { ...EVENT, organizer: shifted });
    expect(idsIn(other.organizer)).toEqual(organizers);
    expect(await ask.metaValues(other.id, '_EventOrganizerID')).toEqual(organizers.map(String));
  });

  it('D5 accepts new venues and organizers alone, in a list and together with existing ones', async () => {
    const alone = await ask.create('/events', {
      ...EVENT,
      venue: { venue: 'Barn', city: 'Asti' },
      organizer: { organizer: 'Farmers', email: 'f@example.org' },
    });
    expect(alone).toMatchObject({
      venue: { venue: 'Barn', city: 'Asti', status: 'publish' },
      organizer: [{ organizer: 'Farmers', email: 'f@example.org' }],
    });
    const mixed = await ask.create('/events', {
      ...EVENT,
      venue: [{ venue: 'Loft' }, 12, { venue: 'Cellar' }],
      organizer: [24, { organizer: 'Guild' }],
    });
    expect(mixed.venue.map((venue: Json) => venue.venue)).toEqual(['Loft', 'Teatro Rossi', 'Cellar']);
    expect(mixed.organizer.map((organizer: Json) => organizer.organizer)).toEqual(['ACME Events', 'Guild']);
    expect(await ask.metaValues(mixed.id, '_EventVenueID')).toHaveLength(3);
  });

  it.each([null, '', 0, '0'])('D7 accepts new venues, organizers and terms whose id is %j', async (id) => {
    const event = await ask.create('/events', {
      ...EVENT,
      venue: { id, venue: 'Barn' },
      organizer: [24, { id, organizer: 'Farmers' }],
      categories: [{ id, name: 'Ceilidhs' }],
      tags: { id, slug: 'outdoor' },
    });
    expect([event.venue.venue, event.organizer.map((organizer: Json) => organizer.organizer)]).toEqual([
      'Barn',
      ['ACME Events', 'Farmers'],
    ]);
    expect([event.categories.map((term: Json) => term.name), event.tags.map((term: Json) => term.slug)]).toEqual([
      ['Ceilidhs'],
      ['outdoor'],
    ]);
    for (const field of ['venue', 'organizer', 'categories'])
      expectError(await ask.post('/events', { ...EVENT, [field]: [{ id, name: '' }] }), 400, 'rest_invalid_param', [field]);
  });

  it('D7 accepts a new venue of a form whose id is empty', async () => {
    const answer = await ask.send('POST', '/wp-json/calendar/events/v1/events', {
      as: 'admin',
      body: 'title=Form&start_date=2027-01-01&end_date=2027-01-01&venue[id]=&venue[venue]=Barn&organizer[0][id]=0&organizer[0][organizer]=Anna',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    const event = expectBody(answer, 201);
    expect([event.venue.venue, event.organizer[0].organizer]).toEqual(['Barn', 'Anna']);
  });

  it('D5 accepts venues and organizers of a form, with numbered members', async () => {
    const body = 'title=Form&start_date=2027-01-01&end_date=2027-01-01&organizer[0][organizer]=Anna&organizer[1]=24&venue[]=12&venue[]=13';
    const answer = await ask.send('POST', '/wp-json/calendar/events/v1/events', {
      as: 'admin',
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    const event = expectBody(answer, 201);
    expect(event.organizer.map((organizer: Json) => organizer.organizer)).toEqual(['Anna', 'ACME Events']);
    expect(idsIn(event.venue)).toEqual([12, 13]);
  });

  it('D5 replaces the links with the given ones, in their order', async () => {
    const event = await ask.update('/events/77', { venue: [15, 13], organizer: [{ id: 25 }, 24] });
    expect([idsIn(event.venue), idsIn(event.organizer)]).toEqual([
      [15, 13],
      [25, 24],
    ]);
    expect([await ask.metaValues(77, '_EventVenueID'), await ask.metaValues(77, '_EventOrganizerID')]).toEqual([
      ['15', '13'],
      ['25', '24'],
    ]);
  });

  it.each([
    ['venue', 'without a name', { city: 'Asti' }],
    ['venue', 'with an empty name', { venue: '', city: 'Asti' }],
    ['venue', 'with a name of null', [{ venue: null }]],
    ['venue', 'in a list without a name', [12, { address: 'Via Roma 1' }]],
    ['venue', 'with a refused member', { venue: 'Barn', website: 'not an address' }],
    ['organizer', 'without a name', { email: 'f@example.org' }],
    ['organizer', 'with an empty name', [{ organizer: '' }]],
    ['venue', 'that does not exist', [12, 999_999]],
    ['venue', 'that is an organizer', 24],
    ['organizer', 'that is an event', [38]],
    ['venue', 'named by text', 'Teatro Rossi'],
  ])('D5 refuses a nested %s %s with an error for the parameter', async (field, _, value) => {
    const before = await ask.allRows();
    expectError(await ask.post('/events', { ...EVENT, [field]: value }), 400, 'rest_invalid_param', [field]);
    expectError(await ask.patch('/events/38', { [field]: value }), 400, 'rest_invalid_param', [field]);
    expect(await ask.allRows()).toEqual(before);
  });

  it.each([['Teatro Rossi'], ['TEATRO ROSSI'], ['Teatro Róssi']])(
    'D8 uses the existing venue for the name %s if the user may edit it, and changes only the given fields',
    async (venue) => {
      const before = await ask.read('/venues/12');
      const answer = await ask.create('/venues', { venue, phone: '011 999' }, 'ed');
      expect(answer).toMatchObject({ id: 12, venue: 'Teatro Rossi', phone: '011 999' });
      const { json_ld: _ld, ...kept } = before;
      expect(answer).toEqual({ ...kept, phone: '011 999' });
      expect(await titled('tribe_venue', 'Teatro Rossi')).toHaveLength(1);
    },
  );
  it('D8 uses the existing organizer for the same name, and changes only the given fields', async () => {
    const before = await ask.read('/organizers/24');
    const answer = await ask.create('/organizers', { organizer: 'acme events', email: 'new@example.org' });
    const { json_ld: _ld, ...kept } = before;
    expect(answer).toEqual({ ...kept, email: 'new@example.org' });
  });
  it.each(['auth', 'contrib'] as const)('D8 creates another venue for %s, who may not edit the existing one', async (as) => {
    const before = await ask.read('/venues/12');
    const { id, status } = await ask.create('/venues', { venue: 'Teatro Rossi', phone: '011 999' }, as);
    expect(id).toBeGreaterThan(92);
    expect(status).toBe(as === 'auth' ? 'publish' : 'draft');
    expect(await ask.read('/venues/12')).toEqual(before);
    expect((await ask.create('/organizers', { organizer: 'ACME Events' }, as)).id).toBeGreaterThan(92);
  });
  it('D8 uses a venue of the same user again', async () => {
    const first = await ask.create('/venues', { venue: 'My barn', city: 'Asti' }, 'auth');
    const second = await ask.create('/venues', { venue: 'My barn', phone: '1' }, 'auth');
    expect(second).toMatchObject({ id: first.id, city: 'Asti', phone: '1' });
  });
  it('D8 does not use a venue in the trash', async () => {
    expect((await ask.create('/venues', { venue: 'Trashed venue' })).id).toBeGreaterThan(92);
  });
  it('D8 distinguishes venues of the same name by their description', async () => {
    const first = await ask.create('/venues', { venue: 'Hall', description: 'In the north' });
    const second = await ask.create('/venues', { venue: 'Hall', description: 'In the south' });
    expect(second.id).not.toBe(first.id);
    expect((await ask.create('/venues', { venue: 'Hall', description: 'In the north' })).id).toBe(first.id);
  });
  it('D8 applies to new venues in an event', async () => {
    expect((await ask.create('/events', { ...EVENT, venue: { venue: 'Teatro Rossi' } }, 'ed')).venue.id).toBe(12);
    expect((await ask.create('/events', { ...EVENT, venue: { venue: 'Teatro Rossi' } }, 'auth')).venue.id).toBeGreaterThan(92);
  });

  it.each([
    ['a tag that the caller may not create', { tags: ['never seen'] }, 'auth', 403],
    ['a title without text', { title: '<b> </b>' }, 'auth', 400],
    ['an end before the start', { end_date: '2026-01-01' }, 'auth', 400],
    ['another author', { author: 1 }, 'auth', 403],
    ['an organizer without text in its name', { organizer: [{ organizer: '<i></i>' }] }, 'admin', 400],
  ] as const)('D9 stores nothing of an event refused for %s', async (_, refused, as, status) => {
    const before = await ask.allRows();
    const answer = await ask.post(
      '/events',
      {
        ...EVENT,
        venue: [{ venue: 'Left behind' }, { venue: 'And this' }],
        organizer: { organizer: 'Left too' },
        categories: ['New category'],
        ...refused,
      },
      as,
    );
    expect(answer.status).toBe(status);
    expect(await ask.allRows()).toEqual(before);
  });
  it('D9 stores nothing of a change that is refused', async () => {
    const before = await ask.allRows();
    expectError(
      await ask.patch('/events/79', { title: 'Half', venue: { venue: 'Left behind' }, tags: ['never seen'] }, 'auth'),
      403,
      'rest_forbidden',
    );
    expect(await ask.allRows()).toEqual(before);
  });

  it.each([
    ['venues', 12, '_EventVenueID', 'venue', 'location'],
    ['organizers', 24, '_EventOrganizerID', 'organizer', 'organizer'],
  ] as const)(
    'D11 keeps the links of %s in the trash, hides them, and shows them again after restoring',
    async (path, id, key, member, inLd) => {
      const links = () =>
        ask
          .db()
          .from('postmeta')
          .where({ meta_key: key, meta_value: String(id) })
          .orderBy('meta_id');
      const before = await links();
      const shown = async (as: UserName) => idsIn((await ask.read('/events/81', as))[member]);
      expect(before.length).toBeGreaterThan(3);
      expect(await shown(undefined)).toEqual([id]);

      expectBody(await ask.del(`/${path}/${id}`));
      expect(await links()).toEqual(before);
      for (const as of [undefined, 'sub', 'contrib', 'auth', 'ed', 'admin'] as const) {
        expect({ as, shown: await shown(as) }).toEqual({ as, shown: [] });
        expect((await ask.read('/events/81', as)).json_ld[inLd]).toBeUndefined();
        const listed = (await ask.read('/events?include=81,77', as)).events;
        expect(listed.flatMap((event: Json) => idsIn(event[member]))).not.toContain(id);
      }

      expect((await ask.update(`/${path}/${id}`, { status: 'publish' })).status).toBe('publish');
      expect(await links()).toEqual(before);
      expect(await shown(undefined)).toEqual([id]);
    },
  );
});

describeRequests('new venues and organizers within an event', (ask) => {
  /** Removes a capability from the contributor. */
  const without = (capability: string) =>
    ask.writeRows((db) =>
      db
        .from('usermeta')
        .where({ user_id: 4, meta_key: 'wp_capabilities' })
        .update({ meta_value: `a:2:{s:11:"contributor";b:1;s:${capability.length}:"${capability}";b:0;}` }),
    );

  it.each([
    ['venue', { venue: 'Barn' }, 'edit_tribe_venues'],
    ['organizer', { organizer: 'Farmers' }, 'edit_tribe_organizers'],
  ])('D17 requires the capability to create an inline %s', async (field, value, capability) => {
    expect((await ask.create('/events', { ...EVENT, [field]: value }, 'contrib')).status).toBe('draft');
    await without(capability);
    const before = await ask.allRows();
    for (const wish of [value, [value]]) {
      expectError(await ask.post('/events', { ...EVENT, [field]: wish }, 'contrib'), 403, 'rest_forbidden');
      expectError(await ask.post('/events/80', { [field]: wish }, 'contrib'), 403, 'rest_forbidden');
    }
    expect(await ask.allRows()).toEqual(before);
    await ask.create('/events', { ...EVENT, [field]: field === 'venue' ? 12 : 24 }, 'contrib');
  });
  it('D17 requires no other capability: a user who may not create venues may create an organizer in an event', async () => {
    await without('edit_tribe_venues');
    expect((await ask.create('/events', { ...EVENT, organizer: { organizer: 'Farmers' } }, 'contrib')).status).toBe('draft');
  });
});
