/**
 * A table that is looked up by names from outside. Unlike an object it holds only what was put into it: `constructor`
 * and `__proto__` are no names of it.
 */
export const tableOf = <Row>(rows: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> => new Map(Object.entries(rows));
