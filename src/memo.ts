/**
 * Memoizes a pure function of a text, keeping the results computed last: the same titles and contents are
 * rendered again and again. `most`: how many characters of input are kept in all; a text longer than a tenth of that is
 * not kept.
 */
export function memoize<Result>(compute: (text: string) => Result, most = 2_000_000): (text: string) => Result {
  const known = new Map<string, Result>();
  let size = 0;
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const result = compute(text);
    if (text.length * 10 > most) return result;
    known.set(text, result);
    size += text.length + ENTRY;
    for (const oldest of known.keys()) {
      if (size <= most) break;
      known.delete(oldest);
      size -= oldest.length + ENTRY;
    }
    return result;
  };
}

/** What an entry costs besides its text. */
const ENTRY = 64;

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
