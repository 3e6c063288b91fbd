import { basename } from 'node:path';
import { type Decode, decoderFor, type Encoding } from '../items/encoding.ts';
import { bytesOf } from '../items/file-text.ts';
import { SourceFault } from '../items/items.ts';

/** The text of a table, in chunks, and its detected encoding, which is final once all chunks have been read. */
export interface TableText {
  readonly chunks: AsyncGenerator<string>;
  readonly encoding: () => Encoding;
}

/**
 * Reads a table whose encoding is not declared and detects the encoding from its bytes.
 *
 * @throws SourceFault while reading: `csv-workbook` for a spreadsheet program's own format, `not-utf8` for a damaged
 * file, `unreadable`
 */
export function textOfTable(path: string): TableText {
  const file = basename(path);
  let encoding: Encoding = 'utf-8';
  return {
    encoding: () => encoding,
    chunks: (async function* () {
      let decode: Decode | undefined;
      const assume = (guess: Encoding) => {
        encoding = guess;
      };
      for await (const bytes of bytesOf(path)) {
        if (!decode) refuseWorkbook(file, bytes);
        decode ??= decoderFor(file, bytes, assume);
        yield decode(bytes);
      }
      if (decode) yield decode(undefined);
    })(),
  };
}

/** First bytes of files that are not text: archives (.xlsx, .ods) and the older .xls. */
const WORKBOOK_MARKS = ['PK\u0003\u0004', '\u00d0\u00cf\u0011\u00e0'].map((mark) => Buffer.from(mark, 'latin1'));

function refuseWorkbook(file: string, first: Buffer): void {
  if (WORKBOOK_MARKS.some((mark) => first.subarray(0, mark.length).equals(mark))) throw new SourceFault('csv-workbook', { file });
}
