#!/usr/bin/env node
/**
 * Script of `npm run bench:wordpress`: measures the service in the way that WordPress was measured, with the same
 * number of events and clients, and a process for each processor. A bare Express app takes turns with it; its rate
 * shows how fast the machine is compared with the one that WordPress was measured on. Prints the rates next to
 * WordPress's and writes its section of docs/performance.md.
 *
 *   --rounds N       number of measurements; figures are their median (5)
 *   --database NAME  only sqlite or mysql
 *   --keep FOLDER    folder in which the sites are kept for the next run
 *
 * TEST_MYSQL_URL names a server as in `npm test`, or is `off`.
 */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { machine, markdown, writeSection } from './report.mjs';
import { startBare, startService } from './service.mjs';
import { API, eachDatabase, findWords, requestOf, seedOnce } from './site.mjs';

const { values: flags } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, database: { type: 'string' }, keep: { type: 'string' } },
});
const EVENTS = 20_000;
const CLIENTS = 4;
const SECONDS = 3;
const WARM_UP_SECONDS = 5;
/** Answers of 40 kB that one bare Express app sent per second on the machine that WordPress was measured on. */
const BARE_THERE = 7600;

/**
 * Requests, with the rate of WordPress with the plugin in requests a second (four PHP workers with opcache on two
 * processors).
 */
const REQUESTS = [
  { name: 'default list', path: '/events', wordpress: 5.5 },
  { name: 'list with a date window', path: '/events?start_date={today}&end_date={in a month}', wordpress: 7.3 },
  { name: 'search', path: '/events?search=concert', wordpress: 5 },
  { name: 'one event', path: '/events/{event}', wordpress: 43 },
  { name: 'venues', path: '/venues', wordpress: 43 },
  { name: 'categories', path: '/categories', wordpress: 42 },
];
/** Ways of running the service. With SHARED_WITH_WORDPRESS it has a separate site, because its list index differs. */
const SERVICES = [
  { name: 'without cache', env: { CACHE: 'off' } },
  { name: 'from memory', env: { CACHE: 'on' } },
  { name: 'beside WordPress, without cache', site: `${EVENTS}_shared`, env: { CACHE: 'off', SHARED_WITH_WORDPRESS: 'on' } },
];
const COLUMNS = ['database', 'request', 'WordPress', 'bare Express', ...SERVICES.flatMap(({ name }) => [name, 'times WordPress'])];

const [busy] = loadavg();
const temporary = scratchFolder('fasti-wordpress');
const rows = [];
await eachDatabase({ folder: flags.keep ?? temporary, kept: flags.keep !== undefined, only: flags.database }, measureDatabase);
const table = markdown(COLUMNS, rows, 2);
console.log(table);
if (flags.database === undefined) {
  writeSection('wordpress', `${machine(busy)}, ${EVENTS} events, ${CLIENTS} clients, ${cpus().length} processes:\n\n${table}`);
}

async function measureDatabase({ title }, provide) {
  const sites = new Map();
  const services = [];
  for (const { env, site = EVENTS } of SERVICES) {
    if (!sites.has(site)) sites.set(site, await provide(site));
    await seedOnce(sites.get(site).env, EVENTS);
    const settings = { ...sites.get(site).env, ...env, WORKERS: String(cpus().length), LOG_LEVEL: 'warn' };
    services.push(await startService(settings, `${API}/events`));
  }
  const { words } = await findWords(services[0].base);
  const list = await (await fetch(`${services[0].base}${API}/events`)).arrayBuffer();
  const bare = await startBare({
    status: 200,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: Buffer.from(list).toString('base64'),
  });
  await load(bare.base, { duration: WARM_UP_SECONDS });
  for (const request of REQUESTS) {
    const { path } = requestOf(request, words);
    const [rates, times, yardstick] = [services.map(() => []), services.map(() => []), []];
    for (const { base } of services) await load(base + path, { duration: WARM_UP_SECONDS });
    for (let round = 0; round < Number(flags.rounds); round += 1) {
      yardstick.push(await load(bare.base, { duration: SECONDS }));
      for (const [at, { base }] of services.entries()) {
        rates[at].push(await load(base + path, { duration: SECONDS }));
        times[at].push(((rates[at].at(-1) / yardstick.at(-1)) * BARE_THERE) / request.wordpress);
      }
    }
    const figures = services.flatMap((_, at) => [median(rates[at]), median(times[at])]);
    rows.push([
      title,
      request.name,
      String(request.wordpress),
      ...[median(yardstick), ...figures].map((figure) => String(Math.round(figure))),
    ]);
  }
  for (const one of [bare, ...services]) await one.stop();
  if (!flags.keep) for (const { remove } of sites.values()) await remove();
}

async function load(url, length) {
  const { requests, errors, non2xx, duration } = await autocannon({ url, connections: CLIENTS, ...length });
  if (errors + non2xx > 0) throw new Error(`${url}: ${errors + non2xx} requests failed`);
  return requests.total / duration;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
