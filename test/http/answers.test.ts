import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createAnswerCache } from '../../src/http/answer-cache.ts';
import { createTurns, type Turns } from '../../src/http/turns.ts';
import type { Site } from '../../src/site.ts';
import type { Version } from '../../src/storage/freshness/freshness.ts';
import { dependingOn } from '../../src/storage/journal/dependencies.ts';
import type { JournalEntry } from '../../src/storage/journal/entries.ts';
import type { JournalFeed, JournalListener } from '../../src/storage/journal/feed.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

const RECORD = 'a record';

describeDatabases('answer cache', (open) => {
  let running: RunningSite;
  /** Values that were read before this moment may not be served any more. */
  let oldest: number;
  let answers: ReturnType<typeof createAnswerCache>;
  beforeAll(async () => {
    running = await serveDatabase(await loadSite(await open()));
  });
  beforeEach(() => {
    oldest = 0;
    answers = createAnswerCache({ bytes: 1e7, clock: () => new Date(), turns: createTurns(2) });
  });
  afterAll(() => running.close());

  /** Requests a URL that shows the record and marks whether the answer was computed; `reads` is its current value. */
  const ask = async (key: string, reads: string) => {
    const mayServe: Version['mayServe'] = (read) => read.oldest >= oldest;
    const version: Version = { name: 'one', count: 1, at: performance.now(), mayServe, mayBuildOn: mayServe, completeUntil: 0 };
    const freshness = { ...running.site.freshness, cachedVersion: () => version, version: async () => version };
    let isNew = false;
    const compute = async ({ memory }: Site) => {
      isNew = true;
      const known = memory!.recall(RECORD);
      if (!known) memory!.keep(RECORD, { value: reads, dependencies: [] });
      const body = Buffer.from(String(known?.value ?? reads));
      return { status: 200, headers: {}, body, expiresAt: Number.POSITIVE_INFINITY, isShareable: true };
    };
    const req = { method: 'GET', url: key, headers: {}, socket: new EventEmitter() } as unknown as IncomingMessage;
    const { body } = await answers.getOrCompute(req, { key, site: { ...running.site, freshness }, compute });
    return `${body}${isNew ? ', made anew' : ''}`;
  };

  it('builds answers from cached records', async () => {
    expect(await ask('/1', 'first')).toBe('first, made anew');
    expect(await ask('/1', 'second')).toBe('first');
    expect(await ask('/2', 'second')).toBe('first, made anew');
  });

  it('gives no caller an answer that repeats the request of another', async () => {
    const askWith = (query: string) => {
      const always = () => true;
      const version: Version = { name: 'one', count: 1, at: performance.now(), mayServe: always, mayBuildOn: always, completeUntil: 0 };
      const freshness = { ...running.site.freshness, cachedVersion: () => version, version: async () => version };
      const compute = async () => {
        await new Promise((next) => setImmediate(next));
        return { status: 301, headers: {}, body: Buffer.from(query), expiresAt: 0, isShareable: false };
      };
      const req = { method: 'GET', url: `/1?${query}`, headers: {}, socket: new EventEmitter() } as unknown as IncomingMessage;
      return answers.getOrCompute(req, { key: '/1', site: { ...running.site, freshness }, compute });
    };
    const queries = ['a', 'b', 'c', 'd', 'e'];
    // With one turn, some join an answer in progress only when it is their turn.
    for (const turns of [createTurns(5), createTurns(1)]) {
      answers = createAnswerCache({ bytes: 1e7, clock: () => new Date(), turns });
      const got = await Promise.all(queries.map((query) => askWith(query)));
      expect(got.map(({ body }) => String(body))).toEqual(queries);
    }
  });

  it('keeps no answer of a request that waited for its turn while the database was replaced by an older state', async () => {
    const listeners: JournalListener[] = [];
    const journal: JournalFeed = {
      position: () => 0,
      advanceTo: async () => undefined,
      subscribe: (listener) => {
        listeners.push(listener);
        return () => undefined;
      },
    };
    const tell = (entry: Pick<JournalEntry, 'number' | 'kind' | 'type' | 'object'>) => {
      const rest = { at: '', what: 'changed', writer: 'fasti', user: 0, wasPublic: true, isPublic: true } as const;
      for (const listener of listeners) listener([{ ...entry, ...rest }]);
    };
    let whileWaiting = (): void => undefined;
    const turns: Turns = { ...createTurns(2), run: (_, work) => Promise.resolve(whileWaiting()).then(work) };
    answers = createAnswerCache({ bytes: 1e7, clock: () => new Date(), turns });
    const askAt = async (count: number, title: string) => {
      const always = () => true;
      const version: Version = { name: 'one', count, at: performance.now(), mayServe: always, mayBuildOn: always, completeUntil: 0 };
      const freshness = { ...running.site.freshness, cachedVersion: () => version, version: async () => version };
      const compute = async ({ db }: Site) => {
        dependingOn(db, [44]);
        return { status: 200, headers: {}, body: Buffer.from(title), expiresAt: Number.POSITIVE_INFINITY, isShareable: true };
      };
      const req = { method: 'GET', url: '/1', headers: {}, socket: new EventEmitter() } as unknown as IncomingMessage;
      return String((await answers.getOrCompute(req, { key: '/1', site: { ...running.site, freshness, journal }, compute })).body);
    };
    whileWaiting = () => tell({ number: 300, kind: 'all', type: '', object: 0 });
    expect(await askAt(500, 'older title')).toBe('older title');
    whileWaiting = () => undefined;
    tell({ number: 301, kind: 'post', type: 'tribe_events', object: 44 });
    expect(await askAt(301, 'newer title')).toBe('newer title');
  });

  it('serves an answer no longer than its oldest record', async () => {
    await ask('/1', 'first');
    const after = performance.now();
    await ask('/2', 'second');
    await ask('/3', 'second');
    oldest = after;
    expect(await ask('/3', 'third')).toBe('third, made anew');
    expect(await ask('/2', 'third')).toBe('third, made anew');
  });
});
