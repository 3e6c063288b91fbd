import { closestMatch } from 'leven';

/** Names longer than that are not compared: no known one is. */
const LONGEST_NAME = 50;

/**
 * The known name that another one is probably a misspelling of: the one fewest letters away, if at most a third of them
 * are wrong. Case and signs do not count.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const written = plain(name);
  const byLetters = new Map(known.map((candidate) => [plain(candidate), candidate] as const));
  const near = [...byLetters.keys()].flatMap((letters) => {
    const most = Math.ceil(Math.min(letters.length, written.length) / 3);
    return closestMatch(written, [letters], { maxDistance: most }) ?? [];
  });
  return byLetters.get(closestMatch(written, near) ?? '');
}

/** `Start-Date` and `startDate` are `start_date` in other hands. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
