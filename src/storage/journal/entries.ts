import { createHmac } from 'node:crypto';
import { nowUtc } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import { insertMissing, insertRows } from '../engine/insert.ts';
import type { JournalRow } from '../engine/own-tables.ts';
import { verbatim } from '../engine/statement.ts';
import type { OwnChange } from './own-changes.ts';

/*
 * The journal: one row for each change of an object, whoever made it. Numbers come from the row of `fasti_changes`,
 * which each writing transaction keeps locked from here to its end. So they are in the order of the commits: whoever
 * reads up to a number has missed nothing below it (decision 30).
 */

/**
 * What was changed. `all`: anything may have changed, as after a restore; whoever follows the journal starts anew.
 */
export type ObjectKind = JournalRow['kind'];

/** One change of one object. */
export interface Change {
  readonly kind: ObjectKind;
  /** The type of a post, the taxonomy of a term, the name of an option. */
  readonly type: string;
  /** The id of a post, term or user; 0 where the kind has no ids. */
  readonly object: number;
  readonly what: JournalRow['what'];
  /** Whether everybody could see the object before; terms always, users and options never. */
  readonly wasPublic: boolean;
  readonly isPublic: boolean;
}

/** A change in the journal. */
export interface JournalEntry extends Change {
  /** Later ones have higher numbers. There are gaps. */
  readonly number: number;
  /** UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly at: string;
  /** This service, WordPress through the plugin, or anybody: then the change was found by comparing contents. */
  readonly writer: JournalWriter;
  /** The id of the user who made the change; 0 where it is not known. */
  readonly user: number;
  /** What this process knows besides, of its own changes. */
  readonly own?: OwnChange | undefined;
}

export type JournalWriter = JournalRow['writer'];

/** Who made changes, and when. */
export interface Origin {
  readonly writer: JournalWriter;
  /** UTC. */
  readonly at: string;
  readonly user: number;
}

/** The change after which anything may be different. */
export const EVERYTHING: Change = { kind: 'all', type: '', object: 0, what: 'changed', wasPublic: true, isPublic: true };

/**
 * Adds changes to the journal and raises the counter by as many (at least by one). Call it in a transaction, as late as
 * possible: all writers wait for that row. Most have no need to: `touched.ts` gathers what a transaction changes.
 *
 * @returns the number of the last one
 */
export async function append(db: Database, changes: readonly Change[], origin: Origin): Promise<number> {
  const step = Math.max(1, changes.length);
  const { given, returning } = db.dialect.raised(`counter + ${step}`, 'counter');
  const raised = await db.insert`
    UPDATE {fasti_changes} SET counter = ${verbatim(given)}, changed_at = ${origin.at} WHERE id = 1 ${verbatim(returning)}`;
  const last = raised || (await beginCounting(db, origin.at, step));
  const rows = changes.map((change, place) => rowOf(change, last - (changes.length - place - 1), origin));
  await insertRows(db, 'fasti_journal', rows);
  return last;
}

/** Makes the row that counts changes, where it is missing: above all numbers that were given out. */
export async function beginCounting(db: Database, now: string, step = 1): Promise<number> {
  const [row] = await db.rows<{ number: number | string | null }>`SELECT MAX(number) AS number FROM {fasti_journal}`;
  const counter = Number(row?.number ?? 0) + step;
  await insertMissing(db, 'fasti_changes', [{ id: 1, counter, changed_at: now }], ['id']);
  return counter;
}

const rowOf = ({ kind, type, object, what, wasPublic, isPublic }: Change, number: number, { writer, at, user }: Origin): JournalRow => ({
  number,
  writer,
  at,
  kind,
  type,
  object,
  what,
  user,
  was_public: Number(wasPublic),
  is_public: Number(isPublic),
});

/**
 * The entries after this number, in their order, with the number from which on the journal is complete
 * (`oldestNumber`): in one query, since entries may be pruned between two.
 */
export async function entriesAfter(
  db: Database,
  number: number,
  limit: number,
): Promise<{ readonly entries: JournalEntry[]; readonly oldest: number }> {
  const rows = await db.rows<JournalRow & { readonly first: number | string }>`
    SELECT j.*, (SELECT MIN(number) FROM {fasti_journal}) AS first FROM {fasti_journal} j
    WHERE j.number > ${number} ORDER BY j.number LIMIT ${limit}`;
  return { entries: rows.map(entryOf), oldest: rows[0] ? Number(rows[0].first) - 1 : await oldestNumber(db) };
}

/**
 * A number that all entries of earlier transactions are at or below, and all those of later ones above: the place to
 * follow the journal from, together with a reading of the data that begins afterwards.
 */
export async function lastNumber(db: Database): Promise<number> {
  const [row] = await db.rows<{ counter: number | string }>`SELECT counter FROM {fasti_changes} WHERE id = 1`;
  return Number(row?.counter ?? 0);
}

/**
 * Tells an entry from an earlier one of the same number: a database that is put back to an earlier state (a backup, a
 * dump, a copied file) gives the numbers since then a second time.
 *
 * @param key the site's secret: clients see the marks of entries that they may not see, and must not guess them
 */
export const markOf = ({ number, at, kind, object, what }: JournalEntry, key: string): string =>
  createHmac('sha256', key).update([number, at, kind, object, what].join()).digest('hex').slice(0, 10);

/** The mark of the last entry up to a number; undefined: there was none, or it was pruned. */
export async function markAt(db: Database, number: number, key: string): Promise<string | undefined> {
  const [row] = await db.rows<JournalRow>`SELECT * FROM {fasti_journal} WHERE number <= ${number} ORDER BY number DESC LIMIT 1`;
  return row && markOf(entryOf(row), key);
}

/**
 * The number from which on the journal is complete: whoever has followed it up to one below may have missed entries
 * that were pruned.
 */
export async function oldestNumber(db: Database): Promise<number> {
  const [row] = await db.rows<{ number: number | string | null }>`SELECT MIN(number) AS number FROM {fasti_journal}`;
  // Without any entries nothing is known of what was there before.
  return row?.number ? Number(row.number) - 1 : await lastNumber(db);
}

/** How many of the latest entries are looked through for those of a writer. */
const LATEST = 10_000;

/** When the latest of these writers has written, UTC; null: none of the latest entries is theirs. */
export async function latestOf(db: Database, writers: readonly JournalWriter[]): Promise<string | null> {
  const [row] = await db.rows<{ latest: string | null }>`
    SELECT MAX(j.at) AS latest FROM (SELECT writer, at FROM {fasti_journal} ORDER BY number DESC LIMIT ${LATEST}) j
    WHERE j.writer IN (${writers})`;
  return row?.latest ?? null;
}

/** How many entries are removed at once. */
const PRUNED = 1000;
const DAY_MS = 24 * 3600 * 1000;

/**
 * Removes some of the entries that are older than this many days. The latest one always stays, so that it is known from
 * where the journal is complete. Returns how many were removed; after a full step there may be more.
 */
export async function pruneJournal(db: Database, days: number, now: Date): Promise<number> {
  const oldest = nowUtc(new Date(now.getTime() - days * DAY_MS));
  const rows = await db.rows<{ number: number; at: string }>`SELECT number, at FROM {fasti_journal} ORDER BY number LIMIT ${PRUNED + 1}`;
  const young = rows.findIndex(({ at }) => at >= oldest);
  const count = Math.min(young < 0 ? rows.length : young, rows.length - 1);
  const last = rows[count - 1]?.number;
  return last === undefined ? 0 : db.change`DELETE FROM {fasti_journal} WHERE number <= ${last}`;
}

const entryOf = (row: JournalRow): JournalEntry => ({
  number: Number(row.number),
  at: row.at,
  kind: row.kind,
  type: row.type,
  object: Number(row.object),
  what: row.what,
  writer: row.writer,
  user: Number(row.user),
  wasPublic: Boolean(row.was_public),
  isPublic: Boolean(row.is_public),
});
