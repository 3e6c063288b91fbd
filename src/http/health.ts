import { type Request, type RequestHandler, type Response, Router } from 'express';
import { claimOf } from '../accounts/credentials.ts';
import { fail } from '../errors.ts';
import { withTimeout } from '../host/timeout.ts';
import { version } from '../host/version.ts';
import { folderFault } from '../media/library.ts';
import { trustsIndex } from '../records/list-index.ts';
import type { Site } from '../site.ts';
import { checkWritable, DatabaseUnavailable, ping } from '../storage/engine/database.ts';
import { notesOf } from './answered.ts';
import type { Probes } from './probes.ts';
import { credentialsOf } from './request.ts';

/** Where the process is in its life, besides its database. */
export interface Lifecycle {
  /** `starting`: the tables are not known to be there; `stopping`: it was asked to end. */
  readonly phase: () => 'starting' | 'serving' | 'stopping';
  /** Is told of each question about readiness. */
  readonly probes?: Pick<Probes, 'note'>;
}

/** The longest that a sign of life of the database may take, in milliseconds. */
const PATIENCE_MS = 1000;
/** Within this time everybody gets the same answer, so that nobody keeps the database busy with questions. */
const KEPT_MS = 500;

/** What is wrong, in words; undefined: nothing. */
interface Faults {
  readonly reading: string | undefined;
  readonly writing: string | undefined;
  /** With the folder of uploads. */
  readonly uploads: string | undefined;
}

/**
 * Below `/health`. `/live`: the process runs. `/ready`: it can do everything; `/readable`: it can answer everything
 * that only reads. If not, why: `starting`, `stopping`, or what is wrong with the database. Uploads that can't be
 * written are reported beside it: a calendar does without them. Administrators who sign in see every part.
 */
export function healthRoutes(site: Site, { phase, probes }: Lifecycle): Router {
  const faults = atMostOnceIn(() => faultsOf(site));
  const answer = (blocks: (faults: Faults) => string | undefined) => async (req: Request, res: Response) => {
    probes?.note();
    const found = await faults();
    const reason = phase() === 'stopping' ? 'stopping' : (blocks(found) ?? (phase() === 'starting' ? 'starting' : undefined));
    const uploads = found.uploads === undefined ? {} : { uploads: found.uploads };
    const parts = (await isAdministrator(site, req)) ? { parts: await partsOf(site, found) } : {};
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

/** Turns requests away until the tables are there. */
export function gate({ phase }: Lifecycle): RequestHandler {
  return (_req, _res, next) => {
    if (phase() === 'starting') fail('database-unavailable');
    next();
  };
}

/** Which server is in use, by its place in the configuration: host names are not for the public. */
function serversOf({ db, replicas, reading }: Site): object {
  const { of, inUse, detail } = db.cluster.place();
  const galera = /^Galera: (.*)$/.exec(detail)?.[1];
  return {
    ...(of > 1 || galera !== undefined ? { database: { server: inUse, of, ...(galera === undefined ? {} : { galera }) } } : {}),
    ...(replicas.length > 0 ? { replicas: { of: replicas.length, read: reading().db !== db } } : {}),
  };
}

/**
 * Whether the request comes from somebody who manages the site. Where the database can't tell, nobody does.
 *
 * @throws incorrect_password, too-many-requests
 */
async function isAdministrator(site: Site, req: Request): Promise<boolean> {
  if (req.headers.authorization === undefined) return false;
  try {
    const { viewer } = await claimOf(site, await site.settings(), credentialsOf({ req })).identify(undefined);
    return viewer.can('manage_options');
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return false;
    throw error;
  }
}

/** Every part of the service, as far as this process knows it. Sizes in bytes. */
async function partsOf(site: Site, { reading, writing, uploads }: Faults): Promise<object> {
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

/** Whether lists are read from the index, and why not. */
async function indexState(site: Site): Promise<'in use' | 'shared with WordPress' | 'missing' | 'unknown'> {
  const settings = await site.settings().catch(() => undefined);
  if (!settings) return 'unknown';
  if (await trustsIndex(site, { settings, arrived: performance.now() })) return 'in use';
  return settings.shared ? 'shared with WordPress' : 'missing';
}

/** What is wrong now. */
export async function faultsOf(site: Site): Promise<Faults> {
  const reading = await faultIn(site, () => ping(site.db));
  const writing = reading ?? (site.isFull() ? 'database full' : await faultIn(site, () => checkWritable(site.db)));
  // What is read from a file that is not there any more is no longer the calendar's.
  return { reading: writing === 'database replaced' ? writing : reading, writing, uploads: await folderFault(site.config.uploadsDir) };
}

async function faultIn({ log }: Site, ask: () => Promise<void>): Promise<string | undefined> {
  const answer = ask().then(
    () => undefined,
    (error: unknown) => {
      log.warn({ err: error }, 'the database does not do what it should');
      return error instanceof DatabaseUnavailable ? error.reason : 'failing';
    },
  );
  // Any other failure has become an answer.
  const fault = await withTimeout(PATIENCE_MS, answer).catch(() => 'slow');
  return fault === undefined ? undefined : `database ${fault}`;
}

/** Does something at most once within an interval, for all who ask for it. */
function atMostOnceIn<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    if (result) return result;
    result = work().finally(() => {
      setTimeout(() => {
        result = undefined;
      }, KEPT_MS).unref();
    });
    return result;
  };
}
