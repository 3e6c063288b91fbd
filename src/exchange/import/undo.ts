import { ApiError, fail } from '../../errors.ts';
import { ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import { postKinds } from '../../kinds/index.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Caller } from '../../records/caller.ts';
import { mayTrash } from '../../records/posts.ts';
import { trashPost } from '../../records/writes/post-writes.ts';
import { type Site, withinTransaction } from '../../site.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { forgetImported, lastImport, madeBy, namedByOthers } from '../../storage/rows/imports.ts';
import { isUnderWay } from './under-way.ts';

/*
 * Taking back the last import: what it made goes to the trash. What it changed stays changed, and so do its categories,
 * tags and pictures, and the venues and organizers that other events name by now.
 */

/** The last import, and what it made that is still there. */
export interface Undoable {
  readonly id: number;
  readonly run: number;
  readonly source: string;
  /** When it was heard of last, in UTC. */
  readonly at: string;
  /** Ids of records outside the trash, by kind, without those that other events name. */
  readonly made: ReadonlyMap<string, readonly number[]>;
}

/** The metas in which events name records of a kind. */
const LINKS: ReadonlyMap<string, string> = new Map([
  ['venue', VENUE_LINK],
  ['organizer', ORGANIZER_LINK],
]);

/** What could be taken back; undefined: nothing, or what goes on being made at this moment. */
export async function undoableImport({ db, clock }: Site): Promise<Undoable | undefined> {
  const last = await lastImport(db);
  if (!last || isUnderWay(last, clock())) return undefined;
  const all = await madeBy(db, last);
  const found: [string, number[]][] = [];
  for (const kind of postKinds) {
    const rows = await loadPosts(db, all.get(kind.name) ?? []);
    const there = [...rows.values()].filter((row) => row.post_type === kind.postType && row.post_status !== 'trash').map(({ ID }) => ID);
    const key = LINKS.get(kind.name);
    const named = key === undefined ? new Set() : await namedByOthers(db, last, key, there);
    const free = there.filter((id) => !named.has(id));
    if (free.length > 0) found.push([kind.name, free]);
  }
  return found.length === 0 ? undefined : { id: last.id, run: last.run, source: last.source, at: last.touched_at, made: new Map(found) };
}

/**
 * Moves what an import made to the trash, and forgets that it came, so that the same source brings it again. `wanted`:
 * which import is meant; where another one has come since, nothing happens.
 *
 * @returns how many records were moved, and how many the caller may not move
 * @throws rest_forbidden where the caller may not import
 */
export async function undoImport(
  site: Site,
  caller: Caller,
  wanted: Pick<Undoable, 'id' | 'run'>,
): Promise<{ readonly moved: number; readonly kept: number }> {
  if (!caller.viewer.can('import')) fail('rest_forbidden');
  const found = await undoableImport(site);
  if (found?.id !== wanted.id || found.run !== wanted.run) return { moved: 0, kept: 0 };
  let kept = 0;
  let moved = 0;
  for (const kind of postKinds) {
    for (const id of found.made.get(kind.name) ?? []) {
      if (await takeBack(site, caller, { kind, id, from: found.id })) moved += 1;
      else kept += 1;
    }
  }
  return { moved, kept };
}

/**
 * Moves a record to the trash and forgets that it came, both or neither. False: the caller may not move it, or somebody
 * else has done so meanwhile.
 */
export async function takeBack(
  site: Site,
  caller: Caller,
  { kind, id, from }: { readonly kind: PostKind; readonly id: number; readonly from: number },
): Promise<boolean> {
  try {
    if (!(await mayTrash(lookUpOnce(site.db), caller, kind, id))) return false;
    await site.db.transaction(async (db) => {
      await trashPost(withinTransaction(site, db), caller, kind, id);
      await forgetImported(db, from, kind.name, [id]);
    });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return false;
  }
}
