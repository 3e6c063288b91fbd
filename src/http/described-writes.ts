import type { Say } from '../refusals.ts';
import type { Method } from './route.ts';

/*
 * What the OpenAPI documents say about safe writes: request and response headers, and the resulting status codes.
 */

type Json = Record<string, unknown>;

/** Headers of requests: the name of each in the documents, the header, and the key of its sentence. */
const TAKEN = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    text: 'routes:headers.idempotency-key',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfMatch: { name: 'If-Match', text: 'routes:headers.if-match', schema: { type: 'string' } },
  IfUnmodifiedSince: { name: 'If-Unmodified-Since', text: 'routes:headers.if-unmodified-since', schema: { type: 'string' } },
} as const;

/** Headers of answers. */
const GIVEN = {
  ETag: { text: 'routes:headers.etag', schema: { type: 'string' } },
  IdempotencyReplayed: { text: 'routes:headers.idempotency-replayed', schema: { type: 'string', enum: ['true'] } },
  Warning: { text: 'routes:headers.warning', schema: { type: 'string' } },
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

/** Whether a path names one record. */
interface OfPath {
  readonly single: boolean;
}

/** What a method takes, as references to `headerParameters`. */
export function headersTaken(method: Method, { single }: OfPath): Json[] {
  const names: (keyof typeof TAKEN)[] =
    method === 'GET' ? [] : single ? ['IdempotencyKey', 'IfMatch', 'IfUnmodifiedSince'] : ['IdempotencyKey'];
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

/** The statuses that those headers lead to. */
export const statusesOfWriting = (method: Method, { single }: OfPath): ('409' | '412' | '422')[] =>
  method === 'GET' ? [] : single ? ['409', '412', '422'] : ['409', '422'];
