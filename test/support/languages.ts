import type { Database } from '../../src/storage/engine/database.ts';
import type { TableDefinition } from '../../src/storage/engine/dialect.ts';
import { runScript } from './databases.ts';
import { loadSite } from './site.ts';
import { FIXTURES, readFixture } from './site-data.mjs';

/** The next post, term and row of a taxonomy are 129, 81 and 111, as in the recordings. */
const LAST = { posts: 128, terms: 80, term_taxonomy: 110 };

const fixtures = { polylang: read('polylang'), wpml: read('wpml') };

/** A site in English and Italian whose languages are in the form of this plugin; to be loaded into a new database. */
export async function loadLanguages(db: Database, form: 'polylang' | 'wpml'): Promise<Database> {
  if (form === 'wpml') await createWpmlTables(db);
  return resetLanguages(db, form);
}

/** Puts that site back. */
export async function resetLanguages(db: Database, form: 'polylang' | 'wpml'): Promise<Database> {
  await loadSite(db, fixtures[form]);
  await runScript(
    db,
    Object.entries(LAST)
      .map(([table, last]) => numbering(db, table, last))
      .join(''),
  );
  return db;
}

/** The tables of WPML that Fasti reads, as that plugin makes them. */
export async function createWpmlTables(db: Database): Promise<void> {
  for (const statement of WPML_TABLES.flatMap((table) => db.dialect.createTable(table, db.prefix))) await db.ask(statement);
}

function read(form: string) {
  return readFixture(new URL(`languages/${form}.json`, FIXTURES));
}

const numbering = ({ dialect, prefix }: Database, table: string, last: number): string =>
  dialect.name === 'mysql'
    ? `ALTER TABLE \`${prefix}${table}\` AUTO_INCREMENT = ${last + 1};`
    : `UPDATE sqlite_sequence SET seq = ${last} WHERE name = '${prefix}${table}';`;

const WPML_TABLES: readonly TableDefinition[] = [
  {
    name: 'icl_languages',
    columns: {
      id: 'int(11) NOT NULL AUTO_INCREMENT',
      code: 'varchar(7) NOT NULL',
      english_name: 'varchar(128) NOT NULL',
      major: 'tinyint(4) NOT NULL DEFAULT 0',
      active: 'tinyint(4) NOT NULL',
      default_locale: 'varchar(35) DEFAULT NULL',
      tag: 'varchar(35) DEFAULT NULL',
      encode_url: 'tinyint(1) NOT NULL DEFAULT 0',
      country: 'varchar(10) DEFAULT NULL',
    },
    primary: ['id'],
    unique: { code: ['code'], english_name: ['english_name'] },
  },
  {
    name: 'icl_languages_translations',
    columns: {
      id: 'int(11) NOT NULL AUTO_INCREMENT',
      language_code: 'varchar(7) NOT NULL',
      display_language_code: 'varchar(7) NOT NULL',
      name: 'varchar(255) NOT NULL',
    },
    primary: ['id'],
    unique: { language_code: ['language_code', 'display_language_code'] },
  },
  { name: 'icl_locale_map', columns: { code: 'varchar(7) NOT NULL', locale: 'varchar(35) DEFAULT NULL' }, primary: ['code'] },
  {
    name: 'icl_translations',
    columns: {
      translation_id: 'bigint(20) NOT NULL AUTO_INCREMENT',
      element_type: "varchar(60) NOT NULL DEFAULT 'post_post'",
      element_id: 'bigint(20) DEFAULT NULL',
      trid: 'bigint(20) NOT NULL',
      language_code: 'varchar(7) NOT NULL',
      source_language_code: 'varchar(7) DEFAULT NULL',
    },
    primary: ['translation_id'],
    unique: { trid_lang: ['trid', 'language_code'], el_type_id: ['element_type', 'element_id'] },
    keys: { trid: ['trid'], id_type_language: ['element_id', 'element_type', 'language_code'] },
  },
];
