import { memoize } from '../memo.ts';
import type { ServedEndpoint, ServedRoute } from './endpoint.ts';
import type { Method } from './route.ts';

/** A route of the API that matches a path. */
export interface RouteMatch {
  readonly route: ServedRoute;
  /** The parts of the path that the pattern names, unconverted. */
  readonly pathParams: Readonly<Record<string, string>>;
  /** The handler of the requested method. */
  readonly endpoint?: ServedEndpoint;
}

/** Finds routes by their path, in every namespace that serves them. */
export interface Router {
  /** Returns the namespace at the start of a route's path, in our spelling; undefined if it is none of ours. */
  readonly namespaceOf: (path: string) => string | undefined;
  /** Finds the route and its handler for a method, or only the route if no method is given. */
  readonly find: (path: string, method?: string) => RouteMatch | undefined;
}

/**
 * Creates a router that matches like `WP_REST_Server::match_request_to_handler`: whole paths, case-insensitively; GET
 * also serves HEAD. `roots`: the routes outside all namespaces, by path; `routes`: those below each of our namespaces;
 * `otherRoutes`: further namespaces with their routes.
 */
export function createRouter(
  namespaces: readonly string[],
  roots: ReadonlyMap<string, ServedRoute>,
  routes: readonly ServedRoute[],
  otherRoutes: ReadonlyMap<string, readonly ServedRoute[]> = new Map(),
): Router {
  const compiledRoutes = new Map([...otherRoutes].map(([namespace, namespaceRoutes]) => [namespace, compile(namespaceRoutes)]));
  const ownRoutes = compile(routes);
  for (const namespace of namespaces) compiledRoutes.set(namespace, ownRoutes);
  const names = [...compiledRoutes.keys()];
  const namespaceOf = (path: string) =>
    names.find((namespace) => path.toLowerCase() === `/${namespace}` || path.toLowerCase().startsWith(`/${namespace}/`));

  const candidates = memoize((path: string): readonly RouteMatch[] => {
    const root = roots.get(path.toLowerCase());
    if (root) return [{ route: root, pathParams: {} }];
    const namespace = namespaceOf(path);
    if (namespace === undefined) return [];
    const rest = path.slice(namespace.length + 1);
    return compiledRoutes.get(namespace)!.flatMap(({ route, regex }) => {
      const match = regex.exec(rest);
      return match ? [{ route, pathParams: { ...match.groups } }] : [];
    });
  }, PATH_CACHE_CHARACTERS);

  const find: Router['find'] = (path, method) => {
    const matches = candidates(path);
    if (method === undefined) return matches[0];
    const servedMethod = method === 'HEAD' ? 'GET' : method;
    return matches.flatMap((match) =>
      match.route.endpoints.filter(({ methods }) => methods.includes(servedMethod as Method)).map((endpoint) => ({ ...match, endpoint })),
    )[0];
  };
  return { namespaceOf, find };
}

/**
 * Size of the cache of matched paths, in characters: about a thousand paths. A miss costs a few microseconds, and there
 * may be as many paths as records.
 */
const PATH_CACHE_CHARACTERS = 100_000;

const compile = (routes: readonly ServedRoute[]) =>
  routes.map((route) => ({ route, regex: new RegExp(`^${route.pattern.replaceAll('(?P<', '(?<')}$`, 'i') }));
