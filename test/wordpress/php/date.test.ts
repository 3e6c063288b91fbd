import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parsePhpDate, phpTimestamp } from '../../../src/wordpress/php/date.ts';
import { parseZone, UTC } from '../../../src/wordpress/zones.ts';

type Row = { input: string; zone: string; base: number; result: number | null; local?: string };
const table = JSON.parse(readFileSync(new URL('../../fixtures/php-dates.json', import.meta.url), 'utf8')) as { dates: Row[] };
const rome = parseZone('Europe/Rome')!;
const friday = new Date('2026-11-20T08:06:31Z');

describe('table of results of PHP', () => {
  it('contains more than 700 texts', () => {
    expect(new Set(table.dates.map(({ input }) => input)).size).toBeGreaterThan(700);
  });

  for (const zone of ['UTC', 'Europe/Rome', 'America/New_York', 'Asia/Kolkata']) {
    it(`equals our results for all rows in ${zone}`, () => {
      const rows = table.dates.filter((row) => row.zone === zone);
      const answers = rows.map(({ input, base }) => {
        const read = parsePhpDate(input, new Date(base * 1000), parseZone(zone)!);
        return { input, zone, base, result: read?.instant ?? null, ...(read ? { local: read.local } : {}) };
      });
      expect(answers).toEqual(rows);
    });
  }
});

describe('parsePhpDate', () => {
  it.each([
    ['2030-12-01 10:00:00', '2030-12-01 10:00:00'],
    ['2027-02-30', '2027-03-02 00:00:00'],
    ['tomorrow 9am', '2026-11-21 09:00:00'],
    ['next monday 10am', '2026-11-23 10:00:00'],
    ['last friday of january 2027', '2027-01-29 00:00:00'],
    ['first day of next month noon', '2026-12-01 12:00:00'],
    ['+3 weekdays', '2026-11-25 09:06:31'],
    ['2030-03-31 02:30:00', '2030-03-31 03:30:00'],
  ])('reads %j in Rome on a Friday as %s', (text, local) => {
    expect(parsePhpDate(text, friday, rome)?.local).toBe(local);
  });

  it.each([
    '',
    'abc',
    '2030-13-45',
    '2030-06-01 25:00:00',
    '2030-06-01 10:00 Mars/Phobos',
    '10:00 11:00',
    `${'+1 day '.repeat(50)}`,
    '2030\0-01-01',
  ])('refuses %j', (text) => {
    expect(parsePhpDate(text, friday, rome)).toBeNull();
  });

  it('keeps the local time of a text with an offset and returns the offset', () => {
    const read = parsePhpDate('2030-12-01T10:00:00+05:00', friday, rome);
    expect(read).toMatchObject({
      local: '2030-12-01 10:00:00',
      instant: Date.UTC(2030, 11, 1, 5) / 1000,
      zone: { name: '+05:00', seconds: 18000 },
    });
  });

  it('returns the zone that the text names, if any', () => {
    expect(parsePhpDate('2030-07-01 10:00 Europe/London', friday, UTC)?.zone?.name).toBe('Europe/London');
    expect(parsePhpDate('2030-07-01 10:00', friday, UTC)).not.toHaveProperty('zone');
  });
});

describe('phpTimestamp', () => {
  it.each([
    ['1922349600', 1922349600],
    [' 12 ', 12],
    ['1e3', 1000],
    ['1.9', 1],
    ['-5', -5],
    ['.5', 0],
    [0, 0],
  ])('reads %j as the timestamp %d', (value, seconds) => {
    expect(phpTimestamp(value)).toBe(seconds);
  });

  it.each(['', ' ', '0x10', '12a', '2030-01-01', 'NaN', 'Infinity', '1e999'])('returns null for %j', (value) => {
    expect(phpTimestamp(value)).toBeNull();
  });
});
