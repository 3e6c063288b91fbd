import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { closePort, type Place } from '../host/port.ts';
import { runnable } from '../host/runnable.ts';
import type { Log } from '../log.ts';
import { type Measured, metricsPage } from './metrics.ts';

/** Before a worker that has ended is replaced, so that a fault that lasts does not become a busy loop. */
const PAUSE_MS = 500;
/** How much longer than its answers may take a worker has for ending. */
const GRACE_MS = 5000;

/**
 * What a worker says: it can serve; it can't yet, but would tell so to whoever asks for its health; it has taken the
 * connection that came next; it was told to end by somebody else.
 */
export type FromWorker = 'ready' | 'waiting' | 'taken' | 'leaving' | { readonly measured: Measured } | 'asks for metrics';
/** What a worker is told: here is a connection; the service is about to end; end, with nothing more to come. */
export type ToWorker = 'connection' | 'stopping' | 'end' | 'measure' | { readonly metrics: string };
/**
 * The variable of the environment that tells a worker its number. The first, `0`, speaks for all of them in the log.
 */
export const WORKER = 'FASTI_WORKER';

export interface WorkersOptions {
  readonly count: number;
  readonly place: Place;
  /**
   * For how many milliseconds connections are still taken when the service is to end, and answers may still take after
   * that.
   */
  readonly notice: number;
  readonly patience: number;
  readonly log: Log;
  /**
   * Called at the end: with 0, or with 1 when a worker ended before any could ever serve, since the next would do no
   * better.
   */
  readonly ended: (code: number) => void;
  /** Called instead when the port can't be had. */
  readonly failed: (error: Error) => void;
}

export interface Workers {
  /** Ends all of them; called again, at once. */
  readonly stop: () => void;
  /**
   * Replaces them one by one, each after its successor can serve, so that a new build is loaded and no connection
   * refused.
   */
  readonly replace: () => Promise<void>;
  /** The metrics of all of them together. */
  readonly metrics: () => Promise<string>;
}

interface Member {
  readonly process: ChildProcess;
  readonly number: number;
  state: 'starting' | 'waiting' | 'ready' | 'leaving';
  /**
   * Connections that it was sent and has not taken yet. They stay open here as long: if it ends, somebody else gets
   * them.
   */
  readonly sent: Socket[];
}

/** All workers of the service, and what they have to do. */
interface Crew {
  readonly options: WorkersOptions;
  readonly server: Server;
  readonly members: Set<Member>;
  /** Connections that nobody was sent yet. */
  readonly waiting: Socket[];
  phase: 'starting' | 'serving' | 'stopping' | 'over';
  /** How many connections were handed out. */
  turn: number;
}

/**
 * Runs the server in several processes and hands them the connections of one port. Those who can serve get them; only
 * while none can, one of the others, to tell why: so readiness is true of all. A worker that ends by itself is
 * replaced.
 */
export function manageWorkers(options: WorkersOptions): Workers {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    crew.waiting.push(socket);
    handOn(crew);
  });
  const crew: Crew = { options, server, members: new Set(), waiting: [], phase: 'starting', turn: 0 };
  server.on('error', options.failed);
  for (let number = 0; number < options.count; number += 1) start(crew, number);

  let replacing: Promise<void> = Promise.resolve();
  return {
    stop: () => void stopAll(crew),
    replace: () => {
      replacing = replacing.then(() => replaceAll(crew));
      return replacing;
    },
    metrics: () => metricsOf(crew),
  };
}

// ------------------------------------------------------------------------------------------------- connections
/** Connections go in turns to those who have taken what they were sent: one that is stuck gets no more than one. */
function handOn(crew: Crew): void {
  const { members, waiting } = crew;
  const present = [...members].filter((member) => member.process.connected);
  const able = present.filter(({ state }) => state === 'ready');
  const takers = able.length > 0 ? able : present.filter(({ state }) => state === 'waiting').slice(0, 1);
  while (takers.length > 0 && waiting.length > 0) {
    const least = Math.min(...takers.map(({ sent }) => sent.length));
    const idle = takers.filter(({ sent }) => sent.length === least);
    const taker = idle[crew.turn++ % idle.length]!;
    const socket = waiting.shift()!;
    taker.sent.push(socket);
    tell(taker, 'connection', socket);
  }
}

/** Opens the port, the first time that a worker can answer. */
function listen(crew: Crew): void {
  if (crew.phase !== 'starting') return;
  crew.phase = 'serving';
  const { server, options } = crew;
  const { place, log, count } = options;
  server.listen(place, () => log.info({ address: server.address(), workers: count }, 'listening'));
}

// ------------------------------------------------------------------------------------------------- one worker
function tell(member: Member, word: ToWorker, socket?: Socket): void {
  // One that is going may hear nothing any more.
  if (member.process.connected) member.process.send(word, socket, { keepOpen: true }, () => undefined);
}

function start(crew: Crew, number: number): Member {
  const child = fork(runnable('main'), { env: { ...process.env, [WORKER]: String(number) } });
  const member: Member = { process: child, number, state: 'starting', sent: [] };
  crew.members.add(member);
  child.on('message', (word: FromWorker) => hear(crew, member, word));
  child.on('error', () => undefined);
  child.once('exit', (code, signal) => void ended(crew, member, { code, signal }));
  return member;
}

function hear(crew: Crew, member: Member, word: FromWorker): void {
  if (typeof word === 'object') {
    member.process.emit(MEASURED, word.measured);
    return;
  }
  if (word === 'asks for metrics') {
    void metricsOf(crew).then((metrics) => tell(member, { metrics }));
    return;
  }
  if (word === 'taken') member.sent.shift()?.destroy();
  else if (word === 'leaving') void leave(crew, member);
  else if (member.state !== 'leaving') {
    member.state = word;
    member.process.emit(word);
    listen(crew);
  }
  handOn(crew);
}

/** The name of the event that a worker has sent its numbers. */
const MEASURED = 'measured';
/** A worker that is stuck is left out of the metrics. */
const MEASURE_MS = 2000;

async function metricsOf({ members }: Crew): Promise<string> {
  const asked = [...members].filter(({ state, process: { connected } }) => connected && state !== 'starting');
  const parts = await Promise.all(
    asked.map(async (member): Promise<Measured[]> => {
      const answer = once(member.process, MEASURED, { signal: AbortSignal.timeout(MEASURE_MS) });
      tell(member, 'measure');
      return answer.then(
        ([measured]) => [measured as Measured],
        () => [],
      );
    }),
  );
  return metricsPage(parts.flat());
}

/** Makes a worker end that gets no connections any more, and waits until it has. */
async function leave({ options: { patience } }: Crew, member: Member): Promise<void> {
  if (member.state === 'leaving') return;
  member.state = 'leaving';
  const left = once(member.process, 'exit');
  tell(member, 'end');
  const late = setTimeout(() => member.process.kill('SIGKILL'), patience + GRACE_MS);
  await left;
  clearTimeout(late);
}

/** What follows when a worker has ended: its connections go to others, and another worker takes its place. */
async function ended(crew: Crew, member: Member, end: { readonly code: number | null; readonly signal: string | null }): Promise<void> {
  const { members, options } = crew;
  members.delete(member);
  if (crew.phase === 'over') return;
  crew.waiting.unshift(...member.sent);
  handOn(crew);
  if (crew.phase === 'stopping') {
    if (members.size > 0) return;
    options.log.info('stopped');
    options.ended(0);
    return;
  }
  if (member.state !== 'leaving') options.log.error({ worker: member.process.pid, ...end }, 'a worker has ended');
  if (crew.phase === 'starting') {
    crew.phase = 'over';
    killAll(crew);
    options.ended(1);
    return;
  }
  await sleep(PAUSE_MS);
  if (isServing(crew) && ![...members].some(({ number }) => number === member.number)) start(crew, member.number);
}

/** Asked where time has passed: the phase may be another one by then. */
const isServing = ({ phase }: Crew): boolean => phase === 'serving';

// ------------------------------------------------------------------------------------------------- all workers
function killAll({ members }: Crew): void {
  for (const member of members) member.process.kill('SIGKILL');
}

/** Ends all workers; called again, at once. */
async function stopAll(crew: Crew): Promise<void> {
  const { members, server, options } = crew;
  if (crew.phase === 'stopping') {
    killAll(crew);
    return;
  }
  const served = isServing(crew);
  crew.phase = 'stopping';
  options.log.info('stopping');
  for (const member of members) tell(member, 'stopping');
  if (served) {
    await sleep(options.notice);
    await closePort(server, options.place);
  }
  for (const member of members) void leave(crew, member);
}

async function replaceAll(crew: Crew): Promise<void> {
  const { members, options } = crew;
  const { log, count } = options;
  log.info({ workers: count }, 'replacing the workers');
  for (const member of [...members]) {
    if (!isServing(crew)) return;
    if (!(await replaceOne(crew, member))) {
      log.error('a new worker did not come up, so the others stay');
      return;
    }
  }
  log.info('the workers are replaced');
}

/** Puts another in the place of one. False: the other does not come up, so the one stays. */
async function replaceOne(crew: Crew, old: Member): Promise<boolean> {
  const next = start(crew, old.number);
  const came = await Promise.race([once(next.process, 'ready').then(() => true), once(next.process, 'exit').then(() => false)]);
  if (came) await leave(crew, old);
  return came;
}
