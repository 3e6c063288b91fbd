import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/running-site.ts';
import { describeRequests, type Json, type UserName } from '../support/site-client.ts';

/*
 * Parameters of WordPress's own routes, with the results of a real WordPress.
 */

const CORE = '/wp-json/wp/v2';

describeRequests('parameters of wp/v2', (ask) => {
  const send = (path: string, as?: UserName) => ask.send('GET', `${CORE}/${path}`, as ? { as } : {});
  const ids = async (path: string, as?: UserName): Promise<number[]> => (await send(path, as)).body.map(({ id }: Json) => id);
  const total = async (path: string, as?: UserName) => (await send(path, as)).headers['x-wp-total'];
  /** The error details of one parameter, without the message. */
  const detail = async (path: string, name: string, as?: UserName) => {
    const { code, data } = (await send(path, as)).body.data.details[name];
    return { code, data };
  };

  const nextOf = ({ headers }: Answer): string => /<http:\/\/[^/>]*([^>]*)>; rel="next"/.exec(String(headers.link))?.[1] ?? '';

  it.each([
    ['tribe_events?tags=11,13&', 'tags%5B0%5D=11&tags%5B1%5D=13'],
    ['tribe_events?tags_exclude=11&', 'tags_exclude%5B0%5D=11'],
    ['tribe_events?tags[terms]=11,13&tags[operator]=OR&', 'tags%5Bterms%5D%5B0%5D=11&tags%5Bterms%5D%5B1%5D=13&tags%5Boperator%5D=OR'],
    [
      'tribe_events?tribe_events_cat[terms]=2&tribe_events_cat[include_children]=true&',
      'tribe_events_cat%5Bterms%5D%5B0%5D=2&tribe_events_cat%5Binclude_children%5D=1',
    ],
  ])('%s links to a next page with the same terms', async (path, query) => {
    const first = await send(`${path}per_page=1`);
    expect(nextOf(first)).toBe(`${CORE}/tribe_events?${query}&per_page=1&page=2`);
    const next = await ask.send('GET', nextOf(first));
    expect([next.status, next.headers['x-wp-total']]).toEqual([200, first.headers['x-wp-total']]);
  });

  it('write an empty parameter without an equals sign in links', async () =>
    expect(nextOf(await send('tribe_venue?search=&per_page=1'))).toBe(`${CORE}/tribe_venue?search&per_page=1&page=2`));

  describe('terms that match no schema', () => {
    it.each([
      ['tags=abc', 'tags', { position: 0 }],
      ['tags=11,x', 'tags', { position: 0 }],
      ['tags[]=', 'tags', null],
      ['tags[terms]=x', 'tags', { position: 1 }],
      ['tags[terms]=11&tags[operator]=NOT', 'tags', { position: 1 }],
      ['tags[terms]=11&tags[include_children]=1', 'tags', { position: 1 }],
      ['tags_exclude[terms]=11&tags_exclude[operator]=AND', 'tags_exclude', { position: 1 }],
      ['tribe_events_cat[terms]=2&tribe_events_cat[include_children]=maybe', 'tribe_events_cat', { position: 1 }],
    ])('return rest_no_matching_schema: %s', async (query, name, data) =>
      expect(await detail(`tribe_events?${query}`, name)).toEqual({ code: 'rest_no_matching_schema', data }),
    );
    it('do not include an object without ids, which filters nothing', async () =>
      expect(await total('tribe_events?tribe_events_cat[include_children]=1')).toBe(await total('tribe_events')));
  });

  it.each(['context', 'order', 'orderby', 'tax_relation'])('refuse a list for %s', async (name) =>
    expect(await detail(`tribe_events?${name}[]=x`, name)).toEqual({ code: 'rest_invalid_type', data: { param: name } }),
  );
  it('refuse a list for the type of a search', async () =>
    expect(await detail('search?type[]=post', 'type')).toEqual({ code: 'rest_invalid_type', data: { param: 'type' } }));

  it.each(['tribe_events', 'media', 'posts', 'pages'])(
    'refuse an unknown status like one that the caller may not list: %s',
    async (base) => {
      expect(await detail(`${base}?status=nope`, 'status')).toEqual({ code: 'rest_forbidden_status', data: { status: 401 } });
      expect(await detail(`${base}?status=nope`, 'status', 'sub')).toEqual({ code: 'rest_forbidden_status', data: { status: 403 } });
      expect(await detail(`${base}?status=nope`, 'status', 'ed')).toEqual({ code: 'rest_not_in_enum', data: null });
    },
  );
  it('ignore an empty status and the case of a status', async () => {
    for (const base of ['tribe_events', 'media', 'posts']) expect(await total(`${base}?status=`)).toBe(await total(base));
    expect(await total('tribe_events?status=PUBLISH')).toBe(await total('tribe_events'));
    expect(await total('tribe_events?status=', 'admin')).toBe(await total('tribe_events?status=publish,private', 'admin'));
  });

  it('give include precedence over exclude', async () => {
    expect(await ids('tribe_events?include=44,39&exclude=44')).toEqual([44, 39]);
    expect(await ids('tribe_venue?include=12,13&exclude=12')).toEqual([13, 12]);
    expect(await ids('tribe_events_cat?include=2,3&exclude=2&orderby=id')).toEqual([2, 3]);
    expect(await ids('users?include=1,2&exclude=1&orderby=id')).toEqual([1, 2]);
    expect(await ids('search?type=term&include=2,3&exclude=2')).toEqual(await ids('search?type=term&include=2,3'));
    for (const types of ['tribe_events', 'post,tribe_events'])
      expect((await ids(`search?subtype=${types}&include=39,44&exclude=44`)).sort()).toEqual([39, 44]);
    for (const [path, one, other] of [
      ['categories', 2, 3],
      ['tags', 11, 13],
    ] as const) {
      const list = `/wp-json/tribe/events/v1/${path}?hide_empty=0&orderby=id&include=${one},${other}&exclude=${one}`;
      expect((await ask.send('GET', list)).body[path].map(({ id }: Json) => id)).toEqual([one, other]);
    }
  });

  it('return an empty page if the offset exceeds the total', async () => {
    const { status, headers, body } = await send('tribe_venue?offset=99&page=2');
    expect([status, headers['x-wp-total'], body]).toEqual([200, '0', []]);
    expect(await send('tribe_venue?page=99')).toMatchObject({ status: 400 });
  });

  it.each(['png', 'image', 'image/PNG', 'nothing/x'])('ignore the invalid mime_type %s', async (type) =>
    expect(await ids(`media?order=asc&mime_type=${type}`)).toEqual([10, 11]),
  );

  it.each([
    ['tags?post=12', 401, undefined],
    ['tribe_events_cat?post=12', 403, 'admin'],
    ['tags?post=10', 401, undefined],
    ['categories?post=44', 403, 'admin'],
    ['tags?post=44', 200, undefined],
  ] as const)('%s returns %i, depending on whether the post has such terms', async (path, status, as) => {
    const answer = await send(path, as);
    expect(answer.status).toBe(status);
    if (status !== 200) expect(answer.body.code).toBe('rest_forbidden_context');
  });

  it('refuse a password for a record without one', async () => {
    const refused = { status: 403, body: { code: 'rest_post_incorrect_password' } };
    for (const path of ['tribe_events/44', 'tribe_venue/12', 'posts/1']) expect(await send(`${path}?password=x`)).toMatchObject(refused);
    expect(await send('tribe_events/44?password=')).toMatchObject({ status: 200 });
  });

  it('return an empty list for an envelope without headers', async () => {
    const { body } = await send('tribe_events/82?_envelope');
    expect([body.status, body.headers]).toEqual([401, []]);
  });

  describe('of writes', () => {
    const write = async (path: string, body: object) => ask.send('POST', `${CORE}/${path}`, { as: 'admin', body });

    it.each([
      [{ date: '2020-01-01T10:00:00+05:00' }, '2020-01-01T06:00:00', '2020-01-01T05:00:00'],
      [{ date: '2020-07-01T10:00:00.500Z' }, '2020-07-01T12:00:00', '2020-07-01T10:00:00'],
      [{ date_gmt: '2020-01-01T10:00:00+05:00' }, '2020-01-01T06:00:00', '2020-01-01T05:00:00'],
      [{ date_gmt: '2020-07-01T10:00:00' }, '2020-07-01T12:00:00', '2020-07-01T10:00:00'],
      [{ date: '2020-07-01 10:00:00' }, '2020-07-01T10:00:00', '2020-07-01T08:00:00'],
      [{ date: '2020-01-01T10:00:00', date_gmt: '2021-01-01T10:00:00' }, '2020-01-01T10:00:00', '2020-01-01T09:00:00'],
    ])('convert the dates %j with their UTC offset', async (dates, date, utc) => {
      for (const path of ['tribe_events/40', 'tribe_venue/13', 'media/10'])
        expect((await write(path, dates)).body).toMatchObject({ date, date_gmt: utc });
      expect((await write('tribe_events', { title: 'Dated', status: 'publish', ...dates })).body).toMatchObject({ date, date_gmt: utc });
    });

    it('do not change a field if they are null', async () => {
      const before = (await ask.send('GET', `${CORE}/tribe_events/38?context=edit`, { as: 'admin' })).body;
      const nothing = { title: null, content: null, excerpt: null, slug: null, author: null, featured_media: null, tags: null, meta: null };
      const { status, body } = await write('tribe_events/38', nothing);
      expect([status, body.title, body.content.raw, body.slug, body.tags]).toEqual([
        200,
        before.title,
        before.content.raw,
        before.slug,
        before.tags,
      ]);
      expect(await write('tribe_events_cat/3', { parent: null, description: null })).toMatchObject({ status: 200, body: { parent: 2 } });
      expect(await write('media/10', { title: null, post: null })).toMatchObject({ status: 200, body: { title: { raw: 'tiny' } } });
    });

    it('make the caller the author if author is 0', async () => {
      expect((await write('tribe_events', { title: 'Mine', author: 0 })).body).toMatchObject({ author: 1 });
      expect(await write('media/10', { author: 0 })).toMatchObject({ status: 200, body: { author: 1 } });
      const theirs = await ask.send('POST', `${CORE}/tribe_events`, { as: 'auth', body: { title: 'Theirs', author: 0 } });
      expect(theirs).toMatchObject({ status: 201, body: { author: 3 } });
      expect(await write('tribe_events', { title: 'Nobody’s', author: 999 })).toMatchObject({
        status: 400,
        body: { code: 'rest_invalid_author' },
      });
    });

    it('return a deleted record without links', async () => {
      for (const path of ['tags/11', 'tribe_events_cat/2', 'tribe_events/44', 'media/10']) {
        const { body } = await ask.send('DELETE', `${CORE}/${path}?force=true`, { as: 'admin' });
        expect([body.deleted, '_links' in body.previous]).toEqual([true, false]);
      }
    });
  });

  it('of a path are not declared as required in wp/v2', async () => {
    for (const path of ['tribe_events/44', 'users/2', 'types/post']) {
      const { endpoints } = (await ask.send('OPTIONS', `${CORE}/${path}`)).body;
      expect(endpoints.flatMap(({ args }: Json) => Object.keys(args))).toContain('context');
      expect(endpoints.flatMap(({ args }: Json) => Object.keys(args).filter((name) => args[name].required))).toEqual([]);
    }
    const { endpoints } = (await ask.send('OPTIONS', '/wp-json/tribe/events/v1/events/44')).body;
    expect(endpoints[0].args.id.required).toBe(true);
  });

  describe('for links and embedding', () => {
    /** Names of the members, and of those in `_links` and `_embedded`, except `curies`. */
    const shape = (body: Json) =>
      Object.fromEntries(
        Object.entries(body).map(([name, value]) => [
          name,
          name.startsWith('_') ? Object.keys(value as object).filter((key) => key !== 'curies') : true,
        ]),
      );
    const LINKS = ['self', 'collection', 'about', 'author', 'version-history', 'wp:attachment', 'wp:term'];
    const one = async (query: string) => shape((await send(`tribe_events/44?${query}`)).body);
    const listed = async (query: string) => shape((await send(`tribe_events?include=44&${query}`)).body[0]);

    it.each([
      ['_fields=id&_embed', { id: true }],
      ['_fields=id,_links.self', { id: true, _links: LINKS }],
      ['_fields=id,_links&_embed', { id: true, _links: LINKS, _embedded: ['author', 'wp:term'] }],
      ['_fields=id,_embedded&_embed', { id: true, _links: LINKS, _embedded: ['author', 'wp:term'] }],
      ['_fields=id,_embedded.author&_embed', { id: true, _links: LINKS, _embedded: ['author', 'wp:term'] }],
      ['_fields=id,_embedded', { id: true }],
    ])('select links of a single record: %s', async (query, expected) => expect(await one(query)).toEqual(expected));

    it.each([
      ['_fields=id&_embed', { id: true }],
      ['_fields=id,_links.self', { id: true, _links: ['self'] }],
      ['_fields=id,_links&_embed', { id: true, _links: LINKS, _embedded: ['author', 'wp:term'] }],
      ['_fields=id,_links.author&_embed', { id: true, _links: ['author'], _embedded: ['author'] }],
      ['_fields=id,_links,_embedded.author&_embed', { id: true, _links: LINKS, _embedded: ['author', 'wp:term'] }],
      ['_fields=id,_embedded&_embed', { id: true }],
    ])('select links of each record in a list: %s', async (query, expected) => expect(await listed(query)).toEqual(expected));

    it.each([
      ['_embed', true],
      ['_embed=0', true],
      ['_embed=1', true],
      ['_embed=author,up', true],
      ['_embed[]=up', true],
      ['_embed[]=', false],
      ['_embed[]=1', false],
      ['_embed=false', false],
    ])('embed with %s: %s', async (query, embeds) => expect('_embedded' in (await send(`tribe_events_cat/3?${query}`)).body).toBe(embeds));
  });
});
