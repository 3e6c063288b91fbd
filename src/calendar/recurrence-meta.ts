/*
 * The rules of a recurring event as The Events Calendar's paid extension stores them in the meta `_EventRecurrence`. It
 * creates the set of `recurrence-set.ts` from them whenever the event is saved in WordPress.
 */

import { isRecord } from '../objects.ts';
import { parseSerialized } from '../wordpress/php/serialized.ts';
import { textFromUnix, unixFromText } from '../wordpress/time.ts';
import { occurrences, parseRule, type Rule } from './recurrence-rule.ts';
import { LATEST } from './recurrence-set.ts';

/** One stored rule or exclusion. */
export type StoredRule = Readonly<Record<string, unknown>>;

/** The dates that result from stored rules. */
export interface RuleStarts {
  /** `YYYY-MM-DD HH:MM:SS`, local, in order. For rules without end, those up to the given time. */
  readonly starts: readonly string[];
  readonly endless: boolean;
}

/**
 * Returns the starts that stored rules give for an event with this first start (local). Undefined if there are no
 * rules, or some that cannot be evaluated reliably; `last`: local time up to which rules without end are evaluated.
 */
export function startsOfRules(text: string, first: string, last: string): RuleStarts | undefined {
  const [rules, exclusions] = [rulesIn(text, 'rules'), rulesIn(text, 'exclusions')];
  if (!rules || !exclusions || rules.length === 0) return undefined;
  // Of several repeating rules the extension uses the first.
  const repeatingRules = rules.filter((rule) => !isDate(rule)).slice(0, 1);
  const rulesFromStart = repeatingRules.map((rule) => ruleFromStart(rule, first));
  const exclusionRules = exclusions.filter((rule) => !isDate(rule)).map((rule) => ruleFromStart(rule, first));
  const dates = rules.filter(isDate).map((rule) => dateOfRule(rule, first));
  if ([...rulesFromStart, ...exclusionRules, ...dates].includes(undefined)) return undefined;
  const endless = rulesFromStart.some((one) => one?.rule.until === undefined && one?.rule.count === undefined);
  const end = endless ? last : LATEST;
  const starts = new Set([first, ...dates.flatMap((date) => date ?? []), ...rulesFromStart.flatMap((one) => [...startsFrom(one!, end)])]);
  // An excluded day only excludes dates at the hour of the rule; a date at another hour takes place.
  const days = exclusions
    .filter(isDate)
    .map((rule) => dateOfRule({ ...rule, custom: { ...customOf(rule), 'same-time': 'yes' } }, rulesFromStart[0]?.start ?? first));
  const excludedStarts = new Set([...days, ...exclusionRules.flatMap((one) => [...startsFrom(one!, end)])]);
  return { starts: [...starts].filter((start) => start <= end && (start === first || !excludedStarts.has(start))).sort(), endless };
}

const DAY = 'YYYY-MM-DD'.length;

function rulesIn(text: string, name: 'rules' | 'exclusions'): StoredRule[] | undefined {
  const members = parseSerialized(text);
  if (!isRecord(members)) return undefined;
  const list = Object.values(members[name] ?? {});
  return list.every(isRecord) ? list.filter(({ type }) => typeof type === 'string' && type !== '' && type !== 'None') : undefined;
}

const customOf = ({ custom }: StoredRule): StoredRule => (isRecord(custom) ? custom : {});
const isDate = (rule: StoredRule): boolean => customOf(rule).type === 'Date';

/** Returns the start of a rule for a single date, at the event's hours or at its own; undefined for other rules. */
export function dateOfRule(rule: StoredRule, first: string): string | undefined {
  const custom = customOf(rule);
  if (custom.type !== 'Date' || !isRecord(custom.date)) return undefined;
  const day = String(custom.date.date ?? '').slice(0, DAY);
  const time = startTime(custom, first);
  return time === undefined ? undefined : `${day} ${time}`;
}

const startTime = (custom: StoredRule, first: string): string | undefined =>
  custom['same-time'] === 'no' ? timeOf(String(custom['start-time'] ?? '')) : first.slice(DAY + 1);

/** Converts `3:00pm` to `15:00:00`. */
function timeOf(text: string): string | undefined {
  const [, hour, minute, meridiem] = /^(\d{1,2}):(\d\d) ?(am|pm)$/i.exec(text.trim()) ?? [];
  if (hour === undefined || minute === undefined || meridiem === undefined) return undefined;
  return `${String((Number(hour) % 12) + (meridiem.toLowerCase() === 'pm' ? 12 : 0)).padStart(2, '0')}:${minute}:00`;
}

// ------------------------------------------------------------------------------------------------- rules that repeat
interface RuleFromStart {
  readonly rule: Rule;
  /** Its start, local. */
  readonly start: string;
}

function* startsFrom({ rule, start }: RuleFromStart, last: string): Generator<string> {
  for (const moment of occurrences(rule, unixFromText(start), unixFromText(last), { startCounts: false })) yield textFromUnix(moment);
}

/**
 * Returns a stored repeating rule with its end. The stored count includes the first date of the event, even if that is
 * not a date of the rule.
 */
function ruleFromStart(storedRule: StoredRule, first: string): RuleFromStart | undefined {
  const time = startTime(customOf(storedRule), first);
  const text = time === undefined ? undefined : ruleText(storedRule, first);
  const rule = text === undefined ? undefined : parseRule(text);
  if (!rule) return undefined;
  const from = { rule, start: `${first.slice(0, DAY)} ${time}` };
  const isOff = startsFrom({ ...from, rule: { ...rule, count: 1 } }, LATEST).next().value !== first;
  // In this case the extension counts the weeks from the second date, which may be any date.
  if (isOff && rule.freq === 'WEEKLY' && rule.interval > 1) return undefined;
  const end = String(storedRule['end-type'] ?? 'Never');
  if (end === 'On') {
    const day = String(storedRule.end ?? '').slice(0, DAY);
    return /^\d{4}-\d\d-\d\d$/.test(day) ? { ...from, rule: { ...rule, until: `${day.replaceAll('-', '')}T235959` } } : undefined;
  }
  const count = Number(storedRule['end-count']) - (isOff ? 1 : 0);
  if (end === 'After') return count >= 1 ? { ...from, rule: { ...rule, count } } : undefined;
  return end === 'Never' || end === '' ? from : undefined;
}

/** Types of rules in versions before 4.4, and in some later ones. */
const TYPES = new Map([
  ['Every Day', 'Daily'],
  ['Every Week', 'Weekly'],
  ['Every Month', 'Monthly'],
  ['Every Year', 'Yearly'],
]);

/** Returns a stored rule as the text of an iCalendar rule, without its end. */
function ruleText(storedRule: StoredRule, first: string): string | undefined {
  const custom = customOf(storedRule);
  const storedType = String(storedRule.type);
  const type = storedType === 'Custom' ? String(custom.type) : (TYPES.get(storedType) ?? storedType);
  const interval = `INTERVAL=${Number(custom.interval ?? 1) || 1}`;
  if (type === 'Daily') return `FREQ=DAILY;${interval}`;
  if (type === 'Weekly') {
    const days = valuesOf(isRecord(custom.week) ? custom.week.day : []).map((day) => WEEKDAYS[Number(day) - 1]);
    if (days.includes(undefined)) return undefined;
    return ['FREQ=WEEKLY', interval, 'WKST=SU', ...(days.length > 0 ? [`BYDAY=${days.join()}`] : [])].join(';');
  }
  const period = type === 'Monthly' ? custom.month : custom.year;
  const day = dayText(isRecord(period) ? period : {});
  if (day === undefined) return undefined;
  if (type === 'Monthly') return ['FREQ=MONTHLY', interval, ...day].join(';');
  if (type !== 'Yearly') return undefined;
  const months = valuesOf(isRecord(period) ? period.month : []);
  const defaultParts = [`BYMONTH=${Number(first.slice(5, 7))}`, ...(day.length > 0 ? [] : [`BYMONTHDAY=${Number(first.slice(8, 10))}`])];
  return ['FREQ=YEARLY', interval, ...(months.length > 0 ? [`BYMONTH=${months.map(Number).join()}`] : defaultParts), ...day].join(';');
}

const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const POSITION_NAMES = new Map([
  ['First', 1],
  ['Second', 2],
  ['Third', 3],
  ['Fourth', 4],
  ['Fifth', 5],
  ['Last', -1],
]);
/** The stored weekday that means any day. */
const ANY_DAY = 8;

/** Returns the part of a rule that selects the day of a month; empty if it is the day of the start. */
function dayText(period: StoredRule): string[] | undefined {
  if (period['same-day'] !== 'no') return [];
  const number = String(period.number ?? '');
  if (/^\d{1,2}$/.test(number)) return [`BYMONTHDAY=${Number(number)}`];
  const [place, day] = [POSITION_NAMES.get(number), Number(period.day)];
  if (place === undefined) return undefined;
  if (day === ANY_DAY) return [`BYMONTHDAY=${place}`];
  return WEEKDAYS[day - 1] === undefined ? undefined : [`BYDAY=${place}${WEEKDAYS[day - 1]}`];
}

/** Returns the items of a list, or of a comma-separated text. */
const valuesOf = (value: unknown): string[] =>
  (typeof value === 'string' ? value.split(',') : Object.values(value ?? {}).map(String))
    .map((one) => one.trim())
    .filter((one) => one !== '');
