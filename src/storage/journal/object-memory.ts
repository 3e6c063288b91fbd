import { LRUCache } from 'lru-cache';
import type { Tag } from './holdings.ts';
import type { Held, LatestChanges } from './latest-changes.ts';

/** When something was read, in milliseconds. */
export interface ReadTime {
  /** When it began to be read. */
  readonly from: number;
  readonly until: number;
  /** When the oldest of the parts that it was made of, and that were remembered, began to be read; else `from`. */
  readonly oldest: number;
}

/** Something that was made of objects in the database, and the objects that it holds. */
export interface Remembered {
  readonly value: unknown;
  readonly holdings: readonly Tag[];
}

/** What is remembered, as it is right for one piece of work. */
export interface ObjectMemory {
  readonly recall: (key: string) => Remembered | undefined;
  readonly keep: (key: string, remembered: Remembered) => void;
  /** When the oldest of what was recalled so far began to be read; if nothing was, when the work began. */
  readonly oldest: () => number;
}

/** At which version of the data a piece of work began, and what tells of changes since. */
export interface Moment {
  readonly version: {
    readonly name: string;
    readonly count: number;
    readonly at: number;
    readonly lasts: (read: ReadTime) => boolean;
  };
  readonly changes: LatestChanges;
  /** Of `changes`, when the version was asked for. */
  readonly era: number;
}

type Entry = Remembered & Held & { readonly read: ReadTime };

/** What an entry costs besides what is in it. */
const OVERHEAD_BYTES = 500;
/** Objects take about twice the room of their JSON. */
const OBJECT_BYTES = 2;
const TAG_BYTES = 8;

/** A memory of values of JSON, of so many bytes in all. Each is right until something that it holds changes. */
export function createObjectMemory(bytes: number): (moment: Moment) => ObjectMemory {
  const entries = new LRUCache<string, Entry>({
    maxSize: bytes,
    sizeCalculation: ({ value, holdings }) => OBJECT_BYTES * JSON.stringify(value).length + TAG_BYTES * holdings.length + OVERHEAD_BYTES,
  });
  return ({ version: { name, count, at, lasts }, changes, era }) => {
    let oldest = at;
    return {
      recall: (key) => {
        const entry = entries.get(`${name} ${key}`);
        if (!entry || !lasts(entry.read) || !changes.isUntouched(entry)) return undefined;
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
