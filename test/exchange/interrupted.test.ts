import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { importItems } from '../../src/exchange/import/importer.ts';
import { type Item, isPostItem } from '../../src/exchange/items/items.ts';
import { writeJsonLines } from '../../src/exchange/items/json-lines.ts';
import type { Report } from '../../src/exchange/items/report.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { COMMAND } from '../support/program.mjs';
import { loadSite } from '../support/site.ts';
import { calendar as calendars } from './arbitrary.ts';
import { bareFixture, bareSite, calendarOf, callerOf, emptySite, metaRows, streamOf, textOfAll } from './sites.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fasti-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Number of times that a real process is killed. */
const KILLS = Number(process.env.KILLS ?? 3);
/** Time limit for slow machines, so that a process that hangs ends the test. */
const PATIENCE_MS = 300_000 + KILLS * 60_000;

class Interrupted extends Error {}

/** Returns a site whose database fails in the middle of a transaction, after the given number of queries. */
function failing(site: Site, queries: number): Site {
  let left = queries;
  const count = (): void => {
    left -= 1;
    if (left < 0) throw new Interrupted();
  };
  const broken = (db: Database): Database => ({
    ...db,
    from: (...given) => {
      count();
      return db.from(...given);
    },
    insert: async (...given) => {
      count();
      return db.insert(...given);
    },
    change: async (...given) => {
      count();
      return db.change(...given);
    },
  });
  return { ...site, db: { ...site.db, transaction: (work) => site.db.transaction((db) => work(broken(db))) } };
}

/** Returns everything that an import leaves: the calendar, pending links (none), the date range and the index. */
async function outcome(db: Database): Promise<unknown> {
  const option = (await readOptions(db, ['tribe_events_calendar_options'])).get('tribe_events_calendar_options');
  const index = await db.from('fasti_entries').orderBy(['post_id', 'facet']).select('post_id', 'facet');
  const { users, ...calendar } = await calendarOf(db);
  // The registration date of users is the time of the import.
  const people = (users as object[]).map((user) => ({ ...user, user_registered: '' }));
  return { calendar, people, waiting: await db.from('fasti_import_waiting'), option, index };
}

describeDatabases('interrupted import', (open, engine) => {
  it('continues after any interruption with the same result as without', async () => {
    const [calm, stormy] = [await open(), await open()];
    const run = async (
      db: Database,
      items: readonly Item[],
      interruptions: readonly number[],
    ): Promise<{ report: Report; end: unknown }> => {
      await emptySite(db);
      const site = await bareSite(db);
      try {
        const caller = await callerOf(site);
        const options = { source: 'law', itemsPerBatch: 2, highestId: 2000 };
        let begun = false;
        for (const queries of interruptions) {
          const resume = begun && (await db.from('fasti_imports').where('open', 1)).length > 0;
          const cut = await importItems(failing(site, queries), caller, streamOf(items), { ...options, resume }).catch(
            (error: unknown) => error,
          );
          if (cut instanceof Error && !(cut instanceof Interrupted)) throw cut;
          if (!(cut instanceof Error)) return { report: cut as Report, end: await outcome(db) };
          begun = (await db.from('fasti_imports')).length > 0;
        }
        const report = await importItems(site, caller, streamOf(items), { ...options, resume: begun });
        return { report, end: await outcome(db) };
      } finally {
        await site.close();
      }
    };
    await fc.assert(
      fc.asyncProperty(
        calendars.chain((items) => fc.shuffledSubarray(items, { minLength: items.length, maxLength: items.length })),
        fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 4 }),
        async (items, interruptions) => {
          const undisturbed = await run(calm, items, []);
          const disturbed = await run(stormy, items, interruptions);
          expect(disturbed.end).toEqual(undisturbed.end);
          expect(sorted(disturbed.report)).toEqual(sorted(undisturbed.report));
        },
      ),
      { numRuns: engine === 'MySQL' ? 10 : 20, endOnFailure: true },
    );
  });

  it(
    `continues after the process was killed, ${KILLS} times`,
    async () => {
      const items = await manyItems(200 * (2 * KILLS + 2));
      const file = join(folder, 'many.jsonl');
      writeFileSync(file, await textOfAll(writeJsonLines('https://source.example.org', streamOf(items))));
      const [calm, stormy] = [await open(), await open()];
      for (const db of [calm, stormy]) await loadSite(db, bareFixture());
      const whole = await imported(calm, file, []);
      expect(whole.code).toBe(0);
      let kills = 0;
      let code: number | null = null;
      for (let tries = 0; tries < 50 * KILLS && code === null; tries += 1) {
        const resume = (await stormy.from('fasti_imports').where('open', 1)).length > 0 ? ['--resume'] : [];
        const end = kills < KILLS ? { patience: (kills * 37) % 120 } : undefined;
        const done = await imported(stormy, file, resume, end);
        code = done.code;
        if (code === null) kills += 1;
      }
      expect({ code, kills: kills >= KILLS }).toEqual({ code: 0, kills: true });
      expect(await outcome(stormy)).toEqual(await outcome(calm));
    },
    PATIENCE_MS,
  );

  it('reports each loss once after interruptions', async () => {
    const [sample] = fc.sample(calendars, { numRuns: 1, seed: 7 });
    const picture = (number: number): Item => ({
      kind: 'attachment',
      sourceId: `picture-${number}`,
      place: `line ${number}`,
      url: `https://source.example.org/${number}.png`,
      columns: { post_title: `Picture ${number}` },
      metas: [],
      links: [],
      complete: false,
    });
    const aside = { kind: 'skipped', what: 'VTODO', count: 1 } as const;
    const entries = [picture(1), aside, ...sample!, picture(2), picture(3)];
    const reportOf = async (cuts: readonly number[]): Promise<Report> => {
      const db = await open();
      await loadSite(db, bareFixture());
      const site = await bareSite(db);
      const caller = await callerOf(site);
      const options = { source: 'pictures', itemsPerBatch: 3, highestId: 2000 };
      async function* until(place: number) {
        yield* entries.slice(0, place);
        throw new Interrupted();
      }
      for (const [place, cut] of cuts.entries())
        await expect(importItems(site, caller, until(cut), { ...options, resume: place > 0 })).rejects.toThrow(Interrupted);
      const report = await importItems(site, caller, streamOf(entries), { ...options, resume: cuts.length > 0 });
      await site.close();
      return report;
    };
    const calm = await reportOf([]);
    expect([calm.lost.attachment, calm.skipped]).toEqual([3, { VTODO: 1 }]);
    expect(sorted(await reportOf([4, 8]))).toEqual(sorted(calm));
  });

  it('keeps records apart that share an external ID, wherever it is interrupted', async () => {
    const event = (title: string, day: number): Item => ({
      ...{
        kind: 'event',
        sourceId: title,
        match: 'name',
        complete: false,
        links: [],
        columns: { post_title: title, post_status: 'publish' },
      },
      metas: metaRows([
        ['_fasti_external_id', 'crm 9'],
        ...['_EventStartDate', '_EventEndDate', '_EventStartDateUTC', '_EventEndDateUTC'].map((key): [string, string] => [
          key,
          `2031-06-0${day} 20:00:00`,
        ]),
        ['_EventTimezone', 'UTC'],
      ]),
    });
    const entries = [event('Opera', 1), event('Ballet', 2)];
    const db = await open();
    await loadSite(db, bareFixture());
    const site = await bareSite(db);
    const [caller, options] = [await callerOf(site), { source: 'table', itemsPerBatch: 1 }];
    async function* cut() {
      yield* entries;
      throw new Interrupted();
    }
    await expect(importItems(site, caller, cut(), options)).rejects.toThrow(Interrupted);
    const report = await importItems(site, caller, streamOf(entries), { ...options, resume: true });
    const events = await db.from('posts').where('post_type', 'tribe_events').orderBy('ID').select('post_title');
    expect(events.map(({ post_title: title }) => title)).toEqual(['Opera', 'Ballet']);
    expect(report.losses.map(({ reason, count }) => [reason, count])).toEqual([['external-id-taken', 1]]);
    await site.close();
  });

  it('explains how to continue when it is stopped by a signal', async () => {
    const items = await manyItems(3000);
    const file = join(folder, `told-${engine}.jsonl`);
    writeFileSync(file, await textOfAll(writeJsonLines('https://source.example.org', streamOf(items))));
    const db = await open();
    await loadSite(db, bareFixture());
    const cut = await imported(db, file, [], {
      signal: 'SIGINT',
      progress: async () => (await db.from('fasti_imports').where('done', '>', 0)).length,
    });
    expect(cut).toEqual({ code: 130, err: expect.stringMatching(/^Stopped\. .* run the same command with --resume\.\n$/) });
    expect(await imported(db, file, ['--resume'])).toEqual({ code: 0, err: '' });
    expect(await db.from('posts').where('post_type', 'tribe_events')).toHaveLength(
      items.filter((item) => isPostItem(item) && item.kind === 'event').length,
    );
  });
});

/** Returns a report with its losses in a fixed order. Their original order depends on the interruptions. */
const sorted = (report: Report) => ({
  ...report,
  losses: report.losses
    .map(({ reason, count, examples }) => ({ reason, count, examples: examples.map((example) => JSON.stringify(example)).sort() }))
    .sort((one, other) => (one.reason < other.reason ? -1 : 1)),
});

/** Returns a large calendar: the events of one calendar repeated under other names. */
async function manyItems(number: number): Promise<Item[]> {
  const [sample] = fc.sample(calendars, { numRuns: 1, seed: 7 });
  const events = sample!.filter(isPostItem).filter(({ kind }) => kind === 'event');
  const more = Array.from({ length: number }, (_, place) => {
    const item = events[place % events.length]!;
    const id = 5000 + place;
    return {
      ...item,
      id,
      sourceId: String(id),
      columns: { ...item.columns, post_name: `many-${id}`, guid: `https://source.example.org/?p=${id}` },
    };
  });
  return [...sample!, ...more];
}

/** When a process is killed: the given number of milliseconds after `progress` has changed. */
interface End {
  readonly patience?: number;
  readonly signal?: NodeJS.Signals;
  readonly progress?: () => Promise<unknown>;
}

/** Runs `fasti import` in a separate process. If `end` is given, the process is killed after it has begun to write. */
async function imported(db: Database, file: string, options: readonly string[], end?: End): Promise<{ code: number | null; err: string }> {
  const { patience = 0, signal = 'SIGKILL', progress = () => progressOf(db) } = end ?? {};
  const before = await progress();
  const child = spawn(process.execPath, [COMMAND, 'import', file, ...options], {
    cwd: ROOT,
    env: { ...process.env, DATABASE_URL: urlOf(db), LOG_LEVEL: 'silent', NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (text: Buffer) => {
    err += String(text);
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  if (end) {
    const running = () => child.exitCode === null && child.signalCode === null;
    while (running() && (await progress()) === before) await sleep(5);
    await sleep(patience);
    child.kill(signal);
  }
  return { code: await ended, err };
}

const progressOf = async (db: Database): Promise<string> => JSON.stringify(await db.from('fasti_imports').select('run', 'done', 'open'));
