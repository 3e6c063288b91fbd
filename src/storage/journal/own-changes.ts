import type { Database } from '../engine/database.ts';
import type { EntryRow } from '../engine/own-tables.ts';

/*
 * Details that this process knows about its own changes in addition to the journal: exactly which parts were written. A
 * list that does not depend on these parts stays in memory. Nothing is known about the changes of other processes.
 */

/** A part of a post that a transaction may write separately: a column, the metas of a key, its terms, its dates. */
export type Part = string;

/** The data of an event in the calendar's own tables. */
export const DATES_PART: Part = 'dates';
export const TERMS_PART: Part = 'terms';
/** Any meta, used for all keys that a database may confuse with others. */
const METAS_PART: Part = 'metas';

/** Keys whose characters MySQL distinguishes except for case. */
const PLAIN_KEY = /^[\w-]+$/;

/** Returns the parts that a write of metas with this key changes. */
export const partsOfMeta = (key: string): readonly Part[] => (PLAIN_KEY.test(key) ? [`meta ${key.toLowerCase()}`] : [METAS_PART]);

/** Returns the parts that a reader of metas with this key depends on, including keys that may be confused with it. */
export const partsWithMeta = (key: string): readonly Part[] => [METAS_PART, ...partsOfMeta(key)];

/** The details of a change made by this process. */
export interface OwnChange {
  /** The parts of the post that were written; undefined: any part, or the object is not a post. */
  readonly parts: ReadonlySet<Part> | undefined;
  /** The rows that the whole transaction changed in the list index; undefined: any rows. */
  readonly indexChange: IndexChange | undefined;
}

/** Rows of the list index (`fasti_entries`) that were deleted, and rows that were inserted. */
export interface IndexChange {
  readonly deleted: readonly EntryRow[];
  readonly inserted: readonly EntryRow[];
}

/** A change made by this process, with the identity of its journal entry. */
export interface NumberedOwnChange extends Numbered {
  readonly ownChange: OwnChange;
}

/** The identity of a journal entry. */
interface Numbered {
  readonly number: number;
  readonly at: string;
  readonly kind: string;
  readonly object: number;
}

/**
 * Maximum number of changes that are kept, and of index rows that a transaction may change for its changes to be kept.
 */
const MAX_CHANGES = 500;
const MAX_ROWS = 500;

interface Known {
  /** Era of the database server: another server may assign the same numbers to other changes. */
  era: number;
  readonly changes: Map<number, NumberedOwnChange>;
}

const knownOf = new WeakMap<Database['driver'], Known>();

/** Stores own changes once they are committed. */
export function rememberOwnChanges(db: Database, changes: readonly NumberedOwnChange[]): void {
  const era = db.cluster.era();
  let memory = knownOf.get(db.driver);
  if (memory?.era !== era) memory = { era, changes: new Map() };
  knownOf.set(db.driver, memory);
  for (const change of changes) memory.changes.set(change.number, change);
  for (const number of memory.changes.keys()) {
    if (memory.changes.size <= MAX_CHANGES) break;
    memory.changes.delete(number);
  }
}

/** Returns the details of the change in this entry; undefined if there are none. */
export function ownChangeOf(db: Database, { number, at, kind, object }: Numbered): OwnChange | undefined {
  const memory = knownOf.get(db.driver);
  const change = memory?.era === db.cluster.era() ? memory.changes.get(number) : undefined;
  return change && change.at === at && change.kind === kind && change.object === object ? change.ownChange : undefined;
}

/**
 * Returns the changed index rows without those that were deleted and inserted again, which do not affect lists;
 * undefined if there are too many to evaluate.
 */
export function effectiveIndexChange({ deleted, inserted }: IndexChange): IndexChange | undefined {
  const balance = new Map<string, { readonly row: EntryRow; count: number }>();
  const add = (row: EntryRow, amount: number): void => {
    const text = entryText(row);
    const entry = balance.get(text);
    if (entry) entry.count += amount;
    else balance.set(text, { row, count: amount });
  };
  for (const row of deleted) add(row, -1);
  for (const row of inserted) add(row, 1);
  const changedRows = [...balance.values()].filter(({ count }) => count !== 0);
  const rows = (sign: number) => changedRows.filter(({ count }) => Math.sign(count) === sign).map(({ row }) => row);
  return changedRows.length > MAX_ROWS ? undefined : { deleted: rows(-1), inserted: rows(1) };
}

/** Returns a text that is the same for equal rows. All columns are compared. */
export const entryText = (row: EntryRow): string =>
  [
    row.facet,
    row.start_at,
    row.posted_at,
    row.post_id,
    row.end_at,
    row.status,
    row.hidden,
    row.locked,
    row.featured,
    row.occurrence_id,
    row.language,
    row.stands_in,
  ].join();
