import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';

/** Before a worker that has ended is replaced, so that a fault that lasts does not become a busy loop. */
const PAUSE_MS = 500;

/**
 * Runs the server in several processes on one port. One that ends by itself is replaced; told to end, all are told, and this ends with the last.
 * `failed`: called when one ends before any of them could ever listen, since the next would do no better.
 */
export function manageWorkers(count: number, log: Log, failed: () => void): void {
  let stopping = false;
  let listened = false;

  const tellAll = (signal: NodeJS.Signals) => {
    stopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal);
  };
  cluster.on('listening', () => {
    listened = true;
  });
  cluster.on('exit', async ({ process: { pid } }, code, signal) => {
    if (stopping) return;
    log.error({ worker: pid, code, signal }, 'a worker has ended');
    if (!listened) {
      tellAll('SIGTERM');
      return failed();
    }
    await sleep(PAUSE_MS);
    if (!stopping) cluster.fork();
  });
  process.on('SIGTERM', tellAll).on('SIGINT', tellAll);
  for (let started = 0; started < count; started += 1) cluster.fork();
}
