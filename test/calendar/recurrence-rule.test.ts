import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import nodeIcal, { type VEvent } from 'node-ical';
import { occurrences, parseRule } from '../../src/calendar/recurrence-rule.ts';

const unix = (text: string) => Date.parse(`${text}Z`) / 1000;
const text = (moment: number) => new Date(moment * 1000).toISOString().slice(0, 16);
/** Returns the first occurrences of a rule, up to 2040. */
const days = (rule: string, start: string, most = 5, last = '2040-01-01T00:00'): string[] => {
  const found: string[] = [];
  for (const moment of occurrences(parseRule(rule)!, unix(start), unix(last))) {
    if (found.length >= most) break;
    found.push(text(moment));
  }
  return found;
};

describe('recurrence rule', () => {
  it.each([
    ['FREQ=DAILY;COUNT=3', '2026-01-30T10:00', ['2026-01-30T10:00', '2026-01-31T10:00', '2026-02-01T10:00']],
    ['FREQ=DAILY;INTERVAL=10;UNTIL=20260125', '2026-01-01T10:00', ['2026-01-01T10:00', '2026-01-11T10:00', '2026-01-21T10:00']],
    ['FREQ=DAILY;UNTIL=20260103T100000', '2026-01-01T10:00', ['2026-01-01T10:00', '2026-01-02T10:00', '2026-01-03T10:00']],
    [
      'FREQ=WEEKLY;BYDAY=MO,WE;COUNT=4',
      '2026-01-05T09:00',
      ['2026-01-05T09:00', '2026-01-07T09:00', '2026-01-12T09:00', '2026-01-14T09:00'],
    ],
    [
      'FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO',
      '1997-08-05T09:00',
      ['1997-08-05T09:00', '1997-08-10T09:00', '1997-08-19T09:00', '1997-08-24T09:00'],
    ],
    [
      'FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU',
      '1997-08-05T09:00',
      ['1997-08-05T09:00', '1997-08-17T09:00', '1997-08-19T09:00', '1997-08-31T09:00'],
    ],
    ['FREQ=MONTHLY;COUNT=3', '2026-01-31T10:00', ['2026-01-31T10:00', '2026-03-31T10:00', '2026-05-31T10:00']],
    ['FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3', '2026-01-31T10:00', ['2026-01-31T10:00', '2026-02-28T10:00', '2026-03-31T10:00']],
    ['FREQ=MONTHLY;BYDAY=1FR;COUNT=3', '2026-01-02T10:00', ['2026-01-02T10:00', '2026-02-06T10:00', '2026-03-06T10:00']],
    ['FREQ=MONTHLY;BYDAY=-1SU;COUNT=3', '2026-01-25T10:00', ['2026-01-25T10:00', '2026-02-22T10:00', '2026-03-29T10:00']],
    ['FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3', '2026-02-13T10:00', ['2026-02-13T10:00', '2026-03-13T10:00', '2026-11-13T10:00']],
    [
      'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3',
      '2026-01-30T10:00',
      ['2026-01-30T10:00', '2026-02-27T10:00', '2026-03-31T10:00'],
    ],
    ['FREQ=YEARLY;COUNT=3', '2024-02-29T10:00', ['2024-02-29T10:00', '2028-02-29T10:00', '2032-02-29T10:00']],
    ['FREQ=YEARLY;BYMONTH=6,7;COUNT=3', '2026-06-10T10:00', ['2026-06-10T10:00', '2026-07-10T10:00', '2027-06-10T10:00']],
    ['FREQ=YEARLY;BYDAY=20MO;COUNT=3', '1997-05-19T09:00', ['1997-05-19T09:00', '1998-05-18T09:00', '1999-05-17T09:00']],
    ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3', '1997-05-12T09:00', ['1997-05-12T09:00', '1998-05-11T09:00', '1999-05-17T09:00']],
    [
      'FREQ=YEARLY;BYYEARDAY=1,100,200;COUNT=4',
      '1997-01-01T09:00',
      ['1997-01-01T09:00', '1997-04-10T09:00', '1997-07-19T09:00', '1998-01-01T09:00'],
    ],
    [
      'FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;COUNT=3',
      '1996-11-05T09:00',
      ['1996-11-05T09:00', '2000-11-07T09:00', '2004-11-02T09:00'],
    ],
    ['FREQ=DAILY;BYHOUR=9,18;BYMINUTE=30;COUNT=3', '2026-01-01T09:30', ['2026-01-01T09:30', '2026-01-01T18:30', '2026-01-02T09:30']],
    // RFC 7529, 4.1 and 4.2.
    [
      'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;COUNT=4',
      '2014-01-31T10:00',
      ['2014-01-31T10:00', '2014-02-28T10:00', '2014-03-31T10:00', '2014-04-30T10:00'],
    ],
    [
      'FREQ=MONTHLY;SKIP=BACKWARD;BYMONTHDAY=30,31;COUNT=5',
      '2026-01-30T10:00',
      ['2026-01-30T10:00', '2026-01-31T10:00', '2026-02-28T10:00', '2026-03-30T10:00', '2026-03-31T10:00'],
    ],
    ['FREQ=MONTHLY;SKIP=BACKWARD;BYMONTHDAY=31;BYMONTH=4;COUNT=2', '2026-04-30T10:00', ['2026-04-30T10:00', '2027-04-30T10:00']],
    [
      'RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=BACKWARD;COUNT=3',
      '2016-02-29T10:00',
      ['2016-02-29T10:00', '2017-02-28T10:00', '2018-02-28T10:00'],
    ],
    ['RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=OMIT;COUNT=2', '2016-02-29T10:00', ['2016-02-29T10:00', '2020-02-29T10:00']],
    ['FREQ=MONTHLY;BYMONTHDAY=15;COUNT=2', '2026-01-10T10:00', ['2026-01-10T10:00', '2026-01-15T10:00']],
  ])('generates the correct dates: %s from %s', (rule, start, expected) => expect(days(rule, start)).toEqual(expected));

  it.each([
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2',
    'FREQ=WEEKLY;BYDAY=MO;BYSETPOS=300',
    'FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1',
    'FREQ=DAILY;INTERVAL=0;BYMONTH=6;BYMONTHDAY=31',
    'FREQ=YEARLY;INTERVAL=999999999',
  ])('ends though it matches no further date: %s', (rule) => expect(days(rule, '2026-01-01T10:00', 2)).toEqual(['2026-01-01T10:00']));

  it.each([
    'FREQ=',
    'COUNT=3',
    '',
    'FREQ=FORTNIGHTLY',
    'RSCALE=HEBREW;FREQ=YEARLY',
    'FREQ=MONTHLY;SKIP=FORWARD',
    'FREQ=DAILY;SKIP=BACKWARD',
    'FREQ=MONTHLY;SKIP=BACKWARD;BYMONTHDAY=-31',
    'FREQ=MONTHLY;SKIP=BACKWARD;BYDAY=5MO',
  ])('is rejected if it is unsupported: %s', (rule) => expect(parseRule(rule)).toBeUndefined());

  it('generates the same dates as node-ical', () => {
    const weekday = fc.constantFrom('SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA');
    const list = <T>(item: fc.Arbitrary<T>) => fc.uniqueArray(item, { minLength: 1, maxLength: 3 });
    const rules = fc.oneof(
      fc.record({ FREQ: fc.constant('DAILY'), INTERVAL: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ FREQ: fc.constant('WEEKLY'), INTERVAL: fc.integer({ min: 1, max: 4 }), BYDAY: list(weekday) }),
      fc.record({
        FREQ: fc.constant('MONTHLY'),
        INTERVAL: fc.integer({ min: 1, max: 5 }),
        BYMONTHDAY: list(fc.constantFrom(1, 2, 13, 28, 30, 31, -1, -3)),
      }),
      fc.record({
        FREQ: fc.constant('MONTHLY'),
        BYDAY: list(fc.tuple(fc.constantFrom('1', '2', '-1', '5', '-2', ''), weekday).map(([nth, day]) => nth + day)),
      }),
      fc.record({
        FREQ: fc.constant('YEARLY'),
        BYMONTH: list(fc.integer({ min: 1, max: 12 })),
        BYDAY: list(fc.tuple(fc.constantFrom('1', '-1', '3'), weekday).map(([nth, day]) => nth + day)),
      }),
    );
    fc.assert(
      fc.property(rules, fc.integer({ min: unix('2020-01-01T00:00') / 86_400, max: unix('2026-01-01T00:00') / 86_400 }), (parts, day) => {
        const rule = Object.entries(parts)
          .map(([name, value]) => `${name}=${[value].flat().join(',')}`)
          .join(';');
        const start = day * 86_400 + 36_000;
        // If the start is not on one of the rule's weekdays, programs disagree on which week counts as the first of
        // two.
        fc.pre(
          !rule.startsWith('FREQ=WEEKLY') ||
            rule.split('BYDAY=')[1]!.includes(['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'][new Date(start * 1000).getUTCDay()]!),
        );
        const stamp = text(start).replace(/[-:]/g, '');
        const calendar = `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:${stamp}00Z\r\nRRULE:${rule}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
        const event = Object.values(nodeIcal.sync.parseICS(calendar)).find((part): part is VEvent => part?.type === 'VEVENT')!;
        const end = start + 3 * 366 * 86_400;
        const theirs = event
          .rrule!.between(new Date(start * 1000 + 1000), new Date(end * 1000), true)
          .map((date) => text(date.getTime() / 1000));
        const whole = [...occurrences(parseRule(rule)!, start, end)];
        const late = start + 500 * 86_400;
        expect([...occurrences(parseRule(rule)!, start, end, { from: late })]).toEqual(whole.filter((moment) => moment >= late));
        const ours = [...occurrences(parseRule(rule)!, start, end)].slice(1).map(text);
        expect({ rule, start: text(start), days: ours }).toEqual({ rule, start: text(start), days: theirs });
      }),
      { numRuns: 300 },
    );
  });
});
