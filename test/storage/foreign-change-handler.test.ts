import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { termKind } from '../../src/kinds/index.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { createForeignChangeHandler } from '../../src/storage/freshness/foreign-change-handler.ts';
import { hasForeignChanges, takeOverChanges } from '../../src/storage/freshness/foreign-changes.ts';
import { indexLayout } from '../../src/storage/index/event-index.ts';
import { entriesAfter, lastNumber } from '../../src/storage/journal/entries.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { updatePost } from '../../src/storage/rows/posts.ts';
import { insertTerm } from '../../src/storage/rows/terms.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { loadSite, snapshotTables } from '../support/site.ts';

const now = () => new Date('2026-11-20T12:00:00Z');
const EVERYTHING = { isFull: false, tables: undefined, languages: undefined };

describeDatabases('the take-over of changes by other programs', (open) => {
  let db: Database;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    db = await loadSite(await open());
    putBack = await snapshotTables(db);
  });
  beforeEach(() => putBack());

  it('compares everything again if the first comparison failed', async () => {
    let isBusy = true;
    const transaction: Database['transaction'] = async (work) => {
      if (isBusy) throw new Error('busy');
      return db.transaction(work);
    };
    const handler = createForeignChangeHandler({ ...db, transaction }, now);
    await expect(handler.takeOver(EVERYTHING)).rejects.toThrow('busy');
    isBusy = false;
    await handler.takeOver(EVERYTHING);
    expect(await hasForeignChanges(db, undefined)).toBe(false);
  });

  it.each([
    ['another process takes over changes', () => ({ languages: undefined }), ['fasti']],
    ['nobody takes over changes', () => undefined, ['fasti', 'found']],
  ])('notes a write of a process that has not taken over anything if %s', async (_, followed, writers) => {
    await createForeignChangeHandler(db, now).takeOver(EVERYTHING);
    createForeignChangeHandler(db, now, followed);
    const before = await lastNumber(db);
    for (const title of ['Ours', 'Ours again'])
      await db.transaction(async (trx) => {
        await updatePost(trx, 38, { post_title: title });
        await insertTerm(trx, termKind('tag'), { name: title, slug: title.replace(' ', '-'), description: '', parent: 0 });
      });
    await takeOverChanges(db, now);
    const { entries } = await entriesAfter(db, before, 100);
    expect([...new Set(entries.map(({ writer }) => writer))].sort()).toEqual(writers);
  });

  it('rebuilds the index once, and not again as long as an event cannot be indexed', async () => {
    await runScript(db, "UPDATE wp_postmeta SET meta_value = '12abc' WHERE post_id = 38 AND meta_key = '_EventVenueID'");
    const handler = createForeignChangeHandler(db, now);
    const layout = async () => (await readOptions(db, ['fasti_index'])).get('fasti_index');
    expect(await handler.takeOver(EVERYTHING)).toMatchObject({ writes: undefined });
    const before = await lastNumber(db);
    await runScript(db, "UPDATE wp_posts SET post_title = 'Other' WHERE ID = 39");
    expect(await handler.takeOver(EVERYTHING)).toMatchObject({ writes: 1 });
    expect(await handler.takeOver(EVERYTHING)).toMatchObject({ writes: 0 });
    expect(await lastNumber(db)).toBe(before + 1);
    expect(await layout()).toBeUndefined();
    await runScript(db, "UPDATE wp_postmeta SET meta_value = '12' WHERE post_id = 38 AND meta_key = '_EventVenueID'");
    expect(await handler.takeOver(EVERYTHING)).toMatchObject({ writes: undefined });
    expect(await layout()).toBe(indexLayout(undefined));
  });
});
