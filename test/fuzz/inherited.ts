/**
 * Names that every object has without anybody having put them there: a table that is looked up by one of them from
 * outside finds what is none of its own.
 */
export const INHERITED = Object.getOwnPropertyNames(Object.prototype);

/**
 * Some of each sort: an object, functions that throw when they are called wrongly, and those by which a value becomes a
 * text or a number.
 */
export const INHERITED_WORDS = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty'] as const;
