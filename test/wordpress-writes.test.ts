import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from '@jest/globals';
import type { Connection } from 'mysql2/promise';
import { type CacheObserver, observeCache } from './support/cache-observer.ts';
import { describeMysql, urlOf } from './support/databases.ts';
import { connectTo } from './support/private-mysql.mjs';
import { type Check, checksOf, type Operation, RECORDED_ON, recordedWrites, replay, WRITER_SESSION } from './support/recorded-writes.ts';
import { serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';

/*
 * A real WordPress writes beside Fasti. All answers are cached before each operation and read by other callers during
 * it; afterwards the answers are those that WordPress gave. The cache has its default settings. SQLite does not
 * understand the statements.
 */

/**
 * The operations build on each other, and after each of them the server's clock has to advance: groups of them run in
 * parallel, on databases of their own.
 */
const PARTS = 6;
/** Cached answers may be used for up to 0.9 s: with a pause after each, more readings take longer. */
const PAUSE_MS = 50;
const READINGS = 18;
/** Number of attempts before the test fails. */
const MOST_READINGS = 3 * READINGS;

describeMysql('the answers beside a WordPress that writes', (open) => {
  it(
    'are those that WordPress gave, after each of its operations',
    async () => {
      const length = Math.ceil(recordedWrites.length / PARTS);
      const parts = Array.from({ length: PARTS }, (_, part) => replayPart(part * length, (part + 1) * length));
      const results = (await Promise.all(parts)).flat();
      expect(results).toHaveLength(recordedWrites.length);
      expect(results.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
      expect(results.filter(({ readings }) => readings > READINGS)).toEqual([]);
    },
    20 * 60_000,
  );

  /** Restores the state before the operation `first`, serves it, and replays the operations from there. */
  async function replayPart(first: number, end: number): Promise<Result[]> {
    const db = await loadSite(await open());
    const writer = await connectTo(urlOf(db), { multipleStatements: true });
    await writer.query(`USE \`${new URL(urlOf(db)).pathname.slice(1)}\`; ${WRITER_SESSION}`);
    for (const operation of recordedWrites.slice(0, first)) await replay(writer, operation);
    const running = await serveDatabase(db, {
      clock: () => RECORDED_ON,
      env: { CACHE_FRESHNESS_MS: '', SHARED_WITH_WORDPRESS: 'on' },
    });
    running.site.startFollowing();
    try {
      const results: Result[] = [];
      for (const operation of recordedWrites.slice(first, end)) results.push(await beside(observeCache(running), writer, operation));
      return results;
    } finally {
      await running.close();
      await writer.end();
    }
  }
});

interface Result {
  readonly name: string;
  readonly wrong: readonly object[];
  /** Returns the number of readings until all answers were right. */
  readonly readings: number;
}

async function beside(memory: CacheObserver, writer: Connection, operation: Operation): Promise<Result> {
  const paths = [...new Set((await checksOf(operation, writer)).flatMap((check) => check.paths))];
  await memory.warm(...paths);
  let next = 0;
  await replay(writer, operation, async () => {
    // Each intermediate state is read, and its answers may be cached.
    next += 1;
    if (next <= 100 || next % 20 === 0) await memory.request(paths[next % paths.length]!);
  });
  const checks = await checksOf(operation, writer);
  let wrong = await wrongOf(memory, checks);
  let readings = 1;
  for (; wrong.length > 0 && readings < MOST_READINGS; readings += 1) {
    await sleep(PAUSE_MS);
    wrong = await wrongOf(memory, checks);
  }
  // Answers cached from now on are right, too.
  await memory.warm(...checks.flatMap((check) => check.paths));
  const later = await wrongOf(memory, checks);
  return { name: operation.name, wrong: [...wrong, ...later], readings };
}

async function wrongOf(memory: CacheObserver, checks: readonly Check[]): Promise<object[]> {
  const wrong: object[] = [];
  for (const { name, paths, expected, shown } of checks) {
    const answers = [];
    for (const path of paths) answers.push((await memory.request(path)).answer);
    const seen = shown(answers);
    if (!isDeepStrictEqual(seen, expected)) wrong.push({ name, expected, seen });
  }
  return wrong;
}
