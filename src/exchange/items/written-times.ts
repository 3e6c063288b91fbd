import { isRealDate } from '../../wordpress/time.ts';

/* Times and durations as files and pages write them. */

/** Longest duration that is imported, in seconds: a year. Longer ones are mistakes. */
export const MAX_IMPORTED_S = 366 * 86_400;

const END_OF_DAY = ' 24:00:00';

/** Whether a date and time exist (`YYYY-MM-DD HH:MM:SS`). 24:00 is the midnight at which the day ends (ISO 8601). */
export const isWallTime = (wall: string): boolean => isRealDate(wall.endsWith(END_OF_DAY) ? wall.slice(0, -END_OF_DAY.length) : wall);
