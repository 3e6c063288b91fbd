import { beforeEach, describe, expect, it } from '@jest/globals';
import { BLOG_BASES } from '../../src/kinds/core/blog.ts';
import { postTypes } from '../../src/kinds/index.ts';
import { describeRequests, type Json } from '../support/site-client.ts';

const CORE = '/wp-json/wp/v2';

describeRequests('blog posts and pages', (ask) => {
  const read = async (path: string): Promise<Json> => (await ask.send('GET', `${CORE}/${path}`)).body;
  const ids = async (path: string) => (await read(path)).map(({ id }: Json) => id);
  const post = (row: Readonly<Record<string, unknown>>) =>
    ask.writeRows((db) =>
      db.from('posts').insert({
        post_author: 1, post_date: '2026-01-02 10:00:00', post_date_gmt: '2026-01-02 09:00:00', post_content: 'Some words', post_title: 'New', post_excerpt: '',
        post_status: 'publish', post_name: 'new', to_ping: '', pinged: '', post_modified: '2026-01-02 10:00:00', post_modified_gmt: '2026-01-02 09:00:00',
        post_content_filtered: '', post_type: 'post', ...row,
      }),
    ); // biome-ignore format: pairs

  it('are returned as WordPress returns them', async () => {
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

  it('are listed newest first, with totals', async () => {
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

  describe('are filtered as in WordPress', () => {
    const BELOW = { term_id: 601, term_taxonomy_id: 701 };
    const term = async (id: number, taxonomy: string, slug: string, posts: readonly number[], parent = 0) => {
      await ask.writeRows((db) => db.from('terms').insert({ term_id: id, name: slug, slug, term_group: 0 }));
      const row = { term_taxonomy_id: id + 100, term_id: id, taxonomy, description: '', parent, count: posts.length };
      await ask.writeRows((db) => db.from('term_taxonomy').insert(row));
      for (const object_id of posts)
        await ask.writeRows((db) => db.from('term_relationships').insert({ object_id, term_taxonomy_id: id + 100, term_order: 0 }));
    };

    beforeEach(async () => {
      for (const ID of [520, 521, 522]) await post({ ID, post_name: `post-${ID}`, post_date: `2026-01-02 10:00:${ID - 500}` });
      await term(600, 'category', 'news', [520]);
      await term(BELOW.term_id, 'category', 'local-news', [521], 600);
      await term(602, 'post_tag', 'blue', [522, 521]);
      await term(603, 'post_format', 'post-format-aside', [522]);
      await ask.options({ sticky_posts: 'a:1:{i:0;i:521;}' });
    });

    it.each([
      ['categories=600', [520]],
      ['categories=1,600', [1, 520]],
      ['categories[terms]=600&categories[include_children]=true', [521, 520]],
      ['categories_exclude=600', [1, 522, 521]],
      ['tags=602', [522, 521]],
      ['tags=602&categories=601', [521]],
      ['tags=602&categories=600&tax_relation=OR', [522, 521, 520]],
      ['tags=602&categories[terms]=600&categories[include_children]=1&tax_relation=OR', [522, 521, 520]],
      ['tags=602&categories=600&tax_relation=AND', []],
      ['tags_exclude=602', [1, 520]],
      ['sticky=true', [521]],
      ['sticky=false', [1, 522, 520]],
      ['sticky=true&include=520,521', [521]],
      ['format=aside', [522]],
      ['format=standard', [1, 521, 520]],
      ['format=aside,standard', [1, 522, 521, 520]],
      ['format=video', []],
    ])('by posts?%s', async (query, found) => {
      expect(await ids(`posts?${query}`)).toEqual(found);
    });

    it.each([
      ['', [521, 1, 522, 520]],
      ['&per_page=1', [521, 1]],
      ['&per_page=2&page=2', [521, 520]],
      ['&orderby=id&order=asc', [521, 1, 520, 522]],
      ['&exclude=521', [1, 522, 520]],
      ['&sticky=false', [1, 522, 520]],
      ['&categories_exclude=601', [521, 1, 522, 520]],
      ['&format=aside', [521, 522]],
      ['&tags=602', [522, 521]],
      ['&tags=602&categories=600&tax_relation=OR', [522, 521, 520]],
      ['&search=new', [522, 521, 520]],
    ])('by posts?ignore_sticky=false%s, with sticky posts first', async (query, found) => {
      expect(await ids(`posts?ignore_sticky=false${query}`)).toEqual(found);
      expect(await ids(`posts?ignore_sticky=true${query}`)).toEqual(await ids(`posts?${query}`));
    });

    it('with ignore_sticky=false, without a sticky post that is a draft', async () => {
      await ask.writeRows((db) => db.from('posts').where('ID', 521).update({ post_status: 'draft' }));
      expect(await ids('posts?ignore_sticky=false')).toEqual([1, 522, 520]);
      expect((await ask.send('GET', `${CORE}/pages?ignore_sticky=false`)).body.map(({ id }: Json) => id)).toEqual([2]);
    });

    it('by posts?sticky=true if nothing is sticky', async () => {
      await ask.options({ sticky_posts: 'a:0:{}' });
      expect([await ids('posts?sticky=true'), (await ids('posts?sticky=false')).length]).toEqual([[], 4]);
    });

    it('by posts?sticky=true if the option contains other values than ids', async () => {
      await ask.options({ sticky_posts: 'a:4:{i:0;i:521;i:1;s:4:"none";i:2;N;i:3;d:1.5;}' });
      expect([await ids('posts?sticky=true'), (await ids('posts?sticky=false')).length]).toEqual([[521], 3]);
      expect(await ids('posts?ignore_sticky=false')).toContain(521);
    });

    it('like events, by any of several taxonomies with tax_relation=OR', async () => {
      const [tagged, sorted] = [await ids('tribe_events?tags=13&per_page=100'), await ids('tribe_events?tribe_events_cat=2&per_page=100')];
      const any = await ids('tribe_events?tags=13&tribe_events_cat=2&tax_relation=OR&per_page=100');
      expect([tagged.length > 0, sorted.length > 0]).toEqual([true, true]);
      expect(new Set(any)).toEqual(new Set([...tagged, ...sorted]));
    });

    it('and have their terms, format and class_list', async () => {
      expect(await read('posts/522')).toMatchObject({ format: 'aside', categories: [], tags: [602], sticky: false });
      expect((await read('posts/522')).class_list).toEqual(expect.arrayContaining(['format-aside', 'post_format-post-format-aside']));
      expect(await read('posts/521')).toMatchObject({ format: 'standard', categories: [601], sticky: true });
      const [{ _embedded: embedded }] = await read('posts?include=521&_embed=wp:term');
      expect(embedded['wp:term'].map((terms: Json) => terms.map(({ id }: Json) => id))).toEqual([[601], [602]]);
    });

    it('by menu_order if they are pages', async () => {
      await post({ ID: 530, post_type: 'page', menu_order: 3, post_name: 'third' });
      await post({ ID: 531, post_type: 'page', menu_order: 1, post_name: 'first', post_password: 'sesame' });
      expect(await ids('pages?orderby=menu_order&order=asc')).toEqual([2, 531, 530]);
      expect(await ids('pages?orderby=menu_order')).toEqual([530, 531, 2]);
      expect(await ids('pages?menu_order=1')).toEqual([531]);
      expect((await ask.send('GET', `${CORE}/posts?orderby=menu_order`)).status).toBe(400);
    });

    it('by categories, which can also be listed', async () => {
      expect(await ids('categories')).toEqual(expect.arrayContaining([1, 600, 601]));
      expect(await ids('categories?parent=600')).toEqual([601]);
      expect(await ids('categories?post=520')).toEqual([600]);
      const { _links: links, ...record } = await read('categories/601');
      expect(record).toEqual({
        id: 601, count: 1, description: '', link: 'http://127.0.0.1:8081/category/news/local-news/', name: 'local-news', slug: 'local-news',
        taxonomy: 'category', parent: 600, meta: [],
      }); // biome-ignore format: pairs
      expect(links['wp:post_type']).toEqual([{ href: `http://127.0.0.1:8081${CORE}/posts?categories=601` }]);
      const { body: seen } = await ask.send('GET', `${CORE}/categories/601`, { as: 'admin' });
      expect(seen._links.self[0].targetHints).toEqual({ allow: ['GET'] });
      expect((await read('categories/601?_embed=up'))._embedded.up[0].id).toBe(600);
      expect((await ask.send('GET', `${CORE}/categories/602`)).status).toBe(404);
      expect((await ask.send('POST', `${CORE}/categories`, { as: 'admin', body: { name: 'X' } })).status).toBe(404);
    });
  });

  it('are hidden until they are published, as is the content of protected ones', async () => {
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

  it('embed the parent of a page only if it is a published page, not a term of the same id', async () => {
    const [{ id: parent }] = await read('tribe_events_cat?per_page=1');
    await post({ ID: 510, post_type: 'page', post_parent: parent, post_name: 'below-a-term' });
    await post({ ID: 511, post_type: 'page', post_parent: 2, post_name: 'below-a-page' });
    await post({ ID: 512, post_type: 'page', post_status: 'draft', post_title: 'Hidden' });
    await post({ ID: 513, post_type: 'page', post_parent: 512, post_name: 'below-a-draft' });
    const above = async (id: number) => (await read(`pages/${id}?_embed=up`))._embedded?.up.map((up: Json) => [up.id, up.type]);
    expect([await above(510), await above(511), await above(513)]).toEqual([undefined, [[2, 'page']], undefined]);
  });

  it.each([...postTypes, ...Object.values(BLOG_BASES)])(
    'return footnotes of a protected record only with its password: %s',
    async (base) => {
      const { id } = (await read(`${base}?per_page=20`)).find(({ content }: Json) => !content.protected);
      await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_password: 'sesame' }));
      await ask.writeRows((db) => db.from('postmeta').insert({ post_id: id, meta_key: 'footnotes', meta_value: 'a note' }));
      expect((await read(`${base}/${id}`)).meta.footnotes).toBe('');
      expect((await read(`${base}/${id}?password=sesame`)).meta.footnotes).toBe('a note');
    },
  );

  it('are embedded in search results', async () => {
    const hits = await read('search?subtype=post,page&_embed=self');
    expect(hits.length).toBeGreaterThan(1);
    for (const hit of hits) {
      expect(hit._embedded.self[0]).toMatchObject({ id: hit.id, title: { rendered: hit.title } });
      const [self] = hit._links.self;
      expect((await ask.send('GET', new URL(self.href).pathname)).body.id).toBe(hit.id);
    }
  });
});
