import cluster from 'node:cluster';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { type Config, ConfigError, readConfig } from './config.ts';
import { createApp } from './http/app.ts';
import type { Lifecycle } from './http/health.ts';
import { BACKLOG, LONGEST_HEAD, TIME_LIMITS } from './http/limits.ts';
import { manageWorkers } from './http/workers.ts';
import { createLog } from './log.ts';
import { giveUpStaleIndex, type IndexLack } from './records/list-index.ts';
import { publishDue } from './records/scheduled.ts';
import { openSite, type Site } from './site.ts';
import { DatabaseUnavailable } from './storage/database.ts';
import { forgetAnswers } from './storage/kept-answers.ts';
import { migrate } from './storage/migrate.ts';
import { keepVersionKey } from './storage/version-key.ts';

/** Between two tries to reach an absent database. */
const RETRY_MS = 1000;
/** Between two looks at what is due; WordPress's clock goes by minutes too. */
const DUE_MS = 30_000;
/** How long connections are still taken once the process is told to end, so that whoever distributes requests learns of it. */
const NOTICE_MS = 2000;
/** What is said at the start where lists do without their index. */
const WITHOUT_INDEX: Record<IndexLack, string> = {
  shared:
    'WordPress writes to this database too, so lists are read from its tables; once it does not, SHARED_WITH_WORDPRESS=off and fasti reindex make them faster',
  missing: 'lists are read without their index; fasti reindex makes it',
};

/** Regular tasks, and what the log says if one fails. */
const TASKS: readonly (readonly [work: (site: Site) => Promise<unknown>, failure: string])[] = [
  [({ db }) => keepVersionKey(db), 'the versions of records are made without a secret'],
  [publishDue, 'scheduled records could not be published'],
  [({ db, clock }) => forgetAnswers(db, clock()), 'old answers could not be removed'],
];

// By itself V8 lets the heap grow to four times what is in use before it clears up, and keeps a hundred megabytes of old answers. Twice costs little time.
setFlagsFromString('--heap-growing-percent=100');
// The library that computes with dates is right in this zone only.
process.env.TZ = 'UTC';
const config = readSettings();
if (config.workers > 1 && cluster.isPrimary) manageWorkers(config.workers, createLog(config), () => process.exit(1));
else await serve(config);

/** Serves until told to end. A setting that cannot work ends the process with one line on standard error. */
async function serve(config: Config): Promise<void> {
  const site = await open(config);
  let phase: ReturnType<Lifecycle['phase']> = 'starting';
  const server = createServer({ ...TIME_LIMITS, maxHeaderSize: LONGEST_HEAD }, createApp(site, { phase: () => phase }));

  let asked = 0;
  const stop = (signal: NodeJS.Signals) => {
    asked += 1;
    if (asked > 1) process.exit(1);
    site.log.info({ signal }, 'stopping');
    phase = 'stopping';
    void shutDown(site, server, config.shutdownSeconds * 1000);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);

  server.on('error', (error) => quit(`The server cannot listen on ${config.host}, port ${config.port}: ${error.message}`));
  server.listen({ port: config.port, host: config.host, backlog: BACKLOG }, () =>
    site.log.info({ address: server.address() }, 'listening'),
  );

  await untilMigrated(site, () => phase === 'stopping');
  if (phase === 'starting') phase = 'serving';
  void runTasks(site, () => phase === 'serving');
}

function readSettings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    return quit(error instanceof ConfigError ? error.message : String(error));
  }
}

async function open(config: Config): Promise<Site> {
  try {
    return await openSite(config);
  } catch (error) {
    return quit(`The site cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Runs the regular tasks as long as the process serves. */
async function runTasks(site: Site, isServing: () => boolean): Promise<void> {
  while (isServing()) {
    for (const [work, failure] of TASKS) await work(site).catch((err: unknown) => site.log.warn({ err }, failure));
    await sleep(DUE_MS, undefined, { ref: false });
  }
}

/** Brings the tables up to date, as soon as there is a database. */
async function untilMigrated(site: Site, stopped: () => boolean): Promise<void> {
  for (let tries = 0; !stopped(); tries += 1) {
    try {
      const applied = await migrate(site.db);
      const lack = await giveUpStaleIndex(site);
      if (lack) site.log[lack === 'shared' ? 'info' : 'warn'](WITHOUT_INDEX[lack]);
      if (applied.length > 0 || tries > 0) site.log.info({ applied }, 'the database is ready');
      return;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) {
        site.log.fatal({ err: error }, 'the tables cannot be made');
        return quit(`The tables cannot be made: ${error instanceof Error ? error.message : String(error)}`);
      }
      if (tries === 0) site.log.warn({ err: error }, 'waiting for the database');
      await sleep(RETRY_MS);
    }
  }
}

/** Lets go: connections are closed after their next answer, then no new ones are taken, and what is under way may finish within `patience` milliseconds. */
async function shutDown(site: Site, server: Server, patience: number): Promise<void> {
  const deadline = Date.now() + patience;
  if (await hasConnections(server)) await sleep(Math.min(NOTICE_MS, patience));
  const finished = new Promise<void>((resolve) => server.close(() => resolve()));
  await Promise.race([finished, sleep(Math.max(0, deadline - Date.now()))]);
  server.closeAllConnections();
  await site.close();
  site.log.info('stopped');
  process.exit(0);
}

function hasConnections(server: Server): Promise<boolean> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(!error && count > 0)));
}

function quit(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
