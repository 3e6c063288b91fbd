/**
 * When an answer changes without any write: never, at midnight in the site's time zone, every minute, or every second.
 */
export type Timeliness = 'never' | 'daily' | 'minute' | 'always';

/**
 * Matches a moment that does not depend on when it is evaluated: a numeric date, optionally with time and offset, or a
 * Unix timestamp.
 */
const ABSOLUTE_TIME = /^\s*(\d{5,}|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\s*(Z|[+-]\d\d:?\d\d))?)?)\s*$/;

/**
 * Returns how a list with these bounds ages: never if all are absolute; relative ones (such as `tomorrow`) move with
 * the clock.
 */
export const timelinessOfBounds = (...moments: readonly (string | number | undefined)[]): Timeliness =>
  moments.every((moment) => moment === undefined || ABSOLUTE_TIME.test(String(moment))) ? 'never' : 'always';

/** Returns the timeliness that changes first. */
export const shortestTimeliness = (values: readonly Timeliness[]): Timeliness =>
  (['always', 'minute', 'daily'] as const).find((one) => values.includes(one)) ?? 'never';
