import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { tecRoutes } from '../../src/http/companion/tec.ts';
import { tecDocument } from '../../src/http/companion/tec-document.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { callerOf, describedSite, fullCallerOf, routes } from './describing.ts';

interface Operation {
  readonly parameters: Record<string, unknown>[];
  readonly responses: Record<string, { content?: Record<string, { schema: unknown }>; headers?: Record<string, unknown> }>;
  readonly requestBody?: { content: Record<string, { schema: { properties: Record<string, unknown>; required?: string[] } }> };
}
interface Document {
  readonly openapi: string;
  readonly servers: { url: string }[];
  readonly paths: Record<string, Record<string, Operation> & { servers?: unknown }>;
  readonly components: {
    schemas: Record<string, { properties?: Record<string, { type?: string }>; required?: string[] }>;
    parameters: Record<string, unknown>;
  };
}

const site = await describedSite();
const documentIn = (language: string) => openApiDocument(site, callerOf({ language }), routes) as unknown as Document;
const english = documentIn('en');
const newerRoutes = tecRoutes();
/** The documents of all interfaces, of a usual site and of one with languages, custom fields and recurring events. */
const documents = {
  'the calendar': () => documentIn('en'),
  'the calendar in Italian': () => documentIn('it'),
  'the calendar with languages': () => openApiDocument(site, fullCallerOf(), routes),
  'the newer calendar': () => tecDocument(site, callerOf(), newerRoutes),
  'the newer calendar with languages': () => tecDocument(site, fullCallerOf({ language: 'it' }), newerRoutes),
};
const parametersOf = (path: string, method: string) =>
  Object.fromEntries(english.paths[path]![method]!.parameters.map((parameter) => [parameter.name, parameter]));
const schemaTypes = (name: string) =>
  Object.fromEntries(Object.entries(english.components.schemas[name]!.properties ?? {}).map(([member, { type }]) => [member, type]));

describe('OpenAPI document', () => {
  it.each(Object.entries(documents))('is valid for %s', async (_, made) => {
    const result = await new Validator().validate(structuredClone(made()) as unknown as Record<string, unknown>);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
  });
  it('has no dangling references', () => {
    const references = [...JSON.stringify(english).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(100);
    for (const [, section, name] of references) expect(english.components).toHaveProperty([section!, name!]);
  });
  it('contains every route with every method', () => {
    const served = routes.flatMap(({ pattern, endpoints }) =>
      endpoints.flatMap(({ methods }) => methods.map((method) => `${method} ${pattern.replace(/\(\?P<(\w+)>[^)]*\)/g, '{$1}') || '/'}`)),
    );
    const told = Object.entries(english.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== 'servers')
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(told.sort()).toEqual(served.sort());
  });
  it('declares the headers of each successful write', () => {
    const declared = Object.entries(english.paths).flatMap(([path, { servers: _, ...methods }]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.entries(responses)
          .filter(([status, { content }]) => status.startsWith('2') && content)
          .map(([, { headers = {} }]) => [`${method} ${path}`, Object.keys(headers).filter((name) => name !== 'ETag')]),
      ),
    );
    const expected = declared.map(([operation = '']) => {
      const [method] = (operation as string).split(' ');
      return [operation, method === 'get' ? [] : ['Idempotency-Replayed', ...(method === 'delete' ? [] : ['X-Fasti-Warning'])]];
    });
    expect(declared.length).toBeGreaterThan(50);
    expect(declared).toEqual(expected);
  });
  it('is in the language of the request', () => {
    expect(documentIn('it')).toHaveProperty('info.title', 'Calendario degli eventi');
    expect(documentIn('it').paths['/events']!.get).toHaveProperty('summary', 'Elenca gli eventi.');
  });
  it('gives each path its actual server URL', () =>
    expect(english.paths['/events']!.servers).toEqual([{ url: 'https://example.com:8443/town/wp-json/calendar/events/v1' }]));
});

describe('OpenAPI document for clients generated from the reference', () => {
  it('has the OpenAPI version and the server URL of the reference', () => {
    expect(english.openapi).toBe('3.0.0');
    expect(english.servers).toEqual([{ url: 'https://example.com/wp-json/calendar/events/v1/' }]);
  });
  it.each([
    ['DateDetails', { year: 'integer', seconds: 'integer' }],
    ['CostDetails', { currency_symbol: 'string', 'currency_position ': 'string', values: 'array' }],
    ['ImageSize', { width: 'integer', 'mime-type': 'string', url: 'string' }],
    ['Image', { id: 'integer', sizes: 'array' }],
    ['Term', { id: 'integer', name: 'string', urls: 'array' }],
    [
      'Event',
      {
        author: 'integer',
        image: 'object',
        all_day: 'boolean',
        start_date_details: 'array',
        cost_details: 'array',
        categories: 'array',
        venue: 'object',
        organizer: 'array',
      },
    ],
    ['Venue', { author: 'integer', image: 'string', show_map: 'boolean', geo_lat: 'number' }],
    ['Organizer', { author: 'integer', organizer: 'string', image: 'string', email: 'string' }],
  ])('keeps the property types of %s', (name, types) => expect(schemaTypes(name)).toMatchObject(types));
  it('declares the password among the path parameters, although it belongs to the query', () => {
    expect(parametersOf('/events/{id}', 'get').password).toEqual({
      $ref: '#/components/parameters/password',
      name: 'password',
      in: 'path',
      required: false,
    });
    expect(english.components.parameters.password).toMatchObject({ in: 'query', required: false });
  });
  it.each(['/organizers/{id}', '/categories/{id}'])('names the id in the body of %s', (path) =>
    expect(english.paths[path]!.post!.requestBody!.content['application/x-www-form-urlencoded']!.schema.properties).toHaveProperty('id'),
  );
  it.each([
    ['/events', 'get', ['200', '400', '404']],
    ['/events/{id}', 'get', ['200', '400', '403', '404']],
    ['/events/{id}', 'post', ['200', '201', '400', '403']],
    ['/venues/by-slug/{slug}', 'delete', ['200', '400', '403', '410', '500']],
    ['/organizers/{id}', 'post', ['201', '400', '403']],
    ['/tags/{id}', 'delete', ['200', '400', '403', '410', '500']],
    ['/doc', 'get', ['200']],
  ])('declares for %s %s the statuses of the reference', (path, method, statuses) =>
    expect(Object.keys(english.paths[path]![method]!.responses)).toEqual(expect.arrayContaining(statuses)),
  );
});

describe('OpenAPI document for other clients', () => {
  it('describes the actual types of responses', () => {
    expect(schemaTypes('EventRecord')).toMatchObject({ author: 'string', cost: 'string', all_day: 'boolean' });
    expect(schemaTypes('DateDetailsRecord')).toEqual({
      year: 'string',
      month: 'string',
      day: 'string',
      hour: 'string',
      minutes: 'string',
      seconds: 'string',
    });
    expect(english.paths['/events/{id}']!.get!.responses['200']!.content!['application/json']!.schema).toEqual({
      $ref: '#/components/schemas/EventRecord',
    });
  });
  it('describes the stream of changes as one', () => {
    const { responses, parameters } = english.paths['/changes/stream']!.get!;
    expect(Object.keys(responses['200']!.content!)).toEqual(['text/event-stream']);
    expect(parameters.map(({ name }) => name)).toEqual(expect.arrayContaining(['since', 'kinds', 'include', 'limit', 'Last-Event-ID']));
  });
  it('describes a list by its members', () =>
    expect(english.paths['/venues']!.get!.responses['200']!.content!['application/json']!.schema).toMatchObject({
      properties: { venues: { type: 'array', items: { $ref: '#/components/schemas/VenueRecord' } }, total_pages: { type: 'integer' } },
      required: ['venues', 'rest_url', 'total', 'total_pages'],
    }));
  it('requires the mandatory fields for a new record and none for a change', () => {
    const bodyOf = (path: string, method: string) => english.paths[path]![method]!.requestBody!.content['application/json']!.schema;
    expect(bodyOf('/events', 'post').required).toEqual(['title', 'start_date', 'end_date']);
    expect(bodyOf('/events/{id}', 'patch').required).toBeUndefined();
  });
  it('has the new slug of an event in the body and the old one in the path', () => {
    expect(parametersOf('/events/by-slug/{slug}', 'put').slug).toMatchObject({ in: 'path', required: true });
    expect(english.paths['/events/by-slug/{slug}']!.put!.requestBody!.content['application/json']!.schema.properties).toHaveProperty(
      'slug',
    );
  });
  it('declares lists in a query as comma-separated', () =>
    expect(parametersOf('/events', 'get').include).toMatchObject({
      in: 'query',
      style: 'form',
      explode: false,
      schema: { type: 'array' },
    }));
  it('has a single type for each value, as OpenAPI 3.0 requires', () => expect(JSON.stringify(english)).not.toContain('"type":['));
});
