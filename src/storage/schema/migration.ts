import type { Builder } from '../engine/builder.ts';
import type { Dialect, TableDefinition } from '../engine/dialect.ts';

/**
 * One step of the schema. It must be safe to run again: MySQL commits each CREATE by itself, so an interrupted step is
 * repeated. There are no reverse steps: the tables belong to WordPress, or hold data that exist only in Fasti.
 */
export interface Migration {
  readonly name: string;
  /** The tables that the step creates. */
  readonly tables: () => readonly TableDefinition[];
  /** Keys that the step adds to tables of earlier ones: definitions with only a name and keys. */
  readonly keys?: () => readonly Pick<TableDefinition, 'name' | 'keys'>[];
  up(context: {
    readonly knex: Builder;
    readonly dialect: Dialect;
    readonly prefix: string;
    /** Returns the columns of a table, which is named with its prefix; empty if there is no such table. */
    readonly columns: (table: string) => Promise<readonly string[]>;
    /** Returns the columns of each key of a table, which is named with its prefix. */
    readonly keys: (table: string) => Promise<readonly (readonly string[])[]>;
  }): Promise<void>;
}
