import { mayUseByName } from '../../records/visibility.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import type { Work } from './run.ts';

/**
 * Returns those of some records with the name or external ID of an imported one that may be used because of it. In a
 * dry run, new records have no ids of posts.
 */
export async function usableByName({ run, db }: Work, ids: readonly number[]): Promise<readonly number[]> {
  const { viewer } = run.caller;
  const rows = await loadPosts(
    db,
    ids.filter((id) => id > 0),
  );
  return ids.filter((id) => {
    const row = rows.get(id);
    return id < 0 || (row !== undefined && mayUseByName(viewer, row));
  });
}
