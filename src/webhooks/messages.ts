import { randomUUID } from 'node:crypto';
import { groupedBy } from '../grouped-by.ts';
import { kinds } from '../kinds/index.ts';
import type { KindName } from '../kinds/kind-names.ts';
import type { Caller } from '../records/caller.ts';
import { shownNow } from '../records/changes.ts';
import type { Site } from '../site.ts';
import type { Hook, HookMessage, NewMessage } from '../storage/rows/hooks.ts';
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

/** What a payload says, as `message` has written it. */
interface Payload {
  readonly type: string;
  readonly timestamp: string;
  readonly data: MessageContent['data'];
}

/**
 * Messages as they may be sent now. Some have waited, and their webhook's user may have lost the right to see a record
 * meanwhile: then nothing of it goes out, and it is removed, as far as the receiver may know.
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

/** The record that a message is about; no kind: it is about none. */
function recordIn(subject: string): { readonly kind: KindName | undefined; readonly id: number } {
  const [name, id] = subject.split(' ');
  return { kind: kinds.find((kind) => kind.name === name)?.name, id: Number(id) };
}

function removedInstead(one: HookMessage): HookMessage {
  const { timestamp }: Payload = JSON.parse(one.payload);
  const { kind = '', id } = recordIn(one.subject);
  return { ...one, payload: JSON.stringify({ type: `${kind}.removed`, timestamp, data: { kind, id } } satisfies Payload) };
}
