import { startOfNumbered } from '../../wordpress/slug.ts';
import type { Builder, RawSql } from './builder.ts';
import type { Dialect, Sql } from './dialect.ts';

/*
 * Pieces of SQL that both databases read alike. Those that they don't are the dialect's.
 */

/** Ids stand as text in metas: the column as a number; what names nothing is 0, so that `NOT IN` finds the others. */
export const asId = (db: Pick<Builder, 'raw'>, column: string): RawSql => db.raw('COALESCE(CAST(?? AS UNSIGNED), 0)', [column]);

/** Condition: `column` equals one of these values. */
export const equalsAny = (column: string, values: readonly (string | number)[]): Sql => [
  `?? IN (${values.map(() => '?').join()})`,
  [column, ...values],
];

/** Condition: all of these hold. */
export const every = (conditions: readonly Sql[]): Sql => [
  chained(
    conditions.map(([sql]) => sql),
    'AND',
  ),
  conditions.flatMap(([, bindings]) => bindings),
];

/** Condition: one of these holds. Builders have it as `whereRaw(...either(conditions))`. */
export const either = (conditions: readonly Sql[]): Sql => [
  `(${chained(
    conditions.map(([sql]) => sql),
    'OR',
  )})`,
  conditions.flatMap(([, bindings]) => bindings),
];

const LONGEST_CHAIN = 100;

/**
 * Conditions one after the other; many of them as halves of halves, since SQLite takes expressions of a thousand levels
 * at most, and each link of a chain is one more (`SQLITE_MAX_EXPR_DEPTH`).
 */
function chained(conditions: readonly string[], operator: 'AND' | 'OR'): string {
  if (conditions.length <= LONGEST_CHAIN) return conditions.join(` ${operator} `);
  const half = conditions.length >> 1;
  return `(${chained(conditions.slice(0, half), operator)}) ${operator} (${chained(conditions.slice(half), operator)})`;
}

/** The rows of all these selections. */
export const unionAll = (selections: readonly Sql[]): Sql => [
  selections.map(([sql]) => sql).join(' UNION ALL '),
  selections.flatMap(([, bindings]) => bindings),
];

/** Condition: `column` begins with `start`, `%` and `_` being plain characters. */
export const beginsWith = (column: string, start: string): Sql => [`?? LIKE ? ESCAPE '!'`, [column, `${literal(start)}%`]];

/** Condition: `column` contains `text` to the letter. What people search for is the dialect's `search`. */
export const contains = (column: string, text: string): Sql => [`?? LIKE ? ESCAPE '!'`, [column, `%${literal(text)}%`]];

const literal = (text: string) => text.replace(/[!%_]/g, '!$&');

/** Condition: `column`, of so many bytes, is a slug or one that was made of it, with a number behind. */
export const isSlugLike = ({ dialect }: { readonly dialect: Dialect }, column: string, slug: string, bytes?: number): Sql => {
  const [made, bindings] = dialect.startsWith(column, startOfNumbered(slug, bytes));
  return [`(?? = ? OR ${made})`, [column, slug, ...bindings]];
};

/** For sorting by the place of `column` among these values. */
export const placeAmong = (column: string, values: readonly (string | number)[], direction: 'asc' | 'desc' = 'asc'): Sql => [
  `CASE ?? ${values.map((_, place) => `WHEN ? THEN ${place}`).join(' ')} END ${direction}`,
  [column, ...values],
];
