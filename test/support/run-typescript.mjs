/**
 * Lets Node run the sources as they are: `node --import ./test/support/run-typescript.mjs src/cli.ts`. For tests that
 * need a process of their own, without a build.
 */
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort } from 'node:worker_threads';

// In threads of the program too, but not in the one that loads files for them.
if (isMainThread || parentPort) register(import.meta.url);

export async function load(url, context, next) {
  if (!/\.tsx?$/.test(url)) return next(url, context);
  const { transform } = await import('@swc/core');
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', tsx: url.endsWith('.tsx') },
      transform: { react: { runtime: 'automatic', importSource: 'preact' } },
    },
    module: { type: 'es6' },
  });
  return { format: 'module', shortCircuit: true, source: code };
}
