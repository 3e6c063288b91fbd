/** What is wrong with a JSON text: PHP's `json_last_error()` and a name for the sentence about it (`json-depth`). */
export interface JsonFault {
  readonly code: 1 | 3 | 4 | 5 | 7 | 10;
  readonly reason: string;
}

/** How deep JSON may be nested, and how many values it may hold in all: members of objects and of lists count alike. */
export interface JsonLimits {
  readonly depth: number;
  readonly values: number;
}

/** What came of reading JSON: the value, what is wrong with it, or that it holds more values than are taken. */
export type JsonReading = { readonly value: unknown } | { readonly fault: JsonFault } | { readonly fault: 'too-many' };

/** The depth of PHP's `json_decode`. */
export const JSON_DEPTH = 512;

/**
 * Reads JSON as PHP's `json_decode` does, of at most this many values. Members named like those that every object has
 * (`__proto__`, `toString`) are left out at any depth, so that nothing that is sent can stand in for them. A number too
 * large to be one (`1e999`), which PHP takes for infinite, is a fault.
 */
export function parseJson(bytes: Buffer, values: number): JsonReading {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return faulty(5, 'json-utf8');
  }
  const excess = jsonExcess(text, { depth: JSON_DEPTH, values });
  if (excess) return excess === 'depth' ? faulty(1, 'json-depth') : { fault: 'too-many' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return error instanceof SyntaxError && /control character/i.test(error.message) ? faulty(3, 'json-control') : faulty(4, 'json-syntax');
  }
  const fault = cleanInPlace(value);
  return fault ? { fault } : { value };
}

/**
 * Which limit a JSON text exceeds, if any. Brackets and commas outside of strings are counted and nothing is built, so
 * that this can be asked before the text is parsed: what is small as text may take fifty times as much memory as
 * values. Whether the text is valid is not looked at.
 */
export function jsonExcess(text: string, { depth, values }: JsonLimits): keyof JsonLimits | undefined {
  let open = 0;
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        open += 1;
        count += 1;
        if (open > depth) return 'depth';
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        open -= 1;
        break;
      case COMMA:
        count += 1;
        break;
    }
    if (count > values) return 'values';
  }
  return undefined;
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Where the string that begins at a quotation mark ends: at the next one that no backslash escapes, or with the text.
 */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

const faulty = (code: JsonFault['code'], reason: string): JsonReading => ({ fault: { code, reason } });

/** Half a character, which neither PHP nor a database can hold. */
const LONE_SURROGATE = /\p{Surrogate}/u;
/** `toString`, `constructor`, `__proto__` and their like. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

const HALF_CHARACTER: JsonFault = { code: 10, reason: 'json-utf16' };
const INFINITE: JsonFault = { code: 7, reason: 'json-number' };

/**
 * Takes out the members whose names every object has. Returns what is wrong, if anything: a text or a name with half a
 * character, or an infinite number.
 */
function cleanInPlace(value: unknown): JsonFault | undefined {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? HALF_CHARACTER : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : INFINITE;
  if (value === null || typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return firstFault(value, cleanInPlace);
  return firstFault(Object.entries(value), ([name, member]) => {
    if (!INHERITED.has(name)) return LONE_SURROGATE.test(name) ? HALF_CHARACTER : cleanInPlace(member);
    Reflect.deleteProperty(value, name);
    return undefined;
  });
}

function firstFault<Item>(items: readonly Item[], faultOf: (item: Item) => JsonFault | undefined): JsonFault | undefined {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault) return fault;
  }
  return undefined;
}
