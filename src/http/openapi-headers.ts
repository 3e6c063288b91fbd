import type { Say } from '../texts.ts';
import { selectorsOf } from './describe.ts';
import type { Endpoint, Method, Route } from './route.ts';
import { mayWarn } from './warnings.ts';

/*
 * Safe writes and retry delays in the OpenAPI documents: request headers, response headers, and the resulting status
 * codes.
 */

type Json = Record<string, unknown>;

/**
 * Request headers: the key is the component name in the documents; then the header, the key of its description, and its
 * schema.
 */
const REQUEST_HEADERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    text: 'routes:headers.idempotency-key',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: { name: 'If-None-Match', text: 'routes:headers.if-none-match', schema: { type: 'string', enum: ['*'] } },
  IfMatch: { name: 'If-Match', text: 'routes:headers.if-match', schema: { type: 'string' } },
  IfUnmodifiedSince: { name: 'If-Unmodified-Since', text: 'routes:headers.if-unmodified-since', schema: { type: 'string' } },
} as const;

/** Response headers. */
const RESPONSE_HEADERS = {
  ETag: { text: 'routes:headers.etag', schema: { type: 'string' } },
  IdempotencyReplayed: { text: 'routes:headers.idempotency-replayed', schema: { type: 'string', enum: ['true'] } },
  Warning: { text: 'routes:headers.warning', schema: { type: 'string' } },
  RetryAfter: { text: 'routes:headers.retry-after', schema: { type: 'integer' } },
} as const;

/** Returns the request headers as components, by name. */
export const requestHeaders = (say: Say): Json =>
  Object.fromEntries(
    Object.entries(REQUEST_HEADERS).map(([key, { name, text, schema }]) => [
      key,
      { name, in: 'header', required: false, description: say(text), schema },
    ]),
  );

/** Returns the response headers as components, by name. */
export const responseHeaders = (say: Say): Json =>
  Object.fromEntries(Object.entries(RESPONSE_HEADERS).map(([key, { text, schema }]) => [key, { description: say(text), schema }]));

/** The record that a write targets: named by the path, found by `upsert`, or none because it does not exist yet. */
type Target = 'named' | 'found' | 'none';

/** Returns the target of the writes of a route. */
export const targetOf = (route: Pick<Route, 'kind' | 'pattern'>, { params }: Pick<Endpoint, 'params'>): Target => {
  if (!route.kind) return 'none';
  return selectorsOf(route).length > 0 ? 'named' : Object.hasOwn(params, 'upsert') ? 'found' : 'none';
};

const PRECONDITION_HEADERS = {
  named: ['IfMatch', 'IfUnmodifiedSince'],
  found: ['IfMatch', 'IfNoneMatch', 'IfUnmodifiedSince'],
  none: [],
} as const;

/** Returns the request headers that a method takes, as references to `requestHeaders`. */
export function requestHeaderRefs(method: Method, target: Target): Json[] {
  const names: readonly (keyof typeof REQUEST_HEADERS)[] = method === 'GET' ? [] : ['IdempotencyKey', ...PRECONDITION_HEADERS[target]];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** Returns the headers of a successful answer about one record, as references to `responseHeaders`. */
export const responseHeaderRefs = (method: Method): Json => ({
  headers: { ETag: { $ref: '#/components/headers/ETag' }, ...writeHeaders(method) },
});

/** Returns the headers of a successful answer without a record. */
export const writeHeaderRefs = (method: Method): Json => (method === 'GET' ? {} : { headers: writeHeaders(method) });

const writeHeaders = (method: Method): Json => ({
  ...(method === 'GET' ? {} : { 'Idempotency-Replayed': { $ref: '#/components/headers/IdempotencyReplayed' } }),
  ...(mayWarn(method) ? { 'X-Fasti-Warning': { $ref: '#/components/headers/Warning' } } : {}),
});

/** Returns the headers of a problem that may be temporary. */
export const problemHeaderRefs = (status: string): Json =>
  ['409', '429', '503'].includes(status) ? { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } } : {};

/** Returns the statuses that these request headers may lead to. */
export const writeStatuses = (method: Method, target: Target): ('409' | '412' | '422')[] =>
  method === 'GET' ? [] : target === 'none' ? ['409', '422'] : ['409', '412', '422'];

/**
 * Returns the statuses that any request may get: it is too large, there are too many, or the database is unavailable.
 */
export const generalStatuses = (method: Method): ('413' | '429' | '503')[] => (method === 'GET' ? ['429', '503'] : ['413', '429', '503']);
