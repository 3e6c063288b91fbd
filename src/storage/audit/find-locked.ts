import type { Database } from '../engine/database.ts';
import { readInParts } from '../engine/pages.ts';

/** The rows that a repair locks: a table, and the column of their ids. */
interface LockedRows {
  readonly table: Parameters<Database['from']>[0];
  readonly key: string;
}

type Find<Fault> = (db: Database) => Promise<Fault[]>;
type IdsOf<Fault> = (fault: Fault) => readonly number[];

const [POSTS, TERMS, TAXONOMY_ROWS] = [
  { table: 'posts', key: 'ID' },
  { table: 'terms', key: 'term_id' },
  { table: 'term_taxonomy', key: 'term_taxonomy_id' },
] as const satisfies readonly LockedRows[];

/**
 * Returns the faults that `find` finds, each under a lock on the rows that it concerns, until the end of the
 * transaction. Faults are found again once the rows are locked: another transaction may have repaired one, or changed
 * the record, since it was read. `idsOf`: the ids of the rows to lock.
 */
async function findLocked<Fault>(
  db: Database,
  find: () => Promise<Fault[]>,
  idsOf: IdsOf<Fault>,
  { table, key }: LockedRows,
): Promise<Fault[]> {
  const faults = await find();
  if (faults.length === 0 || db.dialect.maxWriters === 1) return faults;
  const ids = new Set(faults.flatMap(idsOf));
  // In the order of the ids, so that transactions which lock several rows do not wait for each other.
  const sortedIds = [...ids].sort((one, other) => one - other);
  await readInParts(sortedIds, (page): PromiseLike<object[]> => db.from(table).whereIn(key, page).orderBy(key).select(key).forUpdate());
  return (await find()).filter((fault) => idsOf(fault).every((id) => ids.has(id)));
}

/** Returns faults of posts; `idsOf`: the ids of the posts. Must be called in a transaction. */
export const findInLockedPosts = <Fault>(db: Database, find: Find<Fault>, idsOf: IdsOf<Fault>) =>
  findLocked(db, () => find(db), idsOf, POSTS);

/** Returns faults of terms; `idsOf`: the ids of the terms. Must be called in a transaction. */
export const findInLockedTerms = <Fault>(db: Database, find: Find<Fault>, idsOf: IdsOf<Fault>) =>
  findLocked(db, () => find(db), idsOf, TERMS);

/** Returns faults of rows of `term_taxonomy`; `idsOf`: the ids of the rows. Must be called in a transaction. */
export const findInLockedTaxonomyRows = <Fault>(db: Database, find: Find<Fault>, idsOf: IdsOf<Fault>) =>
  findLocked(db, () => find(db), idsOf, TAXONOMY_ROWS);
