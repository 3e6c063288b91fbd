import { sitePrefix } from '../../wordpress/network.ts';
import type { Builder, QueryBuilder } from './builder.ts';
import type { Cluster, ServerChange } from './cluster.ts';
import type { Dialect, Engine } from './dialect.ts';
import { type Asker, type Driver, isRead, type QueryContext, type RunQuery, runOutsideTransaction } from './driver.ts';
import { openMysql } from './mysql/driver.ts';
import { mayRepeat, retry } from './retry.ts';
import type { FileUse } from './sqlite/connection.ts';
import { openSqlite } from './sqlite/driver.ts';
import { statements, type TemplateValue } from './statement.ts';
import { type TableName, type Tables, tablePrefixes } from './tables.ts';
import type { Executor } from './transaction.ts';
import { type TransactionChecks, transactionChecks } from './transaction-checks.ts';
import { transactionRunner } from './transaction-runner.ts';

export { DatabaseUnavailable, type UnavailableReason } from './dialect.ts';

/** A query on one table, typed with the columns of that table. */
export type TableQuery<Name extends TableName> = ReturnType<typeof queryOf<Tables[Name]>>;

/** A database, or a transaction in it. Both have the same interface. */
export interface Database extends Asker {
  /**
   * Builds statements on any table. Only for migrations and tests: all other code uses `from`, whose rows are typed.
   */
  readonly knex: Builder;
  /** A piece of SQL for builders; `??` is a placeholder for a name, `?` for a value. */
  readonly raw: Builder['raw'];
  /** A reference to a column, for builder methods that would treat a string as a value. */
  readonly ref: Builder['ref'];
  /** The driver that runs the statements of the database and all its transactions. */
  readonly driver: Driver;
  readonly dialect: Dialect;
  /** Prefix of the site's own tables. */
  readonly prefix: string;
  /** Whether this is a transaction (or a part of one), so that the work which uses it may run again. */
  readonly isTransaction: boolean;

  /** Returns the prefix of a table. Sites of a network share some tables. */
  prefixOf(name: TableName): string;

  /** Returns the name of a table with its prefix. */
  table(name: TableName): string;

  /**
   * Starts a query on that table; `alias` is for joins. If the database is watched, this throws when the query would
   * run outside of a transaction that is open.
   */
  from<Name extends TableName>(name: Name, alias?: string): TableQuery<Name>;

  /** Starts a query whose table is set later. */
  query(): QueryBuilder;

  /** Runs a reading statement, written as a template (`statement.ts`), and returns its rows. */
  rows<Row>(text: TemplateStringsArray, ...places: TemplateValue[]): Promise<Row[]>;

  /** Runs an INSERT in the same way. Returns the number that the database assigned to a single row. */
  insert(text: TemplateStringsArray, ...places: TemplateValue[]): Promise<number>;

  /** Runs an UPDATE or DELETE in the same way. Returns the number of affected rows. */
  change(text: TemplateStringsArray, ...places: TemplateValue[]): Promise<number>;

  /**
   * Runs `work` as one transaction: either everything is written or nothing. After a conflict with another transaction,
   * all of `work` runs again, so it must not do anything except query and write through the database that is passed to
   * it. Inside a transaction, `work` runs in that transaction.
   *
   * @throws DatabaseUnavailable `busy` after too many conflicts, `uncertain` if the database was lost during COMMIT; or
   * whatever `work` throws
   */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>;

  /**
   * Runs `work` as a part of this transaction. If it fails, its writes are undone and the transaction continues.
   * Outside a transaction, `work` runs as a transaction. Parts cannot be nested: within a part, `part` runs its work
   * directly.
   *
   * @throws whatever `work` throws
   */
  part<T>(work: (db: Database) => Promise<T>): Promise<T>;

  /**
   * Returns the data that this transaction has gathered so far. It is written once, at the end of the transaction, just
   * before COMMIT. Undefined outside of transactions.
   */
  transactionData<T>(definition: TransactionData<T>): T | undefined;

  /**
   * Present if reads are tracked (`journal/dependencies.ts`): `note` declares what a query depends on, `plain` is the
   * database to run the query on.
   */
  readonly tracker?: { readonly plain: Database; readonly note: (dependencies: Iterable<number | string | object>) => void };

  /** The servers of the database. */
  readonly cluster: Cluster;

  /** Returns the number of queries that have run so far, including BEGIN and COMMIT. */
  queries(): number;

  /** Closes all connections. */
  close(): Promise<void>;
}

/** A kind of data that a transaction gathers, and writes at its end. */
export interface TransactionData<T> {
  readonly create: () => T;
  /**
   * Returns a copy that is not affected by data gathered later. If a part of the transaction fails, this copy is
   * restored.
   */
  readonly copy: (gathered: T) => T;
  /** Whether the gathered data name any records. */
  readonly namesRecords: (gathered: T) => boolean;
  readonly write: (db: Database, gathered: T) => Promise<void>;
  /** Called after everything has been committed, and never if the outcome of the COMMIT is uncertain. */
  readonly afterCommit: (db: Database, gathered: T) => void;
}

/** The location of the data, and the prefix of the table names. */
export interface DatabaseSettings {
  /** `sqlite:PATH`, `sqlite::memory:` or `mysql://user:password@host:port/name`, optionally with several hosts. */
  readonly url: string;
  /** `$table_prefix` of `wp-config.php`. */
  readonly prefix: string;
  /** Number of the site in a network; 1 by default. */
  readonly site?: number;
  /** For a replica, which is only read: its primary, which is queried if the replica does not answer. */
  readonly primary?: Database;
  /** Called when a server has failed, and when a different one is used. */
  readonly onServerChange?: (change: ServerChange) => void;
  /**
   * Refuses queries outside of the open transaction, which would miss its writes. Also refuses transactions that lock
   * rows and write without writing the row that every writer writes (`joinWriters`), that write records without
   * reporting them to the journal, or that write metas of users without having locked names (`transaction-checks.ts`).
   * For tests.
   */
  readonly watched?: boolean;
  /** `read`: nothing is written, so that an SQLite file need not be writable; `write` by default. */
  readonly use?: FileUse;
}

/**
 * Opens the database. An absent server is not noticed before the first query.
 *
 * @throws Error with a one-line message if the address or the prefix is invalid, or the file can't be opened
 */
export async function openDatabase({ url, prefix, site = 1, watched = false, ...options }: DatabaseSettings): Promise<Database> {
  if (!/^\w*$/.test(prefix)) throw new Error(`a table prefix consists of letters, digits and underscores, unlike "${prefix}"`);
  const engine = engineAt(url, options);
  return root(engine, { prefix, site }, watched ? transactionChecks(engine.dialect.maxWriters === 1) : undefined);
}

/**
 * Tests whether the database accepts writes, without writing anything.
 *
 * @throws DatabaseUnavailable with the reason why it does not
 */
export const checkWritable = ({ driver, prefix }: Database): Promise<void> => driver.checkWritable(prefix);

/**
 * Checks that the database answers.
 *
 * @throws DatabaseUnavailable with the reason why it does not
 */
export async function ping(db: Database): Promise<void> {
  await db.ask('SELECT 1');
}

/** Whether there is a table of this name, given without the prefix. */
export const hasTable = async (db: Database, name: TableName): Promise<boolean> =>
  (await db.dialect.columns(db, db.table(name))).length > 0;

const queryOf = <Row extends object>(builder: Builder, name: TableName, table: string | Readonly<Record<string, string>>) =>
  builder<Row>(table).queryContext({ table: name } satisfies QueryContext);

function engineAt(
  url: string,
  { primary, onServerChange, use = 'write' }: Pick<DatabaseSettings, 'primary' | 'onServerChange' | 'use'>,
): Engine {
  const scheme = /^\w+:/.exec(url)?.[0];
  if (scheme === 'sqlite:') return openSqlite(url, use);
  if (scheme !== 'mysql:') throw new Error('the address of the database must begin with "sqlite:" or "mysql://"');
  return openMysql(url, { ...(primary ? { primary: primary.driver } : {}), ...(onServerChange ? { onServerChange } : {}) });
}

/** State shared by a database and the transactions in it. */
interface Shared {
  readonly engine: Engine;
  readonly prefix: string;
  readonly prefixOf: Database['prefixOf'];
  readonly statementOf: ReturnType<typeof statements>;
  readonly inTransaction: ReturnType<typeof transactionRunner>;
  /** Runs the statements that are outside of transactions. */
  readonly standaloneExecutor: Executor;
  /** Undefined if the database is not watched. */
  readonly checks: TransactionChecks | undefined;
  readonly queries: () => number;
}

type TransactionDataMap = Map<TransactionData<unknown>, unknown>;

function root(engine: Engine, { prefix, site }: { prefix: string; site: number }, checks: Shared['checks']): Database {
  const { driver, dialect } = engine;
  const prefixOf = tablePrefixes(prefix, site);
  const runOnce: RunQuery = (query) => runOutsideTransaction(driver, query);
  const isWorthwhile = (error: unknown, waited: number): boolean => mayRepeat(error, waited) ?? false;
  const run: RunQuery = (query) => (isRead(query) ? runOnce(query) : retry(dialect.maxRetryPauseMs, isWorthwhile, () => runOnce(query)));
  let count = 0;
  driver.listen(({ sql }) => {
    count += 1;
    checks?.note(sql);
  });
  const shared: Shared = {
    engine,
    prefix: sitePrefix(prefix, site),
    prefixOf,
    statementOf: statements(prefixOf),
    inTransaction: transactionRunner(engine),
    standaloneExecutor: { run, builder: engine.builderFor(run) },
    checks,
    queries: () => count,
  };
  return databaseOn(shared, shared.standaloneExecutor);
}

/** Creates the database whose statements `executor` runs, either outside of transactions or in one. */
function databaseOn(shared: Shared, executor: Executor, gatherings?: TransactionDataMap): Database {
  const { prefix, prefixOf, standaloneExecutor, engine, checks } = shared;
  const { driver, dialect, cluster } = engine;
  const nameOf = (name: TableName) => prefixOf(name) + name;
  const refuseOutside = (): void => {
    if (executor === standaloneExecutor) checks?.refuseOutside();
  };
  const run = (method: 'select' | 'insert' | 'update', text: TemplateStringsArray, places: TemplateValue[]): Promise<unknown> => {
    refuseOutside();
    return executor.run({ method, ...shared.statementOf(text, places) });
  };
  const db: Database = {
    get knex() {
      return executor.builder;
    },
    get raw() {
      return executor.builder.raw;
    },
    get ref() {
      return executor.builder.ref;
    },
    ...{ driver, dialect, cluster, prefix, prefixOf, isTransaction: executor !== standaloneExecutor },
    table: nameOf,
    from: <Name extends TableName>(name: Name, alias?: string) => {
      refuseOutside();
      return queryOf<Tables[Name]>(executor.builder, name, alias === undefined ? nameOf(name) : { [alias]: nameOf(name) });
    },
    query: () => {
      refuseOutside();
      return executor.builder.queryBuilder();
    },
    ask: <Row>(sql: string, bindings: readonly unknown[] = []) => executor.run({ method: 'rows', sql, bindings }) as Promise<Row[]>,
    rows: <Row>(text: TemplateStringsArray, ...places: TemplateValue[]) => run('select', text, places) as Promise<Row[]>,
    insert: async (text, ...places) => Number(((await run('insert', text, places)) as [number | bigint])[0]),
    change: async (text, ...places) => Number(await run('update', text, places)),
    transaction: async (work) => {
      if (db.isTransaction) return work(db);
      refuseOutside();
      let gathered: TransactionDataMap = new Map();
      const result = await shared.inTransaction((transaction) => {
        gathered = new Map();
        return transactionWork(shared, work, transaction, gathered);
      });
      for (const [definition, data] of gathered) definition.afterCommit(db, data);
      return result;
    },
    part: async (work) => (executor === standaloneExecutor ? db.transaction(work) : partOf(shared, db, gatherings, work)),
    transactionData: (definition) => transactionDataIn(gatherings, definition),
    queries: shared.queries,
    close: async () => {
      await driver.close();
    },
  };
  return db;
}

/** Runs the work of a transaction and writes the data that it has gathered. */
function transactionWork<T>(
  shared: Shared,
  work: (db: Database) => Promise<T>,
  executor: Executor,
  gatherings: TransactionDataMap,
): Promise<T> {
  const run = async (reportWrites: (namesRecords: boolean) => void): Promise<T> => {
    const db = databaseOn(shared, executor, gatherings);
    const result = await work(db);
    for (const [definition, data] of gatherings) {
      reportWrites(definition.namesRecords(data));
      await definition.write(db, data);
    }
    return result;
  };
  return shared.checks ? shared.checks.run(run) : run(() => undefined);
}

/** Runs a part of a transaction. If it fails, its writes and gathered data are undone. */
async function partOf<T>(
  { checks }: Shared,
  db: Database,
  gatherings: TransactionDataMap | undefined,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  await db.ask('SAVEPOINT part');
  const before = [...(gatherings ?? [])].map(([definition, data]) => [definition, definition.copy(data)] as const);
  const forgetRecords = checks?.beginPart();
  // At any depth: MySQL forgets a savepoint when another one takes its name.
  const partDb: Database = { ...db, transaction: (inner) => inner(partDb), part: (inner) => inner(partDb) };
  try {
    const result = await work(partDb);
    await db.ask('RELEASE SAVEPOINT part');
    return result;
  } catch (error) {
    await db.ask('ROLLBACK TO SAVEPOINT part');
    forgetRecords?.();
    gatherings?.clear();
    for (const [definition, data] of before) gatherings?.set(definition, data);
    throw error;
  }
}

function transactionDataIn<T>(gatherings: TransactionDataMap | undefined, definition: TransactionData<T>): T | undefined {
  // The key of the map determines the type of its value.
  const key = definition as TransactionData<unknown>;
  if (gatherings && !gatherings.has(key)) gatherings.set(key, definition.create());
  return gatherings?.get(key) as T | undefined;
}
