import type { Database } from '../../src/storage/engine/database.ts';
import type { TableDefinition } from '../../src/storage/engine/dialect.ts';
import { readOptions, writeOption } from '../../src/storage/rows/options.ts';
import { asStored } from '../../src/wordpress/php/serialized.ts';
import { keepsSession, runScript } from './databases.ts';
import { type Fixture, optionText, readFixture, resetScript } from './site-data.mjs';

/**
 * Empties the tables of the fixture, loads its rows and returns the database. The next post then gets the id 93 and the
 * next term 19, as in the recordings.
 */
export async function loadSite(db: Database, fixture: Fixture = sampleFixture()): Promise<Database> {
  await runScript(db, scriptFor(fixture, db));
  if (fixture !== sampleSite || !keepsSession(db)) return db;
  const names = Object.keys(fixture).map((name) => db.prefix + name);
  if (db.dialect.name === 'mysql') {
    const checksums = await checksumsOf(db, fixture);
    const columns = await mysqlColumns(db);
    loaded.set(db, { checksums, columns });
    await runScript(db, names.map(copyScript).join(''));
  } else {
    if (!loaded.has(db)) await runScript(db, "ATTACH ':memory:' AS loaded");
    loaded.set(db, { checksums: new Map(), columns: await sqliteColumns(db) });
    await runScript(db, names.map(sqliteCopyScript).join(''));
  }
  return db;
}

/**
 * Resets the sample site by writing only the changed rows, which is fast enough to run before each of hundreds of
 * tests.
 */
export async function resetSite(db: Database): Promise<void> {
  const loadedSite = loaded.get(db);
  if (!loadedSite) return void (await loadSite(db));
  const fixture = sampleFixture();
  const isMysql = db.dialect.name === 'mysql';
  const checksums = isMysql ? await checksumsOf(db, fixture) : undefined;
  const changedTables = Object.keys(fixture).filter((name) => !checksums || checksums.get(name) !== loadedSite.checksums.get(name));
  const putBack = isMysql ? restoreScript : sqliteRestoreScript;
  const rows = changedTables.map((name) => putBack(db.prefix + name, loadedSite.columns.get(db.prefix + name) ?? []));
  // Everything runs in the transaction that increments the change counter.
  const [begin, ...rest] = scriptFor(fixture, db, []).split(';');
  await runScript(db, `${begin}; ${rows.join('')} ${rest.join(';')}`);
}

/** Tables with counters that must never decrease. */
const NEVER_RESET_TABLES = ['fasti_changes', 'fasti_journal', 'fasti_journal_inbox'];

/**
 * Copies every table of a private database. Resolves with a function that restores all of them, which is much faster
 * than creating them again.
 */
export async function snapshotTables(db: Database): Promise<() => Promise<void>> {
  const { dialect, prefix } = db;
  if (!keepsSession(db)) throw new Error('a copy is seen by the session that made it');
  const isSqlite = dialect.name === 'sqlite';
  const names = (
    await db.ask<{ name: string }>(
      isSqlite
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND (name NOT LIKE 'sqlite_%' OR name = 'sqlite_sequence')"
        : 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
    )
  ).flatMap(({ name }) => (NEVER_RESET_TABLES.some((table) => name === prefix + table) ? [] : [name]));
  const copyOf = (name: string) => (isSqlite ? `kept.\`copy ${name}\`` : `\`kept ${name}\``);
  const copies = names.map((name) => `CREATE ${isSqlite ? '' : 'TEMPORARY '}TABLE ${copyOf(name)} AS SELECT * FROM \`${name}\`;`);
  await runScript(db, `${isSqlite ? "ATTACH ':memory:' AS kept;" : ''} ${copies.join('')}`);
  const numbered = isSqlite ? [] : await nextIds(db);
  const restoreTable = names.map((name) => `DELETE FROM \`${name}\`; INSERT INTO \`${name}\` SELECT * FROM ${copyOf(name)};`);
  const countChange = `UPDATE \`${prefix}fasti_changes\` SET counter = counter + 1;`;
  const numbers = numbered.map(({ name, next }) => `ALTER TABLE \`${name}\` AUTO_INCREMENT = ${next};`);
  return () => runScript(db, `BEGIN; ${restoreTable.join('')} ${countChange} COMMIT; ${numbers.join('')}`);
}

/** The next ids of tables, which tests rely on and which rows do not show. */
const nextIds = ({ ask, prefix }: Database) =>
  ask<{ name: string; next: number }>(
    `SELECT TABLE_NAME AS name, AUTO_INCREMENT AS next FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${['posts', 'terms', 'term_taxonomy'].map((name) => `'${prefix}${name}'`)})`,
  );

/** State of the sample site right after it was loaded into a database. */
interface Loaded {
  /** A checksum of the rows of each table. */
  readonly checksums: ReadonlyMap<string, number>;
  /** Columns of each table by its full name; key columns first. */
  readonly columns: ReadonlyMap<string, readonly Column[]>;
}

interface Column {
  readonly name: string;
  readonly isKey: boolean;
}

const loaded = new WeakMap<Database, Loaded>();

async function checksumsOf(db: Database, fixture: Fixture): Promise<ReadonlyMap<string, number>> {
  const names = Object.keys(fixture);
  const [rows] = (await db.knex.raw(`CHECKSUM TABLE ${names.map((name) => `\`${db.prefix}${name}\``).join(', ')}`)) as [
    { Checksum: number }[],
  ];
  return new Map(names.map((name, index) => [name, rows[index]!.Checksum]));
}

const mysqlColumns = (db: Database): Promise<Loaded['columns']> =>
  columnsFrom(
    db,
    "SELECT TABLE_NAME AS place, COLUMN_NAME AS name, COLUMN_KEY = 'PRI' AS isKey FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()",
  );

const sqliteColumns = (db: Database): Promise<Loaded['columns']> =>
  columnsFrom(
    db,
    "SELECT tables.name AS place, columns.name AS name, columns.pk > 0 AS isKey FROM sqlite_master tables JOIN pragma_table_info(tables.name) columns WHERE tables.type = 'table'",
  );

async function columnsFrom(db: Database, sql: string): Promise<Loaded['columns']> {
  const rows = await db.ask<{ place: string; name: string; isKey: number }>(sql);
  const columns = new Map<string, Column[]>();
  for (const { place, name, isKey } of rows) columns.set(place, [...(columns.get(place) ?? []), { name, isKey: Number(isKey) === 1 }]);
  return columns;
}

/** Script that copies a table into a temporary table, which only the session of the scripts can see. */
const copyScript = (table: string): string =>
  `DROP TEMPORARY TABLE IF EXISTS \`loaded ${table}\`;
   CREATE TEMPORARY TABLE \`loaded ${table}\` LIKE \`${table}\`;
   INSERT INTO \`loaded ${table}\` SELECT * FROM \`${table}\`;`;

/** Script that deletes the rows that differ from the copy in any byte, and adds the missing ones. */
function restoreScript(table: string, columns: readonly Column[]): string {
  const keys = columns.filter(({ isKey }) => isKey);
  const sameKey = keys.map(({ name }) => `now.\`${name}\` = was.\`${name}\``).join(' AND ');
  const sameValues = columns.map(({ name }) => `BINARY now.\`${name}\` <=> BINARY was.\`${name}\``).join(' AND ');
  const names = columns.map(({ name }) => `\`${name}\``);
  const [key] = keys;
  return `DELETE now FROM \`${table}\` now LEFT JOIN \`loaded ${table}\` was ON ${sameKey} AND ${sameValues} WHERE was.\`${key?.name}\` IS NULL;
    INSERT INTO \`${table}\` (${names.join()}) SELECT ${names.map((name) => `was.${name}`).join()}
    FROM \`loaded ${table}\` was LEFT JOIN \`${table}\` now ON ${sameKey} WHERE now.\`${key?.name}\` IS NULL;`;
}

/** Script that copies a table into an in-memory database of the session of the scripts. */
const sqliteCopyScript = (table: string): string =>
  `DROP TABLE IF EXISTS loaded.\`${table}\`; CREATE TABLE loaded.\`${table}\` AS SELECT rowid AS was, * FROM \`${table}\`;
   CREATE UNIQUE INDEX loaded.\`${table} was\` ON \`${table}\` (was);`;

/**
 * `restoreScript` for SQLite. An integer key is the rowid; tables without one are short and are replaced completely.
 */
function sqliteRestoreScript(table: string, columns: readonly Column[]): string {
  const names = columns.map(({ name }) => `\`${name}\``);
  const insertScript = `INSERT INTO \`${table}\` (${names.join()}) SELECT ${names.join()} FROM loaded.\`${table}\` old`;
  if (columns.filter(({ isKey }) => isKey).length !== 1) return `DELETE FROM \`${table}\`; ${insertScript};`;
  const equal = names.map((name) => `now.${name} COLLATE BINARY IS old.${name}`).join(' AND ');
  return `DELETE FROM \`${table}\` AS now WHERE NOT EXISTS (SELECT 1 FROM loaded.\`${table}\` old WHERE old.was = now.rowid AND ${equal});
    ${insertScript} WHERE NOT EXISTS (SELECT 1 FROM main.\`${table}\` now WHERE now.rowid = old.was);`;
}

/**
 * Changes options of the site: texts and numbers are stored as they are, an object contains members to change in a
 * serialized option (`{ tribe_events_calendar_options: { multiDayCutoff: '06:00' } }`).
 */
export async function setOptions(db: Database, options: Readonly<Record<string, unknown>>): Promise<void> {
  const storedTexts = await readOptions(db, Object.keys(options));
  for (const [name, value] of Object.entries(options))
    await writeOption(db, name, asStored(await optionText(storedTexts.get(name), value)));
  await db.from('fasti_changes').increment('counter');
}

let sampleSite: Fixture | undefined;
const scripts = new WeakMap<Fixture, Map<string, string>>();

function sampleFixture(): Fixture {
  sampleSite ??= readFixture();
  return sampleSite;
}

/** Returns a cached reset script, since scripts are long and few different ones are needed. */
function scriptFor(fixture: Fixture, { dialect, prefix }: Database, tables = Object.keys(fixture)): string {
  const cachedScripts = scripts.get(fixture) ?? new Map<string, string>();
  scripts.set(fixture, cachedScripts);
  const key = `${dialect.name} ${prefix} ${tables}`;
  const script = cachedScripts.get(key) ?? resetScript(fixture, { engine: dialect.name, prefix, tables });
  cachedScripts.set(key, script);
  return script;
}

/** The table of options of a network, as WordPress defines it. */
const SITEMETA: TableDefinition = {
  name: 'sitemeta',
  columns: {
    meta_id: 'bigint(20) NOT NULL AUTO_INCREMENT',
    site_id: 'bigint(20) NOT NULL DEFAULT 0',
    meta_key: 'varchar(255) DEFAULT NULL',
    meta_value: 'longtext',
  },
  primary: ['meta_id'],
};

/** The table of the sites of a network, as WordPress defines it. */
const BLOGS: TableDefinition = {
  name: 'blogs',
  columns: {
    blog_id: 'bigint(20) NOT NULL AUTO_INCREMENT',
    archived: "tinyint(2) NOT NULL DEFAULT '0'",
    spam: "tinyint(2) NOT NULL DEFAULT '0'",
    deleted: "tinyint(2) NOT NULL DEFAULT '0'",
  },
  primary: ['blog_id'],
};

/** Turns a database into that of a network of two sites. */
export async function makeNetwork(db: Database): Promise<void> {
  for (const table of [SITEMETA, BLOGS]) for (const statement of db.dialect.createTable(table, db.prefix)) await db.ask(statement);
  await db.from('blogs').insert([1, 2].map((blog_id) => ({ blog_id, archived: 0, spam: 0, deleted: 0 })));
}

/** Deletes everything that imports have noted about their sources, so that the next one knows no record. */
export async function forgetImports(db: Database): Promise<void> {
  for (const table of ['fasti_imports', 'fasti_import_ids', 'fasti_import_waiting'] as const) await db.from(table).delete();
}
