#!/usr/bin/env node
/**
 * A database server that is absent when the service starts, and one whose connections are all in use.
 *
 *   --rounds N    number of starts without the server (10)
 *   --clients N   number of clients while no connection makes progress (60)
 *   --seconds N   duration (10)
 *
 * Without a server the process must be alive and report that it is not ready, and be ready two seconds after the server
 * has started. While another program locks a table, readers must get 503 after about a second, the liveness check must
 * be answered at once, and all requests must be answered again two seconds after the lock is released. MySQL or MariaDB
 * only.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fasti, startService } from '../bench/service.mjs';
import { API } from '../bench/site.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { connectTo, startPrivateMysql } from '../support/private-mysql.mjs';
import { until } from '../support/until.mjs';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    clients: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '10' },
  },
});
const LONGEST_MS = 2000;
/** Pause between two liveness checks. */
const HEALTH_EVERY_MS = 20;
const LOOK_MS = 10;

const folder = scratchFolder('fasti-crowded');
const missed = [];
let server = await start();
if (server.reason) {
  console.log(`Skipped: ${server.reason}`);
  process.exit(0);
}
const env = await newSite();
await comeLate();
await takeAll();
await server.stop();
for (const line of missed) console.log(`MISSED ${line}`);
process.exit(missed.length > 0 ? 1 : 0);

function start() {
  return startPrivateMysql(folder);
}

/** Through the socket, whose path is the same after each start of the server. */
async function newSite() {
  const root = await connectTo(server.socketUrl);
  await root.query('CREATE DATABASE fasti CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci');
  await root.end();
  const uploads = join(folder, 'uploads');
  mkdirSync(uploads);
  const address = new URL(server.socketUrl);
  address.pathname = '/fasti';
  const site = { DATABASE_URL: address.href, UPLOADS_DIR: uploads, SITE_URL: 'http://127.0.0.1', LOG_LEVEL: 'silent', CACHE: 'off' };
  fasti(['init', '--sample', '--url=http://127.0.0.1'], site);
  return site;
}

// ------------------------------------------------------------------------------------------------- no server
async function comeLate() {
  const gaps = [];
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    await server.stop();
    const service = await startService(env, '/health/live');
    const before = await ask(`${service.base}/health/ready`);
    if (before.status !== 503 || !before.json?.reason) missed.push(`without a server /health/ready says ${before.status} ${before.text}`);
    const list = await ask(`${service.base}${API}/events`);
    if (list.status !== 503) missed.push(`without a server a list is answered with ${list.status}`);
    server = await start();
    const there = performance.now();
    await until('readiness', async () => (await ask(`${service.base}/health/ready`)).status === 200, { pollMs: LOOK_MS });
    gaps.push(performance.now() - there);
    await service.stop();
  }
  gaps.sort((one, other) => one - other);
  const worst = gaps.at(-1);
  console.log(
    `Started ${gaps.length} times without a server: ready ${seconds(gaps[gaps.length >> 1])} (median), ${seconds(worst)} (worst) after it is there`,
  );
  if (worst > LONGEST_MS) missed.push(`ready only ${seconds(worst)} after the server is there`);
}

// ------------------------------------------------------------------------------------------------- no connection
async function takeAll() {
  const service = await startService(env, `${API}/events`);
  const idle = await healthFor(service, 1000 * Number(flags.seconds));
  const other = await connectTo(server.socketUrl);
  await other.query('USE fasti');
  await other.query('LOCK TABLES wp_posts WRITE');
  const answers = [];
  let over = false;
  const client = async () => {
    while (!over) {
      const answer = await timed(`${service.base}${API}/events?per_page=5`);
      answers.push(answer);
      // As clients do that follow Retry-After.
      await sleep(1000 * answer.after * (0.5 + Math.random()));
    }
  };
  const clients = Array.from({ length: Number(flags.clients) }, client);
  const crowded = await healthFor(service, 1000 * Number(flags.seconds));
  over = true;
  await other.query('UNLOCK TABLES');
  const free = performance.now();
  await until('a list', async () => (await ask(`${service.base}${API}/events?per_page=5`)).status === 200, { pollMs: LOOK_MS });
  const back = performance.now() - free;
  await Promise.all(clients);
  other.destroy();
  await service.stop();
  const refused = answers.filter(({ status }) => status === 503).map(({ ms }) => ms);
  const odd = answers.filter(({ status }) => status !== 503 && status !== 200);
  console.log(
    `A table locked for ${flags.seconds} s, ${flags.clients} clients: ${refused.length} answers of 503 after ${seconds(percentile(refused, 0.5))} (median), ` +
      `${seconds(percentile(refused, 0.99))} (p99); alive answered within ${percentile(crowded, 0.99).toFixed(0)} ms (p99) instead of ` +
      `${percentile(idle, 0.99).toFixed(0)}; a list again ${seconds(back)} after the lock was gone`,
  );
  if (refused.length === 0) missed.push('nobody was refused');
  if (odd.length > 0) missed.push(`${odd.length} other answers, such as ${odd[0].status}`);
  if (back > LONGEST_MS) missed.push(`a list only ${seconds(back)} after the lock was gone`);
}

/** The time of each answer to a liveness check, in milliseconds. */
async function healthFor({ base }, duration) {
  const times = [];
  for (const end = performance.now() + duration; performance.now() < end; await sleep(HEALTH_EVERY_MS)) {
    const { status, ms } = await timed(`${base}/health/live`);
    if (status !== 200) missed.push(`/health/live says ${status}`);
    times.push(ms);
  }
  return times;
}

async function timed(url) {
  const begun = performance.now();
  const { status, after } = await ask(url);
  return { status, after, ms: performance.now() - begun };
}

async function ask(url) {
  const response = await fetch(url);
  const text = await response.text();
  const after = Number(response.headers.get('retry-after') ?? 0);
  return { status: response.status, after, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
}

function percentile(times, share) {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
