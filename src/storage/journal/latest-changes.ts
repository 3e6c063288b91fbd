import { allPosts, type Dependencies, type Dependency, dependenciesOf, type ListDependency } from './dependencies.ts';
import type { JournalEntry } from './entries.ts';
import type { JournalFeed } from './feed.ts';

/** A value derived from the data when the change counter had the value `count`, or later. */
export interface Derived {
  readonly count: number;
  readonly dependencies: Dependencies;
  /** `LatestChanges.era` when the count was determined. */
  readonly era: number;
  /** The number of the last journal entry that is known not to affect the value. */
  checkedUntil: number;
}

/** The latest change of each object. */
export interface LatestChanges {
  /** Whether no entry received so far affects the value. If so, its `checkedUntil` is updated. */
  readonly isCurrent: (value: Derived) => boolean;
  /** A number that increases with each entry after which anything may be different. */
  readonly era: () => number;
}

/** Maximum number of dependencies that are kept; a value older than the last dropped one counts as outdated. */
const MAX_DEPENDENCIES = 50_000;

/** Minimum number of latest entries that are kept, for lists, which are not affected by every change of a post. */
const MIN_ENTRIES = 500;

/** Starts following a journal. `limit`: maximum number of dependencies that are kept. */
export function followChanges(feed: JournalFeed, limit = MAX_DEPENDENCIES): LatestChanges {
  const latest = new Map<Dependency, number>();
  /** Values from before this number may depend on a change that is not kept any more. */
  let from = feed.position() ?? 0;
  let last = from;
  let era = 0;
  /** The latest entries, in order, and the number up to which entries have been dropped. */
  let entries: JournalEntry[] = [];
  let droppedUntil = from;

  /** Forgets all changes before: their numbers are higher than the next ones if the database was put back. */
  const beginEra = ({ number }: JournalEntry): void => {
    era += 1;
    latest.clear();
    entries = [];
    [from, droppedUntil] = [number, number];
  };
  const addEntry = (entry: JournalEntry): void => {
    const entryDependencies = dependenciesOf(entry);
    last = entry.number;
    if (entryDependencies === undefined) beginEra(entry);
    for (const dependency of entryDependencies ?? []) {
      // Deleted first, so that the map stays in the order of the changes.
      latest.delete(dependency);
      latest.set(dependency, entry.number);
    }
    for (const [dependency, number] of latest) {
      if (latest.size <= limit) break;
      latest.delete(dependency);
      from = Math.max(from, number);
    }
    entries.push(entry);
    if (entries.length > 2 * MIN_ENTRIES) {
      droppedUntil = entries[MIN_ENTRIES - 1]?.number ?? droppedUntil;
      entries = entries.slice(MIN_ENTRIES);
    }
  };
  const hasChanged = (dependency: Dependency, after: number): boolean => (latest.get(dependency) ?? 0) > after;
  const isListAffected = (list: ListDependency, after: number): boolean =>
    after < droppedUntil ? hasChanged(allPosts(list.posts), after) : isAffected(entries, list, after);
  feed.subscribe((newEntries) => {
    for (const entry of newEntries) addEntry(entry);
  });

  return {
    era: () => era,
    isCurrent: (value) => {
      if (value.era !== era || value.count < from) return false;
      if (value.checkedUntil >= last) return true;
      const { dependencies, count, checkedUntil } = value;
      const isOutdated =
        dependencies === undefined
          ? last > count
          : dependencies.some((one) => (typeof one === 'object' ? isListAffected(one, checkedUntil) : hasChanged(one, count)));
      if (!isOutdated) value.checkedUntil = last;
      return !isOutdated;
    },
  };
}

/** Whether one of these entries with a number above `after` affects a list. `entries`: in order of their numbers. */
function isAffected(entries: readonly JournalEntry[], { posts, isAffectedBy }: ListDependency, after: number): boolean {
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const { number, kind, type, ownChange } = entries[index]!;
    if (number <= after) return false;
    const isOf = kind === 'post' && type === posts;
    if (ownChange ? isAffectedBy(ownChange, isOf) : isOf) return true;
  }
  return false;
}
