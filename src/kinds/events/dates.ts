import { type EventDates, eventDates } from '../../calendar/dates.ts';
import { failParam } from '../../errors.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import { type Metas, metaOf } from '../../wordpress/rows.ts';
import { toFullDate } from '../../wordpress/time.ts';
import type { Rows, StoredPost } from '../kind.ts';
import type { RuleContext } from '../rendering.ts';
import { DATES } from './metas.ts';

/** The fields of an event that its dates follow from. */
interface DateFields {
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
  readonly timezone?: string | null | undefined;
  readonly all_day?: boolean | undefined;
}

/**
 * Returns the metas of the dates after a change of start, end, time zone or all-day flag. An event that becomes all-day
 * loses the duration that it had. Throws 400 if the end is before the start (D2, D3).
 */
export function datesChange(values: DateFields, before: StoredPost | undefined, { settings, now }: RuleContext): Rows['metas'] {
  if (!['start_date', 'end_date', 'timezone', 'all_day'].some((name) => name in values)) return {};
  const oldDates = before && storedDates(before);
  const dates = eventDates(
    {
      start: values.start_date,
      end: values.end_date,
      timezone: values.timezone,
      allDay: values.all_day,
    },
    oldDates,
    { siteZone: settings.timezone, cutoff: settings.calendar.cutoff, now },
  );
  if ('problem' in dates) return failParam(dates.field, dates.problem);
  return {
    ...(oldDates ? { [DATES.duration]: [] } : {}),
    ...Object.fromEntries(dateMetas(dates).map(([key, value]) => [key, [storedText(value)]])),
    ...(dates.allDay || oldDates ? { [DATES.allDay]: [storedText(dates.allDay ? '1' : '')] } : {}),
  };
}

/** Returns the metas in which dates are stored, without the all-day flag. */
export const dateMetas = (dates: EventDates): (readonly [key: string, value: string])[] => [
  [DATES.start, dates.start],
  [DATES.end, dates.end],
  [DATES.startUtc, dates.startUtc],
  [DATES.endUtc, dates.endUtc],
  [DATES.timezone, dates.timezone],
  [DATES.abbreviation, dates.abbreviation],
  ...(dates.duration === null ? [] : [[DATES.duration, String(dates.duration)] as const]),
];

/** Returns the dates of an event from its metas, each in full as PHP reads it; missing ones are empty texts. */
export function storedDates({ metas }: { readonly metas: Metas }): EventDates {
  const value = (key: string) => metaOf(metas, key) ?? '';
  const fullDate = (key: string) => toFullDate(value(key));
  const duration = value(DATES.duration);
  return {
    start: fullDate(DATES.start),
    end: fullDate(DATES.end),
    startUtc: fullDate(DATES.startUtc),
    endUtc: fullDate(DATES.endUtc),
    timezone: value(DATES.timezone),
    abbreviation: value(DATES.abbreviation),
    allDay: isAllDay(value(DATES.allDay)),
    duration: duration === '' ? null : Number(duration),
  };
}

/** Returns whether the meta of the all-day flag says yes. */
export const isAllDay = (text: string): boolean => /^(yes|1|true)$/i.test(text);

/**
 * Returns a record that says whether the event lasts all day, also if it is protected: without that, its dates, which
 * are never hidden, are shown wrong.
 */
export const withAllDay = <Shown extends { readonly all_day?: unknown }>(record: Shown, metas: Metas | undefined): Shown =>
  record.all_day === null ? { ...record, all_day: storedDates({ metas: metas ?? new Map() }).allDay } : record;
