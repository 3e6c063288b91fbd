import type { Site } from '../../src/site.ts';

/**
 * How many queries `work` makes. A database server is asked for the options each time (`reads` times in all); SQLite
 * tells that nothing was written since, and is not: there they count as if it were.
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
