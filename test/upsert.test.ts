import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { EXTERNAL_ID } from '../src/kinds/external-id.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { noteChange } from '../src/storage/journal/reported-changes.ts';
import { lockPost, removePost, updatePost, writeMetas } from '../src/storage/rows/posts.ts';
import { asStored, storedText } from '../src/wordpress/php/serialized.ts';
import type { Answer } from './support/running-site.ts';
import { describeRequests, expectBody, expectError, type Json, SUITE_TIME } from './support/site-client.ts';

/* Records that are identified by an external ID, and requests that create or change a record (upsert). */

const DATES = { start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00' };

describeRequests('upsert of a record', (ask, engine) => {
  const upsert = (path: string, body: Record<string, unknown>, as: 'admin' | 'auth' = 'admin') =>
    ask.post(`${path}?upsert=external_id`, body, as);
  const count = async (type: string) => (await ask.db().from('posts').where('post_type', type)).length;

  it.each([
    ['/events', 'tribe_events', { title: 'Jazz', ...DATES }, { title: 'Blues', ...DATES }],
    ['/venues', 'tribe_venue', { venue: 'Barn' }, { venue: 'Mill' }],
    ['/organizers', 'tribe_organizer', { organizer: 'Ada' }, { organizer: 'Bea' }],
  ] as const)('creates it once and changes it afterwards: %s', async (path, type, first, second) => {
    const before = await count(type);
    const created = expectBody(await upsert(path, { ...first, external_id: 'x 1' }), 201);
    expect(created.external_id).toBe('x 1');
    const changed = expectBody(await upsert(path, { ...second, external_id: 'x 1' }), 200);
    expect(changed).toMatchObject({ id: created.id, ...('title' in second ? { title: second.title } : second) });
    expect(await count(type)).toBe(before + 1);
    expect((await ask.read(`${path}/${created.id}`)).external_id).toBe('x 1');
  });

  it.each([
    ['/events', { title: 'Jazz', ...DATES }],
    ['/venues', { venue: 'Barn' }],
    ['/organizers', { organizer: 'Ada' }],
  ] as const)('changes it only under the conditions of the request: %s', async (path, body) => {
    const write = (headers: Record<string, string>, external_id = 'x') =>
      ask.send('POST', `/wp-json/tribe/events/v1${path}?upsert=external_id`, { as: 'admin', body: { ...body, external_id }, headers });
    expect((await write({ 'If-Match': '*' })).status).toBe(412);
    const { id } = expectBody(await write({ 'If-None-Match': '*' }), 201);
    const { etag = '' } = (await ask.send('GET', `/wp-json/tribe/events/v1${path}/${id}`, { as: 'admin' })).headers;
    for (const headers of [{ 'If-Match': '"bad"' }, { 'If-None-Match': '*' }, { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' }])
      expect([headers, (await write(headers as Record<string, string>)).status]).toEqual([headers, 412]);
    expect((await write({ 'If-Match': etag })).status).toBe(200);
  });

  it('distinguishes case, accents and trailing blanks', async () => {
    const ids = [];
    for (const external_id of ['é', 'e', 'E', 'e.']) ids.push(expectBody(await upsert('/venues', { venue: 'Barn', external_id }), 201).id);
    expect(new Set(ids).size).toBe(4);
  });

  it('keeps IDs apart that differ only in escapes, tags or blanks', async () => {
    const ids = ['https://x.ru/e/%d0%ba/', 'https://x.ru/e/%d0%b4/', 'a%31', 'a%32', 'a', '<4711@host>', '<4712@host>', 'b  c', 'b c'];
    for (const external_id of ids) {
      const made = expectBody(await upsert('/venues', { venue: external_id, external_id }), 201);
      expect(made).toMatchObject({ external_id });
    }
    for (const external_id of ids) {
      const found = (await ask.read(`/venues?external_id=${encodeURIComponent(` ${external_id}\u0007 `)}`)).venues;
      expect(found).toEqual([expect.objectContaining({ external_id })]);
      expect(expectBody(await upsert('/venues', { venue: 'New', external_id })).id).toBe(found[0].id);
      const event = await ask.create('/events', { title: 'Jazz', ...DATES, venue: { venue: 'New', external_id } });
      expect(event.venue.id).toBe(found[0].id);
    }
  });

  it('removes control characters from an ID, and blanks around it', async () => {
    const { id } = expectBody(await upsert('/venues', { venue: 'Barn', external_id: ' x\u0007\ty\n' }), 201);
    expect((await ask.read(`/venues/${id}`)).external_id).toBe('x y');
    expect(expectBody(await upsert('/venues', { venue: 'Barn', external_id: 'x y' })).id).toBe(id);
    for (const external_id of ['  ', '\u0007'])
      expectError(await upsert('/venues', { venue: 'Barn', external_id }), 400, 'rest_invalid_param', ['external_id']);
    expectError(await ask.get('/venues?external_id=%20'), 400, 'rest_invalid_param', ['external_id']);
    const zero = expectBody(await upsert('/venues', { venue: 'Barn', external_id: '0' }), 201);
    expect((await ask.read('/venues?external_id=0')).venues).toEqual([expect.objectContaining({ id: zero.id })]);
  });

  it('finds a record whose ID was stored without escapes and tags, and stores its ID as sent', async () => {
    const { id } = await ask.create('/venues', { venue: 'Barn', external_id: 'x' });
    const store = (meta_value: string) =>
      ask.db().transaction(async (trx) => {
        await writeMetas(trx, id, { _fasti_external_id: [asStored(meta_value)] });
        noteChange(trx, { now: new Date(SUITE_TIME) });
      });
    const [ka, de] = ['https://x.ru/e/%d0%ba/', 'https://x.ru/e/%d0%b4/'];
    const listed = async (external_id: string) =>
      (await ask.read(`/venues?external_id=${encodeURIComponent(external_id)}`)).venues.map((venue: Json) => venue.id);
    await store('https://x.ru/e//');
    expect(await listed(ka)).toEqual([id]);
    const event = await ask.create('/events', { title: 'Jazz', ...DATES, venue: { venue: 'Barn', external_id: ka } });
    expect(event.venue).toMatchObject({ id, external_id: ka });
    await store('https://x.ru/e//');
    expect(expectBody(await upsert('/venues', { venue: 'Barn', external_id: ka }))).toMatchObject({ id, external_id: ka });
    expect(await listed(ka)).toEqual([id]);
    expect(await listed(de)).toEqual([]);
    expect(expectBody(await upsert('/venues', { venue: 'Other', external_id: de }), 201).id).not.toBe(id);
  });

  /** Fields with a value, and an empty value for each of them. */
  const CLEARED = [
    [
      '/events',
      { title: 'Jazz', ...DATES },
      { description: 'Loud', excerpt: 'Jazz!', website: 'https://jazz.example/', cost: '12', image: 10, categories: [3], tags: ['Jazz'] },
      { description: '', excerpt: null, website: null, cost: '', image: false, categories: [], tags: '' },
    ],
    [
      '/venues',
      { venue: 'Barn' },
      {
        description: 'Behind the station',
        city: 'Siena',
        phone: '555',
        website: 'https://barn.example/',
        geo_lat: 43,
        geo_lng: 11,
        image: 10,
      },
      { description: '', city: null, phone: '', website: '', geo_lat: null, geo_lng: '', image: 0 },
    ],
    ['/organizers', { organizer: 'Ada' }, { description: 'Herself', email: 'ada@host.example' }, { description: null, email: '' }],
  ] as const;

  /** The texts, metas and terms of a record, without its external ID. */
  const stored = async (id: number) => {
    const post = await ask.db().from('posts').where('ID', id).first();
    const metas: Json[] = await ask.db().from('postmeta').where('post_id', id).orderBy(['meta_key', 'meta_value']);
    const terms: Json[] = await ask.db().from('term_relationships').where('object_id', id).orderBy('term_taxonomy_id');
    return {
      texts: [post?.post_content, post?.post_excerpt],
      metas: metas.filter(({ meta_key: key }) => key !== EXTERNAL_ID).map((meta) => [meta.meta_key, asStored(meta.meta_value)]),
      terms: terms.map((term) => term.term_taxonomy_id),
    };
  };

  it.each(CLEARED)(
    'clears fields with empty values like a change, and ignores them in a new record: %s',
    async (path, named, full, empty) => {
      const { id } = expectBody(await upsert(path, { ...named, ...full, external_id: 'x' }), 201);
      const before = await stored(id);
      expect(expectBody(await upsert(path, { ...named, ...empty, external_id: 'x' })).id).toBe(id);
      const twin = (await ask.create(path, { ...named, ...full, external_id: 'y' })).id;
      expect(await stored(id)).not.toEqual(before);
      await ask.update(`${path}/${twin}`, { ...named, ...empty });
      expect(await stored(id)).toEqual(await stored(twin));
      const made = async (body: Record<string, unknown>, external_id: string) =>
        stored(expectBody(await upsert(path, { ...named, ...body, external_id }), 201).id);
      expect(await made(empty, 'empty')).toEqual(await made({}, 'bare'));
    },
  );

  it('creates it once in concurrent requests', async () => {
    const body = { venue: 'Barn', external_id: 'same' };
    const answers = await Promise.all([1, 2, 3, 4].map(() => upsert('/venues', body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  });

  it('restores it from the trash', async () => {
    const { id } = expectBody(await upsert('/events', { title: 'Jazz', ...DATES, external_id: 'x' }), 201);
    expectBody(await ask.del(`/events/${id}`));
    expect(expectBody(await upsert('/events', { title: 'Jazz', ...DATES, external_id: 'x' }))).toMatchObject({ id, status: 'publish' });
  });

  it('creates a new record if the one with the slug is in the trash, and always through wp/v2 and tec/v1', async () => {
    const jazz = { title: 'Jazz', slug: 'jazz-night', ...DATES };
    const { id } = expectBody(await ask.post('/events?upsert=slug', jazz), 201);
    expect(expectBody(await ask.post('/events?upsert=slug', jazz)).id).toBe(id);
    expectBody(await ask.del(`/events/${id}`));
    expect(expectBody(await ask.post('/events?upsert=slug', jazz), 201)).toMatchObject({ slug: 'jazz-night' });
    for (const path of ['wp/v2/tribe_events', 'tec/v1/events']) {
      const sent = { as: 'admin', body: jazz, headers: { 'X-TEC-EEA': 'yes' } };
      expect((await ask.send('POST', `/wp-json/${path}?upsert=slug`, sent)).status).toBe(201);
    }
  });

  it('finds it by its external ID whatever its dates, and hides it from users who may not see it', async () => {
    const past = { title: 'Past', start_date: '2020-01-01 10:00', end_date: '2020-01-01 11:00', external_id: 'past' };
    const { id } = await ask.create('/events', past);
    expect((await ask.read('/events?external_id=past')).events.map((event: Json) => event.id)).toEqual([id]);
    expect((await ask.read('/events?external_id=PAST')).events).toEqual([]);
    await ask.update(`/events/${id}`, { status: 'draft' });
    expect((await ask.read('/events?external_id=past')).events).toEqual([]);
    expect((await ask.read('/events?external_id=past', 'admin')).events).toHaveLength(1);
    await ask.create('/venues', { venue: 'Barn', external_id: 'barn' });
    expect((await ask.read('/venues?external_id=barn')).venues).toHaveLength(1);
  });

  it('refuses an external ID that another record of the same kind has', async () => {
    const { id } = await ask.create('/events', { title: 'Jazz', ...DATES, external_id: 'x' });
    const other = await ask.create('/events', { title: 'Blues', ...DATES });
    expectError(await ask.post('/events', { title: 'Third', ...DATES, external_id: 'x' }), 400, 'rest_invalid_param', ['external_id']);
    expectError(await ask.patch(`/events/${other.id}`, { external_id: 'x' }), 400, 'rest_invalid_param', ['external_id']);
    await ask.update(`/events/${id}`, { external_id: 'x', title: 'Still Jazz' });
    await ask.update(`/events/${id}`, { external_id: '' });
    expect(await ask.read(`/events/${id}`)).not.toHaveProperty('external_id');
    await ask.update(`/events/${other.id}`, { external_id: 'x' });
    // External IDs of other kinds are independent.
    await ask.create('/venues', { venue: 'Barn', external_id: 'x' });
  });

  it('uses an existing record if an event contains it', async () => {
    const barn = await ask.create('/venues', { venue: 'Barn', external_id: 'barn' });
    const event = await ask.create('/events', { title: 'Jazz', ...DATES, venue: { venue: 'The barn', external_id: 'barn' } });
    expect(event.venue.id).toBe(barn.id);
  });

  it.each([
    ['venue', '/venues', {}, 'auth'],
    ['organizer', '/organizers', {}, 'auth'],
    ['venue', '/venues', { status: 'nonsense' }, 'admin'],
    ['venue', '/venues', { geo_lat: 91, geo_lng: 11 }, 'admin'],
    ['venue', '/venues', { geo_lat: 91, geo_lng: 11, external_id: 'new' }, 'admin'],
    ['organizer', '/organizers', { date: 'some day' }, 'admin'],
  ] as const)('refuses the %s within an event as that, and not as a value of the event: %s, %j, as %s', async (field, path, values, as) => {
    await ask.create(path, { [field]: 'Barn', external_id: 'x' });
    const before = await ask.allRows();
    const event = { title: 'Jazz', ...DATES, external_id: 'ev-1' };
    const answer = await ask.post('/events', { ...event, [field]: { [field]: 'Hall', external_id: 'x', ...values } }, as);
    expectError(answer, 400, 'rest_invalid_param', [field]);
    expect(answer.body.data.params[field]).toContain(`or the new ${field} cannot be created from what was sent`);
    expect(answer.text).not.toContain('ev-1');
    expect(await ask.allRows()).toEqual(before);
    const { id } = await ask.create('/events', { title: 'Jazz', ...DATES }, as);
    expectError(
      await ask.patch(`/events/${id}`, { [field]: { [field]: 'Hall', external_id: 'x', ...values } }, as),
      400,
      'rest_invalid_param',
      [field],
    );
  });

  it.each([
    ['venue', '/venues', 'city', 'Behind the station'],
    ['organizer', '/organizers', 'email', 'Herself'],
  ] as const)('changes the %s with the external ID within an event in all fields', async (field, path, other, description) => {
    const { id } = await ask.create(path, { [field]: 'Barn', [other]: 'a@host.example', phone: '555', external_id: 'x' });
    ask.setClock('2026-11-20T12:30:00Z');
    const named = { [field]: 'New mill', [other]: 'b@host.example', description, phone: '', external_id: 'x' };
    expect([await ask.create('/events', { title: 'Jazz', ...DATES, [field]: named })].flatMap((event) => event[field])).toMatchObject([
      { id },
    ]);
    const changed = await ask.read(`${path}/${id}`);
    expect(changed).toMatchObject({ [field]: 'New mill', [other]: 'b@host.example', modified: '2026-11-20 13:30:00', slug: 'barn' });
    expect(changed.description).toContain(description);
    expect(changed).not.toHaveProperty('phone');
    expect((await ask.read(`${path}?modified_after=2026-11-20T12:29:00Z`))[path.slice(1)]).toMatchObject([{ id }]);
  });

  it.each([
    ['venue', '/venues', { description: 'Behind the station', city: 'Siena', geo_lat: 43, geo_lng: 11, show_map: false, image: 10 }],
    ['venue', '/venues', { status: 'draft', date: '2026-11-01 10:00:00', phone: '' }],
    ['organizer', '/organizers', { description: '<p>Herself</p>', email: 'a@host.example', author: 4, phone: null }],
  ] as const)('does not write the %s of %s with the external ID within events if nothing differs: %j', async (field, path, values) => {
    const named = { [field]: 'Barn & "mill"', ...values, external_id: 'x' };
    const { id } = await ask.create(path, named);
    const rowsOf = async () => ({
      rows: await ask.db().from('posts').where('ID', id).orWhere('post_parent', id).orderBy('ID'),
      metas: await ask.db().from('postmeta').where('post_id', id).orderBy('meta_id'),
      changes: await ask.db().from('fasti_journal').where({ kind: 'post', object: id }),
    });
    const before = await rowsOf();
    ask.setClock('2026-11-20T12:30:00Z');
    const requests = ['Jazz', 'Blues'].map((title) => ({ path: '/tribe/events/v1/events', body: { title, ...DATES, [field]: named } }));
    const { responses } = expectBody(await ask.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } }), 207);
    const single = await ask.post('/events', { title: 'Folk', ...DATES, [field]: named });
    for (const answer of [...responses, single]) expect([expectBody(answer, 201)[field]].flat()).toMatchObject([{ id }]);
    expect(await rowsOf()).toEqual(before);
    await ask.create('/events', { title: 'Rock', ...DATES, [field]: { ...named, website: 'https://barn.example/' } });
    const after = await rowsOf();
    expect(after.rows[0]).toMatchObject({ post_modified_gmt: '2026-11-20 12:30:00' });
    expect(after.changes).toHaveLength(before.changes.length + 1);
  });

  if (engine === 'MySQL')
    it('does not wait for another write of the venue with the external ID within an event if nothing differs', async () => {
      const venue = { venue: 'Barn', external_id: 'x' };
      const { id } = await ask.create('/venues', venue);
      await ask.db().transaction(async (trx) => {
        await lockPost(trx, id);
        expect((await ask.create('/events', { title: 'Jazz', ...DATES, venue })).venue).toMatchObject({ id });
      });
    });

  it.each([
    ['has another external ID', (trx: Database, id: number) => writeMetas(trx, id, { [EXTERNAL_ID]: [storedText('y')] })],
    ['is deleted', (trx: Database, id: number) => removePost(trx, id)],
  ] as const)('creates a venue within an event if the existing one %s when the write has waited for it', async (_, write) => {
    const { id } = await ask.create('/venues', { venue: 'Barn', external_id: 'x' });
    let made: Promise<Answer> | undefined;
    await ask.db().transaction(async (trx) => {
      await lockPost(trx, id);
      await write(trx, id);
      noteChange(trx, { now: new Date(SUITE_TIME) });
      made = ask.post('/events', { title: 'Jazz', ...DATES, venue: { venue: 'Mill', external_id: 'x' } });
      // Long enough for the write to find the venue and to wait for it.
      await sleep(300);
    });
    const { venue } = expectBody((await made)!, 201);
    expect(venue).toMatchObject({ venue: 'Mill', external_id: 'x' });
    expect(venue.id).not.toBe(id);
    const former = await ask.db().from('posts').where('ID', id).first();
    expect(former?.post_title ?? 'Barn').toBe('Barn');
  });

  it('keeps what a contributor may not set, but an editor has set before', async () => {
    const body = { title: 'Jazz', ...DATES, sticky: true, external_id: 'x' };
    expectError(await ask.post('/events?upsert=external_id', body, 'contrib'), 403, 'rest_forbidden');
    const { id } = expectBody(await ask.post('/events?upsert=external_id', { ...body, sticky: false }, 'contrib'), 201);
    await ask.update(`/events/${id}`, { sticky: true });
    expect(expectBody(await ask.post('/events?upsert=external_id', { ...body, title: 'Blues' }, 'contrib'))).toMatchObject({
      id,
      title: 'Blues',
      sticky: true,
    });
  });

  it('is refused to users who may not change the record', async () => {
    await ask.create('/events', { title: 'Jazz', ...DATES, external_id: 'x' });
    expectError(await upsert('/events', { title: 'Blues', ...DATES, external_id: 'x' }, 'auth'), 403, 'rest_forbidden');
    // The rights are checked first: 412 would tell that there is such a record.
    const body = { title: 'Blues', ...DATES, external_id: 'x' };
    for (const headers of [{ 'If-Match': '"bad"' }, { 'If-None-Match': '*' }] as Record<string, string>[])
      expectError(
        await ask.send('POST', '/wp-json/tribe/events/v1/events?upsert=external_id', { as: 'auth', body, headers }),
        403,
        'rest_forbidden',
      );
  });

  it('needs the field that identifies the record', async () => {
    expectError(await upsert('/events', { title: 'Jazz', ...DATES }), 400, 'rest_invalid_param', ['upsert']);
    expectError(await ask.post('/venues?upsert=slug', { venue: 'Barn' }), 400, 'rest_invalid_param', ['upsert']);
    expect((await ask.read('/doc')).paths['/venues'].post.parameters).toContainEqual(
      expect.objectContaining({ name: 'upsert', schema: { type: 'string', enum: ['external_id'] } }),
    );
    expectError(await ask.post('/events?upsert=title', { title: 'Jazz', ...DATES }), 400, 'rest_invalid_param', ['upsert']);
  });

  it.each(['<4711@host.example>', '<CAF+x@mail.example>', 'a < b', '50%25 <3'])('keeps an external ID as sent: %s', async (id) => {
    expect((await ask.create('/venues', { venue: 'Barn', external_id: id })).external_id).toBe(id);
  });

  it.each(['<b>7</b>', '<img src=x onerror=alert(1)>', '<svg/onload=a@b>', '</p>', '<!--'])(
    'refuses an external ID with HTML: %s',
    async (id) => {
      expectError(await ask.post('/venues', { venue: 'Barn', external_id: id }), 400, 'rest_invalid_param', ['external_id']);
    },
  );

  it('identifies an event by its slug', async () => {
    const send = (body: Record<string, unknown>) => ask.post('/events?upsert=slug', { ...DATES, slug: 'jazz-night', ...body });
    const { id } = expectBody(await send({ title: 'Jazz' }), 201);
    expect(expectBody(await send({ title: 'Blues' }))).toMatchObject({ id, slug: 'jazz-night', title: 'Blues' });
  });

  it.each(['publish', 'pending', 'draft'])('finds the event of a contributor again by its slug: %s', async (status) => {
    const send = (title: string) => ask.post('/events?upsert=slug', { ...DATES, slug: 'Jazz Night', title, status }, 'contrib');
    const { id, slug } = expectBody(await send('Jazz'), 201);
    expect(slug).toBe('jazz-night');
    expect(expectBody(await send('Blues'))).toMatchObject({ id, slug, title: 'Blues' });
    if (status === 'draft') {
      expect(expectBody(await ask.patch(`/events/${id}`, { status: 'pending' }, 'contrib'))).toMatchObject({ slug });
      expect(expectBody(await send('Blues'))).toMatchObject({ id, slug });
    }
    // Other changes keep it.
    expect(expectBody(await ask.patch(`/events/${id}`, { title: 'Swing', status }, 'contrib'))).toMatchObject({ slug });
    expect(expectBody(await send('Blues'))).toMatchObject({ id });
  });

  it('finds an event with a parent, whose slug no other event can have, and rather one without', async () => {
    const send = (body: Record<string, unknown>) => ask.post('/events?upsert=slug', { ...DATES, slug: 'choir-2026-12-10', ...body });
    const { id } = expectBody(await send({ title: 'Choir' }), 201);
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_parent: 38 }));
    expect(expectBody(await send({ title: 'The choir' }))).toMatchObject({ id, slug: 'choir-2026-12-10', title: 'The choir' });
    await ask.writeRows((db) => db.from('posts').where('ID', 39).update({ post_name: 'choir-2026-12-10' }));
    expect(expectBody(await send({ title: 'Our choir' }))).toMatchObject({ id: 39 });
  });

  it.each(['!!!', 'Feed', 'embed'])('refuses a slug that no event can have: %s', async (slug) => {
    await ask.create('/events', { title: 'Concert', ...DATES });
    expectError(await ask.post('/events?upsert=slug', { ...DATES, title: 'Concert', slug }), 400, 'rest_invalid_param', ['slug']);
  });

  it.each([
    ['another name', { post_name: 'renamed' }],
    ['another type', { post_type: 'tribe_venue' }],
  ] as const)('creates a new record if the existing one gets %s while the write waits for it', async (_, columns) => {
    const send = (title: string) => ask.post('/events?upsert=slug', { ...DATES, slug: 'jazz-night', title });
    const { id } = expectBody(await send('Jazz'), 201);
    let write: Promise<Answer> | undefined;
    await ask.db().transaction(async (trx) => {
      await lockPost(trx, id);
      await updatePost(trx, id, columns);
      noteChange(trx, { now: new Date(SUITE_TIME) });
      write = send('Blues');
      // Long enough for the write to find the record and to wait for it.
      await sleep(300);
    });
    const made = expectBody((await write)!, 201);
    expect(made).toMatchObject({ slug: 'jazz-night', title: 'Blues' });
    expect(made.id).not.toBe(id);
    expect(await ask.db().from('posts').where('ID', id).first()).toMatchObject({ ...columns, post_title: 'Jazz' });
  });

  const drafts = [
    ['external_id', '/events', { title: 'Jazz', ...DATES, external_id: 'crm 4711' }, 'Another record already has this external ID.'],
    ['external_id', '/venues', { venue: 'Barn', external_id: 'crm 4711' }, 'Another record already has this external ID.'],
    ['slug', '/events', { title: 'Jazz', ...DATES, slug: 'jazz-night' }, /^A draft of another user has this slug/],
  ] as const;

  it.each(drafts)('refuses the %s of a draft of somebody else, also in the trash: %s', async (by, path, values, sentence) => {
    const send = (as: 'contrib' | 'ed' | 'auth', more: object = {}) => ask.post(`${path}?upsert=${by}`, { ...values, ...more }, as);
    const { id, status } = expectBody(await send('contrib', { website: 'https://evil.example/', status: 'draft' }), 201);
    expect(status).toBe('draft');
    const before = await ask.allRows();
    for (const more of [{}, { status: 'publish' }, { author: 3 }]) {
      const refused = await send('ed', more);
      expectError(refused, 400, 'rest_invalid_param', [by]);
      expect(refused.body.data.params[by]).toMatch(sentence);
    }
    expect(await ask.allRows()).toEqual(before);
    expect(expectBody(await send('contrib', { status: 'draft' })).id).toBe(id);
    // A program that names the author of its drafts continues to find them.
    expect(expectBody(await send('ed', { author: 4 })).id).toBe(id);
    if (by === 'external_id') {
      expect((await ask.del(`${path}/${id}`, 'contrib')).status).toBe(200);
      expectError(await send('ed'), 400, 'rest_invalid_param', [by]);
      await ask.update(`${path}/${id}`, { status: 'publish' });
      expect(expectBody(await send('ed')).id).toBe(id);
    }
  });

  it('refuses a new event with a venue whose external ID is that of a draft of somebody else', async () => {
    const venue = { venue: 'Barn', external_id: 'crm 4711' };
    const { id } = await ask.create('/venues', { ...venue, website: 'https://evil.example/' }, 'contrib');
    expectError(await ask.post('/events', { title: 'Jazz', ...DATES, venue }, 'ed'), 400, 'rest_invalid_param', ['venue']);
    await ask.update(`/venues/${id}`, { status: 'publish' });
    expect((await ask.create('/events', { title: 'Jazz', ...DATES, venue }, 'ed')).venue.id).toBe(id);
  });

  it('works in a batch', async () => {
    const requests = [1, 2, 1].map((name) => ({
      path: '/tribe/events/v1/venues?upsert=external_id',
      body: { venue: `V${name}`, external_id: `${name}` },
    }));
    const { responses } = expectBody(await ask.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } }), 207);
    expect(responses.map((one: Json) => one.status)).toEqual([201, 201, 200]);
  });
});
