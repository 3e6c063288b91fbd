import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFailureCounts, type Failure, type FailureCounts, type KnownFailures } from '../accounts/attempts.ts';
import { closePort, handlePortErrors, type ListenAddress } from '../host/port.ts';
import { type Log, lostConnections } from '../log.ts';
import { TIME_LIMITS } from './limits.ts';
import { cumulativeOf, type MetricValues, mergeMetrics, metricsPage } from './metrics.ts';

/**
 * Delay before a worker that ended or did not start is replaced, so that a permanent fault does not cause a busy loop.
 */
const RESTART_DELAY_MS = 500;
/** Time a worker has for ending, in milliseconds, in addition to the time for its answers. */
const SHUTDOWN_GRACE_MS = 5000;
/**
 * Time that this process waits for the signal which a worker has received, in milliseconds: a terminal, and systemd by
 * default, send it to all processes of the service, in any order.
 */
const SIGNAL_DELAY_MS = 200;

/** Maximum number of connections that wait while no worker can take them. */
const MAX_WAITING_SOCKETS = 1000;

/**
 * Messages from a worker: it can serve; it cannot serve yet, but can answer health checks; it has taken the next
 * connection; it was asked to end by another process; its metrics; a request for the metrics of all workers; a failed
 * sign-in or similar attempt.
 */
export type FromWorker = 'ready' | 'waiting' | 'taken' | 'leaving' | { readonly measured: MetricValues } | 'asks for metrics' | Failed;
/**
 * Messages to a worker: here is a connection; the service will end soon; end, since no more connections will follow;
 * send the metrics; the metrics of all workers; an attempt that failed at another worker; attempts that failed before
 * this worker started.
 */
export type ToWorker =
  | 'connection'
  | 'stopping'
  | 'end'
  | 'measure'
  | { readonly metrics: string }
  | Failed
  | { readonly knownFailures: KnownFailures };
/** A failed attempt. Limits of attempts apply to all workers together. */
interface Failed {
  readonly failed: Failure;
}
/**
 * The environment variable with a worker's number. The first worker, `0`, writes the log entries about the whole
 * service.
 */
export const WORKER_VARIABLE = 'FASTI_WORKER';

export interface WorkersOptions {
  readonly count: number;
  readonly address: ListenAddress;
  /**
   * Time for which connections are still accepted after the service was asked to end, and then the time for answers,
   * both in milliseconds.
   */
  readonly noticeMs: number;
  readonly timeoutMs: number;
  readonly log: Log;
  /** Maximum time for which a connection waits for a worker, in milliseconds; for tests. */
  readonly maxWaitMs?: number;
  /** Starts the process of a worker with this number. */
  readonly launch: (number: number) => ChildProcess;
  /**
   * Called at the end: with 0, or with 1 if a worker ended before any could serve, since a replacement would fail too.
   */
  readonly onEnd: (code: number) => void;
  /** Called instead if the port cannot be opened. */
  readonly onPortError: (error: Error) => void;
}

export interface Workers {
  /** Ends all workers. A second call kills them at once. */
  readonly stop: () => void;
  /**
   * Replaces the workers one by one, each after its successor can serve, so that a new build is loaded and no
   * connection is refused. Never rejects.
   */
  readonly replace: () => Promise<void>;
  /** Returns the merged metrics of all workers. */
  readonly metrics: () => Promise<string>;
}

/** The way a worker ended; `err`: its process could not be started. */
type End = { readonly code: number | null; readonly signal: string | null } | { readonly err: unknown };

interface Worker {
  readonly process: ChildProcess;
  /** Resolves when the process has ended and its messages were read, or could not be started. */
  readonly whenEnded: Promise<End>;
  readonly number: number;
  state: 'starting' | 'waiting' | 'ready' | 'leaving';
  /**
   * Connections that were sent to the worker but not taken yet. They stay open in this process until then: if the
   * worker ends, another one gets them.
   */
  readonly pendingSockets: Socket[];
  /** The metrics that it sent last; at its end, it sends its counts. */
  lastMetrics: MetricValues;
}

/** All workers of the service, and the connections that wait for one. */
interface WorkerPool {
  readonly options: WorkersOptions;
  readonly server: Server;
  readonly workers: Set<Worker>;
  /** Connections that have not been sent to any worker yet. */
  readonly waitingSockets: Socket[];
  phase: 'starting' | 'serving' | 'stopping' | 'over';
  /** Number of connections handed out, for the rotation. */
  assignedCount: number;
  /** Failed attempts counted by all workers, for workers that start later. */
  readonly failures: FailureCounts;
  /** Counters of the workers that have ended, for the metrics. */
  endedMetrics: MetricValues;
}

/**
 * Runs the server in several processes and hands them the connections of one port. Workers that can serve get them.
 * While there are none, one waiting worker gets them and answers why it cannot serve, so that readiness describes the
 * whole service. A worker that ends unexpectedly is replaced.
 */
export function manageWorkers(options: WorkersOptions): Workers {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    keepConnection(pool, socket);
    assignConnections(pool);
  });
  const pool: WorkerPool = {
    options,
    server,
    workers: new Set(),
    waitingSockets: [],
    phase: 'starting',
    assignedCount: 0,
    failures: createFailureCounts(),
    endedMetrics: [],
  };
  handlePortErrors(server, { onRefused: options.onPortError, onLost: lostConnections(options.log) });
  for (let number = 0; number < options.count && pool.phase === 'starting'; number += 1) startWorker(pool, number);

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
/**
 * Keeps a connection until a worker can take it, for as long as a client may take to send its request: the client is
 * not read from, so it would not be noticed if it has gone.
 */
function keepConnection({ waitingSockets, options }: WorkerPool, socket: Socket): void {
  if (waitingSockets.length >= MAX_WAITING_SOCKETS) return void socket.destroy();
  waitingSockets.push(socket);
  socket.setTimeout(options.maxWaitMs ?? TIME_LIMITS.headersTimeout).on('timeout', () => {
    const index = waitingSockets.indexOf(socket);
    if (index < 0) return;
    waitingSockets.splice(index, 1);
    socket.destroy();
  });
}

/**
 * Hands connections to the workers with the fewest untaken ones, in rotation, so that a stuck worker gets no more than
 * one.
 */
function assignConnections(pool: WorkerPool): void {
  const { workers, waitingSockets } = pool;
  const connectedWorkers = [...workers].filter((worker) => worker.process.connected);
  const readyWorkers = connectedWorkers.filter(({ state }) => state === 'ready');
  const candidates = readyWorkers.length > 0 ? readyWorkers : connectedWorkers.filter(({ state }) => state === 'waiting').slice(0, 1);
  while (candidates.length > 0 && waitingSockets.length > 0) {
    const minPending = Math.min(...candidates.map(({ pendingSockets }) => pendingSockets.length));
    const leastBusy = candidates.filter(({ pendingSockets }) => pendingSockets.length === minPending);
    const worker = leastBusy[pool.assignedCount++ % leastBusy.length]!;
    const socket = waitingSockets.shift()!;
    worker.pendingSockets.push(socket);
    send(worker, 'connection', socket);
  }
}

/** Opens the port when the first worker can answer. */
function listen(pool: WorkerPool): void {
  if (pool.phase !== 'starting') return;
  pool.phase = 'serving';
  const { server, options } = pool;
  const { address, log, count } = options;
  server.listen(address, () => log.info({ address: server.address(), workers: count }, 'listening'));
}

// ------------------------------------------------------------------------------------------------- one worker
function send(worker: Worker, message: ToWorker, socket?: Socket): void {
  // A worker that is ending may have closed its channel.
  if (worker.process.connected) worker.process.send(message, socket, { keepOpen: true }, () => undefined);
}

/**
 * Starts a worker. Returns undefined if the system refuses another process; that is retried later, as after a worker
 * that has ended.
 */
function startWorker(pool: WorkerPool, number: number): Worker | undefined {
  const child = launch(pool, number);
  if (child === undefined) return undefined;
  const worker: Worker = { process: child, whenEnded: endOf(child), number, state: 'starting', pendingSockets: [], lastMetrics: [] };
  pool.workers.add(worker);
  child.on('message', (message: FromWorker) => handleMessage(pool, worker, message));
  void worker.whenEnded.then((end) => replaceEnded(pool, worker, end));
  return worker;
}

function launch(pool: WorkerPool, number: number): ChildProcess | undefined {
  try {
    return pool.options.launch(number);
  } catch (err) {
    void replaceLost(pool, number, { err });
    return undefined;
  }
}

/**
 * Waits for the end of a process, and for its last messages, which may arrive after it. A process that could not be
 * started never exits, but emits an error and has no id. Other errors do not end a process.
 */
const endOf = (child: ChildProcess): Promise<End> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      if (child.connected) child.once('disconnect', () => resolve({ code, signal }));
      else resolve({ code, signal });
    });
    child.on('error', (err) => {
      if (child.pid === undefined) resolve({ err });
    });
  });

function handleMessage(pool: WorkerPool, worker: Worker, message: FromWorker): void {
  if (typeof message === 'object') {
    if ('failed' in message) broadcastFailure(pool, worker, message);
    else {
      worker.lastMetrics = message.measured;
      worker.process.emit(METRICS_EVENT);
    }
    return;
  }
  if (message === 'asks for metrics') {
    void metricsOf(pool).then((metrics) => send(worker, { metrics }));
    return;
  }
  if (message === 'taken') worker.pendingSockets.shift()?.destroy();
  else if (message === 'leaving') void endSignalledWorker(pool, worker);
  else if (worker.state !== 'leaving') {
    if (worker.state === 'starting') send(worker, { knownFailures: pool.failures.currentWindows(new Date()) });
    worker.state = message;
    worker.process.emit(message);
    listen(pool);
  }
  assignConnections(pool);
}

/** Passes a failed attempt on to all other workers. Those that are starting get it later, with all known failures. */
function broadcastFailure({ workers, failures }: WorkerPool, sender: Worker, message: Failed): void {
  failures.addFailure(message.failed, new Date());
  for (const worker of workers) if (worker !== sender && worker.state !== 'starting') send(worker, message);
}

/** Name of the event that a worker has sent its metrics. */
const METRICS_EVENT = 'measured';
/**
 * After this time, in milliseconds, a worker counts as stuck, and only its previous counters are reported. A worker
 * without its database needs 2 seconds.
 */
const METRICS_TIMEOUT_MS = 3000;

async function metricsOf(pool: WorkerPool): Promise<string> {
  const askedWorkers = [...pool.workers].filter(({ state, process: { connected } }) => connected && state !== 'starting');
  const answers = askedWorkers.map(async (worker): Promise<Worker[]> => {
    const answer = once(worker.process, METRICS_EVENT, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
    send(worker, 'measure');
    return answer.then(
      () => [worker],
      () => [],
    );
  });
  const answeredWorkers = new Set((await Promise.all(answers)).flat());
  const parts = [...pool.workers].map((worker) => (answeredWorkers.has(worker) ? worker.lastMetrics : cumulativeOf(worker.lastMetrics)));
  return metricsPage([...parts, pool.endedMetrics]);
}

/**
 * Ends a worker that received a signal, unless the whole service is stopping: its workers take connections until the
 * port is closed, and are ended then.
 */
async function endSignalledWorker(pool: WorkerPool, worker: Worker): Promise<void> {
  await sleep(SIGNAL_DELAY_MS);
  if (pool.phase === 'starting' || pool.phase === 'serving') await endWorker(pool, worker);
}

/** Ends a worker that gets no more connections, and waits until it has ended. */
async function endWorker({ options: { timeoutMs } }: WorkerPool, worker: Worker): Promise<void> {
  if (worker.state !== 'leaving') {
    worker.state = 'leaving';
    send(worker, 'end');
    const killTimer = setTimeout(() => worker.process.kill('SIGKILL'), timeoutMs + SHUTDOWN_GRACE_MS);
    void worker.whenEnded.then(() => clearTimeout(killTimer));
  }
  await worker.whenEnded;
}

/** Replaces a worker that has ended: hands its connections to others and starts a new one. */
async function replaceEnded(pool: WorkerPool, worker: Worker, end: End): Promise<void> {
  pool.workers.delete(worker);
  pool.endedMetrics = mergeMetrics([pool.endedMetrics, cumulativeOf(worker.lastMetrics)]);
  if (pool.phase === 'over') return;
  for (const socket of worker.pendingSockets) socket.setTimeout(socket.timeout ?? 0);
  pool.waitingSockets.unshift(...worker.pendingSockets);
  assignConnections(pool);
  if (pool.phase === 'stopping') endWithoutWorkers(pool);
  else await replaceLost(pool, worker.number, worker.state === 'leaving' ? undefined : { ...end, worker: worker.process.pid });
}

/** Starts a worker of this number after a pause, unless there is one by then. `fault`: the log entry. */
async function replaceLost(pool: WorkerPool, number: number, fault: object | undefined): Promise<void> {
  const { workers, options } = pool;
  if (fault) options.log.error(fault, 'err' in fault ? 'a worker could not be started' : 'a worker has ended');
  if (pool.phase === 'starting') {
    pool.phase = 'over';
    killAll(pool);
    options.onEnd(1);
    return;
  }
  await sleep(RESTART_DELAY_MS);
  if (isServing(pool) && ![...workers].some((worker) => worker.number === number)) startWorker(pool, number);
}

/** Whether the pool is serving. Called after each wait, since the phase may have changed. */
const isServing = ({ phase }: WorkerPool): boolean => phase === 'serving';

// ------------------------------------------------------------------------------------------------- all workers
function killAll({ workers }: WorkerPool): void {
  for (const worker of workers) worker.process.kill('SIGKILL');
}

/** Ends a stopping service once it has no workers. */
function endWithoutWorkers(pool: WorkerPool): void {
  if (pool.phase !== 'stopping' || pool.workers.size > 0) return;
  pool.phase = 'over';
  pool.options.log.info('stopped');
  pool.options.onEnd(0);
}

/** Ends all workers. A second call kills them at once. */
async function stopAll(pool: WorkerPool): Promise<void> {
  const { workers, server, options } = pool;
  if (pool.phase === 'stopping' || pool.phase === 'over') {
    killAll(pool);
    return;
  }
  const wasServing = isServing(pool);
  pool.phase = 'stopping';
  options.log.info('stopping');
  for (const worker of workers) send(worker, 'stopping');
  if (wasServing) {
    await sleep(options.noticeMs);
    await closePort(server, options.address, performance.now() + options.timeoutMs);
  }
  for (const worker of workers) void endWorker(pool, worker);
  // The last worker may have ended already, without a replacement.
  endWithoutWorkers(pool);
}

async function replaceAll(pool: WorkerPool): Promise<void> {
  const { workers, options } = pool;
  const { log, count } = options;
  if (!isServing(pool)) return;
  log.info({ workers: count }, 'replacing the workers');
  for (const worker of [...workers]) {
    // A worker that has ended in the meantime has been replaced, or soon will be.
    if (!workers.has(worker)) continue;
    const isReplaced = await replaceOne(pool, worker);
    if (!isServing(pool)) return;
    if (!isReplaced) {
      log.error('a new worker could not be started, so the old ones stay');
      return;
    }
  }
  log.info('the workers have been replaced');
}

/** Replaces a worker. Returns false if its successor does not start; the old worker then stays. */
async function replaceOne(pool: WorkerPool, oldWorker: Worker): Promise<boolean> {
  const newWorker = startWorker(pool, oldWorker.number);
  if (newWorker === undefined) return false;
  const whenReady = new Promise<true>((resolve) => newWorker.process.once('ready', () => resolve(true)));
  const isReady = await Promise.race([whenReady, newWorker.whenEnded.then(() => false)]);
  if (isReady) await endWorker(pool, oldWorker);
  return isReady;
}
