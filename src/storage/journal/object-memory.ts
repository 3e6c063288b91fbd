import { LRUCache } from 'lru-cache';
import type { Dependency } from './dependencies.ts';
import type { Derived, LatestChanges } from './latest-changes.ts';

/** When something was read, in milliseconds. */
export interface ReadTime {
  /** When it began to be read. */
  readonly from: number;
  readonly until: number;
  /** When the oldest of the parts that it was made of, and that were remembered, began to be read; else `from`. */
  readonly oldest: number;
}

/** A value computed from objects in the database, and what it depends on. */
export interface Remembered {
  readonly value: unknown;
  readonly dependencies: readonly Dependency[];
}

/** The values in memory that are current for one computation. */
export interface ObjectMemory {
  readonly recall: (key: string) => Remembered | undefined;
  readonly keep: (key: string, remembered: Remembered) => void;
  /** When the oldest of what was recalled so far began to be read; if nothing was, when the work began. */
  readonly oldest: () => number;
}

/** The version of the data at which a computation began, and what reports changes since. */
export interface Moment {
  readonly version: {
    readonly name: string;
    readonly count: number;
    readonly at: number;
    readonly mayBuildOn: (read: ReadTime) => boolean;
  };
  readonly changes: LatestChanges;
  /** `changes.era()` when the version was asked for. */
  readonly era: number;
}

type Entry = Remembered & Derived & { readonly read: ReadTime };

/** What an entry takes besides its value and dependencies. */
const OVERHEAD_BYTES = 500;
/** Objects take about twice the room of their JSON. */
const OBJECT_BYTES = 2;
const DEPENDENCY_BYTES = 8;

/** A memory for JSON values, of this many bytes in all. Each is current until something that it depends on changes. */
export function createObjectMemory(bytes: number): (moment: Moment) => ObjectMemory {
  const entries = new LRUCache<string, Entry>({
    maxSize: bytes,
    sizeCalculation: ({ value, dependencies }) =>
      OBJECT_BYTES * JSON.stringify(value).length + DEPENDENCY_BYTES * dependencies.length + OVERHEAD_BYTES,
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
      // What is kept may have been made of anything that was recalled before.
      keep: (key, remembered) => {
        entries.set(`${name} ${key}`, { ...remembered, count, era, read: { from: at, until: performance.now(), oldest }, checked: count });
      },
      oldest: () => oldest,
    };
  };
}
