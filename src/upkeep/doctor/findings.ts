import type { KindName } from '../../kinds/kind-names.ts';
import type { Site } from '../../site.ts';
import type { ServerReport } from '../../storage/engine/cluster.ts';
import type { Database } from '../../storage/engine/database.ts';
import { noteChange, reportEverything } from '../../storage/journal/reported-changes.ts';

/** Something that is wrong. `name`: key of a sentence in `upkeep:findings`. */
export interface Finding {
  readonly name: string;
  /** An error causes wrong responses or failures; a warning should be known; a note may be intended. */
  readonly severity: 'error' | 'warning' | 'note';
  readonly count: number;
  readonly examples: readonly string[];
  /** Number of records of each kind, which people are told instead of the examples. */
  readonly counts?: readonly (readonly [kind: KindName, count: number])[];
  /** Repairs it; absent if that needs a decision. */
  readonly fix?: () => Promise<void>;
}

/** A server of the database, or of one of its replicas. */
export type ExaminedServer = ServerReport & { readonly replica: boolean };

const MAX_EXAMPLES = 10;

/** Returns a finding with its first examples, or an empty list without examples. `examples`: every example. */
export const finding = (name: string, severity: Finding['severity'], examples: readonly string[], fix?: () => Promise<void>): Finding[] =>
  examples.length === 0
    ? []
    : [{ name, severity, count: examples.length, examples: examples.slice(0, MAX_EXAMPLES), ...(fix ? { fix } : {}) }];

/** Returns the examples of a finding for people, or its numbers by kind. */
export const examplesInWords = ({ examples, counts }: Finding, say: (key: string) => string): readonly string[] =>
  counts?.map(([kind, count]) => `${say(`exchange:kinds.${kind}`)}: ${count}`) ?? examples;

/** Returns a function that runs a repair in one transaction, and notes that anything may have changed. */
export const inRepairTransaction = (site: Site, work: (db: Database) => Promise<unknown>) => (): Promise<void> =>
  site.db.transaction(async (db) => {
    await work(db);
    reportEverything(db);
    noteChange(db, { now: site.clock() });
  });
