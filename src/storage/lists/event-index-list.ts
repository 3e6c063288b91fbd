import type { Condition } from '../../kinds/condition.ts';
import { FEATURED_META, HIDDEN_META } from '../../kinds/event-metas.ts';
import { postKind } from '../../kinds/index.ts';
import { languageOfCode } from '../../wordpress/content-languages.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { among, every } from '../engine/expressions.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import {
  ALL,
  beginOf,
  beginOfMonth,
  dayOf,
  daysAfter,
  endOf,
  endOfMonth,
  FACETS,
  type Facet,
  FEATURED,
  facetCode,
  facetOf,
  idOf,
  isCounted,
  isOpen,
  LATEST,
  LINK_CODES,
  languageIn,
  longOnes,
  momentOf,
  monthOf,
  monthRow,
  STATUSES,
  shortBefore,
  UNDATED,
} from '../index/event-index-rows.ts';
import { fitsFew, isAboveBase, type PostQuery, type Recurrence, recordId, type Visibility } from './post-query.ts';

/**
 * A list of events as one range of the list index (`fasti_entries`): those of any of these facets that start and end
 * between these moments, in the order of their starts. Moments are numbers, all bounds belong to the range.
 */
export interface IndexRange {
  readonly facets: readonly [Facet, ...Facet[]];
  readonly from: number;
  readonly to: number;
  readonly endFrom: number;
  readonly endTo: number;
  /** Undefined: who sees what is asked of the posts themselves. */
  readonly statuses: readonly number[] | undefined;
  readonly listedOnly: boolean;
  readonly openOnly: boolean;
  readonly unfeaturedOnly: boolean;
  /** The facet of the language that is listed, where the facets are of something else. */
  readonly language: Facet | undefined;
  /** What the index does not know, to be asked of the posts. */
  readonly rest: readonly Condition[];
  readonly descending: boolean;
}

/** Conditions on what may be under guard; the index knows some of them. */
type Guarded = Extract<Condition, { readonly guarded: boolean }>;
type OfLanguage = Extract<Condition, { readonly by: 'language' }>;

/** Whether it does not matter whose the posts are. */
const isAnybodys = ({ others, own }: Visibility): boolean => others.length === 0 && own.length === 0;

/** The query as a range of the index; undefined where it is better asked of WordPress's tables, or must be. */
export function indexRangeOf(query: PostQuery): IndexRange | undefined {
  const { conditions, visible, order, opened } = query;
  if (!query.indexed || !query.kind.dated || !query.occurrences || order.by !== 'start') return undefined;
  // Where a password or the right to edit opens some, the posts say which.
  const opensSome = opened.password !== undefined || opened.editable !== undefined;
  const found: Gathered = {
    bounds: { from: UNDATED + 1, to: LATEST, endFrom: 0, endTo: LATEST },
    flags: { listedOnly: false, openOnly: false, unfeaturedOnly: false },
    headed: [],
    rest: [],
  };
  if (conditions.some((condition) => fitsFew(condition) || (condition.by === 'notId' && isAboveBase(condition.ids, query))))
    return undefined;
  if (!conditions.every((condition) => gather(found, condition, query, opensSome))) return undefined;
  const statuses = visible.all.map((status) => STATUSES.get(status));
  if (statuses.length === 0 || statuses.includes(undefined)) return undefined;
  // The narrowest first: a venue or an organizer, a tag, a category.
  const [first, ...others] = found.headed.sort((a, b) => facetRank(b.facets[0]) - facetRank(a.facets[0]));
  if (first && !opensSome) found.flags.openOnly ||= 'guarded' in first.condition && first.condition.guarded;
  const beside = opensSome ? found.headed : others;
  const spoken = others.find(({ condition }) => condition.by === 'language');
  return {
    facets: first?.facets ?? [ALL],
    ...found.bounds,
    ...found.flags,
    statuses: isAnybodys(visible) ? (statuses as number[]) : undefined,
    language: spoken?.facets[0],
    rest: [...found.rest, ...beside.filter((headed) => headed !== spoken).map(({ condition }) => condition)],
    descending: order.descending,
  };
}

/** What the conditions of a query say of the index. */
interface Gathered {
  readonly bounds: Parameters<typeof narrowBounds>[0];
  readonly flags: { listedOnly: boolean; openOnly: boolean; unfeaturedOnly: boolean };
  /** Those that the index has headings for; one of them leads through it, the others are asked of the posts. */
  readonly headed: Headed[];
  readonly rest: Condition[];
}

interface Headed {
  readonly facets: IndexRange['facets'];
  readonly condition: Guarded | OfLanguage;
}

/** Adds a condition. False where it is better asked of WordPress's tables, or must be, and with it the whole query. */
function gather({ bounds, flags, headed, rest }: Gathered, condition: Condition, { visible }: PostQuery, opensSome: boolean): boolean {
  if (condition.by === 'moment') return !condition.utc && narrowBounds(bounds, condition);
  if (isWithout(condition, HIDDEN_META)) {
    flags.listedOnly = true;
    return true;
  }
  if (isWithout(condition, FEATURED_META) && !opensSome) {
    flags.unfeaturedOnly = true;
    flags.openOnly ||= 'guarded' in condition && condition.guarded;
    return true;
  }
  const headable = 'guarded' in condition || condition.by === 'language' ? condition : undefined;
  const facets = headable && (headable.by === 'language' ? facetOfLanguage(headable, visible) : facetsIn(headable));
  if (facets) headed.push({ facets, condition: headable });
  else rest.push(condition);
  return true;
}

const isWithout = (condition: Condition, key: string): boolean => condition.by === 'meta' && condition.key === key && !condition.present;

/** What a list shows of a page, before the records themselves are looked up. */
export interface Page {
  /** Ids of records: of posts, and of occurrences above the base of `PostQuery.recurrence`. */
  readonly ids: number[];
  /** How many there are in all. */
  readonly total: number;
  /** Ids of the venues and organizers that they are likely to name. */
  readonly linked: number[];
  /** Of a page from the list index: when its first and its last record start; absent: it has none. */
  readonly span?: Span;
}

/** The moments that the records of a page start at, in the order of the list. */
export interface Span {
  readonly first: number;
  /** Undefined: the list ends with the page. */
  readonly last: number | undefined;
}

/** One page. `rest`: a condition on the posts (as `p`), where there is any. */
export async function findIndexedIds(
  db: Database,
  range: IndexRange,
  limits: { readonly limit: number; readonly offset: number; readonly recurrence?: Recurrence | undefined },
  rest: Sql | undefined,
): Promise<Page> {
  const parts = partsOf(range).map((part) => rowsOf(db, range, part, rest));
  if (rest !== undefined || range.facets.length > 1) return pageOfAll(db, parts, { ...limits, descending: range.descending });
  const total = isCountedByDays(range) ? countedByDays(db, range) : countOf(parts);
  const page = await pageOf(db, parts, { ...limits, total, descending: range.descending });
  return { ...page, total: page.total ?? (await numberOf(db, total)) };
}

/**
 * Condition on a venue or organizer `p`: an event names it that the caller may see; undefined where WordPress's tables
 * must be asked. One look into the index for each of them.
 */
export function linkedInIndex(db: Database, condition: Extract<Condition, { by: 'linkedFromAny' }>, query: PostQuery): Sql | undefined {
  const kind = postKind('event').links[condition.key];
  const { all } = query.visibleEvents;
  const { password } = query.opened;
  if (condition.within || !query.indexed || !query.occurrences || !kind || !isAnybodys(query.visibleEvents) || password !== undefined)
    return undefined;
  const upcoming = condition.upcomingSince;
  const since = upcoming === undefined ? UNDATED : momentOf(upcoming);
  const hushed = upcoming === undefined ? ['draft', 'pending', 'trash'] : ['trash'];
  const statuses = all.filter((status) => !hushed.includes(status)).map((status) => STATUSES.get(status));
  if (since === undefined || statuses.length === 0 || statuses.includes(undefined)) return undefined;
  // The last of its events decides: a subquery for one value, because EXISTS may be turned into a look through all
  // events, and from the end, because MariaDB would read all that were before. Without a date it is enough that there
  // is one.
  const holds = upcoming === undefined ? `IS ${condition.wanted ? 'NOT ' : ''}NULL` : '>= ?';
  if (upcoming !== undefined && !condition.wanted) return undefined;
  return [
    `(SELECT x.start_at FROM ?? x WHERE x.facet = CAST(p.ID * ${FACETS} + ${facetCode(kind)} AS SIGNED) AND x.locked = 0
      AND x.status IN (${statuses.join()})${upcoming === undefined ? '' : ' AND x.hidden = 0'} ORDER BY x.start_at DESC LIMIT 1) ${holds}`,
    [db.table('fasti_entries'), ...(upcoming === undefined ? [] : [since])],
  ];
}

// ----------------------------------------------------------------------------------------------- what a query asks for
/** More facets than this are left to the posts: each of them is looked for by itself. */
const MOST_FACETS = 50;

/**
 * The facets of an event filter for categories, tags, venues or organizers of which events have any, or for the
 * featured ones.
 */
function facetsIn(condition: Guarded): IndexRange['facets'] | undefined {
  if (condition.by === 'meta') return condition.key === FEATURED_META && condition.present ? [FEATURED] : undefined;
  if (condition.by === 'links') {
    const kind = postKind('event').links[condition.key];
    return condition.none ? undefined : kind && facetsOf(kind, condition.ids);
  }
  if (condition.wanted === 'none') return undefined;
  // Categories stand for what is below them only where that was added to those asked for.
  const ids = condition.roots ?? (condition.kind === 'tag' ? condition.ids : []);
  return condition.wanted === 'all' && ids.length > 1 ? undefined : facetsOf(condition.kind, ids);
}

/**
 * The facet of a language, with what fills it up; undefined where none says that: what lacks a translation for people
 * who see more than what is published.
 */
function facetOfLanguage({ languages, code, fill }: OfLanguage, { all }: Visibility): readonly [Facet] | undefined {
  const number = languageOfCode(languages, code)?.number;
  if (number === undefined) return undefined;
  const borrows = fill !== 'nothing' && code !== languages.defaultCode;
  if (borrows && (all.length !== 1 || all[0] !== 'publish')) return undefined;
  if (fill === 'stand-ins-and-neutral') return [facetOf('complete', number)];
  return [facetOf(borrows ? 'filled' : 'language', number)];
}

function facetsOf(kind: Parameters<typeof facetOf>[0], ids: readonly number[]): IndexRange['facets'] | undefined {
  const [first, ...others] = new Set(ids.map((id) => facetOf(kind, id)));
  return first === undefined || others.length >= MOST_FACETS ? undefined : [first, ...others];
}

const RANKS = [0, 1, 2, 4, 3, 1, 0, 0];
const facetRank = (facet: Facet) => RANKS[facet % FACETS] ?? 0;

/** Draws the bounds in; false where the moment is none. */
function narrowBounds(
  bounds: { from: number; to: number; endFrom: number; endTo: number },
  { column, op, value }: Extract<Condition, { by: 'moment' }>,
): boolean {
  const moment = momentOf(value);
  if (moment === undefined) return false;
  const [low, high] = column === 'start_date' ? (['from', 'to'] as const) : (['endFrom', 'endTo'] as const);
  if (op === '>=' || op === '>') bounds[low] = Math.max(bounds[low], op === '>' ? moment + 1 : moment);
  else bounds[high] = Math.min(bounds[high], op === '<' ? moment - 1 : moment);
  return true;
}

// ------------------------------------------------------------------------------------------------- pages
interface Part {
  readonly facets: readonly Facet[];
  readonly from: number;
  readonly to: number;
}

/**
 * Where to look, in the order of starts. No event ends before it starts, and none but the long ones can reach a bound
 * of ends from more than a month before: so much is looked through for these, and of what lies before only the long
 * ones.
 */
function partsOf({ facets, from, to, endFrom, endTo }: IndexRange): Part[] {
  const last = Math.min(to, endTo);
  const near = endFrom > from ? Math.max(from, shortBefore(endFrom)) : from;
  const main = { facets, from: near, to: last };
  return near > from ? [{ facets: facets.map(longOnes), from, to: Math.min(near - 1, last) }, main] : [main];
}

/** `FROM … WHERE …` of the rows `x` of a part. What stands under several of its facets is there once. */
function rowsOf(db: Database, range: IndexRange, { facets, from, to }: Part, rest: Sql | undefined): Sql {
  const { endFrom, endTo, statuses } = range;
  const conditions: Sql[] = [among('x.facet', facets), ['x.start_at >= ? AND x.start_at <= ?', [from, to]]];
  if (endFrom > from) conditions.push(['x.end_at >= ?', [endFrom]]);
  if (endTo < LATEST) conditions.push(['x.end_at <= ?', [endTo]]);
  if (statuses) conditions.push(among('x.status', statuses));
  if (range.listedOnly) conditions.push(['x.hidden = 0', []]);
  if (range.openOnly) conditions.push(['x.locked = 0', []]);
  if (range.unfeaturedOnly) conditions.push(['x.featured = 0', []]);
  if (range.language !== undefined) conditions.push(isUnder(db, range.language));
  if (rest) conditions.push(rest);
  const [where, bindings] = every(conditions);
  const posts: Sql = rest ? [` ${db.dialect.joinInOrder} ?? p ON p.ID = x.post_id`, [db.table('posts')]] : ['', []];
  const rows: Sql = [`FROM ?? x${posts[0]} WHERE ${where}`, [db.table('fasti_entries'), ...posts[1], ...bindings]];
  return facets.length === 1
    ? rows
    : [`FROM (SELECT DISTINCT x.start_at, x.posted_at, x.post_id, x.end_at, x.occurrence_id ${rows[0]}) x`, rows[1]];
}

/** Condition on a row `x`: its event stands under the facet of a language, too. Its own language it says itself. */
function isUnder(db: Database, facet: Facet): Sql {
  const own = languageIn(facet);
  if (own !== undefined) return ['x.language = ?', [own]];
  return [
    'EXISTS (SELECT 1 FROM ?? y WHERE y.facet = ? AND y.start_at = x.start_at AND y.posted_at = x.posted_at AND y.post_id = x.post_id)',
    [db.table('fasti_entries'), facet],
  ];
}

/** One page, with its total where a row of the main part, the last one, is there to carry it: that saves a query. */
async function pageOf(
  db: Database,
  parts: readonly Sql[],
  {
    total,
    limit,
    offset,
    descending,
    recurrence,
  }: { total: Sql; limit: number; offset: number; descending: boolean; recurrence?: Recurrence | undefined },
): Promise<Omit<Page, 'total'> & { total?: number }> {
  const direction = verbatim(descending ? 'DESC' : 'ASC');
  const found: Omit<Page, 'total' | 'span'> & { total?: number } = { ids: [], linked: [] };
  const starts: number[] = [];
  let skip = offset;
  for (const [place, part] of (descending ? parts.toReversed() : parts).entries()) {
    if (found.ids.length >= limit) break;
    const rows = await db.rows<Indexed & { links: string | null; total: number | string | null }>`
      SELECT x.post_id AS id, x.occurrence_id AS occurrence, x.start_at AS start, ${new Piece(part === parts.at(-1) ? total : ['NULL', []])} AS total,
        (SELECT GROUP_CONCAT(l.facet) FROM {fasti_entries} l WHERE l.post_id = x.post_id AND l.facet % ${FACETS} IN (${LINK_CODES})) AS links
      ${new Piece(part)} ORDER BY x.start_at ${direction}, x.posted_at ${direction}, x.post_id ${direction}, x.end_at ${direction} LIMIT ${limit - found.ids.length} OFFSET ${skip}`;
    for (const { id, occurrence, start, links, total: whole } of rows) {
      found.ids.push(recordId(id, occurrence, recurrence));
      starts.push(Number(start));
      found.linked.push(...(links?.split(',').map((facet) => idOf(Number(facet))) ?? []));
      if (whole !== null) found.total = Number(whole);
    }
    if (place + 1 < parts.length) skip = rows.length > 0 ? 0 : Math.max(0, skip - (await numberOf(db, countOf([part]))));
  }
  return { ...found, ...spanOf(starts, limit) };
}

/** A row of the index that is listed, as far as a page is made of it. */
interface Indexed {
  readonly id: number;
  readonly occurrence: number;
  readonly start: number | string;
}

function spanOf(starts: readonly number[], limit: number): Pick<Page, 'span'> {
  const [first, last] = [starts[0], starts.at(-1)];
  return first === undefined ? {} : { span: { first, last: starts.length < limit ? undefined : last } };
}

/**
 * One page of what takes long to find: all of it is gone through once, instead of once for the page and once more for
 * the total.
 */
async function pageOfAll(
  db: Database,
  parts: readonly Sql[],
  { limit, offset, descending, recurrence }: { limit: number; offset: number; descending: boolean; recurrence?: Recurrence | undefined },
): Promise<Page> {
  const direction = verbatim(descending ? 'DESC' : 'ASC');
  const ids: number[] = [];
  for (const part of descending ? parts.toReversed() : parts) {
    const rows = await db.rows<{ id: number; occurrence: number }>`
      SELECT x.post_id AS id, x.occurrence_id AS occurrence ${new Piece(part)}
      ORDER BY x.start_at ${direction}, x.posted_at ${direction}, x.post_id ${direction}, x.end_at ${direction}`;
    for (const { id, occurrence } of rows) ids.push(recordId(id, occurrence, recurrence));
  }
  return { ids: ids.slice(offset, offset + limit), total: ids.length, linked: [] };
}

// ------------------------------------------------------------------------------------------------- totals
/** Whether the counts of days are of what this range holds. */
const isCountedByDays = ({
  facets: [facet, ...others],
  statuses,
  listedOnly,
  openOnly,
  unfeaturedOnly,
  language,
  rest,
}: IndexRange): boolean =>
  others.length === 0 &&
  language === undefined &&
  statuses !== undefined &&
  isCounted(statuses) &&
  rest.length === 0 &&
  listedOnly &&
  !unfeaturedOnly &&
  (isOpen(facet) ? !openOnly : openOnly);

/** The rows of these parts, counted one by one. */
const countOf = (parts: readonly Sql[]): Sql => [
  parts.map(([sql]) => `(SELECT COUNT(*) ${sql})`).join(' + '),
  parts.flatMap(([, bindings]) => bindings),
];

async function numberOf(db: Database, value: Sql): Promise<number> {
  const [row] = await db.rows<{ value: number | string }>`SELECT ${new Piece(value)} AS value`;
  return Number(row?.value);
}

/**
 * How many events a range of one facet holds, without counting them one by one: those that start in it, with those
 * that run into it where ends have a lower bound, less those that run beyond the upper one.
 */
function countedByDays(db: Database, range: IndexRange): Sql {
  const { from, to, endFrom, endTo } = range;
  const [facet] = range.facets;
  if (endFrom > endTo) return ['0', []];
  const last = Math.min(to, endTo);
  const terms: { readonly sign: '+' | '-'; readonly sql: Sql }[] = [];
  const add = (sign: '+' | '-', pieces: readonly Sql[]) => terms.push(...pieces.map((sql) => ({ sign, sql })));
  add('+', starting(db, facet, Math.max(from, endFrom), last));
  if (endFrom > from) add('+', passing(db, facet, endFrom, from, Math.min(last, endFrom - 1)));
  if (endTo < LATEST) add('-', passing(db, facet, endTo + 1, from, last));
  return [`0 ${terms.map(({ sign, sql }) => `${sign} ${sql[0]}`).join(' ')}`, terms.flatMap(({ sql }) => sql[1])];
}

/** Those that start between two moments: by whole days, and one by one in what is left of the first and the last. */
function starting(db: Database, facet: Facet, from: number, to: number): Sql[] {
  if (from > to) return [];
  const [first, last] = [dayOf(from), dayOf(to)];
  const [wholeFirst, wholeLast] = [from <= Math.max(beginOf(first), UNDATED + 1), to >= endOf(last)];
  if (first === last && !(wholeFirst && wholeLast)) return [scan(db, facet, from, to)];
  return [
    ...(wholeFirst ? [] : [scan(db, facet, from, endOf(first))]),
    ...onDays(db, facet, wholeFirst ? first : first + 1, wholeLast ? last : last - 1),
    ...(wholeLast ? [] : [scan(db, facet, beginOf(last), to)]),
  ];
}

/** Those that start on these days: by whole months where there are several, and by the days around them. */
function onDays(db: Database, facet: Facet, first: number, last: number): Sql[] {
  const from = monthOf(first) + (first <= beginOfMonth(monthOf(first)) ? 0 : 1);
  const to = monthOf(last) - (last >= endOfMonth(monthOf(last)) ? 0 : 1);
  if (from >= to) return [sumOf(db, facet, first, last)];
  return [
    ...(first < beginOfMonth(from) ? [sumOf(db, facet, first, beginOfMonth(from) - 1)] : []),
    sumOf(db, facet, monthRow(to), monthRow(from)),
    ...(last > endOfMonth(to) ? [sumOf(db, facet, endOfMonth(to) + 1, last)] : []),
  ];
}

const sumOf = (db: Database, facet: Facet, first: number, last: number): Sql => [
  'COALESCE((SELECT SUM(c.n) FROM ?? c WHERE c.facet = ? AND c.day >= ? AND c.day <= ?), 0)',
  [db.table('fasti_days'), facet, first, last],
];

/**
 * Those that start between two moments, before a third one, and end then or later. At midnight the day before knows
 * their number.
 */
function passing(db: Database, facet: Facet, moment: number, from: number, to: number): Sql[] {
  if (from > to) return [];
  const near = shortBefore(moment);
  const eve = eveOf(moment);
  if (eve !== undefined && from <= near && to >= endOf(eve)) {
    const running: Sql = [
      'COALESCE((SELECT c.running FROM ?? c WHERE c.facet = ? AND c.day = ?), 0)',
      [db.table('fasti_days'), facet, eve],
    ];
    return [running, scan(db, longOnes(facet), from, to, moment)];
  }
  return [
    scan(db, facet, Math.max(from, near), to, moment),
    ...(from < near ? [scan(db, longOnes(facet), from, Math.min(near - 1, to), moment)] : []),
  ];
}

/** The day whose last second comes right before this moment. */
const eveOf = (moment: number): number | undefined => {
  if (moment - 1 === endOf(dayOf(moment))) return dayOf(moment);
  return moment === beginOf(dayOf(moment)) ? daysAfter(dayOf(moment), -1) : undefined;
};

/** Public events of a facet that start between two moments (and end from a third on), counted one by one. */
function scan(db: Database, facet: Facet, from: number, to: number, endFrom?: number): Sql {
  const headed = isOpen(facet < 0 ? longOnes(facet) : facet) ? '' : ' AND x.locked = 0';
  const ends = endFrom === undefined ? '' : ' AND x.end_at >= ?';
  return [
    `(SELECT COUNT(*) FROM ?? x WHERE x.facet = ? AND x.start_at >= ? AND x.start_at <= ?${ends} AND x.status = 1 AND x.hidden = 0${headed})`,
    [db.table('fasti_entries'), facet, from, to, ...(endFrom === undefined ? [] : [endFrom])],
  ];
}
