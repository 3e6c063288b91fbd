import type { Condition, ConditionBy, Order, Relevance } from '../../kinds/condition.ts';
import { COORDINATES, DATES, HIDDEN_META } from '../../kinds/events/metas.ts';
import { postKind, postTypes } from '../../kinds/index.ts';
import type { EntryRow } from '../engine/own-tables.ts';
import { standInMark } from '../index/event-index-rows.ts';
import { allPosts, allTerms, type Dependency, type ListDependency } from '../journal/dependencies.ts';
import { DATES_PART, type OwnChange, type Part, partsWithMeta, TERMS_PART } from '../journal/own-changes.ts';
import type { Span } from './event-index-list.ts';
import type { IndexRange, LanguageShare, ListedLanguage } from './index-range.ts';
import type { PostQuery } from './post-query.ts';

/*
 * Determines whether a change can affect a list. The dependencies of a list follow from its query: the rows of the list
 * index in its range, the parts of posts that its conditions and its order read, and the other objects that its
 * conditions look at.
 */

/**
 * Returns the dependency of a list on the posts that it lists. `range`, `span`: the range of the list index that it is
 * read from, and the position of the page in it; absent if WordPress's tables are read.
 */
export function listDependency(query: PostQuery, range: IndexRange | undefined, span: Span | undefined): ListDependency {
  const { postType: posts } = query.kind;
  if (!range) {
    const parts = partsOf(query);
    return { posts, isAffectedBy: (change, isOf) => isOf && wroteAnyOf(change, parts) };
  }
  const place = isOneToOne(range) ? span : undefined;
  if (!readsPosts(range)) return { posts, isAffectedBy: (change) => affectsPage(change, range, place) };
  const postParts = partsOf({ ...query, conditions: range.postConditions });
  return { posts, isAffectedBy: (change, isOf) => affectsPage(change, range, place) || (isOf && wroteAnyOf(change, postParts)) };
}

/** Whether a change wrote one of these parts; undefined parts may be any. */
const wroteAnyOf = ({ parts }: OwnChange, looked: ReadonlySet<Part> | undefined): boolean =>
  looked === undefined || parts === undefined || [...parts].some((part) => looked.has(part));

/** Whether a list from the index also reads the posts. */
const readsPosts = ({ postConditions, statuses }: IndexRange): boolean => postConditions.length > 0 || statuses === undefined;

/**
 * Whether each row of a range is exactly one record of the list: no condition on posts filters it, and no second facet
 * repeats it.
 */
const isOneToOne = (range: IndexRange): boolean => range.facets.length === 1 && !readsPosts(range);

/**
 * Whether a change may affect a page from the index. It does not if all rows that the change added to the range or
 * removed from it are outside of the page, and the numbers of rows before and after the page stay the same. Then the
 * page begins at the same record, and the total is the same.
 *
 * @param span the position of the page; undefined: any row in the range counts
 */
export function affectsPage({ indexChange }: Pick<OwnChange, 'indexChange'>, range: IndexRange, span: Span | undefined): boolean {
  if (indexChange === undefined) return true;
  const [deleted, inserted] = [indexChange.deleted, indexChange.inserted].map((rows) => rows.filter((row) => isInRange(row, range)));
  if (!deleted || !inserted || !span) return [deleted, inserted].some((rows) => rows?.length !== 0);
  const places = [deleted, inserted].map((rows) => rows.map((row) => sideOfPage(row, span, range.descending)));
  const count = (place: -1 | 0 | 1) => places.map((sides) => sides.filter((one) => one === place).length);
  const [onPage, before, after] = [count(0), count(-1), count(1)];
  return onPage.some((number) => number > 0) || before[0] !== before[1] || after[0] !== after[1];
}

/**
 * Whether a row comes before a page (-1), after it (1), or may be in it (0), as a row with the same start as its first
 * or last record may.
 */
function sideOfPage({ start_at }: EntryRow, { first, last }: Span, descending: boolean): -1 | 0 | 1 {
  const direction = descending ? -1 : 1;
  if (direction * (start_at - first) < 0) return -1;
  return last !== undefined && direction * (start_at - last) > 0 ? 1 : 0;
}

/**
 * Whether a row of the list index is in a range, by the same rules as the query. The duplicates of long events are
 * moved together with them, so they need no check of their own.
 */
export function isInRange(row: EntryRow, range: IndexRange): boolean {
  const { facets, from, to, endFrom, endTo, pastFrom, statuses, listedOnly, openOnly, unfeaturedOnly, language } = range;
  return (
    facets.includes(row.facet) &&
    row.start_at >= from &&
    row.start_at <= to &&
    row.end_at >= endFrom &&
    row.end_at <= endTo &&
    (row.end_at > pastFrom || row.start_at >= pastFrom) &&
    (statuses === undefined || statuses.includes(row.status)) &&
    !(listedOnly && row.hidden !== 0) &&
    !(openOnly && row.locked !== 0) &&
    !(unfeaturedOnly && row.featured !== 0) &&
    (language === undefined || isListedIn(row, language))
  );
}

const isListedIn = (row: EntryRow, { number, shares }: ListedLanguage): boolean => shares.some((share) => SHARE_TESTS[share](row, number));

const SHARE_TESTS: Readonly<Record<LanguageShare, (row: EntryRow, number: number) => boolean>> = {
  own: ({ language }, number) => language === number,
  standIns: ({ stands_in }, number) => stands_in.includes(standInMark(number)),
  neutral: ({ language }) => language === 0,
};

// ------------------------------------------------------------------------------------------------- parts of posts
/** The parts that determine who may see a post and its texts: every list depends on them. */
const VISIBILITY_PARTS: readonly Part[] = ['post_type', 'post_status', 'post_password', 'post_author'];
/** The parts with the dates of an event: the calendar's tables, or these metas if there are no tables. */
const DATE_PARTS: readonly Part[] = [DATES_PART, ...Object.values(DATES).flatMap(partsWithMeta)];

/** Returns the parts of posts that a list from WordPress's tables depends on; undefined: any part. */
export function partsOf({ kind, conditions, order }: Pick<PostQuery, 'kind' | 'conditions' | 'order'>): ReadonlySet<Part> | undefined {
  const looked = listOfAll(CONDITION_PARTS, conditions);
  return looked && new Set([...VISIBILITY_PARTS, ...(kind.hasDates ? DATE_PARTS : []), ...ORDER_PARTS[order.by], ...looked]);
}

/** For each kind of condition, a list, or a function that returns the list of a condition; undefined: anything. */
type ForConditions<Item> = {
  readonly [By in Condition['by']]: readonly Item[] | ((condition: ConditionBy<By>) => readonly Item[] | undefined);
};

function listOf<Item>(table: ForConditions<Item>, condition: Condition): readonly Item[] | undefined {
  // The compiler cannot see that the entry with this name takes a condition of that type.
  const entry = table[condition.by] as readonly Item[] | ((of: Condition) => readonly Item[] | undefined);
  return typeof entry === 'function' ? entry(condition) : entry;
}

/** Returns the lists of several conditions together; undefined if one of them is. */
function listOfAll<Item>(table: ForConditions<Item>, conditions: readonly Condition[]): readonly Item[] | undefined {
  const lists = conditions.map((condition) => listOf(table, condition));
  return lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
}

/** The parts of a post that a condition reads; undefined: any part. */
const CONDITION_PARTS: ForConditions<Part> = {
  id: [],
  notId: [],
  author: ['post_author'],
  notAuthor: ['post_author'],
  parents: ['post_parent'],
  notParents: ['post_parent'],
  slug: ['post_name'],
  parent: ['post_parent'],
  place: ['menu_order'],
  moment: DATE_PARTS,
  overlap: DATE_PARTS,
  modified: ['post_modified', 'post_modified_gmt'],
  published: ['post_date', 'post_date_gmt'],
  mime: ['post_mime_type'],
  words: ({ columns, metas }) => [...columns, ...metas.flatMap(partsWithMeta)],
  meta: ({ key }) => partsWithMeta(key),
  metaIs: ({ key }) => partsWithMeta(key),
  metaValue: ({ keys }) => keys.flatMap(partsWithMeta),
  terms: [TERMS_PART],
  format: [TERMS_PART],
  either: ({ conditions }) => listOfAll(CONDITION_PARTS, conditions),
  // It then depends on the language of the posts, too.
  links: ({ key, replaced }) => (replaced ? undefined : partsWithMeta(key)),
  linkedFrom: [],
  // With a language, it depends on the groups of translations.
  linkedFromAny: ({ inLanguage }) => (inLanguage ? undefined : []),
  linkedMeta: ({ link }) => partsWithMeta(link),
  placed: ({ link }) => coordinateParts(link),
  near: ({ link }) => coordinateParts(link),
  ticketed: () => undefined,
  language: () => undefined,
};

/** Coordinates are those of the posts themselves, or of the records they link to. */
const coordinateParts = (link: string | undefined): readonly Part[] =>
  [...Object.values(COORDINATES), ...(link === undefined ? [] : [link])].flatMap(partsWithMeta);

/** The parts of a post that an order reads. */
const ORDER_PARTS: Readonly<Record<(Order | Relevance)['by'], readonly Part[]>> = {
  start: [...DATE_PARTS, 'post_date'],
  end: [...DATE_PARTS, 'post_date'],
  date: ['post_date'],
  modified: ['post_modified'],
  title: ['post_title'],
  id: [],
  include: [],
  distance: [],
  slug: ['post_name'],
  slugs: ['post_name'],
  author: ['post_author'],
  parent: ['post_parent'],
  menu: ['menu_order'],
  place: ['menu_order'],
  relevance: ['post_title', 'post_excerpt', 'post_content', 'post_date'],
};

// ------------------------------------------------------------------------------------------------- other objects
/** Returns what a condition depends on other than the posts of the list; undefined: anything. */
export const sourcesIn = (condition: Condition): readonly Dependency[] | undefined => listOf(CONDITION_SOURCES, condition);

const anything = () => undefined;
const ANY_POSTS = postTypes.map(allPosts);

/** The objects that a condition depends on, other than the posts of the list: terms, other posts, links of events. */
const CONDITION_SOURCES: ForConditions<Dependency> = {
  id: [],
  notId: [],
  author: [],
  notAuthor: [],
  parents: [],
  notParents: [],
  slug: [],
  parent: [],
  place: [],
  moment: [],
  overlap: [],
  modified: [],
  published: [],
  mime: [],
  words: [],
  meta: [],
  metaIs: [],
  metaValue: [],
  terms: ({ taxonomy }) => [allTerms(taxonomy)],
  format: anything,
  either: ({ conditions }) => listOfAll(CONDITION_SOURCES, conditions),
  links: [],
  linkedFrom: ({ event }) => [event],
  linkedFromAny: ({ key, inLanguage }) => (inLanguage ? ANY_POSTS : [linksDependency(postKind('event').postType, key)]),
  linkedMeta: ANY_POSTS,
  placed: ANY_POSTS,
  near: ANY_POSTS,
  ticketed: anything,
  language: [],
};

/** Returns the dependency of a list of venues or organizers on events: their visibility, their dates, their links. */
function linksDependency(events: string, key: string): ListDependency {
  const parts = new Set([...VISIBILITY_PARTS, ...DATE_PARTS, ...[key, HIDDEN_META].flatMap(partsWithMeta)]);
  return { posts: events, isAffectedBy: (change, isOf) => isOf && wroteAnyOf(change, parts) };
}
