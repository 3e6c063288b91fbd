import { createHash } from 'node:crypto';
import type { Database } from '../storage/engine/database.ts';
import { claimAnswer, keepAnswer } from '../storage/rows/kept-answers.ts';

/** A form that is stored once, however often it is sent within a day. */
export interface SentForm {
  /** Identifies the form among all forms, such as its user, its address and its key. */
  readonly form: readonly unknown[];
  /** Everything that was entered: a form that was changed is stored again. */
  readonly input: unknown;
}

/** Returns a digest of a form and everything that was entered in it. */
export const formDigest = ({ form, input }: SentForm): string =>
  createHash('sha256')
    .update(JSON.stringify([form, input]))
    .digest('base64url');

/**
 * Runs the write of a form, in the transaction `db`, unless the same form was stored before. Concurrent requests wait
 * for each other. Returns the id that the first write returned. `digest`: of `formDigest`.
 */
export async function storeOnce(
  db: Database,
  digest: string,
  now: Date,
  write: () => Promise<number>,
): Promise<{ readonly id: number; readonly isRepeated: boolean }> {
  const storedAnswer = await claimAnswer(db, { id: digest, fingerprint: digest }, now);
  if (storedAnswer) return { id: Number(storedAnswer.answer), isRepeated: true };
  const id = await write();
  await keepAnswer(db, digest, String(id));
  return { id, isRepeated: false };
}
