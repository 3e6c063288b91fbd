/**
 * Lets Node run the sources as they are: `node --import ./test/support/run-typescript.mjs src/cli.ts`. For tests, and
 * for those that need a process of their own, without a build.
 */
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort } from 'node:worker_threads';
import { compiled } from './compile.mjs';

// In threads of the program too, but not in the one that loads files for them.
if (isMainThread || parentPort) register(import.meta.url);

const GLOBALS = new URL('jest-globals.mjs', import.meta.url).href;

/** `import('./file.ts?anew')` loads the file, and all sources that it imports, though they have been loaded before. */
const ANEW = '?anew';

export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
  const found = await next(specifier, context);
  return context.parentURL?.endsWith(ANEW) && isSource(found.url) && !found.url.endsWith(ANEW)
    ? { ...found, url: found.url + ANEW }
    : found;
}

const isSource = (url) => /\.tsx?(\?anew)?$/.test(url);

export async function load(url, context, next) {
  if (!isSource(url)) return next(url, context);
  return { format: 'module', shortCircuit: true, source: await compiled(fileURLToPath(url)) };
}
