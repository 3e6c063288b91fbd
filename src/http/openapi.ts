import { z } from 'zod';
import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Param } from '../kinds/param.ts';
import { languageShape } from '../kinds/shapes.ts';
import type { Caller } from '../records/caller.ts';
import { type Say, sayIn } from '../texts.ts';
import { restUrl } from '../wordpress/links.ts';
import { tableOf } from '../wordpress/table.ts';
import { trimEndOf } from '../wordpress/trim.ts';
import { type Described, defaultOf, fieldTextKeys, isRequired, kindOf, paramTextKeys, selectorsOf } from './describe.ts';
import {
  generalStatuses,
  problemHeaderRefs,
  requestHeaderRefs,
  requestHeaders,
  responseHeaderRefs,
  responseHeaders,
  targetOf,
  writeStatuses,
} from './openapi-headers.ts';
import { type Endpoint, type Method, paramsOn, type Route, templateOf } from './route.ts';

type Json = Record<string, unknown>;

/**
 * Types that the reference's own document declares for its records, although its answers differ. Clients have been
 * generated from that document, so these schemas keep their names and types. The true shapes are published beside them
 * as `EventRecord` and so on, and the paths refer to those.
 */
const REFERENCE_TYPES: ReadonlyMap<string, Readonly<Record<string, string>>> = tableOf({
  CostDetails: { 'currency_position ': 'string' },
  Term: { urls: 'array' },
  Image: { sizes: 'array' },
  DateDetails: { year: 'integer', month: 'integer', day: 'integer', hour: 'integer', minutes: 'integer', seconds: 'integer' },
  Event: {
    author: 'integer',
    image: 'object',
    start_date_details: 'array',
    end_date_details: 'array',
    utc_start_date_details: 'array',
    utc_end_date_details: 'array',
    cost_details: 'array',
    venue: 'object',
  },
  Venue: { author: 'integer', image: 'string' },
  Organizer: { author: 'integer', image: 'string' },
});

/** Statuses of problems; each is one component of the document. */
const PROBLEMS = ['400', '401', '403', '404', '409', '410', '412', '413', '422', '429', '500', '503'] as const;

/**
 * Returns the API as an OpenAPI 3.0 document (`/doc`), from the routes and the kinds, in the caller's language.
 * `roots`: routes outside all namespaces.
 */
export function openApiDocument(site: Described, caller: Caller, routes: readonly Route[], roots: readonly Route[] = []): Json {
  const say = sayIn(site.texts, caller.language);
  const base = restUrl(caller, caller.namespace);
  const root = trimEndOf(restUrl(caller, ''), '/');
  return {
    openapi: '3.0.0',
    info: { version: '1.0.0', title: say('site:doc-title'), description: say('site:doc-description') },
    components: {
      schemas: schemas(say, answerShapes([...routes, ...roots]), caller.settings.contentLanguages !== undefined),
      parameters: {
        password: {
          name: 'password',
          in: 'query',
          description: say('params:common.password'),
          required: false,
          schema: { type: 'string' },
        },
        ...requestHeaders(say),
      },
      headers: responseHeaders(say),
      responses: Object.fromEntries(
        PROBLEMS.map((status) => [
          `Problem${status}`,
          { description: say(`routes:answers.${status}`), ...problemHeaderRefs(status), content: json(ref('schemas/Error')) },
        ]),
      ),
      securitySchemes: { applicationPassword: { type: 'http', scheme: 'basic', description: say('site:doc-credentials') } },
    },
    // The reference names the host without port or path. The true address is given with each path, where it has
    // precedence.
    servers: [{ url: `${/^https?:\/\/[^/:]+/.exec(base)?.[0] ?? base}/wp-json/${caller.namespace}/` }],
    paths: Object.fromEntries([
      ...routes.map((route) => [templateOf(route) || '/', { servers: [{ url: base }], ...operations(caller, route, say) }] as const),
      ...roots.map((route) => [templateOf(route) || '/', { servers: [{ url: root }], ...operations(caller, route, say) }] as const),
    ]),
  };
}

const ref = (name: string) => ({ $ref: `#/components/${name}` });
const json = (schema: Json) => ({ 'application/json': { schema } });

// ------------------------------------------------------------------------------------------------- paths
/** The endpoint to describe, and the caller it is described for. */
interface Operation {
  readonly caller: Caller;
  readonly say: Say;
  readonly route: Route;
  readonly endpoint: Endpoint;
}

function operations(caller: Caller, route: Route, say: Say): Json {
  const pairs = route.endpoints.flatMap((endpoint) =>
    endpoint.methods.map((method) => {
      const endpointOnSite = { ...endpoint, params: paramsOn(endpoint, caller.settings) };
      return [method.toLowerCase(), operation({ caller, say, route, endpoint: endpointOnSite }, method)] as const;
    }),
  );
  return Object.fromEntries(pairs);
}

function operation(context: Operation, method: Method): Json {
  const { caller, say, route, endpoint } = context;
  const kind = kindOf(route);
  const siteParams = endpoint.siteParams?.(caller.settings) ?? {};
  const isField = (name: string) =>
    kind ? name in kind.fields || name in siteParams : name !== 'translation_language' && !selectorsOf(route).includes(name);
  const bodyNames = endpoint.mode === 'read' ? [] : Object.keys(endpoint.params).filter(isField);
  const otherParams = Object.entries(endpoint.params).filter(([name]) => !bodyNames.includes(name) || selectorsOf(route).includes(name));
  return {
    ...(kind ? { tags: [kind.path] } : {}),
    summary: say(`routes:${endpoint.summary}`),
    security: endpoint.allow === 'anyone' ? [{}, { applicationPassword: [] }] : [{ applicationPassword: [] }],
    parameters: [
      ...otherParams.map(([name, param]) => parameter(context, name, param)),
      ...requestHeaderRefs(method, targetOf(route, endpoint)),
    ],
    ...(bodyNames.length > 0 ? { requestBody: requestBody(context, kind, bodyNames) } : {}),
    responses: responses({ route, endpoint }, method, kind, say),
  };
}

function parameter({ caller, say, route, endpoint }: Operation, name: string, { grammar }: Param): Json {
  const isInPath = selectorsOf(route).includes(name);
  if (name === 'password' && selectorsOf(route).length > 0) {
    // The password is a query parameter, as the component says. Members beside a `$ref` have no meaning (OpenAPI 3.0,
    // "Reference Object"), but the reference's document has these, so clients that read it literally still find them.
    return { ...ref('parameters/password'), name, in: 'path', required: false };
  }
  const schema = schemaOf(grammar.json);
  const defaultValue = isInPath ? undefined : withDeclaredType(defaultOf(caller, route, endpoint, name), schema);
  return {
    in: isInPath ? 'path' : 'query',
    schema: defaultValue === undefined ? schema : { ...schema, default: defaultValue },
    description: say(paramTextKeys(route, endpoint, name)),
    required: isInPath || isRequired(route, endpoint, name),
    name,
    ...(schema.type === 'array' && !isInPath ? { style: 'form', explode: false } : {}),
    ...(schema.type === 'object' && !isInPath ? { style: 'deepObject', explode: true } : {}),
  };
}

/** Describes the written fields, as a form or as JSON. The selector in the path is listed too, as in the reference. */
function requestBody({ say, route, endpoint }: Operation, kind: Kind | undefined, bodyNames: readonly string[]): Json {
  const selectors = selectorsOf(route).filter((name) => !bodyNames.includes(name));
  const ignoredFields = selectors.map(
    (name) =>
      [name, { ...schemaOf(endpoint.params[name]?.grammar.json ?? {}), description: say(`params:common.${name}-in-body`) }] as const,
  );
  const textKeys = (name: string) => (kind && name in kind.fields ? fieldTextKeys(kind, name) : paramTextKeys(route, endpoint, name));
  const fields = bodyNames.map(
    (name) => [name, { ...schemaOf(endpoint.params[name]!.grammar.json), description: say(textKeys(name)) }] as const,
  );
  const requiredNames = bodyNames.filter((name) => isRequired(route, endpoint, name));
  const schema = {
    type: 'object',
    properties: Object.fromEntries([...ignoredFields, ...fields]),
    ...(requiredNames.length > 0 ? { required: requiredNames } : {}),
  };
  return { required: requiredNames.length > 0, content: { 'application/x-www-form-urlencoded': { schema }, ...json(schema) } };
}

const problems = (...statuses: readonly (typeof PROBLEMS)[number][]): Json =>
  Object.fromEntries(statuses.map((status) => [status, ref(`responses/Problem${status}`)]));

function responses(context: Pick<Operation, 'route' | 'endpoint'>, method: Method, kind: Kind | undefined, say: Say): Json {
  return { ...successResponses(context, method, kind, say), ...problems(...generalStatuses(method)) };
}

function successResponses(
  { route, endpoint }: Pick<Operation, 'route' | 'endpoint'>,
  method: Method,
  kind: Kind | undefined,
  say: Say,
): Json {
  const successStatus = endpoint.success ?? '200';
  const target = targetOf(route, endpoint);
  const safety = writeStatuses(method, target);
  const unknownNamespace = route.pattern === '' ? (['404'] as const) : [];
  if (!kind)
    return {
      [successStatus]: { description: say(`routes:answers.${successStatus}`), content: json(answerSchema(endpoint)) },
      ...problems('400', '401', ...unknownNamespace, ...(route.refusals ?? []), ...safety),
    };
  const record = ref(`schemas/${recordName(kind)}`);
  const recordResponse = (status: '200' | '201') => ({
    [status]: { description: say(`routes:answers.${status}`), ...responseHeaderRefs(method), content: json(record) },
  });
  const neverResponses = (...statuses: string[]) =>
    Object.fromEntries(statuses.map((status) => [status, { description: say('routes:answers.never') }]));
  if (selectorsOf(route).length === 0) {
    if (method === 'GET')
      return {
        '200': { description: say('routes:answers.200'), content: json(listSchema(kind, record, say)) },
        ...problems('400', '401', '404'),
      };
    return { ...(target === 'found' ? recordResponse('200') : {}), ...recordResponse('201'), ...problems('400', '401', '403', ...safety) };
  }
  if (method === 'GET') return { ...recordResponse('200'), ...problems('400', '401', '403', '404') };
  if (method === 'DELETE')
    return {
      ...recordResponse('200'),
      ...problems('400', '401', '403', '404', ...safety),
      ...(kind.is === 'post' ? problems('410') : neverResponses('410')),
      ...problems('500'),
    };
  return { ...recordResponse('200'), ...neverResponses('201'), ...problems('400', '401', '403', '404', ...safety) };
}

/** Returns the schema of a successful answer of an endpoint that serves no kind. */
const answerSchema = ({ answer }: Endpoint): Json => (answer ? ref(`schemas/${idOf(answer)}`) : { type: 'object' });

/** Returns the schema of one page of a list. */
function listSchema(kind: Kind, record: Json, say: Say): Json {
  const withDescription = (name: string, schema: Json) => [name, { ...schema, description: say(`fields:list.${name}`) }];
  const url = { type: 'string', format: 'uri' };
  return {
    title: kind.path,
    type: 'object',
    properties: Object.fromEntries([
      [kind.path, { type: 'array', items: record, description: say('fields:list.records') }],
      withDescription('rest_url', url),
      withDescription('next_rest_url', url),
      withDescription('previous_rest_url', url),
      withDescription('total', { type: 'integer' }),
      withDescription('total_pages', { type: 'integer' }),
    ]),
    required: [kind.path, 'rest_url', 'total', 'total_pages'],
  };
}

/** Converts a default to the declared type, since WordPress writes the page size as text. */
function withDeclaredType(value: unknown, { type }: Json): unknown {
  if (value === undefined || value === null) return undefined;
  return type === 'integer' ? Number(value) : value;
}

/**
 * Converts JSON Schema to OpenAPI 3.0, which allows one type only; several become alternatives. WordPress marks each
 * member as required or not, and writes an object without members as an empty list.
 */
function schemaOf(schema: Readonly<Json>): Json {
  const { type, items, properties, additionalProperties: otherMembers, ...rest } = schema;
  const members = Array.isArray(properties) ? [] : Object.entries((properties ?? {}) as Record<string, Json>);
  const requiredNames = members.filter(([, member]) => member.required === true).map(([name]) => name);
  const nestedParts = {
    ...(items === undefined ? {} : { items: schemaOf(items as Json) }),
    ...(members.length > 0
      ? { properties: Object.fromEntries(members.map(([name, { required: _, ...member }]) => [name, schemaOf(member)])) }
      : {}),
    ...(requiredNames.length > 0 ? { required: requiredNames } : {}),
    ...(otherMembers === undefined
      ? {}
      : { additionalProperties: typeof otherMembers === 'object' ? schemaOf(otherMembers as Json) : otherMembers }),
  };
  if (!Array.isArray(type)) return { ...(type === undefined ? {} : { type }), ...nestedParts, ...rest };
  return {
    anyOf: type.map((one: string) => (one === 'array' ? { type: one, ...nestedParts } : { type: one })),
    ...(type.includes('array') ? {} : nestedParts),
    ...rest,
  };
}

// ------------------------------------------------------------------------------------------------- schemas
interface ObjectSchema extends Json {
  readonly properties?: Readonly<Record<string, Json>>;
}

const idOf = (shape: z.ZodType): string => String(shape.meta()?.id);
const recordName = (kind: Kind) => servedName(idOf(kind.record));
const servedName = (id: string) => (REFERENCE_TYPES.has(id) ? `${id}Record` : id);
const groupOf = (id: string) => id.replace(/(?<=.)[A-Z]/g, '-$&').toLowerCase();

/** Returns the shapes of the answers that hold no records of a kind. */
const answerShapes = (routes: readonly Route[]): z.ZodObject[] =>
  routes.flatMap(({ endpoints }) => endpoints.flatMap(({ answer }) => answer ?? []));

/** Returns all schemas: true shapes of the answers, shapes of the earlier document, and the shape of an error. */
function schemas(say: Say, answers: readonly z.ZodObject[], languages: boolean): Json {
  const shapes = Object.entries(publishedShapes(answers, languages));
  const describedShapes = shapes.map(([id, schema]) => [id, withDescriptions(id, schema, say)] as const);
  const referenceSchemas = describedShapes
    .filter(([id]) => REFERENCE_TYPES.has(id))
    .map(([id, schema]) => [id, referenceSchema(id, schema, say)]);
  return {
    ...Object.fromEntries(referenceSchemas),
    ...Object.fromEntries(describedShapes.map(([id, schema]) => [servedName(id), schema])),
    Error: errorSchema(say),
  };
}

/**
 * Returns the schemas of the records of all kinds, of the other answers, and of their parts, by the ids of their
 * shapes. `languages`: whether the content has languages.
 */
function publishedShapes(answers: readonly z.ZodObject[], languages: boolean): Record<string, ObjectSchema> {
  const allShapes = z.object(Object.fromEntries([...kinds.map((kind) => kind.record), ...answers].map((shape) => [idOf(shape), shape])));
  const { definitions } = z.toJSONSchema(allShapes, {
    target: 'openapi-3.0',
    override: ({ jsonSchema }) => withoutSafeRange(jsonSchema),
  }) as {
    definitions?: unknown;
  };
  const renamedJson = JSON.stringify(definitions).replace(/"#\/definitions\/(\w+)"/g, (_, id: string) =>
    JSON.stringify(ref(`schemas/${servedName(id)}`).$ref),
  );
  const shapes = JSON.parse(renamedJson) as Record<string, ObjectSchema>;
  return languages
    ? shapes
    : Object.fromEntries(
        Object.entries(shapes).flatMap(([id, shape]) => (id === TRANSLATION ? [] : [[id, withoutLanguageMembers(shape)]])),
      );
}

/** The shape id of a translation in a record. */
const TRANSLATION = 'Translation';

const withoutLanguageMembers = (shape: ObjectSchema): ObjectSchema =>
  shape.properties
    ? { ...shape, properties: Object.fromEntries(Object.entries(shape.properties).filter(([name]) => !Object.hasOwn(languageShape, name))) }
    : shape;

/** Removes the limits of JavaScript's safe integers, which say nothing about the records. */
function withoutSafeRange(schema: Json): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

function withDescriptions(id: string, schema: ObjectSchema, say: Say): ObjectSchema {
  if (!schema.properties) return schema;
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const description = say(memberTextKeys(id, name));
    return [name, '$ref' in property ? { allOf: [property], description } : { ...property, description }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Returns the keys of the sentences that may describe a member of a record, most specific first. */
function memberTextKeys(id: string, name: string): string[] {
  return [`fields:${groupOf(id)}.${name}`, `fields:common.${name}`];
}

function referenceSchema(id: string, { properties = {} }: ObjectSchema, say: Say): Json {
  const types = REFERENCE_TYPES.get(id) ?? {};
  const members = [...Object.keys(properties), ...Object.keys(types).filter((name) => !(name in properties))].flatMap((name) => {
    const type = types[name] ?? properties[name]?.type;
    const description = properties[name]?.description ?? say(memberTextKeys(id, name.trim()));
    return type === undefined ? [] : [[name, { type, ...(type === 'array' ? { items: {} } : {}), description }]];
  });
  return {
    type: 'object',
    deprecated: true,
    description: say('site:doc-earlier', { name: servedName(id) }),
    properties: Object.fromEntries(members),
  };
}

/** Returns the schema of the body of an error. */
function errorSchema(say: Say): Json {
  return {
    type: 'object',
    properties: {
      code: { type: 'string', description: say('fields:error.code') },
      message: { type: 'string', description: say('fields:error.message') },
      data: { type: 'object', nullable: true, properties: { status: { type: 'integer' } }, description: say('fields:error.data') },
    },
    required: ['code', 'message'],
  };
}
