import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { manageWorkers, type ToWorker, type Workers } from '../../src/http/workers.ts';
import { createLog } from '../../src/log.ts';
import { until } from '../support/until.mjs';

/** Fate of a process to start: it is ready at once or when the test says so, or it fails to start. */
type Fate = 'ready' | 'slow' | 'error' | 'throws';

/** A process that only reports that it is ready, and ends when it is told to. */
interface Fake {
  readonly number: number;
  readonly ready: () => void;
  readonly end: (code: number | null) => void;
  readonly getStuck: () => void;
  readonly process: ChildProcess;
}

/** Metrics that each process reports: how many requests it has answered. */
const measured = (requests: number) => [
  { name: 'requests_total', help: 'Requests.', type: 'counter', aggregator: 'sum', values: [{ value: requests, labels: {} }] },
  {
    name: 'seconds',
    help: 'Seconds.',
    type: 'histogram',
    aggregator: 'sum',
    values: [{ value: 10, labels: {}, metricName: 'seconds_count' }],
  },
  { name: 'used', help: 'In use.', type: 'gauge', aggregator: 'sum', values: [{ value: 1, labels: {} }] },
];

interface Service {
  readonly workers: Workers;
  /** All started processes, oldest first. */
  readonly started: readonly Fake[];
  /** Numbers of the running processes. */
  readonly running: () => number[];
  readonly log: readonly string[];
  /** Connects to the port. */
  readonly connect: () => Socket;
  /** Resolves with the exit code of the service. */
  readonly ended: Promise<number>;
  /** Sets the fate of the next processes. */
  decide: (fate: Fate) => void;
}

let service: Service | undefined;
afterEach(() => {
  service?.workers.stop();
  service = undefined;
});

function serve(count: number, first: Fate = 'ready', maxWaitMs = 60_000): Service {
  let fate = first;
  const [started, log]: [Fake[], string[]] = [[], []];
  const alive = new Set<Fake>();
  let port = 0;
  let finish: (code: number) => void;
  const ended = new Promise<number>((resolve) => {
    finish = resolve;
  });
  const workers = manageWorkers({
    count,
    address: { port: 0, host: '127.0.0.1' },
    noticeMs: 0,
    timeoutMs: 0,
    maxWaitMs,
    log: createLog(
      { logLevel: 'info' },
      {
        write: (line) => {
          const { msg, address } = JSON.parse(line) as { msg: string; address?: { port: number } };
          port = address?.port ?? port;
          log.push(msg);
        },
      },
    ),
    launch: (number) => {
      if (fate === 'throws') throw new Error('spawn ENOMEM');
      const fake = fakeProcess(number, fate, alive);
      if (fate !== 'error') started.push(fake);
      return fake.process;
    },
    onEnd: (code) => finish(code),
    onPortError: () => undefined,
  });
  const decide = (next: Fate): void => {
    fate = next;
  };
  service = {
    workers,
    started,
    running: () => [...alive].map(({ number }) => number).sort(),
    log,
    connect: () => connect(port, '127.0.0.1'),
    ended,
    decide,
  };
  return service;
}

function fakeProcess(number: number, fate: Fate, alive: Set<Fake>): Fake {
  const emitter = new EventEmitter();
  let stuck = false;
  const getStuck = (): void => {
    stuck = true;
  };
  const end = (code: number | null): void => {
    if (!alive.delete(fake)) return;
    emitter.emit('exit', code, code === null ? 'SIGKILL' : null);
    // Messages that a process sent before its end may be read after it.
    setImmediate(() => {
      if (code === 0) emitter.emit('message', { measured: measured(15) });
      process.connected = false;
      emitter.emit('disconnect');
    });
  };
  const ready = (): void => void emitter.emit('message', 'ready');
  const process = Object.assign(emitter, {
    pid: fate === 'error' ? undefined : 1000 + number,
    connected: fate !== 'error',
    send: (word: ToWorker) => {
      if (word === 'connection') emitter.emit('handed');
      if (word === 'end') queueMicrotask(() => end(0));
      if (word === 'measure' && !stuck) queueMicrotask(() => emitter.emit('message', { measured: measured(10) }));
    },
    kill: () => end(null),
  });
  const fake: Fake = { number, ready, end, getStuck, process: process as unknown as ChildProcess };
  if (fate !== 'error') alive.add(fake);
  queueMicrotask(() => {
    if (fate === 'ready') ready();
    if (fate === 'error') emitter.emit('error', new Error('spawn EAGAIN'));
  });
  return fake;
}

/** A service whose workers are all ready. */
async function served(count: number, maxWaitMs?: number): Promise<Service> {
  const serving = serve(count, 'ready', maxWaitMs);
  await until('the port', () => serving.log.includes('listening'));
  return serving;
}

describe('connections while there is no worker', () => {
  /** A service whose only worker has ended, and whose next one is not ready yet. */
  const withoutWorker = async (maxWaitMs?: number): Promise<Service> => {
    const serving = await served(1, maxWaitMs);
    serving.decide('slow');
    serving.started[0]!.end(null);
    await until('its successor', () => serving.started.length === 2);
    return serving;
  };

  it('are closed at once if there are too many', async () => {
    const { connect: open } = await withoutWorker();
    let closed = 0;
    const sockets = Array.from({ length: 1010 }, () =>
      open()
        .on('close', () => {
          closed += 1;
        })
        .on('error', () => undefined),
    );
    await until('those that are too many', () => closed >= 10);
    expect(closed).toBe(10);
    for (const socket of sockets) socket.destroy();
  });

  it('are closed after a while', async () => {
    const { connect: open } = await withoutWorker(50);
    await once(
      open().on('error', () => undefined),
      'close',
    );
  });

  it('are handed to the next one', async () => {
    const { started, connect: open } = await withoutWorker();
    const socket = open().on('error', () => undefined);
    await once(socket, 'connect');
    const handed = once(started[1]!.process, 'handed');
    started[1]!.ready();
    await handed;
    socket.destroy();
  });
});

describe('replacement of workers', () => {
  it('replaces each worker once even if one of them dies meanwhile', async () => {
    const { workers, started, running, log, decide } = await served(3);
    decide('slow');
    const replaced = workers.replace();
    await until('a successor', () => started.length === 4);
    decide('ready');
    started[1]!.end(null);
    started[3]!.ready();
    await replaced;
    expect(log.at(-1)).toBe('the workers have been replaced');
    await until('a worker for the one that died', () => running().length === 3);
    expect(running()).toEqual([0, 1, 2]);
    expect(started.slice(3).map(({ number }) => number)).toEqual([0, 2, 1]);
  });

  it('completes even if a worker dies before its successor is ready', async () => {
    const { workers, started, running, decide } = await served(2);
    decide('slow');
    const replaced = workers.replace();
    await until('a successor', () => started.length === 3);
    decide('ready');
    started[0]!.end(1);
    started[2]!.ready();
    await replaced;
    await workers.replace();
    expect(running()).toEqual([0, 1]);
    expect(started.map(({ number }) => number)).toEqual([0, 1, 0, 1, 0, 1]);
  });

  it.each(['error', 'throws'] as const)('keeps the old workers until new ones can be started (%s)', async (fate) => {
    const { workers, started, running, log, decide } = await served(2);
    decide(fate);
    await workers.replace();
    expect(log.slice(-2)).toEqual(['a worker could not be started', 'a new worker could not be started, so the old ones stay']);
    expect(running()).toEqual([0, 1]);
    decide('ready');
    await workers.replace();
    expect(log.at(-1)).toBe('the workers have been replaced');
    expect(started.map(({ number }) => number)).toEqual([0, 1, 0, 1]);
  });
});

describe('metrics of workers', () => {
  const counted = async ({ workers }: Service): Promise<string[]> =>
    (await workers.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

  it('keep the last counters of replaced workers without counting them twice', async () => {
    const running = await served(2);
    expect(await counted(running)).toEqual(['requests_total 20', 'seconds_count 20', 'used 2']);
    for (const times of [1, 2]) {
      await running.workers.replace();
      expect(await counted(running)).toEqual([`requests_total ${20 + times * 30}`, `seconds_count ${20 + times * 20}`, 'used 2']);
    }
  });

  it('keep the last counters of a worker that is stuck', async () => {
    const running = await served(2);
    await counted(running);
    running.started[0]!.getStuck();
    expect(await counted(running)).toEqual(['requests_total 20', 'seconds_count 20', 'used 1']);
  });
});

describe('worker that cannot be started', () => {
  it.each(['error', 'throws'] as const)('is retried until it starts (%s)', async (fate) => {
    const { started, running, log, decide } = await served(2);
    decide(fate);
    started[1]!.end(1);
    await until('two tries', () => log.filter((msg) => msg === 'a worker could not be started').length === 2);
    decide('ready');
    await until('a worker', () => running().length === 2);
    expect(running()).toEqual([0, 1]);
  });

  it.each(['error', 'throws'] as const)('does not keep the service from stopping (%s)', async (fate) => {
    const { workers, started, log, ended, decide } = await served(1);
    decide(fate);
    started[0]!.end(1);
    await until('a try', () => log.includes('a worker could not be started'));
    workers.stop();
    expect(await ended).toBe(0);
  });

  it.each(['error', 'throws'] as const)('ends a service that has no running worker yet (%s)', async (fate) => {
    const { ended, running, log } = serve(2, fate);
    expect(await ended).toBe(1);
    expect(running()).toEqual([]);
    expect(log).toEqual(['a worker could not be started']);
  });
});
