import { memoize } from '../../memo.ts';
import type { Database } from './database.ts';
import { Piece, Rows, type Value, verbatim } from './statement.ts';
import type { TableName, Tables } from './tables.ts';

/** Rows of a table. The first row determines the columns; all other columns get the defaults of the table. */
type NewRows<Name extends TableName> = readonly Partial<Tables[Name]>[];
type Column<Name extends TableName> = keyof Tables[Name] & string;

/**
 * Inserts rows. Returns the number that the database assigned if there is a single row.
 *
 * @throws Error for a record that gets no number, because its table has lost its primary key: everything that belongs
 * to it would belong to every other such record. Only MySQL tells; on SQLite such a record has no number at all
 */
export async function insertRows<Name extends TableName>(db: Database, name: Name, rows: NewRows<Name>): Promise<number> {
  let id = 0;
  for (const { target, values } of batchesOf(db, name, rows)) id = await db.insert`INSERT INTO ${target} VALUES ${values}`;
  const number = RECORD_NUMBERS[name];
  if (number !== undefined && rows[0] && Number(id) === 0 && !(number in rows[0]))
    throw new Error(`${db.table(name)} does not number its rows`);
  return id;
}

/** Tables of records -> the number by which other tables know them. */
const RECORD_NUMBERS: Partial<Record<TableName, string>> = {
  posts: 'ID',
  terms: 'term_id',
  term_taxonomy: 'term_taxonomy_id',
  users: 'ID',
};

/**
 * Inserts rows. If a row with the same unique `keys` exists, it is updated instead: the columns in `changes` get the
 * values of these expressions, in which a column name means the existing value. `insertedValues` gives expressions for
 * the values that would have been inserted.
 */
export async function upsertRows<Name extends TableName>(
  db: Database,
  name: Name,
  rows: NewRows<Name>,
  keys: readonly Column<Name>[],
  changes: Readonly<Partial<Record<Column<Name>, string>>>,
): Promise<void> {
  const set = Object.entries(changes).map(([column, expression]) => `\`${column}\` = ${expression}`);
  const instead = verbatim(`${db.dialect.orUpdate(keys)} ${set.join(', ')}`);
  for (const { target, values } of batchesOf(db, name, rows)) await db.change`INSERT INTO ${target} VALUES ${values} ${instead}`;
}

/** Inserts those rows whose unique `keys` do not exist yet. */
export async function insertMissing<Name extends TableName>(
  db: Database,
  name: Name,
  rows: NewRows<Name>,
  keys: readonly [Column<Name>, ...Column<Name>[]],
): Promise<void> {
  const [key] = keys;
  // Object literals with a computed key are typed with string keys.
  const unchanged = { [key]: `\`${key}\`` } as Partial<Record<Column<Name>, string>>;
  await upsertRows(db, name, rows, keys, unchanged);
}

/** Expressions that set columns to the values that would have been inserted. */
export const insertedValues = <Name extends string>({ dialect }: Database, columns: readonly Name[]): Record<Name, string> =>
  Object.fromEntries(columns.map((column) => [column, dialect.insertedValue(column)])) as Record<Name, string>;

/** Maximum number of values in one statement. SQLite allows 32,766; a tenth of that compiles faster. */
const MAX_VALUES = 3000;
/**
 * Number of bytes of the texts of several rows in one statement: MySQL refuses statements longer than
 * `max_allowed_packet`, which is 1 MB on some hosts, and quoting may double them. A longer row is sent alone.
 */
const MAX_BYTES = 2 ** 18;

/**
 * Builds the table and columns part of a statement from the prefix, the table name and the column names, joined by
 * commas.
 */
const targetOf = memoize((names) => {
  const [prefix, table, ...columns] = names.split(',');
  return new Piece([`?? (${columns.map(() => '??').join(', ')})`, [`${prefix}${table}`, ...columns]], table);
});

/** Splits rows into pieces for one statement each: table and columns, and the values of some rows. */
function* batchesOf<Name extends TableName>(
  db: Database,
  name: Name,
  rows: NewRows<Name>,
): Generator<{ readonly target: Piece; readonly values: Rows }> {
  const columns = Object.keys(rows[0] ?? {});
  const target = targetOf(`${db.prefixOf(name)},${name},${columns.join()}`);
  const limit = MAX_VALUES - columns.length;
  let values: Value[] = [];
  let bytes = 0;
  for (const row of rows as readonly Readonly<Record<string, Value>>[]) {
    const rowValues = columns.map((column) => row[column] ?? null);
    const rowBytes = rowValues.reduce<number>((sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0), 0);
    if (values.length > 0 && (values.length > limit || bytes + rowBytes > MAX_BYTES)) {
      yield { target, values: new Rows(columns.length, values) };
      values = [];
      bytes = 0;
    }
    values.push(...rowValues);
    bytes += rowBytes;
  }
  if (values.length > 0) yield { target, values: new Rows(columns.length, values) };
}
