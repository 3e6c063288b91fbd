import { LRUCache } from 'lru-cache';

/**
 * Memoizes a pure function of a text, since the same titles and contents are rendered repeatedly. `maxSize`: total
 * length of the cached texts, in characters; a text longer than a tenth of that is not cached.
 *
 * The cache has two halves. When the recent half is full, the older half is dropped, except for entries that were
 * requested in the meantime. Removing the oldest entry of a single map would be slow, because the map is searched from
 * its start, past all entries removed before.
 */
export function memoize<Result>(compute: (text: string) => Result, maxSize = 2_000_000): (text: string) => Result {
  let recent = new Map<string, Result>();
  let older: ReadonlyMap<string, Result> = new Map();
  let size = 0;
  return (text) => {
    const cached = recent.get(text);
    if (cached !== undefined) return cached;
    if (text.length * 10 > maxSize) return compute(text);
    const ownText = withoutSource(text);
    const result = older.get(text) ?? compute(ownText);
    size += text.length + ENTRY_SIZE;
    if (size > maxSize / 2) [older, recent, size] = [recent, new Map(), text.length + ENTRY_SIZE];
    recent.set(ownText, result);
    return result;
  };
}

/**
 * Copies a text that may have been cut out of a longer one, such as the path in a URL. V8 keeps the longer text for as
 * long as its part exists.
 */
const withoutSource = (text: string): string => ` ${text}`.slice(1);

/** Size of an entry in addition to its text. */
const ENTRY_SIZE = 64;

/** Longer texts take much time and memory, so all of them share one limit. */
const LONG_TEXT = 100_000;
/** Total length of long texts and their results, in characters. */
const MAX_LONG_TEXTS = 40_000_000;

const longTexts = new LRUCache<string, ReadonlyMap<string, string>>({
  maxSize: MAX_LONG_TEXTS,
  sizeCalculation: (results, text) => [...results.values()].reduce((size, result) => size + result.length, text.length),
});

/** Memoizes a pure function of texts of any length. `name`: a unique name of the function. */
export function memoizeText(name: string, compute: (text: string) => string): (text: string) => string {
  const computeShort = memoize(compute);
  return (text) => {
    if (text.length <= LONG_TEXT) return computeShort(text);
    const results = longTexts.get(text);
    const cached = results?.get(name);
    if (cached !== undefined) return cached;
    const result = compute(text);
    longTexts.set(text, new Map([...(results ?? []), [name, result]]));
    return result;
  };
}

/** Memoizes a function of an object for as long as that object lives, for values derived from declarations. */
export function memoizeByObject<Key extends object, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const results = new WeakMap<Key, { readonly value: Result }>();
  return (key) => {
    const entry = results.get(key) ?? { value: compute(key) };
    results.set(key, entry);
    return entry.value;
  };
}

/**
 * Memoizes a function of a number and two objects, for as long as both objects live. Used for lists that show the same
 * record repeatedly.
 */
export function memoizeByNumber<First extends object, Second extends object, Result>(
  compute: (number: number, first: First, second: Second) => Result,
): (number: number, first: First, second: Second) => Result {
  const resultsOf = memoizeByObject((_: First) => memoizeByObject((__: Second) => new Map<number, Result>()));
  return (number, first, second) => {
    const results = resultsOf(first)(second);
    const cached = results.get(number);
    if (cached !== undefined) return cached;
    const result = compute(number, first, second);
    results.set(number, result);
    return result;
  };
}

/** A value without a Map, Set or function in it, all of which JSON writes without their contents. */
type WrittenWhole<Value> = Value extends ReadonlyMap<never, unknown> | ReadonlySet<never> | ((...args: never) => unknown)
  ? never
  : Value extends object
    ? { readonly [Name in keyof Value]: WrittenWhole<Value[Name]> }
    : Value;

/** Returns a text for the key of a map, which differs for values that differ. */
export const keyText = <Value>(value: Value & WrittenWhole<Value>): string => JSON.stringify(value) ?? '';

/** Returns the bytes that a text takes in memory, at most. */
export const textBytes = (text: string): number => 2 * text.length;
