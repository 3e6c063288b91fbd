import { languageShape } from '../../kinds/shapes.ts';
import { isJsonObject } from '../live/site-client.ts';

/**
 * Returns the routes, their methods, and their parameters with whether each is required; the wording is left out, since
 * it differs between sites.
 */
export function describedRoutes(body: unknown): unknown {
  if (!isJsonObject(body) || !isJsonObject(body.routes)) return body;
  const namespacePath = `/${String(body.namespace)}`;
  const routes = Object.fromEntries(
    Object.entries(body.routes).map(([path, route]) => [
      path.startsWith(namespacePath) ? path.slice(namespacePath.length) || '/' : path,
      route,
    ]),
  );
  return mapMembers(routes, (route) => {
    if (!isJsonObject(route)) return route;
    const endpoints = Array.isArray(route.endpoints) ? route.endpoints.filter(isJsonObject) : [];
    return Object.fromEntries(
      endpoints.map((endpoint) => [
        [endpoint.methods].flat().map(String).sort().join(','),
        { args: mapMembers(endpoint.args, (arg) => isJsonObject(arg) && arg.required === true) },
      ]),
    );
  });
}

/** Returns the paths of the document, and the parameters of each operation. */
export function describedPaths(body: unknown): unknown {
  if (!isJsonObject(body)) return body;
  return mapMembers(body.paths, (methods) =>
    mapMembers(methods, (operation) =>
      isJsonObject(operation) && Array.isArray(operation.parameters)
        ? Object.fromEntries(operation.parameters.filter(isJsonObject).map((parameter) => [String(parameter.name), parameter.in]))
        : {},
    ),
  );
}

/** Returns the codes of the languages that the description of a namespace lists, as Fasti's does. */
export function languagesIn(body: unknown): string[] {
  const available = isJsonObject(body) && isJsonObject(body.languages) ? body.languages.available : undefined;
  if (!Array.isArray(available)) return [];
  return available.flatMap((language) => (isJsonObject(language) && typeof language.code === 'string' ? [language.code] : []));
}

/**
 * Returns the names of the members that the records of a site may have, as far as its description says so: those of its
 * parameters, and the languages if it lists any.
 */
export function describedMembers(body: unknown): ReadonlySet<string> {
  const routes = isJsonObject(body) && isJsonObject(body.routes) ? Object.values(body.routes).filter(isJsonObject) : [];
  const endpoints = routes.flatMap((route) => (Array.isArray(route.endpoints) ? route.endpoints.filter(isJsonObject) : []));
  const names = new Set(endpoints.flatMap(({ args }) => (isJsonObject(args) ? Object.keys(args) : [])));
  for (const name of LANGUAGE_MEMBERS)
    if (languagesIn(body).length > 0) names.add(name);
    else names.delete(name);
  return names;
}

const LANGUAGE_MEMBERS = Object.keys(languageShape);

const mapMembers = (value: unknown, change: (member: unknown) => unknown): Record<string, unknown> =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)])) : {};
