import { FEATURED_META, HIDDEN_META, ORGANIZER_LINK, VENUE_LINK } from '../../kinds/event-metas.ts';
import { postKind, taxonomies, termKind } from '../../kinds/index.ts';
import { type ContentLanguage, type ContentLanguages, isTranslated, languageOfCode } from '../../wordpress/content-languages.ts';
import type { Post, Term } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { insertRows, upsertRows } from '../engine/insert.ts';
import { verbatim } from '../engine/statement.ts';
import type { DayRow, EntryRow, TecOccurrenceRow } from '../engine/tables.ts';
import { indexChanged } from '../journal/touched.ts';
import { formOf } from '../languages/forms.ts';
import { deleteOption, readOptions, writeOption } from '../rows/options.ts';
import { isRecurring } from '../rows/recurring-events.ts';
import { entriesOf, type Facet, facetOf, type IndexedEvent, type LanguagePlace, longOnes, sharesOf } from './event-index-rows.ts';

/*
 * The list index: rows of our own beside WordPress's, from which lists of events are read (`event-index-list.ts`), kept
 * in step in the transaction that writes. What they say follows from `posts`, `postmeta`, `tec_occurrences` and the
 * terms alone.
 */

/**
 * The option that says the index holds every event. It stands among WordPress's own, so that it goes when those are
 * replaced.
 */
export const INDEX_OPTION = 'fasti_index';

/** The languages of the content; undefined where it has none. */
export type OptionalLanguages = ContentLanguages | undefined;

/** How the rows are made; another value means that they are to be rebuilt. They depend on the languages of events. */
export function indexLayout(languages: OptionalLanguages): string {
  if (!isTranslated(languages, postKind('event').postType)) return LAYOUT;
  const numbers = languages.languages.map(({ code, number }) => `${code}=${number}`);
  const filled = isFilled(languages) ? ' filled' : '';
  return `${LAYOUT} ${LAYOUT_OF_LANGUAGES} ${languages.form} ${languages.defaultCode} ${numbers.join()}${filled}`;
}

const LAYOUT = '2';
/** The same of the rows that sites in several languages have besides. */
const LAYOUT_OF_LANGUAGES = '2';

/** Whether lists of one language hold what stands in for what it lacks, unless a request says otherwise. */
const isFilled = ({ withFallback }: ContentLanguages): boolean => withFallback.includes(postKind('event').postType);

const IDS = 500;
/**
 * So many events change at once by a change of one term. Above that, lists go without the index until it is rebuilt.
 */
const MOST_AT_ONCE = 20_000;

/**
 * Brings the rows of these events into step with WordPress's tables; of ids that are no events any more they are
 * removed. Call it in the transaction that writes, after everything else about the events. Where an event cannot be
 * indexed, lists go without the index from then on.
 *
 * @returns ids of events that cannot be indexed
 */
export async function indexEvents(db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<number[]> {
  const unfit: number[] = [];
  for (let at = 0; at < ids.length; at += IDS) {
    const some = ids.slice(at, at + IDS);
    const events = await indexedEvents(db, await loadEventRows(db, some), languages);
    const present = await db.from('fasti_entries').whereIn('post_id', some);
    unfit.push(...(await indexThese(db, some, events, present)));
  }
  if (unfit.length > 0) await distrustIndex(db);
  return unfit;
}

/** Whether the rows of these events say what WordPress's tables say. Only reads. */
export async function isInStep(db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<boolean> {
  const events = await indexedEvents(db, await loadEventRows(db, ids), languages);
  const present = groupedBy(await db.from('fasti_entries').whereIn('post_id', [...ids]), (row) => row.post_id);
  return ids.every((id) => {
    const event = events.get(id);
    return textOf(present.get(id) ?? []) === textOf((event && entriesOf(event)) ?? []);
  });
}

/** `indexEvents` for one event that has just been made, whose rows are known. */
export async function indexNewEvent(db: Database, rows: EventRows, languages: OptionalLanguages): Promise<void> {
  const unfit = await indexThese(db, [rows.post.ID], await indexedEvents(db, [rows], languages), []);
  if (unfit.length > 0) await distrustIndex(db);
}

/** Says that the index holds everything; lists use it from now on. */
export const trustIndex = (db: Database, languages: OptionalLanguages): Promise<void> =>
  writeOption(db, INDEX_OPTION, indexLayout(languages), 'off');

/** Lists go without the index, until `reindexEvents` made it again. */
export const distrustIndex = (db: Database): Promise<void> => deleteOption(db, INDEX_OPTION);

/**
 * Whether somebody wrote events after our last change, as the calendar notes it (`tribe_last_save_post`, Unix time):
 * the plugin, while nobody of us looked on. Then the index is not to be trusted.
 */
export async function isOvertaken(db: Database): Promise<boolean> {
  const options = await readOptions(db, [INDEX_OPTION, 'tribe_last_save_post']);
  if (!options.has(INDEX_OPTION)) return false;
  const ours = await db.from('fasti_changes').where('id', 1).select('changed_at').first();
  const last = Number(options.get('tribe_last_save_post') ?? 0);
  return last >= Date.parse(`${ours?.changed_at.replace(' ', 'T')}Z`) / 1000 + 1;
}

/** Events whose rows change when this category gets another parent; undefined: too many to be changed at once. */
export async function eventsUnder(db: Database, category: number): Promise<number[] | undefined> {
  const rows = await db
    .from('fasti_entries')
    .where('facet', facetOf('category', category))
    .distinct('post_id')
    .limit(MOST_AT_ONCE + 1);
  return rows.length > MOST_AT_ONCE ? undefined : rows.map(({ post_id: id }) => id);
}

/**
 * Events with exactly this term, which the deletion of a category takes from under those above it; undefined: too many
 * to be changed at once.
 */
export async function eventsWith(db: Database, termTaxonomyId: number): Promise<number[] | undefined> {
  const rows = (await db
    .from('term_relationships', 'r')
    .where('r.term_taxonomy_id', termTaxonomyId)
    .limit(MOST_AT_ONCE + 1)
    .select('r.object_id')) as { object_id: number }[];
  return rows.length > MOST_AT_ONCE ? undefined : rows.map(({ object_id: id }) => id);
}

/**
 * Events that are listed under a term, or carry it (`link`: its row in the taxonomy); undefined: too many to be changed
 * at once.
 */
export async function eventsOfTerm(db: Database, facet: Facet, link: number): Promise<number[] | undefined> {
  const [listed, carrying] = [
    await db
      .from('fasti_entries')
      .where('facet', facet)
      .distinct('post_id')
      .limit(MOST_AT_ONCE + 1),
    await eventsWith(db, link),
  ];
  const ids = new Set([...listed.map(({ post_id: id }) => id), ...(carrying ?? [])]);
  return carrying === undefined || ids.size > MOST_AT_ONCE ? undefined : [...ids];
}

/** Removes a heading for good, with its counts. */
export async function dropFacet(db: Database, facet: Facet): Promise<void> {
  await db
    .from('fasti_entries')
    .whereIn('facet', [facet, longOnes(facet)])
    .delete();
  await db.from('fasti_days').where('facet', facet).delete();
  indexChanged(db, undefined);
}

// ------------------------------------------------------------------------------------------------- one step
/**
 * Brings the rows of these ids into step. `events`: those among them that are events; `present`: the rows as they are.
 * Gives those that cannot be indexed.
 */
async function indexThese(
  db: Database,
  ids: readonly number[],
  events: ReadonlyMap<number, IndexedEvent>,
  present: readonly EntryRow[],
): Promise<number[]> {
  const before = groupedBy(present, (row) => row.post_id);
  const unfit: number[] = [];
  const [gone, fresh]: [EntryRow[], EntryRow[]] = [[], []];
  for (const id of new Set(ids)) {
    const event = events.get(id);
    const wanted = event ? entriesOf(event) : [];
    if (!wanted) unfit.push(id);
    const old = before.get(id) ?? [];
    if (textOf(old) === textOf(wanted ?? [])) continue;
    gone.push(...old);
    fresh.push(...(wanted ?? []));
  }
  const changed = [...new Set(gone.map((row) => row.post_id))];
  if (changed.length > 0) await db.from('fasti_entries').whereIn('post_id', changed).delete();
  fresh.sort((a, b) => a.facet - b.facet || a.start_at - b.start_at);
  await insertRows(db, 'fasti_entries', fresh);
  await addToDays(db, gone, fresh);
  indexChanged(db, { gone, fresh });
  return unfit;
}

const COLUMNS = [
  'facet',
  'start_at',
  'posted_at',
  'post_id',
  'end_at',
  'status',
  'hidden',
  'locked',
  'featured',
  'occurrence_id',
  'language',
] as const;
const textOf = (rows: readonly EntryRow[]) =>
  rows
    .map((row) => COLUMNS.map((column) => row[column]).join())
    .sort()
    .join(';');

/**
 * Counts of days, less those of rows that are gone, and those of new ones more. In one order for all writers, so that
 * they do not lock each other out.
 */
async function addToDays(db: Database, gone: readonly EntryRow[], fresh: readonly EntryRow[]): Promise<void> {
  const changes = new Map<string, DayRow>();
  const add = (row: EntryRow, sign: number) => {
    for (const { facet, day, n, running } of sharesOf(row)) {
      const change = changes.get(`${facet}:${day}`) ?? { facet, day, n: 0, running: 0 };
      changes.set(`${facet}:${day}`, { facet, day, n: change.n + sign * n, running: change.running + sign * running });
    }
  };
  for (const row of gone) add(row, -1);
  for (const row of fresh) add(row, 1);
  const bySum = groupedBy(
    [...changes.values()].filter(({ n, running }) => n !== 0 || running !== 0).sort((a, b) => a.facet - b.facet || a.day - b.day),
    ({ n, running }) => `${n}:${running}`,
  );
  for (const rows of bySum.values()) {
    const { n, running } = rows[0]!;
    await upsertRows(db, 'fasti_days', rows, ['facet', 'day'], { n: `n + (${n})`, running: `running + (${running})` });
  }
}

// ------------------------------------------------------------------------------------------------- what the tables say
/** What WordPress's tables and the calendar's say of an event, as far as the index is made of it. */
export interface EventRows {
  readonly post: Pick<Post, 'ID' | 'post_status' | 'post_date' | 'post_password'>;
  readonly occurrences: readonly Pick<TecOccurrenceRow, 'start_date' | 'end_date' | 'occurrence_id' | 'has_recurrence'>[];
  readonly metas: readonly { readonly meta_key: string; readonly meta_value: string | null }[];
  readonly terms: readonly EventTerm[];
}

/** A term of an event. `parent` where its row is kept from other writers already. */
type EventTerm = Pick<Term, 'term_id' | 'taxonomy'> & Partial<Pick<Term, 'parent'>>;

async function loadEventRows(db: Database, ids: readonly number[]): Promise<EventRows[]> {
  const posts = await db
    .from('posts')
    .whereIn('ID', [...ids])
    .where('post_type', postKind('event').postType)
    .select('ID', 'post_status', 'post_date', 'post_password');
  const own = posts.map(({ ID }) => ID);
  if (own.length === 0) return [];
  type Of<Rows extends readonly unknown[]> = (Rows[number] & { readonly of: number })[];
  // All columns: `has_recurrence` is not there in every database.
  const occurrences = (await db.from('tec_occurrences').whereIn('post_id', own).select('*', 'post_id as of')) as Of<
    EventRows['occurrences']
  >;
  const metas = (await db
    .from('postmeta')
    .whereIn('post_id', own)
    .whereIn('meta_key', [VENUE_LINK, ORGANIZER_LINK, HIDDEN_META, FEATURED_META])
    .select('post_id as of', 'meta_key', 'meta_value')) as Of<EventRows['metas']>;
  const terms = (await db
    .from('term_relationships', 'r')
    .joinRaw(`${db.dialect.joinInOrder} ?? tt ON tt.term_taxonomy_id = r.term_taxonomy_id`, [db.table('term_taxonomy')])
    .whereIn('r.object_id', own)
    .whereIn('tt.taxonomy', taxonomies)
    .select('r.object_id as of', 'tt.term_id', 'tt.taxonomy')) as Of<EventRows['terms']>;
  const [datesOf, metasOf, termsOf] = [
    groupedBy(occurrences, (row) => row.of),
    groupedBy(metas, (row) => row.of),
    groupedBy(terms, (row) => row.of),
  ];
  return posts.map((post) => ({
    post,
    occurrences: datesOf.get(post.ID) ?? [],
    metas: metasOf.get(post.ID) ?? [],
    terms: termsOf.get(post.ID) ?? [],
  }));
}

/** Events as the index takes them, by id. */
async function indexedEvents(db: Database, events: readonly EventRows[], languages: OptionalLanguages): Promise<Map<number, IndexedEvent>> {
  const isCategory = ({ taxonomy }: { taxonomy: string }) => taxonomy === termKind('category').taxonomy;
  const categoriesOf = ({ terms }: EventRows) => terms.filter(isCategory);
  const above = await loadParents(db, events.flatMap(categoriesOf));
  const placeOf = await languagePlaces(
    db,
    events.map(({ post }) => post.ID),
    languages,
  );
  return new Map(
    events.map((rows) => {
      const { post, occurrences, metas, terms } = rows;
      // MySQL finds keys whatever their case.
      const values = (key: string) =>
        metas.filter((row) => row.meta_key.toLowerCase() === key.toLowerCase()).map((row) => row.meta_value ?? '');
      const event: IndexedEvent = {
        id: post.ID,
        status: post.post_status,
        posted: post.post_date,
        locked: post.post_password !== '',
        hidden: values(HIDDEN_META).length > 0,
        featured: values(FEATURED_META).length > 0,
        occurrences: occurrences.map(({ occurrence_id: id, start_date: start, end_date: end }) => ({
          id: isRecurring(occurrences) ? id : 0,
          start,
          end,
        })),
        categories: withAbove(
          categoriesOf(rows).map((term) => term.term_id),
          above,
        ),
        tags: terms.filter((term) => !isCategory(term)).map((term) => term.term_id),
        venues: values(VENUE_LINK),
        organizers: values(ORGANIZER_LINK),
        language: placeOf(post.ID),
      };
      return [post.ID, event];
    }),
  );
}

/**
 * Events of the groups of these, themselves included: what lists of one language say of an event depends on whether it
 * is translated.
 */
async function withTranslations(db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<readonly number[]> {
  if (ids.length === 0 || !isTranslated(languages, postKind('event').postType)) return ids;
  const { posts } = await formOf(languages).memberships(db, languages, { posts: ids, terms: [] });
  return [...new Set([...ids, ...[...posts.values()].flatMap(({ members }) => [...members.values()])])];
}

/** `indexEvents` for these events and those that they are translations of. */
export const indexWithTranslations = async (db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<number[]> =>
  indexEvents(db, await withTranslations(db, ids, languages), languages);

/** What lists of one language say of these events. */
async function languagePlaces(
  db: Database,
  ids: readonly number[],
  languages: OptionalLanguages,
): Promise<(id: number) => LanguagePlace | undefined> {
  const { postType } = postKind('event');
  if (ids.length === 0 || !isTranslated(languages, postType)) return () => undefined;
  const { posts } = await formOf(languages).memberships(db, languages, { posts: ids, terms: [] });
  // What stands for its own language is not asked about.
  const others = [...posts.values()].flatMap(({ language, members }) => [...members].filter(([code]) => code !== language));
  const published = await publishedAmong(db, postType, [...new Set(others.map(([, id]) => id))]);
  return (id) => {
    const { language, members: group } = posts.get(id) ?? { language: null, members: new Map<string, number>() };
    const own = languageOfCode(languages, language ?? undefined)?.number ?? 0;
    const isListed = ({ code, number }: ContentLanguage) =>
      number === own || (language === languages.defaultCode && !published.has(group.get(code) ?? 0));
    const shownIn = languages.languages.filter(isListed).map(({ number }) => number);
    return {
      own,
      filled: isFilled(languages) ? shownIn : [],
      complete: own === 0 ? languages.languages.map(({ number }) => number) : shownIn,
    };
  };
}

async function publishedAmong(db: Database, postType: string, ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .from('posts')
    .whereIn('ID', [...ids])
    .where({ post_type: postType, post_status: 'publish' })
    .select('ID');
  return new Set(rows.map(({ ID }) => ID));
}

/**
 * The parents of categories and of all above them. They are kept as they are until the end of the transaction: whoever
 * gives one of them another parent waits, and then finds the events indexed here.
 */
async function loadParents(db: Database, categories: readonly EventTerm[]): Promise<Map<number, number>> {
  const parents = new Map(categories.flatMap(({ term_id: id, parent }) => (parent === undefined ? [] : [[id, parent] as const])));
  let wanted = [...new Set(categories.map(({ term_id: id }) => id).filter((id) => !parents.has(id))), ...unknownParents(parents)];
  while (wanted.length > 0) {
    const rows = await db.rows<{ term_id: number; parent: number }>`
      SELECT term_id, parent FROM {term_taxonomy} WHERE taxonomy = ${termKind('category').taxonomy} AND term_id IN (${wanted})
      ORDER BY term_taxonomy_id ${verbatim(db.dialect.locks.share)}`;
    for (const { term_id: id, parent } of rows) parents.set(id, parent);
    // A parent that is gone has none above it.
    for (const id of wanted) if (!parents.has(id)) parents.set(id, 0);
    wanted = unknownParents(parents);
  }
  return parents;
}

const unknownParents = (parents: ReadonlyMap<number, number>) => [...new Set(parents.values())].filter((id) => id > 0 && !parents.has(id));

function withAbove(ids: readonly number[], parents: ReadonlyMap<number, number>): number[] {
  const found = new Set(ids);
  for (const id of found) {
    const parent = parents.get(id) ?? 0;
    if (parent > 0) found.add(parent);
  }
  return [...found];
}

function groupedBy<Item, Key>(items: readonly Item[], key: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
