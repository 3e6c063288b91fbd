import { type Request, type RequestHandler, type Response, Router } from 'express';
import { readClaim } from '../accounts/credentials.ts';
import { fail } from '../errors.ts';
import { withTimeout } from '../host/timeout.ts';
import { version } from '../host/version.ts';
import { backgroundWarnings } from '../log.ts';
import { findFolderFault } from '../media/library.ts';
import { canUseIndex, whyIndexUnused } from '../records/list-index.ts';
import type { Site } from '../site.ts';
import { checkWritable, DatabaseUnavailable, ping } from '../storage/engine/database.ts';
import type { Probes } from './probes.ts';
import { credentialsOf } from './request.ts';
import { notesOf } from './request-notes.ts';

/** The phase of the process, apart from the state of its database. */
export interface Lifecycle {
  /** `starting`: the tables are not known to exist yet; `stopping`: the service was asked to end. */
  readonly phase: () => 'starting' | 'serving' | 'stopping';
  /** Whether the process gets no more connections; a worker that is replaced does so in the phase `serving`. */
  readonly isLeaving?: () => boolean;
  /** Notified of each readiness probe. */
  readonly probes?: Pick<Probes, 'record'>;
}

/** Timeout for a ping of the database, in milliseconds. */
const PING_TIMEOUT_MS = 1000;
/** All callers get the same result within this time, in milliseconds, so that probes cannot overload the database. */
const RESULT_LIFETIME_MS = 500;

/** Descriptions of what is wrong; undefined if nothing is. */
interface HealthFaults {
  readonly reading: string | undefined;
  readonly writing: string | undefined;
  /** A fault of the uploads folder. */
  readonly uploads: string | undefined;
}

/**
 * Routes below `/health`. `/live`: the process runs. `/ready`: it can do everything. `/readable`: it can answer all
 * reads. Otherwise the answer gives the reason: `starting`, `stopping`, or the fault of the database. A folder of
 * uploads that cannot be written is only reported, since the calendar works without it. Administrators who sign in see
 * every part.
 */
export function healthRoutes(site: Site, { phase, probes }: Lifecycle): Router {
  const faults = cacheBriefly(() => checkHealth(site));
  const answer = (blocks: (faults: HealthFaults) => string | undefined) => async (req: Request, res: Response) => {
    probes?.record();
    const healthFaults = await faults();
    const reason = phase() === 'stopping' ? 'stopping' : (blocks(healthFaults) ?? (phase() === 'starting' ? 'starting' : undefined));
    const uploads = healthFaults.uploads === undefined ? {} : { uploads: healthFaults.uploads };
    const parts = (await isAdministrator(site, req)) ? { parts: await partsOf(site, healthFaults) } : {};
    res
      .status(reason === undefined ? 200 : 503)
      .json({ status: reason === undefined ? 'ready' : 'not ready', ...(reason && { reason }), ...uploads, ...serversOf(site), ...parts });
  };
  const router = Router();
  router.use((req, res, next) => {
    notesOf(req).route = 'health';
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.get('/live', (_req, res) => {
    res.json({ status: 'live' });
  });
  router.get(
    '/ready',
    answer(({ reading, writing }) => reading ?? writing),
  );
  router.get(
    '/readable',
    answer(({ reading }) => reading),
  );
  return router;
}

/** Refuses requests until the tables exist. The handler throws database-unavailable. */
export function refuseUntilStarted({ phase }: Lifecycle): RequestHandler {
  return (_req, _res, next) => {
    if (phase() === 'starting') fail('database-unavailable');
    next();
  };
}

/** Names the server in use by its position in the configuration, since host names are not public. */
function serversOf({ db, replicas, forAnonymousReads }: Site): object {
  const { of, inUse, detail } = db.cluster.place();
  const galera = /^Galera: (.*)$/.exec(detail)?.[1];
  return {
    ...(of > 1 || galera !== undefined ? { database: { server: inUse, of, ...(galera === undefined ? {} : { galera }) } } : {}),
    ...(replicas.length > 0 ? { replicas: { of: replicas.length, read: forAnonymousReads().db !== db } } : {}),
  };
}

/**
 * Whether the request comes from an administrator of the site. False if the database cannot tell.
 *
 * @throws incorrect_password, too-many-requests
 */
async function isAdministrator(site: Site, req: Request): Promise<boolean> {
  if (req.headers.authorization === undefined) return false;
  try {
    const settings = await site.settings();
    const { viewer } = await readClaim(site, settings, credentialsOf({ req, settings })).identify(undefined);
    return viewer.can('manage_options');
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return false;
    throw error;
  }
}

/** Reports every part of the service as this process sees it. Sizes are in bytes. */
async function partsOf(site: Site, { reading, writing, uploads }: HealthFaults): Promise<object> {
  const { db, journal } = site;
  const { rss, heapUsed } = process.memoryUsage();
  return {
    version: version(),
    node: process.versions.node,
    process: { pid: process.pid, seconds: Math.floor(process.uptime()), memory: rss, heap: heapUsed },
    database: {
      kind: db.dialect.name,
      reading: reading ?? 'ok',
      writing: writing ?? 'ok',
      connections: db.driver.connections(),
      queries: db.queries(),
    },
    index: await indexState(site),
    journal: { position: journal.position() ?? null },
    uploads: uploads ?? 'ok',
  };
}

/** Returns whether lists are read from the index, and if not, why; `none`: the calendar's own tables are not used. */
async function indexState(site: Site): Promise<'in use' | 'none' | 'shared with WordPress' | 'missing' | 'unknown'> {
  const settings = await site.settings().catch(() => undefined);
  if (!settings) return 'unknown';
  if (await canUseIndex(site, { settings, receivedAt: performance.now() })) return 'in use';
  const reason = await whyIndexUnused(site);
  if (reason === 'no-tables') return 'none';
  // A complete index is not used either while changes of WordPress have not been taken over.
  return reason === 'missing' ? 'missing' : 'shared with WordPress';
}

/** Returns the current faults. */
export async function checkHealth(site: Site): Promise<HealthFaults> {
  const reading = await faultOfCheck(site, () => ping(site.db));
  const writing = reading ?? (site.isDiskFull() ? 'database full' : await faultOfCheck(site, () => checkWritable(site.db)));
  // If the database file was replaced, reads come from the deleted file, so they count as faulty too.
  return { reading: writing === 'database replaced' ? writing : reading, writing, uploads: await findFolderFault(site.config.uploadsDir) };
}

async function faultOfCheck({ log }: Site, ask: () => Promise<void>): Promise<string | undefined> {
  const answer = ask().then(
    () => undefined,
    (error: unknown) => {
      backgroundWarnings(log)({ err: error }, 'the database check failed');
      return error instanceof DatabaseUnavailable ? error.reason : 'failing';
    },
  );
  // Only the timeout can reject here; other errors have been turned into a result.
  const fault = await withTimeout(PING_TIMEOUT_MS, answer).catch(() => 'slow');
  return fault === undefined ? undefined : `database ${fault}`;
}

/** Wraps `work` so that it runs at most once within an interval, for all callers. */
function cacheBriefly<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    if (result) return result;
    result = work().finally(() => {
      setTimeout(() => {
        result = undefined;
      }, RESULT_LIFETIME_MS).unref();
    });
    return result;
  };
}
