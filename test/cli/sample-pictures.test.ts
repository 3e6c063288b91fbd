import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { actingCaller } from '../../src/cli/session.ts';
import { pictures } from '../../src/sample/pictures.ts';
import { seedSample, type WithProgress } from '../../src/sample/seed.ts';
import { describeDatabases } from '../support/databases.ts';
import { serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

describeDatabases('the pictures of the sample calendar', (open) => {
  it('are stored in their order, or none of them', async () => {
    const db = await loadSite(await open());
    const { site, close } = await serveDatabase(db);
    const caller = await actingCaller(site, { language: 'en' }, undefined);
    const files = () =>
      readdirSync(site.config.uploadsDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('selvachiara-'));
    const failing: WithProgress = (_total, work) => {
      let drawn = 0;
      return work(() => {
        drawn += 1;
        if (drawn === 5) throw new Error('the fifth');
      });
    };
    await expect(seedSample(site, caller, failing)).rejects.toThrow('the fifth');
    expect(files()).toEqual([]);
    expect(await seedSample(site, caller)).toBeGreaterThan(50);
    const names = await db
      .from('posts')
      .where('post_type', 'attachment')
      .where('guid', 'like', '%/selvachiara-%')
      .orderBy('ID')
      .select('guid');
    expect(names.map(({ guid }) => /selvachiara-([\w-]+)\.jpg$/.exec(guid)?.[1])).toEqual(Object.keys(pictures));
    expect(new Set(files().map((name) => statSync(join(site.config.uploadsDir, name)).mode)).size).toBe(1);
    await close();
  });
});
