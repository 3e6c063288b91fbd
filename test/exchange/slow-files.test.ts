import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { isImportRunning } from '../../src/exchange/import/import-running.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { PostItem } from '../../src/exchange/items/items.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { bareSite, callerOf, emptySite, metaRows, NOW, streamOf } from './sites.ts';

/** The time that a fetch takes before it is given up. */
const TIMEOUT_MS = 15_000;

const image = (url: string): PostItem => ({
  kind: 'attachment',
  sourceId: url,
  columns: { post_title: url, post_status: 'inherit' },
  metas: [],
  links: [],
  complete: false,
  url,
});

describeDatabases('import of files that do not come', (open) => {
  let db: Database;
  let site: Site;
  beforeAll(async () => {
    db = await open();
    site = await bareSite(db);
  });
  beforeEach(() => emptySite(db));
  afterAll(() => site.close());

  /** Imports images that are not sent in time. Returns the times at which the import counted as running, or not. */
  const imported = async (urls: readonly string[], itemsPerBatch = 200) => {
    let now = NOW;
    const runningAt: boolean[] = [];
    const slowSite = { ...site, clock: () => now };
    const report = await importItems(slowSite, await callerOf(site), streamOf(urls.map(image)), {
      source: 'slow',
      itemsPerBatch,
      fetchFile: async (item, stored, request) => {
        if (stored?.size) return { item };
        if (!(await request())) return { item, fault: 'time' };
        now = new Date(now.getTime() + TIMEOUT_MS);
        runningAt.push(isImportRunning((await site.db.from('fasti_imports').first())!, now));
        return { item, fault: 'time' };
      },
    });
    return { runningAt, report };
  };

  it('counts as running all the time', async () => {
    const { runningAt } = await imported(Array.from({ length: 20 }, (_, at) => `https://h${at}.example/a.jpg`));
    expect(runningAt).toEqual(Array.from({ length: 20 }, () => true));
  });

  it.each([200, 2])('asks a host that does not answer three times, in batches of %i', async (itemsPerBatch) => {
    const { runningAt, report } = await imported(
      Array.from({ length: 9 }, (_, at) => `https://h.example/${at}.jpg`),
      itemsPerBatch,
    );
    const lost = report.losses.find(({ reason }) => reason === 'file-not-fetched');
    expect([runningAt.length, lost?.count, lost?.examples.at(-1)?.detail]).toEqual([3, 9, 'time']);
  });

  it('gives up no file that the library has, and does not count it as an answer', async () => {
    const urlsOf = (name: string) => Array.from({ length: 5 }, (_, at) => `https://h.example/${name}${at}.jpg`);
    const [known, slow] = [urlsOf('known'), urlsOf('slow')];
    await importItems(site, await callerOf(site), streamOf(known.map(image)), {
      source: 'slow',
      fetchFile: async (item) => ({ item: { ...item, metas: metaRows([['_wp_attached_file', `2026/01/${item.columns.post_title}`]]) } }),
    });
    const { runningAt, report } = await imported(slow.flatMap((url, at) => [url, known[at]!]));
    const lost = report.losses.find(({ reason }) => reason === 'file-not-fetched');
    expect([runningAt.length, lost?.count, report.unchanged.attachment]).toEqual([3, 5, 5]);
  });
});
