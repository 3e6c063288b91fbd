import { typedKeys } from '../../typed-keys.ts';
import { type Database, hasTable } from '../engine/database.ts';
import type { TableDefinition } from '../engine/dialect.ts';

/**
 * The existing parts of the schema for recurring events. The paid extension adds them, and leaves them behind when it
 * is removed.
 */
export interface RecurrenceTables {
  /** Whether all columns exist in which occurrences and their rules are stored. */
  readonly columns: boolean;
  /** Whether the table `tec_series_relationships` exists. */
  readonly series: boolean;
}

/** Additional columns of `tec_events` and `tec_occurrences`, as declared by the extension. */
const COLUMNS = {
  tec_events: { rset: 'longtext NULL' },
  tec_occurrences: {
    has_recurrence: 'tinyint(1) DEFAULT 0',
    sequence: 'bigint(20) unsigned DEFAULT 0',
    is_rdate: 'tinyint(1) DEFAULT 0',
  },
} as const;

const SERIES: TableDefinition = {
  name: 'tec_series_relationships',
  columns: {
    relationship_id: 'bigint(20) unsigned NOT NULL AUTO_INCREMENT',
    series_post_id: 'bigint(20) unsigned NOT NULL',
    event_id: 'bigint(20) unsigned NOT NULL',
    event_post_id: 'bigint(20) unsigned NOT NULL',
  },
  primary: ['relationship_id'],
  keys: { series_post_id: ['series_post_id'], event_post_id: ['event_post_id'] },
};

const everyColumn = Object.entries(COLUMNS).flatMap(([table, columns]) =>
  Object.entries(columns).map(([column, type]) => ({ table: table as keyof typeof COLUMNS, column, type })),
);

/** Determines which parts of the schema exist. */
export async function findRecurrenceTables(db: Database): Promise<RecurrenceTables> {
  const missing = await missingColumns(db);
  return { columns: missing.length === 0, series: await hasTable(db, 'tec_series_relationships') };
}

/** Adds the missing parts, outside any transaction. Safe to run again; existing parts are left unchanged. */
export async function createRecurrenceTables(db: Database): Promise<void> {
  for (const { table, column, type } of await missingColumns(db)) {
    await db.ask(db.dialect.addColumn(db.table(table), column, type));
  }
  for (const statement of db.dialect.createTable(SERIES, db.prefix)) await db.ask(statement);
}

async function missingColumns(db: Database): Promise<typeof everyColumn> {
  const columnsByTable = new Map<string, readonly string[]>();
  for (const table of typedKeys(COLUMNS)) columnsByTable.set(table, await db.dialect.columns(db, db.table(table)));
  return everyColumn.filter(({ table, column }) => !columnsByTable.get(table)?.includes(column));
}
