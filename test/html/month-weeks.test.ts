import { expect, it } from '@jest/globals';
import { itemsOfMonth, weeksOfMonth } from '../../src/html/month-weeks.ts';

it.each([0, 1, 2, 3, 4, 5, 6])('the weeks of any month contain all of its days if they begin with day %d', (firstDay) => {
  for (let month = 0; month < 24 * 12; month += 1) {
    const first = new Date(Date.UTC(1958, month, 1));
    const name = first.toISOString().slice(0, 7);
    const weeks = weeksOfMonth(name, [], { firstDay, cutoff: '00:00' });
    const days = weeks.flat().filter(({ items }) => items !== undefined);
    const length = new Date(Date.UTC(1958, month + 1, 0)).getUTCDate();
    expect([name, days[0]?.date, days.length]).toEqual([name, `${name}-01`, length]);
    expect(new Date(weeks[0]![0]!.date).getUTCDay()).toBe(firstDay);
  }
});

it('the items of a month are those on its days, also if others before them reach the limit', () => {
  const at = (start: string, end = start) => ({ start: `${start}:00`, end: `${end}:00` });
  const [before, long, first, last, after] = [
    at('2030-12-31 23:00', '2031-01-01 00:00'),
    at('2030-12-31 23:00', '2031-01-01 00:01'),
    at('2031-01-01 00:00'),
    at('2031-01-31 23:59'),
    at('2031-02-01 00:00'),
  ];
  const items = [before, before, long, first, last, after];
  const inMonth = (limit: number) => itemsOfMonth('2031-01', items, { cutoff: '00:00', limit });
  expect(inMonth(3)).toEqual({ items: [long, first, last], leftOut: 0 });
  expect(inMonth(2)).toEqual({ items: [long, first], leftOut: 1 });
});
