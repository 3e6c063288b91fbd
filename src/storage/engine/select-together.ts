import type { Binding } from './builder.ts';
import type { Database } from './database.ts';
import { Piece } from './statement.ts';

/** A SELECT: SQL for each of its columns by name, and everything from FROM on. */
export interface Selection<Name extends string = string> {
  readonly columns: Readonly<Record<Name, string>>;
  readonly from: string;
  readonly bindings: readonly Binding[];
}

/** A row of a selection. All values are texts. */
export type TextRow<Name extends string = string> = Readonly<Record<Name, string | null>>;

/**
 * Runs several SELECTs as one statement, so that all their rows are from the same moment: in a transaction, a statement
 * sees what others have committed since the one before it. Returns the rows of each, in the same order.
 */
export async function selectTogether(db: Database, selections: readonly Selection[]): Promise<TextRow[][]> {
  const width = Math.max(...selections.map(({ columns }) => Object.keys(columns).length));
  const parts = selections.map(({ columns, from }, part) => {
    const texts = Object.values(columns).map(db.dialect.asText);
    const cells = Array.from({ length: width }, (_, place) => `${texts[place] ?? 'NULL'} AS c${place}`);
    return `SELECT ${part} AS part, ${cells.join(', ')} ${from}`;
  });
  const statement = new Piece([parts.join(' UNION ALL '), selections.flatMap(({ bindings }) => bindings)]);
  const rows = await db.rows<TextRow & { readonly part: number }>`${statement}`;
  return selections.map(({ columns }, part) =>
    rows
      .filter((row) => Number(row.part) === part)
      .map((row) => Object.fromEntries(Object.keys(columns).map((name, place) => [name, row[`c${place}`] ?? null]))),
  );
}

/** SQL for a list of placeholders. */
export const placeholders = (values: readonly unknown[]): string => (values.length === 0 ? 'NULL' : values.map(() => '?').join(', '));
