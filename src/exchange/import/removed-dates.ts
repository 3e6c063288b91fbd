import { isAllDay } from '../../kinds/events/dates.ts';
import { CALENDAR_UID, DATES } from '../../kinds/events/metas.ts';
import { postKind } from '../../kinds/index.ts';
import { mayTrash } from '../../records/posts.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { importedBefore, importsOf, metasOfImported } from '../../storage/rows/imports.ts';
import { storedTitles } from '../../storage/rows/posts.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { localFromDate } from '../../wordpress/zones.ts';
import { lastingPart } from '../items/lasting-uid.ts';
import { addLoss } from '../items/report.ts';
import type { Run } from './run.ts';
import { type ImportState, storeState } from './step.ts';
import { trashAndForget } from './undo.ts';

/*
 * Dates of an event that an earlier import brought and a newer version of its calendar lacks: excluded dates, dates
 * after an earlier end of its rule, or all dates if the event moved to another time.
 */

/**
 * Moves to the trash those dates of these events that an earlier run imported and this run did not contain, if they are
 * in the future and within the period that the source covers. Past dates stay, and so do dates that another source has
 * brought too, which are reported: it may be this one under an earlier name. A dry run only counts them.
 *
 * `dates` of the state: names of events all of whose dates came in this run (`DatesEntry`), with the period that is
 * covered.
 *
 * @returns the number of dates
 * @throws SourceFault `superseded` if another run of the same source has begun
 */
export async function trashRemovedDates(state: ImportState): Promise<number> {
  const { run, sum } = state;
  const { site, caller, importId } = run;
  const keptIds: number[] = [];
  let trashedCount = 0;
  const starts = await removedDates(state);
  const importIds = await importsOf(site.db, [...starts.keys()]);
  for (const id of starts.keys()) {
    if (importIds.get(id)?.some((other) => other !== importId)) {
      keptIds.push(id);
      continue;
    }
    const isTrashed = run.isDryRun
      ? await canBeTrashed(run, id)
      : await trashAndForget(site, caller, { kind: postKind('event'), id, from: importId }, (db) =>
          storeState(db, state, { doneCount: state.doneCount, open: true, report: sum }),
        );
    if (isTrashed) trashedCount += 1;
  }
  const titles = await storedTitles(site.db, keptIds);
  for (const id of keptIds) addLoss(sum, { reason: 'date-kept', kind: 'event', of: titles.get(id) ?? '', detail: starts.get(id) });
  return trashedCount;
}

/** Returns the starts of the dates that this run did not contain although it covers them, by id. */
async function removedDates({ run, dates, unstorableUids }: ImportState): Promise<Map<number, string>> {
  const { site, caller, importId, number, dryLedger } = run;
  const starts = new Map<number, string>();
  if (dates.size === 0 || importId === 0) return starts;
  // Ids of other kinds, such as categories, must not be mistaken for events.
  const importedIds = new Set([...dryLedger.values()].flatMap(({ kind, target }) => (kind === 'event' ? [target] : [])));
  const ids = (await importedBefore(site.db, importId, number, 'event')).filter((id) => !importedIds.has(id));
  for (const [id, metas] of await metasOfImported(site.db, ids, METAS)) {
    const uid = metas.get(CALENDAR_UID) ?? '';
    const period = dates.get(uid) ?? dates.get(lastingPart(uid));
    // The run contained a date that it could not write: it may be this one.
    if (unstorableUids.has(lastingPart(uid))) continue;
    const start = metas.get(DATES.start) ?? '';
    if (period && start >= period[0] && start <= period[1] && isAhead(metas, caller)) starts.set(id, start);
  }
  return starts;
}

const METAS: readonly string[] = [CALENDAR_UID, DATES.start, DATES.startUtc, DATES.allDay];

/** Whether an event has not begun. A day has no zone: it begins by the clock of the site. */
function isAhead(metas: ReadonlyMap<string, string>, { now, settings }: Run['caller']): boolean {
  const startUtc = metas.get(DATES.startUtc) ?? '';
  const hasMoment = startUtc !== '' && !isAllDay(metas.get(DATES.allDay) ?? '');
  return hasMoment ? startUtc > utcFromDate(now) : (metas.get(DATES.start) ?? '') > localFromDate(now, settings.zone);
}

/** Whether an event can be moved to the trash and is not there already. */
async function canBeTrashed({ site: { db }, caller }: Run, id: number): Promise<boolean> {
  const row = (await loadPosts(db, [id])).get(id);
  return row !== undefined && row.post_status !== 'trash' && mayTrash(lookUpOnce(db), caller, postKind('event'), id);
}
