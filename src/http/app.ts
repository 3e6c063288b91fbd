import express, { type Express } from 'express';
import { servedNamespaces } from '../config.ts';
import type { Site } from '../site.ts';
import { createAnswers } from './answers.ts';
import { companionNamespaces } from './companion/namespaces.ts';
import { serveFeeds } from './feeds/serve.ts';
import { gate, healthRoutes, type Lifecycle } from './health.ts';
import { answerProblem, noRoute } from './problem.ts';
import { requestLog } from './request-log.ts';
import { createIndex, createRoutes } from './routes.ts';
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
  site.followOthers();
  const routes = createRoutes(site.texts.languages);
  const companions = companionNamespaces();
  const index = createIndex(routes, site.texts.languages, companions);
  const router = createRouter(servedNamespaces(config), index, routes, companions);

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
  app.use(serveRoutes(site, router, answers));
  app.use(serveFeeds(site, answers));
  app.use(noRoute);
  app.use(answerProblem(site));
  return app;
}
