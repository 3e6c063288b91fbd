import { expect, it } from '@jest/globals';
import { type CalendarOptions, calendarEntries } from '../../src/exchange/ical/read.ts';
import { textFromUnix } from '../../src/wordpress/time.ts';
import { parseZone } from '../../src/wordpress/zones.ts';
import { MAX_EXPONENT, measureGrowthExponent } from '../support/growth.ts';

/*
 * A foreign calendar may contain any number of lines of one kind, changes of one time, zones or calendars. Reading it
 * takes at most time proportional to its length.
 */

const OPTIONS: CalendarOptions = {
  file: 'a.ics',
  settings: { zone: parseZone('Europe/Rome')!, timezone: 'Europe/Rome', calendar: { cutoff: '00:00', customFields: [] } as never },
  now: new Date('2026-11-20T12:00:00Z'),
};

type Lines = readonly string[];
const times = (count: number, make: (at: number) => Lines | string): string[] => Array.from({ length: count }, (_, at) => make(at)).flat();
const component = (name: string, lines: Lines): string[] => [`BEGIN:${name}`, ...lines, `END:${name}`];
const calendar = (lines: Lines): string[] => component('VCALENDAR', lines);
const event = (...lines: string[]): string[] => component('VEVENT', ['SUMMARY:Concert', ...lines]);
const START = 'DTSTART:20261201T200000Z';

/** Distinct times by number: one per hour, or one per day. */
const basic = (unix: number): string => textFromUnix(unix).replace(' ', 'T').replace(/[-:]/g, '');
const hour = (at: number): string => `${basic(1_796_000_400 + at * 3600)}Z`;
const day = (at: number): string => basic(1_796_000_400 + at * 86_400).slice(0, 8);

/** Returns a calendar with one event that has the given number of different lines of one kind. */
const oneEvent =
  (line: (at: number) => string, ...others: string[]) =>
  (count: number) =>
    calendar(event('UID:one', ...others, ...times(count, line)));

/** A zone that the calendar describes itself, under an unknown name. */
const zone = (name: string, ...lines: string[]): string[] =>
  component('VTIMEZONE', [
    `TZID:${name}`,
    ...component('STANDARD', ['DTSTART:19700101T000000', 'TZOFFSETFROM:+0100', 'TZOFFSETTO:+0100', ...lines]),
  ]);
const weekly = event('UID:one', START, 'RRULE:FREQ=WEEKLY');

/** Calendars by shape, made of the given number of lines. */
const LINES: Readonly<Record<string, (count: number) => string[]>> = {
  'starts of one event': oneEvent((at) => `DTSTART:${hour(at)}`),
  'the same start': oneEvent(() => START),
  'starts that are none': oneEvent((at) => `DTSTART:tomorrow ${at}`),
  'ends of one event': oneEvent((at) => `DTEND:${hour(at)}`, START),
  'lengths of one event': oneEvent((at) => `DURATION:PT${1 + (at % 900_000)}M`, START),
  'times that it changes': oneEvent((at) => `RECURRENCE-ID:${hour(at)}`, START),
  'exceptions, one a line': oneEvent((at) => `EXDATE:${hour(at)}`, START, 'RRULE:FREQ=HOURLY'),
  'exceptions in one line': (count) => calendar(event(START, 'RRULE:FREQ=DAILY', `EXDATE:${times(count, hour).join()}`)),
  'further dates, one a line': oneEvent((at) => `RDATE:${hour(at)}`, START),
  'further dates in one line': (count) => calendar(event(START, `RDATE:${times(count, hour).join()}`)),
  'further dates with a length': oneEvent((at) => `RDATE;VALUE=PERIOD:${hour(at)}/PT1H`, START),
  'further dates in other zones': oneEvent((at) => `RDATE;TZID=Zone ${at}:${hour(at).slice(0, -1)}`, START),
  'rules that say nothing': oneEvent((at) => `RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=${30 + (at % 2)}`, START),
  'rules that cannot be read': oneEvent((at) => `RRULE:FREQ=SOMETIMES${at}`, START),
  'days of one rule of vCalendar': (count) =>
    calendar(event(START, `RRULE:MP1 ${times(count, () => '1+').join(' ')} ${times(count, () => 'MO').join(' ')} #0`)),
  'rules of exceptions': oneEvent((at) => `EXRULE:FREQ=YEARLY;INTERVAL=${at + 1}`, START),
  names: oneEvent((at) => `UID:${at}`, START),
  titles: oneEvent((at) => `SUMMARY:${at}`, START),
  descriptions: oneEvent((at) => `DESCRIPTION:${at}`, START),
  'descriptions in HTML': oneEvent((at) => `X-ALT-DESC;FMTTYPE=text/html:<p>${at}</p>`, START),
  places: oneEvent((at) => `LOCATION:${at}`, START),
  coordinates: oneEvent((at) => `GEO:${at % 90};1`, START),
  organizers: oneEvent((at) => `ORGANIZER;CN=${at}:mailto:a@b.example`, START),
  contacts: oneEvent((at) => `CONTACT:Anna ${at}`, START),
  'categories, one a line': oneEvent((at) => `CATEGORIES:Music ${at}`, START),
  'categories in one line': (count) => calendar(event(START, `CATEGORIES:${times(count, (at) => `Music ${at}`).join()}`)),
  addresses: oneEvent((at) => `URL:https://a.example/${at}`, START),
  attachments: oneEvent((at) => `ATTACH;FMTTYPE=text/plain:https://a.example/${at}`, START),
  states: oneEvent((at) => `STATUS:${at}`, START),
  'numbers of its version': oneEvent((at) => `SEQUENCE:${at}`, START),
  'times of its version': oneEvent((at) => `DTSTAMP:${hour(at)}`, START),
  'fields of its own': oneEvent((at) => `X-FASTI-FIELD;X-NAME=a${at}:b`, START),
  'properties that nobody knows': oneEvent((at) => `X-A${at}:b`, START),
  'lines that are none': oneEvent((at) => `nothing ${at}`, START),
  'parameters of one line': (count) => calendar(event(`DTSTART${times(count, (at) => `;X-A${at}=b`).join('')}:20261201T200000Z`)),
  'changes of one zone': (count) =>
    calendar([
      ...zone('Mine', ...times(count / 2, (at) => `RDATE:${hour(at).slice(0, -1)}`)),
      ...event('DTSTART;TZID=Mine:20270101T000000'),
    ]),
  'parts of one zone': (count) =>
    calendar([
      ...component('VTIMEZONE', [
        'TZID:Mine',
        ...times(count / 6, (at) => component('STANDARD', [`DTSTART:${hour(at).slice(0, -1)}`, 'TZOFFSETTO:+0100'])),
      ]),
      ...event('DTSTART;TZID=Mine:20270101T000000'),
    ]),
  'rows of one line': oneEvent((at) => ` ${at}`, START, 'DESCRIPTION:Long'),
  'rows that end softly': (count) =>
    calendar(event(START, 'DESCRIPTION;ENCODING=QUOTED-PRINTABLE:Long=', ...times(count, (at) => `${at}=`), 'and wide')),
  'alarms of one event': (count) => calendar(event(START, ...times(count / 3, () => component('VALARM', ['ACTION:DISPLAY'])))),
};

/** Calendars by shape, made of the given number of components. */
const COMPONENTS: typeof LINES = {
  'versions of one event': (count) => calendar(times(count, (at) => event('UID:one', START, `LOCATION:${at}`))),
  'versions of one change': (count) =>
    calendar([...weekly, ...times(count, (at) => event('UID:one', START, 'RECURRENCE-ID:20261208T200000Z', `LOCATION:${at}`))]),
  'changes of one series': (count) =>
    calendar([...weekly, ...times(count, (at) => event('UID:one', `RECURRENCE-ID:${hour(at)}`, `DTSTART:${hour(at)}`))]),
  'changes of one series and all later times': (count) =>
    calendar([
      ...weekly,
      ...times(count, (at) => event('UID:one', `RECURRENCE-ID;RANGE=THISANDFUTURE:${hour(at)}`, `DTSTART:${hour(at)}`)),
    ]),
  'changes of a series that is not there': (count) =>
    calendar(times(count, (at) => event('UID:one', `RECURRENCE-ID:${hour(at)}`, `DTSTART:${hour(at)}`))),
  'exceptions of changes': (count) =>
    calendar([...weekly, ...times(count, (at) => event('UID:one', `RECURRENCE-ID:${hour(at)}`, START, `EXDATE:${hour(at + 1)}`))]),
  'series that end soon': (count) => calendar(times(count, (at) => event(`UID:${at}`, START, 'RRULE:FREQ=DAILY;COUNT=2'))),
  'events with a name': (count) => calendar(times(count, (at) => event(`UID:${at}`, START))),
  'events without a name': (count) => calendar(times(count, () => event(START))),
  'events that start on other days': (count) => calendar(times(count, (at) => event(`UID:${at}`, `DTSTART;VALUE=DATE:${day(at)}`))),
  'events at other places': (count) =>
    calendar(times(count, (at) => event(`UID:${at}`, START, `LOCATION:Hall ${at}`, `CATEGORIES:Music ${at}`, `CONTACT:Anna ${at}`))),
  'zones, each used once': (count) =>
    calendar(times(count, (at) => [...zone(`Zone ${at}`), ...event(`UID:${at}`, `DTSTART;TZID=Zone ${at}:20261201T200000`)])),
  'zones that nobody knows': (count) => calendar(times(count, (at) => event(`UID:${at}`, `DTSTART;TZID=Zone ${at}:20261201T200000`))),
  'zones that nobody uses': (count) => calendar(times(count, (at) => zone(`Zone ${at}`))),
  calendars: (count) => times(count, (at) => calendar([`X-WR-CALNAME:${at}`, ...event(`UID:${at}`, START)])),
  'calendars of a zone each': (count) =>
    times(count, (at) => calendar([`X-WR-TIMEZONE:Zone ${at}`, ...zone(`Zone ${at}`), ...event(`UID:${at}`, 'DTSTART:20261201T200000')])),
  'calendars that call their events off': (count) => times(count, (at) => calendar(['METHOD:CANCEL', ...event(`UID:${at}`, START)])),
  'other components': (count) => calendar(times(count, () => component('VTODO', ['SUMMARY:Buy']))),
};

async function read(bytes: Uint8Array): Promise<number> {
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  };
  let count = 0;
  for await (const _ of calendarEntries(pieces, OPTIONS)) count += 1;
  return count;
}

/** An event costs as much as many lines, so the counts are smaller. */
const KINDS = [
  [LINES, 4000],
  [COMPONENTS, 1500],
] as const;
/** The limit of 20,000 lines for a component must not be exceeded. */
const CONFIRMED_AT = 4;

it.each(KINDS.flatMap(([shapes, longest]) => Object.entries(shapes).map(([name, shape]) => ({ name, shape, longest }))))(
  'reading a calendar takes at most proportional time: $name',
  async ({ shape, longest }) => {
    const files = new Map([longest / 4, longest, longest * CONFIRMED_AT].map((count) => [count, Buffer.from(shape(count).join('\r\n'))]));
    const exponent = await measureGrowthExponent((count) => read(files.get(count)!), {
      longest,
      floor: 300_000,
      confirmationFactor: CONFIRMED_AT,
    });
    expect(exponent ?? 0).toBeLessThanOrEqual(MAX_EXPONENT);
  },
);
