import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { dayInWords, spanInWords } from '../html/dates.ts';
import { toLocal } from '../wordpress/zones.ts';
import type { Visit } from './visit.ts';

/*
 * Moments in words, in the user's language.
 */

/** Returns the day and time of a moment in the site's local time: `Saturday 5 December 2026, 21:00`; empty for none. */
export const momentInWords = ({ i18n, settings }: Visit, moment: string): string =>
  spanInWords(i18n, { start: moment, end: moment, allDay: false }, hourCycleOf(settings.calendar.formats.time));

/** Returns the day and time of a moment in UTC, in the site's zone. */
export const utcMomentInWords = (visit: Visit, utcMoment: string): string => momentInWords(visit, toLocal(utcMoment, visit.settings.zone));

/** Returns the day of a moment in UTC, in the site's zone. */
export const dayOfMoment = ({ i18n, settings }: Visit, utcMoment: string): string =>
  dayInWords(i18n, toLocal(utcMoment, settings.zone), 'long');
