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

/**
 * Yields the content lines of a calendar file (RFC 5545, 3.1), unfolded, in batches of one chunk of the file each. Rows
 * are joined as bytes, since some programs fold within a character. UTF-16 is recognised by its BOM or its letters. A
 * line that is not UTF-8 is read as Windows-1252, or has its broken characters replaced if the other lines are UTF-8;
 * `encoding` says which.
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
    if (rest.length > MAX_LINE_LENGTH) throw new SourceFault('too-long', { file, line: row + 1 });
    yield linesOf(rows);
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
}

/** Removes the `=` from the end of a row, which marks a soft line break. */
function dropSoftBreak(openLine: OpenLine): void {
  const row = openLine.furtherRows.pop();
  if (row === undefined) openLine.text = openLine.text.slice(0, -1);
  else openLine.furtherRows.push(row.slice(0, -1));
}

/**
 * Joins rows: a blank at the start of a row continues the row before, as does, in quoted-printable text, `=` at the end
 * of a row. `take` returns the line that is complete once a row is read, `end` the last one.
 */
function createUnfolder(file: string): {
  take: (line: number, row: string) => NumberedLine | undefined;
  end: () => NumberedLine | undefined;
} {
  let openLine: OpenLine | undefined;
  const end = (): NumberedLine | undefined =>
    openLine && {
      line: openLine.line,
      text: openLine.furtherRows.length === 0 ? openLine.text : openLine.text + openLine.furtherRows.join(''),
    };
  return {
    take: (line, row) => {
      // Some programs end rows twice, which puts an empty row before each continuation.
      if (row === '' && openLine && !isMarker(openLine.text)) return undefined;
      const isSoft = openLine?.isQuotedPrintable && (openLine.furtherRows.at(-1) ?? openLine.text).endsWith('=');
      const isMore = openLine !== undefined && (isSoft || row.startsWith(' ') || row.startsWith('\t'));
      const finishedLine = isMore ? undefined : end();
      if (openLine && isMore) {
        if (isSoft) dropSoftBreak(openLine);
        openLine.furtherRows.push(isSoft ? row : row.slice(1));
        openLine.length += row.length;
      } else {
        const text = openLine ? row : row.replace(/^(?:\ufeff|\xef\xbb\xbf)+/, '');
        openLine = { line, text, isQuotedPrintable: isQuotedPrintable(text), furtherRows: [], length: text.length };
      }
      if (openLine.length > MAX_LINE_LENGTH) throw new SourceFault('too-long', { file, line: openLine.line });
      return finishedLine;
    },
    end,
  };
}
