import { type Grammar, MAX_BYTES } from './grammar.ts';

/**
 * Maximum number of writes in one batch. WordPress accepts 25 unless a plugin changes that; clients find out by
 * `OPTIONS`.
 */
const MAX_WRITES = 100;

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** One write of a batch, as sent. */
export interface BatchedWrite {
  readonly method: (typeof METHODS)[number];
  /** The path of its route, with an optional query. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The writes of a batch (`WP_REST_Server`, route `/batch/v1`). */
export const batchedWrites: Grammar<readonly BatchedWrite[]> = {
  maxBytes: MAX_BYTES.content,
  hint: {
    reason: 'not-batched-writes',
    values: { most: String(MAX_WRITES) },
    example: [{ method: 'POST', path: '/wp/v2/tribe_events', body: { title: 'Jazz' } }],
  },
  json: {
    type: 'array',
    maxItems: MAX_WRITES,
    items: {
      type: 'object',
      properties: {
        method: { type: 'string', enum: METHODS, default: 'POST' },
        path: { type: 'string', required: true },
        body: { type: 'object', properties: [], additionalProperties: true },
        headers: {
          type: 'object',
          properties: [],
          additionalProperties: { type: ['string', 'array'], items: { type: 'string' } },
        },
      },
    },
  },
  read: (raw) => {
    const writes = Array.isArray(raw) && raw.length <= MAX_WRITES ? raw.map(batchedWrite) : [undefined];
    const validWrites = writes.filter((write) => write !== undefined);
    return validWrites.length === writes.length ? { value: validWrites } : { fault: { stage: 'value' } };
  },
};

function batchedWrite(raw: unknown): BatchedWrite | undefined {
  if (!isObject(raw)) return undefined;
  const { method: methodName = 'POST', path, body = {}, headers = {} } = raw;
  const method = METHODS.find((candidate) => candidate === methodName);
  const headerPairs = isObject(headers)
    ? Object.entries(headers).map(([name, value]) => [name.toLowerCase(), headerText(value)] as const)
    : [];
  if (method === undefined || typeof path !== 'string' || !(isObject(body) || isEmptyList(body))) return undefined;
  if (!(isObject(headers) || isEmptyList(headers)) || headerPairs.some(([, value]) => value === undefined)) return undefined;
  return { method, path, body: isObject(body) ? body : {}, headers: Object.fromEntries(headerPairs) as Record<string, string> };
}

/** Joins several values of one header by commas (RFC 9110, 5.2). */
function headerText(value: unknown): string | undefined {
  const values = Array.isArray(value) ? value : [value];
  return values.every((one) => typeof one === 'string') ? values.join(', ') : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Returns whether a value is an empty list, which is how PHP writes an empty object. */
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
