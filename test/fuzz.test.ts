import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { createLog } from '../src/log.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { feeds, feedsOf } from './fuzz/feeds.ts';
import { faultsOf, mustNotWrite, stateOf } from './fuzz/oracle.ts';
import { knownIn } from './fuzz/plausible.ts';
import { requestTo, type Sent, shown, type Target, targetsOf } from './fuzz/requests.ts';
import { describeDatabases } from './support/databases.ts';
import { servedRoutes } from './support/outside-texts.ts';
import { type Answer, type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';
import { readFixture } from './support/site-data.mjs';

/** The number of requests to each database, and the seed; `npm run fuzz` sends many, from a new seed each time. */
const CASES = Number(process.env.FUZZ_CASES || 3000);
const SEED = Number(process.env.FUZZ_SEED || (process.env.FUZZ_CASES ? Date.now() % 1_000_000_000 : 20_260_101));
/** Only the targets whose name matches. */
const ONLY = new RegExp(process.env.FUZZ_ONLY ?? '', 'i');
/** The site is reset after this many successful writes, and at the start of each round. */
const MOST_WRITES = 150;
const ROUND = 500;
/** Number of different faults after which a round stops. */
const MOST_FAULTS = 6;

/** Every application password counts as used today, so that requests write nothing else. */
const fixture = readFixture();
for (const row of fixture.usermeta!.rows) {
  for (const [at, value] of row.entries())
    if (typeof value === 'string') row[at] = value.replace(/"last_used";(N|i:\d+);/g, '"last_used";i:4000000000;');
}
const known = knownIn(fixture);

const targets = [...[...servedRoutes()].flatMap(([namespace, routes]) => targetsOf(namespace, routes)), feeds];
/** Writes and lists of records have more parameters than other requests, and get more cases; so do batches. */
const weight = ({ params }: Target) => 2 + Object.keys(params).length + ('requests' in params ? 30 : 0);
const whole = targets.reduce((sum, target) => sum + weight(target), 0);
/** Test cases in rounds: the name of the target, the number of cases, and the seed. */
const rounds = targets
  .flatMap((target) => {
    const cases = Math.ceil((CASES * weight(target)) / whole);
    return Array.from({ length: Math.ceil(cases / ROUND) }, (_, round) => ({
      target,
      name: `${target.name}, round ${round + 1}`,
      cases: Math.min(ROUND, cases - round * ROUND),
    }));
  })
  .map((round, index) => ({ ...round, seed: SEED + index * 1000 }))
  .filter(({ target }) => ONLY.test(target.name));

/** Lists of numbers: `n1,n2,n3` and so on. */
const numbers = (count: number, before = '', between = ',') =>
  Array.from({ length: count }, (_, number) => `${before}${number + 1}`).join(between);

describeDatabases('any request', (open, engine) => {
  let db: Database;
  let running: RunningSite;
  let stateNow: () => Promise<string>;
  const logged: string[] = [];
  const counts = { cases: 0, written: 0, refused: 0, faults: 0, begun: 0 };
  const slowest: { ms: number; sent: Sent }[] = [];

  beforeAll(async () => {
    db = await open();
    await loadSite(db, fixture);
    stateNow = stateOf(db);
    const log = createLog({ logLevel: 'error' }, { write: (line) => logged.push(line) });
    running = await serveDatabase(db, { env: { TRUST_PROXY: 'loopback' }, log });
    counts.begun = performance.now();
  });
  afterAll(async () => {
    await running?.close();
    if (process.env.FUZZ_CASES) process.stderr.write(summary());
  });

  it.each(rounds)('$name is answered or refused, and leaves no trace if refused', async ({ target, cases, seed }) => {
    let state = '';
    let writes = MOST_WRITES;
    const faults = new Map<string, string>();

    const trial = async (sent: Sent): Promise<void> => {
      if (writes >= MOST_WRITES) {
        await loadSite(db, fixture);
        state = await stateNow();
        writes = 0;
      }
      logged.length = 0;
      const answer = await timed(sent);
      const found = faultsOf(sent, answer);
      const untouched = mustNotWrite(sent, answer);
      if (!untouched) {
        writes += 1;
        counts.written += 1;
        found.push(...(await readBack(target, answer)));
      }
      const after = await stateNow();
      if (untouched && after !== state) found.push(`${answer.status}, and yet something was written`);
      state = after;
      if (answer.status >= 400) counts.refused += 1;
      if ('polluted' in {} || Object.keys(Object.prototype).length > 0) found.push('every object has a new member');
      if (found.length === 0) return;
      const reasons = logged.map((line) =>
        String((JSON.parse(line) as { err?: { stack?: string } }).err?.stack)
          .split('\n')
          .slice(0, 8)
          .join('\n'),
      );
      const name = [...found, ...reasons.map((stack) => stack.split('\n')[0])].join(', ').replace(/'[^']*'|\d+/g, '…');
      if (faults.has(name)) return;
      throw new Fault(name, `${[...found, ...reasons].join('\n')}\n${shown(sent)}\n=> ${answer.status} ${answer.text.slice(0, 300)}`);
    };

    for (let left = cases, start = seed; left > 0 && faults.size < MOST_FAULTS; start += 1) {
      const run = await fc.check(fc.asyncProperty(requestTo(target, known), trial), { seed: start, numRuns: left });
      left -= Math.max(1, run.numRuns);
      counts.cases += run.numRuns + run.numShrinks;
      if (!run.failed) break;
      const fault = run.errorInstance;
      const told = fault instanceof Error ? fault.message : String(fault);
      faults.set(fault instanceof Fault ? fault.fault : told, `seed ${start}, path ${run.counterexamplePath ?? ''}\n${told}`);
    }
    counts.faults += faults.size;
    expect([...faults.values()].join('\n\n')).toBe('');
  });

  it.each([
    ['9 MB', `{"title":"${'x'.repeat(9 * 2 ** 20)}"}`, 413],
    ['lists 600 deep', `{"cost":${'['.repeat(600)}${']'.repeat(600)}}`, 400],
    ['lists 100,000 deep', '['.repeat(100_000), 400],
    ['100,000 keys', `{${Array.from({ length: 100_000 }, (_, key) => `"k${key}":1`).join()}}`, 413],
    ['40,000 keys', `{${Array.from({ length: 40_000 }, (_, key) => `"k${key}":1`).join()}}`, 400],
    ['100,000 categories', `{"title":"x","start_date":"now","end_date":"now","categories":[${'1,'.repeat(99_999)}1]}`, 413],
    ['40,000 categories', `{"title":"x","start_date":"now","end_date":"now","categories":[${'1,'.repeat(39_999)}1]}`, 400],
    ['100,000 costs', `{"title":"x","start_date":"now","end_date":"now","cost":[${'1,'.repeat(99_999)}1]}`, 413],
    ['40,000 costs', `{"title":"x","start_date":"now","end_date":"now","cost":[${'1,'.repeat(39_999)}1]}`, 400],
    ['a number of 100,000 digits', `{"title":"x","start_date":"now","end_date":"now","author":${'9'.repeat(100_000)}}`, 400],
  ])('is refused with a body of %s', async (_, body, status) => {
    const before = await stateNow();
    const sent: Sent = {
      method: 'POST',
      path: '/wp-json/calendar/events/v1/events',
      headers: { 'Content-Type': 'application/json' },
      body,
      as: 'admin',
    };
    const answer = await timed(sent);
    expect({ status: answer.status, faults: faultsOf(sent, answer), state: await stateNow() }).toEqual({
      status,
      faults: [],
      state: before,
    });
  });

  it.each([
    ['1000 categories that are none', `events?categories=${numbers(1000, 'n')}`, 400],
    ['1000 times the same tag', `events?tags=${'13,'.repeat(1000)}`, 200],
    ['1000 excluded tags', `tags?exclude=${numbers(1000)}`, 400],
    ['1000 events and 1000 venues', `events?include=${numbers(1000)}&venue=${'12,'.repeat(1000)}&orderby=include`, 200],
    ['2000 words in events', `events?search=${numbers(2000, 'w', '+')}`, 200],
    ['2000 words in venues', `venues?search=${numbers(2000, 'w', '+')}`, 400],
    ['2000 words in tags', `tags?search=${numbers(2000, 'w', '+')}`, 400],
    ['4000 members', `events?_fields=${'a,'.repeat(4000)}`, 200],
    ['a member 7000 deep', `events?_fields=${'a.'.repeat(7000)}`, 200],
  ])('takes a query for %s', async (_, query, status) => {
    const sent: Sent = { method: 'GET', path: `/wp-json/calendar/events/v1/${query}`, headers: {}, body: null, as: 'admin' };
    const answer = await timed(sent);
    expect({ status: answer.status, faults: faultsOf(sent, answer) }).toEqual({ status, faults: [] });
  });

  async function timed(sent: Sent): Promise<Answer> {
    const begun = performance.now();
    const answer = await running.send(sent.method, sent.path, {
      headers: { ...sent.headers },
      body: sent.body,
      ...(sent.as ? { as: sent.as } : {}),
    });
    const ms = performance.now() - begun;
    if (ms > (slowest.at(-1)?.ms ?? 0) || slowest.length < 5) {
      slowest.push({ ms, sent });
      slowest.sort((one, other) => other.ms - one.ms);
      slowest.length = Math.min(5, slowest.length);
    }
    return answer;
  }

  /**
   * Checks that a written record can be read: alone, anonymously, in its list and in feeds, in the published format.
   */
  async function readBack({ namespace, pattern, kind }: Target, { body }: Answer): Promise<string[]> {
    const { id, slug = '' } = (body ?? {}) as { id?: unknown; slug?: string };
    if (typeof id !== 'number') return [];
    const reads: [string, string | undefined, z.ZodType][] = [];
    if (kind) {
      const base = `/wp-json/calendar/events/v1/${kind.path}`;
      const all = kind.is === 'post' ? 'status=publish,draft,pending,private,future,trash' : 'hide_empty=false';
      const record = z.object({ id: z.literal(id) }).and(kind.record);
      const single = 'include' in kind.filters;
      const list = z.object({ [kind.path]: z.array(single ? record : kind.record), total: z.int().max(single ? 1 : 1000) });
      reads.push([`${base}/${id}`, 'admin', record], [`${base}/${id}`, undefined, record], [`${base}?include=${id}&${all}`, 'admin', list]);
      if (kind.name === 'event') for (const path of feedsOf(id, slug)) reads.push([path, undefined, z.unknown()]);
    }
    if (namespace !== 'calendar/events/v1') {
      const base = `/wp-json/${namespace}/${pattern.split('/')[1]}`;
      const record = z.object({ id: z.literal(id) });
      reads.push(
        [`${base}/${id}?context=edit`, 'admin', record],
        [`${base}/${id}`, undefined, record],
        [`${base}?include=${id}`, 'admin', z.array(z.unknown())],
      );
    }
    const faults: string[] = [];
    for (const [path, as, form] of reads) {
      const sent: Sent = { method: 'GET', path, headers: {}, body: null, ...(as ? { as } : {}) };
      const answer = await running.send('GET', path, as ? { as } : {});
      const { error } = answer.status === 200 ? form.safeParse(answer.body) : {};
      const misshapen = error ? [`misshapen: ${z.prettifyError(error).replaceAll('\n', ' ')}`] : [];
      faults.push(...[...faultsOf(sent, answer), ...misshapen].map((fault) => `${fault} in GET ${path}${as ? ` as ${as}` : ''}`));
    }
    return faults;
  }

  function summary(): string {
    const seconds = (performance.now() - counts.begun) / 1000;
    const slow = slowest.map(
      ({ ms, sent }) =>
        `  ${ms.toFixed(0)} ms: ${shown(sent)
          .split('\n')
          .map((line) => line.slice(0, 160))
          .join(' | ')}`,
    );
    return `${engine}: ${counts.cases} cases in ${seconds.toFixed(0)} s (${(counts.cases / seconds).toFixed(0)} per second), ${counts.written} wrote, ${counts.refused} refused, ${counts.faults} faults, seed ${SEED}. Slowest:\n${slow.join('\n')}\n`;
  }
});

class Fault extends Error {
  readonly fault: string;

  constructor(fault: string, told: string) {
    super(told);
    this.fault = fault;
  }
}
