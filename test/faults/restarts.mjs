/**
 * Restarts the service under load and counts requests that fail.
 *
 *   npm run faults -- restarts                     everything, 50 times
 *   npm run faults -- restarts --rounds 5          five times
 *   npm run faults -- restarts --only single       one process that is told to end: every request that was sent must be
 *                                                  answered
 *   npm run faults -- restarts --only group        the same with three workers
 *   npm run faults -- restarts --only socket       one process whose port another one keeps open, as systemd does: no
 *                                                  request may fail
 *   npm run faults -- restarts --only workers      SIGHUP to the first of four processes: no request may fail
 *   npm run faults -- restarts --only nginx        two processes behind nginx (Debian's package), restarted in turn: no
 *                                                  request may fail
 *   npm run faults -- restarts --only pooled       the same with the connections that nginx keeps, as in
 *                                                  docs/operating.md
 *   npm run faults -- restarts --database mysql    on MySQL or MariaDB instead of SQLite
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { eachDatabase } from '../bench/site.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { startNginx, whyNoNginx } from '../support/nginx.mjs';
import { freePort } from '../support/private-mysql.mjs';
import { countEvents, newSite, startLoad, startServing } from '../support/processes.mjs';

/** Time for a load or a process that has just started. */
const SETTLE_MS = 300;

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '50' }, only: { type: 'string' }, database: { type: 'string', default: 'sqlite' } },
});
const rounds = Number(values.rounds);
const folder = scratchFolder('fasti-restarts');
/** Assigned before the first part runs. */
let site;
let clients;

const PARTS = {
  single: () => ends('one process, SIGTERM', {}),
  group: () => ends('three workers, SIGTERM', { WORKERS: '3' }),
  socket,
  workers,
  nginx: () =>
    behindNginx('two processes behind nginx', (block) => block.replace(/keepalive \d+;/, '').replace(/proxy_http_version[^;]*;/, '')),
  pooled: () => behindNginx('two processes behind nginx, which keeps connections', (block) => block),
};
let missed = false;
let written = 0;
await eachDatabase({ folder, kept: false, only: values.database }, async ({ title }, provide) => {
  const { env, remove } = await provide(0);
  console.log(title);
  site = newSite(folder, env.DATABASE_URL);
  clients = { clients: 6, posts: 2, authorization: site.authorization };
  for (const [name, part] of Object.entries(PARTS)) if (values.only === undefined || values.only === name) await part();
  await remove();
});
process.exitCode = missed ? 1 : 0;

/**
 * A service that is ended and started again. Connections may be refused in the meantime, but every request that was
 * sent must be answered.
 */
async function ends(title, env) {
  const port = await freePort();
  const counts = {};
  const all = [];
  for (let round = 0; round < rounds; round += 1) {
    const service = await startServing({ ...site.env, ...env }, { port });
    const stop = startLoad({ port, ...clients });
    await sleep(SETTLE_MS);
    all.push(await ended(service));
    add(counts, await stop());
  }
  report(title, counts, all, ['refused']);
}

/** The same if another process keeps the port open and passes it to each process in turn. */
async function socket() {
  const service = await startServing(site.env, { keeper: fileURLToPath(new URL('../support/port-keeper.mjs', import.meta.url)) });
  const stop = startLoad({ port: service.port, ...clients });
  for (let round = 1; round <= rounds; round += 1) {
    await sleep(SETTLE_MS);
    process.kill(service.servingPid(), 'SIGTERM');
    await service.waitForLog('"listening"', round + 1);
  }
  const counts = await stop();
  report('one process, its port kept open', counts, [await ended(service)]);
}

async function workers() {
  const port = await freePort();
  const service = await startServing({ ...site.env, WORKERS: '3' }, { port });
  const stop = startLoad({ port, ...clients });
  for (let round = 1; round <= rounds; round += 1) {
    await sleep(SETTLE_MS);
    service.kill('SIGHUP');
    await service.waitForLog('the workers have been replaced', round);
  }
  const counts = await stop();
  report('three workers, SIGHUP', counts, [await ended(service)]);
}

/** Two processes, each ended and started again in turn, behind the nginx of docs/operating.md. */
async function behindNginx(title, changed) {
  if (whyNoNginx) {
    console.log(`${title}: not run, ${whyNoNginx}`);
    missed = true;
    return;
  }
  const [front, ...ports] = [await freePort(), await freePort(), await freePort()];
  const services = await Promise.all(ports.map((port) => startServing(site.env, { port })));
  const nginx = await startNginx(folder, front, exampleOf(front, ports, changed));
  const stop = startLoad({ port: front, ...clients });
  const ends = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, port] of ports.entries()) {
      await sleep(SETTLE_MS);
      ends.push(await ended(services[at]));
      services[at] = await startServing(site.env, { port });
    }
  }
  const counts = await stop();
  for (const service of services) ends.push(await ended(service));
  await nginx.stop();
  report(title, counts, ends);
}

/** The example of docs/operating.md, with these ports. */
function exampleOf(front, ports, changed) {
  const [, block] = /```nginx\n([\s\S]*?)```/.exec(readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8'));
  return changed(block)
    .replace('listen 80;', `listen 127.0.0.1:${front};`)
    .replace(':8080', `:${ports[0]}`)
    .replace(':8081', `:${ports[1]}`);
}

/** Ends a process. Returns its exit code and the time that this took, in milliseconds. */
async function ended(service) {
  const begun = performance.now();
  service.kill('SIGTERM');
  return { code: await service.ended, ms: performance.now() - begun };
}

function add(totals, counts) {
  for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
}

/**
 * Prints the results of the requests. All results but answers, and those in `meant`, are failures; so is an
 * acknowledged record that is missing.
 */
function report(title, counts, ends, meant = []) {
  const failures = Object.entries(counts).filter(([name]) => !['read', 'written', ...meant].includes(name));
  written += counts.written;
  const lost = Math.max(0, written - countEvents(site.env, 'Load'));
  const crashed = ends.filter(({ code }) => code !== 0).length;
  const misses = failures.reduce((sum, [, count]) => sum + count, 0) + lost + crashed;
  const figures = { ...counts, lost, 'ended badly': crashed, 'slowest end': `${Math.round(Math.max(...ends.map(({ ms }) => ms)))} ms` };
  console.log(`${title}, ${rounds} rounds: ${misses === 0 ? 'reached' : `MISSED by ${misses}`} ${JSON.stringify(figures)}`);
  if (misses > 0) missed = true;
}
