import type { QueryBuilder } from '../engine/builder.ts';

/** Counts the rows of a query, which must not have selected columns. */
export async function countRows(rows: QueryBuilder): Promise<number> {
  const row: { total: number | string } = await rows.count({ total: '*' }).first();
  return Number(row.total);
}

/**
 * Returns the total number of rows if each row of a page contains it (`COUNT(*) OVER ()`). A page beyond the last one
 * has no rows, so they are counted by `count`.
 */
export async function totalWith(
  rows: readonly { readonly total: number | string }[],
  offset: number,
  count: () => Promise<number>,
): Promise<number> {
  return rows.length === 0 && offset > 0 ? count() : Number(rows[0]?.total ?? 0);
}
