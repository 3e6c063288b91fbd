import { expect, it } from '@jest/globals';
import type { Finding } from '../../src/upkeep/doctor/findings.ts';
import type { Health } from '../../src/upkeep/doctor.ts';
import { repairInRounds } from '../../src/upkeep/repair.ts';

const healthWith = (findings: readonly Finding[]): Health => ({
  versions: { fasti: '', node: '', database: '', zones: '' },
  servers: [],
  findings,
});
const found = (name: string, count: number, fix: () => Promise<void>): Finding => ({
  name,
  severity: 'error',
  count,
  examples: [],
  fix,
});

/** Repairs a finding with three records, of which `repairable` can be repaired, in so many rounds. */
async function repairOf(repairable: number, rounds: number) {
  let [left, others] = [3, 1];
  const fix = async () => {
    if (left > 3 - repairable) {
      left -= 1;
      throw new Error('lost');
    }
    throw new Error('full');
  };
  const examine = () =>
    healthWith([
      found('event-unindexed', left, fix),
      ...(others > 0
        ? [
            found('tables-missing', others, async () => {
              others = 0;
            }),
          ]
        : []),
    ]);
  const { failed } = await repairInRounds(examine(), { examineAgain: async () => examine(), onTried: () => {}, rounds });
  return Array.from(failed, ([{ name, count }, error]) => [name, count, String(error)]);
}

it.each([
  ['after the last round', 1, 1, [['event-unindexed', 2, 'Error: lost']]],
  ['after all rounds', 2, 2, [['event-unindexed', 1, 'Error: lost']]],
  ['after a further round', 1, 9, [['event-unindexed', 2, 'Error: full']]],
  ['though it changed nothing', 0, 9, [['event-unindexed', 3, 'Error: full']]],
])('reports a repair that failed after partial success: %s', async (_, repairable, rounds, expected) => {
  expect(await repairOf(repairable, rounds)).toEqual(expected);
});

it('does not report as failed what a repair left without an error', async () => {
  const examine = () => healthWith([found('event-unindexed', 3, async () => {})]);
  const { health, failed } = await repairInRounds(examine(), { examineAgain: async () => examine(), onTried: () => {}, rounds: 1 });
  expect([health.findings.length, failed.size]).toEqual([1, 0]);
});
