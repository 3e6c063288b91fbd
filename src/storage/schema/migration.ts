import type { Builder } from '../engine/builder.ts';
import type { Dialect, TableDefinition } from '../engine/dialect.ts';

/**
 * One step of the schema. It must be safe to run again: MySQL commits each CREATE by itself, so that a step cut short
 * is repeated. There is no way back: the tables are WordPress's or hold what only we know.
 */
export interface Migration {
  readonly name: string;
  /** The tables that it makes. */
  readonly tables: () => readonly TableDefinition[];
  up(given: {
    readonly knex: Builder;
    readonly dialect: Dialect;
    readonly prefix: string;
    /** The columns of a table, which is named with its prefix; none where there is no such table. */
    readonly columns: (table: string) => Promise<readonly string[]>;
  }): Promise<void>;
}
