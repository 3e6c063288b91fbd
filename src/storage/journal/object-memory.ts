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
}

/** The version of the data at which a computation began, and the changes since then. */
export interface Moment {
  readonly version: {
    readonly name: string;
    readonly count: number;
    readonly at: number;
    readonly mayBuildOn: (read: ReadTime) => boolean;
  };
  readonly changes: LatestChanges;
  /** `changes.era()` when the version was determined. */
  readonly era: number;
}

type Entry = Remembered & Derived & { readonly read: ReadTime };

/** Size of an entry without its key, value and dependencies. */
const OVERHEAD_BYTES = 500;
/** Memory of an object in relation to its JSON: about twice its length. */
const OBJECT_BYTES = 2;
const DEPENDENCY_BYTES = 8;

/**
 * Creates a cache for JSON values, limited to this many bytes in total. A value is current until something that it
 * depends on changes.
 */
export function createObjectMemory(bytes: number): (moment: Moment) => ObjectMemory {
  const entries = new LRUCache<string, Entry>({
    maxSize: bytes,
    sizeCalculation: ({ value, dependencies }, key) =>
      OVERHEAD_BYTES + textBytes(key) + OBJECT_BYTES * JSON.stringify(value).length + DEPENDENCY_BYTES * dependencies.length,
  });
  return ({ version: { name, count, at, mayBuildOn }, changes, era }) => {
    let oldest = at;
    return {
      recall: (key) => {
        const entry = entries.get(`${name} ${key}`);
        if (!entry || !mayBuildOn(entry.read) || !changes.isCurrent(entry)) return undefined;
        oldest = Math.min(oldest, entry.read.oldest);
        return entry;
      },
      // The value may have been made from anything that was recalled before.
      keep: (key, remembered) => {
        entries.set(`${name} ${key}`, {
          ...remembered,
          count,
          era,
          read: { from: at, until: performance.now(), oldest },
          checkedUntil: count,
        });
      },
      oldest: () => oldest,
    };
  };
}
