/**
 * TypeScript to what Node runs. The result is kept in a folder until its source changes: every process of a run loads
 * the same hundreds of files.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/sources', import.meta.url));
const OPTIONS = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', tsx: true },
    transform: { react: { runtime: 'automatic', importSource: 'preact' } },
  },
  module: { type: 'es6' },
  sourceMaps: true,
};

const digest = (text) => createHash('sha1').update(text).digest('hex');
const keptAt = (path) => join(FOLDER, `${digest(path)}.js`);

/** The program of a source file. */
export async function compiled(path) {
  const source = readFileSync(path, 'utf8');
  const file = keptAt(path);
  // The last line says what it was made of.
  const mark = `\n//${digest(JSON.stringify(OPTIONS) + source)}`;
  const kept = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (kept.endsWith(mark)) return kept;
  const { transform } = await import('@swc/core');
  const { code, map } = await transform(source, { ...OPTIONS, filename: path, sourceFileName: pathToFileURL(path).href });
  mkdirSync(FOLDER, { recursive: true });
  write(`${file}.map`, map);
  write(file, code + mark);
  return code;
}

/** The file that tells the lines of a source, by the name that it has in the stack of an error. */
export const sourceMapOf = (name) => (/^file:.*\.tsx?(\?|$)/.test(name) ? `${keptAt(fileURLToPath(name))}.map` : undefined);

/** Another process may be reading. */
function write(file, text) {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}
