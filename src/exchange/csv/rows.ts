import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { textOf } from '../items/file-text.ts';
import { SourceFault } from '../items/items.ts';

/** The cells of a row, and the line on which it ends. */
export interface CsvRow {
  readonly cells: readonly string[];
  readonly line: number;
}

/** A row with more letters or cells is none of a calendar: most likely a quote was never closed. It is not read any further. */
const LONGEST_ROW = 2 ** 20;
const MOST_CELLS = 1000;

/**
 * Rows of a file that is separated by commas, semicolons or tabs (RFC 4180), the first line included, lines without anything left out.
 *
 * @throws SourceFault `too-long` and `csv-quote` with the line on which the row begins, `csv-columns`, `csv-malformed`, and those of `textOf`
 */
export async function* rowsOf(path: string): AsyncGenerator<CsvRow> {
  const file = basename(path);
  const texts = textOf(path);
  const first = await texts.next();
  if (first.done) return;
  let ended = 0;
  let pairs = 0;
  const options: Options<CsvRow, string[]> = {
    bom: true,
    delimiter: delimiterOf(first.value),
    skip_empty_lines: true,
    max_record_size: LONGEST_ROW,
    // The size counts letters; empty cells have none.
    cast: (cell, { index }) => {
      if (index >= MOST_CELLS) throw new SourceFault('too-long', { file, line: ended + 1 });
      // The library takes the two signs that end a line within a cell for two lines.
      pairs += cell.split('\r\n').length - 1;
      return cell;
    },
    on_record: (cells, { lines }) => {
      ended = lines - pairs;
      return { cells, line: ended };
    },
  };
  // Its types know of records made otherwise only where columns have names.
  const parser = parse(options as unknown as Options);
  pipeline(Readable.from(withFirst(first.value, texts)), parser, () => undefined);
  try {
    yield* parser as AsyncIterable<CsvRow>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const [fault, line] = {
      CSV_MAX_RECORD_SIZE: ['too-long', ended + 1] as const,
      CSV_QUOTE_NOT_CLOSED: ['csv-quote', ended + 1] as const,
      CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: ['csv-columns', Number(error.lines) - pairs] as const,
    }[error.code as string] ?? ['csv-malformed', Number(error.lines ?? 0) - pairs];
    throw new SourceFault(fault, { file, line }, error);
  }
}

async function* withFirst(first: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* texts;
}

/** The sign that stands most often in the first line. */
function delimiterOf(text: string): string {
  const [line = ''] = text.split(/\r?\n/, 1);
  const count = (sign: string) => line.split(sign).length;
  return [';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best), ',');
}
