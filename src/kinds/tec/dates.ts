import { type EventDates, sentTime, utcOf } from '../../calendar/dates.ts';
import { parsePhpDate, phpTimestamp } from '../../wordpress/php/date.ts';
import { tableOf } from '../../wordpress/table.ts';
import { unixFromText } from '../../wordpress/time.ts';
import { isoAt, localFromUnix, parseZone, UTC } from '../../wordpress/zones.ts';
import type { RuleContext } from '../rendering.ts';

/*
 * Alternative ways in which `tec/v1` accepts the dates of an event: in UTC, and as a start with a duration.
 */

/** The dates in a request, under the names of these routes. */
export interface SentDates {
  readonly start_date?: string | null | undefined;
  readonly end_date?: string | null | undefined;
  readonly start_date_utc?: string | null | undefined;
  readonly end_date_utc?: string | null | undefined;
  readonly duration?: number | null | undefined;
  readonly timezone?: string | null | undefined;
}

/** Names in a request from which `resolveDates` computes a start or end that is not sent itself. */
export const DATE_SOURCES: ReadonlyMap<string, readonly (keyof SentDates)[]> = tableOf({
  start_date: ['start_date_utc'],
  end_date: ['end_date_utc', 'duration'],
});

/** Start and end as the calendar's own routes take them. */
export interface ResolvedDates {
  readonly start_date?: string;
  readonly end_date?: string;
}

/**
 * Returns start and end in the event's local time if the request gives them in another way. The time zone is the one in
 * the request, else that of the event, else that of the site. A duration is added to the start in the request, else to
 * the stored one, in elapsed seconds, regardless of clock changes.
 *
 * @param oldDates the stored dates; undefined for a new event
 */
export function resolveDates(sentDates: SentDates, oldDates: EventDates | undefined, { settings, now }: RuleContext): ResolvedDates {
  const { timezone, duration } = sentDates;
  const zone = parseZone(timezone === undefined ? (oldDates?.timezone ?? '') : (timezone ?? '')) ?? settings.zone;
  const context = { zone, now, timestamps: timezone ? zone : UTC };
  const start = sentTimeOf(sentDates.start_date, sentDates.start_date_utc, context);
  const namedEnd = sentTimeOf(sentDates.end_date, sentDates.end_date_utc, context);
  const isCounted = namedEnd === undefined && typeof duration === 'number';
  const oldStart = oldDates && { local: oldDates.start, utc: oldDates.startUtc };
  const { local = '', utc = '' } = (start === undefined ? oldStart : sentTime(start, context)) ?? {};
  const startUnix = isCounted ? unixFromText(utcOf(local, utc, zone)) : Number.NaN;
  const end = isCounted && !Number.isNaN(startUnix) ? isoAt(startUnix + duration, zone) : namedEnd;
  return { ...(start === undefined ? {} : { start_date: start }), ...(end === undefined ? {} : { end_date: end }) };
}

/**
 * Returns a local time, or a time in UTC as a local time with its offset, since the clock may show it twice. If both
 * are given, the local one counts, at the moment of the other one if that is the same time. An offset in the text takes
 * precedence over UTC.
 */
function sentTimeOf(
  local: string | null | undefined,
  utc: string | null | undefined,
  context: Parameters<typeof sentTime>[1],
): string | undefined {
  const { zone, now } = context;
  const instant = utc ? (phpTimestamp(utc) ?? parsePhpDate(utc, now, UTC)?.instant) : undefined;
  if (instant === undefined) return local ?? undefined;
  const isSame = local === undefined || local === null || sentTime(local, context)?.local === localFromUnix(instant, zone);
  return isSame ? isoAt(instant, zone) : local;
}
