import { isMembers } from '../live/site-client.ts';

/**
 * Returns the routes, their methods, and their parameters with whether each is required; the wording is left out, since
 * it differs between sites.
 */
export function describedRoutes(body: unknown): unknown {
  if (!isMembers(body) || !isMembers(body.routes)) return body;
  const own = `/${String(body.namespace)}`;
  const routes = Object.fromEntries(
    Object.entries(body.routes).map(([path, route]) => [path.startsWith(own) ? path.slice(own.length) || '/' : path, route]),
  );
  return mapMembers(routes, (route) => {
    if (!isMembers(route)) return route;
    const endpoints = Array.isArray(route.endpoints) ? route.endpoints.filter(isMembers) : [];
    return Object.fromEntries(
      endpoints.map((endpoint) => [
        [endpoint.methods].flat().map(String).sort().join(','),
        { args: mapMembers(endpoint.args, (arg) => isMembers(arg) && arg.required === true) },
      ]),
    );
  });
}

/** Returns the paths of the document, and the parameters of each operation. */
export function describedPaths(body: unknown): unknown {
  if (!isMembers(body)) return body;
  return mapMembers(body.paths, (methods) =>
    mapMembers(methods, (operation) =>
      isMembers(operation) && Array.isArray(operation.parameters)
        ? Object.fromEntries(operation.parameters.filter(isMembers).map((parameter) => [String(parameter.name), parameter.in]))
        : {},
    ),
  );
}

const mapMembers = (value: unknown, change: (member: unknown) => unknown): Record<string, unknown> =>
  isMembers(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)])) : {};
