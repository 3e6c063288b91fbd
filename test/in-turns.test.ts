import { expect, it } from '@jest/globals';
import { mapYielding } from '../src/yielding.ts';

it('mapYielding lets other work run between two long tasks, and keeps the order', async () => {
  const turns: number[] = [];
  let done = 0;
  const others = setInterval(() => turns.push(done), 0);
  const results = await mapYielding([1, 2, 3, 4], (item) => {
    const until = performance.now() + 30;
    while (performance.now() < until);
    done += 1;
    return item * 10;
  });
  clearInterval(others);
  expect(results).toEqual([10, 20, 30, 40]);
  expect(turns.length).toBeGreaterThan(1);
});
