import { type SiteSettings, settingNames } from './calendar/settings.ts';
import type { Config } from './config/config.ts';
import { settingsReader, siteSettings } from './known-settings.ts';
import { createLog, type Log } from './log.ts';
import type { FetchOptions } from './media/safe-fetch.ts';
import type { ServerChange } from './storage/engine/cluster.ts';
import { type Database, DatabaseUnavailable, openDatabase } from './storage/engine/database.ts';
import { addressesOf } from './storage/engine/mysql/address.ts';
import { createFreshness, type Freshness, lookAtVersion } from './storage/freshness/freshness.ts';
import { type Others, othersOf } from './storage/freshness/others.ts';
import { followReplicas } from './storage/freshness/replicas.ts';
import { type TakeOver, type Watched, watchTables } from './storage/freshness/table-watch.ts';
import { createJournalFeed, type JournalFeed } from './storage/journal/feed.ts';
import type { ObjectMemory } from './storage/journal/object-memory.ts';
import { readOptions } from './storage/rows/options.ts';
import { loadTexts, type Texts } from './texts.ts';
import { nowUtc } from './wordpress/time.ts';

/** What every operation works with. Opened once, passed as first argument, closed at the end. */
export interface Site {
  readonly config: Config;
  readonly db: Database;
  /** Replicas of it, in the order of the configuration. */
  readonly replicas: readonly Database[];
  readonly texts: Texts;
  readonly log: Log;
  /** The present moment; tests put a clock of their own here. */
  readonly clock: () => Date;
  /** The site's options as they are now. */
  readonly settings: () => Promise<SiteSettings>;
  /** Decides whether something cached is still valid. */
  readonly freshness: Freshness;
  /** New entries of the journal of changes, as they become known; it goes on with each look of `freshness`. */
  readonly journal: JournalFeed;
  /**
   * From now on this process takes over what others write to the same tables: into the journal and the list index. The
   * server does; a command doesn't live long enough.
   */
  readonly followOthers: () => void;
  /**
   * Looks whether all that others had written at a moment (in milliseconds of `performance.now()`) has been taken over,
   * and in which state the database is. Undefined: it has not, or nobody follows them.
   */
  readonly upToDate: (at: number) => Promise<Pick<Watched, 'state'> | undefined>;
  /** Whether a write failed for lack of room a few seconds ago. MySQL says nothing of its disk at any other time. */
  readonly isFull: () => boolean;
  /**
   * Since when the same has been shown, UTC: the last change as of the version that is known, or the start of this
   * process, which may have other settings, another theme or another release than the one before. Undefined where
   * nobody can tell.
   */
  readonly changedAt: () => string | undefined;
  /** The site for reads of anonymous callers: on a replica if one may be read at this moment, else the site itself. */
  readonly reading: () => Site;
  /** What tests put in the place of the network that images are fetched from. */
  readonly fetching?: FetchOptions;
  /** Where records and pages of lists are kept for further answers. Only where the answer is for everybody. */
  readonly memory?: ObjectMemory;
  readonly close: () => Promise<void>;
}

/** How long a disk that was full counts as full, in milliseconds. */
const FULL_MS = 5000;

/**
 * Opens the database (without waiting for a server that is absent), the texts and the log. Throws where a setting
 * cannot work. `watched`: see `openDatabase`.
 */
export async function openSite(
  config: Config,
  { clock = () => new Date(), log = createLog(config), watched = false }: { clock?: () => Date; log?: Log; watched?: boolean } = {},
): Promise<Site> {
  const [opened, texts] = await Promise.all([
    openDatabase({ url: config.databaseUrl, prefix: config.tablePrefix, watched, onServerChange: logServerChange(log, 'database') }),
    loadTexts(config.languages),
  ]);
  let follows = false;
  const others = othersOf(opened, clock);
  const shownSince = sinceStart(nowUtc(clock()));
  const main = sourceOf(opened, config, 'primary', {
    takeOver: async (how) => (follows ? others.takeOver(how) : undefined),
    drain: async (newest, languages) => {
      if (follows) await others.drain(newest, languages);
    },
  });
  const replicas = await openReplicas(config, opened, log);
  const sources = replicas.map((db, place) => sourceOf(db, config, `replica ${place + 1}`));
  const following = followReplicas(opened, replicas, {
    lag: config.databaseReadLag,
    renewed: (place) => sources[place]?.forget(),
    first: Math.floor(Math.random() * replicas.length),
  });
  let fullAt = Number.NEGATIVE_INFINITY;
  const noteFull = (error: unknown): void => {
    if (error instanceof DatabaseUnavailable && error.reason === 'full') fullAt = performance.now();
  };
  const ended = (open: number): void => {
    main.freshness.forget();
    main.settle(open);
    following.wrote();
  };
  const site: Site = {
    config,
    db: observingTransactions(opened, noteFull, ended),
    isFull: () => performance.now() - fullAt < FULL_MS,
    replicas,
    texts,
    log,
    clock,
    settings: main.settings,
    freshness: main.freshness,
    journal: main.journal,
    changedAt: shownSince(main),
    followOthers: () => {
      follows = true;
    },
    upToDate: async (at) => (follows ? main.upToDate(at) : undefined),
    reading: () => readers[following.current() ?? -1] ?? site,
    close: async () => {
      await Promise.all([opened, ...replicas].map((db) => db.close()));
    },
  };
  const readers = sources.map((source): Site => ({ ...site, ...source, changedAt: shownSince(source), upToDate: async () => undefined }));
  return site;
}

/** The later of the last change and the start of the process, both UTC. */
const sinceStart =
  (startedAt: string) =>
  ({ changedAt }: Source): Site['changedAt'] =>
  () => {
    const changed = changedAt();
    return changed !== undefined && changed < startedAt ? startedAt : changed;
  };

/**
 * What is read from one database, and remembered for it alone: the primary and each replica may differ at any moment.
 */
interface Source extends Pick<Site, 'db' | 'settings' | 'freshness' | 'journal' | 'upToDate' | 'changedAt'> {
  /** Call it at the end of every transaction. `open`: how many others there are. */
  readonly settle: (open: number) => void;
  /** Call it when it may say something else from now on. */
  readonly forget: () => void;
}

/**
 * `name`: the first part of the versions of its data, so that they differ from those of other databases. `others`:
 * absent for a replica, which gets the journal from its primary.
 */
function sourceOf(db: Database, config: Config, name: string, others?: Others): Source {
  const keep = config.cache ? config.cacheFreshness : 0;
  // To look costs as much as to read the settings: it is worth it only if they are likely to be those of that state.
  const stateSince = async (at: number) =>
    db.driver.state ? db.driver.state() : watch.latest()?.state === undefined ? undefined : (await watch.lookedSince(at)).state;
  const settings = settingsReader(db, config, { keep, stateSince });
  const takeOver: TakeOver | undefined =
    others &&
    (async (how) => {
      const taken = await others.takeOver({ ...how, languages: (await settings.known()).contentLanguages });
      // It may have made or given up the index.
      if (taken) settings.forget();
      return taken;
    });
  const watch = watchTables(db, {
    bound: config.cacheStale,
    clock: () => performance.now(),
    ...(takeOver ? { takeOver } : {}),
  });
  const journal = createJournalFeed(db);
  let changedAt: string | undefined;
  const freshness = createFreshness(
    async () => {
      const era = db.cluster.era();
      await db.cluster.catchUp();
      const at = performance.now();
      const { shared, edition, contentLanguages } = await settings.read();
      const drain = async (newest: number) => others?.drain(newest, contentLanguages);
      const looked = await lookAtVersion(db, shared ? { watch: () => watch.lookedSince(at), drain } : undefined);
      await journal.advanceTo(looked.count);
      changedAt = looked.changedAt;
      // Another server may have been asked in between.
      return era === db.cluster.era()
        ? looked.found && { ...looked.found, name: `${name} ${era}:${looked.found.name}:${edition}` }
        : undefined;
    },
    { keep },
  );
  return {
    db,
    settings: settings.known,
    settle: settings.settle,
    freshness,
    journal,
    upToDate: async (at) => {
      const watched = await watch.lookedSince(at);
      return watched.isTakenOver ? watched : undefined;
    },
    changedAt: () => changedAt,
    forget: () => {
      settings.forget();
      freshness.forget();
    },
  };
}

/** A database of its own for each replica, so that each is known to be one server. */
function openReplicas({ databaseReadUrl, tablePrefix }: Config, primary: Database, log: Log): Promise<Database[]> {
  const urls = databaseReadUrl === undefined ? [] : addressesOf(databaseReadUrl);
  return Promise.all(
    urls.map((url) => openDatabase({ url, prefix: tablePrefix, primary, onServerChange: logServerChange(log, 'replica') })),
  );
}

const logServerChange =
  (log: Log, what: 'database' | 'replica') =>
  (change: ServerChange): void => {
    if ('left' in change) log.warn({ server: change.left, reason: change.reason }, `the server of the ${what} cannot be used`);
    else log.info({ server: change.taken }, `the server of the ${what} is used`);
  };

/**
 * The same database. `ended` is called after every transaction, whether it was committed or not, with the number of
 * those still open; `failed` before that with the error of one that was not.
 */
function observingTransactions(db: Database, failed: (error: unknown) => void, ended: (open: number) => void): Database {
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
        ended(open);
      }
    },
  };
}

/** Errors of work that had committed a transaction before. */
const afterWriting = new WeakSet<object>();

/**
 * Whether what was to be written may be in the database nevertheless: nobody knows, or what failed came afterwards.
 * Files that rows may name must stay then.
 */
export const mayBeWritten = (error: unknown): boolean =>
  (error instanceof DatabaseUnavailable && error.reason === 'uncertain') ||
  (typeof error === 'object' && error !== null && afterWriting.has(error));

/**
 * Runs the work of a request. If the database is lost after it has committed a transaction, the client must not send
 * the request again: the error says so. Of any other error after that, `mayBeWritten` knows.
 *
 * @throws DatabaseUnavailable `uncertain` in that case, else whatever `work` throws
 */
export async function onceWritten<T>(site: Site, work: (site: Site) => Promise<T>): Promise<T> {
  let written = false;
  const db: Database = {
    ...site.db,
    transaction: async (piece) => {
      const result = await site.db.transaction(piece);
      written = true;
      return result;
    },
  };
  try {
    return await work({ ...site, db });
  } catch (error) {
    if (!written) throw error;
    if (error instanceof DatabaseUnavailable) throw new DatabaseUnavailable('uncertain', error);
    if (typeof error === 'object' && error !== null) afterWriting.add(error);
    throw error;
  }
}

/** The site with lists whose pages may be as long as this, for what is shown or done at once. */
export const withPagesOf = (site: Site, maxPerPage: number): Site => ({ ...site, config: { ...site.config, maxPerPage } });

/** The site inside a transaction: everything that is given it reads and writes in that one. */
export const withinTransaction = (site: Site, db: Database): Site => ({
  ...site,
  db,
  // A look at the database from outside would miss what was written here.
  upToDate: async () => undefined,
  settings: async () => siteSettings(await readOptions(db, settingNames(db.prefix)), db, site.config),
});
