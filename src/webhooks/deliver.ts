import { Webhook } from 'standardwebhooks';
import { loadViewer } from '../accounts/viewer.ts';
import { ApiError } from '../errors.ts';
import { FetchRefused, postPublic } from '../media/safe-fetch.ts';
import { type Caller, callerFor } from '../records/caller.ts';
import { changesAfter, type Following } from '../records/changes.ts';
import type { Site } from '../site.ts';
import { lastNumber } from '../storage/journal/entries.ts';
import {
  dueMessages,
  forgetMessages,
  type Hook,
  type HookMessage,
  insertMessages,
  insertResets,
  loadHooks,
  moveHook,
  type NewMessage,
  noteAttempt,
  occupyHook,
  releaseHook,
  renewHook,
  setHookState,
} from '../storage/rows/hooks.ts';
import { nowUtc } from '../wordpress/time.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { kindsIn } from './hooks.ts';
import { asSeenNow, message, resetMessage } from './messages.ts';
import { createResets } from './resets.ts';

/*
 * Delivery of webhooks according to Standard Webhooks. Each webhook has a position in the journal. Messages are created
 * and stored in the transaction that advances the position, and sent until they have arrived: each change is sent at
 * least once, however often a process is killed.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Pauses between attempts to send a message; it is given up after three days. */
const PAUSES_MS: readonly number[] = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 20].map((hours) => hours * HOUR)];
/** Timeout for the response of a receiver. */
const PATIENCE_MS = 15_000;
/** Time for which a webhook is reserved by the process that sends; after it, the process counts as dead. */
const BUSY_MS = 2 * PATIENCE_MS;
/** Maximum wait before the next try, and maximum duration of a reservation, in case a clock was wrong. */
const FAR_MS = 24 * HOUR;
/** Time for which sent messages are kept. */
const KEPT_MS = 30 * 24 * HOUR;
/** Maximum number of changes that become messages in one transaction. */
const AT_ONCE = 100;
/** Maximum number of messages that one query returns. */
const SENT_AT_ONCE = 20;
/** Reason for disabling a webhook, for the log. */
const USER_GONE = 'its user is gone';
/** Maximum number of concurrent messages to one receiver; each is about another record. */
const TOGETHER = 4;

/** Serves the webhooks of a site in this process. */
export interface HookServer {
  /**
   * Starts to serve webhooks that are not being served: creates missing messages and sends those that are due. Webhooks
   * are served independently, so that a slow receiver does not delay others. Returns promises for their completion.
   */
  readonly begin: () => Promise<readonly Promise<void>[]>;
  /** Stops sending, and waits for requests in progress. */
  readonly end: () => Promise<void>;
}

export function createHookServer(site: Site): HookServer {
  const served = new Map<number, Promise<void>>();
  let ending = false;
  const isEnding = () => ending;
  const tellOfSettings = createResets(site);

  const serve = async (hook: Hook): Promise<void> => {
    try {
      // Required for stored messages as well, since the user whose rights they were created with may no longer exist.
      const caller = await callerOf(site, hook);
      if (!caller) return await switchOff(site, hook, USER_GONE);
      await makeMessages(site, hook, caller);
      await sendMessages(site, hook, isEnding);
    } catch (err) {
      site.log.warn({ err, hook: hook.id }, 'a webhook could not be served');
    } finally {
      served.delete(hook.id);
    }
  };
  const begin = (hook: Hook): Promise<void> => {
    const end = serve(hook);
    served.set(hook.id, end);
    return end;
  };
  return {
    begin: async () => {
      const hooks = (await loadHooks(site.db)).filter(({ state }) => state === 'active');
      // Look for foreign changes only if there are active webhooks.
      if (hooks.length > 0) {
        await site.freshness.version();
        await tellOfSettings();
      }
      return ending ? [] : hooks.filter(({ id }) => !served.has(id)).map(begin);
    },
    end: async () => {
      ending = true;
      await Promise.all(served.values());
    },
  };
}

/** Deletes old messages that were sent or given up. */
export const forgetOldMessages = ({ db, clock }: Site): Promise<number> => {
  const now = clock().getTime();
  return forgetMessages(db, { before: nowUtc(new Date(now - KEPT_MS)), far: nowUtc(new Date(now + FAR_MS)) });
};

// ------------------------------------------------------------------------------------------------- making messages
/** Creates messages for all changes up to the end of the journal. */
async function makeMessages(site: Site, hook: Hook, caller: Caller): Promise<void> {
  for (let { position } = hook, more = true; more; ) {
    const last = await lastNumber(site.db);
    if (last === position) return;
    const made = await messagesAfter(site, caller, { ...hook, position });
    const isMine = await site.db.transaction(async (trx) => {
      const moved = await moveHook(trx, { id: hook.id, position }, made.number);
      if (moved) await (made.isReset ? insertResets : insertMessages)(trx, made.messages);
      return moved;
    });
    if (!isMine) return;
    position = made.number;
    more = made.more;
  }
}

/** Returns the caller whose rights determine what the webhook sees; undefined if the user no longer exists. */
async function callerOf(site: Site, { user }: Hook): Promise<Caller | undefined> {
  const settings = await site.settings();
  const viewer = user === 0 ? ANONYMOUS : await loadViewer(site.db, settings, user);
  return viewer && callerFor(site, settings, viewer, { language: site.texts.languages[0] ?? 'en' });
}

/** Messages for a stretch of the journal. `number`: its end; `more`: whether another stretch follows. */
interface Made {
  readonly messages: readonly NewMessage[];
  readonly number: number;
  readonly more: boolean;
  readonly isReset: boolean;
}

async function messagesAfter(site: Site, caller: Caller, hook: Hook): Promise<Made> {
  const kinds = kindsIn(hook.kinds);
  const following: Following = { ...(kinds.length > 0 ? { kinds } : {}), records: true, limit: AT_ONCE };
  try {
    const { changes, number, more } = await changesAfter(site, caller, hook.position, following);
    const messages = changes.map(({ number, mark, change: { kind, id, change, record } }) =>
      message(
        hook,
        { number, mark, type: `${kind}.${change}`, data: { kind, id, ...(record === undefined ? {} : { record }) } },
        site.clock(),
      ),
    );
    return { messages, number, more, isReset: false };
  } catch (error) {
    if (!(error instanceof ApiError && error.problem === 'changes-token-expired')) throw error;
    // The changes are no longer known, or anything may have changed, so that the receiver has to read everything again.
    const number = await lastNumber(site.db);
    return { messages: [resetMessage(hook, number, site.clock())], number, more: false, isReset: true };
  }
}

// ------------------------------------------------------------------------------------------------- sending
async function sendMessages(site: Site, hook: Hook, isEnding: () => boolean): Promise<void> {
  const { db, clock } = site;
  const moment = (ms = 0) => nowUtc(new Date(clock().getTime() + ms));
  const due = () => dueMessages(db, hook.id, { now: moment(), far: moment(FAR_MS) }, SENT_AT_ONCE);
  let messages = await due();
  if (messages.length === 0) return;
  let held = moment(BUSY_MS);
  if (!(await occupyHook(db, hook.id, { now: moment(), until: held, far: moment(FAR_MS) }))) return;
  try {
    // Query again, since another process may have sent these messages before the webhook was reserved.
    for (messages = await due(); messages.length > 0; messages = await due()) {
      for (let first = 0; first < messages.length; first += TOGETHER) {
        const until = moment(BUSY_MS);
        // The webhook may have been paused or removed, or another process may have taken it over because it considered
        // this one dead.
        if (isEnding() || !(await renewHook(db, hook.id, { held, until }))) return;
        held = until;
        const sendable = await sendableNow(site, hook, messages.slice(first, first + TOGETHER));
        if (!sendable) return await switchOff(site, hook, USER_GONE);
        const sending = sendable.map((one) => send(site, hook, one));
        // If one throws, the others still hold the reservation until they have ended.
        await Promise.allSettled(sending);
        const outcomes = await Promise.all(sending);
        if (outcomes.includes('gone')) return await switchOff(site, hook, 'its receiver says that it is gone');
        // The other messages would fail as well; they are retried in the next round.
        if (outcomes.includes('failed')) return;
      }
    }
  } finally {
    await releaseHook(db, hook.id, held);
  }
}

/**
 * Returns the messages as the webhook's user may see them at this moment; undefined if the user no longer exists.
 */
async function sendableNow(site: Site, hook: Hook, messages: readonly HookMessage[]): Promise<readonly HookMessage[] | undefined> {
  // Public data needs no check.
  if (hook.user === 0) return messages;
  const caller = await callerOf(site, hook);
  return caller && asSeenNow(site, caller, messages);
}

/** Sends one message and stores the result. */
async function send(site: Site, hook: Hook, sent: HookMessage): Promise<'done' | 'failed' | 'gone'> {
  const { status, error } = await post(site, hook, sent);
  const isDone = status >= 200 && status < 300;
  const attempts = sent.attempts + 1;
  const pause = PAUSES_MS[attempts - 1];
  // After 410, the message also stays in the queue, so that it is sent if the webhook is resumed.
  const state = isDone ? 'done' : pause === undefined ? 'failed' : 'waiting';
  const next_at = nowUtc(new Date(site.clock().getTime() + (pause ?? 0)));
  await noteAttempt(site.db, { id: sent.id, state, attempts, next_at, status, error });
  if (!isDone) site.log.warn({ hook: hook.id, message: sent.id, status, error, attempts }, 'a message to a webhook could not be delivered');
  return status === 410 ? 'gone' : isDone ? 'done' : 'failed';
}

async function post({ config, clock }: Site, hook: Hook, { id, payload }: HookMessage): Promise<{ status: number; error: string }> {
  const now = clock();
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(hook.secret).sign(id, now, payload),
  };
  try {
    const allowAddress = (ip: string) => config.webhookAddresses.includes(ip);
    return { status: await postPublic(hook.url, Buffer.from(payload), { headers, timeoutMs: PATIENCE_MS, allowAddress }), error: '' };
  } catch (error) {
    if (error instanceof FetchRefused) return { status: 0, error: error.fault };
    throw error;
  }
}

async function switchOff({ db, log }: Site, { id }: Hook, why: string): Promise<void> {
  await setHookState(db, id, 'off');
  log.warn({ hook: id }, `a webhook was switched off: ${why}`);
}
