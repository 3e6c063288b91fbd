import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { datesOfSet, parseRecurrenceSet } from '../../src/calendar/recurrence-set.ts';
import { withDate as addTo, type Span, type StoredSet, withoutDate } from '../../src/calendar/set-changes.ts';
import { serializedMembers, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { addDays } from '../../src/wordpress/time.ts';
import { countDates } from '../support/count-dates.ts';

const FIRST: Span = { start: '2031-01-14 18:30:00', end: '2031-01-14 20:00:00' };
const weekly: StoredSet = {
  set: 'DTSTART;TZID=Europe/Rome:20310114T183000\nDTEND;TZID=Europe/Rome:20310114T200000\nRRULE:FREQ=WEEKLY;COUNT=6;BYDAY=TU',
  rules: toSerialized({ rules: [{ type: 'Custom', custom: { type: 'Weekly', interval: 1 } }], exclusions: [], description: null }),
  first: FIRST,
};
const withDate = (stored: StoredSet, span: Span) => addTo(stored, span)?.storedSet;
const startsOf = ({ set, first }: StoredSet): string[] =>
  datesOfSet(parseRecurrenceSet(set)!, { first: first.start, length: 5400, last: '2031-12-31 23:59:59' }).map(({ start }) => start);

describe('date of a recurrence set', () => {
  it.each([['FREQ=DAILY'], ['']])('is not changed if the set cannot be read (%s)', (set) => {
    expect(withoutDate({ ...weekly, set }, '2031-01-21 18:30:00')).toBeUndefined();
    expect(withDate({ ...weekly, set }, { start: '2031-01-22 18:30:00', end: '2031-01-22 20:00:00' })).toBeUndefined();
  });
  it.each([
    ['rules that are no array', 'x'],
    ['a list of something else', toSerialized({ rules: 'x', exclusions: 'y' })],
  ])('is not changed if the set has %s', (_, rules) => {
    expect(withoutDate({ ...weekly, rules }, '2031-01-21 18:30:00')).toBeUndefined();
    expect(withDate({ ...weekly, rules }, { start: '2031-01-22 18:30:00', end: '2031-01-22 20:00:00' })).toBeUndefined();
  });
  it('is not removed if the set has no date at that time', () => {
    expect(withoutDate(weekly, '2031-01-22 18:30:00')).toBeUndefined();
  });
  it.each([
    ['EXDATE:20310121T183000', '', '2031-01-21'],
    ['EXDATE:20310121,20310128T183000', 'EXDATE:20310128T183000', '2031-01-21'],
    ['EXDATE;TZID=UTC:20310121T173000', '', '2031-01-21'],
  ])('takes place again after it was excluded (%s)', (line, left, day) => {
    const exclusion = { type: 'Custom', custom: { type: 'Date', interval: 1, date: { date: day }, 'same-time': 'yes' } };
    const { rules } = serializedMembers(weekly.rules) as { rules: object[] };
    const stored = { ...weekly, set: `${weekly.set}\n${line}`, rules: toSerialized({ rules, exclusions: [exclusion], description: null }) };
    const back = withDate(stored, { start: '2031-01-21 18:30:00', end: '2031-01-21 20:00:00' });
    expect(back).toEqual({ ...weekly, set: left === '' ? weekly.set : `${weekly.set}\n${left}` });
    expect(withDate(stored, { start: '2031-01-21 18:30:00', end: '2031-01-21 21:00:00' })).toBeUndefined();
    expect(withDate({ ...stored, rules: weekly.rules }, { start: '2031-01-21 18:30:00', end: '2031-01-21 20:00:00' })).toBeUndefined();
  });
  it('is added with the seconds of its end, as at the end of a day', () => {
    const first: Span = { start: '2031-01-14 00:00:00', end: '2031-01-14 23:59:59' };
    const set = 'DTSTART;TZID=Europe/Rome:20310114T000000\nDTEND;TZID=Europe/Rome:20310114T235959\nRRULE:FREQ=WEEKLY;COUNT=6;BYDAY=TU';
    const allDay: StoredSet = { ...weekly, set, first };
    const customOf = (span: Span) => (serializedMembers(withDate(allDay, span)!.rules) as { rules: { custom: object }[] }).rules[1]!.custom;
    expect(customOf({ start: '2031-01-22 00:00:00', end: '2031-01-23 23:59:59' })).toMatchObject({
      'start-time': '12:00am',
      'end-time': '11:59:59pm',
      'end-day': '1',
    });
    expect(customOf({ start: '2031-01-22 10:00:00', end: '2031-01-22 11:00:00' })).toMatchObject({ 'end-time': '11:00am' });
  });
  const excluded = (set: string, first: Span, start: string): StoredSet =>
    withoutDate({ ...weekly, set, first, rules: toSerialized({ rules: [{ type: 'Custom' }], exclusions: [] }) }, start)!;
  it.each([
    ['all-day', '20270307T000000', '20270307T235959', '2027-03-28 00:00:00', ['2027-03-28 23:59:59', '2027-03-29 23:59:59'], 86_399],
    ['all-day', '20271003T000000', '20271003T235959', '2027-10-31 00:00:00', ['2027-10-31 23:59:59', '2027-10-31 22:59:59'], 86_399],
    ['all-day', '20270328T000000', '20270328T235959', '2027-04-04 00:00:00', ['2027-04-04 23:59:59', '2027-04-04 22:59:59'], 82_799],
    ['timed', '20270306T220000', '20270307T060000', '2027-03-27 22:00:00', ['2027-03-28 06:00:00', '2027-03-28 07:00:00'], 28_800],
    ['timed', '20270307T023000', '20270307T040000', '2027-03-28 03:30:00', ['2027-03-28 05:00:00'], 5400],
  ])('takes place again with the length of the others when clocks change (%s, %s to %s)', (form, from, to, start, ends, length) => {
    const local = (text: string) => text.replace(/(....)(..)(..)T(..)(..)(..)/, '$1-$2-$3 $4:$5:$6');
    const set = `DTSTART;TZID=Europe/Rome:${from}\nDTEND;TZID=Europe/Rome:${to}\nRRULE:FREQ=WEEKLY`;
    const stored = excluded(set, { start: local(from), end: local(to) }, start);
    const add = (end: string) => addTo(stored, { start, end, allDay: form === 'all-day' });
    expect(ends.map(add)).toEqual(ends.map(() => expect.objectContaining({ date: expect.objectContaining({ length, isFromRule: true }) })));
    expect(add(ends[0]!)!.storedSet.set).toBe(set);
    expect(add(addDays(ends[0]!, 2))).toBeUndefined();
  });
  it('is excluded in UTC if the set is in UTC', () => {
    const inUtc = { ...weekly, set: 'DTSTART:20310114T183000Z\nDTEND:20310114T200000Z\nRRULE:FREQ=WEEKLY;COUNT=6;BYDAY=TU' };
    expect(withoutDate(inUtc, '2031-01-21 18:30:00')?.set.split('\n').at(-1)).toBe('EXDATE:20310121T183000Z');
  });
  it('is added and removed if the zone name is an offset', () => {
    const offset = { ...weekly, set: weekly.set.replaceAll('Europe/Rome', '+01:00') };
    const added = withDate(offset, { start: '2031-01-22 18:30:00', end: '2031-01-22 20:00:00' })!;
    expect(added.set.split('\n').at(-1)).toBe('RDATE;TZID=+01:00;VALUE=PERIOD:20310122T183000/20310122T200000');
    expect(withoutDate(added, '2031-01-22 18:30:00')).toEqual(offset);
  });
  it('is excluded in few steps long after the start of the rule', async () => {
    const daily = { ...weekly, set: 'DTSTART;TZID=Europe/Rome:20310114T183000\nDTEND;TZID=Europe/Rome:20310114T200000\nRRULE:FREQ=DAILY' };
    const steps = await countDates(() => {
      const excluded = withoutDate(daily, '2330-06-01 18:30:00')!;
      expect(excluded.set.split('\n').at(-1)).toBe('EXDATE:23300601T183000');
      expect(withDate(excluded, { start: '2330-06-01 18:30:00', end: '2330-06-01 20:00:00' })).toEqual(daily);
    });
    expect(steps).toBeLessThan(2000);
  });
  it('is not changed if the rule gives more dates than can be compared', async () => {
    const dense = { ...weekly, set: weekly.set.replace(/RRULE.*/, 'RRULE:FREQ=SECONDLY') };
    const steps = await countDates(() => {
      expect(withoutDate(dense, '2031-06-01 18:30:00')).toBeUndefined();
      expect(withDate(dense, { start: '2031-01-22 10:00:00', end: '2031-01-22 11:00:00' })).toBeUndefined();
    });
    expect(steps).toBeLessThan(10_000);
  });
  it('is not added if that restores another date of the day', () => {
    const exclusion = { type: 'Custom', custom: { type: 'Date', interval: 1, date: { date: '2031-01-21' }, 'same-time': 'yes' } };
    const { rules } = serializedMembers(weekly.rules) as { rules: object[] };
    const stored = {
      ...weekly,
      set: `${weekly.set.replace('\nRRULE', '\nRDATE:20310121T213000\nRRULE')}\nEXDATE:20310121`,
      rules: toSerialized({ rules, exclusions: [exclusion], description: null }),
    };
    expect(withDate(stored, { start: '2031-01-21 18:30:00', end: '2031-01-21 20:00:00' })).toBeUndefined();
  });
  it('is not added at a second that the rules cannot express', () =>
    expect(withDate(weekly, { start: '2031-01-22 18:30:30', end: '2031-01-22 20:00:00' })).toBeUndefined());
  it('is not removed if the rules do not contain it', () => {
    const added = withDate(weekly, { start: '2031-01-15 10:00:00', end: '2031-01-15 11:00:00' })!;
    expect(withoutDate({ ...added, rules: weekly.rules }, '2031-01-15 10:00:00')).toBeUndefined();
  });
});

it('stays correct, with a rule for each line, after random additions and exclusions', () => {
  const change = fc.record({ day: fc.integer({ min: 1, max: 60 }), hour: fc.constantFrom('10:00:00', '18:30:00', '23:00:00') });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      let stored = weekly;
      let expected = startsOf(weekly);
      for (const { day, hour } of changes) {
        const start = `${addDays('2031-01-14', day)} ${hour}`;
        const end = `${addDays('2031-01-14', hour < '20' ? day : day + 1)} ${hour < '20' ? '20:00:00' : '01:00:00'}`;
        const [before, isThere] = [stored, expected.includes(start)];
        stored = (isThere ? withoutDate(stored, start) : withDate(stored, { start, end })) ?? stored;
        // An excluded date returns only with its original end, so the addition may have been refused.
        if (stored === before) continue;
        expected = isThere ? expected.filter((one) => one !== start) : [...expected, start].sort();
      }
      expect(startsOf(stored)).toEqual(expected);
      const { rules, exclusions } = serializedMembers(stored.rules) as { rules: object[]; exclusions: object[] };
      const lines = stored.set.split('\n');
      expect([rules.length - 1, exclusions.length]).toEqual(
        ['RDATE', 'EXDATE'].map((name) => lines.filter((line) => line.startsWith(name)).length),
      );
    }),
  );
});
