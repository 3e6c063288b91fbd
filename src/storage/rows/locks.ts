import { createHash } from 'node:crypto';
import { foldText } from '../engine/collation.ts';
import type { Database } from '../engine/database.ts';
import { upsertRows } from '../engine/insert.ts';

/**
 * Makes all transactions that assign one of these names wait for each other until their end. A look-up followed by an
 * insert is therefore safe, although WordPress's tables have no unique key for it. A row of our own is written, not
 * only locked: if two transactions on two nodes of a cluster write the same row, one of them is refused and runs again.
 * Names share a limited number of rows; sharing one costs only waiting time. Must be called before the look-up, in a
 * transaction. Does nothing if the database has a single writer.
 */
export async function lockNames(db: Database, names: readonly string[]): Promise<void> {
  if (db.dialect.maxWriters === 1) return;
  const rows = [...new Set(names.map(lockOf))].sort().map((name) => ({ name, touched: 1 }));
  await upsertRows(db, 'fasti_locks', rows, ['name'], { touched: 'touched + 1' });
}

/** Returns the lock row of a name. There are as many rows as values of three hexadecimal digits: at most 4096. */
const lockOf = (name: string): string => createHash('sha1').update(name).digest('hex').slice(0, 3);

// ------------------------------------------------------------ lock names: look-ups of the same thing use the same name

/** Lock for a slug that must be unique among the posts of a type. Slugs of attachments are unique among all types. */
export const slugLock = (postType: string, slug: string): string => `${postType}:slug:${stemOf(slug)}`;

/**
 * Lock for the title of a venue or organizer; one with the same title is reused instead of created again (decision D8).
 */
export const titleLock = (postType: string, title: string): string => `${postType}:title:${foldText(title)}`;

/** Lock for the id of a record in another system, which must be unique among the records of the type. */
export const externalIdLock = (postType: string, externalId: string): string => `${postType}:external:${externalId}`;

/** Lock for the name of a term in its taxonomy, ignoring case and accents. */
export const termNameLock = (taxonomy: string, name: string): string => `${taxonomy}:name:${foldText(name)}`;

/** Lock for the slug of a term. A slug that a term of another taxonomy has is not assigned either. */
export const termSlugLock = (slug: string): string => `term:slug:${stemOf(slug)}`;

/** Lock for the tree of a taxonomy: the parents of its terms. */
export const termTreeLock = (taxonomy: string): string => `${taxonomy}:tree`;

/** Lock for a file in the folder of uploads, which several attachments may refer to. */
export const fileLock = (path: string): string => `file:${path}`;

/**
 * Lock for an image that is fetched from this address into the library, after a look-up whether it is already there.
 */
export const imageLock = (source: string): string => `image:${source}`;

/** Lock for an option that does not exist yet. */
export const optionLock = (name: string): string => `option:${name}`;

/** Lock for the metas of a user. They have no unique key, so two nodes of a cluster could insert the same one. */
export const userLock = (id: number): string => `user:${id}`;

/** Lock for the logins, e-mail addresses and nicenames of all users: a new one is compared with each of them. */
export const USERS_LOCK = 'users';

/** Number of characters after which slugs are cut, since long slugs are shortened when a number is appended. */
const STEM_LETTERS = 100;

/**
 * Returns a slug without the numbers at its end: a request for `concert` may get `concert-2`, and another request may
 * ask for `concert-2` itself.
 */
function stemOf(slug: string): string {
  const parts = slug.slice(0, STEM_LETTERS).split('-');
  while (parts.length > 1 && /^\d*$/.test(parts.at(-1) ?? '')) parts.pop();
  return parts.join('-');
}
