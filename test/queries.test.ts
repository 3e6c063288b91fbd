import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../src/storage/engine/database.ts';
import { reindexEvents } from '../src/storage/index/event-index-rebuild.ts';
import { countQueries } from './support/count-queries.ts';
import { describeDatabases } from './support/databases.ts';
import { insertAll } from './support/insert-all.ts';
import { loadRecurringSite } from './support/recurring-site.ts';
import { type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';
import { expectBody, idsOf, ROOT, SUITE_TIME, type UserName } from './support/site-client.ts';

/*
 * The cost of a request in queries, including BEGIN and COMMIT. A list costs the same for one row as for fifty. The
 * numbers are fixed, so that an additional query is a deliberate change. The cache is off, and nothing is followed:
 * until it has taken over changes, a process that follows WordPress asks with each write whether another one has.
 */

const MANY = 55;
const WIDE = 'start_date=2035-01-01&end_date=2036-01-01';

/** Adds `MANY` events, each with its own venue, organizer, image and terms. */
async function addRecords(db: Database): Promise<void> {
  const [event, venue, organizer, image] = await Promise.all(
    [39, 12, 24, 10].map(async (id) => ({
      row: (await db.from('posts').where('ID', id).first())!,
      metas: await db.from('postmeta').where('post_id', id),
    })),
  );
  const posts: object[] = [];
  const metas: object[] = [];
  const terms: object[] = [];
  const taxonomies: object[] = [];
  const relationships: object[] = [];
  const occurrences: object[] = [];
  const add = (ID: number, { row, metas: own }: NonNullable<typeof event>, links: Record<string, number>) => {
    posts.push({ ...row, ID, post_title: `Record ${ID}`, post_name: `record-${ID}`, guid: `${row.guid}${ID}` });
    for (const { meta_key, meta_value } of own) if (!(meta_key! in links)) metas.push({ post_id: ID, meta_key, meta_value });
    for (const [meta_key, id] of Object.entries(links)) metas.push({ post_id: ID, meta_key, meta_value: String(id) });
  };
  for (let index = 0; index < MANY; index++) {
    const ids = [1000, 2000, 3000, 4000, 4500, 5000, 6000].map((first) => first + index);
    const [id, venueId, organizerId, imageId, otherImageId, category, tag] = ids as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    add(imageId, image!, {});
    add(otherImageId, image!, {});
    add(venueId, venue!, { _thumbnail_id: otherImageId });
    add(organizerId, organizer!, { _thumbnail_id: otherImageId });
    add(id, event!, { _EventVenueID: venueId, _EventOrganizerID: organizerId, _thumbnail_id: imageId });
    const dates = {
      start_date: '2035-05-01 10:00:00',
      start_date_utc: '2035-05-01 08:00:00',
      end_date: '2035-05-01 12:00:00',
      end_date_utc: '2035-05-01 10:00:00',
    };
    occurrences.push({
      occurrence_id: id,
      event_id: id,
      post_id: id,
      ...dates,
      duration: 7200,
      hash: `test-${id}`,
      updated_at: '2026-11-20 12:00:00',
    });
    for (const [term, taxonomy] of [
      [category, 'tribe_events_cat'],
      [tag, 'post_tag'],
    ] as const) {
      terms.push({ term_id: term, name: `Term ${term}`, slug: `term-${term}`, term_group: 0 });
      taxonomies.push({
        term_taxonomy_id: term,
        term_id: term,
        taxonomy,
        description: '',
        parent: taxonomy === 'post_tag' ? 0 : 2,
        count: 1,
      });
      relationships.push({ object_id: id, term_taxonomy_id: term, term_order: 0 });
    }
  }
  for (const [table, rows] of Object.entries({
    posts,
    postmeta: metas,
    terms,
    term_taxonomy: taxonomies,
    term_relationships: relationships,
    tec_occurrences: occurrences,
  })) {
    await insertAll(db, table as 'posts', rows, 40);
  }
}

describeDatabases('the cost of a request in queries', (open, engine) => {
  /** On databases with several writers, each name that must be unique is locked with a query of its own. */
  const lock = engine === 'MySQL' ? 1 : 0;

  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await loadSite(await open());
    await addRecords(db);
    running = await serveDatabase(db, { env: { CACHE: 'off', FOLLOW_WORDPRESS: 'off' }, clock: () => new Date(SUITE_TIME) });
  });
  afterAll(() => running.close());

  async function costOf(
    method: string,
    path: string,
    {
      as,
      body = null,
      status = 200,
      headers = {},
    }: { as?: UserName; body?: object | null; status?: number; headers?: Record<string, string> } = {},
  ) {
    const { result, queries } = await countQueries(running.site, () =>
      running.send(method, path.startsWith('/wp-json/') ? path : ROOT + path, { body, headers, ...(as ? { as } : {}) }),
    );
    return { body: expectBody(result, status), queries };
  }
  // The first use of an application password on a day is stored.
  beforeAll(() => costOf('GET', '/events/38', { as: 'admin' }));

  it.each([
    [`/events?${WIDE}`, undefined, 9],
    [`/events?${WIDE}`, 'admin', 10],
    [`/events?${WIDE}&search=record&featured=false&categories=2`, undefined, 11],
    ['/venues?search=record', undefined, 6],
    ['/venues?search=record&has_events=1', 'admin', 8],
    ['/organizers?search=record', undefined, 6],
    ['/organizers?search=record&only_with_upcoming=1', 'admin', 8],
    ['/categories?search=term', undefined, 3],
    ['/tags?search=term', undefined, 2],
  ] as const)('is the same for a list of one row and of fifty: %s for %s', async (path, as, queries) => {
    for (const rows of [1, 2, 50]) {
      const { body, ...cost } = await costOf('GET', `${path}&per_page=${rows}`, as ? { as } : {});
      expect({ rows: idsOf(body).length, ...cost }).toEqual({ rows, queries });
    }
  });

  it('counts the tags in the query of a page, but apart from a deep page', async () => {
    const page = async (offset: number) => {
      const { body, queries } = await costOf('GET', `/wp-json/wp/v2/tags?search=term&per_page=1&offset=${offset}`);
      return { rows: body.length, queries };
    };
    expect([await page(0), await page(1000), await page(1001)]).toEqual([
      { rows: 1, queries: 2 },
      { rows: 0, queries: 3 },
      { rows: 0, queries: 3 },
    ]);
  });

  it.each([
    ['/events/1000', undefined, 8],
    ['/events/1000', 'admin', 10],
    ['/events/by-slug/record-1000', undefined, 9],
    ['/venues/2000', undefined, 6],
    ['/organizers/3000', undefined, 6],
    ['/categories/5000', undefined, 4],
    ['/tags/6000', undefined, 3],
    ['/doc', undefined, 1],
    ['', undefined, 1],
    ['/wp-json/wp/v2/tribe_events/1000', 'admin', 12],
    ['/wp-json/wp/v2/tribe_events_cat/5000', 'admin', 5],
    ['/wp-json/wp/v2/media/4000', 'admin', 5],
    ['/wp-json/wp/v2/users/1', undefined, 4],
  ] as const)('of GET %s for %s is %d', async (path, as, queries) => {
    expect((await costOf('GET', path, as ? { as } : {})).queries).toBe(queries);
  });
  it('is the same for an event with and without linked records', async () => {
    const bare = (await costOf('GET', '/events/1001')).queries;
    await db
      .from('postmeta')
      .insert([2002, 2003, 2004].map((id) => ({ post_id: 1001, meta_key: '_EventVenueID', meta_value: String(id) })));
    await db.from('term_relationships').insert([5003, 5004, 6004].map((id) => ({ object_id: 1001, term_taxonomy_id: id, term_order: 0 })));
    const full = await costOf('GET', '/events/1001');
    expect([full.body.venue.length, full.body.categories.length, full.queries]).toEqual([4, 3, bare]);
  });

  const DATES = { start_date: '2027-01-01', end_date: '2027-01-02' };
  const whole = (title: string, links: number) => {
    const ids = (first: number) => Array.from({ length: links }, (_, index) => first + index);
    return {
      title,
      ...DATES,
      venue: ids(2000),
      organizer: ids(3000),
      categories: ids(5000),
      tags: ids(6000),
      image: 10,
      cost: '5',
      website: 'https://example.org',
      featured: true,
    };
  };
  it.each([
    ['/events', { title: 'New', ...DATES }, 16, 1],
    ['/events', whole('With two of each', 2), 22, 1],
    ['/events', whole('With ten of each', 10), 22, 1],
    ['/events', { title: 'With a new venue', ...DATES, venue: { venue: 'Hall', external_id: 'x' } }, 22, 1],
    ['/events', { title: 'With the same venue', ...DATES, venue: { venue: 'Hall', external_id: 'x' } }, 21, 1],
    ['/events', { title: 'With the same, but renamed', ...DATES, venue: { venue: 'Barn', external_id: 'x' } }, 30, 1],
    ['/venues', { venue: 'New' }, 14, 1],
    ['/organizers', { organizer: 'New' }, 14, 1],
    ['/categories', { name: 'New' }, 13, 1],
    ['/tags', { name: 'New' }, 12, 1],
  ] as const)('of POST %s with %j is %d, and %d locks', async (path, body, queries, locks) => {
    expect((await costOf('POST', path, { as: 'admin', body, status: 201 })).queries).toBe(queries + lock * locks);
  });

  it.each([
    ['PATCH', '/events/1005', { title: 'Other' }, 26, 0],
    ['PATCH', '/events/1005', {}, 15, 0],
    ['PATCH', '/venues/2005', { city: 'Other' }, 23, 0],
    ['PATCH', '/organizers/3005', { phone: '1' }, 23, 0],
    ['PATCH', '/tags/6005', { description: 'Other' }, 11, 1],
    ['DELETE', '/events/1006', null, 32, 1],
    ['DELETE', '/tags/6006', null, 19, 0],
  ] as const)('of %s %s with %j is %d, and %d locks', async (method, path, body, queries, locks) => {
    expect((await costOf(method, path, { as: 'admin', body })).queries).toBe(queries + lock * locks);
  });

  it.each([
    ['PATCH', '/events/1010', { title: 'Other' }, { 'If-Match': '*' }, 29, 0],
    ['PATCH', '/venues/2010', { city: 'Other' }, { 'If-Match': '*' }, 25, 0],
    ['PATCH', '/tags/6010', { description: 'Other' }, { 'If-Match': '*' }, 13, 2],
    ['PATCH', '/events/1010', { title: 'Third' }, { 'Idempotency-Key': 'k' }, 31, 0],
    ['PATCH', '/events/1010', { title: 'Third' }, { 'Idempotency-Key': 'k' }, 4, 0],
  ] as const)('of %s %s with %j and %j is %d, and %d locks', async (method, path, body, headers, queries, locks) => {
    expect((await costOf(method, path, { as: 'admin', body, headers })).queries).toBe(queries + lock * locks);
  });
});

describeDatabases('the cost of a list from the list index in queries', (open) => {
  let running: RunningSite;
  beforeAll(async () => {
    const db = await loadSite(await open());
    await addRecords(db);
    running = await serveDatabase(db, { env: { CACHE: 'off', SHARED_WITH_WORDPRESS: 'off' }, clock: () => new Date(SUITE_TIME) });
    await reindexEvents(running.site.db, () => new Date(SUITE_TIME), { marksComplete: true });
    // The first read of the options finds out whether the database belongs to a network.
    await running.site.settings();
  });
  afterAll(() => running.close());

  it('includes no separate query for the total and for the ids of venues and organizers', async () => {
    for (const rows of [1, 2, 50]) {
      const { result, queries } = await countQueries(running.site, () => running.send('GET', `${ROOT}/events?${WIDE}&per_page=${rows}`));
      const body = expectBody(result, 200);
      expect({ rows: idsOf(body).length, total: body.total, queries }).toEqual({ rows, total: MANY, queries: 7 });
    }
  });
});

describeDatabases('the cost of recurring events in queries', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await loadRecurringSite(await open());
  });

  const RECURRING = 'search=choir&start_date=2031-01-01&end_date=2031-12-31';
  const MIXED = 'start_date=2031-01-01&end_date=2034-12-31';
  describe.each([
    ['from the index', 'off', { list: 6, included: 7, mixed: 8 }],
    ['beside WordPress', 'on', { list: 7, included: 7, mixed: 11 }],
  ])('%s', (_, shared, costs) => {
    let running: RunningSite;
    beforeAll(async () => {
      running = await serveDatabase(db, {
        env: { CACHE: 'off', SHARED_WITH_WORDPRESS: shared, MAX_PER_PAGE: '100' },
        clock: () => new Date(SUITE_TIME),
      });
      if (shared === 'off') await reindexEvents(running.site.db, () => new Date(SUITE_TIME), { marksComplete: true });
      // The first request reads the schema.
      await running.send('GET', `${ROOT}/events/501`);
    });
    afterAll(() => running.close());

    const costOf = async (path: string, reads = 1) => {
      const work = () => running.send('GET', path.startsWith('/') ? path : `${ROOT}/${path}`);
      const { result, queries } = await countQueries(running.site, work, reads);
      expect([path, result.status]).toEqual([path, 200]);
      return { rows: result.body?.events?.length, queries };
    };

    it('is the same for a list of one date and of thirteen, and for a page with all kinds of events', async () => {
      for (const rows of [1, 2, 13]) expect(await costOf(`events?${RECURRING}&per_page=${rows}`)).toEqual({ rows, queries: costs.list });
      expect((await costOf('events?include=10000303,504,10000362&per_page=50')).queries).toBe(costs.included);
      expect((await costOf(`events?${MIXED}&per_page=100`)).queries).toBe(costs.mixed);
    });

    it.each([
      ['events/502', 5],
      ['events/10000308', 5],
      ['events/502?recurrence=true', 11],
      ['events/10000308?recurrence=true', 11],
      ['/wp-json/wp/v2/tribe_events/10000308', 11],
    ])('of GET %s is %d', async (path, queries) => {
      expect((await costOf(path)).queries).toBe(queries);
    });

    // The page is looked up before its feed.
    it.each([
      ['/event/choir-tuesdays-and-thursdays/?ical=1', 10],
      ['/event/choir-tuesdays-and-thursdays/2031-01-21/?ical=1', 11],
    ])('of the feed GET %s is %d', async (path, queries) => {
      expect((await costOf(path, 2)).queries).toBe(queries);
    });
  });
});
