import { textFromUnix, unixFromText } from '../../wordpress/time.ts';

/*
 * Rewrites lines with dates, as programs write them, into the form that the standard requires (RFC 5545, 3.3.4 and
 * 3.3.5), so that the library can read them.
 */

const DATE_PROPERTY = /^(DTSTART|DTEND|RDATE|EXDATE|RECURRENCE-ID)[;:]/i;

/**
 * Rewrites a line so that the library can read it. The type of a date follows from its value, whatever VALUE says:
 * `20190101` is a day, `20190101T100000` a time; a list may contain both. Seconds may be missing; fractions of a second
 * are cut. Dates may be in the extended form of ISO 8601 (`2019-01-01T10:00:00+01:00`); those with an offset become UTC
 * times. Invalid dates are dropped. A TZID may contain colons, commas and backslashes. Lines without dates are returned
 * unchanged.
 */
export function repairLine(line: string): string[] {
  const name = DATE_PROPERTY.exec(line)?.[1];
  if (name === undefined) return [line];
  const text = basicDates(line);
  // At this point no date contains a colon, but a TZID may, quoted or not.
  const colonIndex = text.lastIndexOf(':');
  const parameterText = text.slice(name.length, colonIndex);
  const values = new Map<string, string[]>();
  const pieces = splitDates(text.slice(colonIndex + 1));
  for (const piece of isListProperty(name) ? pieces : pieces.slice(0, 1)) {
    const value = repairDateValue(piece.trim());
    if (!isDate(value)) continue;
    const group = values.get(typeOf(value));
    if (group) group.push(value);
    else values.set(typeOf(value), [value]);
  }
  const range = /;RANGE="?THISANDFUTURE/i.test(parameterText) ? ';RANGE=THISANDFUTURE' : '';
  return [...values].map(([type, group]) => {
    const parameters = `${type === 'DATE' ? '' : zoneOf(parameterText)}${range}`;
    return `${name};VALUE=${type}${parameters}:${group.join(',')}`;
  });
}

/** Splits a list of dates, which vCalendar separates by semicolons. */
const splitDates = (list: string): string[] => list.split(/[,;]/);

const isListProperty = (name: string): boolean => /^(?:RDATE|EXDATE)$/i.test(name);

/**
 * Whether a value is a day, a time or a period. If a list contained anything else, the library would drop the whole
 * list; of any other date, it would read only the beginning.
 */
const isDate = (value: string): boolean => /^\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:T\d{6}Z?)?(?:\/[\dA-Z+-]+)?$/.test(value);

/** Whether a line is a list with invalid dates, or has several dates although only one is allowed. */
export function hasInvalidDate(line: string): boolean {
  const name = DATE_PROPERTY.exec(line)?.[1];
  if (name === undefined) return false;
  const text = basicDates(line);
  const pieces = splitDates(text.slice(text.lastIndexOf(':') + 1));
  if (!isListProperty(name)) return pieces.length > 1;
  return pieces.map((piece) => repairDateValue(piece.trim())).some((value) => value !== '' && !isDate(value));
}

/** Converts dates and times of ISO 8601 from the extended form to the basic form. */
const basicDates = (line: string): string =>
  line
    .replace(/(?<=[:,;/])\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?(?=$|[\s,;/.Z+-])/gi, (date) => date.replace(/[-:]/g, ''))
    .replace(/(?<=[T ]\d{4,6}(?:\.\d{1,9})?[+-]\d\d):(?=\d\d(?:$|[\s,;/]))/gi, '');

const repairDateValue = (value: string): string => value.split('/').map(repairDate).join('/');

/**
 * Normalizes a date. Some programs write days as `20190101Z`, and times as `20190101 100000`, with fractions of a
 * second, or with an offset from UTC.
 */
function repairDate(part: string): string {
  const [, day, time, second = '00', zone = '', sign, hours, minutes] =
    /^(\d{8})(?:[T ](\d{4})(\d\d)?(?:\.\d+)?)?(Z|([+-])(\d\d):?(\d\d))?$/i.exec(part) ?? [];
  if (day === undefined) return part.toUpperCase();
  if (time === undefined) return sign === undefined ? day : part;
  if (sign === undefined) return `${day}T${time}${second}${zone.toUpperCase()}`;
  const east = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60;
  const wall = `${day}T${time}${second}`.replace(/^(....)(..)(..)T(..)(..)(..)$/, '$1-$2-$3 $4:$5:$6');
  return `${textFromUnix(unixFromText(wall) - east)
    .replaceAll(/[-:]/g, '')
    .replace(' ', 'T')}Z`;
}

const typeOf = (value: string): string => (value.includes('/') ? 'PERIOD' : /^\d{8}$/.test(value) ? 'DATE' : 'DATE-TIME');

function zoneOf(parameters: string): string {
  const from = parameters.search(/;TZID=/i);
  if (from < 0) return '';
  const rest = parameters.slice(from + 6);
  const end = rest.startsWith('"') ? rest.indexOf('"', 1) : rest.indexOf(';');
  const id = (end < 0 ? rest : rest.slice(0, end)).replaceAll('"', '').trim();
  return id === '' ? '' : `;TZID="${id}"`;
}
