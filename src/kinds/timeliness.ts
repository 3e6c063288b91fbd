/** When an answer changes without any write: never, with the day of the site's zone, or at any second. */
export type Timeliness = 'never' | 'daily' | 'always';

/** A moment that means the same whenever it is evaluated: a date by number, perhaps with time and offset, or a Unix time stamp. */
const ABSOLUTE = /^\s*(\d{5,}|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\s*(Z|[+-]\d\d:?\d\d))?)?)\s*$/;

/** Whether these parameters, as far as they are given, name absolute moments. */
export const areAbsolute = (values: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
  names.every((name) => values[name] === undefined || values[name] === null || ABSOLUTE.test(String(values[name])));
