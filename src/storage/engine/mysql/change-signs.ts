import type { ChangeSigns, SignedTables } from '../change-signs.ts';
import type { Asker } from '../driver.ts';

/**
 * The server records whole seconds: a second change within the same second would leave the same record. Both the record
 * and the current time are cut to seconds, so a difference of two may be little more than one.
 */
const UNSETTLED_SECONDS = 2;

/**
 * MariaDB numbers transactions that write: one number when they begin, another when they are committed. The position of
 * the log, which MySQL shows, also moves when the server does its own maintenance.
 */
const NUMBERS_PER_TRANSACTION = 2;

/**
 * Reads the change signs of tables. `UPDATE_TIME` is the time at which the last transaction that changed the table
 * began (MariaDB) or ended (MySQL), visible once the transaction has ended. It can go backwards, and it is lost when
 * the table is rebuilt or the server restarts. A rebuilt table has a different `CREATE_TIME`. TRUNCATE changes neither
 * of the times, but it changes AUTO_INCREMENT and the number of rows.
 */
export async function changeSigns(db: Asker, tables: SignedTables, previous?: ChangeSigns): Promise<ChangeSigns> {
  if (previous) {
    const status = await readStatus(db);
    if (isAsBefore(status, previous)) return { ...previous, uptime: status.uptime };
  }
  const rows = await readTables(db, tables);
  // The status is read after the tables: the record of one of them may be evicted, and the table reopened, just before
  // it is read.
  return signsOf(tables, rows, await readStatus(db));
}

/** Whether nothing has been committed since, and the server has not restarted. */
const isAsBefore = ({ position, openedTables, uptime = 0 }: Status, previous: ChangeSigns): boolean =>
  previous.position !== undefined &&
  position === previous.position &&
  openedTables === previous.openedTables &&
  uptime >= (previous.uptime ?? 0);

/** Status values of the server. */
type Status = Pick<ChangeSigns, 'position' | 'positionStep' | 'openedTables' | 'uptime'>;

async function readStatus(db: Asker): Promise<Status> {
  const rows = await db.ask<{ Variable_name: string; Value: string }>(
    `SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', 'Opened_tables', 'Innodb_max_trx_id', 'Innodb_lsn_current', 'Innodb_redo_log_current_lsn')`,
  );
  const statusOf = (name: RegExp) => rows.find(({ Variable_name }) => name.test(Variable_name))?.Value;
  const seconds = statusOf(/^uptime$/i);
  const transactions = statusOf(/^innodb_max_trx_id$/i);
  const position = transactions ?? statusOf(/lsn/i);
  return {
    // Servers that only resemble MySQL may have the variable but no such number.
    position: position === '0' ? undefined : position,
    positionStep: transactions === undefined ? undefined : NUMBERS_PER_TRANSACTION,
    openedTables: statusOf(/^opened_tables$/i),
    uptime: seconds === undefined ? undefined : Number(seconds),
  };
}

/** Data of the server about a table. */
interface TableStatus {
  readonly name: string;
  readonly unrecorded: number;
  readonly isRecent: number;
  /** Whether commits to the table move the position. */
  readonly isCounted: number;
  readonly sign: string;
}

async function readTables(db: Asker, { watched, positionOnly }: SignedTables): Promise<TableStatus[]> {
  const names = [...watched, ...positionOnly];
  const orDash = (column: string) => `COALESCE(${column}, '-')`;
  const isRecent = (column: string) => `COALESCE(${column} >= NOW() - INTERVAL ${UNSETTLED_SECONDS} SECOND, 0)`;
  return db.ask<TableStatus>(
    `SELECT LOWER(TABLE_NAME) AS name, UPDATE_TIME IS NULL AS unrecorded, ${isRecent('UPDATE_TIME')} OR ${isRecent('CREATE_TIME')} AS isRecent,
       COALESCE(ENGINE, '') = 'InnoDB' AS isCounted,
       CONCAT_WS(' ', @@hostname, @@port, ${['CREATE_TIME', 'UPDATE_TIME', 'AUTO_INCREMENT', 'TABLE_ROWS'].map(orDash)}) AS sign
     FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${names.map(() => '?').join(',')})`,
    names,
  );
}

function signsOf({ watched, positionOnly }: SignedTables, rows: readonly TableStatus[], status: Status): ChangeSigns {
  const rowsByName = new Map(rows.map((row) => [row.name, row]));
  const inOrder = (tables: readonly string[]) => tables.map((table) => rowsByName.get(table.toLowerCase()));
  // Commits to tables of other storage engines, such as MyISAM, are not counted by InnoDB.
  const areCounted = (tables: readonly string[]) => inOrder(tables).every((row) => !row || Number(row.isCounted) === 1);
  const watchedRows = inOrder(watched);
  return {
    ...status,
    ...(areCounted(watched) ? {} : { position: undefined, positionStep: undefined }),
    countsPositionOnly: areCounted(positionOnly),
    signs: watchedRows.map((row) => row?.sign ?? ''),
    isSettled: watchedRows.every((row) => !row || Number(row.isRecent) === 0),
    unrecorded: watchedRows.map((row) => Number(row?.unrecorded) === 1),
  };
}
