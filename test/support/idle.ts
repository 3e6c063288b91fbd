import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/storage/engine/database.ts';

/** Waits until no background work queries this database, however slow the machine is. */
export async function waitUntilIdle(db: Database): Promise<void> {
  for (;;) {
    const queries = db.queries();
    await sleep(20);
    const { used, waiting } = db.driver.connections();
    if (used + waiting === 0 && db.queries() === queries) return;
  }
}
