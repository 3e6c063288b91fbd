import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { SourceFault } from './items.ts';

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
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 65_536 }) as AsyncIterable<Buffer>) {
      const text = decoded(chunk);
      bytes += chunk.length;
      if (text !== '') yield text;
    }
  } catch (error) {
    if (error !== null && typeof error === 'object' && 'syscall' in error && 'code' in error) {
      throw new SourceFault('unreadable', { file: path, what: String(error.code) }, error);
    }
    throw error;
  }
  const rest = decoded();
  if (rest !== '') yield rest;
}

/** The longest line or text that is taken: no record of a calendar comes near it, and memory stays bounded. */
export const LONGEST_TEXT = 8 * 2 ** 20;

/** Lines of a file with their numbers, without their ends. Throws SourceFault `too-long` and those of `textOf`. */
export async function* linesOf(path: string): AsyncGenerator<{ line: number; text: string }> {
  let rest = '';
  let line = 0;
  for await (const text of textOf(path)) {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      line += 1;
      yield { line, text: part.replace(/\r$/, '') };
    }
    if (rest.length > LONGEST_TEXT) throw new SourceFault('too-long', { file: basename(path), line: line + 1 });
  }
  if (rest !== '') yield { line: line + 1, text: rest };
}
