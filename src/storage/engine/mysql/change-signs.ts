import type { ChangeSigns } from '../change-signs.ts';
import type { Asker } from '../driver.ts';

/** The server notes seconds: a second change in the same one would leave the same note. */
const UNSETTLED_SECONDS = 2;

/**
 * MariaDB counts transactions that write: one number when they begin, another when they are committed. The position of
 * the log, which MySQL shows, is moved by its own upkeep as well.
 */
const NUMBERS_OF_A_TRANSACTION = 2;

/**
 * `UPDATE_TIME` is when the last transaction that changed the table began (MariaDB) or ended (MySQL), shown once it has
 * ended. It can go backwards, and it is lost when the table is rebuilt or the server restarts. A rebuilt table has
 * another `CREATE_TIME`. TRUNCATE changes neither, but the next number and the number of rows.
 */
export async function changeSigns(db: Asker, tables: readonly string[]): Promise<ChangeSigns> {
  const orDash = (column: string) => `COALESCE(${column}, '-')`;
  const young = (column: string) => `COALESCE(${column} > NOW() - INTERVAL ${UNSETTLED_SECONDS} SECOND, 0)`;
  const [rows, status] = (await Promise.all([
    db.ask(
      `SELECT LOWER(TABLE_NAME) AS name, UPDATE_TIME IS NULL AS forgotten, ${young('UPDATE_TIME')} OR ${young('CREATE_TIME')} AS young,
         CONCAT_WS(' ', @@hostname, @@port, ${['CREATE_TIME', 'UPDATE_TIME', 'AUTO_INCREMENT', 'TABLE_ROWS'].map(orDash)}) AS sign
       FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${tables.map(() => '?').join(',')})`,
      [...tables],
    ),
    db.ask(
      `SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', 'Opened_tables', 'Innodb_max_trx_id', 'Innodb_lsn_current', 'Innodb_redo_log_current_lsn')`,
    ),
  ])) as [{ name: string; forgotten: number; young: number; sign: string }[], { Variable_name: string; Value: string }[]];
  const statusOf = (name: RegExp) => status.find(({ Variable_name }) => name.test(Variable_name))?.Value;
  const seconds = statusOf(/^uptime$/i);
  const transactions = statusOf(/^innodb_max_trx_id$/i);
  const signs = new Map(rows.map(({ name, sign }) => [name, sign]));
  return {
    signs: tables.map((table) => signs.get(table.toLowerCase()) ?? ''),
    settled: rows.every(({ young }) => Number(young) === 0),
    forgets: rows.some(({ forgotten }) => Number(forgotten) === 1),
    position: transactions ?? statusOf(/lsn/i),
    step: transactions === undefined ? undefined : NUMBERS_OF_A_TRANSACTION,
    opened: statusOf(/^opened_tables$/i),
    uptime: seconds === undefined ? undefined : Number(seconds),
  };
}
