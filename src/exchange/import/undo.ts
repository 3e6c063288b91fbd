import { ApiError, fail } from '../../errors.ts';
import { ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import { postKinds } from '../../kinds/index.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Caller } from '../../records/caller.ts';
import { mayTrash } from '../../records/posts.ts';
import { mayDelete } from '../../records/visibility.ts';
import { trashPost } from '../../records/writes/post-writes.ts';
import { type Site, withinTransaction } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import type { ImportRow } from '../../storage/engine/own-tables.ts';
import { pagesById } from '../../storage/engine/pages.ts';
import {
  type CreatedRecords,
  type CreatedRow,
  countCreated,
  forgetImported,
  lastImport,
  loadCreated,
  referencedElsewhere,
} from '../../storage/rows/imports.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import { isImportRunning } from './import-running.ts';

/*
 * Undo of the last import: records that it created move to the trash. Changed records stay changed; categories, tags
 * and images stay, and so do venues and organizers that other events reference.
 */

/** The last import, and how many of the records that it created still exist. */
export interface Undoable {
  readonly id: number;
  readonly run: number;
  readonly source: string;
  /** Time of its last progress, in UTC. */
  readonly at: string;
  /** Number of records that the user may move to the trash, by kind, without those that other events reference. */
  readonly counts: ReadonlyMap<string, number>;
}

/** The metas in which events reference records of a kind. */
const LINKS: ReadonlyMap<string, string> = new Map([
  ['venue', VENUE_LINK],
  ['organizer', ORGANIZER_LINK],
]);

/** Number of records that are read at a time: many, since the ledger is read as a whole for each page. */
const PAGE_SIZE = 50_000;

/**
 * Returns the import that can be undone, or undefined if there is none or it is still in progress, or if the user may
 * not move any of its records.
 */
export async function undoableImport(site: Site, viewer: Viewer): Promise<Undoable | undefined> {
  const last = await finishedImport(site);
  if (!last) return undefined;
  const counts = new Map<string, number>();
  for (const kind of postKinds) {
    const count = await countUndoable(site.db, viewer, last, kind);
    if (count > 0) counts.set(kind.name, count);
  }
  return counts.size === 0 ? undefined : { id: last.id, run: last.run, source: last.source, at: last.touched_at, counts };
}

async function finishedImport({ db, clock }: Site): Promise<ImportRow | undefined> {
  const last = await lastImport(db);
  return last && isImportRunning(last, clock()) ? undefined : last;
}

async function countUndoable(db: Database, viewer: Viewer, last: ImportRow, kind: PostKind): Promise<number> {
  const may = (verb: string): boolean => viewer.can(`${verb}_${kind.capabilities}`);
  if (!may('delete')) return 0;
  const mayDeleteAll = ['delete_others', 'delete_published', 'delete_private'].every(may);
  if (!LINKS.has(kind.name) && mayDeleteAll) return countCreated(db, recordsOf(last, kind));
  let count = 0;
  for await (const rows of undoableRecords(db, last, kind))
    count += mayDeleteAll ? rows.length : rows.filter((row) => mayDelete(viewer, row)).length;
  return count;
}

/**
 * Yields the records of a kind that an import created and that can be moved to the trash, in the order of their ids:
 * those outside of the trash that no other event references.
 */
async function* undoableRecords(db: Database, last: ImportRow, kind: PostKind): AsyncGenerator<readonly CreatedRow[]> {
  const key = LINKS.get(kind.name);
  let referencedIds: ReadonlySet<number> | undefined;
  for await (const rows of pagesById(PAGE_SIZE, (after, size) => loadCreated(db, recordsOf(last, kind), { after, size }))) {
    referencedIds ??= key === undefined ? new Set() : await referencedElsewhere(db, last, key);
    yield rows.filter(({ id }) => !referencedIds?.has(id));
  }
}

const recordsOf = (run: ImportRow, { name, postType }: PostKind): CreatedRecords => ({ run, kind: name, postType });

/** Number of records that were moved to the trash, and of those that stay because the caller may not move them. */
interface Undone {
  readonly moved: number;
  readonly kept: number;
}

/**
 * Moves records that an import created to the trash, at most `most`, and removes them from the ledger, so that the same
 * source can be imported again. `expected` identifies the import; if another one has run since, nothing happens.
 *
 * @throws rest_forbidden if the caller may not import
 */
export async function undoImport(
  site: Site,
  caller: Caller,
  { id, run, most }: Pick<Undoable, 'id' | 'run'> & { readonly most: number },
): Promise<Undone> {
  if (!caller.viewer.can('import')) fail('rest_forbidden');
  const last = await finishedImport(site);
  let [moved, kept, tried] = [0, 0, 0];
  if (last?.id !== id || last.run !== run) return { moved, kept };
  for (const kind of postKinds) {
    const mayDeleteAny = caller.viewer.can(`delete_${kind.capabilities}`);
    for await (const rows of undoableRecords(site.db, last, kind)) {
      // Records that stay must not use up the limit, since they would do so again each time.
      const deletable = rows.filter((row) => mayDeleteAny && mayDelete(caller.viewer, row));
      kept += rows.length - deletable.length;
      for (const row of deletable) {
        if (tried === most) return { moved, kept };
        tried += 1;
        if (await trashAndForget(site, caller, { kind, id: row.id, from: id })) moved += 1;
        else kept += 1;
      }
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
      // Languages may have been added since the caller was read.
      const innerSite = withinTransaction(site, db);
      await trashPost(innerSite, { ...caller, settings: await innerSite.settings() }, kind, id);
      await forgetImported(db, from, kind.name, [id]);
      await check?.(db);
    });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return false;
  }
}
