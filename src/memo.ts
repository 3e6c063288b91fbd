import { LRUCache } from 'lru-cache';

/**
 * Memoizes a pure function of a text: the same titles and contents are rendered again and again. `most`: how many
 * characters of input are kept in all; a text longer than a tenth of that is not kept.
 *
 * What is known is in two halves. When the recent one is full, the older one is dropped whole, as far as nobody asked
 * for it meanwhile. To take the oldest entry out of one map is slow: the map is searched for it from its start, past
 * all that was taken out before.
 */
export function memoize<Result>(compute: (text: string) => Result, most = 2_000_000): (text: string) => Result {
  let recent = new Map<string, Result>();
  let older: ReadonlyMap<string, Result> = new Map();
  let size = 0;
  return (text) => {
    const found = recent.get(text);
    if (found !== undefined) return found;
    const result = older.get(text) ?? compute(text);
    if (text.length * 10 > most) return result;
    size += text.length + ENTRY;
    if (size > most / 2) [older, recent, size] = [recent, new Map(), text.length + ENTRY];
    recent.set(text, result);
    return result;
  };
}

/** What an entry costs besides its text. */
const ENTRY = 64;

/** A text longer than this takes long, and more memory than many others: all such texts share one limit. */
const LONG = 100_000;
/** In characters, of texts and what they are rendered to. */
const MOST_LONG = 40_000_000;

const longTexts = new LRUCache<string, ReadonlyMap<string, string>>({
  maxSize: MOST_LONG,
  sizeCalculation: (results, text) => [...results.values()].reduce((size, result) => size + result.length, text.length),
});

/** Remembers what a pure function makes of texts, however long they are. `name`: of the function, unlike all others. */
export function memoizeText(name: string, compute: (text: string) => string): (text: string) => string {
  const short = memoize(compute);
  return (text) => {
    if (text.length <= LONG) return short(text);
    const known = longTexts.get(text);
    const found = known?.get(name);
    if (found !== undefined) return found;
    const result = compute(text);
    longTexts.set(text, new Map([...(known ?? []), [name, result]]));
    return result;
  };
}

/**
 * Memoizes a function of an object, for as long as that object lives: what is derived from a declaration is made once.
 */
export function memoizeByObject<Key extends object, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const known = new WeakMap<Key, { readonly value: Result }>();
  return (key) => {
    const found = known.get(key) ?? { value: compute(key) };
    known.set(key, found);
    return found.value;
  };
}

/**
 * Memoizes what is made of a thing by its number out of two objects, for as long as both live: what a list shows of one
 * record again and again is made once for the list.
 */
export function memoizeByNumber<First extends object, Second extends object, Result>(
  compute: (number: number, first: First, second: Second) => Result,
): (number: number, first: First, second: Second) => Result {
  const known = memoizeByObject((_: First) => memoizeByObject((__: Second) => new Map<number, Result>()));
  return (number, first, second) => {
    const made = known(first)(second);
    const found = made.get(number);
    if (found !== undefined) return found;
    const result = compute(number, first, second);
    made.set(number, result);
    return result;
  };
}
