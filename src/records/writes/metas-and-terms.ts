import type { Occurrence } from '../../calendar/dates.ts';
import { storedDates } from '../../kinds/events/dates.ts';
import { DATES } from '../../kinds/events/metas.ts';
import { hasRules } from '../../kinds/events/occurrence.ts';
import { taxonomiesOf, termKind } from '../../kinds/index.ts';
import type { Rows, StoredPost } from '../../kinds/kind.ts';
import type { TermKindName } from '../../kinds/kind-names.ts';
import { loadMetasOf } from '../../storage/rows/bundle.ts';
import { updateEdges, updateEdgesForNew } from '../../storage/rows/calendar-edges.ts';
import { removeOccurrence, writeFirstOccurrences, writeOccurrence } from '../../storage/rows/occurrences.ts';
import { insertMetas, removePost, writeMetas } from '../../storage/rows/posts.ts';
import { touchDatedPosts } from '../../storage/rows/recurring-events.ts';
import {
  assignTerms,
  countNewLinks,
  insertTermLinks,
  moveCounts,
  type TermLink,
  termTaxonomyIdsOf,
} from '../../storage/rows/term-links.ts';
import type { Post } from '../../wordpress/rows.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import type { Caller } from '../caller.ts';
import { indexCreatedEvents, removeLinksWithIndexRows, updateIndex } from '../list-index.ts';
import { deleteLanguageData, hasNoTranslations } from '../record-languages.ts';
import { type BareNumber, termsOfNumbers } from '../requested-terms.ts';
import type { KindWrite, LanguageOfWrite, WriteContext } from './write-context.ts';

/** The metas and terms that a write sets. Links and the image are among the metas. */
export interface MetasAndTerms {
  readonly metas: Rows['metas'];
  /** Ids of terms. */
  readonly terms: ReadonlyMap<TermKindName, readonly number[]>;
  /** Those of the ids that a request names as a bare number. */
  readonly numbers?: ReadonlyMap<TermKindName, readonly BareNumber[]>;
}

export const NO_METAS_OR_TERMS: MetasAndTerms = { metas: {}, terms: new Map() };

/** A record whose row was just inserted, with its remaining data. */
export interface InsertedRecord extends MetasAndTerms {
  readonly row: Post;
  readonly language: LanguageOfWrite | undefined;
}

/** Writes all data of new records except their rows. The records are new, so no existing data have to be read. */
export async function insertMetasAndTerms(write: KindWrite, records: readonly InsertedRecord[]): Promise<void> {
  const { db, kind } = write;
  await insertMetas(
    db,
    byId(records, ({ metas }) => metas),
  );
  const links = await linkTerms(write, records);
  const publishedRecords = records.filter(({ row }) => row.post_status === 'publish');
  await countNewLinks(
    db,
    publishedRecords.flatMap(({ row }) => links.get(row.ID) ?? []),
  );
  if (!kind.hasDates) return;
  const occurrences = await firstOccurrences(write, records);
  const rows = records.map(({ row, metas, language }) => ({
    post: row,
    occurrences: [occurrences.get(row.ID) ?? []].flat().map((occurrence) => ({ ...occurrence, occurrence_id: 0 })),
    metas: Object.entries(metas).flatMap(([meta_key, values]) => values.map((meta_value) => ({ meta_key, meta_value }))),
    terms: links.get(row.ID) ?? [],
    ...(language && hasNoTranslations(language.values) ? { language: language.language.code } : {}),
  }));
  await indexCreatedEvents(db, write.caller, rows);
}

/** Assigns the terms of new records. Returns those that exist, by the ids of the records. */
async function linkTerms(write: KindWrite, records: readonly InsertedRecord[]): Promise<Map<number, TermLink[]>> {
  const { db } = write;
  const byTaxonomy = (terms: MetasAndTerms['terms']) => new Map(Array.from(terms, ([name, ids]) => [termKind(name).taxonomy, ids]));
  const links = await insertTermLinks(
    db,
    byId(records, ({ terms }) => byTaxonomy(terms)),
  );
  for (const record of records) {
    const linked = links.get(record.row.ID) ?? [];
    const further = new Map<TermKindName, number[]>();
    for (const name of record.terms.keys()) {
      const { taxonomy } = termKind(name);
      const assignedIds = linked.filter((link) => link.taxonomy === taxonomy).map((link) => link.term_id);
      const ids = await furtherTerms(write, record, name, assignedIds);
      if (ids.length > 0) further.set(name, ids);
    }
    const furtherLinks = await insertTermLinks(db, new Map(further.size > 0 ? [[record.row.ID, byTaxonomy(further)]] : []));
    links.set(record.row.ID, [...linked, ...(furtherLinks.get(record.row.ID) ?? [])]);
  }
  return links;
}

/**
 * Returns the terms whose slug or name is a number that the request names and that is no term's id (decision D4).
 * `assignedIds`: those of the requested terms that exist. Only a number that is not among them is looked up.
 */
async function furtherTerms(
  { db, caller }: KindWrite,
  { numbers, language }: Pick<InsertedRecord, 'numbers' | 'language'>,
  name: TermKindName,
  assignedIds: readonly number[],
): Promise<number[]> {
  const unknownNumbers = (numbers?.get(name) ?? []).filter(({ id }) => !assignedIds.includes(id));
  const ids = await termsOfNumbers({ db, caller }, name, unknownNumbers, language?.language);
  return ids.filter((id) => !assignedIds.includes(id));
}

const byId = <Value>(records: readonly InsertedRecord[], read: (record: InsertedRecord) => Value): Map<number, Value> =>
  new Map(records.map((record) => [record.row.ID, read(record)]));

/**
 * Writes metas, terms and their counts, the calendar's rows, and the list index. `statusBefore`: the status of the row
 * before this write.
 */
export async function writeMetasAndTerms(
  write: WriteContext,
  row: Post,
  statusBefore: string,
  { metas, terms, numbers = new Map() }: MetasAndTerms,
): Promise<void> {
  const { db, kind, language } = write;
  await writeMetas(db, row.ID, metas);
  if (terms.size > 0 || (row.post_status === 'publish') !== (statusBefore === 'publish')) {
    const countedBefore = await countedTerms(write, row.ID, statusBefore);
    for (const [name, ids] of terms) {
      const { taxonomy } = termKind(name);
      const { assignedIds } = await assignTerms(db, row.ID, taxonomy, ids);
      const furtherIds = await furtherTerms(write, { numbers, language }, name, assignedIds);
      if (furtherIds.length > 0) await assignTerms(db, row.ID, taxonomy, [...assignedIds, ...furtherIds]);
    }
    await moveCounts(db, countedBefore, await countedTerms(write, row.ID, row.post_status));
  }
  if (kind.hasDates) await writeCalendarRows(write, row.ID, metas);
}

/** Deletes a record permanently, with all data that belong to it. */
export async function deletePermanently(write: WriteContext, { row, metas }: StoredPost): Promise<void> {
  const { db, caller, kind } = write;
  if (kind.hasDates && hasRules(metas)) await touchDatedPosts(db, row.ID);
  const countedTermIds = await countedTerms(write, row.ID, row.post_status);
  const translations = await deleteLanguageData(db, caller, kind, { id: row.ID, isCounted: row.post_status === 'publish' });
  await removePost(db, row.ID);
  await removeLinksWithIndexRows(db, caller, kind, row.ID);
  if (kind.hasDates && caller.settings.occurrenceTables) {
    await removeOccurrence(db, row.ID, caller.settings.recurrence);
    await updateEdges(db, row.ID);
  }
  await moveCounts(db, countedTermIds, []);
  if (kind.hasDates) await updateIndex(db, caller, [row.ID, ...translations]);
}

async function firstOccurrences({ db, caller }: KindWrite, records: readonly InsertedRecord[]): Promise<Map<number, Occurrence>> {
  const { settings } = caller;
  if (!settings.occurrenceTables) return new Map();
  const dates = byId(records, ({ metas }) => storedDates({ metas: new Map(Object.entries(metas)) }));
  const occurrences = await writeFirstOccurrences(db, dates, occurrenceContext(caller));
  const events = records.flatMap(({ row: { ID, post_status: status } }) => {
    const occurrence = occurrences.get(ID);
    return occurrence ? [[ID, { start: occurrence.start_date_utc, end: occurrence.end_date_utc, status }] as const] : [];
  });
  await updateEdgesForNew(db, settings.calendar.edges, new Map(events));
  return occurrences;
}

async function writeCalendarRows({ db, caller }: WriteContext, id: number, changedMetas: Rows['metas']): Promise<void> {
  if (caller.settings.occurrenceTables) {
    if (Object.keys(changedMetas).some((key) => DATE_METAS.has(key))) {
      const metas = await loadMetasOf(db, id);
      await writeOccurrence(db, id, storedDates({ metas }), occurrenceContext(caller));
    }
    await updateEdges(db, id);
  }
  await updateIndex(db, caller, [id]);
}

const occurrenceContext = ({ now, settings }: Caller) => ({ updatedAt: utcFromDate(now), recurrence: settings.recurrence });

/** Metas whose change requires the calendar's rows to be rewritten. */
const DATE_METAS: ReadonlySet<string> = new Set(Object.values(DATES).filter((key) => key !== DATES.abbreviation));

/** Returns the terms in whose counts a record of this status is included: those of published records. */
const countedTerms = async ({ db, kind }: WriteContext, id: number, status: string): Promise<number[]> =>
  status === 'publish' ? termTaxonomyIdsOf(db, [id], taxonomiesOf(kind)) : [];
