import { createHash } from 'node:crypto';
import { foldText } from '../engine/collation.ts';
import type { Database } from '../engine/database.ts';
import { upsertRows } from '../engine/insert.ts';

/**
 * Makes all transactions that give one of these names wait for each other until their end, so that a look-up followed
 * by an insert is safe though WordPress's tables have no unique key for it. A row of our own is written, not only
 * locked: if two transactions on two nodes of a cluster write the same row, one of them is refused and runs again.
 * Names share a bounded number of rows; sharing one costs a wait, no more. Call it before the look-up, in a
 * transaction. Where transactions write alone anyway there is nothing to do.
 */
export async function lockNames(db: Database, names: readonly string[]): Promise<void> {
  if (db.dialect.writers === 1) return;
  const rows = [...new Set(names.map(lockOf))].sort().map((name) => ({ name, touched: 1 }));
  await upsertRows(db, 'fasti_locks', rows, ['name'], { touched: 'touched + 1' });
}

/** As many rows as there are values of the first three hexadecimal digits: at most 4096. */
const lockOf = (name: string): string => createHash('sha1').update(name).digest('hex').slice(0, 3);

// -------------------------------------------------------------- names: who looks for the same thing gives the same one

/**
 * A slug that no other post of the type may have. For files of the library (`attachment`) it is looked for in all
 * types.
 */
export const slugLock = (postType: string, slug: string): string => `${postType}:slug:${stemOf(slug)}`;

/** A venue or organizer of this title, which is used again instead of being made a second time (decision D8). */
export const titleLock = (postType: string, title: string): string => `${postType}:title:${foldText(title)}`;

/** The name by which another system knows a record, which no other record of the type may have. */
export const externalIdLock = (postType: string, externalId: string): string => `${postType}:external:${externalId}`;

/** A term of this name in its taxonomy, whatever its case and accents. */
export const termNameLock = (taxonomy: string, name: string): string => `${taxonomy}:name:${foldText(name)}`;

/** A slug of a term: one that a term of another taxonomy has is passed over too. */
export const termSlugLock = (slug: string): string => `term:slug:${stemOf(slug)}`;

/** The tree of a taxonomy: who is below whom. */
export const termTreeLock = (taxonomy: string): string => `${taxonomy}:tree`;

/** A file in the folder of uploads, which several attachments may name. */
export const fileLock = (path: string): string => `file:${path}`;

/** An image that is fetched from this address into the library, where it is looked for first. */
export const imageLock = (source: string): string => `image:${source}`;

/** An option that is not there yet. */
export const optionLock = (name: string): string => `option:${name}`;

/** The metas of a user. They have no unique key, so two nodes of a cluster could insert the same one. */
export const userLock = (id: number): string => `user:${id}`;

/** The logins, addresses and nicenames of all users: a new one is compared with each of them. */
export const USERS_LOCK = 'users';

/** Long slugs are cut where a number has to stand behind. */
const STEM_LETTERS = 100;

/**
 * What a slug is made of, without the numbers behind it: whoever wants `concert` may get `concert-2`, which somebody
 * else may want as it is.
 */
function stemOf(slug: string): string {
  const parts = slug.slice(0, STEM_LETTERS).split('-');
  while (parts.length > 1 && /^\d*$/.test(parts.at(-1) ?? '')) parts.pop();
  return parts.join('-');
}
