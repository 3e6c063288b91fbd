import { companionNamespaces } from '../../src/http/companion/namespaces.ts';
import type { ServedRoute } from '../../src/http/endpoint.ts';
import { createRoutes } from '../../src/http/routes.ts';

/** The calendar's own routes, without the stream of changes, whose answer does not end. */
export const finiteRoutes = (languages: readonly string[] = ['en', 'it']): readonly ServedRoute[] =>
  createRoutes(languages).filter(({ endpoints }) => endpoints.every(({ streams }) => !streams));

/** The same, and the routes of the other interfaces, by the namespace in which they are served. */
export const finiteNamespaces = (namespace = 'calendar/events/v1', languages?: readonly string[]): Map<string, readonly ServedRoute[]> =>
  new Map([[namespace, finiteRoutes(languages)], ...companionNamespaces()]);
