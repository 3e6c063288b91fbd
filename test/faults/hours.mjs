/**
 * A mixed load for a long time, while the memory of the service and the descriptors that it holds are looked at.
 *
 *   --minutes N      how long, on each database (45)
 *   --clients N      that read (4)
 *   --events N       how many events there are besides those of the sample (2000)
 *   --database NAME  only sqlite or mysql
 *
 * Both must stay flat once the memory of answers is full: the line through what is seen after the first third may rise
 * by 1 MB and 1 descriptor an hour. Of fewer than 30 minutes the figures are printed, and not judged: so short a line
 * rises or falls by chance.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startService } from '../bench/service.mjs';
import { eachDatabase, findWords, seed } from '../bench/site.mjs';
import { API, keepWriting, newRecord } from '../support/writing.mjs';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '45' },
    clients: { type: 'string', default: '4' },
    events: { type: 'string', default: '2000' },
    database: { type: 'string' },
  },
});
const MINUTES = Number(flags.minutes);
const LOOK_MS = 1000;
/** Two writes a second: what is remembered is forgotten again and again. */
const WRITE_EVERY_MS = 500;
const HIGHEST_SLOPE = { megabytes: 1, descriptors: 1 };
const JUDGED_MINUTES = 30;
/** How many new records stay: a calendar that grows takes more memory by itself. */
const KEPT_RECORDS = 100;
/** So few answers are kept that the memory for them is full before the first third is over. */
const CACHE_MB = 16;

const folder = mkdtempSync(join(tmpdir(), 'fasti-hours-'));
const missed = [];
try {
  await eachDatabase({ folder, kept: false, only: flags.database }, measure);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const line of missed) console.log(`MISSED ${line}`);
process.exit(missed.length > 0 ? 1 : 0);

async function measure({ title }, provide) {
  const { env, remove } = await provide(Number(flags.events));
  mkdirSync(env.UPLOADS_DIR, { recursive: true });
  const { authorization } = seed(env, flags.events);
  const service = await startService(
    { ...env, LOG_LEVEL: 'warn', SITE_URL: 'http://127.0.0.1', CACHE_MB: String(CACHE_MB) },
    `${API}/events`,
  );
  try {
    await endure(title, service, authorization);
  } finally {
    await service.stop();
    await remove();
  }
}

async function endure(title, service, authorization) {
  const { words } = await findWords(service.base);
  const record = newRecord();
  const counts = { reads: 0, failed: 0 };
  const until = performance.now() + MINUTES * 60_000;
  const stopped = () => performance.now() > until;
  const looks = [];
  const looking = setInterval(() => looks.push(lookAt(service.pid)), LOOK_MS);
  const readers = Array.from({ length: Number(flags.clients) }, (_, number) =>
    keepReading({ ...service, words, authorization, counts, stopped, number }),
  );
  const writer = keepWriting({
    base: service.base,
    authorization,
    record,
    stopped,
    label: 'Hour',
    slow: WRITE_EVERY_MS,
    keep: KEPT_RECORDS,
  });
  await Promise.all([...readers, writer]);
  clearInterval(looking);
  const late = looks.slice(Math.floor(looks.length / 3));
  const slopes = Object.fromEntries(Object.keys(HIGHEST_SLOPE).map((what) => [what, slopeOf(late, what)]));
  const highest = Math.max(...looks.map(({ megabytes }) => megabytes));
  const [first, last] = [late[0], late.at(-1)];
  console.log(
    `${title}: ${MINUTES} minutes, ${counts.reads} reads and ${record.acks.length} writes, ${counts.failed + record.wrong.length} failed. Resident memory: ${Math.round(highest)} MB at most, ${Math.round(first.megabytes)} MB after a third, ${Math.round(last.megabytes)} MB at the end, ${slopes.megabytes.toFixed(1)} MB an hour; descriptors: ${first.descriptors} and ${last.descriptors}, ${slopes.descriptors.toFixed(1)} an hour${MINUTES < JUDGED_MINUTES ? ' (too short to judge)' : ''}`,
  );
  if (counts.failed + record.wrong.length > 0)
    missed.push(`${title}: ${counts.failed + record.wrong.length} requests failed, ${record.wrong[0] ?? ''}`);
  if (MINUTES < JUDGED_MINUTES) return;
  for (const [what, highest] of Object.entries(HIGHEST_SLOPE))
    if (slopes[what] > highest) missed.push(`${title}: ${what} rise by ${slopes[what].toFixed(1)} an hour`);
}

/** Lists, records, terms, searches, feeds and files that are not there, for anybody and for somebody who signed in. */
async function keepReading({ base, words, authorization, counts, stopped, number }) {
  const paths = [
    () => `${API}/events?page=${1 + Math.floor(Math.random() * 100)}`,
    () => `${API}/events?categories=${words.category}&per_page=50`,
    () => `${API}/events/${words.event}`,
    () => `${API}/events?search=${Math.random().toString(36).slice(2, 5)}`,
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
      () => 0,
    );
    counts.reads += 1;
    if (status === 0 || status >= 500) counts.failed += 1;
    await sleep(0);
  }
}

/** Resident memory and open descriptors of a process, by what Linux tells of it. */
function lookAt(pid) {
  const resident = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return { hours: performance.now() / 3_600_000, megabytes: resident / 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** How much the straight line that fits best rises in an hour. */
function slopeOf(looks, what) {
  const mean = (name) => looks.reduce((sum, look) => sum + look[name], 0) / looks.length;
  const [middle, usual] = [mean('hours'), mean(what)];
  const sum = (term) => looks.reduce((total, look) => total + term(look), 0);
  return sum((look) => (look.hours - middle) * (look[what] - usual)) / sum(({ hours }) => (hours - middle) ** 2);
}
