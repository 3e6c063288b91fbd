/*
 * Only for tables of the program, which have exactly the members of their type. Objects from outside may have more.
 */

/** Returns the names of the members of a table. */
export const typedKeys = <Table extends object>(table: Table): (keyof Table & string)[] => Object.keys(table) as (keyof Table & string)[];

/** Returns the members of a table with their names. */
export const typedEntries = <Table extends object>(table: Table): [keyof Table & string, Table[keyof Table & string]][] =>
  Object.entries(table) as [keyof Table & string, Table[keyof Table & string]][];
