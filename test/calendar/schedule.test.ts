import { describe, expect, it } from '@jest/globals';
import {
  dayAfter,
  daysOf,
  endOfWholeDays,
  lastWholeDay,
  type Schedule,
  scheduleDetails,
  shortScheduleDetails,
} from '../../src/calendar/schedule.ts';
import { parseZone } from '../../src/wordpress/zones.ts';

const FORMATS = { date: 'F j, Y', dateWithoutYear: 'F j', time: 'g:i a', beforeTime: ' @ ', beforeEnd: ' - ' };
const context = { formats: FORMATS, language: 'en', zone: parseZone('Europe/Rome')!, cutoff: '00:00', year: '2026' };
const event = (start: string, end: string, allDay = false): Schedule => ({ start, end, allDay });
const plain = (html: string | undefined) => html?.replace(/<[^>]*>/g, '');

describe('schedule of an event', () => {
  it.each([
    [event('2030-01-01 11:00:00', '2030-01-01 13:00:00'), 'January 1, 2030 @ 11:00 am - 1:00 pm', '11:00 am - 1:00 pm'],
    [event('2026-12-24 18:00:00', '2026-12-24 18:00:00'), 'December 24 @ 6:00 pm', '6:00 pm'],
    [event('2030-06-04 00:00:00', '2030-06-04 23:59:59', true), 'June 4, 2030', undefined],
    [event('2020-05-01 00:00:00', '2020-05-03 23:59:59', true), 'May 1, 2020 - May 3, 2020', 'May 1, 2020 - May 3, 2020'],
    [
      event('2026-12-31 22:00:00', '2027-01-01 02:00:00'),
      'December 31, 2026 @ 10:00 pm - January 1, 2027 @ 2:00 am',
      'December 31, 2026 @ 10:00 pm - January 1, 2027 @ 2:00 am',
    ],
  ])('shows %j as %s, in short as %s', (schedule, long, short) => {
    expect(plain(scheduleDetails(schedule, context))).toBe(long);
    expect(plain(shortScheduleDetails(schedule, context))).toBe(short);
  });
  it('includes the time zone if the format does', () => {
    const formats = { ...FORMATS, time: 'H:i T' };
    expect(plain(scheduleDetails(event('2026-07-01 11:00:00', '2026-07-01 11:00:00'), { ...context, formats }))).toBe(
      'July 1 @ 11:00 CEST',
    );
  });
  it('marks its parts with elements', () =>
    expect(scheduleDetails(event('2030-01-01 11:00:00', '2030-01-01 13:00:00'), context)).toBe(
      '<span class="tribe-event-date-start">January 1, 2030 @ 11:00 am</span> - <span class="tribe-event-time">1:00 pm</span>',
    ));
});

describe('number of days of an event', () => {
  it.each([
    ['2030-06-10 10:00:00', '2030-06-12 23:00:00', '00:00', 3],
    ['2030-06-10 22:00:00', '2030-06-11 02:00:00', '00:00', 2],
    ['2030-06-10 22:00:00', '2030-06-11 02:00:00', '06:00', false],
    ['2030-06-10 10:00:00', '2030-06-10 11:00:00', '00:00', false],
  ])('from %s to %s with the cutoff %s is %s', (start, end, cutoff, days) => expect(daysOf(event(start, end), cutoff)).toBe(days));
});

describe('day after an all-day event', () => {
  it.each([
    ['2030-06-10 00:00:00', '2030-06-10 23:59:59', '2030-06-11'],
    ['2030-06-10 05:00:00', '2030-06-12 04:59:59', '2030-06-12'],
    ['2030-06-10 05:00:00', '2030-06-10 04:59:59', '2030-06-11'],
    ['2026-04-24 01:00:00', '2026-04-25 23:59:59', '2026-04-26'],
    ['2030-06-10 00:00:00', '2030-06-08 23:59:59', '2030-06-11'],
    ['9999-12-31 00:00:00', '9999-12-31 23:59:59', '9999-12-31'],
  ])('from %s to %s is %s', (start, end, after) => expect(dayAfter(start, end)).toBe(after));
});

// Rome changes its clock on 28 March and 31 October 2027. Dates of a rule have the same length in seconds then.
describe('last day of an all-day event, and the day after it', () => {
  it.each([
    ['2027-03-27 00:00:00', '2027-03-27 23:59:59', '2027-03-27', '2027-03-28'],
    ['2027-03-27 02:00:00', '2027-03-28 01:59:59', '2027-03-27', '2027-03-28'],
    ['2027-03-28 03:00:00', '2027-03-29 01:59:59', '2027-03-28', '2027-03-29'],
    ['2027-03-28 00:00:00', '2027-03-29 00:59:59', '2027-03-28', '2027-03-29'],
    ['2027-10-30 00:00:00', '2027-10-31 22:59:59', '2027-10-31', '2027-11-01'],
    ['2027-10-31 00:00:00', '2027-10-31 22:59:59', '2027-10-31', '2027-11-01'],
    ['2027-10-30 02:00:00', '2027-11-01 00:59:59', '2027-10-31', '2027-11-01'],
    ['2027-06-10 00:00:00', '2027-06-11 12:00:00', '2027-06-11', '2027-06-11'],
    ['9999-12-31 00:00:00', '9999-12-31 23:59:59', '9999-12-31', '9999-12-31'],
  ])('from %s to %s are %s and %s', (start, end, last, after) => {
    expect([lastWholeDay(start, end), dayAfter(start, end)]).toEqual([last, after]);
  });
});

describe('end of an all-day event as its days are shown', () => {
  it.each([
    ['2027-03-27 00:00:00', '2027-03-27 23:59:59', '2027-03-27 23:59:59'],
    ['2027-03-28 00:00:00', '2027-03-29 00:59:59', '2027-03-28 23:59:59'],
    ['2027-03-27 00:00:00', '2027-03-29 00:59:59', '2027-03-28 23:59:59'],
    ['2027-03-28 05:00:00', '2027-03-29 05:59:59', '2027-03-29 04:59:59'],
    ['2027-10-31 00:00:00', '2027-10-31 22:59:59', '2027-10-31 22:59:59'],
    ['2027-06-10 00:00:00', '2027-06-11 12:00:00', '2027-06-11 12:00:00'],
    ['2027-06-10 00:00:00', '2027-06-10 00:00:00', '2027-06-10 00:00:00'],
    ['9999-12-31 05:00:00', '9999-12-31 23:59:59', '9999-12-31 23:59:59'],
    ['', '', ''],
  ])('from %s to %s is %s', (start, end, shown) => expect(endOfWholeDays(start, end)).toBe(shown));
});
