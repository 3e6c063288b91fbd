import { createServer, type RequestListener, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadViewer } from '../accounts/viewer.ts';
import type { Config } from '../config/config.ts';
import { drainable } from '../host/drain.ts';
import { withTimeout } from '../host/timeout.ts';
import { version } from '../host/version.ts';
import { startWatchdog, type Watchdog } from '../host/watchdog.ts';
import { backgroundWarnings, type Log } from '../log.ts';
import type { LoadedTheme } from '../pages/theme.ts';
import { addFurtherDates } from '../records/further-dates.ts';
import { dropStaleIndex, type WhyIndexUnused } from '../records/list-index.ts';
import { publishDuePosts } from '../records/scheduled.ts';
import type { Site } from '../site.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import { pruneJournal } from '../storage/journal/entries.ts';
import { pruneAnswers } from '../storage/rows/kept-answers.ts';
import { migrate } from '../storage/schema/migrate.ts';
import { ensureVersionKey } from '../storage/schema/version-key.ts';
import { createHookServer, deleteOldMessages, type HookServer } from '../webhooks/deliver.ts';
import { createApp } from './app.ts';
import type { Lifecycle } from './health.ts';
import { MAX_HEAD_BYTES, TIME_LIMITS } from './limits.ts';
import { createMetrics, type Metrics, metricsPage } from './metrics.ts';
import { isMetricsRequest, metricsListener } from './metrics-server.ts';
import { createProbes } from './probes.ts';
import { answerRawAddresses } from './raw-address.ts';
import type { Observer } from './request-notes.ts';

/** Interval between two attempts to reach an absent database, in milliseconds. */
const DATABASE_RETRY_MS = 1000;
/** After this time, in milliseconds, a process that cannot serve yet opens its port anyway, to answer health checks. */
const PORT_DELAY_MS = 3000;
/** Interval between two checks for pending webhook messages, in milliseconds. */
const WEBHOOK_INTERVAL_MS = 1000;
/**
 * Interval between two checks for scheduled records, in milliseconds. WordPress's scheduler has a resolution of minutes
 * too.
 */
const TASK_INTERVAL_MS = 30_000;
/** Time the process has for ending, in milliseconds, in addition to the time for its answers. */
const SHUTDOWN_GRACE_MS = 3000;
/** Log messages at the start if lists do not use their index. */
const INDEX_LACK_MESSAGES: Record<Exclude<WhyIndexUnused, 'no-tables'>, string> = {
  'not-followed':
    'WordPress writes to this database too, and its changes are not followed: lists are read from its tables (FOLLOW_WORDPRESS)',
  shared: 'WordPress writes to this database too: lists are read from its tables, until the server has made the index (FOLLOW_WORDPRESS)',
  missing: 'lists are read without their index; fasti reindex makes it',
};

/** Wraps a removal of old rows so that it repeats in small steps until nothing is left to remove. */
const repeatUntilDone =
  (remove: (site: Site) => Promise<number>) =>
  async (site: Site): Promise<void> => {
    let count: number;
    do count = await remove(site);
    while (count > 0);
  };

/** Regular tasks, each with the log message for a failure. */
const TASKS: readonly (readonly [work: (site: Site) => Promise<unknown>, failure: string])[] = [
  [({ db }) => ensureVersionKey(db), 'the key for record versions could not be stored: ETags are computed without it'],
  [(site) => publishDuePosts(site, loadViewer), 'scheduled records could not be published'],
  [addFurtherDates, 'further dates of recurring events could not be added'],
  [repeatUntilDone(({ db, clock }) => pruneAnswers(db, clock())), 'old answers could not be removed'],
  [
    repeatUntilDone(({ db, config, clock }) => pruneJournal(db, config.journalDays, clock())),
    'old entries of the journal could not be removed',
  ],
  [repeatUntilDone(deleteOldMessages), 'old messages to webhooks could not be removed'],
];

/** The process that a service runs in: it supplies the connections and the logs. */
export interface ServiceHost {
  /**
   * Starts to accept connections. Called when the server can serve (`ready`), and before that if it has to answer
   * health checks (`waiting`). May be called twice.
   */
  readonly open: (server: Server, state: 'ready' | 'waiting') => void;
  /**
   * Stops accepting connections, and keeps the existing ones. `deadline`: the time of `performance.now()` at which this
   * has to be done.
   */
  readonly close: (server: Server, deadline: number) => Promise<void>;
  /** Log for messages about the whole service. With several processes, only one of them writes it. */
  readonly serviceLog: Log;
  /** Log for the start and the end of this process. */
  readonly processLog: Log;
  /** Metrics of all processes, if there are several; absent if this process is the only one. */
  readonly metrics?: () => Promise<string>;
  /** Additional observers of every finished request. */
  readonly observers?: readonly Observer[];
}

export interface Service {
  /** Switches readiness off; everything else continues. */
  readonly announceShutdown: () => void;
  /**
   * Stops accepting connections, answers pending requests, and closes the database, within the configured time. Later
   * calls wait for the same end.
   */
  readonly stop: () => Promise<void>;
  /**
   * Whether a client would notice that readiness is switched off: there are connections, or readiness is probed
   * regularly.
   */
  readonly isWatched: () => boolean;
  /** The metrics of this process; undefined if metrics are not configured. */
  readonly metrics: Metrics | undefined;
}

/** Serves a site. `reportFailure` is called with one line that explains why that is impossible. */
export function startService(site: Site, theme: LoadedTheme, host: ServiceHost, reportFailure: (line: string) => void): Service {
  const { shutdownSeconds, watchdogSeconds } = site.config;
  let phase: ReturnType<Lifecycle['phase']> = 'starting';
  let isStopping = false;
  let stopped: Promise<void> | undefined;
  let watchdog: Watchdog | undefined;
  const probes = createProbes();
  const lifecycle: Lifecycle = { phase: () => phase, isLeaving: () => isStopping, probes };
  const metrics = hasMetrics(site.config) ? createMetrics(site, lifecycle, version()) : undefined;
  const observers = [...(metrics ? [metrics.observe] : []), ...(host.observers ?? [])];
  const app = createApp(site, lifecycle, observers, theme);
  const hooks = createHookServer(site);
  const server = createServer({ ...TIME_LIMITS, maxHeaderSize: MAX_HEAD_BYTES }, withMetrics(app, site, metrics, host));
  answerRawAddresses(server, site, observers);
  const { drain, connections } = drainable(server);

  const preparation = prepare(site, host.serviceLog, () => isStopping);
  void preparation.whenDelayed.then(() => open('waiting'));
  void preparation.whenDone.then(serve, (error: unknown) => isStopping || reportMissingTables(site, error, reportFailure));

  function open(state: 'ready' | 'waiting'): void {
    if (isStopping) return;
    watchdog ??= startWatchdog(watchdogSeconds);
    host.open(server, state);
  }

  async function serve(): Promise<void> {
    if (phase === 'starting') phase = 'serving';
    if (site.config.followWordpress) site.startFollowing();
    open('ready');
    void sendPendingMessages(site, hooks, () => isStopping);
    await runTasks(site, () => isStopping);
  }

  return {
    metrics,
    isWatched: () => connections() > 0 || probes.isProbedRegularly(),
    announceShutdown: () => {
      phase = 'stopping';
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };

  async function stop(): Promise<void> {
    isStopping = true;
    const timeoutMs = shutdownSeconds * 1000;
    const deadline = performance.now() + timeoutMs;
    // First of all, so that the process is killed if it hangs after this point.
    watchdog?.killAfter(timeoutMs + SHUTDOWN_GRACE_MS);
    host.processLog.info('stopping');
    await host.close(server, deadline);
    await drain(deadline);
    await withTimeout(Math.max(0, deadline - performance.now()), hooks.stop()).catch(() => undefined);
    await site.close();
    host.processLog.info('stopped');
  }
}

function reportMissingTables({ log }: Site, error: unknown, reportFailure: (line: string) => void): void {
  log.fatal({ err: error }, 'the tables cannot be made');
  reportFailure(`The tables cannot be made: ${error instanceof Error ? error.message : String(error)}`);
}

async function runTasks(site: Site, isEnding: () => boolean): Promise<void> {
  const warn = backgroundWarnings(site.log);
  while (!isEnding()) {
    for (const [work, failure] of TASKS) {
      if (isEnding()) return;
      // The end of the service may cut a task off, which is repeated after the next start.
      await work(site).catch((err: unknown) => isEnding() || warn({ err }, failure));
    }
    await sleep(TASK_INTERVAL_MS, undefined, { ref: false });
  }
}

async function sendPendingMessages({ log }: Site, hooks: HookServer, isEnding: () => boolean): Promise<void> {
  const warn = backgroundWarnings(log);
  while (!isEnding()) {
    await hooks.serveDue().catch((err: unknown) => warn({ err }, 'webhooks could not be served'));
    await sleep(WEBHOOK_INTERVAL_MS, undefined, { ref: false });
  }
}

/** Whether metrics are configured. */
const hasMetrics = ({ metricsPort, metricsToken }: Config): boolean => metricsPort !== undefined || metricsToken !== undefined;

/** Serves the metrics on the port of the API if there is a token for them. */
function withMetrics(app: RequestListener, { config }: Site, metrics: Metrics | undefined, host: ServiceHost): RequestListener {
  const { metricsToken: token } = config;
  if (!metrics || token === undefined) return app;
  const answer = metricsListener(token, host.metrics ?? (async () => metricsPage([await metrics.collect()])));
  return (req, res) => (isMetricsRequest(req.url) ? answer : app)(req, res);
}

/**
 * Migrates the tables as soon as there is a database. `whenDelayed` resolves if that takes longer than a usual start,
 * and otherwise never.
 */
function prepare(
  site: Site,
  notices: Log,
  isOver: () => boolean,
): { readonly whenDone: Promise<void>; readonly whenDelayed: Promise<void> } {
  let delay = (): void => undefined;
  const whenDelayed = new Promise<void>((resolve) => {
    delay = resolve;
  });
  const timer = setTimeout(delay, PORT_DELAY_MS);
  const whenDone = migrateWhenReachable(site, notices, isOver, delay).finally(() => clearTimeout(timer));
  return { whenDone, whenDelayed };
}

async function migrateWhenReachable(site: Site, notices: Log, isOver: () => boolean, reportDelay: () => void): Promise<void> {
  for (let tries = 0; !isOver(); tries += 1) {
    try {
      const applied = await migrate(site.db);
      const reason = await dropStaleIndex(site);
      if (reason !== undefined && reason !== 'no-tables') notices[reason === 'missing' ? 'warn' : 'info'](INDEX_LACK_MESSAGES[reason]);
      if (applied.length > 0 || tries > 0) notices.info({ applied }, 'the database is ready');
      return;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || error.reason === 'read-only') throw error;
      if (tries === 0) notices.warn({ err: error }, 'waiting for the database');
      reportDelay();
      await sleep(DATABASE_RETRY_MS);
    }
  }
}
