import { groupedBy } from '../../grouped-by.ts';
import { FEATURED_META, HIDDEN_META, ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import { postKind, taxonomies, termKind } from '../../kinds/index.ts';
import {
  type ContentLanguage,
  type ContentLanguages,
  isTranslated,
  languageOfCode,
  type Membership,
} from '../../wordpress/content-languages.ts';
import type { Post, Term } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { verbatim } from '../engine/statement.ts';
import type { TecOccurrenceRow } from '../engine/tables.ts';
import { formOf } from '../languages/forms.ts';
import { listedEnd } from '../rows/event-moments.ts';
import { isRecurring } from '../rows/recurring-events.ts';
import type { IndexedEvent, LanguagePlace } from './event-index-rows.ts';

/* The data of events in the tables of WordPress and the calendar that the list index is made from. */

/** The languages of the content; undefined if it has none. */
export type OptionalLanguages = ContentLanguages | undefined;

/**
 * Whether lists of one language include events that stand in for missing translations, unless a request says otherwise.
 */
export const isFilled = ({ withFallback }: ContentLanguages): boolean => withFallback.includes(postKind('event').postType);

type DateColumn = 'start_date' | 'end_date' | 'start_date_utc' | 'end_date_utc';

/** The rows of an event in WordPress's and the calendar's tables that the index is made from. */
export interface EventRows {
  readonly post: Pick<Post, 'ID' | 'post_status' | 'post_date' | 'post_password'>;
  readonly occurrences: readonly Pick<TecOccurrenceRow, DateColumn | 'occurrence_id' | 'has_recurrence'>[];
  readonly metas: readonly { readonly meta_key: string; readonly meta_value: string | null }[];
  readonly terms: readonly EventTerm[];
  /** The language of an event without translations, if it is known. */
  readonly language?: string;
}

/** A term of an event. `parent` is given if its row is already locked. */
type EventTerm = Pick<Term, 'term_id' | 'taxonomy'> & Partial<Pick<Term, 'parent'>>;

/** The metas that the index is made from. */
export const INDEXED_METAS = [VENUE_LINK, ORGANIZER_LINK, HIDDEN_META, FEATURED_META];

/** Returns everything that the rows of these events in the index are made of. Ids of other posts are left out. */
export async function loadEventRows(db: Database, ids: readonly number[]): Promise<EventRows[]> {
  const posts = await db
    .from('posts')
    .whereIn('ID', [...ids])
    .where('post_type', postKind('event').postType)
    .select('ID', 'post_status', 'post_date', 'post_password');
  const eventIds = posts.map(({ ID }) => ID);
  if (eventIds.length === 0) return [];
  type Of<Rows extends readonly unknown[]> = (Rows[number] & { readonly of: number })[];
  // All columns are selected, since `has_recurrence` does not exist in every database.
  const occurrences: Of<EventRows['occurrences']> = await db
    .from('tec_occurrences')
    .whereIn('post_id', eventIds)
    .select('*', 'post_id as of');
  const metas: Of<EventRows['metas']> = await db
    .from('postmeta')
    .whereIn('post_id', eventIds)
    .whereIn('meta_key', INDEXED_METAS)
    .select('post_id as of', 'meta_key', 'meta_value');
  const terms: Of<EventRows['terms']> = await db
    .from('term_relationships', 'r')
    .joinRaw(`${db.dialect.joinInOrder} ?? tt ON tt.term_taxonomy_id = r.term_taxonomy_id`, [db.table('term_taxonomy')])
    .whereIn('r.object_id', eventIds)
    .whereIn('tt.taxonomy', taxonomies)
    .select('r.object_id as of', 'tt.term_id', 'tt.taxonomy');
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

/** The data of other records that the rows of an event depend on. */
export interface Surroundings {
  /** Returns the parents of those of these categories that exist. */
  readonly parentsOf: (categories: readonly number[]) => Promise<ReadonlyMap<number, number>>;
  /** Returns the languages and translations of events. */
  readonly memberships: (events: readonly EventRows[], languages: ContentLanguages) => Promise<ReadonlyMap<number, Membership>>;
  /** Returns those of these events that are published. */
  readonly publishedAmong: (ids: readonly number[]) => Promise<ReadonlySet<number>>;
}

/** The surroundings of events in WordPress's tables, as they are when they are read. */
const surroundingsIn = (db: Database): Surroundings => ({
  parentsOf: (categories) => lockedParents(db, categories),
  memberships: (events, languages) => membershipsOf(db, events, languages),
  publishedAmong: (ids) => publishedAmong(db, ids),
});

/** Converts rows of events to the form that the index needs, by id. `surroundings`: by default WordPress's tables. */
export async function indexedEvents(
  db: Database,
  events: readonly EventRows[],
  languages: OptionalLanguages,
  surroundings = surroundingsIn(db),
): Promise<Map<number, IndexedEvent>> {
  const isCategory = ({ taxonomy }: { taxonomy: string }) => taxonomy === termKind('category').taxonomy;
  const categoriesOf = ({ terms }: EventRows) => terms.filter(isCategory);
  const parents = await loadParents(events.flatMap(categoriesOf), surroundings);
  const placeOf = await languagePlaces(events, languages, surroundings);
  return new Map(
    events.map((rows) => {
      const { post, occurrences, metas, terms } = rows;
      // MySQL compares keys case-insensitively.
      const values = (key: string) =>
        metas.filter((row) => row.meta_key.toLowerCase() === key.toLowerCase()).map((row) => row.meta_value ?? '');
      const event: IndexedEvent = {
        id: post.ID,
        status: post.post_status,
        posted: post.post_date,
        locked: post.post_password !== '',
        hidden: values(HIDDEN_META).length > 0,
        featured: values(FEATURED_META).length > 0,
        occurrences: occurrences.map((row) => ({
          id: isRecurring(occurrences) ? row.occurrence_id : 0,
          start: row.start_date,
          end: listedEnd(row),
        })),
        categories: withAncestors(
          categoriesOf(rows).map((term) => term.term_id),
          parents,
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
 * Returns these events and their translations: the lists of a language in which an event appears depend on its
 * translations.
 */
export async function withTranslations(db: Database, ids: readonly number[], languages: OptionalLanguages): Promise<readonly number[]> {
  if (ids.length === 0 || !isTranslated(languages, postKind('event').postType)) return ids;
  const { posts } = await formOf(languages).memberships(db, languages, { posts: ids, terms: [] });
  return [...new Set([...ids, ...[...posts.values()].flatMap(({ members }) => [...members.values()])])];
}

/** Determines the languages in whose lists these events appear. */
async function languagePlaces(
  events: readonly EventRows[],
  languages: OptionalLanguages,
  { memberships, publishedAmong }: Surroundings,
): Promise<(id: number) => LanguagePlace | undefined> {
  if (events.length === 0 || !isTranslated(languages, postKind('event').postType)) return () => undefined;
  const posts = await memberships(events, languages);
  // The members in their own language do not have to be checked.
  const translations = [...posts.values()].flatMap(({ language, members }) => [...members].filter(([code]) => code !== language));
  const published = await publishedAmong([...new Set(translations.map(([, id]) => id))]);
  return (id) => {
    const membership = posts.get(id);
    const { language, members: group } = membership ?? { language: null, members: new Map<string, number>() };
    const ownNumber = languageOfCode(languages, language ?? undefined)?.number ?? (membership ? DISABLED_LANGUAGE : 0);
    const isListed = ({ code, number }: ContentLanguage) =>
      number === ownNumber || (language === languages.defaultCode && !published.has(group.get(code) ?? 0));
    const shownIn = languages.languages.filter(isListed).map(({ number }) => number);
    return {
      ownNumber,
      filled: isFilled(languages) ? shownIn : [],
      complete: ownNumber === 0 ? languages.languages.map(({ number }) => number) : shownIn,
      standsIn: shownIn.filter((number) => number !== ownNumber),
    };
  };
}

/** Number of a language that the site has switched off: its events are not events without a language. */
const DISABLED_LANGUAGE = 2 ** 32 - 1;

/** Returns the languages of events and their translations, with a look-up if the rows do not contain them. */
async function membershipsOf(
  db: Database,
  events: readonly EventRows[],
  languages: ContentLanguages,
): Promise<ReadonlyMap<number, Membership>> {
  const knownMemberships = events.flatMap(({ post: { ID: id }, language }): [number, Membership][] =>
    language === undefined ? [] : [[id, { language, members: new Map([[language, id]]) }]],
  );
  if (knownMemberships.length === events.length) return new Map(knownMemberships);
  const ids = events.map(({ post }) => post.ID);
  const { posts } = await formOf(languages).memberships(db, languages, { posts: ids, terms: [] });
  return new Map([...posts, ...knownMemberships]);
}

async function publishedAmong(db: Database, ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .from('posts')
    .whereIn('ID', [...ids])
    .where({ post_type: postKind('event').postType, post_status: 'publish' })
    .select('ID');
  return new Set(rows.map(({ ID }) => ID));
}

/** Returns the parents of categories and of all their ancestors. */
async function loadParents(categories: readonly EventTerm[], { parentsOf }: Surroundings): Promise<Map<number, number>> {
  const parents = new Map(categories.flatMap(({ term_id: id, parent }) => (parent === undefined ? [] : [[id, parent] as const])));
  let missingIds = [...new Set(categories.map(({ term_id: id }) => id).filter((id) => !parents.has(id))), ...unknownParents(parents)];
  while (missingIds.length > 0) {
    for (const [id, parent] of await parentsOf(missingIds)) parents.set(id, parent);
    // A parent that does not exist has no ancestors.
    for (const id of missingIds) if (!parents.has(id)) parents.set(id, 0);
    missingIds = unknownParents(parents);
  }
  return parents;
}

/**
 * Returns the parents of these categories, and locks their rows until the end of the transaction: a transaction that
 * changes one of these parents waits, and then finds the events indexed here.
 */
async function lockedParents(db: Database, categories: readonly number[]): Promise<Map<number, number>> {
  const rows = await db.rows<{ term_id: number; parent: number }>`
    SELECT term_id, parent FROM {term_taxonomy} WHERE taxonomy = ${termKind('category').taxonomy} AND term_id IN (${categories})
    ORDER BY term_taxonomy_id ${verbatim(db.dialect.locks.share)}`;
  return new Map(rows.map(({ term_id: id, parent }) => [id, parent]));
}

const unknownParents = (parents: ReadonlyMap<number, number>) => [...new Set(parents.values())].filter((id) => id > 0 && !parents.has(id));

function withAncestors(ids: readonly number[], parents: ReadonlyMap<number, number>): number[] {
  const result = new Set(ids);
  for (const id of result) {
    const parent = parents.get(id) ?? 0;
    if (parent > 0) result.add(parent);
  }
  return [...result];
}
