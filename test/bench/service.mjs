/**
 * Processes that are measured: the service itself, and a bare Express app that sends the bytes that the service sent.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endWithUs, scratchFolder } from '../support/leave-nothing.mjs';
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

/** Runs the command `fasti` and gives what it prints. Throws what it says when it fails. */
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
 * Starts the service and waits until it answers `path`. Gives `{base, startMs, cpu, memory, stop}`: milliseconds from
 * the start of the process to its first answer, and functions for the processor time it took, in milliseconds, and its
 * resident memory, in bytes. `log`: the file that its log is written to; without one, it is thrown away.
 */
export async function startService(env, path, log) {
  const port = await freePort();
  const begun = performance.now();
  const started = await start([COMMAND, 'serve'], { ...env, PORT: String(port), HOST: '127.0.0.1' }, `http://127.0.0.1:${port}`, path, log);
  return { ...started, startMs: performance.now() - begun };
}

/** Starts a bare server of Node's own that answers anything with `answer`, as below. */
export async function startBareHttp(answer) {
  const port = await freePort();
  return start([BARE_HTTP], { PORT: String(port), ANSWER: fileOf(answer) }, `http://127.0.0.1:${port}`, '/');
}

/** Starts a bare Express app that answers anything with `answer` (`{status, headers, body}`, body as base64). */
export async function startBare(answer) {
  const port = await freePort();
  return start([BARE], { PORT: String(port), ANSWER: fileOf(answer) }, `http://127.0.0.1:${port}`, '/');
}

/** An answer as a file: those to batches are longer than a variable of the environment may be. */
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
  endWithUs(child);
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
 * Processor time of a process in milliseconds, where the system tells it (else NaN): it says what a request costs,
 * whatever else the machine does.
 */
export function cpuMs(pid) {
  const numbers = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ') : [];
  return TICK_MS * (Number(numbers[11]) + Number(numbers[12]));
}

/** What serves requests under a process of the service: its workers, or itself where it has none. */
export function servingProcesses(pid) {
  const { stdout } = spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
  const workers = stdout.split('\n').filter(Boolean).map(Number);
  return workers.length > 0 ? workers : [pid];
}

const GROUPS = '/sys/fs/cgroup/cpu';
const PERIOD_US = 10_000;

/**
 * Gives a process no more than this share of a processor, by a control group of its own (Linux, version 1, as root).
 * Gives a function that takes the limit away again.
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
 * The server to measure on, as in `npm test`: the one that TEST_MYSQL_URL names, a private one, or none. Gives `{url,
 * version, pid, stop}`, the last two of a private one, or `{reason}`. A private one is reached by its socket, as PHP
 * reaches one on the same machine (`localhost`).
 */
export async function provideMysql(folder) {
  const wish = process.env.TEST_MYSQL_URL || undefined;
  if (wish === 'off') return { reason: 'TEST_MYSQL_URL is "off"' };
  if (wish !== undefined && wish !== 'required') return { url: wish, version: await versionAt(wish) };
  // What is written is safe against a loss of power, as SQLite is here too.
  const { socketUrl, ...server } = await startPrivateMysql(folder, ['--innodb-flush-log-at-trx-commit=1', '--innodb-buffer-pool-size=2G']);
  return { ...server, url: socketUrl };
}
