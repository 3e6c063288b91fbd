import type { Database } from '../../src/storage/engine/database.ts';
import { createWpmlTables } from '../../src/storage/schema/wpml-tables.ts';
import { runScript } from './databases.ts';
import { loadSite } from './site.ts';
import { FIXTURES, readFixture } from './site-data.mjs';

/** Last ids, so that the next post, term and term_taxonomy row get the ids 129, 81 and 111, as in the recordings. */
const LAST = { posts: 128, terms: 80, term_taxonomy: 110 };

const fixtures = { polylang: read('polylang'), wpml: read('wpml') };

/** Loads a site in English and Italian, with the languages stored by this plugin, into a new database. */
export async function loadLanguages(db: Database, form: 'polylang' | 'wpml'): Promise<Database> {
  if (form === 'wpml') await createWpmlTables(db);
  return resetLanguages(db, form);
}

/** Resets that site. */
export async function resetLanguages(db: Database, form: 'polylang' | 'wpml'): Promise<Database> {
  await loadSite(db, fixtures[form]);
  await runScript(
    db,
    Object.entries(LAST)
      .map(([table, lastId]) => numbering(db, table, lastId))
      .join(''),
  );
  return db;
}

function read(form: string) {
  return readFixture(new URL(`languages/${form}.json`, FIXTURES));
}

const numbering = ({ dialect, prefix }: Database, table: string, lastId: number): string =>
  dialect.name === 'mysql'
    ? `ALTER TABLE \`${prefix}${table}\` AUTO_INCREMENT = ${lastId + 1};`
    : `UPDATE sqlite_sequence SET seq = ${lastId} WHERE name = '${prefix}${table}';`;
