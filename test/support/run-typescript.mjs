/**
 * Lets Node run the TypeScript sources without a build: `node --import ./test/support/run-typescript.mjs src/cli.ts`.
 * Used by the tests and by the processes that they start.
 */
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort } from 'node:worker_threads';
import { compiled } from './compile.mjs';

// Also in worker threads of the program, but not in the thread that runs the loader hooks.
if (isMainThread || parentPort) register(import.meta.url);

const GLOBALS = new URL('jest-globals.mjs', import.meta.url).href;

/** `import('./file.ts?anew')` loads the file and all sources that it imports again, even if they are already loaded. */
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
