import { batchRoute } from '../../src/http/batch.ts';
import { companionNamespaces } from '../../src/http/companion/namespaces.ts';
import type { ServedRoute } from '../../src/http/endpoint.ts';
import { createIndex, createRoutes } from '../../src/http/routes.ts';

/** The calendar's own routes, without the stream of changes, whose answer does not end. */
export const finiteRoutes = (languages: readonly string[] = ['en', 'it']): readonly ServedRoute[] =>
  createRoutes(languages).filter(({ endpoints }) => endpoints.every(({ streams }) => !streams));

/** The same, and the routes of the other interfaces, by the namespace in which they are served. */
export const finiteNamespaces = (namespace = 'calendar/events/v1', languages?: readonly string[]): Map<string, readonly ServedRoute[]> =>
  new Map([[namespace, finiteRoutes(languages)], ...companionNamespaces()]);

/**
 * The routes outside all namespaces, by the rest of their path: the index of the API, and batches of writes. Only their
 * declarations count: they are not run here.
 */
export const rootRoutes = (): Map<string, readonly ServedRoute[]> => {
  const batch = batchRoute(() => {
    throw new Error('a batch of a declaration');
  });
  return new Map([
    ['', [createIndex([], ['en', 'it'])]],
    ['batch/v1', [{ ...batch, pattern: '' }]],
  ]);
};
