/**
 * A private MySQL or MariaDB server in a private folder, using the server program of the machine. Loading this file
 * needs only Node; starting a server needs mysql2.
 */
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killOnExit } from './leave-nothing.mjs';

const PROGRAM_FOLDERS = [
  ...(process.env.PATH ?? '').split(delimiter),
  '/usr/sbin',
  '/usr/libexec',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
];
const START_MS = 60_000;
const STOP_MS = 15_000;

/**
 * Starts a server with its data in `folder`, where it may find the data of an earlier one. Resolves with `{url,
 * socketUrl, version, pid, stop}`, the URLs of its root user without password by port and by socket, or with `{reason}`
 * if that is impossible. `settings` are further options of the server.
 */
export async function startPrivateMysql(folder, settings = []) {
  const program = ['mariadbd', 'mysqld'].map(findProgram).find(Boolean);
  if (!program) return { reason: 'neither mariadbd nor mysqld is on this machine' };
  const isMaria = /MariaDB/i.test(spawnSync(program, ['--no-defaults', '--version'], { encoding: 'utf8' }).stdout);
  const data = join(folder, 'data');
  // Servers refuse to run as root unless told so.
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const installer = isMaria ? (findProgram('mariadb-install-db') ?? findProgram('mysql_install_db')) : program;
  if (!installer) return { reason: `${program} is here, but not mariadb-install-db` };
  const env = environmentIn(folder);
  const creation = isMaria
    ? ['--no-defaults', ...user, `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db']
    : ['--no-defaults', ...user, `--datadir=${data}`, '--initialize-insecure'];
  const created = existsSync(data) ? { status: 0 } : spawnSync(installer, creation, { env, encoding: 'utf8' });
  if (created.status !== 0) return { reason: `${installer} failed: ${lastLines(created.stdout + created.stderr)}` };

  const port = await freePort();
  const socket = join(folder, 'socket');
  const log = join(folder, 'server.log');
  const output = openSync(log, 'w');
  const server = spawn(
    program,
    [
      '--no-defaults',
      ...user,
      `--datadir=${data}`,
      `--socket=${socket}`,
      `--pid-file=${join(folder, 'pid')}`,
      // Folder for results that are too large for memory.
      `--tmpdir=${folder}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-networking=0',
      '--skip-name-resolve',
      '--max-connections=400',
      // Beyond this number of tables the server forgets when they were changed; each test has its own database.
      '--table-definition-cache=20000',
      '--character-set-server=utf8mb4',
      '--collation-server=utf8mb4_unicode_520_ci',
      '--performance-schema=OFF',
      '--skip-log-bin',
      ...(isMaria ? [] : ['--mysqlx=OFF']),
      ...settings,
    ],
    { env, stdio: ['ignore', output, output] },
  );
  killOnExit(server);
  const url = `mysql://root@127.0.0.1:${port}/`;
  const socketUrl = `mysql://root@localhost/?socketPath=${encodeURIComponent(socket)}`;
  const until = Date.now() + START_MS;
  for (;;) {
    if (server.exitCode !== null) return { reason: `${program} ended at once: ${lastLines(readFileSync(log, 'utf8'))}` };
    try {
      return { url, socketUrl, version: await versionAt(url), pid: server.pid, stop: () => stop(server) };
    } catch (error) {
      if (Date.now() > until) {
        await stop(server);
        return { reason: `${program} does not answer: ${error.message}` };
      }
      await sleep(100);
    }
  }
}

/**
 * The environment of a server in this folder, with its own folder for temporary files. A starting server deletes all
 * files in that folder, including those of other servers, whose statements would then fail.
 */
export function environmentIn(folder) {
  const TMPDIR = join(folder, 'tmp');
  mkdirSync(TMPDIR, { recursive: true });
  return { ...process.env, TMPDIR };
}

/** Name and version of a server, such as `MariaDB 10.11.14` or `MySQL 8.4.0`. */
export async function versionAt(address) {
  const connection = await connectTo(address);
  const [[{ version }]] = await connection.query('SELECT VERSION() AS version');
  await connection.end();
  return `${/MariaDB/i.test(version) ? 'MariaDB' : 'MySQL'} ${/^[\d.]+/.exec(version)?.[0] ?? version}`;
}

/** Connects to the server of a URL with mysql2, without a database. `options` are further options of the driver. */
export async function connectTo(address, options = {}) {
  const { createConnection } = await import('mysql2/promise');
  const { hostname, port, username, password, searchParams } = new URL(address);
  const socketPath = searchParams.get('socketPath');
  return createConnection({
    ...(socketPath ? { socketPath } : { host: hostname, port: Number(port || 3306) }),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    ...options,
  });
}

/** A currently unused port. */
export async function freePort() {
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

async function stop(server) {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => {
    server.on('exit', resolve);
  });
  server.kill('SIGTERM');
  const late = setTimeout(() => server.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(late);
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

function lastLines(text) {
  return text.trim().split('\n').slice(-3).join(' / ');
}
