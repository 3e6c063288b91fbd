import {
  createPassword,
  introspectPassword,
  mayIntrospect,
  mayManagePasswords,
  ownerOf,
  passwordsOf,
  readPassword,
  removePassword,
  removePasswords,
  renamePassword,
} from '../../accounts/own-passwords.ts';
import type { StoredPassword } from '../../accounts/stored-passwords.ts';
import type { ProblemName, Verdict } from '../../errors.ts';
import type { ContextValues } from '../../kinds/core/params.ts';
import { corePassword, PASSWORD_PARAMS, type PasswordOwnerValues } from '../../kinds/core/password.ts';
import type { Caller } from '../../records/caller.ts';
import { viewOf } from '../../records/core/lists.ts';
import type { LookUp } from '../../storage/engine/look-up-once.ts';
import { coreUrl } from '../../wordpress/links.ts';
import { endpoint, type ServedRoute } from '../endpoint.ts';
import { createdReply, ok } from '../reply.ts';
import type { Reply } from '../route.ts';

const PATH = '/users/(?P<user_id>\\d+|me)/application-passwords';

const mayManage =
  (refusal: ProblemName) =>
  (lookUp: LookUp, { viewer, settings }: Caller, values: PasswordOwnerValues): Promise<Verdict> =>
    mayManagePasswords(lookUp, settings, viewer, values, refusal);

const showPassword = (caller: Caller, owner: number, entry: StoredPassword, values: ContextValues) =>
  corePassword(owner, entry, { context: caller, view: viewOf(values) });

/** Replies without caching, because using a password changes no version. */
const uncachedOk = (body: unknown): Reply => ({ ...ok(body), timeliness: 'always' });

/**
 * WordPress's own routes of application passwords: the list of a user, the password that the request uses, and the
 * single password.
 */
export const passwordRoutes: readonly ServedRoute[] = [
  {
    pattern: PATH,
    texts: 'passwords',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: 'passwords.list',
        params: PASSWORD_PARAMS.list,
        mode: 'read',
        allow: mayManage('rest_cannot_list_application_passwords'),
        run: async (site, caller, values) => {
          const owner = ownerOf(caller.viewer, values);
          return uncachedOk((await passwordsOf(site, owner)).map((entry) => showPassword(caller, owner, entry, values)));
        },
      }),
      endpoint({
        methods: ['POST'],
        summary: 'passwords.create',
        params: PASSWORD_PARAMS.create,
        mode: 'create',
        secret: 'never-again',
        allow: mayManage('rest_cannot_create_application_passwords'),
        run: async (site, caller, values) => {
          const owner = ownerOf(caller.viewer, values);
          const { entry, password } = await createPassword(site, owner, values);
          const record = corePassword(owner, entry, { context: caller, view: 'edit', plainPassword: password });
          return createdReply({ record }, coreUrl(caller, `users/${owner}/application-passwords/${entry.uuid}`));
        },
      }),
      endpoint({
        methods: ['DELETE'],
        summary: 'passwords.delete-all',
        params: PASSWORD_PARAMS.remove,
        mode: 'read',
        allow: mayManage('rest_cannot_delete_application_passwords'),
        run: async (site, caller, values) => ok({ deleted: true, count: await removePasswords(site, ownerOf(caller.viewer, values)) }),
      }),
    ],
  },
  {
    pattern: `${PATH}/introspect`,
    texts: 'passwords',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: 'passwords.introspect',
        params: PASSWORD_PARAMS.list,
        mode: 'read',
        allow: (lookUp, { viewer, settings }, values) => mayIntrospect(lookUp, settings, viewer, values),
        run: async (site, caller, values) =>
          uncachedOk(showPassword(caller, caller.viewer.id, await introspectPassword(site, caller.viewer), values)),
      }),
    ],
  },
  {
    pattern: `${PATH}/(?P<uuid>[\\w\\-]+)`,
    texts: 'passwords',
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: 'passwords.read',
        params: PASSWORD_PARAMS.one,
        mode: 'read',
        allow: mayManage('rest_cannot_read_application_password'),
        run: async (site, caller, values) => {
          const owner = ownerOf(caller.viewer, values);
          return uncachedOk(showPassword(caller, owner, await readPassword(site, owner, values.uuid), values));
        },
      }),
      endpoint({
        methods: ['POST', 'PUT', 'PATCH'],
        summary: 'passwords.change',
        params: PASSWORD_PARAMS.change,
        mode: 'read',
        allow: mayManage('rest_cannot_edit_application_password'),
        run: async (site, caller, values) => {
          const owner = ownerOf(caller.viewer, values);
          await renamePassword(site, owner, values.uuid, values.name);
          return uncachedOk(showPassword(caller, owner, await readPassword(site, owner, values.uuid), {}));
        },
      }),
      endpoint({
        methods: ['DELETE'],
        summary: 'passwords.delete',
        params: PASSWORD_PARAMS.removeOne,
        mode: 'read',
        allow: mayManage('rest_cannot_delete_application_password'),
        run: async (site, caller, values) => {
          const owner = ownerOf(caller.viewer, values);
          const { _links: _, ...previous } = showPassword(caller, owner, await removePassword(site, owner, values.uuid), {});
          return ok({ deleted: true, previous });
        },
      }),
    ],
  },
];
