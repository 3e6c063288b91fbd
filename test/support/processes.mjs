/** Processes of the built service, and clients that keep sending requests, for the scripts of attacks and faults. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fasti } from '../bench/service.mjs';
import { requestContinuously, sendRequest } from './clients.mjs';
import { killOnExit } from './leave-nothing.mjs';
import { until } from './until.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The command to measure; FASTI_COMMAND names another build, such as that of an earlier version. */
const COMMAND = process.env.FASTI_COMMAND ?? fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));

/**
 * Creates a site in an empty database, by default a SQLite file in the folder. Returns its environment variables and
 * the Authorization header of its administrator.
 */
export function newSite(folder, address = `sqlite:${folder}/site.sqlite`) {
  const env = { DATABASE_URL: address, UPLOADS_DIR: `${folder}/uploads` };
  fasti(['init', '--sample', '--url=http://127.0.0.1'], env);
  const password = fasti(['user', 'application-password', 'create', 'admin', 'load', '--porcelain'], env);
  return { env, authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}` };
}

/** Counts the events that a search for this word finds. */
export const countEvents = (env, word) =>
  Number(fasti(['event', 'list', `--search=${word}`, '--start_date=2000-01-01', '--end_date=2100-01-01', '--format=count'], env));

/**
 * Starts the service and waits until it is ready. `keeper` is a script that opens a port and starts the service on it.
 * `ended` resolves with its exit code or the signal that ended it; `waitForLog` waits until its log contains these
 * words that many times.
 */
export async function startServing(env, { port: wanted = 0, keeper }) {
  const child = spawn(process.execPath, [...(keeper ? [keeper, process.execPath] : []), COMMAND, 'serve'], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', ...env, PORT: String(wanted) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  killOnExit(child);
  const lines = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      lines.push(
        ...String(text)
          .split('\n')
          .filter((line) => line !== '' && !line.includes('"request completed"')),
      );
    });
  const ended = new Promise((resolve) => {
    child.once('close', (code, signal) => {
      resolve(code ?? signal);
    });
  });
  /** Waits for a condition, and throws if the service ends first. */
  const waitWhileRunning = (what, condition) =>
    until(what, async () => {
      if (child.exitCode !== null) throw new Error(`the service has ended: ${lines.join('\n')}`);
      return condition();
    });
  const listening = () => lines.filter((line) => line.includes('"listening"')).map((line) => JSON.parse(line));
  await waitWhileRunning('a line that says where it listens', () => listening().length > 0);
  const { port } = listening()[0].address;
  await waitWhileRunning('readiness', async () => (await sendRequest({ port, path: '/health/ready' })) === 200);
  const waitForLog = (words, times) =>
    waitWhileRunning(`"${words}", ${times} times,`, () => lines.filter((line) => line.includes(words)).length >= times);
  const servingPid = () => listening().at(-1).pid;
  return { port, pid: child.pid, servingPid, ended, kill: (signal) => child.kill(signal), waitForLog };
}

/**
 * Lets clients read and write continuously; `posts` of them write events. Returns a function that stops them and
 * resolves with the number of requests per result: `read`, `written`, `refused`, `reset`, or another status.
 */
export function startLoad({ port, clients, posts, authorization }) {
  const next = (number, turn) => (number < posts ? newEvent(authorization, `${number} ${turn}`) : { path: LIST });
  const end = requestContinuously({ port, clients, next });
  return async () => {
    const counts = {};
    for (const [number, met] of (await end()).entries())
      for (const [fate, count] of met) {
        const name = typeof fate === 'string' ? fate : fate >= 300 ? `status ${fate}` : number < posts ? 'written' : 'read';
        counts[name] = (counts[name] ?? 0) + count;
      }
    return counts;
  };
}

const API = '/wp-json/calendar/events/v1/events';
const LIST = `${API}?per_page=5`;

const newEvent = (authorization, name) => ({
  path: API,
  method: 'POST',
  headers: { authorization, 'content-type': 'application/json' },
  body: JSON.stringify({ title: `Load ${name}`, start_date: '2030-01-01 20:00', end_date: '2030-01-01 22:00' }),
});
