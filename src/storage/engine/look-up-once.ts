import type { Database } from './database.ts';

/**
 * Queries the database with one of the functions that read it: `lookUp(findPost, 44)`. A look-up with the same function
 * and arguments is not repeated.
 */
export type LookUp = <Args extends readonly (number | string | readonly (number | string)[])[], Found>(
  find: (db: Database, ...args: Args) => Promise<Found>,
  ...args: Args
) => Promise<Found>;

/** Creates a cache of look-ups for the rules of one request. It is valid only as long as nothing is written. */
export function lookUpOnce(db: Database): LookUp {
  const cache = new Map<unknown, Map<string, Promise<unknown>>>();
  return <Args extends readonly unknown[], Found>(find: (db: Database, ...args: Args) => Promise<Found>, ...args: Args) => {
    const answers = cache.get(find) ?? new Map<string, Promise<unknown>>();
    cache.set(find, answers);
    const key = JSON.stringify(args);
    const answer = answers.get(key) ?? find(db, ...args);
    answers.set(key, answer);
    // The answers stored under a function were returned by that function.
    return answer as Promise<Found>;
  };
}
