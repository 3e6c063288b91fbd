import { unixFromText } from '../wordpress/time.ts';
import { parseZone, toLocal, toUtc, type Zone } from '../wordpress/zones.ts';
import type { CalendarSettings } from './settings.ts';

/** When an event starts and ends, as records show it: by its own clock and in UTC, `YYYY-MM-DD HH:MM:SS`. */
export interface RecordTimes {
  readonly start_date: string;
  readonly end_date: string;
  readonly utc_start_date: string;
  readonly utc_end_date: string;
  readonly timezone: string;
}

/** What a clock on the wall shows when an event starts and ends, and the zone of that clock. */
export interface ShownTimes {
  readonly start: string;
  readonly end: string;
  readonly zone: Zone | null;
}

/**
 * An event with its times in UTC. Old calendars noted those of the event's own clock alone, which was that of the site
 * where no zone is said.
 */
export function withMoments<Event extends RecordTimes>(event: Event, siteZone: Zone): Event {
  const { start_date: start, end_date: end, utc_start_date: startUtc, utc_end_date: endUtc, timezone } = event;
  const momentOf = (utc: string, local: string) => (isDate(utc) || !isDate(local) ? utc : toUtc(local, parseZone(timezone) ?? siteZone));
  if (isDate(startUtc) && isDate(endUtc)) return event;
  return { ...event, utc_start_date: momentOf(startUtc, start), utc_end_date: momentOf(endUtc, end) };
}

const isDate = (text: string): boolean => !Number.isNaN(unixFromText(text));

/**
 * Start and end as the pages of the calendar show them (`tribe_events_timezone_mode`): by the clock of the event, or by
 * the one of the site. Events in the very zone of the site keep what is stored of their own clock.
 */
export function shownTimes(event: RecordTimes, mode: CalendarSettings['timezoneMode'], siteZone: Zone): ShownTimes {
  const { start_date: start, end_date: end, utc_start_date: startUtc, utc_end_date: endUtc, timezone } = withMoments(event, siteZone);
  if (mode === 'event' || timezone === siteZone.name) return { start, end, zone: parseZone(timezone) };
  return { start: toLocal(startUtc, siteZone), end: toLocal(endUtc, siteZone), zone: siteZone };
}
