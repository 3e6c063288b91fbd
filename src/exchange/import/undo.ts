import { ApiError, fail } from '../../errors.ts';
import { ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import { postKinds } from '../../kinds/index.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Caller } from '../../records/caller.ts';
import { mayTrash } from '../../records/posts.ts';
import { trashPost } from '../../records/writes/post-writes.ts';
import { type Site, withinTransaction } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { createdByRun, forgetImported, lastImport, referencedElsewhere } from '../../storage/rows/imports.ts';
import { isImportRunning } from './import-running.ts';

/*
 * Undo of the last import: records that it created move to the trash. Changed records stay changed; categories, tags
 * and images stay, and so do venues and organizers that other events reference.
 */

/** The last import, and the records that it created and that still exist. */
export interface Undoable {
  readonly id: number;
  readonly run: number;
  readonly source: string;
  /** Time of its last progress, in UTC. */
  readonly at: string;
  /** Ids of records outside of the trash, by kind, without those that other events reference. */
  readonly records: ReadonlyMap<string, readonly number[]>;
}

/** The metas in which events reference records of a kind. */
const LINKS: ReadonlyMap<string, string> = new Map([
  ['venue', VENUE_LINK],
  ['organizer', ORGANIZER_LINK],
]);

/** Returns the import that can be undone, or undefined if there is none or it is still in progress. */
export async function undoableImport({ db, clock }: Site): Promise<Undoable | undefined> {
  const last = await lastImport(db);
  if (!last || isImportRunning(last, clock())) return undefined;
  const all = await createdByRun(db, last);
  const created: [string, number[]][] = [];
  for (const kind of postKinds) {
    const rows = await loadPosts(db, all.get(kind.name) ?? []);
    const existingIds = [...rows.values()]
      .filter((row) => row.post_type === kind.postType && row.post_status !== 'trash')
      .map(({ ID }) => ID);
    const key = LINKS.get(kind.name);
    const referencedIds = key === undefined ? new Set() : await referencedElsewhere(db, last, key, existingIds);
    const freeIds = existingIds.filter((id) => !referencedIds.has(id));
    if (freeIds.length > 0) created.push([kind.name, freeIds]);
  }
  return created.length === 0
    ? undefined
    : { id: last.id, run: last.run, source: last.source, at: last.touched_at, records: new Map(created) };
}

/**
 * Moves the records that an import created to the trash, and removes them from the ledger, so that the same source can
 * be imported again. `expected` identifies the import; if another one has run since, nothing happens.
 *
 * @returns the number of records that were moved, and of those that the caller may not move
 * @throws rest_forbidden if the caller may not import
 */
export async function undoImport(
  site: Site,
  caller: Caller,
  expected: Pick<Undoable, 'id' | 'run'>,
): Promise<{ readonly moved: number; readonly kept: number }> {
  if (!caller.viewer.can('import')) fail('rest_forbidden');
  const undoable = await undoableImport(site);
  if (undoable?.id !== expected.id || undoable.run !== expected.run) return { moved: 0, kept: 0 };
  let kept = 0;
  let moved = 0;
  for (const kind of postKinds) {
    for (const id of undoable.records.get(kind.name) ?? []) {
      if (await trashAndForget(site, caller, { kind, id, from: undoable.id })) moved += 1;
      else kept += 1;
    }
  }
  return { moved, kept };
}

/**
 * Moves a record to the trash and removes it from the ledger, both or neither. Returns false if the caller may not move
 * it, or if it was moved already.
 *
 * @param check runs at the end of the transaction; if it throws, nothing happens
 */
export async function trashAndForget(
  site: Site,
  caller: Caller,
  { kind, id, from }: { readonly kind: PostKind; readonly id: number; readonly from: number },
  check?: (db: Database) => Promise<void>,
): Promise<boolean> {
  try {
    if (!(await mayTrash(lookUpOnce(site.db), caller, kind, id))) return false;
    await site.db.transaction(async (db) => {
      await trashPost(withinTransaction(site, db), caller, kind, id);
      await forgetImported(db, from, kind.name, [id]);
      await check?.(db);
    });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return false;
  }
}
