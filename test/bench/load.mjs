#!/usr/bin/env node
/**
 * Script of `npm run bench:load`. First it requests the default list, uncached, from one process and from two on one
 * port, in turns. On a machine with two processors the load generator uses part of both, which is stated with the
 * figures. Then it sends minutes of lists, records, terms and writes to one process with its cache, and records the
 * resident memory of the process meanwhile. Prints both results and writes its sections of docs/performance.md.
 *
 *   --events N       number of events to generate (20000)
 *   --minutes N      duration of the load (10)
 *   --rounds N       number of measurements of the workers; figures are their median (5)
 *   --share N        measures the workers a second time, each limited to this share of a processor (Linux, as root)
 *   --only NAME      only `workers`, or only `minutes`
 *   --database NAME  only sqlite or mysql
 *   --keep FOLDER    folder in which the sites are kept for the next run; may be one of `npm run bench:growth`
 *
 * TEST_MYSQL_URL names a server as in `npm test`, or is `off`.
 */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { machine, writeSection } from './report.mjs';
import { scenarios } from './scenarios.mjs';
import { cpuMs, fasti, limitProcessor, servingProcesses, startService } from './service.mjs';
import { API, eachDatabase, findWords, requestOf, seedOnce } from './site.mjs';

const { values: flags } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    minutes: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
    share: { type: 'string' },
    only: { type: 'string' },
    database: { type: 'string' },
    keep: { type: 'string' },
  },
});
const SECONDS = 4;
const CONNECTIONS = 16;
const LOOK_EVERY_MS = 2000;
const MOST_PAGES = 200;
/** Pause between writes, so that answers stay in the cache for a while before they are evicted. */
const WRITE_EVERY_MS = 500;
const [busy] = loadavg();
const events = Number(flags.events);
const temporary = scratchFolder('fasti-load');
const started = [];
try {
  await eachDatabase({ folder: flags.keep ?? temporary, kept: flags.keep !== undefined, only: flags.database }, measureDatabase);
} finally {
  for (const service of started) await service.stop();
}

async function measureDatabase({ name, title, pid }, provide) {
  const { env, remove } = await provide(events);
  await seedOnce(env, events);
  for (const [what, measure] of Object.entries({ workers: compareWorkers, minutes: endure })) {
    if (flags.only !== undefined && flags.only !== what) continue;
    const text = await measure(env, pid);
    console.log(text);
    writeSection(`${what} ${name}`, `**${title}**, ${events} events, ${machine(busy)}:\n\n${text}`);
  }
  if (!flags.keep) await remove();
}

async function startedWith(env) {
  const service = await startService({ ...env, LOG_LEVEL: 'warn', SITE_URL: 'http://127.0.0.1' }, `${API}/events`);
  started.push(service);
  return service;
}

/**
 * Compares one worker with two. `server`: the process ID of the database server if this script started it; it uses part
 * of the processors too.
 */
async function compareWorkers(env, server) {
  const free = await ratesOfWorkers(env, server);
  const [one, two] = free;
  const besides =
    server === undefined
      ? ''
      : ` The database server used ${two.server.toFixed(2)} and ${one.server.toFixed(2)}, so that less than two of the ${cpus().length} processors were left for the service.`;
  const whole = `Without limits, ${compared(free)} (${CONNECTIONS} connections, median of ${flags.rounds} rounds of ${SECONDS} s). The load generator used ${two.own.toFixed(2)} and ${one.own.toFixed(2)} of a processor.${besides}`;
  if (flags.share === undefined) return whole;
  const limited = await ratesOfWorkers(env, server, Number(flags.share));
  return `${whole}\n\nWith each process limited to ${flags.share} of a processor by a control group, so that the other programs are not slowed down, ${compared(limited)}.`;
}

function compared([one, two]) {
  return `two processes answer ${(two.rate / one.rate).toFixed(2)} times as many requests as one: ${Math.round(two.rate)} and ${Math.round(one.rate)} a second`;
}

/**
 * Returns the medians for one process and for two: requests a second, and the share of a processor that the load
 * generator and the database server used.
 */
async function ratesOfWorkers(env, server, share) {
  const counts = [1, 2];
  const services = [];
  for (const count of counts) services.push(await startedWith({ ...env, CACHE: 'off', WORKERS: String(count) }));
  const limits = share === undefined ? [] : services.flatMap(({ pid }) => servingProcesses(pid)).map((pid) => limitProcessor(pid, share));
  const rounds = counts.map(() => []);
  for (let round = -1; round < Number(flags.rounds); round += 1) {
    for (const [at, { base }] of services.entries()) {
      const cpu = process.cpuUsage();
      const before = cpuMs(server);
      const { requests, errors, non2xx, duration } = await autocannon({
        url: `${base}${API}/events`,
        connections: CONNECTIONS,
        duration: SECONDS,
      });
      if (errors + non2xx > 0) throw new Error(`${errors + non2xx} requests failed`);
      const { user, system } = process.cpuUsage(cpu);
      if (round < 0) continue;
      rounds[at].push({
        rate: requests.total / duration,
        own: (user + system) / 1e6 / duration,
        server: (cpuMs(server) - before) / 1e3 / duration,
      });
    }
  }
  for (const lift of limits) lift();
  for (const service of services) await service.stop();
  return rounds.map((figures) =>
    Object.fromEntries(['rate', 'own', 'server'].map((name) => [name, median(figures.map((figure) => figure[name]))])),
  );
}

/** Sends minutes of load. The slope is that of a line fitted to the second half, when the caches are full. */
async function endure(env) {
  const service = await startedWith({ ...env, CACHE: 'on' });
  const password = fasti(['user', 'application-password', 'create', 'admin', `load ${Date.now()}`, '--porcelain'], env);
  const { words } = await findWords(service.base);
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  const reads = scenarios.filter(({ method, unchanged }) => !method && !unchanged).map((scenario) => requestOf(scenario, words).path);
  const { total_pages: all } = await (await fetch(`${service.base}${API}/events`)).json();
  const pages = Array.from({ length: Math.min(all, MOST_PAGES) }, (_, page) => `${API}/events?page=${page + 1}`);
  const create = requestOf(
    scenarios.find(({ method }) => method === 'POST'),
    words,
    authorization,
  );
  const seconds = 60 * Number(flags.minutes);
  const looks = [];
  const looking = setInterval(() => looks.push({ at: performance.now() / 3_600_000, bytes: service.memory() }), LOOK_EVERY_MS);
  let written = 0;
  const writing = setInterval(async () => {
    const body = create.body.replace('[<id>]', String(written));
    const { ok } = await fetch(service.base + create.path, { method: create.method, headers: create.headers, body });
    written += ok ? 1 : Number.NaN;
  }, WRITE_EVERY_MS);
  const { requests, errors, non2xx } = await autocannon({
    url: service.base,
    connections: 4,
    duration: seconds,
    requests: [...reads, ...pages].map((path) => ({ path })),
  });
  clearInterval(looking);
  clearInterval(writing);
  await service.stop();
  const megabytes = (bytes) => Math.round(bytes / 2 ** 20);
  const late = looks.slice(looks.length >> 1);
  const highest = Math.max(...looks.map(({ bytes }) => bytes));
  return `${flags.minutes} minutes of load, ${requests.total} reads of ${reads.length + pages.length} addresses and ${written} writes: ${errors + non2xx} failed. Resident memory: ${megabytes(highest)} MB at most, ${megabytes(late[0].bytes)} MB half-way, ${megabytes(late.at(-1).bytes)} MB at the end; a line fitted to the second half rises by ${(slope(late) / 2 ** 20).toFixed(1)} MB an hour.`;
}

/** Returns the slope of the best-fitting line, in bytes an hour. */
function slope(looks) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middle, usual] = [mean(looks.map(({ at }) => at)), mean(looks.map(({ bytes }) => bytes))];
  const sum = (term) => looks.reduce((total, look) => total + term(look), 0);
  return sum(({ at, bytes }) => (at - middle) * (bytes - usual)) / sum(({ at }) => (at - middle) ** 2);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
