/** Processes that are measured: the service itself, and the servers that it is compared with. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killOnExit, scratchFolder } from '../support/leave-nothing.mjs';
import { freePort, startPrivateMysql, versionAt } from '../support/private-mysql.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMMAND = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const BARE = fileURLToPath(new URL('bare.mjs', import.meta.url));
const BARE_HTTP = fileURLToPath(new URL('bare-http.mjs', import.meta.url));
const ROWS = fileURLToPath(new URL('rows.mjs', import.meta.url));
const PATIENCE_MS = 60_000;
const PAUSE_MS = 5;
/** The unit of /proc/PID/stat. */
const TICK_MS = 10;

/** Runs the command `fasti` and returns its output. Throws an error with its message if it fails. */
export function fasti(args, env) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`fasti ${args.join(' ')}: ${stderr.trim() || stdout.trim()}`);
  return stdout.trim();
}

/**
 * Starts the service and waits until it answers `path`. Returns `{base, startMs, cpu, memory, stop}`: milliseconds from
 * the start of the process to its first answer, and functions for its processor time in milliseconds and its resident
 * memory in bytes. `log`: the file for its log, which is discarded by default.
 */
export async function startService(env, path, log) {
  const port = await freePort();
  const begun = performance.now();
  const started = await start([COMMAND, 'serve'], { ...env, PORT: String(port), HOST: '127.0.0.1' }, `http://127.0.0.1:${port}`, path, log);
  return { ...started, startMs: performance.now() - begun };
}

/** Starts a bare `node:http` server that answers every request with `answer`, as below. */
export async function startBareHttp(answer) {
  const port = await freePort();
  return start([BARE_HTTP], { PORT: String(port), ANSWER: fileOf(answer) }, `http://127.0.0.1:${port}`, '/');
}

/** Starts a bare Express app that answers every request with `answer` (`{status, headers, body}`, body as base64). */
export async function startBare(answer) {
  const port = await freePort();
  return start([BARE], { PORT: String(port), ANSWER: fileOf(answer) }, `http://127.0.0.1:${port}`, '/');
}

/** Writes an answer to a file, because answers to batches are too long for an environment variable. */
function fileOf(answer) {
  const file = join(scratchFolder('fasti-answer'), 'answer.json');
  writeFileSync(file, JSON.stringify(answer));
  return file;
}

/**
 * Starts an Express app with one handler, which runs these statements (`{statements, created}` of `traceQueries`) and
 * sends the rows.
 */
export async function startRows(env, trace) {
  const port = await freePort();
  return start([ROWS], { ...env, PORT: String(port), STATEMENTS: JSON.stringify(trace) }, `http://127.0.0.1:${port}`, '/ready');
}

async function start(command, env, base, path, log) {
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', log === undefined ? 'ignore' : openSync(log, 'w'), 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said = (said + text).slice(-2000);
  });
  const ended = new Promise((resolve) => {
    child.on('exit', resolve);
  });
  killOnExit(child);
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const status = await fetch(base + path).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    if (status >= 200 && status < 400) break;
    if (child.exitCode !== null || performance.now() > until) {
      await stop();
      throw new Error(`${command.join(' ')} does not answer (${status}): ${said}`);
    }
    await sleep(PAUSE_MS);
  }
  const cpu = () => cpuMs(child.pid);
  const memory = () => 1024 * Number(spawnSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' }).stdout);
  return { base, cpu, memory, stop, pid: child.pid };
}

/**
 * Returns the processor time of a process in milliseconds, or NaN if the system does not provide it. It measures the
 * cost of a request independently of the other work of the machine.
 */
export function cpuMs(pid) {
  const numbers = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ') : [];
  return TICK_MS * (Number(numbers[11]) + Number(numbers[12]));
}

/** Returns the IDs of the processes that serve requests: the workers of a process, or itself if it has none. */
export function servingProcesses(pid) {
  const { stdout } = spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
  const workers = stdout.split('\n').filter(Boolean).map(Number);
  return workers.length > 0 ? workers : [pid];
}

const GROUPS = '/sys/fs/cgroup/cpu';
const PERIOD_US = 10_000;

/**
 * Limits a process to this share of a processor with its own control group (Linux, version 1, as root). Returns a
 * function that removes the limit.
 */
export function limitProcessor(pid, share) {
  const group = `${GROUPS}/fasti-bench-${pid}`;
  mkdirSync(group);
  for (const [file, value] of Object.entries({
    'cpu.cfs_period_us': PERIOD_US,
    'cpu.cfs_quota_us': PERIOD_US * share,
    'cgroup.procs': pid,
  })) {
    writeFileSync(`${group}/${file}`, String(value));
  }
  return () => {
    writeFileSync(`${GROUPS}/cgroup.procs`, String(pid));
    rmdirSync(group);
  };
}

/**
 * Provides the database server to measure on, as in `npm test`: the one that TEST_MYSQL_URL names, a private one, or
 * none. Returns `{url, version, pid, stop}`, the last two only for a private one, or `{reason}`. A private server is
 * reached by its socket, as PHP reaches a server on the same machine (`localhost`).
 */
export async function provideMysql(folder) {
  const wish = process.env.TEST_MYSQL_URL || undefined;
  if (wish === 'off') return { reason: 'TEST_MYSQL_URL is "off"' };
  if (wish !== undefined && wish !== 'required') return { url: wish, version: await versionAt(wish) };
  // Writes survive a loss of power, as they do with SQLite here.
  const { socketUrl, ...server } = await startPrivateMysql(folder, ['--innodb-flush-log-at-trx-commit=1', '--innodb-buffer-pool-size=2G']);
  return { ...server, url: socketUrl };
}
