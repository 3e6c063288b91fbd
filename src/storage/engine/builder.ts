import knex, { type Knex } from 'knex';
import type { Query, QueryContext, RunQuery } from './driver.ts';

/**
 * The part of knex that builds statements. Awaiting a builder runs it on the database or transaction that it belongs
 * to. Connections and transactions are handled by our own code.
 */
export interface Builder extends Pick<Knex, 'raw' | 'ref' | 'queryBuilder' | 'schema'> {
  // biome-ignore lint/suspicious/noExplicitAny: knex's own default for a table whose columns nobody named
  <Row extends object = any, Result = Row[]>(table: Knex.TableDescriptor | Knex.AliasDict): Knex.QueryBuilder<Row, Result>;
}

/** A statement that is being built, on any table. */
export type QueryBuilder = Knex.QueryBuilder;

/** A piece of SQL with its bindings, for use in statements. */
export type RawSql<Value = unknown> = Knex.Raw<Value>;

/** A value that can be bound to a placeholder of a statement. */
export type Binding = Knex.RawBinding;

/** The dialects of knex that are used, by knex's names. */
type KnexDialect = 'better-sqlite3' | 'mysql2';

/**
 * Makes builders for a dialect. Without a connection, knex only compiles statements
 * (https://knexjs.org/guide/#configuration-options). Awaiting a builder calls the `runner` of its client, which here
 * passes the compiled statement to `run`.
 */
export function builders(dialect: KnexDialect): (run: RunQuery) => Builder {
  const compiler: InstanceType<typeof knex.Client> = knex({
    client: dialect,
    // SQLite has no DEFAULT in a list of values, so a missing value of a new row becomes NULL there.
    useNullAsDefault: dialect === 'better-sqlite3',
    compileSqlOnError: false,
    log: SILENT,
  }).client;
  return (run) => {
    const client: typeof compiler = Object.create(compiler, {
      runner: { value: (builder: Compilable) => ({ run: async () => runAll(builder, client, run) }) },
    });
    const from = (table: Knex.TableDescriptor | Knex.AliasDict) => client.queryBuilder().table(table as string);
    const members = {
      raw: { value: (...args: unknown[]) => client.raw(...args) },
      ref: { value: (name: string) => client.ref(name) },
      queryBuilder: { value: () => client.queryBuilder() },
      schema: { get: () => client.schemaBuilder() },
    };
    return Object.defineProperties(from, members) as unknown as Builder;
  };
}

/** Text that precedes the conditions of a statement that consists only of conditions. */
const BEFORE_CONDITIONS = 'select * where ';

/**
 * Compiles conditions to a piece of SQL. knex itself compiles whole statements only.
 *
 * @param builder a builder of `db.query()` that has conditions and nothing else
 */
export function conditionOf(builder: QueryBuilder): [sql: string, bindings: Binding[]] {
  const { sql, bindings } = builder.toSQL();
  if (!sql.startsWith(BEFORE_CONDITIONS)) throw new Error(`not a condition: ${sql}`);
  return [sql.slice(BEFORE_CONDITIONS.length), [...bindings]];
}

/**
 * Silences knex, which would print its errors to the console in addition to throwing them. A thrown error is logged
 * once, by the code that answers the request.
 */
const SILENT = {
  warn: (): void => {},
  error: (): void => {},
  deprecate: (): void => {},
  debug: (): void => {},
};

/** A statement as compiled by knex. `output`, which converts the rows to the result, reads the client from `this`. */
interface Compiled extends Pick<Query, 'sql' | 'pluck'> {
  readonly method?: string;
  readonly bindings?: readonly unknown[];
  readonly output?: (this: { readonly client: unknown }, rows: readonly unknown[]) => unknown;
}

interface Compilable {
  toSQL(): Compiled | readonly Compiled[];
  queryContext(): QueryContext | undefined;
}

/** Runs a compiled builder. A schema change may consist of several statements. */
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
