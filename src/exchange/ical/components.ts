import { SourceFault } from '../items/items.ts';
import type { Line } from './lines.ts';

/**
 * A part of a calendar: a property of its own, or a component with its lines between BEGIN and END. `calendar`: its
 * calendar's place in the file, from 0.
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
/** Components whose inner ones belong to them. */
const WHOLE = new Set(['VTIMEZONE']);
const MARKER = /^(BEGIN|END):\s*([\w-]+)\s*$/i;

/**
 * The parts of a file of calendars (RFC 5545, 3.4 and 3.6), one at a time. What lies inside a component is left out,
 * but for zones, events and calendars: an event is one wherever it stands, and so is a calendar within another. Some
 * programs write text behind the calendar; it is reported and passed over.
 *
 * @throws SourceFault `ical-none`, `ical-structure`, `ical-truncated`, `ical-deep`, `too-long`, saying where
 */
export async function* partsOf(lines: AsyncIterable<readonly Line[]>, file: string): AsyncGenerator<Part> {
  const read = createReader(file);
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

/** A component that has begun, and how many are open with it. */
interface Begun {
  readonly name: string;
  readonly line: number;
  readonly lines: Line[];
  readonly depth: number;
}

/** `take` gives the part that a line ends. */
function createReader(file: string): { take: (line: Line) => Part | undefined; end: (last: number) => void } {
  const open: string[] = [];
  const begun: Begun[] = [];
  /** Those that are open, and how many there were. */
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
    if (open.length > DEEPEST) throw fault('ical-deep', line);
    if (isCalendar) calendars.push(count++);
    else if (within && WHOLE.has(within.name)) add(within.lines, { line, text: `BEGIN:${name}` }, file);
    else if (!within || name === 'VEVENT') begun.push({ name, line, lines: [], depth: open.length });
  }

  function end(name: string, line: number): Part | undefined {
    // Inside a calendar, an END that names nothing open is a typo and ends the innermost; one that skips a component is
    // a fault.
    if (open.at(-1) !== name && (open.length <= calendars.length || open.includes(name))) throw fault('ical-structure', line, { name });
    const depth = open.length;
    open.pop();
    const within = begun.at(-1);
    if (within?.depth === depth) {
      begun.pop();
      return { is: 'component', calendar: at(), name: within.name, line: within.line, lines: within.lines };
    }
    if (within && WHOLE.has(within.name)) add(within.lines, { line, text: `END:${name}` }, file);
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
      if (within.depth === open.length || WHOLE.has(within.name)) add(within.lines, content, file);
      return undefined;
    },
    end: (last) => {
      if (open.length > 0) throw fault('ical-truncated', last, { name: open.at(-1)! });
      if (count === 0) throw fault('ical-none', last);
    },
  };
}

function add(lines: Line[], line: Line, file: string): void {
  if (lines.length >= MOST_LINES) throw new SourceFault('too-long', { file, line: line.line });
  lines.push(line);
}
