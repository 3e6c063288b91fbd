import { utf16EncodingOf } from '../items/encoding.ts';
import type { NumberedLine } from '../items/file-text.ts';
import { SourceFault } from '../items/items.ts';
import { decodeWindows1252 } from '../items/windows-1252.ts';
import { fromQuotedPrintable, isQuotedPrintable } from './vcalendar.ts';

/** A logical line of a file, with its folded rows joined, and the number of its first row. */
export interface Line {
  readonly line: number;
  readonly text: string;
  /** Set if the line is not valid UTF-8: the way in which it was read instead. */
  readonly encoding?: OtherEncoding;
}

/** `damaged`: UTF-8 with broken characters, which were replaced by U+FFFD. */
export type OtherEncoding = 'windows-1252' | 'damaged';

/** Maximum length of a line; no text of a calendar is longer. */
const MAX_LINE_LENGTH = 2 ** 20;
/** Length from which the rest of a line is dropped if it is a file within the calendar, which is not imported. */
const MAX_INLINE_LENGTH = 2 ** 13;
/** An attachment or image that contains its file (RFC 5545, 3.8.1.1), of any size, instead of its address. */
const INLINE = /^(?:ATTACH|IMAGE)(?=[;:])(?:[^:"]|"[^"]*")*?(?:;ENCODING="?B(?:ASE64)?\b|;VALUE="?BINARY\b|:\s*data:)/i;

/**
 * Yields the content lines of a calendar file (RFC 5545, 3.1), unfolded, in batches of one chunk of the file each. Rows
 * are joined as bytes, since some programs fold within a character. Of a file within the calendar, only the beginning
 * is kept. UTF-16 is recognised by its BOM or its letters. A line that is not UTF-8 is read as Windows-1252, or has its
 * broken characters replaced if the other lines are UTF-8; `encoding` says which.
 *
 * @throws SourceFault `too-long`
 */
export async function* calendarLines(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Line[]> {
  const { texts, decode } = await decodeChunks(chunks);
  const unfold = createUnfolder(file);
  // Unfinished row at the end of a chunk, possibly with a CR whose LF is in the next chunk.
  let [rest, row] = ['', 0];
  const linesOf = (rows: readonly string[]): Line[] => {
    const lines: Line[] = [];
    for (const text of rows) {
      row += 1;
      const finishedLine = unfold.take(row, text);
      if (finishedLine) lines.push({ line: finishedLine.line, ...decode(finishedLine.text) });
    }
    return lines;
  };
  for await (const chunk of texts) {
    const rows = (rest + chunk).split(chunk.endsWith('\r') ? COMPLETE_ROW_END : ROW_END);
    rest = rows.pop() ?? '';
    yield linesOf(rows);
    // A CR at the end may still be followed by its LF.
    if (rest.length > MAX_INLINE_LENGTH && unfold.isInline(rest))
      rest = rest.slice(0, MAX_INLINE_LENGTH) + (rest.endsWith('\r') ? '\r' : '');
    if (rest.length > MAX_LINE_LENGTH) throw new SourceFault('too-long', { file, line: row + 1 });
  }
  const lastLines = linesOf(rest.split(ROW_END));
  const finishedLine = unfold.end();
  yield finishedLine ? [...lastLines, { line: finishedLine.line, ...decode(finishedLine.text) }] : lastLines;
}

/** Rows end in CRLF, LF or CR. A CR at the end of a chunk may be the first half of a CRLF. */
const ROW_END = /\r\n|\n|\r/;
const COMPLETE_ROW_END = /\r\n|\n|\r(?!$)/;

type Decode = (text: string) => { readonly text: string; readonly encoding?: OtherEncoding };

/**
 * Decodes chunks to text. Unless they are UTF-16, each byte becomes one letter until its line is complete; `decode`
 * then decodes that line.
 */
async function decodeChunks(chunks: AsyncIterable<Uint8Array>): Promise<{ texts: AsyncIterable<string>; decode: Decode }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  const allChunks = async function* (): AsyncGenerator<Uint8Array> {
    for (let next = first; !next.done; next = await iterator.next()) yield next.value;
  };
  const wide = first.done ? undefined : utf16EncodingOf(first.value);
  return wide === undefined
    ? { texts: mapAsync(allChunks(), (piece) => Buffer.from(piece).toString('latin1')), decode: lineOfBytes }
    : { texts: decodeUtf16(allChunks(), wide), decode: (text) => ({ text }) };
}

async function* decodeUtf16(chunks: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

async function* mapAsync<From, To>(values: AsyncIterable<From>, map: (value: From) => To): AsyncGenerator<To> {
  for await (const value of values) yield map(value);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function lineOfBytes(line: string): ReturnType<Decode> {
  const { bytes: text, charset } = isQuotedPrintable(line) ? fromQuotedPrintable(line) : { bytes: line };
  if (!/[\x80-\xff]/.test(text)) return { text };
  const declaredText = charset === undefined ? undefined : decodedAs(charset, text);
  if (declaredText !== undefined) return { text: declaredText };
  const bytes = Buffer.from(text, 'latin1');
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    const lenientText = lenientUtf8.decode(bytes);
    const brokenCount = lenientText.match(/\ufffd/g)?.length ?? 0;
    const intactCount = lenientText.match(/[\x80-\ufffc]/g)?.length ?? 0;
    return intactCount >= brokenCount
      ? { text: lenientText, encoding: 'damaged' }
      : { text: decodeWindows1252(text), encoding: 'windows-1252' };
  }
}

/** Decodes bytes in the charset that the line declares; returns undefined if the charset is unknown or wrong. */
function decodedAs(charset: string, text: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return undefined;
  }
}

const isMarker = (text: string): boolean => /^(?:BEGIN|END):/i.test(text);

/** A line whose rows are being joined. */
interface OpenLine {
  readonly line: number;
  text: string;
  /** Whether its text is quoted-printable. Computed once, since many rows may follow a long one. */
  readonly isQuotedPrintable: boolean;
  readonly furtherRows: string[];
  length: number;
  /** Number of empty rows since its last one. */
  gaps: number;
  /** Whether it contains a file. Known once the line is too long for anything else that a parameter may state. */
  isInline: boolean | undefined;
}

/** Returns a line of which the first row was read. */
function lineFrom(line: number, row: string): OpenLine {
  const isInline = row.length > MAX_INLINE_LENGTH ? containsFile(row) : undefined;
  const text = isInline ? row.slice(0, MAX_INLINE_LENGTH) : row;
  return { line, text, isQuotedPrintable: isQuotedPrintable(text), furtherRows: [], length: text.length, gaps: 0, isInline };
}

const isSoft = ({ isQuotedPrintable, furtherRows, text }: OpenLine): boolean =>
  isQuotedPrintable && (furtherRows.at(-1) ?? text).endsWith('=');

/** Removes the `=` from the end of a row, which marks a soft line break. */
function dropSoftBreak(openLine: OpenLine): void {
  const row = openLine.furtherRows.pop();
  if (row === undefined) openLine.text = openLine.text.slice(0, -1);
  else openLine.furtherRows.push(row.slice(0, -1));
}

/** The beginning of a property, as a row after an empty one. */
const PROPERTY_START = /^[A-Z][A-Z0-9-]*[;:]/;

/** Adds a row to a line, unless the line contains a file. */
function addRow(openLine: OpenLine, row: string): void {
  openLine.gaps = 0;
  if (openLine.length + row.length > MAX_INLINE_LENGTH) openLine.isInline ??= containsFile(textOf(openLine) + row);
  if (openLine.isInline) return;
  openLine.furtherRows.push(row);
  openLine.length += row.length;
}

/** Whether a line that is longer than any parameter contains a file. */
const containsFile = (text: string): boolean => INLINE.test(text.slice(0, MAX_INLINE_LENGTH));

const textOf = ({ text, furtherRows }: OpenLine): string => (furtherRows.length === 0 ? text : text + furtherRows.join(''));

interface Unfolder {
  /** Takes a row, and returns the line that is complete with it. */
  readonly take: (line: number, row: string) => NumberedLine | undefined;
  /** Returns the last line. */
  readonly end: () => NumberedLine | undefined;
  /** Whether an unfinished row belongs to a line that contains a file. */
  readonly isInline: (row: string) => boolean;
}

/**
 * Joins rows: a blank at the start of a row continues the row before, as does, in quoted-printable text, `=` at the end
 * of a row, unless an empty row and a property follow, as older versions of Outlook end such texts.
 */
function createUnfolder(file: string): Unfolder {
  let openLine: OpenLine | undefined;
  let lastRow = '';
  // Some programs end rows twice, which puts an empty row before each one.
  let endsTwice = true;
  const continues = (row: string): boolean =>
    openLine !== undefined &&
    (isSoft(openLine) ? openLine.gaps <= Number(endsTwice) || !PROPERTY_START.test(row) : row.startsWith(' ') || row.startsWith('\t'));
  const end = (): NumberedLine | undefined => openLine && { line: openLine.line, text: textOf(openLine) };
  return {
    take: (line, row) => {
      if (row !== '' && lastRow !== '') endsTwice = false;
      lastRow = row;
      if (row === '' && openLine && !isMarker(openLine.text)) {
        openLine.gaps += 1;
        return undefined;
      }
      const [isMore, isAfterSoft] = [continues(row), openLine !== undefined && isSoft(openLine)];
      if (openLine && isAfterSoft) dropSoftBreak(openLine);
      const finishedLine = isMore ? undefined : end();
      if (openLine && isMore) addRow(openLine, isAfterSoft ? row : row.slice(1));
      else openLine = lineFrom(line, openLine ? row : row.replace(/^(?:\ufeff|\xef\xbb\xbf)+/, ''));
      if (openLine.length > MAX_LINE_LENGTH) throw new SourceFault('too-long', { file, line: openLine.line });
      return finishedLine;
    },
    end,
    isInline: (row) => (openLine && continues(row) ? (openLine.isInline ?? containsFile(textOf(openLine) + row)) : containsFile(row)),
  };
}
