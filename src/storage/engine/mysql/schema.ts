import type { TableDefinition } from '../dialect.ts';

/** The statement that creates a table with its keys. */
export function createTable({ name, columns, primary, keys = {}, unique = {} }: TableDefinition, prefix: string): string[] {
  const key =
    (kind: string) =>
    ([label, parts]: [string, readonly string[]]) =>
      `${kind} \`${label.replace('{prefix}', prefix)}\` (${parts.map(quoted).join(',')})`;
  const lines = [
    ...Object.entries(columns).map(([column, type]) => `\`${column}\` ${type}`),
    `PRIMARY KEY (${primary.map(quoted).join(',')})`,
    ...Object.entries(unique).map(key('UNIQUE KEY')),
    ...Object.entries(keys).map(key('KEY')),
  ];
  return [
    `CREATE TABLE IF NOT EXISTS \`${prefix}${name}\` (${lines.join(', ')}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci`,
  ];
}

/** The statement that adds a column to a table, which is named with its prefix. */
export const addColumn = (table: string, column: string, type: string): string =>
  `ALTER TABLE \`${table}\` ADD COLUMN \`${column}\` ${type}`;

/** The statement that adds one of the keys of a definition to its table. */
export function addKey({ name, keys = {}, unique = {} }: TableDefinition, label: string, prefix: string): string {
  const parts = (unique[label] ?? keys[label] ?? []).map(quoted).join(',');
  return `ALTER TABLE \`${prefix}${name}\` ADD ${label in unique ? 'UNIQUE KEY' : 'KEY'} \`${label.replace('{prefix}', prefix)}\` (${parts})`;
}

/** The statement that gives a table its primary key, unless it has it, and lets the server number its rows. */
export function addPrimaryKey({ name, columns, primary }: TableDefinition, prefix: string, hasKey: boolean): string {
  const numbered = Object.entries(columns).filter(([, type]) => type.includes('AUTO_INCREMENT'));
  const changes = [
    ...(hasKey ? [] : [`ADD PRIMARY KEY (${primary.map(quoted).join(',')})`]),
    ...numbered.map(([column, type]) => `MODIFY ${quoted(column)} ${type}`),
  ];
  return `ALTER TABLE \`${prefix}${name}\` ${changes.join(', ')}`;
}

/** Quotes a column, which may have a prefix length: `name(191)`. */
const quoted = (column: string): string => column.replace(/^\w+/, '`$&`');
