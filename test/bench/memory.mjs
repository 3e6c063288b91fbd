#!/usr/bin/env node
/**
 * Script of `npm run bench:memory`: measures the benefit of the cache, as ratios within one run, with the log on.
 *
 * 1. Cached answers, compared with a bare `node:http` server and a bare Express app that send the same bytes and
 *    headers.
 * 2. Requests to many addresses (lists of events by day, single events) without writes, while titles of events are
 *    written, and while events are moved to other days. It measures rates, and the processor time of a write together
 *    with the answers recomputed after it, which does not depend on the other work of the machine.
 * 3. The default list recomputed after each write of an event (processor time; Linux), compared with `CACHE=off`.
 * 4. Lists that were never requested before, with cached records, compared with `CACHE=off`.
 *
 *   --events N      number of events to generate (20000)
 *   --seconds N     duration of each measurement (2)
 *   --rounds N      number of measurements; figures are their median (3)
 *   --addresses N   number of addresses in the second part (1000)
 *   --writes N      writes a second in the second part (5)
 *   --database NAME only sqlite or mysql; docs/performance.md is not changed then
 *   --part N        only this part; docs/performance.md is not changed then
 */
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { machine, markdown, writeSection } from './report.mjs';
import { startBare, startBareHttp, startService } from './service.mjs';
import { API, eachDatabase, seed } from './site.mjs';

const { values: flags } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    addresses: { type: 'string', default: '1000' },
    writes: { type: 'string', default: '5' },
    database: { type: 'string' },
    part: { type: 'string' },
  },
});
const [events, seconds, rounds, addresses, writes] = ['events', 'seconds', 'rounds', 'addresses', 'writes'].map((name) =>
  Number(flags[name]),
);
const CLIENTS = 8;
/** Number of lists recomputed, one after each write. Figures are the median of the second half, after V8's warm-up. */
const REMADE = 400;
/** Number of writes of each kind. All addresses are requested after each of them. */
const COUNTED = 15;
/** Number of lists at new addresses in each round. */
const FRESH = 2000;
const OF_THE_CONNECTION = ['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding'];
const LIST = `${API}/events`;

const [busy] = loadavg();
const folder = scratchFolder('fasti-bench');
const sections = [];
let titles = 0;
/** Bodies of writes to an event, by the name of the figure. */
const CHANGES = {
  titles: () => ({ title: `Changed ${titles}` }),
  dates: ({ start_date: start, end_date: end }) => {
    const days = (titles % 29) - 14;
    return { start_date: moved(start, days), end_date: moved(end, days) };
  },
};

const moved = (date, days) => new Date(Date.parse(`${date}Z`) + days * 86_400_000).toISOString().slice(0, 19).replace('T', ' ');
await eachDatabase({ folder, only: flags.database }, async ({ title }, provide) => {
  const { env, remove } = await provide(events);
  const { authorization } = await seed(env, events);
  const service = await startService({ ...env, LOG_LEVEL: 'info' }, LIST, join(folder, 'log'));
  const isAsked = (part) => flags.part === undefined || flags.part === part;
  const sent = isAsked('1') && (await besideBare(service));
  const many = isAsked('2') && (await manyAddresses(service, authorization));
  await service.stop();
  const made = isAsked('3') && (await remade(env, authorization));
  const fresh = isAsked('4') && (await freshLists(env));
  sections.push(section(title, { sent, many, made, fresh }));
  console.log(sections.at(-1));
  await remove();
});
if (flags.database === undefined && flags.part === undefined)
  writeSection('memory', `${machine(busy)}, ${events} events:\n\n${sections.join('\n\n')}`);
process.exit(0);

async function besideBare(service) {
  const rows = [];
  for (const [name, path, unchanged] of [
    ['default list', LIST, false],
    ['unchanged default list', LIST, true],
    ['default list, compressed', LIST, false],
  ]) {
    const asked = name.endsWith('compressed') ? { 'accept-encoding': 'gzip' } : { 'accept-encoding': 'identity' };
    const first = await exchange(service, path, asked);
    const headers = unchanged ? { ...asked, 'if-none-match': first.headers.etag } : asked;
    const answer = await exchange(service, path, headers);
    const all = { service, http: await startBareHttp(answer), express: await startBare(answer) };
    const loads = Object.fromEntries(Object.keys(all).map((key) => [key, []]));
    for (const one of Object.values(all)) await load(one, path, headers, { amount: 3000 });
    for (let round = 0; round < rounds; round += 1)
      for (const [key, one] of Object.entries(all)) loads[key].push(await load(one, path, headers, { duration: seconds }));
    await all.http.stop();
    await all.express.stop();
    const of = (key, figure) => median(loads[key].map((one) => one[figure]));
    rows.push([
      name,
      String(Buffer.from(answer.body, 'base64').length),
      of('service', 'rate').toFixed(0),
      ...['http', 'express'].map((key) => (of('service', 'rate') / of(key, 'rate')).toFixed(2)),
      (1000 * of('service', 'cpu')).toFixed(0),
      ...['http', 'express'].map((key) => (of(key, 'cpu') / of('service', 'cpu')).toFixed(2)),
    ]);
  }
  return rows;
}

/** Requests the same addresses with and without writes in turns. Half of them are lists by day and page size. */
async function manyAddresses(service, authorization) {
  const { ids, found } = await idsOf(service);
  const day = (number) => new Date(Date.now() + number * 86_400_000).toISOString().slice(0, 10);
  const lists = Array.from(
    { length: addresses / 2 },
    (_, number) => `${LIST}?start_date=${day(number % 365)}&per_page=${5 + (number % 7)}`,
  );
  const requests = [...lists, ...ids.slice(0, addresses - lists.length).map((id) => `${LIST}/${id}`)].map((path) => ({
    method: 'GET',
    path,
  }));
  const run = () => load(service, LIST, {}, { duration: seconds * 2, requests: shuffled(requests) });
  await run();
  const rates = { still: [], titles: [], dates: [] };
  let number = 0;
  // Every 37th event, so that the writes are spread over the addresses.
  const change = (what) => {
    const event = found[(37 * number++) % found.length];
    return write(service, authorization, event.id, CHANGES[what](event));
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const what of Object.keys(CHANGES)) {
      await run();
      rates.still.push((await run()).rate);
      const pending = [];
      const writer = setInterval(() => pending.push(change(what)), 1000 / writes);
      rates[what].push((await run()).rate);
      clearInterval(writer);
      await Promise.all(pending);
    }
  }
  const paths = requests.map(({ path }) => path);
  const costs = await costOfWrites(service, paths, change);
  return {
    still: median(rates.still),
    changes: Object.keys(CHANGES).map((what) => ({ what, rate: median(rates[what]), ...costs[what] })),
  };
}

/**
 * Returns the processor time of a write together with the answers recomputed when every address is requested after it,
 * in milliseconds, and the number of these answers.
 */
async function costOfWrites(service, paths, change) {
  const log = join(folder, 'log');
  const costs = Object.fromEntries(Object.keys(CHANGES).map((what) => [what, { cost: [], anew: [] }]));
  const spentBy = async (work) => {
    const before = nanoseconds(service.pid);
    await work();
    return (nanoseconds(service.pid) - before) / 1e6;
  };
  const askAll = () => askOnce(service, paths);
  await askAll();
  for (let round = 0; round < COUNTED; round += 1)
    for (const [what, { cost, anew }] of Object.entries(costs)) {
      const still = await spentBy(askAll);
      const misses = missesIn(log);
      const spent = await spentBy(async () => {
        await change(what);
        await askAll();
      });
      cost.push(spent - still);
      anew.push(missesIn(log) - misses);
    }
  return Object.fromEntries(Object.entries(costs).map(([what, { cost, anew }]) => [what, { cost: median(cost), anew: median(anew) }]));
}

/** Requests each of these paths once, several at a time. */
async function askOnce({ base }, paths) {
  const left = [...paths];
  const asking = async () => {
    for (let path = left.pop(); path !== undefined; path = left.pop()) await (await fetch(base + path)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: CLIENTS }, asking));
}

function missesIn(log) {
  return readFileSync(log, 'utf8').split('"memory":"miss"').length - 1;
}

/** Returns the processor time of the default list right after a write to one of its events, in milliseconds. */
async function remade(env, authorization) {
  const times = {};
  const services = {};
  for (const cache of ['on', 'off']) {
    services[cache] = await startService({ ...env, CACHE: cache, LOG_LEVEL: 'info' }, LIST, join(folder, `log-${cache}`));
    times[cache] = [];
  }
  const { ids } = await idsOf(services.on);
  for (let number = 0; number < REMADE; number += 1)
    for (const [cache, service] of Object.entries(services)) {
      await write(service, authorization, ids[number % 5]);
      const before = nanoseconds(service.pid);
      await exchange(service, LIST, {});
      times[cache].push((nanoseconds(service.pid) - before) / 1e6);
    }
  for (const service of Object.values(services)) await service.stop();
  return { on: median(times.on.slice(REMADE / 2)), off: median(times.off.slice(REMADE / 2)) };
}

/** Returns the processor time of a list of the same records at a new address, in milliseconds. */
async function freshLists(env) {
  const services = {};
  const loads = {};
  for (const cache of ['on', 'off']) {
    services[cache] = await startService({ ...env, CACHE: cache, LOG_LEVEL: 'info' }, LIST, join(folder, `log-fresh-${cache}`));
    loads[cache] = [];
  }
  let second = Math.floor(Date.now() / 1000) - 10 * 86_400;
  const unasked = () => {
    second += 1;
    const start = new Date(1000 * second).toISOString().slice(0, 19).replace('T', ' ');
    return `${LIST}?start_date=${encodeURIComponent(start)}`;
  };
  // With a fixed list, each client would start at its beginning, and most addresses would be requested several times.
  const requests = [{ setupRequest: (request) => ({ ...request, path: unasked() }) }];
  for (let round = 0; round <= rounds; round += 1)
    for (const [cache, service] of Object.entries(services)) loads[cache].push(await load(service, LIST, {}, { amount: FRESH, requests }));
  for (const service of Object.values(services)) await service.stop();
  return Object.fromEntries(Object.entries(loads).map(([cache, some]) => [cache, median(some.slice(1).map(({ cpu }) => cpu))]));
}

/** Returns the processor time of a process, in nanoseconds (Linux). */
function nanoseconds(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]), 0);
}

async function idsOf({ base }) {
  const found = [];
  for (let page = 1; found.length < addresses && page < 40; page += 1) {
    const answer = await fetch(`${base}${LIST}?per_page=50&page=${page}`);
    if (!answer.ok) break;
    found.push(...(await answer.json()).events);
  }
  return { ids: found.map(({ id }) => id), found };
}

async function write({ base }, authorization, id, change = CHANGES.titles()) {
  titles += 1;
  const response = await fetch(`${base}${LIST}/${id}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(change),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`a write was answered with ${response.status}`);
}

async function exchange({ base }, path, headers) {
  const { get } = await import('node:http');
  return new Promise((resolve, reject) => {
    get(base + path, { headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const kept = Object.entries(response.headers).filter(([name]) => !OF_THE_CONNECTION.includes(name));
        resolve({ status: response.statusCode, headers: Object.fromEntries(kept), body: Buffer.concat(chunks).toString('base64') });
      });
    }).on('error', reject);
  });
}

async function load({ base, cpu }, path, headers, options) {
  const before = cpu();
  const result = await autocannon({ url: base + path, headers, connections: CLIENTS, ...options });
  if (result.non2xx > 0 && result.statusCodeStats?.[304] === undefined) throw new Error(`${path}: ${result.non2xx} refusals`);
  const { total } = result.requests;
  return { rate: total / result.duration, cpu: (cpu() - before) / total };
}

function section(name, { sent, many, made, fresh }) {
  const columns = [
    'request',
    'bytes',
    'requests/s',
    'rate / bare node:http',
    'rate / bare Express',
    'CPU µs',
    'CPU: bare node:http / service',
    'CPU: bare Express / service',
  ];
  return [
    `**${name}**`,
    ...(sent ? [markdown(columns, sent, 1)] : []),
    ...(many ? [besideWrites(many)] : []),
    ...(made
      ? [
          `The default list right after a write to one of its events takes ${made.on.toFixed(2)} ms of processor time; with \`CACHE=off\`, which loads all records, ${made.off.toFixed(2)} ms.`,
        ]
      : []),
    ...(fresh
      ? [
          `Lists at new addresses, with cached records, take ${fresh.on.toFixed(2)} ms of processor time each; with \`CACHE=off\`, ${fresh.off.toFixed(2)} ms.`,
        ]
      : []),
  ].join('\n\n');
}

function besideWrites({ still, changes }) {
  const columns = [
    `${writes} writes a second to`,
    'requests/s',
    'rate / without writes',
    'answers recomputed after a write',
    'CPU ms of a write and recomputing',
    'share of a processor',
  ];
  const rows = changes.map(({ what, rate, cost, anew }) => [
    what,
    rate.toFixed(0),
    (rate / still).toFixed(2),
    String(anew),
    cost.toFixed(1),
    ((cost * writes) / 1000).toFixed(2),
  ]);
  return `${addresses} addresses, ${still.toFixed(0)} requests a second without writes:\n\n${markdown(columns, rows, 1)}`;
}

function shuffled(list) {
  return list
    .map((one, at) => [(at * 7919) % list.length, one])
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

function median(values) {
  return [...values].sort((one, other) => one - other)[values.length >> 1];
}
