import { randomBytes } from 'node:crypto';
import { objectOf } from '../objects.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { joinWriters, noteChange } from '../storage/journal/reported-changes.ts';
import { disableHooksOf } from '../storage/rows/hooks.ts';
import { lockNames, USERS_LOCK } from '../storage/rows/locks.ts';
import { findPeople } from '../storage/rows/people.ts';
import {
  capabilitiesKey,
  countPostsOf,
  findUserByEmail,
  findUserByLoginOrEmail,
  insertUser,
  levelKey,
  loadMembers,
  loadUsers,
  lockUser,
  lockUserForRemoval,
  membersAmong,
  preventUserRemoval,
  reassignPosts,
  removeUser,
  type StoredUser,
  takenNames,
  updateUser,
  writeUserMeta,
} from '../storage/rows/users.ts';
import type { Roles } from '../wordpress/capabilities.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { sanitizeDisplayName } from '../wordpress/content/kses.ts';
import { stripControlCharacters } from '../wordpress/content/plain-text.ts';
import { isEmail } from '../wordpress/email.ts';
import { knownLanguage } from '../wordpress/language-names.ts';
import { hashPassword, isPasswordTooLong, passwordFromForm } from '../wordpress/passwords.ts';
import { parseSerialized, type StoredValue, storedText, toSerialized } from '../wordpress/php/serialized.ts';
import { NICENAME_BYTES, nicenameOf, uniqueSlug } from '../wordpress/slug.ts';
import { utcFromDate } from '../wordpress/time.ts';
import { AccountError } from './account-error.ts';
import { hashFormatOf } from './hash-format.ts';

/** A user in readable form. `registered`: UTC, `YYYY-MM-DD HH:MM:SS`. */
export interface Account {
  readonly id: number;
  readonly login: string;
  readonly email: string;
  /** As plain text. */
  readonly displayName: string;
  readonly registered: string;
  readonly roles: readonly string[];
}

export interface NewAccount {
  readonly login: string;
  /** Undefined if the user has none. */
  readonly email: string | undefined;
  /** For signing in to WordPress. Without it, a random password is set that must be reset. */
  readonly password?: string | undefined;
  readonly role: string;
  /** Defaults to the login. */
  readonly displayName?: string | undefined;
}

/** A user by id, or by login or e-mail address. */
export type UserReference = number | string;

/**
 * Returns the reference in a text: digits are always an id, since its user may be gone and another one may have it as
 * login.
 */
export const userReference = (text: string): UserReference => (/^\d{1,15}$/.test(text) ? Number(text) : text);

/**
 * Creates a user with the rows that WordPress creates (`wp_insert_user`), in one transaction.
 *
 * @throws AccountError `login-invalid`, `login-taken`, `email-invalid`, `email-taken`, `password-empty`,
 * `password-long`, `role-unknown`
 */
export async function createUser(site: Site, { login, email, password, role, displayName = login }: NewAccount): Promise<Account> {
  if (!LOGIN.test(login) || login.trim() !== login) throw new AccountError('login-invalid', { login });
  if (email !== undefined) checkEmail(email);
  if (password !== undefined && password.trim() === '') throw new AccountError('password-empty');
  if (password !== undefined && isPasswordTooLong(password)) throw new AccountError('password-long');
  const { capabilities, level } = grantsOf(role, await rolesOf(site));
  const hash = await hashPassword(passwordFromForm(password ?? randomBytes(32).toString('base64url')), hashFormatOf(await site.settings()));
  const registered = utcFromDate(site.clock());
  const nicename = nicenameOf(login);
  const name = sanitizeDisplayName(stripControlCharacters(displayName)) || login;
  const id = await site.db.transaction(async (db) => {
    await lockNames(db, [USERS_LOCK]);
    const taken = await takenNames(db, { login, email: email ?? '', nicename });
    if (taken.login) throw new AccountError('login-taken', { login });
    if (email !== undefined && taken.email) throw new AccountError('email-taken', { email });
    const row = {
      user_login: login,
      user_pass: hash,
      user_nicename: uniqueSlug(nicename, taken.nicenames, NICENAME_BYTES),
      user_email: email ?? '',
      user_url: '',
      user_registered: registered,
      user_activation_key: '',
      user_status: 0,
      display_name: name,
    };
    const profile = Object.entries<string>({ nickname: login, ...DEFAULT_PROFILE, [levelKey(db)]: level });
    const metas = profile.map(([key, text]): [string, StoredValue] => [key, storedText(text)]);
    return insertUser(db, row, Object.fromEntries([...metas, [capabilitiesKey(db), capabilities] as const]));
  });
  return { id, login, email: email ?? '', displayName: decodeEntities(name), registered, roles: [role] };
}

/**
 * Lists all users of the site by id, without a limit. `role`: only users with that role.
 *
 * @throws AccountError `role-unknown`
 */
export async function listUsers(site: Site, { role }: { readonly role?: string | undefined } = {}): Promise<Account[]> {
  const roles = await rolesOf(site);
  if (role !== undefined) requireRole(role, roles);
  const users = await loadMembers(site.db, [capabilitiesKey(site.db)]);
  const accounts = users.map((user) => accountOf(site.db, roles, user));
  return role === undefined ? accounts : accounts.filter((account) => account.roles.includes(role));
}

/** One page of users, in the order of their ids. */
export interface AccountPage {
  readonly accounts: readonly Account[];
  readonly total: number;
  readonly page: number;
  readonly pages: number;
}

/** Number of users on a page. */
const PAGE_SIZE = 50;
/** Maximum number of users offered for selection. */
const MAX_CHOICES = 100;

const ALL_USERS_QUERY = {
  searched: ['user_login', 'user_nicename', 'user_email', 'display_name'],
  publishedIn: undefined,
  order: 'id',
  descending: false,
  offset: 0,
} as const;

/**
 * Returns a page of the users whose names or addresses contain the search text. A page past the end becomes the last
 * page.
 */
export async function pageOfUsers(site: Site, { search, page }: { readonly search: string; readonly page: number }): Promise<AccountPage> {
  const query = { ...ALL_USERS_QUERY, ...(search === '' ? {} : { search }), limit: PAGE_SIZE };
  const result = await findPeople(site.db, { ...query, offset: (page - 1) * PAGE_SIZE });
  const pages = Math.max(1, Math.ceil(result.total / PAGE_SIZE));
  const pageResult = page > pages ? await findPeople(site.db, { ...query, offset: (pages - 1) * PAGE_SIZE }) : result;
  return { accounts: await usersById(site, pageResult.ids), total: result.total, page: Math.min(page, pages), pages };
}

/** Returns users of the site by id, in this order. */
export async function usersById(site: Site, ids: readonly number[]): Promise<Account[]> {
  const roles = await rolesOf(site);
  const users = await loadUsers(site.db, ids, [capabilitiesKey(site.db)]);
  const storedUsers = ids.flatMap((id) => users.get(id) ?? []);
  return (await membersAmong(site.db, storedUsers)).map((user) => accountOf(site.db, roles, user));
}

/** Returns the users who may write, by name; undefined if there are too many to choose from. */
export async function selectableWriters(site: Site): Promise<Account[] | undefined> {
  const { ids, total } = await findPeople(site.db, { ...ALL_USERS_QUERY, writers: true, order: 'name', limit: MAX_CHOICES });
  return total > MAX_CHOICES ? undefined : usersById(site, ids);
}

/** Returns the first user who has the role of administrator. */
export async function firstAdministrator(site: Site): Promise<Account | undefined> {
  const { ids } = await findPeople(site.db, { ...ALL_USERS_QUERY, roles: ['administrator'], limit: PAGE_SIZE });
  return (await usersById(site, ids)).find(({ roles }) => roles.includes('administrator'));
}

/**
 * Deletes a user (`wp_delete_user`), in one transaction. If the user has written posts, another user must be named to
 * take them over, since posts are never deleted with their author.
 *
 * @throws AccountError `user-unknown`, `user-owns-posts`, `reassign-to-self`
 */
export async function deleteUser(
  site: Site,
  reference: UserReference,
  { reassign }: { reassign?: UserReference | undefined } = {},
): Promise<Account> {
  const roles = await rolesOf(site);
  return site.db.transaction(async (db) => {
    const user = await requireLocked(db, reference, [capabilitiesKey(db)]);
    await lockUserForRemoval(db, user.row.ID);
    joinWriters(db);
    const heir = reassign === undefined ? undefined : await requireUser(db, reassign, []);
    if (heir?.row.ID === user.row.ID) throw new AccountError('reassign-to-self', { login: user.row.user_login });
    if (heir && !(await preventUserRemoval(db, heir.row.ID))) throw new AccountError('user-unknown', { user: heir.row.user_login });
    const posts = await countPostsOf(db, user.row.ID);
    if (posts > 0 && !heir) throw new AccountError('user-owns-posts', { login: user.row.user_login, count: posts });
    if (posts > 0 && heir) {
      await reassignPosts(db, user.row.ID, heir.row.ID);
      noteChange(db, { now: site.clock() });
    }
    await removeUser(db, user.row.ID);
    await disableHooksOf(db, user.row.ID);
    return accountOf(db, roles, user);
  });
}

/**
 * Replaces the roles of a user by this one. Capabilities granted directly stay (`WP_User::set_role`).
 *
 * @throws AccountError `user-unknown`, `role-unknown`
 */
export async function setRole(site: Site, reference: UserReference, role: string): Promise<Account> {
  const roles = await rolesOf(site);
  return site.db.transaction(async (db) => {
    const user = await requireLocked(db, reference, [capabilitiesKey(db)]);
    const { level } = grantsOf(role, roles);
    const directGrants = Object.entries(storedGrantsOf(db, user)).filter(([name]) => !roles.has(name));
    const capabilities = toSerialized({ ...Object.fromEntries(directGrants), [role]: true });
    await writeUserMeta(db, user.row.ID, capabilitiesKey(db), capabilities);
    await writeUserMeta(db, user.row.ID, levelKey(db), storedText(level));
    return { ...accountOf(db, roles, user), roles: [role] };
  });
}

/**
 * Sets the e-mail address of a user (`wp_insert_user`).
 *
 * @throws AccountError `user-unknown`, `email-invalid`, `email-taken`
 */
export async function setEmail(site: Site, reference: UserReference, email: string): Promise<Account> {
  checkEmail(email);
  const roles = await rolesOf(site);
  return site.db.transaction(async (db) => {
    await lockNames(db, [USERS_LOCK]);
    const user = await requireLocked(db, reference, [capabilitiesKey(db)]);
    const holder = await findUserByEmail(db, email);
    if (holder !== undefined && holder !== user.row.ID) throw new AccountError('email-taken', { email });
    // A password link that was sent to the former address becomes invalid.
    const isOther = email !== user.row.user_email;
    await updateUser(db, user.row.ID, { user_email: email, ...(isOther ? { user_activation_key: '' } : {}) });
    return { ...accountOf(db, roles, user), email };
  });
}

function checkEmail(email: string): void {
  if (!isEmail(email) || email.length > MAX_EMAIL_LENGTH) throw new AccountError('email-invalid', { email });
}

/**
 * Stores the language in which a user wants to see the site's own pages, in WordPress's form (`it_IT`). A stored
 * variety of this language stays (`en_GB`); otherwise it becomes that of the site, if the site has one.
 */
export async function setLocale(site: Site, id: number, language: string): Promise<void> {
  const { contentLanguage } = await site.settings();
  const isOf = (locale: string) => locale.split(/[_-]/, 1)[0] === language;
  const locale = isOf(contentLanguage) ? contentLanguage.replaceAll('-', '_') : (knownLanguage(language)?.locale ?? language);
  await site.db.transaction(async (db) => {
    const { metas } = await requireLocked(db, id, ['locale']);
    if (!isOf(metas.get('locale') ?? '')) await writeUserMeta(db, id, 'locale', storedText(locale));
  });
}

/** Reads a user and locks it until the end of the transaction. */
async function requireLocked(db: Database, reference: UserReference, keys: readonly string[]): Promise<StoredUser> {
  await lockUser(db, (await requireUser(db, reference, [])).row.ID);
  return requireUser(db, reference, keys);
}

/**
 * Finds the user that a reference names: a number is an id, also of a user who has just been deleted; a text is a
 * login, even if it consists of digits, or else an e-mail address. Throws AccountError `user-unknown`.
 */
export async function requireUser(db: Database, reference: UserReference, keys: readonly string[]): Promise<StoredUser> {
  const user =
    typeof reference === 'number'
      ? (await loadUsers(db, [reference], keys)).get(reference)
      : reference !== '' && (await findUserByLoginOrEmail(db, reference, keys));
  if (!user) throw new AccountError('user-unknown', { user: String(reference) });
  return user;
}

/**
 * Returns the id of the user with a login or an e-mail address, even if it consists of digits. Throws AccountError
 * `user-unknown`.
 */
export const idOfName = async ({ db }: Site, name: string): Promise<number> => (await requireUser(db, name, [])).row.ID;

/** `sanitize_user` in its strict form, limited to the width of the column. */
const LOGIN = /^[A-Za-z0-9 _.@-]{1,60}$/;
const MAX_EMAIL_LENGTH = 100;

/** Additional metas that WordPress stores for each new user. */
const DEFAULT_PROFILE = {
  first_name: '', last_name: '', description: '', rich_editing: 'true', syntax_highlighting: 'true', infinite_scrolling: 'true',
  comment_shortcuts: 'false', admin_color: 'modern', use_ssl: '0', show_admin_bar_front: 'true', locale: '',
}; // biome-ignore format: a table

const rolesOf = async (site: Site): Promise<Roles> => (await site.settings()).roles;

function requireRole(role: string, roles: Roles) {
  const definition = roles.get(role);
  if (!definition) throw new AccountError('role-unknown', { role, roles: [...roles.keys()].join(', ') });
  return definition;
}

/**
 * Returns the two metas of a role. The level is the highest `level_N` among its capabilities
 * (`update_user_level_from_caps`).
 */
function grantsOf(role: string, roles: Roles): { capabilities: StoredValue; level: string } {
  const levels = Object.entries(requireRole(role, roles).capabilities).flatMap(([name, granted]) =>
    granted && /^level_\d+$/.test(name) ? [Number(name.slice(6))] : [],
  );
  return { capabilities: toSerialized({ [role]: true }), level: String(Math.max(0, ...levels)) };
}

const storedGrantsOf = (db: Database, { metas }: StoredUser): Readonly<Record<string, unknown>> =>
  objectOf(parseSerialized(metas.get(capabilitiesKey(db)) ?? ''));

function accountOf(db: Database, roles: Roles, user: StoredUser): Account {
  const { ID, user_login, user_email, display_name, user_registered } = user.row;
  const roleGrants = Object.entries(storedGrantsOf(db, user)).filter(([name, granted]) => granted && roles.has(name));
  return {
    id: ID,
    login: user_login,
    email: user_email,
    displayName: decodeEntities(display_name),
    registered: user_registered,
    roles: roleGrants.map(([name]) => name),
  };
}
