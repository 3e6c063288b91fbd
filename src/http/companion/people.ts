import { listPeople, loadPeople, mayListPeople, mayReadPerson } from '../../accounts/people.ts';
import { fail } from '../../errors.ts';
import { CONTEXT, type ContextValues, ID } from '../../kinds/core/params.ts';
import { USER_FILTERS } from '../../kinds/core/people-params.ts';
import { coreUser, type Person } from '../../kinds/core/user.ts';
import { type Caller, renderContext } from '../../records/caller.ts';
import { viewOf } from '../../records/core/lists.ts';
import type { Site } from '../../site.ts';
import { endpoint, recordEndpoint, type ServedRoute } from '../endpoint.ts';
import type { Endpoint, Method, Reply } from '../route.ts';
import { corePage } from './core-reply.ts';
import { personMethods } from './embeds.ts';

/**
 * Declares an endpoint that refuses to write users, which is only possible on the command line and in WordPress.
 * Callers who have the permission get an error that says so.
 */
const refusingEndpoint = (methods: readonly Method[], params: Endpoint['params'], allow: Endpoint['allow']): Endpoint => ({
  methods,
  summary: 'people.write',
  params,
  mode: 'read',
  allow,
  run: async () => fail('people-are-read-only'),
});

const mayEdit: Endpoint['allow'] = (_look, { viewer }, { id }) => viewer.can('edit_users') || (viewer.id > 0 && viewer.id === id);
const mayDelete: Endpoint['allow'] = (_look, { viewer }) => viewer.can('delete_users');

/** Members that WordPress's users controller adds only if `_fields` names them as a whole. */
const INDIVISIBLE_MEMBERS = ['capabilities', 'extra_capabilities', 'avatar_urls', 'meta'];

/** WordPress's own routes of users: the list, the single user, and the caller. */
export const peopleRoutes: readonly ServedRoute[] = [
  {
    pattern: '/users',
    texts: 'core',
    indivisibleMembers: INDIVISIBLE_MEMBERS,
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: 'people.list',
        params: USER_FILTERS,
        mode: 'read',
        allow: (_look, { viewer }, values) => mayListPeople(viewer, values),
        run: async (site, caller, values) => {
          const { people, ...page } = await listPeople(site, caller.settings, caller.viewer, values);
          return corePage({ ...page, timeliness: 'always', records: people.map((person) => showPerson(caller, person, values)) });
        },
      }),
      refusingEndpoint(['POST'], {}, (_look, { viewer }) => viewer.can('create_users')),
    ],
  },
  {
    pattern: '/users/(?P<id>\\d+)',
    texts: 'core',
    indivisibleMembers: INDIVISIBLE_MEMBERS,
    endpoints: [
      recordEndpoint({
        methods: ['GET'],
        summary: 'people.read',
        params: { ...ID, ...CONTEXT },
        mode: 'read',
        allow: (lookUp, { viewer }, values) => mayReadPerson(lookUp, viewer, values),
        run: (site, caller, values) => personReply(site, caller, values.id, values),
      }),
      refusingEndpoint(['POST', 'PUT', 'PATCH'], ID, mayEdit),
      refusingEndpoint(['DELETE'], ID, mayDelete),
    ],
  },
  {
    pattern: '/users/me',
    texts: 'core',
    indivisibleMembers: INDIVISIBLE_MEMBERS,
    endpoints: [
      endpoint({
        methods: ['GET'],
        summary: 'people.me',
        params: CONTEXT,
        mode: 'read',
        allow: 'anyone',
        run: (site, caller, values) =>
          caller.viewer.id === 0 ? fail('rest_not_logged_in') : personReply(site, caller, caller.viewer.id, values),
      }),
      refusingEndpoint(['POST', 'PUT', 'PATCH'], {}, (_look, { viewer }) => viewer.id > 0),
      refusingEndpoint(['DELETE'], {}, mayDelete),
    ],
  },
];

async function personReply(site: Site, caller: Caller, id: number, values: ContextValues): Promise<Reply> {
  const person = (await loadPeople(site.db, caller.settings, [id])).get(id) ?? fail('rest_user_invalid_id');
  return { status: 200, body: showPerson(caller, person, values), timeliness: 'always' };
}

const showPerson = (caller: Caller, person: Person, values: ContextValues) =>
  coreUser(
    person,
    { ...renderContext(caller, { mayRead: () => false, isOpen: () => false }), view: viewOf(values) },
    personMethods(caller, person.id),
  );
