import type { SiteSettings } from '../calendar/settings.ts';
import type { Verdict } from '../errors.ts';
import { type ContextValues, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../kinds/core/params.ts';
import { type PeopleListValues, USER_FILTERS } from '../kinds/core/people-params.ts';
import type { Person } from '../kinds/core/user.ts';
import { conditionsOf, mergeConditions } from '../kinds/filter.ts';
import { postKinds, postTypes } from '../kinds/index.ts';
import type { Selected } from '../kinds/param.ts';
import { isObject } from '../objects.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import type { LookUp } from '../storage/engine/look-up-once.ts';
import { findPeople, publishedAuthors } from '../storage/rows/people.ts';
import { capabilitiesKey, loadUsers, memberIds, type StoredUser } from '../storage/rows/users.ts';
import { type Roles, userCapabilities } from '../wordpress/capabilities.ts';
import { jsonValue, parseSerialized } from '../wordpress/php/serialized.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/*
 * Users as callers may see them: the authors of published records, and all users for callers who may list them
 * (`WP_REST_Users_Controller`).
 */

/** Types whose published posts make their authors public. */
const PUBLIC_TYPES = ['post', 'page', ...postTypes];
const PROFILE_METAS = ['description', 'first_name', 'last_name', 'nickname', 'locale'] as const;

export interface PeoplePage {
  readonly people: readonly Person[];
  readonly total: number;
  readonly page: number;
  readonly pages: number;
  /** For a list with an offset: the offset and the page size. */
  readonly skip?: { readonly offset: number; readonly limit: number } | undefined;
}

/** Lists the requested users that the caller may see. */
export async function listPeople(site: Site, settings: SiteSettings, viewer: Viewer, values: PeopleListValues): Promise<PeoplePage> {
  const { page = 1, per_page = DEFAULT_PAGE_SIZE, offset, orderby = 'name' } = values;
  const limit = Math.min(per_page, MAX_PAGE_SIZE);
  const skip = offset === undefined ? undefined : { offset: Math.max(0, offset), limit };
  const seesAll = viewer.can('list_users');
  const condition = mergeConditions(conditionsOf(USER_FILTERS, values, { settings, now: site.clock() }));
  const { capabilities, publishedIn = seesAll || condition.writers ? undefined : true, ...conditions } = condition;
  const { ids, total } = await findPeople(site.db, {
    ...conditions,
    ...(capabilities ? { roles: [...(condition.roles ?? []), ...rolesGranting(settings, capabilities)] } : {}),
    searched: seesAll
      ? ['user_login', 'user_nicename', 'user_email', 'user_url', 'display_name']
      : ['user_nicename', 'user_url', 'display_name'],
    publishedIn: publishedIn === true ? PUBLIC_TYPES : publishedIn,
    order: orderby,
    descending: values.order === 'desc',
    limit,
    offset: skip?.offset ?? (page - 1) * limit,
  });
  const peopleById = await loadPeople(site.db, settings, ids);
  return { people: ids.flatMap((id) => peopleById.get(id) ?? []), total, page, pages: Math.ceil(total / limit), skip };
}

/**
 * Returns the roles that grant one of these capabilities, and the capabilities themselves, since those granted to a
 * user directly are stored together with the roles (`WP_User_Query`, `capability__in`).
 */
const rolesGranting = ({ roles }: Pick<SiteSettings, 'roles'>, capabilities: readonly string[]): string[] => [
  ...[...roles].filter(([, role]) => capabilities.some((name) => role.capabilities[name] === true)).map(([name]) => name),
  ...capabilities,
];

/** Loads users by id, in one query. */
export async function loadPeople(
  db: Database,
  { roles }: Pick<SiteSettings, 'roles'>,
  ids: readonly number[],
): Promise<Map<number, Person>> {
  const users = await loadUsers(db, ids, [capabilitiesKey(db), preferencesKey(db), ...PROFILE_METAS]);
  return new Map([...users].map(([id, user]) => [id, personOf(user, db, roles)]));
}

/** Returns the meta with the editor's preferences of a user (`wp_register_persisted_preferences_meta`). */
const preferencesKey = ({ prefix }: Database): string => `${prefix}persisted_preferences`;

function personOf({ row, metas }: StoredUser, db: Database, roles: Roles): Person {
  const meta = (name: (typeof PROFILE_METAS)[number]) => metas.get(name) ?? '';
  const capabilitiesText = metas.get(capabilitiesKey(db)) ?? '';
  const preferences = jsonValue(parseSerialized(metas.get(preferencesKey(db)) ?? ''));
  const grantValues = parseSerialized(capabilitiesText);
  const grants = isObject(grantValues) ? Object.keys(grantValues).filter((name) => (grantValues as Record<string, unknown>)[name]) : [];
  return {
    id: row.ID,
    login: row.user_login,
    email: row.user_email,
    displayName: row.display_name,
    nicename: row.user_nicename,
    url: row.user_url,
    registered: row.user_registered,
    description: meta('description'),
    firstName: meta('first_name'),
    lastName: meta('last_name'),
    nickname: meta('nickname'),
    locale: meta('locale'),
    preferences: isObject(preferences) ? preferences : [],
    roles: grants.filter((name) => roles.has(name)),
    capabilities: [...userCapabilities(capabilitiesText, roles)].filter((name) => name !== 'exist'),
    grants,
  };
}

/**
 * Returns those of these users that the viewer may see: the viewer and authors of published records, or all of them for
 * viewers who may list users.
 */
export async function visiblePeople(lookUp: LookUp, viewer: Viewer, ids: readonly number[]): Promise<Set<number>> {
  if (viewer.can('list_users')) return new Set(ids);
  const authors = await lookUp(publishedAuthors, ids, PUBLIC_TYPES);
  return new Set(ids.filter((id) => authors.has(id) || isSelf(viewer, id)));
}

const isSelf = (viewer: Viewer, person: number): boolean => viewer.id > 0 && viewer.id === person;

/**
 * Whether a user exists for the viewer: a member of this site, or the viewer, since administrators of a network need
 * not be members of its sites.
 */
export const isKnownPerson = async (lookUp: LookUp, viewer: Viewer, person: number): Promise<boolean> =>
  isSelf(viewer, person) || (await lookUp(memberIds, [person])).has(person);

/**
 * Whether the viewer may act for a user, by an application password or a link to choose a password. Viewers may act for
 * themselves. Viewers who may edit users may also act for users with no more capabilities than their own.
 */
export async function mayActFor(lookUp: LookUp, settings: Pick<SiteSettings, 'roles'>, viewer: Viewer, person: number): Promise<boolean> {
  if (isSelf(viewer, person)) return true;
  return viewer.can('edit_users') && hasNoMoreCapabilities(lookUp, settings, viewer, person);
}

/**
 * Whether a user has no more capabilities than a viewer who manages users. Viewers who may assign roles count as having
 * all. In WordPress, plugins define this for their roles: WooCommerce's shop managers edit and delete users, but not
 * administrators (`wc_modify_map_meta_cap`).
 */
export async function hasNoMoreCapabilities(
  lookUp: LookUp,
  { roles }: Pick<SiteSettings, 'roles'>,
  viewer: Viewer,
  person: number,
): Promise<boolean> {
  if (viewer.can('promote_users')) return true;
  const capabilities = userCapabilities(await lookUp(storedGrants, person), roles);
  // Names of roles and the levels of old versions grant nothing by themselves.
  const allows = (name: string) => name !== 'exist' && !roles.has(name) && !/^level_\d+$/.test(name);
  return [...capabilities].every((name) => !allows(name) || viewer.can(name));
}

const storedGrants = async (db: Database, id: number): Promise<string> =>
  (await loadUsers(db, [id], [capabilitiesKey(db)])).get(id)?.metas.get(capabilitiesKey(db)) ?? '';

/**
 * Whether a list may be requested. Filters by role, orders by e-mail or registration, and `context=edit` are for
 * callers who may list users; the list of users who may write (`who=authors`) is for callers who may write.
 */
export function mayListPeople(viewer: Viewer, { context, orderby, roles, capabilities, who }: PeopleListValues): Verdict {
  if (!viewer.can('list_users')) {
    if (roles?.length || capabilities?.length) return 'rest_user_cannot_view';
    if (context === 'edit') return 'rest_forbidden_context';
    if (orderby === 'email' || orderby === 'registered_date') return 'rest_forbidden_orderby';
  }
  return who === 'authors' && !WRITE_CAPABILITIES.some((right) => viewer.can(right)) ? 'rest_forbidden_who' : true;
}

/** The capability to write, for each type whose records have an author. */
const WRITE_CAPABILITIES = ['edit_posts', 'edit_pages', ...postKinds.map(({ capabilities }) => `edit_${capabilities}`)];

/** Whether the caller may read a person (`WP_REST_Users_Controller::get_item_permissions_check`). */
export async function mayReadPerson(lookUp: LookUp, viewer: Viewer, { id: person, context }: Selected & ContextValues): Promise<Verdict> {
  if (!(await isKnownPerson(lookUp, viewer, person))) return 'rest_user_invalid_id';
  if (isSelf(viewer, person)) return true;
  if (context === 'edit' && !viewer.can('edit_users')) return 'rest_forbidden_context';
  return (await visiblePeople(lookUp, viewer, [person])).has(person) ? true : 'rest_user_cannot_view';
}
