import type { QueryBuilder } from '../engine/builder.ts';

/** How many rows a query finds. It must not have chosen columns. */
export async function countRows(rows: QueryBuilder): Promise<number> {
  const counted: { total: number | string } = await rows.count({ total: '*' }).first();
  return Number(counted.total);
}

/**
 * How many rows there are in all, where each row of a page says so (`COUNT(*) OVER ()`). A page behind the last one has
 * no rows: then they are counted.
 */
export async function totalWith(
  rows: readonly { readonly total: number | string }[],
  offset: number,
  count: () => Promise<number>,
): Promise<number> {
  return rows.length === 0 && offset > 0 ? count() : Number(rows[0]?.total ?? 0);
}
