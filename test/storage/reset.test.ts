import { beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { loadSite, resetSite } from '../support/site.ts';
import { readFixture } from '../support/site-data.mjs';

/* Hundreds of tests rely on it: whatever a test changes, the next one finds the sample site as it was. */

const TABLES = Object.keys(readFixture());

describeDatabases('the sample site between tests', (open) => {
  let db: Database;
  let before: unknown;
  beforeAll(async () => {
    db = await loadSite(await open());
    before = await everything();
  });

  const rowsOf = async (table: string) => (await db.from(table as 'posts')).map((row) => JSON.stringify(row)).sort();
  const everything = async () => Promise.all(TABLES.map(async (table) => [table, await rowsOf(table)]));

  it.each(TABLES)('has its rows of %s back when they were changed, and when they are gone', async (table) => {
    const [column] = Object.entries((await db.from(table as 'posts').first()) ?? {}).find(([, value]) => typeof value === 'string') ?? [];
    if (column !== undefined) await runScript(db, `UPDATE wp_${table} SET ${column} = CONCAT(SUBSTR(${column}, 2), 'x')`);
    await resetSite(db);
    expect(await everything()).toEqual(before);
    await db.from(table as 'posts').delete();
    await resetSite(db);
    expect(await everything()).toEqual(before);
  });

  it('gives new posts the same ids each time, also after one that was rolled back', async () => {
    const insert = (into: Database) => into.from('posts').insert({ post_title: 'x' });
    const ids: unknown[] = [];
    for (let round = 0; round < 2; round += 1) {
      const work = db.transaction(async (tx) => {
        await insert(tx);
        throw new RangeError('rolled back');
      });
      await expect(work).rejects.toThrow(RangeError);
      await resetSite(db);
      ids.push((await insert(db))[0]);
      await resetSite(db);
    }
    expect(ids).toEqual([93, 93]);
  });
});
