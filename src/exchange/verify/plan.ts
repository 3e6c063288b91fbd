import { decodeEntities } from '../../wordpress/content/entities.ts';
import { stripAllTags } from '../../wordpress/content/plain-text.ts';
import { addDays, addMonths } from '../../wordpress/time.ts';
import type { Query } from '../live/site-client.ts';
import { IN_ALL_LANGUAGES, OF_ALL_TIMES } from '../live/walk.ts';

/** A request of the plan: path below the namespace, and parameters. */
export interface Request {
  readonly route: string;
  readonly query: Query;
}

/** Values from the lists of a site that the plan uses. */
export interface KnownRecords {
  /** Ids of some records of each kind. */
  readonly ids: Readonly<Record<'events' | 'venues' | 'organizers' | 'categories' | 'tags', readonly number[]>>;
  readonly slugs: Readonly<Record<'categories' | 'tags', readonly string[]>>;
  readonly titles: readonly string[];
  /** Starts of events in local time, in order. */
  readonly starts: readonly string[];
}

/** Numbers of values of each type that the plan tries individually. */
const MANY_VALUES = 12;
const FEW_VALUES = 3;

/**
 * Returns the requests of the plan: every filter of every list individually, with values of the site; pairs of filters;
 * the limits of paging; some filters in each language; and requests that must be rejected. `languages`: codes of the
 * languages by which both sites filter.
 */
export function plannedRequests(records: KnownRecords, languages: readonly string[] = []): Request[] {
  return [
    ...eventRequests(records),
    ...linkedRequests(records),
    ...termRequests(records),
    ...languages.flatMap((language) => languageRequests(records, language)),
    ...invalidRequests(),
  ];
}

const WHOLE_LIST = { ...IN_ALL_LANGUAGES, ...OF_ALL_TIMES, per_page: 50 } as const;

function eventRequests({ ids, slugs, titles, starts }: KnownRecords): Request[] {
  const events = (query: Query): Request => ({ route: 'events', query });
  const filters = eventFilters({ ids, slugs, titles });
  const single = filters.map((filter) => events({ ...WHOLE_LIST, ...filter }));
  const pairs = pairsOf(filters.filter((_, index) => index % 2 === 0).slice(0, MANY_VALUES)).map(([one, other]) =>
    events({ ...WHOLE_LIST, ...one, ...other }),
  );
  return [
    events({}),
    events({ per_page: 1 }),
    events({ per_page: 3, page: 2 }),
    events({ per_page: 1000 }),
    events({ page: 9999 }),
    ...single,
    ...pairs,
    ...spreadSample(starts, MANY_VALUES).flatMap(datedRequests).map(events),
    ...(ids.events.length > 0 ? [events({ include: spreadSample(ids.events, 5).join(',') })] : []),
  ];
}

function eventFilters({ ids, slugs, titles }: Pick<KnownRecords, 'ids' | 'slugs' | 'titles'>): Query[] {
  return [
    ...spreadSample(ids.categories, MANY_VALUES).map((id) => ({ categories: id })),
    ...spreadSample(slugs.categories, FEW_VALUES).map((slug) => ({ categories: slug })),
    ...(ids.categories.length > 1 ? [{ categories: spreadSample(ids.categories, 2).join(',') }] : []),
    ...spreadSample(ids.tags, MANY_VALUES).map((id) => ({ tags: id })),
    ...spreadSample(slugs.tags, FEW_VALUES).map((slug) => ({ tags: slug })),
    ...(ids.tags.length > 1 ? [{ tags: spreadSample(ids.tags, 2).join(',') }] : []),
    ...spreadSample(ids.venues, MANY_VALUES).map((id) => ({ venue: id })),
    ...(ids.venues.length > 1 ? [{ venue: spreadSample(ids.venues, 2).join(',') }] : []),
    ...spreadSample(ids.organizers, MANY_VALUES).map((id) => ({ organizer: id })),
    ...spreadSample(wordsOf(titles), MANY_VALUES).map((search) => ({ search })),
    { search: 'zzzxqjkw' },
    { featured: 'true' },
    { featured: 'false' },
    { strict_dates: 'true' },
  ];
}

/** Returns time windows around the start of an event: by days, and to the second. */
function datedRequests(start: string): Query[] {
  const day = start.slice(0, 10);
  const monthLater = addMonths(start, 1).slice(0, 10);
  return [
    { start_date: day, end_date: day, per_page: 50 },
    { start_date: day, end_date: monthLater, per_page: 50 },
    { starts_after: day, starts_before: monthLater, per_page: 50 },
    { ends_after: addDays(start, -1).slice(0, 10), ends_before: monthLater, per_page: 50 },
    { start_date: start, end_date: addMonths(start, 1), strict_dates: 'true', per_page: 50 },
  ];
}

function linkedRequests({ ids, titles }: KnownRecords): Request[] {
  return (['venues', 'organizers'] as const).flatMap((route) =>
    [
      {},
      { per_page: 1, page: 2 },
      { page: 9999 },
      { has_events: 'true', per_page: 50 },
      { has_events: 'false', per_page: 50 },
      { only_with_upcoming: 'true', per_page: 50 },
      ...spreadSample(ids.events, FEW_VALUES).map((event) => ({ event })),
      ...spreadSample(wordsOf(titles), FEW_VALUES).map((search) => ({ search, per_page: 50 })),
    ].map((query) => ({ route, query })),
  );
}

function termRequests({ ids, slugs, titles }: KnownRecords): Request[] {
  return (['categories', 'tags'] as const).flatMap((route) =>
    [
      {},
      { hide_empty: 'true', per_page: 50 },
      { per_page: 1, page: 2 },
      { page: 9999 },
      { orderby: 'count', order: 'desc', per_page: 50 },
      { orderby: 'slug', order: 'asc', per_page: 50 },
      ...spreadSample(ids.events, FEW_VALUES).map((event) => ({ event })),
      ...spreadSample(slugs[route], FEW_VALUES).map((slug) => ({ slug })),
      ...spreadSample(wordsOf(titles), FEW_VALUES).map((search) => ({ search, hide_empty: 'false' })),
      ...(ids[route].length > 1
        ? [
            { include: spreadSample(ids[route], 3).join(','), hide_empty: 'false' },
            { exclude: spreadSample(ids[route], 2).join(','), hide_empty: 'false' },
          ]
        : []),
      ...(route === 'categories' ? spreadSample(ids.categories, FEW_VALUES).map((parent) => ({ parent, hide_empty: 'false' })) : []),
    ].map((query) => ({ route, query })),
  );
}

/** Returns requests for the records of a language, and for those that stand in for missing translations. */
function languageRequests({ ids, titles }: KnownRecords, language: string): Request[] {
  const eventFilters: Query[] = [
    {},
    { language_fallback: 'true' },
    ...spreadSample(ids.categories, FEW_VALUES).map((id) => ({ categories: id })),
    ...spreadSample(ids.tags, FEW_VALUES).map((id) => ({ tags: id })),
    ...spreadSample(ids.venues, FEW_VALUES).map((id) => ({ venue: id })),
    ...spreadSample(ids.organizers, FEW_VALUES).map((id) => ({ organizer: id })),
    ...spreadSample(wordsOf(titles), FEW_VALUES).map((search) => ({ search })),
  ];
  const inLanguage = { translation_language: language };
  const { start_date, end_date, per_page } = WHOLE_LIST;
  return [
    ...eventFilters.map((filter) => ({ route: 'events', query: { ...inLanguage, start_date, end_date, per_page, ...filter } })),
    ...['venues', 'organizers', 'categories', 'tags'].flatMap((route) =>
      [{}, { language_fallback: 'true' }].map((filter) => ({ route, query: { ...inLanguage, per_page, ...filter } })),
    ),
  ];
}

/** Returns requests that must be rejected. */
function invalidRequests(): Request[] {
  const kinds = ['events', 'venues', 'organizers'];
  return [
    ...[...kinds, 'categories', 'tags'].flatMap((route) => [
      { route: `${route}/999999999`, query: {} },
      { route, query: { per_page: 0 } },
      { route, query: { page: -1 } },
    ]),
    ...kinds.map((route) => ({ route: `${route}/by-slug/no-such-slug-anywhere`, query: {} })),
    { route: 'events', query: { start_date: 'not-a-date' } },
    { route: 'events', query: { categories: 'no-such-term-anywhere' } },
    { route: 'events', query: { tags: 999999999 } },
    { route: 'events', query: { venue: 999999999 } },
    { route: 'events', query: { organizer: 'x' } },
    { route: 'events', query: { include: 'x' } },
    { route: 'nothing', query: {} },
  ];
}

/** Returns up to `limit` items that are evenly spread over a list. */
export function spreadSample<T>(list: readonly T[], limit: number): T[] {
  if (list.length <= limit) return [...list];
  return Array.from({ length: limit }, (_, index) => list[Math.floor((index * list.length) / limit)]!);
}

/** Returns the distinct words of titles that are worth searching for. */
function wordsOf(titles: readonly string[]): string[] {
  const words = titles.flatMap((title) => decodeEntities(stripAllTags(title)).split(/[^\p{L}\p{N}]+/u)).filter((word) => word.length > 3);
  return [...new Set(words.map((word) => word.toLowerCase()))];
}

const pairsOf = <T>(list: readonly T[]): [T, T][] =>
  list.flatMap((one, index) => list.slice(index + 1).map((other): [T, T] => [one, other]));
