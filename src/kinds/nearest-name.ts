/** Names longer than that are not compared: no known one is. */
const LONGEST_NAME = 50;

/**
 * The known name that another one is probably a misspelling of: the one fewest letters away, if at most a third of them
 * are wrong.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const written = plain(name);
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: distanceOf(written, plain(candidate)) }))
    .filter(({ candidate, distance }) => distance <= Math.ceil(Math.min(candidate.length, name.length) / 3))
    .sort((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

/** `Start-Date` and `startDate` are `start_date` in other hands. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** How many letters have to be added, left out, replaced or swapped with the next (optimal string alignment). */
function distanceOf(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const steps = [row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same, ...(swapped ? [before[j - 2]! + 1] : [])];
      next.push(Math.min(...steps));
    }
    [before, row] = [row, next];
  }
  return row[to.length]!;
}
