/*
 * What the list index says of an event, as pure functions: under which headings ("facets") it is listed, with what in
 * its rows, and what that adds to the counts of days.
 */
import { addDays } from '../../wordpress/time.ts';
import type { DayRow, EntryRow } from '../engine/own-tables.ts';

/**
 * A heading that events are listed under. The events that last very long stand a second time under its twin
 * (`longOnes`).
 */
export type Facet = number;

/** All events (`complete` without a language); the featured ones. */
export const ALL: Facet = 0;
export const FEATURED: Facet = 5;

const CODES = { complete: 0, category: 1, tag: 2, venue: 3, organizer: 4, language: 6, filled: 7 } as const;
/** What the number of a facet is made of: `id * FACETS + code`. */
export const FACETS = 8;

/**
 * The events of a category (those of its children among them), with a tag, at a venue, of an organizer, or in a
 * language by its number (0: in none). `filled`: those of a language with those of the default one that stand in for
 * what it lacks; `complete`: with those of no language besides.
 */
export const facetOf = (kind: keyof typeof CODES, id: number): Facet => id * FACETS + CODES[kind];
export const facetCode = (kind: keyof typeof CODES): number => CODES[kind];
export const LINK_CODES = [CODES.venue, CODES.organizer];
/** The id of the term or post that a facet is of. */
export const idOf = (facet: Facet): number => Math.floor(facet / FACETS);

/** Whether a facet reveals nothing of what a password may hide. */
export const isOpen = (facet: Facet): boolean => facet % FACETS === CODES.complete || facet % FACETS >= CODES.language;

/** The facet of those events of a facet that last longer than `SHORT_DAYS`; of such a facet, the one it belongs to. */
export const longOnes = (facet: Facet): Facet => -facet - 1;

/**
 * What is counted by days of the events of a facet, apart from all of them: those in a language by its number, those
 * that stand in for it, and those in any language.
 */
export type CountedShare = readonly ['own' | 'standIns', language: number] | 'spoken';

/** What a facet's number is multiplied by to make room for the shares of languages, and the largest such number. */
const SHARES = 2 ** 21;
const LARGEST_SHARED = 2 ** 31;

/**
 * Under which number the counts of days hold a share of a facet, below zero, where nothing else is counted. Undefined:
 * it is not counted, because the numbers are too large, or the facet is open: then it is one of languages, or of all.
 */
export function shareOf(facet: Facet, share: CountedShare): Facet | undefined {
  const [what, language] = share === 'spoken' ? ([share, 0] as const) : share;
  if (isOpen(facet) || facet > LARGEST_SHARED || language >= SHARES / 2) return undefined;
  return -(facet * SHARES + language * 2 + Number(what === 'standIns')) - 1;
}

/** The least and the greatest number of a share of a facet. */
export const sharesRange = (facet: Facet): readonly [Facet, Facet] => [-(facet + 1) * SHARES, -facet * SHARES - 1];
/** The facet that a count of days belongs to. */
export const facetOfCount = (counted: Facet): Facet => (counted < 0 ? Math.floor((-counted - 1) / SHARES) : counted);

/** An event that lasts no longer than this many days is found by looking back that far. */
const SHORT_DAYS = 31;

/** Statuses that lists are made of, as numbers. */
export const STATUSES: ReadonlyMap<string, number> = new Map([
  ['publish', 1],
  ['future', 2],
  ['draft', 3],
  ['pending', 4],
  ['private', 5],
  ['trash', 6],
]);
const PUBLISHED = 1;

/** An event as its rows in WordPress's tables say it. */
export interface IndexedEvent {
  readonly id: number;
  readonly status: string;
  /** `post_date`. */
  readonly posted: string;
  readonly locked: boolean;
  readonly hidden: boolean;
  readonly featured: boolean;
  /** `id`: of the row, where the event recurs; 0 where it takes place once. */
  readonly occurrences: readonly { readonly id: number; readonly start: string; readonly end: string }[];
  /** With all categories above. */
  readonly categories: readonly number[];
  readonly tags: readonly number[];
  /** Metas that name venues and organizers, as stored. */
  readonly venues: readonly string[];
  readonly organizers: readonly string[];
  /** Absent where content has no languages. */
  readonly language?: LanguagePlace | undefined;
}

/** What lists of one language say of an event, by the numbers of languages. */
export interface LanguagePlace {
  /** 0: it has none. */
  readonly own: number;
  /** Languages in whose lists it stands where these are filled, and where they are complete. */
  readonly filled: readonly number[];
  readonly complete: readonly number[];
  /** Other languages in whose lists it stands for a translation that is missing. */
  readonly standsIn: readonly number[];
}

/** Languages that an event stands in for, as a row holds them, and what such a text holds of each of them. */
const standInText = (numbers: readonly number[]): string => (numbers.length === 0 ? '' : `,${numbers.join()},`);
export const standInMark = (number: number): string => standInText([number]);

/**
 * The rows of an event in `fasti_entries`, or undefined where its dates or links are such that the index could not
 * answer as the tables do: it ends before it starts, a date is none, a link is no plain number. An event without
 * occurrences is listed nowhere, but is one of its venue's.
 */
export function entriesOf(event: IndexedEvent): EntryRow[] | undefined {
  const status = STATUSES.get(event.status);
  if (status === undefined) return [];
  const [venues, organizers] = [event.venues.map(idIn), event.organizers.map(idIn)];
  const posted_at = momentOf(event.posted);
  if (posted_at === undefined || venues.includes(undefined) || organizers.includes(undefined)) return undefined;
  const linked = [
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
    language: event.language?.own ?? 0,
    stands_in: standInText(event.language?.standsIn ?? []),
  };
  if (event.occurrences.length === 0)
    return distinct(linked).map((facet) => ({ facet, start_at: UNDATED, end_at: UNDATED, occurrence_id: 0, ...common }));

  const facets = distinct([
    ALL,
    ...(event.featured ? [FEATURED] : []),
    ...event.categories.map((id) => facetOf('category', id)),
    ...event.tags.map((id) => facetOf('tag', id)),
    ...(event.language ? [facetOf('language', event.language.own)] : []),
    ...(event.language?.filled ?? []).map((number) => facetOf('filled', number)),
    ...(event.language?.complete ?? []).map((number) => facetOf('complete', number)),
    ...linked,
  ]);
  const known = new Set<string>();
  const rows: EntryRow[] = [];
  for (const { id, start, end } of event.occurrences) {
    const [start_at, end_at] = [momentOf(start), momentOf(end)];
    if (!start_at || !end_at || end_at < start_at || known.has(`${start}${end}`)) return undefined;
    known.add(`${start}${end}`);
    const under = isLong(start_at, end_at) ? facets.flatMap((facet) => [facet, longOnes(facet)]) : facets;
    rows.push(...under.map((facet) => ({ facet, start_at, end_at, occurrence_id: id, ...common })));
  }
  return rows;
}

/**
 * What a row adds to the counts of days: to the day and the month it starts in, and, unless it is a long one, to each
 * day whose midnight it passes; all of it for its facet, and for the shares of languages that it belongs to.
 */
export function countsOf(row: EntryRow): DayRow[] {
  const { facet, start_at, end_at } = row;
  if (facet < 0 || start_at === UNDATED || !isPublic(row)) return [];
  const first = dayOf(start_at);
  const counts: DayRow[] = [first, monthRow(monthOf(first))].map((day) => ({ facet, day, n: 1, running: 0 }));
  if (!isLong(start_at, end_at))
    for (let day = first; day < dayOf(end_at); day = daysAfter(day, 1)) counts.push({ facet, day, n: 0, running: 1 });
  return [facet, ...sharesWith(row)].flatMap((counted) => counts.map((count) => ({ ...count, facet: counted })));
}

/** The shares of languages that a row belongs to: none where it has no language. */
function sharesWith({ facet, language, stands_in }: EntryRow): Facet[] {
  const standsInFor = stands_in.split(',').filter(Boolean).map(Number);
  const shares: CountedShare[] = language === 0 ? [] : ['spoken', ['own', language]];
  shares.push(...standsInFor.map((number): CountedShare => ['standIns', number]));
  return shares.map((share) => shareOf(facet, share)).filter((share) => share !== undefined);
}

/** Whether a row counts for everybody. A protected one does not show under which headings it stands (decision D35). */
const isPublic = ({ facet, status, hidden, locked }: EntryRow) => status === PUBLISHED && hidden === 0 && (isOpen(facet) || locked === 0);

/** The statuses, as numbers, that the counts of days include. */
export const isCounted = (statuses: readonly number[]): boolean => statuses.length === 1 && statuses[0] === PUBLISHED;

// ------------------------------------------------------------------------------------------------- moments as numbers
/** The start of an event without occurrences. */
export const UNDATED = 0;
export const LATEST = 99_999_999_999_999;
const DAY = 1_000_000;
const MONTH = 100;

/** `YYYY-MM-DD HH:MM:SS` as the number of its digits; undefined where it is anything else. */
export function momentOf(text: string): number | undefined {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text) ? Number(text.replace(/\D/g, '')) : undefined;
}

export const dayOf = (moment: number): number => Math.floor(moment / DAY);
export const beginOf = (day: number): number => day * DAY;
export const endOf = (day: number): number => day * DAY + 235_959;

/** The month (`YYYYMM`) of a day, and bounds that all its days lie between. */
export const monthOf = (day: number): number => Math.floor(day / MONTH);
export const beginOfMonth = (month: number): number => month * MONTH;
export const endOfMonth = (month: number): number => beginOfMonth(month + 1) - 1;

/**
 * The `day` under which the counts of days hold what begins in a month: below zero, where no day is, the last month
 * first.
 */
export const monthRow = (month: number): number => -month - 1;

/** The same time of day, as many days before as an event can last that is not a long one. */
export const shortBefore = (moment: number): number => beginOf(daysAfter(dayOf(moment), -SHORT_DAYS)) + (moment % DAY);

/** The day (`YYYYMMDD`) a number of days after a day of the calendar; 0 before the year 1. */
export function daysAfter(day: number, days: number): number {
  const digits = String(day).padStart(8, '0');
  const text = addDays(`${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)} 00:00:00`, days);
  return Number(text.slice(0, 10).replace(/\D/g, '')) || 0;
}

const isLong = (start: number, end: number) =>
  dayOf(end) - dayOf(start) > SHORT_DAYS && end > beginOf(daysAfter(dayOf(start), SHORT_DAYS)) + (start % DAY);

/**
 * The id in a meta as it must be stored; 0 where there is none; undefined where the two databases might read one into
 * it.
 */
function idIn(value: string): number | undefined {
  if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
  return Number.parseInt(value, 10) > 0 ? undefined : 0;
}

const distinct = <T>(items: readonly T[]): T[] => [...new Set(items)];
