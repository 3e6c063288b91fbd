import type { QueryBuilder } from '../engine/builder.ts';

/** How many rows a query finds. It must not have chosen columns. */
export async function countRows(rows: QueryBuilder): Promise<number> {
  const counted = (await rows.count({ total: '*' }).first()) as { total: number | string };
  return Number(counted.total);
}
