import { LRUCache } from 'lru-cache';
import type { Dependency } from './dependencies.ts';
import type { Derived, LatestChanges } from './latest-changes.ts';

/** A value computed from objects in the database, and what it depends on. */
export interface Remembered {
  readonly value: unknown;
  readonly dependencies: readonly Dependency[];
}

/** The values in memory that are current for one computation. */
export interface ObjectMemory {
  readonly recall: (key: string) => Remembered | undefined;
  readonly keep: (key: string, remembered: Remembered) => void;
}

/** The version of the data at which a computation began, and what reports changes since. */
export interface Moment {
  readonly version: {
    readonly name: string;
    readonly count: number;
    readonly at: number;
    readonly mayBuildOn: (from: number, until: number) => boolean;
  };
  readonly changes: LatestChanges;
  /** `changes.era()` when the version was asked for. */
  readonly era: number;
}

type Entry = Remembered & Derived & { readonly at: number; readonly until: number };

/** What an entry takes besides its value and dependencies. */
const OVERHEAD_BYTES = 500;
/** Objects take about twice the room of their JSON. */
const OBJECT_BYTES = 2;
const DEPENDENCY_BYTES = 8;

/** A memory for JSON values, of so many bytes in all. Each is current until something that it depends on changes. */
export function createObjectMemory(bytes: number): (moment: Moment) => ObjectMemory {
  const entries = new LRUCache<string, Entry>({
    maxSize: bytes,
    sizeCalculation: ({ value, dependencies }) =>
      OBJECT_BYTES * JSON.stringify(value).length + DEPENDENCY_BYTES * dependencies.length + OVERHEAD_BYTES,
  });
  return ({ version: { name, count, at, mayBuildOn }, changes, era }) => ({
    recall: (key) => {
      const entry = entries.get(`${name} ${key}`);
      return entry && mayBuildOn(entry.at, entry.until) && changes.isCurrent(entry) ? entry : undefined;
    },
    keep: (key, remembered) => {
      entries.set(`${name} ${key}`, { ...remembered, count, era, at, until: performance.now(), checked: count });
    },
  });
}
