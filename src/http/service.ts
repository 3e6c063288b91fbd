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

/** Between two tries to reach an absent database. */
const RETRY_MS = 1000;
/** After this time a process that cannot serve yet listens nevertheless, to say so to whoever asks for its health. */
const SILENT_MS = 3000;
/** Milliseconds between two looks for messages that webhooks have to get. */
const HOOKS_MS = 1000;
/** Between two looks at what is scheduled; WordPress's clock goes by minutes too. */
const DUE_MS = 30_000;
/** How much longer than its answers may take the process has for ending. */
const GRACE_MS = 3000;
/** What is said at the start where lists do without their index. */
const WITHOUT_INDEX: Record<IndexLack, string> = {
  shared: 'WordPress writes to this database too: lists are read from its tables, until the server has made the index (FOLLOW_WORDPRESS)',
  missing: 'lists are read without their index; fasti reindex makes it',
};

/** Removes what is old in small steps, until nothing is left to be removed. */
const inSteps =
  (remove: (site: Site) => Promise<number>) =>
  async (site: Site): Promise<void> => {
    let removed: number;
    do removed = await remove(site);
    while (removed > 0);
  };

/** Regular tasks, and what the log says if one fails. */
const TASKS: readonly (readonly [work: (site: Site) => Promise<unknown>, failure: string])[] = [
  [({ db }) => keepVersionKey(db), 'the versions of records are made without a secret'],
  [publishDue, 'scheduled records could not be published'],
  [addFurtherDates, 'recurring events could not be given further dates'],
  [inSteps(({ db, clock }) => forgetAnswers(db, clock())), 'old answers could not be removed'],
  [inSteps(({ db, config, clock }) => pruneJournal(db, config.journalDays, clock())), 'old entries of the journal could not be removed'],
  [inSteps(forgetOldMessages), 'old messages to webhooks could not be removed'],
];

/** The process that a service runs in: where its connections come from, and where it reports. */
export interface ServiceHost {
  /**
   * Lets connections in: called when the server can serve (`ready`), and before that if it has to answer questions
   * about its health (`waiting`). May be called twice.
   */
  readonly open: (server: Server, state: 'ready' | 'waiting') => void;
  /** Lets no more connections in, and leaves those there are alone. */
  readonly close: (server: Server) => Promise<void>;
  /** Log for what concerns the whole service. With several processes only one of them writes it. */
  readonly notices: Log;
  /** Log for the start and the end of this process. */
  readonly life: Log;
  /** The metrics of all processes, where others have numbers too; absent: those of this process are all. */
  readonly metrics?: () => Promise<string>;
  /** Further observers of every request that is over. */
  readonly observers?: readonly Observer[];
}

export interface Service {
  /** Has readiness go off, while everything else goes on. */
  readonly giveNotice: () => void;
  /**
   * Takes no more connections, answers what was sent, and lets go of the database, within the time that is configured.
   */
  readonly end: () => Promise<void>;
  /** Whether anybody would notice that readiness goes off: there are connections, or somebody asks for it regularly. */
  readonly isWatched: () => boolean;
  /** The numbers of this process; undefined: nobody wants to know. */
  readonly metrics: Metrics | undefined;
}

/** Serves a site. `failed` gets one line that says why that is not possible. */
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
      // Before anything else: if the process hangs from here on, it is killed.
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

/** Whether anybody may read metrics. */
const isMeasured = ({ metricsPort, metricsToken }: Config): boolean => metricsPort !== undefined || metricsToken !== undefined;

/** Where there is a token for it, the metrics are served beside the API. */
function withMetrics(app: RequestListener, { config }: Site, metrics: Metrics | undefined, host: ServiceHost): RequestListener {
  const { metricsToken: token } = config;
  if (!metrics || token === undefined) return app;
  const answer = metricsListener(token, host.metrics ?? (async () => metricsPage([await metrics.measured()])));
  return (req, res) => (asksForMetrics(req.url) ? answer : app)(req, res);
}

/**
 * Brings the tables up to date as soon as there is a database. `delayed` resolves when that takes longer than the usual
 * start; it never does so if there is no delay.
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
