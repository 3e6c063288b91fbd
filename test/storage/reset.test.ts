import { beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { loadSite, resetSite } from '../support/site.ts';
import { readFixture } from '../support/site-data.mjs';

/* Hundreds of tests rely on this: whatever a test changes, the next test finds the original sample site. */

const TABLES = Object.keys(readFixture());

describeDatabases('resetSite', (open) => {
  let db: Database;
  let before: unknown;
  beforeAll(async () => {
    db = await loadSite(await open());
    before = await everything();
  });

  const rowsOf = async (table: string) => (await db.from(table as 'posts')).map((row) => JSON.stringify(row)).sort();
  const everything = async () => Promise.all(TABLES.map(async (table) => [table, await rowsOf(table)]));

  it.each(TABLES)('restores the rows of %s after they were changed or deleted', async (table) => {
    const [column] = Object.entries((await db.from(table as 'posts').first()) ?? {}).find(([, value]) => typeof value === 'string') ?? [];
    if (column !== undefined) await runScript(db, `UPDATE wp_${table} SET ${column} = CONCAT(SUBSTR(${column}, 2), 'x')`);
    await resetSite(db);
    expect(await everything()).toEqual(before);
    await db.from(table as 'posts').delete();
    await resetSite(db);
    expect(await everything()).toEqual(before);
  });

  it('resets the ids of new posts, also after an insert that was rolled back', async () => {
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
