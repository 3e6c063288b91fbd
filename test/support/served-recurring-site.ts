import type { Database } from '../../src/storage/engine/database.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { loadRecurringSite } from './recurring-site.ts';
import { type RunningSite, serveDatabase } from './running-site.ts';
import { snapshotTables } from './site.ts';

/** A served site with recurring events. */
interface ServedSite {
  readonly db: Database;
  readonly running: RunningSite;
  /** Restores the rows while the site is served, without its noticing. */
  readonly putBack: () => Promise<void>;
}

/**
 * Loads the site of `loadRecurringSite` into an empty database, and serves it with a list index, but without a memory
 * of answers.
 *
 * @param prepare changes the rows before
 */
export async function serveRecurringSite(empty: Database, now: Date, prepare?: (db: Database) => Promise<unknown>): Promise<ServedSite> {
  const db = await loadRecurringSite(empty);
  await prepare?.(db);
  const running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: 'off', CACHE: 'off' }, clock: () => now });
  await reindexEvents(running.site.db, () => now, { marksComplete: true });
  return { db, running, putBack: await snapshotTables(db) };
}
