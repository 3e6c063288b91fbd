import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { settingNames } from '../../src/calendar/settings.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
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
      updatePrintsOfOwnChanges(db, async () => ({ sources, languages: undefined }));
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

  it('is read again once if Fasti moves one of its categories', async () => {
    const sources = await printSources(db, undefined);
    updatePrintsOfOwnChanges(db, async () => ({ sources, languages: undefined }));
    const { id, term } = await categoryOf(db, EVENT);
    /** Moves the category, and returns the number of queries after this work. */
    const queriesAfter = async (parent: number, work: (trx: Database) => Promise<unknown>): Promise<number> => {
      let before = 0;
      await db.transaction(async (trx) => {
        await trx.from('term_taxonomy').where('term_taxonomy_id', id).update({ parent });
        reportTerm(trx, { term_id: term, taxonomy: 'tribe_events_cat' }, 'changed');
        await work(trx);
        before = db.queries();
      });
      return db.queries() - before;
    };
    const withoutIndexing = await queriesAfter(10, async () => undefined);
    const withIndexing = await queriesAfter(0, (trx) => indexEvents(trx, [EVENT], undefined));
    expect(withIndexing).toBeLessThanOrEqual(withoutIndexing);
    expect(await isRightInTheEnd(db)).toBe(true);
  });

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

/** So many that a page of events and their translations take more than one page. */
const PAIRS = 150;
const [ENGLISH, ITALIAN] = [110, 111];
const [FIRST_ORIGINAL, FIRST_TRANSLATION, FIRST_GROUP] = [20_000, 21_000, 22_000];

describeDatabases('more translated events than are read at once', (open) => {
  let db: Database;
  let languages: OptionalLanguages;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    db = await loadLanguages(await open(), 'polylang');
    await addPairs(db, PAIRS);
    languages = await findLanguages(db, await readOptions(db, settingNames(db.prefix)), { setting: 'polylang', isShared: true });
    await takeOverChanges(db, now, { languages });
    await rebuildIndex(db, now, { marksComplete: true, languages, shared: true });
    putBack = await snapshotTables(db);
  });
  beforeEach(() => putBack());

  it.each([
    ['all become drafts', "post_status = 'draft'", FIRST_ORIGINAL],
    ['the translations become drafts', "post_status = 'draft'", FIRST_TRANSLATION],
    ['all change, and the translations become drafts',
      `post_title = 'Other', post_status = CASE WHEN ID < ${FIRST_TRANSLATION} THEN post_status ELSE 'draft' END`, FIRST_ORIGINAL],
  ])('are right in the index after %s', async (_, assignments, first) => {
    expect(await isRightInTheEnd(db, languages)).toBe(true);
    await runScript(db, `UPDATE wp_posts SET ${assignments} WHERE ID >= ${first}`);
    expect(await isRightInTheEnd(db, languages)).toBe(true);
  }); // biome-ignore format: a table

  it('are listed once if they cannot be indexed', async () => {
    const event = FIRST_ORIGINAL + PAIRS - 1;
    await db.from('postmeta').where({ post_id: event, meta_key: '_EventVenueID' }).delete();
    await runScript(db, `INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (${event}, '_EventVenueID', '12abc')`);
    const { unindexable } = await rebuildIndex(db, now, { marksComplete: true, languages, shared: true });
    expect(unindexable).toEqual([event]);
    expect(await isRightInTheEnd(db, languages)).toBe(true);
  });
});

/** Adds copies of an English event and its Italian translation, in Polylang's form. */
async function addPairs(db: Database, count: number): Promise<void> {
  const relations = await db.rows<{ object_id: number; term_taxonomy_id: number; taxonomy: string }>`
    SELECT r.object_id, r.term_taxonomy_id, tt.taxonomy FROM {term_relationships} r JOIN {term_taxonomy} tt
      ON tt.term_taxonomy_id = r.term_taxonomy_id WHERE r.object_id IN (${[ENGLISH, ITALIAN]})`;
  for (const [original, first] of [
    [ENGLISH, FIRST_ORIGINAL],
    [ITALIAN, FIRST_TRANSLATION],
  ] as const) {
    const post = (await db.from('posts').where('ID', original).first())!;
    const metas = await db.from('postmeta').where('post_id', original);
    const dates = await db.from('tec_occurrences').where('post_id', original);
    const ownRelations = relations.filter(({ object_id: id }) => Number(id) === original);
    const ids = Array.from({ length: count }, (_, index) => first + index);
    await insertRows(
      db,
      'posts',
      ids.map((ID) => ({ ...post, ID, post_name: `copy-${ID}` })),
    );
    await insertRows(
      db,
      'postmeta',
      ids.flatMap((id) => metas.map(({ meta_id: _, ...meta }) => ({ ...meta, post_id: id }))),
    );
    await insertRows(
      db,
      'tec_occurrences',
      ids.flatMap((id) => dates.map(({ occurrence_id: _, ...date }) => ({ ...date, event_id: id, post_id: id, hash: `copy-${id}` }))),
    );
    await insertRows(
      db,
      'term_relationships',
      ids.flatMap((id, index) =>
        ownRelations.map(({ term_taxonomy_id: own, taxonomy }) => ({
          object_id: id,
          term_taxonomy_id: taxonomy === 'post_translations' ? FIRST_GROUP + index : own,
          term_order: 0,
        })),
      ),
    );
  }
  const groups = Array.from({ length: count }, (_, index) => index);
  await insertRows(
    db,
    'terms',
    groups.map((index) => ({
      term_id: FIRST_GROUP + index,
      name: `pll_copy${index}`,
      slug: `pll_copy${index}`,
      term_group: 0,
    })),
  );
  await insertRows(
    db,
    'term_taxonomy',
    groups.map((index) => ({
      term_taxonomy_id: FIRST_GROUP + index,
      term_id: FIRST_GROUP + index,
      taxonomy: 'post_translations',
      parent: 0,
      count: 2,
      description: `a:2:{s:2:"en";i:${FIRST_ORIGINAL + index};s:2:"it";i:${FIRST_TRANSLATION + index};}`,
    })),
  );
}

/** A category of an event: its row in `term_taxonomy`, its term, and its parent. */
async function categoryOf(db: Database, id: number): Promise<{ readonly id: number; readonly term: number; readonly parent: number }> {
  const [row] = await db.rows<{ id: number; term: number; parent: number }>`
    SELECT tt.term_taxonomy_id AS id, tt.term_id AS term, tt.parent FROM {term_relationships} r JOIN {term_taxonomy} tt ON tt.term_taxonomy_id = r.term_taxonomy_id
    WHERE r.object_id = ${id} AND tt.taxonomy = 'tribe_events_cat'`;
  return row!;
}
