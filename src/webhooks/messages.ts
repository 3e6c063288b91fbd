import { randomUUID } from 'node:crypto';
import { groupedBy } from '../grouped-by.ts';
import { kinds } from '../kinds/index.ts';
import type { KindName } from '../kinds/kind-names.ts';
import type { Caller } from '../records/caller.ts';
import { recordsNow } from '../records/changes.ts';
import type { Site } from '../site.ts';
import { lastNumber } from '../storage/journal/entries.ts';
import { type Hook, type HookMessage, type NewMessage, RESET } from '../storage/rows/hooks.ts';
import { utcFromDate } from '../wordpress/time.ts';

/** Content of a message, for example `event.updated` with the record. */
export interface MessageContent {
  /** Its position among the messages about the same record. */
  readonly number: number;
  /** The mark of its journal entry, if the message is about a record. */
  readonly mark?: string;
  readonly type: string;
  readonly data: { readonly kind?: string; readonly id?: number } & Readonly<Record<string, unknown>>;
}

/** Returns a message in the form of Standard Webhooks, which is due at once. */
export function createMessage(hook: Pick<Hook, 'id'>, { number, mark = '', type, data }: MessageContent, now: Date): NewMessage {
  const isOfRecord = data.kind !== undefined && data.id !== undefined;
  return {
    // Receivers recognise duplicates by this id.
    id: isOfRecord ? `msg_${hook.id}_${mark}_${number}` : `msg_${randomUUID()}`,
    hook: hook.id,
    number,
    subject: isOfRecord ? `${data.kind} ${data.id}` : type,
    payload: JSON.stringify({ type, timestamp: now.toISOString(), data }),
    next_at: utcFromDate(now),
    created_at: utcFromDate(now),
  };
}

/** Returns the message that asks a receiver to read everything again. `number`: the last number of the journal. */
export const resetMessage = (hook: Pick<Hook, 'id'>, number: number, now: Date): NewMessage =>
  createMessage(hook, { number, type: RESET, data: {} }, now);

/** The payload that `createMessage` writes. */
interface Payload {
  readonly type: string;
  readonly timestamp: string;
  readonly data: MessageContent['data'];
}

/**
 * The messages with a number above `after`, whose records were read when the journal ended at `end`, with these
 * settings. While both are the same, the records are, too.
 */
export interface MadeMessages {
  readonly after: number;
  readonly end: number;
  readonly settings: Caller['settings'];
}

/**
 * Returns messages as they may be sent at this moment. While a message was waiting, its record, or a venue or organizer
 * within it, may have been hidden from the public, or the webhook's user may have lost the right to see it. So each
 * record is sent as the caller, whose rights the webhook has, sees it now. A message about a record that is hidden from
 * the caller reports it as removed, without any data of it. `made`: the messages that were made just before.
 */
export async function asSeenNow(
  site: Site,
  caller: Caller,
  messages: readonly HookMessage[],
  made: MadeMessages | undefined,
): Promise<HookMessage[]> {
  const areUnchanged = made !== undefined && (await isUnchanged(site, caller, made));
  const isCurrent = ({ attempts, number }: HookMessage) => areUnchanged && attempts === 0 && number > made.after;
  const others = messages.filter((one) => !isCurrent(one));
  const readAgain = new Map((await withRecordsNow(site, caller, others)).map((one) => [one.id, one]));
  return messages.map((one) => readAgain.get(one.id) ?? one);
}

/**
 * Whether the public sees all records as it did when these messages were made. The journal does not tell at once what
 * WordPress writes, and may not tell at all that a user has lost a right.
 */
const isUnchanged = async ({ db }: Site, { viewer, settings }: Caller, made: MadeMessages): Promise<boolean> =>
  viewer.id === 0 && !settings.shared && settings === made.settings && (await lastNumber(db)) === made.end;

async function withRecordsNow(site: Site, caller: Caller, messages: readonly HookMessage[]): Promise<HookMessage[]> {
  const records = new Map<string, unknown>();
  const subjects = [...new Set(messages.map(({ subject }) => subject))].map((subject) => ({ subject, ...recordOfSubject(subject) }));
  for (const [kind, kindSubjects] of groupedBy(subjects, (one) => one.kind)) {
    if (kind === undefined) continue;
    const ids = kindSubjects.map(({ id }) => id);
    const recordsById = await recordsNow(site, caller, kind, ids);
    for (const { subject, id } of kindSubjects) records.set(subject, recordsById.get(id));
  }
  return messages.map((one) => (records.has(one.subject) ? withRecord(one, records.get(one.subject)) : one));
}

/** Returns the record that a message is about; `kind` is undefined if it is about none. */
function recordOfSubject(subject: string): { readonly kind: KindName | undefined; readonly id: number } {
  const [name, id] = subject.split(' ');
  return { kind: kinds.find((kind) => kind.name === name)?.name, id: Number(id) };
}

/** Returns a message with another state of its record; undefined: as the message of a removal. */
function withRecord(one: HookMessage, record: unknown): HookMessage {
  const { type, timestamp, data }: Payload = JSON.parse(one.payload);
  const { kind = '', id } = recordOfSubject(one.subject);
  const payload: Payload =
    record === undefined
      ? { type: `${kind}.removed`, timestamp, data: { kind, id } }
      : { type, timestamp, data: { ...data, ...('record' in data ? { record } : {}) } };
  return { ...one, payload: JSON.stringify(payload) };
}
