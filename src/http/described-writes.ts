import type { Say } from '../refusals.ts';
import { selectorsOf } from './describe.ts';
import type { Endpoint, Method, Route } from './route.ts';

/*
 * What the OpenAPI documents say about safe writes and about waiting: request and response headers, and the resulting
 * status codes.
 */

type Json = Record<string, unknown>;

/** Headers of requests: the name of each in the documents, the header, and the key of its sentence. */
const TAKEN = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    text: 'routes:headers.idempotency-key',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: { name: 'If-None-Match', text: 'routes:headers.if-none-match', schema: { type: 'string', enum: ['*'] } },
  IfMatch: { name: 'If-Match', text: 'routes:headers.if-match', schema: { type: 'string' } },
  IfUnmodifiedSince: { name: 'If-Unmodified-Since', text: 'routes:headers.if-unmodified-since', schema: { type: 'string' } },
} as const;

/** Headers of answers. */
const GIVEN = {
  ETag: { text: 'routes:headers.etag', schema: { type: 'string' } },
  IdempotencyReplayed: { text: 'routes:headers.idempotency-replayed', schema: { type: 'string', enum: ['true'] } },
  Warning: { text: 'routes:headers.warning', schema: { type: 'string' } },
  RetryAfter: { text: 'routes:headers.retry-after', schema: { type: 'integer' } },
} as const;

/** The parameters as components, by name. */
export const headerParameters = (say: Say): Json =>
  Object.fromEntries(
    Object.entries(TAKEN).map(([key, { name, text, schema }]) => [
      key,
      { name, in: 'header', required: false, description: say(text), schema },
    ]),
  );

/** The headers of answers as components, by name. */
export const answerHeaders = (say: Say): Json =>
  Object.fromEntries(Object.entries(GIVEN).map(([key, { text, schema }]) => [key, { description: say(text), schema }]));

/** The record that a write is about: the path names it, `upsert` finds it, or none is there yet. */
type Target = 'named' | 'found' | 'none';

/** What the writes of a route are about. */
export const targetOf = (route: Pick<Route, 'kind' | 'pattern'>, { params }: Pick<Endpoint, 'params'>): Target => {
  if (!route.kind) return 'none';
  return selectorsOf(route).length > 0 ? 'named' : Object.hasOwn(params, 'upsert') ? 'found' : 'none';
};

const CONDITIONS = { named: ['IfMatch', 'IfUnmodifiedSince'], found: ['IfMatch', 'IfNoneMatch', 'IfUnmodifiedSince'], none: [] } as const;

/** What a method takes, as references to `headerParameters`. */
export function headersTaken(method: Method, target: Target): Json[] {
  const names: readonly (keyof typeof TAKEN)[] = method === 'GET' ? [] : ['IdempotencyKey', ...CONDITIONS[target]];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** What a successful answer about one record carries, as references to `answerHeaders`. */
export const headersGiven = (method: Method): Json => ({
  headers: {
    ETag: { $ref: '#/components/headers/ETag' },
    ...(method === 'GET'
      ? {}
      : {
          'Idempotency-Replayed': { $ref: '#/components/headers/IdempotencyReplayed' },
          'X-Fasti-Warning': { $ref: '#/components/headers/Warning' },
        }),
  },
});

/** What a problem carries that may be over by the next try. */
export const headersOfProblem = (status: string): Json =>
  ['409', '429', '503'].includes(status) ? { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } } : {};

/** The statuses that those headers lead to. */
export const statusesOfWriting = (method: Method, target: Target): ('409' | '412' | '422')[] =>
  method === 'GET' ? [] : target === 'none' ? ['409', '422'] : ['409', '412', '422'];

/** The statuses of any request: there may be too much of it, or no database. */
export const statusesAtAnyTime = (method: Method): ('413' | '429' | '503')[] => (method === 'GET' ? ['429', '503'] : ['413', '429', '503']);
