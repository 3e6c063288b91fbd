import { postTypes, taxonomies } from '../../kinds/index.ts';
import { DISCARDED_STATUSES } from '../../wordpress/status.ts';
import type { Database } from '../engine/database.ts';
import type { Measure } from '../engine/dialect.ts';
import { latestWriteBy } from '../journal/entries.ts';
import { tableDefinitions } from '../schema/migrate.ts';

/* Counts of data, in a few queries. These functions only read. */

/** Returns the name, version and approximate size of the database. */
export const measureDatabase = (db: Database): Promise<Measure> =>
  db.dialect.measure(
    db,
    tableDefinitions().map(({ name }) => db.table(name)),
  );

/** Counts the records of each post type, without the trash, and of each taxonomy. */
export async function countRecords(db: Database): Promise<Map<string, { all: number; public: number }>> {
  const posts = (await db
    .from('posts')
    .whereIn('post_type', postTypes)
    .whereNotIn('post_status', DISCARDED_STATUSES)
    .groupBy('post_type', 'post_status')
    .select('post_type as type', 'post_status as status')
    .count({ count: '*' })) as { type: string; status: string; count: number | string }[];
  const terms = (await db.from('term_taxonomy').whereIn('taxonomy', taxonomies).groupBy('taxonomy').select('taxonomy as type').count({
    count: '*',
  })) as { type: string; count: number | string }[];
  const counts = new Map<string, { all: number; public: number }>();
  for (const { type, status, count } of [...posts, ...terms.map((row) => ({ ...row, status: 'publish' }))]) {
    const totals = counts.get(type) ?? { all: 0, public: 0 };
    counts.set(type, { all: totals.all + Number(count), public: totals.public + (status === 'publish' ? Number(count) : 0) });
  }
  return counts;
}

/**
 * Returns the number of changes in the journal, the time of the latest one, and the time of the latest one by another
 * writer: WordPress, or any program that writes to the same tables. UTC.
 */
export async function journalState(db: Database): Promise<{ entries: number; latest: string | null; latestOfOthers: string | null }> {
  const [all] = await db.rows<{ entries: number | string; latest: string | null }>`
    SELECT COUNT(*) AS entries, MAX(at) AS latest FROM {fasti_journal}`;
  return {
    entries: Number(all?.entries ?? 0),
    latest: all?.latest ?? null,
    latestOfOthers: await latestWriteBy(db, ['wordpress', 'found']),
  };
}
