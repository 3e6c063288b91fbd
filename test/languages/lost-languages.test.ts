import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { assignLanguage } from '../../src/records/site-languages.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { expectBody, expectError, type Json, ROOT } from '../support/site-client.ts';

/** Records that are in a group of translations, but in no language that the site has. */
describeDatabases('a record without a language in a group of translations', (open) => {
  let db: Database;
  let running: RunningSite;
  afterEach(() => running.close());

  const send = (method: string, path: string, body: object | null = null) =>
    running.send(method, `${ROOT}${path}`, { as: 'admin', headers: { Host: '127.0.0.1:8081' }, body });
  /** Returns the language of a record and the ids of its translations. */
  const placeOf = async (path: string) => {
    const { language, translations } = expectBody(await send('GET', path));
    return [language, Object.fromEntries(Object.entries(translations as Json).map(([code, member]) => [code, (member as Json).id]))];
  };

  describe('with Polylang', () => {
    beforeEach(async () => {
      db = await loadLanguages(await open(), 'polylang');
      running = await serveDatabase(db, { env: { CONTENT_LANGUAGES: 'polylang' } });
      const { contentLanguages } = await running.site.settings();
      const rows = contentLanguages!.languages.flatMap(({ onPosts, onTerms }) => [onPosts, onTerms]);
      await db.from('term_relationships').whereIn('object_id', [111, 40]).whereIn('term_taxonomy_id', rows).delete();
    });

    const expectRestored = async () => {
      expect(await placeOf('/events/110')).toEqual(['en', { en: 110, it: 111 }]);
      expect(await placeOf('/events/111')).toEqual(['it', { en: 110, it: 111 }]);
      expect(await placeOf('/categories/40')).toEqual(['it', { en: 38, it: 40 }]);
    };

    it('gets the language under which the group lists it when it is changed', async () => {
      expectBody(await send('POST', '/events/111', { title: 'Concerto' }));
      expectBody(await send('POST', '/categories/40', { description: 'Concerti' }));
      await expectRestored();
    });

    it('gets it when all records without a language are assigned another one', async () => {
      await assignLanguage(running.site, 'en');
      await expectRestored();
    });

    it('keeps the language that it was assigned if a later batch fails', async () => {
      const times = [running.site.clock()];
      const failing = () => {
        const time = times.pop();
        if (!time) throw new Error('no time left');
        return time;
      };
      await expect(assignLanguage({ ...running.site, clock: failing }, 'en')).rejects.toThrow('no time left');
      expect([(await placeOf('/events/111'))[0], (await placeOf('/categories/40'))[0]]).toEqual(['it', null]);
    });

    it('gets its categories in the language that it is given', async () => {
      await db.from('term_relationships').where('object_id', 112).delete();
      const { contentLanguages } = await running.site.settings();
      expectBody(await send('POST', '/events/112', { categories: [38] }));
      await db.from('term_relationships').where('object_id', 112).whereIn('term_taxonomy_id', contentLanguages!.languages.map(({ onPosts }) => onPosts)).delete(); // biome-ignore format: one call
      const { categories } = expectBody(await send('POST', '/events/112', { language: 'it' }));
      expect((categories as Json[]).map(({ id }) => id)).toEqual([40]);
    });

    it('is not taken for a new venue in another language of the same name', async () => {
      const { contentLanguages } = await running.site.settings();
      const [title] = await db.from('posts').where('ID', 102).pluck('post_title');
      await db.from('term_relationships').where('object_id', 102).whereIn('term_taxonomy_id', contentLanguages!.languages.map(({ onPosts }) => onPosts)).delete(); // biome-ignore format: one call
      await db.from('posts').where('ID', 101).update({ post_title: 'Elsewhere' });
      const dates = { start_date: '2031-05-01 10:00:00', end_date: '2031-05-01 11:00:00' };
      const { venue } = expectBody(
        await send('POST', '/events', { title: 'Fair', ...dates, language: 'en', venue: { venue: title, language: 'en' } }),
        201,
      );
      expect(venue).toMatchObject({ venue: title, language: 'en' });
      expect([101, 102]).not.toContain((venue as Json).id);
      expect(await placeOf('/venues/101')).toEqual(['en', { en: 101, it: 102 }]);
    });

    it('cannot take the language of another member', async () => {
      expectError(await send('POST', '/events/111', { language: 'en' }), 400, 'language-taken');
    });
  });

  it('moves within its group if WPML has switched off its language, which its translations report', async () => {
    db = await loadLanguages(await open(), 'wpml');
    await db.from('icl_translations').where({ element_type: 'post_tribe_events', element_id: 111 }).update({ language_code: 'de' });
    running = await serveDatabase(db, { env: { CONTENT_LANGUAGES: 'wpml' } });
    expect(await placeOf('/events/110')).toEqual(['en', { en: 110 }]);
    let read: Json = { next: '', more: true };
    while (read.more)
      read = expectBody(await send('GET', `/changes?translation_language=all&limit=100${read.next && `&since=${read.next}`}`));
    expectBody(await send('POST', '/events/111', { language: 'it' }));
    expect(await placeOf('/events/110')).toEqual(['en', { en: 110, it: 111 }]);
    const { changes } = expectBody(await send('GET', `/changes?translation_language=all&since=${read.next}`));
    expect((changes as Json[]).map(({ kind, id }) => `${kind} ${id}`).sort()).toEqual(['event 110', 'event 111']);
  });

  it('leaves its group if WPML has switched off its language and another member has the new one', async () => {
    db = await loadLanguages(await open(), 'wpml');
    await db.from('icl_translations').where({ element_type: 'post_tribe_events', element_id: 111 }).update({ language_code: 'de' });
    running = await serveDatabase(db, { env: { CONTENT_LANGUAGES: 'wpml' } });
    expectBody(await send('POST', '/events/111', { language: 'en' }));
    expect([await placeOf('/events/110'), await placeOf('/events/111')]).toEqual([
      ['en', { en: 110 }],
      ['en', { en: 111 }],
    ]);
  });
});
