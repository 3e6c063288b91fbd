/**
 * Three Galera nodes, one of which is killed or cut off again and again while three processes write and read.
 *
 *   --kills N     number of times that a node is killed and started again (50)
 *   --halts N     number of times that a node is stopped and continued (10)
 *   --clients N   that write to each process (4)
 *   --names N     number of records to which 2 processes x 16 clients give the same ten names, on two nodes (2000)
 *   --seconds N   duration of the measurement of each way of sharing the writes (10)
 *   --only NAME   only nodes, names or conflicts
 *
 * No acknowledged write may be lost, and no record may be incomplete on any node or duplicated; each process must show
 * the writes that it acknowledged, errors must be 503 only, and new writes must succeed at most five seconds after a
 * node is lost. Clients that follow `/changes`, at each process and at all of them in turn, must be complete in the end
 * without starting again. It needs MariaDB with galera-4 and rsync.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fasti, startService } from '../bench/service.mjs';
import { findInconsistencies } from '../support/consistency.mjs';
import { differencesIn, followChanges, readFullCopy } from '../support/following.mjs';
import { startGalera } from '../support/galera.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { API, findLostWrites, newWriteLog, writeContinuously } from '../support/writing.mjs';

const { values: flags } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    halts: { type: 'string', default: '10' },
    clients: { type: 'string', default: '4' },
    names: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '10' },
    only: { type: 'string' },
  },
});
const LONGEST_GAP_MS = 5000;
const CALM_MS = 1500;
const HALT_MS = 6000;

const folder = scratchFolder('fasti-galera');
const uploads = join(folder, 'uploads');
mkdirSync(uploads);
const missed = [];
/** Logs of the processes, and the number of lines that are printed. */
const logs = [];
const MOST_LINES = 5;
const services = [];
const cluster = await startGalera(folder);
if (cluster.reason) {
  console.log(`Galera is skipped: ${cluster.reason}`);
  process.exit(0);
}
const { nodes } = cluster;
try {
  const env = await install();
  const parts = { nodes: loseNodes, names: giveNames, conflicts: measureConflicts };
  for (const [name, part] of Object.entries(parts)) if (flags.only === undefined || flags.only === name) await part(env);
} finally {
  for (const service of services) await service.stop();
  await cluster.stop();
}
for (const line of missed) console.log(`MISSED ${line}`);
for (const line of missed.length > 0 ? faultsIn(logs) : []) console.log(`  log: ${line}`);
process.exitCode = missed.length > 0 ? 1 : 0;
process.exit();

/** Creates a site on the first node, and thereby on all. */
async function install() {
  const root = await nodes[0].connect();
  await root.query('CREATE DATABASE fasti CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci');
  root.destroy();
  const env = { DATABASE_URL: addressFrom(0), UPLOADS_DIR: uploads, LOG_LEVEL: 'warn', SITE_URL: 'http://127.0.0.1' };
  fasti(['init', '--url=http://127.0.0.1'], env);
  const password = fasti(['user', 'application-password', 'create', 'admin', 'galera', '--porcelain'], env);
  return { ...env, authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}` };
}

/** The first lines of these logs about errors of the program: answers with 503 are caused by the nodes. */
function faultsIn(files) {
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  return lines.filter((line) => line.includes('"msg":"internal_server_error"')).slice(0, MOST_LINES);
}

/** The database URL that names the nodes in turn, beginning with this one. */
function addressFrom(first, count = nodes.length) {
  const hosts = Array.from({ length: count }, (_, place) => new URL(nodes[(first + place) % nodes.length].url).host);
  return `mysql://root@${hosts.join()}/fasti`;
}

async function serve({ authorization: _, ...env }, address) {
  const log = join(folder, `service-${logs.length}.log`);
  logs.push(log);
  const service = await startService({ ...env, DATABASE_URL: address }, `${API}/events`, log);
  services.push(service);
  return service;
}

// ------------------------------------------------------------------------------------------------- nodes that are lost
async function loseNodes(env) {
  const served = [];
  for (const [place] of nodes.entries()) served.push(await serve(env, addressFrom(place)));
  await lookAtHealth(env, served[0]);
  const record = newWriteLog();
  let stopped = false;
  let settled = false;
  const writers = served.flatMap(({ base }) =>
    Array.from({ length: Number(flags.clients) }, () =>
      writeContinuously({ base, authorization: env.authorization, record, stopped: () => stopped, label: 'Event' }),
    ),
  );
  const bases = served.map(({ base }) => base);
  const followers = [...bases.map((base) => [base]), bases].map((some) => followChanges({ bases: some, stopped: () => settled }));
  const losses = [];
  await sleep(CALM_MS);
  for (let kill = 0; kill < Number(flags.kills); kill += 1) {
    const node = nodes[kill % nodes.length];
    losses.push({ what: 'kill', at: performance.now() });
    await node.kill();
    await sleep(LONGEST_GAP_MS + CALM_MS);
    await node.start();
    await cluster.untilWhole();
    await sleep(CALM_MS);
    if (kill % 10 === 9) console.log(`  ${kill + 1} kills, ${record.acks.length} writes acknowledged`);
  }
  for (let halt = 0; halt < Number(flags.halts); halt += 1) {
    const node = nodes[halt % nodes.length];
    losses.push({ what: 'halt', at: performance.now() });
    node.halt();
    await sleep(HALT_MS);
    node.go();
    await sleep(CALM_MS);
    await cluster.untilWhole();
    await sleep(CALM_MS);
  }
  stopped = true;
  await Promise.all(writers);
  await sleep(CALM_MS);
  settled = true;
  await compareCopies(await Promise.all(followers), bases);
  for (const [what, name] of [
    ['kill', 'killed'],
    ['halt', 'stopped in its tracks'],
  ]) {
    const gaps = gapsAfter(
      losses.filter((loss) => loss.what === what),
      served,
      record.acks,
    );
    if (gaps.length === 0) continue;
    const worst = gaps.at(-1);
    console.log(
      `A node ${name} ${gaps.length / served.length} times: the next write that each process took came through after ${seconds(gaps[gaps.length >> 1])} (median), ${seconds(worst)} (worst)`,
    );
    if (worst > LONGEST_GAP_MS) missed.push(`a gap of ${seconds(worst)} after a node was ${name}`);
  }
  console.log(`${record.acks.length} writes acknowledged, ${record.unknown} with an unknown end, answers: ${told(record.statuses)}`);
  await judge(record);
  await stopAll(served);
}

/**
 * Compares the records of clients that followed the changes with a full reading at the end. The last client asked all
 * processes in turn.
 */
async function compareCopies(followed, bases) {
  const whole = await readFullCopy(bases[0]);
  for (const [place, { copy, expired, wrong }] of followed.entries()) {
    const name = place < bases.length ? `/changes of process ${place + 1}` : '/changes of all processes in turn';
    const differences = differencesIn(copy, whole);
    console.log(`${name}: ${copy.size} records followed, ${differences.length} differ, begun anew ${expired} times`);
    missed.push(...[...differences, ...wrong].slice(0, 5).map((line) => `${name}: ${line}`));
    if (expired > 0) missed.push(`${name}: begun anew ${expired} times`);
  }
}

/** Readiness and the doctor must both report which node is used, and its state. */
async function lookAtHealth({ authorization: _, ...env }, { base }) {
  const { database } = await (await fetch(`${base}/health/ready`)).json();
  const synced = `Synced, nodes: ${nodes.length}`;
  if (database?.server !== 1 || database.of !== nodes.length || database.galera !== synced)
    missed.push(`/health/ready says ${JSON.stringify(database)}`);
  const { servers } = JSON.parse(fasti(['doctor', '--format=json'], env));
  const told = servers.map(({ inUse, detail }) => `${inUse ? 'in use, ' : ''}${detail}`);
  const due = nodes.map((_, place) => `${place === 0 ? 'in use, ' : ''}Galera: ${synced}`);
  if (told.join('; ') !== due.join('; ')) missed.push(`the doctor says ${told.join('; ')}`);
}

/** Times from each loss to the first acknowledgement, by each process, of a write sent after it; sorted. */
function gapsAfter(losses, served, acks) {
  return losses
    .flatMap(({ at }) =>
      served.map(({ base }) => {
        const times = acks.filter((ack) => ack.base === base && ack.begun >= at).map((ack) => ack.at - at);
        return times.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...times);
      }),
    )
    .sort((one, other) => one - other);
}

/** Checks on every node that all acknowledged writes are there, and that nothing is incomplete or duplicated. */
async function judge(record) {
  for (const line of record.stale.slice(0, 5)) missed.push(`own write not shown: ${line}`);
  for (const line of record.wrong.slice(0, 5)) missed.push(`an answer other than 503: ${line}`);
  const checksums = new Set();
  for (const node of nodes) {
    const connection = await node.connect();
    await connection.query('USE fasti');
    await connection.query('SET SESSION wsrep_sync_wait = 1');
    const sql = async (text) => (await connection.query(text))[0];
    const lost = await findLostWrites(sql, record);
    const broken = await findInconsistencies(sql, { uploads });
    const tables = (await sql('SHOW TABLES')).map((row) => Object.values(row)[0]);
    const sums = await sql(`CHECKSUM TABLE ${tables.map((name) => `\`${name}\``).join()}`);
    checksums.add(JSON.stringify(sums.map(({ Checksum }) => Checksum)));
    connection.destroy();
    console.log(
      `${node.name}: ${lost.length} of ${record.acknowledged.size + record.uploads.size} acknowledged records lost, ${broken.length} rules broken`,
    );
    missed.push(...lost.slice(0, 5).map((line) => `${node.name} lost ${line}`), ...broken.map((line) => `${node.name} has ${line}`));
  }
  console.log(
    `${checksums.size === 1 ? 'All nodes hold the same rows' : 'THE NODES HOLD DIFFERENT ROWS'}; ${record.stale.length} reads of own writes were stale`,
  );
  if (checksums.size !== 1) missed.push('nodes hold different rows');
}

// ------------------------------------------------------------------------------------------------- names
/** Two processes on two nodes use the same names at the same time. */
async function giveNames(env) {
  const served = [await serve(env, addressFrom(0)), await serve(env, addressFrom(1))];
  const total = Number(flags.names);
  const record = newWriteLog();
  let next = 0;
  const before = await conflicts();
  const begun = performance.now();
  const client = async (base) => {
    for (let number = next; number < total; number = next) {
      next += 1;
      const name = number % 10;
      const ways = [
        [
          '/events',
          { title: `Same ${name}`, start_date: '2032-05-01 10:00:00', end_date: '2032-05-01 12:00:00', tags: [`Twin ${number >> 5}`] },
        ],
        ['/venues', { venue: `Same place ${number >> 5}` }],
        [
          '/events',
          {
            title: `Same ${name}`,
            start_date: '2032-05-01 10:00:00',
            end_date: '2032-05-01 12:00:00',
            organizer: { organizer: `Same club ${number >> 5}` },
          },
        ],
        ['/categories', { name: `Same kind ${number >> 5}` }],
      ];
      const [path, body] = ways[number % ways.length];
      const response = await fetch(base + API + path, {
        method: 'POST',
        headers: { authorization: env.authorization, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { code } = await response.json();
      const outcome = response.ok ? 'made' : code;
      record.statuses.set(outcome, (record.statuses.get(outcome) ?? 0) + 1);
      if (!response.ok && code !== 'term_exists' && response.status !== 503) record.wrong.push(`${path}: ${response.status} ${code}`);
    }
  };
  await Promise.all(served.flatMap(({ base }) => Array.from({ length: 16 }, () => client(base))));
  const taken = performance.now() - begun;
  const after = await conflicts();
  console.log(
    `${total} records under the same names by 2 processes x 16 clients on two nodes: ${told(record.statuses)}; ${Math.round(total / (taken / 1000))} a second, ${after - before} conflicts between the nodes`,
  );
  await judge(record);
  await stopAll(served);
}

// ------------------------------------------------------------------------------------------------- what conflicts cost
/** The same clients write through one node and through two: every write increases the same change counter. */
async function measureConflicts(env) {
  const ways = {
    'one process, one node': [0],
    'two processes, both on the first node': [0, 0],
    'two processes, each on a node of its own': [0, 1],
  };
  const all = newWriteLog();
  for (const [way, places] of Object.entries(ways)) {
    const served = [];
    for (const place of places) served.push(await serve(env, addressFrom(place)));
    const record = newWriteLog();
    let stopped = false;
    const before = await conflicts();
    const writers = served.flatMap(({ base }) =>
      Array.from({ length: 16 / served.length }, () =>
        writeContinuously({ base, authorization: env.authorization, record, stopped: () => stopped, label: way, reads: false }),
      ),
    );
    await sleep(1000 * Number(flags.seconds));
    stopped = true;
    await Promise.all(writers);
    const after = await conflicts();
    const times = record.acks.map(({ begun, at }) => at - begun).sort((one, other) => one - other);
    console.log(
      `16 clients, ${way}: ${Math.round(record.acks.length / Number(flags.seconds))} writes a second, ${((100 * (after - before)) / record.acks.length).toFixed(1)} conflicts for 100 of them, median ${Math.round(times[times.length >> 1])} ms, p99 ${Math.round(times[Math.floor(times.length * 0.99)])} ms, answers: ${told(record.statuses)}`,
    );
    for (const [id, event] of record.acknowledged) all.acknowledged.set(id, event);
    for (const line of record.wrong) all.wrong.push(line);
    await stopAll(served);
  }
  await judge(all);
}

/** The number of transactions that have lost against one of another node, on all nodes. */
async function conflicts() {
  let sum = 0;
  for (const node of nodes) {
    const connection = await node.connect();
    const [rows] = await connection.query("SHOW STATUS WHERE Variable_name IN ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts')");
    sum += rows.reduce((total, { Value }) => total + Number(Value), 0);
    connection.destroy();
  }
  return sum;
}

async function stopAll(served) {
  for (const service of served) await service.stop();
}

function told(counts) {
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');
}

function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
