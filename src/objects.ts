/*
 * Values of unknown type: members of JSON, stored PHP values (whose arrays become objects or lists), and errors.
 */

/** Whether a value is an object or a list. */
export const isObject = (value: unknown): value is object => value !== null && typeof value === 'object';

/** Whether a value is an object with named members, not a list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => isObject(value) && !Array.isArray(value);

/** Returns the members of an object or a list, by name or number; none for any other value. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? { ...value } : {});

/** Returns the code of a system or driver error (`ENOENT`, `ER_DUP_ENTRY`, `SQLITE_BUSY`), or an empty text. */
export function codeOf(error: unknown): string {
  const code = isObject(error) && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}
