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
  const reader = createComponentReader(file);
  let lastLine = 1;
  for await (const batch of lines) {
    for (const line of batch) {
      lastLine = line.line;
      const part = reader.take(line);
      if (part) yield part;
    }
  }
  reader.end(lastLine);
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
  const openNames: string[] = [];
  const openComponents: OpenComponent[] = [];
  /** Indexes of the open calendars; `count` is the number of calendars so far. */
  const calendars: number[] = [];
  let count = 0;
  const currentCalendar = () => calendars.at(-1) ?? count - 1;
  const fault = (code: ConstructorParameters<typeof SourceFault>[0], line: number, values: object = {}) =>
    new SourceFault(code, { file, line, ...values });

  function begin(name: string, line: number): void {
    if (openNames.length === 0 && name !== 'VCALENDAR') throw fault('ical-none', line);
    const innermost = openComponents.at(-1);
    const isCalendar = name === 'VCALENDAR' && !innermost;
    openNames.push(name);
    if (openNames.length > MAX_DEPTH) throw fault('ical-deep', line);
    if (isCalendar) calendars.push(count++);
    else if (innermost && COMPONENTS_KEPT_WHOLE.has(innermost.name)) addLine(innermost.lines, { line, text: `BEGIN:${name}` }, file);
    else if (!innermost || name === 'VEVENT') openComponents.push({ name, line, lines: [], depth: openNames.length });
  }

  function end(name: string, line: number): Part | undefined {
    // Within a calendar, an END whose name is not open is a typo and closes the innermost component; one that skips an
    // open component is an error.
    if (openNames.at(-1) !== name && (openNames.length <= calendars.length || openNames.includes(name)))
      throw fault('ical-structure', line, { name });
    const depth = openNames.length;
    openNames.pop();
    const innermost = openComponents.at(-1);
    if (innermost?.depth === depth) {
      openComponents.pop();
      return { is: 'component', calendar: currentCalendar(), name: innermost.name, line: innermost.line, lines: innermost.lines };
    }
    if (innermost && COMPONENTS_KEPT_WHOLE.has(innermost.name)) addLine(innermost.lines, { line, text: `END:${name}` }, file);
    if (!innermost) calendars.pop();
    return undefined;
  }

  return {
    take: (written) => {
      const content = withPlainName(written);
      const { line, text } = content;
      const [, marker = '', componentName = ''] = (/^[BE]/i.test(text) && MARKER.exec(text)) || [];
      if (marker !== '')
        return marker.toUpperCase() === 'END' ? end(componentName.toUpperCase(), line) : void begin(componentName.toUpperCase(), line);
      if (text.trim() === '') return undefined;
      if (count === 0) throw fault('ical-none', line);
      if (openNames.length === 0) return { is: 'outside', calendar: currentCalendar(), line };
      const innermost = openComponents.at(-1);
      if (!innermost) return { is: 'property', calendar: currentCalendar(), line, text };
      if (innermost.depth === openNames.length || COMPONENTS_KEPT_WHOLE.has(innermost.name)) addLine(innermost.lines, content, file);
      return undefined;
    },
    end: (last) => {
      if (openNames.length > 0) throw fault('ical-truncated', last, { name: openNames.at(-1)! });
      if (count === 0) throw fault('ical-none', last);
    },
  };
}

/** Removes the blanks that some programs write after a property name. */
const withPlainName = (line: Line): Line => {
  const text = line.text.replace(/^([A-Za-z0-9-]+)[ \t]+(?=[;:])/, '$1');
  return text === line.text ? line : { ...line, text };
};

function addLine(lines: Line[], line: Line, file: string): void {
  if (lines.length >= MAX_LINES) throw new SourceFault('too-long', { file, line: line.line });
  lines.push(line);
}
