import { randomUUID } from 'node:crypto';
import { INDEX_OPTION, LAST_SAVE_OPTION } from '../../calendar/settings.ts';
import { groupedBy } from '../../grouped-by.ts';
import { postKind } from '../../kinds/index.ts';
import { isTranslated } from '../../wordpress/content-languages.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import { dateFromUtc } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import type { Driver } from '../engine/driver.ts';
import { insertRows, upsertRows } from '../engine/insert.ts';
import type { DayRow, EntryRow } from '../engine/own-tables.ts';
import { pagesOf } from '../engine/pages.ts';
import { verbatim } from '../engine/statement.ts';
import { entryText } from '../journal/own-changes.ts';
import { joinWriters, reportIndexChange } from '../journal/reported-changes.ts';
import { deleteOption, lockOption, readOptions, writeOption } from '../rows/options.ts';
import { countsOf, entriesOf, type Facet, facetOf, type IndexedEvent, longFacet, sharesRange } from './event-index-rows.ts';
import { type EventRows, indexedEvents, isFilled, loadEventRows, type OptionalLanguages, withTranslations } from './indexed-events.ts';

/*
 * The list index: our own rows in addition to WordPress's, from which lists of events are read (`event-index-list.ts`).
 * Each writing transaction updates them. They are derived only from `posts`, `postmeta`, `tec_occurrences` and the
 * terms.
 */

/**
 * Returns the layout of the rows; a different value means that they have to be rebuilt. It depends on the languages of
 * events.
 */
export function indexLayout(languages: OptionalLanguages): string {
  if (!isTranslated(languages, postKind('event').postType)) return LAYOUT_VERSION;
  const numbers = languages.languages.map(({ code, number }) => `${code}=${number}`);
  const suffix = isFilled(languages) ? ' filled' : '';
  return `${LAYOUT_VERSION} ${LANGUAGE_LAYOUT_VERSION} ${languages.form} ${languages.defaultCode} ${numbers.join()}${suffix}`;
}

/**
 * Returns the layout of the index that lists may use now; undefined if there is none.
 *
 * @param state the name of the readable state of the data, determined before: the option is not read again for the same
 * state. Undefined: it has no name
 */
export async function layoutInUse(db: Database, state: string | undefined): Promise<string | undefined> {
  const cached = layouts.get(db.driver);
  if (cached && state !== undefined && cached.state === state) return cached.layout;
  const layout = (await readOptions(db, [INDEX_OPTION])).get(INDEX_OPTION);
  layouts.set(db.driver, { state, layout });
  return layout;
}

/** The last results. */
const layouts = new WeakMap<Driver, { readonly state: string | undefined; readonly layout: string | undefined }>();

const LAYOUT_VERSION = '2';
/** Layout version of the additional rows of sites in several languages. */
const LANGUAGE_LAYOUT_VERSION = '5';

const IDS_PER_QUERY = 500;
/**
 * Maximum number of events that a change of one term may update at once. For more, lists do not use the index until it
 * is rebuilt.
 */
const MAX_EVENTS_PER_CHANGE = 20_000;

/**
 * Updates the rows of these events from WordPress's tables; rows of ids that are not events any more are deleted. Must
 * be called in the transaction that writes, after all other changes of the events. If an event cannot be indexed, lists
 * do not use the index from then on.
 *
 * @returns ids of events that cannot be indexed
 */
export async function indexEvents(db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<number[]> {
  const unindexable: number[] = [];
  for (const page of pagesOf(ids, IDS_PER_QUERY)) {
    const events = await indexedEvents(db, await loadEventRows(db, page), languages);
    unindexable.push(...(await indexLoadedEvents(db, page, events)));
  }
  return unindexable;
}

/**
 * Does the same for events that have been read. `ids`: their ids, and those of posts that are not events any more. The
 * events must have been locked before they were read.
 */
export async function indexLoadedEvents(
  db: Database,
  ids: readonly number[],
  events: ReadonlyMap<number, IndexedEvent>,
): Promise<number[]> {
  const unindexable = await updateRows(db, ids, events, await presentEntries(db, ids));
  if (unindexable.length > 0) await disableIndex(db);
  return unindexable;
}

/** Whether the rows of these events match WordPress's tables. Only reads. */
export async function isIndexUpToDate(db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<boolean> {
  const events = await indexedEvents(db, await loadEventRows(db, ids), languages);
  const rowsByEvent = groupedBy(await presentEntries(db, ids), (row) => row.post_id);
  return ids.every((id) => {
    const event = events.get(id);
    return textOf(rowsByEvent.get(id) ?? []) === textOf((event && entriesOf(event)) ?? []);
  });
}

/** Returns those of these events that cannot be indexed. Only reads. */
export async function unindexableAmong(db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<number[]> {
  const events = await indexedEvents(db, await loadEventRows(db, ids), languages);
  return [...events.values()].flatMap((event) => (entriesOf(event) ? [] : event.id));
}

/** Calls `indexEvents` for these events, which the caller has written, and their translations. */
export async function indexWithTranslations(db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<number[]> {
  const all = await withTranslations(db, ids, languages);
  if (all.length > new Set(ids).size) await lockEvents(db, all);
  return indexEvents(db, all, languages);
}

/**
 * Locks events that this transaction has not written, in the order of their ids. Another transaction may be writing
 * them: their rows must be read after its end, or else those that it adds to the index would be replaced by older ones.
 */
export async function lockEvents(db: Database, ids: readonly number[]): Promise<void> {
  if (db.dialect.maxWriters === 1) return;
  const sorted = [...new Set(ids)].sort((one, other) => one - other);
  for (const page of pagesOf(sorted, IDS_PER_QUERY))
    await db.rows`SELECT ID FROM {posts} WHERE ID IN (${page}) ORDER BY ID ${verbatim(db.dialect.locks.update)}`;
}

/** Reads the current rows of these events. */
const presentEntries = (db: Database, ids: readonly number[]): Promise<EntryRow[]> => db.from('fasti_entries').whereIn('post_id', [...ids]);

/**
 * Indexes events that have just been created, whose rows are known. Old entries with one of the ids, for example after
 * WordPress's tables were restored to an earlier state, are replaced. They show that the index is out of date, so lists
 * do not use it from then on.
 */
export async function indexNewEvents(db: Database, rows: readonly EventRows[], languages: OptionalLanguages): Promise<void> {
  const ids = rows.map(({ post }) => post.ID);
  const events = await indexedEvents(db, rows, languages);
  const unindexable = await updateRows(db, ids, events, []).catch(async (error) => {
    if (!db.dialect.isDuplicate(error)) throw error;
    await updateRows(db, ids, events, await presentEntries(db, ids));
    return ids;
  });
  if (unindexable.length > 0) await disableIndex(db);
}

/** Marks the index as complete; lists use it from then on. */
export const enableIndex = (db: Database, languages: OptionalLanguages): Promise<void> =>
  writeOption(db, INDEX_OPTION, storedText(indexLayout(languages)), 'off');

/**
 * Makes lists work without the index until `reindexEvents` rebuilds it. A rebuild that is running now has to start
 * over, since it may already have passed the events whose rows are wrong.
 */
export async function disableIndex(db: Database): Promise<void> {
  await writeOption(db, GIVEN_UP_OPTION, storedText(randomUUID()), 'off');
  await deleteOption(db, INDEX_OPTION);
}

/** The option whose value changes whenever the index is given up. */
const GIVEN_UP_OPTION = 'fasti_index_given_up';

/** Must be called before a rebuild. Returns a mark for `enableIndexSince`. */
export async function markRebuild(db: Database): Promise<string> {
  joinWriters(db);
  const present = await lockOption(db, GIVEN_UP_OPTION);
  if (present !== '') return present;
  const mark = randomUUID();
  await writeOption(db, GIVEN_UP_OPTION, storedText(mark), 'off');
  return mark;
}

/** Calls `enableIndex` unless the index was given up after this mark (`markRebuild`). Returns whether it did. */
export async function enableIndexSince(db: Database, mark: string, languages: OptionalLanguages): Promise<boolean> {
  if ((await lockOption(db, GIVEN_UP_OPTION)) !== mark) return false;
  await enableIndex(db, languages);
  return true;
}

/**
 * Whether events were written after Fasti's last change, according to the calendar's option (`tribe_last_save_post`,
 * Unix time): by the calendar plugin, while no Fasti process was watching. In that case the index cannot be trusted.
 */
export async function isIndexOutdated(db: Database): Promise<boolean> {
  const options = await readOptions(db, [INDEX_OPTION, LAST_SAVE_OPTION]);
  if (!options.has(INDEX_OPTION)) return false;
  const lastChange = await db.from('fasti_changes').where('id', 1).select('changed_at').first();
  const last = Number(options.get(LAST_SAVE_OPTION) ?? 0);
  return last >= dateFromUtc(lastChange?.changed_at ?? '').getTime() / 1000 + 1;
}

/**
 * Returns the events whose rows change when this category gets another parent; undefined if there are too many to be
 * updated at once.
 */
export async function eventsBelowCategory(db: Database, category: number): Promise<number[] | undefined> {
  const rows = await db
    .from('fasti_entries')
    .where('facet', facetOf('category', category))
    .distinct('post_id')
    .limit(MAX_EVENTS_PER_CHANGE + 1);
  return rows.length > MAX_EVENTS_PER_CHANGE ? undefined : rows.map(({ post_id: id }) => id);
}

/**
 * Returns the events with exactly this term. When a category is deleted, these are removed from its ancestors.
 * Undefined if there are too many to be updated at once.
 */
export async function eventsWithTerm(db: Database, termTaxonomyId: number): Promise<number[] | undefined> {
  const rows: { object_id: number }[] = await db
    .from('term_relationships', 'r')
    .where('r.term_taxonomy_id', termTaxonomyId)
    .limit(MAX_EVENTS_PER_CHANGE + 1)
    .select('r.object_id');
  return rows.length > MAX_EVENTS_PER_CHANGE ? undefined : rows.map(({ object_id: id }) => id);
}

/**
 * Returns the events that are listed under a term or have it assigned (`link`: its `term_taxonomy_id`); undefined if
 * there are too many to be updated at once.
 */
export async function eventsOfTerm(db: Database, facet: Facet, link: number): Promise<number[] | undefined> {
  const [listed, assignedIds] = [
    await db
      .from('fasti_entries')
      .where('facet', facet)
      .distinct('post_id')
      .limit(MAX_EVENTS_PER_CHANGE + 1),
    await eventsWithTerm(db, link),
  ];
  const ids = new Set([...listed.map(({ post_id: id }) => id), ...(assignedIds ?? [])]);
  return assignedIds === undefined || ids.size > MAX_EVENTS_PER_CHANGE ? undefined : [...ids];
}

/** Deletes a facet permanently, with its counts. */
export async function dropFacet(db: Database, facet: Facet): Promise<void> {
  await db
    .from('fasti_entries')
    .whereIn('facet', [facet, longFacet(facet)])
    .delete();
  await countsUnder(db, facet).delete();
  reportIndexChange(db, undefined);
}

/** The counts of days of a facet, including those of its shares of languages. */
export const countsUnder = (db: Database, facet: Facet) =>
  db.from('fasti_days').where((any) => any.where('facet', facet).orWhereBetween('facet', [...sharesRange(facet)]));

// ------------------------------------------------------------------------------------------------- one step
/**
 * Updates the rows of these ids. `events`: those that are events; `currentRows`: the current rows. Returns the
 * ids that cannot be indexed.
 */
async function updateRows(
  db: Database,
  ids: readonly number[],
  events: ReadonlyMap<number, IndexedEvent>,
  currentRows: readonly EntryRow[],
): Promise<number[]> {
  const before = groupedBy(currentRows, (row) => row.post_id);
  const unindexable: number[] = [];
  const [deleted, inserted]: [EntryRow[], EntryRow[]] = [[], []];
  for (const id of new Set(ids)) {
    const event = events.get(id);
    const entries = event ? entriesOf(event) : [];
    if (!entries) unindexable.push(id);
    const oldEntries = before.get(id) ?? [];
    if (textOf(oldEntries) === textOf(entries ?? [])) continue;
    deleted.push(...oldEntries);
    inserted.push(...(entries ?? []));
  }
  const changedIds = [...new Set(deleted.map((row) => row.post_id))];
  if (changedIds.length > 0) await db.from('fasti_entries').whereIn('post_id', changedIds).delete();
  inserted.sort((a, b) => a.facet - b.facet || a.start_at - b.start_at);
  await insertRows(db, 'fasti_entries', inserted);
  await addToDays(db, deleted, inserted);
  reportIndexChange(db, { deleted, inserted });
  return unindexable;
}

const textOf = (rows: readonly EntryRow[]) => rows.map(entryText).sort().join(';');

/**
 * Updates the counts of days: subtracts those of deleted rows and adds those of new ones. All writers use the same
 * order, so that they do not deadlock.
 */
async function addToDays(db: Database, deleted: readonly EntryRow[], inserted: readonly EntryRow[]): Promise<void> {
  const changes = new Map<string, DayRow>();
  const add = (row: EntryRow, sign: number) => {
    for (const { facet, day, n, running } of countsOf(row)) {
      const change = changes.get(`${facet}:${day}`) ?? { facet, day, n: 0, running: 0 };
      changes.set(`${facet}:${day}`, { facet, day, n: change.n + sign * n, running: change.running + sign * running });
    }
  };
  for (const row of deleted) add(row, -1);
  for (const row of inserted) add(row, 1);
  const bySum = groupedBy(
    [...changes.values()].filter(({ n, running }) => n !== 0 || running !== 0).sort((a, b) => a.facet - b.facet || a.day - b.day),
    ({ n, running }) => `${n}:${running}`,
  );
  for (const rows of bySum.values()) {
    const { n, running } = rows[0]!;
    await upsertRows(db, 'fasti_days', rows, ['facet', 'day'], { n: `n + (${n})`, running: `running + (${running})` });
  }
}
