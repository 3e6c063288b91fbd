import knex, { type Knex } from 'knex';
import type { Query, QueryContext, RunQuery } from './driver.ts';

/**
 * knex, as far as it puts statements together. What is awaited runs where the builder belongs to: on the database, or
 * in a transaction. Connections and transactions are ours.
 */
export interface Builder extends Pick<Knex, 'raw' | 'ref' | 'queryBuilder' | 'schema'> {
  // biome-ignore lint/suspicious/noExplicitAny: knex's own default for a table whose columns nobody named
  <Row extends object = any, Result = Row[]>(table: Knex.TableDescriptor | Knex.AliasDict): Knex.QueryBuilder<Row, Result>;
}

/** A statement that is being put together, of whichever table. */
export type QueryBuilder = Knex.QueryBuilder;

/** A piece of SQL with its bindings, for use in statements. */
export type RawSql<Value = unknown> = Knex.Raw<Value>;

/** What may be bound to a place of a statement. */
export type Binding = Knex.RawBinding;

/** The dialects of knex that are used, by its own names. */
type KnexDialect = 'better-sqlite3' | 'mysql2';

/**
 * Makes builders for a dialect. Without a connection knex only compiles
 * (https://knexjs.org/guide/#configuration-options); what a builder is awaited with is its client's `runner`, which
 * here gives the compiled statement to `run`.
 */
export function builders(dialect: KnexDialect): (run: RunQuery) => Builder {
  const compiler: InstanceType<typeof knex.Client> = knex({
    client: dialect,
    // A missing value of a new row is NULL on SQLite, which knows no DEFAULT among values.
    useNullAsDefault: dialect === 'better-sqlite3',
    compileSqlOnError: false,
    log: SILENT,
  }).client;
  return (run) => {
    const bound: typeof compiler = Object.create(compiler, {
      runner: { value: (builder: Compilable) => ({ run: async () => runAll(builder, bound, run) }) },
    });
    const from = (table: Knex.TableDescriptor | Knex.AliasDict) => bound.queryBuilder().table(table as string);
    const members = {
      raw: { value: (...given: unknown[]) => bound.raw(...given) },
      ref: { value: (name: string) => bound.ref(name) },
      queryBuilder: { value: () => bound.queryBuilder() },
      schema: { get: () => bound.schemaBuilder() },
    };
    return Object.defineProperties(from, members) as unknown as Builder;
  };
}

/** What comes before the conditions of a statement that has nothing else. */
const BEFORE_CONDITIONS = 'select * where ';

/**
 * Conditions as a piece of SQL. knex compiles whole statements only.
 *
 * @param builder of `db.query()`, with conditions and nothing else
 */
export function conditionOf(builder: QueryBuilder): [sql: string, bindings: Binding[]] {
  const { sql, bindings } = builder.toSQL();
  if (!sql.startsWith(BEFORE_CONDITIONS)) throw new Error(`not a condition: ${sql}`);
  return [sql.slice(BEFORE_CONDITIONS.length), [...bindings]];
}

/**
 * knex would print to the console what it also throws; what is thrown is logged once, by whoever answers the request.
 */
const SILENT = {
  warn: (): void => {},
  error: (): void => {},
  deprecate: (): void => {},
  debug: (): void => {},
};

/** A statement as knex compiles it. What makes the result of its rows asks `this` for the client. */
interface Compiled extends Pick<Query, 'sql' | 'pluck'> {
  readonly method?: string;
  readonly bindings?: readonly unknown[];
  readonly output?: (this: { readonly client: unknown }, rows: readonly unknown[]) => unknown;
}

interface Compilable {
  toSQL(): Compiled | readonly Compiled[];
  queryContext(): QueryContext | undefined;
}

/** A change of the schema may be several statements. */
async function runAll(builder: Compilable, client: unknown, run: RunQuery): Promise<unknown> {
  const compiled = builder.toSQL();
  if (!isList(compiled)) return run(queryOf(compiled, client, builder.queryContext()));
  const results: unknown[] = [];
  for (const query of compiled) results.push(await run(queryOf(query, client)));
  return compiled.length === 1 ? results[0] : results;
}

function queryOf({ method = 'raw', sql, bindings, pluck, output }: Compiled, client: unknown, context?: QueryContext): Query {
  const result = output && ((rows: readonly unknown[]) => output.call({ client }, rows));
  return { method, sql, bindings: bindings ?? [], pluck, output: result, table: context?.table };
}

const isList = (compiled: Compiled | readonly Compiled[]): compiled is readonly Compiled[] => Array.isArray(compiled);
