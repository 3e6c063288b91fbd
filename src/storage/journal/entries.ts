import { createHmac } from 'node:crypto';
import { utcFromDate } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import { insertMissing, insertRows } from '../engine/insert.ts';
import type { JournalRow } from '../engine/own-tables.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import { latestKept } from './clock-faults.ts';
import type { OwnChange } from './own-changes.ts';

/*
 * The journal: one row for each change of an object by any writer. Numbers come from the row of `fasti_changes`, which
 * each writing transaction locks from this point until its end. So the numbers are in the order of the commits: a
 * reader that has read up to a number has missed no entry below it (decision 30).
 */

/**
 * The kind of object that was changed. `all`: anything may have changed, for example after a restore; followers of the
 * journal start over.
 */
export type ObjectKind = JournalRow['kind'];

/** One change of one object. */
export interface Change {
  readonly kind: ObjectKind;
  /** The type of a post, the taxonomy of a term, the name of an option. */
  readonly type: string;
  /** The id of a post, term or user; 0 for kinds without ids. */
  readonly object: number;
  readonly what: JournalRow['what'];
  /** Whether the object was public before; always true for terms, never for users and options. */
  readonly wasPublic: boolean;
  readonly isPublic: boolean;
}

/** A change in the journal. */
export interface JournalEntry extends Change {
  /** Later entries have higher numbers. There are gaps. */
  readonly number: number;
  /** UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly at: string;
  /**
   * The writer: this service, WordPress through the plugin, or an unknown writer whose change was found by comparing
   * contents.
   */
  readonly writer: JournalWriter;
  /** The id of the user who made the change; 0 if it is not known. */
  readonly user: number;
  /** Additional details of a change, if this process made it. */
  readonly ownChange?: OwnChange | undefined;
}

export type JournalWriter = JournalRow['writer'];

/** The writer of changes, and when they were made. */
export interface Origin {
  readonly writer: JournalWriter;
  /** UTC. */
  readonly at: string;
  readonly user: number;
  /**
   * Whether the time of the last change stays if it is later, by a clock that is ahead. For changes that are no save of
   * the calendar (`tribe_last_save_post`), which must not seem to come after the last change (`isIndexOutdated`).
   */
  readonly keepsLaterTime?: boolean;
}

/** A change after which anything may be different. */
export const ANYTHING_CHANGED: Change = { kind: 'all', type: '', object: 0, what: 'changed', wasPublic: true, isPublic: true };

/**
 * Adds changes to the journal and increases the counter by their number (at least by one). It should be called as late
 * as possible in a transaction, since all writers wait for that row. Few call it: `reported-changes.ts` gathers
 * the changes of a transaction.
 *
 * @returns the number of the last change
 */
export async function appendChanges(db: Database, changes: readonly Change[], origin: Origin): Promise<number> {
  const step = Math.max(1, changes.length);
  const { value, returning } = db.dialect.updateReturning(`counter + ${step}`, 'counter');
  const { at } = origin;
  const changedAt = origin.keepsLaterTime ? new Piece(['CASE WHEN changed_at > ? THEN changed_at ELSE ? END', [at, at]]) : at;
  const newCounter = await db.insert`
    UPDATE {fasti_changes} SET counter = ${verbatim(value)}, changed_at = ${changedAt} WHERE id = 1 ${verbatim(returning)}`;
  const last = newCounter || (await createChangeCounter(db, origin.at, step));
  const rows = changes.map((change, index) => rowOf(change, last - (changes.length - index - 1), origin));
  await insertRows(db, 'fasti_journal', rows);
  return last;
}

/** Creates the row of the change counter if it is missing, with a value above all numbers already in use. */
export async function createChangeCounter(db: Database, now: string, step = 1): Promise<number> {
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
 * Reads the entries after this number, in order, and the number from which the journal is complete (`oldestNumber`).
 * Both come from one query, since entries may be pruned between two queries.
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
 * Returns a number such that all entries of earlier transactions are at or below it, and all of later ones above it. A
 * reader that follows the journal from there, and reads the data afterwards, misses nothing.
 */
export async function lastNumber(db: Database): Promise<number> {
  const [row] = await db.rows<{ counter: number | string }>`SELECT counter FROM {fasti_changes} WHERE id = 1`;
  return Number(row?.counter ?? 0);
}

/** Returns the posts whose changes have higher numbers than this one, and a number to continue from. */
export async function postsChangedAfter(
  db: Database,
  number: number,
): Promise<{ readonly posts: readonly number[]; readonly last: number }> {
  const last = await lastNumber(db);
  const rows = await db.rows<{ object: number | string }>`
    SELECT DISTINCT object FROM {fasti_journal} WHERE number > ${number} AND kind = 'post'`;
  return { posts: rows.map(({ object }) => Number(object)), last };
}

/**
 * Returns a mark that distinguishes an entry from an earlier one with the same number: a database that was reset to an
 * earlier state (a backup, a dump, a copied file) assigns the later numbers a second time.
 *
 * @param key the site's secret: clients receive marks of entries that they may not see, and must not be able to guess
 * their contents
 */
export const markOf = ({ number, at, kind, object, what }: JournalEntry, key: string): string =>
  createHmac('sha256', key).update([number, at, kind, object, what].join()).digest('hex').slice(0, 10);

/** Returns the mark of the last entry up to a number; undefined if there was none or it was pruned. */
export async function markAt(db: Database, number: number, key: string): Promise<string | undefined> {
  const [row] = await db.rows<JournalRow>`SELECT * FROM {fasti_journal} WHERE number <= ${number} ORDER BY number DESC LIMIT 1`;
  return row && markOf(entryOf(row), key);
}

/**
 * Returns the number from which the journal is complete: a reader that has followed it only up to a lower number may
 * have missed pruned entries.
 */
export async function oldestNumber(db: Database): Promise<number> {
  const [row] = await db.rows<{ number: number | string | null }>`SELECT MIN(number) AS number FROM {fasti_journal}`;
  // Without any entries, nothing is known about earlier changes.
  return row?.number ? Number(row.number) - 1 : await lastNumber(db);
}

/** Number of latest entries that are searched for entries of a writer. */
const ENTRIES_SEARCHED = 10_000;

/** Returns the time of the latest write by one of these writers, UTC; null if none of the latest entries is theirs. */
export async function latestWriteBy(db: Database, writers: readonly JournalWriter[]): Promise<string | null> {
  const [row] = await db.rows<{ latest: string | null }>`
    SELECT MAX(j.at) AS latest FROM (SELECT writer, at FROM {fasti_journal} ORDER BY number DESC LIMIT ${ENTRIES_SEARCHED}) j
    WHERE j.writer IN (${writers})`;
  return row?.latest ?? null;
}

/** Maximum number of entries that are removed at once. */
const MAX_PRUNED = 1000;
const DAY_MS = 24 * 3600 * 1000;

/**
 * Removes some of the entries that are older than this many days or, since a clock was ahead, from far ahead. The
 * latest entry is always kept, so that the start of the complete journal is known. Returns the number of removed
 * entries; after a full step there may be more.
 */
export async function pruneJournal(db: Database, days: number, now: Date): Promise<number> {
  const oldest = utcFromDate(new Date(now.getTime() - days * DAY_MS));
  const latest = await latestKept(db, now);
  const rows = await db.rows<{
    number: number;
    at: string;
  }>`SELECT number, at FROM {fasti_journal} ORDER BY number LIMIT ${MAX_PRUNED + 1}`;
  const keptIndex = rows.findIndex(({ at }) => at >= oldest && at <= latest);
  const count = Math.min(keptIndex < 0 ? rows.length : keptIndex, rows.length - 1);
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
