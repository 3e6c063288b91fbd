import { type AccessRow, accessRow, mayUseByName } from '../../records/visibility.ts';
import type { Database } from '../../storage/engine/database.ts';
import { targetsOfImport } from '../../storage/rows/imports.ts';
import type { Metas, Post } from '../../wordpress/rows.ts';
import type { Run } from './run.ts';

/**
 * Returns the ids of those of some records that an import may use because an imported one has their name, external ID
 * or UID: all but drafts of others that no run of this import has brought.
 */
export async function usableByName(
  db: Database,
  { caller, importId }: Pick<Run, 'caller' | 'importId'>,
  records: readonly (AccessRow & { readonly ID: number })[],
): Promise<ReadonlySet<number>> {
  const isUsable = (record: AccessRow): boolean => mayUseByName(caller.viewer, record);
  const draftIds = records.filter((record) => !isUsable(record)).map(({ ID }) => ID);
  return new Set([...records.filter(isUsable).map(({ ID }) => ID), ...(await targetsOfImport(db, importId, draftIds))]);
}

/** Does the same for stored records, which may be in the trash. */
export const usablePosts = (
  db: Database,
  run: Pick<Run, 'caller' | 'importId'>,
  posts: ReadonlyMap<number, Post>,
  metas: ReadonlyMap<number, Metas>,
): Promise<ReadonlySet<number>> =>
  usableByName(
    db,
    run,
    Array.from(posts.values(), (row) => ({ ...accessRow(row, metas.get(row.ID)), ID: row.ID })),
  );
