import { type Inspection, keysOf, type Measure } from '../dialect.ts';
import type { Asker } from '../driver.ts';

/** Returns the version of the server, and the keys and faults of these tables. */
export async function inspect(db: Asker, tables: readonly string[]): Promise<Inspection> {
  const marks = tables.map(() => '?').join(',');
  const askedName = await askedNames(db, tables);
  const named = async <Row extends { readonly of: string }>(sql: string): Promise<Row[]> =>
    (await db.ask<Row>(sql, [...tables])).flatMap((row) => {
      const of = askedName(row.of);
      return of === undefined ? [] : [{ ...row, of }];
    });
  const keys = await named<{ of: string; key: string; part: string }>(
    `SELECT TABLE_NAME AS \`of\`, INDEX_NAME AS \`key\`, COLUMN_NAME AS part FROM information_schema.STATISTICS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks}) ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
  );
  const tableRows = await named<{ of: string; type: string; engine: string | null; collation: string | null }>(
    `SELECT TABLE_NAME AS \`of\`, TABLE_TYPE AS type, ENGINE AS engine, TABLE_COLLATION AS collation FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks}) ORDER BY TABLE_NAME`,
  );
  const numbered = await named<{ of: string }>(
    `SELECT TABLE_NAME AS \`of\` FROM information_schema.COLUMNS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks}) AND EXTRA LIKE '%auto_increment%'`,
  );
  const names = tableRows.flatMap(({ of, type }) => (type === 'BASE TABLE' ? [of] : []));
  return {
    version: await versionOf(db),
    keys: new Map([...names.map((name): [string, string[][]] => [name, []]), ...keysOf(keys)]),
    numbered: new Set(numbered.map(({ of }) => of)),
    faults: tableRows.flatMap(({ of, engine, collation }) => [
      ...(engine === 'InnoDB' ? [] : [{ attribute: 'engine' as const, of, value: engine ?? '' }]),
      ...(collation?.startsWith('utf8mb4') ? [] : [{ attribute: 'charset' as const, of, value: collation ?? '' }]),
    ]),
  };
}

/**
 * Returns a function that gives the name under which a table was asked for; undefined for a table that is another one.
 * With `lower_case_table_names`, a server knows its tables by names in lower case.
 */
async function askedNames(db: Asker, tables: readonly string[]): Promise<(name: string) => string | undefined> {
  const [row] = await db.ask<{ folds: number }>('SELECT @@lower_case_table_names AS folds');
  const fold = (name: string): string => (row?.folds ? name.toLowerCase() : name);
  const byName = new Map(tables.map((name) => [fold(name), name]));
  return (name) => byName.get(fold(name));
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
