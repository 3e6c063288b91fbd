import { isObject } from '../objects.ts';
/** A fault of a JSON text: PHP's `json_last_error()`, and the key of the sentence about it (`json-depth`). */
export interface JsonFault {
  readonly code: 1 | 3 | 4 | 5 | 7 | 10;
  readonly reason: string;
}

/** Limits of JSON: depth of nesting, and total number of values, including members of objects and items of lists. */
export interface JsonLimits {
  readonly depth: number;
  readonly values: number;
}

/** The result of reading JSON: the value, the fault, or that it contains too many values. */
export type JsonReading = { readonly value: unknown } | { readonly fault: JsonFault } | { readonly fault: 'too-many' };

/** The depth of PHP's `json_decode`. */
export const JSON_DEPTH = 512;

/**
 * Reads JSON as PHP's `json_decode` does, with a maximum number of values. Members with names that every object
 * inherits (`__proto__`, `toString`) are removed at any depth, so that a request cannot override them. A number too
 * large to represent (`1e999`), which PHP reads as infinite, is a fault.
 */
export function parseJson(bytes: Buffer, values: number): JsonReading {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return jsonFault(5, 'json-utf8');
  }
  const excess = jsonExcess(text, { depth: JSON_DEPTH, values });
  if (excess) return excess === 'depth' ? jsonFault(1, 'json-depth') : { fault: 'too-many' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return error instanceof SyntaxError && /control character/i.test(error.message)
      ? jsonFault(3, 'json-control')
      : jsonFault(4, 'json-syntax');
  }
  const fault = cleanInPlace(value);
  return fault ? { fault } : { value };
}

/**
 * Returns the limit that a JSON text exceeds, if any. Counts brackets and commas outside of strings without building
 * values, so that it can run before the text is parsed: parsed values may take fifty times as much memory as the text.
 * Does not check whether the text is valid.
 */
export function jsonExcess(text: string, { depth, values }: JsonLimits): keyof JsonLimits | undefined {
  let openBrackets = 0;
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        openBrackets += 1;
        count += 1;
        if (openBrackets > depth) return 'depth';
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        openBrackets -= 1;
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
 * Returns the end of the string that starts at a quotation mark: the next one that is not escaped by a backslash, or
 * the end of the text.
 */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

const jsonFault = (code: JsonFault['code'], reason: string): JsonReading => ({ fault: { code, reason } });

/** A lone surrogate, which neither PHP nor a database can store. */
const LONE_SURROGATE = /\p{Surrogate}/u;
/** `toString`, `constructor`, `__proto__` and their like. */
const INHERITED_NAMES = new Set(Object.getOwnPropertyNames(Object.prototype));

const LONE_SURROGATE_FAULT: JsonFault = { code: 10, reason: 'json-utf16' };
const INFINITE_NUMBER_FAULT: JsonFault = { code: 7, reason: 'json-number' };

/**
 * Removes the members with inherited names. Returns the first fault, if any: a text or a name with a lone surrogate, or
 * an infinite number.
 */
function cleanInPlace(value: unknown): JsonFault | undefined {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? LONE_SURROGATE_FAULT : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : INFINITE_NUMBER_FAULT;
  if (!isObject(value)) return undefined;
  if (Array.isArray(value)) return firstFault(value, cleanInPlace);
  return firstFault(Object.entries(value), ([name, member]) => {
    if (!INHERITED_NAMES.has(name)) return LONE_SURROGATE.test(name) ? LONE_SURROGATE_FAULT : cleanInPlace(member);
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
