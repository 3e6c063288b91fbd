import { fail } from '../../errors.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Site } from '../../site.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import type { Caller } from '../caller.ts';
import { postOfRecord } from '../occurrences.ts';
import { lockExisting } from './write-post.ts';

/**
 * Runs a write if the record has a status that `isAllowed` accepts. Check and write are one transaction, and the record
 * is locked, so no other write can come between them. `work` must use the site it is given.
 *
 * @throws status-changed; the kind's error for an id that belongs to none of its records
 */
export async function withStatus<Result>(
  site: Site,
  caller: Caller,
  kind: PostKind,
  { id, isAllowed }: { readonly id: number; readonly isAllowed: (status: string) => boolean },
  work: (site: Site) => Promise<Result>,
): Promise<Result> {
  const post = await postOfRecord(lookUpOnce(site.db), caller, kind, id);
  return site.db.transaction(async (db) => {
    const { row } = await lockExisting({ db, kind }, post);
    if (!isAllowed(row.post_status)) fail('status-changed');
    return work({ ...site, db });
  });
}
