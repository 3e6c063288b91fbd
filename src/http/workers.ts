import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { countFailures, type Failure, type FailureCounts, type KnownFailures } from '../accounts/attempts.ts';
import { closePort, type ListenAddress } from '../host/port.ts';
import type { Log } from '../log.ts';
import { addedUp, countsIn, type Measured, metricsPage } from './metrics.ts';

/** Before a worker that has ended or did not start is replaced: a fault that lasts must not become a busy loop. */
const PAUSE_MS = 500;
/** How much longer than its answers may take a worker has for ending. */
const GRACE_MS = 5000;

/**
 * What a worker says: it can serve; it can't yet, but would answer so to whoever asks for its health; it has taken the
 * connection that came next; somebody else has asked it to end; somebody failed to sign in, or at the like.
 */
export type FromWorker = 'ready' | 'waiting' | 'taken' | 'leaving' | { readonly measured: Measured } | 'asks for metrics' | Failed;
/**
 * Messages to a worker: here is a connection; the service is about to end; end, with nothing more to come; somebody
 * failed at another worker, or did so before this one began.
 */
export type ToWorker =
  | 'connection'
  | 'stopping'
  | 'end'
  | 'measure'
  | { readonly metrics: string }
  | Failed
  | { readonly knownFailures: KnownFailures };
/** Limits hold for all workers together. */
interface Failed {
  readonly failed: Failure;
}
/**
 * The variable of the environment that gives a worker its number. The first, `0`, speaks for all of them in the log.
 */
export const WORKER = 'FASTI_WORKER';

export interface WorkersOptions {
  readonly count: number;
  readonly place: ListenAddress;
  /**
   * For how many milliseconds connections are still taken when the service is to end, and answers may still take after
   * that.
   */
  readonly notice: number;
  readonly patience: number;
  readonly log: Log;
  /** Starts the process of a worker, which gets this number. */
  readonly launch: (number: number) => ChildProcess;
  /**
   * Called at the end: with 0, or with 1 when a worker ended before any could ever serve, since the next would do no
   * better.
   */
  readonly ended: (code: number) => void;
  /** Called instead when the port can't be opened. */
  readonly failed: (error: Error) => void;
}

export interface Workers {
  /** Ends all of them; called again, at once. */
  readonly stop: () => void;
  /**
   * Replaces them one by one, each after its successor can serve, so that a new build is loaded and no connection
   * refused. Never rejects.
   */
  readonly replace: () => Promise<void>;
  /** The metrics of all of them together. */
  readonly metrics: () => Promise<string>;
}

/** How a worker ended; `err`: its process could not be started. */
type End = { readonly code: number | null; readonly signal: string | null } | { readonly err: unknown };

interface Worker {
  readonly process: ChildProcess;
  /** Once it runs no more, or if it never did. */
  readonly ended: Promise<End>;
  readonly number: number;
  state: 'starting' | 'waiting' | 'ready' | 'leaving';
  /**
   * Connections that it was sent and has not taken yet. They stay open here as long: if it ends, somebody else gets
   * them.
   */
  readonly sent: Socket[];
  /** The numbers that it gave last. */
  measured: Measured;
}

/** All workers of the service, and the connections that wait for one. */
interface WorkerPool {
  readonly options: WorkersOptions;
  readonly server: Server;
  readonly workers: Set<Worker>;
  /** Connections that nobody was sent yet. */
  readonly waiting: Socket[];
  phase: 'starting' | 'serving' | 'stopping' | 'over';
  /** How many connections were handed out. */
  turn: number;
  /** What the workers count together, for those who come later. */
  readonly failures: FailureCounts;
  /** What those have counted for the metrics that have ended. */
  past: Measured;
}

/**
 * Runs the server in several processes and hands them the connections of one port. Those who can serve get them; only
 * while none can, one of the others, which says why: so readiness is true of all. A worker that ends by itself is
 * replaced.
 */
export function manageWorkers(options: WorkersOptions): Workers {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    pool.waiting.push(socket);
    assignConnections(pool);
  });
  const pool: WorkerPool = {
    options,
    server,
    workers: new Set(),
    waiting: [],
    phase: 'starting',
    turn: 0,
    failures: countFailures(),
    past: [],
  };
  server.on('error', options.failed);
  for (let number = 0; number < options.count && pool.phase === 'starting'; number += 1) start(pool, number);

  let replacing: Promise<void> = Promise.resolve();
  return {
    stop: () => void stopAll(pool),
    replace: () => {
      replacing = replacing.then(() => replaceAll(pool)).catch((err) => options.log.error({ err }, 'the workers could not be replaced'));
      return replacing;
    },
    metrics: () => metricsOf(pool),
  };
}

// ------------------------------------------------------------------------------------------------- connections
/** Connections go in turns to those who have taken what they were sent: one that is stuck gets no more than one. */
function assignConnections(pool: WorkerPool): void {
  const { workers, waiting } = pool;
  const present = [...workers].filter((worker) => worker.process.connected);
  const able = present.filter(({ state }) => state === 'ready');
  const takers = able.length > 0 ? able : present.filter(({ state }) => state === 'waiting').slice(0, 1);
  while (takers.length > 0 && waiting.length > 0) {
    const least = Math.min(...takers.map(({ sent }) => sent.length));
    const idle = takers.filter(({ sent }) => sent.length === least);
    const taker = idle[pool.turn++ % idle.length]!;
    const socket = waiting.shift()!;
    taker.sent.push(socket);
    send(taker, 'connection', socket);
  }
}

/** Opens the port, the first time that a worker can answer. */
function listen(pool: WorkerPool): void {
  if (pool.phase !== 'starting') return;
  pool.phase = 'serving';
  const { server, options } = pool;
  const { place, log, count } = options;
  server.listen(place, () => log.info({ address: server.address(), workers: count }, 'listening'));
}

// ------------------------------------------------------------------------------------------------- one worker
function send(worker: Worker, word: ToWorker, socket?: Socket): void {
  // One that is going may hear nothing any more.
  if (worker.process.connected) worker.process.send(word, socket, { keepOpen: true }, () => undefined);
}

/** Undefined: the system refuses another process. It is tried again later, as after a worker that has ended. */
function start(pool: WorkerPool, number: number): Worker | undefined {
  const child = launched(pool, number);
  if (child === undefined) return undefined;
  const worker: Worker = { process: child, ended: endOf(child), number, state: 'starting', sent: [], measured: [] };
  pool.workers.add(worker);
  child.on('message', (word: FromWorker) => receive(pool, worker, word));
  void worker.ended.then((end) => replaceEnded(pool, worker, end));
  return worker;
}

function launched(pool: WorkerPool, number: number): ChildProcess | undefined {
  try {
    return pool.options.launch(number);
  } catch (err) {
    void replaceLost(pool, number, { err });
    return undefined;
  }
}

/** A process that could not be started never exits; it has an error and no id. Other errors end nothing. */
const endOf = (child: ChildProcess): Promise<End> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', (err) => {
      if (child.pid === undefined) resolve({ err });
    });
  });

function receive(pool: WorkerPool, worker: Worker, word: FromWorker): void {
  if (typeof word === 'object') {
    if ('failed' in word) passOn(pool, worker, word);
    else {
      worker.measured = word.measured;
      worker.process.emit(MEASURED);
    }
    return;
  }
  if (word === 'asks for metrics') {
    void metricsOf(pool).then((metrics) => send(worker, { metrics }));
    return;
  }
  if (word === 'taken') worker.sent.shift()?.destroy();
  else if (word === 'leaving') void leave(pool, worker);
  else if (worker.state !== 'leaving') {
    if (worker.state === 'starting') send(worker, { knownFailures: pool.failures.known(new Date()) });
    worker.state = word;
    worker.process.emit(word);
    listen(pool);
  }
  assignConnections(pool);
}

/** Has all others count what failed at one. Those who are starting are told of it later, with the rest. */
function passOn({ workers, failures }: WorkerPool, from: Worker, word: Failed): void {
  failures.take(word.failed, new Date());
  for (const worker of workers) if (worker !== from && worker.state !== 'starting') send(worker, word);
}

/** The name of the event that a worker has sent its numbers. */
const MEASURED = 'measured';
/** After this time a worker is stuck: only what it counted before is told. One without its database takes 2 seconds. */
const MEASURE_MS = 3000;

async function metricsOf(pool: WorkerPool): Promise<string> {
  const asked = [...pool.workers].filter(({ state, process: { connected } }) => connected && state !== 'starting');
  const answers = asked.map(async (worker): Promise<Worker[]> => {
    const answer = once(worker.process, MEASURED, { signal: AbortSignal.timeout(MEASURE_MS) });
    send(worker, 'measure');
    return answer.then(
      () => [worker],
      () => [],
    );
  });
  const answered = new Set((await Promise.all(answers)).flat());
  const parts = [...pool.workers].map((worker) => (answered.has(worker) ? worker.measured : countsIn(worker.measured)));
  return metricsPage([...parts, pool.past]);
}

/** Makes a worker end that gets no connections any more, and waits until it has. */
async function leave({ options: { patience } }: WorkerPool, worker: Worker): Promise<void> {
  if (worker.state !== 'leaving') {
    worker.state = 'leaving';
    send(worker, 'end');
    const late = setTimeout(() => worker.process.kill('SIGKILL'), patience + GRACE_MS);
    void worker.ended.then(() => clearTimeout(late));
  }
  await worker.ended;
}

/** What follows when a worker has ended: its connections go to others, and another worker takes its place. */
async function replaceEnded(pool: WorkerPool, worker: Worker, end: End): Promise<void> {
  pool.workers.delete(worker);
  pool.past = addedUp([pool.past, countsIn(worker.measured)]);
  if (pool.phase === 'over') return;
  pool.waiting.unshift(...worker.sent);
  assignConnections(pool);
  if (pool.phase === 'stopping') endWithoutWorkers(pool);
  else await replaceLost(pool, worker.number, worker.state === 'leaving' ? undefined : { ...end, worker: worker.process.pid });
}

/** Starts a worker of this number after a pause, unless there is one by then. `fault`: what the log is to say. */
async function replaceLost(pool: WorkerPool, number: number, fault: object | undefined): Promise<void> {
  const { workers, options } = pool;
  if (fault) options.log.error(fault, 'err' in fault ? 'a worker could not be started' : 'a worker has ended');
  if (pool.phase === 'starting') {
    pool.phase = 'over';
    killAll(pool);
    options.ended(1);
    return;
  }
  await sleep(PAUSE_MS);
  if (isServing(pool) && ![...workers].some((worker) => worker.number === number)) start(pool, number);
}

/** Asked where time has passed: the phase may be another one by then. */
const isServing = ({ phase }: WorkerPool): boolean => phase === 'serving';

// ------------------------------------------------------------------------------------------------- all workers
function killAll({ workers }: WorkerPool): void {
  for (const worker of workers) worker.process.kill('SIGKILL');
}

/** Ends the service that was told to end, once it has no workers. */
function endWithoutWorkers(pool: WorkerPool): void {
  if (pool.phase !== 'stopping' || pool.workers.size > 0) return;
  pool.phase = 'over';
  pool.options.log.info('stopped');
  pool.options.ended(0);
}

/** Ends all workers; called again, at once. */
async function stopAll(pool: WorkerPool): Promise<void> {
  const { workers, server, options } = pool;
  if (pool.phase === 'stopping' || pool.phase === 'over') {
    killAll(pool);
    return;
  }
  const served = isServing(pool);
  pool.phase = 'stopping';
  options.log.info('stopping');
  for (const worker of workers) send(worker, 'stopping');
  if (served) {
    await sleep(options.notice);
    await closePort(server, options.place);
  }
  for (const worker of workers) void leave(pool, worker);
  // The last one may have ended before it could be replaced.
  endWithoutWorkers(pool);
}

async function replaceAll(pool: WorkerPool): Promise<void> {
  const { workers, options } = pool;
  const { log, count } = options;
  if (!isServing(pool)) return;
  log.info({ workers: count }, 'replacing the workers');
  for (const worker of [...workers]) {
    // One that has ended meanwhile is replaced already, or soon.
    if (!workers.has(worker)) continue;
    const came = await replaceOne(pool, worker);
    if (!isServing(pool)) return;
    if (!came) {
      log.error('a new worker did not come up, so the others stay');
      return;
    }
  }
  log.info('the workers are replaced');
}

/** Puts another in the place of one. False: the other does not come up, so the one stays. */
async function replaceOne(pool: WorkerPool, old: Worker): Promise<boolean> {
  const next = start(pool, old.number);
  if (next === undefined) return false;
  const ready = new Promise<true>((resolve) => next.process.once('ready', () => resolve(true)));
  const came = await Promise.race([ready, next.ended.then(() => false)]);
  if (came) await leave(pool, old);
  return came;
}
