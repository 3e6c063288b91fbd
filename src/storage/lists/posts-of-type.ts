import { DATES } from '../../kinds/events/metas.ts';
import { textOfStored } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import { DISCARDED_STATUSES } from '../../wordpress/status.ts';
import type { Database } from '../engine/database.ts';
import { countRows } from '../rows/row-count.ts';
import type { Visibility } from './post-query.ts';
import { whereVisible } from './post-visibility.ts';

/* All posts of a type, for exports, audits and forms: their ids and their number. */

/** A page of a list by ids: the id that it follows, and its maximum length. */
interface PageAfter {
  readonly after: number;
  readonly limit: number;
}

/** Returns the ids of posts of a type after an id, in order, in any status except unsaved ones (`auto-draft`). */
export async function idsOfType(db: Database, type: string, after: number, limit: number): Promise<number[]> {
  const rows: { id: number }[] = await db
    .from('posts')
    .where('post_type', type)
    .whereNot('post_status', 'auto-draft')
    .where('ID', '>', after)
    .orderBy('ID')
    .limit(limit)
    .select({ id: 'ID' });
  return rows.map(({ id }) => id);
}

/** Returns the ids of the first `limit` published posts of a type. */
export async function publishedIds(db: Database, type: string, limit: number): Promise<number[]> {
  const rows = await db.from('posts').where({ post_type: type, post_status: 'publish' }).orderBy('ID').limit(limit).select('ID');
  return rows.map(({ ID }) => ID);
}

/** Returns the ids after an id, in order, of the posts of a type that a caller may see. */
export async function visibleIds(db: Database, type: string, visible: Visibility, { after, limit }: PageAfter): Promise<number[]> {
  const rows: { id: number }[] = await db
    .from('posts', 'p')
    .where('p.post_type', type)
    .where('p.ID', '>', after)
    .where((where) => whereVisible(db, where, 'p', visible))
    .orderBy('p.ID')
    .limit(limit)
    .select({ id: 'p.ID' });
  return rows.map(({ id }) => id);
}

/** Counts the posts of a type that a caller may see, by status. `author`: only posts of this author. */
export async function countVisible(db: Database, type: string, visible: Visibility, author?: number): Promise<Map<string, number>> {
  const rows: { status: string; number: number | string }[] = await db
    .from('posts', 'p')
    .where('p.post_type', type)
    .modify((builder) => void (author !== undefined && builder.where('p.post_author', author)))
    .where((where) => whereVisible(db, where, 'p', visible))
    .groupBy('p.post_status')
    .select({ status: 'p.post_status' })
    .count({ number: '*' });
  return new Map(rows.map(({ status, number }) => [status, Number(number)]));
}

/** A post by its title. `start`: that of an event. */
export type TitledPost = Pick<Post, 'ID' | 'post_title' | 'post_author' | 'post_status' | 'post_type'> & { readonly start: string | null };

/** Returns the titles of posts of a type outside the trash, with the start if there is one, in pages by id. */
export async function titlesOf(db: Database, type: string, after: number, limit: number): Promise<(TitledPost & { id: number })[]> {
  return db
    .from('posts', 'p')
    .leftJoin({ m: db.table('postmeta') }, (on) => on.on('m.post_id', 'p.ID').andOnVal('m.meta_key', DATES.start))
    .where('p.post_type', type)
    .whereNotIn('p.post_status', DISCARDED_STATUSES)
    .where('p.ID', '>', after)
    .orderBy('p.ID')
    .limit(limit)
    .select({ id: 'p.ID', start: 'm.meta_value' }, 'p.ID', 'p.post_title', 'p.post_author', 'p.post_status', 'p.post_type');
}

/** Returns the values of a meta of posts of a type outside the trash, in pages by id of the post. */
export async function metaTextsOf(
  db: Database,
  type: string,
  key: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ id: number; text: string }[]> {
  const rows: { id: number; value: string | null }[] = await db
    .from('posts', 'p')
    .join({ m: db.table('postmeta') }, (on) => on.on('m.post_id', 'p.ID').andOnVal('m.meta_key', key))
    .where('p.post_type', type)
    .whereNotIn('p.post_status', DISCARDED_STATUSES)
    .where('p.ID', '>', after)
    .orderBy('p.ID')
    .limit(limit)
    .select({ id: 'p.ID', value: 'm.meta_value' });
  return rows.map(({ id, value }) => ({ id, text: textOfStored(value ?? '') }));
}

/**
 * Returns the number of posts of each type, the number of comments on posts of `types`, and the highest id of a post.
 */
export async function countTypes(
  db: Database,
  types: readonly string[],
): Promise<{ posts: Map<string, number>; comments: number; highestId: number }> {
  const rows: { type: string; number: number | string; highest: number }[] = await db
    .from('posts')
    .whereNot('post_status', 'auto-draft')
    .groupBy('post_type')
    .select({ type: 'post_type' })
    .count({ number: '*' })
    .max({ highest: 'ID' });
  const comments = await countRows(
    db
      .from('comments', 'c')
      .join({ p: db.table('posts') }, 'p.ID', 'c.comment_post_ID')
      .whereIn('p.post_type', [...types]),
  );
  return {
    posts: new Map(rows.map(({ type, number }) => [type, Number(number)])),
    comments,
    highestId: Math.max(0, ...rows.map(({ highest }) => highest)),
  };
}
