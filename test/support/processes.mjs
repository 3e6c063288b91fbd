/** Processes of the built service, and clients that keep asking it, for the scripts of attacks and faults. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fasti } from '../bench/service.mjs';
import { ask, keepAsking } from './clients.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Another build can be measured, such as that of an earlier version. */
const COMMAND = process.env.FASTI_COMMAND ?? fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const READY_MS = 60_000;
const LOOK_MS = 20;

// What was started is ended when the script ends, which a signal would not see to by itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

/**
 * A new site in an SQLite file. Gives the settings of its environment, and the header by which its administrator signs
 * in.
 */
export function newSite(folder) {
  const env = { DATABASE_URL: `sqlite:${folder}/site.sqlite`, UPLOADS_DIR: `${folder}/uploads` };
  fasti(['init', '--sample', '--url=http://127.0.0.1'], env);
  const password = fasti(['user', 'application-password', 'create', 'admin', 'load', '--porcelain'], env);
  return { env, authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}` };
}

/** How many events have this word in their title. */
export const countEvents = (env, word) =>
  Number(fasti(['event', 'list', `--search=${word}`, '--start_date=2000-01-01', '--end_date=2100-01-01', '--format=count'], env));

/**
 * Starts the service and waits until it is ready. `keeper`: a script that opens a port and starts the service on it.
 * `ended` gives its exit code, or the signal that ended it; `said` waits until its log has a line with these words so
 * many times.
 */
export async function startServing(env, { port: wanted = 0, keeper }) {
  const child = spawn(process.execPath, [...(keeper ? [keeper, process.execPath] : []), COMMAND, 'serve'], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', ...env, PORT: String(wanted) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
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
      process.off('exit', kill);
      resolve(code ?? signal);
    });
  });
  const until = Date.now() + READY_MS;
  const goOn = async () => {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`the service does not come up: ${lines.join('\n')}`);
    await sleep(LOOK_MS);
  };
  const listening = () => lines.filter((line) => line.includes('"listening"')).map((line) => JSON.parse(line));
  while (listening().length === 0) await goOn();
  const { port } = listening()[0].address;
  while ((await ask({ port, path: '/health/ready' })) !== 200) await goOn();
  const said = async (words, times) => {
    while (lines.filter((line) => line.includes(words)).length < times) {
      if (child.exitCode !== null) throw new Error(`the service has ended: ${lines.join('\n')}`);
      await sleep(LOOK_MS);
    }
  };
  const servingPid = () => listening().at(-1).pid;
  return { port, pid: child.pid, servingPid, ended, kill: (signal) => child.kill(signal), said };
}

/**
 * Has clients read and write all the time, `posts` of them events. Gives a function that ends them and gives how many
 * requests came to what: `read`,
 * `written`, `refused`, `reset`, or another status.
 */
export function load({ port, clients, posts, authorization }) {
  const next = (number, turn) => (number < posts ? newEvent(authorization, `${number} ${turn}`) : { path: LIST });
  const end = keepAsking({ port, clients, next });
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
