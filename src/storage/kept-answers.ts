import { nowUtc } from '../wordpress/time.ts';
import type { Database } from './database.ts';
import { upsertRows } from './insert.ts';
import { verbatim } from './statement.ts';
import type { AnswerRow } from './tables.ts';

/*
 * Answers to writes that came with a key. The row is made in the transaction of the write and goes with it, so that a record and the answer about it are both
 * there or neither.
 */

/** For how long an answer is kept. */
const KEPT_MS = 24 * 3600 * 1000;

/** Which request: a digest of who sent it, its route and its key, and one of all that it asks for. */
export interface AnswerKey {
  readonly id: string;
  readonly fingerprint: string;
}

export type KeptAnswer = Pick<AnswerRow, 'fingerprint' | 'answer'>;

/** The answer that was given to a request with this key. */
export async function findAnswer(db: Database, id: string, now: Date): Promise<KeptAnswer | undefined> {
  const [row] = await db.rows<KeptAnswer>`
    SELECT fingerprint, answer FROM {fasti_answers} WHERE id = ${id} AND made_at > ${oldest(now)}`;
  return row;
}

/**
 * Takes the place for the answer to this request in the transaction that writes; whoever comes with the same key meanwhile waits for its end. Gives the answer
 * of a request that was faster; undefined: there is none yet.
 */
export async function claimAnswer(db: Database, { id, fingerprint }: AnswerKey, now: Date): Promise<KeptAnswer | undefined> {
  await db.change`DELETE FROM {fasti_answers} WHERE id = ${id} AND made_at <= ${oldest(now)}`;
  await upsertRows(db, 'fasti_answers', [{ id, fingerprint, made_at: nowUtc(now), answer: '' }], ['id'], { made_at: 'made_at' });
  const [row] = await db.rows<KeptAnswer>`
    SELECT fingerprint, answer FROM {fasti_answers} WHERE id = ${id} ${verbatim(db.dialect.locks.update)}`;
  return row?.answer === '' ? undefined : row;
}

/** Fills the place that `claimAnswer` took. */
export async function keepAnswer(db: Database, id: string, answer: string): Promise<void> {
  await db.change`UPDATE {fasti_answers} SET answer = ${answer} WHERE id = ${id}`;
}

/** So many answers are removed at a time, that nobody waits for it. */
const STEP = 500;

/** Removes answers whose time is over, some at a time. Gives how many it were: after a full step there may be more. */
export async function forgetAnswers(db: Database, now: Date): Promise<number> {
  const rows = await db.rows<{ id: string }>`SELECT id FROM {fasti_answers} WHERE made_at <= ${oldest(now)} ORDER BY made_at LIMIT ${STEP}`;
  if (rows.length === 0) return 0;
  return db.change`DELETE FROM {fasti_answers} WHERE id IN (${rows.map(({ id }) => id)}) AND made_at <= ${oldest(now)}`;
}

const oldest = (now: Date): string => nowUtc(new Date(now.getTime() - KEPT_MS));
