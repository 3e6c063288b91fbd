import { expect, it } from '@jest/globals';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { Entry, PostItem, TermItem } from '../../src/exchange/items/items.ts';
import { addSiteLanguage } from '../../src/records/site-languages.ts';
import { indexState } from '../../src/storage/audit/audit.ts';
import { rebuildIndex } from '../../src/storage/freshness/index-rebuild.ts';
import { entriesAfter, lastNumber } from '../../src/storage/journal/entries.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { serveDatabase } from '../support/running-site.ts';
import { callerOf, metaRows } from './sites.ts';

const NOW = new Date('2026-11-22T21:30:00Z');
const SPLIT = { source: 'x', itemsPerBatch: 1 } as const;

/** A new event as imports read it, with a category. */
const eventItem = (name: string): PostItem => ({
  kind: 'event',
  sourceId: name,
  columns: { post_title: name, post_status: 'publish' },
  metas: metaRows([
    ['_EventStartDate', '2031-05-01 20:00:00'],
    ['_EventEndDate', '2031-05-01 21:00:00'],
  ]),
  links: [],
  terms: [{ kind: 'category', sourceId: 'low' }],
  complete: true,
});

const categoryItem = (name: string, parent?: string): TermItem => ({
  kind: 'category',
  sourceId: name,
  name,
  slug: name,
  description: '',
  ...(parent === undefined ? {} : { parent }),
});

async function* entriesOf(items: readonly (PostItem | TermItem)[], before?: () => Promise<unknown>): AsyncGenerator<Entry> {
  await before?.();
  yield* items;
}

describeDatabases('a language that is added', (open) => {
  const serve = async () => {
    const db = await loadLanguages(await open(), 'polylang');
    const running = await serveDatabase(db, {
      env: { SHARED_WITH_WORDPRESS: 'off', CONTENT_LANGUAGES: 'polylang' },
      clock: () => NOW,
    });
    return { db, running, site: running.site };
  };

  it.each([
    ['new events', [eventItem('other')]],
    ['a moved category', [categoryItem('low', 'high')]],
    ['a category that waits for its parent', [categoryItem('low', 'late'), categoryItem('late')]],
  ])('during an import leaves the index right for further items: %s', async (_, items) => {
    const { db, running, site } = await serve();
    const languages = async () => (await site.settings()).contentLanguages;
    await rebuildIndex(db, () => NOW, { marksComplete: true, languages: await languages(), shared: false });
    const caller = await callerOf(site);
    await importItems(site, caller, entriesOf([categoryItem('high'), categoryItem('low'), eventItem('one')]), SPLIT);
    await importItems(
      site,
      caller,
      entriesOf(items, () => addSiteLanguage(site, { code: 'fr' })),
      SPLIT,
    );
    expect((await languages())?.languages.map(({ code }) => code)).toEqual(['en', 'it', 'fr']);
    expect(await indexState(db, await languages())).toBe('trusted');
    await running.close();
  });

  it('is recorded, with the terms that stand for it', async () => {
    const { db, running, site } = await serve();
    const from = await lastNumber(db);
    await addSiteLanguage(site, { code: 'fr' });
    expect((await entriesAfter(db, from, 100)).entries.map(({ type, what }) => [type, what])).toEqual(
      expect.arrayContaining([
        ['language', 'made'],
        ['term_language', 'made'],
      ]),
    );
    await running.close();
  });
});
