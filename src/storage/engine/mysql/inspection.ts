import { type Inspection, keysOf, type Measure } from '../dialect.ts';
import type { Asker } from '../driver.ts';

/** Returns the version of the server, and the keys and faults of these tables. */
export async function inspect(db: Asker, tables: readonly string[]): Promise<Inspection> {
  const marks = tables.map(() => '?').join(',');
  const keys = await db.ask<{ of: string; key: string; part: string }>(
    `SELECT TABLE_NAME AS \`of\`, INDEX_NAME AS \`key\`, COLUMN_NAME AS part FROM information_schema.STATISTICS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks}) ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
    [...tables],
  );
  const tableRows = await db.ask<{ of: string; engine: string | null; collation: string | null }>(
    `SELECT TABLE_NAME AS \`of\`, ENGINE AS engine, TABLE_COLLATION AS collation FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks}) ORDER BY TABLE_NAME`,
    [...tables],
  );
  return {
    version: await versionOf(db),
    keys: keysOf(keys),
    faults: tableRows.flatMap(({ of, engine, collation }) => [
      ...(engine === 'InnoDB' ? [] : [{ attribute: 'engine' as const, of, value: engine ?? '' }]),
      ...(collation?.startsWith('utf8mb4') ? [] : [{ attribute: 'charset' as const, of, value: collation ?? '' }]),
    ]),
  };
}

/** Always empty: the server handles damage itself. */
export const findDamage = async (): Promise<string[]> => [];

/** Returns the name and version of the server, and the approximate size of these tables as the server reports it. */
export async function measure(db: Asker, tables: readonly string[]): Promise<Measure> {
  const [row] = await db.ask<{ bytes: number | string | null }>(
    `SELECT SUM(DATA_LENGTH + INDEX_LENGTH) AS bytes FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${tables.map(() => '?').join(',')})`,
    [...tables],
  );
  return { version: await versionOf(db), bytes: Number(row?.bytes ?? 0) };
}

async function versionOf(db: Asker): Promise<string> {
  const [{ version } = { version: '' }] = await db.ask<{ version: string }>('SELECT VERSION() AS version');
  return `${/MariaDB/i.test(version) ? 'MariaDB' : 'MySQL'} ${/^[\d.]+/.exec(version)?.[0] ?? version}`;
}
