import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { SourceFault } from './items.ts';

/** The bytes of a file in pieces. Throws SourceFault `unreadable`. */
export async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: 65_536 }) as AsyncIterable<Buffer>;
  } catch (error) {
    if (error !== null && typeof error === 'object' && 'syscall' in error && 'code' in error) {
      throw new SourceFault('unreadable', { file: path, what: String(error.code) }, error);
    }
    throw error;
  }
}

/** A file as text in pieces, UTF-8 with or without its mark. Throws SourceFault `unreadable`, `not-utf8`. */
export async function* textOf(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const file = basename(path);
  let bytes = 0;
  const decoded = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw new SourceFault('not-utf8', { file, byte: bytes }, cause);
    }
  };
  for await (const chunk of bytesOf(path)) {
    const text = decoded(chunk);
    bytes += chunk.length;
    if (text !== '') yield text;
  }
  const rest = decoded();
  if (rest !== '') yield rest;
}

/** The longest line or text that is taken: no record of a calendar comes near it, and memory stays bounded. */
export const LONGEST_TEXT = 8 * 2 ** 20;

/** Lines of a file with their numbers, without their ends. Throws SourceFault `too-long` and those of `textOf`. */
export async function* linesOf(path: string): AsyncGenerator<NumberedLine> {
  const tooLong = (line: number) => new SourceFault('too-long', { file: basename(path), line });
  for await (const { line, text } of linesIn(textOf(path), LONGEST_TEXT, tooLong)) yield { line, text: text.replace(/\r$/, '') };
}

export interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

/**
 * The lines of a text that comes in pieces, without the line feeds between them. One that grows beyond `most` letters
 * ends the reading with the error that `tooLong` makes of its number.
 */
export async function* linesIn(
  pieces: AsyncIterable<string>,
  most: number,
  tooLong: (line: number) => Error,
): AsyncGenerator<NumberedLine> {
  let begun: string[] = [];
  let length = 0;
  let line = 0;
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      line += 1;
      yield { line, text: begun.join('') + piece.slice(from, end) };
      [begun, length, from] = [[], 0, end + 1];
    }
    begun.push(piece.slice(from));
    length += piece.length - from;
    if (length > most) throw tooLong(line + 1);
  }
  if (length > 0) yield { line: line + 1, text: begun.join('') };
}
