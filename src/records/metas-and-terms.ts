import { storedDates } from '../kinds/event-dates.ts';
import { DATES } from '../kinds/event-metas.ts';
import { taxonomiesOf, termKind } from '../kinds/index.ts';
import type { Rows } from '../kinds/kind.ts';
import type { TermKindName } from '../kinds/kind-names.ts';
import { loadMetas } from '../storage/rows/bundle.ts';
import { isWithin, noteEdges } from '../storage/rows/calendar-edges.ts';
import { removeOccurrence, writeFirstOccurrence, writeOccurrence } from '../storage/rows/occurrences.ts';
import { insertMetas, removePost, writeMetas } from '../storage/rows/posts.ts';
import { countIn, insertTermLinks, setTermsOf, shiftCounts, termTaxonomyIdsOf } from '../storage/rows/terms.ts';
import type { Post } from '../wordpress/rows.ts';
import { nowUtc } from '../wordpress/time.ts';
import type { Caller } from './caller.ts';
import { keepIndexOf, keepIndexOfNew } from './list-index.ts';
import { forgetLanguage, standsAlone } from './record-languages.ts';
import type { WriteContext } from './write-context.ts';

/** The metas and terms of a record that a write names, with its links and its image, which are metas, too. */
export interface MetasAndTerms {
  readonly metas: Rows['metas'];
  /** Ids of terms. */
  readonly terms: ReadonlyMap<TermKindName, readonly number[]>;
}

/**
 * Writes everything besides the row of a new record. Nothing is there yet, so that nothing has to be looked at first.
 */
export async function insertMetasAndTerms(write: WriteContext, row: Post, { metas, terms }: MetasAndTerms): Promise<void> {
  const { db, kind, language } = write;
  await insertMetas(db, row.ID, metas);
  const links = await insertTermLinks(db, row.ID, new Map([...terms].map(([name, ids]) => [termKind(name).taxonomy, ids])));
  if (row.post_status === 'publish') await countIn(db, links);
  if (!kind.dated) return;
  const occurrence = await firstOccurrence(write, row, metas);
  await keepIndexOfNew(db, write.caller, {
    post: row,
    occurrences: occurrence ? [{ ...occurrence, occurrence_id: 0 }] : [],
    metas: Object.entries(metas).flatMap(([meta_key, values]) => values.map((meta_value) => ({ meta_key, meta_value }))),
    terms: links,
    ...(language && standsAlone(language.values) ? { language: language.language.code } : {}),
  });
}

/**
 * Writes metas, terms and their counts, the calendar's rows, the index of lists. `statusBefore`: of the row before this
 * write.
 */
export async function writeMetasAndTerms(
  write: WriteContext,
  row: Post,
  statusBefore: string,
  { metas, terms }: MetasAndTerms,
): Promise<void> {
  const { db, kind } = write;
  await writeMetas(db, row.ID, metas);
  if (terms.size > 0 || (row.post_status === 'publish') !== (statusBefore === 'publish')) {
    const before = await countedTerms(write, row.ID, statusBefore);
    for (const [name, ids] of terms) await setTermsOf(db, row.ID, termKind(name).taxonomy, ids);
    await shiftCounts(db, before, await countedTerms(write, row.ID, row.post_status));
  }
  if (kind.dated) await writeCalendarRows(write, row.ID, metas);
}

/** Deletes a record for good, with everything that belongs to it. */
export async function deleteForGood(write: WriteContext, row: Post): Promise<void> {
  const { db, caller, kind } = write;
  const counted = await countedTerms(write, row.ID, row.post_status);
  const translations = await forgetLanguage(db, caller, kind, { id: row.ID, isCounted: row.post_status === 'publish' });
  await removePost(db, row.ID);
  if (kind.dated && caller.settings.occurrenceTables) await removeOccurrence(db, row.ID, caller.settings.recurrence);
  await shiftCounts(db, counted, []);
  if (kind.dated) await keepIndexOf(db, caller, [row.ID, ...translations]);
}

async function firstOccurrence({ db, caller }: WriteContext, row: Post, metas: Rows['metas']) {
  const { settings } = caller;
  if (!settings.occurrenceTables) return undefined;
  const occurrence = await writeFirstOccurrence(
    db,
    row.ID,
    storedDates({ metas: new Map(Object.entries(metas)) }),
    occurrenceContext(caller),
  );
  if (!occurrence) return undefined;
  const event = { start: occurrence.start_date_utc, end: occurrence.end_date_utc, status: row.post_status };
  if (!isWithin(settings.calendar.edges, event)) await noteEdges(db, row.ID, event);
  return occurrence;
}

async function writeCalendarRows({ db, caller }: WriteContext, id: number, changed: Rows['metas']): Promise<void> {
  if (caller.settings.occurrenceTables) {
    if (Object.keys(changed).some((key) => DATE_METAS.has(key))) {
      const metas = (await loadMetas(db, [id])).get(id) ?? new Map();
      await writeOccurrence(db, id, storedDates({ metas }), occurrenceContext(caller));
    }
    await noteEdges(db, id);
  }
  await keepIndexOf(db, caller, [id]);
}

const occurrenceContext = ({ now, settings }: Caller) => ({ updatedAt: nowUtc(now), recurrence: settings.recurrence });

/** Metas whose change makes the calendar write its rows again. */
const DATE_METAS: ReadonlySet<string> = new Set(Object.values(DATES).filter((key) => key !== DATES.abbreviation));

/** The terms whose counts a record of this status is part of: published ones are. */
const countedTerms = async ({ db, kind }: WriteContext, id: number, status: string): Promise<number[]> =>
  status === 'publish' ? termTaxonomyIdsOf(db, [id], taxonomiesOf(kind)) : [];
