import { languageShape } from '../../kinds/shapes.ts';
import { isRecord } from '../../objects.ts';

/**
 * Returns the routes, their methods, and their parameters with whether each is required; the wording is left out, since
 * it differs between sites.
 */
export function describedRoutes(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body.routes)) return body;
  const namespacePath = `/${String(body.namespace)}`;
  const routes = Object.fromEntries(
    Object.entries(body.routes).map(([path, route]) => [
      path.startsWith(namespacePath) ? path.slice(namespacePath.length) || '/' : path,
      route,
    ]),
  );
  return mapMembers(routes, (route) => {
    if (!isRecord(route)) return route;
    const endpoints = Array.isArray(route.endpoints) ? route.endpoints.filter(isRecord) : [];
    return Object.fromEntries(
      endpoints.map((endpoint) => [
        [endpoint.methods].flat().map(String).sort().join(','),
        { args: mapMembers(endpoint.args, (arg) => isRecord(arg) && arg.required === true) },
      ]),
    );
  });
}

/** Returns the paths of the document, and the parameters of each operation. */
export function describedPaths(body: unknown): unknown {
  if (!isRecord(body)) return body;
  return mapMembers(body.paths, (methods) =>
    mapMembers(methods, (operation) =>
      isRecord(operation) && Array.isArray(operation.parameters)
        ? Object.fromEntries(operation.parameters.filter(isRecord).map((parameter) => [String(parameter.name), parameter.in]))
        : {},
    ),
  );
}

/** Returns the codes of the languages that the description of a namespace lists, as Fasti's does. */
export function languagesIn(body: unknown): string[] {
  const available = isRecord(body) && isRecord(body.languages) ? body.languages.available : undefined;
  if (!Array.isArray(available)) return [];
  return available.flatMap((language) => (isRecord(language) && typeof language.code === 'string' ? [language.code] : []));
}

/**
 * Returns the names of the members that the records of a site may have, as far as its description says so: those of its
 * parameters, and the languages if it lists any.
 */
export function describedMembers(body: unknown): ReadonlySet<string> {
  const routes = isRecord(body) && isRecord(body.routes) ? Object.values(body.routes).filter(isRecord) : [];
  const endpoints = routes.flatMap((route) => (Array.isArray(route.endpoints) ? route.endpoints.filter(isRecord) : []));
  const names = new Set(endpoints.flatMap(({ args }) => (isRecord(args) ? Object.keys(args) : [])));
  for (const name of LANGUAGE_MEMBERS)
    if (languagesIn(body).length > 0) names.add(name);
    else names.delete(name);
  return names;
}

const LANGUAGE_MEMBERS = Object.keys(languageShape);

const mapMembers = (value: unknown, change: (member: unknown) => unknown): Record<string, unknown> =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)])) : {};
