import { isRecord } from '../../objects.ts';
import { type Grammar, isEmptyList, MAX_BYTES, REFUSED } from './grammar.ts';

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
    if (!Array.isArray(raw) || raw.length > MAX_WRITES) return REFUSED;
    const writes: BatchedWrite[] = [];
    for (const [index, one] of raw.entries()) {
      const write = batchedWrite(one);
      if (typeof write === 'string')
        return { fault: { stage: 'value', reason: write, values: { place: String(index), methods: METHODS.join(', ') } } };
      writes.push(write);
    }
    return { value: writes };
  },
};

/** Reads one write. Returns the reason if it is refused. */
function batchedWrite(raw: unknown): BatchedWrite | WriteReason {
  if (!isRecord(raw)) return 'batched-write-no-object';
  const { method: methodName = 'POST', path, body = {}, headers = {} } = raw;
  const method = METHODS.find((candidate) => candidate === methodName);
  if (method === undefined) return 'batched-write-method';
  if (typeof path !== 'string') return 'batched-write-path';
  if (!isRecord(body) && !isEmptyList(body)) return 'batched-write-body';
  const headerTexts = headerTextsOf(headers);
  return headerTexts === undefined ? 'batched-write-headers' : { method, path, body: isRecord(body) ? body : {}, headers: headerTexts };
}

/** Why a write is refused: the name of a sentence in `reasons.json`. */
type WriteReason =
  | 'batched-write-no-object'
  | 'batched-write-method'
  | 'batched-write-path'
  | 'batched-write-body'
  | 'batched-write-headers';

/** Returns headers by lower-case name; undefined if they are not an object of texts or of lists of texts. */
function headerTextsOf(headers: unknown): Record<string, string> | undefined {
  if (!isRecord(headers)) return isEmptyList(headers) ? {} : undefined;
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = headerText(value);
    if (text === undefined) return undefined;
    texts[name.toLowerCase()] = text;
  }
  return texts;
}

/** Joins several values of one header by commas (RFC 9110, 5.2). */
function headerText(value: unknown): string | undefined {
  const values = Array.isArray(value) ? value : [value];
  return values.every((one) => typeof one === 'string') ? values.join(', ') : undefined;
}
