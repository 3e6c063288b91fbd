#!/usr/bin/env node
/**
 * Script of `npm run bench:growth`: measures how the cost of requests grows with the number of events. It sends the
 * same requests to sites of several sizes, uncached, with a write before each. The sizes take turns, so that other work
 * of the machine affects all of them. Prints milliseconds of elapsed time and, on Linux, of processor time (service and
 * database server together), and the cost of the largest site divided by that of the smallest. Writes its section of
 * docs/performance.md.
 *
 *   --sizes N,N,...  numbers of events (1000,10000,100000,1000000)
 *   --rounds N       number of times that each request is sent to each site (40)
 *   --database NAME  only sqlite or mysql
 *   --keep FOLDER    folder in which the sites are kept for the next run
 *   --languages      sites in two languages, half of the events in each and half of them translations of one another:
 *                    compares lists of one language with lists of all languages
 *   --journal N      number of entries in the journal of the largest site
 *
 * TEST_MYSQL_URL names a server as in `npm test`, or is `off`. The processor time of a database server that this script
 * has not started is not counted.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { machine, markdown, writeSection } from './report.mjs';
import { fasti, startService } from './service.mjs';
import { API, eachDatabase, lengthenJournal, seedOnce } from './site.mjs';

const { values: flags } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000,1000000' },
    rounds: { type: 'string', default: '40' },
    database: { type: 'string' },
    keep: { type: 'string' },
    languages: { type: 'boolean', default: false },
    journal: { type: 'string' },
  },
});
const sizes = flags.sizes.split(',').map(Number);
const rounds = Number(flags.rounds);
const journal = Number(flags.journal ?? 0);
/** Name of the section in docs/performance.md, as its marks spell it, without the database. */
const subject = `growth${flags.languages ? ' with languages,' : ''}${journal > 0 ? ' with a long journal,' : ''}`;
const temporary = scratchFolder('fasti-growth');
const [busy] = loadavg();

/** Paths of lists, by the name of the filter. */
const LISTS = {
  'the list': () => '/events?',
  'events of a category': ({ category }) => `/events?categories=${category}&`,
  'a month': () => `/events?start_date=${day(30)}&end_date=${day(60)}&`,
};
/** Queries that choose the languages of a list. The others are compared with the first. */
const SELECTIONS = {
  'all languages': 'lang=all',
  'one language': 'lang=it',
  'one language, with fallback': 'lang=it&language_fallback=true',
};

const OF_LANGUAGES = Object.fromEntries(
  Object.entries(LISTS).flatMap(([list, path]) =>
    Object.entries(SELECTIONS).map(([selection, query]) => [`${list}, ${selection}`, (words) => path(words) + query]),
  ),
);

/** Query of a list of all dates, with one event per page. */
const ALL_DATES = '/events?start_date=2000-01-01&end_date=2090-01-01&per_page=1';
/** Largest number of the page of this list that all sites are asked for. */
const MAX_PAGE = 1000;

/** Returns the requests, by their names in the table. `page`: page of the list of all dates that every site has. */
const requestsFor = (page) => ({
  'default list with total': () => '/events',
  'one event': ({ event }) => `/events/${event}`,
  'events of a category': ({ category }) => `/events?categories=${category}`,
  'events of a category with children': ({ parent }) => `/events?categories=${parent}`,
  'events at a venue': ({ venue }) => `/events?venue=${venue}`,
  'events with a tag': ({ tag }) => `/events?tags=${tag}`,
  'featured events': () => '/events?featured=true',
  'a month': () => `/events?start_date=${day(30)}&end_date=${day(60)}`,
  ends_after: () => `/events?ends_after=${day(0)}`,
  [`page ${page.toLocaleString('en')} of all dates, one event per page`]: () => `${ALL_DATES}&page=${page}`,
  'venues, only_with_upcoming': () => '/venues?only_with_upcoming=true',
  'organizers, has_events': () => '/organizers?has_events=true',
  categories: () => '/categories',
  search: () => '/events?search=concert',
  'changes since the beginning of the run': ({ token }) => `/changes?since=${token}&limit=10`,
});

const place = { folder: flags.keep ?? temporary, kept: flags.keep !== undefined, sort: flags.languages ? 'languages_' : '' };
await eachDatabase({ ...place, only: flags.database }, measureDatabase);

async function measureDatabase({ name, title, pid }, provide) {
  const sites = [];
  try {
    for (const events of sizes) sites.push({ ...(await openSite(events, await provide(events))), server: pid });
    const figures = await measure(sites);
    const text = [sectionOf(figures, sites), ...(flags.languages ? [comparedWithAll(figures)] : [])].join('\n\n');
    console.log(text);
    writeSection(`${subject} ${name}`, `**${title}**, ${machine(busy)}:\n\n${text}`);
  } finally {
    for (const { process: service, remove } of sites) {
      await service.stop();
      if (!flags.keep) await remove();
    }
  }
}

/** Opens and serves a site with this number of events. */
async function openSite(events, { env, remove }) {
  const settings = { ...env, CACHE: 'off', CACHE_FRESHNESS_MS: '0', LOG_LEVEL: 'warn', SITE_URL: 'http://127.0.0.1' };
  const { seedMs } = await seedOnce(settings, events, { inTwoLanguages: flags.languages });
  if (seedMs !== undefined) console.error(`${events} events generated in ${Math.round(seedMs / 1000)} s`);
  const entries = journal > 0 && events === sizes.at(-1) ? await lengthenJournal(env.DATABASE_URL, journal) : undefined;
  const password = fasti(['user', 'application-password', 'create', 'admin', `growth ${Date.now()}`, '--porcelain'], settings);
  const service = await startService(settings, `${API}/events`);
  const ask = async (path) => (await fetch(service.base + API + path)).json();
  const [{ categories }, { tags }, { venues }, list, allDates] = await Promise.all([
    ask('/categories?orderby=count&order=desc&per_page=50'),
    ask('/tags?orderby=count&order=desc&per_page=1'),
    ask('/venues?per_page=1'),
    ask('/events?per_page=10'),
    ask(ALL_DATES),
  ]);
  const words = {
    category: categories.find(({ id }) => !categories.some((one) => one.parent === id))?.id,
    parent: categories.find(({ id }) => categories.some((one) => one.parent === id))?.id ?? categories[0].id,
    tag: tags[0].id,
    venue: venues[0].id,
    event: list.events[3].id,
    changed: list.events[5].id,
    token: await tokenFromNow(service.base),
  };
  return {
    events,
    process: service,
    seedMs,
    entries,
    remove,
    words,
    authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`,
    total: list.total,
    pages: allDates.total_pages,
  };
}

/** Returns the token for following changes from now on. A stream of changes begins with it. */
async function tokenFromNow(base) {
  const { body } = await fetch(`${base}${API}/changes/stream`);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const token = /^id: (\S+)\n/m;
  let text = '';
  while (!token.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${base} ended a stream of changes at its beginning`);
    text += value;
  }
  await reader.cancel();
  return token.exec(text)[1];
}

async function measure(sites) {
  const figures = new Map();
  const requests = flags.languages ? OF_LANGUAGES : requestsFor(Math.min(MAX_PAGE, ...sites.map(({ pages }) => pages)));
  for (let round = -2; round < rounds; round += 1) {
    for (const [name, path] of Object.entries(requests)) {
      for (const site of sites) {
        const written = await timed(site, `/events/${site.words.changed}`, {
          method: 'POST',
          headers: { authorization: site.authorization, 'content-type': 'application/json' },
          body: JSON.stringify({
            title: `Changed ${round} ${name}`,
            start_date: `${day(3)} 1${Math.abs(round) % 9}:00:00`,
            end_date: `${day(3)} 20:00:00`,
          }),
        });
        const read = await timed(site, path(site.words), {});
        if (round < 0) continue;
        note(figures, name, site.events, read);
        note(figures, 'write before each request', site.events, written);
      }
    }
  }
  return figures;
}

async function timed({ process: service, server }, path, options) {
  const pids = [service.pid, server].filter(Boolean);
  const [cpu, begun] = [cpuMs(pids), performance.now()];
  const response = await fetch(service.base + API + path, options);
  await response.arrayBuffer();
  const figures = { wall: performance.now() - begun, cpu: cpuMs(pids) - cpu };
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
  return figures;
}

/** Returns the processor time of these processes so far, in milliseconds; NaN if the system does not provide it. */
function cpuMs(pids) {
  try {
    const tasks = pids.flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}/schedstat`));
    return tasks.reduce((sum, file) => sum + Number(readFileSync(file, 'utf8').split(' ')[0]), 0) / 1e6;
  } catch {
    return Number.NaN;
  }
}

function note(figures, name, events, { wall, cpu }) {
  if (!figures.has(name)) figures.set(name, new Map(sizes.map((size) => [size, { wall: [], cpu: [] }])));
  const kept = figures.get(name).get(events);
  kept.wall.push(wall);
  kept.cpu.push(cpu);
}

/** Returns the figures as a table, followed by start time and memory of each site. */
function sectionOf(figures, sites) {
  const head = ['request', ...sites.map(({ events, total }) => `${events} events, ${total} listed`), 'elapsed ratio', 'CPU ratio'];
  const rows = [...figures].map(([name, bySize]) => {
    const [wall, cpu] = ['wall', 'cpu'].map((figure) => [...bySize.values()].map((kept) => median(kept[figure])));
    const ratio = (values) => (values.at(-1) / values[0]).toFixed(2);
    return [name, ...wall.map((ms, at) => `${ms.toFixed(2)} (${cpu[at].toFixed(2)})`), ratio(wall), ratio(cpu)];
  });
  const costs = sites.map(({ events, seedMs, entries, process: { startMs, memory } }) => {
    const generated = seedMs === undefined ? '' : `, generated in ${Math.round(seedMs / 1000)} s`;
    const changes = entries === undefined ? '' : `, ${entries} entries in the journal`;
    return `- ${events} events${generated}${changes}: first answer ${Math.round(startMs)} ms after the start of the process, ${Math.round(memory() / 2 ** 20)} MB resident at the end`;
  });
  return `${markdown(head, rows, 1)}\n\n${costs.join('\n')}`;
}

/** Returns a table of the cost of lists of one language divided by that of lists of all languages (elapsed, CPU). */
function comparedWithAll(figures) {
  const [all, ...others] = Object.keys(SELECTIONS);
  const lines = Object.keys(LISTS).flatMap((list) =>
    others.map((one) => {
      const ratios = sizes.map((size) => {
        const [here, there] = [one, all].map((selection) => figures.get(`${list}, ${selection}`).get(size));
        const ratio = (figure) => (median(here[figure]) / median(there[figure])).toFixed(2);
        return `${ratio('wall')} (${ratio('cpu')})`;
      });
      return [`${list}, ${one}`, ...ratios];
    }),
  );
  return markdown(['ratio to all languages', ...sizes.map((size) => `${size} events`)], lines, 1);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function day(days) {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}
