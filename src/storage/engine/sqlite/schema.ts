import type { TableDefinition, TableStatistics } from '../dialect.ts';

/** The statements that create a table with its keys. */
export function createTable(
  { name, columns, primary, keys = {}, unique = {}, anyCase = [], clustered = false }: TableDefinition,
  prefix: string,
): string[] {
  const table = `${prefix}${name}`;
  const list = (parts: readonly string[]): string => parts.map((part) => `\`${part.replace(/\(\d+\)$/, '')}\``).join(',');
  const lines = Object.entries(columns).map(([column, type]) => `\`${column}\` ${columnType(type, { anyCase: anyCase.includes(column) })}`);
  const numbered = Object.values(columns).some((type) => type.includes('AUTO_INCREMENT'));
  if (!numbered) lines.push(`PRIMARY KEY (${list(primary)})`);
  const index =
    (kind: string) =>
    ([label, parts]: [string, readonly string[]]) =>
      `CREATE ${kind} IF NOT EXISTS \`${indexName(table, label, prefix)}\` ON \`${table}\` (${list(parts)})`;
  return [
    `CREATE TABLE IF NOT EXISTS \`${table}\` (${lines.join(', ')})${clustered ? ' WITHOUT ROWID' : ''}`,
    ...Object.entries(unique).map(index('UNIQUE INDEX')),
    ...Object.entries(keys).map(index('INDEX')),
  ];
}

/** Returns the name of an index. SQLite's index names are shared by all tables of a file. */
const indexName = (table: string, label: string, prefix: string): string =>
  label.includes('{prefix}') ? label.replace('{prefix}', prefix) : `${table}_${label}`;

/**
 * The statements that store statistics of tables. SQLite keeps them in a table that ANALYZE creates
 * (https://sqlite.org/fileformat2.html#the_sqlite_stat1_table).
 */
export function storeStatistics(shapes: TableStatistics, prefix: string): string[] {
  const statistics = (table: string, index: string, shape: readonly number[]) =>
    `INSERT INTO sqlite_stat1 (tbl, idx, stat) SELECT '${table}', name, '${shape.join(' ')}' FROM sqlite_master
     WHERE name = '${index}' AND (type = 'index' OR sql LIKE '%WITHOUT ROWID') AND NOT EXISTS (SELECT 1 FROM sqlite_stat1 WHERE tbl = '${table}' AND idx = '${index}')`;
  const all = Object.entries(shapes).flatMap(([name, keys]) =>
    Object.entries(keys).flatMap(([label, shape]) => {
      const table = prefix + name;
      // A clustered table is its own primary key; other tables have an index for it, which SQLite names.
      const indexes = label === 'primary' ? [table, `sqlite_autoindex_${table}_1`] : [indexName(table, label, prefix)];
      return indexes.map((index) => statistics(table, index, shape));
    }),
  );
  return [`ANALYZE \`${prefix}fasti_migrations_lock\``, ...all, 'ANALYZE sqlite_schema'];
}

/** The statement that adds a column to a table, which is named with its prefix. */
export const addColumn = (table: string, column: string, type: string): string =>
  `ALTER TABLE \`${table}\` ADD COLUMN \`${column}\` ${columnType(type)}`;

/** The statement that adds one of the keys of a definition to its table. */
export function addKey(definition: TableDefinition, label: string, prefix: string): string {
  const index = [...Object.keys(definition.unique ?? {}), ...Object.keys(definition.keys ?? {})].indexOf(label);
  return createTable(definition, prefix)[index + 1] ?? '';
}

/** Converts MySQL's column type to SQLite's, with the default that non-strict MySQL uses for a column without one. */
function columnType(type: string, { anyCase = false } = {}): string {
  if (type.includes('AUTO_INCREMENT')) return 'INTEGER PRIMARY KEY AUTOINCREMENT';
  const isNumber = /^(big|medium|small|tiny)?int/.test(type);
  const emptyValue = isNumber ? '0' : "''";
  const ownDefault = /DEFAULT ('[^']*'|[\w]+)/.exec(type)?.[1]?.replace('current_timestamp', 'CURRENT_TIMESTAMP');
  const isRequired = type.includes('NOT NULL');
  return [
    isNumber ? 'INTEGER' : 'TEXT',
    isRequired ? 'NOT NULL' : '',
    `DEFAULT ${ownDefault ?? (isRequired ? emptyValue : 'NULL')}`,
    anyCase ? 'COLLATE NOCASE' : '',
  ]
    .filter(Boolean)
    .join(' ');
}
