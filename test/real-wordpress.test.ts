import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../src/storage/engine/database.ts';
import { type CacheObserver, observeCache } from './support/cache-observer.ts';
import { describeMysql, runScript, urlOf } from './support/databases.ts';
import { waitUntilIdle } from './support/idle.ts';
import { type Call, hasWordPress, type RealWordPress, startWordPress } from './support/real-wordpress.ts';
import { type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';
import { SUITE_TIME } from './support/site-client.ts';

/*
 * Next to a real WordPress: its writes show at once if our plugin is active and soon if it is not, and its own routes
 * list the same records as ours. Skipped if WordPress is not installed. `REAL_WRITES=1000` makes that many random
 * writes.
 */

const V1 = '/wp-json/calendar/events/v1';
const WIDE = `${V1}/events?start_date=2019-01-01&end_date=2040-12-31&per_page=50`;
/** Paths of answers that contain what the writes below change. */
const PATHS = [
  WIDE, `${WIDE}&categories=2,5`, `${WIDE}&tags=11`, `${V1}/events/44`, `${V1}/venues?per_page=50`, `${V1}/organizers?per_page=50`,
  `${V1}/categories?per_page=50`, `${V1}/tags?per_page=50`, '/wp-json/wp/v2/users/2', '/wp-json/wp/v2/media/10',
]; // biome-ignore format: a list

const event = (id: number, changes: object): Call => ['wp_update_post', { ID: id, ...changes }];

/** Actions of users in WordPress, each in a request of its own. */
const OPERATIONS: Readonly<Record<string, readonly Call[]>> = {
  'a title': [event(44, { post_title: 'By WordPress' })],
  'a title as it was': [event(44, { post_title: 'By WordPress' })],
  'a meta of an event': [['update_post_meta', 44, '_EventCost', '7']],
  'a new meta of an event': [['add_post_meta', 44, '_EventPhone', '1']],
  'a meta that goes': [['delete_post_meta', 44, '_EventURL']],
  'a place that events show': [['update_post_meta', 12, '_VenueCity', 'Lucca']],
  'a new venue': [['wp_insert_post', { post_type: 'tribe_venue', post_title: 'New hall', post_status: 'publish' }]],
  'categories of an event': [['wp_set_object_terms', 44, [5], 'tribe_events_cat']],
  'a tag by its name': [['wp_set_object_terms', 44, ['free', 'brand new'], 'post_tag']],
  'the name of a category': [['wp_update_term', 5, 'tribe_events_cat', { name: 'Sports' }]],
  'a new category': [['wp_insert_term', 'Fairs', 'tribe_events_cat', { parent: 2 }]],
  'a tag that goes': [['wp_delete_term', 11, 'post_tag']],
  'a draft': [event(40, { post_status: 'draft' })],
  'its publication': [event(40, { post_status: 'publish' })],
  'the trash': [['wp_trash_post', 39]],
  'out of the trash': [
    ['wp_untrash_post', 39],
    ['wp_publish_post', 39],
  ],
  'an event for good': [['wp_delete_post', 41, true]],
  'an event that becomes a post': [['set_post_type', 45, 'post']],
  'the name of an author': [['wp_update_user', { ID: 2, display_name: 'Edith' }]],
  'a text of an image': [['update_post_meta', 10, '_wp_attachment_image_alt', 'A dot']],
  'an option': [['update_option', 'timezone_string', 'Europe/London']],
  'many at once': [37, 38, 42, 43].map((id) => event(id, { post_title: `Bulk ${id}` })),
};

const described: typeof describeMysql = hasWordPress
  ? describeMysql
  : (name) => describe.skip(name, () => it('needs an installed WordPress', () => undefined));

described('Fasti beside a real WordPress', (open) => {
  let db: Database;
  let wordpress: RealWordPress;
  /** One process with the cache, and one that reads WordPress's tables for every answer. */
  let remembering: RunningSite;
  let forgetful: RunningSite;
  let memory: CacheObserver;

  const begin = async (withPlugin: boolean) => {
    db = await loadSite(await open());
    wordpress = await startWordPress(urlOf(db), { withPlugin });
    const env = { SHARED_WITH_WORDPRESS: 'on', CACHE_FRESHNESS_MS: '100' };
    remembering = await serveDatabase(db, { env });
    remembering.site.startFollowing();
    forgetful = await serveDatabase(db, { env: { ...env, CACHE: 'off', FOLLOW_WORDPRESS: 'off' } });
    memory = observeCache(remembering);
  };
  const end = async () => {
    await wordpress.stop();
    await Promise.all([remembering.close(), forgetful.close()]);
  };
  const truth = () => Promise.all(PATHS.map(async (path) => (await forgetful.send('GET', path)).body));
  /** Counts the looks until all answers equal those read from the tables. */
  const looksUntilRight = async (): Promise<number> => {
    const right = await truth();
    const looks = await Promise.all(
      PATHS.map((path, at) => memory.waitFor(path, (body) => JSON.stringify(body) === JSON.stringify(right[at]))),
    );
    return Math.max(...looks);
  };

  describe('with our plugin', () => {
    beforeAll(() => begin(true));
    afterAll(end);

    it.each(Object.entries(OPERATIONS))('%s shows at once', async (_, calls) => {
      await memory.warm(...PATHS);
      const returned = await wordpress.run(...calls);
      expect(returned.filter((value) => value !== null && typeof value === 'object' && 'error' in value)).toEqual([]);
      // With concurrent requests, the looks of each of them are counted.
      expect(await looksUntilRight()).toBeLessThanOrEqual(3 * PATHS.length);
    });

    it('ignores the edit lock of an open editor, and records of other types', async () => {
      await waitUntilIdle(db);
      await memory.warm(...PATHS);
      await wordpress.run(
        ['update_post_meta', 44, '_edit_lock', `${Date.now()}:1`],
        ['wp_insert_post', { post_type: 'nav_menu_item', post_title: 'Elsewhere' }],
      );
      expect(await db.from('fasti_journal_inbox').select('id')).toEqual([]);
    });

    it('does not stop WordPress from saving when our tables are gone', async () => {
      await runScript(db, 'RENAME TABLE wp_fasti_journal_inbox TO gone');
      try {
        expect(await wordpress.run(event(44, { post_title: 'Without us' }), ['get_post_field', 'post_title', 44])).toEqual([
          44,
          'Without us',
        ]);
      } finally {
        await runScript(db, 'RENAME TABLE gone TO wp_fasti_journal_inbox');
      }
    });
  });

  describe('without our plugin', () => {
    beforeAll(() => begin(false));
    afterAll(end);

    const names = Object.keys(OPERATIONS);
    const writes = Number(process.env.REAL_WRITES ?? names.length);
    const patienceMs = Math.max(120_000, writes * 20_000);

    it(
      'shows the changes of random writes of WordPress',
      async () => {
        for (let write = 0; write < writes; write += 1) {
          if (write % 5 === 0) await memory.warm(...PATHS);
          const random = Math.random();
          await wordpress.run(event(38, { post_title: `Random ${random}` }), ...OPERATIONS[names[Math.floor(random * names.length)]!]!);
          await looksUntilRight();
        }
      },
      patienceMs,
    );
  });
});

described('lists of wp/v2 beside a real WordPress', (open) => {
  let wordpress: RealWordPress;
  let site: RunningSite;
  beforeAll(async () => {
    const db = await loadSite(await open());
    wordpress = await startWordPress(urlOf(db), { now: SUITE_TIME.slice(0, 19).replace('T', ' ') });
    site = await serveDatabase(db, { clock: () => new Date(SUITE_TIME) });
  });
  afterAll(async () => {
    await wordpress.stop();
    await site.close();
  });

  const PEOPLE = { nobody: undefined, admin: 1, auth: 3, contrib: 4 } as const;

  it.each(Object.keys(PEOPLE) as (keyof typeof PEOPLE)[])('contain the same records for %s as those of WordPress', async (who) => {
    const different: string[] = [];
    for (const path of who === 'nobody' ? REQUESTS : REQUESTS.filter((path) => BY_RIGHTS.test(path))) {
      // We leave records out of totals that the user may not read (decision D13).
      if (/status=(draft|any)/.test(path) && who !== 'nobody' && who !== 'admin') continue;
      const theirs = await wordpress.get(path, PEOPLE[who]);
      const { status, headers, body } = await site.send('GET', `/wp-json${path}`, who === 'nobody' ? {} : { as: who });
      const there = { status: theirs.status, total: theirs.headers.get('x-wp-total'), ...shown(await theirs.json()) };
      const here = { status, total: headers['x-wp-total'] ?? null, ...shown(body) };
      if (JSON.stringify(here) !== JSON.stringify(there))
        different.push(`${path}: ${JSON.stringify(here)}, there ${JSON.stringify(there)}`);
    }
    expect(different).toEqual([]);
  });
});

/** Requests whose answers depend on the user. */
const BY_RIGHTS = /status=|context=|\/users|per_page=3$/;

/** The compared part of a body: the code of an error, or the ids of the records in their order. */
const shown = (body: unknown): object =>
  Array.isArray(body) ? { ids: body.map(({ id }) => id) } : { code: (body as { code?: unknown }).code, id: (body as { id?: unknown }).id };

/** Values for the parameters of lists. Only orders in which no two records are equal. */
const POSTS = {
  page: [1, 2, 0], per_page: [1, 3, 100, 101], search: ['concert', '"new year"', 'con -year', '%20', ''], exclude: ['44', '44,39'],
  include: ['44', '44,39,81', '999', 'x'], offset: [2, 99], order: ['asc', 'x'], orderby: ['date', 'id', 'slug', 'title', 'include', 'relevance', 'x'],
  slug: ['new-year-concert', 'x', ''], author: [1, '1,3'], author_exclude: [3], after: ['2022-01-15T00:00:00', 'x'], before: ['2022-01-15T00:00:00'],
  status: ['publish', 'draft', 'any', 'x'], context: ['embed', 'x'],
} as const; // biome-ignore format: pairs
const TERMS = {
  page: [2, 0], per_page: [1, 3, 100, 101], search: ['e', 'mus', '%', '%20'], exclude: ['2', '2,11'], include: ['12,11', '3,2', '999'],
  orderby: ['id', 'name', 'slug', 'include', 'x'], order: ['desc'], hide_empty: ['true', 'x'], post: [0, 38, 999], slug: ['free', 'music,sport'],
  context: ['edit', 'x'],
} as const; // biome-ignore format: pairs
const USERS = {
  search: ['ed', '*ed*', '*'], include: ['3,1'], exclude: [1], slug: ['ed,admin'], orderby: ['id', 'name', 'slug', 'include'], order: ['desc'],
  roles: ['editor'], per_page: [1], context: ['edit'],
} as const; // biome-ignore format: pairs
const LISTS: readonly (readonly [string, Readonly<Record<string, readonly (string | number)[]>>])[] = [
  ['tribe_events', { ...POSTS, tribe_events_cat: ['2', '3'], tags: [11], tribe_events_cat_exclude: [2] }],
  ['tribe_venue', POSTS],
  ['tribe_organizer', POSTS],
  ['tribe_events_cat', { ...TERMS, parent: [0, 2] }],
  ['tags', { ...TERMS, offset: [1, 99] }],
  ['users', USERS],
];
const ORDERED = [
  'tags?orderby=include&include=13,11,12&order=desc', 'tags?orderby=include_slugs&slug=outdoor,free', 'users?orderby=include&include=3,1&order=desc',
  'users?orderby=include_slugs&slug=ed,admin', 'tribe_events?orderby=include&include=44,38,39', 'tribe_events?context=edit&status=draft',
]; // biome-ignore format: a list
const REQUESTS = [
  ...LISTS.flatMap(([base, params]) => [
    base,
    ...Object.entries(params).flatMap(([name, values]) => values.map((value) => `${base}?${name}=${encodeURIComponent(value)}`)),
  ]),
  ...ORDERED,
].map((path) => `/wp/v2/${path}`);
