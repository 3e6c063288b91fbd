/**
 * The sample site of the tests (test/fixtures/site.json) as SQL, without a connection, for the tests and for
 * site-tool.mjs. A fixture is `{table: {columns, rows}}`, with table names without prefix.
 */
import { readFileSync } from 'node:fs';

export const FIXTURES = new URL('../fixtures/', import.meta.url);

/** Reads the sample site, or another file of the same format. */
export function readFixture(file = new URL('site.json', FIXTURES)) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/**
 * Returns a script that empties and fills the tables of the fixture in one transaction and increments the change
 * counter. The next post, term and term_taxonomy row get the ids after those of the fixture (93 for posts, 19 for
 * terms). `emptied`: whether existing rows are deleted first.
 */
export function resetScript(fixture, { engine, prefix, counted = true, emptied = true, tables = Object.keys(fixture) }) {
  const { quote, numbering } = ENGINES[engine];
  const statements = tables.flatMap((name) => {
    const { columns, rows } = fixture[name];
    const values = rows.map((row) => `(${row.map(quote).join(',')})`);
    return [
      ...(emptied ? [`DELETE FROM \`${prefix}${name}\``] : []),
      ...(values.length > 0
        ? [`INSERT INTO \`${prefix}${name}\` (${columns.map((column) => `\`${column}\``).join(',')}) VALUES ${values.join(',')}`]
        : []),
    ];
  });
  // Imports would take the records that are gone for deleted ones.
  const forgotten = ['fasti_import_ids', 'fasti_import_waiting'].map((name) => `DELETE FROM \`${prefix}${name}\``);
  const bump = counted ? [...forgotten, `UPDATE \`${prefix}fasti_changes\` SET counter = counter + 1`] : [];
  // Rolled back inserts use up ids, too.
  const ids = NUMBERED.filter((name) => name in fixture).map((name) =>
    numbering(prefix + name, Math.max(0, ...fixture[name].rows.map(([id]) => id))),
  );
  // ALTER TABLE would end the transaction.
  return `${[begin(engine), ...statements, ...bump, 'COMMIT', ...ids].join(';\n')};`;
}

/**
 * The text to store for an option that is set to `value`; an object contains members to change in the serialized array
 * `stored`.
 */
export async function optionText(stored, value) {
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const { serialize, unserialize } = await import('php-serialize');
  return serialize({ ...(stored ? unserialize(stored) : {}), ...value });
}

/** SQL that sets an option. */
export function optionScript(name, text, { engine, prefix }) {
  const { quote, overwrite } = ENGINES[engine];
  return `INSERT INTO \`${prefix}options\` (option_name, option_value, autoload) VALUES (${quote(name)}, ${quote(text)}, 'on') ${overwrite};`;
}

const NUMBERED = ['posts', 'terms', 'term_taxonomy'];
const begin = (engine) => (engine === 'sqlite' ? 'BEGIN IMMEDIATE' : 'BEGIN');

const plain = (value) => (value === null ? 'NULL' : typeof value === 'number' ? String(value) : undefined);

const ENGINES = {
  mysql: {
    quote: (value) => plain(value) ?? `'${String(value).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`,
    numbering: (table, last) => `ALTER TABLE \`${table}\` AUTO_INCREMENT = ${last + 1}`,
    overwrite: 'ON DUPLICATE KEY UPDATE option_value = VALUES(option_value)',
  },
  sqlite: {
    quote: (value) => plain(value) ?? `'${String(value).replaceAll("'", "''")}'`,
    numbering: (table, last) => `UPDATE sqlite_sequence SET seq = ${last} WHERE name = '${table}'`,
    overwrite: 'ON CONFLICT (option_name) DO UPDATE SET option_value = excluded.option_value',
  },
};
