import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, RunningSite } from './running-site.ts';

/** Observes the cache of a served site through its queries. */
export interface CacheObserver {
  /** Sends an anonymous GET request and reports whether the response needed no query for records. */
  readonly request: (path: string) => Promise<{ answer: Answer; remembered: boolean }>;
  /**
   * Requests these paths until every response comes from memory, except errors, which are not cached. Resolves with the
   * responses.
   */
  readonly warm: (...paths: string[]) => Promise<Answer[]>;
  /** Repeats a request until `accepts` returns true. Resolves with the number of looks for changes meanwhile. */
  readonly waitFor: (path: string, accepts: (body: Answer['body']) => boolean) => Promise<number>;
  /** Number of queries that read contents of tables to compare them. */
  readonly comparisons: () => number;
}

const POLL_INTERVAL_MS = 40;
const LOOK_QUERY = /TABLE_ROWS|data_version/;
/** Other tables and variables that are read with every look. */
const OTHER_LOOK_QUERY = /fasti_changes|fasti_prints|fasti_journal|fasti_migrations|_options`|SHOW GLOBAL STATUS/;
const COMPARISON_QUERY = /AS fingerprint|as `first`/;

/** Starts to observe the queries of a site. */
export function observeCache(running: RunningSite): CacheObserver {
  let [reads, looks, comparisons] = [0, 0, 0];
  running.site.db.driver.listen(({ sql }: { sql: string }) => {
    if (COMPARISON_QUERY.test(sql)) comparisons += 1;
    else if (LOOK_QUERY.test(sql)) looks += 1;
    else if (!OTHER_LOOK_QUERY.test(sql)) reads += 1;
  });
  const ask: CacheObserver['request'] = async (path) => {
    const before = reads;
    const answer = await running.send('GET', path);
    return { answer, remembered: reads === before };
  };
  return {
    request: ask,
    warm: async (...paths) => {
      for (;;) {
        const results: Awaited<ReturnType<typeof ask>>[] = [];
        for (const path of paths) results.push(await ask(path));
        if (results.every(({ answer, remembered }) => remembered || answer.status !== 200)) return results.map(({ answer }) => answer);
        await sleep(POLL_INTERVAL_MS);
      }
    },
    waitFor: async (path, accepts) => {
      const before = looks;
      while (!accepts((await ask(path)).answer.body)) await sleep(POLL_INTERVAL_MS);
      return looks - before;
    },
    comparisons: () => comparisons,
  };
}
