import { LRUCache } from 'lru-cache';
import { textBytes } from '../../memo.ts';
import type { Dependency } from './dependencies.ts';
import type { Derived, LatestChanges } from './latest-changes.ts';

/** The time at which something was read, in milliseconds. */
export interface ReadTime {
  /** When reading began. */
  readonly from: number;
  readonly until: number;
  /** When the reading of the oldest cached part of the value began; if it has no cached parts, the same as `from`. */
  readonly oldest: number;
}

/** A value computed from objects in the database, and its dependencies. */
export interface Remembered {
  readonly value: unknown;
  readonly dependencies: readonly Dependency[];
}

/** The cached values that are current for one computation. */
export interface ObjectMemory {
  readonly recall: (key: string) => Remembered | undefined;
  readonly keep: (key: string, remembered: Remembered) => void;
  /** Returns when the reading of the oldest recalled value began; if none was recalled, when the computation began. */
  readonly oldest: () => number;
  /** Returns the moment up to which everything recalled so far has all changes (`Moment.shownUntil`). */
  readonly asOf: () => number;
}

/** The version of the data at which a computation began, and the changes since then. */
export interface Moment {
  readonly version: {
    readonly name: string;
    readonly count: number;
    readonly at: number;
    readonly mayBuildOn: (read: ReadTime) => boolean;
    /** As in `Version`. */
    readonly completeUntil: number;
  };
  readonly changes: LatestChanges;
  /** `changes.era()` when the version was determined. */
  readonly era: number;
  /**
   * The result has to contain all changes that could be read before this moment, because an earlier answer may have
   * shown them.
   */
  readonly shownUntil: number;
}

/** `asOf`: the value contains all changes that could be read before this moment. */
type Entry = Remembered & Derived & { readonly read: ReadTime; readonly asOf: number };

/** Size of an entry without its key, value and dependencies. */
const OVERHEAD_BYTES = 500;
/** Memory of an object in relation to its JSON: about twice its length. */
const OBJECT_BYTES = 2;
const DEPENDENCY_BYTES = 8;

/**
 * Creates a cache for JSON values, limited to this many bytes in total. A value is current until something that it
 * depends on changes.
 *
 * @param now returns milliseconds of the monotonic clock that versions are measured by
 */
export function createObjectMemory(bytes: number, now = () => performance.now()): (moment: Moment) => ObjectMemory {
  const entries = new LRUCache<string, Entry>({
    maxSize: bytes,
    sizeCalculation: ({ value, dependencies }, key) =>
      OVERHEAD_BYTES + textBytes(key) + OBJECT_BYTES * JSON.stringify(value).length + DEPENDENCY_BYTES * dependencies.length,
  });
  return ({ version: { name, count, at, mayBuildOn, completeUntil }, changes, era, shownUntil }) => {
    let [oldest, asOf] = [at, at];
    return {
      recall: (key) => {
        const entry = entries.get(`${name} ${key}`);
        if (!entry || !mayBuildOn(entry.read) || !changes.isCurrent(entry)) return undefined;
        const entryAsOf = Math.max(entry.asOf, completeUntil);
        if (entryAsOf < shownUntil) return undefined;
        oldest = Math.min(oldest, entry.read.oldest);
        asOf = Math.min(asOf, entryAsOf);
        return entry;
      },
      // The value may have been made from anything that was recalled before.
      keep: (key, remembered) => {
        const fullKey = `${name} ${key}`;
        // A slower computation may have begun before the one that made the present value.
        if ((entries.peek(fullKey)?.asOf ?? asOf) > asOf) return;
        entries.set(fullKey, {
          ...remembered,
          count,
          era,
          asOf,
          read: { from: at, until: now(), oldest },
          checkedUntil: count,
        });
      },
      oldest: () => oldest,
      asOf: () => asOf,
    };
  };
}
