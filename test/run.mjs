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
import { accessSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROGRAM_FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/libexec', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];
const START_MS = 60_000;
const STOP_MS = 15_000;

process.chdir(ROOT);
install();
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

function install() {
  if (existsSync('node_modules/.package-lock.json')) return;
  console.log('Installing the packages (npm ci)');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
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
  const found = await startServer().catch((error) => ({ reason: error.message }));
  if (found.reason && wish === 'required') {
    console.error(`MySQL is required: ${found.reason}`);
    await finish(1);
  }
  return found;
}

async function startServer() {
  const program = ['mariadbd', 'mysqld'].map(findProgram).find(Boolean);
  if (!program) return { reason: 'TEST_MYSQL_URL is not set, and neither mariadbd nor mysqld is on this machine' };
  const isMaria = /MariaDB/i.test(spawnSync(program, ['--no-defaults', '--version'], { encoding: 'utf8' }).stdout);
  const data = join(folder, 'data');
  // Servers refuse to run as root unless told so.
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const installer = isMaria ? (findProgram('mariadb-install-db') ?? findProgram('mysql_install_db')) : program;
  if (!installer) return { reason: `${program} is here, but not mariadb-install-db` };
  const creation = isMaria
    ? ['--no-defaults', ...user, `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db']
    : ['--no-defaults', ...user, `--datadir=${data}`, '--initialize-insecure'];
  const created = spawnSync(installer, creation, { encoding: 'utf8' });
  if (created.status !== 0) return { reason: `${installer} failed: ${lastLines(created.stdout + created.stderr)}` };

  const port = await freePort();
  const log = join(folder, 'server.log');
  const output = openSync(log, 'w');
  server = spawn(
    program,
    [
      '--no-defaults', ...user, `--datadir=${data}`, `--socket=${join(folder, 'socket')}`, `--pid-file=${join(folder, 'pid')}`, `--port=${port}`, '--bind-address=127.0.0.1',
      '--skip-networking=0', '--skip-name-resolve', '--max-connections=400', '--character-set-server=utf8mb4', '--collation-server=utf8mb4_unicode_520_ci',
      // The data live for minutes: nothing needs to survive a loss of power.
      '--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=64M', '--performance-schema=OFF', '--skip-log-bin', ...(isMaria ? [] : ['--mysqlx=OFF']),
    ],
    { stdio: ['ignore', output, output] },
  );
  const url = `mysql://root@127.0.0.1:${port}/`;
  const until = Date.now() + START_MS;
  for (;;) {
    if (server.exitCode !== null) return { reason: `${program} ended at once: ${lastLines(readFileSync(log, 'utf8'))}` };
    try {
      return { url, version: await versionAt(url) };
    } catch (error) {
      if (Date.now() > until) return { reason: `${program} does not answer: ${error.message}` };
      await sleep(100);
    }
  }
}

async function runJest(args, url, file) {
  const { TEST_MYSQL_URL: _, ...environment } = process.env;
  const env = url ? { ...environment, TEST_MYSQL_URL: url } : environment;
  jest = spawn('npm', ['run', '-s', 'jest', '--', '--json', `--outputFile=${file}`, ...args], { stdio: ['inherit', 'ignore', 'inherit'], env });
  return new Promise((resolve) => {
    jest.on('close', (status) => resolve(status ?? 1));
  });
}

function report(file, { version, reason }) {
  const sqlite = spawnSync(process.execPath, ['-p', "new (require('better-sqlite3'))(':memory:').prepare('SELECT sqlite_version()').pluck().get()"], { encoding: 'utf8' });
  if (existsSync(file)) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(file, 'utf8'));
    // A file that could not be run at all counts as one failure.
    console.log(`Tests: ${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests + numTodoTests} skipped`);
  }
  console.log(`Databases: SQLite ${sqlite.stdout.trim()}, ${version ?? `no MySQL (${reason})`}`);
}

async function finish(status) {
  if (server && server.exitCode === null && server.signalCode === null) {
    const ended = new Promise((resolve) => {
      server.on('exit', resolve);
    });
    server.kill('SIGTERM');
    const late = setTimeout(() => server.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(late);
  }
  rmSync(folder, { recursive: true, force: true });
  process.exit(status);
}

/** `MariaDB 10.11.14`, `MySQL 8.4.0`. */
async function versionAt(url) {
  const { createConnection } = await import('mysql2/promise');
  const { hostname, port, username, password, searchParams } = new URL(url);
  const socketPath = searchParams.get('socketPath');
  const connection = await createConnection({
    ...(socketPath ? { socketPath } : { host: hostname, port: Number(port || 3306) }),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  });
  const [[{ version }]] = await connection.query('SELECT VERSION() AS version');
  await connection.end();
  return `${/MariaDB/i.test(version) ? 'MariaDB' : 'MySQL'} ${/^[\d.]+/.exec(version)?.[0] ?? version}`;
}

function findProgram(name) {
  return PROGRAM_FOLDERS.map((path) => join(path, name)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

async function freePort() {
  const listener = createServer();
  await new Promise((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  const { port } = listener.address();
  await new Promise((resolve) => {
    listener.close(resolve);
  });
  return port;
}

function lastLines(text) {
  return text.trim().split('\n').slice(-3).join(' / ');
}
