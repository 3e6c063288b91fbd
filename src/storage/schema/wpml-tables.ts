import type { Database } from '../engine/database.ts';
import type { TableDefinition } from '../engine/dialect.ts';
import type { TableName } from '../engine/tables.ts';

/*
 * The tables of WPML that are read. WPML creates them itself. They are created here only when a backup that contains
 * them is restored.
 */

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

/** Returns the names of WPML's tables, without prefix. */
export const wpmlTables = (): TableName[] => WPML_TABLES.map(({ name }) => name);

/** Creates the tables as WPML does, outside any transaction. Safe to run again; existing tables are left unchanged. */
export async function createWpmlTables(db: Database): Promise<void> {
  for (const statement of WPML_TABLES.flatMap((table) => db.dialect.createTable(table, db.prefix))) await db.ask(statement);
}
