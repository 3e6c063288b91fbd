import { type SiteSettings, settingNames } from './calendar/settings.ts';
import { type Config, ConfigError } from './config/config.ts';
import { waitAtMost } from './host/timeout.ts';
import { createLog, type Log } from './log.ts';
import type { FetchOptions } from './media/safe-fetch.ts';
import { isObject } from './objects.ts';
import { createSettingsReader, toSiteSettings } from './settings-reader.ts';
import type { ServerChange } from './storage/engine/cluster.ts';
import { type Database, type DatabaseSettings, DatabaseUnavailable, openDatabase } from './storage/engine/database.ts';
import { addressesOf } from './storage/engine/mysql/address.ts';
import { createForeignChangeHandler, type ForeignChangeHandler } from './storage/freshness/foreign-change-handler.ts';
import { createFreshness, type Freshness, lookAtVersion } from './storage/freshness/freshness.ts';
import { followReplicas } from './storage/freshness/replicas.ts';
import { type TakeOver, type WatchResult, watchTables } from './storage/freshness/table-watch.ts';
import { createJournalFeed, type JournalFeed } from './storage/journal/feed.ts';
import type { ObjectMemory } from './storage/journal/object-memory.ts';
import { readOptions } from './storage/rows/options.ts';
import { loadTexts, type Texts, TextsMissing } from './texts.ts';
import { utcFromDate } from './wordpress/time.ts';

/** The context of every operation. Opened once, passed as the first argument, closed at the end. */
export interface Site {
  readonly config: Config;
  readonly db: Database;
  /** Read replicas of `db`, in the order of the configuration. */
  readonly replicas: readonly Database[];
  readonly texts: Texts;
  readonly log: Log;
  /** Returns the current time; tests supply another clock. */
  readonly clock: () => Date;
  /** Returns the current options of the site. */
  readonly settings: () => Promise<SiteSettings>;
  /**
   * Returns the options as this process last read them, for pages that must not depend on the database; undefined if it
   * has read none.
   */
  readonly latestSettings: () => SiteSettings | undefined;
  /** Decides whether a cached value is still valid. */
  readonly freshness: Freshness;
  /** Feed of new journal entries. It advances with each look of `freshness`. */
  readonly journal: JournalFeed;
  /**
   * Starts to take over the writes of WordPress to the same tables, into the journal and the list index. Used by the
   * server; commands do not run long enough.
   */
  readonly startFollowing: () => void;
  /**
   * Checks whether everything that WordPress had written at a moment (in milliseconds of `performance.now()`) has been
   * taken over, and returns the state of the database. Undefined if it has not, or if this process does not take over
   * writes.
   */
  readonly takenOverSince: (at: number) => Promise<Pick<WatchResult, 'state'> | undefined>;
  /**
   * Waits, for a short time at most, until writes of WordPress that `freshness` has noticed since a moment (in
   * milliseconds of `performance.now()`) are taken over.
   */
  readonly takeOverEnd: (at: number) => Promise<void>;
  /**
   * Whether a write failed for lack of disk space a few seconds ago. MySQL does not report the disk at any other time.
   */
  readonly isDiskFull: () => boolean;
  /**
   * Returns since when the visible data have been the same, in UTC: the last change as of the known version, or the
   * start of this process, whose settings, theme or release may differ from those of the previous one. Undefined if
   * unknown.
   */
  readonly changedAt: () => string | undefined;
  /**
   * Returns the site for reads of anonymous callers: on a replica if one can be read at this moment, otherwise the site
   * itself.
   */
  readonly forAnonymousReads: () => Site;
  /** Replacement for the network that images are fetched from, for tests. */
  readonly fetching?: FetchOptions;
  /** Cache of rendered records and pages of lists. Only set if the answer is the same for everybody. */
  readonly memory?: ObjectMemory;
  readonly close: () => Promise<void>;
}

/** Returns the languages that an address may begin with: those of the texts and those of the content. */
export const languageSegments = ({ texts }: Pick<Site, 'texts'>, { contentLanguages }: SiteSettings): readonly string[] =>
  contentLanguages ? [...texts.languages, ...contentLanguages.languages.map(({ code }) => code)] : texts.languages;

/** Time for which a disk counts as full after a failed write, in milliseconds. */
const DISK_FULL_MS = 5000;

/** Loads the texts in the languages of the setting LANGUAGES. Throws ConfigError if one of them has no texts. */
export async function loadConfiguredTexts({ languages }: Pick<Config, 'languages'>): Promise<Texts> {
  try {
    return await loadTexts(languages);
  } catch (error) {
    if (!(error instanceof TextsMissing)) throw error;
    const { language, folder, file } = error;
    const values = { languages: languages.join(), language, folder };
    throw file === undefined ? new ConfigError('texts-absent', values) : new ConfigError('texts-unreadable', { ...values, file });
  }
}

interface SiteOptions extends Pick<DatabaseSettings, 'watched' | 'use'> {
  readonly clock?: () => Date;
  readonly log?: Log;
}

/**
 * Opens the database (without waiting for an absent server), the texts and the log. Throws if a setting is invalid.
 */
export async function openSite(
  config: Config,
  { clock = () => new Date(), log = createLog(config), ...databaseOptions }: SiteOptions = {},
): Promise<Site> {
  const [database, texts] = await Promise.all([
    openDatabase({ url: config.databaseUrl, ...tablesOf(config), ...databaseOptions, onServerChange: logServerChange(log, 'database') }),
    loadConfiguredTexts(config),
  ]);
  let isFollowing = false;
  const foreignChanges = createForeignChangeHandler(database, clock, () => followedContent(config, main.latestSettings()));
  const changedSince = sinceStart(utcFromDate(clock()));
  const main: DatabaseSource = createSource(database, config, 'primary', {
    takeOver: async (scope) => (isFollowing ? foreignChanges.takeOver(scope) : undefined),
    drain: async (newest, languages) => {
      if (isFollowing) await foreignChanges.drain(newest, languages);
    },
  });
  const replicas = await openReplicas(config, database, log);
  const sources = replicas.map((db, index) => createSource(db, config, `replica ${index + 1}`));
  const followedReplicas = followReplicas(database, replicas, {
    maxLagMs: config.databaseReadLag,
    onReadableAgain: (index) => sources[index]?.invalidate(),
    firstIndex: Math.floor(Math.random() * replicas.length),
  });
  let fullAt = Number.NEGATIVE_INFINITY;
  const noteDiskFull = (error: unknown): void => {
    if (error instanceof DatabaseUnavailable && error.reason === 'full') fullAt = performance.now();
  };
  const onTransactionEnd = (open: number, mayHaveWritten: boolean): void => {
    main.freshness.forget();
    main.transactionEnded(open);
    // A write that certainly failed must not keep replicas from being read while the primary is down.
    if (mayHaveWritten) followedReplicas.noteWrite();
  };
  const site: Site = {
    config,
    db: observeTransactions(database, noteDiskFull, onTransactionEnd),
    isDiskFull: () => performance.now() - fullAt < DISK_FULL_MS,
    replicas,
    texts,
    log,
    clock,
    settings: main.settings,
    latestSettings: () => latestSettingsOf([main, ...sources]),
    freshness: main.freshness,
    journal: main.journal,
    changedAt: changedSince(main),
    startFollowing: () => {
      isFollowing = true;
    },
    takenOverSince: async (at) => (isFollowing ? main.takenOverSince(at) : undefined),
    takeOverEnd: main.takeOverEnd,
    forAnonymousReads: () => readers[followedReplicas.current() ?? -1] ?? site,
    close: () => closeAll([database, ...replicas]),
  };
  const readers = sources.map(
    (source): Site => ({ ...site, ...source, changedAt: changedSince(source), takenOverSince: async () => undefined }),
  );
  return site;
}

/**
 * Returns the languages of the content if a server takes over WordPress's changes of this database. `settings`: the
 * latest ones, which are read before anything is written.
 */
const followedContent = ({ followWordpress }: Config, settings: SiteSettings | undefined) =>
  followWordpress && settings?.shared ? { languages: settings.contentLanguages } : undefined;

const closeAll = async (databases: readonly Database[]): Promise<void> => {
  await Promise.all(databases.map((db) => db.close()));
};

const latestSettingsOf = (sources: readonly DatabaseSource[]): SiteSettings | undefined =>
  sources.map((source) => source.latestSettings()).find((settings) => settings !== undefined);

/**
 * Returns the last change, or the start of the process if there was none since, both UTC. After the clock was set back,
 * a change has an earlier date than the start.
 */
const sinceStart =
  (startedAt: string) =>
  ({ changedAt }: DatabaseSource): Site['changedAt'] => {
    let first: string | undefined;
    return () => {
      const lastChange = changedAt();
      first ??= lastChange;
      return lastChange !== undefined && lastChange === first && lastChange < startedAt ? startedAt : lastChange;
    };
  };

/**
 * The data read from one database and cached separately for it, since the primary and each replica may differ at any
 * moment.
 */
interface DatabaseSource
  extends Pick<Site, 'db' | 'settings' | 'latestSettings' | 'freshness' | 'journal' | 'takenOverSince' | 'takeOverEnd' | 'changedAt'> {
  /** To be called at the end of every transaction. `open`: number of other open transactions. */
  readonly transactionEnded: (open: number) => void;
  /** To be called when the data of the database may have changed. */
  readonly invalidate: () => void;
}

/** Maximum time that a request waits for a take-over. The first one of a large site takes much longer. */
const MAX_TAKE_OVER_WAIT_MS = 1500;

/**
 * Creates the source for a database. `name`: prefix of the versions of its data, so that they differ from those of
 * other databases. `foreignChanges`: takes over the writes of WordPress; absent for a replica, which gets the journal
 * from its primary.
 */
function createSource(db: Database, config: Config, name: string, foreignChanges?: ForeignChangeHandler): DatabaseSource {
  const validMs = config.cache ? config.cacheFreshness : 0;
  // A look costs as much as reading the settings. It is only worth it if the settings are likely to belong to that
  // state.
  const stateSince = async (at: number) =>
    db.driver.state ? db.driver.state() : watch.latest()?.state === undefined ? undefined : (await watch.lookSince(at)).state;
  const settings = createSettingsReader(db, config, { maxAgeMs: validMs, stateSince });
  const takeOver: TakeOver | undefined =
    foreignChanges &&
    (async (scope) => {
      const result = await foreignChanges.takeOver({ ...scope, languages: (await settings.cached()).contentLanguages });
      // The index may have been created or given up.
      if (result) settings.invalidate();
      return result;
    });
  const watch = watchTables(db, {
    maxStaleMs: config.cacheStale,
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
      const { shared, readingNumber, contentLanguages } = await settings.read();
      const drain = async (newest: number) => foreignChanges?.drain(newest, contentLanguages);
      const before = journal.position();
      const look = await lookAtVersion(db, shared ? { watch: () => watch.lookSince(at), drain } : undefined);
      await journal.advanceTo(look.count, before);
      changedAt = look.changedAt;
      // If the server has changed in between, the result is useless.
      return era === db.cluster.era()
        ? look.probeResult && { ...look.probeResult, name: `${name} ${era}:${look.probeResult.name}:${readingNumber}` }
        : undefined;
    },
    { validMs },
  );
  return {
    db,
    settings: settings.cached,
    latestSettings: settings.latest,
    transactionEnded: settings.transactionEnded,
    freshness,
    journal,
    takenOverSince: async (at) => {
      const watchResult = await watch.lookSince(at);
      return watchResult.isTakenOver ? watchResult : undefined;
    },
    takeOverEnd: (at) => waitAtMost(MAX_TAKE_OVER_WAIT_MS, watch.takeOverEnd(at)),
    changedAt: () => changedAt,
    invalidate: () => {
      settings.invalidate();
      freshness.forget();
    },
  };
}

/** Returns the options of `openDatabase` that select the tables of the site. */
const tablesOf = ({ tablePrefix: prefix, networkSite: site }: Config) => ({ prefix, site });

/** Opens a separate database for each replica, so that each is known to be a single server. */
function openReplicas(config: Config, primary: Database, log: Log): Promise<Database[]> {
  const { databaseReadUrl } = config;
  const urls = databaseReadUrl === undefined ? [] : addressesOf(databaseReadUrl);
  return Promise.all(
    urls.map((url) => openDatabase({ url, ...tablesOf(config), primary, onServerChange: logServerChange(log, 'replica') })),
  );
}

const logServerChange =
  (log: Log, role: 'database' | 'replica') =>
  (change: ServerChange): void => {
    if ('left' in change) log.warn({ server: change.left, reason: change.reason }, `the server of the ${role} cannot be used`);
    else log.info({ server: change.taken }, `using the server of the ${role}`);
  };

/**
 * Wraps a database to observe its transactions. `onEnd` is called after every transaction, committed or not, with the
 * number of those still open and whether it may have written anything; `onError` is called before that with the error
 * of a failed one.
 */
function observeTransactions(
  db: Database,
  onError: (error: unknown) => void,
  onEnd: (openCount: number, mayHaveWritten: boolean) => void,
): Database {
  let openCount = 0;
  return {
    ...db,
    transaction: async (work) => {
      openCount += 1;
      let mayHaveWritten = true;
      try {
        return await db.transaction(work);
      } catch (error) {
        mayHaveWritten = mayHaveBeenWritten(error);
        onError(error);
        throw error;
      } finally {
        openCount -= 1;
        onEnd(openCount, mayHaveWritten);
      }
    },
  };
}

/** Errors of work that had committed a transaction before they occurred. */
const errorsAfterCommit = new WeakSet<object>();

/**
 * Whether data may have been written despite an error: because the outcome is unknown, or because the error occurred
 * after a commit. Files that rows may refer to must stay in that case.
 */
export const mayHaveBeenWritten = (error: unknown): boolean =>
  (error instanceof DatabaseUnavailable && error.reason === 'uncertain') || (isObject(error) && errorsAfterCommit.has(error));

/**
 * Runs the work of a request. If the database is lost after a commit, the error tells the client not to send the
 * request again. Any other error after a commit is marked for `mayHaveBeenWritten`. Must not be called in a
 * transaction, whose work runs again after a conflict, and which commits nothing before its end.
 *
 * @throws DatabaseUnavailable `uncertain` in that case, otherwise the error of `work`; Error in a transaction
 */
export async function markErrorsAfterCommit<T>(site: Site, work: (site: Site) => Promise<T>): Promise<T> {
  if (site.db.isTransaction) throw new Error('only work outside of a transaction can tell whether it was committed');
  let hasCommitted = false;
  const db: Database = {
    ...site.db,
    transaction: async (innerWork) => {
      const result = await site.db.transaction(innerWork);
      hasCommitted = true;
      return result;
    },
  };
  try {
    return await work({ ...site, db });
  } catch (error) {
    if (!hasCommitted) throw error;
    if (error instanceof DatabaseUnavailable) throw new DatabaseUnavailable('uncertain', error);
    if (isObject(error)) errorsAfterCommit.add(error);
    throw error;
  }
}

/** Returns the site with another maximum page size, for lists that are shown or processed at once. */
export const withMaxPerPage = (site: Site, maxPerPage: number): Site => ({ ...site, config: { ...site.config, maxPerPage } });

/** Returns the site inside a transaction: everything that gets it reads and writes in that transaction. */
export const withinTransaction = (site: Site, db: Database): Site => ({
  ...site,
  db,
  // A look at the database from outside would miss the writes of this transaction.
  takenOverSince: async () => undefined,
  settings: async () => toSiteSettings(await readOptions(db, settingNames(db.prefix)), db, site.config),
});
