#!/usr/bin/env node
/**
 * Script of `npm run bench`: measures the service on generated events, on SQLite and, if available, on MySQL or
 * MariaDB, compared with a bare Express app that sends the same bytes and a handwritten handler that runs the same SQL.
 * Prints a table and writes its section of docs/performance.md.
 *
 *   --events N      number of events to generate (20000)
 *   --seconds N     duration of each measurement (2)
 *   --rounds N      number of measurements; figures are their median (3)
 *   --clients N     number of simultaneous connections (8)
 *   --only TEXT     only scenarios whose name contains this; docs/performance.md is not changed then
 *   --database NAME only sqlite or mysql; docs/performance.md is not changed then
 *
 * TEST_MYSQL_URL names a server as in `npm test`, or is `off`. Without it, a private server is started if a server
 * program is installed.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { printedTable, requestsSection, writeSection } from './report.mjs';
import { scenarios, services } from './scenarios.mjs';
import { startBare, startRows, startService } from './service.mjs';
import { API, eachDatabase, findWords, requestOf, seed, traceQueries } from './site.mjs';

/** Number of requests before each scenario, for V8's compiler and the caches to warm up. */
const WARM_UP = 2000;
const STARTS = 3;
const MEMORY_EVERY_MS = 250;
/** Headers that belong to the connection and are not set by an app. */
const OF_THE_CONNECTION = ['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding'];

const { values: flags } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '8' },
    only: { type: 'string' },
    database: { type: 'string' },
  },
});
const [events, seconds, rounds, clients] = [flags.events, flags.seconds, flags.rounds, flags.clients].map(Number);

const [busy] = loadavg();
const folder = scratchFolder('fasti-bench');
let status = 1;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => leave(130));
try {
  const results = [];
  await eachDatabase({ folder, only: flags.database }, async ({ title }, provide) => {
    results.push(await measureDatabase(title, await provide(events)));
  });
  const run = { events, seconds, rounds, clients, load: busy };
  console.log(printedTable(results));
  if (flags.only === undefined && flags.database === undefined) writeSection('requests', requestsSection(results, run));
  status = 0;
} catch (error) {
  console.error(error);
}
leave(status);

/** Measures all scenarios on one database. */
async function measureDatabase(name, { env, remove }) {
  say(`${name}: generating ${events} events`);
  const { authorization, seedMs } = await seed(env, events);
  const started = [];
  for (const service of services) started.push(await startedService(service, { ...env, ...service.env }));
  const sampling = setInterval(() => {
    for (const { memory, process } of started) memory.load = Math.max(memory.load, process.memory());
  }, MEMORY_EVERY_MS);
  const { words, total } = await findWords(started[0].process.base);

  const figures = [];
  for (const scenario of scenarios.filter(({ name: own }) => own.includes(flags.only ?? ''))) {
    say(`${name}: ${scenario.name}`);
    const request = requestOf(scenario, words, authorization);
    const asked = started.filter((service) => scenario.services?.includes(service.name) ?? true);
    for (const figure of await measureScenario(asked, request)) figures.push({ scenario: scenario.name, ...figure });
  }
  clearInterval(sampling);
  for (const { process } of started) await process.stop();
  await remove();
  return { database: name, seedMs, total, figures, services: started };
}

/** Starts a service several times to measure its start, and leaves the last process running. */
async function startedService({ name }, env) {
  const path = `${API}/events`;
  let process = await startService(env, path);
  const starts = [process.startMs];
  while (starts.length < STARTS) {
    await process.stop();
    process = await startService(env, path);
    starts.push(process.startMs);
  }
  return { name, env, process, startMs: median(starts), memory: { start: process.memory(), load: 0 } };
}

/**
 * Measures the services in turns with the two apps that they are compared with, so that other work of the machine
 * affects all of them. Cached answers are not compared with SQL, nor are batches, because each of their records has its
 * own ID.
 */
async function measureScenario(asked, request) {
  const { sent, answer } = await sample(asked[0].process, request);
  const traces = [];
  for (const { env } of asked) traces.push(await traceQueries(env, request));
  const compared = asked.findIndex(({ env }) => request.writes === 1 && (env.CACHE === 'off' || sent.method !== 'GET'));
  const bare = await startBare(answer);
  const rows = compared < 0 ? undefined : await startRows(asked[compared].env, traces[compared]);
  const all = [bare, rows, ...asked.map(({ process }) => process)].filter(Boolean);
  for (const one of all) await load(one, sent, { amount: WARM_UP / request.writes });
  const loads = new Map(all.map((one) => [one, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const one of all) loads.get(one).push(await load(one, sent, { duration: seconds }));
  }
  await bare.stop();
  await rows?.stop();
  const figuresOf = (one) =>
    Object.fromEntries(['rate', 'cpu', 'p50', 'p99'].map((figure) => [figure, median(loads.get(one).map((load) => load[figure]))]));
  const of = { bare: figuresOf(bare), ...(rows ? { rows: figuresOf(rows) } : {}) };
  const bytes = Buffer.from(answer.body, 'base64').length;
  return asked.map(({ name, process }, at) => ({
    service: name,
    bytes,
    queries: traces[at].statements.length,
    own: figuresOf(process),
    bare: of.bare,
    rows: at === compared ? of.rows : undefined,
  }));
}

/** Returns the request as it is sent, and the service's answer to it, for the bare app to send. */
async function sample({ base }, { unchanged, ...request }) {
  const ask = async (sent) => {
    const { path, method, headers, body, status } = sent;
    const response = await fetch(base + path, {
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      ...(body ? { body: body.replaceAll('[<id>]', 'sample') } : {}),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== status) throw new Error(`${method} ${path} was answered with ${response.status}: ${bytes}`);
    return { response, bytes };
  };
  const known = unchanged ? (await ask({ ...request, status: 200 })).response.headers.get('etag') : undefined;
  const sent = known ? { ...request, headers: { ...request.headers, 'if-none-match': known } } : request;
  const { response, bytes } = await ask(sent);
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OF_THE_CONNECTION.includes(name)));
  return { sent, answer: { status: response.status, headers, body: bytes.toString('base64') } };
}

async function load({ base, cpu }, { path, method, headers, body, status: expected, clients: connections = clients }, length) {
  const before = cpu();
  const result = await autocannon({
    url: base + path,
    method,
    headers,
    ...(body ? { body, idReplacement: true } : {}),
    connections,
    ...length,
  });
  const sound = result.statusCodeStats?.[expected]?.count ?? 0;
  const others = result.requests.total - sound;
  if (others > 0 || result.errors > 0)
    throw new Error(`${method} ${path}: ${others} answers other than ${expected}, ${result.errors} errors`);
  const { total } = result.requests;
  return { rate: total / result.duration, cpu: (cpu() - before) / total, p50: result.latency.p50, p99: result.latency.p99 };
}

function leave(code) {
  process.exit(code);
}

function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function say(text) {
  process.stderr.write(`${text}\n`);
}
