import { type StoredValue, storedText, textOfStored } from '../../wordpress/php/serialized.ts';
import { NICENAME_BYTES } from '../../wordpress/slug.ts';
import type { Database, TransactionData } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { either, equalsAny, isSlugLike } from '../engine/expressions.ts';
import { insertRows } from '../engine/insert.ts';
import { pagesOf } from '../engine/pages.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import type { UserRow } from '../engine/tables.ts';
import { reportPostChanged, reportUser } from '../journal/reported-changes.ts';
import { lockNames, userLock } from './locks.ts';
import { isNetwork, readOptions, writeOption } from './options.ts';
import { countRows } from './row-count.ts';

/** A user with the requested metas. If a key has several rows, the first one counts, as in WordPress. */
export interface StoredUser {
  readonly row: UserRow;
  readonly metas: ReadonlyMap<string, string>;
}

/** Returns the name of the meta that holds a user's roles and individual capabilities. */
export const capabilitiesKey = (db: Database): string => `${db.prefix}capabilities`;
/** Returns the name of the meta that holds the highest level of a user, for old plugins. */
export const levelKey = (db: Database): string => `${db.prefix}user_level`;

/** Reads users by id, with these metas, in one query. */
export async function loadUsers(db: Database, ids: readonly number[], keys: readonly string[]): Promise<Map<number, StoredUser>> {
  if (ids.length === 0) return new Map();
  return usersWith(db, keys, equalsAny('u.ID', [...new Set(ids)]));
}

/** Reads all users with these metas, in the order of their ids. */
export async function loadAllUsers(db: Database, keys: readonly string[]): Promise<StoredUser[]> {
  return [...(await usersWith(db, keys, ['1 = 1', []])).values()];
}

/** Reads all users of this site with these metas, in the order of their ids. */
export async function loadMembers(db: Database, keys: readonly string[]): Promise<StoredUser[]> {
  if (!(await isNetwork(db))) return loadAllUsers(db, keys);
  const members: Sql = [`u.ID IN (SELECT user_id FROM ${db.table('usermeta')} WHERE meta_key = ?)`, [capabilitiesKey(db)]];
  return [...(await usersWith(db, keys, members)).values()];
}

/**
 * Returns the user with this login, with these metas. The login is compared by the database's collation, which ignores
 * case and accents (`get_user_by`). It takes one query whether such a user exists or not.
 */
export async function findUserByLogin(db: Database, login: string, keys: readonly string[]): Promise<StoredUser | undefined> {
  const users = await usersWith(db, keys, db.dialect.equalsFolded('u.user_login', login));
  return users.size < 2 ? users.values().next().value : firstOfLogin(db, users, login);
}

/**
 * Returns the user with this login or e-mail address. If the address of one user is the login of another, the login
 * takes precedence. Some users have no address, so an empty name is compared only with logins.
 */
export async function findUserByLoginOrEmail(db: Database, name: string, keys: readonly string[]): Promise<StoredUser | undefined> {
  const { dialect } = db;
  if (name === '') return findUserByLogin(db, name, keys);
  const users = await usersWith(db, keys, either([dialect.equalsFolded('u.user_login', name), dialect.equalsFolded('u.user_email', name)]));
  return users.size < 2 ? users.values().next().value : firstOfLogin(db, users, name);
}

/**
 * Returns one stored password of each beginning that names algorithm and work factor (`costOfHash`), and of each
 * length, since invalid ones have others. Beginnings that differ only in case name different factors. Old MD5 hashes
 * are left out, and so is Argon2, whose factors have no fixed length. It takes a look at every user.
 */
export async function passwordHashesOfEachCost(db: Database): Promise<string[]> {
  const rows = await db.rows<{ hash: string }>`
    SELECT MAX(user_pass) AS hash FROM {users} WHERE user_pass LIKE ${'$%'} AND user_pass NOT LIKE ${'$argon2%'}
    GROUP BY LENGTH(user_pass), HEX(SUBSTR(user_pass, 1, CASE
      WHEN user_pass LIKE ${'$wp$%'} THEN ${'$wp$2y$10$'.length} WHEN user_pass LIKE ${'$2%'} THEN ${'$2y$10$'.length} ELSE ${'$P$B'.length} END))`;
  return rows.map(({ hash }) => hash);
}

/** Returns the id of the user with this e-mail address. */
export async function findUserByEmail(db: Database, email: string): Promise<number | undefined> {
  const row = await db
    .from('users')
    .whereRaw(...db.dialect.equalsFolded('user_email', email))
    .select('ID')
    .first();
  return row?.ID;
}

/** Returns the first of several users that has this login; if none has, the first user. */
async function firstOfLogin(db: Database, users: ReadonlyMap<number, StoredUser>, login: string): Promise<StoredUser | undefined> {
  const logins = await db
    .from('users', 'u')
    .whereRaw(...db.dialect.equalsFolded('u.user_login', login))
    .orderBy('ID')
    .select('ID');
  return users.get(logins[0]?.ID ?? 0) ?? users.values().next().value;
}

/** Returns those of these ids that belong to users. */
export async function existingUserIds(db: Database, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .from('users')
    .whereIn('ID', [...new Set(ids)])
    .select('ID');
  return new Set(rows.map(({ ID }) => ID));
}

/**
 * Returns those of these ids that belong to users of this site: in a network of sites, users who have or had a role on
 * it.
 */
export async function memberIds(db: Database, ids: readonly number[]): Promise<Set<number>> {
  if (!(await isNetwork(db))) return existingUserIds(db, ids);
  return new Set([...(await loadUsers(db, ids, [capabilitiesKey(db)]))].flatMap(([id, user]) => (isMember(db, user) ? [id] : [])));
}

const isMember = (db: Database, { metas }: StoredUser): boolean => metas.has(capabilitiesKey(db));

/**
 * Returns those of these users, loaded with their capabilities, who are members of this site
 * (`is_user_member_of_blog`).
 */
export const membersAmong = async (db: Database, users: readonly StoredUser[]): Promise<readonly StoredUser[]> =>
  (await isNetwork(db)) ? users.filter((user) => isMember(db, user)) : users;

/** Whether the network has marked a user as spam (`is_user_spammy`). A single site does not mark users. */
export const isSpammer = async (db: Database, { row }: StoredUser): Promise<boolean> =>
  Number(row.spam ?? 0) === 1 && (await isNetwork(db));

/**
 * Returns whether a login and an e-mail address are in use, by the database's collation, and the existing
 * `user_nicename`s that are this one, possibly with a number appended. A login also counts as in use if it is the
 * e-mail address of another user, who could no longer sign in with it.
 */
export async function takenNames(
  db: Database,
  { login, email, nicename }: { login: string; email: string; nicename: string },
): Promise<{ login: boolean; email: boolean; nicenames: Set<string> }> {
  const holds = async (column: 'user_login' | 'user_email', value: string) =>
    (await db
      .from('users')
      .whereRaw(...db.dialect.equalsFolded(column, value))
      .select('ID')
      .first()) !== undefined;
  const rows = await db
    .from('users')
    .whereRaw(...isSlugLike(db, 'user_nicename', nicename, NICENAME_BYTES))
    .select('user_nicename');
  return {
    login: (await holds('user_login', login)) || (await holds('user_email', login)),
    email: await holds('user_email', email),
    nicenames: new Set(rows.map((row) => row.user_nicename)),
  };
}

/** Inserts a user with these metas and none of a deleted user with the same id, such as roles. Returns the id. */
export async function insertUser(db: Database, row: Omit<UserRow, 'ID'>, metas: Readonly<Record<string, StoredValue>>): Promise<number> {
  const user = await insertRows(db, 'users', [row]);
  await db.from('usermeta').where('user_id', user).delete();
  const rows = Object.entries(metas).map(([meta_key, meta_value]) => ({ user_id: user, meta_key, meta_value }));
  await insertRows(db, 'usermeta', rows);
  await countUsers(db);
  reportUser(db, user, 'made');
  return user;
}

/** Changes columns of a user. */
export async function updateUser(
  db: Database,
  id: number,
  columns: Partial<Pick<UserRow, 'user_pass' | 'user_activation_key' | 'user_email' | 'display_name'>>,
): Promise<void> {
  await db.from('users').where('ID', id).update(columns);
  reportUser(db, id, 'changed');
}

/**
 * Deletes a user with all metas. In a network of sites, which share the account, the user is only removed from this
 * site (`remove_user_from_blog`).
 */
export async function removeUser(db: Database, id: number): Promise<void> {
  if (await isNetwork(db)) {
    for (const key of [capabilitiesKey(db), levelKey(db)]) await writeUserMeta(db, id, key, undefined);
    return;
  }
  await db.from('usermeta').where('user_id', id).delete();
  await db.from('users').where('ID', id).delete();
  await countUsers(db);
  reportUser(db, id, 'removed');
}

/** Sets a meta of a user, or removes it if there is no value. Surplus rows of the key are deleted. */
export async function writeUserMeta(db: Database, id: number, key: string, value: StoredValue | undefined): Promise<void> {
  const rows = await db.from('usermeta').where({ user_id: id, meta_key: key }).orderBy('umeta_id').select('umeta_id');
  const [keptId, ...surplusIds] = rows.map((row) => row.umeta_id);
  const remove = value === undefined && keptId !== undefined ? [keptId, ...surplusIds] : surplusIds;
  if (remove.length > 0) await db.from('usermeta').where({ user_id: id, meta_key: key }).whereIn('umeta_id', remove).delete();
  reportUser(db, id, 'changed');
  if (value === undefined) return;
  // The row may have been deleted since it was read.
  const kept = () => db.from('usermeta').where({ umeta_id: keptId!, user_id: id, meta_key: key });
  const rowCount = keptId === undefined ? 0 : await kept().update({ meta_value: value });
  if (rowCount === 0) await insertRows(db, 'usermeta', [{ user_id: id, meta_key: key, meta_value: value }]);
}

/** Removes a meta of these users, in tables that are being filled. Returns the number of rows. */
export async function removeMetaOfUsers(db: Database, ids: readonly number[], key: string): Promise<number> {
  let count = 0;
  for (const page of pagesOf(ids, IDS_PER_QUERY))
    count += await db.from('usermeta').where('meta_key', key).whereIn('user_id', page).delete();
  return count;
}

const IDS_PER_QUERY = 500;

/**
 * Replaces the value of a meta unless it has changed in the meantime, in a single statement without a transaction.
 * Returns whether it was replaced.
 */
export async function replaceUserMeta(
  db: Database,
  id: number,
  key: string,
  { before, after }: { readonly before: string; readonly after: StoredValue },
): Promise<boolean> {
  return (await db.from('usermeta').where({ user_id: id, meta_key: key, meta_value: before }).update({ meta_value: after })) > 0;
}

/**
 * Prevents other Fasti processes from changing a user until the end of the transaction. Must be called before reading
 * the data to be changed.
 */
export const lockUser = (db: Database, id: number): Promise<void> => lockNames(db, [userLock(id)]);

/** The users that a transaction has already locked. */
const KEPT_USERS: TransactionData<Set<number>> = {
  create: () => new Set(),
  copy: (ids) => new Set(ids),
  namesRecords: () => false,
  write: async () => undefined,
  afterCommit: () => undefined,
};

/**
 * Prevents a user from being deleted until the end of the transaction. False if there is no such user. Several
 * transactions may lock the same user in this way. For clusters, `joinWriters` or `noteChange` must also be called.
 */
export async function preventUserRemoval(db: Database, id: number): Promise<boolean> {
  const keptUsers = db.transactionData(KEPT_USERS);
  if (keptUsers?.has(id)) return true;
  const rows = await db.rows`SELECT ID FROM {users} WHERE ID = ${id} ${verbatim(db.dialect.locks.share)}`;
  if (rows.length > 0) keptUsers?.add(id);
  return rows.length > 0;
}

/**
 * Waits for transactions that write posts of a user, so that all these posts are counted, and blocks further ones until
 * the end of this transaction. They will then find that the user does not exist.
 */
export async function lockUserForRemoval(db: Database, id: number): Promise<void> {
  await db.rows`SELECT ID FROM {users} WHERE ID = ${id} ${verbatim(db.dialect.locks.update)}`;
}

/**
 * Counts the posts of any type that a user is the author of. Links and revisions count too, since they would be left
 * without an author.
 */
export async function countPostsOf(db: Database, id: number): Promise<number> {
  return countRows(db.from('posts').where('post_author', id));
}

/** Assigns all posts of one user to another. */
export async function reassignPosts(db: Database, from: number, to: number): Promise<void> {
  for (const { ID } of await db.from('posts').where('post_author', from).select('ID')) reportPostChanged(db, ID);
  await db.from('posts').where('post_author', from).update({ post_author: to });
}

/** Updates the number of users, which WordPress stores in an option on some sites. */
async function countUsers(db: Database): Promise<void> {
  if (!(await readOptions(db, ['user_count'])).has('user_count')) return;
  await writeOption(db, 'user_count', storedText(String(await countRows(db.from('users')))));
}

interface JoinedRow extends UserRow {
  readonly umeta_id: number | null;
  readonly meta_key: string | null;
  readonly meta_value: string | null;
}

/**
 * Reads users in the order of their ids, with their metas, in one query: a second query would reveal by its duration
 * whether the user exists. The few rows are sorted here, since MySQL would sort them in a temporary table, which takes
 * as long as finding them. `condition`: a condition on `u`.
 */
async function usersWith(db: Database, keys: readonly string[], condition: Sql): Promise<Map<number, StoredUser>> {
  const rows = await db.rows<JoinedRow>`
    SELECT u.*, m.umeta_id, m.meta_key, m.meta_value FROM {users} u LEFT JOIN {usermeta} m ON m.user_id = u.ID AND m.meta_key IN (${keys})
    WHERE ${new Piece(condition)}`;
  rows.sort((one, other) => one.ID - other.ID || Number(one.umeta_id) - Number(other.umeta_id));
  const users = new Map<number, { row: UserRow; metas: Map<string, string> }>();
  for (const { umeta_id: _, meta_key: key, meta_value: value, ...row } of rows) {
    const user = users.get(row.ID) ?? { row, metas: new Map<string, string>() };
    users.set(row.ID, user);
    if (key !== null && !user.metas.has(key)) user.metas.set(key, textOfStored(value ?? ''));
  }
  return users;
}
