import { DatabaseUnavailable } from '../storage/engine/database.ts';
import type { Say } from '../texts.ts';
import type { Finding } from './doctor/findings.ts';
import type { Health } from './doctor.ts';

/** A finding that can be repaired without a decision. */
type Fixable = Finding & Required<Pick<Finding, 'fix'>>;

interface RepairOptions {
  /** Examines the site again, after a round of repairs. */
  readonly examineAgain: () => Promise<Health>;
  /** Asks before each repair whether to make it; by default, all are made. */
  readonly mayRepair?: (finding: Finding) => Promise<boolean>;
  /** Called after each repair; `error`: the reason why it failed, if it did. */
  readonly onTried: (finding: Finding, error?: unknown) => void;
  /** Maximum number of rounds, since a repair may reveal further findings. */
  readonly rounds?: number;
}

const MAX_ROUNDS = 10;

/**
 * Makes the possible repairs of a site, and those of findings that appear afterwards, until nothing changes. A repair
 * that fails does not stop the others. Returns the health afterwards, which is the first one if no repair was tried.
 *
 * @throws DatabaseUnavailable
 */
export async function repairInRounds(first: Health, options: RepairOptions): Promise<Health> {
  const keyOf = (finding: Finding) => JSON.stringify(finding);
  const knownKeys = new Set<string>();
  let health = first;
  for (let round = 0; round < (options.rounds ?? MAX_ROUNDS); round += 1) {
    // Do not ask again about declined repairs, nor retry those that had no effect.
    const newFindings = health.findings.filter(isFixable).filter((finding) => !knownKeys.has(keyOf(finding)));
    for (const finding of newFindings) knownKeys.add(keyOf(finding));
    if (!(await repairEach(newFindings, options))) break;
    health = await options.examineAgain();
  }
  return health;
}

/** Returns the sentence about a repair that failed. */
export const failedRepair = ({ name }: Finding, error: unknown, say: Say): string =>
  say('upkeep:doctor.not-repaired', {
    finding: say(`upkeep:findings.${name}`),
    reason: error instanceof Error ? error.message : String(error),
  });

/** Whether a finding can be repaired without a decision. */
export const isFixable = (finding: Finding): finding is Fixable => finding.fix !== undefined;

/** Returns whether any repair was tried: one that fails may have changed something already. */
async function repairEach(findings: readonly Fixable[], { mayRepair, onTried }: RepairOptions): Promise<boolean> {
  let wasAnyTried = false;
  for (const finding of findings) {
    if (mayRepair && !(await mayRepair(finding))) continue;
    wasAnyTried = true;
    try {
      await finding.fix();
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      onTried(finding, error);
      continue;
    }
    onTried(finding);
  }
  return wasAnyTried;
}
