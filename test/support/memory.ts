import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, RunningSite } from './running-site.ts';

/** What a served site does about its memory, as its queries show it. */
export interface Memory {
  /** Asks anonymously, and tells whether the answer came without a look at any record. */
  readonly ask: (path: string) => Promise<{ answer: Answer; remembered: boolean }>;
  /**
   * Asks for all of these until every answer comes from memory, but for refusals, which are not remembered. Gives
   * these answers.
   */
  readonly warm: (...paths: string[]) => Promise<Answer[]>;
  /** Asks until what `wanted` sees in the body is right. Gives how many looks for changes that took. */
  readonly until: (path: string, wanted: (body: Answer['body']) => boolean) => Promise<number>;
  /** How often the contents of tables were read to compare them. */
  readonly comparisons: () => number;
}

const PAUSE_MS = 40;
const LOOK = /TABLE_ROWS|data_version/;
/** What is read with every look, besides. */
const BESIDE = /fasti_changes|fasti_prints|fasti_journal|fasti_migrations|_options`|SHOW GLOBAL STATUS/;
const COMPARISON = /AS fingerprint|as `first`/;

/** Follows the queries of a site from now on. */
export function memoryOf(running: RunningSite): Memory {
  let [reads, looks, comparisons] = [0, 0, 0];
  running.site.db.driver.listen(({ sql }: { sql: string }) => {
    if (COMPARISON.test(sql)) comparisons += 1;
    else if (LOOK.test(sql)) looks += 1;
    else if (!BESIDE.test(sql)) reads += 1;
  });
  const ask: Memory['ask'] = async (path) => {
    const before = reads;
    const answer = await running.send('GET', path);
    return { answer, remembered: reads === before };
  };
  return {
    ask,
    warm: async (...paths) => {
      for (;;) {
        const asked: Awaited<ReturnType<typeof ask>>[] = [];
        for (const path of paths) asked.push(await ask(path));
        if (asked.every(({ answer, remembered }) => remembered || answer.status !== 200)) return asked.map(({ answer }) => answer);
        await sleep(PAUSE_MS);
      }
    },
    until: async (path, wanted) => {
      const before = looks;
      while (!wanted((await ask(path)).answer.body)) await sleep(PAUSE_MS);
      return looks - before;
    },
    comparisons: () => comparisons,
  };
}
