import type { Database } from '../engine/database.ts';
import { EVERYTHING, entriesAfter, type JournalEntry } from './entries.ts';
import { ownChangeOf } from './own-changes.ts';

/** The journal as it arrives in this process: each entry once, in the order of the numbers. */
export interface JournalFeed {
  /** The number up to which entries have been handed on; undefined before the first look. */
  readonly position: () => number | undefined;
  /**
   * Hands on what is new, given what the counter of changes says (`lookAtVersion`). Once it resolves, subscribers have
   * been passed everything up to that count. The site calls it with each look at the version, before that version is
   * known to anybody, and therefore also after each write of this process, before the write is answered from memory.
   */
  readonly advanceTo: (count: number) => Promise<void>;
  /** Calls `listener` with new entries. Returns what ends that. */
  readonly subscribe: (listener: JournalListener) => () => void;
}

/** Must not throw. `all` among the entries: anything may have changed. */
export type JournalListener = (entries: readonly JournalEntry[]) => void;

const AT_ONCE = 1000;
/** For those who are this far behind, everything has changed. */
const MOST_BEHIND = 10_000;

/** Follows the journal of one database (a replica has its own feed), from the first look on. */
export function createJournalFeed(db: Database): JournalFeed {
  const listeners = new Set<JournalListener>();
  let position: number | undefined;
  let running: Promise<void> = Promise.resolve();

  const notify = (entries: readonly JournalEntry[]): void => {
    if (entries.length > 0) for (const listener of listeners) listener(entries);
  };

  const giveUp = (count: number): void => {
    position = count;
    notify([everything(count)]);
  };

  const advance = async (count: number): Promise<void> => {
    if (position === undefined) position = count;
    if (count < position || count - position > MOST_BEHIND) return giveUp(count);
    while (position < count) {
      const { entries, oldest } = await entriesAfter(db, position, AT_ONCE);
      if (oldest > position) return giveUp(count);
      // All that was committed when the count was read can be read now. What has none of its own left a gap.
      const next: number = entries.length < AT_ONCE ? count : position;
      position = Math.max(next, entries.at(-1)?.number ?? 0);
      notify(entries.map((entry) => ({ ...entry, own: ownChangeOf(db, entry) })));
    }
  };

  return {
    position: () => position,
    advanceTo: (count) => {
      const next = running.then(() => advance(count));
      running = next.catch(() => undefined);
      return next;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const everything = (number: number): JournalEntry => ({
  ...EVERYTHING,
  number,
  at: '',
  writer: 'found',
  user: 0,
});
