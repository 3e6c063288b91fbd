import { type EventDates, parseEventTime } from '../../calendar/dates.ts';
import { parsePhpDate, phpTimestamp } from '../../wordpress/php/date.ts';
import { isZeroDate } from '../../wordpress/time.ts';
import { localFromUnix, parseZone, UTC, unixFromLocal, type Zone } from '../../wordpress/zones.ts';
import type { RuleContext } from '../rendering.ts';

/*
 * The other ways in which the calendar's newer interface (`tec/v1`) takes the dates of an event: in UTC, and as a start
 * with a duration.
 */

/** What a request says of the dates, by the names of these routes. */
export interface SentDates {
  readonly start_date?: string | null | undefined;
  readonly end_date?: string | null | undefined;
  readonly start_date_utc?: string | null | undefined;
  readonly end_date_utc?: string | null | undefined;
  readonly duration?: number | null | undefined;
  readonly timezone?: string | null | undefined;
}

/** Start and end as the calendar takes them. */
export interface TakenDates {
  readonly start_date?: string;
  readonly end_date?: string;
}

/**
 * Start and end by the event's clock, where the request says them in another way. The clock is that of the zone which
 * is named, else the one that the event has, else the site's. A duration counts from the start which is named, else
 * from the one that there is, in seconds that pass, whatever the clocks do meanwhile.
 *
 * @param stored the dates that there are; undefined for a new event
 */
export function datesTaken(sent: SentDates, stored: EventDates | undefined, { settings, now }: RuleContext): TakenDates {
  const { timezone, duration } = sent;
  const zone = parseZone(timezone === undefined ? (stored?.timezone ?? '') : (timezone ?? '')) ?? settings.zone;
  const start = sent.start_date ?? localOf(sent.start_date_utc, zone, now);
  const named = sent.end_date ?? localOf(sent.end_date_utc, zone, now);
  const begin = start === undefined ? stored?.start : parseEventTime(start, { zone, now, timestamps: timezone ? zone : UTC });
  const isCounted = named === undefined && typeof duration === 'number' && typeof begin === 'string' && !isZeroDate(begin);
  const end = isCounted ? localFromUnix(unixFromLocal(begin, zone) + duration, zone) : named;
  return { ...(start === undefined ? {} : { start_date: start }), ...(end === undefined ? {} : { end_date: end }) };
}

/** The wall clock of a time in UTC. An offset in the text says itself which moment is meant. */
function localOf(utc: string | null | undefined, zone: Zone, now: Date): string | undefined {
  const moment = utc ? (phpTimestamp(utc) ?? parsePhpDate(utc, now, UTC)?.instant) : undefined;
  return moment === undefined ? undefined : localFromUnix(moment, zone);
}
