import { expect, it } from '@jest/globals';
import { removeLeftoverRows } from '../../src/storage/rows/new-rows.ts';
import { DEFAULT_COLUMNS } from '../../src/storage/rows/posts.ts';
import { ZERO_DATE } from '../../src/wordpress/time.ts';
import { describeRequests } from '../support/site-client.ts';

/*
 * Which related rows are deleted with a permanently deleted post, and which stay (`wp_delete_post`). Only `wp/v2`
 * deletes permanently; the other APIs move posts to the trash.
 */

/** Route base and id of a record of each kind in the sample site. */
const DELETIONS = [
  ['tribe_events', 38],
  ['tribe_venue', 22],
  ['tribe_organizer', 24],
  ['media', 10],
] as const;
/** The parent of the deleted record, and an image that is attached to the record. */
const [ABOVE, PICTURE] = [44, 11];
const NOTED = { comment_author: 'Anna', comment_content: 'Good', comment_date: ZERO_DATE, comment_date_gmt: ZERO_DATE };

describeRequests('permanent deletion of a post', (ask) => {
  const removed = (base: string, id: number, query = '') => ask.send('DELETE', `/wp-json/wp/v2/${base}/${id}${query}`, { as: 'admin' });
  const picture = async () => (await ask.send('GET', `/wp-json/wp/v2/media/${PICTURE}`, { as: 'admin' })).body.post;
  const left = async () => ({
    comments: (await ask.db().from('comments').orderBy('comment_ID').pluck('comment_post_ID')).map(Number),
    metas: (await ask.db().from('commentmeta').orderBy('meta_id').pluck('meta_value')).map(String),
    revisions: (await ask.db().from('posts').where('post_type', 'revision').pluck('post_parent')).map(Number),
  });

  it.each(DELETIONS)('deletes comments and revisions and moves attachments to the parent: %s', async (base, id) => {
    const before = (await left()).revisions;
    await ask.writeRows(async (db) => {
      for (const table of ['comments', 'commentmeta'] as const) await db.from(table).delete();
      await db.from('posts').where('ID', id).update({ post_parent: ABOVE });
      await db.from('posts').insert({ ...DEFAULT_COLUMNS, post_type: 'revision', post_status: 'inherit', post_parent: id });
      await db.from('posts').where('ID', PICTURE).update({ post_parent: id });
      for (const post of [id, ABOVE]) {
        const row = { ...NOTED, comment_post_ID: post };
        await db.from('comments').insert(row);
        const [comment] = await db.from('comments').where('comment_post_ID', post).pluck('comment_ID');
        await db.from('commentmeta').insert({ comment_id: Number(comment), meta_key: 'of', meta_value: String(post) });
      }
    });
    expect(await picture()).toBe(id);
    if (base !== 'media') {
      expect((await removed(base, id)).status).toBe(200);
      expect((await left()).comments).toEqual([id, ABOVE]);
    }
    expect((await removed(base, id, '?force=true')).status).toBe(200);
    expect(await ask.db().from('posts').where('ID', id).select('ID')).toEqual([]);
    expect(await left()).toEqual({ comments: [ABOVE], metas: [String(ABOVE)], revisions: before.filter((one) => one !== id) });
    expect(await picture()).toBe(ABOVE);
    expect(await ask.db().from('posts').where('post_parent', id).select('ID')).toEqual([]);
  });

  it('makes the image of a draft public and records the change in the journal', async () => {
    await ask.writeRows(async (db) => {
      await db.from('posts').where('ID', 38).update({ post_status: 'draft' });
      await db.from('posts').where('ID', PICTURE).update({ post_parent: 38 });
    });
    const seen = async () => (await ask.send('GET', `/wp-json/wp/v2/media/${PICTURE}`)).status;
    expect(await seen()).toBe(401);
    const { last } = (await ask.db().from('fasti_journal').max({ last: 'number' }).first()) as unknown as { last: number };
    expect((await removed('tribe_events', 38, '?force=true')).status).toBe(200);
    expect(await seen()).toBe(200);
    const noted = await ask.db().from('fasti_journal').where('number', '>', last).where('object', PICTURE).select('what', 'is_public');
    expect(noted).toEqual([{ what: 'changed', is_public: 1 }]);
  });
  it('by another program leaves comments that removeLeftoverRows deletes before the id is reused', async () => {
    const [GONE, OTHER] = [9_999, 44];
    await ask.writeRows(async (db) => {
      for (const table of ['comments', 'commentmeta'] as const) await db.from(table).delete();
      for (const comment_post_ID of [GONE, OTHER]) await db.from('comments').insert({ ...NOTED, comment_post_ID });
    });
    await ask.db().transaction((db) => removeLeftoverRows(db, [GONE], true));
    expect((await left()).comments).toEqual([OTHER]);
  });
});
