import type { Site } from '../../src/site.ts';

/**
 * Counts the queries of `work`. On a database server they include a query for the options each time (`reads` times in
 * total). SQLite skips these if nothing was written since; the count includes them as if it did not.
 */
export async function countQueries<T>(
  { db, settings }: Pick<Site, 'db' | 'settings'>,
  work: () => Promise<T>,
  reads = 1,
): Promise<{ result: T; queries: number }> {
  await settings();
  const before = db.queries();
  const result = await work();
  return { result, queries: db.queries() - before + (db.driver.state ? reads : 0) };
}
