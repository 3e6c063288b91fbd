import { expect, it } from '@jest/globals';
import { weeksOfMonth } from '../../src/html/month-weeks.ts';

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
