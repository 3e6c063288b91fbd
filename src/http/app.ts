import type { IncomingMessage, RequestListener } from 'node:http';
import express, { type Express } from 'express';
import proxyAddress from 'proxy-addr';
import { servedNamespaces } from '../config/config.ts';
import { defaultTheme, type LoadedTheme } from '../pages/theme.ts';
import type { Site } from '../site.ts';
import { originForm } from './addressing.ts';
import { type AnswerCache, createAnswerCache } from './answer-cache.ts';
import { serveAssets } from './assets.ts';
import { batchRoute } from './batch.ts';
import { serveChangeStream } from './change-stream.ts';
import { refuseClosedSite } from './closed-site.ts';
import { companionNamespaces } from './companion/namespaces.ts';
import { serveDesk } from './desk.ts';
import { serveFeeds } from './feeds/serve.ts';
import { serveFromMemory } from './from-memory.ts';
import { healthRoutes, type Lifecycle, refuseUntilStarted } from './health.ts';
import { createBudget } from './limits.ts';
import { createPages } from './pages.ts';
import { handleErrors, refuseUnknownRoute } from './problem.ts';
import { servePublicFiles } from './public-files.ts';
import { serveReference } from './reference.ts';
import { requestLog } from './request-log.ts';
import { type Observer, observeRequests } from './request-notes.ts';
import { createIndex, createRoutes, inLanguages } from './routes.ts';
import { createRouter } from './routing.ts';
import { requireSingleHost, setSecurityHeaders } from './security.ts';
import { serveRoutes } from './serve-route.ts';
import { serveSuggestions } from './suggestions.ts';
import { createConnectionOrder, createTurns, type Turns } from './turns.ts';
import { serveMovedUploads, serveUploads } from './uploads.ts';

const SERVING: Lifecycle = { phase: () => 'serving' };

/**
 * Creates the whole server, without a port: the listener for `createServer`. Cached answers are sent at once; all other
 * requests pass through the app. `lifecycle` tells when the process is not ready or shutting down. `observers` are
 * called after every finished request, as the log is. `theme` is the look of the pages.
 */
export function createApp(
  site: Site,
  lifecycle: Lifecycle = SERVING,
  observers: readonly Observer[] = [],
  theme: LoadedTheme = defaultTheme(),
  turns: Turns = createTurns(site.db.dialect.maxReaders),
): RequestListener {
  const { config } = site;
  const answers = config.cache ? createAnswerCache({ bytes: config.cacheBytes, clock: site.clock, turns }) : undefined;
  const app = expressApp(site, { lifecycle, answers, theme, turns });
  const inOrder = createConnectionOrder();
  const observe = observeRequests([requestLog(site.log), ...observers], addressOf(app));
  const memoryHandler = answers && serveFromMemory(site, answers, () => lifecycle.phase() === 'serving');
  const handle: RequestListener = (req, res) => {
    observe(req, res);
    if (!memoryHandler?.(req, res)) app(req, res);
  };
  return (req, res) => {
    if (req.url !== undefined) req.url = originForm(req.url);
    inOrder(req, res, () => handle(req, res));
  };
}

interface AppParts {
  readonly lifecycle: Lifecycle;
  readonly answers: AnswerCache | undefined;
  readonly theme: LoadedTheme;
  readonly turns: Turns;
}

/** Creates the middleware, in the order in which a request without a cached answer passes it. */
function expressApp(site: Site, { lifecycle, answers, theme, turns }: AppParts): Express {
  const { config } = site;
  const { languages } = site.texts;
  const routes = createRoutes(languages, () => [batch]);
  const companions = companionNamespaces();
  const batch = inLanguages(
    batchRoute(() => router),
    languages,
  );
  const index = createIndex(routes, languages, companions, [batch]);
  const roots = new Map([index, batch].map((route) => [route.pattern || '/', route]));
  const router = createRouter(servedNamespaces(config), roots, routes, companions);

  const pages = createPages(site, theme);

  const app = express();
  app.set('trust proxy', config.trustProxy);
  app.set('query parser', false);
  app.set('etag', false);
  app.disable('x-powered-by');

  app.use(requireSingleHost);
  app.use('/health', setSecurityHeaders, healthRoutes(site, lifecycle));
  app.use(serveUploads(config));
  app.use(serveAssets(theme.assets));
  app.use(refuseUntilStarted(lifecycle));
  app.use(refuseClosedSite(site));
  const budget = createBudget(config);
  app.use(serveDesk(site, theme.assets, { budget, turns }));
  app.use(serveChangeStream(site, router, { budget, turns }, lifecycle));
  app.use(serveRoutes(site, router, answers, { budget, turns }));
  app.use(serveReference(site, { routes, roots: [batch], ...theme, answers, turns }));
  app.use(servePublicFiles(site, { pages, ...theme, answers, turns }));
  app.use(serveMovedUploads(site));
  app.use(serveFeeds(site, answers, pages, turns));
  app.use(serveSuggestions(site, theme, pages, { budget, turns }));
  app.use(refuseUnknownRoute);
  app.use(handleErrors(site, pages));
  return app;
}

/** Returns a function that finds the client's address by the same rule as `req.ip` of the app. */
function addressOf(app: Express): (req: IncomingMessage) => string | undefined {
  const trust = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return (req) => (req.headers['x-forwarded-for'] === undefined ? req.socket.remoteAddress : proxyAddress(req, trust));
}
