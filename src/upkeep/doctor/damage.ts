import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { runnable } from '../../host/runnable.ts';
import type { Site } from '../../site.ts';
import { sqlitePath } from '../../storage/audit/snapshot.ts';

/*
 * What is damaged in the database. An SQLite file is read from end to end for that.
 */

/** Looks for damage; returns what there is, in the words of the database. */
export type FindDamage = (site: Pick<Site, 'db' | 'config'>) => Promise<readonly string[]>;

/** Looks for it right here: an SQLite file keeps the whole process busy meanwhile. */
export const damageHere: FindDamage = ({ db }) => db.dialect.findDamage(db);

/** Looks for it without keeping others waiting: through an SQLite file in a thread of its own. */
export const damageAside: FindDamage = async (site) => {
  const workerData = sqlitePath(site.config.databaseUrl);
  if (workerData === undefined) return damageHere(site);
  const [damage] = (await once(new Worker(runnable('upkeep/sqlite-check-thread'), { workerData }), 'message')) as [string[]];
  return damage;
};

/** Does not look: nothing that is damaged can be repaired. */
export const noDamage: FindDamage = async () => [];
