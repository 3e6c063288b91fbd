import { event } from '../../kinds/event.ts';
import type { Database } from '../../storage/engine/database.ts';
import { noteChange } from '../../storage/journal/reported-changes.ts';
import { insertEvents, type NewEvent } from '../../storage/rows/bulk.ts';
import { updateEdgesForNew } from '../../storage/rows/calendar-edges.ts';
import { addToCounts } from '../../storage/rows/new-rows.ts';
import { languageWriterOf } from '../../storage/translations/language-writers.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import type { Caller } from '../caller.ts';
import { updateIndex } from '../list-index.ts';
import { type LanguagesOfKind, languagesOf } from '../record-languages.ts';

/** A new event on a site whose content may have languages. */
export interface EventInLanguage extends NewEvent {
  /** Its language; by default that of the site. */
  readonly language?: string;
  /** Events with the same group, at most one per language, are translations of one another. */
  readonly group?: string;
}

/**
 * Creates many published events at once with a few statements, and updates the data that depend on them: counts of
 * terms, languages and translations, the index, the calendar's first and last date, and the change counter. Call it in
 * a transaction.
 */
export async function createEvents(db: Database, caller: Caller, events: readonly EventInLanguage[]): Promise<void> {
  const ids = await insertEvents(db, events, utcFromDate(caller.now));
  // All events are new and published, so the counts are incremented instead of recounted.
  const increments = new Map<number, number>();
  for (const id of events.flatMap(({ terms }) => terms)) increments.set(id, (increments.get(id) ?? 0) + 1);
  await addToCounts(db, increments);
  const kindLanguages = languagesOf(caller, event);
  if (kindLanguages) await placeInLanguages(db, kindLanguages, events, ids);
  await updateIndex(db, caller, ids);
  const eventTimes = events.map(
    ({ dates }, index) => [ids[index]!, { start: dates.startUtc, end: dates.endUtc, status: 'publish' }] as const,
  );
  await updateEdgesForNew(db, caller.settings.calendar.edges, new Map(eventTimes));
  noteChange(db, caller);
}

/** Assigns new events their languages, and links those of one group as translations. */
async function placeInLanguages(
  db: Database,
  { languages, translatable }: LanguagesOfKind,
  events: readonly EventInLanguage[],
  ids: readonly number[],
): Promise<void> {
  const writer = languageWriterOf(languages);
  const codes = events.map(({ language }) => language ?? languages.defaultCode);
  for (const language of languages.languages) {
    const idsInLanguage = ids.filter((_, index) => codes[index] === language.code);
    if (idsInLanguage.length > 0) await writer.assign(db, translatable, idsInLanguage, language, idsInLanguage.length);
  }
  const groups = new Map<string, Map<string, number>>();
  for (const [index, { group }] of events.entries())
    if (group !== undefined) groups.set(group, (groups.get(group) ?? new Map<string, number>()).set(codes[index]!, ids[index]!));
  for (const members of groups.values()) if (members.size > 1) await writer.writeGroup(db, translatable, members);
}
