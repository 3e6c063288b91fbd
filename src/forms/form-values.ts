import type { Values } from '../kinds/param.ts';

/*
 * What a form sent, read without trusting that it is one of ours.
 */

/** A text that a form or a query sent; whatever else was sent counts as none. */
export const textIn = (fields: Values, name: string): string => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === 'string' ? value : '';
};

/** The texts of a list that a form sent, such as the names of ticked boxes. */
export function textsIn(fields: Values, name: string): string[] {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value === 'string') return value === '' ? [] : [value];
  return value !== null && typeof value === 'object'
    ? Object.values(value).filter((item): item is string => typeof item === 'string' && item !== '')
    : [];
}

/** What a form sent under a name with names or numbers below it: `start_date[time]`, `map[0]`. */
export function membersIn(value: unknown): Values {
  return value !== null && typeof value === 'object' ? { ...value } : {};
}

/** A positive whole number, or 0. */
export const idIn = (text: string | undefined): number => (/^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : 0);
