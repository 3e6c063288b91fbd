import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type RequestResult, requestContinuously, sendRequest } from './clients.mjs';
import { COMMAND } from './program.mjs';
import { until } from './until.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A line of the log. */
export interface Entry {
  readonly msg: string;
  readonly level: string;
  readonly pid: number;
  readonly address?: { readonly port: number };
}

/** A process that serves. */
export interface Serving {
  readonly child: ChildProcess;
  readonly port: number;
  readonly base: string;
  readonly entries: readonly Entry[];
  /** Waits until the log contains this message that many times. */
  readonly waitForLog: (msg: string, times?: number) => Promise<void>;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  /** Sends a signal to the process and waits until it has ended. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | string | null>;
}

/**
 * Serves a database from a separate process, on an unused port, and waits until it is ready. `supervisor` is a program
 * that keeps the port open and starts the process again each time it ends.
 */
export async function startServing(
  url: string,
  env: Readonly<Record<string, string>> = {},
  supervisor: readonly string[] = [],
): Promise<Serving> {
  const child = launch(url, env, supervisor, 'inherit');
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string | null);
  const entries: Entry[] = [];
  createInterface(child.stdout!).on('line', (line) => entries.push(JSON.parse(line) as Entry));
  const waitWhileRunning = async (description: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
    await until(description, async () => child.exitCode !== null || child.signalCode !== null || (await condition()));
  };
  const port = () => entries.find(({ msg }) => msg === 'listening')?.address?.port ?? 0;
  await waitWhileRunning('the port', () => port() > 0);
  await waitWhileRunning('readiness', async () => (await sendRequest({ port: port(), path: '/health/ready' })) === 200);
  return {
    child,
    port: port(),
    base: `http://127.0.0.1:${port()}`,
    entries,
    waitForLog: (msg, times = 1) =>
      waitWhileRunning(`"${msg}", ${times} times,`, () => entries.filter((entry) => entry.msg === msg).length >= times),
    ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Starts a service that is expected to fail. Resolves with its output and exit code once the process has ended. */
export async function serveExpectingFailure(
  url: string,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; out: string; err: string }> {
  const child = launch(url, env, [], 'pipe');
  const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'exit') as Promise<[number]>]);
  return { code, out, err };
}

function launch(
  url: string,
  env: Readonly<Record<string, string>>,
  supervisor: readonly string[],
  errors: 'inherit' | 'pipe',
): ChildProcess {
  const command = [process.execPath, COMMAND, 'serve'];
  const [program = '', ...args] = [...supervisor, ...command];
  return spawn(program, args, {
    cwd: ROOT,
    // NODE_ENV must differ from that of the test runner, under which the log is silent.
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
    stdio: ['ignore', 'pipe', errors],
  });
}

/** Time that a client reads before its next request, in milliseconds: it leaves the processor to starting workers. */
const READING_MS = 10;

/**
 * Lets clients read a page continuously. Returns a function that stops them and resolves with the fates of requests.
 */
export function readContinuously(port: number, path: string, clients = 6): () => Promise<Set<RequestResult>> {
  const end = requestContinuously({ port, clients, next: () => ({ path }), pauseMs: READING_MS });
  return async () => new Set((await end()).flatMap((results) => [...results.keys()]));
}
