import { conditionOf, type QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { Piece } from '../engine/statement.ts';
import type { Attached, PostQuery, Visibility } from './post-query.ts';

type Builder = QueryBuilder;

/**
 * Restricts a query to rows that the caller may see: by the status of `post`, and by the author of `authored` if the
 * visibility depends on the author.
 */
export function whereVisible(db: Database, where: Builder, post: string, visibility: Visibility, authored = post): void {
  const { viewer, all, others, own, ownTrash } = visibility;
  where.whereIn(`${post}.post_status`, [...all]);
  if (others.length > 0)
    where.orWhere((part) => part.whereNot(`${authored}.post_author`, viewer).whereIn(`${post}.post_status`, [...others]));
  if (own.length === 0) return;
  where.orWhere((part) => {
    part.where(`${authored}.post_author`, viewer).whereIn(`${post}.post_status`, [...own]);
    if (ownTrash === undefined) return;
    const wasPublished = db
      .from('postmeta', 'was')
      .select(db.raw('1'))
      .where('was.post_id', db.ref(`${post}.ID`))
      .where('was.meta_key', '_wp_trash_meta_status')
      .whereIn('was.meta_value', ['publish', 'future']);
    part.where((trashPart) =>
      trashPart.whereNot(`${post}.post_status`, 'trash')[ownTrash === 'published' ? 'orWhereExists' : 'orWhereNotExists'](wasPublished),
    );
  });
}

/**
 * Restricts a query to attachments `p` without a parent, or with a parent that makes them visible. For attachments with
 * a status of their own, only that status counts.
 */
export function whereAttached(db: Database, where: Builder, { toStatus, toSeen }: Attached): void {
  const parent = () => db.from('posts', 'up').select(db.raw('1')).where('up.ID', db.ref('p.post_parent'));
  where
    .whereNot('p.post_status', 'inherit')
    .orWhere('p.post_parent', 0)
    .orWhereNotExists(parent())
    .orWhereExists(
      parent().where((part: Builder) => {
        part.where((any: Builder) => whereVisible(db, any, 'up', toStatus, 'p'));
        for (const { postType, visible } of toSeen)
          part.orWhere((seen: Builder) =>
            seen.where('up.post_type', postType).where((any: Builder) => whereVisible(db, any, 'up', visible)),
          );
      }),
    );
}

/**
 * Restricts a query to posts (as `post`) whose texts are open to the request: unprotected ones, those with the password
 * of the request, and those that the caller may edit, if that opens them. Neither the contents nor the order of a list
 * may reveal hidden texts (decisions D13, D35).
 */
export function whereOpen(
  db: Database,
  where: Builder,
  { opened: { password, editable } }: Pick<PostQuery, 'opened'>,
  post = 'p',
): Builder {
  return where.where((open) => {
    open.whereRaw(...withoutPassword(post));
    if (password !== undefined) open.orWhereRaw(...db.dialect.equalsExactly(`${post}.post_password`, password));
    if (editable) open.orWhere((part) => whereVisible(db, part, post, editable));
  });
}

/**
 * Condition: `post` is not protected by a password. A password of spaces counts as a password, although MySQL considers
 * it equal to an empty text.
 */
export const withoutPassword = (post: string): [string, string[]] => ['LENGTH(??) = 0', [`${post}.post_password`]];

/** The condition of `whereOpen` as a piece of SQL. */
export const openSql = (db: Database, query: Pick<PostQuery, 'opened'>): Sql => conditionOf(whereOpen(db, db.query(), query));

/** Returns the passwords of all published posts of these types that have one. */
export async function recordPasswords(db: Database, types: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ post_password: string }>`
    SELECT p.post_password FROM {posts} p WHERE p.post_type IN (${types}) AND p.post_status = 'publish' AND NOT ${new Piece(withoutPassword('p'))}`;
  return new Set(rows.map((row) => row.post_password));
}
