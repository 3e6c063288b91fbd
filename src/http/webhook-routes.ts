import { mayActFor } from '../accounts/people.ts';
import { loadViewer } from '../accounts/viewer.ts';
import { fail, failParam } from '../errors.ts';
import { DEFAULT_DELIVERIES, HOOK_PARAMS, MAX_DELIVERIES } from '../kinds/hook-params.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';
import type { LookUp } from '../storage/engine/look-up-once.ts';
import {
  addHook,
  changeHook,
  deleteHook,
  HookError,
  hookMessages,
  listHooks,
  type PublicHook,
  parseKinds,
  readHook,
  retryHook,
  secretOf,
  testHook,
  userOfHook,
} from '../webhooks/hooks.ts';
import { restUrl } from '../wordpress/links.ts';
import { deletedWebhookShape, deliveriesShape, queuedShape, webhookShape, webhooksShape } from './answer-shapes.ts';
import { endpoint, recordEndpoint, type ServedRoute } from './endpoint.ts';
import { createdReply, ok } from './reply.ts';

/*
 * Webhooks for administrators, as with `fasti webhook` on the command line.
 */

const mayManage = (_look: LookUp, { viewer }: Caller): boolean => viewer.can('manage_options');

/**
 * Whether a caller may choose where the records are sent that a user may see; 0: public records. A webhook must not
 * show callers more than they may see.
 */
const mayHaveRightsOf = async (look: LookUp, { settings, viewer }: Caller, user: number): Promise<boolean> =>
  user === 0 || mayActFor(look, settings, viewer, user);

const WEBHOOK_PATH = '/webhooks/(?P<id>\\d+)';
/** Statuses of refusals of these routes, in addition to those of every route. */
const REFUSALS = ['403', '404'] as const;

/** Shows the kinds of a webhook as a list; an empty list means all kinds. */
const withKindList = <H extends PublicHook>(hook: H) => ({ ...hook, kinds: parseKinds(hook.kinds) });

export const webhookRoutes: readonly ServedRoute[] = [
  {
    pattern: '/webhooks',
    texts: 'webhooks',
    refusals: ['403'],
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: 'webhooks.list',
        answer: webhooksShape,
        params: {},
        mode: 'read',
        allow: mayManage,
        run: async (site) => ok({ webhooks: (await listHooks(site)).map(withKindList) }),
      }),
      endpoint({
        methods: ['POST'],
        summary: 'webhooks.create',
        answer: webhookShape,
        params: HOOK_PARAMS.create,
        mode: 'create',
        success: '201',
        secret: {
          member: 'secret',
          recompute: async (site, caller, { id }) => (caller.viewer.can('manage_options') ? secretOf(site, Number(id)) : undefined),
        },
        allow: async (look, caller, { user = 0 }) => mayManage(look, caller) && (await mayHaveRightsOf(look, caller, user)),
        run: async (site, caller, { url = '', kinds, user = 0 }) => {
          if (user > 0 && !(await loadViewer(site.db, caller.settings, user))) failParam('user', 'user-unknown');
          const hook = await addHook(site, { url, kinds: kinds?.join(), user });
          return createdReply({ record: withKindList(hook) }, restUrl(caller, `${caller.namespace}/webhooks/${hook.id}`));
        },
      }),
    ],
  },
  {
    pattern: WEBHOOK_PATH,
    texts: 'webhooks',
    refusals: REFUSALS,
    endpoints: [
      recordEndpoint({
        methods: ['GET'],
        summary: 'webhooks.read',
        answer: webhookShape,
        params: HOOK_PARAMS.one,
        mode: 'read',
        allow: mayManage,
        run: async (site, _caller, { id }) => ok(withKindList(await orNotFound(readHook(site, id)))),
      }),
      recordEndpoint({
        methods: ['POST', 'PUT', 'PATCH'],
        summary: 'webhooks.change',
        answer: webhookShape,
        params: HOOK_PARAMS.change,
        mode: 'change',
        allow: async (look, caller, { id, url }) =>
          mayManage(look, caller) && (url === undefined || (await mayHaveRightsOf(look, caller, await look(userOfHook, id)))),
        run: async (site, _caller, { id, url, kinds, state }) =>
          ok(withKindList(await orNotFound(changeHook(site, id, { url, kinds: kinds === null ? '' : kinds?.join(), state })))),
      }),
      recordEndpoint({
        methods: ['DELETE'],
        summary: 'webhooks.delete',
        answer: deletedWebhookShape,
        params: HOOK_PARAMS.one,
        mode: 'read',
        allow: mayManage,
        run: async (site, _caller, { id }) => {
          const previous = withKindList(await orNotFound(readHook(site, id)));
          await deleteHook(site, id);
          return ok({ deleted: true, previous });
        },
      }),
    ],
  },
  queueRoute('test', testHook),
  queueRoute('retry', retryHook),
  {
    pattern: `${WEBHOOK_PATH}/deliveries`,
    texts: 'webhooks',
    refusals: REFUSALS,
    endpoints: [
      recordEndpoint({
        methods: ['GET'],
        summary: 'webhooks.deliveries',
        answer: deliveriesShape,
        params: HOOK_PARAMS.deliveries,
        mode: 'read',
        allow: mayManage,
        run: async (site, _caller, { id, limit = DEFAULT_DELIVERIES }) =>
          ok({ deliveries: await orNotFound(hookMessages(site, id, Math.min(limit, MAX_DELIVERIES))) }),
      }),
    ],
  },
];

/** Returns the route of an operation that queues messages of a webhook. */
function queueRoute(name: 'test' | 'retry', queue: (site: Site, id: number) => Promise<number>): ServedRoute {
  return {
    pattern: `${WEBHOOK_PATH}/${name}`,
    texts: 'webhooks',
    refusals: REFUSALS,
    endpoints: [
      recordEndpoint({
        methods: ['POST'],
        summary: `webhooks.${name}`,
        answer: queuedShape,
        params: HOOK_PARAMS.one,
        mode: 'read',
        allow: mayManage,
        run: async (site, _caller, { id }) => ok({ queued: await orNotFound(queue(site, id)) }),
      }),
    ],
  };
}

/**
 * Awaits an operation on a webhook. The webhook may be missing, or its user may have been deleted.
 *
 * @throws webhook-not-found, rest_invalid_param
 */
async function orNotFound<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HookError && error.problem === 'hook-unknown') return fail('webhook-not-found');
    if (error instanceof HookError && error.problem === 'hook-user-gone') return failParam('user', 'user-unknown');
    throw error;
  }
}
