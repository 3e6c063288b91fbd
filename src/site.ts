import type { SiteSettings } from './calendar/settings.ts';
import type { Config } from './config.ts';
import { settingsReader } from './known-settings.ts';
import { createLog, type Log } from './log.ts';
import { type Database, DatabaseUnavailable, openDatabase } from './storage/database.ts';
import { createFreshness, type Freshness, lookAtVersion } from './storage/freshness.ts';
import { watchTables } from './storage/table-watch.ts';
import { loadTexts, type Texts } from './texts.ts';

/** What every verb works with. Opened once, passed as first argument, closed at the end. */
export interface Site {
  readonly config: Config;
  readonly db: Database;
  readonly texts: Texts;
  readonly log: Log;
  /** The present moment; tests put a clock of their own here. */
  readonly clock: () => Date;
  /** The site's options as they stand now. */
  readonly settings: () => Promise<SiteSettings>;
  /** What tells whether something remembered still holds. */
  readonly freshness: Freshness;
  /** Whether a write failed for want of room a few seconds ago. MySQL says nothing of its disk at any other time. */
  readonly isFull: () => boolean;
  /** Time of the last change, UTC, as of the version that is known; undefined where nobody can tell. */
  readonly changedAt: () => string | undefined;
  readonly close: () => Promise<void>;
}

/** For so long a disk that was full counts as full, in milliseconds. */
const FULL_MS = 5000;

/** Opens the database (without waiting for a server that is absent), the texts and the log. Throws where a setting cannot work. */
export async function openSite(
  config: Config,
  { clock = () => new Date(), log = createLog(config) }: { clock?: () => Date; log?: Log } = {},
): Promise<Site> {
  const [opened, texts] = await Promise.all([
    openDatabase({ url: config.databaseUrl, prefix: config.tablePrefix }),
    loadTexts(config.languages),
  ]);
  const keep = config.cache ? config.cacheFreshness : 0;
  const settings = settingsReader(opened, config, keep);
  const watch = watchTables(opened, { bound: config.cacheStale, clock: () => performance.now() });
  let changedAt: string | undefined;
  const freshness = createFreshness(
    async () => {
      const { shared, edition } = await settings.read();
      const looked = await lookAtVersion(opened, shared ? watch : undefined);
      changedAt = looked.changedAt;
      return looked.found && { ...looked.found, name: `${looked.found.name}:${edition}` };
    },
    { keep },
  );
  let fullAt = Number.NEGATIVE_INFINITY;
  const noteFull = (error: unknown): void => {
    if (error instanceof DatabaseUnavailable && error.reason === 'full') fullAt = performance.now();
  };
  return {
    config,
    db: forgetful(opened, noteFull, (open) => {
      freshness.forget();
      settings.settle(open);
    }),
    isFull: () => performance.now() - fullAt < FULL_MS,
    texts,
    log,
    clock,
    settings: settings.known,
    freshness,
    changedAt: () => changedAt,
    close: () => opened.close(),
  };
}

/**
 * The database, where every transaction makes what is remembered old as soon as it is through. `failed` is told why one came to nothing, `forget` how many
 * others are open.
 */
function forgetful(db: Database, failed: (error: unknown) => void, forget: (open: number) => void): Database {
  let open = 0;
  return {
    ...db,
    transaction: async (work) => {
      open += 1;
      try {
        return await db.transaction(work);
      } catch (error) {
        failed(error);
        throw error;
      } finally {
        open -= 1;
        forget(open);
      }
    },
  };
}
