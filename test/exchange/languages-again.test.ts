import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { commandIn, type Fasti, temporaryFolder } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';

const folder = temporaryFolder();

/** Imports that meet records which have a language already, from an earlier import or from editors. */
describeDatabases('languages of records that exist already', (open) => {
  let db: Database;
  let fasti: Fasti;
  const report = async (...lines: string[]) => {
    const file = join(folder, `${db.dialect.name}.csv`);
    writeFileSync(file, ['Event Name,Event Start Date,Event Cost,Event Category,Language,Translation Group', ...lines, ''].join('\n'));
    const { out } = await fasti('import', file, '--format=json');
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

    it.each(['Concert', 'Concerto'])('are linked again with a record that is imported again, %s', async (title) => {
      await report(CONCERT, CONCERTO);
      expect((await fasti('event', 'delete', String(await idOf(title)), '--force')).code).toBe(0);
      expect(await report(CONCERTO, CONCERT)).toEqual({ created: { event: 1 }, updated: {}, losses: [] });
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
