import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { ROW_FAULTS } from '../../src/storage/audit/post-faults.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { joinWriters, reportEverything } from '../../src/storage/journal/reported-changes.ts';
import { lockNames, slugLock, termSlugLock } from '../../src/storage/rows/locks.ts';
import { parseZone } from '../../src/wordpress/zones.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { until } from '../support/until.mjs';

describeDatabases('repair of empty slugs', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
    await loadSite(db);
  });

  it.each([
    ['slugs-empty', 'posts', 'ID', 39, 'post_name', 'post_title', (slug: string) => slugLock('tribe_events', slug)],
    ['term-slugs-empty', 'terms', 'term_id', 10, 'slug', 'name', termSlugLock],
  ] as const)('%s waits for a writer that is choosing the same slug', async (fault, table, key, id, column, title, lock) => {
    await db
      .from(table)
      .where(key, id)
      .update({ [column]: '', [title]: 'Harvest' });
    const { fix } = ROW_FAULTS.find(({ name }) => name === fault)!;
    const order: string[] = [];
    let isLocked = false;
    const writer = db.transaction(async (trx) => {
      joinWriters(trx);
      await lockNames(trx, [lock('harvest')]);
      isLocked = true;
      await sleep(300);
      order.push('writer');
    });
    await until('the lock', () => isLocked);
    await db.transaction(async (trx) => {
      reportEverything(trx);
      await fix!(trx, { zone: parseZone('Europe/Rome')!, now: new Date() });
      order.push('repair');
    });
    await writer;
    expect(order).toEqual(['writer', 'repair']);
    expect(await db.from(table).where(key, id).pluck(column)).toEqual(['harvest']);
  });
});
