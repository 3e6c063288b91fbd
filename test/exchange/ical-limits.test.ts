import { describe, expect, it } from '@jest/globals';
import { calendarEntries } from '../../src/exchange/ical/read.ts';
import type { Entry } from '../../src/exchange/items/items.ts';
import { textFromUnix } from '../../src/wordpress/time.ts';
import { check, event, file, OPTIONS } from './odd-calendars.ts';

/* Contents of a calendar beyond the limits of an import are reported; no date takes place that the file excludes. */

const hours = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) =>
      `${textFromUnix(1_798_000_000 + at * 3600)
        .replace(' ', 'T')
        .replace(/[-:]/g, '')}Z`,
  ).join();
const rules = (name: string): string[] => Array.from({ length: 21 }, (_, at) => `${name}:FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=${at + 1}`);
const DAYS = ['DTSTART:20261224T180000Z', 'RRULE:FREQ=DAILY;COUNT=2'];
const TIMES = ['2026-12-24 18:00-18:00', '2026-12-25 18:00-18:00'];

it.each([
  ['more exceptions than can be read', event(...DAYS, `EXDATE:${hours(5001)}`), [], ['ical-exceptions-cut']],
  ['as many exceptions as can be read', event(...DAYS, `EXDATE:${hours(5000)}`), TIMES, []],
  ['more rules of exceptions than can be read', event(...DAYS, ...rules('EXRULE')), [], ['ical-exceptions-cut']],
  [
    'a change with more exceptions than can be read',
    [...event(...DAYS), ...event('RECURRENCE-ID:20261225T180000Z', 'DTSTART:20261225T190000Z', `EXDATE:${hours(5001)}`)],
    TIMES.slice(0, 1),
    ['ical-exceptions-cut'],
  ],
] as const)('a calendar may contain %s', check);

const read = async (lines: readonly string[]): Promise<Entry[]> => {
  const bytes = async function* () {
    yield Buffer.from(lines.join('\r\n'));
  };
  const entries: Entry[] = [];
  for await (const entry of calendarEntries(bytes, OPTIONS)) entries.push(entry);
  return entries;
};
const reasonsIn = (entries: readonly Entry[]): string[] => entries.flatMap((entry) => (entry.kind === 'loss' ? [entry.loss.reason] : []));

it.each([
  ['further dates', [`RDATE:${hours(5001)}`]],
  ['rules', rules('RRULE')],
])('an event with more %s than can be read is imported in part, and its other dates are not taken for removed', async (_, lines) => {
  const calendar = (own: readonly string[]) => ['BEGIN:VCALENDAR', ...event(...DAYS, ...own), 'END:VCALENDAR'];
  const entries = await read(calendar(lines));
  expect(reasonsIn(entries)).toContain('ical-dates-cut');
  expect(entries.filter(({ kind }) => kind === 'event').length).toBeGreaterThan(2);
  const hasDates = (all: readonly Entry[]) => all.some(({ kind }) => kind === 'dates');
  expect([hasDates(entries), hasDates(await read(calendar([])))]).toEqual([false, true]);
});

it('recurring events beyond the limit are left out whole and reported, and single ones are imported', async () => {
  const series = (uid: number | string) => event(`UID:${uid}`, ...DAYS);
  const change = event('UID:first', 'RECURRENCE-ID:20261225T180000Z', 'DTSTART:20261225T190000Z');
  const many = Array.from({ length: 49_998 }, (_, at) => event(`UID:${at}`, 'DTSTART:20010101T180000Z', 'RRULE:FREQ=DAILY;COUNT=1'));
  const head = ['BEGIN:VCALENDAR', ...series('first'), ...series('second'), ...many.flat()];
  const entries = await read([...head, ...series('third'), ...change, ...event('UID:single', 'DTSTART:20261224T180000Z'), 'END:VCALENDAR']);
  const ids = entries.flatMap((entry) => (entry.kind === 'event' ? [entry.sourceId.replace(/#.*/, '')] : []));
  expect(ids.sort()).toEqual(['second', 'second', 'single']);
  expect(reasonsIn(entries).filter((reason) => reason === 'ical-events-cut')).toHaveLength(3);
  const names = entries.flatMap((entry) => (entry.kind === 'dates' ? [entry.name] : []));
  expect(names).toEqual(expect.arrayContaining(['second', 'single']));
  expect(names).not.toEqual(expect.arrayContaining(['first']));
});

describe('a file within a calendar may have any size', () => {
  const CONTENT = 'QUJD'.repeat(400_000);
  const folded = (text: string): string[] => text.match(/^.{1,75}|.{1,74}/g)!.map((row, at) => (at === 0 ? row : ` ${row}`));
  it.each([
    ['in folded rows', folded(`ATTACH;FMTTYPE=application/pdf;X-FILENAME=${'a'.repeat(80)};ENCODING=BASE64;VALUE=BINARY:${CONTENT}`)],
    ['in one row', [`ATTACH;ENCODING=BASE64;VALUE=BINARY:${CONTENT}`]],
    ['in one row after its name', ['IMAGE;ENCODING=BASE64;VALUE=BINARY:', ` ${CONTENT}`]],
    ['as an address', [`IMAGE;VALUE=URI;FMTTYPE=image/png:data:image/png;base64,${CONTENT}`]],
  ])('%s', async (_, lines) => {
    for (const [size, lineEnd] of [
      [2 ** 16, '\r\n'],
      [2 ** 23, '\n'],
      [50_001, '\r'],
    ] as const) {
      const text = Buffer.from(file(...event('DTSTART:20261224T180000Z', ...lines, 'LOCATION:Hall')).replaceAll('\r\n', lineEnd));
      const bytes = async function* () {
        for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size);
      };
      const entries: Entry[] = [];
      for await (const entry of calendarEntries(bytes, OPTIONS)) entries.push(entry);
      expect([entries.map(({ kind }) => kind).sort(), reasonsIn(entries)]).toEqual([['dates', 'event', 'venue'], []]);
    }
  });
  it('but not a text', async () => {
    await expect(read(['BEGIN:VCALENDAR', ...event(`DESCRIPTION;X-A=":data:":${CONTENT}`), 'END:VCALENDAR'])).rejects.toMatchObject({
      fault: 'too-long',
    });
  });
});
