import { utcFromDate } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import { upsertRows } from '../engine/insert.ts';
import type { AnswerRow } from '../engine/own-tables.ts';
import { latestKept, latestPossible } from '../journal/clock-faults.ts';
import { joinWriters } from '../journal/reported-changes.ts';

/*
 * Answers to writes with an `Idempotency-Key`. Each is written in the transaction of its write, so there is never a
 * record without its answer or an answer without its record.
 */

/** Time for which an answer is kept. */
const KEPT_MS = 24 * 3600 * 1000;

/**
 * Identifies a request: `id` is a digest of user, route and key, `fingerprint` one of everything the request contains.
 */
export interface AnswerKey {
  readonly id: string;
  readonly fingerprint: string;
}

export type KeptAnswer = Pick<AnswerRow, 'fingerprint' | 'answer'>;

/** Returns the answer to the request with this id, if there is one that has not expired. */
export async function findAnswer(db: Database, id: string, now: Date): Promise<KeptAnswer | undefined> {
  const [row] = await db.rows<KeptAnswer>`
    SELECT fingerprint, answer FROM {fasti_answers} WHERE id = ${id} AND made_at > ${oldestKept(now)} AND made_at <= ${latestPossible(now)}`;
  return row;
}

/**
 * Inserts the row for the answer to this request, still empty, in the transaction of the write. Concurrent requests
 * with the same id wait here for the end of this transaction. Returns the answer if another request was faster.
 */
export async function claimAnswer(db: Database, { id, fingerprint }: AnswerKey, now: Date): Promise<KeptAnswer | undefined> {
  await db.change`DELETE FROM {fasti_answers} WHERE id = ${id} AND (made_at <= ${oldestKept(now)} OR made_at > ${latestPossible(now)})`;
  await upsertRows(db, 'fasti_answers', [{ id, fingerprint, made_at: utcFromDate(now), answer: '' }], ['id'], { made_at: 'made_at' });
  // The row is locked at this point: it is either new, or from a transaction that has ended.
  const [row] = await db.rows<KeptAnswer>`SELECT fingerprint, answer FROM {fasti_answers} WHERE id = ${id}`;
  return row?.answer === '' ? undefined : row;
}

/**
 * Fills the row that `claimAnswer` inserted. If the write itself changed nothing, it has not joined the writers. This
 * function joins them, because the data that were read must be valid on all nodes of a cluster.
 */
export async function keepAnswer(db: Database, id: string, answer: string): Promise<void> {
  joinWriters(db);
  await db.change`UPDATE {fasti_answers} SET answer = ${answer} WHERE id = ${id}`;
}

/** Deletes the row that `claimAnswer` inserted, if nothing was written. */
export async function releaseAnswer(db: Database, id: string): Promise<void> {
  joinWriters(db);
  await db.change`DELETE FROM {fasti_answers} WHERE id = ${id}`;
}

/** Maximum number of answers that are removed at once. */
const BATCH_SIZE = 500;

/**
 * Deletes some expired answers, and those of a clock that was ahead. Returns their number; after a full step there may
 * be more.
 */
export async function pruneAnswers(db: Database, now: Date): Promise<number> {
  const [from, to] = [oldestKept(now), await latestKept(db, now)];
  const rows = await db.rows<{ id: string }>`
    SELECT id FROM {fasti_answers} WHERE made_at <= ${from} OR made_at > ${to} ORDER BY made_at LIMIT ${BATCH_SIZE}`;
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  return db.change`DELETE FROM {fasti_answers} WHERE id IN (${ids}) AND (made_at <= ${from} OR made_at > ${to})`;
}

const oldestKept = (now: Date): string => utcFromDate(new Date(now.getTime() - KEPT_MS));
