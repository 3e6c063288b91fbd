import type { Database } from '../engine/database.ts';
import { ANYTHING_CHANGED, entriesAfter, type JournalEntry } from './entries.ts';
import { ownChangeOf } from './own-changes.ts';

/** The journal as received by this process: each entry once, in the order of the numbers. */
export interface JournalFeed {
  /** Returns the number up to which entries have been passed on; undefined before the first look. */
  readonly position: () => number | undefined;
  /**
   * Passes on new entries, given the value of the change counter (`lookAtVersion`). When it resolves, subscribers have
   * received everything up to that value. The site calls it with each look at the version, before that version becomes
   * known. Therefore it is also called after each write of this process, before the write is answered from memory.
   *
   * @param before the position before the counter was read
   */
  readonly advanceTo: (count: number, before: number | undefined) => Promise<void>;
  /** Calls `listener` with new entries. Returns a function that ends the subscription. */
  readonly subscribe: (listener: JournalListener) => () => void;
}

/** Must not throw. An entry of kind `all` means that anything may have changed. */
export type JournalListener = (entries: readonly JournalEntry[]) => void;

const BATCH_SIZE = 1000;
/** If the feed is further behind than this, everything counts as changed. */
const MAX_BEHIND = 10_000;

/** Follows the journal of one database, starting at the first look. A replica has a separate feed. */
export function createJournalFeed(db: Database): JournalFeed {
  const listeners = new Set<JournalListener>();
  let position: number | undefined;
  let running: Promise<void> = Promise.resolve();

  const notify = (entries: readonly JournalEntry[]): void => {
    if (entries.length > 0) for (const listener of listeners) listener(entries);
  };

  const giveUp = (count: number): void => {
    position = count;
    notify([anyChangeEntry(count)]);
  };

  const advance = async (count: number, before: number | undefined): Promise<void> => {
    if (position === undefined) position = count;
    // The counter never decreases, unless the database was reset to an earlier state. A value between the two positions
    // only means that another look has overtaken this one.
    const isReset = before !== undefined && count < before && count < position;
    if (isReset || count - position > MAX_BEHIND) return giveUp(count);
    while (position < count) {
      const { entries, oldest } = await entriesAfter(db, position, BATCH_SIZE);
      if (oldest > position) return giveUp(count);
      // Everything that was committed when the counter was read can be read now. Counter values without an entry are
      // gaps.
      const next: number = entries.length < BATCH_SIZE ? count : position;
      position = Math.max(next, entries.at(-1)?.number ?? 0);
      notify(entries.map((entry): JournalEntry => ({ ...entry, ownChange: ownChangeOf(db, entry) })));
    }
  };

  return {
    position: () => position,
    advanceTo: (count, before) => {
      const next = running.then(() => advance(count, before));
      running = next.catch(() => undefined);
      return next;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const anyChangeEntry = (number: number): JournalEntry => ({
  ...ANYTHING_CHANGED,
  number,
  at: '',
  writer: 'found',
  user: 0,
});
