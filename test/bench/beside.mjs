#!/usr/bin/env node
/**
 * Script of `npm run bench:beside`: measures lists of events while a WordPress writes to the same database (MySQL or
 * MariaDB). Two processes without a cache serve the database: one follows WordPress's writes, the other reads the list
 * index only and ignores WordPress. The default list is requested from them in turns. The writer sends the statements
 * of WordPress when a user edits an event: the editor's lock, a revision, the post, its metas, and the lock again. Each
 * statement commits by itself.
 *
 * Rates depend on the other work of the machine, the processor time of a list less so. The processor time of the
 * database server is reported too, because contents are compared there.
 *
 *   --minutes N      duration of the whole measurement (10)
 *   --every N        seconds between two saves (10)
 *   --events N       number of events to generate (20000)
 *   --keep FOLDER    folder in which the site is kept for the next run
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { connectTo } from '../support/private-mysql.mjs';
import { machine, markdown, writeSection } from './report.mjs';
import { cpuMs, startService } from './service.mjs';
import { API, eachDatabase, seedOnce } from './site.mjs';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    every: { type: 'string', default: '10' },
    events: { type: 'string', default: '20000' },
    keep: { type: 'string' },
  },
});
const [minutes, every, events] = ['minutes', 'every', 'events'].map((name) => Number(flags[name]));
const CLIENTS = 4;
/** Number of saves in one turn. A process notices saves of the other's turn only at the beginning of its own. */
const SAVES = 6;
const WARM_UP_SECONDS = 5;
const LIST = `${API}/events`;
/** Number of consecutive checks that must find the index in use before the measurement begins. */
const LOOKS = 5;
const TOKEN = randomUUID();
/**
 * Settings of both processes: no cache, and no languages. A process that expects a WordPress ignores the languages of
 * the sample calendar, because their plugin is not active, and one index cannot serve both cases.
 */
const ALIKE = { CACHE: 'off', CONTENT_LANGUAGES: 'off' };
const SERVICES = {
  'beside the writer': { ...ALIKE, SHARED_WITH_WORDPRESS: 'on', FOLLOW_WORDPRESS: 'on' },
  'the index alone': { ...ALIKE, SHARED_WITH_WORDPRESS: 'off' },
};

const [busy] = loadavg();
const temporary = scratchFolder('fasti-beside');
try {
  await eachDatabase(
    { folder: flags.keep ?? temporary, kept: flags.keep !== undefined, only: 'mysql' },
    async ({ title, pid }, provide) => {
      const { env, remove } = await provide(events);
      await seedOnce(env, events);
      const section = await measure(title, env, pid);
      console.log(section);
      if (minutes >= 3) writeSection('beside', section);
      if (flags.keep === undefined) await remove();
    },
  );
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

async function measure(title, env, serverPid) {
  const writer = await writerTo(env.DATABASE_URL);
  const services = {};
  for (const [name, settings] of Object.entries(SERVICES)) {
    services[name] = await startService({ ...env, ...settings, LOG_LEVEL: 'warn', METRICS_TOKEN: TOKEN }, LIST);
  }
  // With SHARED_WITH_WORDPRESS, the index and the prints of all objects are rebuilt first.
  for (const { base } of Object.values(services)) await indexInUse(base);
  for (const { base } of Object.values(services)) await load(base, WARM_UP_SECONDS);
  writer.start();
  const found = Object.fromEntries(Object.keys(services).map((name) => [name, { rates: [], own: 0, server: 0, requests: 0 }]));
  const until = performance.now() + minutes * 60_000;
  while (performance.now() < until)
    for (const [name, service] of Object.entries(services)) {
      const [own, server] = [service.cpu(), cpuMs(serverPid)];
      const { rate, requests } = await load(service.base, SAVES * every);
      const figures = found[name];
      figures.rates.push(rate);
      figures.requests += requests;
      figures.own += service.cpu() - own;
      figures.server += cpuMs(serverPid) - server;
    }
  const saves = await writer.stop();
  for (const service of Object.values(services)) await service.stop();
  return sectionOf(title, found, saves);
}

function sectionOf(title, found, saves) {
  const [beside, alone] = Object.values(found);
  const rows = Object.entries(found).map(([name, { rates, own, server, requests }]) => [
    name,
    median(rates).toFixed(0),
    (own / requests).toFixed(2),
    (server / requests).toFixed(2),
  ]);
  const ratios = beside.rates.map((rate, turn) => rate / alone.rates[turn]);
  const cpu = (figures) => (figures.own + figures.server) / figures.requests;
  return [
    `**${title}**, ${machine(busy)}, ${events} events, ${CLIENTS} clients, ${minutes} minutes, ${saves} saves, ${beside.rates.length} turns of ${SAVES * every} seconds each:`,
    markdown(['default list', 'requests/s', 'CPU ms of the process', 'CPU ms of the database server'], rows, 1),
    `Beside the writer: ${median(ratios).toFixed(2)} of the rate with the index alone (median of the turns), and ${(cpu(alone) / cpu(beside)).toFixed(2)} by processor time, including all work to follow WordPress.`,
  ].join('\n\n');
}

/** Requests lists until they are read from the index several times in a row. */
async function indexInUse(base) {
  for (let looks = 0; looks < LOOKS; ) {
    await load(base, 1);
    const response = await fetch(`${base}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    if (!response.ok) throw new Error(`${base}/metrics: ${response.status}`);
    looks = /^fasti_index_in_use(\{.*\})? 1$/m.test(await response.text()) ? looks + 1 : 0;
  }
}

async function load(base, duration) {
  const { requests, errors, non2xx, duration: seconds } = await autocannon({ url: base + LIST, connections: CLIENTS, duration });
  if (errors + non2xx > 0) throw new Error(`${base}: ${errors + non2xx} requests failed`);
  return { rate: requests.total / seconds, requests: requests.total };
}

/** Returns a writer that saves events as WordPress does, one after the other. */
async function writerTo(address) {
  const connection = await connectTo(address, { database: new URL(address).pathname.slice(1) });
  const [ids] = await connection.query(
    "SELECT ID AS id FROM wp_posts WHERE post_type = 'tribe_events' AND post_status = 'publish' ORDER BY ID",
  );
  let [saves, pending, timer] = [0, Promise.resolve(), undefined];
  const save = () => {
    const { id } = ids[(saves * 7919) % ids.length];
    saves += 1;
    pending = pending.then(() => saveEvent(connection, id, saves));
  };
  return {
    start: () => {
      timer = setInterval(save, every * 1000);
    },
    stop: async () => {
      clearInterval(timer);
      await pending;
      await connection.end();
      return saves;
    },
  };
}

async function saveEvent(connection, id, number) {
  const meta = (key, value) =>
    connection.query('UPDATE wp_postmeta SET meta_value = ? WHERE post_id = ? AND meta_key = ?', [value, id, key]);
  const lock = async () => {
    await connection.query("DELETE FROM wp_postmeta WHERE post_id = ? AND meta_key = '_edit_lock'", [id]);
    await connection.query("INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (?, '_edit_lock', ?)", [id, `${Date.now()}:1`]);
  };
  await lock();
  await connection.query(
    'UPDATE wp_posts SET post_title = ?, post_modified = UTC_TIMESTAMP(), post_modified_gmt = UTC_TIMESTAMP() WHERE ID = ?',
    [`Saved ${number}`, id],
  );
  await connection.query(
    `INSERT INTO wp_posts (post_author, post_date, post_date_gmt, post_content, post_title, post_excerpt, post_status, post_name, to_ping, pinged,
       post_modified, post_modified_gmt, post_content_filtered, post_parent, guid, post_type)
     SELECT post_author, post_modified, post_modified_gmt, post_content, post_title, post_excerpt, 'inherit', CONCAT(ID, '-revision-v1'), '', '',
       post_modified, post_modified_gmt, '', ID, '', 'revision' FROM wp_posts WHERE ID = ?`,
    [id],
  );
  await meta('_EventURL', `https://example.org/${number}`);
  await meta('_EventCost', String(number));
  await connection.query("UPDATE wp_options SET option_value = ? WHERE option_name = 'tribe_last_save_post'", [String(Date.now() / 1000)]);
  await lock();
}

function median(values) {
  return values.toSorted((one, other) => one - other)[values.length >> 1];
}
