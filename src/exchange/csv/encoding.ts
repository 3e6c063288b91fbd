import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { bytesOf } from '../items/file-text.ts';
import { SourceFault } from '../items/items.ts';
import { windows1252 } from '../items/windows-1252.ts';

/** How a file says its letters. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** The text of a table, in pieces, and the encoding it turned out to be in; known when all is read. */
export interface TableText {
  readonly pieces: AsyncGenerator<string>;
  readonly encoding: () => Encoding;
}

/**
 * Reads a table whose encoding nobody stated: the one that its mark says, UTF-16 where every other byte is 0, else
 * UTF-8. If the first letter beyond ASCII is none in UTF-8, all is Windows-1252, as older spreadsheet programs write;
 * if it was, and a later one is not, the file is damaged.
 *
 * @throws SourceFault when it is read: `csv-workbook` of a file that a spreadsheet program keeps for itself, `not-utf8`
 * of a damaged one, `unreadable`
 */
export function textOfTable(path: string): TableText {
  const file = basename(path);
  let encoding: Encoding = 'utf-8';
  return {
    encoding: () => encoding,
    pieces: (async function* () {
      let decode: ((bytes: Buffer | undefined) => string) | undefined;
      const assume = (assumed: Encoding) => {
        encoding = assumed;
      };
      for await (const bytes of bytesOf(path)) {
        decode ??= decoderFor(file, bytes, assume);
        yield decode(bytes);
      }
      if (decode) yield decode(undefined);
    })(),
  };
}

/** How files begin that hold more than text: archives (.xlsx, .ods) and the older .xls. */
const WORKBOOKS = ['PK\u0003\u0004', '\u00d0\u00cf\u0011\u00e0'].map((mark) => Buffer.from(mark, 'latin1'));
const UTF8_MARK = Buffer.from('\ufeff');
const HEAD_BYTES = 1024;

/** A decoder for a file that begins so; called with undefined at the end. */
function decoderFor(file: string, first: Buffer, assume: (encoding: Encoding) => void): (bytes: Buffer | undefined) => string {
  if (WORKBOOKS.some((mark) => first.subarray(0, mark.length).equals(mark))) throw new SourceFault('csv-workbook', { file });
  const wide = wideEncoding(first.subarray(0, HEAD_BYTES));
  if (wide === undefined) return narrowDecoder(file, first.subarray(0, UTF8_MARK.length).equals(UTF8_MARK), assume);
  assume(wide);
  const decoder = new TextDecoder(wide);
  return (bytes) => decoder.decode(bytes, { stream: bytes !== undefined });
}

/** UTF-16, by its mark or by the zeros beside letters of ASCII. */
function wideEncoding(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  const zeros = (odd: number) => head.filter((byte, place) => place % 2 === odd && byte === 0).length;
  const [even, odd] = [zeros(0), zeros(1)];
  if (odd > head.length / 4 && even === 0) return 'utf-16le';
  return even > head.length / 4 && odd === 0 ? 'utf-16be' : undefined;
}

/**
 * UTF-8, or Windows-1252 from the first letter that is none in UTF-8: before it both say the same. `sure`: the file
 * says that it is UTF-8.
 */
function narrowDecoder(file: string, sure: boolean, assume: (encoding: Encoding) => void): (bytes: Buffer | undefined) => string {
  const western = (bytes: Buffer | undefined): string => windows1252(bytes?.toString('latin1') ?? '');
  let switched = false;
  let begun = Buffer.alloc(0);
  let letters = sure;
  let done = 0;
  return (bytes) => {
    if (switched) return western(bytes);
    const all = bytes === undefined ? begun : Buffer.concat([begun, bytes]);
    // A letter may go on in the next piece.
    const whole = bytes === undefined ? all : all.subarray(0, all.length - unfinishedBytes(all));
    begun = all.subarray(whole.length);
    const text = new TextDecoder('utf-8', { ignoreBOM: done > 0 }).decode(whole);
    if (isUtf8(whole)) {
      done += whole.length;
      letters ||= /[^\0-\x7f]/.test(text);
      return text;
    }
    const before = text.slice(0, text.indexOf('\ufffd'));
    if (letters || /[^\0-\x7f]/.test(before)) throw new SourceFault('not-utf8', { file, byte: done + Buffer.byteLength(before) });
    assume('windows-1252');
    switched = true;
    return western(all);
  };
}

/** How many bytes at the end begin a letter of UTF-8 that is longer. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}
