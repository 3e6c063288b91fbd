import { type RequestHandler, Router } from 'express';
import { fail } from '../errors.ts';
import type { Site } from '../site.ts';
import { DatabaseUnavailable, ping } from '../storage/database.ts';

/** Where the process stands in its life, besides its database. */
export interface Lifecycle {
  /** `starting`: the tables are not known to be there; `stopping`: it was told to end. */
  readonly phase: () => 'starting' | 'serving' | 'stopping';
}

/** The longest that a sign of life of the database may take, in milliseconds. */
const PATIENCE_MS = 1000;

/** Below `/health`. `/live`: the process runs. `/ready`: it can serve; if not, why: `starting`, `stopping`, or what is wrong with the database. */
export function healthRoutes(site: Site, { phase }: Lifecycle): Router {
  const router = Router();
  router.use((_req, res, next) => {
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.get('/live', (_req, res) => {
    res.json({ status: 'live' });
  });
  router.get('/ready', async (_req, res) => {
    const reason = phase() === 'stopping' ? 'stopping' : ((await databaseFault(site)) ?? (phase() === 'starting' ? 'starting' : undefined));
    const told = reason === undefined ? { status: 'ready' } : { status: 'not ready', reason };
    res.status(reason === undefined ? 200 : 503).json({ ...told, ...serversOf(site) });
  });
  return router;
}

/** Turns requests away until the tables are there, and has connections closed when the process ends. */
export function gate({ phase }: Lifecycle): RequestHandler {
  return (_req, res, next) => {
    if (phase() === 'stopping') res.set('Connection', 'close');
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

async function databaseFault({ db, log }: Site): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, 'slow');
  });
  const answer = ping(db).then(
    () => undefined,
    (error: unknown) => {
      log.warn({ err: error }, 'the database does not answer');
      return error instanceof DatabaseUnavailable ? error.reason : 'failing';
    },
  );
  const fault = await Promise.race([answer, patience]);
  clearTimeout(timer);
  return fault === undefined ? undefined : `database ${fault}`;
}
