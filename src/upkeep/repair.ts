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

/** The health after the repairs, which is the first one if none was tried, and the findings whose repair failed. */
interface Repaired {
  readonly health: Health;
  /** With the reason of the last failure. Findings that another repair has removed meanwhile are left out. */
  readonly failed: ReadonlyMap<Finding, unknown>;
}

/**
 * Makes the possible repairs of a site, and those of findings that appear afterwards, until nothing changes. A repair
 * that fails does not stop the others, and is tried again if one of them succeeded, since that may have been what it
 * lacked.
 *
 * @throws DatabaseUnavailable
 */
export async function repairInRounds(first: Health, options: RepairOptions): Promise<Repaired> {
  // Declined repairs are not asked about again, and those without effect are not tried again.
  const settledKeys = new Set<string>();
  const errors = new Map<string, unknown>();
  // A repair that failed may have changed its finding, for example the number of records. Nothing tries it after the
  // last round, so its finding is then known only by its name.
  let lastErrors = new Map<Finding['name'], unknown>();
  let health = first;
  for (let round = 0; round < (options.rounds ?? MAX_ROUNDS); round += 1) {
    const outcomes = await repairEach(
      health.findings.filter(isFixable).filter((finding) => !settledKeys.has(keyOf(finding))),
      options,
    );
    if (outcomes.every(({ is }) => is === 'declined')) break;
    lastErrors = new Map(outcomes.flatMap((outcome) => (outcome.is === 'failed' ? [[outcome.finding.name, outcome.error]] : [])));
    const hasSucceeded = outcomes.some(({ is }) => is === 'repaired');
    for (const outcome of outcomes) {
      const key = keyOf(outcome.finding);
      if (outcome.is === 'failed') errors.set(key, outcome.error);
      else errors.delete(key);
      if (outcome.is !== 'failed' || !hasSucceeded) settledKeys.add(key);
    }
    health = await options.examineAgain();
  }
  const failed = new Map<Finding, unknown>();
  for (const finding of health.findings) {
    const key = keyOf(finding);
    if (errors.has(key)) failed.set(finding, errors.get(key));
    else if (!settledKeys.has(key) && lastErrors.has(finding.name)) failed.set(finding, lastErrors.get(finding.name));
  }
  return { health, failed };
}

const keyOf = (finding: Finding): string => JSON.stringify(finding);

/** Returns the sentence about a repair that failed. */
export const failedRepair = ({ name }: Finding, error: unknown, say: Say): string =>
  say('upkeep:doctor.not-repaired', {
    finding: say(`upkeep:findings.${name}`),
    reason: error instanceof Error ? error.message : String(error),
  });

/** Whether a finding can be repaired without a decision. */
export const isFixable = (finding: Finding): finding is Fixable => finding.fix !== undefined;

/** The result of a repair. One that fails may have changed something already. */
type RepairOutcome = { readonly finding: Finding } & (
  | { readonly is: 'repaired' | 'declined' }
  | { readonly is: 'failed'; readonly error: unknown }
);

/** Throws DatabaseUnavailable. */
async function repairEach(findings: readonly Fixable[], { mayRepair, onTried }: RepairOptions): Promise<RepairOutcome[]> {
  const outcomes: RepairOutcome[] = [];
  for (const finding of findings) {
    if (mayRepair && !(await mayRepair(finding))) {
      outcomes.push({ finding, is: 'declined' });
      continue;
    }
    try {
      await finding.fix();
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      outcomes.push({ finding, is: 'failed', error });
      onTried(finding, error);
      continue;
    }
    outcomes.push({ finding, is: 'repaired' });
    onTried(finding);
  }
  return outcomes;
}
