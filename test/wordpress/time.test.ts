import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  addDays,
  addMonths,
  addSeconds,
  dateParts,
  diffSeconds,
  isZeroDate,
  textFromUnix,
  unixFromText,
  utcFromDate,
} from '../../src/wordpress/time.ts';
import { abbreviation, isoWithOffset, localFromDate, offsetAt, parseZone, siteZone, toLocal, toUtc } from '../../src/wordpress/zones.ts';

type Change = [local: string, utc: string, abbreviation: string];
const table = JSON.parse(readFileSync(new URL('../fixtures/php-dates.json', import.meta.url), 'utf8')) as {
  changes: Record<string, Change[]>;
};
const zone = (name: string) => parseZone(name)!;

/** Zones whose clocks follow Ramadan. Releases of the zone data, and so versions of Node, predict different days. */
const MOON: ReadonlySet<string> = new Set(['Africa/Casablanca', 'Africa/El_Aaiun']);

describe('changes of offset between 2000 and 2037', () => {
  it('are tested in at least forty zones', () => {
    expect(Object.keys(table.changes).length).toBeGreaterThanOrEqual(40);
  });

  it.each(Object.keys(table.changes))('agree with PHP in %s', (name) => {
    const rows = table.changes[name]!.filter(([local]) => !MOON.has(name) || local < '2027');
    const ours = rows.map(([local]) => [
      local,
      toUtc(local, zone(name)),
      abbreviation(toLocal(toUtc(local, zone(name)), zone(name)), zone(name)),
    ]);
    expect(ours).toEqual(rows);
  });
});

describe('parseZone', () => {
  it.each([
    ['Europe/Rome', 60],
    ['europe/rome', 60],
    ['America/Argentina/Buenos_Aires', -180],
    ['US/Pacific', -480],
    ['UTC', 0],
    ['EST', -300],
    ['CET', 60],
    ['CEST', 120],
    ['Z', 0],
    ['+02:00', 120],
    ['+0200', 120],
    ['-3', -180],
    ['GMT+2', 120],
    ['UTC+2', 120],
    ['UTC-5.5', -330],
    ['UTC+5:30', 330],
    ['UTC+5.75', 345],
    ['UTC-3.75', -225],
    ['UTC-3:30', -210],
    ['UTC-12', -720],
    ['UTC+14', 840],
    ['UTC+0', 0],
    ['UTCsomething', 0],
  ])('reads %s as a zone %d minutes east of UTC in winter', (name, minutes) => {
    expect(offsetAt(Date.UTC(2030, 0, 15) / 1000, zone(name))).toBe(minutes);
    expect(zone(name).name).toBe(name);
  });

  it.each([
    '',
    'Mars',
    'Mars/Phobos',
    'utc+2',
    'UTC+99',
    'UTC+14:30',
    'UTC-12:01',
    '+15:00',
    '-13',
    '+12345',
    'Europe',
    '5',
    'Europe/Rome ',
    `UTC${'x'.repeat(40)}`,
  ])('returns null for %j', (name) => {
    expect(parseZone(name)).toBeNull();
  });
});

describe('siteZone', () => {
  it.each([
    [{ timezone_string: 'Europe/Rome', gmt_offset: '5' }, 'Europe/Rome'],
    [{ timezone_string: '', gmt_offset: '5.5' }, 'UTC+5.5'],
    [{ timezone_string: '', gmt_offset: '-3.5' }, 'UTC-3.5'],
    [{ timezone_string: '', gmt_offset: '0' }, 'UTC+0'],
    [{ timezone_string: '', gmt_offset: '' }, 'UTC+0'],
    [{ timezone_string: 'Mars', gmt_offset: '2' }, 'UTC+2'],
    [{}, 'UTC+0'],
  ])('for %j is %s', (options, name) => {
    expect(siteZone(options)).toEqual({ zone: zone(name), name });
  });
});

describe('local time in a zone', () => {
  it.each([
    ['skipped in Rome', '2030-03-31 02:30:00', 'Europe/Rome', '2030-03-31 01:30:00', '2030-03-31 03:30:00'],
    ['skipped in New York', '2030-03-10 02:30:00', 'America/New_York', '2030-03-10 07:30:00', '2030-03-10 03:30:00'],
    ['repeated in New York: the first', '2030-11-03 01:30:00', 'America/New_York', '2030-11-03 05:30:00', '2030-11-03 01:30:00'],
    ['repeated in Rome: the second', '2030-10-27 02:30:00', 'Europe/Rome', '2030-10-27 01:30:00', '2030-10-27 02:30:00'],
    ['of 1969', '1969-07-20 20:17:00', 'Europe/Rome', '1969-07-20 18:17:00', '1969-07-20 20:17:00'],
    ['far ahead', '2090-07-01 12:00:00', 'Europe/Rome', '2090-07-01 10:00:00', '2090-07-01 12:00:00'],
    ['a day that Samoa left out', '2011-12-30 12:00:00', 'Pacific/Apia', '2011-12-30 22:00:00', '2011-12-31 12:00:00'],
    ['without a date', '0000-00-00 00:00:00', 'Europe/Rome', '0000-00-00 00:00:00', '0000-00-00 00:00:00'],
    ['unreadable', 'soon', 'Europe/Rome', '0000-00-00 00:00:00', '0000-00-00 00:00:00'],
  ])('is converted to UTC and back: %s', (_, local, name, utc, back) => {
    expect(toUtc(local, zone(name))).toBe(utc);
    expect(toLocal(utc, zone(name))).toBe(back);
  });
});

describe('abbreviation', () => {
  it.each([
    ['2030-01-01 11:00:00', 'Europe/Rome', 'CET'],
    ['2030-07-01 11:00:00', 'europe/rome', 'CEST'],
    ['2030-07-01 11:00:00', 'America/New_York', 'EDT'],
    ['2030-07-01 11:00:00', 'EST', 'EST'],
    ['2030-07-01 11:00:00', 'cet', 'CET'],
    ['2030-07-01 11:00:00', 'America/Sao_Paulo', '-03'],
    ['2030-07-01 11:00:00', 'Asia/Kathmandu', '+0545'],
    ['2030-07-01 11:00:00', 'Asia/Kolkata', 'IST'],
    ['2012-07-01 11:00:00', 'Europe/Moscow', 'MSK'],
    ['2005-07-01 11:00:00', 'Europe/Moscow', 'MSD'],
    ['1850-07-01 11:00:00', 'Europe/Rome', 'LMT'],
    ['2030-07-01 11:00:00', '+02:00', 'GMT+0200'],
    ['2030-07-01 11:00:00', '-05:30', 'GMT-0530'],
    ['2030-07-01 11:00:00', 'UTC+5:30', 'UTC+5:30'],
    ['2030-07-01 11:00:00', 'UTC', 'UTC'],
  ])('at %s in %s is %s', (local, name, expected) => {
    expect(abbreviation(local, zone(name))).toBe(expected);
  });
});

describe('isoWithOffset', () => {
  it.each([
    ['2030-01-01 11:00:00', 'Europe/Rome', '2030-01-01T11:00:00+01:00'],
    ['2030-07-01 11:00:00', 'America/St_Johns', '2030-07-01T11:00:00-02:30'],
    ['2030-07-01 11:00:00', 'UTC-5.5', '2030-07-01T11:00:00-05:30'],
    ['2030-03-31 02:30:00', 'Europe/Rome', '2030-03-31T03:30:00+02:00'],
  ])('writes %s in %s as %s', (local, name, expected) => {
    expect(isoWithOffset(local, zone(name))).toBe(expected);
  });
});

describe('date texts', () => {
  it('are converted to Unix seconds and back', () => {
    expect(unixFromText('2030-12-01 10:00:00')).toBe(1922349600);
    expect(textFromUnix(1922349600.9)).toBe('2030-12-01 10:00:00');
    expect(unixFromText('2030-12-01')).toBe(1922313600);
    expect(textFromUnix(-1)).toBe('1969-12-31 23:59:59');
  });

  it.each([
    ['0050-03-01 10:00:00', -60584162400],
    ['2030-13-32 25:61:61', 1927764121],
    ['2030-12-01 1x:00:00', 1922313600],
    ['2030-12-01 10:00:0x', 1922349600],
    ['2030-12-01T10:00:00', 1922349600],
    ['12030-12-01 10:00:00', 317491869600],
    ['0000-00-00 00:00:00', Number.NaN],
    ['2030-12-x1 10:00:00', Number.NaN],
    ['２030-12-01 10:00:00', Number.NaN],
  ])('are read as Unix seconds: %s', (text, unix) => {
    expect(unixFromText(text)).toBe(unix);
  });

  it('give the current time of the site and in UTC', () => {
    const now = new Date('2026-11-20T23:30:15.999Z');
    expect(utcFromDate(now)).toBe('2026-11-20 23:30:15');
    expect(localFromDate(now, zone('Europe/Rome'))).toBe('2026-11-21 00:30:15');
  });

  it('are moved by seconds, days and months', () => {
    expect(addSeconds('2030-12-31 23:59:59', 1)).toBe('2031-01-01 00:00:00');
    expect(addDays('2028-02-28 06:00:00', 1)).toBe('2028-02-29 06:00:00');
    expect(addMonths('2026-11-20 09:00:00', 24)).toBe('2028-11-20 09:00:00');
    expect(addMonths('2028-02-29 09:00:00', 24)).toBe('2030-02-28 09:00:00');
    expect(diffSeconds('2030-01-01 10:00:00', '2030-01-01 12:00:01')).toBe(7201);
  });

  it('are not moved if they are the zero date', () => {
    for (const moved of [addSeconds('0000-00-00 00:00:00', 60), addDays('', 1), addMonths('never', 1)])
      expect(moved).toBe('0000-00-00 00:00:00');
    expect(['', null, undefined, '0000-00-00 00:00:00', '2030-01-01 00:00:00'].map(isZeroDate)).toEqual([true, true, true, true, false]);
  });

  it('are split into parts', () => {
    expect(dateParts('2030-01-05 09:08:07')).toEqual({ year: '2030', month: '01', day: '05', hour: '09', minutes: '08', seconds: '07' });
    expect(dateParts('2030-01-05')).toMatchObject({ hour: '00', seconds: '00' });
    expect(dateParts('soon')).toEqual({ year: '0000', month: '00', day: '00', hour: '00', minutes: '00', seconds: '00' });
  });
});
