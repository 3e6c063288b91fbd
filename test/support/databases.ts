import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, it } from '@jest/globals';
import { type Database, openDatabase } from '../../src/storage/engine/database.ts';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { connectTo } from './private-mysql.mjs';

export interface OpenOptions {
  /** Whether the tables are created; true by default. */
  readonly migrated?: boolean;
  /** `wp_` by default. */
  readonly prefix?: string;
}

/** Creates a new, empty database with all tables, which is closed and dropped after the suite. */
export type Open = (options?: OpenOptions) => Promise<Database>;

/**
 * Runs a suite on SQLite, in a temporary file, and on MySQL if TEST_MYSQL_URL names a server
 * (`mysql://user:password@host:port/`) where databases may be created. Call `open` in `beforeAll` or in a test.
 */
export function describeDatabases(name: string, suite: (open: Open, engine: 'SQLite' | 'MySQL') => void): void {
  describe(`${name} on SQLite`, () => suite(createOpener(newSqliteFile), 'SQLite'));
  if (process.env.TEST_MYSQL_URL) describeMysql(name, (open) => suite(open, 'MySQL'));
}

/**
 * Runs a suite only on MySQL or MariaDB. Without a server it declares a skipped test, since a test file must contain at
 * least one.
 */
export function describeMysql(name: string, suite: (open: Open) => void): void {
  const server = process.env.TEST_MYSQL_URL;
  if (server) describe(`${name} on MySQL`, () => suite(createOpener(() => newMysqlDatabase(server))));
  else describe.skip(`${name} on MySQL`, () => it('needs a server', () => undefined));
}

/** Creates databases on a private server, given by its URL without a database name. */
export const openerOnServer = (server: string): Open => createOpener(() => newMysqlDatabase(server));

/** The URL of a database that was created here, for opening it a second time or in another process. */
export function urlOf(db: Database): string {
  return testDatabaseOf(db).url;
}

/** Opens an existing database by its URL and creates missing tables. The caller closes it. */
export async function databaseAt(url: string): Promise<Database> {
  const db = await openDatabase({ url, prefix: 'wp_', watched: true });
  testDatabases.set(db, { url, run: async (script) => runAt(url, script), remove: async () => undefined });
  await migrate(db);
  return db;
}

async function runAt(url: string, script: string): Promise<void> {
  const connection = await connectTo(url, { charset: 'utf8mb4_unicode_520_ci', multipleStatements: true });
  await connection.query(`USE \`${new URL(url).pathname.slice(1)}\`; ${SESSION}`);
  await connection.query(script);
  await connection.end();
}

/** Runs many statements at once, on a separate connection. */
export async function runScript(db: Database, script: string): Promise<void> {
  await testDatabaseOf(db).run(script);
}

/** Whether all scripts of a database run in one session, so that temporary tables survive between them. */
export const keepsSession = (db: Database): boolean => testDatabaseOf(db).isOneSession === true;

/** A database that is created for one suite. */
interface TestDatabase {
  readonly url: string;
  readonly hasTables?: boolean;
  readonly isOneSession?: boolean;
  run(script: string): Promise<void>;
  remove(): Promise<void>;
}

const testDatabases = new WeakMap<Database, TestDatabase>();

function testDatabaseOf(db: Database): TestDatabase {
  const testDatabase = testDatabases.get(db);
  if (!testDatabase) throw new Error('not a database opened by describeDatabases');
  return testDatabase;
}

/** `create`: creates a database. With a prefix, it may have all tables already. */
function createOpener(create: (prefix: string | undefined) => Promise<TestDatabase>): Open {
  const opened: { db: Database; place: TestDatabase }[] = [];
  afterAll(async () => {
    for (const { db, place } of opened) {
      await db.close();
      await place.remove();
    }
  });
  return async ({ migrated = true, prefix = 'wp_' } = {}) => {
    const place = await create(migrated ? prefix : undefined);
    const db = await openDatabase({ url: place.url, prefix, watched: true });
    opened.push({ db, place });
    testDatabases.set(db, place);
    if (migrated && !place.hasTables) await migrate(db);
    return db;
  };
}

/** Contents of files with all tables and nothing in them, by table prefix. */
const emptySites = new Map<string, Promise<Buffer>>();

async function makeEmptySite(prefix: string): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-test-'));
  const file = join(folder, 'site.sqlite');
  const db = await openDatabase({ url: `sqlite:${file}`, prefix });
  await migrate(db);
  await db.close();
  const content = readFileSync(file);
  rmSync(folder, { recursive: true });
  return content;
}

async function newSqliteFile(prefix: string | undefined): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-test-'));
  const file = join(folder, 'site.sqlite');
  if (prefix !== undefined) {
    const content = emptySites.get(prefix) ?? makeEmptySite(prefix);
    emptySites.set(prefix, content);
    writeFileSync(file, await content, { mode: 0o600 });
  }
  let connection: InstanceType<typeof Sqlite> | undefined;
  return {
    url: `sqlite:${file}`,
    hasTables: prefix !== undefined,
    isOneSession: true,
    run: async (script) => {
      connection ??= new Sqlite(file);
      connection.pragma('synchronous = OFF');
      await runWhenUnlocked(connection, script);
    },
    remove: async () => {
      connection?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Runs a script when nobody writes to the file. SQLite's own timeout would block this process, and with it any
 * transaction of a service in it; none can begin between the last look at the lock and the script.
 */
async function runWhenUnlocked(connection: InstanceType<typeof Sqlite>, script: string): Promise<void> {
  while (!connection.inTransaction && isLocked(connection)) await sleep(5);
  connection.exec(script);
}

function isLocked(connection: InstanceType<typeof Sqlite>): boolean {
  connection.pragma('busy_timeout = 0');
  try {
    connection.exec('BEGIN IMMEDIATE; COMMIT');
    return false;
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError) || error.code !== 'SQLITE_BUSY') throw error;
    return true;
  } finally {
    connection.pragma('busy_timeout = 5000');
  }
}

const SESSION = "SET SESSION sql_mode = '', time_zone = '+00:00'";

async function newMysqlDatabase(server: string): Promise<TestDatabase> {
  const name = `fasti_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  const connection = await connectTo(server, { charset: 'utf8mb4_unicode_520_ci', multipleStatements: true });
  await connection.query(`CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci; USE \`${name}\`; ${SESSION}`);
  return {
    url: url.href,
    isOneSession: true,
    run: async (script) => {
      await connection.query(script);
    },
    remove: async () => {
      await connection.query(`DROP DATABASE \`${name}\``);
      await connection.end();
    },
  };
}
