import { expect, it } from '@jest/globals';
import { storedDates } from '../../src/kinds/events/dates.ts';
import { DATES } from '../../src/kinds/events/metas.ts';

it.each([
  ['2026-12-31 20:00:00', '2026-12-31 20:00:00'],
  ['2026-12-31T20:00:00', '2026-12-31 20:00:00'],
  ['2026-12-31 20:00', '2026-12-31 20:00:00'],
  ['2026-12-31 20:00:00.000', '2026-12-31 20:00:00'],
  ['2026-12-31', '2026-12-31 00:00:00'],
  ['0000-00-00 00:00:00', '0000-00-00 00:00:00'],
  ['2026-02-30', '2026-02-30'],
  ['in spring', 'in spring'],
  ['', ''],
])('storedDates shows the stored date %j as %j', (stored, shown) => {
  const metas = new Map([DATES.start, DATES.end, DATES.startUtc, DATES.endUtc].map((key) => [key, [stored]]));
  expect(storedDates({ metas })).toMatchObject({ start: shown, end: shown, startUtc: shown, endUtc: shown });
});
