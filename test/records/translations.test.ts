import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { event } from '../../src/kinds/event.ts';
import { termKind } from '../../src/kinds/index.ts';
import { callerFor } from '../../src/records/caller.ts';
import { addCustomField } from '../../src/records/custom-fields.ts';
import { assignLanguage } from '../../src/records/site-languages.ts';
import { changeTerm } from '../../src/records/terms.ts';
import { restorePost } from '../../src/records/writes/post-writes.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { noteChange } from '../../src/storage/journal/reported-changes.ts';
import { formOf } from '../../src/storage/languages/forms.ts';
import { lockNames, termTreeLock } from '../../src/storage/rows/locks.ts';
import { findTerm, updateTerm } from '../../src/storage/rows/terms.ts';
import { serializedMembers, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages, resetLanguages } from '../support/languages.ts';
import { type Answer, type RunningSite, serveDatabase } from '../support/running-site.ts';

const ROOT = '/wp-json/calendar/events/v1';
const DATES = { start_date: '2031-07-01 10:00:00', end_date: '2031-07-01 12:00:00' };

describe.each(['polylang', 'wpml'] as const)('translations stored by %s', (form) => {
  describeDatabases('written through the API', (open) => {
    let db: Database;
    let running: RunningSite;
    let dirty = false;

    beforeAll(async () => {
      db = await loadLanguages(await open(), form);
      running = await serveDatabase(db);
    });
    beforeEach(async () => {
      if (dirty) await resetLanguages(db, form);
      dirty = false;
    });
    afterAll(() => running.close());

    const send = (method: string, path: string, body: object | null = null, as = 'admin'): Promise<Answer> => {
      dirty = true;
      return running.send(method, ROOT + path, { body, as });
    };
    const post = (path: string, body: object, as?: string) => send('POST', path, body, as);
    /** The language of an event, and its group of translations. */
    const placeOf = async (id: number): Promise<[string | null, Record<string, number>]> => {
      const languages = (await running.site.settings()).contentLanguages!;
      const { posts } = await formOf(languages).memberships(db, languages, { posts: [id], terms: [] });
      return [posts.get(id)?.language ?? null, Object.fromEntries(posts.get(id)?.members ?? [])];
    };
    const faultOf = ({ status, body }: Answer) => [status, body.code, Object.keys(body.data?.params ?? {})];

    it('gives a new record the default language if none is sent', async () => {
      const { body } = await post('/events', { title: 'Fair', ...DATES });
      expect(await placeOf(body.id)).toEqual(['en', { en: body.id }]);
    });

    it('refuses a language that the site does not have', async () => {
      expect(faultOf(await post('/events', { title: 'Fair', ...DATES, language: 'de' }))).toEqual([
        400,
        'rest_invalid_param',
        ['language'],
      ]);
      expect(faultOf(await post('/events/110', { language: '' }))).toEqual([400, 'rest_invalid_param', ['language']]);
    });

    it('creates one translation of a category for concurrent events that need it', async () => {
      const name = 'Only in English';
      const { id: english } = (await post('/categories', { name, language: 'en' })).body;
      const { id: second } = (await post('/categories', { name: 'This one too', language: 'en' })).body;
      const made = await Promise.all(
        Array.from({ length: 8 }, (_, place) =>
          post('/events', { title: `${place}`, ...DATES, language: 'it', categories: place % 2 ? [english, second] : [second, english] }),
        ),
      );
      expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
      const used = new Set(made.flatMap(({ body }) => body.categories.map(({ id }: { id: number }) => id)));
      expect(used.size).toBe(2);
      expect((await db.from('terms').where('name', name)).length).toBe(form === 'polylang' ? 2 : 1);
    });

    it('links a new record to the translations that it names', async () => {
      const { body } = await post('/events', { title: 'Ceramica', ...DATES, language: 'it', translations: { en: { id: 112 } } });
      expect(await placeOf(112)).toEqual(['en', { en: 112, it: body.id }]);
      expect(await placeOf(body.id)).toEqual(['it', { en: 112, it: body.id }]);
    });

    it('creates a translation from its texts and copies the other fields of the source', async () => {
      const { status, body } = await post('/events', {
        title: 'Laboratorio',
        description: 'Argilla.',
        language: 'it',
        translation_of: 112,
      });
      expect(status).toBe(201);
      const source = (await running.send('GET', `${ROOT}/events/112`)).body;
      for (const member of ['start_date', 'end_date', 'timezone', 'all_day', 'cost', 'venue', 'image'])
        expect({ member, value: body[member]?.id ?? body[member] }).toEqual({ member, value: source[member]?.id ?? source[member] });
      expect(body.description).toContain('Argilla');
      expect(await placeOf(body.id)).toEqual(['it', { en: 112, it: body.id }]);
    });

    it.each([
      ['publish', 'clay'],
      ['private', ''],
    ])('protects a translation by the password of its source, unless it is private: %s', async (status, password) => {
      dirty = true;
      await db.from('posts').where('ID', 112).update({ post_password: 'clay' });
      await db.from('fasti_changes').increment('counter');
      const { body } = await post('/events', { title: 'Laboratorio', language: 'it', translation_of: 112, status });
      expect((await db.from('posts').where('ID', body.id).first('post_password'))?.post_password).toBe(password);
    });

    it('copies links that lead to no record as they are', async () => {
      const odd = ['12abc', 'a:1:{i:0;i:101;}', '1e400', '-1'];
      await db.from('postmeta').insert(odd.map((meta_value) => ({ post_id: 112, meta_key: '_EventVenueID', meta_value })));
      const { status, body } = await post('/events', { title: 'Laboratorio', language: 'it', translation_of: 112 });
      expect(status).toBe(201);
      const links = await db.from('postmeta').where({ post_id: body.id, meta_key: '_EventVenueID' }).orderBy('meta_id').pluck('meta_value');
      expect(links).toEqual(['103', ...odd]);
    });

    if (form === 'wpml')
      it('links to the venue that the source shows if venues have no languages any more', async () => {
        const venueOf = async (title: string) =>
          (await post('/events?lang=all', { title, language: 'it', translation_of: 121 })).body.venue.id;
        const option = db.from('options').where('option_name', 'icl_sitepress_settings');
        const settings = serializedMembers((await option.clone().first())?.option_value);
        expect(await venueOf('Mostra')).toBe(102);
        await resetLanguages(db, form);
        const modes = { tribe_events: 1, tribe_venue: 0 };
        await option.clone().update({ option_value: toSerialized({ ...settings, custom_posts_sync_option: modes }) });
        await db.from('fasti_changes').increment('counter');
        expect(await venueOf('Mostra')).toBe(101);
      });

    it('requires dates for an event that is not a translation', async () => {
      expect((await post('/events', { title: 'Fair', language: 'it' })).body.code).toBe('rest_missing_callback_param');
      expect((await post('/events', { title: 'Fair', language: 'it', translation_of: '' })).body.code).toBe('rest_missing_callback_param');
      expect(faultOf(await post('/events', { title: 'Fair', language: 'it', translation_of: 4711 }))).toEqual([
        400,
        'rest_invalid_param',
        ['translation_of'],
      ]);
    });

    it('uses the dates that are sent instead of those of the source', async () => {
      const { body } = await post('/events', {
        title: 'Laboratorio',
        language: 'it',
        translation_of: 112,
        start_date: '2031-06-02 09:00:00',
        end_date: '2031-06-02 10:00:00',
      });
      expect(body).toMatchObject({ start_date: '2031-06-02 09:00:00', end_date: '2031-06-02 10:00:00' });
    });

    it('changes the language of a record by the member language, but not by translation_language', async () => {
      expect((await post('/events/112', { language: 'it' })).status).toBe(200);
      expect(await placeOf(112)).toEqual(['it', { it: 112 }]);
      await post('/events/112?translation_language=en', { title: 'Argilla', translation_language: 'en' });
      expect((await placeOf(112))[0]).toBe('it');
    });

    it('refuses to change the language to one that the group already has', async () => {
      const refused = await post('/events/110', { language: 'it' });
      expect(faultOf(refused).slice(0, 2)).toEqual([400, 'language-taken']);
      expect(refused.body.message).toContain('in the language Italiano.');
      expect(await placeOf(110)).toEqual(['en', { en: 110, it: 111 }]);
    });

    it('links records in both directions and unlinks them with null', async () => {
      expect((await post('/events/113', { translations: { en: 112 } })).status).toBe(200);
      expect(await placeOf(112)).toEqual(['en', { en: 112, it: 113 }]);
      expect((await post('/events/112', { translations: { it: null } })).status).toBe(200);
      expect(await placeOf(112)).toEqual(['en', { en: 112 }]);
      expect(await placeOf(113)).toEqual(['it', { it: 113 }]);
    });

    it('removes a record from its group', async () => {
      await post('/events/111', { translations: { it: null } });
      expect(await placeOf(110)).toEqual(['en', { en: 110 }]);
      expect(await placeOf(111)).toEqual(['it', { it: 111 }]);
    });

    it('changes nothing if the translations of a response are sent back', async () => {
      await post('/events/111', { translations: { en: { id: 110 }, it: { id: 111 } }, language: 'it' });
      expect(await placeOf(111)).toEqual(['it', { en: 110, it: 111 }]);
    });

    it.each([null, ''])('accepts the language %j of a record without one, and refuses it for others', async (language) => {
      const read = (await running.send('GET', `${ROOT}/events/114`)).body;
      expect(read.language).toBeNull();
      expect((await post('/events/114', { ...read, language })).status).toBe(200);
      expect(faultOf(await post('/events/111', { language }))).toEqual([400, 'rest_invalid_param', ['language']]);
    });

    it('returns 409 and writes nothing if two groups have records in the same language', async () => {
      expect(faultOf(await post('/events/113', { translations: { en: 110 }, title: 'No' })).slice(0, 2)).toEqual([
        409,
        'translation-conflict',
      ]);
      expect(await placeOf(110)).toEqual(['en', { en: 110, it: 111 }]);
      expect((await running.send('GET', `${ROOT}/events/113`)).body.title).not.toBe('No');
    });

    it.each([
      ['of another language', 113, { it: 112 }],
      ['of another kind', 113, { en: 101 }],
      ['that does not exist', 113, { en: 4711 }],
      ['without a language', 113, { en: 114 }],
      ['in the trash', 112, { it: 122 }],
      ['that is none', 113, { en: 'x' }],
      ['of a language that the site lacks', 113, { de: 112 }],
    ])('refuses a translation %s', async (_, id, translations) => {
      expect(faultOf(await post(`/events/${id}`, { translations }))).toEqual([400, 'rest_invalid_param', ['translations']]);
    });

    it('refuses links to records that the caller may not edit', async () => {
      const own = await post('/events', { title: 'Mine', ...DATES, language: 'it', status: 'draft' }, 'contrib');
      expect(own.status).toBe(201);
      expect(faultOf(await post(`/events/${own.body.id}`, { translations: { en: 112 } }, 'contrib'))).toEqual([
        400,
        'rest_invalid_param',
        ['translations'],
      ]);
      expect(await placeOf(112)).toEqual(['en', { en: 112 }]);
    });

    it('checks that the caller may edit every affected record before it reports a conflict', async () => {
      const { body: own } = await post('/events', { title: 'Mine', ...DATES, language: 'it', status: 'draft' }, 'contrib');
      const refused = [400, 'rest_invalid_param', ['translations']];
      const link = (translations: object) => post(`/events/${own.id}`, { translations }, 'contrib');
      expect(faultOf(await link({ en: 110 }))).toEqual(refused);
      expect((await post('/events/112', { translations: { it: own.id } })).status).toBe(200);
      for (const translations of [{ en: 110 }, { en: null }, { it: null }]) expect(faultOf(await link(translations))).toEqual(refused);
      expect(await placeOf(112)).toEqual(['en', { en: 112, it: own.id }]);
      expect((await link({ en: { id: 112 }, it: { id: own.id } })).status).toBe(200);
      expect(faultOf(await post(`/events/${own.id}`, { translations: { en: 110 } })).slice(0, 2)).toEqual([409, 'translation-conflict']);
    });

    it('replaces a translation that is in the trash', async () => {
      await send('DELETE', '/events/111');
      const { body } = await post('/events', { title: 'Concerto', language: 'it', translation_of: 110 });
      expect(await placeOf(110)).toEqual(['en', { en: 110, it: body.id }]);
    });

    it('gives a record without a language the default language when it changes', async () => {
      await post('/events/114', { title: 'Legacy' });
      expect((await placeOf(114))[0]).toBe('en');
    });

    it('gives new venues and categories of a record the language of the record', async () => {
      const { body } = await post('/events', { title: 'Festa', ...DATES, language: 'it', venue: { venue: 'Sala' }, categories: ['Ballo'] });
      expect((await placeOf(body.venue.id))[0]).toBe('it');
      const found = (await running.send('GET', `/it${ROOT}/categories?search=Ballo&hide_empty=false`)).body.categories;
      expect(found.map(({ name }: { name: string }) => name)).toEqual(['Ballo']);
    });

    it('creates one venue of the same title per language', async () => {
      const { body } = await post('/venues', { venue: 'Town Hall', language: 'it' });
      expect(body.id).not.toBe(101);
      expect((await post('/venues', { venue: 'Town Hall' })).body.id).toBe(101);
    });

    it('removes a deleted record from its group', async () => {
      await running.send('DELETE', '/wp-json/wp/v2/tribe_events/111?force=true', { as: 'admin' });
      dirty = true;
      expect(await placeOf(110)).toEqual(['en', { en: 110 }]);
      expect(await placeOf(111)).toEqual([null, {}]);
    });

    it('does not touch the language of a term that has the id of a post', async () => {
      const before = await db.from('term_relationships').where('object_id', 40).orderBy('term_taxonomy_id');
      await db.from('posts').insert({ ...(await db.from('posts').where('ID', 112).first())!, ID: 40, post_name: 'forty' });
      await running.send('DELETE', '/wp-json/wp/v2/tribe_events/40?force=true', { as: 'admin' });
      dirty = true;
      expect(await db.from('term_relationships').where('object_id', 40).orderBy('term_taxonomy_id')).toEqual(before);
    });

    it('replaces terms by their translations in the language of the event', async () => {
      const idsOf = (answer: Answer) => answer.body.categories.map(({ id }: { id: number }) => id);
      expect(idsOf(await post('/events', { title: 'Concerto', ...DATES, language: 'it', categories: [38] }))).toEqual([40]);
      expect(idsOf(await post('/events', { title: 'Partita', ...DATES, language: 'it', categories: ['Sport'] }))).toEqual([49]);
      const missing = idsOf(await post('/events', { title: 'Corso', ...DATES, language: 'it', categories: [52] }));
      if (form === 'wpml') expect(missing).toEqual([52]);
      else
        expect((await running.send('GET', `${ROOT}/categories/${missing[0]}`)).body).toMatchObject({
          name: 'Workshops',
          slug: 'workshops-it',
        });
      expect(idsOf(await post('/events/110', { translations: { it: null }, language: 'en' }))).toEqual([38]);
      expect(idsOf(await post('/events/110', { language: 'it' }))).toEqual([40]);
    });

    it('prefers the category with the name in the language over one with the same slug in another', async () => {
      const { body: own } = await post('/categories', { name: 'Workshops', slug: 'officine', language: 'it' });
      const { body } = await post('/events', { title: 'Corso', ...DATES, language: 'it', categories: ['Workshops'] });
      expect(body.categories.map(({ id }: { id: number }) => id)).toEqual([own.id]);
      const english = await post('/events', { title: 'Course', ...DATES, language: 'en', categories: ['Workshops'] });
      expect(english.body.categories.map(({ id }: { id: number }) => id)).toEqual([52]);
    });

    it('creates the translation of a category below the parent that it has at that moment', async () => {
      if (form === 'wpml') return;
      const { id: italian } = (await post('/categories', { name: 'Laboratori e feste', language: 'it', translation_of: 52 })).body;
      const { id: child } = (await post('/categories', { name: 'Pottery', language: 'en', parent: 52 })).body;
      let write: Promise<Answer> | undefined;
      await db.transaction(async (trx) => {
        await lockNames(trx, [termTreeLock('tribe_events_cat')]);
        write = post('/events', { title: 'Corso', ...DATES, language: 'it', categories: [child] });
        // Long enough for the write to read the category and to wait for the tree.
        await sleep(300);
        await updateTerm(trx, (await findTerm(trx, 'tribe_events_cat', child))!, { parent: 38 });
        noteChange(trx, { now: new Date() });
      });
      const { status, body } = await write!;
      expect(status).toBe(201);
      const made = await db.from('term_taxonomy').where('term_id', body.categories[0].id).first();
      expect([made?.parent, italian]).toEqual([40, expect.any(Number)]);
    });

    it('changes a category as it is once no other request changes it', async () => {
      const dup = (await post('/categories', { name: 'Twice', language: 'en' })).body;
      const { id } = (await post('/categories', { name: 'Other', language: 'en' })).body;
      let write: Promise<Answer> | undefined;
      const settings = await running.site.settings();
      const caller = callerFor(running.site, settings, (await loadViewer(db, settings, 1))!, { language: 'en' });
      await db.transaction(async (trx) => {
        await changeTerm({ ...running.site, db: trx }, caller, termKind('category'), id, { parent: 38 });
        write = post(`/categories/${id}`, { name: 'Twice', slug: '!!!' });
        // Long enough for the write to read the category, if it does not wait for it.
        await sleep(300);
      });
      expect((await write!).body.slug).toBe(`${dup.slug}-${(await db.from('terms').where('term_id', 38).first())!.slug}`);
    });

    it('makes room for the language in a slug that fills its column', async () => {
      const slug = '%d0%ba'.repeat(33);
      await db.from('terms').whereIn('term_id', [52, 40]).update({ slug });
      const { status, body } = await post('/events', { title: 'Corso', ...DATES, language: 'it', categories: [52] });
      expect(status).toBe(201);
      if (form === 'polylang') expect(body.categories[0].slug).toBe(`${slug.slice(0, -6)}-it`);
      await db.from('terms').where('term_id', 40).update({ slug: 'sagra' });
      const changed = await post('/categories/40', { slug: 'к'.repeat(40) });
      expect([changed.status, changed.body.slug.length <= 200]).toEqual([200, true]);
    });

    it('also links categories', async () => {
      const { status, body } = await post('/categories', { name: 'Laboratori', language: 'it', translation_of: 52 });
      expect(status).toBe(201);
      const made = await post('/events', { title: 'Corso', ...DATES, language: 'it', categories: [52] });
      expect(made.body.categories.map(({ id }: { id: number }) => id)).toEqual([body.id]);
      expect((await post(`/categories/${body.id}`, { language: 'en' })).body.code).toBe('language-taken');
    });

    it('copies fields that are not texts from the source, except external_id', async () => {
      await post('/events/112', { external_id: 'e-112', sticky: true, featured: true });
      await post('/venues/103', { external_id: 'v-103', show_map: false });
      const { status, body } = await post('/events', { title: 'Laboratorio', language: 'it', translation_of: 112 });
      expect([status, body.external_id, body.sticky, body.featured]).toEqual([201, undefined, true, true]);
      const stage = await post('/venues', { venue: 'Palco', language: 'it', translation_of: 103 });
      expect([stage.status, stage.body.external_id, stage.body.show_map]).toEqual([201, undefined, false]);
      const flags = await db.from('postmeta').where('post_id', stage.body.id).whereIn('meta_key', ['_VenueShowMap', '_EventShowMap']);
      expect(flags.map(({ meta_value: value }) => value)).toEqual(['', '']);
    });

    it('writes a venue with the external ID within an event only if its language or its translations change', async () => {
      const hall = (await post('/venues', { venue: 'Hall', language: 'en' })).body;
      const venue = { venue: 'Sala', external_id: 'x', language: 'it', translations: { en: hall.id } };
      const { id } = (await post('/venues', venue)).body;
      const changes = async () => (await db.from('fasti_journal').where({ kind: 'post', object: id })).length;
      const before = await changes();
      for (const named of [venue, { venue: 'Sala', external_id: 'x' }])
        expect((await post('/events', { title: 'Fiera', ...DATES, language: 'it', venue: named })).body.venue.id).toBe(id);
      expect(await changes()).toBe(before);
      const alone = { ...venue, translations: { en: null } };
      expect((await post('/events', { title: 'Fiera', ...DATES, language: 'it', venue: alone })).status).toBe(201);
      expect(await placeOf(id)).toEqual(['it', { it: id }]);
      expect(await changes()).toBeGreaterThan(before);
    });

    it('leaves the picture of a venue or organizer that is used instead of a new translation', async () => {
      for (const [path, name, member] of [
        ['/venues', 'Civic hall', 'venue'],
        ['/organizers', 'Civic club', 'organizer'],
      ] as const) {
        const { id } = (await post(path, { [member]: name, language: 'en' })).body;
        await db.from('postmeta').insert({ post_id: id, meta_key: '_thumbnail_id', meta_value: '10' });
        const italian = (await post(path, { [member]: `${name} (it)`, language: 'it' })).body;
        const { status, body } = await post(path, { [member]: name, language: 'en', translation_of: italian.id });
        expect([status, body.id]).toEqual([201, id]);
        const pictures = await db.from('postmeta').where({ post_id: id, meta_key: '_thumbnail_id' }).pluck('meta_value');
        expect(pictures).toEqual(['10']);
      }
    });

    it('keeps the links to venues and organizers of another language if the record is sent back with their translations', async () => {
      const { body } = await post('/events', { title: 'Fair', ...DATES, language: 'en', venue: 102, organizer: [107, 108] });
      const linked = async () => {
        const rows = await db.from('postmeta').where('post_id', body.id).whereIn('meta_key', ['_EventVenueID', '_EventOrganizerID']);
        return rows.map(({ meta_value: value }) => Number(value)).sort();
      };
      const read = (await running.send('GET', `${ROOT}/events/${body.id}?lang=en`, { as: 'admin' })).body;
      expect([read.venue.id, read.organizer.map(({ id }: { id: number }) => id)]).toEqual([101, [106, 108]]);
      for (const method of ['PUT', 'POST']) {
        expect((await send(method, `/events/${body.id}?lang=en`, read)).status).toBe(200);
        expect(await linked()).toEqual([102, 107, 108]);
      }
      await send('PATCH', `/events/${body.id}?lang=en`, { organizer: [106] });
      expect(await linked()).toEqual([102, 107]);
      // Where records are shown as they are linked, the ids mean what they say.
      const headers = { 'X-TEC-EEA': 'yes' };
      await running.send('PUT', `/wp-json/tec/v1/events/${body.id}`, { as: 'admin', body: { venues: [101], organizers: [106] }, headers });
      expect(await linked()).toEqual([101, 106]);
      await send('PATCH', `/events/${body.id}?lang=en`, { venue: 103, organizer: [] });
      expect(await linked()).toEqual([103]);
    });

    it('shows maps as the original does, also without rows about them', async () => {
      const maps = async (path: string, id: number, named: object) => {
        dirty = true;
        await db.from('postmeta').where('post_id', id).where('meta_key', 'like', '%ShowMap%').delete();
        const { body } = await post(path, { ...named, language: 'it', translation_of: id });
        return [body.show_map, body.show_map_link];
      };
      expect(await maps('/events', 112, { title: 'Laboratorio' })).toEqual([true, true]);
      expect(await maps('/venues', 103, { venue: 'Palco' })).toEqual([true, true]);
    });

    it('copies the custom fields of the site except texts, as far as they are not named', async () => {
      for (const field of [
        { name: 'seats', type: 'number', label: 'Seats' },
        { name: 'access', type: 'checkbox', label: 'Access', choices: ['ramp', 'lift'] },
        { name: 'note', type: 'text', label: 'Note' },
      ] as const)
        await addCustomField(running.site, field);
      await post('/events/112', { custom_fields: { seats: 5, access: ['ramp', 'lift'], note: 'Bring an apron' } });
      const translated = async (others: object) => {
        const { body } = await post('/events', { title: 'Laboratorio', language: 'it', translation_of: 112, ...others });
        const metas = await db.from('postmeta').where('post_id', body.id).where('meta_key', 'like', '%ecp_custom%').orderBy('meta_id');
        await running.send('DELETE', `/wp-json/wp/v2/tribe_events/${body.id}?force=true`, { as: 'admin' });
        return metas.map(({ meta_value: value }) => value).sort();
      };
      expect(await translated({})).toEqual(['5', 'lift', 'ramp', 'ramp|lift']);
      expect(await translated({ custom_fields: { seats: 7, note: 'Porta un grembiule' } })).toEqual([
        '7', 'Porta un grembiule', 'lift', 'ramp', 'ramp|lift',
      ]); // biome-ignore format: a list
      expect(await translated({ custom_fields: { access: [] } })).toEqual(['5']);
      expect(await translated({ custom_fields: null })).toEqual([]);
    });

    it.each([[''], [null]])('does not copy fields that are sent with an empty value (%j)', async (nothing) => {
      const kept = { cost: '$10', website: 'https://example.org', venue: 101, organizer: [106], categories: [38], tags: [61] };
      const source = (await post('/events', { title: 'Fair', ...DATES, language: 'en', ...kept })).body;
      const named = { description: nothing, excerpt: nothing, image: nothing, external_id: nothing, timezone: nothing };
      const cleared = Object.fromEntries(Object.keys(kept).map((name) => [name, nothing]));
      const { status, body } = await post('/events', { title: 'Fiera', language: 'it', translation_of: source.id, ...named, ...cleared });
      expect([status, body]).toEqual([
        201,
        expect.objectContaining({ cost: '', website: '', venue: [], organizer: [], categories: [], tags: [], ...DATES }),
      ]);
      expect(body.cost_details).toMatchObject({ values: [] });
      const rows = await db.from('postmeta').where('post_id', body.id).select('meta_key', 'meta_value');
      expect(rows.filter(({ meta_key: key }) => /^_(EventCost|EventVenueID|EventOrganizerID|thumbnail_id)$/.test(String(key)))).toEqual([]);
      const listed = { title: 'Fiera', language: 'it', translation_of: source.id, categories: [], organizer: [] };
      await running.send('DELETE', `/wp-json/wp/v2/tribe_events/${body.id}?force=true`, { as: 'admin' });
      expect((await post('/events', listed)).body).toMatchObject({ cost: '$10', categories: [], organizer: [] });
    });

    it('does not copy sticky for users who may not set it', async () => {
      await post('/events/112', { sticky: true, author: 4, status: 'draft' });
      const { status, body } = await post('/events', { title: 'Laboratorio', language: 'it', translation_of: 112 }, 'contrib');
      expect([status, body.sticky]).toEqual([201, false]);
    });

    it('restores a record and publishes a linked draft with a slug that languages may share', async () => {
      const slugOf = async (id: number) => (await db.from('posts').where('ID', id).first())?.post_name;
      await send('DELETE', '/events/117');
      await send('DELETE', '/events/118');
      const settings = await running.site.settings();
      const viewer = (await loadViewer(db, settings, 1))!;
      const caller = callerFor(running.site, settings, viewer, { language: 'en' });
      for (const id of [117, 118]) await restorePost(running.site, caller, event, id);
      expect([await slugOf(117), await slugOf(118)]).toEqual(['festival', form === 'wpml' ? 'festival' : 'festival-2']);
      const { body: draft } = await post('/venues', { venue: 'Town Hall', language: 'it', status: 'draft' });
      await post('/events/111', { venue: draft.id });
      expect(await slugOf(draft.id)).toBe(form === 'wpml' ? 'town-hall' : 'town-hall-2');
    });

    it('does not move a record to a language in which another one has its slug, unless it gets another slug', async () => {
      const { body: english } = await post('/events', { title: 'Open day', language: 'en', ...DATES });
      const { body: italian } = await post('/events', { title: 'Open day', language: 'it', ...DATES });
      expect(italian.slug).toBe(form === 'wpml' ? english.slug : 'open-day-2');
      const moved = await post(`/events/${english.id}`, { language: 'it', description: 'Changed' });
      if (form === 'wpml') {
        expect(faultOf(moved)).toEqual([400, 'rest_invalid_param', ['language']]);
        const { body: unchanged } = await running.send('GET', `${ROOT}/events/${english.id}`);
        expect([unchanged.language, unchanged.slug, unchanged.description]).toEqual(['en', 'open-day', '']);
        const renamed = await post(`/events/${english.id}`, { language: 'it', slug: 'porte-aperte' });
        expect([renamed.status, renamed.body.language, renamed.body.slug]).toEqual([200, 'it', 'porte-aperte']);
        await post(`/events/${italian.id}`, { language: 'en' });
      } else expect([moved.status, moved.body.language, moved.body.slug]).toEqual([200, 'it', 'open-day']);
      // A language that the record already has changes nothing.
      expect((await post(`/events/${italian.id}`, { language: form === 'wpml' ? 'en' : 'it' })).status).toBe(200);
    });

    it('appends the language to the slug of a category if another language has the slug', async () => {
      const slugOf = async (path: string, body: object) => (await post(path, body)).body.slug;
      expect(await slugOf('/categories/40', { slug: 'workshops' })).toBe('workshops-it');
      expect((await post('/categories/40', { slug: 'sagre' })).body.code).toBe('duplicate_term_slug');
      await db.from('terms').where('term_id', 40).update({ slug: 'music' });
      expect(await slugOf('/categories/40', { slug: 'music', description: 'Suoni' })).toBe('music');
      // The slug is checked in the new language of the category.
      expect(await slugOf('/categories/54', { slug: 'workshops', language: 'en' })).toBe(undefined);
      expect(await slugOf('/categories/54', { slug: 'jazz-it', language: 'en' })).toBe('jazz-it-en');
    });

    it.each([
      ['an event that has become a post', '/events', 110, { id: 111, table: 'posts', key: 'ID', column: 'post_type', to: 'post' }],
      [
        'a category that has become a tag',
        '/categories',
        38,
        { id: 40, table: 'term_taxonomy', key: 'term_id', column: 'taxonomy', to: 'post_tag' },
      ],
    ] as const)(
      'keeps the language of %s when another record takes its place in the group',
      async (_, path, id, { id: moved, table, key, column, to }) => {
        const { body } = await post(path, { title: 'Altro', name: 'Altro', ...DATES, language: 'it' });
        await db
          .from(table)
          .where(key, moved)
          .update({ [column]: to });
        await db.from('fasti_changes').increment('counter');
        const answer = await post(`${path}/${id}`, { translations: { it: body.id } });
        expect([answer.status, answer.body.translations.it.id]).toEqual([200, body.id]);
        const element = table === 'posts' ? moved : (await db.from(table).where(key, moved).first())!.term_taxonomy_id;
        const languages =
          form === 'wpml'
            ? await db
                .from('icl_translations')
                .where('element_id', element)
                .whereIn('element_type', ['post_tribe_events', 'tax_tribe_events_cat'])
            : await db
                .from('term_relationships', 'r')
                .join({ tt: db.table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
                .where('r.object_id', moved)
                .whereIn('tt.taxonomy', table === 'posts' ? ['language'] : ['term_language'])
                .select('tt.taxonomy');
        expect(languages).toHaveLength(1);
      },
    );

    it('changes the language of a term whose translation was deleted', async () => {
      for (const table of ['terms', 'term_taxonomy'] as const) await db.from(table).where('term_id', 40).delete();
      await db.from('fasti_changes').increment('counter');
      const { status, body } = await post('/categories/38', { language: 'it' });
      expect([status, body.language, Object.keys(body.translations)]).toEqual([200, 'it', ['it']]);
    });

    if (form === 'wpml')
      it('treats a row with an empty language as a record without a language', async () => {
        const places = { element_type: 'post_tribe_events', source_language_code: null, language_code: '' };
        for (const element_id of [110, 112])
          await db.from('icl_translations').where({ element_type: places.element_type, element_id }).delete();
        await db.from('icl_translations').insert([
          { ...places, element_id: 110, trid: 901 },
          { ...places, element_id: 112, trid: 902 },
        ]);
        await db.from('fasti_changes').increment('counter');
        expect((await post('/events/110', { title: 'Concert', language: 'en' })).body.language).toBe('en');
        await assignLanguage(running.site, 'it');
        expect([(await placeOf(110))[0], (await placeOf(112))[0]]).toEqual(['en', 'it']);
      });

    if (form === 'wpml')
      it('keeps the language of a record if it is hidden from the editor', async () => {
        const member = async (option_name: string, change: (stored: Record<string, unknown>) => object) => {
          const row = await db.from('options').where({ option_name }).first();
          const option_value = toSerialized(change(serializedMembers(row?.option_value)));
          await db.from('options').where({ option_name }).update({ option_value });
        };
        await member('icl_sitepress_settings', (settings) => ({ ...settings, hidden_languages: ['it'] }));
        const events = ['edit', 'edit_others', 'edit_published', 'publish'].map((verb) => [`${verb}_tribe_events`, true] as const);
        await member('wp_user_roles', (roles) => ({
          ...roles,
          subscriber: { name: 'Subscriber', capabilities: { read: true, ...Object.fromEntries(events) } },
        }));
        await db.from('fasti_changes').increment('counter');
        const { status, body } = await post('/events/111', { title: 'Concerto' }, 'sub');
        expect([status, body.language, (await placeOf(111))[0]]).toEqual([200, null, 'it']);
      });

    if (form === 'wpml')
      it('keeps a deactivated language of a record unless another one is sent', async () => {
        const ofEvent = (id: number) => ({ element_type: 'post_tribe_events', element_id: id });
        const rowOf = (id: number) => db.from('icl_translations').where(ofEvent(id)).first();
        await db.from('icl_translations').where(ofEvent(111)).update({ language_code: 'de' });
        await db.from('fasti_changes').increment('counter');
        const before = await rowOf(111);
        const { status, body } = await post('/events/111', { title: 'Konzert' });
        expect([status, body.title, body.language]).toEqual([200, 'Konzert', null]);
        expect(faultOf(await post('/events/111', { translations: { en: 112 } }))).toEqual([400, 'rest_invalid_param', ['translations']]);
        await assignLanguage(running.site, 'en');
        expect(await rowOf(111)).toEqual(before);
        // A list of one language with fallback includes records without a language, but not those in another language.
        const list = `${ROOT}/events?start_date=2031-01-01&end_date=2032-01-01&per_page=50&lang=it&language_fallback=true`;
        const { events } = (await running.send('GET', list)).body;
        expect(events.map(({ id }: { id: number }) => id)).not.toContain(111);
        expect((await post('/events/111', { language: 'en' })).status).toBe(200);
        expect([await placeOf(110), await placeOf(111)]).toEqual([
          ['en', { en: 110 }],
          ['en', { en: 111 }],
        ]);
      });
  });
});
