/*
 * The rules of an event that recurs as the calendar's paid extension stores them in the meta `_EventRecurrence`. It
 * makes the set of `recurrence-set.ts` from them whenever the event is saved in WordPress.
 */
import { parseSerialized } from '../wordpress/php/serialized.ts';
import { textFromUnix, unixFromText } from '../wordpress/time.ts';
import { occurrences, parseRule, type Rule } from './recurrence-rule.ts';

/** One rule or exclusion as it is stored. */
export type StoredRule = Readonly<Record<string, unknown>>;

/** The dates that stored rules result in. */
export interface RuledStarts {
  /** `YYYY-MM-DD HH:MM:SS`, local, in order. Of rules without end those up to the time that was asked for. */
  readonly starts: readonly string[];
  readonly endless: boolean;
}

/**
 * The starts that stored rules give to an event with this first start (local). Undefined where there are no rules, or
 * some that cannot be followed with certainty; `last`: local time up to which rules without end are followed.
 */
export function startsOfRules(text: string, first: string, last: string): RuledStarts | undefined {
  const [rules, exclusions] = [rulesIn(text, 'rules'), rulesIn(text, 'exclusions')];
  if (!rules || !exclusions || rules.length === 0) return undefined;
  // Of several rules that repeat the extension takes the first.
  const repeating = rules.filter((rule) => !isDate(rule)).slice(0, 1);
  const begun = repeating.map((rule) => ruledFrom(rule, first));
  const left = exclusions.filter((rule) => !isDate(rule)).map((rule) => ruledFrom(rule, first));
  const dates = rules.filter(isDate).map((rule) => dateOfRule(rule, first));
  if ([...begun, ...left, ...dates].includes(undefined)) return undefined;
  const endless = begun.some((one) => one?.rule.until === undefined && one?.rule.count === undefined);
  const until = endless ? last : LATEST;
  const starts = new Set([first, ...dates.flatMap((date) => date ?? []), ...begun.flatMap((one) => [...startsFrom(one!, until)])]);
  // A day is left out at the hour of the rule: what begins at another hour takes place.
  const days = exclusions
    .filter(isDate)
    .map((rule) => dateOfRule({ ...rule, custom: { ...customOf(rule), 'same-time': 'yes' } }, begun[0]?.start ?? first));
  const gone = new Set([...days, ...left.flatMap((one) => [...startsFrom(one!, until)])]);
  return { starts: [...starts].filter((start) => start <= until && (start === first || !gone.has(start))).sort(), endless };
}

const DAY = 'YYYY-MM-DD'.length;
const LATEST = '9998-12-31 23:59:59';

function rulesIn(text: string, name: 'rules' | 'exclusions'): StoredRule[] | undefined {
  const all = parseSerialized(text);
  if (!isMembers(all)) return undefined;
  const list = Object.values(all[name] ?? {});
  return list.every(isMembers) ? list.filter(({ type }) => typeof type === 'string' && type !== '' && type !== 'None') : undefined;
}

/** Whether a value has members, and is no list. */
export const isMembers = (value: unknown): value is StoredRule => typeof value === 'object' && value !== null && !Array.isArray(value);

const customOf = ({ custom }: StoredRule): StoredRule => (isMembers(custom) ? custom : {});
const isDate = (rule: StoredRule): boolean => customOf(rule).type === 'Date';

/** The start of the one date that a rule means: at the hours of the event, or at its own; undefined for other rules. */
export function dateOfRule(rule: StoredRule, first: string): string | undefined {
  const custom = customOf(rule);
  if (custom.type !== 'Date' || !isMembers(custom.date)) return undefined;
  const day = String(custom.date.date ?? '').slice(0, DAY);
  const time = startTime(custom, first);
  return time === undefined ? undefined : `${day} ${time}`;
}

const startTime = (custom: StoredRule, first: string): string | undefined =>
  custom['same-time'] === 'no' ? timeOf(String(custom['start-time'] ?? '')) : first.slice(DAY + 1);

/** `3:00pm` as `15:00:00`. */
function timeOf(text: string): string | undefined {
  const [, hour, minute, half] = /^(\d{1,2}):(\d\d) ?(am|pm)$/i.exec(text.trim()) ?? [];
  if (hour === undefined || minute === undefined || half === undefined) return undefined;
  return `${String((Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)).padStart(2, '0')}:${minute}:00`;
}

// ------------------------------------------------------------------------------------------------- rules that repeat
interface RuledFrom {
  readonly rule: Rule;
  /** When it begins, local. */
  readonly start: string;
}

function* startsFrom({ rule, start }: RuledFrom, last: string): Generator<string> {
  for (const wall of occurrences(rule, unixFromText(start), unixFromText(last), { startCounts: false })) yield textFromUnix(wall);
}

/**
 * A stored rule that repeats, with its end. The stored count includes the first date of the event, also where that is
 * no date of the rule.
 */
function ruledFrom(stored: StoredRule, first: string): RuledFrom | undefined {
  const time = startTime(customOf(stored), first);
  const text = time === undefined ? undefined : ruleText(stored, first);
  const open = text === undefined ? undefined : parseRule(text);
  if (!open) return undefined;
  const from = { rule: open, start: `${first.slice(0, DAY)} ${time}` };
  const isOff = startsFrom({ ...from, rule: { ...open, count: 1 } }, LATEST).next().value !== first;
  // The extension then counts the weeks from the second date, whichever that is.
  if (isOff && open.freq === 'WEEKLY' && open.interval > 1) return undefined;
  const end = String(stored['end-type'] ?? 'Never');
  if (end === 'On') {
    const day = String(stored.end ?? '').slice(0, DAY);
    return /^\d{4}-\d\d-\d\d$/.test(day) ? { ...from, rule: { ...open, until: `${day.replaceAll('-', '')}T235959` } } : undefined;
  }
  const count = Number(stored['end-count']) - (isOff ? 1 : 0);
  if (end === 'After') return count >= 1 ? { ...from, rule: { ...open, count } } : undefined;
  return end === 'Never' || end === '' ? from : undefined;
}

/** What rules of before 4.4, and of some versions since, call themselves. */
const TYPES = new Map([
  ['Every Day', 'Daily'],
  ['Every Week', 'Weekly'],
  ['Every Month', 'Monthly'],
  ['Every Year', 'Yearly'],
]);

/** A stored rule as the text of one of iCalendar's, without its end. */
function ruleText(stored: StoredRule, first: string): string | undefined {
  const custom = customOf(stored);
  const storedType = String(stored.type);
  const type = storedType === 'Custom' ? String(custom.type) : (TYPES.get(storedType) ?? storedType);
  const interval = `INTERVAL=${Number(custom.interval ?? 1) || 1}`;
  if (type === 'Daily') return `FREQ=DAILY;${interval}`;
  if (type === 'Weekly') {
    const days = valuesOf(isMembers(custom.week) ? custom.week.day : []).map((day) => WEEKDAYS[Number(day) - 1]);
    if (days.includes(undefined)) return undefined;
    return ['FREQ=WEEKLY', interval, 'WKST=SU', ...(days.length > 0 ? [`BYDAY=${days.join()}`] : [])].join(';');
  }
  const when = type === 'Monthly' ? custom.month : custom.year;
  const day = dayText(isMembers(when) ? when : {});
  if (day === undefined) return undefined;
  if (type === 'Monthly') return ['FREQ=MONTHLY', interval, ...day].join(';');
  if (type !== 'Yearly') return undefined;
  const months = valuesOf(isMembers(when) ? when.month : []);
  const own = [`BYMONTH=${Number(first.slice(5, 7))}`, ...(day.length > 0 ? [] : [`BYMONTHDAY=${Number(first.slice(8, 10))}`])];
  return ['FREQ=YEARLY', interval, ...(months.length > 0 ? [`BYMONTH=${months.map(Number).join()}`] : own), ...day].join(';');
}

const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const PLACES = new Map([
  ['First', 1],
  ['Second', 2],
  ['Third', 3],
  ['Fourth', 4],
  ['Fifth', 5],
  ['Last', -1],
]);
/** The weekday that stands for any day. */
const ANY_DAY = 8;

/** Which day of a month; nothing where it is that of the start. */
function dayText(when: StoredRule): string[] | undefined {
  if (when['same-day'] !== 'no') return [];
  const number = String(when.number ?? '');
  if (/^\d{1,2}$/.test(number)) return [`BYMONTHDAY=${Number(number)}`];
  const [place, day] = [PLACES.get(number), Number(when.day)];
  if (place === undefined) return undefined;
  if (day === ANY_DAY) return [`BYMONTHDAY=${place}`];
  return WEEKDAYS[day - 1] === undefined ? undefined : [`BYDAY=${place}${WEEKDAYS[day - 1]}`];
}

/** Members of a list, or of a text with commas. */
const valuesOf = (value: unknown): string[] =>
  (typeof value === 'string' ? value.split(',') : Object.values(value ?? {}).map(String))
    .map((one) => one.trim())
    .filter((one) => one !== '');
