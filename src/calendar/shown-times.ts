import { unixFromText } from '../wordpress/time.ts';
import { parseZone, toLocal, toUtc, type Zone } from '../wordpress/zones.ts';
import { endOfWholeDays } from './schedule.ts';
import type { CalendarSettings } from './settings.ts';

/** Start and end of an event as records have them: in its local time and in UTC, `YYYY-MM-DD HH:MM:SS`. */
export interface RecordTimes {
  readonly start_date: string;
  readonly end_date: string;
  readonly utc_start_date: string;
  readonly utc_end_date: string;
  readonly timezone: string;
}

/** Start and end of an event in the local time to be shown, and the zone of that time. */
export interface ShownTimes {
  readonly start: string;
  readonly end: string;
  readonly zone: Zone | null;
}

/**
 * Returns an event with its UTC times. Old calendars only stored the event's local time, which was the site's if the
 * event has no zone.
 */
export function withMoments<Event extends RecordTimes>(event: Event, siteZone: Zone): Event {
  const { start_date: start, end_date: end, utc_start_date: startUtc, utc_end_date: endUtc, timezone } = event;
  const momentOf = (utc: string, local: string) => (isDate(utc) || !isDate(local) ? utc : toUtc(local, parseZone(timezone) ?? siteZone));
  if (isDate(startUtc) && isDate(endUtc)) return event;
  return { ...event, utc_start_date: momentOf(startUtc, start), utc_end_date: momentOf(endUtc, end) };
}

/** Returns whether a text is a date, and not the zero date. */
export const isDate = (text: string): boolean => !Number.isNaN(unixFromText(text));

/**
 * Returns start and end as the calendar's pages show them (`tribe_events_timezone_mode`): in the event's or in the
 * site's local time. Events in the site's zone keep their stored local time.
 */
export function shownTimes(event: RecordTimes, mode: CalendarSettings['timezoneMode'], siteZone: Zone): ShownTimes {
  const { start_date: start, end_date: end, utc_start_date: startUtc, utc_end_date: endUtc, timezone } = withMoments(event, siteZone);
  if (mode === 'event' || timezone === siteZone.name) return { start, end, zone: parseZone(timezone) };
  return { start: toLocal(startUtc, siteZone), end: toLocal(endUtc, siteZone), zone: siteZone };
}

/**
 * Returns start and end as pages show them. Unlike in the plugin, all-day events keep their days, which the local time
 * of a site further west or east would move, and a date of a rule on the day on which clocks go forward does not last
 * into the next day.
 */
export function shownDates(
  event: RecordTimes & { readonly all_day?: boolean | null },
  mode: CalendarSettings['timezoneMode'],
  siteZone: Zone,
): ShownTimes {
  if (event.all_day !== true) return shownTimes(event, mode, siteZone);
  const shown = shownTimes(event, 'event', siteZone);
  return { ...shown, end: endOfWholeDays(shown.start, shown.end) };
}
