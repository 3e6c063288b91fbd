import knex, { type Knex } from 'knex';
import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import type { Compiled } from 'knex/lib/execution/runner.js';
import type { ChangeSigns } from './change-signs.ts';
import { codeOf, type Dialect, type Engine, failure, type Inspection, keysOf, type TableDefinition } from './dialect.ts';
import { beginsWith } from './expressions.ts';
import { silent } from './knex-log.ts';
import { announced, named, StraightRunner } from './straight-runner.ts';

const CONNECTIONS = 16;
const READERS = 4;
/** A request that finds no connection for this long is answered with 503. */
const ACQUIRE_MS = 1000;
const CONNECT_MS = 3000;

/**
 * A pool of connections to MySQL or MariaDB. Nothing is connected until the first query, so that the server may be absent.
 *
 * @param address `mysql://user:password@host:port/database`, with `?socketPath=` and `?ssl=true` if need be
 * @throws Error saying what is wrong with the address
 */
export function openMysql(address: string): Engine {
  return {
    dialect: mysql,
    knex: knex({
      client: SessionClient as unknown as typeof knex.Client,
      connection: {
        ...connectionOf(address),
        charset: 'utf8mb4_unicode_520_ci',
        timezone: 'Z',
        // Dates are text from the database to the caller, zero dates included.
        dateStrings: true,
        // bigint and decimal as numbers; a bigint beyond 2^53 stays text rather than lose digits.
        supportBigNumbers: true,
        bigNumberStrings: false,
        decimalNumbers: true,
        // An object bound by mistake must not become `key = value` pairs.
        stringifyObjects: true,
        multipleStatements: false,
        connectTimeout: CONNECT_MS,
      } as object,
      pool: { min: 0, max: CONNECTIONS },
      acquireConnectionTimeout: ACQUIRE_MS,
      compileSqlOnError: false,
      log: silent,
    }),
  };
}

/** The server notes seconds: a second change in the same one would leave the same note. */
const UNSETTLED_SECONDS = 2;

/** MySQL and MariaDB, InnoDB. */
export const mysql: Dialect = {
  name: 'mysql',
  writers: CONNECTIONS - READERS,
  together: { pieces: 1, milliseconds: 0 },
  longestPause: 200,
  search: (column, text) => ["?? LIKE ? ESCAPE '|'", [column, `%${text.replace(/[%_|]/g, '|$&')}%`]],
  equalsFolded: (column, ...values) => [`?? IN (${values.map(() => '?').join()})`, [column, ...values]],
  equalsExactly: (column, value) => ['CAST(?? AS BINARY) = CAST(? AS BINARY)', [column, value]],
  startsWith: (column, start) => beginsWith(column, start),
  orderFolded: (column, direction = 'asc') => [`?? ${direction === 'desc' ? 'DESC' : 'ASC'}`, [column]],
  sortKey: (column) => ['HEX(WEIGHT_STRING(??))', [column]],
  // `+ 0.0` reads the leading number of a text without the error that CAST gives on strict servers.
  asNumber: (column) => ['(?? + 0.0)', [column]],
  orUpdate: () => 'ON DUPLICATE KEY UPDATE',
  inserted: (column) => `VALUES(\`${column}\`)`,
  joinInOrder: 'STRAIGHT_JOIN',
  locks: { share: 'LOCK IN SHARE MODE', update: 'FOR UPDATE' },
  changeSigns,
  showsEveryChange: false,
  // Half of an MD5. CRC32 is linear: two values of one length that change places would leave the XOR of all the same.
  fingerprint: (text) => `CONCAT(COUNT(*), ' ', BIT_XOR(CAST(CONV(LEFT(MD5(${text}), 16), 16, 10) AS UNSIGNED)))`,
  createTable,
  addKey: ({ name, keys = {}, unique = {} }, label, prefix) => {
    const parts = (unique[label] ?? keys[label] ?? []).map(quoted).join(',');
    return `ALTER TABLE \`${prefix}${name}\` ADD ${label in unique ? 'UNIQUE KEY' : 'KEY'} \`${label.replace('{prefix}', prefix)}\` (${parts})`;
  },
  tellShapes: () => [],
  // The rights are looked at though there is no row.
  checkWritable: async (knex, prefix) => {
    const posts = `\`${prefix}posts\``;
    await knex.raw(`INSERT INTO ${posts} (ID) SELECT p.ID FROM ${posts} p WHERE 1 = 0 ON DUPLICATE KEY UPDATE ID = VALUES(ID)`);
  },
  inspect,
  isDuplicate: (error) => ['ER_DUP_ENTRY', 'ER_DUP_ENTRY_WITH_KEY_NAME'].includes(codeOf(error)),
  isBusy: (error) => BUSY.has(numberOf(error)),
  isReadOnly: (error) => READ_ONLY.has(numberOf(error)) || (DENIED.has(numberOf(error)) && !isDeniedToRead(error)),
  isUnavailable: (error) => UNREACHABLE.has(codeOf(error)) || REFUSING.has(numberOf(error)) || isFatal(error),
  isFull: (error) => FULL.has(numberOf(error)),
};

/**
 * 1213 deadlock (a Galera certification conflict too), 1205 lock wait, 1020 record changed since last read (MariaDB's snapshot isolation),
 * 3572 row locked, 9007, 8002, 8022, 8028 conflicts of TiDB.
 */
const BUSY = new Set([1213, 1205, 1020, 3572, 9007, 8002, 8022, 8028]);

/**
 * 1040 and 1203 too many connections, 1044, 1045, 1049, 1698 refused user or database, 1142, 1143 refused table or column (to read it: to write,
 * it counts as read only), 1047 node not ready (Galera), 1053, 1077, 1079, 1152, 1184 going down, 1317 interrupted, 1927 connection killed, 1129, 1130
 * host refused.
 */
const REFUSING = new Set([1040, 1203, 1044, 1045, 1049, 1698, 1142, 1143, 1047, 1053, 1077, 1079, 1152, 1184, 1317, 1927, 1129, 1130]);

/** 1290, 1792, 1836, 1874 the server, its transaction or its engine is read only (after a failover, or by an option). */
const READ_ONLY = new Set([1290, 1792, 1836, 1874]);

/** 1142, 1143, 1227, 1370 the user lacks a right on a table, a column, the server, a routine. */
const DENIED = new Set([1142, 1143, 1227, 1370]);

/** The name of the command stands in the message in every language of the server. */
const isDeniedToRead = (error: unknown): boolean => error instanceof Error && /\bSELECT\b/.test(error.message);

/** 1021 disk full, 1114 table full, 1030 error from the storage engine (28: no space). */
const FULL = new Set([1021, 1114, 1030]);

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EACCES',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'HANDSHAKE_NO_SSL_SUPPORT',
  'ER_NET_READ_ERROR',
  'ER_NET_READ_INTERRUPTED',
]);

/**
 * What each session is told once. The sql_mode leaves out all that WordPress removes (`wpdb::set_sql_mode`: strict modes, NO_ZERO_DATE), and
 * what would change how texts are quoted. READ COMMITTED, because a transaction that waited for a lock must see what the one before it wrote,
 * or two could choose the same slug. Waiting for locks is short: the transaction is run again instead. MySQL 8 would tell the times of the last
 * changes as they were up to a day ago; MariaDB, which knows no such setting, passes over the comment.
 */
const SESSION = [
  `SET SESSION sql_mode = 'NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', innodb_lock_wait_timeout = 5, lock_wait_timeout = 10
   /*!80003 , information_schema_stats_expiry = 0 */`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];

interface Connection {
  query(sql: string, bindings: readonly unknown[], done: (error: unknown, rows?: unknown, fields?: unknown) => void): void;
  destroy(): void;
}

/** knex's client with our session settings, and with the errors of an absent database under one name. */
class SessionClient extends Mysql2Client {
  override async acquireConnection(): Promise<unknown> {
    try {
      return await super.acquireConnection();
    } catch (error) {
      throw failure(mysql, error);
    }
  }

  override async acquireRawConnection(): Promise<unknown> {
    const connection = (await super.acquireRawConnection()) as Connection;
    try {
      for (const sql of SESSION) {
        await new Promise<void>((resolve, reject) => {
          connection.query(sql, [], (error) => (error ? reject(error) : resolve()));
        });
      }
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  runner(builder: unknown): StraightRunner {
    return new StraightRunner(this, builder);
  }

  query(connection: Connection, query: Compiled | string): Promise<unknown> {
    const compiled = announced(this, query);
    return new Promise((resolve, reject) => {
      connection.query(compiled.sql, compiled.bindings, (error, rows, fields) => {
        if (error) reject(named(compiled, failure(mysql, withoutValues(error))));
        else resolve({ ...compiled, response: [rows, fields] });
      });
    });
  }

  async begin(connection: Connection): Promise<void> {
    await this.query(connection, 'BEGIN');
  }
}

function connectionOf(address: string): object {
  const url = new URL(address);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database === '' || database.includes('/'))
    throw new Error('the address of a MySQL database must end with its name: mysql://user:password@host:port/name');
  const unknown = [...url.searchParams.keys()].filter((key) => key !== 'socketPath' && key !== 'ssl');
  if (unknown.length > 0) throw new Error(`the address of the MySQL database has a parameter that is not known: ${unknown.join(', ')}`);
  const socketPath = url.searchParams.get('socketPath');
  return {
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    ...(socketPath === null ? { host: url.hostname || '127.0.0.1', port: Number(url.port || 3306) } : { socketPath }),
    ...(url.searchParams.get('ssl') === 'true' ? { ssl: {} } : {}),
  };
}

function createTable({ name, columns, primary, keys = {}, unique = {} }: TableDefinition, prefix: string): string[] {
  const key =
    (kind: string) =>
    ([label, parts]: [string, readonly string[]]) =>
      `${kind} \`${label.replace('{prefix}', prefix)}\` (${parts.map(quoted).join(',')})`;
  const lines = [
    ...Object.entries(columns).map(([column, type]) => `\`${column}\` ${type}`),
    `PRIMARY KEY (${primary.map(quoted).join(',')})`,
    ...Object.entries(unique).map(key('UNIQUE KEY')),
    ...Object.entries(keys).map(key('KEY')),
  ];
  return [
    `CREATE TABLE IF NOT EXISTS \`${prefix}${name}\` (${lines.join(', ')}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci`,
  ];
}

/**
 * `UPDATE_TIME` is when the last transaction that changed the table began (MariaDB) or ended (MySQL), shown once it has
 * ended. It can go backwards, and it is lost when the table is rebuilt or the server restarts. A rebuilt table has
 * another `CREATE_TIME`. TRUNCATE changes neither, but the next number and the number of rows.
 */
async function changeSigns(knex: Knex, tables: readonly string[]): Promise<ChangeSigns> {
  const orDash = (column: string) => `COALESCE(${column}, '-')`;
  const young = (column: string) => `COALESCE(${column} > NOW() - INTERVAL ${UNSETTLED_SECONDS} SECOND, 0)`;
  const [[rows], [[started]]] = (await Promise.all([
    knex.raw(
      `SELECT LOWER(TABLE_NAME) AS name, ${young('UPDATE_TIME')} OR ${young('CREATE_TIME')} AS young,
         CONCAT_WS(' ', @@hostname, @@port, ${['CREATE_TIME', 'UPDATE_TIME', 'AUTO_INCREMENT', 'TABLE_ROWS'].map(orDash)}) AS sign
       FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${tables.map(() => '?').join(',')})`,
      [...tables],
    ),
    knex.raw("SHOW GLOBAL STATUS LIKE 'Uptime'"),
  ])) as [[{ name: string; young: number; sign: string }[]], [{ Value: string }[]]];
  const signs = new Map(rows.map(({ name, sign }) => [name, sign]));
  return {
    signs: tables.map((table) => signs.get(table.toLowerCase()) ?? ''),
    settled: rows.every(({ young }) => Number(young) === 0),
    uptime: started === undefined ? undefined : Number(started.Value),
  };
}

/** A column, perhaps with the length of its prefix: `name(191)`. */
const quoted = (column: string): string => column.replace(/^\w+/, '`$&`');

async function inspect(knex: Knex, tables: readonly string[]): Promise<Inspection> {
  const marks = tables.map(() => '?').join(',');
  const [[{ version }]] = (await knex.raw('SELECT VERSION() AS version')) as [[{ version: string }]];
  const [keys] = (await knex.raw(
    `SELECT TABLE_NAME AS \`of\`, INDEX_NAME AS \`key\`, COLUMN_NAME AS part FROM information_schema.STATISTICS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks}) ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
    [...tables],
  )) as [{ of: string; key: string; part: string }[]];
  const [made] = (await knex.raw(
    `SELECT TABLE_NAME AS \`of\`, ENGINE AS engine, TABLE_COLLATION AS collation FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks}) ORDER BY TABLE_NAME`,
    [...tables],
  )) as [{ of: string; engine: string | null; collation: string | null }[]];
  return {
    version: `${/MariaDB/i.test(version) ? 'MariaDB' : 'MySQL'} ${/^[\d.]+/.exec(version)?.[0] ?? version}`,
    keys: keysOf(keys),
    faults: made.flatMap(({ of, engine, collation }) => [
      ...(engine === 'InnoDB' ? [] : [{ what: 'engine' as const, of, value: engine ?? '' }]),
      ...(collation?.startsWith('utf8mb4') ? [] : [{ what: 'charset' as const, of, value: collation ?? '' }]),
    ]),
  };
}

/** The driver's error without the statement that it carries with all values in it, passwords among them. */
function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const carrier: Error & { sql?: string; sqlMessage?: string } = error;
  delete carrier.sql;
  delete carrier.sqlMessage;
  error.message = error.message.replace(/(entry|value:?) '.*'(?= for (key|column))/s, "$1 '…'");
  return error;
}

function numberOf(error: unknown): number {
  const number = typeof error === 'object' && error !== null && 'errno' in error ? error.errno : 0;
  return typeof number === 'number' ? number : 0;
}

/** mysql2 marks what ends a connection, an error without a code among them. */
function isFatal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'fatal' in error && error.fatal === true;
}
