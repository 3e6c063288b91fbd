import type { Kind } from '../kinds/kind.ts';
import type { Param } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import { type Say, sayIn } from '../texts.ts';
import { restUrl } from '../wordpress/links.ts';
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
  writeHeaderRefs,
  writeStatuses,
} from './openapi-headers.ts';
import { answerShapes, idOf, type Json, recordName, ref, schemas } from './openapi-schemas.ts';
import { schemaOf } from './openapi-values.ts';
import { type Endpoint, type Method, paramsOn, type Route, templateOf } from './route.ts';

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
    servers: [{ url: `${/^https?:\/\/(?:\[[^\]/]+\]|[^/:]+)/.exec(base)?.[0] ?? base}/wp-json/${caller.namespace}/` }],
    paths: Object.fromEntries([
      ...routes.map((route) => [templateOf(route) || '/', { servers: [{ url: base }], ...operations(caller, route, say) }] as const),
      ...roots.map((route) => [templateOf(route) || '/', { servers: [{ url: root }], ...operations(caller, route, say) }] as const),
    ]),
  };
}

const json = (schema: Json) => ({ 'application/json': { schema } });

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
      ...(endpoint.streams ? [lastEventId(say)] : []),
    ],
    ...(bodyNames.length > 0 ? { requestBody: requestBody(context, kind, bodyNames) } : {}),
    responses: responses({ route, endpoint }, method, kind, say),
  };
}

/** Returns the header by which a stream is resumed. */
const lastEventId = (say: Say): Json => ({
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: say('routes:headers.last-event-id'),
  schema: { type: 'string' },
});

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
      [successStatus]: {
        description: say(`routes:answers.${successStatus}`),
        ...writeHeaderRefs(method),
        content: endpoint.streams ? { 'text/event-stream': { schema: { type: 'string' } } } : json(answerSchema(endpoint)),
      },
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
