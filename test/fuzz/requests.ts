import fc, { type Arbitrary } from 'fast-check';
import type { ServedRoute } from '../../src/http/endpoint.ts';
import type { Method } from '../../src/http/route.ts';
import type { Reference } from '../../src/kinds/grammars/grammar.ts';
import { timeText } from '../../src/kinds/grammars/times.ts';
import { postKinds, termKinds } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import type { Param } from '../../src/kinds/param.ts';
import { bodies, encoded, NO_BODY, uploads } from './bodies.ts';
import { strangeHeaders } from './headers.ts';
import { type Json, writeForm } from './json.ts';
import { type Known, plausible } from './plausible.ts';
import { json, often, strangePair, text } from './values.ts';

/** A request as it is sent. */
export interface Sent {
  readonly method: string;
  /** With the query; contains nothing that Node's client refuses to send. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
  readonly as?: string;
}

/** One method of one route, and its properties. */
export interface Target {
  readonly name: string;
  readonly namespace: string;
  readonly method: Method;
  /** The pattern of the path in WordPress's form, after the namespace. */
  readonly pattern: string;
  readonly params: Readonly<Record<string, Param>>;
  readonly kind: Kind | undefined;
  /** Paths of a target that is not a route of the interface. */
  readonly place?: (known: Known) => Arbitrary<string>;
}

/** Routes of this namespace are named without it. */
const OUR_NAMESPACE = 'calendar/events/v1';

/** Every method of every route of a namespace. */
export function targetsOf(namespace: string, routes: readonly ServedRoute[]): Target[] {
  return routes.flatMap(({ pattern, endpoints }) =>
    endpoints.flatMap(({ methods, params, unlistedParams: unlisted }) =>
      methods.map((method) => ({
        name: `${method} ${namespace === OUR_NAMESPACE ? '' : namespace}${pattern || '/'}`,
        namespace,
        method,
        pattern,
        params: { ...params, ...unlisted },
        kind: [...postKinds, ...termKinds].find((kind) =>
          [kind.path, kind.is === 'post' ? kind.postType : kind.restBase].includes(pattern.split('/')[1] ?? ''),
        ),
      })),
    ),
  );
}

/** Requests to a target, from nearly valid to hopeless. */
export function requestTo(target: Target, known: Known): Arbitrary<Sent> {
  const reads = target.method === 'GET' || target.method === 'DELETE';
  return fc
    .record({
      method: often(
        60,
        fc.constant<string>(target.method),
        fc.constantFrom('HEAD', 'OPTIONS', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'SEARCH', 'REPORT'),
      ),
      place: target.place?.(known) ?? addressOf(target, known),
      params: paramsOf(target, known),
      also: often(
        4,
        fc.constant<[string, Json][]>([]),
        fc.array(
          fc.oneof(
            protocolPair,
            strangePair.map(([name, value]): [string, Json] => [name, value]),
          ),
          { minLength: 1, maxLength: 3 },
        ),
      ),
      inBody: often(10, fc.constant(!reads), fc.constant(reads)),
      query: often(10, fc.constant(''), brokenQuery),
      writeBody: target.pattern === '/media' ? fc.oneof(bodies, uploads) : bodies,
      headers: often(3, fc.constant({}), strangeHeaders),
      as: fc.oneof(
        { weight: reads ? 5 : 10, arbitrary: fc.constant('admin') },
        { weight: 3, arbitrary: fc.constant('contrib') },
        { weight: 3, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.constantFrom('ed', 'auth', 'sub') },
      ),
    })
    .map(({ method, place, params, also, inBody, query, writeBody, headers, as }): Sent => {
      const queried = [...(inBody ? [] : params), ...also]
        .flatMap(([name, value]) => writeForm(name, value))
        .map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
      const path = fitting([place, [...queried, query].filter(Boolean).join('&')]);
      const { body, type, disposition } = inBody
        ? writeBody({ pairs: [...params, ...also.filter(([name]) => !name.startsWith('_'))] })
        : NO_BODY;
      return {
        method,
        path,
        headers: {
          ...(type === undefined ? {} : { 'Content-Type': type }),
          ...(disposition === undefined ? {} : { 'Content-Disposition': disposition }),
          ...headers,
        },
        body,
        ...(as === undefined || 'Authorization' in headers ? {} : { as }),
      };
    });
}

/** A request in a form that can be read and repeated. */
export const shown = ({ method, path, headers, body, as }: Sent): string =>
  [
    `${method} ${path}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(as ? [`as ${as}`] : []),
    ...(body === null ? [] : [shortened(JSON.stringify(body.toString()))]),
  ]
    .map(shortened)
    .join('\n');

const shortened = (line: string) => (line.length > 1500 ? `${line.slice(0, 1500)}… (${line.length})` : line);

// ------------------------------------------------------------------------------------------------- addresses
// biome-ignore format: list
const PREFIXES = [
  '/en/wp-json/', '/it/wp-json/', '/index.php/wp-json/', '/en/index.php/wp-json/', '/fr/wp-json/', '/WP-JSON/', '//wp-json/',
  '/wp-json//', '/x/wp-json/', 'http://127.0.0.1:8081/wp-json/',
];
const NAMESPACES = ['tribe/events/v1', 'TRIBE/events/V1', 'calendar/events/v2', 'wp/v2'];
// biome-ignore format: list
const DIGITS = [
  '0', '00', '1', '99999', '2147483648', '9007199254740993', '18446744073709551616', '9'.repeat(60), '9'.repeat(400), '-1', '1.5', '1e3',
  'abc', '%31', '0x10', '12abc', '%D9%A1', '', ' 12', '12,13', '12%00',
];

function addressOf({ namespace: own, pattern, kind }: Target, { ids, names }: Known): Arbitrary<string> {
  const refers: Reference = kind?.name ?? (pattern.startsWith('/media') ? 'image' : pattern.startsWith('/users') ? 'user' : 'event');
  const selector = fc.oneof(
    { weight: 16, arbitrary: fc.constantFrom(...ids[refers]).map(String) },
    { weight: 2, arbitrary: fc.constantFrom(...DIGITS) },
    { weight: 1, arbitrary: fc.constantFrom(...Object.values(ids).flat()).map(String) },
  );
  const slug = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...names[refers]) },
    { weight: 2, arbitrary: fc.constantFrom(...names[refers]).map(encoded) },
    { weight: 3, arbitrary: fc.oneof(text.map(encoded), brokenQuery) },
  );
  const route = fc
    .tuple(selector, slug, often(30, fc.constant(''), fc.constantFrom('/', '//', '/x', '%2f', '.json', '?', ';a=b')))
    .map(([id, name, end]) => `${pattern.replace('(?P<id>\\d+)', () => id).replace(/\(\?P<\w+>[^)]+\)/, () => name)}${end}`);
  const prefix = often(20, fc.constant('/wp-json/'), fc.constantFrom(...PREFIXES));
  const namespace = often(16, fc.constant(own), fc.constantFrom(...NAMESPACES));
  return fc
    .tuple(prefix, namespace, route, often(15, fc.constant(false), fc.constant(true)))
    .map(([before, name, rest, byQuery]) => (byQuery ? `/?rest_route=/${name}${rest.replaceAll('?', '&')}` : `${before}${name}${rest}`));
}

// ------------------------------------------------------------------------------------------------- parameters
/** The required parameters of a target, mostly valid, and some of the optional ones, in any form. */
function paramsOf({ method, pattern, params }: Target, known: Known): Arbitrary<[string, Json][]> {
  const value = (name: string, sound: number) => often(sound, plausible(name, params[name]!.grammar, known), json);
  const names = Object.keys(params).filter((name) => !(['id', 'slug'].includes(name) && params[name]!.required));
  const creates = method === 'POST' && !pattern.includes('(?P<');
  const required = creates ? names.filter((name) => params[name]!.required || ['title', 'start_date', 'end_date'].includes(name)) : [];
  const needed = required.map((name) =>
    fc.option(fc.tuple(fc.constant(name), sane(name, known) ?? value(name, 20)), { freq: 30, nil: undefined }),
  );
  const optional = names.map((name) => fc.tuple(fc.constant(name), value(name, 8)));
  return fc
    .tuple(fc.tuple(...needed), optional.length === 0 ? fc.constant([]) : fc.array(fc.oneof(...optional), { maxLength: 6 }))
    .map(([must, may]) => [...must.filter((pair) => pair !== undefined), ...may]);
}

/** Values for required dates, since random ones would rarely be consistent. */
const sane = (name: string, known: Known): Arbitrary<Json> | undefined =>
  name === 'start_date'
    ? often(5, fc.constantFrom<Json>('2031-05-01 20:00', 'tomorrow', '1900000000'), plausible(name, timeText, known))
    : name === 'end_date'
      ? often(5, fc.constantFrom<Json>('2031-05-02 01:00', '2031-12-31', '+6 years'), plausible(name, timeText, known))
      : undefined;

// biome-ignore format: list
export const PROTOCOL_NAMES = [
  '_fields', '_envelope', '_jsonp', '_method', '_embed', '_pretty', '_locale', '_wpnonce', 'context', 'translation_language', 'lang',
  'password', 'rest_route', 'page', 'per_page',
];
// biome-ignore format: list
const PROTOCOL_VALUES = [
  '1', 'true', 'id', 'id,title', 'events.id', 'a.b.c.d', '__proto__', 'constructor.name', 'DELETE', 'patch', 'cb', 'a.b', 'a-b', 'en',
  'it', 'edit', 'embed', 'author', '/', '/calendar/events/v1/events',
];

/** Parameters of the protocol, which every route takes. */
const protocolPair: Arbitrary<[string, Json]> = fc.tuple(
  fc.constantFrom(...PROTOCOL_NAMES),
  fc.oneof(fc.constantFrom<Json>(...PROTOCOL_VALUES), json),
);

// biome-ignore format: list
const BROKEN = [
  '%', '%%', '%zz', '%00', '%ff%fe', '%ED%A0%80', '%C0%AF', '+', '&', '&&', '=', '==', '[', ']', '[]', '[][]', '[a', 'a[b]c', 'include',
  'include[]=1', 'include[0]=33', 'include[99999]=33', 'include[__proto__]=1', '__proto__[polluted]=yes', '__proto__=yes',
  'constructor[prototype][polluted]=yes', 'search[__proto__][polluted]=yes', 'toString=1', 'a.b=1', 'a b=1'.replace(' ', '%20'),
  'page=1&page=2', 'page[]=1&page=2', ';', '?', '#x', '\u00e9', '\u00ff', 'per_page', `a${'[b]'.repeat(60)}=1`, 'x=1&'.repeat(300),
  `include=${'33,'.repeat(1200)}`,
];
const brokenQuery = fc.array(fc.constantFrom(...BROKEN), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));

/** Node refuses headers of more than 16 kB in total, and its client some characters. */
const fitting = ([place, query]: [string, string]): string => {
  const path = query === '' ? place : `${place}${place.includes('?') ? '&' : '?'}${query}`;
  return path.replace(/[^\u0021-\u00ff]/g, encodeURIComponent).slice(0, 12_000);
};
