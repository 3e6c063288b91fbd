import { beforeAll, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { describeRequests, expectBody, type Json, type UserName } from './support/site-client.ts';

/*
 * The OpenAPI document is correct: every answer of a plan that covers each route and method, with successes and errors,
 * matches what `/doc` says of that route, method and status.
 */

const EVENT = { title: 'New', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' };
const FULL_EVENT = {
  ...EVENT,
  description: 'Text',
  excerpt: 'Short',
  image: 10,
  cost: '5 - 10',
  website: 'https://example.org',
  venue: [12, { venue: 'Barn' }],
  organizer: [24, { organizer: 'Farmers' }],
  categories: [3, 5],
  tags: [11],
  featured: true,
  sticky: true,
  all_day: true,
};
const FULL_VENUE = {
  venue: 'New',
  description: 'Text',
  address: 'Via Roma 1',
  city: 'Asti',
  country: 'Italy',
  province: 'AT',
  state: 'Piedmont',
  zip: '14100',
  phone: '1',
  website: 'https://example.org',
  image: 11,
  geo_lat: 44.9,
  geo_lng: 8.2,
};

type Step = readonly [method: string, path: string, status: number, as?: UserName, body?: object];

const posts = (
  path: string,
  {
    id,
    draft,
    trashed,
    slug,
    draftSlug,
    trashedSlug,
    body,
    full,
    missing,
  }: {
    id: number;
    draft: number;
    trashed: number;
    slug: string;
    draftSlug?: string;
    trashedSlug: string;
    body: object;
    full: object;
    missing: number;
  },
): Step[] => [
  ['GET', path, 200],
  ['GET', `${path}?per_page=50`, 200, 'admin'],
  ['GET', `${path}?per_page=2&page=2`, 200],
  ['GET', `${path}?search=nothing+of+this+kind`, 200],
  ['GET', `${path}?per_page=0`, 400],
  ['GET', `${path}?page=999`, 404],
  ['POST', path, 201, 'admin', body],
  ['POST', path, 201, 'admin', full],
  ['POST', path, 201, 'contrib', { ...body, status: 'publish' }],
  ['POST', path, 400, 'admin', {}],
  ['POST', path, 400, 'admin', { ...body, author: 'nobody' }],
  ['POST', path, 401, undefined, body],
  ['POST', path, 403, 'sub', body],
  ['POST', path, 403, 'auth', { ...body, author: 1 }],
  ['GET', `${path}/${id}`, 200],
  ['GET', `${path}/${id}`, 200, 'admin'],
  ['GET', `${path}/${draft}`, 200, 'admin'],
  ['GET', `${path}/${draft}`, 403],
  ['GET', `${path}/999999`, missing],
  ['GET', `${path}/38`, path === '/events' ? 200 : 400],
  ...(['POST', 'PUT', 'PATCH'] as const).flatMap((method): Step[] => [
    [method, `${path}/${id}`, 200, 'admin', full],
    [method, `${path}/${id}`, 200, 'admin', {}],
    [method, `${path}/${id}`, 400, 'admin', { author: null }],
    [method, `${path}/${id}`, 401, undefined, {}],
    [method, `${path}/${id}`, 403, 'contrib', {}],
    [method, `${path}/999999`, missing, 'admin', {}],
    [method, `${path}/by-slug/${slug}`, 200, 'admin', { description: 'Other' }],
    [method, `${path}/by-slug/${slug}`, 400, 'admin', { status: 'inherit' }],
    [method, `${path}/by-slug/${slug}`, 401, undefined, {}],
    [method, `${path}/by-slug/${slug}`, 403, 'contrib', {}],
    [method, `${path}/by-slug/nothing`, missing, 'admin', {}],
  ]),
  ['DELETE', `${path}/${id}`, 200, 'admin'],
  ['DELETE', `${path}/${id}`, 401],
  ['DELETE', `${path}/${id}`, 403, 'contrib'],
  ['DELETE', `${path}/${trashed}`, 410, 'admin'],
  ['DELETE', `${path}/999999`, missing, 'admin'],
  ['GET', `${path}/by-slug/${slug}`, 200],
  ['GET', `${path}/by-slug/nothing`, 400],
  ...(draftSlug ? ([['GET', `${path}/by-slug/${draftSlug}`, 403]] as Step[]) : []),
  ['DELETE', `${path}/by-slug/${slug}`, 200, 'admin'],
  ['DELETE', `${path}/by-slug/${slug}`, 401],
  ['DELETE', `${path}/by-slug/${slug}`, 403, 'contrib'],
  ['DELETE', `${path}/by-slug/${trashedSlug}`, 410, 'admin'],
  ['DELETE', `${path}/by-slug/nothing`, 400, 'admin'],
];

const terms = (path: string, id: number): Step[] => [
  ['GET', path, 200],
  ['GET', `${path}?hide_empty=0&per_page=50`, 200, 'admin'],
  ['GET', `${path}?page=99`, 200],
  ['GET', `${path}?per_page=2&page=2`, 200],
  ['GET', `${path}?event=999999`, 400],
  ['POST', path, 201, 'admin', { name: 'New' }],
  ['POST', path, 201, 'admin', { name: 'Other', description: 'Text', slug: 'some-slug', ...(path === '/categories' ? { parent: 4 } : {}) }],
  ['POST', path, 400, 'admin', {}],
  ['POST', path, 400, 'admin', { name: path === '/tags' ? 'Family' : 'Sport' }],
  ['POST', path, 401, undefined, { name: 'New' }],
  ['POST', path, 403, 'contrib', { name: 'New' }],
  ['GET', `${path}/${id}`, 200],
  ['GET', `${path}/${id}`, 200, 'admin'],
  ['GET', `${path}/999999`, 400],
  ...(['POST', 'PUT', 'PATCH'] as const).flatMap((method): Step[] => [
    [method, `${path}/${id}`, 200, 'admin', { name: 'Renamed', description: 'Text' }],
    [method, `${path}/${id}`, 200, 'admin', {}],
    [method, `${path}/${id}`, 400, 'admin', { name: '' }],
    [method, `${path}/${id}`, 400, 'admin', { slug: path === '/tags' ? 'outdoor' : 'music' }],
    [method, `${path}/${id}`, 401, undefined, {}],
    [method, `${path}/${id}`, 403, 'contrib', {}],
    [method, `${path}/999999`, 400, 'admin', {}],
  ]),
  ['DELETE', `${path}/${id}`, 200, 'admin'],
  ['DELETE', `${path}/${id}`, 401],
  ['DELETE', `${path}/${id}`, 403, 'contrib'],
  ['DELETE', `${path}/999999`, 400, 'admin'],
];

/** The webhook that the first step creates. */
const HOOK = '/webhooks/1';
const webhooks: readonly Step[] = [
  ['GET', '/webhooks', 200, 'admin'],
  ['GET', '/webhooks', 401],
  ['GET', '/webhooks', 403, 'ed'],
  ['POST', '/webhooks', 201, 'admin', { url: 'https://example.org/hook', kinds: ['event'], user: 2 }],
  ['POST', '/webhooks', 400, 'admin', { url: 'ftp://example.org' }],
  ['POST', '/webhooks', 403, 'ed', { url: 'https://example.org/hook' }],
  ...(['POST', 'PUT', 'PATCH'] as const).flatMap((method): Step[] => [
    [method, HOOK, 200, 'admin', { state: 'paused', kinds: [] }],
    [method, HOOK, 400, 'admin', { state: 'off' }],
    [method, HOOK, 403, 'ed', {}],
    [method, '/webhooks/999', 404, 'admin', {}],
  ]),
  ...(
    [
      ['GET', HOOK],
      ['POST', `${HOOK}/test`],
      ['POST', `${HOOK}/retry`],
      ['GET', `${HOOK}/deliveries`],
      ['DELETE', HOOK],
    ] as const
  ).flatMap(([method, path]): Step[] => [
    [method, path, 200, 'admin'],
    [method, path, 401],
    [method, path, 403, 'ed'],
    [method, path.replace('1', '999'), 404, 'admin'],
  ]),
];

const PLAN: readonly Step[] = [
  ['GET', '', 200],
  ['GET', '?namespace=nothing', 404],
  ['GET', '?translation_language=fr', 400],
  ['GET', '/doc', 200],
  ['GET', '/doc?translation_language=it', 200],
  ['GET', '/doc?translation_language=fr', 400],
  ['GET', '/events?start_date=2019-01-01&end_date=2040-01-01&per_page=50', 200],
  ['GET', '/events?start_date=2019-01-01&end_date=2040-01-01&per_page=20&page=2', 200, 'ed'],
  ['GET', '/events?include=73', 200],
  ['GET', '/events?include=68', 200],
  ['GET', '/events/39', 200],
  ['POST', '/events/39/dates', 409, 'admin', { start_date: '2031-07-01 18:00:00', end_date: '2031-07-01 20:00:00' }],
  ['GET', '/events/55?translation_language=it', 200],
  ['GET', '/events/68', 200],
  ['GET', '/events/73', 403],
  ['GET', '/events/73?password=opensesame', 200],
  ['GET', '/events/77', 200],
  ['GET', '/events/86', 403],
  ['GET', '/events/12', 400],
  ['PATCH', '/events/12', 400, 'admin', {}],
  ['DELETE', '/events/12', 400, 'admin'],
  ['PATCH', '/events/86', 200, 'admin', { status: 'draft' }],
  ...posts('/events', {
    id: 40,
    draft: 82,
    trashed: 86,
    slug: 'spring-fair',
    trashedSlug: 'trashed-event__trashed',
    body: EVENT,
    full: FULL_EVENT,
    missing: 404,
  }),
  ['POST', '/events?upsert=slug', 200, 'admin', { ...EVENT, slug: 'spring-fair' }],
  ['POST', '/events?upsert=slug', 201, 'admin', { ...EVENT, slug: 'not-there-yet' }],
  ['GET', '/venues/22', 200],
  ['GET', '/venues/22?password=venuepass', 200],
  ...posts('/venues', {
    id: 12,
    draft: 18,
    trashed: 20,
    slug: 'teatro-rossi',
    draftSlug: 'draft-venue',
    trashedSlug: 'trashed-venue__trashed',
    body: { venue: 'New' },
    full: FULL_VENUE,
    missing: 400,
  }),
  ['GET', '/organizers/30', 200],
  ...posts('/organizers', {
    id: 24,
    draft: 29,
    trashed: 31,
    slug: 'acme-events',
    draftSlug: 'draft-organizer',
    trashedSlug: 'trashed-organizer__trashed',
    body: { organizer: 'New' },
    full: { organizer: 'New', description: 'Text', phone: '1', website: 'https://example.org', email: 'a@example.org', image: 10 },
    missing: 400,
  }),
  ...terms('/categories', 4),
  ['POST', '/categories', 400, 'admin', { name: 'x', parent: 999 }],
  ...terms('/tags', 12),
  ['POST', '/tags', 400, 'admin', { name: 'x', parent: 11 }],
  ['GET', '/changes?include=records', 200],
  ['GET', '/changes?since=x', 400],
  ['GET', '/changes/stream?since=x', 400],
  ...webhooks,
  ['POST', '/batch/v1', 207, 'admin', { requests: [{ path: '/calendar/events/v1/venues', body: { venue: 'New' } }] }],
  ['POST', '/batch/v1', 400, 'admin', { requests: [{}] }],
];

/** The document also describes one route outside the namespace. */
const addressOf = (path: string): string => `/wp-json${path === '/batch/v1' ? '' : '/calendar/events/v1'}${path}`;

const VALID = { en: 'calendar/events/v1', it: 'tribe/events/v1' } as const;
const templateOf = (path: string) =>
  path
    .replace(/\?.*$/, '')
    .replace(/\/by-slug\/[^/]+$/, '/by-slug/{slug}')
    .replace(/\/\d+(?=\/(?:dates|test|retry|deliveries)$|$)/, '/{id}') || '/';

describeRequests('the OpenAPI document', (ask) => {
  let document: Json;
  let ajv: Ajv;
  const compiled = new Map<string, ValidateFunction>();
  beforeAll(async () => {
    document = await ask.read('/doc');
    ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema(document, 'doc');
  });

  /** Returns the validator for a response, which may be a reference to a shared component. */
  function validator(path: string, method: string, status: number): ValidateFunction | undefined {
    const pointer = (...names: string[]) =>
      `doc#/${names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    const response = document.paths[path]?.[method]?.responses?.[status];
    const name = response?.$ref?.split('/').pop();
    const place = name ? ['components', 'responses', name] : ['paths', path, method, 'responses', String(status)];
    const held = name ? document.components.responses[name] : response;
    if (!held?.content?.['application/json']?.schema) return undefined;
    const $ref = pointer(...place, 'content', 'application/json', 'schema');
    const known = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, known);
    return known;
  }

  it.each(PLAN.map(([method, path, status, as, body]) => [method, path, as ?? 'nobody', status, body] as const))(
    'describes the answer to %s %s for %s: %d',
    async (method, path, who, status, body) => {
      const answer = await ask.send(method, addressOf(path), {
        ...(who === 'nobody' ? {} : { as: who }),
        body: body ?? null,
      });
      expectBody(answer, status);
      const validate = validator(templateOf(path), method.toLowerCase(), status);
      expect({ documented: validate !== undefined }).toEqual({ documented: true });
      validate!(answer.body);
      expect(validate!.errors ?? []).toEqual([]);
      expect(answer.headers['content-type']).toBe('application/json; charset=UTF-8');
    },
  );

  it.each([
    ['POST', '/events', 422, EVENT],
    ['POST', '/tags', 422, { name: 'Keyed' }],
    ['PATCH', '/events/40', 412, {}],
    ['PUT', '/venues/by-slug/teatro-rossi', 412, {}],
    ['DELETE', '/organizers/24', 412, undefined],
    ['POST', '/categories/4', 412, {}],
    ['POST', '/venues', 409, { venue: 'Keyed' }],
    ['POST', '/events?upsert=slug', 412, { ...EVENT, slug: 'spring-fair' }],
    ['POST', '/webhooks', 422, { url: 'https://example.org/hook' }],
    ['POST', '/batch/v1', 422, { requests: [{ path: '/calendar/events/v1/venues', body: { venue: 'New' } }] }],
  ] as const)('describes the answer to %s %s with a key or a condition: %d', async (method, path, status, body) => {
    const send = (headers: Record<string, string>, sent: object | undefined = body) =>
      ask.send(method, addressOf(path), { as: 'admin', body: sent ?? null, headers });
    const key = { 'Idempotency-Key': `${method} ${path}` };
    const answer =
      status === 412
        ? await send({ 'If-Match': '"stale"' })
        : status === 422
          ? await send(key).then(() => send(key, { ...body, description: 'Other' }))
          : await ask.db().transaction(async (db) => {
              await db.change`UPDATE {fasti_changes} SET counter = counter + 1 WHERE id = 1`;
              return Promise.race([send(key), send(key)]);
            });
    expectBody(answer, status);
    const validate = validator(templateOf(path), method.toLowerCase(), status);
    expect({ documented: validate !== undefined }).toEqual({ documented: true });
    validate!(answer.body);
    expect(validate!.errors ?? []).toEqual([]);
    const named = (document.paths[templateOf(path)][method.toLowerCase()].parameters as Json[]).map(({ $ref }) => $ref);
    expect(named).toContain('#/components/parameters/IdempotencyKey');
    if (status === 412) expect(named).toContain('#/components/parameters/IfMatch');
  });

  it.each(PLAN.filter(([method]) => method === 'GET').map(([, path]) => path))(
    'describes the answer to GET %s with wrong credentials',
    async (path) => {
      const { status, body } = await ask.send('GET', `/wp-json/calendar/events/v1${path}`, {
        headers: { Authorization: `Basic ${btoa('admin:wrong')}` },
      });
      const validate = validator(templateOf(path), 'get', status);
      expect({ status, documented: validate !== undefined }).toEqual({ status: expect.any(Number), documented: true });
      expect([401, 429]).toContain(status);
      validate!(body);
      expect(validate!.errors ?? []).toEqual([]);
    },
  );

  /**
   * A success of these is tested elsewhere: a stream does not end (`test/change-stream.test.ts`), and a date needs
   * recurring events (`test/recurrence.test.ts`).
   */
  const TESTED_ELSEWHERE = ['POST /events/{id}/dates', 'GET /changes/stream'];

  it('is compared with a success and an error of every route and method', () => {
    const told = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== 'servers')
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    const planned = (test: (status: number) => boolean) =>
      new Set(PLAN.filter(([, , status]) => test(status)).map(([method, path]) => `${method} ${templateOf(path)}`));
    expect(told.length).toBeGreaterThan(40);
    expect(told.filter((route) => !planned((status) => status < 300).has(route))).toEqual(TESTED_ELSEWHERE);
    expect(told.filter((route) => !planned((status) => status >= 400).has(route))).toEqual([]);
  });

  it('lists every member of the records', async () => {
    const shapes = [
      ['/events/39', 'EventRecord'],
      ['/venues/12', 'VenueRecord'],
      ['/organizers/24', 'OrganizerRecord'],
    ] as const;
    for (const [path, name] of shapes) {
      const record = await ask.read(path);
      const told = Object.keys(document.components.schemas[name].properties);
      expect(Object.keys(record).filter((member) => !told.includes(member))).toEqual([]);
    }
    const term = await ask.read('/categories/4');
    expect(Object.keys(term).filter((member) => !(member in document.components.schemas.TermRecord.properties))).toEqual([]);
  });

  it('rejects answers that do not match it', () => {
    const validate = validator('/events/{id}', 'get', 200)!;
    expect(validate({ id: 'text' })).toBe(false);
    expect(validator('/events', 'get', 400)!({ code: 1 })).toBe(false);
  });

  it.each(Object.entries(VALID))('is a valid OpenAPI document in the language %s, namespace %s', async (language, namespace) => {
    const held = expectBody(await ask.send('GET', `/wp-json/${namespace}/doc?translation_language=${language}`));
    const result = await new Validator().validate(held);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    const empty = JSON.stringify(held).match(/"description":""/g);
    expect(empty).toBeNull();
  });
});
