/** Whether times are shown with 12 or 24 hours, as an `hourCycle` of Intl. */
export type HourCycle = 'h12' | 'h23';

/**
 * Returns the hour cycle of the site's option `time_format`, a PHP format. Letters after a backslash do not count:
 * French sites use `G\hi`.
 */
export const hourCycleOf = (timeFormat: string): HourCycle => (/[gh]/.test(timeFormat.replace(/\\./g, '')) ? 'h12' : 'h23');
