import { createServer, type RequestListener, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { drainable } from '../host/drain.ts';
import { withTimeout } from '../host/timeout.ts';
import { version } from '../host/version.ts';
import { startWatchdog, type Watchdog } from '../host/watchdog.ts';
import type { Log } from '../log.ts';
import type { LoadedTheme } from '../pages/theme.ts';
import { addFurtherDates } from '../records/further-dates.ts';
import { giveUpStaleIndex, type IndexLack } from '../records/list-index.ts';
import { publishDue } from '../records/scheduled.ts';
import type { Site } from '../site.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import { pruneJournal } from '../storage/journal/entries.ts';
import { forgetAnswers } from '../storage/rows/kept-answers.ts';
import { migrate } from '../storage/schema/migrate.ts';
import { keepVersionKey } from '../storage/schema/version-key.ts';
import { createHookServer, forgetOldMessages, type HookServer } from '../webhooks/deliver.ts';
import type { Observer } from './answered.ts';
import { createApp } from './app.ts';
import type { Lifecycle } from './health.ts';
import { LONGEST_HEAD, TIME_LIMITS } from './limits.ts';
import { createMetrics, type Metrics, metricsPage } from './metrics.ts';
import { asksForMetrics, metricsListener } from './metrics-server.ts';
import { createProbes } from './probes.ts';

/** Interval between two attempts to reach an absent database, in milliseconds. */
const RETRY_MS = 1000;
/** After this time, in milliseconds, a process that cannot serve yet opens its port anyway, to answer health checks. */
const SILENT_MS = 3000;
/** Interval between two checks for pending webhook messages, in milliseconds. */
const HOOKS_MS = 1000;
/**
 * Interval between two checks for scheduled records, in milliseconds. WordPress's scheduler has a resolution of minutes
 * too.
 */
const DUE_MS = 30_000;
/** Time the process has for ending, in milliseconds, in addition to the time for its answers. */
const GRACE_MS = 3000;
/** Log messages at the start if lists do not use their index. */
const WITHOUT_INDEX: Record<IndexLack, string> = {
  shared: 'WordPress writes to this database too: lists are read from its tables, until the server has made the index (FOLLOW_WORDPRESS)',
  missing: 'lists are read without their index; fasti reindex makes it',
};

/** Wraps a removal of old rows so that it repeats in small steps until nothing is left to remove. */
const inSteps =
  (remove: (site: Site) => Promise<number>) =>
  async (site: Site): Promise<void> => {
    let removed: number;
    do removed = await remove(site);
    while (removed > 0);
  };

/** Regular tasks, each with the log message for a failure. */
const TASKS: readonly (readonly [work: (site: Site) => Promise<unknown>, failure: string])[] = [
  [({ db }) => keepVersionKey(db), 'the key for record versions could not be stored: ETags are computed without it'],
  [publishDue, 'scheduled records could not be published'],
  [addFurtherDates, 'further dates of recurring events could not be added'],
  [inSteps(({ db, clock }) => forgetAnswers(db, clock())), 'old answers could not be removed'],
  [inSteps(({ db, config, clock }) => pruneJournal(db, config.journalDays, clock())), 'old entries of the journal could not be removed'],
  [inSteps(forgetOldMessages), 'old messages to webhooks could not be removed'],
];

/** The process that a service runs in: it supplies the connections and the logs. */
export interface ServiceHost {
  /**
   * Starts to accept connections. Called when the server can serve (`ready`), and before that if it has to answer
   * health checks (`waiting`). May be called twice.
   */
  readonly open: (server: Server, state: 'ready' | 'waiting') => void;
  /** Stops accepting connections, and keeps the existing ones. */
  readonly close: (server: Server) => Promise<void>;
  /** Log for messages about the whole service. With several processes, only one of them writes it. */
  readonly notices: Log;
  /** Log for the start and the end of this process. */
  readonly life: Log;
  /** Metrics of all processes, if there are several; absent if this process is the only one. */
  readonly metrics?: () => Promise<string>;
  /** Additional observers of every finished request. */
  readonly observers?: readonly Observer[];
}

export interface Service {
  /** Switches readiness off; everything else continues. */
  readonly giveNotice: () => void;
  /** Stops accepting connections, answers pending requests, and closes the database, within the configured time. */
  readonly end: () => Promise<void>;
  /**
   * Whether a client would notice that readiness is switched off: there are connections, or readiness is probed
   * regularly.
   */
  readonly isWatched: () => boolean;
  /** The metrics of this process; undefined if metrics are not configured. */
  readonly metrics: Metrics | undefined;
}

/** Serves a site. `failed` is called with one line that explains why that is impossible. */
export function startService(site: Site, theme: LoadedTheme, host: ServiceHost, failed: (line: string) => void): Service {
  const { shutdownSeconds, watchdogSeconds } = site.config;
  let phase: ReturnType<Lifecycle['phase']> = 'starting';
  let ending = false;
  let watchdog: Watchdog | undefined;
  const probes = createProbes();
  const lifecycle: Lifecycle = { phase: () => phase, probes };
  const metrics = isMeasured(site.config) ? createMetrics(site, lifecycle, version()) : undefined;
  const app = createApp(site, lifecycle, [...(metrics ? [metrics.observe] : []), ...(host.observers ?? [])], theme);
  const hooks = createHookServer(site);
  const server = createServer({ ...TIME_LIMITS, maxHeaderSize: LONGEST_HEAD }, withMetrics(app, site, metrics, host));
  const { drain, connections } = drainable(server);

  const prepared = prepare(site, host.notices, () => ending);
  void prepared.delayed.then(() => open('waiting'));
  void prepared.done.then(serve, (error: unknown) => {
    site.log.fatal({ err: error }, 'the tables cannot be made');
    failed(`The tables cannot be made: ${error instanceof Error ? error.message : String(error)}`);
  });

  function open(state: 'ready' | 'waiting'): void {
    if (ending) return;
    watchdog ??= startWatchdog(watchdogSeconds);
    host.open(server, state);
  }

  async function serve(): Promise<void> {
    if (phase === 'starting') phase = 'serving';
    if (site.config.followWordpress) site.followOthers();
    open('ready');
    void lookForMessages(site, hooks, () => ending);
    while (!ending) {
      for (const [work, failure] of TASKS) await work(site).catch((err: unknown) => site.log.warn({ err }, failure));
      await sleep(DUE_MS, undefined, { ref: false });
    }
  }

  return {
    metrics,
    isWatched: () => connections() > 0 || probes.isFollowed(),
    giveNotice: () => {
      phase = 'stopping';
    },
    end: async () => {
      if (ending) return;
      ending = true;
      const patience = shutdownSeconds * 1000;
      const deadline = performance.now() + patience;
      // First of all, so that the process is killed if it hangs after this point.
      watchdog?.endWithin(patience + GRACE_MS);
      host.life.info('stopping');
      await host.close(server);
      await drain(deadline);
      await withTimeout(Math.max(0, deadline - performance.now()), hooks.end()).catch(() => undefined);
      await site.close();
      host.life.info('stopped');
    },
  };
}

async function lookForMessages(site: Site, hooks: HookServer, isEnding: () => boolean): Promise<void> {
  while (!isEnding()) {
    await hooks.begin().catch((err: unknown) => site.log.warn({ err }, 'webhooks could not be served'));
    await sleep(HOOKS_MS, undefined, { ref: false });
  }
}

/** Whether metrics are configured. */
const isMeasured = ({ metricsPort, metricsToken }: Config): boolean => metricsPort !== undefined || metricsToken !== undefined;

/** Serves the metrics on the port of the API if there is a token for them. */
function withMetrics(app: RequestListener, { config }: Site, metrics: Metrics | undefined, host: ServiceHost): RequestListener {
  const { metricsToken: token } = config;
  if (!metrics || token === undefined) return app;
  const answer = metricsListener(token, host.metrics ?? (async () => metricsPage([await metrics.measured()])));
  return (req, res) => (asksForMetrics(req.url) ? answer : app)(req, res);
}

/**
 * Migrates the tables as soon as there is a database. `delayed` resolves if that takes longer than a usual start, and
 * otherwise never.
 */
function prepare(site: Site, notices: Log, isOver: () => boolean): { readonly done: Promise<void>; readonly delayed: Promise<void> } {
  let delay = (): void => undefined;
  const delayed = new Promise<void>((resolve) => {
    delay = resolve;
  });
  const late = setTimeout(delay, SILENT_MS);
  const done = untilMigrated(site, notices, isOver, delay).finally(() => clearTimeout(late));
  return { done, delayed };
}

async function untilMigrated(site: Site, notices: Log, isOver: () => boolean, delayed: () => void): Promise<void> {
  for (let tries = 0; !isOver(); tries += 1) {
    try {
      const applied = await migrate(site.db);
      const lack = await giveUpStaleIndex(site);
      if (lack) notices[lack === 'shared' ? 'info' : 'warn'](WITHOUT_INDEX[lack]);
      if (applied.length > 0 || tries > 0) notices.info({ applied }, 'the database is ready');
      return;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || error.reason === 'read-only') throw error;
      if (tries === 0) notices.warn({ err: error }, 'waiting for the database');
      delayed();
      await sleep(RETRY_MS);
    }
  }
}
