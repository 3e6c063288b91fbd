import type { Param } from '../../kinds/param.ts';
import type { Caller } from '../../records/caller.ts';
import { restUrl } from '../../wordpress/links.ts';
import { tableOf } from '../../wordpress/table.ts';
import { type Described, paramTextKeys, selectorsOf } from '../describe.ts';
import {
  answerHeaders,
  headerParameters,
  headersGiven,
  headersOfProblem,
  headersTaken,
  statusesAtAnyTime,
  statusesOfWriting,
  targetOf,
} from '../described-writes.ts';
import type { ServedEndpoint, ServedRoute } from '../endpoint.ts';
import { type Endpoint, type Method, type Route, templateOf } from '../route.ts';

type Json = Record<string, unknown>;
type Say = (key: string | readonly string[]) => string;

/** Schema names of the records, by kind. */
const SCHEMA_NAMES: ReadonlyMap<string, string> = tableOf({ event: 'Event', venue: 'Venue', organizer: 'Organizer' });

/**
 * Returns the OpenAPI document of the calendar's newer API (`tec/v1/docs`), from its routes, in the caller's language.
 */
export function tecDocument(site: Described, caller: Caller, routes: readonly ServedRoute[]): Json {
  const say: Say = (key) => site.texts.t(caller.language, key);
  return {
    openapi: '3.0.4',
    info: {
      title: say('site:doc-title'),
      version: '1.0.0',
      description: say('site:doc-description'),
      contact: { name: caller.settings.name || caller.home, url: caller.home },
    },

    components: {
      schemas: schemas(),
      parameters: { ...headerParameters(say), ...acknowledgements(routes, say) },
      headers: answerHeaders(say),
      securitySchemes: { applicationPassword: { type: 'http', scheme: 'basic', description: say('site:doc-credentials') } },
    },
    servers: [{ url: restUrl(caller, 'tec/v1') }],
    paths: Object.fromEntries(routes.map((route) => [templateOf(route), operations(route, say)])),
  };
}

/** Returns the headers without which requests are refused, as components by name. */
const acknowledgements = (routes: readonly ServedRoute[], say: Say): Json =>
  Object.fromEntries(
    routes.flatMap(({ endpoints }) =>
      endpoints.flatMap(({ acknowledged: name }) =>
        name === undefined
          ? []
          : [
              [
                name,
                { name, in: 'header', required: true, description: say('routes:headers.acknowledgement'), schema: { type: 'string' } },
              ],
            ],
      ),
    ),
  );

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: Json) => ({ 'application/json': { schema } });

/** Describes the methods of a route. PATCH does the same as PUT, so it is not listed separately. */
function operations(route: ServedRoute, say: Say): Json {
  const pairs = route.endpoints.flatMap((endpoint) =>
    endpoint.methods
      .filter((method) => method !== 'PATCH')
      .map((method) => [method.toLowerCase(), operation(route, endpoint, method, say)] as const),
  );
  return Object.fromEntries(pairs);
}

function operation(route: Route, endpoint: ServedEndpoint, method: Method, say: Say): Json {
  const name = route.kind && SCHEMA_NAMES.get(route.kind.name);
  const written = endpoint.mode !== 'read';
  const shown = Object.entries(endpoint.params).filter(([param]) => !written || selectorsOf(route).includes(param));
  return {
    summary: say(`routes:${endpoint.summary}`),
    security: written || method === 'DELETE' ? [{ applicationPassword: [] }] : [{}, { applicationPassword: [] }],
    parameters: [
      ...shown.map(([param, declared]) => parameter(route, endpoint, param, declared, say)),
      ...(endpoint.acknowledged === undefined ? [] : [{ $ref: `#/components/parameters/${endpoint.acknowledged}` }]),
      ...headersTaken(method, targetOf(route, endpoint)),
    ],
    ...(written && name ? { requestBody: { content: json(ref(`${name}_Request_Body`)) } } : {}),
    responses: responses(route, method, name, say),
  };
}

function parameter(route: Route, endpoint: Endpoint, name: string, { grammar }: Param, say: Say): Json {
  const inPath = selectorsOf(route).includes(name);
  const { type, ...rest } = grammar.json;
  const schema = Array.isArray(type) ? { anyOf: type.map((one: string) => ({ type: one })), ...rest } : grammar.json;
  return { name, in: inPath ? 'path' : 'query', required: inPath, description: say(paramTextKeys(route, endpoint, name)), schema };
}

/**
 * Returns the responses by status, with the statuses of the reference's document. Those that this server never gives
 * are described as such.
 */
function responses(route: Route, method: Method, name: string | undefined, say: Say): Json {
  const single = selectorsOf(route).length > 0;
  const statuses = !name
    ? ['200']
    : method === 'GET'
      ? single
        ? ['200', '404']
        : ['200', '400', '404']
      : method === 'POST'
        ? ['201', '400', '401', '403', '500']
        : method === 'DELETE'
          ? ['200', '401', '403', '404', '410', '500', '501']
          : ['200', '400', '401', '403', '404', '500'];
  const ofRecord = name !== undefined && (single || method === 'POST');
  const schema = name ? (single || method !== 'GET' ? ref(name) : { type: 'array', items: ref(name) }) : ref('OpenApiDocumentation');
  return Object.fromEntries(
    [...statuses, ...(name ? statusesOfWriting(method, single ? 'named' : 'none') : []), ...statusesAtAnyTime(method)].map((status) => [
      status,
      {
        description: say(`routes:answers.${status === '501' ? 'never' : status}`),
        ...(status.startsWith('2') ? { ...(ofRecord ? headersGiven(method) : {}), content: json(schema) } : headersOfProblem(status)),
      },
    ]),
  );
}

// ------------------------------------------------------------------------------------------------- schemas
const of = (type: string, ...names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, type === 'array' ? { type, items: {} } : { type }]));
const shape = (properties: Json): Json => ({ type: 'object', properties });

/** Members of writes. In `READ`, the texts among them have two forms. */
const WRITTEN: Json = {
  ...of(
    'string',
    'date',
    'date_gmt',
    'slug',
    'status',
    'title',
    'content',
    'excerpt',
    'comment_status',
    'ping_status',
    'format',
    'template',
    'external_id',
  ),
  ...of('integer', 'author', 'featured_media'),
  ...of('boolean', 'sticky'),
  tags: { type: 'array', items: { type: 'integer' } },
};
const READ: Json = {
  ...WRITTEN,
  ...of('object', 'guid', 'title', 'content', 'excerpt'),
  ...of('integer', 'id'),
  ...of('string', 'link', 'modified', 'modified_gmt', 'permalink_template', 'generated_slug'),
};
const ADDRESS: Json = of('string', 'address', 'country', 'city', 'state_province', 'state', 'province', 'zip', 'phone', 'website');
const CONTACT: Json = of('string', 'phone', 'website', 'email');
const EVENT: Json = {
  ...of('string', 'start_date', 'start_date_utc', 'end_date', 'end_date_utc', 'timezone', 'cost'),
  ...of('boolean', 'all_day', 'featured', 'sticky'),
  tribe_events_cat: { type: 'array', items: { type: 'integer' } },
};
const SHOWN: Json = {
  ...EVENT,
  dates: ref('DateDetails'),
  duration: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  multiday: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
  ...of('boolean', 'is_past', 'is_now'),
  organizer_names: { type: 'array', items: { type: 'string' } },
  organizers: { type: 'array', items: ref('Organizer') },
  venues: { type: 'array', items: ref('Venue') },
  ...of('string', 'schedule_details', 'short_schedule_details'),
};

function schemas(): Json {
  const both = (base: string, properties: Json): Json => ({ allOf: [ref(base), shape(properties)] });
  const links = { organizers: { type: 'array', items: { type: 'integer' } }, venues: { type: 'array', items: { type: 'integer' } } };
  return {
    TEC_Post_Entity: shape(READ),
    TEC_Post_Entity_Request_Body: shape(WRITTEN),
    Event: both('TEC_Post_Entity', SHOWN),
    Event_Request_Body: both('TEC_Post_Entity_Request_Body', {
      ...EVENT,
      ...of('integer', 'duration'),
      ...of('string', 'website'),
      ...links,
    }),
    Organizer_Request_Body: both('TEC_Post_Entity_Request_Body', CONTACT),
    Venue_Request_Body: both('TEC_Post_Entity_Request_Body', ADDRESS),
    Organizer: both('TEC_Post_Entity', CONTACT),
    Venue: both('TEC_Post_Entity', { ...ADDRESS, ...of('string', 'directions_link') }),
    Date: shape({ ...of('string', 'date', 'timezone'), ...of('integer', 'timezone_type') }),
    DateDetails: shape(
      Object.fromEntries(
        ['start', 'end'].flatMap((name) => ['', '_utc', '_site', '_display'].map((suffix) => [name + suffix, ref('Date')])),
      ),
    ),
    OpenApiDocumentation: shape({ ...of('string', 'openapi'), ...of('object', 'info', 'components', 'paths'), ...of('array', 'servers') }),
    OpenApiPath: shape(of('object', 'get')),
  };
}
