import { createHash } from 'node:crypto';
import type { Database } from '../storage/engine/database.ts';
import { claimAnswer, findAnswer, keepAnswer } from '../storage/rows/kept-answers.ts';
import { findPost } from '../storage/rows/posts.ts';
import { DISCARDED_STATUSES } from '../wordpress/status.ts';

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

/** Returns the id of the record that a form created; undefined if there is none, or if it was deleted or trashed. */
export async function findStored(db: Database, digest: string, now: Date): Promise<number | undefined> {
  const id = Number((await findAnswer(db, digest, now))?.answer ?? 0);
  return id > 0 && (await isPresent(db, id)) ? id : undefined;
}

async function isPresent(db: Database, id: number): Promise<boolean> {
  const post = await findPost(db, id);
  return post !== undefined && !DISCARDED_STATUSES.includes(post.post_status);
}

/** The write of a form. */
export interface FormWrite {
  /** Creates the record and returns its id. */
  readonly write: () => Promise<number>;
  /** Whether the form creates another record if the first one was deleted or is in the trash. */
  readonly replacesDiscarded: boolean;
}

/**
 * Runs the write of a form, in the transaction `db`, unless the same form was stored before. Concurrent requests wait
 * for each other. Returns the id that the first write returned. `digest`: of `formDigest`.
 */
export async function storeOnce(
  db: Database,
  digest: string,
  now: Date,
  { write, replacesDiscarded }: FormWrite,
): Promise<{ readonly id: number; readonly isRepeated: boolean }> {
  const storedAnswer = await claimAnswer(db, { id: digest, fingerprint: digest }, now);
  const storedId = Number(storedAnswer?.answer ?? 0);
  if (storedAnswer && (!replacesDiscarded || (await isPresent(db, storedId)))) return { id: storedId, isRepeated: true };
  const id = await write();
  await keepAnswer(db, digest, String(id));
  return { id, isRepeated: false };
}
