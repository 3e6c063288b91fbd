/**
 * Names that every object inherits: a table that is indexed with one of them from outside returns a value that is not
 * an entry.
 */
export const INHERITED = Object.getOwnPropertyNames(Object.prototype);

/**
 * Some of each sort: an object, functions that throw if they are called wrongly, and those that convert a value to a
 * text or a number.
 */
export const INHERITED_WORDS = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty'] as const;
