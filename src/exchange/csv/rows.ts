import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { SourceFault } from '../items/items.ts';
import { type TableText, textOfTable } from './encoding.ts';

/** The cells of a row, and the line on which it ends. */
export interface CsvRow {
  readonly cells: readonly string[];
  readonly line: number;
}

/**
 * Limits for the letters and cells of a row. Longer rows do not occur in calendars: most likely a quote was never
 * closed. Reading stops there.
 */
const MAX_ROW_LETTERS = 2 ** 20;
const MAX_ROW_CELLS = 1000;

/** Encoding, delimiter and rows of a file. */
export interface Table {
  readonly encoding: TableText['encoding'];
  readonly delimiter: string;
  readonly rows: AsyncGenerator<CsvRow>;
}

/**
 * Opens a file with commas, semicolons, tabs or vertical bars as delimiters (RFC 4180). The rows include the header
 * line but no empty lines; their lengths may differ. `isHeader` tells the header line from titles above it, which are
 * left out; if it recognizes none, the whole file is the table.
 *
 * @throws SourceFault `empty` and those of `textOfTable`; while rows are read, `too-long` and `csv-quote` with the line
 * on which the row begins, `csv-malformed`
 */
export async function openTable(path: string, isHeader: (cells: readonly string[]) => boolean): Promise<Table> {
  const { chunks: texts, encoding } = textOfTable(path);
  const first = await texts.next();
  if (first.done) throw new SourceFault('empty', { file: basename(path) });
  const [line = ''] = first.value.split(/\r?\n|\r/, 1);
  const declaredDelimiter = SEPARATOR_LINE.exec(line)?.[1];
  // The line with which a spreadsheet program declares the separator is not a row.
  const text = declaredDelimiter === undefined ? first.value : first.value.slice(line.length);
  const header = findHeader(text, declaredDelimiter, isHeader);
  const delimiter = declaredDelimiter ?? delimiterOf(header?.line ?? line);
  // Titles are replaced by empty lines so that line numbers stay correct.
  const rows = header ? text.slice(0, header.offset).replace(/[^\r\n]+/g, '') + text.slice(header.offset) : text;
  const rowEnds = rowEndsOf(text.slice(header?.offset ?? 0));
  return { encoding, delimiter, rows: rowsOf(basename(path), { delimiter, rowEnds }, prependChunk(rows, texts)) };
}

/**
 * Returns what ends the rows of a table that begins with this text. Tables that several programs have written end them
 * in several ways; but unless the first row ends in CR, a CR alone is part of a cell.
 */
const rowEndsOf = (text: string): readonly string[] => (/\r\n|\n|\r/.exec(text)?.[0] === '\r' ? [...ROW_ENDS, '\r'] : ROW_ENDS);

/** Windows programs that convert line ends twice write the first of them. */
const ROW_ENDS = ['\r\r\n', '\r\n', '\n'];

/** Maximum number of lines before the header line. */
const MAX_LINES_BEFORE_HEADER = 20;

/** Finds the header line of a table and its offset. */
function findHeader(text: string, delimiter: string | undefined, isHeader: (cells: readonly string[]) => boolean) {
  let offset = 0;
  for (const piece of text.split(/(?<=\n|\r(?!\n))/, MAX_LINES_BEFORE_HEADER + 1)) {
    const line = piece.replace(/\r?\n$|\r$/, '').replace(/^\ufeff/, '');
    if (isHeader(line.split(delimiter ?? delimiterOf(line)).map((cell) => cell.replace(/^"|"$/g, '')))) return { offset, line };
    offset += piece.length;
  }
  return undefined;
}

/** `sep=;`, as Excel reads and writes it. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?$/i;

async function* rowsOf(
  file: string,
  { delimiter, rowEnds }: { readonly delimiter: string; readonly rowEnds: readonly string[] },
  texts: AsyncGenerator<string>,
): AsyncGenerator<CsvRow> {
  let lastLine = 0;
  let pairs = 0;
  const options: Options<CsvRow, string[]> = {
    bom: true,
    delimiter,
    record_delimiter: [...rowEnds],
    skip_empty_lines: true,
    // A quotation mark inside an unquoted cell is an ordinary character, as in spreadsheets.
    relax_quotes: true,
    skip_records_with_empty_values: true,
    relax_column_count: true,
    max_record_size: MAX_ROW_LETTERS,
    // `max_record_size` counts letters, so empty cells need a limit of their own.
    cast: (cell, { index }) => {
      if (index >= MAX_ROW_CELLS) throw new SourceFault('too-long', { file, line: lastLine + 1 });
      // The library counts a CRLF within a cell as two lines.
      pairs += cell.split('\r\n').length - 1;
      return cell;
    },
    on_record: (cells, { lines }) => {
      lastLine = lines - pairs;
      // Rows may have different lengths. The library would reject each row whose length differs from the one before.
      (parser.info as { records: number }).records = 0;
      return { cells, line: lastLine };
    },
  };
  // The library's types allow `on_record` to change a record only if columns have names.
  const parser = parse(options as unknown as Options);
  pipeline(Readable.from(texts), parser, () => undefined);
  try {
    yield* parser as AsyncIterable<CsvRow>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const [fault, line] = {
      CSV_MAX_RECORD_SIZE: ['too-long', lastLine + 1] as const,
      CSV_QUOTE_NOT_CLOSED: ['csv-quote', lastLine + 1] as const,
    }[error.code as string] ?? ['csv-malformed', Number(error.lines ?? 0) - pairs];
    throw new SourceFault(fault, { file, line }, error);
  }
}

async function* prependChunk(first: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* texts;
}

/** Returns the delimiter that occurs most often in the first line, outside of quotation marks. */
function delimiterOf(line: string): string {
  const unquoted = line
    .split('"')
    .filter((_, index) => index % 2 === 0)
    .join(' ');
  const count = (sign: string) => unquoted.split(sign).length;
  return [';', '\t', '|'].reduce((best, sign) => (count(sign) > count(best) ? sign : best), ',');
}
