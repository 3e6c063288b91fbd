import { CALENDAR_UID, DATES } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import { mayTrash } from '../../records/posts.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { importedBefore, metasOfImported } from '../../storage/rows/imports.ts';
import { nowLocal } from '../../wordpress/zones.ts';
import type { DatesEntry } from '../items/report.ts';
import type { Run } from './run.ts';
import { takeBack } from './undo.ts';

/*
 * Dates that an event had when it came, and that a newer version of its calendar takes away: one that is excepted,
 * those after an earlier end of its rule, all of them where it moves to another time.
 */

/**
 * Moves what an earlier run brought as a date of these events, and this one no longer does, to the trash: as far as it
 * lies ahead, and between the moments that the source speaks of. What is over stays. A rehearsal only counts.
 *
 * @param complete UIDs of events all of whose dates came in this run, and between which moments
 * @returns how many there were
 */
export async function trashGoneDates(run: Run, complete: ReadonlyMap<string, DatesEntry['between']>): Promise<number> {
  const { site, caller, importId, number, overlay } = run;
  if (complete.size === 0 || importId === 0) return 0;
  // Ids of other kinds, of categories for one, say nothing of events.
  const seen = new Set([...overlay.values()].flatMap(({ kind, target }) => (kind === 'event' ? [target] : [])));
  const now = nowLocal(caller.now, caller.settings.zone);
  let trashed = 0;
  const ids = (await importedBefore(site.db, importId, number, 'event')).filter((id) => !seen.has(id));
  const metas = await metasOfImported(site.db, ids, [CALENDAR_UID, DATES.start]);
  for (const [id, own] of metas) {
    const between = complete.get(own.get(CALENDAR_UID) ?? '');
    const start = own.get(DATES.start) ?? '';
    if (!between || start < between[0] || start > between[1] || start <= now) continue;
    const goes = run.dry ? await wouldGo(run, id) : await takeBack(site, caller, { kind: postKind('event'), id, from: importId });
    if (goes) trashed += 1;
  }
  return trashed;
}

/** Whether an event can be moved to the trash, in which it is not yet. */
async function wouldGo({ site: { db }, caller }: Run, id: number): Promise<boolean> {
  const row = (await loadPosts(db, [id])).get(id);
  return row !== undefined && row.post_status !== 'trash' && mayTrash(lookUpOnce(db), caller, postKind('event'), id);
}
