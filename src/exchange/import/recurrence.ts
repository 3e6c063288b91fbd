import { isDeepStrictEqual } from 'node:util';
import { occurrence } from '../../calendar/dates.ts';
import { baseAbove, highestIdBelow, OCCURRENCE_BASE_OPTION, occurrenceBase, type SiteSettings } from '../../calendar/settings.ts';
import { storedDates } from '../../kinds/events/dates.ts';
import { DATES } from '../../kinds/events/metas.ts';
import type { Site } from '../../site.ts';
import { highestPostId, isOwnId, MAX_OWN_ID } from '../../storage/rows/ids-in-use.ts';
import { readOptions, writeOption } from '../../storage/rows/options.ts';
import { joinSeries, loadRecurrences, loadSeries, type StoredSeries, writeRecurrence } from '../../storage/rows/recurrences.ts';
import { withFurtherDates } from '../../storage/rows/rule-dates.ts';
import { createRecurrenceTables } from '../../storage/schema/recurrence-tables.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { localFromDate, parseZone, type Zone } from '../../wordpress/zones.ts';
import { type CleanPost, cleanPost, completeDates } from '../items/clean.ts';
import { type Item, isPostItem, nameOf, type PostColumns, type PostItem } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';
import { addLoss } from '../items/report.ts';
import { permittedNew } from './rights.ts';
import type { Work } from './run.ts';

/* Import of recurring events: their rule, a row for each date, and their series. */

/** Returns the first of these items that needs tables that not every database has, or undefined. */
export const recurringItem = (items: readonly Item[]): PostItem | undefined =>
  items.filter(isPostItem).find(({ recurrence, series }) => recurrence !== undefined || series !== undefined);

/**
 * Creates the tables for recurring events. Must run outside of transactions, since MySQL commits at each change of a
 * table.
 */
export async function prepareRecurrence(site: Site, { recurrence }: PostItem): Promise<void> {
  const { recurrence: currentRecurrence } = await site.settings();
  await createRecurrenceTables(site.db);
  await site.db.transaction(async (db) => {
    const options = await readOptions(db, [OCCURRENCE_BASE_OPTION]);
    if (currentRecurrence && options.has(OCCURRENCE_BASE_OPTION)) return;
    const base = options.size === 0 && isOwnId(recurrence?.base) ? recurrence.base : occurrenceBase(options);
    // Until now, posts could have any id, such as that of a date of another site.
    await writeOption(db, OCCURRENCE_BASE_OPTION, storedText(String(baseAbove(base, await highestPostId(db)))), 'on');
  });
}

/** Returns the highest id that a post may bring with it: higher ones are for dates of recurring events. */
export const highestIdFor = ({ recurrence }: Pick<SiteSettings, 'recurrence'>): number =>
  Math.min(MAX_OWN_ID, recurrence ? highestIdBelow(recurrence.base) : MAX_OWN_ID);

/**
 * Returns the item. If its event takes place once, the date row is updated from the cleaned metas, which may have been
 * corrected.
 */
export function withDateOf(item: PostItem, { metas }: Pick<CleanPost, 'metas'>): PostItem {
  const { recurrence } = item;
  const [row] = recurrence?.dates ?? [];
  const moments = recurrence && !recurrence.recurs && row ? occurrence(storedDates({ metas: metaMap(metas) })) : null;
  if (!recurrence || !row || !moments) return item;
  const { start_date: start, start_date_utc: startUtc, end_date: end, end_date_utc: endUtc, duration } = moments;
  return { ...item, recurrence: { ...recurrence, dates: [{ ...row, start, startUtc, end, endUtc, duration }] } };
}

/** Whether the recurrence of an item differs from what is stored. */
export async function isRecurrenceDifferent({ db, run }: Work, item: PostItem, target: number): Promise<boolean> {
  const { recurrence: settings, occurrenceTables } = run.caller.settings;
  const { recurrence, series } = item;
  if (!recurrence && !series) return false;
  // A dry run creates no tables; if there are none yet, nothing is stored.
  if (!settings) return run.isDryRun && occurrenceTables;
  const stored = (await loadRecurrences(db, [target])).get(target);
  const comparable = (of: PostItem['recurrence'] | typeof stored) => of && [of.recurs, of.rule, of.dates.map(({ id: _, ...date }) => date)];
  if (recurrence && !isDeepStrictEqual(comparable(withFurtherDates(recurrence, stored, zoneOf(item))), comparable(stored))) return true;
  const member = settings.series ? (await loadSeries(db, [target])).get(target) : undefined;
  return series !== undefined && slugOf(series.columns.post_name) !== member?.columns.post_name;
}

const timezoneOf = ({ metas }: PostItem) => new Map(metas).get(DATES.timezone);

const zoneOf = (item: PostItem): Zone | undefined => parseZone(timezoneOf(item) ?? '') ?? undefined;

/** Writes the recurrence of an event. `isNewEvent`: the event is new, so that its dates can keep their ids. */
export async function importRecurrence(
  { db, run, tally }: Work,
  item: PostItem,
  target: number,
  { isNewEvent }: { isNewEvent: boolean },
): Promise<void> {
  const { settings, now, viewer } = run.caller;
  if (!settings.recurrence) return;
  if (item.recurrence) {
    const stored = isNewEvent ? undefined : (await loadRecurrences(db, [target])).get(target);
    const renumberedCount = await writeRecurrence(db, target, withFurtherDates(item.recurrence, stored, zoneOf(item)), {
      updatedAt: utcFromDate(now),
      timezone: timezoneOf(item),
      isNewEvent,
    });
    if (isNewEvent && item.recurrence.recurs && (renumberedCount > 0 || item.recurrence.base !== settings.recurrence.base))
      addLoss(tally, { reason: 'occurrence-ids', kind: 'event', of: nameOf(item), place: item.place });
  }
  if (item.series && settings.recurrence.series) await joinSeries(db, target, storedSeries(item, item.series, { run, tally }), viewer.id);
}

/**
 * Returns a series in a form that the tables can store, without an id that its post may not have; scripts and the like
 * are removed if requested.
 */
function storedSeries(item: PostItem, { id, columns, metas }: StoredSeries, { run, tally }: Pick<Work, 'run' | 'tally'>): StoredSeries {
  const { settings, now } = run.caller;
  const clean = cleanPost({ ...item, columns, metas }, run);
  for (const { reason, detail } of clean.losses)
    addLoss(tally, {
      reason,
      kind: 'event',
      of: columns.post_title || nameOf(item),
      place: item.place,
      ...(detail === '' ? {} : { detail }),
    });
  const stored: PostColumns = {
    ...permittedNew({ run, tally }, item, clean).clean.columns,
    ...completeDates(clean.columns, settings.zone, { local: localFromDate(now, settings.zone), utc: utcFromDate(now) }),
    post_name: slugOf(columns.post_name),
  };
  return { id: id <= highestIdFor(settings) ? id : 0, columns: { ...columns, ...textsIn(stored) }, metas: clean.metas };
}

const slugOf = (slug: string): string => sanitizeTitle(slug, 'query');

const textsIn = (columns: PostColumns): Record<string, string> =>
  Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, String(value)]));
