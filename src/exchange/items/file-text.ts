import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { codeOf, isObject } from '../../objects.ts';
import { type Decode, decoderFor, HEAD_BYTES, utf8Decoder } from './encoding.ts';
import { SourceFault } from './items.ts';

/** Yields the bytes of a file in chunks. Throws SourceFault `unreadable`. */
export async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: HEAD_BYTES }) as AsyncIterable<Buffer>;
  } catch (error) {
    if (isObject(error) && 'syscall' in error) {
      throw new SourceFault('unreadable', { file: path, what: codeOf(error) }, error);
    }
    throw error;
  }
}

/**
 * A text in chunks, and whether it was read as Windows-1252 although it does not declare that; known once all chunks
 * are read.
 */
export interface FileText {
  readonly chunks: AsyncGenerator<string>;
  readonly isAssumed: () => boolean;
}

/**
 * Reads a file that may declare its encoding. `labelOf` finds the encoding's label in the first bytes. Throws
 * SourceFault `unreadable`, and `not-utf8` if the file is damaged.
 */
export function readDeclaredText(path: string, labelOf: (head: Buffer) => string | undefined): FileText {
  let isAssumed = false;
  const assume = (encoding: string) => {
    isAssumed = encoding === 'windows-1252';
  };
  return {
    chunks: decodedChunks(path, (first) => decoderFor(basename(path), first, assume, labelOf(first))),
    isAssumed: () => isAssumed,
  };
}

async function* decodedChunks(path: string, decoderOf: (first: Buffer) => Decode): AsyncGenerator<string> {
  let decode: Decode | undefined;
  for await (const bytes of bytesOf(path)) {
    decode ??= decoderOf(bytes);
    const text = decode(bytes);
    if (text !== '') yield text;
  }
  const rest = decode?.(undefined) ?? '';
  if (rest !== '') yield rest;
}

/** Maximum length of a line or text. No record of a calendar comes near it; it limits the memory that is used. */
export const MAX_TEXT_LENGTH = 8 * 2 ** 20;

/**
 * Yields the lines of a UTF-8 file with their numbers, without line endings. Throws SourceFault `too-long`,
 * `unreadable`, `not-utf8`.
 */
export async function* linesOf(path: string): AsyncGenerator<NumberedLine> {
  const tooLong = (line: number) => new SourceFault('too-long', { file: basename(path), line });
  const pieces = decodedChunks(path, () => utf8Decoder(basename(path)));
  for await (const { line, text } of linesIn(pieces, MAX_TEXT_LENGTH, tooLong)) yield { line, text: text.replace(/\r$/, '') };
}

export interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

/**
 * Yields the lines of a text in chunks, without line feeds. A line above `maxLength` letters throws the error that
 * `tooLong` returns for its number.
 */
export async function* linesIn(
  pieces: AsyncIterable<string>,
  maxLength: number,
  makeError: (line: number) => Error,
): AsyncGenerator<NumberedLine> {
  let lineParts: string[] = [];
  let length = 0;
  let line = 0;
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      line += 1;
      yield { line, text: lineParts.join('') + piece.slice(from, end) };
      [lineParts, length, from] = [[], 0, end + 1];
    }
    lineParts.push(piece.slice(from));
    length += piece.length - from;
    if (length > maxLength) throw makeError(line + 1);
  }
  if (length > 0) yield { line: line + 1, text: lineParts.join('') };
}
