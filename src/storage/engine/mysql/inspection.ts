import { type Inspection, keysOf } from '../dialect.ts';
import type { Asker } from '../driver.ts';

/** What the server says of itself and of these tables. */
export async function inspect(db: Asker, tables: readonly string[]): Promise<Inspection> {
  const marks = tables.map(() => '?').join(',');
  const [{ version } = { version: '' }] = await db.ask<{ version: string }>('SELECT VERSION() AS version');
  const keys = await db.ask<{ of: string; key: string; part: string }>(
    `SELECT TABLE_NAME AS \`of\`, INDEX_NAME AS \`key\`, COLUMN_NAME AS part FROM information_schema.STATISTICS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks}) ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
    [...tables],
  );
  const made = await db.ask<{ of: string; engine: string | null; collation: string | null }>(
    `SELECT TABLE_NAME AS \`of\`, ENGINE AS engine, TABLE_COLLATION AS collation FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks}) ORDER BY TABLE_NAME`,
    [...tables],
  );
  return {
    version: `${/MariaDB/i.test(version) ? 'MariaDB' : 'MySQL'} ${/^[\d.]+/.exec(version)?.[0] ?? version}`,
    keys: keysOf(keys),
    faults: made.flatMap(({ of, engine, collation }) => [
      ...(engine === 'InnoDB' ? [] : [{ what: 'engine' as const, of, value: engine ?? '' }]),
      ...(collation?.startsWith('utf8mb4') ? [] : [{ what: 'charset' as const, of, value: collation ?? '' }]),
    ]),
  };
}
