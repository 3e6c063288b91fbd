import ICAL from 'ical.js';

/**
 * Maximum bytes of a row. Continuation rows begin with an additional blank (RFC 5545, 3.1: 75 octets), which the
 * library does not count.
 */
const LINE_BYTES = 74;
ICAL.foldLength = LINE_BYTES;

const IS_ASCII = /^[\0-\x7f]*$/;
const ASCII_CHUNKS = new RegExp(`[^]{1,${LINE_BYTES}}`, 'g');

/** Returns a property with its values, escaped according to their type, and folded. */
export function line(name: string, type: string, values: readonly unknown[], parameters: Readonly<Record<string, string>> = {}): string {
  return foldLine(ICAL.stringify.property([name, parameters, type, ...values], ICAL.design.icalendar, true));
}

/** Folds a line into rows without splitting characters. */
export function foldLine(line: string): string {
  if (line.length * 3 <= LINE_BYTES) return line;
  if (IS_ASCII.test(line)) return line.match(ASCII_CHUNKS)!.join('\r\n ');
  const bytes = Buffer.from(line);
  const rows: string[] = [];
  let start = 0;
  while (bytes.length - start > LINE_BYTES) {
    let end = start + LINE_BYTES;
    while ((bytes[end]! & 0xc0) === 0x80) end -= 1;
    rows.push(bytes.toString('utf8', start, end));
    start = end;
  }
  return start === 0 ? line : [...rows, bytes.toString('utf8', start)].join('\r\n ');
}
