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
