import { closestMatch } from 'leven';

/** Maximum length of names that are compared: no known name is longer. */
const MAX_NAME_LENGTH = 50;

/**
 * Returns the known name that a name is probably a misspelling of: the one with the smallest edit distance, if it is at
 * most a third of the letters. Case and punctuation are ignored.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const written = plain(name);
  const byLetters = new Map(known.map((candidate) => [plain(candidate), candidate] as const));
  const near = [...byLetters.keys()].flatMap((letters) => {
    const most = Math.ceil(Math.min(letters.length, written.length) / 3);
    return closestMatch(written, [letters], { maxDistance: most }) ?? [];
  });
  return byLetters.get(closestMatch(written, near) ?? '');
}

/** Removes case and punctuation: `Start-Date` and `startDate` are variants of `start_date`. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
