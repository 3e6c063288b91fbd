import { expect, it } from '@jest/globals';
import { convertDayFirst, toIsoDate } from '../../src/calendar/day-first.ts';

it.each([
  ['31/12/2026 21:00', 'it-IT', '2026-12-31 21:00'],
  ['13/1/2026', 'de-DE', '2026-01-13'],
  ['31/12/2026', 'fr', '2026-12-31'],
  ['31/12/2026', 'en-GB', '2026-12-31'],
  ['31/12/2026', 'de-DE-formal', '2026-12-31'],
])('reads %s in the language %s', (text, language, read) => expect(convertDayFirst(text, language)).toBe(read));

it.each([
  ['31/12/2026 21:00', 'en-US', 'where the month comes first'],
  ['31/12/2026', 'sv-SE', 'where the year comes first'],
  ['05/06/2026', 'it-IT', 'which the API reads as well'],
  ['31/13/2026', 'it-IT', 'which is no date'],
  ['31/12/20261', 'it-IT', 'which is no date'],
  ['31.12.2026', 'it-IT', 'which the API reads itself'],
  ['next friday', 'it-IT', 'which is no date in digits'],
])('leaves %s unchanged in the language %s, %s', (text, language) => expect(convertDayFirst(text, language)).toBe(text));

it.each([
  ['31/12/2026', '2026-12-31'],
  [' 1.2.2026 ', '2026-02-01'],
  ['12/31/2026', '12/31/2026'],
  ['next friday', 'next friday'],
])('takes %j in a form for %j', (typed, day) => expect(toIsoDate(typed)).toBe(day));
