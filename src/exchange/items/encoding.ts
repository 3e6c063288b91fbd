import { isUtf8 } from 'node:buffer';
import { SourceFault } from './items.ts';
import { windows1252 } from './windows-1252.ts';

/** How a file says its letters, by the name that WHATWG's Encoding Standard has for it. */
export type Encoding = string;

/** Turns bytes into text, piece by piece; called with undefined at the end. */
export type Decode = (bytes: Buffer | undefined) => string;

/** As much of a file as is looked at for the encoding that it states. */
export const HEAD_BYTES = 65_536;
const SAMPLE_BYTES = 1024;
const UTF8_MARK = Buffer.from('\ufeff');

/**
 * A decoder for a file that begins so: in the encoding that its mark says, UTF-16 where every other byte is 0, else in
 * the one that it states (`label`), else in UTF-8. If the first letter beyond ASCII is none in UTF-8, all is
 * Windows-1252, as older programs write; if it was, and a later one is not, the file is damaged. `assume`: told of the
 * encoding, where the file does not state it.
 *
 * @throws SourceFault when it decodes: `not-utf8` of a damaged file, and of one that states UTF-8 and is not
 */
export function decoderFor(file: string, first: Buffer, assume: (encoding: Encoding) => void, label = ''): Decode {
  const wide = wideEncoding(first);
  if (wide !== undefined) assume(wide);
  const isMarked = first.subarray(0, UTF8_MARK.length).equals(UTF8_MARK);
  const encoding = wide ?? (isMarked ? 'utf-8' : encodingOf(label));
  if (encoding === undefined || encoding === 'utf-8') return narrowDecoder(file, { sure: encoding === 'utf-8', assume });
  // Node 20 reads Windows-1252, which has many labels, as Latin-1.
  if (encoding === 'windows-1252') return western;
  const decoder = new TextDecoder(encoding);
  return (bytes) => decoder.decode(bytes, { stream: bytes !== undefined });
}

/** A decoder for a file that must be in UTF-8. Throws SourceFault `not-utf8`, with the line and the byte. */
export const utf8Decoder = (file: string): Decode => narrowDecoder(file, { sure: true });

/** The encoding of a label; undefined where it has none, or one that bytes which could be read so far are not in. */
function encodingOf(label: string): Encoding | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding.startsWith('utf-16') ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** UTF-16, by the mark that a file begins with, or by the zeros beside letters of ASCII: the first one, or many. */
export function wideEncoding(begin: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const head = begin.subarray(0, SAMPLE_BYTES);
  const [first = 0, second = 0] = head;
  if ((first === 0xff && second === 0xfe) || (isAscii(first) && head[1] === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && isAscii(second))) return 'utf-16be';
  const zeros = (odd: number) => head.filter((byte, place) => place % 2 === odd && byte === 0).length;
  const [even, odd] = [zeros(0), zeros(1)];
  if (odd > head.length / 4 && even === 0) return 'utf-16le';
  return even > head.length / 4 && odd === 0 ? 'utf-16be' : undefined;
}

const isAscii = (byte: number): boolean => byte > 0 && byte < 0x80;

const western: Decode = (bytes) => windows1252(bytes?.toString('latin1') ?? '');

/**
 * UTF-8, or Windows-1252 from the first letter that is none in UTF-8: before it both say the same. `sure`: the file
 * says that it is UTF-8.
 */
function narrowDecoder(file: string, { sure, assume }: { sure: boolean; assume?: (encoding: Encoding) => void }): Decode {
  let switched = false;
  let begun = Buffer.alloc(0);
  let letters = sure;
  let [done, lines] = [0, 0];
  return (bytes) => {
    if (switched) return western(bytes);
    const all = Buffer.concat([begun, bytes ?? Buffer.alloc(0)]);
    // A letter may go on in the next piece.
    const whole = bytes === undefined ? all : all.subarray(0, all.length - unfinishedBytes(all));
    begun = all.subarray(whole.length);
    if (isUtf8(whole)) {
      const text = new TextDecoder('utf-8', { ignoreBOM: done > 0 }).decode(whole);
      done += whole.length;
      lines += lineFeedsIn(whole);
      letters ||= /[^\0-\x7f]/.test(text);
      return text;
    }
    const right = whole.subarray(0, firstWrong(whole));
    if (letters || right.some((byte) => byte > 0x7f))
      throw new SourceFault('not-utf8', { file, line: lines + lineFeedsIn(right) + 1, byte: done + right.length });
    assume?.('windows-1252');
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

/** Where bytes that are no UTF-8 have the first letter that is none. */
function firstWrong(bytes: Buffer): number {
  let [right, wrong] = [0, bytes.length];
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1;
    if (isUtf8(bytes.subarray(0, middle - unfinishedBytes(bytes.subarray(0, middle))))) right = middle;
    else wrong = middle;
  }
  return right - unfinishedBytes(bytes.subarray(0, right));
}

function lineFeedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
