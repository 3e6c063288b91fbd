import { expect, it } from '@jest/globals';
import { BLOG_BASES } from '../../src/kinds/core-blog.ts';
import { postTypes } from '../../src/kinds/index.ts';
import { describeAsking, type Json } from '../support/asking.ts';

const CORE = '/wp-json/wp/v2';

describeAsking('posts of the blog and pages', (ask) => {
  const read = async (path: string): Promise<Json> => (await ask.send('GET', `${CORE}/${path}`)).body;
  const ids = async (path: string) => (await read(path)).map(({ id }: Json) => id);
  const post = (row: Readonly<Record<string, unknown>>) =>
    ask.rows((db) =>
      db.from('posts').insert({
        post_author: 1, post_date: '2026-01-02 10:00:00', post_date_gmt: '2026-01-02 09:00:00', post_content: 'Some words', post_title: 'New', post_excerpt: '',
        post_status: 'publish', post_name: 'new', to_ping: '', pinged: '', post_modified: '2026-01-02 10:00:00', post_modified_gmt: '2026-01-02 09:00:00',
        post_content_filtered: '', post_type: 'post', ...row,
      }),
    ); // biome-ignore format: pairs

  it('are shown as WordPress shows them', async () => {
    const { _links: links, meta, ...record } = await read('posts/1');
    expect(record).toEqual({
      id: 1, date: '2026-11-20T07:45:16', date_gmt: '2026-11-20T07:45:16', guid: { rendered: 'http://127.0.0.1:8081/?p=1' },
      modified: '2026-11-20T07:45:16', modified_gmt: '2026-11-20T07:45:16', slug: 'hello-world', status: 'publish', type: 'post',
      link: 'http://127.0.0.1:8081/hello-world/', title: { rendered: 'A post' }, content: { rendered: '', protected: false },
      excerpt: { rendered: '', protected: false }, author: 1, featured_media: 0, comment_status: 'open', ping_status: 'open', sticky: false, template: '',
      format: 'standard', categories: [1], tags: [],
      class_list: ['post-1', 'post', 'type-post', 'status-publish', 'format-standard', 'hentry', 'category-uncategorized'],
    }); // biome-ignore format: pairs
    expect(meta.footnotes).toBe('');
    expect(links.self).toEqual([{ href: `http://127.0.0.1:8081${CORE}/posts/1`, targetHints: { allow: ['GET'] } }]);
    expect(links['wp:term'].map(({ taxonomy }: Json) => taxonomy)).toEqual(['category', 'post_tag']);
    const page = await read('pages/2');
    expect(page).toMatchObject({ id: 2, type: 'page', link: 'http://127.0.0.1:8081/sample-page/', parent: 0, menu_order: 0 });
    expect(Object.keys(page)).not.toEqual(expect.arrayContaining(['categories']));
    expect(Object.keys(await read('posts/1?context=embed'))).toEqual([
      'id', 'date', 'slug', 'type', 'link', 'title', 'excerpt', 'author', 'featured_media', '_links',
    ]); // biome-ignore format: a list
  });

  it('are listed, the newest first, with totals', async () => {
    await post({ ID: 500, post_title: 'Older', post_name: 'older' });
    await post({ ID: 501, post_status: 'draft' });
    await post({ ID: 502, post_type: 'page', post_parent: 2, post_name: 'below' });
    const { headers, body } = await ask.send('GET', `${CORE}/posts`);
    expect([body.map(({ id }: Json) => id), headers['x-wp-total']]).toEqual([[1, 500], '2']);
    expect(await ids('posts?search=older')).toEqual([500]);
    expect(await ids('posts?slug=older')).toEqual([500]);
    expect(await ids('posts?before=2026-06-01T00:00:00')).toEqual([500]);
    expect(await ids('pages?parent=2')).toEqual([502]);
    expect((await read('pages/502')).link).toBe('http://127.0.0.1:8081/sample-page/below/');
    expect((await read('posts?per_page=1&_embed=author'))[0]._embedded.author[0].id).toBe(1);
  });

  it('are shown to nobody before they are published, nor what a password protects', async () => {
    await post({ ID: 501, post_status: 'draft' });
    await post({ ID: 503, post_status: 'private' });
    await post({ ID: 504, post_password: 'sesame', post_content: 'hidden words', post_name: 'locked' });
    for (const as of ['sub', 'admin'] as const) {
      expect((await ask.send('GET', `${CORE}/posts`, { as })).body.map(({ id }: Json) => id)).toEqual([1, 504]);
      for (const id of [501, 503]) expect((await ask.send('GET', `${CORE}/posts/${id}`, { as })).status).toBe(403);
      expect((await ask.send('GET', `${CORE}/posts?search=hidden`, { as })).body).toEqual([]);
    }
    expect((await ask.send('GET', `${CORE}/posts/501`)).status).toBe(401);
    expect((await read('posts/504')).content).toEqual({ rendered: '', protected: true });
    expect((await read('posts/504?password=sesame')).content.rendered).toContain('hidden words');
    expect((await ask.send('GET', `${CORE}/posts/504?password=x`)).body.code).toBe('rest_post_incorrect_password');
    expect((await read('posts/44')).code).toBe('rest_post_invalid_id');
    expect((await ask.send('POST', `${CORE}/posts`, { as: 'admin', body: { title: 'X' } })).status).toBe(404);
  });

  it('embed the page above a page, and no term that has its id, and nothing that is not published', async () => {
    const [{ id: parent }] = await read('tribe_events_cat?per_page=1');
    await post({ ID: 510, post_type: 'page', post_parent: parent, post_name: 'below-a-term' });
    await post({ ID: 511, post_type: 'page', post_parent: 2, post_name: 'below-a-page' });
    await post({ ID: 512, post_type: 'page', post_status: 'draft', post_title: 'Hidden' });
    await post({ ID: 513, post_type: 'page', post_parent: 512, post_name: 'below-a-draft' });
    const above = async (id: number) => (await read(`pages/${id}?_embed=up`))._embedded?.up.map((up: Json) => [up.id, up.type]);
    expect([await above(510), await above(511), await above(513)]).toEqual([undefined, [[2, 'page']], undefined]);
  });

  it.each([...postTypes, ...Object.values(BLOG_BASES)])(
    'keep the notes of what a password protects to whoever has it: %s',
    async (base) => {
      const { id } = (await read(`${base}?per_page=20`)).find(({ content }: Json) => !content.protected);
      await ask.rows((db) => db.from('posts').where('ID', id).update({ post_password: 'sesame' }));
      await ask.rows((db) => db.from('postmeta').insert({ post_id: id, meta_key: 'footnotes', meta_value: 'a note' }));
      expect((await read(`${base}/${id}`)).meta.footnotes).toBe('');
      expect((await read(`${base}/${id}?password=sesame`)).meta.footnotes).toBe('a note');
    },
  );

  it('are embedded by the search that finds them', async () => {
    for (const hit of await read('search?subtype=post,page&_embed=self')) {
      expect(hit._embedded.self[0]).toMatchObject({ id: hit.id, title: { rendered: hit.title } });
      const [self] = hit._links.self;
      expect((await ask.send('GET', new URL(self.href).pathname)).body.id).toBe(hit.id);
    }
  });
});
