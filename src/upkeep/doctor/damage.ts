import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { entryPointUrl } from '../../host/entry-point.ts';
import type { Site } from '../../site.ts';
import { sqlitePath } from '../../storage/engine/sqlite/connection.ts';

/* Damage in the database. An SQLite file is read completely to find it. */

/** Checks for damage. Returns descriptions from the database. */
export type FindDamage = (site: Pick<Site, 'db' | 'config'>) => Promise<readonly string[]>;

/** Checks in this thread, which blocks the process while an SQLite file is read. */
export const findDamageInProcess: FindDamage = ({ db }) => db.dialect.findDamage(db);

/** Checks without blocking: an SQLite file is read in a separate thread. */
export const findDamageInThread: FindDamage = async (site) => {
  const workerData = sqlitePath(site.config.databaseUrl);
  if (workerData === undefined) return findDamageInProcess(site);
  const [damage] = (await once(new Worker(entryPointUrl('upkeep/sqlite-check-thread'), { workerData }), 'message')) as [string[]];
  return damage;
};

/** Skips the check, which is slow, and whose findings cannot be repaired anyway. */
export const skipDamageCheck: FindDamage = async () => [];
