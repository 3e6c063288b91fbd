import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { settingNames } from '../../src/calendar/settings.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { takeOverChanges, updatePrintsOfOwnChanges } from '../../src/storage/freshness/foreign-changes.ts';
import { rebuildIndex } from '../../src/storage/freshness/index-rebuild.ts';
import { printSources } from '../../src/storage/freshness/prints.ts';
import { indexEvents, isIndexUpToDate } from '../../src/storage/index/event-index.ts';
import type { OptionalLanguages } from '../../src/storage/index/indexed-events.ts';
import { reportTerm } from '../../src/storage/journal/reported-changes.ts';
import { findLanguages } from '../../src/storage/languages/detect.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { describeDatabases, describeMysql, runScript } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { loadSite, snapshotTables } from '../support/site.ts';
import { until } from '../support/until.mjs';

const now = () => new Date('2026-11-20T12:00:00Z');
const EVENT = 38;

/** Deletes the dates of an event, and returns a function that inserts the same rows again, as the calendar does. */
async function withoutDates(db: Database, id: number): Promise<() => Promise<void>> {
  const rows = await db.from('tec_occurrences').where('post_id', id);
  expect(rows.length).toBeGreaterThan(0);
  await db.from('tec_occurrences').where('post_id', id).delete();
  return async () => {
    for (const row of rows) await db.from('tec_occurrences').insert(row);
  };
}

/** Whether the index is correct once all changes have been taken over. */
async function isRightInTheEnd(db: Database, languages?: OptionalLanguages): Promise<boolean> {
  await takeOverChanges(db, now, { languages });
  const events = await db.from('posts').where('post_type', 'tribe_events').select('ID');
  return isIndexUpToDate(
    db,
    events.map(({ ID }) => ID),
    languages,
  );
}

describeMysql('an event whose rows are deleted and restored during a take-over', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await loadSite(await open());
    await takeOverChanges(db, now);
    await rebuildIndex(db, now, { marksComplete: true, shared: true });
  });

  /** Whether a transaction on this database waits for a lock. */
  const isAnyWaiting = async (): Promise<boolean> => {
    const rows = await db.rows`
      SELECT t.trx_id FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
      WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()`;
    return rows.length > 0;
  };

  it('stays in the index', async () => {
    await runScript(db, `UPDATE wp_posts SET post_title = 'Other' WHERE ID = ${EVENT}`);
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let isLocked = false;
    const holding = db.transaction(async (trx) => {
      await trx.rows`SELECT ID FROM {posts} WHERE ID = ${EVENT} FOR UPDATE`;
      isLocked = true;
      await held;
    });
    await until('the lock', () => isLocked);
    const taking = takeOverChanges(db, now);
    // The server renews this table only if it has not been read for a tenth of a second.
    await until('the take-over', isAnyWaiting, { pollMs: 250 });
    const restore = await withoutDates(db, EVENT);
    letGo();
    await Promise.all([holding, taking]);
    await restore();
    expect(await isRightInTheEnd(db)).toBe(true);
  });
});

describeDatabases('an event whose rows are deleted and restored', (open) => {
  let db: Database;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    db = await loadSite(await open());
    await takeOverChanges(db, now);
    await rebuildIndex(db, now, { marksComplete: true, shared: true });
    putBack = await snapshotTables(db);
  });
  beforeEach(() => putBack());

  it.each([
    ['the index is rebuilt', async () => void (await rebuildIndex(db, now, { marksComplete: true, shared: true }))],
    ['one of its categories is taken over', async () => {
      const { id } = await categoryOf(db, EVENT);
      await runScript(db, `UPDATE wp_term_taxonomy SET parent = 10 WHERE term_taxonomy_id = ${id}`);
      await takeOverChanges(db, now, { posts: [] });
    }],
    ['Fasti moves one of its categories', async () => {
      const sources = await printSources(db, undefined);
      updatePrintsOfOwnChanges(db, () => ({ sources, languages: undefined }));
      const { id, term } = await categoryOf(db, EVENT);
      await db.transaction(async (trx) => {
        await trx.from('term_taxonomy').where('term_taxonomy_id', id).update({ parent: 10 });
        reportTerm(trx, { term_id: term, taxonomy: 'tribe_events_cat' }, 'changed');
        await indexEvents(trx, [EVENT], undefined);
      });
    }],
  ])('stays in the index if in the meantime %s', async (_, work) => {
    const restore = await withoutDates(db, EVENT);
    await work();
    await restore();
    expect(await isRightInTheEnd(db)).toBe(true);
  }); // biome-ignore format: a table

  it('stays under its categories if the parent of one is changed and restored while it is taken over', async () => {
    const { id, parent } = await categoryOf(db, EVENT);
    const moveTo = (to: number) => runScript(db, `UPDATE wp_term_taxonomy SET parent = ${to} WHERE term_taxonomy_id = ${id}`);
    const sources = await printSources(db, undefined);
    await runScript(db, `UPDATE wp_posts SET post_title = 'Other' WHERE ID = ${EVENT}`);
    await moveTo(10);
    await takeOverChanges(db, now, { sources: sources.filter(({ kind }) => kind === 'post') });
    await moveTo(parent);
    expect(await isRightInTheEnd(db)).toBe(true);
  });
});

describeDatabases('a translation whose rows are deleted and restored', (open) => {
  describe.each(['polylang', 'wpml'] as const)('in the form of %s', (form) => {
    it.each(['its dates', 'its status'])('stays in the index while its original is taken over: %s', async (what) => {
      const db = await loadLanguages(await open(), form);
      const languages = await findLanguages(db, await readOptions(db, settingNames(db.prefix)), { setting: form, isShared: true });
      await takeOverChanges(db, now, { languages });
      await rebuildIndex(db, now, { marksComplete: true, languages, shared: true });
      await runScript(db, "UPDATE wp_posts SET post_title = 'Other' WHERE ID = 110");
      const setStatus = (status: string) => runScript(db, `UPDATE wp_posts SET post_status = '${status}' WHERE ID = 111`);
      if (what === 'its status') await setStatus('draft');
      const restore = what === 'its dates' ? await withoutDates(db, 111) : () => setStatus('publish');
      await takeOverChanges(db, now, { languages, posts: [110] });
      await restore();
      expect(await isRightInTheEnd(db, languages)).toBe(true);
    });
  });
});

/** A category of an event: its row in `term_taxonomy`, its term, and its parent. */
async function categoryOf(db: Database, id: number): Promise<{ readonly id: number; readonly term: number; readonly parent: number }> {
  const [row] = await db.rows<{ id: number; term: number; parent: number }>`
    SELECT tt.term_taxonomy_id AS id, tt.term_id AS term, tt.parent FROM {term_relationships} r JOIN {term_taxonomy} tt ON tt.term_taxonomy_id = r.term_taxonomy_id
    WHERE r.object_id = ${id} AND tt.taxonomy = 'tribe_events_cat'`;
  return row!;
}
