import { codeOf } from '../../../objects.ts';
import { DECIMAL_NUMBER } from '../../../wordpress/decimal-number.ts';
import { printedForms, withTypedMarks } from '../../../wordpress/typographic-marks.ts';
import type { Dialect, Sql } from '../dialect.ts';
import type { Asker } from '../driver.ts';
import { beginsWith } from '../expressions.ts';
import { changeSigns } from './change-signs.ts';
import { isBusy, isDiskFull, isOverLimit, isReadOnly, isRolledBack, isUnavailable } from './errors.ts';
import { findDamage, inspect, measure } from './inspection.ts';
import { addColumn, addKey, addPrimaryKey, createTable } from './schema.ts';

/** Maximum number of open connections, and how many of them are reserved for readers. */
export const MAX_CONNECTIONS = 16;
const RESERVED_FOR_READERS = 4;

/** The dialect of MySQL and MariaDB with InnoDB. */
export const mysql: Dialect = {
  name: 'mysql',
  maxWriters: MAX_CONNECTIONS - RESERVED_FOR_READERS,
  maxReaders: MAX_CONNECTIONS,
  groupCommit: { maxPieces: 1, maxMs: 0 },
  maxRetryPauseMs: 200,
  search,
  equalsFolded: (column, ...values) => [`?? IN (${values.map(() => '?').join()})`, [column, ...values]],
  // Old tables may be in `latin1`, while the values are sent in `utf8mb4`.
  equalsExactly: (column, ...values) => [
    `CAST(CONVERT(?? USING utf8mb4) AS BINARY) IN (${values.map(() => 'CAST(? AS BINARY)').join()})`,
    [column, ...values],
  ],
  startsWith: (column, start) => beginsWith(column, start),
  orderFolded: (column, direction = 'asc') => [`?? ${direction === 'desc' ? 'DESC' : 'ASC'}`, [column]],
  sortKey: (column) => ['HEX(WEIGHT_STRING(??))', [column]],
  orderOf: (key) => key,
  // `+ 0.0` reads the leading number of a text without the error that CAST gives on strict servers.
  asNumber: (column) => ['(?? + 0.0)', [column]],
  asText: (expression) => `CONVERT(${expression} USING utf8mb4) COLLATE utf8mb4_bin`,
  isUtf8: (column) => ["CHARSET(??) LIKE 'utf8%'", [column]],
  isNumber: (column) => ['?? REGEXP ?', [column, DECIMAL_NUMBER]],
  orUpdate: () => 'ON DUPLICATE KEY UPDATE',
  insertedValue: (column) => `VALUES(\`${column}\`)`,
  updateReturning: (expression) => ({ value: `LAST_INSERT_ID(${expression})`, returning: '' }),
  joinInOrder: 'STRAIGHT_JOIN',
  locks: { share: 'LOCK IN SHARE MODE', update: 'FOR UPDATE' },
  changeSigns,
  showsEveryChange: false,
  // One digest for all rows takes two thirds of the time of one digest for each row.
  joinedPrint: (text) => `MD5(GROUP_CONCAT(${text} SEPARATOR '|'))`,
  // Uses the first half of an MD5.
  fingerprint: (text) => `CONCAT(COUNT(*), ' ', BIT_XOR(CAST(CONV(LEFT(MD5(${text}), 16), 16, 10) AS UNSIGNED)))`,
  // CRC32 is linear: if two values of the same length swap places, the XOR of the CRCs does not change. So each of
  // 16,384 consecutive rows has its own factor, of 32 bits, which keeps the product within range.
  quickPrint: (text, key) => `CONCAT(COUNT(*), ' ', BIT_XOR(CRC32(${text}) * (${key} % 16384 * 163841 + 1500450271)))`,
  logPosition: async (db) => {
    const rows = await db.ask<{ Value: string }>("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('gtid_binlog_pos', 'gtid_executed')");
    return rows[0]?.Value ?? '';
  },
  hasReached,
  createTable,
  addColumn,
  addKey,
  addPrimaryKey,
  storeStatistics: () => [],
  tables: async (db) => {
    const rows = await db.ask<{ name: string }>(
      'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME',
    );
    return rows.map(({ name }) => name);
  },
  columns: async (db, table) => {
    const rows = await db.ask<{ name: string }>(
      `SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`,
      [table],
    );
    return rows.map(({ name }) => name);
  },
  inspect,
  findDamage,
  measure,
  isDuplicate: (error) => ['ER_DUP_ENTRY', 'ER_DUP_ENTRY_WITH_KEY_NAME'].includes(codeOf(error)),
  isBusy,
  isReadOnly,
  isOverLimit,
  isUnavailable,
  isRolledBack,
  isDiskFull,
};

/**
 * Whether a replica has reached a position. Positions of MySQL are sets of transactions (`uuid:1-77`), those of MariaDB
 * the last one of each domain (`0-1-77`).
 */
async function hasReached(db: Asker, position: string): Promise<boolean> {
  if (position === '') return true;
  const question = position.includes(':')
    ? 'SELECT GTID_SUBSET(?, @@global.gtid_executed) AS reached'
    : "SELECT @@global.gtid_slave_pos = '' OR MASTER_GTID_WAIT(?, 0) = 0 AS reached";
  const [row] = await db.ask<{ reached: number }>(question, [position]);
  return row?.reached === 1;
}

/**
 * A text with marks that print has, too, is first searched with placeholders for them, and the marks are only replaced
 * in the rows that remain. They are compared in a character set that has all of them, unlike those of old tables.
 */
function search(column: string, text: string): Sql {
  const typed = withTypedMarks(text);
  const forms = printedForms(typed);
  if (forms.length === 0) return ["?? LIKE ? ESCAPE '|'", [column, `%${escapeLike(text)}%`]];
  const roughly = escapeLike(typed).replaceAll('...', '%').replace(/['"-]/g, '_');
  const withMarksReplaced = `${'REPLACE('.repeat(forms.length)}CONVERT(?? USING utf8mb4)${', ?, ?)'.repeat(forms.length)}`;
  return [
    `(?? LIKE ? ESCAPE '|' AND ${withMarksReplaced} COLLATE utf8mb4_unicode_520_ci LIKE ? ESCAPE '|')`,
    [column, `%${roughly}%`, column, ...forms.flat(), `%${escapeLike(typed)}%`],
  ];
}

const escapeLike = (text: string): string => text.replace(/[%_|]/g, '|$&');
