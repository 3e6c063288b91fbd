/** Categories whose slugs change in the source, and new ones that get the slugs they had. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { ImportOptions } from '../../src/exchange/import/options.ts';
import type { TermItem } from '../../src/exchange/items/items.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { callerOf, emptySite, siteOf, streamOf } from './sites.ts';

describeDatabases('import of renamed categories', (open) => {
  let db: Database;
  let site: Site;
  beforeAll(async () => {
    db = await open();
    site = await siteOf(db);
  });
  beforeEach(async () => {
    await emptySite(db);
  });
  afterAll(() => site.close());

  const term = (id: number, slug: string, name: string): TermItem => ({
    kind: 'category',
    sourceId: slug,
    id,
    slug,
    name,
    description: '',
  });
  const imported = async (terms: readonly TermItem[], itemsPerBatch?: number, more: Partial<ImportOptions> = {}) =>
    importItems(site, await callerOf(site), streamOf(terms), { source: 'x', ...(itemsPerBatch ? { itemsPerBatch } : {}), ...more });
  const stored = async () =>
    (await db.from('terms').whereIn('term_id', [5, 7, 9]).orderBy('term_id').select('term_id', 'slug', 'name')).map(
      ({ term_id: id, slug, name }) => `${id} ${slug} ${name}`,
    );

  it.each([1, 200])('leaves a category its name when a new one gets its former slug, %s in a batch', async (itemsPerBatch) => {
    await imported([term(5, 'a', 'Music')]);
    await imported([term(5, 'b', 'Music')]);
    expect(await stored()).toEqual(['5 b Music']);
    await imported([term(7, 'a', 'Kino'), term(5, 'b', 'Music')], itemsPerBatch);
    expect(await stored()).toEqual(['5 b Music', '7 a Kino']);
    const again = await imported([term(7, 'a', 'Kino'), term(5, 'b', 'Music')], itemsPerBatch);
    expect([again.created, again.updated, await stored()]).toEqual([{}, {}, ['5 b Music', '7 a Kino']]);
  });

  it('leaves a category its name when a new one gets its former slug, which another one has here', async () => {
    await imported([term(5, 'a', 'Music')]);
    const [other] = await db.from('terms').insert({ term_id: 9, slug: 'b', name: 'Ours' });
    await db.from('term_taxonomy').insert({ term_taxonomy_id: 9, term_id: other!, taxonomy: 'tribe_events_cat', description: '' });
    await imported([term(5, 'b', 'Music')]);
    expect(await stored()).toEqual(['5 a Music', '9 b Ours']);
    await imported([term(7, 'a', 'Kino')]);
    expect((await stored()).map((row) => row.replace('a-2', 'a'))).toEqual(['5 a Music', '7 a Kino', '9 b Ours']);
  });

  it('follows a slug that changes back, and to a new category that gets the slug in between', async () => {
    for (const slug of ['a', 'b', 'a', 'b']) {
      await imported([term(5, slug, `Music ${slug}`)]);
      expect(await stored()).toEqual([`5 ${slug} Music ${slug}`]);
    }
    await imported([term(7, 'b', 'Kino'), term(5, 'a', 'Music')]);
    expect(await stored()).toEqual(['5 a Music', '7 b Kino']);
  });

  it('leaves a category that shares its row with a tag its name and slug, and changes its description and parent', async () => {
    await imported([term(7, 'upper', 'Upper'), term(5, 'a', 'Music')]);
    await db.from('term_taxonomy').insert({ term_id: 5, taxonomy: 'post_tag', description: '', parent: 0, count: 0 });
    const changed = [term(7, 'upper', 'Upper'), { ...term(5, 'b', 'Concerts'), description: 'Told', parent: 'upper' }];
    const rehearsal = await imported(changed, undefined, { dryRun: true });
    const report = await imported(changed);
    expect([report.updated, report.lost]).toEqual([{ category: 1 }, {}]);
    expect(report.losses).toMatchObject([{ reason: 'term-shared', count: 1, examples: [{ of: 'Concerts' }] }]);
    expect(report).toEqual({ ...rehearsal, dryRun: false });
    expect(await stored()).toEqual(['5 a Music', '7 upper Upper']);
    expect(await db.from('term_taxonomy').where({ term_id: 5, taxonomy: 'tribe_events_cat' }).first()).toMatchObject({
      description: 'Told',
      parent: 7,
    });
    // WordPress has given the tag a row of its own.
    await db.from('term_taxonomy').where({ term_id: 5, taxonomy: 'post_tag' }).delete();
    expect((await imported(changed)).updated).toEqual({ category: 1 });
    expect(await stored()).toEqual(['5 a Concerts', '7 upper Upper']);
  });

  it('leaves categories as they are if the source was made again, with other ids', async () => {
    await imported([term(5, 'a', 'Music'), term(7, 'b', 'Kino')]);
    const { created, updated } = await imported([term(7, 'a', 'Music'), term(9, 'b', 'Kino')]);
    expect([created, updated, await stored()]).toEqual([{}, {}, ['5 a Music', '7 b Kino']]);
  });
});
