/**
 * When an answer changes without any write: never, with the day of the site's zone, with the minute, or at any second.
 */
export type Timeliness = 'never' | 'daily' | 'minute' | 'always';

/**
 * A moment that means the same whenever it is evaluated: a date by number, perhaps with time and offset, or a Unix time
 * stamp.
 */
const ABSOLUTE = /^\s*(\d{5,}|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\s*(Z|[+-]\d\d:?\d\d))?)?)\s*$/;

/**
 * How what is bound by these moments ages: never where all of them are absolute; in words they move on with the clock.
 */
export const agesOf = (...moments: readonly (string | number | undefined)[]): Timeliness =>
  moments.every((moment) => moment === undefined || ABSOLUTE.test(String(moment))) ? 'never' : 'always';

/** The first of several to change. */
export const soonest = (all: readonly Timeliness[]): Timeliness =>
  (['always', 'minute', 'daily'] as const).find((one) => all.includes(one)) ?? 'never';
