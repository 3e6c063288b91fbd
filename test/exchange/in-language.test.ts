import { afterAll, expect, it } from '@jest/globals';
import { inOwnLanguage, ownLanguageFilter } from '../../src/exchange/import/in-language.ts';
import type { Run } from '../../src/exchange/import/run.ts';
import type { Site } from '../../src/site.ts';
import { countQueries } from '../support/count-queries.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { callerOf, siteOf } from './sites.ts';

describeDatabases('records with the name of an imported one', (open) => {
  const toClose: Site[] = [];
  afterAll(() => Promise.all(toClose.map((site) => site.close())));

  it('are compared in its language, with as many queries for many records as for one', async () => {
    const db = await loadLanguages(await open(), 'polylang');
    const site = await siteOf(db);
    toClose.push(site);
    const caller = await callerOf(site);
    const ids: number[] = await db.from('posts').where('post_type', 'tribe_events').orderBy('ID').pluck('ID');
    // The filter reads nothing else of the run.
    const work = (language?: string) => ({ db: site.db, run: { caller, language } as Run });
    const inItalian = await inOwnLanguage(work(), { kind: 'event', language: 'it' }, ids);
    expect(inItalian.length).toBeGreaterThan(0);
    expect(inItalian.length).toBeLessThan(ids.length);
    const comparisons = ['it', 'en', undefined].flatMap((language) => ids.map((id) => ({ language, ids: [id, -1] })));
    const { result: keep, queries } = await countQueries(site, () => ownLanguageFilter(work('en'), 'event', comparisons), 0);
    const single = await countQueries(site, () => ownLanguageFilter(work('en'), 'event', comparisons.slice(0, 1)), 0);
    expect([queries, single.queries > 0]).toEqual([single.queries, true]);
    const keptFor = (language?: string) => comparisons.filter((one) => one.language === language).map(keep);
    expect(keptFor('it').flat()).toEqual(inItalian);
    expect(keptFor('en').flat()).toEqual(await inOwnLanguage(work(), { kind: 'event', language: 'en' }, ids));
    // New records of a dry run have the language of the import.
    expect(keptFor()).toEqual(keptFor('en').map((kept) => [...kept, -1]));
    const keepAll = await ownLanguageFilter(work(), 'event', comparisons);
    expect(keepAll({ language: undefined, ids })).toEqual(ids);
  });
});
