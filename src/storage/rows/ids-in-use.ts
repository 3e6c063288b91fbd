import type { Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { readInParts } from '../engine/pages.ts';

/* Ids and slugs that are already in use, so that new rows cannot have them. */

/** Returns the posts that have these ids: type and guid by id. */
export async function takenPostIds(db: Database, ids: readonly number[]): Promise<Map<number, Pick<Post, 'ID' | 'post_type' | 'guid'>>> {
  const rows: Pick<Post, 'ID' | 'post_type' | 'guid'>[] = await readInParts(ids, (page) =>
    db.from('posts').whereIn('ID', page).select('ID', 'post_type', 'guid'),
  );
  return new Map(rows.map((row) => [row.ID, row]));
}

/** Returns those of these ids (of terms, of rows in `term_taxonomy`, of users) that are in use. */
export async function takenIds(db: Database, table: 'terms' | 'term_taxonomy' | 'users', ids: readonly number[]): Promise<Set<number>> {
  const column = { terms: 'term_id', term_taxonomy: 'term_taxonomy_id', users: 'ID' }[table];
  const rows: { id: number }[] = await readInParts(ids, (page) => db.from(table).whereIn(column, page).select({ id: column }));
  return new Set(rows.map(({ id }) => id));
}

/** Returns the posts of any type that have one of these slugs. */
export async function postsHoldingSlugs(db: Database, slugs: readonly string[]): Promise<Pick<Post, 'ID' | 'post_type' | 'post_name'>[]> {
  return readInParts(slugs, (page) => db.from('posts').whereIn('post_name', page).select('ID', 'post_type', 'post_name'));
}

/** Returns the metas of custom fields (`_ecp_custom_2`) that posts have, whether or not the fields are defined. */
export async function usedCustomMetas(db: Database): Promise<string[]> {
  const rows: { meta_key: string | null }[] = await db
    .from('postmeta')
    .where('meta_key', '>=', '_ecp_custom_0')
    .where('meta_key', '<', '_ecp_custom_a')
    .distinct('meta_key');
  return rows.flatMap(({ meta_key: key }) => key ?? []);
}

/** Returns the highest id of a post of any type; 0 if there are none. */
export async function highestPostId(db: Database): Promise<number> {
  const row: { id?: number | null } | undefined = await db.from('posts').max({ id: 'ID' }).first();
  return Number(row?.id ?? 0);
}
