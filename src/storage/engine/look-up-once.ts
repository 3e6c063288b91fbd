import type { Database } from './database.ts';

/**
 * Asks the database by one of the functions that read it: `lookUp(findPost, 44)`. What was asked with the same
 * arguments before is not asked again.
 */
export type LookUp = <Args extends readonly (number | string | readonly (number | string)[])[], Found>(
  find: (db: Database, ...args: Args) => Promise<Found>,
  ...args: Args
) => Promise<Found>;

/** Look-ups that are made once each, however many rules of one request need them. For as long as nothing is written. */
export function lookUpOnce(db: Database): LookUp {
  const known = new Map<unknown, Map<string, Promise<unknown>>>();
  return <Args extends readonly unknown[], Found>(find: (db: Database, ...args: Args) => Promise<Found>, ...args: Args) => {
    const answers = known.get(find) ?? new Map<string, Promise<unknown>>();
    known.set(find, answers);
    const key = JSON.stringify(args);
    const answer = answers.get(key) ?? find(db, ...args);
    answers.set(key, answer);
    // What stands under a function was found by it.
    return answer as Promise<Found>;
  };
}
