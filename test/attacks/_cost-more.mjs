/**
 * Requests of `cost.mjs` other than lists: pages, the desk, the changes since a token, batches, and one for each route
 * that anybody may read, from the route tables.
 */
import '../support/run-typescript.mjs';

const { servedRoutes } = await import('../support/outside-texts.ts');
const { deskRoutes } = await import('../../src/desk/routes.ts');

const V1 = '/wp-json/calendar/events/v1';
/** Maximum number of writes in a batch, and a size just below the limit for anonymous bodies. */
const WRITES = 100;
const BODY_BYTES = 60_000;

/**
 * `ids`: ids of records of the site, by the first segment of the path. `tokens`: of `/changes`, from early to late
 * ones.
 */
export function moreRequests({ ids, tokens, words, deep }) {
  return [...pages({ words, deep }), ...changes(tokens), ...batches(ids), ...ofTheDesk(), ...ofTheTables(ids)];
}

const get = (path, headers = {}) => ({ name: path.slice(0, 100), path, headers: { Accept: 'text/html', ...headers } });

function pages({ words, deep }) {
  const long = 'xy'.repeat(100);
  return [
    '/',
    '/events/list/?tribe-bar-date=1000-01-01',
    `/events/list/page/${deep}/?tribe-bar-date=1000-01-01`,
    `/events/list/?tribe-bar-date=1000-01-01&tribe-bar-search=${words}`,
    `/events/list/?tribe-bar-date=1000-01-01&tribe-bar-search=-zzzz+-yyyy`,
    `/events/list/?tribe-bar-search=${long}`,
    '/events/?eventDisplay=past',
    `/events/?eventDisplay=past&paged=${deep}`,
    '/events/month/',
    `/events/month/?tribe-bar-search=${words}`,
    '/events/today/',
    '/events/featured/',
    '/events/category/music/list/?tribe-bar-date=1000-01-01',
    '/it/events/month/',
    '/sitemap.xml',
    ...['events', 'venues', 'organizers', 'event', 'venue', 'organizer'].map((part) => `/sitemap-${part}-1.xml`),
    '/robots.txt',
    '/doc',
    '/it/doc',
    `/${'a/'.repeat(2000)}`,
  ].map((path) => get(path));
}

const changes = (tokens) =>
  ['limit=500&include=records', 'limit=500&include=records&lang=it', 'limit=500', 'limit=500&include=records&kinds=event']
    .map((query) => get(`${V1}/changes?${query}`))
    .concat(tokens.map((token) => get(`${V1}/changes?limit=500&include=records&since=${token}`)));

function batches(ids) {
  const batch = (name, write) => {
    const requests = [];
    for (let number = 0; number < WRITES && JSON.stringify(requests).length < BODY_BYTES; number += 1) requests.push(write(number));
    return {
      name: `a batch of ${requests.length}: ${name}`,
      path: '/wp-json/batch/v1',
      method: 'POST',
      body: JSON.stringify({ requests }),
      headers: { 'content-type': 'application/json' },
    };
  };
  const dates = { start_date: 'now', end_date: 'now' };
  const path = '/calendar/events/v1/events';
  return [
    batch('new events', (number) => ({ path, body: { title: `x ${number}`, ...dates, categories: [`Neu ${number}`] } })),
    batch('changes of events', (number) => ({ path: `${path}/${ids.events[number % ids.events.length]}`, body: { title: 'x' } })),
    batch('events by slug', (number) => ({ method: 'DELETE', path: `${path}/by-slug/x-${number}` })),
    batch('long texts', () => ({ path, body: { title: 'x', ...dates, description: '<p '.repeat(190) } })),
    batch('addresses that are none', (number) => ({ path: `/x/${number}/${'y/'.repeat(200)}` })),
  ];
}

/** Anonymous requests for the desk: signing in and forms. */
function ofTheDesk() {
  const filled = (path) => `/admin${path.replace(/:\w+/g, '1')}`;
  const form = (name, path, fields) => ({
    name,
    path,
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return [
    ...deskRoutes.map(({ method, path }) =>
      method === 'GET' ? get(filled(path)) : form(`POST ${filled(path)}`, filled(path), { text: 'x '.repeat(20_000) }),
    ),
    form('signing in, a wrong password', '/admin/sign-in', { log: 'admin', pwd: 'wrong' }),
    form('signing in, a long password', '/admin/sign-in', { log: 'admin', pwd: 'x'.repeat(4000) }),
    form('signing in as nobody', '/admin/sign-in', { log: 'nobody', pwd: 'wrong' }),
    form('signing in with much kept', '/admin/sign-in', { log: 'nobody', pwd: 'x', kept: '{"a":'.repeat(9000) }),
    get(`/admin/sign-in?redirect_to=${'/a'.repeat(3000)}`),
  ];
}

/** Each route for reading, with a record of its kind and the maximum number of records. */
function ofTheTables(ids) {
  return [...servedRoutes()].flatMap(([namespace, routes]) =>
    routes
      .filter(({ endpoints }) => endpoints.some(({ methods }) => methods.includes('GET')))
      .map(({ pattern }) => {
        const [, kind] = pattern.split('/');
        const path = pattern.replace(/\(\?P<(\w+)>[^()]*\)/g, (_, name) => (name === 'id' ? (ids[kind]?.[0] ?? 1) : 'x'));
        return get(`/wp-json/${namespace}${path}?_embed=1&_pretty=1`, { Accept: 'application/json', 'X-TEC-EEA': '1' });
      }),
  );
}
