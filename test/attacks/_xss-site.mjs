/* The sample site behind a running service, with access to every text field and every way to read texts. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startService } from '../bench/service.mjs';
import { FIXTURES } from '../support/site-data.mjs';

const SITE_TOOL = fileURLToPath(new URL('../support/site-tool.mjs', import.meta.url));
const credentials = JSON.parse(readFileSync(new URL('credentials.json', FIXTURES), 'utf8'));
/** The header that tec/v1 requires from clients. */
const ACKNOWLEDGED = { 'X-TEC-EEA': 'yes' };

/** The header with which a user of the sample site signs in. */
export const credentialsOf = (login) => `Basic ${btoa(`${login}:${credentials[login].application_password}`)}`;

/** Creates the sample site in an empty database. */
export function loadSample(env) {
  const { status, stderr } = spawnSync(process.execPath, [SITE_TOOL, 'load'], { env: { ...process.env, ...env }, encoding: 'utf8' });
  if (status !== 0) throw new Error(`site-tool.mjs load: ${stderr}`);
}

/**
 * Serves a site. `send(as, method, path, body, headers)` returns `{status, body, text}`; `as` is a login of the sample
 * site, or empty for an anonymous caller.
 */
export async function serveSite(env) {
  const { base, stop } = await startService({ ...env, LOG_LEVEL: 'silent' }, '/wp-json/');
  const send = async (as, method, path, body, headers = {}) => {
    const signed = as ? { authorization: credentialsOf(as) } : {};
    const json = body === undefined || body instanceof Uint8Array ? {} : { 'content-type': 'application/json' };
    const response = await fetch(base + path, {
      method,
      headers: { ...ACKNOWLEDGED, ...signed, ...json, ...headers },
      ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: parsed(text) };
  };
  return { base, stop, send };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// ------------------------------------------------------------------------------------------------- every text field
/** Parameters for a user, a time or a status: their values are from a closed list, or are shown to nobody. */
const NO_TEXTS = new Set(['author', 'status', 'date', 'date_utc', 'date_gmt', 'password', 'translation_language']);
/** Required values of a record, by the name of the parameter. */
const REQUIRED = {
  title: (number) => `Title ${number}`,
  venue: (number) => `Venue ${number}`,
  organizer: (number) => `Organizer ${number}`,
  name: (number) => `Name ${number}`,
  start_date: () => '2031-05-01 10:00:00',
  end_date: () => '2031-05-01 12:00:00',
};
/** Fields that are accepted though no description lists them, and nested fields. */
const BESIDES = {
  '/tribe/events/v1/events': {
    cost: (text) => ({ cost: text }),
    'categories by name': (text) => ({ categories: [text] }),
    'tags by name': (text) => ({ tags: [text] }),
    ...nested('venue', ['venue', 'description', 'address', 'city', 'country', 'province', 'state', 'zip', 'phone', 'website']),
    ...nested('organizer', ['organizer', 'description', 'phone', 'website', 'email']),
  },
};

function nested(kind, names) {
  const made = (name, text, number) => ({ [kind]: `${kind} of ${number}`, [name]: text });
  return Object.fromEntries(
    names.map((name) => [
      `${kind}.${name}`,
      (text, number) => ({ [kind]: kind === 'venue' ? made(name, text, number) : [made(name, text, number)] }),
    ]),
  );
}

/**
 * Every text field that the interface describes for new records, and the undescribed or nested ones: `{route, field,
 * body(text, number)}`. The calendar's namespace is served under two names by the same code; only one of them is used.
 */
export async function textFields({ send }) {
  const { body: index } = await send('admin', 'GET', '/wp-json/');
  const fields = [];
  for (const [route, { endpoints }] of Object.entries(index.routes)) {
    const creation = endpoints.find(({ methods }) => methods.includes('POST'));
    if (!creation || route.includes('(?P<') || route.startsWith('/calendar/') || route === '/wp/v2/media') continue;
    const { args } = creation;
    const needed = (number) =>
      Object.fromEntries(Object.entries(REQUIRED).flatMap(([name, value]) => (isText(args[name]) ? [[name, value(number)]] : [])));
    const add = (field, own) =>
      fields.push({
        route,
        field,
        body: (text, number) => ({ ...needed(number), ...(args.status ? { status: 'publish' } : {}), ...own(text, number) }),
      });
    for (const [name, arg] of Object.entries(args)) if (isText(arg) && !NO_TEXTS.has(name)) add(name, (text) => ({ [name]: text }));
    if (args.meta && route.startsWith('/wp/v2/tribe_') && !route.endsWith('_cat'))
      for (const key of await metaKeys(send, route)) add(`meta.${key}`, (text) => ({ meta: { [key]: text } }));
    for (const [name, own] of Object.entries(BESIDES[route] ?? {})) add(name, own);
  }
  return fields;
}

const isText = (arg) => arg !== undefined && (arg.type === undefined || [arg.type].flat().includes('string'));

async function metaKeys(send, route) {
  const { body } = await send('admin', 'GET', `/wp-json${route}?context=edit&per_page=1`);
  return Object.keys(body[0].meta);
}

// ------------------------------------------------------------------------------------------------- every way out
const API = '/wp-json/tribe/events/v1';
const ALL_DATES = 'start_date=1990-01-01&end_date=2090-01-01';
const KINDS = ['events', 'venues', 'organizers'];

/** Paths of all lists, with the login of the caller. */
function lists() {
  const states = ['publish', 'future', 'draft', 'pending', 'private'];
  const posts = ['tribe_events', 'tribe_venue', 'tribe_organizer'];
  const of = (as, path) => ({ as, path });
  return [
    ...KINDS.flatMap((kind) => states.map((state) => of('admin', `${API}/${kind}?status=${state}&per_page=50&${kind === 'events' ? ALL_DATES : ''}`))),
    ...KINDS.map((kind) => of(undefined, `${API}/${kind}?per_page=50&${kind === 'events' ? ALL_DATES : ''}`)),
    ...['categories', 'tags'].map((kind) => of(undefined, `${API}/${kind}?per_page=50&hide_empty=false`)),
    ...posts.flatMap((type) => ['view', 'edit'].map((context) => of('admin', `/wp-json/wp/v2/${type}?context=${context}&status=${states}&per_page=100&_embed=1`))),
    ...['tribe_events_cat', 'tags', 'media', 'users'].flatMap((type) => ['view', 'edit'].map((context) => of('admin', `/wp-json/wp/v2/${type}?context=${context}&per_page=100`))),
    ...KINDS.map((kind) => of('admin', `/wp-json/tec/v1/${kind}?per_page=100&status=${states}&${kind === 'events' ? ALL_DATES : ''}`)),
  ]; // biome-ignore format: a table
}

/**
 * Yields every answer of the interface that contains records: `{path, body}`, page by page, and for events, venues and
 * organizers also one by one.
 */
export async function* answers({ send }) {
  for (const { as, path } of lists()) {
    for (let page = 1; ; page += 1) {
      const { status, body } = await send(as, 'GET', `${path}&page=${page}`);
      if (status >= 400) break;
      yield { path, body };
      const records = Array.isArray(body) ? body : KINDS.concat('categories', 'tags').flatMap((kind) => body[kind] ?? []);
      if (records.length === 0 || (body.total_pages ?? page + 1) <= page) break;
      if (as === 'admin' && path.startsWith(API))
        for (const { id } of records)
          yield { path: `${path.split('?')[0]}/${id}`, body: (await send(as, 'GET', `${path.split('?')[0]}/${id}`)).body };
    }
  }
}
