import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Condition, InLanguage } from '../../src/kinds/condition.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { MAX_LINKED_RECORDS, resolveLinkedConditions } from '../../src/storage/lists/linked-records.ts';
import type { PostQuery } from '../../src/storage/lists/post-query.ts';
import { withMembers } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { insertAll } from '../support/insert-all.ts';
import { loadLanguages, resetLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';

const ROOT = '/wp-json/calendar/events/v1';
const SPAN = 'start_date=2031-01-01&end_date=2032-01-01&per_page=50';
/** A venue and its translation. The English events 110, 117 and 121, and the Italian event 118, link to the first. */
const [TOWN_HALL, MUNICIPIO] = [101, 102];
const OF_ITS_EVENTS = [111, 118];
const NEAR_SIENA = 'geoloc_lat=43.32&geoloc_lng=11.33&geoloc_radius=20';

describe.each(['polylang', 'wpml'] as const)('a filter by place in a language, stored by %s', (form) => {
  describeDatabases('a site in two languages', (open) => {
    let db: Database;
    let running: RunningSite;
    beforeAll(async () => {
      db = await loadLanguages(await open(), form);
      running = await serveDatabase(db, { clock: () => new Date('2026-11-22T21:30:00Z') });
    });
    beforeEach(() => resetLanguages(db, form));
    afterAll(() => running.close());

    const rows = async (work: (db: Database) => PromiseLike<unknown>) => {
      await work(db);
      await db.from('fasti_changes').increment('counter');
    };
    const metas = (id: number, values: Readonly<Record<string, string>>) =>
      rows(async () => {
        await db
          .from('postmeta')
          .where('post_id', id)
          .whereIn('meta_key', [...Object.keys(values)])
          .delete();
        const metaRows = Object.entries(values).map(([meta_key, meta_value]) => ({ post_id: id, meta_key, meta_value }));
        await insertAll(db, 'postmeta', metaRows, 10);
      });
    const idsAt = async (path: string): Promise<number[]> => {
      const { status, body } = await running.send('GET', path);
      expect([path, status]).toEqual([path, 200]);
      const records = Object.values(body).find(Array.isArray) as { id: number }[];
      expect([path, body.total]).toEqual([path, records.length]);
      return records.map(({ id }) => id);
    };
    const events = (query: string, prefix = '/it') => idsAt(`${prefix}${ROOT}/events?${SPAN}&${query}`);
    const inCities = async () => {
      await metas(TOWN_HALL, { _VenueCity: 'Siena in English' });
      await metas(MUNICIPIO, { _VenueCity: 'Siena in Italian' });
    };
    const eventsIn = (city: string, query = '', prefix = '/it') => events(`city=${encodeURIComponent(city)}${query}`, prefix);

    it('matches the venue that an event shows, and the translations of that venue', async () => {
      await inCities();
      const { body } = await running.send('GET', `/it${ROOT}/events/118`);
      expect(body.venue).toMatchObject({ id: MUNICIPIO, city: 'Siena in Italian' });
      for (const city of ['Siena in Italian', 'Siena in English']) expect([city, await eventsIn(city)]).toEqual([city, OF_ITS_EVENTS]);
      await metas(MUNICIPIO, { _VenueCountry: 'Italia', _VenueStateProvince: 'Toscana' });
      expect([await events('country=Italia'), await events('state=Toscana')]).toEqual([[111, 113, 118], OF_ITS_EVENTS]);
    });

    it('matches the stored venue if the request chooses no language', async () => {
      await inCities();
      expect(await eventsIn('Siena in Italian', '&lang=all')).toEqual([111]);
      expect(await eventsIn('Siena in English', '&lang=all')).toEqual([110, 117, 118, 121]);
    });

    it('finds events near a venue of which only the translation has coordinates', async () => {
      await metas(MUNICIPIO, { _VenueLat: '43.3188', _VenueLng: '11.3308' });
      expect(await events(NEAR_SIENA)).toEqual(OF_ITS_EVENTS);
      expect(await events('geoloc=true')).toEqual(OF_ITS_EVENTS);
      expect(await events('geoloc=false')).toEqual([113, 116, 120]);
      await metas(104, { _VenueLat: '43.32', _VenueLng: '11.33' });
      expect(await events(NEAR_SIENA)).toEqual([113, ...OF_ITS_EVENTS]);
    });

    it('does not match by a hidden venue, but by the translation shown in its place', async () => {
      await inCities();
      for (const post_status of ['draft', 'trash', 'private']) {
        await rows(() => db.from('posts').where('ID', TOWN_HALL).update({ post_status }));
        expect(await eventsIn('Siena in English')).toEqual([]);
        expect(await eventsIn('Siena in Italian')).toEqual(OF_ITS_EVENTS);
        // English events show no venue instead of it.
        expect(await eventsIn('Siena in Italian', '', '/en')).toEqual([]);
        expect(await eventsIn('Siena in Italian', '&language_fallback=true')).toEqual(OF_ITS_EVENTS);
      }
      await rows(() => db.from('posts').where('ID', TOWN_HALL).update({ post_status: 'publish' }));
      await rows(() => db.from('posts').where('ID', MUNICIPIO).update({ post_status: 'draft' }));
      expect(await eventsIn('Siena in Italian')).toEqual([]);
      expect(await eventsIn('Siena in English')).toEqual([118]);
    });

    it('matches by hidden venues if each event shows a translation in their place, also with stand-ins', async () => {
      await inCities();
      const venueOf = (event: number, venue: number) => metas(event, { _EventVenueID: String(venue) });
      await rows(() => db.from('posts').where('ID', TOWN_HALL).update({ post_status: 'draft' }));
      // The English event 112 stands in for a translation, as 121 does, and 114 has no language: neither shows a venue.
      await venueOf(112, TOWN_HALL);
      await venueOf(114, TOWN_HALL);
      expect(await eventsIn('Siena in Italian', '&language_fallback=true')).toEqual(OF_ITS_EVENTS);
      expect(await events(`venue=${MUNICIPIO}&language_fallback=true`)).toEqual(OF_ITS_EVENTS);
      expect(await events(`venue=${MUNICIPIO}`)).toEqual(OF_ITS_EVENTS);
      expect(await events(`venue=${MUNICIPIO}`, '/en')).toEqual([]);
      const total = (await events('language_fallback=true')).length;
      await metas(MUNICIPIO, { _VenueLat: '43.3188', _VenueLng: '11.3308' });
      expect(await events(`${NEAR_SIENA}&language_fallback=true`)).toEqual(OF_ITS_EVENTS);
      expect(await events('geoloc=false&language_fallback=true')).toHaveLength(total - OF_ITS_EVENTS.length);
      await rows(() => db.from('posts').where('ID', TOWN_HALL).update({ post_status: 'publish' }));
      await rows(() => db.from('posts').where('ID', MUNICIPIO).update({ post_status: 'draft' }));
      for (const event of [112, 114]) await venueOf(event, MUNICIPIO);
      for (const filter of ['city=Siena%20in%20English', `venue=${TOWN_HALL}`]) {
        expect([filter, await events(`${filter}&language_fallback=true`)]).toEqual([filter, [112, 118, 121]]);
        expect([filter, await events(filter, '/en')]).toEqual([filter, [110, 112, 117, 121]]);
        expect([filter, await events(filter)]).toEqual([filter, [118]]);
      }
    });

    // Polylang has no such mode.
    if (form === 'wpml')
      it('matches by hidden venues in lists that WPML fills with stand-ins', async () => {
        await inCities();
        const settings = await db.from('options').where('option_name', 'icl_sitepress_settings').first();
        const option_value = withMembers(settings!.option_value, {
          custom_posts_sync_option: { tribe_events: 2, tribe_venue: 1, tribe_organizer: 1 },
        });
        await db.from('options').where('option_name', 'icl_sitepress_settings').update({ option_value: option_value! });
        await rows(() => db.from('posts').where('ID', TOWN_HALL).update({ post_status: 'draft' }));
        expect(await eventsIn('Siena in Italian')).toEqual(OF_ITS_EVENTS);
        await rows(() => db.from('posts').where('ID', TOWN_HALL).update({ post_status: 'publish' }));
        await rows(() => db.from('posts').where('ID', MUNICIPIO).update({ post_status: 'draft' }));
        await metas(112, { _EventVenueID: String(MUNICIPIO) });
        expect(await eventsIn('Siena in English', '', '/en')).toEqual([110, 112, 117, 121]);
        expect(await eventsIn('Siena in English', '', '/it')).toEqual([112, 118, 121]);
      });

    it('finds the same events however many venues match', async () => {
      await inCities();
      const requests = [
        () => eventsIn('Siena in Italian'),
        () => eventsIn('Siena in English', '&language_fallback=true'),
        () => eventsIn('Siena in Italian', '&language_fallback=true'),
        () => events('geoloc=false&language_fallback=true'),
        () => events('geoloc=false'),
        () => events(NEAR_SIENA),
      ];
      await metas(MUNICIPIO, { _VenueLat: '43.3188', _VenueLng: '11.3308' });
      const answers = () => Promise.all(requests.map((request) => request()));
      const expected = await answers();
      const withOthers = expect.arrayContaining(OF_ITS_EVENTS);
      const unplaced = [113, 116, 120];
      expect(expected).toEqual([OF_ITS_EVENTS, withOthers, withOthers, [112, 114, ...unplaced].sort(), unplaced, OF_ITS_EVENTS]);
      const venue = await db.from('posts').where('ID', 105).first();
      const ids = Array.from({ length: MAX_LINKED_RECORDS + 1 }, (_, place) => 50_000 + place);
      await insertAll(
        db,
        'posts',
        ids.map((ID) => ({ ...venue!, ID, post_name: `hall-${ID}` })),
        40,
      );
      for (const city of ['Siena in Italian', 'Siena in English']) {
        const values = Object.entries({ _VenueCity: city, _VenueLat: '43.32', _VenueLng: '11.33' });
        await insertAll(
          db,
          'postmeta',
          ids.flatMap((post_id) => values.map(([meta_key, meta_value]) => ({ post_id, meta_key, meta_value }))),
          300,
        );
      }
      await rows(async () => undefined);
      expect(await answers()).toEqual(expected);
      await rows(() => db.from('posts').where('ID', TOWN_HALL).update({ post_status: 'draft' }));
      expect([await eventsIn('Siena in Italian'), await eventsIn('Siena in English')]).toEqual([OF_ITS_EVENTS, []]);
      expect(await eventsIn('Siena in Italian', '&language_fallback=true')).toEqual(OF_ITS_EVENTS);
      expect(await events('geoloc=false&language_fallback=true')).toEqual([112, 113, 114, 116, 120, 121]);
    });

    it('leaves conditions in the query that match too many records together with their translations', async () => {
      await inCities();
      const { contentLanguages } = await running.site.settings();
      const italian: InLanguage = { languages: contentLanguages!, code: 'it', fill: 'nothing' };
      const conditions: Condition[] = [
        { by: 'linkedMeta', link: '_EventVenueID', key: '_VenueCity', value: 'Siena in Italian', eventsIn: italian },
        { by: 'linkedFromAny', key: '_EventVenueID', isLinked: true, inLanguage: italian },
      ];
      const published = { viewer: 0, all: ['publish'], others: [], own: [] };
      const query: Omit<PostQuery, 'conditions'> = {
        kind: { postType: 'tribe_venue', hasDates: false },
        visible: published,
        visibleEvents: published,
        opened: { password: undefined, editable: undefined },
        order: { by: 'id', descending: false },
        limit: 10,
        offset: 0,
        occurrences: true,
      };
      for (const condition of conditions) {
        const resolved = (limit: number) => resolveLinkedConditions(db, { ...query, conditions: [condition] }, limit);
        const [found] = (await resolved(100)).conditions;
        const idsOf = (one: Condition) => ('ids' in one ? one.ids : []);
        expect(idsOf(found!)).toEqual(expect.arrayContaining([TOWN_HALL, MUNICIPIO]));
        expect((await resolved(idsOf(found!).length - 1)).conditions).toEqual([condition]);
      }
    });

    it('finds venues by the events that the list of events includes with the same fallback', async () => {
      const venues = (query: string) => idsAt(`/it${ROOT}/venues?${query}`);
      await rows(() => db.from('posts').where('ID', 116).update({ post_status: 'draft' }));
      expect(await venues('has_events=true')).toEqual([104, 102]);
      // The English event 112, which has no translation, takes place there.
      for (const filter of ['has_events', 'only_with_upcoming'])
        expect(await venues(`${filter}=true&language_fallback=true`)).toEqual(expect.arrayContaining([103]));
      expect(await venues('has_events=false&language_fallback=true')).not.toContain(103);
    });
  });
});
