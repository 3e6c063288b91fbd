import type { Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { readInParts } from '../engine/pages.ts';
import type { TableName } from '../engine/tables.ts';

/* Ids and slugs that new rows cannot have: those that are in use, and ids that are too high. */

/**
 * The highest id that a row may bring from elsewhere, which no real site reaches. The database numbers later rows from
 * the highest one, and beyond 2^53 numbers are not exact: two rows would appear to have the same id.
 */
export const MAX_OWN_ID = 2 ** 40;

/** Whether a row may bring this id from elsewhere, if it is not in use. */
export const isOwnId = (id: number | undefined): id is number => id !== undefined && Number.isSafeInteger(id) && id > 0 && id <= MAX_OWN_ID;

/** Returns the posts that have these ids: type and guid by id. */
export async function takenPostIds(db: Database, ids: readonly number[]): Promise<Map<number, Pick<Post, 'ID' | 'post_type' | 'guid'>>> {
  const rows: Pick<Post, 'ID' | 'post_type' | 'guid'>[] = await readInParts(ids, (page) =>
    db.from('posts').whereIn('ID', page).select('ID', 'post_type', 'guid'),
  );
  return new Map(rows.map((row) => [row.ID, row]));
}

/**
 * The columns that hold the ids of terms, of rows in `term_taxonomy` and of users. Rows in `term_taxonomy` may outlive
 * their term.
 */
const ID_COLUMNS = {
  terms: [
    ['terms', 'term_id'],
    ['term_taxonomy', 'term_id'],
  ],
  term_taxonomy: [['term_taxonomy', 'term_taxonomy_id']],
  users: [['users', 'ID']],
} as const satisfies Readonly<Record<string, readonly (readonly [table: TableName, column: string])[]>>;

/** Returns those of these ids that are in use. */
export async function takenIds(db: Database, of: keyof typeof ID_COLUMNS, ids: readonly number[]): Promise<Set<number>> {
  const taken = new Set<number>();
  for (const [table, column] of ID_COLUMNS[of]) {
    const rows: { id: number }[] = await readInParts(ids, (page) => db.from(table).whereIn(column, page).select({ id: column }));
    for (const { id } of rows) taken.add(id);
  }
  return taken;
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
