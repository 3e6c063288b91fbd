#!/usr/bin/env node
/**
 * What `npm run bench:load` runs. First the default list, uncached, of one process and of two on one port, in turns:
 * with two processors the load generator takes its share of both, which is said beside the figures. Then minutes of
 * lists, records, terms and writes against one process with its memory of answers, whose resident memory is looked at
 * all the while. Prints both and writes its sections of docs/performance.md.
 *
 *   --events N       how many events are generated (20000)
 *   --minutes N      how long the load lasts (10)
 *   --rounds N       how many measurements of the workers a figure is the median of (5)
 *   --share N        measures the workers a second time, each with no more than this share of a processor (Linux, as
 *           root)
 *   --only NAME      only the workers, or only the minutes
 *   --database NAME  only sqlite or mysql
 *   --keep FOLDER    where the sites are left for the next run, or one of `npm run bench:growth` has left them
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
/** Pauses between writes, so that answers are remembered for a while and forgotten again. */
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

/** `server`: the process of a database server of our own, which needs its share of the processors too. */
async function compareWorkers(env, server) {
  const free = await ratesOfWorkers(env, server);
  const [one, two] = free;
  const besides =
    server === undefined
      ? ''
      : ` The database server took ${two.server.toFixed(2)} and ${one.server.toFixed(2)}: what is left of ${cpus().length} processors is less than two.`;
  const whole = `Without limits, ${compared(free)} (${CONNECTIONS} connections, median of ${flags.rounds} rounds of ${SECONDS} s). The load generator took ${two.own.toFixed(2)} and ${one.own.toFixed(2)} of a processor for it.${besides}`;
  if (flags.share === undefined) return whole;
  const limited = await ratesOfWorkers(env, server, Number(flags.share));
  return `${whole}\n\nWith ${flags.share} of a processor for each process, by a control group, so that everything else on the machine finds its own: ${compared(limited)}.`;
}

function compared([one, two]) {
  return `two processes answer ${(two.rate / one.rate).toFixed(2)} times as many requests as one, ${Math.round(two.rate)} and ${Math.round(one.rate)} a second`;
}

/**
 * Medians of one process and of two: requests a second, and what the load generator and the server took of a processor.
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

/** Minutes of load. The slope is that of a straight line through the second half, when all that is kept is kept. */
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
  return `${flags.minutes} minutes of load, ${requests.total} reads of ${reads.length + pages.length} addresses and ${written} writes: ${errors + non2xx} failed. Resident memory: ${megabytes(highest)} MB at most, ${megabytes(late[0].bytes)} MB half-way, ${megabytes(late.at(-1).bytes)} MB at the end; the line through the second half rises by ${(slope(late) / 2 ** 20).toFixed(1)} MB an hour.`;
}

/** Of the straight line that fits best: bytes an hour. */
function slope(looks) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middle, usual] = [mean(looks.map(({ at }) => at)), mean(looks.map(({ bytes }) => bytes))];
  const sum = (term) => looks.reduce((total, look) => total + term(look), 0);
  return sum(({ at, bytes }) => (at - middle) * (bytes - usual)) / sum(({ at }) => (at - middle) ** 2);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
