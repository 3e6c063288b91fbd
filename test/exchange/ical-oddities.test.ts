import { describe, expect, it } from '@jest/globals';
import { type Case, check, event, file, read } from './odd-calendars.ts';

/** Daylight saving time of the United States since 2007. */
const NEW_RULES = [
  'BEGIN:DAYLIGHT',
  'DTSTART:20070311T020000',
  'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU',
  'TZOFFSETFROM:-0500',
  'TZOFFSETTO:-0400',
  'END:DAYLIGHT',
  'BEGIN:STANDARD',
  'DTSTART:20071104T020000',
  'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU',
  'TZOFFSETFROM:-0400',
  'TZOFFSETTO:-0500',
  'END:STANDARD',
];
const SINCE_2007 = ['BEGIN:VTIMEZONE', 'TZID:Ostern', ...NEW_RULES, 'END:VTIMEZONE'];
/** The same zone, with the rules until 2006. */
const OLD_EASTERN = [
  'BEGIN:VTIMEZONE',
  'TZID:Mine',
  'BEGIN:STANDARD',
  'DTSTART:19971026T020000',
  'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T060000Z',
  'TZOFFSETFROM:-0400',
  'TZOFFSETTO:-0500',
  'END:STANDARD',
  'BEGIN:DAYLIGHT',
  'DTSTART:19970406T020000',
  'RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T070000Z',
  'TZOFFSETFROM:-0500',
  'TZOFFSETTO:-0400',
  'END:DAYLIGHT',
  ...NEW_RULES,
  'END:VTIMEZONE',
];
const fixed = (id: string, offset: string) => [
  'BEGIN:VTIMEZONE',
  `TZID:${id}`,
  'BEGIN:STANDARD',
  'DTSTART:16010101T000000',
  `TZOFFSETFROM:${offset}`,
  `TZOFFSETTO:${offset}`,
  'END:STANDARD',
  'END:VTIMEZONE',
];

const ZONES: Case[] = [
  ['old rules at their date', [...OLD_EASTERN, ...event('DTSTART;TZID=Mine:20060320T100000')], ['2006-03-20 15:00-15:00']],
  ['present rules at their date', [...OLD_EASTERN, ...event('DTSTART;TZID=Mine:20260320T100000')], ['2026-03-20 14:00-14:00']],
  ['a zone after its events', [...event('DTSTART;TZID=Mine:20260720T100000'), ...OLD_EASTERN], ['2026-07-20 14:00-14:00']],
  [
    'a zone of offsets with seconds',
    [...fixed('Own', '+001730'), ...event('DTSTART;TZID=Own:20261224T121730')],
    ['2026-12-24 12:00-12:00'],
  ],
  [
    'commas and backslashes in a name',
    [...fixed('(UTC-05:00) Bogota\\, Lima', '-0500'), ...event('DTSTART;TZID="(UTC-05:00) Bogota, Lima":20261224T180000')],
    ['2026-12-24 23:00-23:00'],
  ],
  ['an IANA name without its description', event('DTSTART;TZID=Asia/Tokyo:20261224T180000'), ['2026-12-24 09:00-09:00']],
  ['an IANA name of three parts', event('DTSTART;TZID=/x.org/1/America/Argentina/Salta:20261224T180000'), ['2026-12-24 21:00-21:00']],
  ["a name of Windows's", event('DTSTART;TZID=Tokyo Standard Time:20261224T180000'), ['2026-12-24 09:00-09:00']],
  [
    'a description that differs from Windows',
    [...fixed('Tokyo Standard Time', '+0800'), ...event('DTSTART;TZID=Tokyo Standard Time:20261224T180000')],
    ['2026-12-24 10:00-10:00'],
  ],
  ['a name that nobody knows', event('DTSTART;TZID=Atlantis:20261224T180000'), ['2026-12-24 17:00-17:00'], ['ical-zone-unknown']],
  [
    'a name that nobody knows beside one that is known',
    event('DTSTART;TZID=Atlantis:20261224T180000', 'DTEND;TZID=Asia/Tokyo:20261224T190000'),
    ['2026-12-24 09:00-10:00'],
    ['ical-zone-unknown'],
  ],
  [
    'a name that is guessed beside one that is known',
    event('DTSTART;TZID="(UTC-05:00) Eastern Time (US and Canada)":20261224T120000', 'DTEND;TZID=America/Los_Angeles:20261224T130000'),
    ['2026-12-24 20:00-21:00'],
    ['ical-zone-unknown'],
  ],
  [
    'two zones that are known',
    event('DTSTART;TZID=Eastern Standard Time:20261224T120000', 'DTEND;TZID=America/Los_Angeles:20261224T130000'),
    ['2026-12-24 17:00-21:00'],
  ],
  ['a Z behind a time of a zone', event('DTSTART;TZID=Asia/Tokyo:20261224T180000Z'), ['2026-12-24 09:00-09:00']],
  [
    'a time of no zone, in that of the calendar',
    ['X-WR-TIMEZONE:Asia/Tokyo', ...event('DTSTART:20261224T180000')],
    ['2026-12-24 09:00-09:00'],
  ],
  [
    'a time of no zone, by the rules of the zone that the calendar describes',
    ['X-WR-TIMEZONE:Ostern', ...SINCE_2007, ...event('DTSTART:20270711T120000', 'RRULE:FREQ=MONTHLY;INTERVAL=5;COUNT=2')],
    ['2027-07-11 16:00-16:00', '2027-12-11 17:00-17:00'],
  ],
  [
    'a time of no zone, where nobody knows that of the calendar',
    ['X-WR-TIMEZONE:Hawaii Daylight Something', ...event('DTSTART:20270711T120000')],
    ['2027-07-11 10:00-10:00'],
    ['ical-calendar-zone-unknown'],
  ],
  ['a time of no zone, in that of the site', event('DTSTART:20261224T180000'), ['2026-12-24 17:00-17:00']],
  ['an hour that the clock skips', event('DTSTART;TZID=Europe/Rome:20260329T023000'), ['2026-03-29 01:30-01:30']],
  [
    'an end within the hour that the clock skips with its start',
    event('DTSTART;TZID=Europe/Rome:20260329T023000\r\nDTEND;TZID=Europe/Rome:20260329T030000'),
    ['2026-03-29 01:30-02:00'],
  ],
  [
    'an end right after the hour that the clock skips',
    event('DTSTART;TZID=Europe/Rome:20260329T020000\r\nDTEND;TZID=Europe/Rome:20260329T030000'),
    ['2026-03-29 01:00-02:00'],
  ],
  ['an hour that the clock shows twice', event('DTSTART;TZID=Europe/Rome:20261025T023000'), ['2026-10-25 00:30-00:30']],
];

const LENGTHS: Case[] = [
  ['whole days with a week', event('DTSTART;VALUE=DATE:20261224', 'DURATION:P1W'), ['2026-12-24/2026-12-31']],
  ['whole days with hours', event('DTSTART;VALUE=DATE:20261224', 'DURATION:PT48H'), ['2026-12-24/2026-12-26']],
  ['a whole day that ends where it begins', event('DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20261224'), ['2026-12-24/2026-12-25']],
  ['a day of a zone', event('DTSTART;VALUE=DATE;TZID=America/Lima:20261224'), ['2026-12-24/2026-12-25']],
  ['a day that does not say that it is one', event('DTSTART:20261224', 'DTEND:20261226'), ['2026-12-24/2026-12-26']],
  [
    'a day over the change of clocks',
    event('DTSTART;TZID=Europe/Rome:20261024T120000', 'DURATION:P1D'),
    ['2026-10-24 10:00-2026-10-25 11:00'],
  ],
  [
    '24 hours over the change of clocks',
    event('DTSTART;TZID=Europe/Rome:20261024T120000', 'DURATION:PT24H'),
    ['2026-10-24 10:00-2026-10-25 10:00'],
  ],
  ['seconds', event('DTSTART:20261224T180000Z', 'DURATION:PT5400S'), ['2026-12-24 18:00-19:30']],
  ['a plus', event('DTSTART:20261224T180000Z', 'DURATION:+P0DT1H0M0S'), ['2026-12-24 18:00-19:00']],
  ['an end and a length', event('DTSTART:20261224T180000Z', 'DTEND:20261224T190000Z', 'DURATION:PT3H'), ['2026-12-24 18:00-19:00']],
  ['below zero', event('DTSTART:20261224T180000Z', 'DURATION:-PT1H'), ['2026-12-24 17:00-18:00'], ['end-before-start']],
  ['days below zero', event('DTSTART;VALUE=DATE:20261224', 'DURATION:-P2D'), ['2026-12-22/2026-12-24'], ['end-before-start']],
  ['no seconds', event('DTSTART:20261224T1800Z', 'DTEND:20261224T1930Z'), ['2026-12-24 18:00-19:30']],
  ['the end of a day', event('DTSTART:20261231T180000Z', 'DTEND:20261231T240000Z'), ['2026-12-31 18:00-2027-01-01 00:00']],
  ['a 60th second', event('DTSTART:20261231T235960Z'), ['2026-12-31 23:59-23:59']],
];

const daily = (...more: string[]) => event('DTSTART;TZID=Europe/Rome:20261222T100000', 'DURATION:PT1H', ...more);
const AUCKLAND = ['X-WR-TIMEZONE:Pacific/Auckland'];
const days = (...more: string[]) => event('DTSTART;VALUE=DATE:20270201', 'RRULE:FREQ=DAILY;COUNT=4', ...more);
const SERIES: Case[] = [
  [
    'whole days without the one that begins at a moment in its zone',
    [...AUCKLAND, ...days('EXDATE:20270203T110000Z')],
    ['2027-02-01/2027-02-02', '2027-02-02/2027-02-03', '2027-02-03/2027-02-04'],
  ],
  [
    'whole days without the one that begins at a moment in a zone that nobody names',
    [...AUCKLAND, ...days('EXDATE:20270203T050000Z')],
    ['2027-02-01/2027-02-02', '2027-02-02/2027-02-03', '2027-02-04/2027-02-05'],
  ],
  ['until a moment', daily('RRULE:FREQ=DAILY;UNTIL=20261223T090000Z'), ['2026-12-22 09:00-10:00', '2026-12-23 09:00-10:00']],
  ['until a time of its own clock', daily('RRULE:FREQ=DAILY;UNTIL=20261223T100000'), ['2026-12-22 09:00-10:00', '2026-12-23 09:00-10:00']],
  ['until a time without seconds', daily('RRULE:FREQ=DAILY;UNTIL=20261223T0900Z'), ['2026-12-22 09:00-10:00', '2026-12-23 09:00-10:00']],
  ['until a day', daily('RRULE:FREQ=DAILY;UNTIL=20261223'), ['2026-12-22 09:00-10:00'], ['ical-last-day']],
  [
    'whole days until a moment',
    event('DTSTART;VALUE=DATE:20261222', 'RRULE:FREQ=DAILY;UNTIL=20261223T230000Z'),
    ['2026-12-22/2026-12-23', '2026-12-23/2026-12-24'],
    ['ical-last-day-unsure'],
  ],
  [
    'whole days until a moment of another day where the calendar is, the last day named by it',
    event('DTSTART;VALUE=DATE:20261222', 'RRULE:FREQ=WEEKLY;UNTIL=20261228T230000Z'),
    ['2026-12-22/2026-12-23'],
    ['ical-last-day-unsure'],
  ],
  [
    'whole days until a moment of an earlier day where the calendar is',
    ['X-WR-TIMEZONE:America/New_York', ...event('DTSTART;VALUE=DATE:20261222', 'RRULE:FREQ=DAILY;UNTIL=20261224T045959Z')],
    ['2026-12-22/2026-12-23', '2026-12-23/2026-12-24', '2026-12-24/2026-12-25'],
    ['ical-last-day-unsure'],
  ],
  [
    'whole days until a moment of another day, which the rule does not name',
    event('DTSTART;VALUE=DATE:20261222', 'RRULE:FREQ=WEEKLY;UNTIL=20261229T230000Z'),
    ['2026-12-22/2026-12-23', '2026-12-29/2026-12-30'],
  ],
  ...['T235959Z', 'T000000Z'].map(
    (time): Case => [
      `whole days until a day written as ${time}`,
      event('DTSTART;VALUE=DATE:20261222', `RRULE:FREQ=DAILY;UNTIL=20261223${time}`),
      ['2026-12-22/2026-12-23', '2026-12-23/2026-12-24'],
    ],
  ),
  [
    'until a moment of a later day than where it takes place',
    event('DTSTART;TZID=America/New_York:20261221T210000', 'RRULE:FREQ=DAILY;UNTIL=20261224T020000Z'),
    ['2026-12-22 02:00-02:00', '2026-12-23 02:00-02:00', '2026-12-24 02:00-02:00'],
  ],
  [
    'until a moment of an earlier day than where it takes place',
    event('DTSTART;TZID=Asia/Tokyo:20261222T080000', 'RRULE:FREQ=WEEKLY;BYDAY=TU,WE,TH;UNTIL=20261222T230000Z'),
    ['2026-12-21 23:00-23:00', '2026-12-22 23:00-23:00'],
  ],
  [
    'a time of no zone until a moment of an earlier day than in the zone of the calendar',
    [...AUCKLAND, ...event('DTSTART:20261222T080000', 'RRULE:FREQ=DAILY;UNTIL=20261222T190000Z')],
    ['2026-12-21 19:00-19:00', '2026-12-22 19:00-19:00'],
  ],
  ['no count, told as -1', daily('RRULE:FREQ=DAILY;COUNT=-1;UNTIL=20261222T235959Z'), ['2026-12-22 09:00-10:00']],
  ['blanks in the rule', daily('RRULE:FREQ=WEEKLY; BYDAY=TU, WE; COUNT=2'), ['2026-12-22 09:00-10:00', '2026-12-23 09:00-10:00']],
  [
    'the same rule twice',
    daily('RRULE:FREQ=DAILY;COUNT=2', 'RRULE:FREQ=DAILY;COUNT=2'),
    ['2026-12-22 09:00-10:00', '2026-12-23 09:00-10:00'],
  ],
  [
    'two rules',
    daily('RRULE:FREQ=DAILY;COUNT=2', 'RRULE:FREQ=YEARLY;COUNT=2'),
    ['2026-12-22 09:00-10:00', '2026-12-23 09:00-10:00', '2027-12-22 09:00-10:00'],
  ],
  [
    'periods',
    daily('RDATE;VALUE=PERIOD;TZID=Europe/Rome:20261224T100000/20261224T123000,20261225T100000/PT10M'),
    ['2026-12-22 09:00-10:00', '2026-12-24 09:00-11:30', '2026-12-25 09:00-09:10'],
  ],
  [
    'an exception of a day',
    daily('RRULE:FREQ=DAILY;COUNT=3', 'EXDATE;VALUE=DATE:20261223'),
    ['2026-12-22 09:00-10:00', '2026-12-24 09:00-10:00'],
  ],
  ['an exception in UTC', daily('RRULE:FREQ=DAILY;COUNT=2', 'EXDATE:20261223T090000Z'), ['2026-12-22 09:00-10:00']],
  ['an exception in another zone', daily('RRULE:FREQ=DAILY;COUNT=2', 'EXDATE;TZID=Asia/Tokyo:20261223T180000'), ['2026-12-22 09:00-10:00']],
  [
    'a rule of exceptions',
    daily('RRULE:FREQ=DAILY;COUNT=3', 'EXRULE:FREQ=WEEKLY;BYDAY=WE'),
    ['2026-12-22 09:00-10:00', '2026-12-24 09:00-10:00'],
  ],
  [
    'a series in UTC over the change of clocks',
    event('DTSTART:20261023T170000Z', 'RRULE:FREQ=WEEKLY;COUNT=2'),
    ['2026-10-23 17:00-17:00', '2026-10-30 17:00-17:00'],
  ],
];

const changed = (...lines: string[]) => [...daily('RRULE:FREQ=DAILY;COUNT=3'), ...event(...lines)];
const tuesdaysAndWednesdays = event('DTSTART;VALUE=DATE:20270105', 'DURATION:P1D', 'RRULE:FREQ=WEEKLY;COUNT=5;BYDAY=TU,WE');
const OVERRIDES: Case[] = [
  [
    'a whole day named by the moment at which it begins in its zone',
    [...AUCKLAND, ...days(), ...event('RECURRENCE-ID:20270201T110000Z', 'DTSTART;VALUE=DATE:20270210')],
    ['2027-02-01/2027-02-02', '2027-02-03/2027-02-04', '2027-02-04/2027-02-05', '2027-02-10/2027-02-11'],
  ],
  [
    'one that inherits its title and length',
    changed('RECURRENCE-ID;TZID=Europe/Rome:20261223T100000', 'SUMMARY:', 'DTSTART;TZID=Europe/Rome:20261223T120000').filter(
      (line) => line !== 'SUMMARY:',
    ),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00', '2026-12-24 09:00-10:00'],
  ],
  [
    'one named in UTC',
    changed('RECURRENCE-ID:20261223T090000Z', 'SUMMARY:Moved', 'DTSTART:20261223T110000Z'),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00 Moved', '2026-12-24 09:00-10:00'],
  ],
  [
    'one named by its day',
    changed('RECURRENCE-ID;VALUE=DATE:20261223', 'DTSTART:20261223T110000Z', 'DURATION:PT5M'),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-11:05', '2026-12-24 09:00-10:00'],
  ],
  [
    'one and all later ones',
    changed(
      'RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Rome:20261223T100000',
      'DTSTART;TZID=Europe/Rome:20261223T120000',
      'DURATION:PT2H',
    ),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-13:00', '2026-12-24 11:00-13:00'],
  ],
  ...['VALUE=DATE;RANGE=THISANDFUTURE', 'RANGE=THISANDFUTURE;VALUE=DATE', 'RANGE="THISANDFUTURE"'].map(
    (parameters): Case => [
      `a whole day and all later ones (${parameters})`,
      [...tuesdaysAndWednesdays, ...event(`RECURRENCE-ID;${parameters}:20270112`, 'SUMMARY:Later', 'DTSTART;VALUE=DATE:20270113')],
      [
        '2027-01-05/2027-01-06',
        '2027-01-06/2027-01-07',
        '2027-01-13/2027-01-14 Later',
        '2027-01-14/2027-01-15 Later',
        '2027-01-20/2027-01-21 Later',
      ],
    ],
  ),
  [
    'one and all later ones of an all-day event to times, which the clock keeps in summer',
    [
      ...event('DTSTART;VALUE=DATE:20270320', 'RRULE:FREQ=WEEKLY;COUNT=3'),
      ...event(
        'RECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20270327',
        'DTSTART;TZID=Europe/Rome:20270327T200000',
        'DTEND;TZID=Europe/Rome:20270327T210000',
      ),
    ],
    ['2027-03-20/2027-03-21', '2027-03-27 19:00-20:00', '2027-04-03 18:00-19:00'],
  ],
  [
    'one and all later ones, named by its day',
    changed('RECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20261223', 'DTSTART:20261223T110000Z', 'DURATION:PT5M'),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-11:05', '2026-12-24 11:00-11:05'],
  ],
  [
    'one and all earlier ones, of which only the one is changed',
    changed('RECURRENCE-ID;TZID=Europe/Rome;RANGE=THISANDPRIOR:20261223T100000', 'DTSTART:20261223T110000Z'),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00', '2026-12-24 09:00-10:00'],
    ['ical-change-range'],
  ],
  [
    'one that has a rule and dates of its own',
    changed('RECURRENCE-ID:20261223T090000Z', 'DTSTART:20261223T110000Z', 'RRULE:FREQ=DAILY;COUNT=9', 'RDATE:20261230T110000Z'),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00', '2026-12-24 09:00-10:00'],
    ['ical-change-rule', 'ical-change-rule'],
  ],
  [
    'one that repeats the rule of its series',
    changed('RECURRENCE-ID:20261223T090000Z', 'DTSTART:20261223T110000Z', 'RRULE:FREQ=DAILY;COUNT=3'),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00', '2026-12-24 09:00-10:00'],
  ],
  [
    'one that has exceptions of its own, and one of its series',
    [
      ...daily('RRULE:FREQ=DAILY;COUNT=4', 'EXDATE:20261225T090000Z'),
      ...event('RECURRENCE-ID:20261223T090000Z', 'DTSTART:20261223T110000Z', 'EXDATE:20261225T090000Z,20261224T090000Z'),
    ],
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00', '2026-12-24 09:00-10:00'],
    ['ical-change-exception'],
  ],
  [
    'one that names its own time as an exception',
    changed('RECURRENCE-ID:20261223T090000Z', 'DTSTART:20261223T110000Z', 'EXDATE:20261223T090000Z'),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00', '2026-12-24 09:00-10:00'],
    ['ical-change-exception'],
  ],
  [
    'one that repeats the exceptions of its series',
    [
      ...daily('RRULE:FREQ=DAILY;COUNT=3', 'EXDATE:20261224T090000Z'),
      ...event('RECURRENCE-ID:20261223T090000Z', 'DTSTART:20261223T110000Z', 'EXDATE:20261224T090000Z'),
    ],
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00'],
  ],
  [
    'one and all later ones by a rule of its own',
    changed('RECURRENCE-ID;RANGE=THISANDFUTURE:20261223T090000Z', 'DTSTART:20261223T110000Z', 'RRULE:FREQ=WEEKLY'),
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00', '2026-12-24 11:00-12:00'],
    ['ical-change-rule'],
  ],
  [
    'one and all later ones, without its series',
    event('RECURRENCE-ID;RANGE=THISANDFUTURE:20261223T090000Z', 'DTSTART:20261223T110000Z'),
    ['2026-12-23 11:00-11:00'],
    ['ical-change-alone'],
  ],
  ['one without its series', event('RECURRENCE-ID:20261223T090000Z', 'DTSTART:20261223T110000Z'), ['2026-12-23 11:00-11:00']],
  [
    'one that can not be read, which leaves its series alone',
    changed('RECURRENCE-ID:never', 'SEQUENCE:9', 'DTSTART:20261223T110000Z'),
    ['2026-12-22 09:00-10:00', '2026-12-23 09:00-10:00', '2026-12-24 09:00-10:00'],
    ['ical-dates-unreadable'],
  ],
  [
    'one whose start can not be read, which then does not take place',
    changed('RECURRENCE-ID:20261223T090000Z', 'DTSTART:tomorrow'),
    ['2026-12-22 09:00-10:00', '2026-12-24 09:00-10:00'],
    ['ical-dates-unreadable'],
  ],
  [
    'one and all later ones, whose start can not be read',
    changed('RECURRENCE-ID;RANGE=THISANDFUTURE:20261223T090000Z', 'DTSTART:tomorrow'),
    ['2026-12-22 09:00-10:00'],
    ['ical-dates-unreadable'],
  ],
  [
    'one by a rule that can not be read',
    changed('RECURRENCE-ID:20261223T090000Z', 'DTSTART:20261223T110000Z', 'RRULE:FREQ=SOMETIMES'),
    ['2026-12-22 09:00-10:00', '2026-12-24 09:00-10:00'],
    ['ical-rule-unknown'],
  ],
  [
    'one without its series, whose start can not be read',
    event('RECURRENCE-ID:20261223T090000Z', 'DTSTART:tomorrow'),
    [],
    ['ical-dates-unreadable'],
  ],
  [
    'one whose start can not be read in its older version',
    [
      ...changed('RECURRENCE-ID:20261223T090000Z', 'SEQUENCE:1', 'DTSTART:tomorrow'),
      ...event('RECURRENCE-ID:20261223T090000Z', 'SEQUENCE:2', 'DTSTART:20261223T180000Z'),
    ],
    ['2026-12-22 09:00-10:00', '2026-12-23 18:00-19:00', '2026-12-24 09:00-10:00'],
    ['ical-dates-unreadable'],
  ],
  [
    'the newer of two',
    [
      ...changed('RECURRENCE-ID:20261223T090000Z', 'SEQUENCE:2', 'DTSTART:20261223T110000Z'),
      ...event('RECURRENCE-ID:20261223T090000Z', 'SEQUENCE:1', 'DTSTART:20261223T180000Z'),
    ],
    ['2026-12-22 09:00-10:00', '2026-12-23 11:00-12:00', '2026-12-24 09:00-10:00'],
  ],
  [
    'one that is cancelled stays, as cancelled',
    changed('RECURRENCE-ID:20261223T090000Z', 'STATUS:CANCELLED', 'SUMMARY:Off'),
    ['2026-12-22 09:00-10:00', '2026-12-23 09:00-10:00 Off', '2026-12-24 09:00-10:00'],
  ],
];

const plain = event('DTSTART:20261224T180000Z');
const FILES: Case[] = [
  [
    'events with an empty UID',
    [...event('UID:', 'DTSTART:20261224T180000Z'), ...event('UID:', 'DTSTART:20261225T180000Z')],
    ['2026-12-24 18:00-18:00', '2026-12-25 18:00-18:00'],
  ],
  ['the same event twice', [...plain, ...plain], ['2026-12-24 18:00-18:00']],
  [
    'two events of one UID',
    [...plain, ...event('SUMMARY:Other', 'DTSTART:20261225T180000Z')],
    ['2026-12-24 18:00-18:00'],
    ['ical-uid-twice'],
  ],
  [
    'names in small letters',
    [...plain.map((line) => (/^(BEGIN|END):/.test(line) ? line : line.replace(/^[^:]+/, (name) => name.toLowerCase())))],
    ['2026-12-24 18:00-18:00'],
  ],
  [
    'blanks before the colons, and two versions of an event',
    ['SEQUENCE:2', 'SEQUENCE:1'].flatMap((version) =>
      event(version, 'SUMMARY:Talk', 'DTSTART:20261224T180000Z')
        .map((line) => (/^(BEGIN|END):/.test(line) ? line : line.replace(':', ' :')))
        .map((line) => (version === 'SEQUENCE:1' ? line.replace('Talk', 'Old') : line)),
    ),
    ['2026-12-24 18:00-18:00 Talk'],
  ],
  ['empty lines', plain.flatMap((line) => [line, '']), ['2026-12-24 18:00-18:00']],
  ['a line that is none', [...plain.slice(0, -1), 'nonsense', 'END:VEVENT'], ['2026-12-24 18:00-18:00'], ['ical-line-unreadable']],
  [
    'an alarm in it',
    [...plain.slice(0, -1), 'BEGIN:VALARM', 'TRIGGER:-PT15M', 'DURATION:PT1W', 'END:VALARM', 'END:VEVENT'],
    ['2026-12-24 18:00-18:00'],
  ],
];

describe('unusual calendar', () => {
  describe('names its zones', () => it.each(ZONES)('by %s', check));
  describe('specifies the duration of its events', () => it.each(LENGTHS)('by %s', check));
  describe('has recurring events', () => it.each(SERIES)('by %s', check));
  describe('changes single occurrences', () => it.each(OVERRIDES)('by %s', check));
  describe('contains', () => it.each(FILES)('%s', check));

  const whole = file(...event('SUMMARY:Caffè', 'DTSTART:20261224T180000Z'));
  const time = '2026-12-24 18:00-18:00 Caffè';
  it.each<[string, string | Uint8Array, string[]]>([
    ['UTF-8 with its mark', `\ufeff${whole}`, []],
    ['UTF-16 of either order', Buffer.from(`\ufeff${whole}`, 'utf16le').swap16(), []],
    ['UTF-16 without a mark', Buffer.from(whole, 'utf16le'), []],
    ['Windows-1252', Buffer.from(whole, 'latin1'), ['encoding-assumed']],
    ['lines that end in CR', whole.replaceAll('\r\n', '\r'), []],
    ['lines that end in LF', whole.replaceAll('\r\n', '\n'), []],
    [
      'rows folded within a letter',
      Buffer.concat([Buffer.from(whole.split('è')[0]!), Buffer.from([0xc3, 13, 10, 32, 0xa8]), Buffer.from(whole.split('è')[1]!)]),
      [],
    ],
    ['text after its end', `${whole}\r\nPowered by a calendar`, []],
    ['two calendars', `${whole}${whole}`, []],
  ])('is read from %s', async (_, text, told) => {
    expect(await read(text)).toEqual({ times: [time], told });
  });
});
