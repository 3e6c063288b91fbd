import { afterEach, expect, it } from '@jest/globals';
import { postKind } from '../../src/kinds/index.ts';
import { callerFor } from '../../src/records/caller.ts';
import { acceptParams } from '../../src/records/input.ts';
import { canUseIndex, updateIndex } from '../../src/records/list-index.ts';
import { storeSuggestion } from '../../src/records/suggestions.ts';
import { languageFaults } from '../../src/storage/audit/language-audit.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { isIndexUpToDate } from '../../src/storage/index/event-index.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { noteChange } from '../../src/storage/journal/reported-changes.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { languageWriterOf } from '../../src/storage/translations/language-writers.ts';
import { languageOfCode } from '../../src/wordpress/content-languages.ts';
import { serializedMembers, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { ANONYMOUS } from '../../src/wordpress/viewer.ts';
import { describeDatabases } from '../support/databases.ts';
import { sharp } from '../support/image-library.ts';
import { loadLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { setOptions } from '../support/site.ts';
import { expectBody, expectError, ROOT } from '../support/site-client.ts';

const HOST = '127.0.0.1:8081';

describeDatabases('writes on a site in several languages', (open) => {
  let db: Database;
  let running: RunningSite;
  const serve = async (form: 'polylang' | 'wpml') => {
    db = await loadLanguages(await open(), form);
    running = await serveDatabase(db, { env: { CONTENT_LANGUAGES: form, SHARED_WITH_WORDPRESS: 'off' } });
  };
  afterEach(() => running.close());
  const PICTURE = { is: 'post', type: 'attachment' } as const;
  const upload = async (): Promise<number> => {
    const body = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const headers = { Host: HOST, 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename=red.png' };
    return expectBody(await running.send('POST', '/wp-json/wp/v2/media', { as: 'admin', headers, body }), 201).id;
  };
  /** Returns the posts of these that have a language, once for each row that says so. */
  const rowsAbout = async (ids: readonly number[]): Promise<readonly { readonly object: number }[]> => {
    const { form } = (await running.site.settings()).contentLanguages!;
    return form === 'wpml'
      ? db.from('icl_translations').where('element_type', 'post_attachment').whereIn('element_id', [...ids]).orderBy('element_id').select({ object: 'element_id' }) // biome-ignore format: one call
      : db.from('term_relationships').whereIn('object_id', [...ids]).orderBy('object_id').select({ object: 'object_id', row: 'term_taxonomy_id' }); // biome-ignore format: one call
  };
  const upsert = (body: object) =>
    running.send('POST', `${ROOT}/events?upsert=slug`, {
      as: 'admin',
      headers: { Host: HOST },
      body: { title: 'Fair', start_date: '2031-05-01 10:00:00', end_date: '2031-05-01 11:00:00', ...body },
    });

  it('find an event by its slug in the named language, with WPML', async () => {
    await serve('wpml');
    // 117 and 118 have the slug festival in English and Italian.
    expect(expectBody(await upsert({ slug: 'festival', language: 'it' }), 200)).toMatchObject({ id: 118, language: 'it' });
    expect(expectBody(await upsert({ slug: 'festival', language: 'en' }), 200)).toMatchObject({ id: 117, language: 'en' });
    expect(expectBody(await upsert({ slug: 'festival' }), 200)).toMatchObject({ id: 117, language: 'en' });
    const made = expectBody(await upsert({ slug: 'fair', language: 'en' }), 201);
    const other = expectBody(await upsert({ slug: 'fair', language: 'it' }), 201);
    expect(other).toMatchObject({ language: 'it', slug: 'fair' });
    expect(expectBody(await upsert({ slug: 'fair' }), 200)).toMatchObject({ id: made.id, language: 'en' });
  });

  it('find the event again if another one, whose language WPML has switched off, has the slug', async () => {
    await serve('wpml');
    const former = expectBody(await upsert({ slug: 'fair', language: 'it' }), 201);
    await db.from('icl_translations').where({ element_type: 'post_tribe_events', element_id: Number(former.id) }).update({ language_code: 'de' }); // biome-ignore format: one call
    const made = expectBody(await upsert({ slug: 'fair', language: 'en' }), 201);
    expect(made).toMatchObject({ slug: 'fair', language: 'en' });
    expect(expectBody(await upsert({ slug: 'fair', language: 'en' }), 200)).toMatchObject({ id: made.id });
  });

  it('do not move an event of another language that has the slug, with Polylang', async () => {
    await serve('polylang');
    const made = expectBody(await upsert({ slug: 'fair', language: 'en' }), 201);
    expectError(await upsert({ slug: 'fair', language: 'it' }), 400, 'rest_invalid_param');
    expect(expectBody(await upsert({ slug: 'fair' }), 200)).toMatchObject({ id: made.id, language: 'en' });
  });

  it.each(['polylang', 'wpml'] as const)(
    'delete the language of a picture with the picture, and leave its translations in their group: %s',
    async (form) => {
      await serve(form);
      const languages = (await running.site.settings()).contentLanguages!;
      const writer = languageWriterOf(languages);
      const faults = () => Promise.all(languageFaults(languages).map(({ find }) => find(db)));
      const faultsBefore = await faults();
      const [original, translation, last] = [await upload(), await upload(), await upload()];
      await db.transaction(async (trx) => {
        for (const [code, id] of [['en', original], ['it', translation], ['en', last]] as const) // biome-ignore format: one line
          await writer.setLanguage(trx, PICTURE, id, languageOfCode(languages, code)!);
        await writer.writeGroup(trx, PICTURE, new Map([['en', original], ['it', translation]])); // biome-ignore format: one line
        noteChange(trx, { now: new Date() });
      });
      const group = async (id: number) => (await db.transaction((trx) => writer.lockGroups(trx, PICTURE, [id]))).get(id);
      expect(await group(translation)).toEqual(new Map([['en', original], ['it', translation]])); // biome-ignore format: one line
      const before = await rowsAbout([original, translation, last]);
      for (const [id, left] of [
        [original, [translation, last]],
        [translation, [last]],
        [last, []],
      ] as const) {
        expectBody(await running.send('DELETE', `/wp-json/wp/v2/media/${id}?force=true`, { as: 'admin', headers: { Host: HOST } }), 200);
        expect(await rowsAbout([original, translation, last])).toEqual(before.filter(({ object }) => left.some((one) => one === object)));
        if (left.length > 1) expect(await group(translation)).toEqual(new Map([['it', translation]]));
      }
      expect(await faults()).toEqual(faultsBefore);
    },
  );

  it('do not create categories for a suggestion of a visitor until it is published', async () => {
    await serve('polylang');
    const term = await running.send('POST', `${ROOT}/categories`, {
      as: 'admin',
      headers: { Host: HOST },
      body: { name: 'Polka', language: 'en' },
    });
    const { id } = expectBody(term, 201);
    const visitor = callerFor(running.site, await running.site.settings(), ANONYMOUS, {
      language: 'it',
      content: { code: 'it', isChosen: true },
    });
    const raw = { title: 'Ballo', start_date: '2031-05-01 10:00:00', end_date: '2031-05-01 11:00:00', categories: [id] };
    const values = await acceptParams(running.site, visitor, postKind('event').fields, raw, 'create');
    await storeSuggestion(running.site, visitor, values, {
      suggestion: { name: 'Eva', email: 'eva@example.org', note: '', venue: '', organizer: '' },
      key: '',
      sentValues: raw,
    });
    const polkas = () => db.from('terms').where('slug', 'like', 'polka%').orderBy('term_id').pluck('slug');
    expect(await polkas()).toEqual(['polka']);
    const [event] = await db.from('posts').where('post_title', 'Ballo').pluck('ID');
    const published = await running.send('POST', `${ROOT}/events/${event}`, {
      as: 'admin',
      headers: { Host: HOST },
      body: { status: 'publish' },
    });
    expect(expectBody(published).categories).toEqual([expect.objectContaining({ slug: 'polka-it', language: 'it' })]);
    expect(await polkas()).toEqual(['polka', 'polka-it']);
  });

  it('keep the list index of all languages, also for those who do not see a hidden one', async () => {
    await serve('wpml');
    const settings = serializedMembers((await readOptions(db, ['icl_sitepress_settings'])).get('icl_sitepress_settings'));
    const fallback = { ...Object(settings.custom_posts_sync_option), tribe_events: 2 };
    await setOptions(db, {
      icl_sitepress_settings: toSerialized({ ...settings, hidden_languages: ['it'], custom_posts_sync_option: fallback }),
    });
    const { contentLanguages: languages } = await running.site.settings();
    expect(languages?.languages.map(({ hidden }) => hidden)).toEqual([false, true]);
    await reindexEvents(db, running.site.clock, { marksComplete: true, languages });
    const visitor = callerFor(running.site, await running.site.settings(), ANONYMOUS, { language: 'en' });
    expect(visitor.settings.contentLanguages?.languages.map(({ code }) => code)).toEqual(['en']);
    expect(await canUseIndex(running.site, visitor)).toBe(true);
    await db.transaction((trx) => updateIndex(trx, visitor, [110, 112, 117]));
    expect(await isIndexUpToDate(db, [110, 111, 112, 117], languages)).toBe(true);
  });
});
