/** Whether clocks show 12 or 24 hours, in the words of Intl. */
export type HourCycle = 'h12' | 'h23';

/**
 * The hours that clocks show, as the site's option `time_format` says in PHP's letters. What stands behind a backslash
 * is no such letter: French sites write `G\hi`.
 */
export const hourCycleOf = (timeFormat: string): HourCycle => (/[gh]/.test(timeFormat.replace(/\\./g, '')) ? 'h12' : 'h23');
