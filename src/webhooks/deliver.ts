import { Webhook } from 'standardwebhooks';
import { loadViewer } from '../accounts/viewer.ts';
import { ApiError } from '../errors.ts';
import { backgroundWarnings } from '../log.ts';
import { FetchRefused, postPublic } from '../media/safe-fetch.ts';
import { type Caller, callerFor } from '../records/caller.ts';
import { type ChangesOptions, changesAfter } from '../records/changes.ts';
import type { Site } from '../site.ts';
import { lastNumber } from '../storage/journal/entries.ts';
import { dueMessages } from '../storage/rows/due-messages.ts';
import {
  advanceHook,
  extendReservation,
  type Hook,
  type HookMessage,
  insertMessages,
  insertResets,
  loadHooks,
  type NewMessage,
  pruneMessages,
  recordAttempt,
  releaseReservation,
  reserveHook,
  switchHookOff,
} from '../storage/rows/hooks.ts';
import { whyClosed } from '../wordpress/network.ts';
import { utcFromDate } from '../wordpress/time.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { parseKinds } from './hooks.ts';
import { asSeenNow, createMessage, type MadeMessages, resetMessage } from './messages.ts';
import { createResetSender } from './resets.ts';

/*
 * Delivery of webhooks according to Standard Webhooks. Each webhook has a position in the journal. Messages are created
 * and stored in the transaction that advances the position, and sent until they have arrived: each change is sent at
 * least once, however often a process is killed.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Pauses between attempts to send a message; it is given up after three days. */
const RETRY_DELAYS_MS: readonly number[] = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 20].map((hours) => hours * HOUR)];
/** Timeout for the response of a receiver. */
const RESPONSE_TIMEOUT_MS = 15_000;
/** Time for which a webhook is reserved by the process that sends; after it, the process counts as dead. */
const RESERVATION_MS = 2 * RESPONSE_TIMEOUT_MS;
/** Maximum wait before the next try, and maximum duration of a reservation, in case a clock was wrong. */
const MAX_WAIT_MS = 24 * HOUR;
/** Time for which sent messages are kept. */
const RETENTION_MS = 30 * 24 * HOUR;
/** Maximum number of changes that become messages in one transaction. */
const MAX_CHANGES_PER_TRANSACTION = 100;
/** Maximum number of messages that one query returns. */
const MAX_MESSAGES_PER_QUERY = 20;
/** Reason for disabling a webhook, for the log. */
const USER_GONE = 'its user is gone';
/** Maximum number of concurrent messages to one receiver; each is about another record, or a test. */
const MAX_CONCURRENT_MESSAGES = 4;

/** Serves the webhooks of a site in this process. */
export interface HookServer {
  /**
   * Starts to serve webhooks that are not being served: creates missing messages and sends those that are due. Webhooks
   * are served independently, so that a slow receiver does not delay others. Returns promises for their completion.
   */
  readonly serveDue: () => Promise<readonly Promise<void>[]>;
  /** Stops making and sending messages, and waits for what is in progress. */
  readonly stop: () => Promise<void>;
}

/** Returns a server of the webhooks of a site, which does nothing by itself. */
export function createHookServer(site: Site): HookServer {
  const runningHooks = new Map<number, Promise<void>>();
  let stopping = false;
  const isStopping = () => stopping;
  const sendResets = createResetSender(site);
  const warn = backgroundWarnings(site.log);

  const serve = async (hook: Hook): Promise<void> => {
    try {
      // Required for stored messages as well, since the user whose rights they were created with may no longer exist.
      const caller = await callerOf(site, hook);
      if (!caller) return await disableHook(site, hook, USER_GONE);
      const made = await makeMessages(site, hook, caller, isStopping);
      await sendMessages(site, hook, made, isStopping);
    } catch (err) {
      warn({ err, hook: hook.id }, 'a webhook could not be served');
    } finally {
      runningHooks.delete(hook.id);
    }
  };
  const start = (hook: Hook): Promise<void> => {
    const end = serve(hook);
    runningHooks.set(hook.id, end);
    return end;
  };
  const startDue = async (): Promise<readonly Promise<void>[]> => {
    const hooks = (await loadHooks(site.db)).filter(({ state }) => state === 'active');
    // Look for foreign changes only if there are active webhooks.
    if (hooks.length > 0) {
      await site.freshness.version();
      if (await isClosed(site)) return [];
      await sendResets();
    }
    return stopping ? [] : hooks.filter(({ id }) => !runningHooks.has(id)).map(start);
  };
  let starting: Promise<unknown> = Promise.resolve();
  return {
    serveDue: () => {
      const started = startDue();
      starting = started;
      return started;
    },
    stop: async () => {
      stopping = true;
      await Promise.allSettled([starting, ...runningHooks.values()]);
    },
  };
}

/** Deletes old messages that were sent or given up. */
export const deleteOldMessages = ({ db, clock }: Site): Promise<number> => {
  const now = clock();
  return pruneMessages(db, utcFromDate(new Date(now.getTime() - RETENTION_MS)), now);
};

/** Whether the network has closed the site. Its messages then wait until it is open again. */
const isClosed = async (site: Site): Promise<boolean> => whyClosed((await site.settings()).network) !== undefined;

// ------------------------------------------------------------------------------------------------- making messages
/**
 * Creates messages for all changes up to the end of the journal, or up to some point if the process is ending. Returns
 * which of them need not be read again; undefined: none.
 */
async function makeMessages(site: Site, hook: Hook, caller: Caller, isStopping: () => boolean): Promise<MadeMessages | undefined> {
  let made: MadeMessages | undefined;
  for (let { position } = hook, hasMore = true; hasMore && !isStopping(); ) {
    const latestNumber = await lastNumber(site.db);
    if (latestNumber === position) break;
    const batch = await messagesAfter(site, caller, { ...hook, position });
    if (made?.end !== batch.end) made = { after: position, end: batch.end, settings: caller.settings };
    const isMine = await site.db.transaction(async (trx) => {
      const wasAdvanced = await advanceHook(trx, { id: hook.id, position }, batch.number);
      if (wasAdvanced) await (batch.isReset ? insertResets : insertMessages)(trx, batch.messages);
      return wasAdvanced;
    });
    if (!isMine) return undefined;
    position = batch.number;
    hasMore = batch.hasMore;
  }
  return made;
}

/** Returns the caller whose rights determine what the webhook sees; undefined if the user no longer exists. */
async function callerOf(site: Site, { user }: Hook): Promise<Caller | undefined> {
  const settings = await site.settings();
  const viewer = user === 0 ? ANONYMOUS : await loadViewer(site.db, settings, user);
  return viewer && callerFor(site, settings, viewer, { language: site.texts.languages[0] ?? 'en' });
}

/**
 * Messages for a stretch of the journal. `number`: its end; `hasMore`: whether another stretch follows; `end`: that of
 * the journal when the records were read.
 */
interface MessageBatch {
  readonly messages: readonly NewMessage[];
  readonly number: number;
  readonly end: number;
  readonly hasMore: boolean;
  readonly isReset: boolean;
}

async function messagesAfter(site: Site, caller: Caller, hook: Hook): Promise<MessageBatch> {
  const kinds = parseKinds(hook.kinds);
  const options: ChangesOptions = { ...(kinds.length > 0 ? { kinds } : {}), records: true, limit: MAX_CHANGES_PER_TRANSACTION };
  try {
    const { changes, number, end, hasMore } = await changesAfter(site, caller, hook.position, options);
    const messages = changes.map(({ number, mark, change: { kind, id, change, record } }) =>
      createMessage(
        hook,
        { number, mark, type: `${kind}.${change}`, data: { kind, id, ...(record === undefined ? {} : { record }) } },
        site.clock(),
      ),
    );
    return { messages, number, end, hasMore, isReset: false };
  } catch (error) {
    if (!(error instanceof ApiError && error.problem === 'changes-token-expired')) throw error;
    // The changes are no longer known, or anything may have changed, so that the receiver has to read everything again.
    const number = await lastNumber(site.db);
    return { messages: [resetMessage(hook, number, site.clock())], number, end: number, hasMore: false, isReset: true };
  }
}

// ------------------------------------------------------------------------------------------------- sending
async function sendMessages(site: Site, hook: Hook, made: MadeMessages | undefined, isStopping: () => boolean): Promise<void> {
  const { db, clock } = site;
  const timestamp = (ms = 0) => utcFromDate(new Date(clock().getTime() + ms));
  const loadDue = () => dueMessages(db, hook.id, { now: timestamp(), futureLimit: timestamp(MAX_WAIT_MS) }, MAX_MESSAGES_PER_QUERY);
  let messages = await loadDue();
  if (messages.length === 0) return;
  let reservedUntil = timestamp(RESERVATION_MS);
  if (!(await reserveHook(db, hook.id, { now: timestamp(), until: reservedUntil, futureLimit: timestamp(MAX_WAIT_MS) }))) return;
  try {
    // Query again, since another process may have sent these messages before the webhook was reserved.
    for (messages = await loadDue(); messages.length > 0; messages = await loadDue()) {
      for (let index = 0; index < messages.length; index += MAX_CONCURRENT_MESSAGES) {
        const until = timestamp(RESERVATION_MS);
        // The webhook may have been paused or removed, or another process may have taken it over because it considered
        // this one dead.
        if (isStopping() || (await isClosed(site)) || !(await extendReservation(db, hook.id, { reservedUntil, until }))) return;
        reservedUntil = until;
        // Its URL may have been changed, too.
        const currentHook = (await loadHooks(db)).find(({ id }) => id === hook.id);
        if (currentHook?.state !== 'active') return;
        const caller = await callerOf(site, currentHook);
        if (!caller) return await disableHook(site, currentHook, USER_GONE);
        const sendable = await asSeenNow(site, caller, messages.slice(index, index + MAX_CONCURRENT_MESSAGES), made);
        const sending = sendable.map((one) => send(site, currentHook, one));
        // If one throws, the others still hold the reservation until they have ended.
        await Promise.allSettled(sending);
        const outcomes = await Promise.all(sending);
        if (outcomes.includes('gone')) return await disableHook(site, currentHook, 'its receiver says that it is gone');
        // The other messages would fail as well; they are retried in the next round.
        if (outcomes.includes('failed')) return;
      }
    }
  } finally {
    await releaseReservation(db, hook.id, reservedUntil);
  }
}

/** Sends one message and stores the result. */
async function send(site: Site, hook: Hook, message: HookMessage): Promise<'done' | 'failed' | 'gone'> {
  const { status, error } = await post(site, hook, message);
  const isDone = status >= 200 && status < 300;
  const attempts = message.attempts + 1;
  const retryDelay = RETRY_DELAYS_MS[attempts - 1];
  // After 410, the message also stays in the queue, so that it is sent if the webhook is resumed.
  const state = isDone ? 'done' : retryDelay === undefined ? 'failed' : 'waiting';
  const next_at = utcFromDate(new Date(site.clock().getTime() + (retryDelay ?? 0)));
  await recordAttempt(site.db, message, { state, next_at, status, error });
  if (!isDone)
    site.log.warn({ hook: hook.id, message: message.id, status, error, attempts }, 'a message to a webhook could not be delivered');
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
    return {
      status: await postPublic(hook.url, Buffer.from(payload), { headers, timeoutMs: RESPONSE_TIMEOUT_MS, allowAddress }),
      error: '',
    };
  } catch (error) {
    if (error instanceof FetchRefused) return { status: 0, error: error.fault };
    throw error;
  }
}

/** Switches a webhook off, unless it has been changed meanwhile: the reason may not hold for its new URL. */
async function disableHook({ db, log }: Site, hook: Hook, reason: string): Promise<void> {
  if (await switchHookOff(db, hook)) log.warn({ hook: hook.id }, `a webhook was switched off: ${reason}`);
}
