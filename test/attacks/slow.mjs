/**
 * Slow clients: slowhttptest holds a thousand connections by slow headers, bodies or reading, while other clients must
 * get their answers.
 *
 *   npm run attacks -- slow                    all four, 75 s each
 *   npm run attacks -- slow body --seconds 30  one of `headers`, `body`, `read` and `download`
 *
 * slowhttptest is a package of Debian: apt-get install slowhttptest
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { killOnExit } from '../support/leave-nothing.mjs';
import { withTarget } from './_target.mjs';

const EVENTS = '/wp-json/tribe/events/v1/events';
const CONNECTIONS = '1000';
/**
 * Limits: the share of the good clients' requests that must be answered, and the memory that the attack may add to the
 * process.
 */
const LEAST_ANSWERED = 0.999;
const MOST_MEGABYTES = 100;
/** The same for downloads, each of which holds a few chunks of its file. */
const MOST_MEGABYTES_OF_DOWNLOADS = 180;
/** A slower answer counts as missing. */
const PATIENCE_MS = 5000;
/** Pause between two requests of a good client. */
const PAUSE_MS = 20;

/** Name and length in bytes of a file in the library that is too long for the buffers of a connection. */
const UPLOAD = 'poster.jpg';
const UPLOAD_BYTES = 20 * 2 ** 20;
const SLOW_READING = ['-X', '-n', '5', '-z', '32', '-w', '512', '-y', '1024'];

/**
 * Arguments of slowhttptest: this many connections at 100 a second, each of which sends or reads a little every few
 * seconds.
 */
const ATTACKS = {
  headers: () => ['-H', '-i', '5', '-x', '24', '-t', 'GET', '-u', EVENTS],
  body: () => ['-B', '-i', '5', '-x', '10', '-s', '60000', '-t', 'POST', '-f', 'application/json', '-u', EVENTS],
  read: () => [...SLOW_READING, '-k', '3', '-u', `${EVENTS}?per_page=50`],
  download: () => [...SLOW_READING, '-u', `/wp-content/uploads/${UPLOAD}`],
};

const { values, positionals } = parseArgs({ allowPositionals: true, options: { seconds: { type: 'string', default: '75' } } });
const chosen = positionals.length > 0 ? positionals : Object.keys(ATTACKS);
if (spawnSync('slowhttptest', ['-h']).error) {
  console.error('slowhttptest is missing; Debian and Ubuntu have it: apt-get install slowhttptest');
  process.exit(2);
}

const missed = [];
console.log('attack    requests  answered      p50      p99   slowest  memory added');
for (const name of chosen) await withTarget((target) => measure(target, name, Number(values.seconds)), {}, 1000);
if (missed.length > 0) console.log(`Missed (${LEAST_ANSWERED * 100} % answered): ${missed.join(', ')}`);
process.exitCode = missed.length > 0 ? 1 : 0;

async function measure(target, name, seconds) {
  mkdirSync(target.uploads, { recursive: true });
  writeFileSync(join(target.uploads, UPLOAD), Buffer.alloc(UPLOAD_BYTES));
  await Promise.all(goodClients(target, performance.now() + 3000));
  const before = target.memory();
  target.peak.reset();
  const attack = attackWith(name, target, seconds);
  // Only answers during the time in which the connections are held count.
  await sleep(11_000);
  const times = (await Promise.all(goodClients(target, performance.now() + (seconds - 13) * 1000))).flat();
  const added = target.peak() - before;
  attack.kill();
  const sorted = times.filter((ms) => typeof ms === 'number').sort((one, other) => one - other);
  const share = sorted.length / times.length;
  const at = (part) => `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(0)} ms`.padStart(8);
  const answered = `${(share * 100).toFixed(2)} %`;
  console.log(
    `${name.padEnd(10)}${String(times.length).padStart(8)}${answered.padStart(10)} ${at(0.5)} ${at(0.99)}  ${at(1)} ${`${added.toFixed(0)} MB`.padStart(13)}`,
  );
  const reasons = times.filter((ms) => typeof ms === 'string');
  if (reasons.length > 0)
    console.log(
      `          not answered: ${[...new Set(reasons)].map((reason) => `${reasons.filter((one) => one === reason).length} x ${reason}`).join(', ')}`,
    );
  if (!(share >= LEAST_ANSWERED) || added > mostMegabytes(name)) missed.push(`${name} (${mostMegabytes(name)} MB)`);
}

function mostMegabytes(name) {
  return name === 'download' ? MOST_MEGABYTES_OF_DOWNLOADS : MOST_MEGABYTES;
}

function attackWith(name, { base }, seconds) {
  const args = ATTACKS[name]?.();
  if (!args) throw new Error(`There is no attack "${name}". There are: ${Object.keys(ATTACKS).join(', ')}.`);
  const path = args.pop();
  const child = spawn('slowhttptest', ['-c', CONNECTIONS, '-r', '100', '-l', String(seconds), '-p', '5', ...args, base + path], {
    stdio: 'ignore',
  });
  killOnExit(child);
  return child;
}

/**
 * Well-behaved clients: on persistent and on new connections, they read cached and uncached answers, and write. Each
 * returns the times of its answers, or the reason why one is missing.
 */
function goodClients({ base, authorization }, until) {
  const staying = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const event = JSON.stringify({ title: 'Good', start_date: 'tomorrow 20:00', end_date: 'tomorrow 22:00' });
  let number = 0;
  const asks = [
    () => ask({ agent: staying, path: EVENTS }),
    () => ask({ agent: staying, path: `${EVENTS}?per_page=10&x=${number}` }),
    () => ask({ agent: false, path: EVENTS }),
    () => ask({ agent: false, path: '/health/live' }),
    () => ask({ agent: staying, path: EVENTS, method: 'POST', headers: { authorization, 'content-type': 'application/json' } }, event),
  ];
  return asks.map(async (one, place) => {
    const times = [];
    while (performance.now() < until) {
      number += 1;
      times.push(await one());
      // Writes are less frequent than reads.
      await sleep(place === asks.length - 1 ? PAUSE_MS * 20 : PAUSE_MS);
    }
    return times;
  });

  function ask(options, body) {
    const begun = performance.now();
    return new Promise((resolve) => {
      const request = http.request(base, options, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode < 300 ? performance.now() - begun : `status ${response.statusCode}`));
        response.on('error', ({ code }) => resolve(String(code)));
      });
      request.setTimeout(PATIENCE_MS, () => request.destroy());
      request.on('error', ({ code }) => resolve(String(code)));
      request.end(body);
    });
  }
}
