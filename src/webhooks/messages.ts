import { randomUUID } from 'node:crypto';
import type { Hook, NewMessage } from '../storage/rows/hooks.ts';
import { nowUtc } from '../wordpress/time.ts';

/** What a message says: `event.updated` with the record, for instance. */
export interface MessageContent {
  /** Its place among the messages about the same record. */
  readonly number: number;
  /** Of the entry of the journal, where the message is about a record. */
  readonly mark?: string;
  readonly type: string;
  readonly data: { readonly kind?: string; readonly id?: number } & Readonly<Record<string, unknown>>;
}

/** A message in the form of Standard Webhooks, to be sent at once. */
export function message(hook: Pick<Hook, 'id'>, { number, mark = '', type, data }: MessageContent, now: Date): NewMessage {
  const isOfRecord = data.kind !== undefined && data.id !== undefined;
  return {
    // Whoever gets a message twice knows it by this.
    id: isOfRecord ? `msg_${hook.id}_${mark}_${number}` : `msg_${randomUUID()}`,
    hook: hook.id,
    number,
    subject: isOfRecord ? `${data.kind} ${data.id}` : type,
    payload: JSON.stringify({ type, timestamp: now.toISOString(), data }),
    next_at: nowUtc(now),
    created_at: nowUtc(now),
  };
}
