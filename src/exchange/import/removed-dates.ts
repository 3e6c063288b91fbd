import { CALENDAR_UID, DATES } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import { mayTrash } from '../../records/posts.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { importedBefore, importsOf, metasOfImported } from '../../storage/rows/imports.ts';
import { localFromDate } from '../../wordpress/zones.ts';
import { lastingUid } from '../items/lasting-uid.ts';
import type { DatesEntry } from '../items/report.ts';
import type { Run } from './run.ts';
import { trashAndForget } from './undo.ts';

/*
 * Dates of an event that an earlier import brought and a newer version of its calendar lacks: excluded dates, dates
 * after an earlier end of its rule, or all dates if the event moved to another time.
 */

/**
 * Moves to the trash those dates of these events that an earlier run imported and this run did not contain, if they are
 * in the future and within the period that the source covers. Past dates stay, and so do dates that another source has
 * brought too. A dry run only counts them.
 *
 * @param coveredPeriods names of events all of whose dates came in this run (`DatesEntry`), with the period that is
 * covered
 * @returns the number of dates
 */
export async function trashRemovedDates(run: Run, coveredPeriods: ReadonlyMap<string, DatesEntry['between']>): Promise<number> {
  const { site, caller, importId, number, dryLedger } = run;
  if (coveredPeriods.size === 0 || importId === 0) return 0;
  // Ids of other kinds, such as categories, must not be mistaken for events.
  const importedIds = new Set([...dryLedger.values()].flatMap(({ kind, target }) => (kind === 'event' ? [target] : [])));
  const now = localFromDate(caller.now, caller.settings.zone);
  let trashedCount = 0;
  const ids = (await importedBefore(site.db, importId, number, 'event')).filter((id) => !importedIds.has(id));
  const metas = await metasOfImported(site.db, ids, [CALENDAR_UID, DATES.start]);
  const importIds = await importsOf(site.db, [...metas.keys()]);
  for (const [id, eventMetas] of metas) {
    const uid = eventMetas.get(CALENDAR_UID) ?? '';
    const period = coveredPeriods.get(uid) ?? coveredPeriods.get(lastingUid(uid) ?? '');
    const start = eventMetas.get(DATES.start) ?? '';
    if (!period || start < period[0] || start > period[1] || start <= now) continue;
    if (importIds.get(id)?.some((other) => other !== importId)) continue;
    const isTrashed = run.isDryRun
      ? await canBeTrashed(run, id)
      : await trashAndForget(site, caller, { kind: postKind('event'), id, from: importId });
    if (isTrashed) trashedCount += 1;
  }
  return trashedCount;
}

/** Whether an event can be moved to the trash and is not there already. */
async function canBeTrashed({ site: { db }, caller }: Run, id: number): Promise<boolean> {
  const row = (await loadPosts(db, [id])).get(id);
  return row !== undefined && row.post_status !== 'trash' && mayTrash(lookUpOnce(db), caller, postKind('event'), id);
}
