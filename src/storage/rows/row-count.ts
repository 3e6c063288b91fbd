import type { QueryBuilder } from '../engine/builder.ts';

/** Counts the rows of a query, which must not have selected columns. */
export async function countRows(rows: QueryBuilder): Promise<number> {
  const row: { total: number | string } = await rows.count({ total: '*' }).first();
  return Number(row.total);
}

/**
 * Returns the total number of rows if each row of a page contains it. A page beyond the last one
 * has no rows, so they are counted by `count`.
 */
export async function totalWith(
  rows: readonly { readonly total: number | string }[],
  offset: number,
  count: () => Promise<number>,
): Promise<number> {
  return rows.length === 0 && offset > 0 ? count() : Number(rows[0]?.total ?? 0);
}

/**
 * Returns the rows of one page and the total number of rows, from one statement. `page`: the query for the page, which
 * begins at `offset`, with its columns. `all`: returns a query for all rows, without selected columns.
 */
export async function pageWithTotal<Row>(
  page: QueryBuilder,
  offset: number,
  all: () => QueryBuilder,
): Promise<{ rows: (Row & { readonly total: number | string })[]; total: number }> {
  const rows = await page.select(all().count('*').as('total'));
  return { rows, total: await totalWith(rows, offset, () => countRows(all())) };
}
