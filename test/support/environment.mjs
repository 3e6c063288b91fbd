/**
 * The environment of a test file: the process itself. What jest and the file change of it is put back afterwards.
 *
 * Its folder for temporary files is its own and goes with it, whatever the tests leave there.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** jest calls this with `new`. */
export default function TestFileEnvironment(_config, { testPath }) {
  const { console } = globalThis;
  const { exit } = process;
  const variables = { ...process.env };
  const folder = ownFolder(testPath);
  // os.tmpdir() reads the variable at every call. A process runs one file at a time.
  process.env.TMPDIR = folder;
  return {
    global: globalThis,
    getVmContext: () => null,
    setup: async () => undefined,
    teardown: async () => {
      globalThis.console = console;
      process.exit = exit;
      for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
      Object.assign(process.env, variables);
      // A thread of a database may be about to close, and still make a file there.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

/**
 * A new folder for a test file. jest ends a process that has grown too large though it has just begun with a file, and
 * begins the file anew in another one of the same run: the folder of the first goes now. The name is short, since
 * sockets in the folder have paths of at most a hundred characters.
 */
function ownFolder(testPath) {
  const run = process.ppid.toString(36);
  const name = `${basename(testPath, '.test.ts').slice(0, 10)}.${createHash('sha1').update(testPath).digest('hex').slice(0, 6)}.${run}`;
  for (const other of readdirSync(tmpdir())) if (other.replace(/-.{6}$/s, '') === name) rmSync(join(tmpdir(), other), { recursive: true });
  return mkdtempSync(join(tmpdir(), `${name}-`));
}
