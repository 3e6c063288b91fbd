import { type Inspection, keysOf, type Measure } from '../dialect.ts';
import type { Asker } from '../driver.ts';

/** Returns the version of SQLite, and the keys of these tables. */
export async function inspect(db: Asker, tables: readonly string[]): Promise<Inspection> {
  const keys: { of: string; key: string; part: string }[] = await db.ask(
    `SELECT m.name AS "of", i.name AS "key", c.name AS part FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c
     WHERE m.type = 'table' AND m.name IN (${tables.map(() => '?').join(',')}) ORDER BY m.name, i.name, c.seqno`,
    [...tables],
  );
  const primary: { of: string; key: string; part: string }[] = await db.ask(
    `SELECT m.name AS "of", 'primary' AS "key", c.name AS part FROM sqlite_master m JOIN pragma_table_info(m.name) c
     WHERE m.type = 'table' AND c.pk > 0 AND m.name IN (${tables.map(() => '?').join(',')}) ORDER BY m.name, c.pk`,
    [...tables],
  );
  const names = await db.ask<{ name: string }>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name IN (${tables.map(() => '?').join(',')})`,
    [...tables],
  );
  return {
    version: await versionOf(db),
    keys: new Map([...names.map(({ name }): [string, string[][]] => [name, []]), ...keysOf([...primary, ...keys])]),
    // SQLite numbers the rows of each table with a primary key of one number.
    numbered: new Set(primary.map(({ of }) => of)),
    faults: [],
  };
}

/** Returns the damage found. The whole file is read in one go, so a server process should run this in a thread. */
export async function findDamage(db: Asker): Promise<string[]> {
  const rows = await db.ask<{ quick_check: string }>('PRAGMA quick_check(10)');
  return rows.flatMap(({ quick_check: text }) => (text === 'ok' ? [] : [text]));
}

/** Returns the version of SQLite and the size of the database file. */
export async function measure(db: Asker): Promise<Measure> {
  const [{ bytes } = { bytes: 0 }] = await db.ask<{ bytes: number }>(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
  );
  return { version: await versionOf(db), bytes };
}

async function versionOf(db: Asker): Promise<string> {
  const [{ version } = { version: '' }] = await db.ask<{ version: string }>('SELECT sqlite_version() AS version');
  return `SQLite ${version}`;
}
