import { numberedSlugPrefix } from '../../wordpress/slug.ts';
import type { Builder, RawSql } from './builder.ts';
import type { Dialect, Sql } from './dialect.ts';

/* Pieces of SQL that both databases understand. Those that differ belong to the dialect. */

/**
 * Converts a text column of ids (metas store ids as text) to a number. NULL becomes 0, so that `NOT IN` works as
 * expected.
 */
export const asId = (db: Pick<Builder, 'raw'>, column: string): RawSql => db.raw('COALESCE(CAST(?? AS UNSIGNED), 0)', [column]);

/** Condition: `column` equals one of these values. */
export const equalsAny = (column: string, values: readonly (string | number)[]): Sql => [
  `?? IN (${values.map(() => '?').join()})`,
  [column, ...values],
];

/** Condition: all of these are true. */
export const every = (conditions: readonly Sql[]): Sql => [
  chained(
    conditions.map(([sql]) => sql),
    'AND',
  ),
  conditions.flatMap(([, bindings]) => bindings),
];

/** Condition: at least one of these is true. With a builder: `whereRaw(...either(conditions))`. */
export const either = (conditions: readonly Sql[]): Sql => [
  `(${chained(
    conditions.map(([sql]) => sql),
    'OR',
  )})`,
  conditions.flatMap(([, bindings]) => bindings),
];

const MAX_CHAIN_LENGTH = 100;

/**
 * Joins conditions with an operator. A long list is split in halves recursively, since SQLite allows expressions of at
 * most a thousand levels, and each link of a chain adds a level (`SQLITE_MAX_EXPR_DEPTH`).
 */
function chained(conditions: readonly string[], operator: 'AND' | 'OR'): string {
  if (conditions.length <= MAX_CHAIN_LENGTH) return conditions.join(` ${operator} `);
  const half = conditions.length >> 1;
  return `(${chained(conditions.slice(0, half), operator)}) ${operator} (${chained(conditions.slice(half), operator)})`;
}

/** The rows of all these SELECT statements. */
export const unionAll = (selections: readonly Sql[]): Sql => [
  selections.map(([sql]) => sql).join(' UNION ALL '),
  selections.flatMap(([, bindings]) => bindings),
];

/** Condition: `column` begins with `start`, with `%` and `_` as plain characters. */
export const beginsWith = (column: string, start: string): Sql => [`?? LIKE ? ESCAPE '!'`, [column, `${literal(start)}%`]];

/** Condition: `column` contains exactly `text`. For text typed by people use `search` of the dialect. */
export const contains = (column: string, text: string): Sql => [`?? LIKE ? ESCAPE '!'`, [column, `%${literal(text)}%`]];

const literal = (text: string) => text.replace(/[!%_]/g, '!$&');

/** Condition: `column`, whose length is limited to `bytes`, is a slug or is derived from it by appending a number. */
export const isSlugLike = ({ dialect }: { readonly dialect: Dialect }, column: string, slug: string, bytes?: number): Sql => {
  const [condition, bindings] = dialect.startsWith(column, numberedSlugPrefix(slug, bytes));
  return [`(?? = ? OR ${condition})`, [column, slug, ...bindings]];
};

/** Sort expression: the position of the value of `column` in this list. */
export const placeAmong = (column: string, values: readonly (string | number)[], direction: 'asc' | 'desc' = 'asc'): Sql => [
  `CASE ?? ${values.map((_, index) => `WHEN ? THEN ${index}`).join(' ')} END ${direction}`,
  [column, ...values],
];
