/**
 * A JSON value as it is sent. It has more values than JavaScript's objects: integers of any length (bigint), numbers
 * too large to be finite, and objects as pairs, so that any key may occur, including `__proto__`, and the same key
 * twice.
 */
export type Json = null | boolean | number | bigint | string | readonly Json[] | Pairs;

export interface Pairs {
  readonly pairs: readonly (readonly [string, Json])[];
}

/** A value as JSON text. Infinity becomes a number too large for a double; half surrogates are escaped. */
export function writeJson(value: Json): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number')
    return Object.is(value, -0) ? '-0.0' : Number.isFinite(value) ? String(value) : value < 0 ? '-1e999' : '1e999';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(writeJson).join(',')}]`;
  return `{${value.pairs.map(([key, member]) => `${JSON.stringify(key)}:${writeJson(member)}`).join(',')}}`;
}

/**
 * A value as the parameters of a query or form that PHP makes an array of: `a[]=1&a[k]=2`. Names and values are not
 * encoded.
 */
export function writeForm(name: string, value: Json): [string, string][] {
  if (value !== null && typeof value === 'object') {
    const members = isList(value) ? value.map((member) => ['', member] as const) : value.pairs;
    return members.flatMap(([key, member]) => writeForm(`${name}[${key}]`, member));
  }
  return [[name, value === null ? '' : typeof value === 'string' ? value : writeJson(value)]];
}

export const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
