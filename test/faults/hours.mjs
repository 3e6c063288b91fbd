/**
 * A mixed load for a long time, during which the memory and the open descriptors of the service are measured.
 *
 *   --minutes N      duration, on each database (45)
 *   --clients N      that read (2)
 *   --pause N        milliseconds between two requests of a client (20)
 *   --events N       number of events besides those of the sample (2000)
 *   --cache N        megabytes for answers; so few that they are full after minutes (6)
 *   --snapshots PATH two snapshots of the heap, once it is full and at the end, at paths that begin with this one
 *   --database NAME  only sqlite or mysql
 *
 * Memory must not grow once all caches are full. The heap is measured after a garbage collection, and without the code
 * that V8 compiled. The line through it after the first four ninths (the last 25 of 45 minutes) may rise by 1 MB an
 * hour, that of descriptors by 1. Resident memory is printed, too, but includes memory that the allocator keeps. Of
 * fewer than 30 minutes the figures are printed, but not judged: such a short line rises by chance.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startService } from '../bench/service.mjs';
import { eachDatabase, findWords, seed } from '../bench/site.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { until } from '../support/until.mjs';
import { API, newWriteLog, writeContinuously } from '../support/writing.mjs';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '45' },
    clients: { type: 'string', default: '2' },
    pause: { type: 'string', default: '20' },
    cache: { type: 'string', default: '6' },
    snapshots: { type: 'string' },
    events: { type: 'string', default: '2000' },
    database: { type: 'string' },
  },
});
const MINUTES = Number(flags.minutes);
const LOOK_MS = 10_000;
/** Number of different reasons of failures that are printed. */
const REASONS = 5;
/** Two writes a second, so that the cache is invalidated again and again. */
const WRITE_EVERY_MS = 500;
const HIGHEST_SLOPE = { heap: 1, descriptors: 1 };
const JUDGED_MINUTES = 30;
/** Until then all caches fill up. */
const FILLING = 4 / 9;
/** Number of new records that are kept: a growing calendar takes more memory by itself. */
const KEPT_RECORDS = 100;
/** Titles are repeated after this many: a new name each time would be cached like any other text. */
const NAMES = 500;
/** Number of different URLs that are cached, whether or not they exist. */
const ADDRESSES = 22_000;
/**
 * Number of different search words, and of lengths and pages of lists. All of them are requested once before the
 * measurement: by chance alone it would take hours to request each of them, and each is cached.
 */
const WORDS = 5000;
const SHORTEST_PAGE = 5;
const LENGTHS = 20;
const PAGES = 200;
const HEAP = new URL('../support/heap.mjs', import.meta.url).href;

const folder = scratchFolder('fasti-hours');
const missed = [];
await eachDatabase({ folder, kept: false, only: flags.database }, measure);
for (const line of missed) console.log(`MISSED ${line}`);
process.exit(missed.length > 0 ? 1 : 0);

async function measure({ title }, provide) {
  const { env, remove } = await provide(Number(flags.events));
  mkdirSync(env.UPLOADS_DIR, { recursive: true });
  const { authorization } = await seed(env, flags.events);
  const told = join(folder, `heap-${title.split(' ')[0]}`);
  const service = await startService(
    {
      ...env,
      LOG_LEVEL: 'warn',
      SITE_URL: 'http://127.0.0.1',
      CACHE_MB: flags.cache,
      HEAP_TOLD: told,
      // A snapshot takes so long that the watchdog would end the process.
      ...(flags.snapshots === undefined ? {} : { WATCHDOG_SECONDS: '0' }),
      NODE_OPTIONS: `--import ${HEAP}`,
    },
    `${API}/events`,
  );
  try {
    await endure(title, { ...service, told }, authorization);
  } finally {
    await service.stop();
    await remove();
  }
}

async function endure(title, service, authorization) {
  const { words } = await findWords(service.base);
  await fillAddresses(service);
  const record = newWriteLog();
  const counts = { reads: 0, failed: 0, reasons: [] };
  const until = performance.now() + MINUTES * 60_000;
  let isGone = false;
  const stopped = () => isGone || performance.now() > until;
  const looks = [];
  const looking = setInterval(() => {
    try {
      looks.push(lookAt(service));
    } catch (error) {
      isGone = true;
      missed.push(`${title}: the service is gone (${error.message})`);
      clearInterval(looking);
    }
  }, LOOK_MS);
  if (flags.snapshots !== undefined) void takeSnapshots(service, until);
  const readers = Array.from({ length: Number(flags.clients) }, (_, number) =>
    keepReading({ ...service, words, authorization, counts, stopped, number }),
  );
  const writer = writeContinuously({
    base: service.base,
    authorization,
    record,
    stopped,
    label: 'Hour',
    slow: WRITE_EVERY_MS,
    keep: KEPT_RECORDS,
    names: NAMES,
  });
  await Promise.all([...readers, writer]);
  clearInterval(looking);
  await sleep(LOOK_MS);
  const heaps = heapsOf(service);
  const late = (all) => all.slice(Math.floor(all.length * FILLING));
  const slopes = {
    heap: slopeOf(late(heaps), 'heap'),
    code: slopeOf(late(heaps), 'code'),
    resident: slopeOf(late(looks), 'resident'),
    descriptors: slopeOf(late(looks), 'descriptors'),
  };
  const ends = (all, what) => `${late(all)[0][what].toFixed(0)} and ${all.at(-1)[what].toFixed(0)}`;
  const failed = counts.failed + record.wrong.length;
  console.log(
    `${title}: ${MINUTES} minutes, ${counts.reads} reads and ${record.acks.length} writes, ${failed} failed, ${service.cpu() / 1000} s of processor time. From minute ${(MINUTES * FILLING).toFixed(0)}, at its begin and end: heap without compiled code ${ends(heaps, 'heap')} MB, ${told(slopes.heap)}; compiled code ${ends(heaps, 'code')} MB, ${told(slopes.code)}; resident memory ${ends(looks, 'resident')} MB, ${told(slopes.resident)}; descriptors ${ends(looks, 'descriptors')}, ${told(slopes.descriptors)}${MINUTES < JUDGED_MINUTES ? ' (too short to judge)' : ''}`,
  );
  if (failed > 0)
    missed.push(`${title}: ${failed} requests failed, ${[...new Set([...counts.reasons, ...record.wrong])].slice(0, REASONS).join('; ')}`);
  if (MINUTES < JUDGED_MINUTES) return;
  for (const [what, highest] of Object.entries(HIGHEST_SLOPE))
    if (slopes[what].rise > highest) missed.push(`${title}: ${what} rises by ${told(slopes[what])}`);
}

async function fillAddresses({ base }) {
  const paths = [
    ...numbered(ADDRESSES, (number) => `/events/${1_000_000 + number}`),
    ...numbered(WORDS, searchPath),
    ...numbered(LENGTHS * PAGES, (number) => windowPath(number % LENGTHS, Math.floor(number / LENGTHS))),
  ];
  let next = 0;
  const ask = async () => {
    for (let path = paths[next++]; path !== undefined; path = paths[next++]) await (await fetch(base + API + path)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 4 }, ask));
}

function numbered(count, path) {
  return Array.from({ length: count }, (_, number) => path(number));
}

function searchPath(number) {
  return `/events?search=${number.toString(36)}`;
}

function windowPath(length, page) {
  return `/events?start_date=2026-01-01&page=${1 + page}&per_page=${SHORTEST_PAGE + length}`;
}

function below(most) {
  return Math.floor(Math.random() * most);
}

async function takeSnapshots({ pid, told }, end) {
  for (const [number, before] of [MINUTES * (1 - FILLING), 0.5].entries()) {
    await sleep(end - performance.now() - before * 60_000);
    process.kill(pid, 'SIGUSR1');
    const file = `${told}.${number + 1}.heapsnapshot`;
    await until('a snapshot', () => existsSync(file));
    copyFileSync(file, `${flags.snapshots}.${number + 1}.heapsnapshot`);
  }
}

/** Lists, records, terms, searches, feeds and missing files, for anonymous callers and for a signed-in user. */
async function keepReading({ base, words, authorization, counts, stopped, number }) {
  const paths = [
    () => `${API}/events?page=${1 + below(100)}`,
    () => `${API}/events?categories=${words.category}&per_page=50`,
    () => `${API}/events/${words.event}`,
    () => API + searchPath(below(WORDS)),
    () => API + windowPath(below(LENGTHS), below(PAGES)),
    () => `${API}/changes?include=records`,
    () => `${API}/venues?per_page=50`,
    () => `${API}/organizers`,
    () => `${API}/categories`,
    () => '/events/feed/',
    () => '/events/?ical=1',
    () => `/wp-json/wp/v2/media?per_page=5`,
    () => `${API}/doc`,
    () => `${API}/events/99999999`,
  ];
  for (let turn = number; !stopped(); turn += 1) {
    const signedIn = turn % 5 === 0;
    const status = await fetch(base + paths[turn % paths.length](), { headers: signedIn ? { authorization } : {} }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      (error) => {
        counts.reasons.push(error.cause?.code ?? error.message);
        return 0;
      },
    );
    counts.reads += 1;
    if (status === 0 || status >= 500) counts.failed += 1;
    await sleep(Number(flags.pause));
  }
}

/** Resident memory and open descriptors of a process, from Linux; also makes the process report on its heap. */
function lookAt({ pid }) {
  process.kill(pid, 'SIGUSR2');
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return { hours: performance.now() / 3_600_000, resident: kilobytes / 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/**
 * The report of the service on its heap: its own memory, and external memory that it holds. Compiled code is separate:
 * V8 compiles another function now and then for hours.
 */
function heapsOf({ told }) {
  const lines = readFileSync(told, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { at, heapUsed, code, external } = JSON.parse(line);
    return { hours: at / 3_600_000, heap: (heapUsed - code + external) / 1024 / 1024, code: code / 1024 / 1024 };
  });
}

/**
 * The rise of the best-fitting straight line in an hour, and the part of it that may be chance (the standard error).
 */
function slopeOf(looks, what) {
  const mean = (name) => looks.reduce((sum, look) => sum + look[name], 0) / looks.length;
  const [middle, usual] = [mean('hours'), mean(what)];
  const sum = (term) => looks.reduce((total, look) => total + term(look), 0);
  const spread = sum(({ hours }) => (hours - middle) ** 2);
  const rise = sum((look) => (look.hours - middle) * (look[what] - usual)) / spread;
  const rest = sum((look) => (look[what] - usual - rise * (look.hours - middle)) ** 2);
  return { rise, error: Math.sqrt(rest / (looks.length - 2) / spread) };
}

function told({ rise, error }) {
  return `${rise.toFixed(1)} ± ${error.toFixed(1)} an hour`;
}
