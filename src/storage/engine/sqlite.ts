import { hash } from 'node:crypto';
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import knex, { type Knex } from 'knex';
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import SqliteTransaction from 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js';
import SqliteQueryCompiler from 'knex/lib/dialects/sqlite3/query/sqlite-querycompiler.js';
import type { Compiled } from 'knex/lib/execution/runner.js';
import { LRUCache } from 'lru-cache';
import { makeOwnFile, makeOwnFolder } from '../../host/files.ts';
import { remembered } from '../../wordpress/remembered.ts';
import { NO_SERVERS } from './cluster.ts';
import { foldForSearch, foldText } from './collation.ts';
import {
  codeOf,
  DatabaseUnavailable,
  type Dialect,
  type Engine,
  failure,
  type Inspection,
  keysOf,
  type Shapes,
  type TableDefinition,
} from './dialect.ts';
import { silent } from './knex-log.ts';
import { announced, isRead, named, StraightRunner } from './straight-runner.ts';

/** better-sqlite3 waits for other processes inside SQLite, and the whole process with it: a short while for single statements, not at all for BEGIN. */
const BUSY_MS = 100;
/** What writes takes turns on the one connection for it, behind transactions of a few milliseconds each. */
const ACQUIRE_MS = 10_000;
const STATEMENTS_KEPT = 300;
/** Where the disk has less, in bytes, writes are about to fail. */
const LEAST_ROOM = 2 ** 18;

/**
 * The database in a file, which is created with its folder if need be, or in memory.
 *
 * @param address `sqlite:PATH`, relative to the working directory, or `sqlite::memory:`
 * @throws Error when the file can't be opened or is no database
 */
export function openSqlite(address: string): Engine {
  const filename = sqliteFile(address) ?? '';
  if (filename === '') throw new Error('the address of an SQLite database must name its file: sqlite:PATH');
  if (filename !== IN_MEMORY) tryFile(filename);
  return {
    dialect: sqlite,
    cluster: NO_SERVERS,
    knex: knex({
      client: FileClient as unknown as typeof knex.Client,
      connection: { filename },
      pool: { min: 1, max: 1, idleTimeoutMillis: 2 ** 31 - 1 },
      acquireConnectionTimeout: ACQUIRE_MS,
      useNullAsDefault: true,
      compileSqlOnError: false,
      log: silent,
    }),
  };
}

/** Makes the file if need be, and opens it once before it is needed, so that a wrong one stops the start rather than each request. */
function tryFile(filename: string): void {
  try {
    makeOwnFolder(dirname(filename));
    makeOwnFile(filename);
    connect(filename).close();
  } catch (error) {
    throw new Error(`the database ${filename} cannot be opened: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** What an address says of a database that is in no file. */
export const IN_MEMORY = ':memory:';

/** The file that an address names, or `IN_MEMORY`; undefined where it is not one of SQLite. */
export const sqliteFile = (address: string): string | undefined => /^sqlite:(?:\/\/(?=\/))?(.*)$/s.exec(address)?.[1];

/** SQLite, in one file. */
export const sqlite: Dialect = {
  name: 'sqlite',
  writers: 1,
  together: { pieces: 16, milliseconds: 25 },
  longestPause: 10,
  search: (column, text) => ['holds(??, ?)', [column, foldForSearch(text)]],
  equalsFolded: (column, ...values) => [`fold(??) IN (${values.map(() => '?').join()})`, [column, ...values.map(foldText)]],
  equalsExactly: (column, value) => ['?? = ?', [column, value]],
  startsWith: (column, start) => ['(?? >= ? AND ?? < ?)', [column, start, column, next(start)]],
  orderFolded: (column, direction = 'asc') => [`fold(??) ${direction === 'desc' ? 'DESC' : 'ASC'}`, [column]],
  sortKey: (column) => ['fold(??)', [column]],
  asNumber: (column) => ['CAST(?? AS REAL)', [column]],
  orUpdate: (keys) => `ON CONFLICT (${keys.map((key) => `\`${key}\``).join(', ')}) DO UPDATE SET`,
  inserted: (column) => `excluded.\`${column}\``,
  joinInOrder: 'CROSS JOIN',
  locks: { share: '', update: '' },
  changeSigns: async (knex, tables) => {
    const [row] = (await knex.raw('PRAGMA data_version')) as { data_version: number }[];
    return { signs: tables.map(() => String(row?.data_version)), settled: true, uptime: undefined };
  },
  showsEveryChange: true,
  fingerprint: (text) => `fingerprint(${text})`,
  logPosition: async () => '',
  hasReached: async () => true,
  createTable,
  addColumn: (table, column, type) => `ALTER TABLE \`${table}\` ADD COLUMN \`${column}\` ${columnType(type, false)}`,
  addKey: (definition, label, prefix) => {
    const place = [...Object.keys(definition.unique ?? {}), ...Object.keys(definition.keys ?? {})].indexOf(label);
    return createTable(definition, prefix)[place + 1] ?? '';
  },
  tellShapes,
  checkWritable: async (knex) => (knex.client as FileClient).checkWritable(),
  inspect,
  isDuplicate: (error) => ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_ROWID'].includes(codeOf(error)),
  isBusy: (error) => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error)),
  isReadOnly: (error) => /^SQLITE_(READONLY|PERM|AUTH)/.test(codeOf(error)),
  isUnavailable: (error) => /^SQLITE_(CANTOPEN|IOERR|NOTADB|CORRUPT)/.test(codeOf(error)),
  isUndone: () => true,
  isFull: (error) => codeOf(error) === 'SQLITE_FULL',
};

/** The first text after all that begin with this one, in the order of its characters. */
const next = (start: string): string => start.slice(0, -1) + String.fromCharCode(start.charCodeAt(start.length - 1) + 1);

type Connection = Sqlite.Database;

/** One query as knex hands it to a client. */
interface Query {
  readonly sql: string;
  readonly bindings?: readonly unknown[];
  response?: unknown;
  context?: { lastID: number | bigint; changes: number };
}

/**
 * knex's client with prepared statements kept, transactions that take the right to write at once, and errors under one name. What is only read, outside of
 * transactions, never waits for the one that is open: meanwhile it goes to a connection of its own. Otherwise it takes the one that writes, which knows
 * what it wrote, while another would read all pages again. Every statement is done before the next begins.
 */
class FileClient extends BetterSqlite3Client {
  private reader?: Connection;
  private writer?: Connection;
  private file: string | undefined;

  readNow(query: Compiled): Query | undefined {
    const { filename } = this.connectionSettings;
    if (this.transacting || query.method === 'raw' || !isRead(query) || filename === IN_MEMORY) return undefined;
    const idle = this.writer?.open && !this.writer.inTransaction ? this.writer : undefined;
    return this.done(idle ?? this.ownReader(filename), query);
  }

  private ownReader(filename: string): Connection {
    try {
      this.reader ??= this.connected(filename);
      return this.reader;
    } catch (error) {
      throw failure(sqlite, error);
    }
  }

  runner(builder: unknown): StraightRunner {
    return new StraightRunner(this, builder);
  }

  override async destroy(): Promise<void> {
    this.reader?.close();
    delete this.reader;
    await super.destroy();
  }

  override async acquireConnection(): Promise<unknown> {
    try {
      return await super.acquireConnection();
    } catch (error) {
      throw failure(sqlite, error);
    }
  }

  async acquireRawConnection(): Promise<Connection> {
    this.writer = this.connected(this.connectionSettings.filename);
    return this.writer;
  }

  /** All connections are to one and the same file. */
  private connected(filename: string): Connection {
    this.file ??= identityOf(filename);
    this.requireSameFile();
    return connect(filename);
  }

  /** SQLite goes on writing into a file that was deleted or replaced, and all of it is lost at the end. */
  private requireSameFile(): void {
    const { filename } = this.connectionSettings;
    if (this.file !== undefined && identityOf(filename) !== this.file) throw new DatabaseUnavailable('replaced');
  }

  /** Asks for the right to write and gives it back, within one tick. Where somebody has it, the file can be written. */
  checkWritable(): void {
    const { filename } = this.connectionSettings;
    if (filename === IN_MEMORY) return;
    this.requireSameFile();
    const { bavail, bsize } = statfsSync(dirname(filename));
    if (bavail * bsize < LEAST_ROOM) throw new DatabaseUnavailable('full');
    const connection = this.ownReader(filename);
    try {
      askToWrite(connection);
      connection.exec('ROLLBACK');
    } catch (error) {
      if (!sqlite.isBusy(error)) throw failure(sqlite, error);
    }
  }

  async query(connection: Connection, query: Compiled | string): Promise<Query> {
    return this.done(connection, query);
  }

  private done(connection: Connection, query: Compiled | string): Query {
    const compiled = announced(this, query);
    try {
      return run(connection, compiled);
    } catch (error) {
      throw named(compiled, failure(sqlite, error));
    }
  }

  /**
   * BEGIN alone reads first and asks for the right to write later, when it may be refused for good; BEGIN IMMEDIATE asks before it reads. Where another
   * process has it, the connection is given back to readers until the next try.
   */
  async begin(connection: Connection): Promise<void> {
    this.requireSameFile();
    announced(this, 'BEGIN IMMEDIATE');
    try {
      askToWrite(connection);
    } catch (error) {
      throw failure(sqlite, error);
    }
  }

  transaction(...rest: unknown[]): SqliteTransaction {
    return new ImmediateTransaction(this, ...rest);
  }

  queryCompiler(...rest: unknown[]): SqliteQueryCompiler {
    return new ValuesCompiler(this, ...rest);
  }
}

/** Inserts many rows with VALUES. knex joins them with UNION ALL, of which SQLite takes no more than 500. */
class ValuesCompiler extends SqliteQueryCompiler {
  override insert(): unknown {
    const { insert, onConflict, ignore, merge, returning } = this.single;
    if (!Array.isArray(insert) || insert.length < 2) return super.insert();
    const data = this._prepInsert(insert);
    const parts = [
      `${this.with()}insert into ${this.tableName} (${this.formatter.columnize(data.columns)}) values (${this._buildInsertValues(data)})`,
    ];
    if (onConflict && ignore) parts.push(this._ignore(onConflict));
    else if (onConflict && merge) parts.push(this._merge(merge.updates, onConflict, insert), this.where());
    if (returning) parts.push(this._returning(returning));
    return { sql: parts.filter(Boolean).join(' '), returning };
  }
}

/** Runs a statement, and gives it with what came of it, as knex wants it. */
function run(connection: Connection, query: Query): Query {
  const { statement, columns } = prepared(connection, query.sql);
  const bindings = (query.bindings ?? []).map(bindable);
  if (columns) {
    query.response = statement.all(bindings).map((values) => rowOf(columns, values));
  } else {
    const { lastInsertRowid, changes } = statement.run(bindings);
    query.response = { lastInsertRowid, changes };
    query.context = { lastID: lastInsertRowid, changes };
  }
  return query;
}

/** knex's own transactions, in which it changes the schema. */
class ImmediateTransaction extends SqliteTransaction {
  async begin(connection: Connection): Promise<void> {
    try {
      await this.trxClient.begin(connection);
    } catch (error) {
      // knex would run the work of a transaction that never began.
      this._completed = true;
      throw error;
    }
  }
}

/** Begins a transaction that may write, without waiting for other processes. */
function askToWrite(connection: Connection): void {
  prepared(connection, 'PRAGMA busy_timeout = 0').statement.all();
  try {
    prepared(connection, 'BEGIN IMMEDIATE').statement.run();
  } finally {
    prepared(connection, `PRAGMA busy_timeout = ${BUSY_MS}`).statement.all();
  }
}

/** What tells a file from another one that takes its name; undefined where it is in memory, empty where there is none. */
function identityOf(filename: string): string | undefined {
  if (filename === IN_MEMORY) return undefined;
  const found = statSync(filename, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : '';
}

/** The names of terms are sorted again with every list. */
const knownFold = remembered(foldText);

/** The texts of a row are searched for one word after the other: of the last few the form in which they are searched is known. */
function searchedForms(): (text: string) => string {
  const last = Array.from({ length: 4 }, () => ({ text: '', form: '' }));
  let oldest = 0;
  return (text) => {
    for (const known of last) if (known.text === text) return known.form;
    const form = foldForSearch(text);
    last[oldest] = { text, form };
    oldest = (oldest + 1) % last.length;
    return form;
  };
}

function connect(filename: string): Connection {
  const connection = new Sqlite(filename, { timeout: BUSY_MS, fileMustExist: filename !== IN_MEMORY });
  try {
    connection.pragma('journal_mode = WAL');
    // What was acknowledged survives a loss of power.
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = OFF');
    connection.function('fold', { deterministic: true }, (text) => (text === null ? null : knownFold(String(text))));
    const formOf = searchedForms();
    connection.function('holds', { deterministic: true }, (text, part) =>
      text === null || part === null ? null : Number(formOf(String(text)).includes(String(part))),
    );
    connection.aggregate('fingerprint', {
      start: () => ({ rows: 0, digest: 0n }),
      step: ({ rows, digest }, text) => ({ rows: rows + 1, digest: digest ^ digestOf(String(text)) }),
      result: ({ rows, digest }) => (rows === 0 ? null : `${rows} ${digest}`),
    });
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

const digestOf = (text: string): bigint => hash('sha1', text, 'buffer').readBigUInt64BE();

/** Rows come as lists of values: the library takes half as long again to make objects of them. */
interface Prepared {
  readonly statement: Sqlite.Statement<unknown[], unknown[]>;
  /** The names of the columns that it gives; undefined: it only writes. Asking the statement each time costs as much as a small query. */
  readonly columns: readonly string[] | undefined;
}

function rowOf(columns: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let at = 0; at < columns.length; at += 1) {
    const value = values[at];
    row[columns[at]!] = value instanceof Uint8Array ? textIn(value) : value;
  }
  return row;
}

/** SQLite keeps bytes in any column, whatever its type; no table here has a use for them, and what stands there as bytes was meant as text. */
const textIn = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

const statements = new WeakMap<Connection, LRUCache<string, Prepared>>();

/** The statement prepared before for the same text. The oldest go when there are many: lists of ids make many texts. */
function prepared(connection: Connection, sql: string): Prepared {
  const kept = statements.get(connection) ?? new LRUCache<string, Prepared>({ max: STATEMENTS_KEPT });
  statements.set(connection, kept);
  const known = kept.get(sql);
  if (known) return known;
  const statement = connection.prepare<unknown[], unknown[]>(sql);
  const columns = statement.reader
    ? statement
        .raw()
        .columns()
        .map(({ name }) => name)
    : undefined;
  const fresh = { statement, columns };
  kept.set(sql, fresh);
  return fresh;
}

/** better-sqlite3 binds every number as a float, so that a text column would hold `10.0` for 10; a BigInt is bound as an integer. */
function bindable(value: unknown): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return value instanceof Date ? value.toISOString() : value;
}

function createTable(
  { name, columns, primary, keys = {}, unique = {}, anyCase = [], clustered = false }: TableDefinition,
  prefix: string,
): string[] {
  const table = `${prefix}${name}`;
  const list = (parts: readonly string[]): string => parts.map((part) => `\`${part.replace(/\(\d+\)$/, '')}\``).join(',');
  const lines = Object.entries(columns).map(([column, type]) => `\`${column}\` ${columnType(type, anyCase.includes(column))}`);
  const numbered = Object.values(columns).some((type) => type.includes('AUTO_INCREMENT'));
  if (!numbered) lines.push(`PRIMARY KEY (${list(primary)})`);
  const index =
    (kind: string) =>
    ([label, parts]: [string, readonly string[]]) =>
      `CREATE ${kind} IF NOT EXISTS \`${indexName(table, label, prefix)}\` ON \`${table}\` (${list(parts)})`;
  return [
    `CREATE TABLE IF NOT EXISTS \`${table}\` (${lines.join(', ')})${clustered ? ' WITHOUT ROWID' : ''}`,
    ...Object.entries(unique).map(index('UNIQUE INDEX')),
    ...Object.entries(keys).map(index('INDEX')),
  ];
}

/** The names of SQLite's indexes are shared by all tables of a file. */
const indexName = (table: string, label: string, prefix: string): string =>
  label.includes('{prefix}') ? label.replace('{prefix}', prefix) : `${table}_${label}`;

/** SQLite keeps its statistics in a table, which ANALYZE makes (https://sqlite.org/fileformat2.html#the_sqlite_stat1_table). */
function tellShapes(shapes: Shapes, prefix: string): string[] {
  const tell = (table: string, index: string, shape: readonly number[]) =>
    `INSERT INTO sqlite_stat1 (tbl, idx, stat) SELECT '${table}', name, '${shape.join(' ')}' FROM sqlite_master
     WHERE name = '${index}' AND (type = 'index' OR sql LIKE '%WITHOUT ROWID') AND NOT EXISTS (SELECT 1 FROM sqlite_stat1 WHERE tbl = '${table}' AND idx = '${index}')`;
  const all = Object.entries(shapes).flatMap(([name, keys]) =>
    Object.entries(keys).flatMap(([label, shape]) => {
      const table = prefix + name;
      // The rows of a clustered table are its primary key; others have an index for it, which SQLite names.
      const indexes = label === 'primary' ? [table, `sqlite_autoindex_${table}_1`] : [indexName(table, label, prefix)];
      return indexes.map((index) => tell(table, index, shape));
    }),
  );
  return [`ANALYZE \`${prefix}fasti_migrations_lock\``, ...all, 'ANALYZE sqlite_schema'];
}

async function inspect(knex: Knex, tables: readonly string[]): Promise<Inspection> {
  const [{ version } = { version: '' }] = (await knex.raw('SELECT sqlite_version() AS version')) as { version: string }[];
  const checked = (await knex.raw('PRAGMA quick_check(10)')) as { quick_check: string }[];
  const keys = (await knex.raw(
    `SELECT m.name AS "of", i.name AS "key", c.name AS part FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c
     WHERE m.type = 'table' AND m.name IN (${tables.map(() => '?').join(',')}) ORDER BY m.name, i.name, c.seqno`,
    [...tables],
  )) as { of: string; key: string; part: string }[];
  const numbered = (await knex.raw(
    `SELECT m.name AS "of", 'primary' AS "key", c.name AS part FROM sqlite_master m JOIN pragma_table_info(m.name) c
     WHERE m.type = 'table' AND c.pk > 0 AND m.name IN (${tables.map(() => '?').join(',')}) ORDER BY m.name, c.pk`,
    [...tables],
  )) as { of: string; key: string; part: string }[];
  return {
    version: `SQLite ${version}`,
    keys: keysOf([...numbered, ...keys]),
    faults: checked.flatMap(({ quick_check: text }) => (text === 'ok' ? [] : [{ what: 'damaged' as const, of: '', value: text }])),
  };
}

/** MySQL's type as SQLite's, with the default that MySQL takes for a column without one when it is not strict. */
function columnType(type: string, anyCase: boolean): string {
  if (type.includes('AUTO_INCREMENT')) return 'INTEGER PRIMARY KEY AUTOINCREMENT';
  const number = /^(big|medium|small|tiny)?int/.test(type);
  const nothing = number ? '0' : "''";
  const given = /DEFAULT ('[^']*'|[\w]+)/.exec(type)?.[1]?.replace('current_timestamp', 'CURRENT_TIMESTAMP');
  const compulsory = type.includes('NOT NULL');
  return [
    number ? 'INTEGER' : 'TEXT',
    compulsory ? 'NOT NULL' : '',
    `DEFAULT ${given ?? (compulsory ? nothing : 'NULL')}`,
    anyCase ? 'COLLATE NOCASE' : '',
  ]
    .filter(Boolean)
    .join(' ');
}
