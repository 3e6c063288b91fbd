import { codeOf } from '../../../objects.ts';
import { foldForSearch, foldText, knownFold } from '../collation.ts';
import type { Dialect } from '../dialect.ts';
import { findDamage, inspect, measure } from './inspection.ts';
import { addColumn, addKey, createTable, storeStatistics } from './schema.ts';

/** The dialect of SQLite, with a database in one file. */
export const sqlite: Dialect = {
  name: 'sqlite',
  maxWriters: 1,
  maxReaders: 2,
  groupCommit: { maxPieces: 16, maxMs: 25 },
  maxRetryPauseMs: 10,
  search: (column, text) => ['holds(??, ?)', [column, foldForSearch(text)]],
  equalsFolded: (column, ...values) => [`fold(??) IN (${values.map(() => '?').join()})`, [column, ...values.map(foldText)]],
  // In files of WordPress's SQLite integration, text columns ignore case (`COLLATE NOCASE`).
  equalsExactly: (column, ...values) => [`?? COLLATE BINARY IN (${values.map(() => '?').join()})`, [column, ...values]],
  startsWith: (column, start) => ['(?? >= ? AND ?? < ?)', [column, start, column, firstTextAfter(start)]],
  orderFolded: (column, direction = 'asc') => [`fold(??) ${direction === 'desc' ? 'DESC' : 'ASC'}`, [column]],
  sortKey: (column) => ['??', [column]],
  orderOf: knownFold,
  asNumber: (column) => ['CAST(?? AS REAL)', [column]],
  asText: (expression) => `CAST(${expression} AS TEXT)`,
  isUtf8: () => ['1', []],
  isNumber: (column) => ['is_number(??)', [column]],
  orUpdate: (keys) => `ON CONFLICT (${keys.map((key) => `\`${key}\``).join(', ')}) DO UPDATE SET`,
  insertedValue: (column) => `excluded.\`${column}\``,
  updateReturning: (expression, column) => ({ value: expression, returning: `RETURNING ${column} AS id` }),
  joinInOrder: 'CROSS JOIN',
  locks: { share: '', update: '' },
  changeSigns: async (db, { watched }) => {
    const [row] = await db.ask<{ data_version: number }>('PRAGMA data_version');
    return {
      signs: watched.map(() => String(row?.data_version)),
      isSettled: true,
      unrecorded: watched.map(() => false),
      position: undefined,
      countsPositionOnly: false,
      positionStep: undefined,
      openedTables: undefined,
      uptime: undefined,
    };
  },
  showsEveryChange: true,
  fingerprint: (text) => `fingerprint(${text})`,
  joinedPrint: (text) => `fingerprint(${text})`,
  quickPrint: (text) => `fingerprint(${text})`,
  logPosition: async () => '',
  hasReached: async () => true,
  createTable,
  addColumn,
  addKey,
  addPrimaryKey: () => undefined,
  storeStatistics,
  tables: async (db) => {
    const rows = await db.ask<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite|_%' ESCAPE '|' ORDER BY name",
    );
    return rows.map(({ name }) => name);
  },
  columns: async (db, table) => {
    const rows = await db.ask<{ name: string }>('SELECT name FROM pragma_table_info(?) ORDER BY cid', [table]);
    return rows.map(({ name }) => name);
  },
  inspect,
  findDamage,
  measure,
  isDuplicate: (error) => ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_ROWID'].includes(codeOf(error)),
  isBusy: (error) => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error)),
  isReadOnly: (error) => /^SQLITE_(READONLY|PERM|AUTH)/.test(codeOf(error)),
  isOverLimit: () => false,
  isUnavailable: (error) => /^SQLITE_(CANTOPEN|IOERR|NOTADB|CORRUPT)/.test(codeOf(error)),
  isRolledBack: () => true,
  isDiskFull: (error) => codeOf(error) === 'SQLITE_FULL',
};

/** The first text after all texts that begin with this one, in code point order. */
const firstTextAfter = (start: string): string => start.slice(0, -1) + String.fromCharCode(start.charCodeAt(start.length - 1) + 1);
