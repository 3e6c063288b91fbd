import { expect } from '@jest/globals';
import { calendarEntries } from '../../src/exchange/ical/read.ts';
import type { Entry } from '../../src/exchange/items/items.ts';
import { parseZone } from '../../src/wordpress/zones.ts';
import { timesOf } from './corpus-compare.ts';

/* Reads small calendars as a site in Rome does. */

export const OPTIONS = {
  file: 'a.ics',
  settings: { zone: parseZone('Europe/Rome')!, timezone: 'Europe/Rome', calendar: { cutoff: '00:00' } as never },
  now: new Date('2026-11-20T12:00:00Z'),
  from: '2005-01-01',
  to: '2027-12-31',
};

/**
 * Returns the events of a file as `start end` in UTC or as days (the end exclusive) with the title, and the reasons of
 * losses.
 */
export async function read(text: string | Uint8Array): Promise<{ times: string[]; told: string[] }> {
  const bytes = async function* () {
    yield Buffer.from(text as Uint8Array);
  };
  const entries: Entry[] = [];
  for await (const entry of calendarEntries(bytes, OPTIONS)) entries.push(entry);
  const told = entries.flatMap((entry) => (entry.kind === 'loss' ? [entry.loss.reason] : []));
  return { times: timesOf(entries).map(shortened).sort(), told };
}

/**
 * Formats a time as `2026-12-24 19:00-20:00 Title`. The end includes its day only if it differs, and the title only if
 * it is not the default.
 */
function shortened([start, end, title]: readonly [string, string, string]): string {
  const [day, from] = start.split(' ');
  const [lastDay, to] = end.split(' ');
  const span =
    from === undefined ? `${day}/${lastDay}` : `${day} ${from.slice(0, 5)}-${lastDay === day ? '' : `${lastDay} `}${to!.slice(0, 5)}`;
  return title === 'E' ? span : `${span} ${title}`;
}

export const file = (...lines: string[]) => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');
export const event = (...lines: string[]) => [
  'BEGIN:VEVENT',
  ...(lines.some((line) => line.startsWith('UID')) ? [] : ['UID:u']),
  ...(lines.some((line) => line.startsWith('SUMMARY')) ? [] : ['SUMMARY:E']),
  ...lines,
  'END:VEVENT',
];
export type Case = readonly [name: string, lines: readonly string[], times: readonly string[], told?: readonly string[]];
export const check = async (_: string, lines: readonly string[], times: readonly string[], told: readonly string[] = [], before = '') =>
  expect(await read(before + file(...lines))).toEqual({ times: [...times].sort(), told });
