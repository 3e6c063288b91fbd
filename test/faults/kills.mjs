/**
 * Kills the service in the middle of writes, and the database server too; then checks everything by SQL.
 *
 *   --rounds N          number of times that the service is killed, on each database (20)
 *   --server-rounds N   number of times that the database server is killed, MariaDB only (5)
 *   --writes N          minimum number of acknowledged writes between two kills (20)
 *   --clients N         that write (8)
 *   --fresh N           number of rounds after which a new database is created, so that the checks stay quick (50)
 *   --database NAME     only sqlite or mysql
 *
 * Acknowledged writes must be there with all their parts (metas, terms, counts, dates, list index, files), and nothing
 * may be incomplete. It needs MariaDB for its part.
 */
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadSqlite } from '../../bin/sqlite.mjs';
import { fasti, startService } from '../bench/service.mjs';
import { findInconsistencies } from '../support/consistency.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { connectTo, startPrivateMysql } from '../support/private-mysql.mjs';
import { until } from '../support/until.mjs';
import { API, findLostWrites, newWriteLog, writeContinuously } from '../support/writing.mjs';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    'server-rounds': { type: 'string', default: '5' },
    writes: { type: 'string', default: '20' },
    clients: { type: 'string', default: '8' },
    fresh: { type: 'string', default: '50' },
    database: { type: 'string' },
  },
});
/** Acknowledged writes are on the disk. */
const DURABLE = ['--innodb-flush-log-at-trx-commit=1'];
/** The kill comes at a random time after enough writes were acknowledged. */
const SPREAD_MS = 60;
/** Writes must succeed again at most this long after the database is back. */
const LONGEST_GAP_MS = 2000;

const folder = scratchFolder('fasti-kills');
const missed = [];
let running = [];
try {
  if (flags.database !== 'mysql') await killService('SQLite', async (place) => sqlitePlace(place));
  if (flags.database !== 'sqlite') await onMariadb();
} finally {
  for (const one of running) await one.stop();
}
for (const line of missed) console.log(`MISSED ${line}`);
process.exit(missed.length > 0 ? 1 : 0);

// ------------------------------------------------------------------------------------------------- databases
async function sqlitePlace(place) {
  const Sqlite = loadSqlite();
  const file = join(place, 'site.sqlite');
  return {
    url: `sqlite:${file}`,
    look: async (work) => {
      const database = new Sqlite(file);
      try {
        return await work(async (sql) => database.prepare(sql).all());
      } finally {
        database.close();
      }
    },
  };
}

async function onMariadb() {
  const home = join(folder, 'mariadb');
  mkdirSync(home);
  let server = await start(home);
  if (server.reason) return console.log(`MariaDB is skipped: ${server.reason}`);
  let number = 0;
  const provide = async () => {
    number += 1;
    const name = `kills${number}`;
    const run = async (work) => {
      const connection = await connectTo(server.socketUrl);
      try {
        return await work(async (sql) => (await connection.query(sql))[0]);
      } finally {
        connection.destroy();
      }
    };
    await run((sql) => sql(`CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci`));
    return {
      url: server.socketUrl.replace('/?', `/${name}?`),
      look: (work) =>
        run(async (sql) => {
          await sql(`USE ${name}`);
          return work(sql);
        }),
    };
  };
  await killService('MariaDB', provide);
  await killServer(provide, {
    kill: () => process.kill(server.pid, 'SIGKILL'),
    again: async () => {
      server = await start(home);
      if (server.reason) throw new Error(`the server did not start again: ${server.reason}`);
    },
  });
  await server.stop();
}

/** Starts the server, and again if its port was taken in the meantime, since the clients use ports all the time. */
async function start(home, tries = 5) {
  const server = await startPrivateMysql(home, DURABLE);
  if (!server.reason) running.push(server);
  else if (existsSync(join(home, 'data')) && tries > 1) return start(home, tries - 1);
  return server;
}

// ------------------------------------------------------------------------------------------------- kills
/** A site of its own, with a user who may write. */
async function newSite(provide, name) {
  const place = mkdtempSync(join(folder, name));
  const uploads = join(place, 'uploads');
  mkdirSync(uploads);
  const { url, look } = await provide(place);
  const env = { DATABASE_URL: url, UPLOADS_DIR: uploads, SITE_URL: 'http://127.0.0.1', LOG_LEVEL: 'warn', SHARED_WITH_WORDPRESS: 'off' };
  fasti(['init', '--url=http://127.0.0.1'], env);
  const password = fasti(['user', 'application-password', 'create', 'admin', 'kills', '--porcelain'], env);
  return { env, look, uploads, authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`, record: newWriteLog() };
}

/** Starts the service, and again if it ends because no database answers in time, as a supervisor would. */
async function serve(env, tries = 3) {
  try {
    const service = await startService(env, `${API}/events?per_page=1`);
    running.push(service);
    return service;
  } catch (error) {
    if (tries === 1) throw error;
    return serve(env, tries - 1);
  }
}

async function stop(service) {
  await service.stop();
  running = running.filter((one) => one !== service);
}

/** Starts writing, and returns a function that waits until enough is acknowledged and stops. */
function beginWriting({ base }, { authorization, record }) {
  let stopped = false;
  const first = record.acks.length;
  const clients = Array.from({ length: Number(flags.clients) }, () =>
    writeContinuously({ base, authorization, record, stopped: () => stopped, label: 'Event' }),
  );
  return {
    enough: async () => {
      await until('enough acknowledged writes', () => record.acks.length - first >= Number(flags.writes));
      await sleep(Math.random() * SPREAD_MS);
    },
    end: async () => {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

/** Checks everything after a kill. Returns the number of lost and of incomplete records. */
async function judge({ look, record, uploads }, label) {
  const { lost, broken } = await look(async (sql) => ({
    lost: await findLostWrites(sql, record),
    broken: await findInconsistencies(sql, { uploads }),
  }));
  missed.push(...lost.slice(0, 3).map((line) => `${label}: lost ${line}`), ...broken.map((line) => `${label}: ${line}`));
  missed.push(...record.stale.splice(0).map((line) => `${label}: own write not shown: ${line}`));
  missed.push(...record.wrong.splice(0).map((line) => `${label}: ${line}`));
  return { lost: lost.length, broken: broken.length };
}

async function killService(name, provide) {
  const rounds = Number(flags.rounds);
  const sum = { lost: 0, broken: 0, acknowledged: 0, unknown: 0 };
  let site;
  for (let round = 0; round < rounds; round += 1) {
    if (round % Number(flags.fresh) === 0) {
      if (site) sum.acknowledged += site.record.acks.length;
      site = await newSite(provide, `${name}-`);
    }
    const service = await serve(site.env);
    const writing = beginWriting(service, site);
    await writing.enough();
    await stop(service);
    await writing.end();
    const { lost, broken } = await judge(site, `${name}, kill ${round + 1}`);
    sum.lost += lost;
    sum.broken += broken;
    if (round % 50 === 49) console.log(`  ${name}: ${round + 1} kills, ${sum.lost} lost, ${sum.broken} rules broken`);
  }
  if (site) sum.acknowledged += site.record.acks.length;
  console.log(
    `${name}: the service killed ${rounds} times, ${sum.acknowledged} writes acknowledged: ${sum.lost} lost, ${sum.broken} rules broken`,
  );
}

async function killServer(provide, { kill, again }) {
  const rounds = Number(flags['server-rounds']);
  const sum = { lost: 0, broken: 0 };
  const gaps = [];
  const site = await newSite(provide, 'server-');
  const service = await serve(site.env);
  for (let round = 0; round < rounds; round += 1) {
    const writing = beginWriting(service, site);
    await writing.enough();
    kill();
    await again();
    const back = performance.now();
    const after = () => site.record.acks.find(({ at }) => at > back);
    gaps.push((await until('a write after the server is back', after)).at - back);
    await writing.end();
    const { lost, broken } = await judge(site, `MariaDB, kill ${round + 1} of the server`);
    sum.lost += lost;
    sum.broken += broken;
  }
  await stop(service);
  gaps.sort((one, other) => one - other);
  if (rounds === 0) return;
  const worst = gaps.at(-1);
  if (worst > LONGEST_GAP_MS) missed.push(`MariaDB: the first write came through ${Math.round(worst)} ms after the server was back`);
  console.log(
    `MariaDB: the server killed ${rounds} times, ${site.record.acks.length} writes acknowledged, ${site.record.unknown} with an unknown end: ${sum.lost} lost, ${sum.broken} rules broken; writes are taken ${Math.round(gaps[gaps.length >> 1])} ms (median), ${Math.round(worst)} ms (worst) after it is back; answers: ${[...site.record.statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`,
  );
}
