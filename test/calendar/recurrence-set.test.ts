import { describe, expect, it } from '@jest/globals';
import { datesOfSet, isEndless, parseRecurrenceSet } from '../../src/calendar/recurrence-set.ts';
import { addSeconds } from '../../src/wordpress/time.ts';
import { localFromUnix, parseZone } from '../../src/wordpress/zones.ts';
import { EXPECTED_DATES } from '../support/recurring-site.ts';
import { FIXTURES, readFixture } from '../support/site-data.mjs';

const fixture = readFixture(new URL('recurrence.json', FIXTURES));
const events = fixture.tec_events!.rows.map((row) =>
  Object.fromEntries(fixture.tec_events!.columns.map((name, place) => [name, row[place]])),
);
const recurring = events.filter(({ rset }) => rset);

describe('recurrence set', () => {
  it.each(recurring.map(({ post_id, rset, ...event }) => [Number(post_id), String(rset), event] as const))(
    'gives the dates of event %i',
    (post, rset, event) => {
      const expected = EXPECTED_DATES.filter((date) => date.form === 'tables' && date.post_id === post);
      const set = parseRecurrenceSet(rset)!;
      const dates = datesOfSet(set, { first: String(event.start_date), length: Number(event.duration), last: expected.at(-1)!.start_date });
      const zone = parseZone(String(event.timezone))!;
      expect(dates.map(({ start, startUnix: at, length }) => ({ start, end: localFromUnix(at + length, zone) }))).toEqual(
        expected.map(({ start_date: start, end_date: end }) => ({ start, end })),
      );
      expect(isEndless(set)).toBe(post === 510);
    },
  );

  it.each([
    ['DTSTART;TZID=Europe/Rome:20310612T090000\nRDATE;VALUE=DATE:20310613T100000', ['2031-06-12 09:00:00', '2031-06-13 10:00:00']],
    ['DTSTART;TZID=Europe/Rome:20310612T090000\nRDATE:20310614', ['2031-06-12 09:00:00', '2031-06-14 09:00:00']],
    ['DTSTART;TZID=Europe/Rome:20310612T090000\nRDATE:20310613T070000Z', ['2031-06-12 09:00:00', '2031-06-13 09:00:00']],
    [
      'DTSTART;TZID=Europe/Rome:20310612T090000\nRDATE;VALUE=PERIOD:20310613T090000/PT60S,20310614T090000/PT1H',
      ['2031-06-12 09:00:00', '2031-06-13 09:00:00', '2031-06-14 09:00:00'],
    ],
    [
      'DTSTART;TZID=Europe/Rome:20310612T090000\nRRULE:COUNT=4;FREQ=DAILY\nEXRULE:FREQ=DAILY;INTERVAL=2',
      ['2031-06-12 09:00:00', '2031-06-13 09:00:00', '2031-06-15 09:00:00'],
    ],
    [
      'DTSTART;TZID=+02:00:20310612T090000\nDTEND;TZID=+02:00:20310612T100000\nRRULE:FREQ=DAILY;COUNT=3\nRDATE;TZID=+02:00;VALUE=PERIOD:20310620T090000/PT1H\nEXDATE:20310613',
      ['2031-06-12 09:00:00', '2031-06-14 09:00:00', '2031-06-20 09:00:00'],
    ],
    ['DTSTART:20310612T090000Z\nRRULE:FREQ=DAILY;COUNT=2\nRDATE:20310613T090000Z', ['2031-06-12 09:00:00', '2031-06-13 09:00:00']],
  ])('reads the dates of %j', (text, expected) => {
    const set = parseRecurrenceSet(text)!;
    const dates = datesOfSet(set, { first: '2031-06-12 09:00:00', length: 3600, last: addSeconds('2031-06-12 09:00:00', 86_400 * 30) });
    expect(dates.map(({ start }) => start)).toEqual(expected);
  });

  it.each([
    '',
    'RRULE:FREQ=DAILY',
    'DTSTART;TZID=Nowhere/Land:20310612T090000',
    'DTSTART;TZID=Europe/Rome:20310612',
    'DTSTART;TZID=Europe/Rome:20310612T090000\nRRULE:FREQ=SOMETIMES',
    'DTSTART;TZID=Europe/Rome:20310612T090000\nRDATE:soon',
    'DTSTART;TZID=Europe/Rome:20310612T090000\nnonsense',
  ])('is rejected if it is %j', (text) => expect(parseRecurrenceSet(text)).toBeUndefined());
});
