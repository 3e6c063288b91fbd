/*
 * Differences of vCalendar 1.0 (versit Consortium, 1996), which older phones and programs write, from iCalendar: texts
 * in quoted-printable encoding, and another syntax for recurrence rules.
 */

const QUOTED = /^[^:]*;(?:ENCODING=)?"?QUOTED-PRINTABLE"?[;:]/i;

/** Whether the text of a line is quoted-printable, so that `=` at the end of a row continues it. */
export const isQuotedPrintable = (line: string): boolean => QUOTED.test(line);

/**
 * Decodes a quoted-printable line to plain bytes, with line breaks escaped as in iCalendar, and returns the charset
 * that it declares.
 */
export function fromQuotedPrintable(line: string): { bytes: string; charset: string | undefined } {
  const colonIndex = line.indexOf(':');
  const [name, ...parameters] = line.slice(0, colonIndex).split(';');
  const charset = parameters.find((one) => /^CHARSET=/i.test(one))?.slice('CHARSET='.length);
  const keptParameters = parameters.filter((one) => !/^(?:CHARSET=|ENCODING=|"?QUOTED-PRINTABLE)/i.test(one));
  const value = line
    .slice(colonIndex + 1)
    .replace(/=([\dA-F]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\r\n|\r|\n/g, '\\n');
  return { bytes: `${[name, ...keptParameters].join(';')}:${value}`, charset: charset?.replaceAll('"', '') };
}

/** Number of repetitions if a rule has neither a count nor an end. */
const DEFAULT_COUNT = 2;
const WEEKDAY = /^(?:SU|MO|TU|WE|TH|FR|SA)$/;

/**
 * Translates a rule of vCalendar (`D1 #10`, `W2 MO WE 20261231T235959Z`, `MP1 2+ TU #5`, `MD1 15 LD`, `YM1 6 7`, `YD1 1
 * 100`) to an iCalendar rule. Returns undefined if it is no such rule, or if several rules are nested.
 */
export function toICalendarRule(text: string): string | undefined {
  const [first = '', ...words] = text.trim().toUpperCase().split(/\s+/);
  const [, kind = '', interval] = /^(D|W|MP|MD|YM|YD)(\d{1,4})$/.exec(first) ?? [];
  const form = RULE_FORMS.get(kind);
  if (!form) return undefined;
  const end = endOf(words.at(-1) ?? '');
  const selection = form.selectDays(end === undefined ? words : words.slice(0, -1));
  if (selection === undefined) return undefined;
  return [`FREQ=${form.freq}`, `INTERVAL=${interval}`, selection, end ?? `COUNT=${DEFAULT_COUNT}`].filter((part) => part !== '').join(';');
}

/** Parses the end of a rule: a number of repetitions, of which 0 means no end, or a date. */
function endOf(word: string): string | undefined {
  const count = /^#(\d{1,5})$/.exec(word)?.[1];
  if (count !== undefined) return Number(count) === 0 ? '' : `COUNT=${count}`;
  return /^\d{8}(?:T\d{6}Z?)?$/.test(word) ? `UNTIL=${word}` : undefined;
}

interface RuleForm {
  readonly freq: string;
  /**
   * Returns the part of a rule that selects days; empty if they follow from the start, undefined if it cannot be read.
   */
  readonly selectDays: (words: readonly string[]) => string | undefined;
}

/** Returns a parser that turns words into one part of a rule if all of them match a pattern. */
const listParser =
  (name: string, pattern: RegExp, change = (word: string): string => word) =>
  (words: readonly string[]): string | undefined => {
    if (!words.every((word) => pattern.test(word))) return undefined;
    return words.length === 0 ? '' : `${name}=${words.map(change).join(',')}`;
  };

/** Translates a position: `2+` and `2` mean the second, `2-` the second to last. */
const toSignedPosition = (word: string): string => (word.endsWith('-') ? `-${word.slice(0, -1)}` : word.replace('+', ''));

const RULE_FORMS: ReadonlyMap<string, RuleForm> = new Map<string, RuleForm>([
  ['D', { freq: 'DAILY', selectDays: listParser('', /^$/) }],
  ['W', { freq: 'WEEKLY', selectDays: listParser('BYDAY', WEEKDAY) }],
  [
    'MD',
    {
      freq: 'MONTHLY',
      selectDays: listParser('BYMONTHDAY', /^(?:\d{1,2}[+-]?|LD)$/, (word) => (word === 'LD' ? '-1' : toSignedPosition(word))),
    },
  ],
  ['MP', { freq: 'MONTHLY', selectDays: weekdaysOfMonth }],
  ['YM', { freq: 'YEARLY', selectDays: listParser('BYMONTH', /^\d{1,2}$/) }],
  ['YD', { freq: 'YEARLY', selectDays: listParser('BYYEARDAY', /^\d{1,3}$/) }],
]);

/** Upper bound for the weekdays of a month, counted from its beginning and from its end. */
const MAX_WEEKDAYS = 100;

/** Parses `1+ MO TU 1- FR`: each position in the month applies to the weekdays after it. */
function weekdaysOfMonth(words: readonly string[]): string | undefined {
  const days: string[] = [];
  let places: string[] = [];
  let isAfterDay = true;
  for (const word of words) {
    if (days.length + places.length > MAX_WEEKDAYS) return undefined;
    if (/^[1-5][+-]$/.test(word)) {
      places = isAfterDay ? [word] : [...places, word];
      isAfterDay = false;
    } else if (WEEKDAY.test(word) && places.length > 0) {
      days.push(...places.map((place) => `${toSignedPosition(place)}${word}`));
      isAfterDay = true;
    } else return undefined;
  }
  return days.length === 0 || !isAfterDay ? undefined : `BYDAY=${days.join(',')}`;
}
