/*
 * The formats that PHP's strtotime understands, as patterns (timelib's parse_date grammar, as of PHP 8.2). Of all
 * patterns that match at a position the longest match wins, and among equals the first one; date.ts defines their
 * meanings. Words match in any case; single letters in a pattern (`T`, `W`, roman months) only in their own case. `\0`
 * marks the end of the text.
 */

/** A format's name and its pattern. */
export type Format = readonly [name: FormatName, pattern: RegExp];

/** Names of the formats, distinguished by meaning. */
export type FormatName =
  | 'yesterday'
  | 'now'
  | 'noon'
  | 'today'
  | 'tomorrow'
  | 'timestamp'
  | 'dayOfMonth'
  | 'quarterHour'
  | 'weekdayOf'
  | 'time12'
  | 'mssql'
  | 'time24'
  | 'hourMinute'
  | 'hourMinuteSecond'
  | 'american'
  | 'isoDate'
  | 'isoDateShort'
  | 'isoDateLong'
  | 'yearMonth'
  | 'yearMonthDay'
  | 'dayMonthYear'
  | 'pointed'
  | 'pointedShort'
  | 'monthYear'
  | 'yearMonthName'
  | 'monthDay'
  | 'dayMonth'
  | 'compactDate'
  | 'dateTime'
  | 'yearDay'
  | 'isoWeekday'
  | 'isoWeek'
  | 'monthDayYear'
  | 'yearMonthNameDay'
  | 'commonLog'
  | 'year'
  | 'ago'
  | 'weekday'
  | 'relativeWeek'
  | 'relativeText'
  | 'month'
  | 'zone'
  | 'monthDayTime12'
  | 'monthDayTime24'
  | 'relative'
  | 'separator';

const anyCase = (words: string) => words.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
const oneOf = (words: string) => `(?:${words.split(' ').map(anyCase).join('|')})`;

/** `toLocaleString` of browsers writes U+202F before AM and PM. */
const space = '[ \\t\\u00a0\\u202f]+';
const blank = `(?:${space})?`;
const fraction = '[.][0-9]+';
const hour24 = '(?:[01]?[0-9]|2[0-4])';
const hour24lz = '(?:[01][0-9]|2[0-4])';
const hour12 = '(?:0?[1-9]|1[0-2])';
const minute = '[0-5]?[0-9]';
const minutelz = '[0-5][0-9]';
const second = `(?:${minute}|60)`;
const secondlz = `(?:${minutelz}|60)`;
const meridian = '[AaPp][.]?[Mm][.]?[\\0\\t ]';
const zoneName = `(?:[(]?[A-Za-z]{1,6}[)]?|[A-Z][a-z]+(?:[_/-][A-Za-z]+)+)`;
const correction = `(?:GMT)?[+-](?:${hour24}(?::?${minute})?|${hour24lz}${minutelz}${secondlz}|` + `${hour24lz}:${minutelz}:${secondlz})`;

const month = '(?:0?[0-9]|1[0-2])';
const day = '(?:(?:[0-2]?[0-9]|3[01])(?:st|nd|rd|th)?)';
const year = '[0-9]{1,4}';
const year4 = '[0-9]{4}';
const dayOfYear = '(?:00[1-9]|0[1-9][0-9]|[12][0-9][0-9]|3[0-5][0-9]|36[0-6])';
const week = '(?:0[1-9]|[1-4][0-9]|5[0-3])';
const monthlz = '(?:0[0-9]|1[0-2])';
const daylz = '(?:0[0-9]|[1-2][0-9]|3[01])';
const dayNames = oneOf(
  'sundays mondays tuesdays wednesdays thursdays fridays saturdays sunday monday tuesday wednesday thursday friday saturday',
);
const dayShort = oneOf('sun mon tue wed thu fri sat');
const dayText = `(?:${dayNames}|${dayShort}|${oneOf('weekdays weekday')})`;
const monthFull = oneOf('january february march april may june july august september october november december');
const monthShort = oneOf('jan feb mar apr may jun jul aug sept sep oct nov dec');
const monthText = `(?:${monthFull}|${monthShort}|I{1,3}|IV|VI{0,3}|IX|XI{0,2})`;

const clock12 = `(?:${hour12}${blank}${meridian}|${hour12}[:.]${minutelz}${blank}${meridian}|${hour12}[:.]${minute}[:.]${secondlz}${blank}${meridian})`;
const shortClock12 = `${hour12}[:.]${minutelz}${blank}${meridian}`;
const longClock12 = `${hour12}[:.]${minute}[:.]${secondlz}${blank}${meridian}`;
const shortClock24 = `[tT]?${hour24}[:.]${minute}`;
const longClock24 = `[tT]?${hour24}[:.]${minute}[:.]${second}`;
const fractionClock24 = `${longClock24}${fraction}`;
const zonedClock24 = `[tT]?${hour24}[:.]${minute}[:.]${secondlz}${blank}(?:${correction}|${zoneName})`;
const monthDay = `${monthText}[ .\\t-]*${day}(?:[,.stndrh\\t ]+|\\0)`;

const ordinal = oneOf('first second third fourth fifth sixth seventh eighth eight ninth tenth eleventh twelfth');
const pointer = oneOf('next last previous this');
const unitWord = `${oneOf('millisecond msec microsecond µsec usec second sec minute min hour day fortnight forthnight month year')}[sS]?`;
const unit = `(?:${oneOf('ms µs')}|${unitWord}|${oneOf('weeks')}|${dayText})`;

const dateTime = [
  `${year4}${monthlz}${daylz}T${hour24}:${minutelz}:${secondlz}`,
  `${year4}${monthlz}${daylz}[tT]${hour24}${minutelz}${secondlz}`,
  `${year4}-${monthlz}-${daylz}T${hour24lz}:${minutelz}:${secondlz}${fraction}(?:${correction})?`,
  `${year4}-${month}-${day}T${hour24}:${minute}:${second}`,
  `${year4}:${monthlz}:${daylz} ${hour24lz}:${minutelz}:${secondlz}`,
];

const patterns: [FormatName, string][] = [
  ['yesterday', oneOf('yesterday')],
  ['now', oneOf('now')],
  ['noon', oneOf('noon')],
  ['today', oneOf('midnight today')],
  ['tomorrow', oneOf('tomorrow')],
  ['timestamp', '@-?[0-9]+(?:[.][0-9]{0,6})?'],
  ['dayOfMonth', `${oneOf('first last')}${anyCase(' day of')}`],
  ['quarterHour', `${oneOf('back front')}${anyCase(' of ')}${hour24}(?:${blank}${meridian})?`],
  ['weekdayOf', `(?:${ordinal}|${pointer})${space}(?:${dayNames}|${dayShort})${space}${anyCase('of')}`],
  ['time12', clock12],
  ['mssql', `${hour12}:${minutelz}:${secondlz}[:.][0-9]+${meridian}`],
  ['time24', `(?:[tT]${hour24}|${shortClock24}|${longClock24}|${fractionClock24})`],
  ['hourMinute', `[tT]?${hour24lz}${minutelz}`],
  ['hourMinuteSecond', `[tT]?${hour24lz}${minutelz}${secondlz}`],
  ['american', `${month}/${day}(?:/${year})?`],
  ['isoDate', `(?:[+-]?${year4}-${monthlz}-${daylz}|${year4}/${monthlz}/${daylz}/?|${year4}/${month}/${day})`],
  ['isoDateShort', `[0-9]{2}-${monthlz}-${daylz}`],
  ['isoDateLong', `[+-][0-9]{5,19}-${monthlz}-${daylz}`],
  ['yearMonth', `${year4}-${month}`],
  ['yearMonthDay', `${year}-${month}-${day}`],
  ['dayMonthYear', `${day}[ \\t.-]*${monthText}[ \\t.-]*${year}`],
  ['pointed', `${day}[.\\t-]${month}[.-]${year4}`],
  ['pointedShort', `${day}[.\\t]${month}[.][0-9]{2}`],
  ['monthYear', `${monthText}[ .\\t-]*${year4}`],
  ['yearMonthName', `${year4}[ .\\t-]*${monthText}`],
  ['monthDay', `(?:${monthText}[ .\\t-]*${day}[,.stndrh\\t ]+${year}|${monthDay})`],
  ['dayMonth', `${day}[ .\\t-]*${monthText}`],
  ['compactDate', `${year4}${monthlz}${daylz}`],
  ['dateTime', `(?:${dateTime.join('|')})`],
  ['yearDay', `${year4}[.-]?${dayOfYear}`],
  ['isoWeekday', `${year4}-?W${week}-?[0-7]`],
  ['isoWeek', `${year4}-?W${week}`],
  ['monthDayYear', `${monthShort}-${daylz}-${year}`],
  ['yearMonthNameDay', `${year}-${monthShort}-${daylz}`],
  ['commonLog', `${day}/${monthShort}/${year4}:${hour24lz}:${minutelz}:${secondlz}${space}${correction}`],
  ['year', year4],
  ['ago', oneOf('ago')],
  ['weekday', dayText],
  ['relativeWeek', `${pointer}${space}${anyCase('week')}`],
  ['relativeText', `(?:${ordinal}|${pointer})${space}${unit}`],
  ['month', `(?:${monthFull}|${monthShort})`],
  ['zone', `(?:${correction}|${zoneName})`],
  ['monthDayTime12', `${monthDay}(?:${shortClock12}|${longClock12})`],
  ['monthDayTime24', `${monthDay}(?:${shortClock24}|${longClock24}|${zonedClock24})`],
  ['relative', `[+-]*[ \\t]*[0-9]{1,13}${blank}(?:${unit}|${anyCase('week')})`],
  ['separator', '[ .,\\t\\n\\0\\u00a0\\u202f]'],
];

const formats = patterns.map(([name, pattern]) => ({ name, start: new RegExp(pattern, 'y'), whole: new RegExp(`^(?:${pattern})$`) }));

/**
 * Returns the format with the longest match at a position of a text, and the matched text; null if none matches.
 * @param text with `\0` at its end
 */
export function formatAt(text: string, at: number): { name: FormatName; token: string } | null {
  let best: { name: FormatName; token: string } | null = null;
  for (const { name, start, whole } of formats) {
    start.lastIndex = at;
    const first = start.exec(text);
    if (!first) continue;
    const token = longestMatch(text, at, first[0].length, whole);
    if (best === null || token.length > best.token.length) best = { name, token };
  }
  return best;
}

/**
 * Returns the longest match of a pattern. A backtracking pattern returns the first one, but the grammar needs the
 * longest.
 */
function longestMatch(text: string, at: number, minLength: number, pattern: RegExp): string {
  const maxLength = Math.min(text.length - at, MAX_TOKEN_LENGTH);
  for (let length = maxLength; length > minLength; length--) {
    const token = text.slice(at, at + length);
    if (pattern.test(token)) return token;
  }
  return text.slice(at, at + minLength);
}

const MAX_TOKEN_LENGTH = 80;
