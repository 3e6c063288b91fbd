import type { Values } from '../kinds/param.ts';
import { isRealDate } from '../wordpress/time.ts';
import { localFromUnix, parseZone, unixFromLocal, type Zone } from '../wordpress/zones.ts';
import type { FormContext } from './form-context.ts';

/*
 * Dates in a form that the user has to correct, although the API accepts them: texts such as `tomorrow`, days and hours
 * that do not exist (`2027-02-30`, `24:00`), days without a time, and local times that do not exist because clocks are
 * set forward. Like PHP, the API computes a day from a text, counts on into the next month, takes midnight, or moves
 * the time an hour ahead.
 */

/** The dates of an event, which take place at a time of day. */
const EVENT_DATES = ['start_date', 'end_date'];
const DATES = [...EVENT_DATES, 'date'];

/** A text of the date field: a day with a year of four digits, and a time as it was typed. */
const MOMENT = /^([1-9]\d{3}-\d\d-\d\d)(?: (.+))?$/;
const TIME = /^([01]?\d|2[0-3])[:.]([0-5]\d)(?::[0-5]\d)?$/;
const TWELVE_HOUR_TIME = /^(0?[1-9]|1[0-2])(?:[:.]([0-5]\d)(?:[:.][0-5]\d)?)? ?([ap])\.?m\.?$/i;

/**
 * Returns the dates in a form that the user has to correct, each with a sentence about it. `raw`: the values to be
 * written; `before`: the stored values. An event that only changes its time zone keeps its times, which must exist
 * there.
 */
export function dateErrors({ settings, i18n }: FormContext, raw: Values, before: Values = {}): [name: string, sentence: string][] {
  const { timezone, all_day: allDay } = { ...before, ...raw };
  const zone = parseZone(String(timezone ?? '')) ?? settings.zone;
  const faultOf = (name: string) => {
    const text = String(raw[name] ?? '');
    const isTimed = takesTime(name, allDay);
    if (text !== '') return wordingFault(text) ?? (isTimed ? timeFault(text, zone) : undefined);
    const keptText = isTimed && 'timezone' in raw && !(name in raw) ? String(before[name] ?? '') : '';
    return wordingFault(keptText) === undefined ? timeFault(keptText, zone) : undefined;
  };
  return DATES.flatMap((name): [string, string][] => {
    const fault = faultOf(name);
    return fault === undefined ? [] : [[name, i18n.say(`desk:form.${fault}`)]];
  });
}

const takesTime = (name: string, allDay: unknown): boolean => EVENT_DATES.includes(name) && allDay !== true;

/** Returns the fault of a text that is no day, or has a time that no day has. */
function wordingFault(text: string): 'not-a-day' | 'not-a-time' | undefined {
  const [, day = '', time] = MOMENT.exec(text) ?? [];
  if (!isRealDate(day)) return 'not-a-day';
  return time !== undefined && toMinute(time) === undefined ? 'not-a-time' : undefined;
}

/** Returns the fault of a day without a time, or of a time over which clocks are set forward. */
function timeFault(text: string, zone: Zone): 'time-missing' | 'skipped-hour' | undefined {
  const [, day = '', time] = MOMENT.exec(text) ?? [];
  if (time === undefined) return 'time-missing';
  const minute = `${day} ${toMinute(time) ?? ''}`;
  return localFromUnix(unixFromLocal(`${minute}:00`, zone), zone).startsWith(minute) ? undefined : 'skipped-hour';
}

/** Converts `9:30`, `9.30`, `9:30:00` and `9:30 am` to `09:30`: without a time input, browsers send what was typed. */
function toMinute(time: string): string | undefined {
  const [, hour = '', minute = ''] = TIME.exec(time) ?? [];
  if (hour !== '') return `${hour.padStart(2, '0')}:${minute}`;
  const [, hourOfTwelve = '', minuteOfTwelve = '00', half = ''] = TWELVE_HOUR_TIME.exec(time) ?? [];
  if (hourOfTwelve === '') return undefined;
  const hours = (Number(hourOfTwelve) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return `${String(hours).padStart(2, '0')}:${minuteOfTwelve}`;
}
