import { describe, expect, it } from '@jest/globals';
import { calendarEntries } from '../../src/exchange/ical/read.ts';
import { type Case, check, event, file, OPTIONS, read } from './odd-calendars.ts';

/** Tests of calendars that break the rules but have a clear meaning. */
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
    'an end of the rule with dashes and colons',
    at(':20261224T180000Z', 'RRULE:FREQ=DAILY;UNTIL=2026-12-25T18:00:00Z'),
    ['2026-12-24 18:00-18:00', '2026-12-25 18:00-18:00'],
  ],
  [
    'a rule with a parameter that contains a colon, and one with its name twice',
    at(':20261224T180000Z', 'RRULE;X-NOTE="a: b":FREQ=DAILY;COUNT=2', 'RRULE:RRULE:FREQ=WEEKLY;COUNT=2'),
    ['2026-12-24 18:00-18:00', '2026-12-25 18:00-18:00', '2026-12-31 18:00-18:00'],
  ],
  [
    'an exception with dashes and colons',
    at(':20261224T180000Z', 'RRULE:FREQ=DAILY;COUNT=2', 'EXDATE:2026-12-24T19:00:00+01:00'),
    ['2026-12-25 18:00-18:00'],
  ],
];

/** All-day events as times from midnight to midnight, as some versions of Exchange and Outlook write them. */
const marked = (start: string, end: string, ...more: string[]) => at(start, `DTEND${end}`, 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE', ...more);
const PARIS = ';TZID=Romance Standard Time:';
const MARKED: Case[] = [
  ['of a zone', marked(`${PARIS}20261210T000000`, `${PARIS}20261211T000000`), ['2026-12-10/2026-12-11']],
  ['of several days', marked(`${PARIS}20261224T000000`, `${PARIS}20261227T000000`), ['2026-12-24/2026-12-27']],
  ['in UTC', marked(':20261209T230000Z', ':20261210T230000Z'), ['2026-12-10/2026-12-11']],
  ['without a zone', marked(':20261210T000000', ':20261211T000000'), ['2026-12-10/2026-12-11']],
  ['that are days', marked(';VALUE=DATE:20261210', ';VALUE=DATE:20261211'), ['2026-12-10/2026-12-11']],
  ['of a length', at(`${PARIS}20270327T000000`, 'DURATION:P2D', 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE'), ['2027-03-27/2027-03-29']],
  ['of hours', at(`${PARIS}20270328T000000`, 'DURATION:PT24H', 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE'), ['2027-03-28/2027-03-29']],
  [
    'that last an hour',
    at(`${PARIS}20261210T000000`, 'DURATION:PT1H', 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE'),
    ['2026-12-09 23:00-2026-12-10 00:00'],
  ],
  ['that are none', marked(`${PARIS}20261210T090000`, `${PARIS}20261210T100000`), ['2026-12-10 08:00-09:00']],
  [
    'that repeat until a midnight in UTC, but for one, and with one moved',
    [
      ...marked(
        `${PARIS}20261207T000000`,
        `${PARIS}20261208T000000`,
        'RRULE:FREQ=DAILY;UNTIL=20261209T230000Z',
        `EXDATE${PARIS}20261208T000000`,
      ),
      ...marked(`${PARIS}20261212T000000`, `${PARIS}20261213T000000`, `RECURRENCE-ID${PARIS}20261209T000000`),
    ],
    ['2026-12-07/2026-12-08', '2026-12-10/2026-12-11', '2026-12-12/2026-12-13'],
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

const old = (rule: string, ...more: string[]) => at(':20260511T140000Z', `RRULE:${rule}`, ...more);
const days = (...days: string[]) => days.map((day) => `2026-${day} 14:00-14:00`);
const VCALENDAR: Case[] = [
  ['days', old('D1 #3'), days('05-11', '05-12', '05-13')],
  ['every other day until a moment', old('D2 20260515T140000Z'), days('05-11', '05-13', '05-15')],
  ['weekdays until a day', old('W1 MO WE 20260518T235900Z'), days('05-11', '05-13', '05-18')],
  ['a week', old('W1 #2'), days('05-11', '05-18')],
  ['no measure, which is twice', old('W1'), days('05-11', '05-18')],
  ['places in the month', old('MP1 2+ MO #2'), days('05-11', '06-08')],
  ['places from both ends', old('MP1 2+ MO 1- FR #4'), days('05-11', '05-29', '06-08', '06-26')],
  ['days of the month', old('MD1 11 LD #3'), days('05-11', '05-31', '06-11')],
  ['months', old('YM1 5 7 #2'), days('05-11', '07-11')],
  ['days of the year', old('YD1 131 200 #2'), days('05-11', '07-19')],
  ['no end', at(':20270511T140000Z', 'RRULE:YM1 #0'), ['2027-05-11 14:00-14:00']],
  ['exceptions between semicolons', old('D1 #3', 'EXDATE:20260511T140000Z;20260512T140000Z'), days('05-13')],
  ['rules within rules', old('MP1 1+ MO #2 D1 #3'), [], ['ical-rule-unknown']],
  ['words that are no rule', old('D1 SOON'), [], ['ical-rule-unknown']],
  [
    'quoted-printable text over two rows',
    [
      'BEGIN:VEVENT',
      'UID:u',
      'DTSTART:20260511T140000Z',
      'SUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Caff=C3=A8 =',
      'e t=C3=A8',
      'END:VEVENT',
    ],
    ['2026-05-11 14:00-14:00 Caffè e tè'],
  ],
  [
    'quoted-printable text in an encoding that it names',
    at(':20260511T140000Z', 'SUMMARY;CHARSET=ISO-8859-5;QUOTED-PRINTABLE:=BA=DE=DD=E6=D5=E0=E2'),
    ['2026-05-11 14:00-14:00 Концерт'],
  ],
  [
    'quoted-printable text in an encoding that nobody knows',
    at(':20260511T140000Z', 'SUMMARY;CHARSET=X-OWN;ENCODING=QUOTED-PRINTABLE:Caff=E8'),
    ['2026-05-11 14:00-14:00 Caffè'],
    ['encoding-assumed'],
  ],
  [
    'a quoted-printable text that ends with =, an empty row, and the next property',
    at(':20260511T140000Z', 'DESCRIPTION;ENCODING=QUOTED-PRINTABLE:Text=0D=0A=', '', 'SUMMARY:Fair'),
    ['2026-05-11 14:00-14:00 Fair'],
  ],
  [
    'quoted-printable text in rows that end twice',
    at(':20260511T140000Z', 'SUMMARY;ENCODING=QUOTED-PRINTABLE:Caff=C3=A8 =', '', 'e t=C3=A8', '', 'LOCATION:Bar', ''),
    ['2026-05-11 14:00-14:00 Caffè e tè'],
  ],
  ['a text with = at its end that is not quoted', at(':20260511T140000Z', 'SUMMARY:1+1='), ['2026-05-11 14:00-14:00 1+1=']],
];

describe('nonstandard calendar', () => {
  describe('has', () => it.each(DATES)('%s', check));
  describe('marks all-day events', () => it.each(MARKED)('%s', check));
  describe('has zones with', () => it.each(ZONES)('%s', check));
  describe('is in vCalendar format, with', () => it.each(VCALENDAR)('%s', check));
  describe('contains', () => it.each(NESTS)('%s', check));
  it.each([[], ['DESCRIPTION;ENCODING=QUOTED-PRINTABLE:Text=0D=0A=', '']])(
    'has quoted-printable text with a colon, and rows that all end twice',
    async (...more) => {
      const text = file(...at(':20260511T140000Z', ...more, 'SUMMARY;ENCODING=QUOTED-PRINTABLE:Caff=C3=A8 =', 'TEL: 0123'));
      expect(await read(text.replaceAll('\r\n', '\r\r\n'))).toEqual({ times: ['2026-05-11 14:00-14:00 Caffè TEL: 0123'], told: [] });
    },
  );

  it('is read after two byte order marks', () => check('', ['X-A:b', ...eve], [TIME], [], '\ufeff\ufeff'));

  it.each([
    ['VERSION:1.0', ['Music', 'Rock', 'Jazz']],
    ['VERSION:2.0', ['Music;Rock', 'Jazz']],
  ])('has categories between semicolons only in vCalendar format: %s', async (version, expected) => {
    const text = file(...at(':20261224T180000Z', 'CATEGORIES:Music;Rock,Jazz')).replace('VERSION:2.0', version);
    const bytes = async function* () {
      yield Buffer.from(text);
    };
    const categories: unknown[] = [];
    for await (const entry of calendarEntries(bytes, OPTIONS)) {
      if (entry.kind === 'event') categories.push(...(entry.terms ?? []).map(({ name }) => name));
    }
    expect(categories).toEqual(expected);
  });

  it.each([
    ['that calls its events off', ['METHOD:CANCEL', ...eve], ['canceled']],
    ['that calls one time off', ['METHOD:CANCEL', ...at(':20261224T180000Z', 'RECURRENCE-ID:20261224T180000Z')], ['canceled']],
    ['that publishes its events', ['METHOD:PUBLISH', ...eve], []],
  ])('reads the event status of a calendar %s', async (_, lines, expected) => {
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
