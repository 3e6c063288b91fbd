/**
 * Returns a table for lookup by untrusted names. Unlike an object it contains only its own rows: `constructor` and
 * `__proto__` are not found.
 */
export const tableOf = <Row>(rows: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> => new Map(Object.entries(rows));
