/**
 * Kills the service in the middle of writes and of messages to a webhook; afterwards every change must have been sent.
 *
 *   --rounds N     number of times that the service is killed (100)
 *   --writes N     minimum number of acknowledged writes between two kills (5)
 *   --clients N    that write (4)
 *   --database     sqlite or mysql (sqlite)
 *
 * The last message about each acknowledged record must contain its final state, and messages about one record must come
 * in order, though some come twice.
 */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fasti, startService } from '../bench/service.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { connectTo, startPrivateMysql } from '../support/private-mysql.mjs';
import { until } from '../support/until.mjs';
import { API, newWriteLog, writeContinuously } from '../support/writing.mjs';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    writes: { type: 'string', default: '5' },
    clients: { type: 'string', default: '4' },
    database: { type: 'string', default: 'sqlite' },
  },
});
const SPREAD_MS = 300;
const PATIENCE_MS = 120_000;

const folder = scratchFolder('fasti-webhooks');
const missed = [];
/** The last message about each record, and the total number of messages. */
const heard = new Map();
let messages = 0;
let twice = 0;
const receiver = createServer(async (request, response) => {
  const { type, data } = JSON.parse(Buffer.concat(await request.toArray()).toString());
  messages += 1;
  if (data.id !== undefined) {
    const subject = `${data.kind} ${data.id}`;
    const number = Number(request.headers['webhook-id'].split('_').at(-1));
    const before = heard.get(subject);
    if (before && number < before.number) missed.push(`${subject}: ${number} came after ${before.number}`);
    if (before?.number === number) twice += 1;
    heard.set(subject, { number, type, record: data.record });
  }
  // Some receivers are slow, and some fail now and then.
  await sleep(Math.random() * 20);
  response.writeHead(messages % 50 === 0 ? 500 : 204).end();
});
await new Promise((listening) => receiver.listen(0, '127.0.0.1', listening));

/** Starts a server with an empty database. */
async function startDatabase() {
  const server = await startPrivateMysql(folder);
  if (server.reason) throw new Error(server.reason);
  const root = await connectTo(server.url);
  await root.query('CREATE DATABASE fasti CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci');
  await root.end();
  return server;
}

let database;
let service;
try {
  const uploads = join(folder, 'uploads');
  mkdirSync(uploads);
  if (flags.database === 'mysql') database = await startDatabase();
  const env = {
    DATABASE_URL: database ? `${database.url}fasti` : `sqlite:${join(folder, 'site.sqlite')}`,
    UPLOADS_DIR: uploads,
    SITE_URL: 'http://127.0.0.1',
    LOG_LEVEL: 'error',
    SHARED_WITH_WORDPRESS: 'off',
    WEBHOOK_ADDRESSES: '127.0.0.1',
  };
  fasti(['init', '--sample', '--url=http://127.0.0.1'], env);
  const password = fasti(['user', 'application-password', 'create', 'admin', 'kills', '--porcelain'], env);
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  fasti(['webhook', 'add', `http://127.0.0.1:${receiver.address().port}/`], env);
  const record = newWriteLog();
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    service = await startService(env, `${API}/events?per_page=1`);
    let stopped = false;
    const first = record.acks.length;
    const { base } = service;
    const clients = Array.from({ length: Number(flags.clients) }, () =>
      writeContinuously({ base, authorization, record, stopped: () => stopped, label: 'Event', reads: false }),
    );
    await until('enough acknowledged writes', () => record.acks.length - first >= Number(flags.writes));
    await sleep(Math.random() * SPREAD_MS);
    await service.stop();
    service = undefined;
    stopped = true;
    await Promise.all(clients);
    if (round % 20 === 19)
      console.log(`  ${round + 1} kills, ${record.acks.length} writes acknowledged, ${messages} messages, ${twice} twice`);
  }
  service = await startService(env, `${API}/events?per_page=1`);
  const lacking = async () => {
    const lacks = [];
    for (const id of record.acknowledged.keys()) {
      const now = await fetch(`${service.base}${API}/events/${id}`).then((answer) => answer.json());
      if (heard.get(`event ${id}`)?.record?.title !== now.title) lacks.push(`event ${id}: ${now.title}`);
    }
    return lacks;
  };
  let lacks = await lacking();
  for (const until = performance.now() + PATIENCE_MS; lacks.length > 0 && performance.now() < until; lacks = await lacking())
    await sleep(1000);
  missed.push(...lacks);
  console.log(
    `${flags.database}: killed ${flags.rounds} times, ${record.acks.length} writes acknowledged, ${record.acknowledged.size} events, ` +
      `${messages} messages (${twice} came twice): ${missed.length} lost or out of order`,
  );
} finally {
  await service?.stop();
  await database?.stop();
  receiver.close();
  receiver.closeAllConnections();
}
for (const line of missed.slice(0, 10)) console.log(`MISSED ${line}`);
process.exit(missed.length > 0 ? 1 : 0);
