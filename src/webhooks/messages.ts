import { randomUUID } from 'node:crypto';
import { groupedBy } from '../grouped-by.ts';
import { kinds } from '../kinds/index.ts';
import type { KindName } from '../kinds/kind-names.ts';
import type { Caller } from '../records/caller.ts';
import { shownNow } from '../records/changes.ts';
import type { Site } from '../site.ts';
import type { Hook, HookMessage, NewMessage } from '../storage/rows/hooks.ts';
import { nowUtc } from '../wordpress/time.ts';

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
export function message(hook: Pick<Hook, 'id'>, { number, mark = '', type, data }: MessageContent, now: Date): NewMessage {
  const isOfRecord = data.kind !== undefined && data.id !== undefined;
  return {
    // Receivers recognise duplicates by this id.
    id: isOfRecord ? `msg_${hook.id}_${mark}_${number}` : `msg_${randomUUID()}`,
    hook: hook.id,
    number,
    subject: isOfRecord ? `${data.kind} ${data.id}` : type,
    payload: JSON.stringify({ type, timestamp: now.toISOString(), data }),
    next_at: nowUtc(now),
    created_at: nowUtc(now),
  };
}

/** The payload that `message` writes. */
interface Payload {
  readonly type: string;
  readonly timestamp: string;
  readonly data: MessageContent['data'];
}

/**
 * Returns messages as they may be sent at this moment. While a message was waiting, the webhook's user may have lost
 * the right to see its record. Such a message is replaced by one that reports the record as removed, without any data
 * of it.
 */
export async function withoutHidden(site: Site, caller: Caller, messages: readonly HookMessage[]): Promise<HookMessage[]> {
  const hidden = new Set<string>();
  const subjects = [...new Set(messages.map(({ subject }) => subject))].map((subject) => ({ subject, ...recordIn(subject) }));
  for (const [kind, ofKind] of groupedBy(subjects, (one) => one.kind)) {
    if (kind === undefined) continue;
    const shown = await shownNow(
      site,
      caller,
      kind,
      ofKind.map(({ id }) => id),
    );
    for (const { subject, id } of ofKind) if (!shown.has(id)) hidden.add(subject);
  }
  return messages.map((one) => (hidden.has(one.subject) ? removedInstead(one) : one));
}

/** Returns the record that a message is about; `kind` is undefined if it is about none. */
function recordIn(subject: string): { readonly kind: KindName | undefined; readonly id: number } {
  const [name, id] = subject.split(' ');
  return { kind: kinds.find((kind) => kind.name === name)?.name, id: Number(id) };
}

function removedInstead(one: HookMessage): HookMessage {
  const { timestamp }: Payload = JSON.parse(one.payload);
  const { kind = '', id } = recordIn(one.subject);
  return { ...one, payload: JSON.stringify({ type: `${kind}.removed`, timestamp, data: { kind, id } } satisfies Payload) };
}
