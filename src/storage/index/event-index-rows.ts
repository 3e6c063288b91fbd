/*
 * The contents of the list index for an event, as pure functions: the facets it is listed under, its rows, and its
 * contribution to the counts of days.
 */
import { addDays } from '../../wordpress/time.ts';
import type { DayRow, EntryRow } from '../engine/own-tables.ts';

/**
 * A heading under which events are listed. Events that last very long are also listed under a second facet, its twin
 * (`longFacet`).
 */
export type Facet = number;

/** The facet of all events (`complete` without a language), and of featured ones. */
export const ALL_EVENTS: Facet = 0;
export const FEATURED: Facet = 5;

const FACET_CODES = { complete: 0, category: 1, tag: 2, venue: 3, organizer: 4, language: 6, filled: 7 } as const;
/** The number of a facet is `id * FACETS + code`. */
export const FACETS = 8;

/**
 * Returns the facet of a category (including the events of its descendants), a tag, a venue, an organizer, or a
 * language by its number (0: no language). `filled`: events of a language, and those of the default language that stand
 * in for missing translations; `complete`: in addition, events without a language.
 */
export const facetOf = (kind: keyof typeof FACET_CODES, id: number): Facet => id * FACETS + FACET_CODES[kind];

/** Returns the code of a kind of facet: the remainder of its facets divided by `FACETS`. */
export const facetCode = (kind: keyof typeof FACET_CODES): number => FACET_CODES[kind];

/** The codes of facets of linked records. */
export const LINK_CODES = [FACET_CODES.venue, FACET_CODES.organizer];
/** Returns the id of the term, post or language that a facet belongs to. */
export const idOfFacet = (facet: Facet): number => Math.floor(facet / FACETS);

/** Whether a facet reveals no data that a password may hide. */
export const isOpenFacet = (facet: Facet): boolean => facet % FACETS === FACET_CODES.complete || facet % FACETS >= FACET_CODES.language;

/**
 * Returns the facet of the events of a facet that last longer than `SHORT_DAYS`; for such a facet, the facet it belongs
 * to.
 */
export const longFacet = (facet: Facet): Facet => -facet - 1;

/**
 * A subset of the events of a facet that is counted separately by days: events in a language by its number, events that
 * stand in for that language, or events in any language.
 */
export type CountedShare = readonly ['own' | 'standIns', language: number] | 'spoken';

/** Factor of a facet's number that makes room for the shares of languages, and the largest facet with shares. */
const SHARES = 2 ** 21;
const MAX_SHARED_FACET = 2 ** 31;

/**
 * Returns the number under which the counts of days store a share of a facet. It is negative, unlike all other numbers
 * in these counts. Undefined if the share is not counted: the numbers are too large, or the facet is open, which means
 * it is the facet of a language or of all events.
 */
export function shareOf(facet: Facet, share: CountedShare): Facet | undefined {
  const [type, language] = share === 'spoken' ? ([share, 0] as const) : share;
  if (isOpenFacet(facet) || facet > MAX_SHARED_FACET || language >= SHARES / 2) return undefined;
  return -(facet * SHARES + language * 2 + Number(type === 'standIns')) - 1;
}

/** Returns the lowest and the highest number of the shares of a facet. */
export const sharesRange = (facet: Facet): readonly [Facet, Facet] => [-(facet + 1) * SHARES, -facet * SHARES - 1];
/** Returns the facet that a row of the counts of days belongs to. */
export const facetOfCount = (facet: Facet): Facet => (facet < 0 ? Math.floor((-facet - 1) / SHARES) : facet);

/** An event that lasts at most this many days is found by looking back that far. */
const SHORT_DAYS = 31;

/** The statuses that are indexed, as numbers. */
export const STATUSES: ReadonlyMap<string, number> = new Map([
  ['publish', 1],
  ['future', 2],
  ['draft', 3],
  ['pending', 4],
  ['private', 5],
  ['trash', 6],
]);
const PUBLISHED = 1;

/** The data of an event in WordPress's tables. */
export interface IndexedEvent {
  readonly id: number;
  readonly status: string;
  /** `post_date`. */
  readonly posted: string;
  readonly locked: boolean;
  readonly hidden: boolean;
  readonly featured: boolean;
  /** `id`: `occurrence_id` of the row if the event recurs; otherwise 0. */
  readonly occurrences: readonly { readonly id: number; readonly start: string; readonly end: string }[];
  /** Including all ancestors. */
  readonly categories: readonly number[];
  readonly tags: readonly number[];
  /** Metas that refer to venues and organizers, as stored. */
  readonly venues: readonly string[];
  readonly organizers: readonly string[];
  /** Absent if the content has no languages. */
  readonly language?: LanguagePlace | undefined;
}

/** The languages in whose lists an event appears, by their numbers. */
export interface LanguagePlace {
  /** The language of the event; 0 if it has none. */
  readonly ownNumber: number;
  /** Languages in whose lists the event appears if they are filled, and if they are complete. */
  readonly filled: readonly number[];
  readonly complete: readonly number[];
  /** Other languages in whose lists the event replaces a missing translation. */
  readonly standsIn: readonly number[];
}

/** The languages that an event stands in for, as text in a row, and the part of this text for one language. */
const standInText = (numbers: readonly number[]): string => (numbers.length === 0 ? '' : `,${numbers.join()},`);

/** Returns the part of a row's text that says that an event stands in for a language, by its number. */
export const standInMark = (number: number): string => standInText([number]);

/**
 * Returns the rows of an event in `fasti_entries`. Undefined if the index could not give the same results as the
 * tables: the event ends before it starts (other than in an hour that its zone repeats, `listedEnd`), a date is
 * invalid, two occurrences are the same, or a link is not a plain number. An event without occurrences appears in no
 * list, but counts as an event of its venue.
 */
export function entriesOf(event: IndexedEvent): EntryRow[] | undefined {
  const status = STATUSES.get(event.status);
  if (status === undefined) return [];
  const [venues, organizers] = [event.venues.map(idIn), event.organizers.map(idIn)];
  const posted_at = momentOf(event.posted);
  if (posted_at === undefined || venues.includes(undefined) || organizers.includes(undefined)) return undefined;
  const linkFacets = [
    ...(venues as number[]).filter(Boolean).map((id) => facetOf('venue', id)),
    ...(organizers as number[]).filter(Boolean).map((id) => facetOf('organizer', id)),
  ];
  const common = {
    posted_at,
    post_id: event.id,
    status,
    hidden: Number(event.hidden),
    locked: Number(event.locked),
    featured: Number(event.featured),
    language: event.language?.ownNumber ?? 0,
    stands_in: standInText(event.language?.standsIn ?? []),
  };
  if (event.occurrences.length === 0)
    return distinct(linkFacets).map((facet) => ({ facet, start_at: UNDATED, end_at: UNDATED, occurrence_id: 0, ...common }));

  const facets = distinct([
    ALL_EVENTS,
    ...(event.featured ? [FEATURED] : []),
    ...event.categories.map((id) => facetOf('category', id)),
    ...event.tags.map((id) => facetOf('tag', id)),
    ...(event.language ? [facetOf('language', event.language.ownNumber)] : []),
    ...(event.language?.filled ?? []).map((number) => facetOf('filled', number)),
    ...(event.language?.complete ?? []).map((number) => facetOf('complete', number)),
    ...linkFacets,
  ]);
  const spans = new Set<string>();
  const rows: EntryRow[] = [];
  for (const { id, start, end } of event.occurrences) {
    const [start_at, end_at] = [momentOf(start), momentOf(end)];
    if (!start_at || !end_at || end_at < start_at || spans.has(`${start}${end}`)) return undefined;
    spans.add(`${start}${end}`);
    const entryFacets = isLongEvent(start_at, end_at) ? facets.flatMap((facet) => [facet, longFacet(facet)]) : facets;
    rows.push(...entryFacets.map((facet) => ({ facet, start_at, end_at, occurrence_id: id, ...common })));
  }
  return rows;
}

/**
 * Returns the contribution of a row to the counts of days: to the day and the month in which it starts, and, unless it
 * is long, to each day whose midnight it passes. All of this applies to its facet and to the shares of languages that
 * it belongs to.
 */
export function countsOf(row: EntryRow): DayRow[] {
  const { facet, start_at, end_at } = row;
  if (facet < 0 || start_at === UNDATED || !isPublic(row)) return [];
  const first = dayOf(start_at);
  const counts: DayRow[] = [first, monthRow(monthOf(first))].map((day) => ({ facet, day, n: 1, running: 0 }));
  if (!isLongEvent(start_at, end_at))
    for (let day = first; day < dayOf(end_at); day = daysAfter(day, 1)) counts.push({ facet, day, n: 0, running: 1 });
  return [facet, ...sharesWith(row)].flatMap((countedFacet) => counts.map((count) => ({ ...count, facet: countedFacet })));
}

/**
 * Returns the shares of languages that a row belongs to. A row without a language belongs to none, unless it stands in
 * for languages.
 */
function sharesWith({ facet, language, stands_in }: EntryRow): Facet[] {
  const standsInFor = stands_in.split(',').filter(Boolean).map(Number);
  const shares: CountedShare[] = language === 0 ? [] : ['spoken', ['own', language]];
  shares.push(...standsInFor.map((number): CountedShare => ['standIns', number]));
  return shares.map((share) => shareOf(facet, share)).filter((share) => share !== undefined);
}

/** Whether a row counts as public. A protected event does not reveal the facets it is listed under (decision D35). */
const isPublic = ({ facet, status, hidden, locked }: EntryRow) =>
  status === PUBLISHED && hidden === 0 && (isOpenFacet(facet) || locked === 0);

/** Whether the counts of days cover exactly these statuses, given as numbers. */
export const isCounted = (statuses: readonly number[]): boolean => statuses.length === 1 && statuses[0] === PUBLISHED;

// ------------------------------------------------------------------------------------------------- moments as numbers
/** The start and end of an event without occurrences. */
export const UNDATED = 0;
export const LATEST_MOMENT = 99_999_999_999_999;
const DAY = 1_000_000;
const MONTH = 100;

/** Converts `YYYY-MM-DD HH:MM:SS` to the number of its digits; undefined for any other text. */
export function momentOf(text: string): number | undefined {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text) ? Number(text.replace(/\D/g, '')) : undefined;
}

/** Returns the day (`YYYYMMDD`) of a moment (`YYYYMMDDHHMMSS`). */
export const dayOf = (moment: number): number => Math.floor(moment / DAY);

/** Returns the first moment of a day. */
export const beginOf = (day: number): number => day * DAY;

/** Returns the last moment of a day. */
export const endOf = (day: number): number => day * DAY + 235_959;

/** Returns the month (`YYYYMM`) of a day. */
export const monthOf = (day: number): number => Math.floor(day / MONTH);

/** Returns a lower bound of the days of a month; it is not a day itself. */
export const beginOfMonth = (month: number): number => month * MONTH;

/** Returns an upper bound of the days of a month; it is not a day itself. */
export const endOfMonth = (month: number): number => beginOfMonth(month + 1) - 1;

/**
 * The `day` under which the counts of days store the events that begin in a month. It is negative, unlike all days, so
 * the last month comes first.
 */
export const monthRow = (month: number): number => -month - 1;

/** Returns the same time of day, earlier by the maximum number of days that a short event lasts. */
export const earliestShortStart = (moment: number): number => beginOf(daysAfter(dayOf(moment), -SHORT_DAYS)) + (moment % DAY);

/** Returns the day (`YYYYMMDD`) a number of days after a calendar day; 0 before the year 1. */
export function daysAfter(day: number, days: number): number {
  const digits = String(day).padStart(8, '0');
  const text = addDays(`${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)} 00:00:00`, days);
  return Number(text.slice(0, 10).replace(/\D/g, '')) || 0;
}

const isLongEvent = (start: number, end: number) =>
  dayOf(end) - dayOf(start) > SHORT_DAYS && end > beginOf(daysAfter(dayOf(start), SHORT_DAYS)) + (start % DAY);

/**
 * Returns the id in a meta; 0 if it has none; undefined if the text is not a plain number but a database might read an
 * id from it.
 */
function idIn(value: string): number | undefined {
  if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
  return Number.parseInt(value, 10) > 0 ? undefined : 0;
}

const distinct = <T>(items: readonly T[]): T[] => [...new Set(items)];
