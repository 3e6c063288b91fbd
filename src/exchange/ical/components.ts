import { SourceFault } from '../items/items.ts';
import type { Line } from './lines.ts';

/**
 * A part of a calendar: a property of its own, or a component with its lines between BEGIN and END. `calendar`: the how
 * many-th of the file, from 0.
 */
export type Part = { readonly calendar: number; readonly line: number } & (
  | { readonly is: 'property'; readonly text: string }
  | { readonly is: 'component'; readonly name: string; readonly lines: readonly Line[] }
  /** Text behind a calendar that is no calendar. */
  | { readonly is: 'outside' }
);

/** No component has more lines, and none lies deeper. */
const MOST_LINES = 20_000;
const DEEPEST = 6;
/** Components whose inner ones are of interest. */
const NESTED = new Set(['VTIMEZONE']);
const MARKER = /^(BEGIN|END):\s*([\w-]+)\s*$/i;

/**
 * The parts of a file of calendars (RFC 5545, 3.4 and 3.6), one at a time. What lies inside a component is left out,
 * but for zones. Some programs write text behind the calendar; it is told and passed over.
 *
 * @throws SourceFault `ical-none`, `ical-structure`, `ical-truncated`, `ical-deep`, `too-long`, saying where
 */
export async function* partsOf(lines: AsyncIterable<readonly Line[]>, file: string): AsyncGenerator<Part> {
  const open: string[] = [];
  let inside: { name: string; line: number; lines: Line[] } | undefined;
  let last = 1;
  let calendars = 0;
  for await (const some of lines) {
    for (const content of some) {
      const { line, text } = content;
      last = line;
      const calendar = calendars - 1;
      const [, marker = '', given = ''] = (/^[BE]/i.test(text) && MARKER.exec(text)) || [];
      const name = given.toUpperCase();
      if (marker === '') {
        if (text.trim() === '') continue;
        if (open.length === 0 && calendars === 0) throw new SourceFault('ical-none', { file, line });
        if (open.length === 0) yield { is: 'outside', calendar, line };
        else if (open.length === 1) yield { is: 'property', calendar, line, text };
        else if (inside && (open.length === 2 || NESTED.has(inside.name))) add(inside.lines, content, file);
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
      // Inside a calendar, a name that nothing has is a slip of the pen; what is open further out is not closed by the
      // way.
      if (open.at(-1) !== name && (open.length < 2 || open.includes(name))) throw new SourceFault('ical-structure', { file, line, name });
      open.pop();
      if (open.length === 1 && inside) {
        yield { is: 'component', calendar, ...inside };
        inside = undefined;
      } else if (inside && NESTED.has(inside.name)) add(inside.lines, { line, text: `END:${name}` }, file);
    }
  }
  if (open.length > 0) throw new SourceFault('ical-truncated', { file, line: last, name: open.at(-1)! });
  if (calendars === 0) throw new SourceFault('ical-none', { file, line: last });
}

function add(lines: Line[], line: Line, file: string): void {
  if (lines.length >= MOST_LINES) throw new SourceFault('too-long', { file, line: line.line });
  lines.push(line);
}
