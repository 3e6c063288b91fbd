/**
 * Reads a collection of calendars and compares the result with a list of the expected times. `npm run corpus` uses a
 * collection next to the project, or the one that `CORPUS` names. Without it, our own small files are used.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { importItems } from '../../src/exchange/import/importer.ts';
import { SourceFault } from '../../src/exchange/items/items.ts';
import { newTally, type Report, reportOf } from '../../src/exchange/items/report.ts';
import { openSource } from '../../src/exchange/sources.ts';
import type { Site } from '../../src/site.ts';
import { describeDatabases } from '../support/databases.ts';
import { setOptions } from '../support/site.ts';
import { differences, type Time, timeOf, WINDOW } from './corpus-compare.ts';
import { RULINGS } from './corpus-rulings.ts';
import { bareSite, callerOf } from './sites.ts';

const OWN = fileURLToPath(new URL('../fixtures/icalendar', import.meta.url));
const folder = process.env.CORPUS || OWN;
/** Only every nth file of a large collection is tested on a server. */
const EVERY = folder === OWN ? 1 : 10;

interface Expected {
  readonly file: string;
  readonly occurrences: readonly (readonly [string, string, string | null])[];
}
const expected: Expected[] = readFileSync(join(folder, 'expected.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

describeDatabases('collection of calendars', (open, engine) => {
  let site: Site;
  beforeAll(async () => {
    site = await bareSite(await open());
    await setOptions(site.db, { timezone_string: 'Europe/Rome' });
  });
  afterAll(() => site.close());

  /** Imports a file as the command does. The report on a refused file is empty. */
  async function imported(file: string, dryRun: boolean): Promise<Report> {
    const caller = await callerOf(site);
    const source = await openSource([join(folder, 'ics', file)], {
      caller,
      prefix: 'wp_',
      target: '',
      ...WINDOW,
    });
    try {
      return await importItems(site, caller, source.entries(), { source: file, dryRun });
    } catch (error) {
      if (error instanceof SourceFault) return reportOf({ source: file, dryRun }, newTally());
      throw error;
    } finally {
      await source.close();
    }
  }

  async function timesAbove(id: number): Promise<Time[]> {
    const posts = await site.db.from('posts').where('ID', '>', id).where('post_type', 'tribe_events').select('ID', 'post_title');
    const metas = await site.db.from('postmeta').where('post_id', '>', id);
    const byPost = new Map<number, Map<string, string>>(posts.map(({ ID }) => [ID, new Map()]));
    for (const { post_id, meta_key, meta_value } of metas) byPost.get(post_id)?.set(meta_key ?? '', meta_value ?? '');
    return posts.map(({ ID, post_title }) => timeOf(post_title, byPost.get(ID)!));
  }

  const files = expected.filter((_, place) => engine === 'SQLite' || place % EVERY === 0);
  it('is read as listed, with the same report in a dry run, and unchanged by a second import', async () => {
    const unequal: string[] = [];
    const unrehearsed: unknown[] = [];
    const doubled: unknown[] = [];
    for (const { file, occurrences } of files) {
      const highest = Number((await site.db.from('posts').max({ id: 'ID' }))[0]?.id ?? 0);
      const rehearsal = await imported(file, true);
      const report = await imported(file, false);
      if (JSON.stringify({ ...rehearsal, dryRun: false }) !== JSON.stringify(report)) unrehearsed.push(rehearsal, report);
      const times = occurrences.map(([start, end, title]): Time => [start, end, title ?? '']);
      const { missing, extra } = differences(times, await timesAbove(highest));
      if (missing.length + extra.length > 0) unequal.push(file);
      const again = await imported(file, false);
      if (Object.keys({ ...again.created, ...again.updated }).length > 0) doubled.push(again);
      // Many files have the same event with the same UID.
      await site.db.from('posts').where('ID', '>', highest).where('post_type', 'tribe_events').delete();
    }
    if (folder !== OWN) console.log(`${engine}: ${files.length - unequal.length} of ${files.length} files equal`);
    expect(unrehearsed).toEqual([]);
    expect(doubled).toEqual([]);
    const names = new Set(files.map(({ file }) => file));
    expect(unequal.sort()).toEqual(
      Object.keys(RULINGS)
        .filter((file) => names.has(file))
        .sort(),
    );
  });

  it('has a file for each list entry', () => {
    for (const { file } of expected) expect([file, existsSync(join(folder, 'ics', file))]).toEqual([file, true]);
  });
});
