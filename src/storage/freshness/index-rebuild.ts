import type { Database } from '../engine/database.ts';
import { reindexEvents } from '../index/event-index-rebuild.ts';
import { lockChanges, reindexWithPrints, takeOverChanges } from './foreign-changes.ts';
import { arePrintsComplete, printSources } from './prints.ts';

/** Options of a rebuild. `shared`: whether WordPress writes to the database too. */
type RebuildOptions = Omit<Parameters<typeof reindexEvents>[2], 'index'> & { readonly shared: boolean };

/**
 * Calls `reindexEvents`. If WordPress writes to the database too and there are prints, its changes are taken over
 * before, and each event is indexed together with its print.
 */
export async function rebuildIndex(
  db: Database,
  now: () => Date,
  { shared, ...options }: RebuildOptions,
): ReturnType<typeof reindexEvents> {
  const { languages } = options;
  const sources = await printSources(db, languages);
  if (!shared || !(await arePrintsComplete(db, { languages, sources }))) return reindexEvents(db, now, options);
  await takeOverChanges(db, now, { sources, languages });
  return reindexEvents(db, now, {
    ...options,
    index: async (trx, ids) => {
      await lockChanges(trx);
      return reindexWithPrints(trx, ids, { sources, languages, now: now() });
    },
  });
}
