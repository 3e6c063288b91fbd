import { describe, expect, it } from '@jest/globals';
import { calendarEntries } from '../../src/exchange/ical/read.ts';
import { type Case, check, event, file, OPTIONS } from './odd-calendars.ts';

/** Calendars that break the rules in ways that leave no doubt about what they mean. */
const at = (start: string, ...more: string[]) => event(`DTSTART${start}`, ...more);

const DATES: Case[] = [
  ['a day with a Z', at(':20261224Z', 'DTEND:20261226Z'), ['2026-12-24/2026-12-26']],
  ['more days with a Z', at(';VALUE=DATE:20261224', 'RDATE:20251224Z'), ['2025-12-24/2025-12-25', '2026-12-24/2026-12-25']],
  ['a day with dashes', at(';VALUE=DATE:2026-12-24'), ['2026-12-24/2026-12-25']],
  ['a time with dashes and colons', at(':2026-12-24T18:00:00Z', 'DTEND:2026-12-24T19:30Z'), ['2026-12-24 18:00-19:30']],
  ['a time of a zone with dashes', at(';TZID=Asia/Tokyo:2026-12-24T18:00:00'), ['2026-12-24 09:00-09:00']],
  ['an offset', at(':20261224T180000+0500'), ['2026-12-24 13:00-13:00']],
  ['an offset with dashes and colons', at(':2026-12-24T18:00:00-05:00'), ['2026-12-24 23:00-23:00']],
  ['an offset that leads to another day', at(':20261224T013000+05:30'), ['2026-12-23 20:00-20:00']],
  ['parts of a second', at(':20261224T180000.000Z'), ['2026-12-24 18:00-18:00']],
  ['a blank for the T', at(':20261224 180000Z'), ['2026-12-24 18:00-18:00']],
  [
    'blanks around the name',
    ['BEGIN:VEVENT', 'UID:u', 'SUMMARY:E', 'DTSTART ;TZID=Asia/Tokyo: 20261224T180000', 'END:VEVENT'],
    ['2026-12-24 09:00-09:00'],
  ],
  ['something else behind a time', at(':20261224T180000 CET'), [], ['ical-dates-unreadable']],
  ['five digits of a time', at(':20261224T90000Z'), [], ['ical-dates-unreadable']],
  ['two starts', at(':20261224T180000Z', 'DTSTART:20261225T180000Z'), ['2026-12-24 18:00-18:00'], ['ical-line-unreadable']],
  ['two starts in a line', at(':20261224T180000Z,20261225T180000Z'), ['2026-12-24 18:00-18:00'], ['ical-line-unreadable']],
  ['the same start twice', at(':20261224T180000Z', 'DTSTART:20261224T180000Z'), ['2026-12-24 18:00-18:00']],
  ['a length in small letters', at(':20261224T180000Z', 'DURATION:pt1h'), ['2026-12-24 18:00-19:00']],
  [
    'an end of the rule with dashes',
    at(';VALUE=DATE:20261224', 'RRULE:FREQ=DAILY;UNTIL=2026-12-25'),
    ['2026-12-24/2026-12-25', '2026-12-25/2026-12-26'],
  ],
  [
    'an exception with dashes and colons',
    at(':20261224T180000Z', 'RRULE:FREQ=DAILY;COUNT=2', 'EXDATE:2026-12-24T19:00:00+01:00'),
    ['2026-12-25 18:00-18:00'],
  ],
];

const zone = (id: string, ...lines: string[]) => [
  'BEGIN:VTIMEZONE',
  `TZID:${id}`,
  'BEGIN:STANDARD',
  ...lines,
  'END:STANDARD',
  'END:VTIMEZONE',
];
const fixed = (id: string, offset: string) => zone(id, 'DTSTART:19700101T000000', `TZOFFSETFROM:${offset}`, `TZOFFSETTO:${offset}`);
const noon = (id: string) => at(`;TZID=${id}:20260724T120000`);
const ZONES: Case[] = [
  ['an offset of hours', [...fixed('Own', '+05'), ...noon('Own')], ['2026-07-24 07:00-07:00']],
  ['an offset of three digits', [...fixed('Own', '-500'), ...noon('Own')], ['2026-07-24 17:00-17:00']],
  ['no start', [...zone('Own', 'TZOFFSETFROM:-0500', 'TZOFFSETTO:-0500'), ...noon('Own')], ['2026-07-24 17:00-17:00']],
  ['a single letter', [...fixed('X', '+0500'), ...noon('X')], ['2026-07-24 07:00-07:00']],
  ['a single letter that nothing describes', noon('X'), ['2026-07-24 10:00-10:00'], ['ical-zone-unknown']],
  ['other letters', [...fixed('Own zone', '+0500'), ...noon('OWN ZONE')], ['2026-07-24 07:00-07:00']],
  ['an abbreviation that is a zone', noon('CET'), ['2026-07-24 10:00-10:00']],
  ['an abbreviation that the file describes', [...fixed('CET', '+0100'), ...noon('CET')], ['2026-07-24 11:00-11:00']],
  ['a blank in an IANA name', noon('America/New York'), ['2026-07-24 16:00-16:00']],
  ['a dash in an IANA name', noon('US-Eastern'), ['2026-07-24 16:00-16:00']],
  ['a calendar that names its zone otherwise', ['TIMEZONE-ID:Asia/Tokyo', ...at(':20260724T120000')], ['2026-07-24 03:00-03:00']],
  [
    'two calendars, each with a zone of that name',
    [
      ...[...fixed('Own', '+0500'), ...noon('Own')],
      ...['END:VCALENDAR', 'BEGIN:VCALENDAR', ...fixed('Own', '-0500'), ...at(';TZID=Own:20260724T120000', 'UID:2')],
    ],
    ['2026-07-24 07:00-07:00', '2026-07-24 17:00-17:00'],
  ],
  [
    'two calendars, the first with the zone of both',
    [...fixed('Own', '+0500'), 'END:VCALENDAR', 'BEGIN:VCALENDAR', ...noon('Own')],
    ['2026-07-24 07:00-07:00'],
  ],
];

const eve = at(':20261224T180000Z');
const TIME = '2026-12-24 18:00-18:00';
const NESTS: Case[] = [
  ['a calendar in a calendar', ['BEGIN:VCALENDAR', 'VERSION:2.0', ...eve, 'END:VCALENDAR'], [TIME]],
  [
    'a calendar in one of another zone',
    [
      'X-WR-TIMEZONE:Asia/Tokyo',
      'BEGIN:VCALENDAR',
      'X-WR-TIMEZONE:UTC',
      ...at(':20261224T180000'),
      'END:VCALENDAR',
      ...at(':20261224T180000', 'UID:2'),
    ],
    [TIME, '2026-12-24 09:00-09:00'],
  ],
  ['an event in an event', [...eve.slice(0, -1), ...at(':20261225T180000Z', 'UID:2'), 'END:VEVENT'], [TIME, '2026-12-25 18:00-18:00']],
  ['an event in a component of its own', ['BEGIN:X-BOX', 'X-A:b', ...eve, 'END:X-BOX'], [TIME]],
  ['rows that end twice', eve.flatMap((line) => (line.startsWith('DTSTART') ? ['DTSTART:20261224', '', ' T180000Z'] : [line, ''])), [TIME]],
];

describe('an unruly calendar', () => {
  describe('has', () => it.each(DATES)('%s', check));
  describe('has zones with', () => it.each(ZONES)('%s', check));
  describe('holds', () => it.each(NESTS)('%s', check));

  it('is read after two marks of its encoding', () => check('', ['X-A:b', ...eve], [TIME], [], '\ufeff\ufeff'));

  it.each([
    ['that calls its events off', ['METHOD:CANCEL', ...eve], ['canceled']],
    ['that calls one time off', ['METHOD:CANCEL', ...at(':20261224T180000Z', 'RECURRENCE-ID:20261224T180000Z')], ['canceled']],
    ['that publishes its events', ['METHOD:PUBLISH', ...eve], []],
  ])('tells whether events take place: one %s', async (_, lines, expected) => {
    const statuses: string[] = [];
    const bytes = async function* () {
      yield Buffer.from(file(...lines));
    };
    for await (const entry of calendarEntries(bytes, OPTIONS)) {
      if (entry.kind === 'event') statuses.push(...entry.metas.flatMap(([key, value]) => (key === '_tribe_events_status' ? [value] : [])));
    }
    expect(statuses).toEqual(expected);
  });
});
