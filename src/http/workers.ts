import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { closePort, type Place } from '../host/port.ts';
import { runnable } from '../host/runnable.ts';
import type { Log } from '../log.ts';

/** Before a worker that has ended is replaced, so that a fault that lasts does not become a busy loop. */
const PAUSE_MS = 500;
/** How much longer than its answers may take a worker has for ending. */
const GRACE_MS = 5000;

/**
 * What a worker says: it can serve; it can't yet, but would tell so to whoever asks for its health; it has taken the connection that came next; it was told
 * to end by somebody else.
 */
export type FromWorker = 'ready' | 'waiting' | 'taken' | 'leaving';
/** What a worker is told: here is a connection; the service is about to end; end, with nothing more to come. */
export type ToWorker = 'connection' | 'stopping' | 'end';
/** The variable of the environment that tells a worker its number. The first, `0`, speaks for all of them in the log. */
export const WORKER = 'FASTI_WORKER';

export interface WorkersOptions {
  readonly count: number;
  readonly place: Place;
  /** For how many milliseconds connections are still taken when the service is to end, and answers may still take after that. */
  readonly notice: number;
  readonly patience: number;
  readonly log: Log;
  /** Called at the end: with 0, or with 1 when a worker ended before any could ever serve, since the next would do no better. */
  readonly ended: (code: number) => void;
  /** Called instead when the port can't be had. */
  readonly failed: (error: Error) => void;
}

export interface Workers {
  /** Ends all of them; called again, at once. */
  readonly stop: () => void;
  /** Replaces them one by one, each after its successor can serve, so that a new build is loaded and no connection refused. */
  readonly replace: () => Promise<void>;
}

interface Member {
  readonly process: ChildProcess;
  readonly number: number;
  state: 'starting' | 'waiting' | 'ready' | 'leaving';
  /** Connections that it was sent and has not taken yet. They stay open here as long: if it ends, somebody else gets them. */
  readonly sent: Socket[];
}

/**
 * Runs the server in several processes and hands them the connections of one port. Those who can serve get them; only while none can, one of the others, to
 * tell why: so readiness is true of all. A worker that ends by itself is replaced.
 */
export function manageWorkers({ count, place, notice, patience, log, ended, failed }: WorkersOptions): Workers {
  const members = new Set<Member>();
  const waiting: Socket[] = [];
  let phase: 'starting' | 'serving' | 'stopping' | 'over' = 'starting';
  let turn = 0;

  const server = createServer({ pauseOnConnect: true }, (socket) => {
    waiting.push(socket);
    handOn();
  });
  server.on('error', failed);
  const listen = (): void => {
    if (phase !== 'starting') return;
    phase = 'serving';
    server.listen(place, () => log.info({ address: server.address(), workers: count }, 'listening'));
  };

  const tell = (member: Member, word: ToWorker, socket?: Socket): void => {
    // One that is going may hear nothing any more.
    if (member.process.connected) member.process.send(word, socket, { keepOpen: true }, () => undefined);
  };

  /** Connections go in turns to those who have taken what they were sent: one that is stuck gets no more than one. */
  const handOn = (): void => {
    const present = [...members].filter((member) => member.process.connected);
    const able = present.filter(({ state }) => state === 'ready');
    const takers = able.length > 0 ? able : present.filter(({ state }) => state === 'waiting').slice(0, 1);
    while (takers.length > 0 && waiting.length > 0) {
      const least = Math.min(...takers.map(({ sent }) => sent.length));
      const idle = takers.filter(({ sent }) => sent.length === least);
      const taker = idle[turn++ % idle.length]!;
      const socket = waiting.shift()!;
      taker.sent.push(socket);
      tell(taker, 'connection', socket);
    }
  };

  const fill = (number: number): Member => {
    const child = fork(runnable('main'), { env: { ...process.env, [WORKER]: String(number) } });
    const member: Member = { process: child, number, state: 'starting', sent: [] };
    members.add(member);
    child.on('message', (word: FromWorker) => hear(member, word));
    child.on('error', () => undefined);
    child.once('exit', (code, signal) => void gone(member, code, signal));
    return member;
  };

  const hear = (member: Member, word: FromWorker): void => {
    if (word === 'taken') member.sent.shift()?.destroy();
    else if (word === 'leaving') void leave(member);
    else if (member.state !== 'leaving') {
      member.state = word;
      member.process.emit(word);
      listen();
    }
    handOn();
  };

  const gone = async (member: Member, code: number | null, signal: string | null): Promise<void> => {
    members.delete(member);
    if (phase === 'over') return;
    waiting.unshift(...member.sent);
    handOn();
    if (phase === 'stopping') {
      if (members.size > 0) return;
      log.info('stopped');
      ended(0);
      return;
    }
    if (member.state !== 'leaving') log.error({ worker: member.process.pid, code, signal }, 'a worker has ended');
    if (phase === 'starting') {
      phase = 'over';
      killAll();
      ended(1);
      return;
    }
    await sleep(PAUSE_MS);
    if (phase === 'serving' && ![...members].some(({ number }) => number === member.number)) fill(member.number);
  };

  /** Has one end that gets no connections any more, and waits until it has. */
  const leave = async (member: Member): Promise<void> => {
    if (member.state === 'leaving') return;
    member.state = 'leaving';
    const left = once(member.process, 'exit');
    tell(member, 'end');
    const late = setTimeout(() => member.process.kill('SIGKILL'), patience + GRACE_MS);
    await left;
    clearTimeout(late);
  };

  const killAll = (): void => {
    for (const member of members) member.process.kill('SIGKILL');
  };

  const stop = async (): Promise<void> => {
    if (phase === 'stopping') {
      killAll();
      return;
    }
    const served = phase === 'serving';
    phase = 'stopping';
    log.info('stopping');
    for (const member of members) tell(member, 'stopping');
    if (served) {
      await sleep(notice);
      await closePort(server, place);
    }
    for (const member of members) void leave(member);
  };

  /** Puts another in the place of one. False: the other does not come up, so the one stays. */
  const replaceOne = async (old: Member): Promise<boolean> => {
    const next = fill(old.number);
    const came = await Promise.race([once(next.process, 'ready').then(() => true), once(next.process, 'exit').then(() => false)]);
    if (came) await leave(old);
    return came;
  };

  let replacing: Promise<void> = Promise.resolve();
  const replaceAll = async (): Promise<void> => {
    log.info({ workers: count }, 'replacing the workers');
    for (const member of [...members]) {
      if (phase !== 'serving') return;
      if (!(await replaceOne(member))) {
        log.error('a new worker did not come up, so the others stay');
        return;
      }
    }
    log.info('the workers are replaced');
  };

  for (let number = 0; number < count; number += 1) fill(number);
  return {
    stop: () => void stop(),
    replace: () => {
      replacing = replacing.then(replaceAll);
      return replacing;
    },
  };
}
