import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createAnswerCache } from '../../src/http/answer-cache.ts';
import { createTurns } from '../../src/http/turns.ts';
import type { Site } from '../../src/site.ts';
import type { Version } from '../../src/storage/freshness/freshness.ts';
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
    const version: Version = { name: 'one', count: 1, at: performance.now(), mayServe, mayBuildOn: mayServe };
    const freshness = { ...running.site.freshness, cachedVersion: () => version, version: async () => version };
    let isNew = false;
    const compute = async ({ memory }: Site) => {
      isNew = true;
      const known = memory!.recall(RECORD);
      if (!known) memory!.keep(RECORD, { value: reads, dependencies: [] });
      const body = Buffer.from(String(known?.value ?? reads));
      return { status: 200, headers: {}, body, expiresAt: Number.POSITIVE_INFINITY, isShareable: true };
    };
    const req = { method: 'GET', url: key, headers: {}, socket: {} } as unknown as IncomingMessage;
    const { body } = await answers.getOrCompute(req, { key, site: { ...running.site, freshness }, compute });
    return `${body}${isNew ? ', made anew' : ''}`;
  };

  it('builds answers from cached records', async () => {
    expect(await ask('/1', 'first')).toBe('first, made anew');
    expect(await ask('/1', 'second')).toBe('first');
    expect(await ask('/2', 'second')).toBe('first, made anew');
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
