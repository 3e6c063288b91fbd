import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertAttachment } from '../../src/storage/rows/media.ts';
import { insertPost } from '../../src/storage/rows/posts.ts';
import { describeDatabases } from '../support/databases.ts';
import { servedRoutes } from '../support/outside-texts.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import type { Json } from '../support/site-client.ts';

/** A record of each kind in the sample site. */
const IDS: readonly (readonly [RegExp, string])[] = [
  [/media/, '10'],
  [/venue/, '12'],
  [/organizer/, '24'],
  [/categories|_cat\b/, '4'],
  [/tags/, '12'],
  [/events/, '38'],
];
/**
 * Routes that are left out: by slug, to dates of a record, and to webhooks and people, whose password is another one. A
 * batch is a way of its own below.
 */
const APART = /\/by-slug\/|\/dates$|\/webhooks\b|\/users\b|^\/batch\b/;
/** Every route that creates a record or changes one by its id. `keeps`: it stores the password that it receives. */
const WRITES = [...servedRoutes()].flatMap(([namespace, routes]) =>
  routes.flatMap(({ pattern, endpoints }) => {
    const id = IDS.find(([kind]) => kind.test(pattern))?.[1] ?? 'unknown';
    const path = `/${namespace}${pattern.replace('(?P<id>\\d+)', id)}`;
    if (APART.test(path)) return [];
    const keeps = /^\/wp\/v2\/tribe_(events|venue|organizer)(\/\d+)?$/.test(path);
    const methods = endpoints.flatMap((endpoint) => endpoint.methods).filter((method) => /^(POST|PUT|PATCH)$/.test(method));
    return methods.map((method) => ({ method, path, keeps }));
  }),
);
const DATE = '2026-11-01 10:00:00';
const DATES = { start_date: '2031-05-01 20:00', end_date: '2031-05-01 22:00' };

describeDatabases('length limits', (open) => {
  let db: Database;
  let running: RunningSite;

  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db);
  });
  afterAll(() => running.close());

  const send = (path: string, body: object, method = 'POST') =>
    running.send(method, `/wp-json/calendar/events/v1/${path}`, { as: 'admin', body });

  it.each([
    ['events', 'title', { ...DATES, title: 'é'.repeat(32_767) }],
    ['events', 'excerpt', { ...DATES, title: 'x', excerpt: 'e'.repeat(65_535) }],
    ['venues', 'venue', { venue: 'v'.repeat(65_535) }],
    ['categories', 'name', { name: 'é'.repeat(200) }],
    ['tags', 'name', { name: `${'t'.repeat(195)}&amp;` }],
  ])('store a text in %s that fills %s', async (path, field, body) => {
    const { status, body: record } = await send(path, body);
    const read = (await send(`${path}/${record.id}`, {}, 'GET')).body[field] as string;
    const sent = (body as unknown as Record<string, string>)[field]!;
    expect({ status, length: read.replace(/<\/?p>|\s/g, '').length }).toEqual({ status: 201, length: sent.length });
  });

  it.each([
    ['POST', 'events', 'title', { ...DATES, title: 'é'.repeat(32_768) }],
    ['POST', 'events', 'excerpt', { ...DATES, title: 'x', excerpt: 'e'.repeat(65_536) }],
    ['PATCH', 'events/33', 'title', { title: 't'.repeat(65_536) }],
    ['POST', 'organizers', 'organizer', { organizer: 'o'.repeat(65_536) }],
    ['POST', 'categories', 'name', { name: 'é'.repeat(201) }],
    ['PATCH', 'categories/2', 'name', { name: 'n'.repeat(201) }],
    ['POST', 'tags', 'name', { name: `${'t'.repeat(196)}&amp;` }],
    ['POST', 'events', 'tags', { ...DATES, title: 'x', tags: ['w'.repeat(201)] }],
    ['POST', 'events', 'categories', { ...DATES, title: 'x', categories: [{ name: 'w'.repeat(201) }] }],
  ])('refuse in %s %s a text that is longer than %s can hold', async (method, path, field, body) => {
    const { status, body: refusal } = await send(path, body, method);
    expect([status, refusal.code, refusal.data.params]).toEqual([400, 'rest_invalid_param', { [field]: 'The text is too long.' }]);
  });

  it.each([
    ['/calendar/events/v1/events', 'title', DATES],
    ['/calendar/events/v1/events', 'excerpt', { ...DATES, title: 'x' }],
    ['/wp/v2/tribe_venue', 'title', {}],
    ['/wp/v2/tribe_venue', 'excerpt', { title: 'x' }],
    ['/wp/v2/tribe_organizer', 'excerpt', { title: 'x' }],
    ['/tec/v1/venues', 'excerpt', { title: 'x' }],
    ['/wp/v2/media/MEDIA', 'title', {}],
    ['/wp/v2/media/MEDIA', 'caption', {}],
  ])('refuse in %s a text that is too long for %s once it is cleaned', async (path, field, body) => {
    const media = { post_author: 3, post_type: 'attachment', post_status: 'inherit', post_mime_type: 'image/png' };
    const write = async (text: string) => {
      const place = path.includes('MEDIA') ? path.replace('MEDIA', String(await insertPost(db, media))) : path;
      const { status, body: answer } = await running.send('POST', `/wp-json${place}`, {
        as: 'auth',
        headers: { 'X-TEC-EEA': '1' },
        body: { ...body, [field]: text },
      });
      return status < 400 ? 'stored' : [status, answer.code, Object.keys(answer.data.params)];
    };
    expect(await write('&'.repeat(13_107))).toBe('stored');
    expect(await write('&'.repeat(13_108))).toEqual([400, 'rest_invalid_param', [field]]);
  });

  it('leave out the GUID of an image whose address is longer than its column', async () => {
    const name = `${'a'.repeat(200)}.png`;
    const guid = `https://${'long.'.repeat(20)}example.org/${name}`;
    const id = await insertAttachment(db, { title: 'x', mime: 'image/png', guid, metas: {} }, { author: 1, date: DATE, dateUtc: DATE });
    expect((await db.from('posts').where('ID', id).first())?.guid).toBe('');
  });

  const ways: readonly (readonly [string, (method: string, path: string, body: object) => Promise<{ status: number; body: Json }>])[] = [
    ['', (method, path, body) => running.send(method, `/wp-json${path}`, { as: 'admin', headers: { 'X-TEC-EEA': '1' }, body })],
    [
      ' within a batch',
      async (method, path, body) => {
        const requests = [{ method, path, body, headers: { 'X-TEC-EEA': '1' } }];
        return (await running.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } })).body.responses[0];
      },
    ],
  ];
  const passwords = async (): Promise<string[]> => (await db.from('posts').pluck('post_password')).filter((one) => one !== '');

  describe.each(ways)('of the password of a record%s', (_, write) => {
    const named = (password: string) => ({ ...DATES, title: 'x', venue: 'x', organizer: 'x', name: `${Math.random()}`, password });

    it.each(WRITES.map((one) => [`${one.method} ${one.path}`, one] as const))(
      'are enforced by %s: the password is stored whole or refused',
      async (_name, one) => {
        const before = await passwords();
        for (const character of ['a', '🎷']) {
          const { status, body } = await write(one.method, one.path, named(character.repeat(256)));
          if (one.keeps) expect([status, body.data.params]).toEqual([400, { password: 'The text is too long.' }]);
          else expect(status).toBeLessThan(500);
          expect(await passwords()).toEqual(before);
        }
        const longest = '🎷'.repeat(255);
        const { status, body } = await write(one.method, one.path, named(longest));
        if (one.keeps) expect([status, body.password]).toEqual([one.path.match(/\d$/) ? 200 : 201, longest]);
        else expect([status < 500, await passwords()]).toEqual([true, before]);
      },
    );
  });

  it('are tested for the passwords of all kinds in all APIs', () => {
    expect(WRITES.filter(({ keeps }) => keeps)).toHaveLength(12);
    expect(new Set(WRITES.map(({ path }) => path.split('/')[1]))).toEqual(new Set(['calendar', 'wp', 'tec']));
    expect(WRITES.filter(({ path }) => /unknown|\(\?P</.test(path))).toEqual([]);
  });

  const LONG = 'x'.repeat(1601);
  const totalOf = async (path: string) => {
    const { status, headers } = await running.send('GET', path, { headers: { 'X-TEC-EEA': '1' } });
    return { status, total: headers['x-wp-total'] };
  };

  it.each([
    '/wp-json/calendar/events/v1/events?start_date=2000-01-01',
    '/wp-json/wp/v2/tribe_events?',
    '/wp-json/wp/v2/tribe_venue?',
    '/wp-json/wp/v2/media?',
    '/wp-json/tec/v1/events?',
    '/wp-json/tec/v1/venues?',
  ])('ignore a search that is too long, as WordPress does, in %s', async (path) => {
    const all = await totalOf(path);
    expect(await totalOf(`${path}&search=${LONG}`)).toEqual(all);
    expect((await totalOf(`${path}&search=${LONG.slice(1)}`)).total).toBe('0');
    expect((await running.send('GET', `${path}&search=${LONG}`, { headers: { 'X-TEC-EEA': '1' } })).text).not.toContain('xxxx');
  });

  it.each(['/wp-json/calendar/events/v1/venues', '/wp-json/calendar/events/v1/tags', '/wp-json/wp/v2/tags'])(
    'refuse a search that is too long in %s',
    async (path) => {
      const { status, body } = await running.send('GET', `${path}?search=${LONG}`);
      expect([status, body.data.params]).toEqual([400, { search: 'The text is too long.' }]);
    },
  );

  it('count bytes of a search, not characters', async () => {
    const path = '/wp-json/calendar/events/v1/venues?search=';
    const statuses = await Promise.all(
      ['é'.repeat(800), 'é'.repeat(801)].map(async (text) => (await running.send('GET', path + encodeURIComponent(text))).status),
    );
    expect(statuses).toEqual([200, 400]);
  });

  it('refuse lists with too many members', async () => {
    const { status, body } = await send('events', { ...DATES, title: 'x', categories: Array.from({ length: 1001 }, (_, at) => `c${at}`) });
    expect([status, body.data.params]).toEqual([400, { categories: 'There are too many values.' }]);
  });

  it('omit links to other pages that are too long for proxies', async () => {
    const ids = Array.from({ length: 1000 }, (_, at) => at + 1);
    const { status, headers } = await running.send('GET', `/wp-json/wp/v2/tribe_events?per_page=1&include=${ids.join()}`);
    expect(status).toBe(200);
    expect(Number(headers['x-wp-totalpages'])).toBeGreaterThan(1);
    expect(String(headers.link).length).toBeLessThan(1600);
    expect(String(headers.link)).not.toContain('rel="next"');
  });
});
