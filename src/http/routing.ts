import { memoize } from '../memo.ts';
import type { ServedEndpoint, ServedRoute } from './endpoint.ts';
import type { Method } from './route.ts';

/** A route of the API that a path has led to. */
export interface RouteMatch {
  readonly route: ServedRoute;
  /** The pieces of the path that the pattern names, as they are there. */
  readonly pieces: Readonly<Record<string, string>>;
  /** The handler of the method that was asked for. */
  readonly endpoint?: ServedEndpoint;
}

/** Finds routes by their path, in every namespace that serves them. */
export interface Router {
  /** The namespace that a route's path begins with, as we write it; undefined: none of ours. */
  readonly namespaceOf: (path: string) => string | undefined;
  /** The route and its handler for a method; without a method: the route alone. */
  readonly find: (path: string, method?: string) => RouteMatch | undefined;
}

/**
 * Matches as `WP_REST_Server::match_request_to_handler` does: whole paths, whatever their case; HEAD where there is
 * GET. `roots` are the routes outside all namespaces, by their paths; `routes` are those below each of the namespaces;
 * `others`: further namespaces, each with routes of its own.
 */
export function createRouter(
  namespaces: readonly string[],
  roots: ReadonlyMap<string, ServedRoute>,
  routes: readonly ServedRoute[],
  others: ReadonlyMap<string, readonly ServedRoute[]> = new Map(),
): Router {
  const compiled = new Map([...others].map(([namespace, own]) => [namespace, compile(own)]));
  const ours = compile(routes);
  for (const namespace of namespaces) compiled.set(namespace, ours);
  const names = [...compiled.keys()];
  const namespaceOf = (path: string) =>
    names.find((namespace) => path.toLowerCase() === `/${namespace}` || path.toLowerCase().startsWith(`/${namespace}/`));

  const candidates = memoize((path: string): readonly RouteMatch[] => {
    const root = roots.get(path.toLowerCase());
    if (root) return [{ route: root, pieces: {} }];
    const namespace = namespaceOf(path);
    if (namespace === undefined) return [];
    const rest = path.slice(namespace.length + 1);
    return compiled.get(namespace)!.flatMap(({ route, regex }) => {
      const match = regex.exec(rest);
      return match ? [{ route, pieces: { ...match.groups } }] : [];
    });
  }, FREQUENT_PATHS);

  const find: Router['find'] = (path, method) => {
    const found = candidates(path);
    if (method === undefined) return found[0];
    const asked = method === 'HEAD' ? 'GET' : method;
    return found.flatMap((one) =>
      one.route.endpoints.filter(({ methods }) => methods.includes(asked as Method)).map((endpoint) => ({ ...one, endpoint })),
    )[0];
  };
  return { namespaceOf, find };
}

/**
 * How many characters of paths are kept with what they lead to: a thousand of them. To look for it anew takes a few
 * microseconds, and there may be as many paths as records.
 */
const FREQUENT_PATHS = 100_000;

const compile = (routes: readonly ServedRoute[]) =>
  routes.map((route) => ({ route, regex: new RegExp(`^${route.pattern.replaceAll('(?P<', '(?<')}$`, 'i') }));
