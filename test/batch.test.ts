import { expect, it } from '@jest/globals';
import { entriesAfter, lastNumber } from '../src/storage/journal/entries.ts';
import { describeRequests, expectBody, type Json } from './support/site-client.ts';

/* Batches: several writes in one request, as accepted by WordPress's `/batch/v1`. */

const TOGETHER = { validation: 'require-all-validate' };
const EVENTS = '/calendar/events/v1/events';
const venueNamed = (venue: string) => ({ path: '/calendar/events/v1/venues', body: { venue } });
const eventNamed = (title: string, more: object = {}) => ({
  path: EVENTS,
  body: { title, start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00', ...more },
});

describeRequests('a batch', (ask) => {
  const batch = (requests: unknown, more: object = {}, as: string | null = 'admin', headers: Record<string, string> = {}) =>
    ask.send('POST', '/wp-json/batch/v1', { body: { requests, ...more }, headers, ...(as ? { as } : {}) });
  const answered = async (requests: unknown, more: object = {}): Promise<Json> => expectBody(await batch(requests, more), 207);
  const statuses = ({ responses }: Json) => responses.map((one: Json) => one?.status ?? null);

  it('carries out writes of all namespaces in order, with an answer for each', async () => {
    const { responses } = await answered([
      eventNamed('Jazz', { categories: ['New category'] }),
      { path: '/wp/v2/tribe_venue', body: { title: 'Barn', status: 'publish' } },
      { method: 'PUT', path: `${EVENTS}/38`, body: { title: 'Renamed' } },
      { method: 'PATCH', path: '/tec/v1/events/39', body: { title: 'Renamed, too' }, headers: { 'X-TEC-EEA': 'yes' } },
      { method: 'DELETE', path: '/calendar/events/v1/organizers/24' },
      { path: '/calendar/events/v1/tags?_fields=name', body: { name: 'Loud' } },
      { path: '/wp/v2/tags', body: { name: 'Quiet', _fields: 'slug,name' } },
    ]);
    expect(statuses({ responses })).toEqual([201, 201, 200, 200, 200, 201, 201]);
    const [jazz, barn, renamed, , , tag, otherTag] = responses;
    expect(jazz.body.title).toBe('Jazz');
    expect(jazz.body.categories.map((term: Json) => term.name)).toEqual(['New category']);
    expect(jazz.headers.ETag).toMatch(/^"[0-9a-f]{20}"$/);
    expect(barn.headers.Location).toContain(`/wp/v2/tribe_venue/${barn.body.id}`);
    expect(renamed.body.title).toBe('Renamed');
    expect(tag.body).toEqual({ name: 'Loud' });
    expect(otherTag.body).toEqual({ slug: 'quiet', name: 'Quiet' });
    expect((await ask.read('/events/38')).title).toBe('Renamed');
    expect((await ask.read(`/events/${jazz.body.id}`)).title).toBe('Jazz');
  });

  it.each([[{}], [{ validation: 'require-all-validate' }]])(
    'warns in each answer of what its write has left out, with %j',
    async (more) => {
      const { body } = await batch(
        [
          eventNamed('One', { titel: 'x', tags: [99_999] }),
          eventNamed('Two', { colour: 'red' }),
          { method: 'PUT', path: `${EVENTS}/38`, body: { title: 'Three', slgu: 'x' } },
          venueNamed('Four'),
        ],
        more,
      );
      expect(body.responses.map(({ headers }: Json) => headers['X-Fasti-Warning'])).toEqual([
        'unknown field: titel (did you mean title?), tags: there is no term 99999; it was left out',
        'unknown field: colour',
        'unknown field: slgu (did you mean slug?)',
        undefined,
      ]);
      const refused = await batch([{ method: 'POST', path: EVENTS, body: { titel: 'x' } }], more);
      expect(refused.body.responses[0]).toMatchObject({
        status: 400,
        headers: { 'X-Fasti-Warning': 'unknown field: titel (did you mean title?)' },
      });
    },
  );

  it.each([
    ['no object', 'x', '`requests[1]` is not an object.'],
    [
      'a method in lower case',
      { method: 'delete', path: EVENTS },
      'The `method` of `requests[1]` is none of these: POST, PUT, PATCH, DELETE.',
    ],
    ['no path', { body: {} }, 'The `path` of `requests[1]` is missing or is not a text.'],
    ['no body', { path: EVENTS, body: null }, 'The `body` of `requests[1]` is not an object.'],
    ['a number as a header', { path: EVENTS, headers: { 'If-Match': 1 } }, 'The `headers` of `requests[1]` are not an object of texts.'],
  ])('says which write is malformed: %s', async (_, malformed, sentence) => {
    const { status, body } = await batch([venueNamed('Barn'), malformed]);
    expect([status, body.code, body.data.params.requests]).toEqual([400, 'rest_invalid_param', expect.stringContaining(sentence)]);
  });

  it('rolls back a write that is refused, and carries out the others', async () => {
    const before = await ask.db().from('posts').select('ID');
    const body = await answered([venueNamed('First'), { path: EVENTS, body: { title: 'No date' } }, venueNamed('Second')]);
    expect(statuses(body)).toEqual([201, 400, 201]);
    expect(body.responses[1].body).toMatchObject({ code: 'rest_missing_callback_param', data: { status: 400 } });
    expect(await ask.db().from('posts').select('ID')).toHaveLength(before.length + 2);
  });

  it('rolls back everything that a refused write had already done', async () => {
    const before = await ask.allRows();
    // The subscriber may not create records: nested new records are refused after the parameters were checked.
    const body = expectBody(await batch([eventNamed('Refused', { venue: { venue: 'Brought' } })], {}, 'sub'), 207);
    expect(statuses(body)).toEqual([403]);
    expect(await ask.allRows()).toEqual(before);
  });

  it('adds no journal entries for writes that were rolled back', async () => {
    const before = await lastNumber(ask.db());
    const failing = { ...eventNamed('Undone', { venue: { venue: 'Brought' }, status: 'publish' }), headers: {} };
    const body = await answered([
      venueNamed('First'),
      { ...failing, path: `${EVENTS}?upsert=slug`, body: { ...failing.body, slug: 'x', external_id: 'taken' } },
      { ...failing, path: EVENTS, body: { ...failing.body, external_id: 'taken' } },
    ]);
    expect(statuses(body)).toEqual([201, 201, 400]);
    const entries = (await entriesAfter(ask.db(), before, 100)).entries.filter(({ kind }) => kind === 'post');
    const ids = entries.map(({ object }) => object);
    expect((await ask.db().from('posts').whereIn('ID', ids).select('ID')).length).toBe(new Set(ids).size);
    expect(ids).toContain(body.responses[0].body.id);
  });

  it.each([
    ['whose parameters are refused', { path: EVENTS, body: { title: 'No date' } }, 400],
    ['that is refused as it runs', { method: 'PUT', path: `${EVENTS}/38`, body: { title: 'x' }, headers: { 'If-Match': '"0"' } }, 412],
    ['of a route that there is not', { path: '/wp/v2/none' }, 404],
  ])('writes nothing with require-all-validate if one of the writes is %s', async (_, faulty, status) => {
    const before = await ask.allRows();
    const body = await answered([venueNamed('First'), faulty, venueNamed('Last')], TOGETHER);
    expect({ failed: body.failed, statuses: statuses(body) }).toEqual({ failed: 'validation', statuses: [null, status, null] });
    expect(await ask.allRows()).toEqual(before);
  });

  it('writes everything with require-all-validate if no write is refused', async () => {
    const body = await answered([venueNamed('First'), eventNamed('Second')], TOGETHER);
    expect({ failed: body.failed, statuses: statuses(body) }).toEqual({ failed: undefined, statuses: [201, 201] });
  });

  const tagNames = (from: number, count: number) => Array.from({ length: count }, (_, index) => `tag ${from + index}`);

  it.each([
    ['each on its own', {}, [201, 201, 201, 201, 201, 201, 201, 400, 201]],
    ['all together', TOGETHER, [null, null, null, null, null, null, null, 400, null]],
  ])('creates at most 300 categories and tags: %s', async (_, more, expected) => {
    const known = tagNames(0, 40);
    const requests = [0, 40, 80, 120, 160, 200, 240].map((from) => eventNamed(`Event ${from}`, { tags: tagNames(from, 40) }));
    const body = await answered(
      [
        ...requests,
        eventNamed('Too many', { tags: tagNames(280, 21) }),
        eventNamed('Just enough', { tags: [...known, ...tagNames(280, 20)] }),
      ],
      more,
    );
    expect(statuses(body)).toEqual(expected);
    expect(body.responses[7].body.data.params.tags).toContain('At most 300 of these can be created in one request.');
    expect(await ask.db().from('terms').where('name', 'tag 300')).toEqual([]);
  });

  it('answers both of two equal writes with the same key, though the first has deleted the record', async () => {
    const id = (await answered([eventNamed('Gone')])).responses[0].body.id;
    const keyed = { method: 'DELETE', path: `/wp/v2/tribe_events/${id}?force=true`, headers: { 'Idempotency-Key': 'gone' } };
    for (const more of [{}, TOGETHER]) {
      const body = await answered([keyed, keyed], more);
      expect(statuses(body)).toEqual([200, 200]);
      expect(body.responses[1].headers['Idempotency-Replayed']).toBe('true');
    }
  });

  it('applies the conditions and the key of each write', async () => {
    const { headers } = await ask.get('/events/38', 'admin');
    const keyed = { ...venueNamed('Once'), headers: { 'Idempotency-Key': ['k1'] } };
    const body = await answered([
      { method: 'PUT', path: `${EVENTS}/38`, body: { title: 'First' }, headers: { 'If-Match': String(headers.etag) } },
      { method: 'PUT', path: `${EVENTS}/38`, body: { title: 'Second' }, headers: { 'If-Match': String(headers.etag) } },
      keyed,
    ]);
    expect(statuses(body)).toEqual([200, 412, 201]);
    const again = await answered([keyed]);
    expect(again.responses[0].body.id).toBe(body.responses[2].body.id);
    expect(again.responses[0].headers['Idempotency-Replayed']).toBe('true');
  });

  it('is carried out once if it is repeated with the same key', async () => {
    const requests = [venueNamed('Once for all')];
    const [first, second] = [
      await batch(requests, {}, 'admin', { 'Idempotency-Key': 'b' }),
      await batch(requests, {}, 'admin', { 'Idempotency-Key': 'b' }),
    ];
    expect(expectBody(second, 207)).toEqual(expectBody(first, 207));
    expect(second.headers['idempotency-replayed']).toBe('true');
  });

  const UNMET = { method: 'DELETE', path: `${EVENTS}/38`, headers: { 'If-Match': '"0"' } };
  it.each([
    ['all together', TOGETHER, [eventNamed('With a venue', { categories: ['Late'] }), UNMET], 'admin'],
    ['each on its own', {}, [UNMET, { method: 'PUT', path: `${EVENTS}/38`, body: { start_date: 'never' } }], 'admin'],
    ['none accepted', {}, [{ path: 'no path' }], 'admin'],
    ['of an anonymous caller', {}, [eventNamed('Nobody’s'), { path: 'no path' }], null],
  ])('may be repeated with the same key if nothing was written: %s', async (_, more, requests, as) => {
    const keptAnswers = () => ask.db().from('fasti_answers').orderBy('id');
    const before = await keptAnswers();
    for (let time = 0; time < 2; time += 1) {
      const { status, body, headers } = await batch(requests, more, as, { 'Idempotency-Key': 'undone' });
      expect([status, headers['idempotency-replayed']]).toEqual([207, undefined]);
      expect(body.responses.filter((one: Json) => one && one.status < 400)).toEqual([]);
    }
    expect(await keptAnswers()).toEqual(before);
  });

  it('refuses the writes of an anonymous caller with 401', async () => {
    const body = expectBody(await batch([{ method: 'PUT', path: `${EVENTS}/38`, body: { title: 'x' } }], {}, null), 207);
    expect(statuses(body)).toEqual([401]);
  });

  it('begins no transaction for an anonymous caller', async () => {
    const statements: string[] = [];
    const stop = ask.db().driver.listen(({ sql }) => statements.push(sql));
    for (const more of [{}, TOGETHER]) {
      const body = expectBody(await batch([eventNamed('One'), venueNamed('Two')], more, null, { 'Idempotency-Key': 'none' }), 207);
      expect(statuses(body)).toEqual([401, 401]);
    }
    stop();
    expect(statements.filter((sql) => !/^\s*(?:SELECT|PRAGMA)/i.test(sql))).toEqual([]);
  });

  it.each([
    ['/wp/v2/media', 'rest_batch_not_allowed'],
    ['/wp/v2/users/me/application-passwords', 'rest_batch_not_allowed'],
    ['/batch/v1', 'rest_batch_not_allowed'],
    ['no path', 'parse_path_failed'],
    ['/wp/v2/tags?name=Caf%E9', 'rest_invalid_encoding'],
  ])('refuses a write to %s', async (path, code) => {
    const { responses } = await answered([{ path, body: { name: 'x', requests: [] } }]);
    expect(responses[0]).toMatchObject({ status: 400, body: { code } });
  });

  it.each([
    [undefined, 'rest_missing_callback_param'],
    [Array.from({ length: 101 }, () => venueNamed('x')), 'rest_invalid_param'],
    [[{ path: '/x', method: 'GET' }], 'rest_invalid_param'],
    [[{ method: 'POST' }], 'rest_invalid_param'],
    ['text', 'rest_invalid_param'],
  ])('refuses a body that is not a list of writes: %#', async (requests, code) => {
    const answer = await batch(requests);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code });
  });

  it('is described as WordPress describes it', async () => {
    const described = expectBody(await ask.send('OPTIONS', '/wp-json/batch/v1', {}));
    expect(described).toMatchObject({ namespace: '', methods: ['POST'] });
    expect(described.endpoints[0].args.requests).toMatchObject({ type: 'array', maxItems: 100, required: true });
    const index = expectBody(await ask.send('GET', '/wp-json/', {}));
    expect(index.routes['/batch/v1'].endpoints).toEqual(described.endpoints);
    expect(index.namespaces).not.toContain('batch/v1');
  });

  it('costs one BEGIN and one COMMIT', async () => {
    const { db } = ask.running().site;
    const costOf = async (writes: number) => {
      const before = db.queries();
      await answered(Array.from({ length: writes }, (_, place) => eventNamed(`Many ${writes} ${place}`)));
      return db.queries() - before;
    };
    await costOf(1);
    const each = (await costOf(21)) - (await costOf(20));
    // One query for the event's row; all other rows are written together.
    expect(each).toBe(1);
  });
});
