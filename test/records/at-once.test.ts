import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { facetOf } from '../../src/storage/index/event-index-rows.ts';
import { noteChange, reportPostChanged } from '../../src/storage/journal/reported-changes.ts';
import { lockNames, termTreeLock } from '../../src/storage/rows/locks.ts';
import { lockPost, removePost, updatePost, writeMetas } from '../../src/storage/rows/posts.ts';
import { storedText } from '../../src/wordpress/php/serialized.ts';
import { insertAll } from '../support/insert-all.ts';
import type { Answer } from '../support/running-site.ts';
import { describeRequests, expectBody, type Json, SUITE_TIME } from '../support/site-client.ts';

/*
 * Races: what one request has read, another one may change before the first one writes.
 */

const DATES = { start_date: '2027-05-01 10:00', end_date: '2027-05-01 11:00' };
const many = <Made>(count: number, make: (place: number) => Made): Made[] => Array.from({ length: count }, (_, place) => make(place));

describeRequests('concurrent requests', (ask) => {
  it.each([
    ['events', (title: string) => ({ title, ...DATES })],
    ['venues', (venue: string) => ({ venue })],
  ] as const)('give %s unique slugs, even if one slug equals another plus a number', async (path, body) => {
    const titles = ['Twin', 'Twin 2', 'Twin 2 2', 'Twin 3'];
    // Venues with the same title and texts are the same venue; a different description makes them distinct.
    const made = await Promise.all(
      many(16, (place) => ask.create(`/${path}`, { ...body(titles[place % 4]!), description: `Number ${place}` })),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(16);
    expect(new Set(made.map(({ slug }) => slug)).size).toBe(16);
  });

  it('give categories unique slugs, even if one slug equals another plus the slug of its parent', async () => {
    const { id: parent } = await ask.create('/categories', { name: 'Above' });
    await ask.create('/categories', { name: 'Below' });
    const made = await Promise.all([
      ask.create('/categories', { name: 'Below', parent }),
      ask.create('/categories', { name: 'Below Above' }),
      ask.create('/categories', { name: 'Below Above 2' }),
    ]);
    expect(new Set(made.map(({ slug }) => slug)).size).toBe(3);
  });

  it('leave no category below itself or below a deleted one', async () => {
    for (let round = 0; round < 8; round += 1) {
      const [one, other] = [
        await ask.create('/categories', { name: `One ${round}` }),
        await ask.create('/categories', { name: `Other ${round}` }),
      ];
      await Promise.all([
        ask.patch(`/categories/${one.id}`, { parent: other.id }),
        ask.patch(`/categories/${other.id}`, { parent: one.id }),
      ]);
      const parentOf = async (id: number) => Number((await ask.db().from('term_taxonomy').where('term_id', id).first())!.parent);
      expect([await parentOf(one.id), await parentOf(other.id)]).toContain(0);
      const [gone, made] = await Promise.all([
        ask.del(`/categories/${other.id}`),
        ask.post('/categories', { name: `Child ${round}`, parent: other.id }),
      ]);
      expect(gone.status).toBe(200);
      expect([201, 400]).toContain(made.status);
    }
    const terms: Json[] = await ask.db().from('term_taxonomy').where('taxonomy', 'tribe_events_cat');
    const ids = new Set(terms.map(({ term_id: id }) => Number(id)));
    expect(terms.filter(({ parent }) => Number(parent) > 0 && !ids.has(Number(parent)))).toEqual([]);
  });

  it('list events under the ancestors that their category has after the last of two moves', async () => {
    const [first, second] = [await ask.create('/categories', { name: 'First' }), await ask.create('/categories', { name: 'Second' })];
    const moved = await ask.create('/categories', { name: 'Moved', parent: first.id });
    const { id } = await ask.create('/events', { title: 'Film', ...DATES, categories: [moved.id] });
    await reindexEvents(ask.db(), () => new Date(SUITE_TIME), { marksComplete: true });
    const moves: Promise<unknown>[] = [];
    await ask.db().transaction(async (trx) => {
      await lockNames(trx, [termTreeLock('tribe_events_cat')]);
      for (const { id: parent } of [second, first]) {
        moves.push(ask.update(`/categories/${moved.id}`, { parent }));
        // Long enough for the request to find the category and wait for the lock.
        await sleep(200);
      }
    });
    await Promise.all(moves);
    const headings = [first, second].map((category) => facetOf('category', category.id));
    const listed = await ask.db().from('fasti_entries').where('post_id', id).whereIn('facet', headings).pluck('facet');
    expect(listed).toEqual([headings[0]]);
  });

  it.each([
    ['tec/v1/events', { duration: 3600 }, ['2027-05-01 09:00:00', '2027-05-01 10:00:00']],
    [
      'wp/v2/tribe_events',
      { meta: { _EventStartDate: '2027-05-01 10:00:00', _EventEndDate: '2027-05-01 13:00:00' } },
      ['2027-05-01 10:00:00', '2027-05-01 13:00:00'],
    ],
  ] as const)('of %s change the event as the one before has left it', async (path, body, dates) => {
    const { id } = await ask.create('/events', { title: 'Film', start_date: '2027-05-01 10:00', end_date: '2027-05-01 12:00' });
    let change: Promise<Answer> | undefined;
    await ask.db().transaction(async (trx) => {
      await lockPost(trx, id);
      change = ask.send('PUT', `/wp-json/${path}/${id}`, { as: 'admin', body });
      // Long enough for the request to read the event and wait for the lock.
      await sleep(300);
      await writeMetas(trx, id, {
        _EventStartDate: [storedText('2027-05-01 09:00:00')],
        _EventStartDateUTC: [storedText('2027-05-01 07:00:00')],
      });
      noteChange(trx, { now: new Date(SUITE_TIME) });
    });
    expectBody((await change)!);
    const { start_date, end_date } = await ask.read(`/events/${id}`);
    expect([start_date, end_date]).toEqual(dates);
  });

  const removeMeta = (meta_key: string) => async (trx: Database, post_id: number) => {
    await trx.from('postmeta').where({ post_id, meta_key }).delete();
  };
  const replaceDates = async (trx: Database, post_id: number) => {
    const { occurrence_id: _, ...row } = (await trx.from('tec_occurrences').where({ post_id }).first())!;
    await trx.from('tec_occurrences').where({ post_id }).delete();
    await trx.from('tec_occurrences').insert(row);
  };
  const LATER = { start_date: '2027-05-02 10:00:00', end_date: '2027-05-02 11:00:00' };
  it.each([
    ['another venue', { venue: 23 }, { venue: { id: 23 } }, removeMeta('_EventVenueID')],
    ['another picture', { image: 11 }, { image: { id: 11 } }, removeMeta('_thumbnail_id')],
    ['another date', LATER, LATER, replaceDates],
  ] as const)('give an event %s although the row of the stored one is deleted while they wait for it', async (_, body, shown, write) => {
    const { id } = await ask.create('/events', { title: 'Film', ...DATES, venue: 22, image: 10 });
    let change: Promise<Answer> | undefined;
    await ask.db().transaction(async (trx) => {
      await write(trx, id);
      change = ask.patch(`/events/${id}`, body);
      // Long enough for the request to read the row and wait for its lock.
      await sleep(300);
      reportPostChanged(trx, id);
      noteChange(trx, { now: new Date(SUITE_TIME) });
    });
    expectBody((await change)!);
    const event = await ask.read(`/events/${id}`);
    expect(event).toMatchObject(shown);
    expect(await ask.db().from('tec_occurrences').where('post_id', id).pluck('start_date')).toEqual([event.start_date]);
  });

  describe.each([
    ['wp/v2', { tribe_events: 'events', tribe_venue: 'venues' }, { code: 'rest_already_trashed' }, { code: 'rest_post_invalid_id' }],
    [
      'tec/v1',
      { events: 'events', venues: 'venues' },
      { error: 'The entity is already in the trash.' },
      { error: 'The entity could not be read.' },
    ],
  ] as const)('of %s', (namespace, paths, inTrash, missing) => {
    const named = { events: { title: 'Film', ...DATES }, venues: { venue: 'Old cinema' } };

    it.each([
      ['DELETE', 'trashed', (trx: Database, id: number) => updatePost(trx, id, { post_status: 'trash' }), inTrash],
      ['DELETE', 'deleted', removePost, missing],
      ['PUT', 'deleted', removePost, missing],
    ] as const)('answer as these routes do if the record of a %s is %s while they wait for it', async (method, _, write, error) => {
      for (const [path, kind] of Object.entries(paths)) {
        const { id } = await ask.create(`/${kind}`, named[kind]);
        let waiting: Promise<Answer> | undefined;
        await ask.db().transaction(async (trx) => {
          await lockPost(trx, id);
          const body = method === 'PUT' ? { title: 'Other' } : null;
          waiting = ask.send(method, `/wp-json/${namespace}/${path}/${id}`, { as: 'admin', body });
          // Long enough for the request to find the record and wait for the lock.
          await sleep(300);
          await write(trx, id);
          noteChange(trx, { now: new Date(SUITE_TIME) });
        });
        expect([path, (await waiting)?.body]).toMatchObject([path, error]);
      }
    });
  });

  it('do not reuse a venue that is deleted while they wait for its lock', async () => {
    const venue = 'Old cinema';
    const { id } = await ask.create('/venues', { venue });
    let event: Promise<Json> | undefined;
    await ask.db().transaction(async (trx) => {
      await lockPost(trx, id);
      await updatePost(trx, id, { post_status: 'trash' });
      noteChange(trx, { now: new Date(SUITE_TIME) });
      event = ask.create('/events', { title: 'Film', ...DATES, venue: { venue } });
      // Long enough for the request to find the venue and wait for the lock.
      await sleep(300);
    });
    const [link] = await ask.metaValues((await event).id, '_EventVenueID');
    expect(Number(link)).not.toBe(id);
  });
});

describeRequests('gallery without ids', (ask) => {
  it('shows the images of its event even if there are many unattached images', async () => {
    const image = (ID: number, post_parent: number) => ({
      ID, post_parent, post_type: 'attachment', post_status: 'inherit', post_mime_type: 'image/png', post_title: `Image ${ID}`,
      post_name: `image-${ID}`, guid: `http://127.0.0.1:8081/wp-content/uploads/${ID}.png`,
    }); // biome-ignore format: one row
    await ask.writeRows(async (db) => {
      await insertAll(db, 'posts', [...many(600, (place) => image(20_000 + place, 0)), image(30_000, 38)], 100);
      await db.from('posts').where('ID', 38).update({ post_content: '[gallery]' });
    });
    const { content } = expectBody(await ask.send('GET', '/wp-json/wp/v2/tribe_events/38'));
    expect(content.rendered).toContain('30000.png');
  });
});
