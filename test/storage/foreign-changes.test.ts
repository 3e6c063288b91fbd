import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { settingNames } from '../../src/calendar/settings.ts';
import { termKind } from '../../src/kinds/index.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { createForeignChangeHandler } from '../../src/storage/freshness/foreign-change-handler.ts';
import { takeOverChanges, updatePrintsOfOwnChanges } from '../../src/storage/freshness/foreign-changes.ts';
import { printSources } from '../../src/storage/freshness/prints.ts';
import { createRowRanges } from '../../src/storage/freshness/row-ranges.ts';
import { indexEvents, indexLayout, isIndexUpToDate } from '../../src/storage/index/event-index.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { entriesAfter, lastNumber } from '../../src/storage/journal/entries.ts';
import { reportTerm } from '../../src/storage/journal/reported-changes.ts';
import { findLanguages } from '../../src/storage/languages/detect.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { removePost, updatePost } from '../../src/storage/rows/posts.ts';
import { insertTerm } from '../../src/storage/rows/terms.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { loadSite, snapshotTables } from '../support/site.ts';

const now = () => new Date('2026-11-20T12:00:00Z');

/** Collations as on a site that was created before 2016 or moved from another server. */
async function inOtherCollations(db: Database): Promise<void> {
  for (const [place, table] of ['posts', 'postmeta', 'terms', 'term_taxonomy', 'options', 'tec_occurrences'].entries()) {
    const collation = place % 2 === 0 ? 'utf8mb4_unicode_ci' : 'utf8mb4_general_ci';
    await runScript(db, `ALTER TABLE wp_${table} CONVERT TO CHARACTER SET utf8mb4 COLLATE ${collation}`);
  }
}

describeDatabases('change by another program', (open, engine) => {
  let db: Database;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    db = await loadSite(await open());
    if (engine === 'MySQL') await inOtherCollations(db);
    await takeOverChanges(db, now);
    await reindexEvents(db, now, { marksComplete: true });
    putBack = await snapshotTables(db);
  });
  beforeEach(() => putBack());

  /** Journal entries that are taken over after a script, each as a line of its distinguishing fields, sorted. */
  const taken = async (script: string): Promise<string[]> => {
    const from = await lastNumber(db);
    const ranges = createRowRanges(db, undefined);
    (await ranges.begin()).accept();
    await runScript(db, script);
    const suspects = (await ranges.suspects())!;
    await takeOverChanges(db, now, { posts: suspects.posts });
    suspects.accept();
    ranges.confirm();
    (await ranges.suspects())?.accept();
    expect((await ranges.suspects())?.posts).toEqual([]);
    const { entries } = await entriesAfter(db, from, 1000);
    expect(entries.every(({ writer }) => writer === 'found')).toBe(true);
    const before = await lastNumber(db);
    await takeOverChanges(db, now);
    expect(await lastNumber(db)).toBe(before);
    const events = await db.from('posts').where('post_type', 'tribe_events').select('ID');
    expect(await isIndexUpToDate(db, [...events.map(({ ID }) => ID), 38], undefined)).toBe(true);
    return entries
      .map(({ kind, type, object, what, wasPublic, isPublic }) =>
        [kind, type, object, what, `${Number(wasPublic)}${Number(isPublic)}`].join(' '),
      )
      .sort();
  };

  it.each([
    ['a title', "UPDATE wp_posts SET post_title = 'Other' WHERE ID = 38", ['post tribe_events 38 changed 11']],
    ['a meta', "UPDATE wp_postmeta SET meta_value = 'Other' WHERE post_id = 12 AND meta_key = '_VenueCity'", ['post tribe_venue 12 changed 11']],
    ['two metas that change places',
      "UPDATE wp_postmeta SET meta_value = 'b' WHERE post_id = 12 AND meta_key = '_VenueCity'; UPDATE wp_postmeta SET meta_value = 'a' WHERE post_id = 12 AND meta_key = '_VenueZip'",
      ['post tribe_venue 12 changed 11']],
    ['a status', "UPDATE wp_posts SET post_status = 'draft' WHERE ID = 38", ['post tribe_events 38 changed 10']],
    ['dates', "UPDATE wp_tec_occurrences SET end_date = '2031-01-01 00:00:00' WHERE post_id = 38", ['post tribe_events 38 changed 11']],
    ['a venue of an event', "INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (38, '_EventVenueID', '13')", ['post tribe_events 38 changed 11']],
    ['a post that is gone', 'DELETE FROM wp_posts WHERE ID = 38', ['post tribe_events 38 removed 10']],
    ['an event that becomes a post', "UPDATE wp_posts SET post_type = 'post' WHERE ID = 38", ['post post 38 made 01', 'post tribe_events 38 removed 10']],
    ['a page that becomes an event', "UPDATE wp_posts SET post_type = 'tribe_events' WHERE ID = 2", ['post page 2 removed 10', 'post tribe_events 2 made 01']],
    ['a tag that becomes a category',
      "UPDATE wp_term_taxonomy SET taxonomy = 'tribe_events_cat' WHERE term_id = 18", ['term post_tag 18 removed 10', 'term tribe_events_cat 18 made 01']],
    ['a tag of events that becomes a category',
      "UPDATE wp_term_taxonomy SET taxonomy = 'tribe_events_cat' WHERE term_id = 12", ['term post_tag 12 removed 10', 'term tribe_events_cat 12 made 01']],
    ['a category of events that becomes another term',
      "INSERT INTO wp_terms (term_id, name, slug) VALUES (90, 'Other', 'other'); UPDATE wp_term_taxonomy SET term_id = 90 WHERE term_taxonomy_id = 4",
      ['term tribe_events_cat 4 removed 10', 'term tribe_events_cat 90 made 01']],
    ['terms of an event', 'DELETE FROM wp_term_relationships WHERE object_id = 38 AND term_taxonomy_id = 13', ['post tribe_events 38 changed 11']],
    ['the name of a term', "UPDATE wp_terms SET name = 'Other' WHERE term_id = 4", ['term tribe_events_cat 4 changed 11']],
    ['the slug of a category, which is in the addresses of those below',
      "UPDATE wp_terms SET slug = 'other' WHERE term_id = 2",
      [2, 3, 4, 9].map((id) => `term tribe_events_cat ${id} changed 11`)],
    ['the place of a category with others below', 'UPDATE wp_term_taxonomy SET parent = 0 WHERE term_id = 3', ['term tribe_events_cat 3 changed 11', 'term tribe_events_cat 4 changed 11']],
    ['how many events a category has', 'UPDATE wp_term_taxonomy SET count = count + 1 WHERE term_id = 3', ['term tribe_events_cat 3 changed 11']],
    ['the place of a category in the tree', 'UPDATE wp_term_taxonomy SET parent = 0 WHERE term_id = 4', ['term tribe_events_cat 4 changed 11']],
    ['a category that is gone though events carry it', 'DELETE FROM wp_term_taxonomy WHERE term_id = 3', ['term tribe_events_cat 3 removed 10', 'term tribe_events_cat 4 changed 11']],
    ['a tag that is gone though events carry it', 'DELETE FROM wp_term_taxonomy WHERE term_id = 12', ['term post_tag 12 removed 10']],
  ])('is taken over together with the list index: %s', async (_, script, entries) => {
    expect(await taken(script)).toEqual(entries);
  }); // biome-ignore format: a table

  it('is recorded for the child categories of a category that becomes a tag and then a category again', async () => {
    const below = ['term tribe_events_cat 4 changed 11'];
    const becomes = (taxonomy: string) => taken(`UPDATE wp_term_taxonomy SET taxonomy = '${taxonomy}' WHERE term_id = 3`);
    expect(await becomes('post_tag')).toEqual(['term post_tag 3 made 01', 'term tribe_events_cat 3 removed 10', ...below].sort());
    expect(await becomes('tribe_events_cat')).toEqual(['term post_tag 3 removed 10', 'term tribe_events_cat 3 made 01', ...below].sort());
  });

  it.each([
    ['an edit lock', "INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (38, '_edit_lock', '1790000000:1')"],
    ['an order of a shop', "INSERT INTO wp_posts (ID, post_type, post_status, post_title, post_content, post_excerpt, to_ping, pinged, post_content_filtered) VALUES (9000, 'shop_order', 'wc-completed', '', '', '', '', '', '')"],
    ['a revision', "INSERT INTO wp_posts (ID, post_type, post_status, post_parent, post_title, post_content, post_excerpt, to_ping, pinged, post_content_filtered) VALUES (9000, 'revision', 'inherit', 38, '', '', '', '', '', '')"],
    ['the same value again', 'UPDATE wp_posts SET post_title = post_title WHERE ID = 38'],
  ])('is not recorded if no record shows it: %s', async (_, script) => {
    expect(await taken(script)).toEqual([]);
  }); // biome-ignore format: a table

  it('is not recorded if Fasti wrote it itself', async () => {
    const sources = await printSources(db, undefined);
    updatePrintsOfOwnChanges(db, async () => ({ sources, languages: undefined }));
    await db.transaction(async (trx) => {
      await updatePost(trx, 38, { post_title: 'Ours' });
      await insertTerm(trx, termKind('tag'), { name: 'Ours', slug: 'ours', description: '', parent: 0 });
      await removePost(trx, 39);
      await indexEvents(trx, [38, 39], undefined);
    });
    expect(await taken("UPDATE wp_posts SET post_title = 'Other' WHERE ID = 12")).toEqual(['post tribe_venue 12 changed 11']);
  });

  it.each([
    ['a status', "UPDATE wp_posts SET post_status = 'draft' WHERE ID = 38", (trx: Database) => updatePost(trx, 38, { post_title: 'Ours' }),
      ['fasti post tribe_events 38 changed 00', 'found post tribe_events 38 changed 10']],
    ['a taxonomy', "UPDATE wp_term_taxonomy SET taxonomy = 'post_tag' WHERE term_id = 3",
      async (trx: Database) => reportTerm(trx, { term_id: 3, taxonomy: 'tribe_events_cat' }, 'changed'),
      ['fasti term tribe_events_cat 3 changed 11', 'found term post_tag 3 made 01', 'found term tribe_events_cat 4 changed 11']],
    ['a slug', "UPDATE wp_terms SET slug = 'other' WHERE term_id = 3",
      async (trx: Database) => reportTerm(trx, { term_id: 3, taxonomy: 'tribe_events_cat' }, 'changed'),
      ['fasti term tribe_events_cat 3 changed 11', 'found term tribe_events_cat 4 changed 11']],
    ['nothing', 'UPDATE wp_posts SET post_title = post_title WHERE ID = 38', (trx: Database) => updatePost(trx, 38, { post_title: 'Ours' }),
      ['fasti post tribe_events 38 changed 11']],
  ])('is recorded even if Fasti writes to the same object before taking it over: %s', async (_, script, write, entries) => {
    const sources = await printSources(db, undefined);
    updatePrintsOfOwnChanges(db, async () => ({ sources, languages: undefined }));
    const from = await lastNumber(db);
    await runScript(db, script);
    await db.transaction(async (trx) => void (await write(trx)));
    await takeOverChanges(db, now);
    const told = (await entriesAfter(db, from, 10)).entries.map(({ writer, kind, type, object, what, wasPublic, isPublic }) =>
      [writer, kind, type, object, what, `${Number(wasPublic)}${Number(isPublic)}`].join(' '),
    );
    expect(told.sort()).toEqual(entries);
    const events = await db.from('posts').where('post_type', 'tribe_events').select('ID');
    expect(await isIndexUpToDate(db, events.map(({ ID }) => ID), undefined)).toBe(true);
  }); // biome-ignore format: a table

  it.each([
    ['rows that are back to what their print shows', ['2031-01-01', undefined, '2031-01-01']],
    ['rows that are deleted for a moment', ['2031-01-01', '2032-01-01', '2031-01-01']],
    ['rows that another process takes over', [undefined, '2032-01-01 by another', undefined]],
  ])('is taken over although it was hidden while posts were compared: %s', async (_, ends) => {
    const [{ end_date: end } = { end_date: '' }] = await db.from('tec_occurrences').where('post_id', 38).select('end_date');
    const set = (date = end.slice(0, 10)) =>
      runScript(db, `UPDATE wp_tec_occurrences SET end_date = '${date}${end.slice(10)}' WHERE post_id = 38`);
    const ranges = createRowRanges(db, undefined);
    (await ranges.begin()).accept();
    ranges.confirm();
    const compare = async (between: () => Promise<void>) => {
      const suspects = (await ranges.suspects())!;
      await between();
      await takeOverChanges(db, now, { posts: suspects.posts });
      suspects.accept();
    };
    const [first, second, third] = ends;
    await set(first);
    await compare(async () => {
      await set(second?.slice(0, 10));
      if (second?.endsWith('another')) await takeOverChanges(db, now);
    });
    await set(third);
    await compare(async () => undefined);
    expect(await isIndexUpToDate(db, [38], undefined)).toBe(true);
  });

  it('is searched for in the posts of a check only until nothing was written during one', async () => {
    const ranges = createRowRanges(db, undefined);
    (await ranges.begin()).accept();
    expect((await ranges.suspects())?.posts).toContain(38);
    ranges.confirm();
    expect((await ranges.suspects())?.posts).toEqual([]);
  });

  it('is searched for in the posts of a check for some seconds at most', async () => {
    let now = 0;
    const ranges = createRowRanges(db, undefined, () => now);
    (await ranges.begin()).accept();
    now = 4000;
    const again = await ranges.suspects();
    expect(again?.posts).toContain(38);
    again?.accept();
    now = 6000;
    const last = await ranges.suspects();
    expect(last?.posts).toContain(38);
    last?.accept();
    expect((await ranges.suspects())?.posts).toEqual([]);
  });

  it('is recorded once if several comparisons run at the same time', async () => {
    const from = await lastNumber(db);
    await runScript(db, 'UPDATE wp_posts SET menu_order = menu_order + 1 WHERE ID IN (38, 39, 12)');
    await Promise.all([takeOverChanges(db, now), takeOverChanges(db, now), takeOverChanges(db, now)]);
    expect((await entriesAfter(db, from, 10)).entries.map(({ object }) => object).sort()).toEqual([12, 38, 39]);
  });

  it('is recorded as a change of everything if there are no prints yet', async () => {
    await db.from('fasti_prints').delete();
    const from = await lastNumber(db);
    await takeOverChanges(db, now);
    expect((await entriesAfter(db, from, 1000)).entries).toMatchObject([{ kind: 'all' }]);
  });
});

describeDatabases('changes without the tables of the calendar', (open) => {
  it('are taken over from other programs and recorded for own writes', async () => {
    const db = await loadSite(await open());
    for (const table of ['tec_occurrences', 'tec_events'] as const) await db.ask(`DROP TABLE ${db.table(table)}`);
    await takeOverChanges(db, now);
    const from = await lastNumber(db);
    await runScript(
      db,
      `UPDATE wp_posts SET post_title = 'Other' WHERE ID = 38; UPDATE wp_term_taxonomy SET parent = 0 WHERE term_id = 4;
       DELETE FROM wp_term_taxonomy WHERE term_id = 12`,
    );
    await takeOverChanges(db, now);
    const sources = await printSources(db, undefined);
    updatePrintsOfOwnChanges(db, async () => ({ sources, languages: undefined }));
    await runScript(db, 'UPDATE wp_term_taxonomy SET parent = 0 WHERE term_id = 3');
    await db.transaction(async (trx) => {
      await updatePost(trx, 39, { post_title: 'Ours' });
      reportTerm(trx, { term_id: 3, taxonomy: 'tribe_events_cat' }, 'changed');
    });
    const told = (await entriesAfter(db, from, 10)).entries.map(({ writer, object, what }) => `${writer} ${object} ${what}`);
    expect(told.sort()).toEqual(['fasti 3 changed', 'fasti 39 changed', 'found 12 removed', 'found 38 changed', 'found 4 changed']);
  });

  it('is compared anew once it has some, and the index is made', async () => {
    const db = await loadSite(await open());
    await db.ask(`ALTER TABLE wp_tec_occurrences RENAME TO wp_kept_occurrences`);
    const others = createForeignChangeHandler(db, now);
    const takeOver = () => others.takeOver({ isFull: false, tables: undefined, languages: undefined });
    await takeOver();
    await runScript(
      db,
      "UPDATE wp_posts SET post_title = 'Other' WHERE ID = 38; ALTER TABLE wp_kept_occurrences RENAME TO wp_tec_occurrences",
    );
    const from = await lastNumber(db);
    await takeOver();
    const kinds = async () => (await entriesAfter(db, from, 1000)).entries.map(({ kind, object }) => `${kind} ${object}`);
    expect((await kinds()).filter((entry) => !entry.startsWith('option'))).toEqual(['all 0']);
    expect((await readOptions(db, ['fasti_index'])).get('fasti_index')).toBe(indexLayout(undefined));
    await runScript(db, "UPDATE wp_tec_occurrences SET end_date = '2031-01-01 00:00:00' WHERE post_id = 38");
    await takeOver();
    expect((await kinds()).at(-1)).toBe('post 38');
  });
});

/** Scripts with the writes of each language plugin, and the records that change. Events 110 and 111 form one group. */
const SCRIPTS: Readonly<Record<'polylang' | 'wpml', readonly (readonly [string, string, readonly string[]])[]>> = {
  wpml: [
    ['a language', "UPDATE wp_icl_translations SET language_code = 'it' WHERE element_type = 'post_tribe_events' AND element_id = 112", ['post 112']],
    ['a pair that is unlinked', "UPDATE wp_icl_translations SET trid = 999, source_language_code = NULL WHERE element_type = 'post_tribe_events' AND element_id = 111",
      ['post 110', 'post 111']],
    ['a pair that is linked', "UPDATE wp_icl_translations SET trid = 7, source_language_code = 'en' WHERE element_type = 'post_tribe_events' AND element_id = 113",
      ['post 112', 'post 113']],
    ['a row that is gone', "DELETE FROM wp_icl_translations WHERE element_type = 'post_tribe_events' AND element_id = 111", ['post 110', 'post 111']],
    ['a group of categories', "DELETE FROM wp_icl_translations WHERE element_type = 'tax_tribe_events_cat' AND element_id = 70", ['term 38', 'term 40']],
    ['a translation that is only planned', "INSERT INTO wp_icl_translations (element_type, element_id, trid, language_code, source_language_code) VALUES ('post_tribe_events', NULL, 7, 'it', 'en')",
      []],
  ],
  polylang: [
    ['a pair that is unlinked', `UPDATE wp_term_taxonomy SET description = 'a:1:{s:2:"en";i:110;}', count = 1 WHERE term_taxonomy_id = 105;
      DELETE FROM wp_term_relationships WHERE object_id = 111 AND term_taxonomy_id = 105`, ['post 110', 'post 111', 'term 75']],
    ['a group that is gone', `DELETE FROM wp_term_relationships WHERE term_taxonomy_id = 105; DELETE FROM wp_term_taxonomy WHERE term_taxonomy_id = 105;
      DELETE FROM wp_terms WHERE term_id = 75`, ['post 110', 'post 111', 'term 75']],
    ['the numbers of records in each language', "UPDATE wp_term_taxonomy SET count = count + 1 WHERE taxonomy IN ('language', 'term_language')", []],
    ['the name of a language', "UPDATE wp_terms SET name = 'Other' WHERE slug = 'it'", ['term 34']],
  ],
}; // biome-ignore format: a table

for (const form of ['polylang', 'wpml'] as const) {
  describeDatabases(`language change by WordPress with ${form}`, (open) => {
    it.each(SCRIPTS[form])('is taken over together with the list index: %s', async (_, script, objects) => {
      const db = await loadLanguages(await open(), form);
      const languages = await findLanguages(db, await readOptions(db, settingNames(db.prefix)), { setting: form, isShared: true });
      await takeOverChanges(db, now, { languages });
      await reindexEvents(db, now, { marksComplete: true, languages });
      const ranges = createRowRanges(db, languages);
      (await ranges.begin()).accept();
      const from = await lastNumber(db);
      await runScript(db, script);
      const suspects = (await ranges.suspects())!;
      await takeOverChanges(db, now, { posts: suspects.posts, languages });
      suspects.accept();
      expect((await entriesAfter(db, from, 1000)).entries.map(({ kind, object }) => `${kind} ${object}`).sort()).toEqual(objects);
      const after = await lastNumber(db);
      await takeOverChanges(db, now, { languages });
      expect(await lastNumber(db)).toBe(after);
      const events = await db.from('posts').where('post_type', 'tribe_events').select('ID');
      const ids = events.map(({ ID }) => ID);
      expect(await isIndexUpToDate(db, ids, languages)).toBe(true);
    });
  });
}
