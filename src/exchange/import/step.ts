import type { SiteSettings } from '../../calendar/settings.ts';
import { termKind } from '../../kinds/index.ts';
import { updateIndex } from '../../records/list-index.ts';
import { dropTreeCache } from '../../records/term-writes.ts';
import { type Site, withinTransaction } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import { joinWriters, noteChange } from '../../storage/journal/reported-changes.ts';
import { deleteWaiting, storeProgress, writeLedger, writeWaiting } from '../../storage/rows/imports.ts';
import { requireAuthor } from '../../storage/rows/posts.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { SourceFault } from '../items/items.ts';
import { type DatesEntry, mergeTally, newTally, type Tally, tallyText } from '../items/report.ts';
import { openLedger } from './ledger.ts';
import type { Run, Work } from './run.ts';

/** A run in progress: its results so far, and the number of entries done, as stored in its row. */
export interface ImportState {
  run: Run;
  readonly sum: Tally;
  doneCount: number;
  /** Names of events all of whose dates came, with the period that is covered. */
  readonly dates: Map<string, DatesEntry['between']>;
  /** The lasting parts of the UIDs of events that the tables cannot hold. */
  readonly unstorableUids: Set<string>;
  /** Ledger keys of posts that the source contains and the run could not read or store. */
  readonly unwritten: Set<string>;
}

/** A step of an import that is written in one transaction. */
export interface Step {
  readonly task: (work: Work) => Promise<void>;
  /** Ledger keys of everything that the step concerns. */
  readonly keys: ReadonlySet<string>;
  readonly originals?: Work['originals'];
  /** Number of entries that are done after the step; absent if it does not add any. */
  readonly entryCount?: number;
  /** False if the run ends with this step. */
  readonly open?: boolean;
}

/**
 * Runs a step in one transaction, and applies its results to the run once that is committed.
 *
 * @throws SourceFault `superseded` if another run of the same source has begun
 */
export async function writeStep(
  state: ImportState,
  { task, keys, originals = new Map(), entryCount = 0, open = true }: Step,
): Promise<void> {
  const { run, sum } = state;
  const doneCount = Math.max(state.doneCount, entryCount);
  const attempt = async (db: Database): Promise<Work> => {
    const ledger = await openLedger(db, run.importId, keys, run.dryLedger, run.withheld);
    const work = newWork({ run, db, ledger, originals });
    if (!run.isDryRun) {
      joinWriters(db);
      await requireAuthor(db, run.caller.viewer.id);
    }
    await task(work);
    if (run.isDryRun) return work;
    await writeLedger(db, run.importId, ledger.added());
    await deleteWaiting(db, run.importId, noLongerWaiting(work));
    await writeWaiting(db, run.importId, work.waiting);
    if (work.touched.tree) await dropTreeCache(db, termKind('category'));
    if (work.events.length > 0) await updateIndex(db, await work.indexer(), [...new Set(work.events)]);
    if (work.touched.any) noteChange(db, { now: run.site.clock(), viewer: run.caller.viewer });
    const report = newTally();
    mergeTally(report, sum);
    mergeTally(report, work.tally);
    await storeState(db, state, { doneCount, open, report });
    return work;
  };
  const work = run.isDryRun ? await attempt(run.site.db) : await run.site.db.transaction(attempt);
  const { ledger, tally, waiting, namedRecords, wantedSlugs, unlinked, renamed } = work;
  if (run.isDryRun) {
    for (const entry of ledger.added()) run.dryLedger.set(entry.item, entry);
    for (const item of noLongerWaiting(work)) run.dryWaiting.delete(item);
    for (const row of waiting) run.dryWaiting.set(row.item, row);
  }
  for (const { kind, title, start, id } of namedRecords) if (kind !== 'attachment') run.names.add(kind, title, start, id);
  for (const entry of ledger.withheld()) run.withheld.set(entry.item, entry);
  run.wantedSlugs.push(...wantedSlugs);
  run.unlinked.push(...unlinked);
  run.renamed.push(...renamed);
  mergeTally(sum, tally);
  state.doneCount = doneCount;
}

/** Returns the state of a step that has done nothing yet. */
const newWork = (of: Pick<Work, 'run' | 'db' | 'ledger' | 'originals'>): Work => ({
  ...of,
  tally: newTally(),
  waiting: [],
  changed: [],
  authors: new Map(),
  wantedSlugs: [],
  renamed: [],
  unlinked: [],
  namedRecords: [],
  replaced: new Map(),
  removedIds: new Set(),
  forbiddenIds: new Set(),
  originIds: new Set(),
  events: [],
  indexer: indexerIn(of.run.site, of.db),
  touched: { any: false, tree: false },
});

/** Returns a function that reads the settings in this transaction, once. */
function indexerIn(site: Site, db: Database): Work['indexer'] {
  let settings: Promise<SiteSettings> | undefined;
  return async () => {
    settings ??= withinTransaction(site, db).settings();
    return { settings: await settings };
  };
}

/** Returns the ledger keys of changed records that do not wait for anything. */
function noLongerWaiting({ changed, waiting }: Work): string[] {
  const waitingKeys = new Set(waiting.map(({ item }) => item));
  return changed.filter((key) => !waitingKeys.has(key));
}

/**
 * Stores the progress of a run in its row, which it holds until the end of the transaction.
 *
 * @throws SourceFault `superseded` if another run of the same source has begun
 */
export async function storeState(
  db: Database,
  state: ImportState,
  { doneCount, open, report }: { readonly doneCount: number; readonly open: boolean; readonly report: Tally },
): Promise<void> {
  const { run } = state;
  const isCurrent = await storeProgress(db, { id: run.importId, run: run.number }, state.doneCount, {
    done: doneCount,
    open,
    report: tallyText(report),
    now: utcFromDate(run.site.clock()),
  });
  if (!isCurrent) throw new SourceFault('superseded', { source: run.source });
}
