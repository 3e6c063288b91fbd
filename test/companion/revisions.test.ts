import { expect, it } from '@jest/globals';
import { revisionRoutes } from '../../src/http/companion/revisions.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { describeRequests, expectError, type Json } from '../support/site-client.ts';

const CORE = '/wp-json/wp/v2';
/** A post of every type, by the base of its routes. */
const POSTS = { posts: 4001, pages: 4002, tribe_events: 38, tribe_venue: 12, tribe_organizer: 24 } as const;
const HIDDEN = 'what it was before';

describeRequests('revisions', (ask) => {
  const lists = Object.entries(POSTS).map(([base, post]) => `${CORE}/${base}/${post}/revisions`);
  const of = (path: string, as?: string) => ask.send('GET', path, as ? { as: as as 'admin' } : {});
  const row = { post_author: 1, post_date: '2026-01-01 10:00:00', post_date_gmt: '2026-01-01 09:00:00', post_modified: '2026-01-01 10:00:00', post_modified_gmt: '2026-01-01 09:00:00' }; // biome-ignore format: columns
  const prepare = () =>
    ask.writeRows(async (db) => {
      await db.from('posts').where('ID', '>=', 4001).where('ID', '<', 4200).delete();
      await insertRows(db, 'posts', [
        { ...row, ID: 4001, post_type: 'post', post_title: 'News', post_content: '', post_excerpt: '', post_name: 'news' },
        { ...row, ID: 4002, post_type: 'page', post_title: 'About', post_content: '', post_excerpt: '', post_name: 'about' },
      ]);
      await insertRows(
        db,
        'posts',
        Object.values(POSTS).flatMap((parent, place) =>
          [1, 2, 3].map((number) => ({
            ...row,
            ID: 4100 + 10 * place + number,
            post_type: 'revision',
            post_status: 'inherit',
            post_parent: parent,
            post_name: `${parent}-revision-v1`,
            post_date: `2026-01-0${number} 10:00:00`,
            post_title: `Title ${number}`,
            post_content: `<p>${HIDDEN} ${number}</p>`,
            post_excerpt: '',
          })),
        ),
      );
    });

  it('of every type are listed newest first and returned one by one', async () => {
    await prepare();
    expect(revisionRoutes).toHaveLength(2 * lists.length);
    for (const list of lists) {
      const { status, body, headers } = await of(list, 'admin');
      expect([list, status, headers['x-wp-total'], headers['x-wp-totalpages']]).toEqual([list, 200, '3', '1']);
      expect(body.map(({ title }: Json) => title.rendered)).toEqual(['Title 3', 'Title 2', 'Title 1']);
      expect(body[0]).toMatchObject({ content: { rendered: `<p>${HIDDEN} 3</p>\n` }, excerpt: { rendered: '' } });
      expect(Object.keys(body[0].content)).toEqual(['rendered']);
      const single = await of(`${list}/${body[0].id}`, 'admin');
      expect(single.body).toEqual(body[0]);
      expect([headers.allow, single.headers.allow]).toEqual(['GET', 'GET']);
      expect((await ask.send('OPTIONS', list, { as: 'admin' })).headers.allow).toBe('GET');
      expect((await of(`${list}/${body[0].id}?context=edit`, 'admin')).body.title).toEqual({ raw: 'Title 3', rendered: 'Title 3' });
      const parent = body[0]._links.parent[0].href.replace(/^https?:\/\/[^/]+/, '');
      expect((await of(parent, 'admin')).status).toBe(200);
      expect(parent).toBe(list.replace('/revisions', ''));
    }
  });

  it.each([[{}], [{ date: '2027-02-01 10:00' }], [{ date: '2020-02-01 10:00' }]])(
    'of a sticky event are stored when its texts change, and only then: %j',
    async (dated) => {
      const event = { title: 'A', start_date: '2027-05-01 10:00', end_date: '2027-05-01 11:00', sticky: true, ...dated };
      const { id } = await ask.create('/events', event);
      const titles = async () => (await of(`${CORE}/tribe_events/${id}/revisions`, 'admin')).body.map(({ title }: Json) => title.rendered);
      expect(await titles()).toEqual(['A']);
      const steps = [{ title: 'B' }, { cost: '5' }, { cost: '6' }, { title: 'A' }, { cost: '7' }];
      for (const [place, change] of steps.entries()) {
        ask.setClock(`2026-11-20T12:30:0${place}Z`);
        await ask.update(`/events/${id}`, change);
      }
      expect(await titles()).toEqual(['A', 'B', 'A']);
    },
  );

  it('of a scheduled event are stored when its texts change, and only then, also if an earlier one has the date of its publication', async () => {
    const event = { title: 'A', start_date: '2027-05-01 10:00', end_date: '2027-05-01 11:00', sticky: true, date: '2027-02-01 10:00' };
    const { id } = await ask.create('/events', event);
    const revisions = () => ask.db().from('posts').where({ post_parent: id, post_type: 'revision' }).orderBy('ID');
    const planned = '2027-02-01 10:00:00';
    await ask.writeRows((db) =>
      db.from('posts').where({ post_parent: id, post_type: 'revision' }).update({ post_date: planned, post_date_gmt: planned }),
    );
    for (const [place, change] of [{ cost: '4' }, { title: 'B' }, { cost: '5' }, { cost: '6' }, { title: 'A' }, { cost: '7' }].entries()) {
      ask.setClock(`2026-11-20T12:30:0${place}Z`);
      await ask.update(`/events/${id}`, change);
    }
    expect((await revisions()).map(({ post_title }) => post_title)).toEqual(['A', 'B', 'A']);
  });

  it('are stored even if an autosave has the same text', async () => {
    const { id } = await ask.create('/events', { title: 'Jazz', start_date: '2027-05-01 10:00', end_date: '2027-05-01 11:00' });
    const { post_content, post_excerpt } = (await ask.db().from('posts').where('ID', id).first())!;
    const saved = { ...row, post_type: 'revision', post_status: 'inherit', post_parent: id, post_name: `${id}-autosave-v1` };
    await ask.writeRows((db) =>
      insertRows(db, 'posts', [{ ...saved, post_date: '2030-01-01 10:00:00', post_title: 'Blues', post_content, post_excerpt }]),
    );
    await ask.update(`/events/${id}`, { title: 'Blues' });
    const kept = await ask
      .db()
      .from('posts')
      .where({ post_parent: id, post_name: `${id}-revision-v1` })
      .pluck('post_title');
    expect(kept).toContain('Blues');
  });

  it('are hidden from users who may not edit the record', async () => {
    await prepare();
    for (const list of lists)
      for (const as of [undefined, 'sub', 'contrib', 'auth']) {
        const [{ id }] = (await of(list, 'admin')).body;
        for (const path of [list, `${list}/${id}`, `${list}?search=before`]) {
          const answer = await of(path, as);
          expectError(answer, as === undefined ? 401 : 403, 'rest_cannot_read');
          expect(answer.text).not.toContain(HIDDEN);
        }
      }
  });

  it('are paged with per_page, offset and search', async () => {
    await prepare();
    const [list = ''] = lists;
    const titles = async (query: string) => (await of(`${list}?${query}`, 'ed')).body.map(({ title }: Json) => title.rendered);
    expect(await titles('per_page=2&page=2')).toEqual(['Title 1']);
    expect(await titles('offset=1&order=asc')).toEqual(['Title 2', 'Title 3']);
    expect(await titles('search=before+2')).toEqual(['Title 2']);
    expectError(await of(`${list}?per_page=2&page=3`, 'ed'), 400, 'rest_revision_invalid_page_number');
    expectError(await of(`${list}?offset=3`, 'ed'), 400, 'rest_revision_invalid_offset_number');
    expect((await of(`${list}?per_page=2`, 'ed')).headers.link).toContain('rel="next"');
  });

  it('are returned in pages of at most 100', async () => {
    await prepare();
    const [list = ''] = lists;
    await ask.writeRows((db) =>
      insertRows(
        db,
        'posts',
        Array.from({ length: 98 }, (_, place) => ({
          ...row, ID: 4201 + place, post_type: 'revision', post_status: 'inherit', post_parent: POSTS.posts, post_name: `${POSTS.posts}-revision-v1`, post_title: 'More', post_content: '', post_excerpt: '',
        })), // biome-ignore format: columns
      ),
    );
    const { body, headers } = await of(list, 'admin');
    expect([body.length, headers['x-wp-total'], headers['x-wp-totalpages']]).toEqual([100, '101', '2']);
    expect(headers.link).toContain('page=2>; rel="next"');
    expect((await of(`${list}?page=2`, 'admin')).body).toHaveLength(1);
    await ask.writeRows((db) => db.from('posts').where('ID', '>', 4200).delete());
  });

  it('of another record are not found', async () => {
    await prepare();
    const [one = '', other = ''] = lists;
    const [{ id }] = (await of(one, 'admin')).body;
    expectError(await of(`${other}/${id}`, 'admin'), 404, 'rest_revision_parent_id_mismatch');
    expectError(await of(`${one}/${POSTS.posts}`, 'admin'), 404, 'rest_post_invalid_id');
    expectError(await of(`${CORE}/tribe_events/${POSTS.posts}/revisions`, 'admin'), 404, 'rest_post_invalid_parent');
  });
});
