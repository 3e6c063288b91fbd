/**
 * Compiles TypeScript for Node. The result is cached in a folder until its source changes, since every process of a run
 * loads the same hundreds of files.
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

/** The compiled code of a source file. */
export async function compiled(path) {
  const source = readFileSync(path, 'utf8');
  const file = keptAt(path);
  // The last line contains a digest of the source and the options.
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

/** The source map of a file, given by its name in the stack of an error. */
export const sourceMapOf = (name) => (/^file:.*\.tsx?(\?|$)/.test(name) ? `${keptAt(fileURLToPath(name))}.map` : undefined);

/** Writes a file atomically, since another process may be reading it. */
function write(file, text) {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}
