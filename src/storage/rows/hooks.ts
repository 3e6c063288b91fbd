import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import type { HookMessageRow, HookRow } from '../engine/own-tables.ts';
import { pagesOf } from '../engine/pages.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import { latestKept } from '../journal/clock-faults.ts';

export type HookState = HookRow['state'];

/** Dates are UTC, `YYYY-MM-DD HH:MM:SS`. */
export type Hook = HookRow;
export type HookMessage = HookMessageRow;

/** Returns all webhooks in the order of their ids. Throws if the table does not exist. */
export async function loadHooks(db: Database): Promise<Hook[]> {
  const rows = await db.rows<HookRow>`SELECT * FROM {fasti_hooks} ORDER BY id`;
  return rows.map((row) => ({
    ...row,
    id: Number(row.id),
    user: Number(row.user),
    position: Number(row.position),
  }));
}

/**
 * Returns all webhooks, none of which can be removed until the end of the transaction. They are locked by an update
 * that changes nothing: locks by reading require `joinWriters`, and without a journal entry that is an unknown change.
 */
export async function lockHooks(db: Database): Promise<Hook[]> {
  await db.change`UPDATE {fasti_hooks} SET state = state`;
  return loadHooks(db);
}

/** Inserts a webhook. Returns its id. */
export const insertHook = (db: Database, hook: Omit<Hook, 'id' | 'busy_until'>): Promise<number> => insertRows(db, 'fasti_hooks', [hook]);

/** Switches a webhook on or off, or pauses it. */
export const setHookState = (db: Database, id: number, state: HookState): Promise<number> =>
  db.change`UPDATE {fasti_hooks} SET state = ${state} WHERE id = ${id}`;

/** Switches an active webhook off, unless its URL has been changed. Returns whether it was switched off. */
export const switchHookOff = async (db: Database, { id, url }: Pick<Hook, 'id' | 'url'>): Promise<boolean> =>
  (await db.change`UPDATE {fasti_hooks} SET state = ${'off'} WHERE id = ${id} AND url = ${url} AND state = ${'active'}`) > 0;

/** Pauses all active webhooks. Returns their number. */
export const pauseHooks = (db: Database): Promise<number> =>
  db.change`UPDATE {fasti_hooks} SET state = ${'paused'} WHERE state = ${'active'}`;

/** Switches off the webhooks that use the rights of a user who is being deleted. */
export const disableHooksOf = (db: Database, user: number): Promise<number> =>
  db.change`UPDATE {fasti_hooks} SET state = ${'off'} WHERE user = ${user}`;

/** Sets the URL that a webhook notifies. */
export const setHookUrl = (db: Database, id: number, url: string): Promise<number> =>
  db.change`UPDATE {fasti_hooks} SET url = ${url} WHERE id = ${id}`;

/** Sets the kinds of records that a webhook follows: their names separated by commas; an empty text means all kinds. */
export const setHookKinds = (db: Database, id: number, kinds: string): Promise<number> =>
  db.change`UPDATE {fasti_hooks} SET kinds = ${kinds} WHERE id = ${id}`;

/**
 * Deletes a webhook with its messages. Must be called in a transaction. The webhook goes first: a transaction that
 * inserts messages holds a lock on it, so that these messages are there when all are deleted.
 */
export async function removeHook(db: Database, id: number): Promise<void> {
  await db.change`DELETE FROM {fasti_hooks} WHERE id = ${id}`;
  await db.change`DELETE FROM {fasti_hook_messages} WHERE hook = ${id}`;
}

/**
 * Advances the position of an active webhook in the journal. False: another process has already done so, or the webhook
 * is not active any more. Must be called in the transaction that inserts the messages.
 */
export const advanceHook = async (db: Database, { id, position }: Pick<Hook, 'id' | 'position'>, to: number): Promise<boolean> =>
  (await db.change`UPDATE {fasti_hooks} SET position = ${to} WHERE id = ${id} AND position = ${position} AND state = ${'active'}`) > 0;

/**
 * Reserves a webhook for this process until a moment. `futureLimit`: a later reservation was made with a wrong
 * clock and is ignored. Returns false if another process has reserved the webhook.
 */
export const reserveHook = async (
  db: Database,
  id: number,
  { now, until, futureLimit }: { readonly now: string; readonly until: string; readonly futureLimit: string },
): Promise<boolean> =>
  (await db.change`
    UPDATE {fasti_hooks} SET busy_until = ${until} WHERE id = ${id} AND (busy_until < ${now} OR busy_until > ${futureLimit})`) > 0;

/**
 * Extends the reservation of a webhook. `reservedUntil`: the end of the current reservation of this process. False: it
 * is not active any more, or another process has reserved it.
 */
export const extendReservation = async (
  db: Database,
  id: number,
  { reservedUntil, until }: { readonly reservedUntil: string; readonly until: string },
): Promise<boolean> =>
  (await db.change`UPDATE {fasti_hooks} SET busy_until = ${until} WHERE id = ${id} AND busy_until = ${reservedUntil} AND state = ${'active'}`) >
  0;

/** Releases the reservation of a webhook if this process still holds it. */
export const releaseReservation = (db: Database, id: number, reservedUntil: string): Promise<number> =>
  db.change`UPDATE {fasti_hooks} SET busy_until = ${''} WHERE id = ${id} AND busy_until = ${reservedUntil}`;

// ------------------------------------------------------------------------------------------------- messages
/** A message to be inserted. Dates are UTC, `YYYY-MM-DD HH:MM:SS`. */
export type NewMessage = Pick<HookMessage, 'id' | 'hook' | 'number' | 'subject' | 'payload' | 'next_at' | 'created_at'>;

/**
 * Inserts messages, which wait to be sent. Must be called in a transaction that has locked their webhooks
 * (`advanceHook`, `lockHooks`): messages to one that is being removed would stay for ever.
 */
export async function insertMessages(db: Database, messages: readonly NewMessage[]): Promise<void> {
  await insertRows(
    db,
    'fasti_hook_messages',
    messages.map((message) => ({ ...message, state: 'waiting' })),
  );
}

/** Subjects of messages that are not about a record. */
export const RESET = 'calendar.reset';
export const TEST = 'webhook.test';

/**
 * Inserts resets, each for another webhook. The other waiting messages of these webhooks, except tests, are removed:
 * sent after the reset, they would report an outdated state. Must be called as `insertMessages`.
 */
export async function insertResets(db: Database, resets: readonly NewMessage[]): Promise<void> {
  const hooks = resets.map(({ hook }) => hook);
  if (hooks.length > 0)
    await db.change`DELETE FROM {fasti_hook_messages} WHERE hook IN (${hooks}) AND state = ${'waiting'} AND subject <> ${TEST}`;
  await insertMessages(db, resets);
}

/** A message without its payload, which may be long. */
export type MessageState = Omit<HookMessage, 'payload'>;

/** Reads the latest messages of a webhook, the newest first. */
export async function latestMessages(db: Database, hook: number, limit: number): Promise<MessageState[]> {
  const rows = await db.rows<MessageState>`
    SELECT id, hook, number, subject, state, attempts, next_at, created_at, status, error
    FROM {fasti_hook_messages} WHERE hook = ${hook} ORDER BY number DESC, created_at DESC LIMIT ${limit}`;
  return rows.map(messageOf);
}

/** Returns a message with its numbers as numbers. */
export const messageOf = <Row extends MessageState>(row: Row): Row => ({
  ...row,
  hook: Number(row.hook),
  number: Number(row.number),
});

/** The result of an attempt to send a message. */
type AttemptResult = Pick<HookMessage, 'state' | 'next_at' | 'status' | 'error'>;

/**
 * Stores the result of an attempt to send a message, which is given as it was before. A failure is not stored if the
 * message has been delivered, tried again or scheduled anew in the meantime: another process may have taken the webhook
 * over from this one, or a user may have asked to retry.
 */
export async function recordAttempt(
  db: Database,
  { id, attempts }: Pick<HookMessage, 'id' | 'attempts'>,
  { state, next_at, status, error }: AttemptResult,
): Promise<void> {
  const isUnchanged = state === 'done' ? ALWAYS : new Piece(['state = ? AND attempts = ?', ['waiting', attempts]]);
  await db.change`
    UPDATE {fasti_hook_messages} SET state = ${state}, attempts = ${attempts + 1}, next_at = ${next_at}, status = ${status}, error = ${error}
    WHERE id = ${id} AND ${isUnchanged}`;
}

const ALWAYS = verbatim('1 = 1');

/**
 * Schedules failed and waiting messages to be sent now. Messages about a record are left out if a later message about
 * the same record has been delivered or a reset followed, since they would report an outdated state. Returns the number
 * of messages.
 */
export async function retryMessages(db: Database, hook: number, now: string): Promise<number> {
  // Not with a subquery for each message: while its statistics are old, MySQL searches all delivered messages for each.
  const rows = await db.rows<{ id: string }>`
    SELECT m.id FROM {fasti_hook_messages} m
    LEFT JOIN (
      SELECT subject, MAX(number) AS latest FROM {fasti_hook_messages} WHERE hook = ${hook} AND state = ${'done'} GROUP BY subject
    ) d ON d.subject = m.subject
    WHERE m.hook = ${hook} AND m.state IN (${['failed', 'waiting']})
      AND (d.latest IS NULL OR d.latest <= m.number OR m.subject = ${TEST})
      AND (m.subject IN (${[RESET, TEST]}) OR m.number > (
        SELECT COALESCE(MAX(number), -1) FROM {fasti_hook_messages} WHERE hook = ${hook} AND subject = ${RESET}))`;
  let count = 0;
  for (const batch of pagesOf(rows, BATCH_SIZE))
    count += await db.change`
      UPDATE {fasti_hook_messages} SET state = ${'waiting'}, attempts = 0, next_at = ${now}
      WHERE id IN (${batch.map(({ id }) => id)}) AND state IN (${['failed', 'waiting']})`;
  return count;
}

/** Maximum number of messages that are changed or removed at once. */
const BATCH_SIZE = 500;

/**
 * Removes some messages that are older than a moment, or from a time so far ahead that a clock was wrong, and are not
 * waiting. Returns the number of removed messages.
 */
export async function pruneMessages(db: Database, before: string, now: Date): Promise<number> {
  const latest = await latestKept(db, now);
  const rows = await db.rows<{ id: string }>`
    SELECT id FROM {fasti_hook_messages} WHERE (created_at < ${before} OR created_at > ${latest}) AND state <> ${'waiting'}
    ORDER BY created_at LIMIT ${BATCH_SIZE}`;
  return rows.length === 0
    ? 0
    : db.change`
    DELETE FROM {fasti_hook_messages} WHERE id IN (${rows.map(({ id }) => id)}) AND state <> ${'waiting'}`;
}
