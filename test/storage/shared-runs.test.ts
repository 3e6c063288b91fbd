import { expect, it } from '@jest/globals';
import { createSharedRuns } from '../../src/storage/engine/shared-runs.ts';

/** Work that ends when the test says so and returns the number of its run. */
function workshop() {
  let begun = 0;
  const ends: (() => void)[] = [];
  return {
    begun: () => begun,
    work: () => {
      begun += 1;
      const run = begun;
      return new Promise<number>((resolve) => ends.push(() => resolve(run)));
    },
    end: (run: number) => ends[run - 1]?.(),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('createSharedRuns gives all callers that arrive during a run the same next run', async () => {
  const { work, begun, end } = workshop();
  const runs = createSharedRuns<number>();
  const first = runs('a', work);
  const others = [runs('a', work), runs('a', work)];
  expect(begun()).toBe(1);
  end(1);
  expect(await first).toBe(1);
  await settled();
  expect(begun()).toBe(2);
  const late = runs('a', work);
  end(2);
  expect(await Promise.all(others)).toEqual([2, 2]);
  await settled();
  end(3);
  expect(await late).toBe(3);
  const alone = runs('a', work);
  end(4);
  expect(await alone).toBe(4);
});

it('createSharedRuns runs work of different keys concurrently and continues after a failure', async () => {
  const { work, begun } = workshop();
  const runs = createSharedRuns<number>();
  void runs('a', work);
  void runs('b', work);
  expect(begun()).toBe(2);
  const failing = runs('c', () => Promise.reject(new Error('lost')));
  const after = runs('c', async () => 7);
  await expect(failing).rejects.toThrow('lost');
  expect(await after).toBe(7);
});
