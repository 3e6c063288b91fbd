import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../src/storage/engine/database.ts';
import { insertRows } from '../src/storage/engine/insert.ts';
import { noteChange } from '../src/storage/journal/reported-changes.ts';
import { fileLock, lockNames } from '../src/storage/rows/locks.ts';
import { removeAttachment } from '../src/storage/rows/media.ts';
import { toSerialized } from '../src/wordpress/php/serialized.ts';
import { describeDatabases } from './support/databases.ts';
import { describeRecordings, recordingsIn } from './support/replay.ts';
import { type RunningSite, serveDatabase, UNACKNOWLEDGED } from './support/running-site.ts';
import { loadSite, resetSite, setOptions } from './support/site.ts';
import { until } from './support/until.mjs';

describeRecordings('companion routes as recorded from the reference', recordingsIn('recordings-companion'));

const CORE = '/wp-json/wp/v2';
const TEC = '/wp-json/tec/v1';
const ACKNOWLEDGED = { 'X-TEC-EEA': 'yes' };
const TINY = readFileSync(new URL('fixtures/uploads/2026/11/tiny.png', import.meta.url));

describeDatabases('the companion routes', (open) => {
  let db: Database;
  let running: RunningSite;
  const send: RunningSite['send'] = (...args) => running.send(...args);
  const idsOf = async (path: string, as?: string) => (await send('GET', path, as ? { as } : {})).body.map(({ id }: { id: number }) => id);
  const metasOf = async (id: number, key: string) =>
    (await db.from('postmeta').where({ post_id: id, meta_key: key }).orderBy('meta_id').select('meta_value')).map((row) => row.meta_value);

  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db);
  });
  afterAll(() => running.close());

  it('leave unpublished venues and organizers out of public events (decision D15)', async () => {
    const { body } = await send('GET', '/wp-json/tec/v1/events/67', { headers: ACKNOWLEDGED });
    expect([body.venues, body.organizers]).toEqual([[], []]);
    const theirs = await send('GET', '/wp-json/tec/v1/events/67', { as: 'admin', headers: ACKNOWLEDGED });
    expect(theirs.body.venues.map(({ id }: { id: number }) => id)).toEqual([18]);
  });

  it('show members and metas that WordPress does not have only if they have a value', async () => {
    const shownOf = async () => [
      (await send('GET', `${CORE}/tribe_events/38`)).body.meta._fasti_external_id,
      (await send('GET', `${TEC}/events/38`, { headers: ACKNOWLEDGED })).body.external_id,
    ];
    expect(await shownOf()).toEqual([undefined, undefined]);
    await send('POST', `${CORE}/tribe_events/38`, { as: 'admin', body: { meta: { _fasti_external_id: 'theirs-38' } } });
    expect(await shownOf()).toEqual(['theirs-38', 'theirs-38']);
    await send('POST', `${CORE}/tribe_events/38`, { as: 'admin', body: { meta: { _fasti_external_id: '' } } });
    expect(await shownOf()).toEqual([undefined, undefined]);
  });

  describe('the index', () => {
    it('names the namespaces and their routes', async () => {
      const { body } = await send('GET', '/wp-json/');
      expect(body.namespaces).toEqual(expect.arrayContaining(['calendar/events/v1', 'tribe/events/v1', 'wp/v2', 'tec/v1']));
      expect(Object.keys(body.routes)).toEqual(
        expect.arrayContaining([
          '/wp/v2',
          '/wp/v2/media',
          '/wp/v2/tribe_events/(?P<id>\\d+)',
          '/wp/v2/users/me',
          '/tec/v1/events',
          '/tec/v1/docs',
        ]),
      );
    });
    it('describes a single namespace', async () => {
      const { body } = await send('GET', CORE);
      expect(body).toMatchObject({ namespace: 'wp/v2', routes: { '/wp/v2/tags': { methods: ['GET', 'POST'] } } });
      expect(body.routes['/wp/v2/tags'].endpoints[0].args.per_page).toMatchObject({
        default: 10,
        type: 'integer',
        minimum: 1,
        maximum: 100,
      });
    });
    it("remains available when the calendar's REST API is switched off", async () => {
      await setOptions(db, { tribe_events_calendar_options: { 'rest-v1-disabled': true } });
      expect((await send('GET', '/wp-json/tribe/events/v1/events')).status).toBe(404);
      expect((await send('OPTIONS', `${CORE}/tags`)).body).toMatchObject({ namespace: 'wp/v2', methods: ['GET', 'POST'] });
      await resetSite(db);
    });
  });

  describe('a list', () => {
    it.each([
      ['tribe_venue?per_page=2&page=2&order=asc', [14, 15]],
      ['tribe_venue?include=14,12&orderby=include', [14, 12]],
      ['tribe_venue?exclude=12,13,14,15,16,17&order=asc', [19, 22, 23]],
      ['tribe_venue?slug=teatro-rossi', [12]],
      ['tribe_venue?search=hall', [14]],
      ['tribe_venue?orderby=title&order=asc&per_page=2', [16, 13]],
      ['tribe_venue?offset=7', [13, 12]],
      ['tribe_venue?author=2', [23]],
      ['tribe_venue?author_exclude=1', [23]],
      ['tribe_venue?after=2021-05-08T00:00:00', [23, 22]],
      ['tribe_venue?before=2021-05-02T00:00:00', [12]],
      ['tribe_events?tags=11&order=asc', [44, 73]],
      ['tribe_events?tribe_events_cat=4&tags_exclude=11', [81]],
      ['tribe_events?slug=past-concert', [33]],
      ['tribe_events?include=33', [33]],
      ['tags?search=f', [12, 11]],
      ['tags?post=44', [11]],
      ['tags?slug=free', [11]],
      ['tags?include=13,11&orderby=include', [13, 11]],
      ['tribe_events_cat?parent=2', [3, 9]],
      ['tribe_events_cat?hide_empty=true&orderby=id&per_page=2', [2, 3]],
      ['media?search=wide', [11]],
      ['media?media_type=image&order=asc', [10, 11]],
      ['media?mime_type=image/&order=asc', [10, 11]],
      ['media?mime_type=video/,text/plain', []],
      ['media?mime_type=image/jpeg', []],
      ['media?parent=44', []],
      ['users?slug=ed', [2]],
      ['users?include=2,1&orderby=include', [2, 1]],
      ['users?has_published_posts=post', [1]],
      ['users?has_published_posts=tribe_events,page', [1, 3, 2]],
    ])('%s contains the ids %j', async (path, ids) => expect(await idsOf(`${CORE}/${path}`)).toEqual(ids));
    it.each([
      ['capabilities=manage_options', [1]],
      ['capabilities=publish_tribe_events', [1, 3, 2]],
      ['capabilities=edit_posts,nothing', [1, 3, 4, 2]],
      ['capabilities=nothing', []],
      ['capabilities=manage_options&roles=contributor', [1, 4]],
      ['capabilities=subscriber', [5]],
      ['has_published_posts=false', [1, 3, 4, 2, 5]],
      ['has_published_posts=true', [1, 3, 2]],
    ])('of manageable users, filtered by %s, contains the ids %j', async (query, ids) =>
      expect(await idsOf(`${CORE}/users?${query}`, 'admin')).toEqual(ids),
    );

    it.each([
      ['media/10?_fields=id,media_details.width,caption.rendered,title.rendered', { id: 10, title: { rendered: 'tiny' } }],
      ['media/10?_fields=media_details.width', []],
      ['media?include=10&_fields=id,description.rendered', [{ id: 10 }]],
      ['users/1?_fields=id,avatar_urls.96', { id: 1 }],
      ['tribe_events/44?_fields=title.rendered', { title: { rendered: 'New year concert' } }],
    ])('%s has only the nested members named in _fields', async (path, body) =>
      expect((await send('GET', `${CORE}/${path}`)).body).toEqual(body),
    );

    it('sends totals and links to the neighbouring pages as headers, with the query unchanged', async () => {
      const { headers } = await send('GET', `${CORE}/tribe_venue?per_page=4&page=2&include=12,13,14,15,16,17&x=a%20b`);
      expect(headers).toMatchObject({ 'x-wp-total': '6', 'x-wp-totalpages': '2' });
      expect(headers.link).toContain('page=1');
      expect(headers.link).toMatch(/per_page=4&page=1&include%5B0%5D=12&.*x=a\+b>; rel="prev"/);
      expect(headers.link).not.toContain('rel="next"');
    });
    it.each([
      ['tribe_events?tribe_events_cat=2', 'tribe_events_cat%5B0%5D=2'],
      ['tribe_events?tribe_events_cat=2,5', 'tribe_events_cat%5B0%5D=2&tribe_events_cat%5B1%5D=5'],
      ['tribe_events?tribe_events_cat[]=2&tribe_events_cat[]=5', 'tribe_events_cat%5B0%5D=2&tribe_events_cat%5B1%5D=5'],
      ['tribe_events?tribe_events_cat[terms]=2&tribe_events_cat[include_children]=true', 'include_children%5D=1'],
      ['tribe_events?tags_exclude=11', 'tags_exclude%5B0%5D=11'],
      ['tribe_events_cat?hide_empty=false', 'hide_empty=0'],
      ['tags?hide_empty=true', 'hide_empty=1'],
      ['tags?offset=2', 'offset='],
      ['tribe_venue?offset=3', 'offset='],
      ['users?offset=1', 'offset='],
    ])('%s has links to neighbouring pages that lead through the whole list', async (list, carried) => {
      const whole = await send('GET', `${CORE}/${list}&per_page=100`);
      const ids: number[] = [];
      let path: string | undefined = `${CORE}/${list}&per_page=1`;
      while (path !== undefined && ids.length < 100) {
        const { body, headers } = await send('GET', path);
        ids.push(...body.map(({ id }: { id: number }) => id));
        const next: string | undefined = /<([^>]*)>; rel="next"/.exec(String(headers.link))?.[1];
        if (next !== undefined) expect(next).toContain(carried);
        path = next && new URL(next).pathname + new URL(next).search;
      }
      expect(ids.length).toBeGreaterThan(1);
      expect(ids).toEqual(whole.body.map(({ id }: { id: number }) => id));
    });
    it.each([
      ['per_page=101', 'rest_out_of_bounds', null],
      ['per_page=0', 'rest_out_of_bounds', null],
      ['per_page=x', 'rest_invalid_type', { param: 'per_page' }],
      ['order=up', 'rest_not_in_enum', null],
      ['include=1,x', 'rest_invalid_type', { param: 'include[1]' }],
      ['after=soon', 'rest_invalid_date', null],
      ['after=2026-12-31T21:00:00%20%2B1%20day', 'rest_invalid_date', null],
      ['before=2026-12-31T21:00:00%20Europe/Rome', 'rest_invalid_date', null],
      ['status=draft', 'rest_forbidden_status', { status: 401 }],
      ['context=all', 'rest_not_in_enum', null],
    ])('refuses %s as %s', async (query, code, data) => {
      const { status, body } = await send('GET', `${CORE}/tribe_venue?${query}`);
      const [name] = query.split('=') as [string];
      expect({ status, code: body.code, detail: body.data.details[name] }).toMatchObject({
        status: 400,
        code: 'rest_invalid_param',
        detail: { code, data },
      });
    });
    it.each([
      ['tribe_venue?page=9', 400, 'rest_post_invalid_page_number'],
      ['tribe_venue?orderby=relevance', 400, 'rest_no_search_term_defined'],
      ['tribe_venue?orderby=include', 400, 'rest_orderby_include_missing_include'],
      ['tribe_venue?context=edit', 401, 'rest_forbidden_context'],
      ['tribe_venue/999', 404, 'rest_post_invalid_id'],
      ['tribe_venue/44', 404, 'rest_post_invalid_id'],
      ['tribe_venue/18', 401, 'rest_forbidden'],
      ['tribe_events/73?password=wrong', 403, 'rest_post_incorrect_password'],
      ['tags/999', 404, 'rest_term_invalid'],
      ['tags?post=82', 401, 'rest_forbidden_context'],
      ['users/999', 404, 'rest_user_invalid_id'],
      ['users/5', 401, 'rest_user_cannot_view'],
      ['users?roles=editor', 401, 'rest_user_cannot_view'],
      ['users?roles=editor&who=authors', 401, 'rest_user_cannot_view'],
      ['users?who=authors', 401, 'rest_forbidden_who'],
      ['users?has_published_posts=nothing', 400, 'rest_invalid_param'],
      ['users?orderby=email', 401, 'rest_forbidden_orderby'],
      ['media/12', 404, 'rest_post_invalid_id'],
      ['types/nothing', 404, 'rest_type_invalid'],
      ['taxonomies/nothing', 404, 'rest_taxonomy_invalid'],
      ['comments', 404, 'rest_no_route'],
      ['posts/2', 404, 'rest_post_invalid_id'],
      ['posts?context=edit', 400, 'rest_invalid_param'],
    ])('%s answers %i %s', async (path, status, code) =>
      expect(await send('GET', `${CORE}/${path}`)).toMatchObject({ status, body: { code } }),
    );

    it('contains drafts only for users who may see them', async () => {
      expect(await idsOf(`${CORE}/tribe_events?status=draft&orderby=id&order=asc`, 'ed')).toEqual([80, 82, 88]);
      expect(await idsOf(`${CORE}/tribe_events?status=draft`, 'contrib')).toEqual([80]);
      expect((await send('GET', `${CORE}/tribe_events?status=draft`, { as: 'contrib' })).headers['x-wp-total']).toBe('1');
    });
    it('takes the same number of queries whatever its length', async () => {
      const count = async (perPage: number) => {
        let queries = 0;
        const note = () => {
          queries += 1;
        };
        const stop = running.site.db.driver.listen(note);
        await send('GET', `${CORE}/tribe_events?_embed=1&per_page=${perPage}`, { as: 'admin' });
        stop();
        return queries;
      };
      // The minimum of three runs: entries that are cached for one second are read again in some of them.
      const fewest = async (perPage: number) => Math.min(await count(perPage), await count(perPage), await count(perPage));
      expect(await fewest(40)).toBeLessThanOrEqual(await fewest(25));
    });
  });

  describe('a record', () => {
    it('shows the members of its context', async () => {
      const shown = async (context: string, as?: string) =>
        (await send('GET', `${CORE}/tribe_venue/12?context=${context}`, as ? { as } : {})).body;
      expect(Object.keys(await shown('embed')).sort()).toEqual(
        ['_links', 'author', 'date', 'excerpt', 'featured_media', 'id', 'link', 'slug', 'title', 'type'].sort(),
      );
      expect(await shown('view')).not.toHaveProperty('title.raw');
      expect(await shown('edit', 'admin')).toMatchObject({
        title: { raw: 'Teatro Rossi' },
        content: { raw: '<p>An old theatre.</p>' },
        password: '',
      });
    });
    it('has only the members that _fields names', async () =>
      expect((await send('GET', `${CORE}/tribe_venue/12?_fields=id,title.rendered`)).body).toEqual({
        id: 12,
        title: { rendered: 'Teatro Rossi' },
      }));
    it('is shown in full with its password', async () => {
      expect((await send('GET', `${CORE}/tribe_venue/22`)).body.content).toEqual({ rendered: '', protected: true });
      const [row] = await db.from('posts').where('ID', 73).select('post_password');
      const { body } = await send('GET', `${CORE}/tribe_events/73?password=${row?.post_password}`);
      expect(body.content).toMatchObject({ protected: true, rendered: expect.stringMatching(/\S/) });
    });
    it('embeds the records that it links to', async () => {
      const { body } = await send('GET', `${CORE}/tribe_events/44?_embed`);
      expect(body._embedded).toMatchObject({
        author: [{ id: 1, name: 'admin' }],
        'wp:term': [[{ id: 11, name: 'free' }], [{ id: 3 }, { id: 4 }]],
      });
      expect((await send('GET', `${CORE}/tribe_venue/12?_embed=wp:featuredmedia`)).body._embedded).toEqual({
        'wp:featuredmedia': [expect.objectContaining({ id: 10, media_type: 'image' })],
      });
      expect((await send('GET', `${CORE}/tribe_events_cat/3?_embed=1`)).body._embedded.up).toMatchObject([{ id: 2, name: 'Music' }]);
    });
    it('embeds no parent that is missing in the database', async () => {
      const moveBelow = (parent: number) => db.from('term_taxonomy').where('term_id', 3).update({ parent });
      const paths = [`${CORE}/tribe_events_cat/3?_embed`, '/wp-json/tribe/events/v1/categories/3?_embed'];
      const embeddedAt = async (path: string) => {
        const { status, body } = await send('GET', path);
        return [status, body._embedded?.up];
      };
      expect(await embeddedAt(paths[1]!)).toMatchObject([200, [{ id: 2 }]]);
      await moveBelow(999_999);
      for (const path of paths) expect([path, ...(await embeddedAt(path))]).toEqual([path, 200, undefined]);
      await moveBelow(2);
    });
  });

  describe('the caller', () => {
    it('is shown with all members in the context edit', async () => {
      const { status, body } = await send('GET', `${CORE}/users/me?context=edit`, { as: 'ed' });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        id: 2, username: 'ed', email: 'ed@example.test', roles: ['editor'], locale: 'en_US', registered_date: '2026-11-20T07:45:35+00:00',
        capabilities: { edit_tribe_events: true, editor: true }, extra_capabilities: { editor: true },
      }); // biome-ignore format: pairs
    });
    it('is shown without an e-mail address in other contexts', async () => {
      const { body } = await send('GET', `${CORE}/users/me`, { as: 'sub' });
      expect(body).toMatchObject({ id: 5, name: 'Sub', slug: 'sub' });
      expect(body).not.toHaveProperty('email');
    });
    it('cannot be changed through /users/me', async () =>
      expect(await send('POST', `${CORE}/users/me`, { as: 'sub', body: { name: 'X' } })).toMatchObject({
        status: 501,
        body: { code: 'rest_not_implemented' },
      }));
  });

  describe('writing', () => {
    beforeEach(() => resetSite(db));

    it('creates a draft unless a status is given', async () => {
      const { status, body, headers } = await send('POST', `${CORE}/tribe_venue`, {
        as: 'ed',
        body: { title: 'Hall', content: 'Old.', slug: 'the-hall', excerpt: 'A hall' },
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({
        status: 'draft',
        slug: 'the-hall',
        title: { raw: 'Hall' },
        content: { raw: 'Old.' },
        excerpt: { raw: 'A hall' },
        author: 2,
      });
      expect(headers.location).toBe(`http://127.0.0.1:8081${CORE}/tribe_venue/${body.id}`);
    });
    it('creates a second venue with an existing name', async () => {
      const { body } = await send('POST', `${CORE}/tribe_venue`, { as: 'admin', body: { title: 'Teatro Rossi', status: 'publish' } });
      expect(body).toMatchObject({ id: 93, slug: 'teatro-rossi-2', status: 'publish' });
    });
    it('stores metas and derives the dependent ones', async () => {
      const { meta } = (await send('GET', `${CORE}/tribe_events/44`)).body;
      const changed = {
        ...meta,
        _EventStartDate: '2030-01-02 15:00:00',
        _EventEndDate: '2030-01-02 16:00:00',
        _EventVenueID: [13],
        _EventURL: '',
      };
      const { status, body } = await send('POST', `${CORE}/tribe_events/44`, { as: 'admin', body: { meta: changed } });
      expect(status).toBe(200);
      expect(body.meta).toMatchObject({
        _EventStartDate: '2030-01-02 15:00:00',
        _EventStartDateUTC: '2030-01-02 14:00:00',
        _EventVenueID: [13],
        _EventURL: '',
        _EventCost: '€10',
      });
      expect(await metasOf(44, '_EventDuration')).toEqual(['3600']);
      const [occurrence] = await db.from('tec_occurrences').where('post_id', 44).select('start_date_utc');
      expect(occurrence?.start_date_utc).toBe('2030-01-02 14:00:00');
      expect((await send('GET', '/wp-json/tribe/events/v1/events/44')).body).toMatchObject({
        start_date: '2030-01-02 15:00:00',
        venue: { id: 13 },
      });
    });
    it('leaves metas and members alone that the request does not contain', async () => {
      await send('POST', `${CORE}/tribe_venue/12`, { as: 'admin', body: { meta: { _VenueCity: 'Lucca' } } });
      expect((await send('GET', `${CORE}/tribe_venue/12`)).body).toMatchObject({
        title: { rendered: 'Teatro Rossi' }, status: 'publish', featured_media: 10, meta: { _VenueCity: 'Lucca', _VenueZip: '56126' },
      }); // biome-ignore format: pairs
    });
    it('stores metas that are not fields, without their markup', async () => {
      const meta = { _EventCostDescription: 'at the <b>door</b>', _tribe_events_status: 'canceled', unknown: 'x' };
      const { body } = await send('POST', `${CORE}/tribe_events/44`, { as: 'admin', body: { meta } });
      expect(body.meta).toMatchObject({ _EventCostDescription: 'at the door', _tribe_events_status: 'canceled' });
      expect(await metasOf(44, 'unknown')).toEqual([]);
    });
    it('sets and removes terms and the image', async () => {
      const { body } = await send('POST', `${CORE}/tribe_events/44`, {
        as: 'admin',
        body: { tags: [13], tribe_events_cat: [], featured_media: 11 },
      });
      expect(body).toMatchObject({ tags: [13], tribe_events_cat: [], featured_media: 11 });
      expect((await send('POST', `${CORE}/tribe_events/44`, { as: 'admin', body: { featured_media: 0 } })).body.featured_media).toBe(0);
    });
    it.each<[string, string, string, string | undefined, object, number, string]>([
      ['anonymous callers', 'POST', 'tribe_venue', undefined, { title: 'X' }, 401, 'rest_cannot_create'],
      ['subscribers', 'POST', 'tribe_venue', 'sub', { title: 'X' }, 403, 'rest_cannot_create'],
      ['authors for others', 'POST', 'tribe_venue', 'auth', { title: 'X', author: 1 }, 403, 'rest_cannot_edit_others'],
      ['contributors who make categories', 'POST', 'tribe_events_cat', 'contrib', { name: 'X' }, 403, 'rest_cannot_create'],
      ['contributors who publish', 'POST', 'tribe_venue', 'contrib', { title: 'X', status: 'publish' }, 403, 'rest_cannot_publish'],
      ['contributors who publish their drafts', 'POST', 'tribe_events/80', 'contrib', { status: 'publish' }, 403, 'rest_cannot_publish'],
      ['authors of other people’s records', 'POST', 'tribe_venue/12', 'auth', { title: 'X' }, 403, 'rest_cannot_edit'],
      ['what does not exist', 'POST', 'tribe_venue/999', 'admin', { title: 'X' }, 404, 'rest_post_invalid_id'],
      ['an unknown author', 'POST', 'tribe_venue/12', 'admin', { author: 99 }, 400, 'rest_invalid_author'],
      ['an unknown picture', 'POST', 'tribe_venue/12', 'admin', { featured_media: 999 }, 400, 'rest_invalid_featured_media'],
      ['a script as address', 'POST', 'tribe_venue/12', 'admin', { meta: { _VenueURL: 'javascript:alert(1)' } }, 400, 'rest_invalid_param'],
      ['metas of the wrong type', 'POST', 'tribe_venue/12', 'admin', { meta: { _VenueCity: ['x'] } }, 400, 'rest_invalid_type'],
      ['a name without text', 'POST', 'tribe_venue', 'admin', { title: '<b></b>' }, 400, 'could-not-create-venue'],
      ['those who may not delete', 'DELETE', 'tribe_venue/12', 'auth', {}, 403, 'rest_cannot_delete'],
      ['tags of subscribers', 'POST', 'tags', 'sub', { name: 'X' }, 403, 'rest_cannot_create'],
      ['tags that authors change', 'POST', 'tags/11', 'auth', { name: 'X' }, 403, 'rest_cannot_update'],
      ['terms without a name', 'POST', 'tags', 'admin', {}, 400, 'rest_missing_callback_param'],
      ['terms into the trash', 'DELETE', 'tags/11', 'admin', {}, 501, 'rest_trash_not_supported'],
      ['terms that exist', 'POST', 'tags', 'admin', { name: 'free' }, 400, 'term_exists'],
      ['a category under nothing', 'POST', 'tribe_events_cat', 'admin', { name: 'X', parent: 999 }, 400, 'rest_term_invalid'],
    ])('refuses %s', async (_, method, path, as, body, status, code) =>
      expect(await send(method, `${CORE}/${path}`, { body, ...(as ? { as } : {}) })).toMatchObject({ status, body: { code } }),
    );

    it('names POST in Allow if only publishing is refused', async () => {
      const allowed = async (path: string, body: object) =>
        (await send('POST', `${CORE}/${path}`, { as: 'contrib', body })).headers.allow?.split(', ');
      for (const path of ['tribe_venue', 'tribe_events/80']) expect(await allowed(path, { status: 'publish' })).toContain('POST');
      expect(await allowed('tribe_venue/12', { title: 'X' })).toEqual(['GET']);
    });

    it('trashes records, and deletes them permanently with force', async () => {
      expect((await send('DELETE', `${CORE}/tribe_venue/17`, { as: 'admin' })).body).toMatchObject({ id: 17, status: 'trash' });
      expect(await send('DELETE', `${CORE}/tribe_venue/17`, { as: 'admin' })).toMatchObject({
        status: 410,
        body: { code: 'rest_already_trashed' },
      });
      expect((await send('DELETE', `${CORE}/tribe_venue/17?force=true`, { as: 'admin' })).body).toMatchObject({
        deleted: true,
        previous: { id: 17 },
      });
      expect((await send('GET', `${CORE}/tribe_venue/17`, { as: 'admin' })).status).toBe(404);
    });
    it('removes the links to a venue that is deleted permanently, but not to one in the trash (decision D11)', async () => {
      const metaOf = async () => (await send('GET', `${CORE}/tribe_events/44`)).body.meta._EventVenueID;
      await send('DELETE', `${CORE}/tribe_venue/12`, { as: 'admin' });
      expect(await metaOf()).toEqual([12]);
      await send('DELETE', `${CORE}/tribe_venue/12?force=true`, { as: 'admin' });
      expect(await metaOf()).toEqual([]);
      // A client that sends back all metas can link another venue.
      const changed = await send('PUT', `${CORE}/tribe_events/44`, { as: 'admin', body: { meta: { _EventVenueID: [13] } } });
      expect(changed.body.meta._EventVenueID).toEqual([13]);
    });
    it('creates, updates and deletes terms', async () => {
      const { status, body, headers } = await send('POST', `${CORE}/tags`, { as: 'ed', body: { name: 'Open air' } });
      expect({ status, slug: body.slug, location: headers.location }).toEqual({
        status: 201,
        slug: 'open-air',
        location: `http://127.0.0.1:8081${CORE}/tags/19`,
      });
      expect((await send('PUT', `${CORE}/tags/19`, { as: 'admin', body: { description: 'Under the sky' } })).body).toMatchObject({
        name: 'Open air',
        description: 'Under the sky',
      });
      expect((await send('DELETE', `${CORE}/tags/19?force=1`, { as: 'admin' })).body).toMatchObject({
        deleted: true,
        previous: { id: 19 },
      });
    });
  });

  describe('the media library', () => {
    beforeEach(() => resetSite(db));
    const raw = (headers: Record<string, string> = {}, as = 'auth', body: Buffer = TINY) =>
      send('POST', `${CORE}/media`, {
        as,
        body,
        headers: { 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename="My poster.png"', ...headers },
      });
    const form = (fields: Record<string, string>, file?: { field?: string; name?: string; bytes?: Buffer }) => {
      const parts = Object.entries(fields).map(
        ([name, value]) => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      const { field = 'file', name = 'poster.png', bytes = TINY } = file ?? {};
      const head = `--B\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\nContent-Type: image/png\r\n\r\n`;
      return Buffer.concat([
        Buffer.from(parts.join('')),
        ...(file ? [Buffer.from(head), bytes, Buffer.from('\r\n')] : []),
        Buffer.from('--B--\r\n'),
      ]);
    };
    const sent = (body: Buffer, as = 'auth') =>
      send('POST', `${CORE}/media`, { as, body, headers: { 'Content-Type': 'multipart/form-data; boundary=B' } });
    const fileOf = (url: string) => join(running.site.config.uploadsDir, new URL(url).pathname.replace('/wp-content/uploads/', ''));

    it('takes a file as the body of a request', async () => {
      const { status, body, headers } = await raw();
      expect(status).toBe(201);
      expect(body).toMatchObject({
        title: { raw: 'My-poster' }, author: 3, media_type: 'image', mime_type: 'image/png', status: 'inherit', post: null, media_details: { width: 10, height: 10 },
      }); // biome-ignore format: pairs
      expect(headers.location).toBe(`http://127.0.0.1:8081${CORE}/media/${body.id}`);
      expect(readFileSync(fileOf(body.source_url))).toEqual(TINY);
      expect((await send('GET', new URL(body.source_url).pathname)).status).toBe(200);
    });
    it('takes a file as the body of a request that says it is a form, as PHP sends it', async () => {
      const asForm = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Disposition': 'form-data; filename="a.png"' };
      const { status, body } = await raw(asForm);
      expect([status, body.slug, body.mime_type]).toEqual([201, 'a', 'image/png']);
      expect(readFileSync(fileOf(body.source_url))).toEqual(TINY);
      expect((await raw({ ...asForm, 'Content-Disposition': 'form-data' })).body.code).toBe('rest_invalid_encoding');
      expect((await raw(asForm, 'sub')).status).toBe(400);
    });
    it('takes a file as a field of a form, with its title, texts and parent', async () => {
      const fields = {
        title: 'The poster',
        alt_text: 'A poster',
        caption: 'Come!',
        description: 'Of the <em>fair</em><script>x</script>',
        post: '79',
      };
      const { status, body } = await sent(form(fields, {}));
      expect(status).toBe(201);
      expect(body).toMatchObject({ title: { raw: 'The poster' }, alt_text: 'A poster', caption: { raw: 'Come!' }, post: 79 });
      expect(body.description.raw).not.toContain('<script>');
    });
    it('makes an uploaded image available to events', async () => {
      const { body } = await raw();
      const changed = await send('POST', '/wp-json/tribe/events/v1/events/79', { as: 'auth', body: { image: body.id } });
      expect(changed.body.image).toMatchObject({ id: body.id, url: body.source_url });
    });
    it.each([
      ['no file', {}, Buffer.alloc(0), 'rest_upload_no_data'],
      ['no name', { 'Content-Disposition': '' }, TINY, 'rest_upload_no_content_disposition'],
      ['a disposition without a name', { 'Content-Disposition': 'attachment' }, TINY, 'rest_upload_invalid_disposition'],
      ['a page that says it is an image', {}, Buffer.from('<html><script>alert(1)</script></html>'), 'rest_upload_sideload_error'],
      [
        'a drawing that can hold scripts',
        { 'Content-Type': 'image/svg+xml' },
        Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
        'rest_upload_sideload_error',
      ],
    ])('refuses %s', async (_, headers, bytes, code) => {
      const named = headers as Record<string, string>;
      const status = code === 'rest_upload_sideload_error' ? 500 : 400;
      expect(await raw(named, 'auth', bytes)).toMatchObject({ status, body: { code } });
      expect(await db.from('posts').where('ID', '>', 92)).toEqual([]);
    });
    it('refuses a file whose hash differs from Content-MD5', async () =>
      expect(await raw({ 'Content-MD5': 'd41d8cd98f00b204e9800998ecf8427e' })).toMatchObject({
        status: 412,
        body: { code: 'rest_upload_hash_mismatch' },
      }));
    it('refuses a form without the file field', async () => {
      expect(await sent(form({ title: 'X' }))).toMatchObject({ status: 400, body: { code: 'rest_upload_no_data' } });
      expect(await sent(form({}, { field: 'picture' }))).toMatchObject({ status: 400, body: { code: 'rest_upload_no_data' } });
    });
    it('refuses a file that is too large', async () => {
      const limited = await serveDatabase(db, { env: { UPLOAD_LIMIT: '1kb' } });
      const answer = await limited.send('POST', `${CORE}/media`, {
        as: 'auth',
        body: Buffer.alloc(2000),
        headers: { 'Content-Type': 'image/png' },
      });
      await limited.close();
      expect(answer).toMatchObject({ status: 413, body: { code: 'rest_request_too_large' } });
    });
    it.each([
      ['sub', 403, 'rest_cannot_create'],
      ['contrib', 403, 'rest_cannot_create'],
    ])('refuses an upload by %s', async (as, status, code) => expect(await raw({}, as)).toMatchObject({ status, body: { code } }));
    it('refuses an anonymous upload', async () =>
      expect(await send('POST', `${CORE}/media`, { body: TINY, headers: { 'Content-Type': 'image/png' } })).toMatchObject({
        status: 401,
        body: { code: 'rest_cannot_create' },
      }));
    it('does not attach a file to a record of another author', async () =>
      expect(await sent(form({ post: '44' }, {}))).toMatchObject({ status: 403, body: { code: 'rest_cannot_edit' } }));
    it('uses only the base name of a file name that contains a path', async () => {
      const { body } = await raw({ 'Content-Disposition': 'attachment; filename="../../evil.php.png"' });
      expect(body.source_url).toMatch(/\/wp-content\/uploads\/\d{4}\/\d\d\/evil\.php_\.png$/);
    });
    it('shows a file attached to a draft only to users who may read the draft', async () => {
      const { body } = await sent(form({ post: '88' }, {}));
      const path = `${CORE}/media/${body.id}`;
      expect((await send('GET', path)).status).toBe(401);
      expect((await send('GET', path, { as: 'contrib' })).status).toBe(403);
      expect((await send('GET', path, { as: 'ed' })).status).toBe(200);
      expect(await idsOf(`${CORE}/media`)).not.toContain(body.id);
      expect(await idsOf(`${CORE}/media`, 'auth')).toContain(body.id);
    });
    it('updates the title and the alternative text of a file', async () => {
      const { body } = await send('POST', `${CORE}/media/10`, { as: 'admin', body: { alt_text: 'Ten dots', title: { raw: 'Dots' } } });
      expect(body).toMatchObject({ alt_text: 'Ten dots', title: { raw: 'Dots' } });
      expect(await send('POST', `${CORE}/media/10`, { as: 'auth', body: { alt_text: 'X' } })).toMatchObject({
        status: 403,
        body: { code: 'rest_cannot_edit' },
      });
    });
    it('deletes a file permanently, and removes it from the records that showed it', async () => {
      const { body } = await raw();
      const file = fileOf(body.source_url);
      await send('POST', '/wp-json/tribe/events/v1/events/79', { as: 'auth', body: { image: body.id } });
      const path = `${CORE}/media/${body.id}`;
      expect(await send('DELETE', path, { as: 'auth' })).toMatchObject({ status: 501, body: { code: 'rest_trash_not_supported' } });
      expect(await send('DELETE', `${path}?force=true`, { as: 'contrib' })).toMatchObject({
        status: 403,
        body: { code: 'rest_cannot_delete' },
      });
      expect((await send('DELETE', `${path}?force=true`, { as: 'auth' })).body).toMatchObject({ deleted: true, previous: { id: body.id } });
      expect(existsSync(file)).toBe(false);
      expect(await metasOf(79, '_thumbnail_id')).toEqual([]);
    });
    /** Creates another attachment with the same files; returns its id. */
    const copied = async (id: number): Promise<number> => {
      const row = (await db.from('posts').where('ID', id).first())!;
      const other = await insertRows(db, 'posts', [{ ...row, ID: id + 100, post_name: `other-${id}` }]);
      const metas = await db.from('postmeta').where('post_id', id).select('meta_key', 'meta_value');
      await insertRows(
        db,
        'postmeta',
        metas.map((meta) => ({ ...meta, post_id: other })),
      );
      return other;
    };
    it('keeps files on the disk that another attachment uses, such as that of a translation', async () => {
      const { body } = await raw({}, 'auth', readFileSync(new URL('fixtures/uploads/2026/11/wide.png', import.meta.url)));
      const sizes = Object.values(body.media_details.sizes as Record<string, { source_url: string }>).map(({ source_url: url }) =>
        fileOf(url),
      );
      const all = [fileOf(body.source_url), ...sizes];
      expect(new Set(all).size).toBeGreaterThan(2);
      const other = await copied(body.id);
      expect(other).toBe(body.id + 100);
      const remove = (id: number) => send('DELETE', `${CORE}/media/${id}?force=true`, { as: 'admin' });
      expect((await remove(body.id)).status).toBe(200);
      expect(all.map((name) => existsSync(name))).toEqual(all.map(() => true));
      expect((await remove(other)).status).toBe(200);
      expect(all.map((name) => existsSync(name))).toEqual(all.map(() => false));
    });
    /** Edits a picture as WordPress does with all sizes except the thumbnails. Returns the new file. */
    const edit = async (id: number, before: string): Promise<string> => {
      const [name] = await metasOf(id, '_wp_attached_file');
      const edited = (path: string) => path.replace('.png', '-e1764223200000.png');
      copyFileSync(before, edited(before));
      await db
        .from('postmeta')
        .where({ post_id: id, meta_key: '_wp_attached_file' })
        .update({ meta_value: edited(name!) });
      const kept = toSerialized({ 'full-orig': { file: basename(before), width: 1, height: 1 } });
      await insertRows(db, 'postmeta', [{ post_id: id, meta_key: '_wp_attachment_backup_sizes', meta_value: kept }]);
      return edited(before);
    };
    it('deletes the original files of an image that was edited in WordPress', async () => {
      const { body } = await raw();
      const before = fileOf(body.source_url);
      const after = await edit(body.id, before);
      expect((await send('DELETE', `${CORE}/media/${body.id}?force=true`, { as: 'admin' })).status).toBe(200);
      expect([existsSync(after), existsSync(before)]).toEqual([false, false]);
    });
    it('keeps the original and the sizes that another attachment still uses after it was edited in WordPress', async () => {
      const { body } = await raw({}, 'auth', readFileSync(new URL('fixtures/uploads/2026/11/wide.png', import.meta.url)));
      const { source_url: size } = body.media_details.sizes.thumbnail;
      const [original, thumbnail] = [fileOf(body.source_url), fileOf(size)];
      const other = await copied(body.id);
      const edited = await edit(other, original);
      const remove = (id: number) => send('DELETE', `${CORE}/media/${id}?force=true`, { as: 'admin' });
      const areThere = () => [original, thumbnail, edited].map((name) => existsSync(name));
      expect((await remove(body.id)).status).toBe(200);
      expect(areThere()).toEqual([true, true, true]);
      const event = { title: 'Pictured', start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00', image: size };
      expect((await send('POST', '/wp-json/tribe/events/v1/events', { as: 'admin', body: event })).body.image.id).toBe(other);
      expect((await remove(other)).status).toBe(200);
      expect(areThere()).toEqual([false, false, false]);
    });
    it('keeps no files on the disk if all attachments that use them are deleted at once', async () => {
      const { body } = await raw();
      const file = fileOf(body.source_url);
      const other = await copied(body.id);
      const [name] = await metasOf(other, '_wp_attached_file');
      const remove = async () => (await send('DELETE', `${CORE}/media/${body.id}?force=true`, { as: 'admin' })).status;
      let removed: Promise<number> | undefined;
      await db.transaction(async (trx) => {
        await lockNames(trx, [fileLock(name!)]);
        let isAnswered = false;
        removed = remove().finally(() => {
          isAnswered = true;
        });
        // On a database with a single writer, the deletion waits for this transaction before its first query.
        if (db.dialect.maxWriters !== 1)
          await until('a request that waits', async () => isAnswered || (await isSomebodyWaiting()), { pollMs: RENEWED_MS });
        await removeAttachment(trx, other);
        noteChange(trx, { now: new Date() });
      });
      expect(await removed).toBe(200);
      expect(existsSync(file)).toBe(false);
    });
    /** The server renews its list of waiting transactions only if nobody has read it for a tenth of a second. */
    const RENEWED_MS = 150;
    const isSomebodyWaiting = async (): Promise<boolean> =>
      (await db.ask("SELECT trx_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")).length > 0;
  });

  describe('the tec/v1 interface', () => {
    beforeEach(() => resetSite(db));
    const call = (method: string, path: string, options: Parameters<RunningSite['send']>[2] = {}) =>
      send(method, `${TEC}/${path}`, { ...options, headers: { ...ACKNOWLEDGED, ...options.headers } });

    it.each([
      ['GET', 'events', undefined],
      ['GET', 'venues/12', undefined],
      ['POST', 'venues', 'admin'],
      ['PUT', 'venues/12', 'admin'],
      ['DELETE', 'venues/12', 'admin'],
    ])('answers %s %s only if the request acknowledges that the interface is experimental', async (method, path, as) => {
      const body = method === 'GET' ? null : { title: 'X' };
      const answer = await send(method, `${TEC}/${path}`, { ...(as ? { as } : {}), body, headers: UNACKNOWLEDGED });
      expect(answer).toMatchObject({ status: 400, body: { code: 'missing_experimental_endpoint_acknowledgement' } });
    });
    it('names in its document the header for this acknowledgement, and every writable field', async () => {
      const { paths, components } = (await send('GET', `${TEC}/docs`)).body;
      const of = (method: string, path: string) => JSON.stringify(paths[path][method].parameters);
      for (const [path, method] of ['/events', '/venues/{id}', '/organizers'].flatMap((path) =>
        Object.keys(paths[path]).map((method) => [path, method]),
      ))
        expect(of(method!, path!)).toContain('{"$ref":"#/components/parameters/X-TEC-EEA"}');
      expect(components.parameters['X-TEC-EEA']).toMatchObject({ name: 'X-TEC-EEA', in: 'header', required: true });
      expect(of('get', '/docs')).not.toContain('X-TEC-EEA');
      for (const [path, name] of [
        ['events', 'Event'],
        ['venues', 'Venue'],
        ['organizers', 'Organizer'],
      ]) {
        const { endpoints } = (await send('OPTIONS', `${TEC}/${path}`)).body;
        const { args } = endpoints.find(({ methods }: { methods: string[] }) => methods.includes('POST'));
        const described = JSON.stringify([components.schemas.TEC_Post_Entity_Request_Body, components.schemas[`${name}_Request_Body`]]);
        expect(Object.keys(args).filter((field) => !described.includes(`"${field}":`))).toEqual([]);
      }
    });
    it('requires the acknowledgement even if the same answer is cached', async () => {
      expect((await call('GET', 'organizers/24')).status).toBe(200);
      expect((await send('GET', `${TEC}/organizers/24`, { headers: UNACKNOWLEDGED })).status).toBe(400);
      expect((await call('GET', 'organizers/24')).headers.vary).toContain('X-TEC-EEA');
    });
    it.each(['events', 'venues', 'organizers'])('lists published records to an editor who names no status: %s', async (list) => {
      const idsOf = async (query: string) => {
        const { status, body } = await call('GET', `${list}?${query}`, { as: 'ed' });
        return { status, ids: Array.isArray(body) ? body.map(({ id }) => id) : [] };
      };
      const published = await idsOf('status=publish');
      expect(published.ids).not.toEqual([]);
      for (const query of ['', 'status=', 'status=,']) expect(await idsOf(query)).toEqual(published);
      expect((await idsOf('status=nope')).status).toBe(400);
    });
    it('creates an event with its venue, organizer and terms', async () => {
      const { status, body } = await call('POST', 'events', {
        as: 'ed',
        body: {
          title: 'Fair',
          content: 'Come!',
          start_date: '2030-12-01 10:00:00',
          end_date: '2030-12-02 12:00:00',
          venues: [12],
          organizers: [24, 25],
          tribe_events_cat: [3],
          tags: [11],
          cost: '5',
        },
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({
        title: { rendered: 'Fair' }, status: 'publish', start_date_utc: '2030-12-01 09:00:00', multiday: 2, cost: '$5', tags: [11], tribe_events_cat: [3],
        venues: [{ id: 12 }], organizers: [{ id: 24 }, { id: 25 }], organizer_names: ['ACME Events', 'Coop &#038; Friends'],
      }); // biome-ignore format: pairs
    });
    it('accepts UTC times and a duration', async () => {
      const { body } = await call('POST', 'events', {
        as: 'ed',
        body: { title: 'Fair', start_date_utc: '2030-12-01 09:00:00', duration: 3600 },
      });
      expect(body).toMatchObject({ start_date: '2030-12-01 10:00:00', end_date: '2030-12-01 11:00:00', duration: '3600' });
    });
    it.each(['2030-12-01 10:00', '2030-12-01T10:00:00', 'December 1, 2030 10am', '1 December 2030 10:00:00'])(
      'accepts a duration with a start in any format: %s',
      async (start_date) => {
        const dates = { start_date: '2030-12-01 10:00:00', end_date: '2030-12-01 11:00:00', duration: '3600' };
        const made = await call('POST', 'events', { as: 'ed', body: { title: 'Fair', start_date, duration: 3600 } });
        expect(made).toMatchObject({ status: 201, body: dates });
        expect(await call('PUT', 'events/44', { as: 'ed', body: { start_date, duration: 3600 } })).toMatchObject({
          status: 200,
          body: dates,
        });
      },
    );
    describe('changes of dates in other forms', () => {
      const IN_NEW_YORK = {
        title: 'Fair',
        timezone: 'America/New_York',
        start_date: '2030-12-01 10:00:00',
        end_date: '2030-12-01 12:00:00',
      };
      const changed = async (created: object, change: object) => {
        const { body } = await call('POST', 'events', { as: 'ed', body: created });
        const answer = await call('PUT', `events/${body.id}`, { as: 'ed', body: change });
        const { start_date_utc, end_date_utc, timezone } = answer.body;
        return [answer.status, start_date_utc, end_date_utc, timezone];
      };

      it.each([
        ['of both ends', { start_date_utc: '2030-12-02 16:00:00', end_date_utc: '2030-12-02 18:00' }],
        ['with the letter of UTC', { start_date_utc: '2030-12-02T16:00:00Z', end_date_utc: '2030-12-02T18:00:00Z' }],
        ['with an offset', { start_date_utc: '2030-12-02T17:00:00+01:00', end_date_utc: '2030-12-02T17:00:00-01:00' }],
        ['with a duration', { start_date_utc: '2030-12-02 16:00:00', duration: 7200 }],
      ])('mean the same moment in the time zone of the event: %s', async (_, change) =>
        expect(await changed(IN_NEW_YORK, change)).toEqual([200, '2030-12-02 16:00:00', '2030-12-02 18:00:00', 'America/New_York']),
      );
      it('mean the same moment in another time zone given in the request', async () =>
        expect(
          await changed(IN_NEW_YORK, {
            timezone: 'Asia/Tokyo',
            start_date_utc: '2030-12-02 16:00:00',
            end_date_utc: '2030-12-02 18:00:00',
          }),
        ).toEqual([200, '2030-12-02 16:00:00', '2030-12-02 18:00:00', 'Asia/Tokyo']));
      it('apply a duration to the current start of the event', async () =>
        expect(await changed(IN_NEW_YORK, { duration: 3600 })).toEqual([
          200,
          '2030-12-01 15:00:00',
          '2030-12-01 16:00:00',
          'America/New_York',
        ]));
      it.each(['start_date_utc', 'end_date_utc'])('are refused if the date is invalid: %s', async (name) =>
        expect(await call('PUT', 'events/44', { as: 'ed', body: { [name]: 'whenever' } })).toMatchObject({
          status: 400,
          body: { data: { details: { [name]: { code: 'tec_rest_invalid_date_time_argument' } } } },
        }),
      );
      it.each([
        ['a duration', { start_date: '2030-10-27 01:30:00', duration: 3600 }, ['2030-10-26 23:30:00', '2030-10-27 00:30:00', '3600']],
        [
          'UTC times',
          { start_date_utc: '2030-10-27 00:10:00', end_date_utc: '2030-10-27 01:05:00' },
          ['2030-10-27 00:10:00', '2030-10-27 01:05:00', '3300'],
        ],
        [
          'UTC times beside local ones',
          { start_date: '2030-10-27 02:10:00', start_date_utc: '2030-10-27 00:10:00', end_date: '2030-10-27 05:00:00' },
          ['2030-10-27 00:10:00', '2030-10-27 04:00:00', '13800'],
        ],
        ['both', { start_date_utc: '2030-10-27 00:10:00', duration: 1800 }, ['2030-10-27 00:10:00', '2030-10-27 00:40:00', '1800']],
      ])('are at their moments in an hour that the clock shows twice: %s', async (_, dates, [start, end, duration]) => {
        const { body } = await call('POST', 'events', { as: 'ed', body: { title: 'Night', timezone: 'Europe/Rome', ...dates } });
        expect(body).toMatchObject({ start_date_utc: start, end_date_utc: end, duration });
      });

      it('count elapsed seconds of a duration across a change of the clocks', async () => {
        const { body } = await call('POST', 'events', {
          as: 'ed',
          body: { title: 'Fair', start_date: '2030-03-30 22:00:00', duration: 8 * 3600 },
        });
        expect(body).toMatchObject({ end_date: '2030-03-31 07:00:00', end_date_utc: '2030-03-31 05:00:00', duration: String(8 * 3600) });
      });
    });
    it('changes only the given fields', async () => {
      const { status, body } = await call('PUT', 'venues/12', { as: 'admin', body: { city: 'Lucca', excerpt: 'Short' } });
      expect({ status, ...body }).toMatchObject({
        status: 'publish',
        city: 'Lucca',
        zip: '56126',
        excerpt: { rendered: '<p>Short</p>\n' },
      });
    });
    it.each(['en', 'it'])('describes external_id as a writable field: %s', async (language) => {
      const { body } = await send('OPTIONS', `${TEC}/venues?translation_language=${language}`);
      const { args } = body.endpoints.find(({ methods }: { methods: string[] }) => methods.includes('POST'));
      const own = (await send('OPTIONS', `/wp-json/tribe/events/v1/venues?translation_language=${language}`)).body.endpoints;
      const written = own.find(({ methods }: { methods: string[] }) => methods.includes('POST')).args;
      expect(args.external_id.description).toBe(written.external_id.description);
    });
    it('says that a deletion trashes the record with or without `force`, and does so', async () => {
      const forceOf = async (path: string) => {
        const { body } = await send('OPTIONS', path);
        return body.endpoints.find(({ methods }: { methods: string[] }) => methods.includes('DELETE')).args.force.description;
      };
      expect(await forceOf(`${TEC}/venues/17`)).not.toBe(await forceOf(`${CORE}/tribe_venue/17`));
      expect((await call('DELETE', 'venues/17?force=true', { as: 'admin' })).status).toBe(200);
      expect((await send('GET', `${CORE}/tribe_venue/17?context=edit`, { as: 'admin' })).body.status).toBe('trash');
    });
    it.each(['', '*'])('returns a record that a change has trashed, and changes it there, with If-Match “%s”', async (match) => {
      const headers: Record<string, string> = match === '' ? {} : { 'If-Match': match };
      const change = async (body: object) => {
        const { status, body: shown } = await call('PUT', 'venues/17', { as: 'admin', headers, body });
        return [status, shown.status, shown.city];
      };
      expect(await change({ status: 'trash', city: 'Lucca' })).toEqual([200, 'trash', 'Lucca']);
      expect(await change({ city: 'Pisa' })).toEqual([200, 'trash', 'Pisa']);
      expect((await call('GET', 'venues/17', { as: 'admin' })).status).toBe(404);
      expect(await change({ status: 'publish' })).toEqual([200, 'publish', 'Pisa']);
      const made = await call('POST', 'venues', { as: 'admin', body: { title: 'Gone', status: 'trash' } });
      expect([made.status, made.body.status]).toEqual([201, 'trash']);
    });
    it.each(['events/44', 'venues/12', 'organizers/24'])('accepts a record as it was returned: %s', async (path) => {
      const { title, content, excerpt, guid, modified, modified_gmt, ...shown } = (await call('GET', path, { as: 'admin' })).body;
      const answer = await call('PUT', path, { as: 'admin', body: shown });
      expect(answer).toMatchObject({ status: 200, body: { ...shown, title, content, excerpt } });
    });
    it('trashes a record once', async () => {
      expect(await call('DELETE', 'venues/17', { as: 'admin' })).toMatchObject({ status: 200, body: [] });
      expect(await call('DELETE', 'venues/17', { as: 'admin' })).toMatchObject({
        status: 410,
        body: { error: expect.stringMatching(/\S/) },
      });
      expect(await call('GET', 'venues/17', { as: 'admin' })).toMatchObject({ status: 404, body: { error: expect.stringMatching(/\S/) } });
      expect((await call('DELETE', 'venues/17?force=true', { as: 'admin' })).status).toBe(410);
    });
    it.each<[string, string, string, string | undefined, object, number, string]>([
      ['strangers', 'POST', 'events', undefined, { title: 'X' }, 401, 'rest_forbidden'],
      ['subscribers', 'POST', 'events', 'sub', { title: 'X' }, 403, 'rest_forbidden'],
      ['authors of other people’s records', 'PUT', 'events/44', 'auth', { title: 'X' }, 403, 'rest_forbidden'],
      ['an event without dates', 'POST', 'events', 'admin', { title: 'X' }, 400, 'rest_missing_callback_param'],
      [
        'an end before the start',
        'POST',
        'events',
        'admin',
        { title: 'X', start_date: '2030-01-02', end_date: '2030-01-01' },
        400,
        'rest_invalid_param',
      ],
      ['an unknown venue', 'PUT', 'events/44', 'admin', { venues: [999] }, 400, 'rest_invalid_param'],
    ])('refuses %s', async (_, method, path, as, body, status, code) =>
      expect(await call(method, path, { body, ...(as ? { as } : {}) })).toMatchObject({ status, body: { code } }),
    );

    it('hides drafts from users who may not see them', async () => {
      expect((await call('GET', 'events/82', { as: 'contrib' })).status).toBe(403);
      expect((await call('GET', 'events/80', { as: 'contrib' })).status).toBe(200);
      const { body } = await call('GET', 'events?status=draft', { as: 'contrib' });
      expect(body.map(({ id }: { id: number }) => id)).toEqual([80]);
    });
    it('shows a protected record in full with its password', async () => {
      const [row] = await db.from('posts').where('ID', 73).select('post_password');
      expect((await call('GET', `events/73?password=${row?.post_password}`)).body).toMatchObject({
        start_date: '2030-09-01 10:00:00',
        venues: [{ id: 12 }],
      });
    });
    it('answers in the language of the caller', async () => {
      const { body } = await send('GET', `/it${TEC}/events/53`, { headers: ACKNOWLEDGED });
      expect(body).toMatchObject({ short_schedule_details: 'Tutto il giorno', schedule_details: expect.stringContaining('giugno') });
    });
  });
});

describeDatabases('the companion routes of a site without a trash', (open) => {
  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db, { env: { EMPTY_TRASH_DAYS: '0' } });
  });
  afterAll(() => running.close());

  it.each(['tribe_events/44', 'tribe_venue/17', 'tribe_organizer/24'])('delete %s only with `force`', async (path) => {
    const refused = await running.send('DELETE', `${CORE}/${path}`, { as: 'admin' });
    expect(refused).toMatchObject({ status: 501, body: { code: 'rest_trash_not_supported' } });
    expect((await running.send('GET', `${CORE}/${path}`)).status).toBe(200);
    expect((await running.send('DELETE', `${CORE}/${path}?force=true`, { as: 'admin' })).body.deleted).toBe(true);
    expect((await running.send('GET', `${CORE}/${path}`)).status).toBe(404);
  });
});
