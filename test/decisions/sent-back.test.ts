import { expect, it } from '@jest/globals';
import { addCustomField } from '../../src/records/custom-fields.ts';
import { openVisitor } from '../support/desk-visitor.ts';
import { describeRequests, expectBody, expectError, type Json } from '../support/site-client.ts';

const EVENT = { title: 'Test event', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const TEC = '/wp-json/tec/v1/events';

describeRequests('records sent back as they were read', (ask) => {
  const links = async (id: number) => ({
    venue: await ask.metaValues(id, '_EventVenueID'),
    organizer: await ask.metaValues(id, '_EventOrganizerID'),
  });
  const trash = async (path: string) => expectBody(await ask.del(path));

  it.each(['put', 'post', 'patch'] as const)('D15 keep links to venues and organizers in the trash with %s', async (method) => {
    const { id } = await ask.create('/events', { ...EVENT, venue: 12, organizer: [24, 25] });
    await trash('/venues/12');
    await trash('/organizers/24');
    const read = await ask.read(`/events/${id}`, 'admin');
    expect([read.venue, read.organizer.map((one: Json) => one.id)]).toEqual([[], [25]]);
    expect(expectBody(await ask[method](`/events/${id}`, read))).toMatchObject({ venue: [] });
    expect(await links(id)).toEqual({ venue: ['12'], organizer: ['24', '25'] });
  });

  it('D15 keep links to records that the caller may not read', async () => {
    const hidden = await ask.create('/venues', { venue: 'Not yet open', status: 'private' });
    const secret = await ask.create('/organizers', { organizer: 'Not yet founded', status: 'private' });
    const { id } = await ask.create('/events', { ...EVENT, venue: [hidden.id, 13], organizer: [secret.id, 25] });
    await ask.update(`/events/${id}`, { author: Number((await ask.read('/events/79', 'auth')).author) });
    const read = await ask.read(`/events/${id}`, 'auth');
    expect([read.venue.id, read.organizer.map((one: Json) => one.id)]).toEqual([13, [25]]);
    expectBody(await ask.put(`/events/${id}`, read, 'auth'));
    const stored = { venue: [String(hidden.id), '13'], organizer: [String(secret.id), '25'] };
    expect(await links(id)).toEqual(stored);
    const tec = await ask.send('GET', `${TEC}/${id}`, { as: 'auth', headers: { 'X-TEC-EEA': 'yes' } });
    const sent = { venues: tec.body.venues.map((one: Json) => one.id), organizers: tec.body.organizers.map((one: Json) => one.id) };
    expectBody(await ask.send('PUT', `${TEC}/${id}`, { as: 'auth', body: sent, headers: { 'X-TEC-EEA': 'yes' } }));
    expect(await links(id)).toEqual(stored);
    // Another venue takes the place of the hidden one, while further organizers leave the hidden one in its place.
    await ask.patch(`/events/${id}`, { venue: 15, organizer: [24] }, 'auth');
    expect(await links(id)).toEqual({ venue: ['15'], organizer: ['24', String(secret.id)] });
  });

  it('D1 remove shown links with an empty list, and all links with null or an empty text', async () => {
    const { id } = await ask.create('/events', { ...EVENT, venue: 12, organizer: [24, 25] });
    await trash('/organizers/24');
    expect(await ask.update(`/events/${id}`, { venue: [], organizer: [] })).toMatchObject({ venue: [], organizer: [] });
    expect(await links(id)).toEqual({ venue: [], organizer: ['24'] });
    await ask.update(`/events/${id}`, { organizer: null });
    expect(await links(id)).toEqual({ venue: [], organizer: [] });
    await ask.update(`/events/${id}`, { venue: 13 });
    await trash('/venues/13');
    await ask.update(`/events/${id}`, { venue: '' });
    expect(await links(id)).toEqual({ venue: [], organizer: [] });
  });

  it.each([[[]], [['']], [[0]], [[null]], [{ 0: '' }]])('D15 keep hidden links with the empty list %j', async (empty) => {
    const { id } = await ask.create('/events', { ...EVENT, venue: [12, 13], organizer: [24, 25] });
    for (const path of ['/venues/12', '/organizers/24']) await trash(path);
    expect(await ask.update(`/events/${id}`, { venue: empty, organizer: empty })).toMatchObject({ venue: [], organizer: [] });
    expect(await links(id)).toEqual({ venue: ['12'], organizer: ['24'] });
  });

  it('D15 keep hidden links with the empty list of a form', async () => {
    const { id } = await ask.create('/events', { ...EVENT, venue: 12, organizer: [24, 25] });
    for (const path of ['/venues/12', '/organizers/24']) await trash(path);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const path = `/wp-json/calendar/events/v1/events/${id}`;
    expectBody(await ask.send('POST', path, { as: 'admin', body: 'organizer[]=&venue[]=', headers }));
    expect(await links(id)).toEqual({ venue: ['12'], organizer: ['24'] });
  });

  it('D15 remove hidden links where they are shown: in the metas of wp/v2 and at the desk', async () => {
    const { id } = await ask.create('/events', { ...EVENT, venue: 12, organizer: [24, 25, 26] });
    for (const path of ['/venues/12', '/organizers/24', '/organizers/26']) await trash(path);
    const core = `/wp-json/wp/v2/tribe_events/${id}`;
    expectBody(await ask.send('PUT', core, { as: 'admin', body: { meta: { _EventOrganizerID: [25, 26] } } }));
    expect(await links(id)).toEqual({ venue: ['12'], organizer: ['25', '26'] });
    const admin = await openVisitor(ask, 'admin');
    const path = `/admin/events/${id}`;
    const sent = { 'venue[keep][]': null, 'organizer[keep][]': '25' };
    expect((await admin.submit(await admin.get(path), path, sent)).status).toBe(303);
    expect(await links(id)).toEqual({ venue: [], organizer: ['25'] });
  });

  it.each([['10,20,30'], ['0'], ['12'], ['$12'], ['0', '7.5'], ['10', '10'], ['from <b>5</b> & 7'], ['1000'], ['Gratis']])(
    'D37 keep the cost, also in another language: %s',
    async (...cost) => {
      const { id } = await ask.create('/events', { ...EVENT, cost });
      const stored = async () =>
        Promise.all(['_EventCost', '_EventCurrencySymbol', '_EventCurrencyPosition'].map((key) => ask.metaValues(id, key)));
      const before = await stored();
      for (const home of ['', '/it']) {
        const read = expectBody(await ask.send('GET', `${home}/wp-json/calendar/events/v1/events/${id}`, { as: 'admin' }));
        expect((await ask.update(`/events/${id}`, { ...read, external_id: `cost ${id}` })).cost).not.toBe('');
        expect(await stored()).toEqual(before);
        expectBody(await ask.post('/events?upsert=external_id', { ...read, external_id: `cost ${id}` }));
        expect(await stored()).toEqual(before);
      }
      const tec = await ask.send('GET', `${TEC}/${id}`, { as: 'admin', headers: { 'X-TEC-EEA': 'yes' } });
      expectBody(await ask.send('PUT', `${TEC}/${id}`, { as: 'admin', body: { cost: tec.body.cost }, headers: { 'X-TEC-EEA': 'yes' } }));
      expect(await stored()).toEqual(before);
    },
  );

  it.each(['events/39', 'venues/12', 'organizers/24'])('keep everything under tec/v1: %s', async (path) => {
    const id = Number(path.split('/')[1]);
    const stored = async () => {
      const { posts, postmeta, term_relationships } = await ask.allRows();
      const own = posts!.find((row) => (row as { ID: number }).ID === id) as Record<string, unknown>;
      const { post_modified: _, post_modified_gmt: __, ...columns } = own;
      const metas = postmeta!.flatMap((row) => {
        const { post_id, meta_key, meta_value } = row as Record<string, unknown>;
        return post_id === id && meta_value !== '' ? [`${String(meta_key)}: ${String(meta_value)}`] : [];
      });
      return { columns, metas: metas.sort(), term_relationships };
    };
    const before = await stored();
    const headers = { 'X-TEC-EEA': 'yes' };
    const { body } = await ask.send('GET', `/wp-json/tec/v1/${path}`, { as: 'admin', headers });
    expectBody(await ask.send('PUT', `/wp-json/tec/v1/${path}`, { as: 'admin', body, headers }));
    expect(await stored()).toEqual(before);
  });

  it('are complete enough for a change under tec/v1, not for a new record, and an object of another form is 400', async () => {
    const headers = { 'X-TEC-EEA': 'yes' };
    const send = (method: string, path: string, body: object) => ask.send(method, path, { as: 'admin', body, headers });
    const dates = { start_date: EVENT.start_date, end_date: EVENT.end_date };
    expect((await send('POST', TEC, { ...dates, title: { rendered: 'Fair' } })).body.code).toBe('rest_missing_callback_param');
    for (const title of [{}, [], { raw: 'Fair', rendered: 'Fair' }]) expect((await send('PUT', `${TEC}/39`, { title })).status).toBe(400);
    expect(expectBody(await send('PUT', `${TEC}/39`, { title: 'Fair' })).title.rendered).toBe('Fair');
  });

  it('D37 change the cost to what only tec/v1 shows', async () => {
    const { id } = await ask.create('/events', { ...EVENT, cost: '10,50' });
    expect((await ask.update(`/events/${id}`, { cost: 'Free' })).cost).toBe('Free');
  });

  it.each(['draft', 'pending'])('D7 may have no slug: %s', async (status) => {
    const made = await ask.create('/events', { ...EVENT, status });
    expect(made.slug).toBe('');
    expect(expectBody(await ask.put(`/events/${made.id}`, made))).toMatchObject({ slug: '', status });
    expect(await ask.update(`/events/${made.id}`, { ...made, status: 'publish' })).toMatchObject({ slug: 'test-event', status: 'publish' });
    expectError(await ask.patch(`/events/${made.id}`, { slug: '' }), 400, 'rest_invalid_param', ['slug']);
    expectError(await ask.patch(`/events/${made.id}`, { slug: null }), 400, 'rest_invalid_param', ['slug']);
  });

  it.each(['/events/39', '/venues/12', '/organizers/24'])('D7 keep the image: %s', async (path) => {
    const read = await ask.read(path, 'admin');
    expect(read.image.id).toBe(10);
    expect((await ask.update(path, read)).image).toEqual(read.image);
    for (const image of [{ url: read.image.url }, { id: 'x' }, [10]])
      expectError(await ask.patch(path, { image }), 400, 'rest_invalid_param', ['image']);
  });

  it.each(['publish', 'draft'])('D1 have no website if they had none: %s', async (status) => {
    const made = await ask.create('/events', { ...EVENT, status });
    for (const home of ['', '/it']) {
      const read = expectBody(await ask.send('GET', `${home}/wp-json/calendar/events/v1/events/${made.id}`, { as: 'admin' }));
      expect(read.website).toBe(read.url);
      await ask.update(`/events/${made.id}`, read);
      expect(await ask.metaValues(made.id, '_EventURL')).toEqual([]);
    }
    const other = `${made.url}0`;
    await ask.update(`/events/${made.id}`, { website: other });
    expect(await ask.metaValues(made.id, '_EventURL')).toEqual([other]);
  });

  it('D1 keep an ampersand in the address of the website', async () => {
    const read = await ask.read('/events/44', 'admin');
    expect(read.website).toBe('https://concert.example.test/page?x=1&amp;y=2');
    await ask.update('/events/44', read);
    expect(await ask.metaValues(44, '_EventURL')).toEqual(['https://concert.example.test/page?x=1&y=2']);
  });

  it('keep custom fields, or none', async () => {
    await ask.options({});
    for (const field of [
      { name: 'seats', type: 'number', label: 'Seats' },
      { name: 'languages', type: 'checkbox', label: 'Languages', choices: ['Italian', 'German'] },
    ] as const)
      await addCustomField(ask.running().site, field);
    const { id, custom_fields: none } = await ask.create('/events', EVENT);
    expect(none).toEqual([]);
    for (const empty of [none, {}]) expect((await ask.update(`/events/${id}`, { custom_fields: empty })).custom_fields).toEqual([]);
    const filled = await ask.update(`/events/${id}`, { custom_fields: { seats: 12, languages: ['Italian', 'German'] } });
    expect(filled.custom_fields.seats).toEqual({ label: 'Seats', value: '12' });
    expect((await ask.update(`/events/${id}`, filled)).custom_fields).toEqual(filled.custom_fields);
    for (const empty of [[], {}])
      expect((await ask.update(`/events/${id}`, { custom_fields: empty })).custom_fields).toEqual(filled.custom_fields);
  });

  const TEXT = 'See <a href="https://example.org/">menu</a>, 50%20off';
  const HELD = { _ecp_custom_2: TEXT, _ecp_custom_3: 'www.example.org', _ecp_custom_4: 'Cellar', _ecp_custom_5: 'Latin|Italian' };
  const storeFields = async (): Promise<number> => {
    await ask.options({});
    for (const field of [
      { name: 'note', type: 'text', label: 'Note' },
      { name: 'stream', type: 'url', label: 'Stream' },
      { name: 'stage', type: 'choice', label: 'Stage', choices: ['Garden'] },
      { name: 'languages', type: 'checkbox', label: 'Languages', choices: ['Italian', 'German'] },
    ] as const)
      await addCustomField(ask.running().site, field);
    const { id } = await ask.create('/events', { ...EVENT, external_id: 'kept' });
    const rows = Object.entries(HELD).map(([meta_key, meta_value]) => ({ post_id: id, meta_key, meta_value }));
    await ask.writeRows((db) => db.from('postmeta').insert(rows));
    return id;
  };
  const heldFields = async (id: number) =>
    Object.fromEntries(await Promise.all(Object.keys(HELD).map(async (key) => [key, (await ask.metaValues(id, key)).join()] as const)));

  it('keep custom fields that could not be stored today', async () => {
    const id = await storeFields();
    const read = await ask.read(`/events/${id}`, 'admin');
    expect(read.custom_fields.note.value).toBe(TEXT);
    await ask.update(`/events/${id}`, read);
    expect(await heldFields(id)).toEqual(HELD);
    const texts = Object.fromEntries(Object.entries<Json>(read.custom_fields).map(([name, { value }]) => [name, value]));
    await ask.update(`/events/${id}`, { custom_fields: texts });
    expectBody(await ask.post('/events?upsert=external_id', { ...read, external_id: 'kept' }));
    const headers = { 'X-TEC-EEA': 'yes' };
    const tec = await ask.send('GET', `${TEC}/${id}`, { as: 'admin', headers });
    expectBody(await ask.send('PUT', `${TEC}/${id}`, { as: 'admin', body: { custom_fields: tec.body.custom_fields ?? texts }, headers }));
    expect(await heldFields(id)).toEqual(HELD);
    // The other fields are written as usual.
    await ask.update(`/events/${id}`, { custom_fields: { ...read.custom_fields, stage: 'Garden' } });
    expect(await heldFields(id)).toEqual({ ...HELD, _ecp_custom_4: 'Garden' });
    await ask.update(`/events/${id}`, { custom_fields: { ...texts, stage: 'Garden', note: '<b>Bring</b> boots' } });
    expect(await heldFields(id)).toEqual({ ...HELD, _ecp_custom_4: 'Garden', _ecp_custom_2: 'Bring boots' });
  });

  it('refuse the values of another record, and name the custom field', async () => {
    const id = await storeFields();
    const { custom_fields: held } = await ask.read(`/events/${id}`, 'admin');
    for (const name of ['stream', 'stage', 'languages']) {
      const custom_fields = { [name]: held[name] };
      for (const body of [custom_fields, { [name]: held[name].value }]) {
        const answer = await ask.post('/events', { ...EVENT, custom_fields: body });
        expectError(answer, 400, 'rest_invalid_param', ['custom_fields']);
        expect(answer.body.data.params.custom_fields).toMatch(
          new RegExp(`${name} must .* Received: .*${held[name].value.replace('|', '.')}`),
        );
      }
      const another = { ...EVENT, external_id: 'another', custom_fields };
      expectError(await ask.post('/events?upsert=external_id', another), 400, 'rest_invalid_param', ['custom_fields']);
      expectError(await ask.put('/events/80', { custom_fields }), 400, 'rest_invalid_param', ['custom_fields']);
    }
    expectError(await ask.put(`/events/${id}`, { custom_fields: { ...held, stage: 'Roof' } }), 400, 'rest_invalid_param', [
      'custom_fields',
    ]);
    expect(await heldFields(id)).toEqual(HELD);
  });
});
