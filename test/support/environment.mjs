/**
 * The jest environment of a test file: the process itself. Changes by jest and the file are undone afterwards. With
 * TEST_QUICK, the slow tests are skipped.
 *
 * Each file has its own folder for temporary files, which is deleted with everything that the tests leave there.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileInList, slowTests, withoutDatabase } from '../slow-tests.mjs';

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
    handleTestEvent: ({ name }, { rootDescribeBlock }) => {
      if (name === 'run_start' && process.env.TEST_QUICK) skip(rootDescribeBlock, '', new Set(slowTests().get(fileInList(testPath))));
    },
    teardown: async () => {
      globalThis.console = console;
      process.exit = exit;
      for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
      Object.assign(process.env, variables);
      // A closing database thread may still create a file there.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

/** Skips those of the tests of a block that have these names. `before`: the names of the blocks around it. */
function skip({ children }, before, names) {
  for (const child of children) {
    const name = before === '' ? child.name : `${before} ${child.name}`;
    if (child.type === 'describeBlock') skip(child, name, names);
    else if (names.has(withoutDatabase(name))) child.mode = 'skip';
  }
}

/**
 * Creates a folder for a test file. jest may end a process that has grown too large right after it has started a file,
 * and run the file again in another process of the same run; the folder of the first process is then deleted here. The
 * name is short, since paths of sockets in the folder are limited to about a hundred characters.
 */
function ownFolder(testPath) {
  const run = process.ppid.toString(36);
  const name = `${basename(testPath, '.test.ts').slice(0, 10)}.${createHash('sha1').update(testPath).digest('hex').slice(0, 6)}.${run}`;
  for (const other of readdirSync(tmpdir())) if (other.replace(/-.{6}$/s, '') === name) rmSync(join(tmpdir(), other), { recursive: true });
  return mkdtempSync(join(tmpdir(), `${name}-`));
}
