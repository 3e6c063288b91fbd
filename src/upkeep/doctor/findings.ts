import type { Site } from '../../site.ts';
import type { ServerReport } from '../../storage/engine/cluster.ts';
import type { Database } from '../../storage/engine/database.ts';
import { everythingTouched, noteChange } from '../../storage/journal/touched.ts';

/** Something that is not as it should be. `name`: of a sentence in `upkeep:findings`. */
export interface Finding {
  readonly name: string;
  /** An error gives wrong answers or stops something; a warning should be known; a note may be as it should be. */
  readonly severity: 'error' | 'warning' | 'note';
  readonly count: number;
  readonly examples: readonly string[];
  /** Puts it right; absent: that is for a person to decide. */
  readonly fix?: () => Promise<void>;
}

/** A server of the database, or of a replica of it. */
export type ExaminedServer = ServerReport & { readonly replica: boolean };

const EXAMPLES = 10;

/** A finding with its first examples; none where there are none. `all`: every example. */
export const finding = (name: string, severity: Finding['severity'], all: readonly string[], fix?: () => Promise<void>): Finding[] =>
  all.length === 0 ? [] : [{ name, severity, count: all.length, examples: all.slice(0, EXAMPLES), ...(fix ? { fix } : {}) }];

/** Runs a repair as one transaction, and says that something was changed. */
export const repair = (site: Site, work: (db: Database) => Promise<unknown>) => (): Promise<void> =>
  site.db.transaction(async (db) => {
    await work(db);
    everythingTouched(db);
    noteChange(db, { now: site.clock() });
  });
