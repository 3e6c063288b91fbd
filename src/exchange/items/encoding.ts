import { isUtf8 } from 'node:buffer';
import { SourceFault } from './items.ts';
import { decodeWindows1252 } from './windows-1252.ts';

/** Character encoding of a file, by its name in WHATWG's Encoding Standard. */
export type Encoding = string;

/** Decodes bytes to text, chunk by chunk; called with undefined at the end. */
export type Decode = (bytes: Buffer | undefined) => string;

/** Number of bytes at the start of a file that are searched for a declared encoding. */
export const HEAD_BYTES = 65_536;
const SAMPLE_BYTES = 1024;
const UTF8_BOM = Buffer.from('\ufeff');

/**
 * Returns a decoder for a file that begins with these bytes. It uses the encoding of a BOM; otherwise UTF-16 if every
 * other byte is 0; otherwise the declared one (`label`); otherwise UTF-8. If the first non-ASCII character is invalid
 * in UTF-8, the whole file is read as Windows-1252, which older programs write; if a later one is invalid, the file is
 * damaged. `assume` is called with the encoding if the file does not declare it.
 *
 * @throws SourceFault while decoding: `not-utf8` if the file is damaged, or declares UTF-8 without being UTF-8
 */
export function decoderFor(file: string, first: Buffer, assume: (encoding: Encoding) => void, label = ''): Decode {
  const utf16 = utf16EncodingOf(first);
  if (utf16 !== undefined) assume(utf16);
  const isMarked = first.subarray(0, UTF8_BOM.length).equals(UTF8_BOM);
  const encoding = utf16 ?? (isMarked ? 'utf-8' : encodingOf(label));
  if (encoding === undefined || encoding === 'utf-8') return singleByteFallbackDecoder(file, { isDeclared: encoding === 'utf-8', assume });
  // Node 20 decodes Windows-1252, which has many labels, as Latin-1.
  if (encoding === 'windows-1252') return decodeWestern;
  const decoder = new TextDecoder(encoding);
  return (bytes) => decoder.decode(bytes, { stream: bytes !== undefined });
}

/** Returns a decoder for a file that must be UTF-8. Throws SourceFault `not-utf8`, with the line and the byte. */
export const utf8Decoder = (file: string): Decode => singleByteFallbackDecoder(file, { isDeclared: true });

/** Returns the encoding in the XML declaration at the start of a document. */
export const xmlEncoding = (head: Buffer): string | undefined =>
  /^(?:\xef\xbb\xbf)?\s*<\?xml\s[^>]{0,100}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head.toString('latin1', 0, 500))?.[1];

/**
 * Returns the encoding of a label; undefined if it is unknown, or is UTF-16, which the bytes have ruled out already.
 */
function encodingOf(label: string): Encoding | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding.startsWith('utf-16') ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** Detects UTF-16 by the BOM, or by zero bytes next to ASCII letters: next to the first letter, or many of them. */
export function utf16EncodingOf(begin: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const head = begin.subarray(0, SAMPLE_BYTES);
  const [first = 0, second = 0] = head;
  if ((first === 0xff && second === 0xfe) || (isAscii(first) && head[1] === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && isAscii(second))) return 'utf-16be';
  const zeros = (parity: number) => head.filter((byte, index) => index % 2 === parity && byte === 0).length;
  const [even, odd] = [zeros(0), zeros(1)];
  if (odd > head.length / 4 && even === 0) return 'utf-16le';
  return even > head.length / 4 && odd === 0 ? 'utf-16be' : undefined;
}

const isAscii = (byte: number): boolean => byte > 0 && byte < 0x80;

const decodeWestern: Decode = (bytes) => decodeWindows1252(bytes?.toString('latin1') ?? '');

/**
 * Decodes UTF-8, or Windows-1252 from the first invalid character on; before it, both are the same. `isDeclared`: the
 * file declares UTF-8.
 */
function singleByteFallbackDecoder(
  file: string,
  { isDeclared, assume }: { isDeclared: boolean; assume?: (encoding: Encoding) => void },
): Decode {
  let switched = false;
  let pendingBytes = Buffer.alloc(0);
  let letters = isDeclared;
  let [byteCount, lines] = [0, 0];
  return (bytes) => {
    if (switched) return decodeWestern(bytes);
    const all = Buffer.concat([pendingBytes, bytes ?? Buffer.alloc(0)]);
    // A character may continue in the next chunk.
    const chunk = bytes === undefined ? all : all.subarray(0, all.length - incompleteBytes(all));
    pendingBytes = all.subarray(chunk.length);
    if (isUtf8(chunk)) {
      const text = new TextDecoder('utf-8', { ignoreBOM: byteCount > 0 }).decode(chunk);
      byteCount += chunk.length;
      lines += lineFeedsIn(chunk);
      letters ||= /[^\0-\x7f]/.test(text);
      return text;
    }
    const validBytes = chunk.subarray(0, firstInvalidByte(chunk));
    if (letters || validBytes.some((byte) => byte > 0x7f))
      throw new SourceFault('not-utf8', { file, line: lines + lineFeedsIn(validBytes) + 1, byte: byteCount + validBytes.length });
    assume?.('windows-1252');
    switched = true;
    return decodeWestern(all);
  };
}

/** Returns the number of bytes at the end that begin an incomplete UTF-8 character. */
function incompleteBytes(bytes: Buffer): number {
  for (let distance = 1; distance <= Math.min(3, bytes.length); distance += 1) {
    const byte = bytes[bytes.length - distance]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return distance < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? distance : 0;
  }
  return 0;
}

/** Returns the offset of the first invalid UTF-8 character. */
function firstInvalidByte(bytes: Buffer): number {
  let [validEnd, invalidEnd] = [0, bytes.length];
  while (invalidEnd - validEnd > 1) {
    const middle = (validEnd + invalidEnd) >> 1;
    if (isUtf8(bytes.subarray(0, middle - incompleteBytes(bytes.subarray(0, middle))))) validEnd = middle;
    else invalidEnd = middle;
  }
  return validEnd - incompleteBytes(bytes.subarray(0, validEnd));
}

function lineFeedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
