import { event } from '../kinds/event.ts';
import type { Database } from '../storage/engine/database.ts';
import { noteChange } from '../storage/journal/touched.ts';
import { addToCounts } from '../storage/lists/many-posts.ts';
import { insertEvents, type NewEvent } from '../storage/rows/bulk.ts';
import { noteEdges } from '../storage/rows/calendar-edges.ts';
import { writerFor } from '../storage/translations/writers.ts';
import { languageOfCode } from '../wordpress/content-languages.ts';
import { nowUtc } from '../wordpress/time.ts';
import type { Caller } from './caller.ts';
import { keepIndexOf } from './list-index.ts';
import { languagesOf } from './record-languages.ts';

/**
 * Makes many published events at once, with a few statements for all of them, and keeps in step what depends on them:
 * counts of terms, their language (the default one), the index, the calendar's first and last date and the change
 * counter. Call it in a transaction.
 */
export async function createEvents(db: Database, caller: Caller, events: readonly NewEvent[]): Promise<void> {
  const ids = await insertEvents(db, events, nowUtc(caller.now));
  // All are published and new: nothing has to be counted from the start.
  const more = new Map<number, number>();
  for (const id of events.flatMap(({ terms }) => terms)) more.set(id, (more.get(id) ?? 0) + 1);
  await addToCounts(db, more);
  const own = languagesOf(caller, event);
  const language = own && languageOfCode(own.languages, own.languages.defaultCode);
  if (own && language) await writerFor(own.languages).assign(db, own.of, ids, language, ids.length);
  await keepIndexOf(db, caller, ids);
  const places = [...events.keys()];
  const earliest = places.reduce((least, place) => (events[place]!.dates.startUtc < events[least]!.dates.startUtc ? place : least), 0);
  const latest = places.reduce((most, place) => (events[place]!.dates.endUtc > events[most]!.dates.endUtc ? place : most), 0);
  for (const place of new Set([earliest, latest])) await noteEdges(db, ids[place]!);
  noteChange(db, caller);
}
