import { SourceFault } from '../items/items.ts';
import type { Line } from './lines.ts';

/**
 * A part of a calendar: one of its own properties, or a component with its lines between BEGIN and END. `calendar`:
 * index of the calendar in the file, from 0.
 */
export type Part = { readonly calendar: number; readonly line: number } & (
  | { readonly is: 'property'; readonly text: string }
  | { readonly is: 'component'; readonly name: string; readonly lines: readonly Line[] }
  /** Text after a calendar that is not part of one. */
  | { readonly is: 'outside' }
);

/** Limits on the lines of a component and on nesting. */
const MAX_LINES = 20_000;
const MAX_DEPTH = 6;
/** Components that include their nested components. */
const COMPONENTS_KEPT_WHOLE = new Set(['VTIMEZONE']);
const MARKER = /^(BEGIN|END):\s*([\w-]+)\s*$/i;

/**
 * Yields the parts of a file of calendars (RFC 5545, 3.4 and 3.6). Nested components are left out, except in time
 * zones. Events count wherever they occur, and so do calendars within other calendars. Some programs write text after
 * the calendar; it is reported and skipped.
 *
 * @throws SourceFault `ical-none`, `ical-structure`, `ical-truncated`, `ical-deep`, `too-long`, with the line
 */
export async function* partsOf(lines: AsyncIterable<readonly Line[]>, file: string): AsyncGenerator<Part> {
  const read = createComponentReader(file);
  let last = 1;
  for await (const some of lines) {
    for (const line of some) {
      last = line.line;
      const part = read.take(line);
      if (part) yield part;
    }
  }
  read.end(last);
}

/** A component that has begun, and the nesting depth at which it did. */
interface OpenComponent {
  readonly name: string;
  readonly line: number;
  readonly lines: Line[];
  readonly depth: number;
}

/** Creates a reader. Its `take` returns the part that a line completes, if any. */
function createComponentReader(file: string): { take: (line: Line) => Part | undefined; end: (last: number) => void } {
  const open: string[] = [];
  const begun: OpenComponent[] = [];
  /** Indexes of the open calendars; `count` is the number of calendars so far. */
  const calendars: number[] = [];
  let count = 0;
  const at = () => calendars.at(-1) ?? count - 1;
  const fault = (code: ConstructorParameters<typeof SourceFault>[0], line: number, values: object = {}) =>
    new SourceFault(code, { file, line, ...values });

  function begin(name: string, line: number): void {
    if (open.length === 0 && name !== 'VCALENDAR') throw fault('ical-none', line);
    const within = begun.at(-1);
    const isCalendar = name === 'VCALENDAR' && !within;
    open.push(name);
    if (open.length > MAX_DEPTH) throw fault('ical-deep', line);
    if (isCalendar) calendars.push(count++);
    else if (within && COMPONENTS_KEPT_WHOLE.has(within.name)) addLine(within.lines, { line, text: `BEGIN:${name}` }, file);
    else if (!within || name === 'VEVENT') begun.push({ name, line, lines: [], depth: open.length });
  }

  function end(name: string, line: number): Part | undefined {
    // Within a calendar, an END whose name is not open is a typo and closes the innermost component; one that skips an
    // open component is an error.
    if (open.at(-1) !== name && (open.length <= calendars.length || open.includes(name))) throw fault('ical-structure', line, { name });
    const depth = open.length;
    open.pop();
    const within = begun.at(-1);
    if (within?.depth === depth) {
      begun.pop();
      return { is: 'component', calendar: at(), name: within.name, line: within.line, lines: within.lines };
    }
    if (within && COMPONENTS_KEPT_WHOLE.has(within.name)) addLine(within.lines, { line, text: `END:${name}` }, file);
    if (!within) calendars.pop();
    return undefined;
  }

  return {
    take: (content) => {
      const { line, text } = content;
      const [, marker = '', given = ''] = (/^[BE]/i.test(text) && MARKER.exec(text)) || [];
      if (marker !== '') return marker.toUpperCase() === 'END' ? end(given.toUpperCase(), line) : void begin(given.toUpperCase(), line);
      if (text.trim() === '') return undefined;
      if (count === 0) throw fault('ical-none', line);
      if (open.length === 0) return { is: 'outside', calendar: at(), line };
      const within = begun.at(-1);
      if (!within) return { is: 'property', calendar: at(), line, text };
      if (within.depth === open.length || COMPONENTS_KEPT_WHOLE.has(within.name)) addLine(within.lines, content, file);
      return undefined;
    },
    end: (last) => {
      if (open.length > 0) throw fault('ical-truncated', last, { name: open.at(-1)! });
      if (count === 0) throw fault('ical-none', last);
    },
  };
}

function addLine(lines: Line[], line: Line, file: string): void {
  if (lines.length >= MAX_LINES) throw new SourceFault('too-long', { file, line: line.line });
  lines.push(line);
}
