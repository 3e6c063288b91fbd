import { isObject } from '../../objects.ts';
import { parseSerialized, storedText } from '../../wordpress/php/serialized.ts';
import { type Metas, metaOf, type Post, type StoredMetas } from '../../wordpress/rows.ts';
import { isPublic } from '../../wordpress/status.ts';
import { abbreviationAtUtc, parseZone } from '../../wordpress/zones.ts';
import type { OccurrencePage } from '../rendering.ts';
import { DATES } from './metas.ts';

/*
 * Single dates of recurring events, as records. All members are those of the event except the dates, the id and the
 * URL.
 */

/** One date of an event, as the occurrence tables hold it. Times are `YYYY-MM-DD HH:MM:SS`. */
export interface EventDate {
  /** Public id. */
  readonly id: number;
  readonly post: number;
  readonly start: string;
  readonly end: string;
  readonly startUtc: string;
  readonly endUtc: string;
  /** Seconds. */
  readonly duration: number;
  /** Whether the event takes place more than once. */
  readonly recurs: boolean;
  /** Number of dates of the event that start on the same day, and the position of this one among them, from 1. */
  readonly sameDay: number;
  readonly position: number;
}

/** Returns the metas of an event with the dates of one occurrence. */
export function metasAt(
  metas: StoredMetas,
  { start, end, startUtc, endUtc, duration }: Pick<EventDate, 'start' | 'end' | 'startUtc' | 'endUtc' | 'duration'>,
): StoredMetas {
  const zone = parseZone(metaOf(metas, DATES.timezone) ?? '');
  const dateMetas: (readonly [key: string, value: string])[] = [
    [DATES.start, start],
    [DATES.end, end],
    [DATES.startUtc, startUtc],
    [DATES.endUtc, endUtc],
    ...(metas.has(DATES.duration) ? [[DATES.duration, String(duration)] as const] : []),
    // The abbreviation can differ between dates of one event (summer and winter time).
    ...(zone ? [[DATES.abbreviation, abbreviationAtUtc(startUtc, zone)] as const] : []),
  ];
  return new Map([...metas, ...dateMetas.map(([key, value]) => [key, [storedText(value)]] as const)]);
}

/**
 * Returns the page of an occurrence. If several start on one day, the event's meta for that day numbers them; without
 * the meta they are numbered by start.
 */
export function pageOfOccurrence(
  post: Post,
  metas: Metas,
  { start, sameDay, position }: Pick<EventDate, 'start' | 'sameDay' | 'position'>,
): OccurrencePage {
  const date = start.slice(0, 10);
  return {
    slug: post.post_name,
    date,
    number: numberIn(metaOf(metas, `_EventSequence_${date}`), start) ?? (sameDay > 1 ? position : undefined),
  };
}

/**
 * Returns the number that the meta of a day gives to the date that starts then: `{1: {start_date, end_date}, 2: ...}`.
 */
function numberIn(text: string | undefined, start: string): number | undefined {
  const entries = text === undefined ? undefined : parseSerialized(text);
  if (!isObject(entries)) return undefined;
  const entry = Object.entries(entries as Record<string, { start_date?: unknown } | null>).find(([, day]) => day?.start_date === start);
  const number = Number(entry?.[0]);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/**
 * Returns the page of an event in the old form of recurrence, in which each date is a separate post and the first one
 * is the parent of the others; undefined for other events.
 */
export function pageOfDatedPost(post: PageColumns, metas: Metas | undefined, parent: PageColumns | undefined): OccurrencePage | undefined {
  const date = metaOf(metas, DATES.start)?.slice(0, 10);
  if (!date || !hasRules(metas)) return undefined;
  // If the parent is not public, such as one in the trash, there is no page below its slug.
  const { post_name: slug } = parent?.post_type === post.post_type && isPublic(parent.post_status) ? parent : post;
  return { slug, date, number: sequenceNumber(metaOf(metas, SEQUENCE) ?? '') };
}

type PageColumns = Pick<Post, 'post_name' | 'post_type' | 'post_status'>;

/** Meta of a post that is one date of an event: its number among several of a day. */
export const SEQUENCE = '_EventSequence';

/** Returns the number in the address of a date, by the text of that meta; undefined for the first date of a day. */
export function sequenceNumber(text: string): number | undefined {
  const number = Number(text);
  return number > 1 ? number : undefined;
}

/**
 * Returns whether the metas of an event contain recurrence rules. Single events may have the meta too, without rules.
 */
export function hasRules(metas: Metas | undefined): boolean {
  const text = metaOf(metas, '_EventRecurrence') ?? '';
  if (!text.includes('"rules"')) return false;
  const { rules } = (parseSerialized(text) ?? {}) as { rules?: unknown };
  return isObject(rules) && Object.values(rules).some(isRule);
}

const isRule = (rule: unknown): boolean => {
  const { type } = (rule ?? {}) as { type?: unknown };
  return typeof type === 'string' && type !== '' && type !== 'None';
};
