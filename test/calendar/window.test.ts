import { describe, expect, it } from '@jest/globals';
import { beginOfDay, endOfDay, listWindow } from '../../src/calendar/window.ts';
import { parseZone } from '../../src/wordpress/zones.ts';

const at = { siteZone: parseZone('Europe/Rome')!, cutoff: '00:00', now: new Date('2026-11-20T08:06:31Z'), mode: 'event' as const };
const echo = (params: Record<string, unknown>, context = at) => listWindow(params, context).echo;

describe('date window of a list without date parameters', () => {
  it('runs from today in the site zone to the end of the day 24 months later', () => {
    expect(listWindow({}, at)).toEqual({
      echo: { start_date: '2026-11-20 00:00:00', end_date: '2028-11-20 23:59:59' },
      filters: [
        { column: 'start_date', op: '>=', value: '2026-11-20 00:00:00' },
        { column: 'end_date', op: '<=', value: '2028-11-20 23:59:59' },
      ],
    });
  });

  it.each([
    ['UTC', '2026-11-20T23:30:00Z', '2026-11-20'],
    ['Europe/Rome', '2026-11-20T23:30:00Z', '2026-11-21'],
    ['America/New_York', '2026-11-20T03:00:00Z', '2026-11-19'],
    ['UTC-3.5', '2026-11-20T03:00:00Z', '2026-11-19'],
  ])('starts today in %s (D23)', (name, now, day) => {
    expect(echo({}, { ...at, siteZone: parseZone(name)!, now: new Date(now) }).start_date).toBe(`${day} 00:00:00`);
  });

  it('follows the cutoff of the calendar', () => {
    expect(echo({}, { ...at, cutoff: '06:00' })).toEqual({ start_date: '2026-11-20 06:00:00', end_date: '2028-11-21 05:59:59' });
  });
});

describe('whole-day bounds', () => {
  it.each([
    ['2030-06-01', '2030-06-01'],
    ['2030-06-01T10:30:00+05:00', '2030-06-01'],
    ['2030-06-01T02:30:00+05:00', '2030-05-31'],
    ['06/01/2030', '2030-06-01'],
    ['+1 week', '2026-11-27'],
    ['1906000000', '2030-05-26'],
    [1906000000, '2030-05-26'],
    ['20300601', '1970-08-23'],
    ['-5', '1969-12-31'],
    ['0', '2026-11-20'],
    ['1970-01-01', '1970-01-01'],
    ['2030-06-01 24:00:00', '2030-06-02'],
    ['2030-02-30', '2030-03-02'],
    ['9999-12-31', '9999-12-31'],
    ['99999999999999', '9999-12-31'],
    ['-99999999999999', '0000-01-01'],
    ['0000-01-01', '0000-01-01'],
  ])('read %j as the day %s', (value, day) => {
    expect(echo({ start_date: value, end_date: value })).toEqual({ start_date: `${day} 00:00:00`, end_date: `${day} 23:59:59` });
  });

  it('reach no further back than the database can store', () => {
    expect(listWindow({ start_date: '0000-01-01', end_date: '0999-12-31' }, at).filters.map(({ value }) => value)).toEqual([
      '1000-01-01 00:00:00',
      '1000-01-01 00:00:00',
    ]);
  });

  it.each(['starts_before', 'starts_after', 'ends_before', 'ends_after'])('extend %s to the end of the day', (name) => {
    expect(echo({ [name]: '2030-06-10 10:00:00' })).toEqual({ [name]: '2030-06-10 23:59:59' });
  });

  it('compare the correct column in the correct direction', () => {
    const all = { starts_before: '2030-01-01', starts_after: '2030-01-02', ends_before: '2030-01-03', ends_after: '2030-01-04' };
    expect(listWindow(all, at).filters).toEqual([
      { column: 'start_date', op: '<', value: '2030-01-01 23:59:59' },
      { column: 'start_date', op: '>', value: '2030-01-02 23:59:59' },
      { column: 'end_date', op: '<', value: '2030-01-03 23:59:59' },
      { column: 'end_date', op: '>', value: '2030-01-04 23:59:59' },
    ]);
  });

  it('begin and end at the cutoff', () => {
    const params = { start_date: '2030-06-10', end_date: '2030-06-12' };
    expect(echo(params, { ...at, cutoff: '06:00' })).toEqual({ start_date: '2030-06-10 06:00:00', end_date: '2030-06-13 05:59:59' });
    expect(beginOfDay('2030-06-10 17:00:00', '04:30')).toBe('2030-06-10 04:30:00');
    expect(endOfDay('2028-02-28', '04:30')).toBe('2028-02-29 04:29:59');
    expect(endOfDay('9999-12-31', '04:30')).toBe('9999-12-31 23:59:59');
  });
});

describe('default window', () => {
  it.each([
    [{ end_date: '2030-02-01' }, { start_date: '2026-11-20 00:00:00', end_date: '2030-02-01 23:59:59' }],
    [{ start_date: '2030-01-01' }, { start_date: '2030-01-01 00:00:00', end_date: '2028-11-20 23:59:59' }],
    [{ ends_after: '2030-01-01' }, { ends_after: '2030-01-01 23:59:59' }],
    [
      { start_date: '2030-06-01', starts_before: '2030-06-30' },
      { start_date: '2030-06-01 00:00:00', starts_before: '2030-06-30 23:59:59' },
    ],
    [{ include: [44], start_date: '2030-01-01', starts_after: '2025-01-01' }, {}],
  ])('is reduced by %j', (params, expected) => {
    expect(echo(params)).toEqual(expected);
  });

  it('does not apply if include is given (D19)', () => {
    expect(listWindow({ include: [44] }, at).filters).toEqual([]);
  });
});

describe('strict dates', () => {
  it.each([
    [
      { start_date: '2030-06-10 12:00:00', end_date: '2030-06-17 11:00:00' },
      { start_date: '2030-06-10 14:00:00', end_date: '2030-06-17 13:00:00' },
    ],
    [
      { start_date: '2030-06-10T12:00:00+02:00', end_date: '2030-06-17' },
      { start_date: '2030-06-10 12:00:00', end_date: '2030-06-17 02:00:00' },
    ],
    [{ starts_after: '1907312400' }, { starts_after: '2030-06-10 11:00:00' }],
    [{}, { start_date: '2026-11-20 00:00:00', end_date: '2028-11-20 09:06:31' }],
  ])('read %j as UTC and return local times of the site', (params, expected) => {
    expect(echo({ ...params, strict_dates: true })).toEqual(expected);
  });

  it('use the offset of a site without a named zone', () => {
    const params = { start_date: '2030-06-10 12:00:00', end_date: '2030-06-17 11:00:00', strict_dates: true };
    const expected = { start_date: '2030-06-10 17:30:00', end_date: '2030-06-17 16:30:00' };
    expect(echo(params, { ...at, siteZone: parseZone('UTC+5.5')! })).toEqual(expected);
  });
});

describe('date bounds in the URLs of a list', () => {
  it.each([
    [{ start_date: '2030-06-10 12:00:00', end_date: '2030-06-17 11:00:00', strict_dates: true }, 'local'],
    [{ starts_after: '2030-10-27T02:30:00+02:00', ends_before: '1907312400', strict_dates: true }, 'local'],
    [{ start_date: '2030-06-10 12:00:00', strict_dates: 'local' }, 'local'],
    [{ start_date: '2030-06-10', end_date: '2030-06-17' }, undefined],
    [{ starts_before: '2030-06-10', starts_after: '2030-06-01', ends_before: '2030-06-12', ends_after: '2030-06-02' }, undefined],
  ])('give the same window when %j is requested again', (params, strict_dates) => {
    for (const cutoff of ['00:00', '04:30', '06:00', '23:00']) {
      const asked = listWindow(params, { ...at, cutoff });
      expect(listWindow({ ...asked.echo, strict_dates }, { ...at, cutoff })).toEqual(asked);
    }
  });
  it('are in the time zone of the site with strict_dates=local', () =>
    expect(echo({ start_date: '2030-06-10 12:00:00', strict_dates: 'local' }).start_date).toBe('2030-06-10 12:00:00'));
});

describe('date window of a site that compares in its own zone', () => {
  it('filters by UTC and echoes the local time of the site', () => {
    expect(listWindow({ start_date: '2030-06-01', end_date: '2030-12-01' }, { ...at, mode: 'site' })).toEqual({
      echo: { start_date: '2030-06-01 00:00:00', end_date: '2030-12-01 23:59:59' },
      filters: [
        { column: 'start_date', op: '>=', value: '2030-05-31 22:00:00' },
        { column: 'end_date', op: '<=', value: '2030-12-01 22:59:59' },
      ],
    });
  });
});
