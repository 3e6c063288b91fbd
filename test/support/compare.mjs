// compare(recording, actual, options) -> [{ path, expected, got }], empty if the response conforms. No dependencies;
// Node 20. compareRows(recording, rows, options) does the same for the rows that a write leaves in the database.
// README.md explains what is masked and what `aside`, `ignore`, `unordered` and `reduce` mean.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export const RECORDED_NAMESPACE = 'tribe/events/v1';
export const RECORDED_HOME = 'http://127.0.0.1:8081';
const TEXT = '<text>';
const ABSENT = '<absent>';

// ---------------------------------------------------------------------------------------------- clock
const pad = (n, width = 2) => String(n).padStart(width, '0');

/** Wall clock parts of an instant in a zone: an IANA name or an offset in minutes. */
function wallClock(instant, zone) {
  if (typeof zone === 'number') return new Date(instant.getTime() + zone * 60000);
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-CA', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit',
      hour: '2-digit', minute: '2-digit', second: '2-digit',
    }).formatToParts(instant).map((part) => [part.type, Number(part.value)]),
  );
  return new Date(Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second));
}

const isoDay = (date) => `${pad(date.getUTCFullYear(), 4)}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;

function shifted(date, { days = 0, years = 0 }) {
  const copy = new Date(date);
  copy.setUTCDate(copy.getUTCDate() + days);
  copy.setUTCFullYear(copy.getUTCFullYear() + years);
  return copy;
}

const SHIFTS = {
  '-1d': { days: -1 }, 0: {}, '+1d': { days: 1 }, '+7d': { days: 7 },
  '+1y': { years: 1 }, '+2y': { years: 2 }, '+4y': { years: 4 },
};

/** All texts that a response at `instant` can derive from the clock. */
function clock(instant, zone) {
  const walls = [wallClock(instant, zone), wallClock(instant, 0)];
  const days = new Map();
  for (const wall of walls) {
    for (const [name, shift] of Object.entries(SHIFTS)) {
      const day = isoDay(shifted(wall, shift));
      if (!days.has(day)) days.set(day, `<D${name}>`);
    }
  }
  return { days, walls: { LOCAL: walls[0], UTC: walls[1] } };
}

const STAMP = /(\d{4})-(\d\d)-(\d\d)(?:[ T+]|%20)(\d\d)(?::|%3A)(\d\d)(?::|%3A)(\d\d)/gi;
const DAY = /\d{4}-\d\d-\d\d/g;

function mask(text, { days, walls }) {
  return text
    .replace(STAMP, (found, ...digits) => {
      const [year, month, day, hour, minute, second] = digits.slice(0, 6).map(Number);
      const value = Date.UTC(year, month - 1, day, hour, minute, second);
      for (const name of ['UTC', 'LOCAL']) {
        for (const years of [0, 2]) {
          if (Math.abs(value - shifted(walls[name], { years }).getTime()) < 30000) return `<NOW ${name} +${years}y>`;
        }
      }
      return found;
    })
    .replace(DAY, (found) => days.get(found) ?? found);
}

/** The time zone of the site in which a recording was made. */
export function zoneOf(recording, fallback = 'Europe/Rome') {
  const setup = recording.setup ?? {};
  if (setup.timezone_string) return setup.timezone_string;
  if (setup.gmt_offset) return Number(setup.gmt_offset) * 60;
  return fallback;
}

// ---------------------------------------------------------------------------------------------- paths
/** `$.a.b`, `$.list[0].x`, `$.list[*].x`, `$..x` (x at any depth) -> matcher over an array of keys. */
function pathMatcher(pattern) {
  const rooted = pattern.startsWith('$');
  const source = (rooted ? pattern.slice(1) : pattern)
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\\\[\\\*\\\]/g, '\\[\\d+\\]')
    .replace(/^\\\.\\\./, '(?:.*)\\.');
  return new RegExp(`^${rooted ? '\\$' : ''}${source}(?:[.[].*)?$`);
}

// ---------------------------------------------------------------------------------------------- URLs
const LIST_URL_KEYS = new Set(['rest_url', 'next_rest_url', 'previous_rest_url']);

function decode(text) {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch {
    return text;
  }
}

/** Decoded query as Map key -> value; list members (`a[]=1&a[]=2`, `a[0]=1`) joined by commas. */
function queryOf(text) {
  const pairs = new Map();
  for (const piece of text.split('&')) {
    if (piece === '') continue;
    const cut = piece.indexOf('=');
    const rawKey = decode(cut < 0 ? piece : piece.slice(0, cut));
    const value = cut < 0 ? '' : decode(piece.slice(cut + 1));
    const key = rawKey.replace(/\[\d*\]$/, '');
    pairs.set(key, key !== rawKey && pairs.has(key) ? `${pairs.get(key)},${value}` : value);
  }
  return pairs;
}

const SHAPING = ['categories', 'tags', 'strict_dates', 'search', 'include', 'exclude', 'order', 'orderby', 'hide_empty', 'parent', 'post', 'event', 'slug', 'has_events', 'only_with_upcoming',
  'venue', 'organizer', 'featured', 'ticketed', 'geoloc', 'geoloc_lat', 'geoloc_lng', 'post_parent', 'starts_before', 'starts_after', 'ends_before', 'ends_after', 'start_date', 'end_date', 'per_page'];

/**
 * Parameters of the request that shape its list, for `strictUrls`: the URLs of a list contain all of them (D21, D25).
 */
function neededInUrl(request, url) {
  return SHAPING.filter((key) => {
    const value = request.get(key);
    if (!value) return false;
    if (['order', 'orderby'].includes(key) && !/\/(categories|tags)\//.test(decode(url))) return false; // elsewhere an unknown value means the default
    if (['strict_dates', 'only_with_upcoming'].includes(key)) return tidy(value) === '1';
    if (['start_date', 'end_date', 'starts_before', 'starts_after', 'ends_before', 'ends_after'].includes(key)) return !request.has('include');
    return !(key === 'post' && request.has('event'));
  });
}

const tidy = (value) => {
  const text = String(value).trim().replace(/\s*,\s*/g, ',');
  if (/^(true|yes|on)$/i.test(text)) return '1';
  if (/^(false|no|off)$/i.test(text)) return '0';
  return text;
};

function requestKeys(recording) {
  const keys = queryOf(recording.request.query ?? '');
  const { body } = recording.request;
  if (typeof body !== 'string' || body === '') return keys;
  try {
    const parsed = JSON.parse(body);
    if (parsed && typeof parsed === 'object') for (const [key, value] of Object.entries(parsed)) keys.set(key, String(value));
  } catch {
    for (const [key, value] of queryOf(body)) keys.set(key, value);
  }
  return keys;
}

/**
 * A list URL must have the same path and all recorded pairs; it may contain further pairs of the request (D21, D25).
 * The page must match, but `page=1` and `per_page` may be added. Encoding makes no difference.
 */
function urlDifference(expected, got, path, context) {
  if (context.strictUrls && /^\$(\.body)?\.\w*rest_url$/.test(path)) {
    const missing = neededInUrl(context.request, got).find((key) => !queryOf(got.split('?')[1] ?? '').has(key));
    if (missing) return `does not carry ${missing}`;
    if (/[^\x21-\x7e]/.test(got)) return 'is not percent-encoded';
  }
  const [expectedBase, expectedQuery = ''] = expected.split('?');
  const [gotBase, gotQuery = ''] = got.split('?');
  if (decode(expectedBase).replace(/\/$/, '') !== decode(gotBase).replace(/\/$/, '')) return 'another address';
  const want = queryOf(expectedQuery);
  const have = queryOf(gotQuery);
  for (const [key, value] of want) {
    if (value === '') continue;
    if (!have.has(key)) return `lacks ${key}=${value}`;
    if (!sameText(tidy(value), tidy(have.get(key)), context)) return `has ${key}=${have.get(key)}`;
  }
  for (const [key, value] of have) {
    if (want.get(key)) continue;
    if (value === '' || key === 'per_page' || (key === 'page' && value === '1')) continue;
    if (key === 'page' || !context.request.has(key)) return `has ${key}=${value} besides`;
  }
  return null;
}

// ---------------------------------------------------------------------------------------------- values
const sameText = (expected, got, context) =>
  expected === got || mask(expected, context.then) === mask(got, context.now);

const unescapeEntities = (text) =>
  text.replace(/&#x([0-9a-f]+);|&#(\d+);/gi, (_, hex, dec) => String.fromCodePoint(hex ? parseInt(hex, 16) : Number(dec)));

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const kind = (value) => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value);
const DETAIL_KEYS = ['year', 'month', 'day', 'hour', 'minutes', 'seconds'];
const stampOf = (parts) => `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minutes}:${parts.seconds}`;
const isStamp = (value) => isObject(value) && DETAIL_KEYS.every((key) => typeof value[key] === 'string');

function diff(expected, got, path, key, context) {
  const { out } = context;
  if (out.length > 40 || context.ignored(path)) return;
  if (expected === TEXT) {
    if (typeof got !== 'string' || got.trim() === '') out.push({ path, expected: 'a non-empty text', got });
    return;
  }
  if (kind(expected) !== kind(got)) {
    out.push({ path, expected, got });
    return;
  }
  if (typeof expected === 'string') {
    if (key === 'email' && unescapeEntities(expected) === unescapeEntities(got)) return;
    if (LIST_URL_KEYS.has(key) && (expected !== got || context.strictUrls)) {
      const difference = urlDifference(expected, got, path, context);
      if (difference) out.push({ path, expected, got, note: difference });
      return;
    }
    if (!sameText(expected, got, context)) out.push({ path, expected, got });
    return;
  }
  if (Array.isArray(expected)) {
    if (expected.length !== got.length) {
      const ids = (list) => list.map((item) => (isObject(item) ? (item.id ?? item.name ?? '{}') : item));
      out.push({ path: `${path}.length`, expected: expected.length, got: got.length, note: `${JSON.stringify(ids(expected)).slice(0, 120)} / ${JSON.stringify(ids(got)).slice(0, 120)}` });
    }
    const pairs = context.unordered(path) ? paired(expected, got) : expected.map((item, index) => [item, got[index]]);
    pairs.slice(0, Math.min(expected.length, got.length)).forEach(([a, b], index) => diff(a, b, `${path}[${index}]`, key, context));
    return;
  }
  if (isObject(expected)) {
    if (isStamp(expected) && isStamp(got) && sameText(stampOf(expected), stampOf(got), context)) return;
    const keys = Object.keys(expected);
    const gotKeys = Object.keys(got);
    if (context.order && keys.length === gotKeys.length && keys.every((k) => k in got) && keys.join('\n') !== gotKeys.join('\n')) {
      out.push({ path: `${path} (order of keys)`, expected: keys.join(','), got: gotKeys.join(',') });
    }
    for (const member of keys) {
      const below = `${path}.${member}`;
      if (member in got) diff(expected[member], got[member], below, member, context);
      else if (!context.ignored(below) && !nothing(below, expected[member])) out.push({ path: below, expected: expected[member], got: ABSENT });
    }
    if (context.open(path)) return;
    for (const member of gotKeys) {
      const below = `${path}.${member}`;
      if (!(member in expected) && !context.ignored(below) && member !== 'request_id' && !nothing(below, got[member])) out.push({ path: below, expected: ABSENT, got: got[member] });
    }
    return;
  }
  if (expected !== got) out.push({ path, expected, got });
}

/** In JSON-LD, `location: false` and `organizer: false` are equivalent to an absent member. */
const nothing = (path, value) => value === false && /\.json_ld\.(location|organizer)$/.test(path);

/** Pairs the members of two lists by id, for lists whose order is not defined. */
function paired(expected, got) {
  const rest = [...got];
  return expected.map((item) => {
    const at = rest.findIndex((other) => isObject(item) && isObject(other) && item.id === other.id);
    return [item, at < 0 ? rest.shift() : rest.splice(at, 1)[0]];
  });
}

// ---------------------------------------------------------------------------------------------- descriptions of the
//                                                                                                interface
const pick = (object, keys) => Object.fromEntries(keys.filter((key) => key in object).map((key) => [key, object[key]]));
const mapValues = (object, change) => Object.fromEntries(Object.entries(object ?? {}).map(([key, value]) => [key, change(value, key)]));
const argument = (arg) => ({ required: arg.required === true });

const routeOf = (route) => ({
  namespace: route.namespace,
  methods: [...(route.methods ?? [])].sort(),
  endpoints: Object.fromEntries((route.endpoints ?? []).map((endpoint) => [
    [...(endpoint.methods ?? [])].sort().join(','),
    Array.isArray(endpoint.args) ? {} : mapValues(endpoint.args, argument),
  ])),
  ...(route._links?.self ? { self: route._links.self[0]?.href ?? route._links.self } : {}),
});

/** Namespace index, site index, OPTIONS and /doc are compared by structure; ours may contain more (reduce). */
export const reducers = {
  index: (body, namespace) => ({
    ...body,
    ...(Array.isArray(body?.namespaces) ? { namespaces: body.namespaces.filter((name) => name === namespace) } : {}),
    ...(body?.routes ? { routes: Object.fromEntries(Object.entries(body.routes).filter(([path]) => path.startsWith(`/${namespace}`)).map(([path, route]) => [path, routeOf(route)])) } : {}),
  }),
  route: (body) => routeOf(body ?? {}),
  doc: (body) => ({
    ...pick(body ?? {}, ['openapi']),
    ...(body?.info ? { info: mapValues(body.info, (value, key) => (key === 'version' ? value : TEXT)) } : {}),
    ...(body?.servers ? { servers: body.servers } : {}),
    ...(body?.paths ? {
      paths: mapValues(body.paths, (methods) => mapValues(methods, (operation) => ({
        parameters: Object.fromEntries((operation.parameters ?? []).map((parameter) => [parameter.name, pick(parameter, ['in', 'required'])])),
        responses: mapValues(operation.responses, () => true),
        ...(operation.requestBody ? { body: mapValues(Object.values(operation.requestBody.content ?? {})[0]?.schema?.properties, () => true) } : {}),
      }))),
    } : {}),
    ...(body?.components ? { schemas: mapValues(body.components.schemas, (schema) => mapValues(schema.properties, (property) => pick(property, ['type']))) } : {}),
  }),
};

// ---------------------------------------------------------------------------------------------- headers
const ALWAYS = {
  'x-robots-tag': 'noindex',
  'x-content-type-options': 'nosniff',
  link: `<${RECORDED_HOME}/wp-json/>; rel="https://api.w.org/"`,
  'access-control-expose-headers': 'X-WP-Total, X-WP-TotalPages, Link',
  'access-control-allow-headers': 'Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type',
};
const tokens = (text) => new Set(String(text ?? '').toLowerCase().split(',').map((token) => token.trim()).filter(Boolean));
const subset = (some, all) => [...some].every((token) => all.has(token));

function compareHeaders(response, actual, context) {
  const want = { ...ALWAYS, 'content-type': 'application/json; charset=UTF-8', ...response.headers };
  const have = Object.fromEntries(Object.entries(actual.headers ?? {}).map(([key, value]) => [key.toLowerCase(), Array.isArray(value) ? value.join(', ') : String(value)]));
  const complain = (name) => context.out.push({ path: `header ${name}`, expected: want[name] ?? ABSENT, got: have[name] ?? ABSENT });
  for (const name of Object.keys(want)) {
    if (want[name] === null || name === 'expires' || context.ignored(`header.${name}`)) continue;
    const value = have[name] ?? '';
    if (['access-control-expose-headers', 'access-control-allow-headers', 'access-control-allow-methods', 'vary', 'x-robots-tag', 'link'].includes(name)) {
      if (!subset(tokens(want[name]), tokens(context.home(value)))) complain(name);
    } else if (name === 'allow') {
      const same = subset(tokens(want[name]), tokens(value)) && subset(tokens(value), tokens(want[name]));
      if (!same || (context.order && want[name] !== value)) complain(name);
    } else if (name === 'cache-control') {
      if (!subset(tokens('no-store, private'), tokens(value))) complain(name);
    } else if (name === 'content-type') {
      if (want[name].toLowerCase().replace(/\s/g, '') !== value.toLowerCase().replace(/\s/g, '')) complain(name);
    } else if (want[name] !== context.home(value)) complain(name);
  }
  if (!('allow' in want) && 'allow' in have && !context.ignored('header.allow')) complain('allow');
  if (!('www-authenticate' in want) && 'www-authenticate' in have) complain('www-authenticate');
}

// ---------------------------------------------------------------------------------------------- the comparison
const replaceAll = (value, change) => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => replaceAll(item, change));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), replaceAll(item, change)]));
  return value;
};

/**
 * The response of the reference, stored completely or as changes to our expectation: [[keys], value], or [[keys]] for a
 * member that the reference does not have.
 */
function referenceResponse({ response, reference }) {
  if (!reference) return response;
  const { changes, ignore, ...rest } = reference;
  if (!changes) return { ...response, ...rest };
  const body = structuredClone(response.body);
  for (const [keys, ...value] of changes) {
    const parent = keys.slice(0, -1).reduce((object, key) => object[key], body);
    if (value.length) parent[keys.at(-1)] = value[0];
    else delete parent[keys.at(-1)];
  }
  return { ...response, ...rest, body };
}

const isList = (body) => isObject(body) && 'rest_url' in body && 'total' in body;

/**
 * recording: one line of recordings/*.jsonl
 * actual:    { status, headers, body } or { status, headers, text }
 * options:   now (Date of the request), timezone (of the site, for recordings without `setup`), namespace, home (the
 * server's own public URL),
 *            headers (compare headers too), order (order of object keys too), urls (list URLs must carry all that
 *            shapes the list), reference (against the
 *            reference: no decision applies)
 */
export function compare(recording, actual, options = {}) {
  const { now = new Date(), timezone = 'Europe/Rome', namespace = RECORDED_NAMESPACE, home = RECORDED_HOME, headers = false, order = false, urls = false, reference = false } = options;
  const response = reference ? referenceResponse(recording) : recording.response;
  const zone = zoneOf(recording, timezone);
  const ignored = (reference ? (recording.reference?.ignore ?? []) : (recording.ignore ?? [])).map(pathMatcher);
  const unordered = (reference ? [] : (recording.unordered ?? [])).map(pathMatcher);
  const opened = (recording.open ?? []).map(pathMatcher);
  const toNamespace = (text) => (namespace === RECORDED_NAMESPACE ? text : text.replaceAll(RECORDED_NAMESPACE, namespace).replaceAll(encodeURIComponent(RECORDED_NAMESPACE), encodeURIComponent(namespace)));
  const hostOf = (url) => new URL(url).hostname;
  const fromHome = (text) => (home === RECORDED_HOME ? text : text.replaceAll(home, RECORDED_HOME).replaceAll(`${hostOf(home)}?id=`, `${hostOf(RECORDED_HOME)}?id=`));
  const context = {
    out: [],
    order,
    strictUrls: urls && !reference && isList(response.body),
    home: fromHome,
    then: clock(new Date(recording.at), zone),
    now: clock(now, zone),
    request: requestKeys(recording),
    ignored: (path) => ignored.some((matcher) => matcher.test(path)),
    unordered: (path) => unordered.some((matcher) => matcher.test(path)),
    open: (path) => opened.some((matcher) => matcher.test(path)),
  };
  if (response.status !== actual.status) context.out.push({ path: 'status', expected: response.status, got: actual.status });
  compareBody(recording, response, actual, context, { toNamespace, fromHome, namespace });
  if (headers) compareHeaders({ ...response, headers: replaceAll(response.headers ?? {}, toNamespace) }, actual, context);
  return context.out;
}

function compareBody(recording, response, actual, context, { toNamespace, fromHome, namespace }) {
  if (context.ignored('$') || !('body' in response || 'text' in response || 'jsonp' in response)) return;
  const parse = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  if ('jsonp' in response) {
    const match = /^\/\*\*\/([^(]*)\(([\s\S]*)\)\s*;?\s*$/.exec(actual.text ?? '');
    if (!match || match[1] !== response.jsonp.callback) context.out.push({ path: 'text', expected: `/**/${response.jsonp.callback}(...)`, got: (actual.text ?? '').slice(0, 200) });
    else diff(replaceAll(response.jsonp.body, toNamespace), replaceAll(parse(match[2]), fromHome), '$', '', context);
    return;
  }
  if ('text' in response) {
    const got = actual.text ?? '';
    if (!sameText(toNamespace(response.text), fromHome(got), context)) context.out.push({ path: 'text', expected: response.text.slice(0, 200), got: got.slice(0, 200) });
    return;
  }
  let got = 'body' in actual && actual.body !== undefined ? actual.body : parse(actual.text ?? '');
  if (got === undefined) {
    context.out.push({ path: 'body', expected: 'JSON', got: (actual.text ?? '').slice(0, 200) });
    return;
  }
  got = replaceAll(got, fromHome);
  const reduce = response.reduce ?? recording.reduce;
  if (reduce && isObject(got)) got = reducers[reduce](got, namespace);
  diff(replaceAll(response.body, toNamespace), got, '$', '', context);
}

// ---------------------------------------------------------------------------------------------- rows in the database
/** The last ids of the fixture; rows with higher ids are new. */
export const LAST_IDS = { posts: 92, terms: 18 };

const BOOKKEEPING = /^(_tribe_modified_fields|_edit_lock|_edit_last|_encloseme|_pingme|_Venuepost_.*|_Organizerpost_.*|_VenueDescription|_OrganizerDescription)$/;
/** Keys for which an empty value differs from a missing row. */
const EMPTY_COUNTS = new Set(['_EventShowMap', '_EventShowMapLink', '_VenueShowMap', '_VenueShowMapLink', '_EventURL', '_EventHideFromUpcoming', '_tribe_featured']);
const OWNER = { posts: 'ID', postmeta: 'post_id', term_relationships: 'object_id', tec_events: 'post_id', tec_occurrences: 'post_id', terms: 'term_id', term_taxonomy: 'term_id' };
const ofPosts = ['posts', 'postmeta', 'term_relationships', 'tec_events', 'tec_occurrences'];

let fixtureTables;
function fixtureRows(ids) {
  fixtureTables ??= JSON.parse(readFileSync(new URL('../fixtures/site.json', import.meta.url), 'utf8'));
  return Object.fromEntries(Object.keys(OWNER).map((table) => {
    const { columns, rows } = fixtureTables[table];
    const wanted = new Set(ofPosts.includes(table) ? ids.posts : ids.terms);
    const owner = columns.indexOf(OWNER[table]);
    const objects = rows.filter((row) => wanted.has(Number(row[owner]))).map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
    return [table, objects.map(({ meta_id, to_ping, pinged, post_content_filtered, comment_count, post_mime_type, term_order, occurrence_id, event_id, hash, ...rest }) => rest)];
  }));
}

/** `ids`: posts and terms whose rows are recorded; `same`: those whose rows must equal the fixture. */
const idsOf = ({ ids, same }) => Object.fromEntries(['posts', 'terms'].map((kind) => [kind, [...(ids?.[kind] ?? []), ...(same?.[kind] ?? [])]]));

/**
 * Selects the rows that compareRows needs: those of these posts and terms, and of all posts and terms with higher ids
 * than `after`.
 */
export function rowsWanted(recording, { reference = false } = {}) {
  if (!recording.rows || (reference && recording.rows.ours)) return null;
  return { ...idsOf(recording.rows), after: LAST_IDS };
}

const groupBy = (rows, key) => {
  const groups = new Map();
  for (const row of rows ?? []) groups.set(String(row[key]), [...(groups.get(String(row[key])) ?? []), row]);
  return groups;
};
const words = (value) => (value === null || value === undefined ? '' : String(value));

/**
 * rows:    { posts: [...], postmeta: [...], terms: [...], ... }, the rows that rowsWanted selects (others are ignored),
 *          metas in the order of their ids
 * options: as for compare()
 */
export function compareRows(recording, rows, options = {}) {
  const { now = new Date(), timezone = 'Europe/Rome', home = RECORDED_HOME, reference = false } = options;
  if (!rowsWanted(recording, { reference })) return [];
  const { same: untouched, ignore = [] } = recording.rows;
  const ids = idsOf(recording.rows);
  const still = untouched ? fixtureRows(untouched) : {};
  const expected = Object.fromEntries(Object.keys(OWNER).map((table) => [table, [...(recording.rows[table] ?? []), ...(still[table] ?? [])]]));
  const zone = zoneOf(recording, timezone);
  const moments = [new Date(recording.at), now];
  const context = { then: clock(moments[0], zone), now: clock(moments[1], zone) };
  const out = [];
  const complain = (path, want, got) => out.push({ path: `rows ${path}`, expected: want, got });
  const skip = new Set(ignore);
  const isNow = (text, at) => /^\d{10}$/.test(text) && Math.abs(Number(text) * 1000 - at.getTime()) < 30000;
  const same = (want, got) => sameText(words(want), words(got).replaceAll(home, RECORDED_HOME), context) || (isNow(words(want), moments[0]) && isNow(words(got), moments[1]));
  const stamped = (text, { walls }) => Object.values(walls).some((wall) => Math.abs(Date.parse(`${words(text).replace(' ', 'T').slice(0, 19)}Z`) - wall.getTime()) < 30000);

  /** Columns that the recording does not name are not compared. */
  function compareRow(table, label, want, got) {
    for (const [column, value] of Object.entries(want)) {
      if (skip.has(`${table}.${column}`)) continue;
      if (column === 'updated_at') {
        if (stamped(value, context.then) && !stamped(got[column], context.now)) complain(`${label}.${column}`, 'the time of the request', got[column]);
      } else if (column === 'guid' && unescapeEntities(words(value)) === unescapeEntities(words(got[column]).replaceAll(home, RECORDED_HOME))) {
        continue; // WordPress escapes the & of a guid when it saves a draft again
      } else if (!same(value, got[column])) complain(`${label}.${column}`, value, got[column] === undefined ? ABSENT : got[column]);
    }
  }
  function compareOnly(table, label, want = [], got = []) {
    if (want.length !== got.length) complain(label, `${want.length} row(s)`, `${got.length} row(s)`);
    else want.forEach((row, index) => compareRow(table, label, row, got[index]));
  }
  function metas(list) {
    const values = new Map();
    for (const { meta_key: key, meta_value: value } of list ?? []) {
      if (BOOKKEEPING.test(key) || skip.has(`postmeta.${key}`) || (words(value) === '' && !EMPTY_COUNTS.has(key))) continue;
      values.set(key, [...(values.get(key) ?? []), words(value)]);
    }
    return values;
  }
  /** The term of each term_taxonomy_id: from the rows given, else the number itself. */
  const termOf = (given) => {
    const known = new Map((given.term_taxonomy ?? []).map((row) => [String(row.term_taxonomy_id), String(row.term_id)]));
    return (row) => known.get(String(row.term_taxonomy_id)) ?? String(row.term_taxonomy_id);
  };

  const tables = Object.keys(OWNER);
  const want = Object.fromEntries(tables.map((table) => [table, groupBy(expected[table], OWNER[table])]));
  const got = Object.fromEntries(tables.map((table) => [table, groupBy(rows[table], OWNER[table])]));

  for (const id of ids.posts.map(String)) {
    compareOnly('posts', `posts[${id}]`, want.posts.get(id), got.posts.get(id));
    const [before, after] = [metas(want.postmeta.get(id)), metas(got.postmeta.get(id))];
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [a, b] = [before.get(key) ?? [], after.get(key) ?? []];
      if (a.length !== b.length || a.some((value, index) => !same(value, b[index]))) complain(`postmeta[${id}].${key}`, a.length ? a : ABSENT, b.length ? b : ABSENT);
    }
    const [linked, links] = [[expected, want], [rows, got]].map(([given, grouped]) => (grouped.term_relationships.get(id) ?? []).map(termOf(given)).sort().join(','));
    if (linked !== links) complain(`term_relationships[${id}]`, linked, links);
    compareOnly('tec_events', `tec_events[${id}]`, want.tec_events.get(id), got.tec_events.get(id));
    compareOnly('tec_occurrences', `tec_occurrences[${id}]`, want.tec_occurrences.get(id), got.tec_occurrences.get(id));
    for (const row of got.tec_occurrences.get(id) ?? []) {
      const hash = createHash('sha1').update([row.post_id, row.start_date, row.end_date, row.start_date_utc, row.end_date_utc, row.duration].join(':')).digest('hex');
      if (row.hash !== hash && want.tec_occurrences.has(id)) complain(`tec_occurrences[${id}].hash`, hash, row.hash);
      const event = got.tec_events.get(id)?.[0];
      if (event && String(event.event_id) !== String(row.event_id)) complain(`tec_occurrences[${id}].event_id`, event.event_id, row.event_id);
    }
  }
  for (const id of ids.terms.map(String)) {
    compareOnly('terms', `terms[${id}]`, want.terms.get(id), got.terms.get(id));
    const bare = (list) => (list ?? []).map(({ term_taxonomy_id, ...rest }) => rest);
    compareOnly('term_taxonomy', `term_taxonomy[${id}]`, bare(want.term_taxonomy.get(id)), got.term_taxonomy.get(id));
  }
  for (const [id, [row]] of got.posts) {
    if (Number(id) > LAST_IDS.posts && row.post_type !== 'revision' && !ids.posts.includes(Number(id))) complain(`posts[${id}]`, ABSENT, `${row.post_type} ${JSON.stringify(row.post_title)}`);
  }
  for (const [id, [row]] of got.terms) {
    if (Number(id) > LAST_IDS.terms && !ids.terms.includes(Number(id))) complain(`terms[${id}]`, ABSENT, row.name);
  }
  return out;
}
