import { expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { noteChange } from '../../src/storage/journal/reported-changes.ts';
import { languageWriterOf } from '../../src/storage/translations/language-writers.ts';
import type { ContentLanguage } from '../../src/wordpress/content-languages.ts';
import { databaseAt, describeMysql, urlOf } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';

const ITALIAN: ContentLanguage = { code: 'it', locale: 'it_IT', name: 'Italiano', number: 2, hidden: false, onPosts: 0, onTerms: 0 };

/** Gives a new page a language as WPML does, which takes the next number that it sees. */
async function savePage(db: Database, id: number): Promise<void> {
  const [row] = await db.rows<{ last: number }>`SELECT MAX(trid) AS last FROM {icl_translations}`;
  await db.from('icl_translations').insert({ element_type: 'post_page', element_id: id, trid: Number(row?.last) + 1, language_code: 'en' });
}

describeMysql('a number for a new group beside WPML', (open) => {
  it('is not that of a page which WordPress saves before the transaction ends', async () => {
    const db = await loadLanguages(await open(), 'wpml');
    const wordpress = await databaseAt(urlOf(db));
    const events = { is: 'post', type: 'tribe_events' } as const;
    const writer = languageWriterOf({ form: 'wpml' });
    await db.transaction(async (trx) => {
      await writer.setLanguage(trx, events, 9001, ITALIAN);
      await writer.assign(trx, events, [9002, 9003], ITALIAN, 0);
      for (let page = 0; page < 20; page += 1) await savePage(wordpress, 8000 + page);
      noteChange(trx, { now: new Date('2026-11-22T21:30:00Z') });
    });
    await wordpress.close();
    const rows = await db.from('icl_translations').where('element_id', '>=', 8000).select('element_id', 'trid');
    expect(rows).toHaveLength(23);
    expect(new Set(rows.map(({ trid }) => Number(trid))).size).toBe(23);
  });
});
