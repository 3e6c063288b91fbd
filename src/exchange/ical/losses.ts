import { type LossEntry, lossEntry } from '../items/report.ts';
import type { CalendarEvent } from './event.ts';
import type { Line } from './lines.ts';

/* Losses of a calendar. `file`: its name in reports. */

interface InFile {
  readonly file: string;
}

/** Returns a loss on a line of a file. `of`: the name of the event. */
export const lossOf = ({ file }: InFile, reason: string, line: number, of: string, detail?: string): LossEntry =>
  lossEntry({ reason, kind: 'event', of, place: `${file}:${line}`, detail });

/** Returns a loss of an event. */
export const lossAt = (inFile: InFile, reason: string, event: CalendarEvent, detail?: string): LossEntry =>
  lossOf(inFile, reason, event.line, event.summary || event.uid, detail);

/** Returns a loss of one line of an event. */
export function lossOfLine(inFile: InFile, reason: string, event: CalendarEvent, { text, line }: Line): LossEntry {
  const { loss } = lossAt(inFile, reason, event, text.slice(0, 80));
  return { kind: 'loss', loss: { ...loss, place: `${inFile.file}:${line}` } };
}
