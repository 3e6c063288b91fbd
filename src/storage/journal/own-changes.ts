import type { Database } from '../engine/database.ts';
import type { EntryRow } from '../engine/own-tables.ts';

/*
 * What this process knows of its own changes besides what the journal says: what exactly was written. So a list that
 * looks at something else stays in memory. Nothing is known of the changes of other processes.
 */

/** A part of a post that a transaction may write by itself: a column, the metas of a key, its terms, its dates. */
export type Part = string;

/** What the calendar's own tables say of an event. */
export const DATES_PART: Part = 'dates';
export const TERMS_PART: Part = 'terms';
/** Any meta: keys that the databases may take for others are not told apart. */
const METAS_PART: Part = 'metas';

/** Characters of which MySQL takes no two for the same, but for their case. */
const PLAIN_KEY = /^[\w-]+$/;

/** The parts that are written with the metas of this key. */
export const partsOfMeta = (key: string): readonly Part[] => (PLAIN_KEY.test(key) ? [`meta ${key.toLowerCase()}`] : [METAS_PART]);

/** The parts to look at for the metas of this key: also those whose keys might be taken for it. */
export const partsWithMeta = (key: string): readonly Part[] => [METAS_PART, ...partsOfMeta(key)];

/** What is known of a change of this process. */
export interface OwnChange {
  /** The parts of the post that were written; undefined: it may be any, or it is no post. */
  readonly parts: ReadonlySet<Part> | undefined;
  /** What the whole transaction moved in the list index; undefined: it may be anything. */
  readonly moved: Moved | undefined;
}

/** Rows of the list index (`fasti_entries`) that were taken out of it, and rows that were put into it. */
export interface Moved {
  readonly gone: readonly EntryRow[];
  readonly fresh: readonly EntryRow[];
}

/** An own change by its entry in the journal. */
export interface NumberedOwnChange extends Numbered {
  readonly own: OwnChange;
}

/** What says which entry of the journal it is. */
interface Numbered {
  readonly number: number;
  readonly at: string;
  readonly kind: string;
  readonly object: number;
}

/** How many changes are kept, and how many rows a transaction may have moved for its changes to be kept. */
const MOST_CHANGES = 500;
const MOST_ROWS = 500;

interface Known {
  /** Of the database server: another one may give the same numbers to other changes. */
  era: number;
  readonly changes: Map<number, NumberedOwnChange>;
}

const knownOf = new WeakMap<Database['driver'], Known>();

/** Notes own changes, once they are committed. */
export function noteOwnChanges(db: Database, changes: readonly NumberedOwnChange[]): void {
  const era = db.cluster.era();
  let known = knownOf.get(db.driver);
  if (known?.era !== era) known = { era, changes: new Map() };
  knownOf.set(db.driver, known);
  for (const change of changes) known.changes.set(change.number, change);
  for (const number of known.changes.keys()) {
    if (known.changes.size <= MOST_CHANGES) break;
    known.changes.delete(number);
  }
}

/** What is known of the change of this entry; undefined: nothing. */
export function ownChangeOf(db: Database, { number, at, kind, object }: Numbered): OwnChange | undefined {
  const known = knownOf.get(db.driver);
  const change = known?.era === db.cluster.era() ? known.changes.get(number) : undefined;
  return change && change.at === at && change.kind === kind && change.object === object ? change.own : undefined;
}

/**
 * What was moved, without rows that were taken out and put in again, of which lists see nothing; undefined: more than
 * is worth looking at.
 */
export function trulyMoved({ gone, fresh }: Moved): Moved | undefined {
  const balance = new Map<string, { readonly row: EntryRow; more: number }>();
  const add = (row: EntryRow, more: number): void => {
    const text = entryText(row);
    const known = balance.get(text);
    if (known) known.more += more;
    else balance.set(text, { row, more });
  };
  for (const row of gone) add(row, -1);
  for (const row of fresh) add(row, 1);
  const moved = [...balance.values()].filter(({ more }) => more !== 0);
  const rows = (sign: number) => moved.filter(({ more }) => Math.sign(more) === sign).map(({ row }) => row);
  return moved.length > MOST_ROWS ? undefined : { gone: rows(-1), fresh: rows(1) };
}

/** The same text for rows that hold the same, which are told apart by all of their columns. */
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
