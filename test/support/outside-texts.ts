import type { ServedRoute } from '../../src/http/endpoint.ts';
import type { Grammar } from '../../src/kinds/grammars/grammar.ts';
import { finiteNamespaces, rootRoutes } from './finite-routes.ts';

/*
 * Every place of a request that can carry a text from outside: the declared parameters of all routes, the segments of
 * their paths, the parameters of the protocol, and headers.
 */

/** A request with a text in one place. */
export interface Carrier {
  readonly name: string;
  /** The largest useful number of bytes here. */
  readonly longest: number;
  readonly request: (text: string) => CarriedRequest;
}

export interface CarriedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
  readonly as?: string;
}

/** A parameter of one handler of a route, with the request that carries it. */
export interface ParameterCarrier extends Carrier {
  readonly namespace: string;
  readonly parameter: string;
  readonly grammar: Grammar;
  readonly inPath: boolean;
}

/** All routes whose answers end, by the namespace in which they are served; those outside all namespaces, too. */
export const servedRoutes = (): ReadonlyMap<string, readonly ServedRoute[]> => new Map([...finiteNamespaces(), ...rootRoutes()]);

/** Valid values of mandatory parameters other than the tested one. */
const SOUND: Readonly<Record<string, unknown>> = { start_date: '2031-05-01 20:00', end_date: '2031-05-01 22:00' };

/** Every parameter of every handler. `as` is the user who sends the request. */
export function parameterCarriers(as: string): ParameterCarrier[] {
  return [...servedRoutes()].flatMap(([namespace, routes]) =>
    routes.flatMap(({ pattern, endpoints }) =>
      endpoints.flatMap(({ methods, params, unlistedParams: unlisted }) => {
        const paramEntries = Object.entries({ ...params, ...unlisted });
        const required = Object.fromEntries(
          paramEntries.flatMap(([name, param]) => (param.required ? [[name, SOUND[name] ?? 'x'] as const] : [])),
        );
        return paramEntries.map(([parameter, { grammar, required: needed }]): ParameterCarrier => {
          const inPath = needed === true && pattern.includes(`(?P<${parameter}>`);
          const [method = 'GET'] = methods;
          return {
            name: `${method} ${namespace}${pattern} ${parameter}`,
            longest: grammar.maxListBytes ?? grammar.maxBytes,
            namespace,
            parameter,
            grammar,
            inPath,
            request: (text) => ({
              method,
              path: `/wp-json/${namespace}${pathOf(pattern, inPath ? { [parameter]: text } : {})}`,
              ...(inPath
                ? method === 'POST'
                  ? { body: { ...required, [parameter]: undefined } }
                  : {}
                : { body: { ...required, [parameter]: text } }),
              headers: { 'X-TEC-EEA': '1' },
              as,
            }),
          };
        });
      }),
    ),
  );
}

/** Replaces the selectors of a pattern by texts that the pattern allows. */
const pathOf = (pattern: string, pieces: Readonly<Record<string, string>>): string =>
  pattern.replace(/\(\?P<(\w+)>([^()]*)\)/g, (_, name: string, allowedPattern: string) => {
    const text = pieces[name];
    const isNumber = allowedPattern.startsWith('\\d+');
    if (text === undefined) return name === 'user_id' ? 'me' : isNumber ? '33' : 'none';
    return isNumber ? '9'.repeat(text.length) : encodeURIComponent(text).slice(0, text.length);
  });

/** Maximum length of a text in the head of a request, of which Node accepts at most 16 kB. */
const LONGEST_IN_HEAD = 12_000;
const LIST = '/wp-json/calendar/events/v1/events';

const HEADERS = [
  'Accept-Language', 'Accept-Encoding', 'Accept', 'If-None-Match', 'If-Modified-Since', 'Cookie', 'X-WP-Nonce', 'X-HTTP-Method-Override', 'Origin', 'Range',
  'X-Forwarded-For', 'X-TEC-EEA', 'Content-Disposition', 'Content-Type', 'Content-MD5', 'User-Agent', 'Referer', 'Idempotency-Key', 'If-Match',
]; // biome-ignore format: names

/**
 * Headers, paths, and names and values of the query. Characters that Node's client refuses to send are percent-encoded
 * or replaced.
 */
export function headCarriers(): Carrier[] {
  const inPath = (name: string, path: (text: string) => string, headers = {}): Carrier => ({
    name,
    longest: LONGEST_IN_HEAD,
    request: (text) => ({ method: 'GET', path: path(raw(text)), headers }),
  });
  const inHeader = (name: string, method = 'GET', path = LIST): Carrier => ({
    name: `${method} with ${name}`,
    longest: LONGEST_IN_HEAD,
    request: (text) => ({
      method,
      path,
      headers: { [name]: text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '') },
      ...(method === 'POST' ? { body: {} } : {}),
    }),
  });
  const inBatch = (name: string, write: (text: string) => object): Carrier => ({
    name: `${name} of a write in a batch`,
    longest: LONGEST_IN_HEAD,
    request: (text) => ({ method: 'POST', path: '/wp-json/batch/v1', body: { requests: [write(text)] }, as: 'contrib' }),
  });
  return [
    inBatch('the path', (text) => ({ path: text })),
    inBatch('the path behind a route', (text) => ({ path: `/wp/v2/tags${text}` })),
    inBatch('a header', (text) => ({ path: '/wp/v2/tags', headers: { 'If-Match': text, [text]: text } })),
    ...HEADERS.map((name) => inHeader(name)),
    ...HEADERS.map((name) => inHeader(name, 'POST', '/wp-json/wp/v2/media')),
    {
      name: 'Basic',
      longest: LONGEST_IN_HEAD,
      request: (text) => ({ method: 'GET', path: LIST, headers: { Authorization: `Basic ${btoa(latin(text))}` } }),
    },
    inPath('the path', (text) => `/${text}`),
    inPath('the path behind wp-json', (text) => `/wp-json/${text}`),
    inPath('the path behind a route', (text) => `${LIST}${text}`),
    inPath('the path of a feed', (text) => `/events/${text}/ical/`),
    inPath('the path of an upload', (text) => `/wp-content/uploads/${text}`),
    inPath('rest_route', (text) => `/?rest_route=/${text}`),
    inPath('_fields', (text) => `${LIST}?_fields=${text}`),
    inPath('_jsonp', (text) => `${LIST}?_jsonp=${text}`),
    inPath('_method', (text) => `${LIST}?_method=${text}`),
    inPath('_wpnonce', (text) => `${LIST}?_wpnonce=${text}`),
    inPath('the name of a parameter', (text) => `${LIST}?${text}=1`),
    inPath('a query', (text) => `${LIST}?${text}`),
    inPath('lang', (text) => `${LIST}?lang=${text}`),
    inPath('ical', (text) => `/events/?ical=${text}`),
    inPath('a slug of a feed in the query', (text) => `/?format=jsonld&tribe_events=${text}`),
    inPath('the search of a feed', (text) => `/events/feed/?search=${text}`),
    inPath('the password of a feed', (text) => `/events/ical/?password=${text}`),
  ];
}

/** A text for a URL, percent-encoded only where it cannot be sent literally. */
const raw = (text: string): string => text.replace(/[^\x21-\x7e]|#/gu, encodeURIComponent).slice(0, LONGEST_IN_HEAD);
const latin = (text: string): string => text.replace(/[^\0-\xff]/g, '?');
