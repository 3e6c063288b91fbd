/*
 * What vCalendar 1.0 (versit Consortium, 1996), which older telephones and programs write, has otherwise than
 * iCalendar: texts as quoted-printable, and rules of repetition in a form of their own.
 */

const QUOTED = /^[^:]*;(?:ENCODING=)?"?QUOTED-PRINTABLE"?[;:]/i;

/** Whether the text of a line is quoted-printable, so that `=` at the end of a row continues it. */
export const isQuotedPrintable = (line: string): boolean => QUOTED.test(line);

/**
 * A line of bytes whose text is quoted-printable as one of plain bytes, line ends escaped as iCalendar has them, and
 * the encoding of letters that it names.
 */
export function fromQuotedPrintable(line: string): { bytes: string; charset: string | undefined } {
  const at = line.indexOf(':');
  const [name, ...parameters] = line.slice(0, at).split(';');
  const charset = parameters.find((one) => /^CHARSET=/i.test(one))?.slice('CHARSET='.length);
  const kept = parameters.filter((one) => !/^(?:CHARSET=|ENCODING=|"?QUOTED-PRINTABLE)/i.test(one));
  const value = line
    .slice(at + 1)
    .replace(/=([\dA-F]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\r\n|\r|\n/g, '\\n');
  return { bytes: `${[name, ...kept].join(';')}:${value}`, charset: charset?.replaceAll('"', '') };
}

/** Of a rule that says neither how often nor until when, this many times are meant. */
const USUAL_COUNT = 2;
const WEEKDAY = /^(?:SU|MO|TU|WE|TH|FR|SA)$/;

/**
 * A rule of vCalendar (`D1 #10`, `W2 MO WE 20261231T235959Z`, `MP1 2+ TU #5`, `MD1 15 LD`, `YM1 6 7`, `YD1 1 100`) in
 * the words of iCalendar. Undefined where it is none, or where several rules are nested.
 */
export function modernRule(text: string): string | undefined {
  const [first = '', ...words] = text.trim().toUpperCase().split(/\s+/);
  const [, kind = '', interval] = /^(D|W|MP|MD|YM|YD)(\d{1,4})$/.exec(first) ?? [];
  const form = FORMS.get(kind);
  if (!form) return undefined;
  const end = endOf(words.at(-1) ?? '');
  const by = form.by(end === undefined ? words : words.slice(0, -1));
  if (by === undefined) return undefined;
  return [`FREQ=${form.freq}`, `INTERVAL=${interval}`, by, end ?? `COUNT=${USUAL_COUNT}`].filter((part) => part !== '').join(';');
}

/** How a rule ends: after a number of times, of which 0 is without end, or at a date. */
function endOf(word: string): string | undefined {
  const count = /^#(\d{1,5})$/.exec(word)?.[1];
  if (count !== undefined) return Number(count) === 0 ? '' : `COUNT=${count}`;
  return /^\d{8}(?:T\d{6}Z?)?$/.test(word) ? `UNTIL=${word}` : undefined;
}

interface Form {
  readonly freq: string;
  /** The part of a rule that says which days; empty: they follow from the start; undefined: it can't be read. */
  readonly by: (words: readonly string[]) => string | undefined;
}

/** Words that all fit a pattern, as a part of a rule. */
const listed =
  (name: string, pattern: RegExp, change = (word: string): string => word) =>
  (words: readonly string[]): string | undefined => {
    if (!words.every((word) => pattern.test(word))) return undefined;
    return words.length === 0 ? '' : `${name}=${words.map(change).join(',')}`;
  };

/** `2+` and `2` are the second, `2-` the second to last. */
const signed = (word: string): string => (word.endsWith('-') ? `-${word.slice(0, -1)}` : word.replace('+', ''));

const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ['D', { freq: 'DAILY', by: listed('', /^$/) }],
  ['W', { freq: 'WEEKLY', by: listed('BYDAY', WEEKDAY) }],
  ['MD', { freq: 'MONTHLY', by: listed('BYMONTHDAY', /^(?:\d{1,2}[+-]?|LD)$/, (word) => (word === 'LD' ? '-1' : signed(word))) }],
  ['MP', { freq: 'MONTHLY', by: weekdaysOfMonth }],
  ['YM', { freq: 'YEARLY', by: listed('BYMONTH', /^\d{1,2}$/) }],
  ['YD', { freq: 'YEARLY', by: listed('BYYEARDAY', /^\d{1,3}$/) }],
]);

/** More than the weekdays of a month, counted from its begin and from its end. */
const MOST_DAYS = 100;

/** `1+ MO TU 1- FR`: each place in the month counts for the weekdays behind it. */
function weekdaysOfMonth(words: readonly string[]): string | undefined {
  const days: string[] = [];
  let places: string[] = [];
  let isAfterDay = true;
  for (const word of words) {
    if (days.length + places.length > MOST_DAYS) return undefined;
    if (/^[1-5][+-]$/.test(word)) {
      places = isAfterDay ? [word] : [...places, word];
      isAfterDay = false;
    } else if (WEEKDAY.test(word) && places.length > 0) {
      days.push(...places.map((place) => `${signed(place)}${word}`));
      isAfterDay = true;
    } else return undefined;
  }
  return days.length === 0 || !isAfterDay ? undefined : `BYDAY=${days.join(',')}`;
}
