import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { termKind } from '../../src/kinds/index.ts';
import { type Database, openDatabase } from '../../src/storage/engine/database.ts';
import {
  appendChanges,
  type Change,
  entriesAfter,
  type JournalEntry,
  lastNumber,
  markAt,
  oldestNumber,
  pruneJournal,
} from '../../src/storage/journal/entries.ts';
import { createJournalFeed } from '../../src/storage/journal/feed.ts';
import { joinWriters, noteChange, reportEverything } from '../../src/storage/journal/reported-changes.ts';
import { insertMetas, insertPost, lockPost, removePost, updatePost, writeMetas } from '../../src/storage/rows/posts.ts';
import { moveCounts, setTermsOf } from '../../src/storage/rows/term-links.ts';
import { insertTerm, removeTerm } from '../../src/storage/rows/terms.ts';
import { lockUser, reassignPosts, removeUser } from '../../src/storage/rows/users.ts';
import { asStored } from '../../src/wordpress/php/serialized.ts';
import { utcFromDate } from '../../src/wordpress/time.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const HAND = { now: NOW, viewer: { id: 7 } };
const change = (object: number): Change => ({
  kind: 'post',
  type: 'tribe_events',
  object,
  what: 'changed',
  wasPublic: true,
  isPublic: true,
});
const origin = (now = NOW) => ({ writer: 'fasti', at: utcFromDate(now), user: 0 }) as const;

describeDatabases('journal', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    await loadSite(db);
    await db.from('fasti_journal').delete();
  });

  /** Journal entries of a transaction, each as a line of its distinguishing fields. */
  const entriesOf = async (work: (trx: Database) => Promise<unknown>): Promise<string[]> => {
    const from = await lastNumber(db);
    await db.transaction(async (trx) => {
      noteChange(trx, HAND);
      await work(trx);
    });
    return (await entriesAfter(db, from, 100)).entries.map(wordsOf);
  };
  const wordsOf = ({ kind, type, object, what, wasPublic, isPublic }: JournalEntry) =>
    [kind, type, object, what, `${Number(wasPublic)}${Number(isPublic)}`].join(' ');

  describe('entries of a transaction', () => {
    const [made] = [{ post_type: 'tribe_venue', post_status: 'publish', post_title: 'New' }];

    it.each([
      ['removed', (trx: Database) => removePost(trx, 12), 'removed 10'],
      ['hidden', (trx: Database) => updatePost(trx, 12, { post_status: 'draft' }), 'changed 10'],
      [
        'locked and hidden',
        async (trx: Database) => {
          await lockPost(trx, 12);
          await updatePost(trx, 12, { post_status: 'draft' });
        },
        'changed 10',
      ],
    ])('say of a post that was public until it was changed and then %s that it is not any more', async (_, write, entry) => {
      const entries = await entriesOf(async (trx) => {
        await writeMetas(trx, 12, { _VenueCity: [asStored('Rome')] });
        await write(trx);
      });
      expect(entries).toEqual([`post tribe_venue 12 ${entry}`]);
    });

    it('say of an image that gets a parent that it is not public any more', async () => {
      const id = await db.transaction((trx) => {
        noteChange(trx, HAND);
        return insertPost(trx, { post_type: 'attachment', post_status: 'inherit', post_title: 'Image' });
      });
      expect(await entriesOf((trx) => updatePost(trx, id, { post_parent: 12 }))).toEqual([`post attachment ${id} changed 10`]);
    });

    it('exclude a part that was rolled back', async () => {
      const entries = await entriesOf(async (trx) => {
        await trx.part((part) => insertPost(part, { post_type: 'tribe_venue', post_status: 'publish', post_title: 'Kept' }));
        await trx
          .part(async (part) => {
            await insertPost(part, { post_type: 'tribe_organizer', post_status: 'publish', post_title: 'Undone' });
            throw new Error('undone');
          })
          .catch(() => undefined);
      });
      expect(entries).toEqual([expect.stringMatching(/^post tribe_venue \d+ made 01$/)]);
    });

    it('exclude a part that was rolled back after nested parts at any depth had succeeded', async () => {
      const title = 'Undone at depth';
      const entries = await entriesOf((trx) =>
        trx
          .part(async (outer) => {
            await outer.part((inner) =>
              inner.part((innermost) =>
                innermost.transaction((same) => same.part((last) => insertPost(last, { post_type: 'tribe_venue', post_title: title }))),
              ),
            );
            throw new Error('undone');
          })
          .catch((error: Error) => expect(error.message).toBe('undone')),
      );
      expect(entries).toEqual([]);
      expect(await db.from('posts').where('post_title', title).pluck('ID')).toEqual([]);
    });

    it('contain one entry per object, however many of its rows are written', async () => {
      const entries = await entriesOf(async (trx) => {
        const row = (await lockPost(trx, 38))!;
        await updatePost(trx, 38, { post_title: 'Other' });
        await writeMetas(trx, 38, { _EventURL: [asStored('https://example.org/')], _EventCost: [asStored('7')] });
        expect(row.post_status).toBe('publish');
      });
      expect(entries).toEqual(['post tribe_events 38 changed 11']);
    });
    it('state whether the object was public before and is public afterwards', async () => {
      expect(await entriesOf((trx) => updatePost(trx, 38, { post_status: 'draft' }))).toEqual(['post tribe_events 38 changed 10']);
      expect(await entriesOf((trx) => updatePost(trx, 38, { post_status: 'publish' }))).toEqual(['post tribe_events 38 changed 01']);
      expect(await entriesOf((trx) => removePost(trx, 38))).toEqual(['post tribe_events 38 removed 10']);
      const made38 = { post_type: 'tribe_events', post_status: 'draft', post_title: 'New', ID: 38 };
      expect(await entriesOf((trx) => insertPost(trx, made38))).toEqual(['post tribe_events 38 made 00']);
    });
    it('name a new post but not its revisions', async () => {
      const entries = await entriesOf(async (trx) => {
        const id = await insertPost(trx, { ...made, post_date: '2026-01-01 00:00:00' });
        await insertMetas(trx, new Map([[id, { _VenueCity: [asStored('Rome')] }]]));
        await insertPost(trx, { post_type: 'revision', post_status: 'inherit', post_parent: id });
      });
      expect(entries).toEqual([expect.stringMatching(/^post tribe_venue \d+ made 01$/)]);
    });
    it('name the terms whose counts change', async () => {
      const entries = await entriesOf(async (trx) => {
        const rows = await setTermsOf(trx, 38, 'post_tag', [12]);
        await moveCounts(trx, [], rows);
      });
      expect(entries).toEqual(['post tribe_events 38 changed 11', 'term post_tag 13 changed 11']);
    });
    it('name a term and the posts that gain or lose it', async () => {
      let id = 0;
      const term = { name: 'New', slug: 'new', description: '', parent: 0 };
      const first = await entriesOf(async (trx) => {
        id = await insertTerm(trx, termKind('tag'), term);
        await setTermsOf(trx, 38, 'post_tag', [id]);
      });
      expect(first).toEqual(['post tribe_events 38 changed 11', `term post_tag ${id} made 01`]);
      const [row] = await db.from('term_taxonomy').where('term_id', id);
      const second = await entriesOf((trx) => removeTerm(trx, { ...term, ...row!, term_group: 0 }));
      expect(second).toEqual(['post tribe_events 38 changed 11', `term post_tag ${id} removed 10`]);
    });
    it('name a deleted user and the posts that get another author', async () => {
      const posts = await db.from('posts').where('post_author', 2).whereNot('post_type', 'revision').select('ID', 'post_type');
      expect(posts.length).toBeGreaterThan(0);
      const entries = await entriesOf(async (trx) => {
        await lockUser(trx, 2);
        await reassignPosts(trx, 2, 1);
        await removeUser(trx, 2);
      });
      expect(entries.filter((one) => one.startsWith('post')).length).toBe(posts.length);
      expect(entries.at(-1)).toBe('user  2 removed 00');
    });
    it('consist of one entry for everything if the changed objects are unknown', async () => {
      const entries = await entriesOf(async (trx) => {
        await updatePost(trx, 38, { post_title: 'Other' });
        reportEverything(trx);
      });
      expect(entries).toEqual(['all  0 changed 11']);
    });
    it('state the writer, the user and the time', async () => {
      await entriesOf((trx) => updatePost(trx, 38, { post_title: 'Other' }));
      expect((await entriesAfter(db, 0, 1)).entries).toMatchObject([{ at: '2026-11-20 12:00:00', writer: 'fasti', user: 7 }]);
    });
    it('are not written when the transaction is rolled back', async () => {
      const from = await lastNumber(db);
      await expect(
        db.transaction(async (trx) => {
          await updatePost(trx, 38, { post_title: 'Other' });
          throw new Error('no');
        }),
      ).rejects.toThrow('no');
      expect((await entriesAfter(db, from, 10)).entries).toEqual([]);
      expect(await lastNumber(db)).toBe(from);
    });
    it('are mandatory: a transaction that writes rows without reporting their records fails', async () => {
      const forgetful = db.transaction((trx) => trx.from('posts').where('ID', 38).update({ post_title: 'Other' }));
      await expect(forgetful).rejects.toThrow('must report them to the journal');
    });
  });

  describe('entry numbers', () => {
    it('are consecutive within a transaction, however many entries it has', async () => {
      const from = await lastNumber(db);
      await db.transaction((trx) =>
        appendChanges(
          trx,
          Array.from({ length: 501 }, (_, n) => change(n + 1)),
          origin(),
        ),
      );
      const { entries } = await entriesAfter(db, from, 1000);
      expect(entries.map(({ number }) => number)).toEqual(entries.map((_, place) => from + 1 + place));
      expect(entries.map(({ object }) => object)).toEqual(entries.map((_, place) => place + 1));
      expect(await lastNumber(db)).toBe(from + 501);
    });

    it('follow the order of commits, so that a feed misses none while many transactions write', async () => {
      const other = await openDatabase({ url: urlOf(db), prefix: 'wp_' });
      const feed = createJournalFeed(db);
      await feed.advanceTo(await lastNumber(db), feed.position());
      const seen: JournalEntry[] = [];
      feed.subscribe((entries) => void seen.push(...entries));
      let writing = true;
      const follow = (async () => {
        for (; writing; await nextTurn()) await feed.advanceTo(await lastNumber(db), feed.position());
        await feed.advanceTo(await lastNumber(db), feed.position());
      })();
      const write = async (one: Database, writer: number): Promise<void> => {
        for (let round = 1; round <= 20; round += 1) {
          await one.transaction(async (trx) => {
            if (round % 5 === 0) joinWriters(trx);
            await appendChanges(
              trx,
              Array.from({ length: (round % 3) + 1 }, (_, n) => change(writer * 1000 + round * 10 + n)),
              origin(),
            );
          });
        }
      };
      await Promise.all(Array.from({ length: 6 }, (_, n) => write(n % 2 === 0 ? db : other, n + 1)));
      writing = false;
      await follow;
      expect(seen.map(({ number }) => number)).toEqual(seen.map(({ number }) => number).sort((one, two) => one - two));
      expect(seen.map(({ object }) => object)).toEqual((await entriesAfter(db, 0, 10_000)).entries.map(({ object }) => object));
      expect(new Set(seen.map(({ object }) => object)).size).toBe(seen.length);
      await other.close();
    });
  });

  describe('feed', () => {
    const following = async () => {
      const feed = createJournalFeed(db);
      await feed.advanceTo(await lastNumber(db), feed.position());
      const seen: string[] = [];
      const stop = feed.subscribe((entries) => void seen.push(...entries.map(({ kind, object }) => `${kind} ${object}`)));
      return { feed, seen, stop, advance: async () => feed.advanceTo(await lastNumber(db), feed.position()) };
    };
    const write = (...objects: number[]) => db.transaction((trx) => appendChanges(trx, objects.map(change), origin()));

    it('delivers each later entry once to its subscribers, until they unsubscribe', async () => {
      await write(1);
      const { seen, stop, advance } = await following();
      await write(2, 3);
      await Promise.all([advance(), advance()]);
      await advance();
      expect(seen).toEqual(['post 2', 'post 3']);
      stop();
      await write(4);
      await advance();
      expect(seen).toEqual(['post 2', 'post 3']);
    });
    it('reports a change of everything if entries are missing, it is too far behind, or the counter decreased', async () => {
      const { feed, seen, advance } = await following();
      await write(1);
      await write(2);
      await db.from('fasti_journal').where('object', 1).delete();
      await advance();
      expect(seen).toEqual(['all 0']);
      await feed.advanceTo((await lastNumber(db)) - 1, feed.position());
      expect(seen).toEqual(['all 0', 'all 0']);
      await db.from('fasti_changes').increment('counter', 20_000);
      await advance();
      expect(seen).toEqual(['all 0', 'all 0', 'all 0']);
    });
    it('does not take a look that another one has overtaken for a reset of the counter', async () => {
      const { feed, seen, advance } = await following();
      await write(1);
      const [before, count] = [feed.position(), await lastNumber(db)];
      await write(2, 3);
      await advance();
      await feed.advanceTo(count, before);
      await write(4);
      await advance();
      expect(seen).toEqual(['post 1', 'post 2', 'post 3', 'post 4']);
    });
    it('does not take the first look for a reset if a later one has overtaken it', async () => {
      const feed = createJournalFeed(db);
      const seen: number[] = [];
      feed.subscribe((entries) => void seen.push(...entries.map(({ object }) => object)));
      const [before, count] = [feed.position(), await lastNumber(db)];
      await write(1);
      await feed.advanceTo(await lastNumber(db), feed.position());
      await feed.advanceTo(count, before);
      await write(2);
      await feed.advanceTo(await lastNumber(db), feed.position());
      expect(seen).toEqual([2]);
    });
    it('reads new entries and checks for pruned ones in a single query', async () => {
      const { seen, feed } = await following();
      await write(5, 6);
      const count = await lastNumber(db);
      const before = db.queries();
      await feed.advanceTo(count, feed.position());
      expect([db.queries() - before, seen]).toEqual([1, ['post 5', 'post 6']]);
    });
    it('runs no query while nothing changes', async () => {
      const { feed } = await following();
      const count = await lastNumber(db);
      const before = db.queries();
      await feed.advanceTo(count, feed.position());
      expect(db.queries()).toBe(before);
    });
  });

  it('computes a mark of the last entry that depends on the secret of the site', async () => {
    const before = await lastNumber(db);
    expect(await markAt(db, before, 'secret')).toBeUndefined();
    await entriesOf((trx) => appendChanges(trx, [change(40)], origin()));
    const last = await lastNumber(db);
    const mark = await markAt(db, last, 'secret');
    expect(mark).toMatch(/^[0-9a-f]{10}$/);
    expect(await markAt(db, last + 5, 'secret')).toBe(mark);
    expect(await markAt(db, last, 'another secret')).not.toBe(mark);
  });

  it('is pruned in steps and reports the number from which it is complete', async () => {
    expect(await oldestNumber(db)).toBe(await lastNumber(db));
    const from = await lastNumber(db);
    const day = (days: number) => new Date(NOW.getTime() - days * 24 * 3600 * 1000);
    await db.transaction((trx) =>
      appendChanges(
        trx,
        Array.from({ length: 1500 }, (_, n) => change(n)),
        origin(day(91)),
      ),
    );
    await db.transaction((trx) => appendChanges(trx, [change(1), change(2)], origin(day(89))));
    expect(await oldestNumber(db)).toBe(from);
    expect(await pruneJournal(db, 90, NOW)).toBe(1000);
    expect(await oldestNumber(db)).toBe(from + 1000);
    expect(await pruneJournal(db, 90, NOW)).toBe(500);
    expect(await pruneJournal(db, 90, NOW)).toBe(0);
    expect(await pruneJournal(db, 1, NOW)).toBe(1);
    // The last entry is kept: its number shows from where on the journal is complete.
    expect(await pruneJournal(db, 1, NOW)).toBe(0);
    expect(await oldestNumber(db)).toBe(from + 1501);
  });

  it.each([
    ['a day', 25],
    ['decades', 50 * 366 * 24],
  ])('is not pruned of new entries by a process whose clock is %s behind', async (_, hours) => {
    await db.transaction((trx) => appendChanges(trx, [change(1), change(2)], origin(NOW)));
    const behind = new Date(NOW.getTime() - hours * 3600 * 1000);
    expect(await pruneJournal(db, 1, behind)).toBe(0);
    await db.transaction((trx) => appendChanges(trx, [change(3)], origin(behind)));
    expect(await pruneJournal(db, 1, behind)).toBe(0);
  });

  it('is pruned of what was noted while the clock was ahead', async () => {
    const from = await oldestNumber(db);
    const day = (days: number) => new Date(NOW.getTime() + days * 24 * 3600 * 1000);
    for (const days of [3650, 3650, 0, -0.5]) await db.transaction((trx) => appendChanges(trx, [change(1)], origin(day(days))));
    expect(await pruneJournal(db, 1, NOW)).toBe(2);
    expect(await oldestNumber(db)).toBe(from + 2);
    expect(await pruneJournal(db, 1, NOW)).toBe(0);
  });
});
