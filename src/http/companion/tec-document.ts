import type { Param } from '../../kinds/param.ts';
import type { Caller } from '../../records/caller.ts';
import { type Say, sayIn } from '../../texts.ts';
import { restUrl } from '../../wordpress/links.ts';
import { tableOf } from '../../wordpress/table.ts';
import { type Described, paramTextKeys, selectorsOf } from '../describe.ts';
import type { ServedEndpoint, ServedRoute } from '../endpoint.ts';
import {
  generalStatuses,
  problemHeaderRefs,
  requestHeaderRefs,
  requestHeaders,
  responseHeaderRefs,
  responseHeaders,
  targetOf,
  writeHeaderRefs,
  writeStatuses,
} from '../openapi-headers.ts';
import { schemaOf } from '../openapi-values.ts';
import { type Endpoint, type Method, type Route, templateOf } from '../route.ts';

type Json = Record<string, unknown>;

/** Schema names of the records, by kind. */
const SCHEMA_NAMES: ReadonlyMap<string, string> = tableOf({ event: 'Event', venue: 'Venue', organizer: 'Organizer' });

/**
 * Returns the OpenAPI document of the calendar's newer API (`tec/v1/docs`), from its routes, in the caller's language.
 */
export function tecDocument(site: Described, caller: Caller, routes: readonly ServedRoute[]): Json {
  const say = sayIn(site.texts, caller.language);
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
      parameters: { ...requestHeaders(say), ...acknowledgements(routes, say) },
      headers: responseHeaders(say),
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
      endpoints.flatMap(({ acknowledgementHeader: name }) =>
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
  const isWrite = endpoint.mode !== 'read';
  const listedParams = Object.entries(endpoint.params).filter(([param]) => !isWrite || selectorsOf(route).includes(param));
  return {
    summary: say(`routes:${endpoint.summary}`),
    security: isWrite || method === 'DELETE' ? [{ applicationPassword: [] }] : [{}, { applicationPassword: [] }],
    parameters: [
      ...listedParams.map(([param, declaration]) => parameter(route, endpoint, param, declaration, say)),
      ...(endpoint.acknowledgementHeader === undefined ? [] : [{ $ref: `#/components/parameters/${endpoint.acknowledgementHeader}` }]),
      ...requestHeaderRefs(method, targetOf(route, endpoint)),
    ],
    ...(isWrite && name ? { requestBody: { content: json(ref(`${name}_Request_Body`)) } } : {}),
    responses: responses(route, method, name, say),
  };
}

function parameter(route: Route, endpoint: Endpoint, name: string, { grammar }: Param, say: Say): Json {
  const isInPath = selectorsOf(route).includes(name);
  const schema = schemaOf(grammar.json);
  return {
    name,
    in: isInPath ? 'path' : 'query',
    required: isInPath,
    description: say(paramTextKeys(route, endpoint, name)),
    schema,
    // Of a name that is sent repeatedly, PHP reads the last value.
    ...(schema.type === 'array' && !isInPath ? { style: 'form', explode: false } : {}),
  };
}

/**
 * Returns the responses by status, with the statuses of the reference's document. Those that this server never gives
 * are described as such.
 */
function responses(route: Route, method: Method, name: string | undefined, say: Say): Json {
  const isSingle = selectorsOf(route).length > 0;
  const statuses = !name
    ? ['200']
    : method === 'GET'
      ? isSingle
        ? ['200', '401', '403', '404']
        : ['200', '400', '404']
      : method === 'POST'
        ? ['201', '400', '401', '403', '500']
        : method === 'DELETE'
          ? ['200', '401', '403', '404', '410', '500', '501']
          : ['200', '400', '401', '403', '404', '500'];
  const returnsRecord = name !== undefined && method !== 'DELETE' && (isSingle || method === 'POST');
  const schema = !name
    ? ref('OpenApiDocumentation')
    : returnsRecord
      ? ref(name)
      : method === 'DELETE'
        ? EMPTY_LIST
        : { type: 'array', items: ref(name) };
  return Object.fromEntries(
    [...statuses, ...(name ? writeStatuses(method, isSingle ? 'named' : 'none') : []), ...generalStatuses(method)].map((status) => [
      status,
      {
        description: say(`routes:answers.${status === '501' ? 'never' : status}`),
        ...(status.startsWith('2')
          ? { ...(returnsRecord ? responseHeaderRefs(method) : writeHeaderRefs(method)), content: json(schema) }
          : problemHeaderRefs(status)),
      },
    ]),
  );
}

// ------------------------------------------------------------------------------------------------- schemas
const membersOfType = (type: string, ...names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, type === 'array' ? { type, items: {} } : { type }]));
/** The answer to a deletion. */
const EMPTY_LIST: Json = { type: 'array', items: {}, maxItems: 0 };
const objectSchema = (properties: Json): Json => ({ type: 'object', properties });

/** Members of writes. In `READ_MEMBERS`, the texts among them have two forms. */
const WRITABLE_MEMBERS: Json = {
  ...membersOfType(
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
  ...membersOfType('integer', 'author', 'featured_media'),
  ...membersOfType('boolean', 'sticky'),
  tags: { type: 'array', items: { type: 'integer' } },
};
/** Flags of records. A password hides them as null. */
const shownFlags = (...names: string[]): Json => Object.fromEntries(names.map((name) => [name, { type: 'boolean', nullable: true }]));
const READ_MEMBERS: Json = {
  ...WRITABLE_MEMBERS,
  ...shownFlags('sticky'),
  ...membersOfType('object', 'guid', 'title', 'content', 'excerpt'),
  ...membersOfType('integer', 'id'),
  ...membersOfType('string', 'type', 'link', 'modified', 'modified_gmt', 'permalink_template', 'generated_slug'),
  class_list: { type: 'array', items: { type: 'string' } },
};
const ADDRESS_MEMBERS: Json = membersOfType(
  'string',
  'address',
  'country',
  'city',
  'state_province',
  'state',
  'province',
  'zip',
  'phone',
  'website',
);
const CONTACT_MEMBERS: Json = membersOfType('string', 'phone', 'website', 'email');
const EVENT_MEMBERS: Json = {
  ...membersOfType('string', 'start_date', 'start_date_utc', 'end_date', 'end_date_utc', 'timezone', 'cost'),
  ...membersOfType('boolean', 'all_day', 'featured', 'sticky'),
  tribe_events_cat: { type: 'array', items: { type: 'integer' } },
};
const SHOWN_EVENT_MEMBERS: Json = {
  ...EVENT_MEMBERS,
  dates: ref('DateDetails'),
  duration: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  multiday: schemaOf({ type: ['integer', 'boolean', 'null'] }),
  ...shownFlags('all_day', 'featured', 'sticky', 'is_past', 'is_now', 'starts_this_week', 'ends_this_week', 'happens_this_week'),
  this_week_duration: { type: 'integer', nullable: true },
  displays_on: { type: 'array', items: { type: 'string' } },
  // Without members it is an empty list, as PHP writes an empty object.
  custom_fields: { anyOf: [{ type: 'object' }, { type: 'array', items: {}, maxItems: 0 }] },
  organizer_names: { type: 'array', items: { type: 'string' } },
  organizers: { type: 'array', items: ref('Organizer') },
  venues: { type: 'array', items: ref('Venue') },
  ...membersOfType('string', 'schedule_details', 'short_schedule_details'),
};

function schemas(): Json {
  const extend = (base: string, properties: Json): Json => ({ allOf: [ref(base), objectSchema(properties)] });
  const links = { organizers: { type: 'array', items: { type: 'integer' } }, venues: { type: 'array', items: { type: 'integer' } } };
  return {
    TEC_Post_Entity: objectSchema(READ_MEMBERS),
    TEC_Post_Entity_Request_Body: objectSchema(WRITABLE_MEMBERS),
    Event: extend('TEC_Post_Entity', SHOWN_EVENT_MEMBERS),
    Event_Request_Body: extend('TEC_Post_Entity_Request_Body', {
      ...EVENT_MEMBERS,
      ...membersOfType('integer', 'duration'),
      ...membersOfType('string', 'website'),
      ...links,
    }),
    Organizer_Request_Body: extend('TEC_Post_Entity_Request_Body', CONTACT_MEMBERS),
    Venue_Request_Body: extend('TEC_Post_Entity_Request_Body', ADDRESS_MEMBERS),
    Organizer: extend('TEC_Post_Entity', CONTACT_MEMBERS),
    Venue: extend('TEC_Post_Entity', { ...ADDRESS_MEMBERS, ...membersOfType('string', 'directions_link') }),
    Date: objectSchema({ ...membersOfType('string', 'date', 'timezone'), ...membersOfType('integer', 'timezone_type') }),
    DateDetails: objectSchema(
      Object.fromEntries(
        ['start', 'end'].flatMap((name) => ['', '_utc', '_site', '_display'].map((suffix) => [name + suffix, ref('Date')])),
      ),
    ),
    OpenApiDocumentation: objectSchema({
      ...membersOfType('string', 'openapi'),
      ...membersOfType('object', 'info', 'components', 'paths'),
      ...membersOfType('array', 'servers'),
    }),
    OpenApiPath: objectSchema(membersOfType('object', 'get')),
  };
}
