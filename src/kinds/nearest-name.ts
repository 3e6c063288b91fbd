import { closestMatch } from 'leven';

/** Maximum length of names that are compared: no known name is longer. */
const MAX_NAME_LENGTH = 50;

/**
 * Returns the known name that a name is probably a misspelling of: the one with the smallest edit distance, if it is at
 * most a third of the letters. Case and punctuation are ignored.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const plainName = lettersOf(name);
  const byLetters = new Map(candidates.map((candidate) => [lettersOf(candidate), candidate] as const));
  const closeNames = [...byLetters.keys()].flatMap((letters) => {
    const maxDistance = Math.ceil(Math.min(letters.length, plainName.length) / 3);
    return closestMatch(plainName, [letters], { maxDistance }) ?? [];
  });
  return byLetters.get(closestMatch(plainName, closeNames) ?? '');
}

/** Removes case and punctuation: `Start-Date` and `startDate` are variants of `start_date`. */
const lettersOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
