import { SourceFault } from '../items/items.ts';

/** A line of a file, with its number; continued lines are one. */
export interface Line {
  readonly line: number;
  readonly text: string;
}

/** A part of a calendar: a property of its own, or a component with its lines between BEGIN and END. */
export type Part =
  | { readonly is: 'property'; readonly line: number; readonly text: string }
  | { readonly is: 'component'; readonly name: string; readonly line: number; readonly lines: readonly Line[] };

/** No text of a calendar is as long, no component has as many lines, and none lies so deep. */
const LONGEST_LINE = 2 ** 20;
const MOST_LINES = 20_000;
const DEEPEST = 6;
/** Components whose inner ones are of interest. */
const NESTED = new Set(['VTIMEZONE']);

/**
 * The parts of a file of calendars (RFC 5545, 3.4 and 3.6), one at a time. What lies inside a component is left out, but for zones.
 *
 * @throws SourceFault `ical-none`, `ical-structure`, `ical-truncated`, `ical-deep`, `too-long`, saying where
 */
export async function* partsOf(lines: AsyncIterable<Line>, file: string): AsyncGenerator<Part> {
  const open: string[] = [];
  let inside: { name: string; line: number; lines: Line[] } | undefined;
  let last = 1;
  let calendars = 0;
  for await (const { line, text } of unfolded(lines, file)) {
    last = line;
    const [, marker = '', given = ''] = /^(BEGIN|END):\s*([\w-]+)\s*$/i.exec(text) ?? [];
    const name = given.toUpperCase();
    if (marker === '') {
      if (text.trim() === '') continue;
      if (open.length === 0) throw new SourceFault('ical-none', { file, line });
      if (open.length === 1) yield { is: 'property', line, text };
      else if (inside && (open.length === 2 || NESTED.has(inside.name))) add(inside.lines, { line, text }, file);
      continue;
    }
    if (marker.toUpperCase() === 'BEGIN') {
      if (open.length === 0 && name !== 'VCALENDAR') throw new SourceFault('ical-none', { file, line });
      open.push(name);
      if (open.length === 1) calendars += 1;
      if (open.length > DEEPEST) throw new SourceFault('ical-deep', { file, line });
      if (open.length === 2) inside = { name, line, lines: [] };
      else if (inside && NESTED.has(inside.name)) add(inside.lines, { line, text: `BEGIN:${name}` }, file);
      continue;
    }
    if (open.pop() !== name) throw new SourceFault('ical-structure', { file, line, name });
    if (open.length === 1 && inside) {
      yield { is: 'component', ...inside };
      inside = undefined;
    } else if (inside && NESTED.has(inside.name)) add(inside.lines, { line, text: `END:${name}` }, file);
  }
  if (open.length > 0) throw new SourceFault('ical-truncated', { file, line: last, name: open.at(-1)! });
  if (calendars === 0) throw new SourceFault('ical-none', { file, line: last });
}

function add(lines: Line[], line: Line, file: string): void {
  if (lines.length >= MOST_LINES) throw new SourceFault('too-long', { file, line: line.line });
  lines.push(line);
}

/** Joins lines that are continued by a blank at the begin of the next (3.1). */
async function* unfolded(lines: AsyncIterable<Line>, file: string): AsyncGenerator<Line> {
  let number = 0;
  let pieces: string[] | undefined;
  let length = 0;
  for await (const { line, text: raw } of lines) {
    const text = number === 0 && pieces === undefined ? raw.replace(/^\ufeff/, '') : raw;
    if (pieces && /^[ \t]/.test(text)) {
      length += text.length;
      if (length > LONGEST_LINE) throw new SourceFault('too-long', { file, line: number });
      pieces.push(text.slice(1));
      continue;
    }
    if (pieces) yield { line: number, text: pieces.join('') };
    [number, pieces, length] = [line, [text], text.length];
    if (length > LONGEST_LINE) throw new SourceFault('too-long', { file, line });
  }
  if (pieces) yield { line: number, text: pieces.join('') };
}
