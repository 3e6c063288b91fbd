/**
 * Processor time of the most expensive anonymous requests, on 20,000 events and both databases.
 *
 *   npm run attacks -- cost                      SQLite and, if there is a server, MySQL or MariaDB
 *   npm run attacks -- cost --events 1000 --database sqlite --folder /tmp/cost --only geoloc
 *
 * The cache is off, so that each answer is computed. Prints the ten most expensive requests of each database: the time
 * of the service and of the database server. Exits with 1 if a request takes more than half a second in both together.
 * In a `--folder` the sites are kept for the next run.
 */
import { request as sendRequest } from 'node:http';
import { parseArgs } from 'node:util';
import { cpuMs, fasti, startService } from '../bench/service.mjs';
import { eachDatabase } from '../bench/site.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { moreRequests } from './_cost-more.mjs';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    database: { type: 'string' },
    folder: { type: 'string' },
    only: { type: 'string', default: '' },
    all: { type: 'boolean', default: false },
  },
});
const EVENTS = Number(values.events);
const only = new RegExp(values.only, 'i');
const MOST_MS = 500;
/** Records besides the sample's, so that their lists are long and there are many venues. */
const MORE = { venues: 400, organizers: 300, categories: 100, tags: 300 };
const TIMES = 3;
const SHOWN = 10;

const V1 = '/wp-json/calendar/events/v1';
const CORE = '/wp-json/wp/v2';
const TEC = '/wp-json/tec/v1';
const EVERYTHING = 'start_date=1000-01-01&end_date=9999-12-31';

const kept = values.folder !== undefined;
const folder = values.folder ?? scratchFolder('fasti-cost');
let dear = 0;
await eachDatabase({ folder, kept, only: values.database }, async ({ title, pid }, provide) => {
  const { env, remove } = await provide(EVENTS);
  await fill(env);
  const service = await startService({ ...env, CACHE: 'off', LOG_LEVEL: 'silent' }, '/health/ready');
  const rows = [];
  for (const request of (await requests(service.base)).filter(({ name }) => only.test(name)))
    rows.push(await measured(service, pid, request));
  await service.stop();
  if (!kept) await remove();
  report(title, rows);
});
process.exitCode = dear > 0 ? 1 : 0;

// ------------------------------------------------------------------------------------------------- the site
async function fill(env) {
  try {
    fasti(['event', 'list', '--per_page=1'], env);
    return;
  } catch {
    fasti(['init', '--sample', '--url=http://127.0.0.1'], env);
  }
  const password = fasti(['user', 'application-password', 'create', 'admin', 'cost', '--porcelain'], env);
  const headers = { authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`, 'content-type': 'application/json' };
  const service = await startService({ ...env, LOG_LEVEL: 'silent' }, '/health/ready');
  const place = (number) => ({
    city: `Città ${number % 50}`,
    country: 'Italy',
    geo_lat: 36 + (number % 97) / 9,
    geo_lng: 7 + (number % 89) / 8,
  });
  const bodies = {
    venues: (number) => ({ venue: `Teatro numero ${number}`, address: `via Roma ${number}`, ...place(number) }),
    organizers: (number) => ({ organizer: `Compagnia ${number}`, email: `info@example${number}.org`, phone: `+39 06 ${number}` }),
    categories: (number) => ({ name: `Categoria ${number}`, ...(number % 3 === 0 ? { parent: 'music' } : {}) }),
    tags: (number) => ({ name: `Tag ${number}` }),
  };
  for (const [path, count] of Object.entries(MORE))
    for (let number = 0; number < count; number += 1) {
      const body = bodies[path](number);
      if (body.parent === 'music') delete body.parent;
      await ask(service.base, { method: 'POST', path: `${V1}/${path}`, headers, body: JSON.stringify(body) });
    }
  await service.stop();
  fasti(['seed', `--events=${EVENTS}`], env);
}

// ------------------------------------------------------------------------------------------------- the requests
/** The most expensive requests that we know of, each in a variant that was not requested before. */
async function requests(base) {
  const ids = async (path, member) => {
    const found = [];
    for (let page = 1; found.length < 1000; page += 1) {
      const { [member]: records, total_pages: pages } = JSON.parse((await ask(base, { path: `${path}&page=${page}` })).text);
      found.push(...records.map(({ id }) => id));
      if (page >= pages) break;
    }
    return found;
  };
  const events = await ids(`${V1}/events?${EVERYTHING}&per_page=50`, 'events');
  const venues = await ids(`${V1}/venues?per_page=50`, 'venues');
  const organizers = await ids(`${V1}/organizers?per_page=50`, 'organizers');
  const categories = await ids(`${V1}/categories?per_page=50&hide_empty=0`, 'categories');
  const tags = await ids(`${V1}/tags?per_page=50&hide_empty=0`, 'tags');
  const slugs = JSON.parse(
    (await ask(base, { path: `${CORE}/tribe_events?per_page=100&_fields=slug&include=${events.slice(0, 100)}` })).text,
  ).map(({ slug }) => slug);
  const last = (size, total = EVENTS) => Math.floor(total / size);
  const words = 'via casa piazza musica teatro festa sera giorno mercato';
  const minus = words.replaceAll(' ', ' -');
  const long = 'xy'.repeat(800);
  const get = (name, path, more = {}) => ({ name, path, ...more });
  const list = (query) => get(`v1 events?${query}`.slice(0, 100), `${V1}/events?${query}`);
  const core = (query, type = 'tribe_events') => get(`wp/v2 ${type}?${query}`.slice(0, 100), `${CORE}/${type}?${query}`);
  const tec = (query, path = 'events') =>
    get(`tec/v1 ${path}?${query}`.slice(0, 100), `${TEC}/${path}?${query}`, { headers: { 'X-TEC-EEA': '1' } });
  const wide = (query) => list(`${EVERYTHING}&per_page=50&${query}`);
  const json = (name, path, body, method = 'GET') => ({
    name,
    path,
    method,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'X-TEC-EEA': '1' },
  });
  const orders = ['event_date', 'end_date', 'date', 'title', 'modified', 'id', 'slug'];
  const tokens = await tokensOf(base);
  const coreOrders = ['author', 'date', 'id', 'modified', 'parent', 'slug', 'title'];
  return [
    // The calendar's own lists: distant pages, orders, words, places, long lists.
    list('per_page=50'),
    wide(''),
    ...orders.flatMap((order) => [wide(`orderby=${order}&order=desc`), wide(`orderby=${order}&page=${last(50)}`)]),
    wide(`search=${words.replaceAll(' ', '+')}`),
    wide(`search=-${minus.replaceAll(' ', '+')}`),
    wide(`search=-${minus.replaceAll(' ', '+')}&orderby=title&page=300`),
    wide('search=a'),
    wide('search=e&orderby=title&order=desc'),
    wide('search=zzzz'),
    wide(`search=${long}`),
    wide(`search=-${long}`),
    wide('search=ü&page=100'),
    wide('search=concert&orderby=modified&geoloc=1&ticketed=0'),
    wide('geoloc_lat=43&geoloc_lng=11&geoloc_radius=20000'),
    wide('geoloc_lat=43&geoloc_lng=11&geoloc_radius=20000&page=300'),
    wide('geoloc_lat=-43&geoloc_lng=-170&geoloc_radius=20000&search=e'),
    wide('geoloc=1'),
    wide('geoloc=0&page=2'),
    wide('geoloc=1&search=-zzzz&page=300'),
    wide('city=città+1'),
    wide('country=italy&page=200'),
    wide('country=italy&city=città+2&state=&search=a'),
    wide('ticketed=1'),
    wide('ticketed=0&page=300'),
    wide('featured=1'),
    wide('featured=0&page=300'),
    wide(`categories=${categories}`),
    wide(`categories=${categories}&page=200`),
    wide(`tags=${tags}`),
    wide(`venue=${venues}&page=300`),
    wide(`organizer=${organizers}&page=300`),
    wide(`venue=${venues}&organizer=${organizers}&categories=${categories}&tags=${tags}`),
    wide(`categories=${categories}&tags=${tags}&search=-zzzz+-yyyy+-xxxx&orderby=title`),
    wide(`password=x&categories=${categories}&orderby=title`),
    wide('password=x&featured=0&page=300'),
    wide('modified_after=1990-01-01&orderby=modified&order=desc&page=300'),
    wide('strict_dates=1&starts_after=1000-01-01&ends_before=9000-01-01'),
    list('starts_after=1000-01-01+00:00:00&ends_after=1000-01-01+00:00:00&page=300&per_page=50'),
    list(`include=${events}&per_page=50`),
    list(`include=${events}&per_page=50&orderby=include&page=20`),
    list(`include=${events}&orderby=title&search=a&per_page=50`),
    list(`post_parent=${events[0]}&per_page=50`),
    list(`per_page=50&_pretty=1&_envelope=1&_fields=${Array.from({ length: 1500 }, (_, at) => `events.f${at}`)}`),
    ...['start_date', 'end_date', 'starts_before', 'modified_after'].map((name) => list(`${name}=${'. '.repeat(120)}1&per_page=50`)),
    list(`start_date=${'%20+1%20day'.repeat(24)}&end_date=${'%20+1%20day'.repeat(24)}`),
    // Venues, organizers and terms.
    ...['venues', 'organizers'].flatMap((path) =>
      [
        '',
        'has_events=1',
        'has_events=0',
        'only_with_upcoming=1',
        `search=${'a '.repeat(50)}`,
        `search=${long}`,
        'search=a',
        'orderby=title&page=6',
        'modified_after=1990-01-01&search=e',
      ].map((query) => get(`v1 ${path}?${query}`.slice(0, 100), `${V1}/${path}?per_page=50&${encodeURI(query)}`)),
    ),
    ...['categories', 'tags'].flatMap((path) =>
      [
        'hide_empty=0',
        'search=a',
        `search=${long}`,
        'orderby=count&order=desc',
        'orderby=name&page=2',
        `exclude=${path === 'tags' ? tags : categories}`,
        `include=${path === 'tags' ? tags : categories}`,
        `event=${events[0]}`,
      ].map((query) => get(`v1 ${path}?${query}`.slice(0, 100), `${V1}/${path}?per_page=50&${query}`)),
    ),
    // Descriptions of the interface.
    get('v1 doc', `${V1}/doc`),
    get('v1 doc, wrapped', `${V1}/doc?_envelope=1&_pretty=1`),
    get('tec/v1 docs', `${TEC}/docs`),
    get('the index', '/wp-json/'),
    get('the index of wp/v2', CORE),
    get('the index of the calendar', V1),
    { ...get('OPTIONS of events', `${V1}/events`), method: 'OPTIONS' },
    // wp/v2: WordPress's own lists.
    core('per_page=100&_embed=1'),
    core(`per_page=100&_embed=1&page=${last(100, EVENTS / 2) - 1}`),
    core('per_page=100&_embed=1&offset=9000'),
    ...coreOrders.map((order) => core(`per_page=100&orderby=${order}&order=asc&page=80`)),
    core(`per_page=100&search=${words.replaceAll(' ', '+')}`),
    core(`per_page=100&search=-${minus.replaceAll(' ', '+')}&orderby=title&page=50`),
    core(`per_page=100&search=-${minus.replaceAll(' ', '+')}`, 'search'),
    core(`per_page=100&subtype=tribe_events&_embed=1&search=-${minus.replaceAll(' ', '+')}`, 'search'),
    core('per_page=100&search=e&orderby=relevance&_embed=1'),
    core(`per_page=100&search=-${'x'.repeat(1500)}`),
    core(`per_page=100&include=${events}&orderby=include&_embed=1`),
    core(`per_page=100&slug=${slugs}&orderby=include_slugs&_embed=1`),
    core(`per_page=100&exclude=${events}&page=80`),
    core(`per_page=100&tribe_events_cat_exclude=${categories}`),
    core(`per_page=100&tribe_events_cat=${categories}&tags=${tags}&_embed=1`),
    core(`per_page=100&tags_exclude=${tags}&page=20`),
    core(
      `per_page=100&${tags
        .slice(0, 100)
        .map((tag) => `tags[terms][]=${tag}`)
        .join('&')}&tags[operator]=AND`,
    ),
    core('per_page=100&after=1990-01-01T00:00:00&before=2090-01-01T00:00:00&modified_after=1990-01-01T00:00:00'),
    core('per_page=100&author=1&author_exclude=2&page=80'),
    ...['tribe_venue', 'tribe_organizer', 'media', 'users', 'tags', 'tribe_events_cat'].flatMap((type) =>
      [
        'per_page=100&_embed=1',
        'per_page=100&search=a&_embed=1',
        `per_page=100&search=${long}`,
        'per_page=100&orderby=slug&order=desc&page=2',
      ].map((query) => core(query, type)),
    ),
    core('per_page=100&has_published_posts=1', 'users'),
    core('per_page=100&orderby=count&order=desc&hide_empty=1', 'tags'),
    core(`per_page=100&include=${tags}&_embed=1`, 'tags'),
    // tec/v1: the calendar's newer lists.
    tec('per_page=100'),
    tec('per_page=100&page=190'),
    tec('per_page=100&start_date=1000-01-01&end_date=9999-12-31&orderby=title&order=DESC&page=190'),
    tec(`per_page=100&search=-${minus.replaceAll(' ', '+')}&orderby=title`),
    tec('per_page=100&search=e&orderby=modified'),
    tec(`per_page=100&venue=${venues}&organizer=${organizers}`),
    tec('per_page=100&ticketed=false&featured=false&page=180'),
    ...['venues', 'organizers'].flatMap((path) => [
      tec('per_page=100', path),
      tec('per_page=100&search=a', path),
      tec('per_page=100&has_events=1&only_with_upcoming=1', path),
    ]),
    // Feeds.
    get('iCalendar feed', '/events/ical/'),
    get('iCalendar feed of everything', '/events/list/?ical=1&per_page=1000&tribe-bar-date=1000-01-01'),
    get('iCalendar feed of the past', '/events/ical/?eventDisplay=past&per_page=1000'),
    get('iCalendar feed of a search', '/events/list/?ical=1&per_page=1000&tribe-bar-date=1000-01-01&tribe-bar-search=e'),
    get('iCalendar feed of a month', '/events/month/?ical=1&per_page=1000'),
    get('iCalendar feed of many', `/?ical=1&per_page=1000&event_ids=${events}`),
    get('iCalendar feed of a deep page', `/events/list/?ical=1&tribe-bar-date=1000-01-01&per_page=50&paged=${last(50)}`),
    get('RSS feed', `/events/feed/?tribe-bar-date=1000-01-01`),
    get('RSS feed of a search', '/events/feed/?tribe-bar-date=1000-01-01&search=-zzzz+-yyyy&orderby=title'),
    // Bodies that an anonymous caller may not send, but which are parsed nevertheless.
    json('categories by 1,000 names', `${V1}/events`, { categories: Array.from({ length: 1000 }, (_, at) => `Categoria ${at} <b>x</b>`) }),
    json('tags by 1,000 names that exist', `${V1}/events`, { tags: Array.from({ length: 1000 }, (_, at) => `TAG ${at % 300}`) }),
    json(
      'a new event with 1,000 categories',
      `${V1}/events`,
      { title: 'x', start_date: 'now', end_date: 'now', categories: Array.from({ length: 1000 }, (_, at) => `Neu ${at}`) },
      'POST',
    ),
    json(
      'a new event with 1,000 venues',
      `${V1}/events`,
      {
        title: 'x',
        start_date: 'now',
        end_date: 'now',
        venue: Array.from({ length: 1000 }, (_, at) => ({ venue: `Sala ${at}`, city: 'Asti' })),
      },
      'POST',
    ),
    json(
      'a new event with 60 kB of text',
      `${V1}/events`,
      { title: 'x', start_date: 'now', end_date: 'now', description: '<p '.repeat(20_000) },
      'POST',
    ),
    json(
      'a new event with 1,000 prices',
      `${V1}/events`,
      { title: 'x', start_date: 'now', end_date: 'now', cost: Array.from({ length: 1000 }, (_, at) => `€ ${at},50 - ${at + 1}`) },
      'POST',
    ),
    json('a new record of WordPress with 60 kB of text', `${CORE}/tribe_events`, { title: 'x', content: '[caption]'.repeat(6000) }, 'POST'),
    json('a list of 20,000 members', `${V1}/events`, { include: Array.from({ length: 19_000 }, (_, at) => at) }),
    json('deep lists', `${V1}/events`, { include: JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`) }),
    ...moreRequests({ ids: { events, venues, organizers, categories, tags }, tokens, words: words.replaceAll(' ', '+'), deep: last(12) }),
  ];
}

/** Tokens of `/changes` for a full reading, from the beginning to the journal. */
async function tokensOf(base) {
  const tokens = [];
  for (let path = `${V1}/changes?limit=500`, more = true; more; path = `${V1}/changes?limit=500&since=${tokens.at(-1)}`) {
    const body = JSON.parse((await ask(base, { path })).text);
    more = body.more;
    tokens.push(body.next);
  }
  return [tokens[0], tokens[tokens.length >> 1], tokens.at(-2), tokens.at(-1)];
}

// ------------------------------------------------------------------------------------------------- measuring
async function measured(service, serverPid, request) {
  const clock = () => [service.cpu(), serverPid ? cpuMs(serverPid) : 0];
  const times = [];
  let status = 0;
  let size = 0;
  for (let time = 0; time < TIMES; time += 1) {
    const [ownBefore, serverBefore] = clock();
    const answer = await ask(service.base, request);
    const [own, server] = clock();
    status = answer.status;
    size = answer.text.length;
    times.push({ own: own - ownBefore, server: server - serverBefore });
  }
  const sum = ({ own, server }) => own + server;
  const [middle] = times.sort((a, b) => sum(a) - sum(b)).slice(Math.floor(TIMES / 2));
  return { name: request.name, status, size, ...middle, ms: sum(middle) };
}

function report(title, rows) {
  const sorted = rows.toSorted((a, b) => b.ms - a.ms);
  const over = rows.filter(({ ms }) => ms > MOST_MS);
  dear += over.length;
  console.log(`\n${title}, ${EVENTS} events: ${rows.length} requests, ${over.length} above ${MOST_MS} ms of processor time`);
  for (const { ms, own, server, status, size, name } of values.all ? sorted : sorted.slice(0, SHOWN))
    console.log(`${String(ms).padStart(6)} ms (${own} + ${server})  ${status}  ${Math.round(size / 1024)} kB  ${name}`);
}

/** Sends a request as it is given; `fetch` would send no body with GET. */
function ask(base, { method = 'GET', path, headers = {}, body }) {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const sent = sendRequest(
      {
        hostname,
        port,
        method,
        maxHeaderSize: 2 ** 18,
        path: path.replace(/[^\x21-\x7e]/gu, encodeURIComponent),
        headers: { ...headers, ...length },
      },
      (answer) => {
        const chunks = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () => resolve({ status: answer.statusCode, text: Buffer.concat(chunks).toString() }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
