import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import type { Values } from '../kinds/param.ts';
import { isObject, objectOf } from '../objects.ts';

/*
 * Reads submitted forms without trusting their structure.
 */

/** Returns a text in a form or a query; the empty text if the value has another type. */
export const textIn = (fields: Values, name: string): string => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === 'string' ? value : '';
};

/** Returns a text to search for, without blanks around it, cut to the length that WordPress searches. */
export const searchIn = (fields: Values, name: string): string => textIn(fields, name).trim().slice(0, MAX_BYTES.search);

/** Returns the texts of a submitted list, such as the names of ticked boxes. */
export function textsIn(fields: Values, name: string): string[] {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value === 'string') return value === '' ? [] : [value];
  return isObject(value) ? Object.values(value).filter((item): item is string => typeof item === 'string' && item !== '') : [];
}

/** Returns the members of a value sent with names or numbers in brackets: `start_date[time]`, `map[0]`. */
export const membersIn = (value: unknown): Values => objectOf(value);

/** Returns a positive integer, or 0. */
export const idIn = (text: string | undefined): number => (/^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : 0);

/** Returns nested values as the names and values that a form sends. */
export function flattenFields(fields: unknown, prefix = ''): [name: string, value: string][] {
  if (!isObject(fields)) return [[prefix, String(fields ?? '')]];
  return Object.entries(fields).flatMap(([name, value]) => flattenFields(value, prefix === '' ? name : `${prefix}[${name}]`));
}
