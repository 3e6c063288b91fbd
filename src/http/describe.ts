import type { SettingName } from '../calendar/settings.ts';
import { servedNamespaces } from '../config/config.ts';
import { narrowList } from '../kinds/filter.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { type ContentLanguages, urlIn } from '../wordpress/content-languages.ts';
import { restRoot, restUrl } from '../wordpress/links.ts';
import { unixFromDate } from '../wordpress/time.ts';
import { offsetAt } from '../wordpress/zones.ts';
import { type Endpoint, paramsOn, type Route } from './route.ts';

type Json = Record<string, unknown>;

/** The parts of a site that descriptions are made from. */
export type Described = Pick<Site, 'texts' | 'config'>;

/** The help page that WordPress's index links to. */
const HELP = 'https://developer.wordpress.org/rest-api/';

/**
 * Describes one route as in OPTIONS and the indexes (WordPress `WP_REST_Server::get_data_for_route`): all its methods,
 * regardless of the caller, and the parameters of each handler.
 */
export function describeRoute(site: Described, caller: Caller, route: Route, namespace = caller.namespace): Json {
  const methods = [...new Set(route.endpoints.flatMap((endpoint) => endpoint.methods))];
  const path = namespace === '' ? route.pattern.slice(1) : `${namespace}${route.pattern}`;
  return {
    namespace,
    methods,
    endpoints: route.endpoints.map((endpoint) => ({
      methods: endpoint.methods,
      args: describeParams(site, { ...caller, namespace }, route, endpoint),
    })),
    ...(selectorsOf(route).length > 0 ? {} : { _links: { self: [{ href: restUrl(caller, path) }] } }),
  };
}

/** Describes one namespace (its index). */
export function describeNamespace(site: Described, caller: Caller, routes: readonly Route[], namespace = caller.namespace): Json {
  return {
    namespace,
    routes: describeRoutes(site, caller, routes, namespace),
    ...(servedNamespaces(site.config).includes(namespace) ? languagesMember(caller) : {}),
    _links: { up: [{ href: apiRootOf(caller) }] },
  };
}

/**
 * Describes the site (WordPress `WP_REST_Server::get_index`): its name and address, its namespaces and all their
 * routes. `routes`: those that each of our namespaces serves; `otherRoutes`: further namespaces with their routes;
 * `roots`: routes outside all namespaces; `iconUrl`: the address of the site's icon, if it has one; `secure`: whether
 * the request came over an encrypted connection.
 */
export function describeSite(
  site: Described,
  caller: Caller,
  routes: readonly Route[],
  {
    otherRoutes = new Map(),
    roots = [],
    iconUrl = '',
    secure = false,
  }: { otherRoutes?: ReadonlyMap<string, readonly Route[]>; roots?: readonly Route[]; iconUrl?: string; secure?: boolean } = {},
): Json {
  const ownRoutes = servedNamespaces(site.config).map((namespace) => [namespace, routes] as const);
  // WordPress lists no namespace without routes. Ours have none if the calendar's settings switch them off.
  const routesByNamespace = [...ownRoutes, ...otherRoutes].filter(([, namespaceRoutes]) => namespaceRoutes.length > 0);
  const credentials = caller.settings.applicationPasswords && (secure || site.config.basicAuth === 'always');
  const { settings } = caller;
  const option = (name: SettingName) => settings.raw.get(name) ?? '';
  const id = (name: SettingName) => Number.parseInt(option(name), 10) || 0;
  const authorization = `${settings.siteUrl}/wp-admin/authorize-application.php`;
  return {
    name: settings.name,
    description: settings.description,
    url: settings.siteUrl,
    home: caller.home,
    gmt_offset: gmtOffset(caller),
    timezone_string: settings.timezoneString,
    page_for_posts: id('page_for_posts'),
    page_on_front: id('page_on_front'),
    show_on_front: option('show_on_front') || 'posts',
    namespaces: routesByNamespace.map(([namespace]) => namespace),
    authentication: credentials ? { 'application-passwords': { endpoints: { authorization } } } : [],
    routes: Object.assign(
      { '/': rootRoute(caller) },
      ...roots.map((route) => ({ [route.pattern]: describeRoute(site, caller, route, '') })),
      ...routesByNamespace.map(([namespace, namespaceRoutes]) => describeRoutes(site, caller, namespaceRoutes, namespace)),
    ) as Json,
    site_logo: id('site_logo'),
    site_icon: id('site_icon'),
    site_icon_url: iconUrl,
    ...languagesMember(caller),
    _links: { help: [{ href: HELP }] },
  };
}

/** Returns the member that lists the languages of the content; empty if the site has none. */
const languagesMember = (caller: Caller): Json => {
  const { contentLanguages: languages } = caller.settings;
  return languages ? { languages: describeLanguages(caller, languages) } : {};
};

/** Describes the languages of the content, each with its page and the root of the API that selects it. */
function describeLanguages({ settings }: Caller, languages: ContentLanguages): Json {
  const { home } = settings;
  return {
    default: languages.defaultCode,
    available: languages.languages.map(({ code, locale, name }) => ({
      code,
      locale,
      name,
      url: urlIn(languages, code, home, (root) => `${root}/`),
      rest_url: restRoot({ home: `${home}/${code}`, permalinkStructure: settings.permalinkStructure }),
    })),
  };
}

/**
 * Returns the kind whose fields and filters are the parameters of a route. Undefined for routes of the other
 * interfaces, which have their own parameters.
 */
export const kindOf = ({ kind, texts }: Pick<Route, 'kind' | 'texts'>): Kind | undefined => (texts === undefined ? kind : undefined);

/** Returns the parameters in the path itself, which are the names of the pattern's groups. */
export function selectorsOf({ pattern }: Pick<Route, 'pattern'>): string[] {
  return [...pattern.matchAll(/\(\?P<(\w+)>/g)].map(([, name = '']) => name);
}

/**
 * Whether a request without the parameter is refused. On routes by slug, the field `slug` is the new slug, so the
 * parameter is shown as optional.
 */
export function isRequired(route: Route, endpoint: Endpoint, name: string): boolean {
  const isChange = endpoint.mode === 'change';
  if (selectorsOf(route).includes(name)) return !(isChange && name in (kindOf(route)?.fields ?? {}));
  return !isChange && endpoint.params[name]?.required === true;
}

/** Returns the keys of the sentences that may describe a parameter, most specific first. */
export function paramTextKeys(route: Route, endpoint: Endpoint, name: string): string[] {
  const kind = kindOf(route);
  const common = `params:common.${name}`;
  if (route.texts !== undefined) {
    const ofField = route.kind ? fieldTextKeys(route.kind, name) : [];
    // A name that is also a filter of lists means something else when it is written.
    const fallbackKeys = endpoint.mode === 'read' ? [common, ...ofField] : [...ofField, common];
    return [`params:${route.texts}.${name}`, `params:core.${name}`, ...fallbackKeys];
  }
  if (!kind || selectorsOf(route).includes(name)) return [common];
  if (endpoint.mode === 'read' || !(name in kind.fields)) return [`params:${kind.name}.${name}`, common];
  return fieldTextKeys(kind, name);
}

/** Returns the same for a field that is written. */
export function fieldTextKeys(kind: Kind, name: string): string[] {
  return [`fields:${kind.name}.written.${name}`, `fields:common.written.${name}`, `fields:${kind.name}.${name}`, `fields:common.${name}`];
}

/**
 * Returns the default of a parameter; undefined if it has none. Defaults of list parameters depend on the time and the
 * site.
 */
export function defaultOf(caller: Caller, route: Route, endpoint: Endpoint, name: string): unknown {
  const { settings, now } = caller;
  if (name === 'namespace') return caller.namespace;
  const declaredDefault = endpoint.params[name]?.fallback;
  if (declaredDefault !== undefined || endpoint.mode !== 'read' || selectorsOf(route).length > 0) return declaredDefault;
  if (name === 'per_page' && route.texts === undefined) return String(settings.calendar.postsPerPage ?? settings.postsPerPage);
  const kind = kindOf(route);
  if (kind?.is !== 'post') return undefined;
  return narrowList(kind, {}, { settings, now }).echo.find(([echoed]) => echoed === name)?.[1];
}

function describeRoutes(site: Described, caller: Caller, routes: readonly Route[], namespace: string): Json {
  return Object.fromEntries(routes.map((route) => [`/${namespace}${route.pattern}`, describeRoute(site, caller, route, namespace)]));
}

/**
 * Describes the parameters of an endpoint. Without parameters the result is an empty list, as PHP writes an empty
 * array.
 */
function describeParams(site: Described, caller: Caller, route: Route, endpoint: Endpoint): Json | [] {
  // WordPress's own routes do not mark path parameters as required; their patterns require them.
  const inWordPress = caller.namespace === 'wp/v2';
  const descriptions = Object.entries(paramsOn(endpoint, caller.settings)).map(([name, { grammar }]) => {
    const defaultValue = defaultOf(caller, route, endpoint, name);
    const description = site.texts.t(caller.language, paramTextKeys(route, endpoint, name));
    return [
      name,
      {
        ...(defaultValue === undefined ? {} : { default: defaultValue }),
        description,
        ...grammar.json,
        required: !(inWordPress && selectorsOf(route).includes(name)) && isRequired(route, endpoint, name),
      },
    ] as const;
  });
  return descriptions.length === 0 ? [] : Object.fromEntries(descriptions);
}

/** Describes the route of the site's index itself. */
function rootRoute(caller: Caller): Json {
  const args = { context: { default: 'view', required: false } };
  return { namespace: '', methods: ['GET'], endpoints: [{ methods: ['GET'], args }], _links: { self: [{ href: apiRootOf(caller) }] } };
}

const apiRootOf = ({ home, settings }: Caller) => restRoot({ home, permalinkStructure: settings.permalinkStructure });

/**
 * Returns the hours east of UTC: the zone's offset at this moment, or the option as stored if no zone is named
 * (`wp_timezone_override_offset`).
 */
function gmtOffset({ settings, now }: Caller): number | string {
  return settings.timezoneString === '' ? settings.gmtOffset : offsetAt(unixFromDate(now), settings.zone) / 60;
}
