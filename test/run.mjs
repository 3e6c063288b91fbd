#!/usr/bin/env node
/**
 * What `npm test` runs: all tests on SQLite and, as far as there is one, on MySQL or MariaDB. Arguments go to jest.
 *
 *   npm test                              everything
 *   npm test -- test/storage              some files
 *   TEST_MYSQL_URL=mysql://user:password@host:port/ npm test    on that server; each suite makes a database of its own and drops it
 *   TEST_MYSQL_URL=off npm test           SQLite only
 *   TEST_MYSQL_URL=required npm test      fails when no server can be started
 *
 * Without TEST_MYSQL_URL a private server is started in a temporary folder, if a server program is on the machine.
 * TEST_RESULTS names a file that gets jest's own result as JSON. Nothing but Node is needed before the packages are installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../bin/install.mjs';
import { startPrivateMysql, versionAt } from './support/private-mysql.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The data live for minutes: nothing needs to survive a loss of power. */
const SETTINGS = ['--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=64M'];

process.chdir(ROOT);
provide();
const folder = mkdtempSync(join(tmpdir(), 'fasti-tests-'));
let server;
let jest;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => (jest ? jest.kill(signal) : finish(130)));

const mysql = await provideMysql();
if (mysql.reason) console.log(`MySQL is skipped: ${mysql.reason}`);
const results = process.env.TEST_RESULTS ?? join(folder, 'results.json');
const code = await runJest(process.argv.slice(2), mysql.url, results);
report(results, mysql);
await finish(code);

function provide() {
  if (existsSync('node_modules/.package-lock.json')) return;
  console.log('Installing the packages');
  const fault = install();
  if (fault === undefined) return;
  console.error(fault);
  process.exit(1);
}

/** The server to test on: `{url, version}`, or `{reason}` why there is none. */
async function provideMysql() {
  const wish = process.env.TEST_MYSQL_URL || undefined;
  if (wish === 'off') return { reason: 'TEST_MYSQL_URL is "off"' };
  if (wish !== undefined && wish !== 'required') {
    try {
      return { url: wish, version: await versionAt(wish) };
    } catch (error) {
      console.error(`The server of TEST_MYSQL_URL does not answer: ${error.message || error.code}`);
      await finish(1);
    }
  }
  const found = await startPrivateMysql(folder, SETTINGS).catch((error) => ({ reason: error.message }));
  server = found;
  if (found.reason && wish === 'required') {
    console.error(`MySQL is required: ${found.reason}`);
    await finish(1);
  }
  return found;
}

async function runJest(args, url, file) {
  const { TEST_MYSQL_URL: _, ...rest } = process.env;
  // What tests leave in the folder for temporary files goes with ours.
  const environment = { ...rest, TMPDIR: folder };
  const env = url ? { ...environment, TEST_MYSQL_URL: url } : environment;
  jest = spawn('npm', ['run', '-s', 'jest', '--', '--json', `--outputFile=${file}`, ...args], {
    stdio: ['inherit', 'ignore', 'inherit'],
    env,
  });
  return new Promise((resolve) => {
    jest.on('close', (status) => resolve(status ?? 1));
  });
}

function report(file, { version, reason }) {
  const sqlite = spawnSync(
    process.execPath,
    ['-p', "new (require('better-sqlite3'))(':memory:').prepare('SELECT sqlite_version()').pluck().get()"],
    { encoding: 'utf8' },
  );
  if (existsSync(file)) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    // A file that could not be run at all counts as one failure.
    console.log(
      `Tests: ${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests + numTodoTests} skipped`,
    );
  }
  console.log(`Databases: SQLite ${sqlite.stdout.trim()}, ${version ?? `no MySQL (${reason})`}`);
}

async function finish(status) {
  await server?.stop?.();
  rmSync(folder, { recursive: true, force: true });
  process.exit(status);
}
