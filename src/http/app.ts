import express, { type Express } from 'express';
import { servedNamespaces } from '../config.ts';
import type { Site } from '../site.ts';
import { createAnswers } from './answers.ts';
import { batchRoute } from './batch.ts';
import { serveChangeStream } from './change-stream.ts';
import { companionNamespaces } from './companion/namespaces.ts';
import { serveFeeds } from './feeds/serve.ts';
import { gate, healthRoutes, type Lifecycle } from './health.ts';
import { createBudget } from './limits.ts';
import { answerProblem, noRoute } from './problem.ts';
import { requestLog } from './request-log.ts';
import { createIndex, createRoutes, inLanguages } from './routes.ts';
import { createRouter } from './routing.ts';
import { oneHost, secure } from './security.ts';
import { fromMemory, serveRoutes } from './serve-route.ts';
import { uploads } from './uploads.ts';

const SERVING: Lifecycle = { phase: () => 'serving' };

/**
 * The whole server, without a port: the order of everything that a request passes. `lifecycle`: when it can't serve
 * yet, or no longer.
 */
export function createApp(site: Site, lifecycle: Lifecycle = SERVING): Express {
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

  const answers = config.cache ? createAnswers({ bytes: config.cacheBytes, clock: site.clock }) : undefined;

  const app = express();
  app.set('trust proxy', config.trustProxy);
  app.set('query parser', false);
  app.set('etag', false);
  app.disable('x-powered-by');

  app.use(oneHost);
  if (answers) app.use(fromMemory(site, answers, () => lifecycle.phase() === 'serving'));
  app.use(requestLog(site.log));
  app.use('/health', secure, healthRoutes(site, lifecycle));
  app.use(uploads(config.uploadsDir));
  app.use(gate(lifecycle));
  const budget = createBudget(config);
  app.use(serveChangeStream(site, router, budget, lifecycle));
  app.use(serveRoutes(site, router, answers, budget));
  app.use(serveFeeds(site, answers));
  app.use(noRoute);
  app.use(answerProblem(site));
  return app;
}
