import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { INDEX_OPTION } from '../../src/calendar/settings.ts';
import { postsInLanguages } from '../../src/kinds/content-language.ts';
import { postKind, postKinds } from '../../src/kinds/index.ts';
import type { PostKindName } from '../../src/kinds/kind-names.ts';
import { type Caller, type ContentChoice, callerFor } from '../../src/records/caller.ts';
import { acceptParams } from '../../src/records/input.ts';
import { hasIndex, updateIndex } from '../../src/records/list-index.ts';
import { type Listing, listPosts } from '../../src/records/posts.ts';
import { addSiteLanguage } from '../../src/records/site-languages.ts';
import { indexState } from '../../src/storage/audit/audit.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { hasWrongCounts, reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { dayOf, FACETS, facetCode, idOfFacet, monthOf, monthRow, shareOf } from '../../src/storage/index/event-index-rows.ts';
import { noteChange } from '../../src/storage/journal/reported-changes.ts';
import { updatePost } from '../../src/storage/rows/posts.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

const NOW = new Date('2026-11-22T21:30:00Z');
const EDITOR = 2;
const CONTRIBUTOR = 4;
const SPAN = { start_date: '2031-01-01', end_date: '2032-01-01' };

/** Lists with filters that the index supports, and some with others. */
const LISTS: readonly Record<string, string>[] = [
  {},
  { per_page: '2', page: '2' },
  { order: 'desc', per_page: '3' },
  { start_date: '2031-06-01', end_date: '2031-07-01' },
  { categories: '38' },
  { categories: '40,49' },
  { tags: '61' },
  { venue: '101' },
  { organizer: '107', order: 'desc' },
  { venue: '102' },
  { categories: '38', venue: '102' },
  { categories: '38', city: 'Siena' },
  { geoloc: 'false' },
  { venue: '101', organizer: '107' },
  { featured: 'true' },
  { categories: '38', start_date: '2031-03-02 11:30:00', end_date: '2031-09-07 09:15:00' },
  { search: 'a' },
  { password: 'secret', categories: '38' },
  { include: '110,111' },
  { modified_after: '2020-01-01' },
];
const FALLBACKS: readonly Record<string, string>[] = [{}, { language_fallback: 'true' }, { language_fallback: 'false' }];

describeDatabases('lists in several languages', (open) => {
  describe.each(['polylang', 'wpml'] as const)('in the form of %s', (form) => {
    let db: Database;
    let running: RunningSite;
    beforeAll(async () => {
      db = await loadLanguages(await open(), form);
      running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: 'off', CONTENT_LANGUAGES: form }, clock: () => NOW });
      await reindex();
      known = await callerOf(0, undefined);
    });
    afterAll(() => running.close());

    const reindex = async () => {
      const { contentLanguages: languages } = await running.site.settings();
      expect(await reindexEvents(db, () => NOW, { marksComplete: true, languages })).toMatchObject({ unindexable: [] });
    };

    const callerOf = async (id: number, code: string | undefined): Promise<Caller> => {
      const settings = await running.site.settings();
      const nobody = { id: 0, can: () => false } as unknown as Caller['viewer'];
      const content: ContentChoice = { code, isChosen: code !== undefined };
      const viewer = id === 0 ? nobody : ((await loadViewer(db, settings, id)) ?? nobody);
      return callerFor(running.site, settings, viewer, { language: 'en', content });
    };

    const listing = async (caller: Caller, name: PostKindName, raw: Record<string, string>): Promise<Listing> => {
      const kind = postsInLanguages(postKind(name), caller.settings);
      return listPosts(running.site, caller, kind, await acceptParams(running.site, caller, kind.filters, raw, 'read'));
    };
    const idsOf = ({ records }: Listing) => records.map(({ id }) => Number(id));

    /** Compares every list of events, for each viewer, in every language, between the index and WordPress's tables. */
    const expectSame = async (...viewers: number[]) => {
      for (const viewer of viewers.length > 0 ? viewers : [0, EDITOR])
        for (const code of ['en', 'it', undefined]) {
          const caller = await callerOf(viewer, code);
          expect(hasIndex(caller.settings)).toBe(true);
          const raw = new Map([...caller.settings.raw].filter(([name]) => name !== INDEX_OPTION));
          const unindexed = { ...caller, settings: { ...caller.settings, raw } };
          expect(hasIndex(unindexed.settings)).toBe(false);
          for (const asked of LISTS.flatMap((list) => FALLBACKS.map((fallback) => ({ ...SPAN, ...list, ...fallback })))) {
            const [indexed, plain] = [
              await listing(caller, 'event', asked).catch(String),
              await listing(unindexed, 'event', asked).catch(String),
            ];
            const shown = (found: Listing | string) => (typeof found === 'string' ? found : { ids: idsOf(found), total: found.total });
            expect({ viewer, code, asked, ...Object(shown(indexed)) }).toEqual({ viewer, code, asked, ...Object(shown(plain)) });
          }
        }
    };

    const change = (id: number, columns: Record<string, string>) =>
      db.transaction(async (trx) => {
        await updatePost(trx, id, columns);
        await updateIndex(trx, known, [id]);
        noteChange(trx, { now: NOW });
      });
    let known: Caller;

    it('are the same from the index as from the tables, with any status, password or trash', async () => {
      await expectSame();
      const { contentLanguages } = known.settings;
      for (const [id, columns] of [
        [111, { post_status: 'trash' }],
        [117, { post_password: 'secret' }],
        [119, { post_status: 'publish' }],
        [111, { post_status: 'private' }],
        [116, { post_status: 'draft' }],
      ] as const) {
        await change(id, columns);
        expect([id, await indexState(db, contentLanguages)]).toEqual([id, 'trusted']);
      }
      await expectSame();
      for (const [id, post_status] of [
        [111, 'publish'],
        [119, 'draft'],
        [116, 'publish'],
      ] as const)
        await change(id, { post_status });
      await change(117, { post_password: '' });
      expect(await indexState(db, contentLanguages)).toBe('trusted');
    });

    it('are the same if events show a venue in place of a hidden one', async () => {
      await change(101, { post_status: 'draft' });
      await expectSame();
      const found = await listing(await callerOf(0, 'it'), 'event', { ...SPAN, venue: '102', language_fallback: 'true' });
      expect(idsOf(found)).toEqual([111, 118]);
      await change(101, { post_status: 'publish' });
    });

    it('are the same for an author whose own drafts are translations', async () => {
      await change(111, { post_status: 'draft', post_author: String(CONTRIBUTOR) });
      await expectSame(CONTRIBUTOR);
      const italian = idsOf(await listing(await callerOf(CONTRIBUTOR, 'it'), 'event', { ...SPAN, language_fallback: 'true' }));
      expect(italian.filter((id) => id === 110 || id === 111)).toEqual([111]);
      await change(111, { post_status: 'publish', post_author: '1' });
    });

    it('contain everything that the API writes', async () => {
      const { contentLanguages } = await running.site.settings();
      const write = async (method: string, path: string, body: object | null = null) => {
        const answer = await running.send(method, `/wp-json/calendar/events/v1${path}`, { as: 'admin', body });
        expect([method, path, answer.status, answer.status < 300 ? '' : answer.text]).toEqual([method, path, answer.status, '']);
        expect([method, path, await indexState(db, contentLanguages)]).toEqual([method, path, 'trusted']);
        return answer.body;
      };
      const day = { start_date: '2031-07-01 10:00:00', end_date: '2031-07-01 12:00:00' };
      const english = await write('POST', '/events', { title: 'Walk', language: 'en', ...day });
      const italian = await write('POST', '/events', { title: 'Passeggiata', language: 'it', translation_of: english.id, ...day });
      expect(idsOf(await listing(await callerOf(0, 'it'), 'event', { ...SPAN, language_fallback: 'true' }))).toContain(italian.id);
      await write('PATCH', `/events/${italian.id}`, { translations: { en: null } });
      await write('PATCH', `/events/${italian.id}`, { translations: { en: english.id } });
      await write('PATCH', `/events/${italian.id}`, { status: 'draft' });
      expect(idsOf(await listing(await callerOf(0, 'it'), 'event', { ...SPAN, language_fallback: 'true' }))).toContain(english.id);
      await write('DELETE', `/events/${italian.id}`);
      await write('DELETE', `/events/${english.id}`);
      await expectSame();
    });

    /** Gives each event other dates and another venue, the same ones each time. */
    const shuffle = async () => {
      let seed = 42;
      const random = () => {
        seed = (seed * 16807) % 2147483647;
        return seed / 2147483647;
      };
      const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!;
      for (const { event_id: id } of await db.from('tec_occurrences').select('event_id')) {
        const start = Date.UTC(2031, 5, 1 + Math.floor(random() * 40), pick([0, 9, 14, 23]), pick([0, 30]));
        const text = (time: number) => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
        const [from, to] = [text(start), text(start + pick([0, 1, 8, 30, 24 * 3, 24 * 9, 24 * 9, 24 * 20, 24 * 40, 24 * 200]) * 3_600_000)];
        await db
          .from('tec_occurrences')
          .where('event_id', id)
          .update({ start_date: from, start_date_utc: from, end_date: to, end_date_utc: to });
        for (const [meta_key, meta_value] of [
          ['_EventStartDate', from],
          ['_EventEndDate', to],
          ['_EventVenueID', pick(['101', '102'])],
        ] as const)
          await db.from('postmeta').where({ post_id: id, meta_key }).update({ meta_value });
      }
      await reindex();
    };

    it('have the totals of a simple count, whenever they begin and end', async () => {
      const { contentLanguages: languages } = await running.site.settings();
      await shuffle();
      const moment = fc
        .date({ min: new Date('2031-05-25T00:00:00Z'), max: new Date('2031-08-10T00:00:00Z'), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 19).replace('T', ' '))
        .chain((text) => fc.constantFrom(text, text.slice(0, 10), `${text.slice(0, 10)} 23:59:59`));
      const filters = fc.constantFrom<Record<string, string>>(
        { categories: '38' },
        { categories: '40,49' },
        { tags: '61' },
        { venue: '101' },
        { venue: '101,102' },
        { organizer: '107' },
        { featured: 'true' },
      );
      const dates = fc.constantFrom('start_date', 'end_date', 'ends_after', 'ends_before', 'starts_after', 'starts_before');
      await fc.assert(
        fc.asyncProperty(
          filters,
          fc.constantFrom(...FALLBACKS),
          fc.constantFrom('en', 'it'),
          fc.dictionary(dates, moment, { minKeys: 1, maxKeys: 2 }),
          async (filter, fallback, code, bounds) => {
            const caller = await callerOf(0, code);
            const raw = new Map([...caller.settings.raw].filter(([name]) => name !== INDEX_OPTION));
            const asked = { ...filter, ...fallback, ...bounds, per_page: '50' };
            const shown = (found: Listing) => ({ ids: idsOf(found), total: found.total });
            const counted = await listing(caller, 'event', asked).then(shown, String);
            const plain = await listing({ ...caller, settings: { ...caller.settings, raw } }, 'event', asked).then(shown, String);
            expect(counted).toEqual(plain);
          },
        ),
        { numRuns: 150 },
      );
      expect(await hasWrongCounts(db)).toBe(false);
      expect(await hasWrongCounts(db, 0)).toBe(false);
      expect(await indexState(db, languages)).toBe('trusted');
    });

    it('of a category take the counts of each language from the counts of days, which reindexing corrects', async () => {
      await shuffle();
      const { contentLanguages: languages } = await running.site.settings();
      const italian = languages!.languages.find(({ code }) => code === 'it')!.number;
      const events = await db.from('fasti_entries').where({ language: italian, locked: 0, hidden: 0, status: 1 }).where('facet', '>', 0);
      const { facet, start_at } = events.find((row) => row.facet % FACETS === facetCode('category'))!;
      const total = async () => {
        const asked = { ...SPAN, categories: String(idOfFacet(facet)), language_fallback: 'false', per_page: '1' };
        return (await listing(await callerOf(0, 'it'), 'event', asked)).total;
      };
      const right = await total();
      expect(right).toBeGreaterThan(0);
      for (const day of [dayOf(start_at), monthRow(monthOf(dayOf(start_at)))])
        await db
          .from('fasti_days')
          .where({ facet: shareOf(facet, ['own', italian])!, day })
          .increment('n', 5);
      expect(await total()).toBe(right + 5);
      expect([await hasWrongCounts(db), await hasWrongCounts(db, 0)]).toEqual([true, true]);
      await reindex();
      expect(await total()).toBe(right);
      await db
        .from('fasti_days')
        .where({ facet: shareOf(facet, ['own', italian])! })
        .delete();
      expect([await hasWrongCounts(db), await hasWrongCounts(db, 0)]).toEqual([true, true]);
      await reindexEvents(db, () => NOW, { marksComplete: true, languages, maxRowsAtOnce: 0 });
      expect(await total()).toBe(right);
    });

    if (form === 'wpml')
      it('are the same if events are in a language that is switched off', async () => {
        const rowOfEvent = () => db.from('icl_translations').where({ element_type: 'post_tribe_events', element_id: 118 });
        for (const [language_code, check] of [
          ['de', expectSame],
          ['it', async () => undefined],
        ] as const) {
          await rowOfEvent().update({ language_code });
          await db.from('fasti_changes').increment('counter');
          await reindex();
          await check();
        }
      });

    it('do not use an index that was built before there were languages', async () => {
      const settings = await running.site.settings();
      expect(hasIndex({ ...settings, contentLanguages: undefined })).toBe(false);
      const { contentLanguages } = settings;
      expect(hasIndex({ ...settings, contentLanguages: { ...contentLanguages!, defaultCode: 'it' } })).toBe(false);
    });

    it('contain the same records page by page, separately for each language, and no group twice', async () => {
      const all = new Map<PostKindName, number[]>();
      for (const { name } of postKinds) {
        const { records } = await listing(await callerOf(0, undefined), name, { ...(name === 'event' ? SPAN : {}), per_page: '50' });
        all.set(
          name,
          records.map(({ id }) => Number(id)),
        );
        const byLanguage = await Promise.all(
          ['en', 'it'].map(async (code) =>
            idsOf(
              await listing(await callerOf(0, code), name, {
                ...(name === 'event' ? SPAN : {}),
                per_page: '50',
                language_fallback: 'false',
              }),
            ),
          ),
        );
        const neutral = records.filter(({ language }) => language === null).map(({ id }) => Number(id));
        expect([name, [...byLanguage.flat(), ...neutral].sort()]).toEqual([name, [...all.get(name)!].sort()]);
      }
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom<PostKindName>('event', 'venue', 'organizer'),
          fc.constantFrom('en', 'it', undefined),
          fc.constantFrom(...FALLBACKS),
          fc.integer({ min: 1, max: 4 }),
          fc.boolean(),
          async (name, code, fallback, size, edits) => {
            const caller = await callerOf(edits ? EDITOR : 0, code);
            const raw = { ...(name === 'event' ? SPAN : {}), ...fallback, per_page: String(size) };
            const first = await listing(caller, name, raw);
            const walked: Listing['records'][number][] = [];
            for (let page = 1; page <= first.pages; page += 1)
              walked.push(...(await listing(caller, name, { ...raw, page: String(page) })).records);
            expect(walked.length).toBe(first.total);
            expect(new Set(walked.map(({ id }) => id)).size).toBe(first.total);
            if (code === undefined) return;
            const groups = walked.map(({ id, translations }) =>
              Math.min(Number(id), ...Object.values(Object(translations)).map((one) => Number(Object(one).id))),
            );
            expect(new Set(groups).size).toBe(first.total);
          },
        ),
        { numRuns: 60 },
      );
    });
  });

  it('use the index again as soon as a site has its first language', async () => {
    const db = await loadSite(await open());
    const running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: 'off' }, clock: () => NOW });
    await reindexEvents(db, () => NOW, { marksComplete: true });
    expect(hasIndex(await running.site.settings())).toBe(true);
    await addSiteLanguage(running.site, { code: 'en', isDefault: true });
    const { contentLanguages } = await running.site.settings();
    expect(contentLanguages?.defaultCode).toBe('en');
    expect(hasIndex(await running.site.settings())).toBe(true);
    expect(await indexState(db, contentLanguages)).toBe('trusted');
    await running.close();
  });
});
