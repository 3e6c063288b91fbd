import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { TermItem } from '../../src/exchange/items/items.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertTermAs } from '../../src/storage/rows/new-rows.ts';
import { findTerm, removeTerm } from '../../src/storage/rows/terms.ts';
import { commandIn, type Fasti, temporaryFolder } from '../cli/command.ts';
import { describeDatabases, runScript, urlOf } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { callerOf, metaRows, siteOf, streamOf } from './sites.ts';

const folder = temporaryFolder();

/** Metas that plugins store for the category of the sample site with this slug. */
const METAS = [
  ['tec-events-cat-colors-primary', '#b00020'],
  ['icon', 'guitar'],
  ['icon', '<script>alert(1)</script>drum'],
] as const;

describeDatabases('metas of categories and tags', (open) => {
  let db: Database;
  let from: Fasti;
  let id: number;

  beforeAll(async () => {
    db = await loadSite(await open());
    from = commandIn({ DATABASE_URL: urlOf(db), UPLOADS_DIR: folder, PORT: '0' });
    ({ term_id: id } = (await db.from('terms').where('slug', 'music').first())!);
    for (const [meta_key, meta_value] of METAS) await db.from('termmeta').insert({ term_id: id, meta_key, meta_value });
  });

  describe.each(['jsonl', 'xml'])('exported and imported in %s', (extension) => {
    let copy: Database;
    let to: Fasti;
    let file: string;
    const stored = async () =>
      (
        await copy
          .from('termmeta', 'm')
          .join({ t: copy.table('terms') }, 't.term_id', 'm.term_id')
          .where('t.slug', 'music')
          .orderBy('m.meta_id')
          .select('m.meta_key', 'm.meta_value')
      ).map((row) => [row.meta_key, row.meta_value]);
    const imported = async (...args: string[]) => JSON.parse((await to('import', file, '--format=json', ...args)).out);

    beforeAll(async () => {
      copy = await open({ migrated: false });
      to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
      expect((await to('init')).code).toBe(0);
      file = join(folder, `${db.dialect.name}-metas.${extension}`);
      expect(await from('export', file)).toMatchObject({ code: 0 });
    });

    it('are copied to a site without metas', async () => {
      await imported();
      expect(await stored()).toEqual(METAS);
    });

    it('are updated together with the term, with the same report in a dry run', async () => {
      const entries = async () => (await copy.from('fasti_journal').select('number')).length;
      const before = await entries();
      expect((await imported()).updated).not.toHaveProperty('category');
      expect(await entries()).toBe(before);
      await copy.from('termmeta').where('meta_key', 'icon').delete();
      await copy.from('termmeta').insert({ term_id: id, meta_key: 'own', meta_value: 'stays' });
      await db.from('terms').where('term_id', id).update({ name: 'Live music' });
      expect(await from('export', file, '--force')).toMatchObject({ code: 0 });
      const rehearsal = await imported('--dry-run');
      expect(rehearsal.updated).toMatchObject({ category: 1 });
      expect({ ...(await imported()), dryRun: true }).toEqual(rehearsal);
      expect(await stored()).toEqual(expect.arrayContaining(METAS.map((meta) => [...meta])));
      await db.from('terms').where('term_id', id).update({ name: 'Music' });
    });
  });

  it('are imported without scripts with --filter-html', async () => {
    const copy = await open({ migrated: false });
    const to = commandIn({ DATABASE_URL: urlOf(copy), UPLOADS_DIR: folder, PORT: '0' });
    expect((await to('init')).code).toBe(0);
    await to('import', join(folder, `${db.dialect.name}-metas.jsonl`), '--filter-html');
    const icons = await copy.from('termmeta').where('meta_key', 'icon').orderBy('meta_id').pluck('meta_value');
    expect(icons).toEqual(['guitar', expect.not.stringContaining('<script')]);
  });

  it('are omitted from exports by users who do not manage the site', async () => {
    const file = join(folder, `${db.dialect.name}-of-an-editor.jsonl`);
    expect(await from('export', file, '--user=ed')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toContain('"slug":"music"');
    expect(readFileSync(file, 'utf8')).not.toContain('cat-colors');
  });

  it('are none in a database of WordPress before 4.4, which has no table for them', async () => {
    const old = await loadSite(await open());
    await runScript(old, 'DROP TABLE wp_termmeta');
    const fasti = commandIn({ DATABASE_URL: urlOf(old), UPLOADS_DIR: folder, PORT: '0' });
    const file = join(folder, `${old.dialect.name}-old.jsonl`);
    expect(await fasti('export', file)).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toContain('"slug":"music"');
    const term = (await findTerm(old, 'tribe_events_cat', id))!;
    await old.transaction(async (trx) => {
      const made = await insertTermAs(trx, 'post_tag', {
        id: undefined,
        taxonomyId: undefined,
        name: 'New',
        slug: 'new',
        description: '',
        parent: 0,
      });
      expect(made.id).toBeGreaterThan(0);
      await removeTerm(trx, term);
    });
    expect(await old.from('terms').where('term_id', id)).toEqual([]);
  });

  it('are reported as left out by an import into such a database, also by a dry run', async () => {
    const old = await loadSite(await open());
    await runScript(old, 'DROP TABLE wp_termmeta');
    const site = await siteOf(old);
    const item = (icon: string): TermItem => {
      const texts = { sourceId: 'bebop', slug: 'bebop', name: 'Bebop', description: '' };
      return { kind: 'category', ...texts, metas: metaRows([['icon', icon]]) };
    };
    const imported = async (icon: string, dryRun: boolean) =>
      importItems(site, await callerOf(site), streamOf([item(icon)]), { source: 'x', dryRun });
    const losses = [{ reason: 'no-term-metas', count: 1, examples: [{ of: 'Bebop' }] }];
    for (const dryRun of [true, false]) expect(await imported('guitar', dryRun)).toMatchObject({ created: { category: 1 }, losses });
    for (const dryRun of [true, false])
      expect(await imported('drum', dryRun)).toMatchObject({ updated: {}, unchanged: { category: 1 }, losses });
    await site.close();
  });
});
