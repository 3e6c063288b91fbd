import type { Rule } from '../calendar/recurrence-rule.ts';
import { dayInWords, weekdays } from './dates.ts';
import type { I18n } from './i18n.ts';

/** Parts of a rule that have no sentence; a rule with one of them is not put into words. */
const UNSUPPORTED_PARTS = ['byYearDay', 'byWeekNo', 'byHour', 'byMinute', 'bySecond', 'bySetPos'] as const;
const FREQUENCY_KEYS: Readonly<Partial<Record<Rule['freq'], string>>> = { DAILY: 'day', WEEKLY: 'week', MONTHLY: 'month', YEARLY: 'year' };

/**
 * Returns a rule in words: `every 2 weeks, on Monday and Thursday, until Thursday 31 December 2026`. Undefined if the
 * sentences cannot express all of it.
 */
export function ruleInWords(i18n: I18n, rule: Rule): string | undefined {
  const { say } = i18n;
  const period = FREQUENCY_KEYS[rule.freq];
  if (period === undefined || rule.skipsBack || UNSUPPORTED_PARTS.some((part) => rule[part].length > 0)) return undefined;
  const list = (names: readonly string[]) => new Intl.ListFormat(i18n.locale, { type: 'conjunction' }).format(names);
  const names = weekdays(i18n, 0);
  const days = rule.byDay.map(({ nth, day }) => {
    const name = names[day]!.long;
    return nth === 0 ? name : nthDayInWords(i18n, nth, day, name);
  });
  if (days.includes(undefined)) return undefined;
  const months = rule.byMonth.map((month) => dayInWords(i18n, `2000-${String(month).padStart(2, '0')}-01`, 'month').replace(/ ?2000/, ''));
  const monthDays = rule.byMonthDay.map((day) =>
    day < 0 ? (day === -1 ? say('desk:rule.last-day') : undefined) : say('desk:rule.month-day', { day }),
  );
  if (monthDays.includes(undefined)) return undefined;
  return [
    say(`desk:rule.every-${period}`, { count: rule.interval }),
    ...(days.length > 0 ? [say('desk:rule.on', { days: list(days as string[]) })] : []),
    ...(monthDays.length > 0 ? [say('desk:rule.on-days', { days: list(monthDays as string[]) })] : []),
    ...(months.length > 0 ? [say('desk:rule.in', { months: list(months) })] : []),
    ...(rule.count === undefined ? [] : [say('desk:rule.times', { count: rule.count })]),
    ...(rule.until === undefined ? [] : [say('desk:rule.until', { day: dayInWords(i18n, toIsoDay(rule.until), 'long') })]),
  ].join(', ');
}

/** Whether the words of a rule name days, months or an end, which are those of the clock of the rule. */
export const namesDays = ({ byDay, byMonthDay, byMonth, until }: Rule): boolean =>
  byDay.length + byMonthDay.length + byMonth.length > 0 || until !== undefined;

/** Returns `the second Monday` and the like; in Italian Sunday has another article than the other days. */
function nthDayInWords({ say, has }: I18n, nth: number, day: number, name: string): string | undefined {
  const key = [`desk:rule.nth-sunday.${nth}`, `desk:rule.nth.${nth}`].slice(day === 0 ? 0 : 1).find(has);
  return key === undefined ? undefined : say(key, { day: name });
}

const toIsoDay = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6, 8)}`;
