#!/usr/bin/env node
/**
 * Runs the tests; this is what `npm test` does. Arguments go to jest.
 *
 *   npm test                              everything, on SQLite and, if there is a server, on MySQL or MariaDB
 *   npm test -- --quick                   on SQLite only, without the slow tests (slow-tests.mjs)
 *   npm test -- test/storage              some files
 *   TEST_MYSQL_URL=mysql://user:password@host:port/ npm test    on that server; each suite makes a database of its own
 *   and drops it
 *   TEST_MYSQL_URL=off npm test           SQLite only
 *   TEST_MYSQL_URL=required npm test      fails when no server can be started
 *
 * Without TEST_MYSQL_URL a private server is started in a temporary folder, if a server program is installed.
 * TEST_RESULTS names a file for jest's own result as JSON. Only Node is needed before the packages are installed.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages, isInstalled } from '../bin/install.mjs';
import { compile, compileApart, isCompiled } from '../bin/native.mjs';
import { loadSqlite } from '../bin/sqlite.mjs';
import { startPrivateMysql, versionAt } from './support/private-mysql.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The data is kept for minutes only: nothing needs to survive a power failure. */
const SETTINGS = [
  '--innodb-buffer-pool-size=64M',
  '--innodb-log-file-size=32M',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
  '--innodb-doublewrite=0',
  '--innodb-fast-shutdown=2',
];
/** Argument that leaves out the slow tests, and those on MySQL or MariaDB. */
const QUICK = '--quick';
const COMPILE_CACHE = join(ROOT, 'node_modules/.cache/node');
/** A file system in memory, and the free space that it must have. */
const MEMORY = '/dev/shm';
const ROOM = 2 * 2 ** 30;

const args = process.argv.slice(2).filter((arg) => arg !== QUICK);
const isQuick = process.argv.includes(QUICK);

process.chdir(ROOT);
await provide();
const folder = mkdtempSync(join(placeForFiles(), 'fasti-tests-'));
/** Folder for the temporary files of the tests. */
const scratch = join(folder, 'tmp');
mkdirSync(scratch);
let server;
let jest;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupt());

const mysql = await provideMysql();
if (mysql.reason) console.log(`MySQL is skipped: ${mysql.reason}`);
const results = process.env.TEST_RESULTS ?? join(folder, 'results.json');
const code = await runJest(args, mysql.url, results);
report(results, mysql);
if (isQuick) console.log(`${QUICK} leaves out the slow tests, and those on MySQL or MariaDB: npm test runs them all.`);
await finish(interrupted ? 130 : leftovers() || code);

/**
 * Folder for databases and files of the tests: in memory if there is room, unless TMPDIR is set, so that no test waits
 * for a disk.
 */
function placeForFiles() {
  if (process.env.TMPDIR) return process.env.TMPDIR;
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

async function provide() {
  const everything = true;
  let apart;
  if (!isInstalled({ everything }))
    await prepare('Installing the packages', async () => {
      apart = await compileApart();
      return installPackages({ everything });
    });
  if (!isCompiled()) await prepare('Fetching or compiling SQLite', () => compile(ROOT, apart));
}

/** Runs one step, which resolves with a message if it failed. */
async function prepare(message, work) {
  console.log(message);
  const fault = await work();
  if (fault === undefined) return;
  console.error(fault);
  process.exit(1);
}

/** The server to test on: `{url, version}`, or `{reason}` if there is none. */
async function provideMysql() {
  const wish = process.env.TEST_MYSQL_URL || (isQuick ? 'off' : undefined);
  if (wish === 'off') return { reason: isQuick ? `left out by ${QUICK}` : 'TEST_MYSQL_URL is "off"' };
  if (wish !== undefined && wish !== 'required') {
    try {
      return { url: wish, version: await versionAt(wish) };
    } catch (error) {
      console.error(`The server of TEST_MYSQL_URL does not answer: ${error.message || error.code}`);
      await finish(1);
    }
  }
  console.log('Starting a private MySQL or MariaDB server');
  const found = await startPrivateMysql(folder, SETTINGS).catch((error) => ({ reason: error.message }));
  server = found;
  if (found.reason && wish === 'required') {
    console.error(`MySQL is required: ${found.reason}`);
    await finish(1);
  }
  return found.reason ? found : { ...found, url: bySocket(found) };
}

/** The socket costs less than the network; port and host are for tests that need the network. */
function bySocket({ url, socketUrl }) {
  return url + new URL(socketUrl).search;
}

async function runJest(args, url, file) {
  const { TEST_MYSQL_URL: _, ...rest } = process.env;
  // npm (with Node 22 and later) keeps compiled code in the temporary folder unless another one is set.
  const environment = { ...rest, TMPDIR: scratch, NODE_COMPILE_CACHE: COMPILE_CACHE, ...(isQuick ? { TEST_QUICK: '1' } : {}) };
  const env = url ? { ...environment, TEST_MYSQL_URL: url } : environment;
  jest = spawn('npm', ['run', '-s', 'jest', '--', '--json', `--outputFile=${file}`, ...args], {
    stdio: ['inherit', 'ignore', 'inherit'],
    env,
    // In a process group of its own, so that all of it can be ended: npm does not pass on every signal.
    detached: true,
  });
  return new Promise((resolve) => {
    jest.on('close', (status) => resolve(status ?? 1));
  });
}

function report(file, { version, reason }) {
  const sqlite = new (loadSqlite())(':memory:').prepare('SELECT sqlite_version()').pluck().get();
  if (existsSync(file)) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    // A file that could not be run at all counts as one failure.
    console.log(
      `Tests: ${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests + numTodoTests} skipped`,
    );
  }
  console.log(`Databases: SQLite ${sqlite}, ${version ?? `no MySQL (${reason})`}`);
}

/** Returns 1 if the tests left anything in the temporary folder. */
function leftovers() {
  const left = readdirSync(scratch);
  if (left.length > 0) console.error(`The tests left temporary files behind: ${left.join(', ')}`);
  return left.length > 0 ? 1 : 0;
}

function interrupt() {
  interrupted = true;
  if (!jest) return finish(130);
  try {
    process.kill(-jest.pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

async function finish(status) {
  await server?.stop?.();
  rmSync(folder, { recursive: true, force: true });
  process.exit(status);
}
