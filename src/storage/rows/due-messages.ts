import type { Database } from '../engine/database.ts';
import type { HookMessageRow } from '../engine/own-tables.ts';
import { type HookMessage, messageOf, TEST } from './hooks.ts';

/*
 * Finds the messages to a webhook that may be sent now. While a receiver is down, all messages of a large import may
 * wait, and every process looks each second.
 */

/** The times between which a waiting message is not due yet. */
interface DueTimes {
  readonly now: string;
  /** A later time of the next try was set with a wrong clock and is ignored. */
  readonly futureLimit: string;
}

/** A message whose own time has come. Earlier messages about the same record may still have to be sent before it. */
type Candidate = Pick<HookMessage, 'id' | 'number' | 'subject' | 'attempts' | 'status' | 'error'>;

/** Number of candidates that are read at once; usually enough of them may be sent. */
const PAGE_SIZE = 500;

/**
 * Returns messages that may be sent now, at most `limit`: the first one of each record, and all tests. Other
 * candidates do not become candidates again before their time: those that wait for an earlier message about their
 * record are put off until it is due, and those that report an outdated state are given up.
 */
export async function dueMessages(db: Database, hook: number, times: DueTimes, limit: number): Promise<HookMessage[]> {
  const ids = await dueIds(db, hook, times, limit);
  if (ids.length === 0) return [];
  const rows = await db.rows<HookMessageRow>`SELECT * FROM {fasti_hook_messages} WHERE id IN (${ids}) ORDER BY number`;
  return rows.map(messageOf);
}

async function dueIds(db: Database, hook: number, times: DueTimes, limit: number): Promise<string[]> {
  const dueSubjects = new Set<string>();
  let last: Pick<Candidate, 'number' | 'id'> = { number: 0, id: '' };
  for (;;) {
    const candidates = await candidatesAfter(db, hook, times, last);
    const queues = await queuesOf(db, hook, new Set(candidates.map(({ subject }) => subject).filter(isOrdered)));
    const isOutdated = (one: Candidate) => isRetried(one) && one.number < (queues.get(one.subject)?.delivered ?? 0);
    const isFirst = ({ subject, number }: Candidate) => !isOrdered(subject) || number === queues.get(subject)?.first;
    const firsts = candidates.filter(isFirst);
    for (const { subject } of firsts) dueSubjects.add(subject);
    await giveUp(db, candidates.filter(isOutdated));
    const blocked = candidates.filter((one) => !isFirst(one) && !isOutdated(one) && !dueSubjects.has(one.subject));
    await putOff(db, hook, times, blocked, new Set(blocked.map(({ subject }) => queues.get(subject)?.first ?? 0)));
    const ids = firsts.filter((one) => !isOutdated(one)).map(({ id }) => id);
    if (ids.length > 0 || candidates.length < PAGE_SIZE) return ids.slice(0, limit);
    last = candidates.at(-1) ?? last;
  }
}

/** Returns the next candidates after a message, in the order in which they are sent. */
async function candidatesAfter(
  db: Database,
  hook: number,
  { now, futureLimit }: DueTimes,
  { number, id }: Pick<Candidate, 'number' | 'id'>,
): Promise<Candidate[]> {
  const rows = await db.rows<Candidate>`
    SELECT id, number, subject, attempts, status, error FROM {fasti_hook_messages}
    WHERE hook = ${hook} AND state = ${'waiting'} AND (next_at <= ${now} OR next_at > ${futureLimit})
      AND number >= ${number} AND (number > ${number} OR id > ${id})
    ORDER BY number, id LIMIT ${PAGE_SIZE}`;
  return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

/** Whether messages with this subject wait for one another. Tests do not: each is sent when its own time has come. */
const isOrdered = (subject: string): boolean => subject !== TEST;

/** Whether a user has asked to retry the message, and it has not been tried since: it still has an older result. */
const isRetried = ({ attempts, status, error }: Candidate): boolean => attempts === 0 && (status !== 0 || error !== '');

/** The numbers of messages about one record: the first that waits, and the last that was delivered. */
interface Queue {
  readonly first: number;
  readonly delivered: number;
}

/**
 * Reads the queues of records. Not with a subquery for each message: while its statistics are old, MySQL searches all
 * waiting messages for each.
 */
async function queuesOf(db: Database, hook: number, subjects: ReadonlySet<string>): Promise<ReadonlyMap<string, Queue>> {
  if (subjects.size === 0) return new Map();
  const rows = await db.rows<{ subject: string; first: number | null; delivered: number | null }>`
    SELECT subject, MIN(CASE WHEN state = ${'waiting'} THEN number END) AS first,
      MAX(CASE WHEN state = ${'done'} THEN number END) AS delivered
    FROM {fasti_hook_messages} WHERE hook = ${hook} AND subject IN (${[...subjects]}) GROUP BY subject`;
  return new Map(rows.map(({ subject, first, delivered }) => [subject, { first: Number(first), delivered: Number(delivered) }]));
}

/**
 * Gives up messages about records of which a later message has been delivered meanwhile: it was being sent when a user
 * asked to retry the earlier one.
 */
async function giveUp(db: Database, outdated: readonly Candidate[]): Promise<void> {
  if (outdated.length === 0) return;
  await db.change`
    UPDATE {fasti_hook_messages} SET state = ${'failed'} WHERE id IN (${outdated.map(({ id }) => id)}) AND state = ${'waiting'}`;
}

/**
 * Puts off messages until the first ones of their records are due (`firsts`: their numbers). Messages that a user
 * schedules anew meanwhile keep their time: it is not before `now`.
 */
async function putOff(
  db: Database,
  hook: number,
  { now, futureLimit }: DueTimes,
  blocked: readonly Candidate[],
  firsts: ReadonlySet<number>,
): Promise<void> {
  if (blocked.length === 0) return;
  // DISTINCT makes MySQL read the derived table before it writes to the same table.
  await db.change`
    UPDATE {fasti_hook_messages} SET next_at = COALESCE((
      SELECT MAX(f.next_at) FROM (
        SELECT DISTINCT subject, next_at FROM {fasti_hook_messages}
        WHERE hook = ${hook} AND state = ${'waiting'} AND number IN (${[...firsts]}) AND next_at > ${now} AND next_at <= ${futureLimit}
      ) f WHERE f.subject = {fasti_hook_messages}.subject
    ), next_at)
    WHERE id IN (${blocked.map(({ id }) => id)}) AND state = ${'waiting'} AND (next_at < ${now} OR next_at > ${futureLimit})`;
}
