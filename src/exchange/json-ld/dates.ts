import { addDays, addDaysTo, diffSeconds, textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { unixFromLocal, type Zone } from '../../wordpress/zones.ts';
import { offsetIn, offsetZone, unambiguousZone, wallTimeIn } from '../items/unambiguous-zone.ts';
import { isWallTime, MAX_IMPORTED_S } from '../items/written-times.ts';

/** The dates of an event, as values of its fields. */
export interface PageDates {
  readonly start_date: string;
  readonly end_date: string;
  readonly timezone: string;
  readonly all_day: boolean;
  /** Correction of an end that is before the start on the page, as a reason of `exchange:losses`. */
  readonly correction: 'end-before-start' | 'end-next-day' | undefined;
}

/** A date on a page: a day, a time without a zone, or a moment. */
type WrittenDate = { readonly day: string } | WrittenTime;
type WrittenTime = { readonly wall: string } | { readonly moment: number; readonly offset: number };

/**
 * Returns the dates of an event (schema.org `startDate`, `endDate`, `duration`). A day as start makes the event
 * all-day, and its end is the last day. A time without an offset is in the site's zone. A time with an offset is shown
 * in the site's zone if that has the same offset, otherwise in that offset. An end without an offset has the zone of
 * the start. If the end is before the start on the same day, it is moved to the next day; if it is on an earlier day,
 * the two are swapped. Undefined if the start is invalid.
 */
export function datesOf(start: string, end: string, duration: string, site: Zone): PageDates | undefined {
  const from = readDate(start);
  const to = readDate(end);
  if (!from) return undefined;
  if ('day' in from) {
    const last = !to ? addDaysTo(from.day, Math.max(0, Math.ceil(secondsOf(duration) / 86_400) - 1)) : dayOf(to, site);
    const [first, final] = [from.day, last].sort() as [string, string];
    const correction = last < from.day ? 'end-before-start' : undefined;
    return { start_date: `${first} 00:00:00`, end_date: `${final} 23:59:59`, timezone: site.name, all_day: true, correction };
  }
  const startZone = zoneOf(from, site);
  const startMoment = momentOf(from, startZone);
  const { finish, correction } = correctedEndOf(
    startMoment,
    to ? endAfter(from, to, startZone) : startMoment + secondsOf(duration),
    startZone,
  );
  const [earlier, later] = [Math.min(startMoment, finish), Math.max(startMoment, finish)];
  const zone = unambiguousZone(startZone, [earlier, later]);
  const wall = (moment: number) => textFromUnix(wallTimeIn(zone, moment));
  return { start_date: wall(earlier), end_date: wall(later), timezone: zone.name, all_day: false, correction };
}

/** Returns the corrected end of an event, in the zone of its start. */
function correctedEndOf(start: number, end: number, zone: Zone): { finish: number } & Pick<PageDates, 'correction'> {
  if (end >= start) return { finish: end, correction: undefined };
  const [first, last] = [start, end].map((moment) => textFromUnix(wallTimeIn(zone, moment))) as [string, string];
  if (last.slice(0, 10) < first.slice(0, 10)) return { finish: end, correction: 'end-before-start' };
  return { finish: unixFromLocal(addDays(last, 1), zone), correction: 'end-next-day' };
}

/** Returns the offset of a date in seconds; undefined if it has none. */
export function offsetOf(text: string): number | undefined {
  const date = readDate(text);
  return date && 'offset' in date ? date.offset : undefined;
}

/** Converts `20270501T200000` to `2027-05-01T20:00:00`. */
function extendedForm(basic: string): string {
  const [day, time = ''] = basic.split(/T/i) as [string, string?];
  const date = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
  return time === '' ? date : `${date}T${time.replace(/\d\d(?=\d)/g, '$&:')}`;
}

/** Parses a date of ISO 8601 in extended or basic form. */
function readDate(text: string): WrittenDate | undefined {
  const extendedText = text.trim().replace(/^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?)?(?=$|[.,Z+-])/i, extendedForm);
  const [, day, hour, minute, second = '00', zone = ''] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i.exec(extendedText) ?? [];
  if (day === undefined) return undefined;
  const wall = `${day} ${hour ?? '00'}:${minute ?? '00'}:${second}`;
  if (!isWallTime(wall)) return undefined;
  const unix = unixFromText(wall);
  if (hour === undefined) return { day };
  if (zone === '') return { wall: textFromUnix(unix) };
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d)(?::?(\d\d))?$/.exec(zone) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
  return { moment: unix - offset, offset };
}

/** Returns the zone in which a date is shown. */
const zoneOf = (date: WrittenDate, site: Zone): Zone =>
  !('offset' in date) || date.offset === 0 || offsetIn(site, date.moment) === date.offset ? site : offsetZone(date.offset);

const momentOf = (date: WrittenTime, zone: Zone): number => ('wall' in date ? unixFromLocal(date.wall, zone) : date.moment);

/**
 * Returns the end of an event, which keeps its length if the clock skips its start and would show the end before it.
 */
function endAfter(from: WrittenTime, to: WrittenDate, zone: Zone): number {
  const [start, end] = [momentOf(from, zone), endOf(to, zone)];
  const isLater = 'wall' in from && 'wall' in to && to.wall > from.wall;
  return isLater && end <= start ? start + diffSeconds(from.wall, to.wall) : end;
}

const endOf = (date: WrittenDate, zone: Zone): number =>
  'day' in date ? unixFromLocal(`${date.day} 23:59:59`, zone) : momentOf(date, zone);

function dayOf(date: WrittenDate, site: Zone): string {
  if ('day' in date) return date.day;
  return textFromUnix(wallTimeIn(zoneOf(date, site), momentOf(date, site))).slice(0, 10);
}

/** Returns the seconds of a duration in ISO 8601; 0 if it is invalid. */
function secondsOf(text: string): number {
  const [, weeks = '0', days = '0', hours = '0', minutes = '0', seconds = '0'] =
    /^P(?:(\d{1,3})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})(?:\.\d{1,6})?S)?)?$/i.exec(text.trim()) ?? [];
  return Math.min(
    MAX_IMPORTED_S,
    Number(weeks) * 604_800 + Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
  );
}
