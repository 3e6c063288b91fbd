/**
 * Remembers what a pure function of a text gave, for the texts asked for last: the same titles and contents are
 * rendered again and again.
 * `most`: how many characters of input may be remembered in all; longer texts than a tenth of it are not.
 */
export function remembered<Result>(compute: (text: string) => Result, most = 2_000_000): (text: string) => Result {
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
