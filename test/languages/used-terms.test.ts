import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages, resetLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';

const ROOT = '/wp-json/calendar/events/v1';
const SPAN = 'start_date=2031-01-01&end_date=2032-01-01&per_page=50';
/** The rows of `term_taxonomy` of a term and its translation, by language. Jazz is below music. */
const MUSIC = { en: 68, it: 70 };
const JAZZ = { en: 73, it: 75 };
const FREE = { en: 91, it: 93 };
const [MUSICA, JAZZ_IT, GRATIS] = [40, 45, 63];

describe.each(['polylang', 'wpml'] as const)('lists without empty terms in a language, stored by %s', (form) => {
  describeDatabases('a site in two languages', (open) => {
    let db: Database;
    let running: RunningSite;
    beforeAll(async () => {
      db = await loadLanguages(await open(), form);
      running = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-22T21:30:00Z') });
    });
    beforeEach(() => resetLanguages(db, form));
    afterAll(() => running.close());

    /** Gives events the English term instead of the Italian one. */
    const putInEnglish = async ({ en, it }: Readonly<Record<'en' | 'it', number>>) => {
      const moved = await db.from('term_relationships').where('term_taxonomy_id', it).update({ term_taxonomy_id: en });
      await db.from('term_taxonomy').where('term_taxonomy_id', en).increment('count', moved);
      await db.from('term_taxonomy').where('term_taxonomy_id', it).update({ count: 0 });
      await db.from('fasti_changes').increment('counter');
    };
    /** Takes music and jazz from events. */
    const withoutTerms = (events: number[]) =>
      db
        .from('term_relationships')
        .whereIn('object_id', events)
        .whereIn('term_taxonomy_id', [...Object.values(MUSIC), ...Object.values(JAZZ)])
        .delete();
    const idsAt = async (path: string): Promise<number[]> => {
      const { status, body } = await running.send('GET', path);
      expect([path, status]).toEqual([path, 200]);
      const records = Object.values(body).find(Array.isArray) as { id: number }[];
      expect([path, body.total]).toEqual([path, records.length]);
      return records.map(({ id }) => id);
    };
    const categories = (query = '') => idsAt(`/it${ROOT}/categories?per_page=50${query}`);
    const eventsWith = (category: number, query = '') => idsAt(`/it${ROOT}/events?${SPAN}&categories=${category}${query}`);

    it('contain a term of which events have only a translation, and its ancestors', async () => {
      const before = await categories();
      await putInEnglish(MUSIC);
      expect(await eventsWith(MUSICA)).toEqual([111, 118]);
      expect(await categories()).toEqual(before);
      expect(await categories('&parent=0')).toContain(MUSICA);
      await db.from('term_relationships').where('term_taxonomy_id', MUSIC.en).delete();
      await putInEnglish(JAZZ);
      expect(await categories()).toEqual(before);
      const { text } = await running.send('GET', '/it/events/list/?filters=open&tribe-bar-date=2031-01-01');
      expect(text).toMatch(/<option value="jazz-it"/);
    });

    it('contain no term of which only events in other languages have a translation', async () => {
      await putInEnglish(MUSIC);
      await putInEnglish(JAZZ);
      await withoutTerms([111, 118, 124]);
      expect(await eventsWith(MUSICA)).toEqual([]);
      expect(await categories()).toEqual(expect.not.arrayContaining([MUSICA]));
      expect(await categories()).toEqual(expect.not.arrayContaining([JAZZ_IT]));
    });

    it('contain the terms of untranslated events if these are listed', async () => {
      await putInEnglish(MUSIC);
      await putInEnglish(JAZZ);
      await withoutTerms([111, 118, 124]);
      await db.from('term_relationships').insert({ object_id: 112, term_taxonomy_id: MUSIC.en, term_order: 0 });
      await db.from('fasti_changes').increment('counter');
      expect([await eventsWith(MUSICA), await eventsWith(MUSICA, '&language_fallback=true')]).toEqual([[], [112]]);
      expect(await categories()).not.toContain(MUSICA);
      expect(await categories('&language_fallback=true')).toContain(MUSICA);
    });

    it('contain what an event shows', async () => {
      await putInEnglish(MUSIC);
      await putInEnglish(JAZZ);
      const { categories: shown } = (await running.send('GET', `/it${ROOT}/events/118`)).body;
      expect(shown.map(({ id }: { id: number }) => id).sort()).toEqual([MUSICA, JAZZ_IT]);
      expect((await categories('&event=118&hide_empty=true')).sort()).toEqual([MUSICA, JAZZ_IT]);
    });

    // With WPML, the tags of this site have no languages.
    if (form === 'polylang')
      it('contain tags by the same rule', async () => {
        const tags = () => idsAt(`/it${ROOT}/tags?per_page=50`);
        await putInEnglish(FREE);
        expect(await tags()).toContain(GRATIS);
        await db.from('posts').where('ID', 111).update({ post_status: 'draft' });
        await db.from('fasti_changes').increment('counter');
        expect(await tags()).not.toContain(GRATIS);
      });
  });
});
