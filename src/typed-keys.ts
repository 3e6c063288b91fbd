/*
 * For tables of the program, which have the members of their type and no others. What comes from outside may have more.
 */

/** The names of the members of a table. */
export const typedKeys = <Table extends object>(table: Table): (keyof Table & string)[] => Object.keys(table) as (keyof Table & string)[];

/** The members of a table with their names. */
export const typedEntries = <Table extends object>(table: Table): [keyof Table & string, Table[keyof Table & string]][] =>
  Object.entries(table) as [keyof Table & string, Table[keyof Table & string]][];
