import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { Item, PostItem, TermItem } from '../../src/exchange/items/items.ts';
import { postKind, termKind } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { languagesOf, membershipsOf } from '../../src/records/record-languages.ts';
import { deleteTerm } from '../../src/records/terms.ts';
import { deletePost } from '../../src/records/writes/post-writes.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { commandIn, type Fasti, temporaryFolder } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { callerOf, siteOf, streamOf } from './sites.ts';

const folder = temporaryFolder();

/** Imports that meet records which have a language already, from an earlier import or from editors. */
describeDatabases('languages of records that exist already', (open) => {
  let db: Database;
  let fasti: Fasti;
  const report = (...lines: string[]) => reportOf(lines);
  const reportOf = async (lines: readonly string[], ...flags: string[]) => {
    const file = join(folder, `${db.dialect.name}.csv`);
    writeFileSync(file, ['Event Name,Event Start Date,Event Cost,Event Category,Language,Translation Group', ...lines, ''].join('\n'));
    const { out } = await fasti('import', file, '--format=json', ...flags);
    const { created, updated, losses } = JSON.parse(out) as { created: object; updated: object; losses: { reason: string }[] };
    return { created, updated, losses: losses.map(({ reason }) => reason) };
  };
  const idOf = async (title: string): Promise<number> => (await db.from('posts').where('post_title', title).pluck('ID'))[0]!;
  const recordOf = async (title: string): Promise<{ language: string | null; translations: object }> =>
    JSON.parse((await fasti('event', 'get', String(await idOf(title)), '--format=json')).out);
  /** Returns the language of an event and those of its translations. */
  const placeOf = async (title: string) => {
    const { language, translations } = await recordOf(title);
    return `${language} in ${Object.keys(translations).sort()}`;
  };
  const CONCERT = 'Concert,2031-05-01,5,,en,g';
  const CONCERTO = 'Concerto,2031-05-01,5,,it,g';

  describe('with Polylang', () => {
    beforeEach(async () => {
      db = await open({ migrated: false });
      fasti = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: folder, PORT: '0' });
      expect((await fasti('init', '--languages=en,it,de')).code).toBe(0);
    });

    it('stay as editors have changed them, unless the source states others', async () => {
      await report(CONCERT, CONCERTO);
      const id = String(await idOf('Concerto'));
      expect(await fasti('event', 'update', id, '--translations={"en":null}')).toMatchObject({ code: 0 });
      for (const cost of [5, 6]) {
        expect((await report(CONCERT, `Concerto,2031-05-01,${cost},,it,g`)).losses).toEqual([]);
        expect([await placeOf('Concert'), await placeOf('Concerto')]).toEqual(['en in en', 'it in it']);
      }
      expect(await fasti('event', 'update', id, '--content-language=de')).toMatchObject({ code: 0 });
      await report(CONCERT, CONCERTO);
      expect(await placeOf('Concerto')).toBe('de in de');
      expect((await report(CONCERT, 'Concerto,2031-05-01,5,,it,')).losses).toEqual([]);
      expect(await placeOf('Concerto')).toBe('it in it');
      await report(CONCERT, CONCERTO);
      expect(await placeOf('Concerto')).toBe('it in en,it');
    });

    it('stay as editors have changed them when another record leaves the group in the source', async () => {
      const KONZERT = 'Konzert,2031-05-01,5,,de,g';
      await report(CONCERT, CONCERTO, KONZERT);
      const id = String(await idOf('Konzert'));
      expect(await fasti('event', 'update', id, '--translations={"de":null}')).toMatchObject({ code: 0 });
      expect(await placeOf('Konzert')).toBe('de in de');
      await report('Concert,2031-05-01,5,,en,', CONCERTO, KONZERT);
      expect([await placeOf('Concert'), await placeOf('Concerto'), await placeOf('Konzert')]).toEqual(['en in en', 'it in it', 'de in de']);
    });

    it.each(['Concert', 'Concerto'])('are linked again with a record that is imported again, %s', async (title) => {
      await report(CONCERT, CONCERTO);
      expect((await fasti('event', 'delete', String(await idOf(title)), '--force')).code).toBe(0);
      const restored = await reportOf([CONCERTO, CONCERT], '--restore-deleted');
      expect(restored).toEqual({ created: { event: 1 }, updated: {}, losses: ['restored-here'] });
      expect([await placeOf('Concert'), await placeOf('Concerto')]).toEqual(['en in en,it', 'it in en,it']);
    });

    it('get a language that the site lacked at the first import', async () => {
      expect((await report('Concert,2031-05-01,5,,fr,g', CONCERTO)).losses).toEqual(['language-unknown']);
      expect(await placeOf('Concert')).toBe('en in en,it');
      expect((await fasti('languages', 'add', 'fr')).code).toBe(0);
      expect((await report('Concert,2031-05-01,5,,fr,g', CONCERTO)).losses).toEqual([]);
      expect([await placeOf('Concert'), await placeOf('Concerto')]).toEqual(['fr in fr,it', 'it in fr,it']);
    });
  });

  it('are kept if WPML has switched off the language', async () => {
    db = await loadLanguages(await open(), 'wpml');
    fasti = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: folder, PORT: '0' });
    const rows = ['Market,2031-05-01,5,Fairs,en,g', 'Mercato,2031-05-01,5,Fiere,it,g', 'Sagra,2031-05-01,5,Fiere,it,'];
    expect((await report(...rows)).losses).toEqual([]);
    const stored = () =>
      db.from('icl_translations').orderBy('translation_id').select('translation_id', 'element_id', 'trid', 'language_code');
    const before = await stored();
    await db.from('icl_languages').where('code', 'it').update({ active: 0 });
    expect((await report(...rows)).losses).toEqual(['language-unknown']);
    expect(await stored()).toEqual(before);
    // The source does not state it any more.
    await report(rows[0]!, 'Mercato,2031-05-01,5,,,', 'Sagra,2031-05-01,5,,,');
    expect(await stored()).toEqual(before);
  });
});

describeDatabases('languages of imported categories', (open) => {
  const term = (slug: string, language: string | undefined, more: Partial<TermItem> = {}): TermItem => ({
    ...{ kind: 'category', sourceId: `${language} ${slug}`, slug, name: slug, description: '', language },
    ...more,
  });

  describe.each(['polylang', 'wpml'] as const)('in the form of %s', (form) => {
    let db: Database;
    let site: Site;
    beforeEach(async () => {
      db = await loadLanguages(await open(), form);
      site = await siteOf(db);
    });
    afterEach(() => site.close());

    const imported = async (items: readonly Item[], options: { source?: string; dryRun?: boolean } = {}) =>
      importItems(site, await callerOf(site), streamOf(items), { source: 'x', ...options });
    const stored = async () => {
      const { contentLanguages: languages } = await site.settings();
      const terms = await db
        .from('term_taxonomy', 'tt')
        .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
        .where('tt.taxonomy', 'tribe_events_cat')
        .where('t.slug', 'like', 'polka%')
        .orderBy('t.term_id')
        .select('t.term_id', 't.slug');
      const translatable = { is: 'term', type: 'tribe_events_cat' } as const;
      const memberships = await membershipsOf(
        db,
        { languages: languages!, translatable },
        terms.map(({ term_id: id }) => id),
      );
      return terms.map(({ term_id: id, slug }) => `${slug} ${memberships.get(id)?.language}`);
    };

    it('do not change for the sake of a category of the same slug', async () => {
      await imported([term('polka', 'en')]);
      const both = ['polka en', 'polka-it it'];
      for (const [source, created] of [
        ['y', { category: 1 }],
        ['y', {}],
        ['z', {}],
      ] as const) {
        expect((await imported([term('polka', 'it')], { source, dryRun: true })).created).toEqual(created);
        expect((await imported([term('polka', 'it')], { source })).created).toEqual(created);
        expect(await stored()).toEqual(both);
      }
      // A source without languages means the category of this slug, whatever its language.
      expect((await imported([term('polka', undefined), term('polka-it', undefined)], { source: 'plain' })).created).toEqual({});
      expect(await stored()).toEqual(both);
    });

    it('find a category of the language whose namesake is missing here', async () => {
      await imported([term('polka', 'it')]);
      expect((await imported([term('polka', 'en'), term('polka', 'it', { namesake: 1 })], { source: 'y' })).created).toEqual({
        category: 1,
      });
      expect(await stored()).toEqual(['polka it', 'polka-en en']);
    });

    it('are written for a new category without looking for its group, which the ledger tells from one that existed', async () => {
      await imported([term('polka', 'en')]);
      await imported([term('polka', 'en'), term('polka', 'it')], { source: 'y' });
      const ofSource = db.from('fasti_imports').where('source', 'y').select('id');
      const made = await db
        .from('fasti_import_ids')
        .where('kind', 'category')
        .whereIn('import_id', ofSource)
        .orderBy('target')
        .pluck('made');
      expect(made).toEqual([0, 1]);
    });

    it('are given to a category without one', async () => {
      const [id] = await db.from('terms').insert({ name: 'Polka', slug: 'polka' });
      await db.from('term_taxonomy').insert({ term_id: id!, taxonomy: 'tribe_events_cat', description: '' });
      expect((await imported([term('polka', 'it')])).created).toEqual({});
      expect(await stored()).toEqual(['polka it']);
    });

    it('are not given to a category or an event that was deleted, even if an import of it is resumed', async () => {
      const event = (id: string): PostItem => ({
        ...{ kind: 'event', sourceId: id, columns: { post_title: id, post_status: 'publish' }, metas: [], links: [], complete: false },
        language: 'it',
      });
      const items: readonly Item[] = [term('polka', 'it'), event('1'), event('2')];
      await imported(items);
      const caller = await callerOf(site);
      const [eventId] = await db.from('posts').where('post_title', '1').pluck('ID');
      const [termId] = await db.from('terms').where('slug', 'polka').pluck('term_id');
      await deletePost(site, caller, postKind('event'), eventId!);
      await deleteTerm(site, caller, termKind('category'), termId!);
      const languagesNow = async () => {
        const now = await callerOf(site);
        const of = async (kind: Kind, id: number) => (await membershipsOf(db, languagesOf(now, kind)!, [id])).keys();
        return [...(await of(postKind('event'), eventId!)), ...(await of(termKind('category'), termId!))];
      };
      async function* cut() {
        yield* items.slice(0, 2);
        throw new Error('stopped');
      }
      const options = { source: 'x', itemsPerBatch: 1 };
      await expect(importItems(site, caller, cut(), options)).rejects.toThrow('stopped');
      expect(await languagesNow()).toEqual([]);
      const changed = { ...event('1'), columns: { post_title: 'changed', post_status: 'publish' } };
      const resumed = await importItems(site, caller, streamOf([items[0]!, changed, items[2]!]), { ...options, resume: true });
      expect([await languagesNow(), resumed.unchanged.event]).toEqual([[], 2]);
      expect(resumed.losses).toMatchObject([{ reason: 'deleted-here', count: 1 }]);
    });

    it.each([true, false])('are those of the event for which they are created, named by slug: %s', async (bySlug) => {
      const event: PostItem = {
        ...{ kind: 'event', sourceId: '1', columns: { post_title: 'Concerto' }, metas: [], links: [], complete: true, language: 'it' },
        terms: [{ kind: 'category', sourceId: 'polka', name: 'Polka', ...(bySlug ? { slug: 'polka' } : {}) }],
      };
      await imported([event]);
      expect(await stored()).toEqual(['polka it']);
    });
  });
});
