import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LOOK_MS = 20;

/** A line of the log. */
export interface Entry {
  readonly msg: string;
  readonly level: number;
  readonly pid: number;
  readonly address?: { readonly port: number };
}

/** A process that serves. */
export interface Serving {
  readonly child: ChildProcess;
  readonly port: number;
  readonly base: string;
  readonly entries: readonly Entry[];
  /** Waits until the log says this so many times. */
  readonly said: (msg: string, times?: number) => Promise<void>;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  /** Tells it to end, and waits until it has. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | string | null>;
}

/**
 * Serves a database from a process of its own, on a port that is free, and waits until it can answer. `keeper`: a program that keeps the port open and
 * starts the process, each time that it ends.
 */
export async function startServing(
  url: string,
  env: Readonly<Record<string, string>> = {},
  keeper: readonly string[] = [],
): Promise<Serving> {
  const command = [process.execPath, '--import', './test/support/run-typescript.mjs', 'src/cli.ts', 'serve'];
  const [program = '', ...args] = [...keeper, ...command];
  const child = spawn(program, args, {
    cwd: ROOT,
    // Under a test runner the log is silent.
    env: {
      ...process.env,
      NODE_ENV: 'production',
      NODE_OPTIONS: '',
      DATABASE_URL: url,
      UPLOADS_DIR: tmpdir(),
      PORT: '0',
      LOG_LEVEL: 'info',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string | null);
  const entries: Entry[] = [];
  createInterface(child.stdout!).on('line', (line) => entries.push(JSON.parse(line) as Entry));
  const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    while (child.exitCode === null && child.signalCode === null && !(await isSo())) await sleep(LOOK_MS);
  };
  const port = () => entries.find(({ msg }) => msg === 'listening')?.address?.port ?? 0;
  await until(() => port() > 0);
  await until(async () => (await ask(port(), { path: '/health/ready' })) === 200);
  return {
    child,
    port: port(),
    base: `http://127.0.0.1:${port()}`,
    entries,
    said: (msg, times = 1) => until(() => entries.filter((entry) => entry.msg === msg).length >= times),
    ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** What becomes of a request: the status of its answer; `refused` where there was no connection; `reset` where there was one, and no answer came. */
export type Fate = number | 'refused' | 'reset';

/** Sends a GET, on a connection of its own unless there is an agent. */
export function ask(port: number, { path = '/', agent }: { path?: string; agent?: Agent }): Promise<Fate> {
  return new Promise((resolve) => {
    let connected = false;
    const sent = request({ host: '127.0.0.1', port, path, agent: agent ?? false }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.on('error', () => resolve('reset'));
    });
    sent.on('socket', (socket) => {
      connected = !socket.connecting;
      if (!connected) socket.once('connect', () => (connected = true));
    });
    sent.on('error', () => resolve(connected ? 'reset' : 'refused'));
    sent.end();
  });
}

/** Clients that ask all the time, half of them on connections that they keep. Gives a function that ends them and gives what became of their requests. */
export function keepAsking(port: number, path: string, clients = 6): () => Promise<Set<Fate>> {
  let going = true;
  const fates = new Set<Fate>();
  const client = async (number: number): Promise<void> => {
    const agent = number % 2 === 0 ? new Agent({ keepAlive: true, maxSockets: 1 }) : undefined;
    while (going) {
      const fate = await ask(port, { path, ...(agent ? { agent } : {}) });
      fates.add(fate);
      if (fate === 'refused') await sleep(LOOK_MS);
    }
    agent?.destroy();
  };
  const all = Array.from({ length: clients }, (_, number) => client(number));
  return async () => {
    going = false;
    await Promise.all(all);
    return fates;
  };
}
