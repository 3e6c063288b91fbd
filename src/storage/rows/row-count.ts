import type { QueryBuilder } from '../engine/builder.ts';

/** Counts the rows of a query, which must not have selected columns. */
export async function countRows(rows: QueryBuilder): Promise<number> {
  const row: { total: number | string } = await rows.count({ total: '*' }).first();
  return Number(row.total);
}

/**
 * Returns the total number of rows if each row of a page contains it. A page beyond the last one has no rows, so they
 * are counted by `count`.
 */
export async function totalWith(
  rows: readonly { readonly total: number | string }[],
  offset: number,
  count: () => Promise<number>,
): Promise<number> {
  return rows.length === 0 && offset > 0 ? count() : Number(rows[0]?.total ?? 0);
}

/** Beyond this offset, the total is counted apart: MariaDB computes the columns of skipped rows, too. */
const MAX_SKIPPED_ROWS = 1000;

/**
 * Returns the rows of one page and the total number of rows, usually from one statement. `page`: the query for the
 * page, which begins at `offset`, with its columns. `all`: returns a query for all rows, without selected columns.
 */
export async function pageWithTotal<Row>(
  page: QueryBuilder,
  offset: number,
  all: () => QueryBuilder,
): Promise<{ rows: Row[]; total: number }> {
  if (offset > MAX_SKIPPED_ROWS) {
    const [rows, total]: [Row[], number] = await Promise.all([page, countRows(all())]);
    return { rows, total };
  }
  const rows: { total: number | string }[] = await page.select(all().count('*').as('total'));
  const total = await totalWith(rows, offset, () => countRows(all()));
  // The type holds: the other columns are those of the page.
  return { rows: rows.map(({ total: _, ...row }) => row as Row), total };
}
