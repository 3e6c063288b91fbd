import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate as settled } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAnswerCache } from '../../src/http/answer-cache.ts';
import type { Answer } from '../../src/http/deliver.ts';
import { createTurns } from '../../src/http/turns.ts';
import type { Site } from '../../src/site.ts';
import { createFreshness, type ProbeResult, type Version } from '../../src/storage/freshness/freshness.ts';
import { dependingOn } from '../../src/storage/journal/dependencies.ts';
import type { JournalFeed, JournalListener } from '../../src/storage/journal/feed.ts';
import { type Course, course, OBJECTS, watchServer } from '../support/watched-server.ts';

/*
 * Clients of the real cache, on a simulated server and its clock: no request gets an older state of an object than a
 * request with the same key got before it, or any request whose answer was not kept.
 */

const KEYS = ['0', '1', '2', '012', '210'];
const CLIENTS = 4;
/** An object that no answer shows: its changes only increase the counter. */
const OTHER = 99;

/** A database that nobody asks. */
const db = new Proxy({}, { get: (_, name) => (name === 'tracker' ? undefined : () => undefined) });

/** For each object, the least number of the value that the next answer may show. */
type Floor = number[];

async function run(one: Course): Promise<{ wrong: string[]; hits: number }> {
  const wrong: string[] = [];
  let hits = 0;
  const { feed, tell } = createFeed();
  const waiting: ((result: ProbeResult | undefined) => void)[] = [];
  const asking: ((result: ProbeResult | undefined) => void)[] = [];
  let told = 0;
  const { server, random, journal, end } = watchServer(one, (_, { isFresh, mayServe, mayBuildOn, completeUntil }) => {
    for (; told < journal.length; told += 1) tell(journal[told]!);
    const result: ProbeResult = {
      name: 'taken over',
      count: told,
      mayServe: ({ from, until }) => mayServe(from, until),
      mayBuildOn: ({ from, until }) => mayBuildOn(from, until),
      completeUntil,
    };
    for (const resolve of waiting.splice(0)) resolve(isFresh ? result : undefined);
    // A look that begins later answers these.
    waiting.push(...asking.splice(0));
  });
  const now = server.now;
  const freshness = createFreshness(() => new Promise<ProbeResult | undefined>((resolve) => asking.push(resolve)), {
    validMs: 100,
    clock: now,
  });
  const turns = { ...createTurns(CLIENTS), run: <T>(_: IncomingMessage, work: () => Promise<T>) => work() };
  const answers = createAnswerCache({ bytes: 1e7, clock: () => new Date(0), turns, now });
  const site = { freshness, journal: feed, db } as unknown as Site;
  const wait = (milliseconds: number) =>
    new Promise<void>((resolve) => server.at(now() + Math.floor(random() * milliseconds), () => resolve()));

  const zeros = (): Floor => OBJECTS.map(() => 0);
  const floors = new Map(KEYS.map((key) => [key, zeros()]));
  const ofAll = zeros();
  const read = async ({ memory, db: tracked }: Site, object: number): Promise<number> => {
    dependingOn(tracked, [object + 1]);
    const known = random() < 0.8 ? memory?.recall(String(object)) : undefined;
    if (known) return Number(known.value);
    await wait(60);
    const value = server.value(object);
    await wait(60);
    memory?.keep(String(object), { value, dependencies: [object + 1] });
    return value;
  };
  const ask = async (key: string): Promise<void> => {
    const before = OBJECTS.map((_, object) => Math.max(floors.get(key)![object]!, ofAll[object]!));
    const req = { method: 'GET', url: key, headers: {}, socket: new EventEmitter() } as unknown as IncomingMessage;
    let [isNew, isKept] = [false, true];
    const compute = async (from: Site): Promise<Answer> => {
      [isNew, isKept] = [true, from.memory !== undefined];
      const shown: number[] = [];
      for (const object of key) shown.push(await read(from, Number(object)));
      return { status: 200, headers: {}, body: Buffer.from(shown.join()), expiresAt: Number.POSITIVE_INFINITY, isShareable: true };
    };
    const shown = String((await answers.getOrCompute(req, { key, site, compute })).body).split(',');
    if (!isNew) hits += 1;
    for (const [place, value] of shown.entries()) {
      const object = Number(key[place]);
      const number = server.valuesOf(object).indexOf(Number(value), before[object]);
      if (number === -1) wrong.push(`at ${now()}: ${key} shows an older state of ${object}`);
      for (const floor of [floors.get(key)!, ...(isKept ? [] : [ofAll])]) floor[object] = Math.max(floor[object]!, number);
    }
  };
  const client = async (): Promise<void> => {
    while (now() < end) {
      await ask(KEYS[Math.floor(random() * KEYS.length)]!);
      // This process writes, or another one writes something else.
      if (random() < 0.1) freshness.forget();
      if (random() < 0.1) journal.push({ object: OTHER, number: journal.length + 1 });
      await wait(random() < 0.1 ? 1500 : 50);
    }
  };
  let isOver = false;
  const clients = Promise.all(Array.from({ length: CLIENTS }, client)).finally(() => {
    isOver = true;
  });
  for (; !isOver; await settled()) {
    // After the last look, nothing may be kept.
    if (!server.step()) for (const resolve of [...waiting.splice(0), ...asking.splice(0)]) resolve(undefined);
  }
  await clients;
  return { wrong, hits };
}

function createFeed(): { feed: JournalFeed; tell: (entry: { readonly object: number; readonly number: number }) => void } {
  const listeners: JournalListener[] = [];
  const rest = {
    kind: 'post',
    type: 'tribe_events',
    at: '',
    what: 'changed',
    writer: 'found',
    user: 0,
    wasPublic: true,
    isPublic: true,
  } as const;
  return {
    feed: {
      position: () => 0,
      advanceTo: async () => undefined,
      subscribe: (listener) => {
        listeners.push(listener);
        return () => undefined;
      },
    },
    tell: ({ object, number }) => {
      for (const listener of listeners) listener([{ ...rest, object: object + 1, number }]);
    },
  };
}

it('shows no older state than an earlier answer, whatever the server shows of its commits', async () => {
  let hits = 0;
  await fc.assert(
    fc.asyncProperty(course, async (one) => {
      const { wrong, hits: found } = await run(one);
      hits += found;
      expect(wrong.slice(0, 2)).toEqual([]);
    }),
    { numRuns: Number(process.env.MODEL_RUNS ?? 100) },
  );
  expect(hits).toBeGreaterThan(0);
});

const always = () => true;
const { feed: silentFeed } = createFeed();

/** A cache whose version and clock the test sets. An answer shows the value that could be read when it was computed. */
function startCache() {
  const state = { now: 1000, value: 'old', ends: [] as (() => void)[], waits: false, readsAtEnd: false, turn: Promise.resolve() };
  const versionAt = (count: number, more: Partial<Version> = {}): Version => ({
    name: 'taken over', count, at: state.now, mayServe: always, mayBuildOn: always, completeUntil: 500, ...more,
  }); // biome-ignore format: short members
  const run = async <T>(_: IncomingMessage, work: () => Promise<T>) => {
    await state.turn;
    return work();
  };
  const turns = { ...createTurns(CLIENTS), run };
  const answers = createAnswerCache({ bytes: 1e7, clock: () => new Date(0), turns, now: () => state.now });
  const ask = async (version: Version | undefined, key = 'list'): Promise<string> => {
    state.now += 10;
    const freshness = { cachedVersion: () => version, version: async () => version };
    const compute = async ({ memory, db: tracked }: Site): Promise<Answer> => {
      dependingOn(tracked, [1]);
      const { readsAtEnd } = state;
      const readNow = String(memory?.recall('record')?.value ?? state.value);
      memory?.keep('record', { value: readNow, dependencies: [1] });
      if (state.waits) await new Promise<void>((resolve) => state.ends.push(resolve));
      const value = readsAtEnd ? state.value : readNow;
      return { status: 200, headers: {}, body: Buffer.from(value), expiresAt: Number.POSITIVE_INFINITY, isShareable: true };
    };
    const req = { method: 'GET', url: key, headers: {}, socket: new EventEmitter() } as unknown as IncomingMessage;
    const site = { freshness, journal: silentFeed, db } as unknown as Site;
    return String((await answers.getOrCompute(req, { key, site, compute })).body);
  };
  return { state, versionAt, ask };
}

it('serves no answer and no record from before an answer that was not kept, until all changes are known', async () => {
  const { state, versionAt, ask } = startCache();
  expect(await ask(versionAt(1))).toBe('old');
  state.value = 'new';
  expect(await ask(versionAt(1))).toBe('old');
  expect(await ask(undefined)).toBe('new');
  expect(await ask(versionAt(1))).toBe('new');
  expect(await ask(versionAt(1), 'other list')).toBe('new');
});

it('serves earlier answers again once all changes are known that an answer may have shown', async () => {
  const { state, versionAt, ask } = startCache();
  await ask(versionAt(1));
  state.value = 'of another record';
  await ask(undefined, 'other list');
  const complete = { completeUntil: state.now };
  expect(await ask(versionAt(1, { ...complete, mayBuildOn: () => false }))).toBe('of another record');
  expect(await ask(versionAt(1, complete), 'third list')).toBe('of another record');
  const before = startCache();
  await before.ask(before.versionAt(1));
  before.state.value = 'of another record';
  await before.ask(undefined, 'other list');
  expect(await before.ask(before.versionAt(1, { completeUntil: before.state.now }))).toBe('old');
});

it.each([
  ['it ends after that one', { order: [1, 0], shown: ['new', 'new', 'new'] }],
  ['it ends before that one', { order: [0, 1], shown: ['old', 'old', 'old'] }],
  ['it is too old when that one ends', { order: [0, 1], shown: ['old', 'new', 'new'], mayServe: () => false }],
])('shows no older answer of a computation that began before another one: %s', async (_, { order, shown, ...rest }) => {
  const { state, versionAt, ask } = startCache();
  state.waits = true;
  const begins: (() => void)[] = [];
  const asked: Promise<string>[] = [];
  for (const version of [versionAt(1), versionAt(2, { at: 1005, ...rest })]) {
    state.turn = new Promise((resolve) => begins.push(resolve));
    asked.push(ask({ ...version, mayBuildOn: () => false }));
    await settled();
  }
  // Requests that wait for their turn do not join each other.
  for (const [index, value] of ['old', 'new'].entries()) {
    state.value = value;
    begins[index]!();
    await settled();
  }
  state.turn = Promise.resolve();
  const answers: string[] = [];
  for (const index of order) {
    state.ends[index]!();
    answers.push(await asked[index]!);
  }
  state.waits = false;
  expect([...answers, await ask(versionAt(2, { mayBuildOn: () => false }))]).toEqual(shown);
});

it('lets no request join a computation from before an answer that was not kept', async () => {
  const { state, versionAt, ask } = startCache();
  state.waits = true;
  const first = ask(versionAt(1));
  await settled();
  state.waits = false;
  state.value = 'new';
  expect(await ask(undefined)).toBe('new');
  const second = ask(versionAt(1));
  state.ends[0]!();
  expect([await first, await second]).toEqual(['old', 'new']);
});

it('lets no request join a computation that began before another one whose answer was kept', async () => {
  const { state, versionAt, ask } = startCache();
  state.waits = true;
  const begins: (() => void)[] = [];
  const asked: Promise<string>[] = [];
  // A change lies between the two versions, so that no answer is valid for both.
  const refusing = { mayServe: () => false };
  for (const version of [versionAt(1), versionAt(2, refusing)]) {
    state.turn = new Promise((resolve) => begins.push(resolve));
    asked.push(ask(version));
    await settled();
  }
  for (const [index, readsAtEnd] of [true, false].entries()) {
    state.readsAtEnd = readsAtEnd;
    begins[index]!();
    await settled();
  }
  Object.assign(state, { value: 'new', waits: false, turn: Promise.resolve() });
  state.ends[0]!();
  expect(await asked[0]).toBe('new');
  const third = ask(versionAt(2, refusing));
  await settled();
  state.ends[1]!();
  expect(await third).toBe('new');
  await asked[1];
});

/** Computations of an address in each second after two writes have made two of its computations overlap. */
async function computationsAfterOverlap(takesMs: number, shared: boolean): Promise<number[]> {
  const timers: { readonly at: number; readonly act: () => void }[] = [];
  let [now, count] = [1000, 1];
  const after = (milliseconds: number) => new Promise<void>((resolve) => timers.push({ at: now + milliseconds, act: resolve }));
  const { feed, tell } = createFeed();
  const wasQuiet = () => !shared;
  // While others write without pause, changes are known only up to some time ago.
  const probe = async (): Promise<ProbeResult> => {
    const result = { name: '', count, mayServe: always, mayBuildOn: wasQuiet, ...(shared ? { completeUntil: now - 600 } : {}) };
    await after(2);
    return result;
  };
  const freshness = createFreshness(probe, { validMs: 100, clock: () => now });
  const turns = { ...createTurns(CLIENTS), run: <T>(_: IncomingMessage, work: () => Promise<T>) => work() };
  const answers = createAnswerCache({ bytes: 1e7, clock: () => new Date(0), turns, now: () => now });
  const site = { freshness, journal: feed, db } as unknown as Site;
  const begun: number[] = [];
  const compute = async ({ db: tracked }: Site): Promise<Answer> => {
    dependingOn(tracked, [1]);
    begun.push(now);
    await after(takesMs);
    return { status: 200, headers: {}, body: Buffer.from('list'), expiresAt: Number.POSITIVE_INFINITY, isShareable: true };
  };
  const write = (object: number) => {
    count += 1;
    tell({ object, number: count });
    freshness.forget();
  };
  const ask = () => {
    const req = { method: 'GET', url: 'list', headers: {}, socket: new EventEmitter() } as unknown as IncomingMessage;
    if (!answers.findCached(req, 'list', site)) void answers.getOrCompute(req, { key: 'list', site, compute });
  };
  for (const written = { first: now + 1000, second: now + 1020 }; now < 6000; now += 1) {
    if (Object.values(written).includes(now)) write(0);
    if (shared && now % 50 === 0) write(OTHER);
    if (now % 5 === 0) ask();
    for (const due of timers.splice(0)) (due.at <= now ? due.act : () => timers.push(due))();
    await settled();
  }
  return [2020, 3020, 4020].map((from) => begun.filter((at) => at > from && at <= from + 1000).length);
}

it.each([40, 100])('computes a busy address once after two overlapping computations of %i ms', async (takesMs) => {
  expect(await computationsAfterOverlap(takesMs, false)).toEqual([1, 0, 0]);
});

it('serves a busy address from memory while others write something else', async () => {
  expect(await computationsAfterOverlap(120, true)).toEqual([1, 0, 0]);
});
