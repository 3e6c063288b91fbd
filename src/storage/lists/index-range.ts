import type { Condition } from '../../kinds/condition.ts';
import { FEATURED_META, HIDDEN_META } from '../../kinds/events/metas.ts';
import { postKind, termKindOf } from '../../kinds/index.ts';
import { languageOfCode } from '../../wordpress/content-languages.ts';
import type { Sql } from '../engine/dialect.ts';
import { either } from '../engine/expressions.ts';
import {
  ALL_EVENTS,
  FACETS,
  type Facet,
  FEATURED,
  facetCode,
  facetOf,
  idOfFacet,
  LATEST_MOMENT,
  momentOf,
  STATUSES,
  standInMark,
  UNDATED,
} from '../index/event-index-rows.ts';
import { isAboveBase, matchesFew, type PostQuery, type Visibility } from './post-query.ts';

/**
 * A list of events as one range of the list index (`fasti_entries`): events of any of these facets that start and end
 * between these moments, in the order of their starts. Moments are numbers; all bounds are inclusive.
 */
export interface IndexRange {
  readonly facets: readonly [Facet, ...Facet[]];
  readonly from: number;
  readonly to: number;
  readonly endFrom: number;
  readonly endTo: number;
  /** Events that start before this moment must end after it, not at it. */
  readonly pastFrom: number;
  /** Undefined: the visibility is checked on the posts themselves. */
  readonly statuses: readonly number[] | undefined;
  readonly listedOnly: boolean;
  readonly openOnly: boolean;
  readonly unfeaturedOnly: boolean;
  /** The language of the list, if the facets are not those of a language. */
  readonly language: ListedLanguage | undefined;
  /** Conditions that the index does not cover and that are checked on the posts. */
  readonly postConditions: readonly Condition[];
  readonly descending: boolean;
}

/**
 * The parts of the list of a language: events in it, events that stand in for missing translations, events without a
 * language.
 */
export type LanguageShare = 'own' | 'standIns' | 'neutral';

/** A language by its number, and the shares of it that are listed. */
export interface ListedLanguage {
  readonly number: number;
  readonly shares: readonly LanguageShare[];
}

/** Condition on a row `x` of the index: its event is listed in a language. */
export const isListedIn = ({ number, shares }: ListedLanguage): Sql => either(shares.map((share) => SHARE_CONDITIONS[share](number)));

const SHARE_CONDITIONS: Readonly<Record<LanguageShare, (number: number) => Sql>> = {
  own: (number) => ['x.language = ?', [number]],
  standIns: (number) => ['INSTR(x.stands_in, ?) > 0', [standInMark(number)]],
  neutral: () => ['x.language = 0', []],
};

/** Conditions on data that a password may hide; the index covers some of them. */
type Guarded = Extract<Condition, { readonly guarded: boolean }>;
type OfLanguage = Extract<Condition, { readonly by: 'language' }>;

/** Whether the visibility does not depend on the authors of the posts. */
export const isAuthorIndependent = ({ others, own }: Visibility): boolean => others.length === 0 && own.length === 0;

/** Returns the query as a range of the index; undefined if querying WordPress's tables is better or necessary. */
export function indexRangeOf(query: PostQuery): IndexRange | undefined {
  const { conditions, visible, order, opened } = query;
  if (!query.indexed || !query.kind.hasDates || !query.occurrences || order.by !== 'start') return undefined;
  // If a password or the right to edit opens some posts, these can be determined only from the posts.
  const opensSome = opened.password !== undefined || opened.editable !== undefined;
  const parts: RangeParts = {
    bounds: { from: UNDATED + 1, to: LATEST_MOMENT, endFrom: 0, endTo: LATEST_MOMENT, pastFrom: 0 },
    flags: { listedOnly: false, openOnly: false, unfeaturedOnly: false },
    byFacet: [],
    remaining: [],
  };
  if (conditions.some((condition) => matchesFew(condition) || (condition.by === 'notId' && isAboveBase(condition.ids, query))))
    return undefined;
  if (!conditions.every((condition) => addCondition(parts, condition, query, opensSome))) return undefined;
  const statuses = visible.all.map((status) => STATUSES.get(status));
  if (statuses.length === 0 || statuses.includes(undefined)) return undefined;
  // The narrowest facet comes first: a venue or an organizer, then a tag, then a category.
  const [first, ...others] = parts.byFacet.sort((a, b) => facetRank(b.facets[0]) - facetRank(a.facets[0]));
  if (first && !opensSome) parts.flags.openOnly ||= 'guarded' in first.condition && first.condition.guarded;
  const otherFacets = opensSome ? parts.byFacet : others;
  const languageFacet = others.find(({ condition }) => condition.by === 'language');
  return {
    facets: first?.facets ?? [ALL_EVENTS],
    ...parts.bounds,
    ...parts.flags,
    statuses: isAuthorIndependent(visible) ? (statuses as number[]) : undefined,
    language: languageFacet && languageOfFacet(languageFacet.facets[0]),
    postConditions: [...parts.remaining, ...otherFacets.filter((one) => one !== languageFacet).map(({ condition }) => condition)],
    descending: order.descending,
  };
}

/** The result of evaluating the conditions of a query for the index. */
interface RangeParts {
  readonly bounds: Bounds;
  readonly flags: { listedOnly: boolean; openOnly: boolean; unfeaturedOnly: boolean };
  /** Conditions for which the index has facets. One of them selects the range, the others are checked on the posts. */
  readonly byFacet: FacetCondition[];
  readonly remaining: Condition[];
}

interface FacetCondition {
  readonly facets: IndexRange['facets'];
  readonly condition: Guarded | OfLanguage;
}

/** Adds a condition. False if querying WordPress's tables is better or necessary for the whole query. */
function addCondition(
  { bounds, flags, byFacet, remaining }: RangeParts,
  condition: Condition,
  { visible }: PostQuery,
  opensSome: boolean,
): boolean {
  if (condition.by === 'moment') return !condition.utc && narrowBounds(bounds, condition);
  if (condition.by === 'overlap') return !condition.utc && narrowOverlap(bounds, condition.value);
  if (isWithout(condition, HIDDEN_META)) {
    flags.listedOnly = true;
    return true;
  }
  if (isWithout(condition, FEATURED_META) && !opensSome) {
    flags.unfeaturedOnly = true;
    flags.openOnly ||= 'guarded' in condition && condition.guarded;
    return true;
  }
  const candidate = 'guarded' in condition || condition.by === 'language' ? condition : undefined;
  const facets = candidate && (candidate.by === 'language' ? facetOfLanguage(candidate, visible) : facetsIn(candidate));
  if (facets) byFacet.push({ facets, condition: candidate });
  else remaining.push(condition);
  return true;
}

const isWithout = (condition: Condition, key: string): boolean => condition.by === 'meta' && condition.key === key && !condition.isPresent;

/** With more facets than this, the condition is checked on the posts, since each facet is read separately. */
const MAX_FACETS = 50;

/**
 * Returns the facets for a filter by categories, tags, venues or organizers that matches events with any of them, or
 * for featured events.
 */
function facetsIn(condition: Guarded): IndexRange['facets'] | undefined {
  if (condition.by === 'meta') return condition.key === FEATURED_META && condition.isPresent ? [FEATURED] : undefined;
  if (condition.by === 'links') {
    const kind = postKind('event').links[condition.key];
    return condition.none || condition.replaced ? undefined : kind && facetsOf(kind, condition.ids);
  }
  const kind = termKindOf(condition.taxonomy);
  if (!kind || condition.quantifier === 'none') return undefined;
  // Categories include their descendants only if the filter has added these.
  const ids = condition.roots ?? (kind.hierarchical ? [] : condition.ids);
  return condition.quantifier === 'all' && ids.length > 1 ? undefined : facetsOf(kind.name, ids);
}

/**
 * Returns the facet of a language, with the events that fill its gaps. Undefined if there is no such facet: gaps are
 * not indexed for callers who see more than published events, or their own in other statuses.
 */
function facetOfLanguage({ languages, code, fill }: OfLanguage, visible: Visibility): readonly [Facet] | undefined {
  const number = languageOfCode(languages, code)?.number;
  if (number === undefined) return undefined;
  const borrows = fill !== 'nothing' && code !== languages.defaultCode;
  if (borrows && !seesOnlyPublished(visible)) return undefined;
  if (fill === 'stand-ins-and-neutral') return [facetOf('complete', number)];
  return [facetOf(borrows ? 'filled' : 'language', number)];
}

const seesOnlyPublished = (visible: Visibility): boolean =>
  visible.all.length === 1 && visible.all[0] === 'publish' && isAuthorIndependent(visible);

function languageOfFacet(facet: Facet): ListedLanguage {
  const [number, code] = [idOfFacet(facet), facet % FACETS];
  const shares: LanguageShare[] = ['own'];
  if (code !== facetCode('language')) shares.push('standIns');
  if (code === facetCode('complete')) shares.push('neutral');
  return { number, shares };
}

function facetsOf(kind: Parameters<typeof facetOf>[0], ids: readonly number[]): IndexRange['facets'] | undefined {
  const [first, ...others] = new Set(ids.map((id) => facetOf(kind, id)));
  return first === undefined || others.length >= MAX_FACETS ? undefined : [first, ...others];
}

const FACET_RANKS = [0, 1, 2, 4, 3, 1, 0, 0];
const facetRank = (facet: Facet) => FACET_RANKS[facet % FACETS] ?? 0;

export interface Bounds {
  from: number;
  to: number;
  endFrom: number;
  endTo: number;
  pastFrom: number;
}

/** Narrows the bounds; false if the value is not a valid moment. */
function narrowBounds(bounds: Bounds, { column, op, value }: Extract<Condition, { by: 'moment' }>): boolean {
  const moment = momentOf(value);
  if (moment === undefined) return false;
  const [low, high] = column === 'start_date' ? (['from', 'to'] as const) : (['endFrom', 'endTo'] as const);
  if (op === '>=' || op === '>') bounds[low] = Math.max(bounds[low], op === '>' ? moment + 1 : moment);
  else bounds[high] = Math.min(bounds[high], op === '<' ? moment - 1 : moment);
  return true;
}

/** Narrows the bounds to events that end after a moment, or start at it or later. */
function narrowOverlap(bounds: Bounds, value: string): boolean {
  const moment = momentOf(value);
  if (moment === undefined) return false;
  bounds.endFrom = Math.max(bounds.endFrom, moment);
  bounds.pastFrom = Math.max(bounds.pastFrom, moment);
  return true;
}
