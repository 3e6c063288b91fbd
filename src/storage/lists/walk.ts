import type { Database } from '../engine/database.ts';

/** Returns the ids after `after` of posts of a type with one of these statuses, in order. */
export async function postIdsAfter(
  db: Database,
  type: string,
  { statuses, after, limit }: { readonly statuses: readonly string[]; readonly after: number; readonly limit: number },
): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT ID AS id FROM {posts} WHERE post_type = ${type} AND post_status IN (${statuses}) AND ID > ${after} ORDER BY ID LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/** Returns the ids after `after` of the terms of a taxonomy, in order. */
export async function termIdsAfter(
  db: Database,
  taxonomy: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT term_id AS id FROM {term_taxonomy} WHERE taxonomy = ${taxonomy} AND term_id > ${after} ORDER BY term_id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}
