import { afterEach, expect, it } from '@jest/globals';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { PostItem } from '../../src/exchange/items/items.ts';
import { languagesOfRecords } from '../../src/records/record-languages.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { callerOf, siteOf, streamOf } from './sites.ts';

describeDatabases('an import of records that are in a group of translations, but in no language of the site', (open) => {
  let db: Database;
  let site: Site;
  afterEach(() => site.close());

  const load = async (form: 'polylang' | 'wpml') => {
    db = await loadLanguages(await open(), form);
    site = await siteOf(db);
  };
  const event = (title: string, language: string | undefined, group: string | undefined): PostItem => ({
    ...{ kind: 'event', sourceId: title, columns: { post_title: title }, metas: [], links: [], terms: [], complete: true },
    ...{ language, translation_group: group },
  });
  const imported = async (items: readonly PostItem[], language?: string) => {
    const { losses } = await importItems(site, await callerOf(site), streamOf(items), { source: 'x', language });
    return losses.map(({ reason }) => reason);
  };
  const idOf = async (title: string): Promise<number> => (await db.from('posts').where('post_title', title).pluck('ID'))[0]!;
  const languageOf = async (title: string) => {
    const { contentLanguages: languages } = await site.settings();
    const id = await idOf(title);
    return (await languagesOfRecords(db, { languages: languages!, translatable: { is: 'post', type: 'tribe_events' } }, [id])).get(id);
  };
  const loseLanguage = async (title: string) => {
    const { contentLanguages } = await site.settings();
    const rows = contentLanguages!.languages.map(({ onPosts }) => onPosts);
    await db.from('term_relationships').where('object_id', await idOf(title)).whereIn('term_taxonomy_id', rows).delete(); // biome-ignore format: one call
  };

  it.each([undefined, 'g'])('gives them the language under which the group lists them, in group %s', async (group) => {
    await load('polylang');
    await imported([event('Concert', 'en', 'g'), event('Concerto', 'it', 'g')]);
    await loseLanguage('Concerto');
    const changed = { ...event('Concerto', undefined, group), columns: { post_title: 'Concerto', post_content: 'Nuovo' } };
    expect(await imported([changed], 'en')).toEqual([]);
    expect([await languageOf('Concert'), await languageOf('Concerto')]).toEqual(['en', 'it']);
  });

  it('reports that another member has the language which the source states', async () => {
    await load('polylang');
    await imported([event('Concert', 'en', 'g'), event('Concerto', 'it', 'g')]);
    await loseLanguage('Concerto');
    for (let run = 0; run < 2; run += 1) {
      expect(await imported([event('Concerto', 'en', 'g')])).toEqual(['translation-conflict']);
      expect([await languageOf('Concert'), await languageOf('Concerto')]).toEqual(['en', 'it']);
    }
  });

  it('takes them out of a group that has another member of the language which the source states, from one that WPML has switched off', async () => {
    await load('wpml');
    await imported([event('Concert', 'en', 'g'), event('Concerto', 'it', 'g')]);
    const row = { element_type: 'post_tribe_events', element_id: await idOf('Concerto') };
    await db.from('icl_translations').where(row).update({ language_code: 'de' });
    for (let run = 0; run < 2; run += 1) {
      expect(await imported([event('Concerto', 'en', 'g')])).toEqual(['translation-conflict']);
      expect(await db.from('icl_translations').where(row).pluck('language_code')).toEqual(['en']);
    }
  });
});
