import { beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/config/config.ts';
import { createSettingsReader } from '../../src/settings-reader.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { noteChange, reportEverything } from '../../src/storage/journal/reported-changes.ts';
import { formOf } from '../../src/storage/languages/forms.ts';
import { membershipOf } from '../../src/storage/languages/membership.ts';
import { membersIn } from '../../src/storage/languages/polylang/group.ts';
import { readOptions, writeOption } from '../../src/storage/rows/options.ts';
import { addLanguage } from '../../src/storage/translations/site-languages.ts';
import type { ContentLanguages } from '../../src/wordpress/content-languages.ts';
import { asStored, serializedMembers, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { countQueries } from '../support/count-queries.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { loadSite, makeNetwork, setOptions } from '../support/site.ts';

/** Reader that reads the settings each time, unless SQLite reports that nothing was written. */
const readerOf = (db: Database, env: Record<string, string> = {}) =>
  createSettingsReader(db, readConfig(env), { maxAgeMs: 0, stateSince: async () => db.driver.state?.() });

const languagesOf = async (db: Database, env?: Record<string, string>) => (await readerOf(db, env).read()).contentLanguages;

describeDatabases('content languages', (open) => {
  describe.each(['polylang', 'wpml'] as const)('stored by %s', (form) => {
    let db: Database;
    let languages: ContentLanguages;
    beforeAll(async () => {
      db = await loadLanguages(await open(), form);
      languages = (await languagesOf(db))!;
    });

    it('are found with their names, locales and order', () => {
      expect(languages).toMatchObject({
        form,
        pluginRuns: true,
        defaultCode: 'en',
        languages: [
          { code: 'en', locale: 'en_US', name: 'English', hidden: false },
          { code: 'it', locale: 'it_IT', name: 'Italiano', hidden: false },
        ],
        urls: { by: 'directory', before: '', bare: 'en' },
      });
      const kinds = ['tribe_events', 'tribe_venue', 'tribe_organizer', 'tribe_events_cat', 'post_tag'];
      expect(kinds.filter((kind) => languages.translated.includes(kind))).toEqual(form === 'polylang' ? kinds : kinds.slice(0, 4));
      expect(languages.withFallback).toEqual(form === 'polylang' ? [] : ['tribe_venue']);
    });

    it('give the language and the group of posts and terms in one query', async () => {
      const terms = await db
        .from('term_taxonomy')
        .whereIn('term_id', [38, 40, 57, 54])
        .whereIn('taxonomy', ['tribe_events_cat', 'post_tag'])
        .select('term_id', 'term_taxonomy_id', 'taxonomy');
      const before = db.queries();
      const found = await formOf(languages).memberships(db, languages, { posts: [110, 111, 112, 114, 102], terms });
      expect(db.queries() - before).toBe(1);
      const shown = (some: typeof found.posts) =>
        Object.fromEntries(
          [...some].sort(([a], [b]) => a - b).map(([id, { language, members }]) => [id, [language, Object.fromEntries(members)]]),
        );
      expect(shown(found.posts)).toEqual({
        102: ['it', { en: 101, it: 102 }],
        110: ['en', { en: 110, it: 111 }],
        111: ['it', { en: 110, it: 111 }],
        112: ['en', { en: 112 }],
      });
      expect(shown(found.terms)).toEqual({
        38: ['en', { en: 38, it: 40 }],
        40: ['it', { en: 38, it: 40 }],
        54: ['it', { it: 54 }],
      });
      const known = terms.map(({ term_id, taxonomy }) => ({ term_id, taxonomy }));
      expect((await formOf(languages).memberships(db, languages, { posts: [], terms: known })).terms).toEqual(found.terms);
    });

    it('are ignored once the plugin is deactivated', async () => {
      const plugins = 'a:1:{i:0;s:43:"the-events-calendar/the-events-calendar.php";}';
      const other = await loadLanguages(await open(), form);
      const reader = readerOf(other);
      expect((await reader.read()).contentLanguages?.form).toBe(form);
      await setOptions(other, { active_plugins: plugins });
      expect((await reader.read()).contentLanguages).toBeUndefined();
      expect((await languagesOf(other, { CONTENT_LANGUAGES: form }))?.form).toBe(form);
      // Without a WordPress that could run the plugin, rows in the form of Polylang still count.
      const own = await languagesOf(other, { SHARED_WITH_WORDPRESS: 'off' });
      expect([own?.form, own?.pluginRuns]).toEqual(form === 'polylang' ? ['polylang', false] : [undefined, undefined]);
    });

    it('are found if a network has activated the plugin for all its sites', async () => {
      const other = await loadLanguages(await open(), form);
      const [own] = await other.from('options').where('option_name', 'active_plugins').select('option_value');
      const files = Object.values(serializedMembers(own?.option_value)).map(String);
      await setOptions(other, { active_plugins: 'a:0:{}' });
      await makeNetwork(other);
      const reader = readerOf(other);
      const runs = async () => {
        const { shared, contentLanguages } = await reader.read();
        return [shared, contentLanguages?.form === form && contentLanguages.pluginRuns];
      };
      expect(await runs()).toEqual([false, false]);
      const value = toSerialized(Object.fromEntries(files.map((file) => [file, 1_790_000_000])));
      await other.from('sitemeta').insert({ site_id: 1, meta_key: 'active_sitewide_plugins', meta_value: value });
      expect(await runs()).toEqual([true, true]);
      await other.from('sitemeta').delete();
      expect(await runs()).toEqual([false, false]);
    });

    it('are ignored if CONTENT_LANGUAGES is off', async () => {
      expect(await languagesOf(db, { CONTENT_LANGUAGES: 'off' })).toBeUndefined();
    });
  });

  it('include a newly added language at the next reading', async () => {
    const db = await loadLanguages(await open(), 'polylang');
    const reader = readerOf(db);
    const first = await reader.read();
    expect(await reader.read()).toBe(first);
    await db.from('terms').insert({ term_id: 90, name: 'Deutsch', slug: 'de', term_group: 2 });
    await db
      .from('term_taxonomy')
      .insert({ term_taxonomy_id: 120, term_id: 90, taxonomy: 'language', description: '', parent: 0, count: 0 });
    expect((await reader.read()).contentLanguages?.languages.map(({ code }) => code)).toEqual(['en', 'it', 'de']);
  });

  it('cost no extra query on a site without a language plugin', async () => {
    const db = await loadSite(await open());
    const reader = readerOf(db);
    expect((await reader.read()).contentLanguages).toBeUndefined();
    expect((await countQueries({ db, settings: reader.read }, reader.read)).queries).toBe(1);
  });
});

describe('group of translations', () => {
  it('is read from the serialized value of Polylang and is empty if the value is broken', () => {
    expect(Object.fromEntries(membersIn('a:3:{s:2:"en";i:110;s:2:"it";s:3:"111";s:4:"sync";a:1:{s:2:"en";s:2:"it";}}'))).toEqual({
      en: 110,
      it: 111,
    });
    for (const broken of ['', 'en', 'a:1:{s:2:"en"', 'a:1:{i:0;i:7;', 'O:8:"stdClass":0:{}', 'i:7;', 'a:1:{s:2:"en";i:-4;}'])
      expect(membersIn(broken).size).toBe(0);
  });

  it('contains a record only under its own language', () => {
    const languages = { languages: ['en', 'it'].map((code) => ({ code })) } as unknown as ContentLanguages;
    const members = (code: string | undefined, stored: Record<string, number>) => {
      const found = membershipOf(languages, 7, code, new Map(Object.entries(stored)));
      return [found.language, Object.fromEntries(found.members)];
    };
    expect(members('it', { en: 7 })).toEqual(['it', { it: 7 }]);
    expect(members('it', { en: 3, it: 9, fr: 4 })).toEqual(['it', { en: 3, it: 7 }]);
    expect(members(undefined, { en: 3 })).toEqual([null, {}]);
    expect(members('fr', { en: 3 })).toEqual([null, {}]);
  });
});

describeDatabases('settings of Polylang', (open) => {
  const added = { code: 'de', locale: 'de_DE', name: 'Deutsch', rtl: false, isDefault: false };
  it.each([
    ['an object', 'a:2:{s:12:"default_lang";s:2:"it";s:1:"x";O:8:"stdClass":0:{}}'],
    ['a wrong length', 'a:1:{s:12:"default_lang";s:5:"it";}'],
    ['an infinite number', 'a:2:{s:12:"default_lang";s:2:"it";s:4:"size";d:INF;}'],
    ['a missing end of a value', 'a:1:{s:12:"default_lang";b:1}'],
    ['more behind the array', 'a:1:{s:12:"default_lang";s:2:"it";}}'],
    ['no array', 'it'],
  ])('are not overwritten by a new language if they cannot be read: %s', async (_, stored) => {
    const db = await open();
    await db.transaction((tx) => writeOption(tx, 'polylang', asStored(stored)));
    expect(await db.transaction((tx) => addLanguage(tx, added))).toBe(false);
    expect((await readOptions(db, ['polylang'])).get('polylang')).toBe(stored);
  });

  it('make WordPress find the pages of a new language', async () => {
    const db = await open();
    await loadSite(db);
    await setOptions(db, { rewrite_rules: { '(it)/events/?$': 'index.php?lang=$matches[1]' } });
    await db.transaction(async (tx) => {
      expect(await addLanguage(tx, added)).toBe(true);
      reportEverything(tx);
      noteChange(tx, { now: new Date() });
    });
    expect((await readOptions(db, ['rewrite_rules'])).get('rewrite_rules')).toBe('');
  });
});
