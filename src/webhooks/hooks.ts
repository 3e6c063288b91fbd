import { randomBytes } from 'node:crypto';
import { loadViewer } from '../accounts/viewer.ts';
import { isHookUrl } from '../kinds/hook-params.ts';
import { kinds as allKinds } from '../kinds/index.ts';
import type { KindName } from '../kinds/kind-names.ts';
import type { Site } from '../site.ts';
import { type Database, hasTable } from '../storage/engine/database.ts';
import { lastNumber } from '../storage/journal/entries.ts';
import {
  type Hook,
  insertHook,
  insertMessages,
  latestMessages,
  loadHooks,
  lockHooks,
  type MessageState,
  removeHook,
  retryMessages,
  setHookKinds,
  setHookState,
  setHookUrl,
  TEST,
} from '../storage/rows/hooks.ts';
import { utcFromDate } from '../wordpress/time.ts';
import { createMessage } from './messages.ts';

/** An error in managing a webhook; `problem` is the key of a sentence of the command line. */
export class HookError extends Error {
  readonly problem: 'hook-url' | 'hook-unknown' | 'hook-kinds' | 'hook-user-gone';
  readonly values: Readonly<Record<string, string>>;
  constructor(problem: HookError['problem'], values: Readonly<Record<string, string>>) {
    super(problem);
    this.problem = problem;
    this.values = values;
  }
}

/** A webhook without its secret, as it is shown. */
export interface PublicHook {
  readonly id: number;
  readonly url: string;
  readonly kinds: string;
  readonly user: number;
  readonly state: Hook['state'];
  readonly created_at: string;
}

const withoutSecret = ({ id, url, kinds, user, state, created_at }: Hook): PublicHook => ({ id, url, kinds, user, state, created_at });

/**
 * Adds a webhook that receives all changes from now on. Its secret is returned only here.
 *
 * @param user whose rights the webhook has; 0 sends only public data
 * @throws HookError
 */
export async function addHook(
  { db, clock }: Site,
  { url, kinds = '', user = 0 }: { readonly url: string; readonly kinds?: string | undefined; readonly user?: number },
): Promise<PublicHook & { readonly secret: string }> {
  requireUrl(url);
  requireKinds(kinds);
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const hook = { url, secret, kinds: parseKinds(kinds).join(), user, state: 'active' as const, created_at: utcFromDate(clock()) };
  const id = await db.transaction(async (trx) => insertHook(trx, { ...hook, position: await lastNumber(trx) }));
  return { ...withoutSecret({ ...hook, id, position: 0, busy_until: '' }), secret };
}

function requireUrl(url: string): void {
  if (!isHookUrl(url)) throw new HookError('hook-url', { url });
}

function requireKinds(kinds: string): void {
  const unknownKinds = parseKinds(kinds).filter((name) => !allKinds.some((kind) => kind.name === name));
  if (unknownKinds.length > 0) throw new HookError('hook-kinds', { kinds: unknownKinds.join(', ') });
}

/** Parses a list of kinds that is separated by commas. */
export const parseKinds = (text: string): KindName[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '') as KindName[];

/** Returns a webhook. Throws HookError. */
export const readHook = async ({ db }: Site, id: number): Promise<PublicHook> => withoutSecret(await requireHook(db, id));

/** Returns the secret that signs a webhook's messages; undefined if the webhook does not exist any more. */
export const secretOf = async ({ db }: Site, id: number): Promise<string | undefined> =>
  (await loadHooks(db)).find((hook) => hook.id === id)?.secret;

/** Returns all webhooks, without their secrets. */
export const listHooks = async ({ db }: Site): Promise<PublicHook[]> => (await loadHooksIfPresent(db)).map(withoutSecret);

/** Returns all webhooks; none if our own tables do not exist, as in a database that only WordPress has written to. */
const loadHooksIfPresent = async (db: Database): Promise<Hook[]> => ((await hasTable(db, 'fasti_hooks')) ? loadHooks(db) : []);

/** Returns the latest messages of a webhook, the newest first. Throws HookError. */
export async function hookMessages({ db }: Site, id: number, limit: number): Promise<MessageState[]> {
  await requireHook(db, id);
  return latestMessages(db, id, limit);
}

/** Pauses or resumes a webhook. Changes during the pause are sent when it is resumed. Throws HookError. */
export async function setHookActive(site: Site, id: number, state: 'active' | 'paused'): Promise<void> {
  await changeHook(site, id, { state });
}

/**
 * Returns the id of the user whose rights a webhook has; 0: it has none, or does not exist. It decides who may send its
 * messages elsewhere.
 */
export const userOfHook = async (db: Database, id: number): Promise<number> =>
  (await loadHooksIfPresent(db)).find((hook) => hook.id === id)?.user ?? 0;

/**
 * Changes the given values of a webhook, no others, and returns it. Only messages that are under way at this moment
 * still go to the previous URL. `kinds`: names separated by commas; empty means all.
 *
 * @throws HookError
 */
export async function changeHook(site: Site, id: number, { url, kinds, state }: HookChange): Promise<PublicHook> {
  const { db } = site;
  const { user } = await requireHook(db, id);
  if (url !== undefined) requireUrl(url);
  if (kinds !== undefined) requireKinds(kinds);
  // Otherwise the server would disable it again at once.
  if (state === 'active' && user > 0 && !(await loadViewer(db, await site.settings(), user)))
    throw new HookError('hook-user-gone', { id: String(id) });
  await db.transaction(async (trx) => {
    if (url !== undefined) await setHookUrl(trx, id, url);
    if (kinds !== undefined) await setHookKinds(trx, id, parseKinds(kinds).join());
    if (state !== undefined) await setHookState(trx, id, state);
  });
  return readHook(site, id);
}

/** The values of a webhook that can be changed. */
interface HookChange {
  readonly url?: string | undefined;
  readonly kinds?: string | undefined;
  readonly state?: 'active' | 'paused' | undefined;
}

/** Deletes a webhook. Throws HookError. */
export async function deleteHook({ db }: Site, id: number): Promise<void> {
  await requireHook(db, id);
  await db.transaction((trx) => removeHook(trx, id));
}

/** Makes given-up and waiting messages due at once. Returns their number. Throws HookError. */
export async function retryHook({ db, clock }: Site, id: number): Promise<number> {
  await requireHook(db, id);
  return db.transaction((trx) => retryMessages(trx, id, utcFromDate(clock())));
}

/** Queues an empty test message, to see whether it arrives. Returns the number of messages. Throws HookError. */
export async function testHook({ db, clock }: Site, id: number): Promise<number> {
  await requireHook(db, id);
  await db.transaction(async (trx) => {
    const hook = hookWith(id, await lockHooks(trx));
    await insertMessages(trx, [createMessage(hook, { number: hook.position, type: TEST, data: { hook: id } }, clock())]);
  });
  return 1;
}

const requireHook = async (db: Database, id: number): Promise<Hook> => hookWith(id, await loadHooksIfPresent(db));

/** Returns the webhook with an id. Throws HookError if there is none. */
function hookWith(id: number, hooks: readonly Hook[]): Hook {
  const hook = hooks.find((one) => one.id === id);
  if (!hook) throw new HookError('hook-unknown', { id: String(id) });
  return hook;
}
