/*
 * Lines with dates, as programs write them, in the form that the standard asks for (RFC 5545, 3.3.4 and 3.3.5), so that
 * the library reads them.
 */

const DATED = /^(DTSTART|DTEND|RDATE|EXDATE|RECURRENCE-ID)[;:]/i;

/**
 * A line as the library can read it. The type of a date follows from its value, whatever VALUE says: `20190101` is a
 * day, `20190101T100000` a time, both may stand in one list. Seconds may be missing. A TZID may hold colons, commas and
 * backslashes. Lines that have no dates stay as they are.
 */
export function mendLine(text: string): string[] {
  const name = DATED.exec(text)?.[1];
  if (name === undefined) return [text];
  // No date has a colon, but a TZID may, quoted or not.
  const at = text.lastIndexOf(':');
  const told = text.slice(name.length, at);
  const values = new Map<string, string[]>();
  for (const piece of text.slice(at + 1).split(',')) {
    const value = mendValue(piece.trim());
    if (value === '' || (isList(name) && !isDate(value))) continue;
    const some = values.get(typeOf(value));
    if (some) some.push(value);
    else values.set(typeOf(value), [value]);
  }
  const parameters = [zoneOf(told), /;RANGE="?THISANDFUTURE/i.test(told) ? ';RANGE=THISANDFUTURE' : ''].join('');
  return [...values].map(([type, some]) => `${name};VALUE=${type}${type === 'DATE' ? '' : parameters}:${some.join(',')}`);
}

const isList = (name: string): boolean => /^(?:RDATE|EXDATE)$/i.test(name);

/** Whether a value of a list is a day, a time or a period. The library would leave out all values with a stray one. */
const isDate = (value: string): boolean => /^\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:T\d{6}Z?)?(?:\/[\dA-Z+-]+)?$/.test(value);

/** Whether a line is a list of dates some of which are none. */
export const hasStrayDate = (text: string): boolean =>
  isList(DATED.exec(text)?.[1] ?? '') &&
  text
    .slice(text.lastIndexOf(':') + 1)
    .split(',')
    .map((piece) => mendValue(piece.trim()))
    .some((value) => value !== '' && !isDate(value));

const mendValue = (value: string): string =>
  value
    .split('/')
    .map((part) => (/^\d{8}T\d{4}Z?$/i.test(part) ? `${part.slice(0, 13)}00${part.slice(13)}` : part).toUpperCase())
    .join('/');

const typeOf = (value: string): string => (value.includes('/') ? 'PERIOD' : /^\d{8}$/.test(value) ? 'DATE' : 'DATE-TIME');

function zoneOf(parameters: string): string {
  const from = parameters.search(/;TZID=/i);
  if (from < 0) return '';
  const rest = parameters.slice(from + 6);
  const end = rest.startsWith('"') ? rest.indexOf('"', 1) : rest.indexOf(';');
  const id = (end < 0 ? rest : rest.slice(0, end)).replaceAll('"', '').trim();
  return id === '' ? '' : `;TZID="${id}"`;
}
