import { memoize } from '../../memo.ts';
import type { Database } from './database.ts';
import { Piece, Rows, type Value, verbatim } from './statement.ts';
import type { TableName, Tables } from './tables.ts';

/** Rows of a table, all with the columns of the first; others get the table's defaults. */
type NewRows<Name extends TableName> = readonly Partial<Tables[Name]>[];
type Column<Name extends TableName> = keyof Tables[Name] & string;

/** Inserts rows. Returns the number that the database gave to a single one. */
export async function insertRows<Name extends TableName>(db: Database, name: Name, rows: NewRows<Name>): Promise<number> {
  let id = 0;
  for (const { target, values } of pieces(db, name, rows)) id = await db.insert`INSERT INTO ${target} VALUES ${values}`;
  return id;
}

/**
 * Inserts rows, or changes the one with the same unique `keys` that is there: the columns `changes` become what these
 * expressions say, in which a column stands for what is there and `insertedValues` for what would have been inserted.
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
  for (const { target, values } of pieces(db, name, rows)) await db.change`INSERT INTO ${target} VALUES ${values} ${instead}`;
}

/** Inserts the rows whose unique `keys` are not there yet. */
export async function insertMissing<Name extends TableName>(
  db: Database,
  name: Name,
  rows: NewRows<Name>,
  keys: readonly [Column<Name>, ...Column<Name>[]],
): Promise<void> {
  const [key] = keys;
  // A computed name widens to string.
  const unchanged = { [key]: `\`${key}\`` } as Partial<Record<Column<Name>, string>>;
  await upsertRows(db, name, rows, keys, unchanged);
}

/** Expressions that make columns what would have been inserted. */
export const insertedValues = <Name extends string>({ dialect }: Database, columns: readonly Name[]): Record<Name, string> =>
  Object.fromEntries(columns.map((column) => [column, dialect.inserted(column)])) as Record<Name, string>;

/** SQLite takes 32,766 values in a statement; a tenth of that compiles faster. */
const MOST_VALUES = 3000;
/** Characters after which a statement takes no further row: MySQL refuses what is longer than `max_allowed_packet`. */
const MOST_CHARACTERS = 2 ** 18;

/**
 * The prefix, the name of a table and those of columns, joined by commas -> table and columns as statements write them.
 */
const targetOf = memoize((names) => {
  const [prefix, table, ...columns] = names.split(',');
  return new Piece([`?? (${columns.map(() => '??').join(', ')})`, [`${prefix}${table}`, ...columns]], table);
});

/** Rows as one statement takes them: table and columns, and the values of some. */
function* pieces<Name extends TableName>(
  db: Database,
  name: Name,
  rows: NewRows<Name>,
): Generator<{ readonly target: Piece; readonly values: Rows }> {
  const columns = Object.keys(rows[0] ?? {});
  const target = targetOf(`${db.prefix},${name},${columns.join()}`);
  const most = MOST_VALUES - columns.length;
  let values: Value[] = [];
  let characters = 0;
  for (const row of rows as readonly Readonly<Record<string, Value>>[]) {
    for (const column of columns) {
      const value = row[column] ?? null;
      values.push(value);
      if (typeof value === 'string') characters += value.length;
    }
    if (values.length <= most && characters < MOST_CHARACTERS) continue;
    yield { target, values: new Rows(columns.length, values) };
    values = [];
    characters = 0;
  }
  if (values.length > 0) yield { target, values: new Rows(columns.length, values) };
}
