import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import { INDEX_OPTION } from '../../src/calendar/settings.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { takeOverChanges } from '../../src/storage/freshness/foreign-changes.ts';
import { createInbox, type Inbox } from '../../src/storage/freshness/plugin-inbox.ts';
import { type PrintSource, printSources } from '../../src/storage/freshness/prints.ts';
import { isIndexUpToDate } from '../../src/storage/index/event-index.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { entriesAfter, lastNumber } from '../../src/storage/journal/entries.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { loadSite, snapshotTables } from '../support/site.ts';

const now = () => new Date('2026-11-20T12:00:00Z');

/** A row as the plugin inserts it. */
const noted = (kind: string, type: string, object: number, what: string, user: number) =>
  `INSERT INTO \`wp_fasti_journal_inbox\` (at, kind, type, object, what, user) VALUES ('2026-11-20 11:59:59', '${kind}', '${type}', ${object}, '${what}', ${user})`;

describeDatabases('note of the WordPress plugin', (open) => {
  let db: Database;
  let inbox: Inbox;
  let sources: readonly PrintSource[];
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    db = await loadSite(await open());
    await takeOverChanges(db, now);
    await reindexEvents(db, now, { marksComplete: true });
    putBack = await snapshotTables(db);
  });
  beforeEach(async () => {
    await putBack();
    await db.from('fasti_journal_inbox').delete();
    sources = await printSources(db, undefined);
    inbox = createInbox(db, now, () => sources);
  });

  const waiting = async () => (await db.from('fasti_journal_inbox').select('id')).map(({ id }) => Number(id));
  const newest = async () => Math.max(0, ...(await waiting()));
  /** Journal entries that result from a script, each as a line of its distinguishing fields, sorted. */
  const taken = async (...script: string[]): Promise<string[]> => {
    const from = await lastNumber(db);
    await runScript(db, script.filter(Boolean).join(';\n'));
    await inbox.drain(await newest(), undefined);
    return (await entriesAfter(db, from, 1000)).entries
      .map(({ kind, type, object, what, wasPublic, isPublic, writer, user }) =>
        [kind, type || '-', object, what, `${Number(wasPublic)}${Number(isPublic)}`, writer, user].join(' '),
      )
      .sort();
  };

  it.each([
    ['a title', "UPDATE wp_posts SET post_title = 'Other' WHERE ID = 38", noted('post', 'tribe_events', 38, 'changed', 3),
      'post tribe_events 38 changed 11 wordpress 3'],
    ['a status', "UPDATE wp_posts SET post_status = 'draft' WHERE ID = 38", noted('post', 'tribe_events', 38, 'changed', 3),
      'post tribe_events 38 changed 10 wordpress 3'],
    ['a post that is gone', 'DELETE FROM wp_posts WHERE ID = 38', noted('post', 'tribe_events', 38, 'removed', 0),
      'post tribe_events 38 removed 10 wordpress 0'],
    ['a term', "UPDATE wp_terms SET name = 'Other' WHERE term_id = 4", noted('term', 'tribe_events_cat', 4, 'changed', 3),
      'term tribe_events_cat 4 changed 11 wordpress 3'],
    ['a term that is gone', 'DELETE FROM wp_term_taxonomy WHERE term_id = 12', noted('term', 'post_tag', 12, 'removed', 3),
      'term post_tag 12 removed 10 wordpress 3'],
    ['a user', '', noted('user', '', 2, 'removed', 3), 'user - 2 removed 00 wordpress 3'],
    ['an option', '', noted('option', 'timezone_string', 0, 'changed', 3), 'option timezone_string 0 changed 00 wordpress 3'],
  ])('is taken over into the journal and the list index: %s', async (_, script, note, entry) => {
    expect(await taken(script, note)).toEqual([entry]);
    expect(await waiting()).toEqual([]);
    const events = await db.from('posts').where('post_type', 'tribe_events').select('ID');
    expect(await isIndexUpToDate(db, [...events.map(({ ID }) => ID), 38], undefined)).toBe(true);
    // A complete comparison finds no further change.
    const before = await lastNumber(db);
    await takeOverChanges(db, now);
    expect(await lastNumber(db)).toBe(before);
  }); // biome-ignore format: a table

  it.each([
    ['nothing was changed', noted('post', 'tribe_events', 38, 'changed', 1)],
    ['it is of a type that is shown nowhere', noted('post', 'shop_order', 9000, 'changed', 1)],
    ['there is no such post', noted('post', 'tribe_events', 987_654, 'made', 1)],
    ['nobody knows the kind', noted('thing', '', 1, 'changed', 1)],
    ['the option is of nobody’s concern', noted('option', 'fasti_index', 0, 'changed', 1)],
  ])('is removed without a journal entry if %s', async (_, note) => {
    expect(await taken(note)).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  it('becomes one journal entry for an object that was noted twice', async () => {
    const twice = [noted('post', 'tribe_events', 38, 'changed', 3), noted('user', '', 2, 'made', 3)];
    expect(await taken("UPDATE wp_posts SET post_title = 'Other' WHERE ID = 38", ...twice, ...twice)).toEqual([
      'post tribe_events 38 changed 11 wordpress 3',
      'user - 2 made 00 wordpress 3',
    ]);
  });

  it('is taken over once if several processes drain the inbox at the same time', async () => {
    const from = await lastNumber(db);
    const ids = [38, 39, 12, 13];
    await runScript(
      db,
      [
        `UPDATE wp_posts SET menu_order = menu_order + 1 WHERE ID IN (${ids.join()})`,
        ...ids.map((id) => noted('post', '', id, 'changed', 1)),
      ].join(';\n'),
    );
    const last = await newest();
    const others = Array.from({ length: 3 }, () => createInbox(db, now, () => sources));
    await Promise.all(others.map((other) => other.drain(last, undefined)));
    expect((await entriesAfter(db, from, 100)).entries.map(({ object }) => object).sort()).toEqual([...ids].sort());
    expect(await waiting()).toEqual([]);
  });

  it('is taken over in batches, oldest first', async () => {
    await runScript(db, Array.from({ length: 600 }, (_, at) => noted('user', '', at + 1, 'changed', 1)).join(';\n'));
    const from = await lastNumber(db);
    await inbox.drain(await newest(), undefined);
    expect((await entriesAfter(db, from, 1000)).entries.map(({ object }) => object)).toEqual(
      Array.from({ length: 500 }, (_, at) => at + 1),
    );
    expect(await waiting()).toHaveLength(100);
    await inbox.drain(await newest(), undefined);
    expect(await waiting()).toEqual([]);
  });

  it('is taken over in the background, once, if that takes longer than looks may wait', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let transactions = 0;
    const transaction: Database['transaction'] = async (work) => {
      transactions += 1;
      await released;
      return db.transaction(work);
    };
    const slow = createInbox({ ...db, transaction }, now, () => sources);
    await runScript(db, noted('user', '', 1, 'changed', 1));
    const first = await newest();
    await slow.drain(first, undefined);
    await slow.drain(first, undefined);
    await runScript(db, noted('user', '', 2, 'changed', 1));
    await slow.drain(await newest(), undefined);
    expect([transactions, (await waiting()).length]).toEqual([1, 2]);
    release();
    await slow.drain(await newest(), undefined);
    while ((await waiting()).length > 0) await nextTurn();
    expect(transactions).toBeLessThanOrEqual(2);
  });

  it.each([
    ['gives up the list index if the events of a moved category are', { isKept: false, from: [30_000], count: 1001 }],
    ['gives up the list index if the events of two moved categories together are', { isKept: false, from: [30_000, 31_000], count: 600 }],
    ['counts the events that two moved categories share once, so they are not', { isKept: true, from: [30_000, 30_000], count: 600 }],
  ])('%s too many to be indexed at once', async (_, { isKept, from, count }) => {
    const categories = await db
      .from('term_taxonomy')
      .where('taxonomy', 'tribe_events_cat')
      .orderBy('term_taxonomy_id')
      .limit(from.length)
      .select('term_taxonomy_id', 'term_id');
    expect(categories).toHaveLength(from.length);
    for (const [place, { term_taxonomy_id: row, term_id: term }] of categories.entries()) {
      const links = Array.from({ length: count }, (_, index) => `(${from[place]! + index}, ${row}, 0)`);
      await runScript(
        db,
        `INSERT INTO wp_term_relationships (object_id, term_taxonomy_id, term_order) VALUES ${links.join()};
         UPDATE wp_term_taxonomy SET parent = 10 WHERE term_taxonomy_id = ${row};
         ${noted('term', '', term, 'changed', 1)}`,
      );
    }
    expect((await readOptions(db, [INDEX_OPTION])).get(INDEX_OPTION)).toBeDefined();
    await inbox.drain(await newest(), undefined);
    while ((await waiting()).length > 0) await nextTurn();
    expect((await readOptions(db, [INDEX_OPTION])).has(INDEX_OPTION)).toBe(isKept);
  });

  it('stays in the inbox until there are prints', async () => {
    await db.from('fasti_prints').delete();
    expect(await taken(noted('user', '', 1, 'changed', 1))).toEqual([]);
    expect(await waiting()).toHaveLength(1);
    await takeOverChanges(db, now);
    expect(await taken(noted('user', '', 2, 'changed', 1))).toHaveLength(2);
  });

  it('stays in the inbox when taking it over fails', async () => {
    await runScript(db, noted('user', '', 1, 'changed', 1));
    const failing = createInbox(db, now, () => {
      throw new Error('no sources');
    });
    await failing.drain(await newest(), undefined);
    expect(await waiting()).toHaveLength(1);
  });
});
