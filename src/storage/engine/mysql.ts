import knex, { type Knex } from 'knex';
import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import type { Client, Compiled } from 'knex/lib/execution/runner.js';
import { type ConnectionOptions, createConnection } from 'mysql2';
import type { ChangeSigns } from './change-signs.ts';
import type { ServerChange } from './cluster.ts';
import {
  codeOf,
  DatabaseUnavailable,
  type Dialect,
  type Engine,
  failure,
  type Inspection,
  keysOf,
  type TableDefinition,
} from './dialect.ts';
import { beginsWith } from './expressions.ts';
import { silent } from './knex-log.ts';
import { mysqlServers } from './mysql-address.ts';
import type { Connection } from './mysql-connections.ts';
import { type MysqlServers, openServers } from './mysql-servers.ts';
import { announced, named, StraightRunner } from './straight-runner.ts';

const CONNECTIONS = 16;
const READERS = 4;
/** A request that finds no connection for this long is answered with 503. */
const ACQUIRE_MS = 1000;

export interface MysqlOptions {
  /** For a replica, which is only read: the database that answers when the replica does not. */
  readonly primary?: Knex;
  readonly told?: (change: ServerChange) => void;
}

/**
 * A pool of connections to MySQL or MariaDB: to one of the servers that the address names, as long as that one can be
 * used. Nothing connects before the first query, so the servers may be absent.
 *
 * @param address `mysql://user:password@host:port,host:port/database`, with `?socketPath=` and `?ssl=true` if need be
 * @throws Error saying what is wrong with the address
 */
export function openMysql(address: string, { primary, told = () => {} }: MysqlOptions = {}): Engine {
  const listed = mysqlServers(address);
  const servers = openServers({
    servers: listed,
    connect: (options) => createConnection({ ...CONNECTION, ...options }) as unknown as Connection,
    errors: { isCut, isLeaving: isOneOf(LEAVING), isReadOnly: isOneOf(READ_ONLY), isCrowded: isOneOf(CROWDED) },
    writes: primary === undefined,
    told,
  });
  let detours = 0;
  const detour = primary && {
    client: primary.client as Client,
    taken: () => {
      detours += 1;
    },
  };
  return {
    dialect: mysql,
    // What the primary answered instead comes from another server too.
    cluster: { ...servers, era: () => servers.era() + detours },
    knex: knex({
      client: clientOf(servers, detour) as unknown as typeof knex.Client,
      // All that knex itself needs to know, for questions about the schema.
      connection: { database: listed[0].options.database },
      pool: { min: 0, max: CONNECTIONS },
      acquireConnectionTimeout: ACQUIRE_MS,
      compileSqlOnError: false,
      log: silent,
    }),
  };
}

/** What the driver is told of every connection. */
const CONNECTION: ConnectionOptions = {
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
};

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
  logPosition: async (knex) => {
    const [rows] = (await knex.raw("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('gtid_binlog_pos', 'gtid_executed')")) as [
      { Value: string }[],
    ];
    return rows[0]?.Value ?? '';
  },
  hasReached,
  createTable,
  addColumn: (table, column, type) => `ALTER TABLE \`${table}\` ADD COLUMN \`${column}\` ${type}`,
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
  isUnavailable: (error) => isCut(error) || REFUSING.has(numberOf(error)),
  isUndone: (error) => UNDONE.has(numberOf(error)),
  isFull: (error) => FULL.has(numberOf(error)),
};

/**
 * Conflicts that end the whole transaction: 1213 deadlock (one of two nodes of Galera too), 1020 record changed since
 * last read (MariaDB's snapshot isolation), 3101 conflict of two members of Group Replication, 9007, 8002, 8022, 8028
 * of TiDB.
 */
const CONFLICT = new Set([1213, 1020, 3101, 9007, 8002, 8022, 8028]);

/** Besides: 1205 lock wait, 3572 row locked. */
const BUSY = new Set([...CONFLICT, 1205, 3572]);

/** 1047 node without a majority, or not yet up to date (Galera); 1053 shutting down. */
const LEAVING = new Set([1047, 1053]);
/** 1290, 1792, 1836, 1874 the server, its transaction or its engine is read only (after a failover, or by an option). */
const READ_ONLY = new Set([1290, 1792, 1836, 1874]);
/** 1040, 1203: too many connections. */
const CROWDED = new Set([1040, 1203]);

/**
 * Besides: 1044, 1045, 1049, 1698 refused user or database, 1142, 1143 refused table or column (to read it: to write, it
 * counts as read only), 1077, 1079, 1152, 1184 going down, 1129, 1130 host refused, 1180 error during COMMIT (a Galera
 * node that loses its cluster meanwhile), 1317 interrupted, 1927 connection killed, 3100 a member of Group Replication
 * that can't take part.
 */
const REFUSING = new Set([
  ...[...LEAVING, ...CROWDED],
  ...[1044, 1045, 1049, 1698, 1142, 1143, 1077, 1079, 1152, 1184, 1129, 1130, 1180, 1317, 1927, 3100],
]);

/** 1142, 1143, 1227, 1370 the user lacks a right on a table, a column, the server, a routine. */
const DENIED = new Set([1142, 1143, 1227, 1370]);

/** The name of the command stands in the message in every language of the server. */
const isDeniedToRead = (error: unknown): boolean => error instanceof Error && /\bSELECT\b/.test(error.message);

/**
 * A COMMIT that fails with one of these has not begun or was rolled back: conflicts, a server that takes no writes,
 * 1047 a node that takes no statements, 3100 a member of Group Replication that can't take part.
 */
const UNDONE = new Set([...CONFLICT, ...READ_ONLY, 1047, 3100]);

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
 * knex's client for these servers, with one name for all errors of an absent database. A class, because knex makes more
 * of them for its transactions.
 */
function clientOf(servers: MysqlServers, detour: { readonly client: Client; readonly taken: () => void } | undefined) {
  return class SessionClient extends Mysql2Client {
    elsewhere(error: unknown): Client | undefined {
      if (!(error instanceof DatabaseUnavailable)) return undefined;
      const refusesWrites = error.reason === 'read-only' && READ_ONLY.has(numberOf(error.cause));
      if (error.reason !== 'unreachable' && !refusesWrites) return undefined;
      if (servers.place().of > 1) return this as unknown as Client;
      detour?.taken();
      return detour?.client;
    }

    override async acquireConnection(): Promise<unknown> {
      try {
        await servers.ready();
        return await super.acquireConnection();
      } catch (error) {
        throw failure(mysql, error);
      }
    }

    override async acquireRawConnection(): Promise<unknown> {
      return servers.connect();
    }

    override validateConnection(connection: Connection): boolean {
      return super.validateConnection(connection) && servers.isInUse(connection);
    }

    override async destroy(): Promise<void> {
      servers.close();
      await super.destroy();
    }

    runner(builder: unknown): StraightRunner {
      return new StraightRunner(this, builder);
    }

    query(connection: Connection, query: Compiled | string): Promise<unknown> {
      const compiled = announced(this, query);
      const answered = servers.asked(connection);
      return new Promise((resolve, reject) => {
        connection.query(compiled.sql, compiled.bindings, (error, rows, fields) => {
          answered(error);
          if (error) reject(named(compiled, failure(mysql, withoutValues(error))));
          else resolve({ ...compiled, response: [rows, fields] });
        });
      });
    }

    async begin(connection: Connection): Promise<void> {
      await this.query(connection, 'BEGIN');
    }

    async committed(connection: Connection): Promise<void> {
      await servers.committed(connection);
    }
  };
}

/**
 * Positions of MySQL are sets of transactions (`uuid:1-77`), those of MariaDB the last one of each domain (`0-1-77`).
 */
async function hasReached(knex: Knex, position: string): Promise<boolean> {
  if (position === '') return true;
  const [[row]] = (await (position.includes(':')
    ? knex.raw('SELECT GTID_SUBSET(?, @@global.gtid_executed) AS reached', [position])
    : knex.raw("SELECT @@global.gtid_slave_pos = '' OR MASTER_GTID_WAIT(?, 0) = 0 AS reached", [position]))) as [
    [{ reached: number } | undefined],
  ];
  return row?.reached === 1;
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
  const { message } = error;
  const [from, to] = [message.indexOf(" '"), Math.max(message.lastIndexOf("' for key"), message.lastIndexOf("' for column"))];
  if (from >= 0 && to > from) error.message = `${message.slice(0, from)} '…${message.slice(to)}`;
  return error;
}

const isOneOf =
  (numbers: ReadonlySet<number>) =>
  (error: unknown): boolean =>
    numbers.has(numberOf(error));

/** The connection broke, or there never was one. */
const isCut = (error: unknown): boolean => UNREACHABLE.has(codeOf(error)) || isFatal(error);

function numberOf(error: unknown): number {
  const number = typeof error === 'object' && error !== null && 'errno' in error ? error.errno : 0;
  return typeof number === 'number' ? number : 0;
}

/** mysql2 marks what ends a connection, an error without a code among them. */
function isFatal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'fatal' in error && error.fatal === true;
}
