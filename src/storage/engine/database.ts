import type { Builder, QueryBuilder } from './builder.ts';
import type { Cluster, ServerChange } from './cluster.ts';
import type { Dialect, Engine } from './dialect.ts';
import { type Asker, type Driver, type QueryContext, type RunQuery, runOnce } from './driver.ts';
import { openMysql } from './mysql/driver.ts';
import { openSqlite } from './sqlite/driver.ts';
import { statements, type TemplateValue } from './statement.ts';
import type { TableName, Tables } from './tables.ts';
import type { Executor } from './transaction.ts';
import { type TransactionChecks, transactionChecks } from './transaction-checks.ts';
import { transactionRunner } from './transaction-runner.ts';

export { DatabaseUnavailable, type UnavailableReason } from './dialect.ts';

/** A query on one table that knows its columns. */
export type TableQuery<Name extends TableName> = ReturnType<typeof queryOf<Tables[Name]>>;

/** A database, or a transaction in it: both are used alike. */
export interface Database extends Asker {
  /** Builds statements on any table. For migrations and tests: everything else asks `from`, whose rows have types. */
  readonly knex: Builder;
  /** A piece of SQL for statements that are built; `??` stands for a name, `?` for a value. */
  readonly raw: Builder['raw'];
  /** A column, where a statement that is built would take a text for a value. */
  readonly ref: Builder['ref'];
  /** What the statements of all its transactions run on. */
  readonly driver: Driver;
  readonly dialect: Dialect;
  readonly prefix: string;

  /** The name of a table with the prefix of the site. */
  table(name: TableName): string;

  /**
   * A query on that table, `alias` for use in joins. Where the database is watched it throws when the query would run
   * beside an open transaction.
   */
  from<Name extends TableName>(name: Name, alias?: string): TableQuery<Name>;

  /** A query whose table is still to be said. */
  query(): QueryBuilder;

  /** Runs a statement that reads, written out as a template (`statement.ts`), and returns its rows. */
  rows<Row>(text: TemplateStringsArray, ...places: TemplateValue[]): Promise<Row[]>;

  /** The same for one that inserts. Returns the number that the database gave to a single row. */
  insert(text: TemplateStringsArray, ...places: TemplateValue[]): Promise<number>;

  /** The same for one that changes or removes. Returns how many rows it met. */
  change(text: TemplateStringsArray, ...places: TemplateValue[]): Promise<number>;

  /**
   * Runs `work` as one transaction: all of it is written or nothing. When someone else is in the way the whole of
   * `work` runs again, so it must not do anything but ask and write through the database it is given. Inside a
   * transaction it runs in that one.
   *
   * @throws DatabaseUnavailable `busy` after too many conflicts, `uncertain` if the database was lost during COMMIT; or
   * whatever `work` throws
   */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>;

  /**
   * Runs `work` as a part of the transaction that this is: if it fails, what it wrote is undone, and the transaction
   * goes on. Outside a transaction it is one of its own. A part cannot have parts.
   *
   * @throws whatever `work` throws
   */
  part<T>(work: (db: Database) => Promise<T>): Promise<T>;

  /**
   * What this transaction has gathered so far. It is written once, at the end of the transaction, just before COMMIT.
   * Undefined outside of transactions.
   */
  gathered<T>(what: Gathering<T>): T | undefined;

  /**
   * Where reads are tracked (`journal/dependencies.ts`): `note` declares what a query depends on, `plain` is the
   * database to run it on.
   */
  readonly tracker?: { readonly plain: Database; readonly note: (dependencies: Iterable<number | string | object>) => void };

  /** Its servers. */
  readonly cluster: Cluster;

  /** How many queries ran so far, BEGIN and COMMIT among them. */
  queries(): number;

  /** Ends all connections. */
  close(): Promise<void>;
}

/** Something that a transaction gathers, and writes at its end. */
export interface Gathering<T> {
  readonly begin: () => T;
  /** The same, untouched by what is gathered later: a part of the transaction that fails goes back to it. */
  readonly copy: (gathered: T) => T;
  /** Whether any records are named in it. */
  readonly namesRecords: (gathered: T) => boolean;
  readonly settle: (db: Database, gathered: T) => Promise<void>;
  /** Called once all of it is written for good, and never where that is not certain. */
  readonly committed: (db: Database, gathered: T) => void;
}

/** Where the data are, and what the names of the tables begin with. */
export interface DatabaseSettings {
  /** `sqlite:PATH`, `sqlite::memory:` or `mysql://user:password@host:port/name`, with several hosts if need be. */
  readonly url: string;
  readonly prefix: string;
  /** For a replica, which is only read: the database that it follows, which answers when the replica does not. */
  readonly primary?: Database;
  /** Called when a server has failed, and when another one is used. */
  readonly onServerChange?: (change: ServerChange) => void;
  /**
   * Refuses queries beside the transaction that is open, which would miss what it wrote, and transactions that lock
   * rows and write without writing the row that every writer writes (`joinWriters`), that write records without
   * reporting them to the journal, or metas of users without having locked names (`transaction-checks.ts`). For tests.
   */
  readonly watched?: boolean;
}

/**
 * Opens the database. A server that is absent is not missed until the first query.
 *
 * @throws Error with one clear line when the address or the prefix can't be right, or the file can't be opened
 */
export async function openDatabase({ url, prefix, watched = false, ...options }: DatabaseSettings): Promise<Database> {
  if (!/^\w*$/.test(prefix)) throw new Error(`a table prefix consists of letters, digits and underscores, unlike "${prefix}"`);
  const engine = engineAt(url, options);
  return root(engine, prefix, watched ? transactionChecks(engine.dialect.writers === 1) : undefined);
}

/**
 * Tries whether the database takes writes, without writing anything.
 *
 * @throws DatabaseUnavailable saying why it does not
 */
export const checkWritable = ({ driver, prefix }: Database): Promise<void> => driver.checkWritable(prefix);

/**
 * Asks the database for a sign of life.
 *
 * @throws DatabaseUnavailable saying why there is none
 */
export async function ping(db: Database): Promise<void> {
  await db.ask('SELECT 1');
}

/** Whether there is a table of this name, which is given without the prefix. */
export const hasTable = async (db: Database, name: TableName): Promise<boolean> =>
  (await db.dialect.columns(db, db.table(name))).length > 0;

const queryOf = <Row extends object>(builder: Builder, name: TableName, table: string | Readonly<Record<string, string>>) =>
  builder<Row>(table).queryContext({ table: name } satisfies QueryContext);

function engineAt(url: string, { primary, onServerChange }: Pick<DatabaseSettings, 'primary' | 'onServerChange'>): Engine {
  const scheme = /^\w+:/.exec(url)?.[0];
  if (scheme === 'sqlite:') return openSqlite(url);
  if (scheme !== 'mysql:') throw new Error('the address of the database must begin with "sqlite:" or "mysql://"');
  return openMysql(url, { ...(primary ? { primary: primary.driver } : {}), ...(onServerChange ? { onServerChange } : {}) });
}

/** What a database and the transactions in it have in common. */
interface Shared {
  readonly engine: Engine;
  readonly prefix: string;
  readonly statementOf: ReturnType<typeof statements>;
  readonly inTransaction: ReturnType<typeof transactionRunner>;
  /** Runs what is asked outside of transactions. */
  readonly outside: Executor;
  /** Absent: the database is not watched. */
  readonly checks: TransactionChecks | undefined;
  readonly queries: () => number;
}

type Gatherings = Map<Gathering<unknown>, unknown>;

function root(engine: Engine, prefix: string, checks: Shared['checks']): Database {
  const { driver } = engine;
  const run: RunQuery = (query) => runOnce(driver, query);
  let count = 0;
  driver.listen(({ sql }) => {
    count += 1;
    checks?.note(sql);
  });
  const shared: Shared = {
    engine,
    prefix,
    statementOf: statements(prefix),
    inTransaction: transactionRunner(engine),
    outside: { run, builder: engine.builderFor(run) },
    checks,
    queries: () => count,
  };
  return databaseOn(shared, shared.outside);
}

/** The database whose statements `executor` runs: outside of transactions, or in one. */
function databaseOn(shared: Shared, executor: Executor, gatherings?: Gatherings): Database {
  const { prefix, outside, engine, checks } = shared;
  const { driver, dialect, cluster } = engine;
  const refuseBeside = (): void => {
    if (executor === outside) checks?.refuseBeside();
  };
  const run = (method: 'select' | 'insert' | 'update', text: TemplateStringsArray, places: TemplateValue[]): Promise<unknown> => {
    refuseBeside();
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
    ...{ driver, dialect, cluster, prefix },
    table: (name) => prefix + name,
    from: <Name extends TableName>(name: Name, alias?: string) => {
      refuseBeside();
      return queryOf<Tables[Name]>(executor.builder, name, alias === undefined ? prefix + name : { [alias]: prefix + name });
    },
    query: () => {
      refuseBeside();
      return executor.builder.queryBuilder();
    },
    ask: <Row>(sql: string, bindings: readonly unknown[] = []) => executor.run({ method: 'rows', sql, bindings }) as Promise<Row[]>,
    rows: <Row>(text: TemplateStringsArray, ...places: TemplateValue[]) => run('select', text, places) as Promise<Row[]>,
    insert: async (text, ...places) => Number(((await run('insert', text, places)) as [number | bigint])[0]),
    change: async (text, ...places) => Number(await run('update', text, places)),
    transaction: async (work) => {
      if (executor !== outside) return work(db);
      refuseBeside();
      let gathered: Gatherings = new Map();
      const result = await shared.inTransaction((transaction) => {
        gathered = new Map();
        return transactionWork(shared, work, transaction, gathered);
      });
      for (const [what, found] of gathered) what.committed(db, found);
      return result;
    },
    part: async (work) => (executor === outside ? db.transaction(work) : partOf(shared, db, gatherings, work)),
    gathered: (what) => gatheredIn(gatherings, what),
    queries: shared.queries,
    close: async () => {
      await driver.close();
    },
  };
  return db;
}

/** Runs the work of a transaction, and writes what it has gathered. */
function transactionWork<T>(shared: Shared, work: (db: Database) => Promise<T>, executor: Executor, gatherings: Gatherings): Promise<T> {
  const run = async (reportWrites: (namesRecords: boolean) => void): Promise<T> => {
    const db = databaseOn(shared, executor, gatherings);
    const result = await work(db);
    for (const [what, gathered] of gatherings) {
      reportWrites(what.namesRecords(gathered));
      await what.settle(db, gathered);
    }
    return result;
  };
  return shared.checks ? shared.checks.run(run) : run(() => undefined);
}

/** Runs a part of a transaction; if it fails, what it wrote and gathered is undone. */
async function partOf<T>(
  { checks }: Shared,
  db: Database,
  gatherings: Gatherings | undefined,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  await db.ask('SAVEPOINT part');
  const before = [...(gatherings ?? [])].map(([what, gathered]) => [what, what.copy(gathered)] as const);
  const forgetRecords = checks?.beginPart();
  try {
    const result = await work({ ...db, part: (inner) => inner(db) });
    await db.ask('RELEASE SAVEPOINT part');
    return result;
  } catch (error) {
    await db.ask('ROLLBACK TO SAVEPOINT part');
    forgetRecords?.();
    gatherings?.clear();
    for (const [what, gathered] of before) gatherings?.set(what, gathered);
    throw error;
  }
}

function gatheredIn<T>(gatherings: Gatherings | undefined, what: Gathering<T>): T | undefined {
  // The key of the map says the type of its value.
  const key = what as Gathering<unknown>;
  if (gatherings && !gatherings.has(key)) gatherings.set(key, what.begin());
  return gatherings?.get(key) as T | undefined;
}
