/**
 * Guesses passwords: the time of a refusal must not reveal whether a user exists, and readers must not be slowed down.
 *
 *   npm run attacks -- sign-in                  both parts
 *   npm run attacks -- sign-in --tries 200      fewer tries for each kind of user (2,000)
 *   npm run attacks -- sign-in --rounds 2       fewer rounds of readers with guessers and without (5)
 */
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { hash } from 'bcryptjs';
import { loadSqlite } from '../../bin/sqlite.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { newSite, startServing } from '../support/processes.mjs';

const { values } = parseArgs({ options: { tries: { type: 'string', default: '2000' }, rounds: { type: 'string', default: '5' } } });
const [tries, rounds] = [Number(values.tries), Number(values.rounds)];
/** Tries per name, below the number after which the answer changes. */
const EACH = 80;
const AT_ONCE = 4;
const GUESSERS = 8;
const ROUND_MS = 4000;
const READ_EVERY_MS = 5;
/** Welch's t: a difference above this value counts as real. */
const MOST_T = 4.5;
const MOST_RATIO = 2;
const EVENTS = '/wp-json/calendar/events/v1/events';

const folder = scratchFolder('fasti-sign-in');
const { env } = newSite(folder);
let addresses = 0;
const names = Math.ceil(tries / EACH);
await addUsers();
const service = await startServing({ ...env, TRUST_PROXY: 'on', LOG_LEVEL: 'info' }, {});
const { port } = service;

const telling = await times();
const noticed = await readers();
service.kill('SIGTERM');
await service.ended;
process.exitCode = telling || noticed ? 1 : 0;

/**
 * Users with application passwords as created by WordPress since 6.8 (`new`), before that (`old`), and by some plugins
 * (`bcrypt`).
 */
async function addUsers() {
  const db = new (loadSqlite())(join(folder, 'site.sqlite'));
  const hashes = { new: `$generic$${'x'.repeat(40)}`, old: `$P$B${'abcdefgh'}${'x'.repeat(22)}`, bcrypt: await hash('nobody knows', 10) };
  const [{ id }] = db.prepare('SELECT MAX(ID) AS id FROM wp_users').all();
  const user = db.prepare(
    "INSERT INTO wp_users (ID, user_login, user_pass, user_nicename, user_email, user_registered, user_activation_key, display_name) VALUES (?, ?, '', ?, ?, '2020-01-01 00:00:00', '', ?)",
  );
  const meta = db.prepare('INSERT INTO wp_usermeta (user_id, meta_key, meta_value) VALUES (?, ?, ?)');
  let next = id;
  for (const [kind, stored] of Object.entries(hashes))
    for (let number = 0; number < names; number += 1) {
      const login = `${kind}-${number}`;
      next += 1;
      user.run(next, login, login, `${login}@example.org`, login);
      meta.run(next, 'wp_capabilities', 'a:1:{s:6:"editor";b:1;}');
      meta.run(next, '_application_passwords', passwords(stored));
    }
  db.close();
}

/** The meta of one application password, as PHP serializes it. */
function passwords(stored) {
  const text = (value) => `s:${value.length}:"${value}";`;
  const fields = [
    ['uuid', text(createHash('md5').update(stored).digest('hex'))],
    ['app_id', text('')],
    ['name', text('x')],
    ['password', text(stored)],
  ];
  const rest = [
    ['created', 'i:1;'],
    ['last_used', 'N;'],
    ['last_ip', 'N;'],
  ];
  const all = [...fields, ...rest];
  return `a:1:{i:0;a:${all.length}:{${all.map(([name, value]) => text(name) + value).join('')}}}`;
}

/** Makes a try from an address without failures. Returns the time of the answer, in milliseconds. */
function guess(name) {
  addresses += 1;
  const from = `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
  const authorization = `Basic ${Buffer.from(`${name}:${'wrong'.repeat(4)}`).toString('base64')}`;
  return timed({ path: EVENTS, headers: { authorization, 'x-forwarded-for': from } });
}

function timed({ path, headers = {} }) {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve({ status: answer.statusCode, ms: performance.now() - begun }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Whether the time of refusals distinguishes existing users from unknown names. */
async function times() {
  const kinds = ['unknown', 'new', 'old', 'bcrypt'];
  const plan = kinds.flatMap((kind) => Array.from({ length: tries }, (_, number) => ({ kind, name: `${kind}-${number % names}` })));
  // In random order, so that other load on the machine affects all kinds alike.
  const order = plan.map((one) => ({ ...one, at: Math.random() })).sort((one, other) => one.at - other.at);
  const taken = Object.fromEntries(kinds.map((kind) => [kind, []]));
  const statuses = {};
  let next = 0;
  const client = async () => {
    while (next < order.length) {
      const { kind, name } = order[next];
      next += 1;
      const { status, ms } = await guess(name);
      taken[kind].push(ms);
      statuses[`${kind} ${status}`] = (statuses[`${kind} ${status}`] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  console.log(`answers: ${JSON.stringify(statuses)}`);
  let worst = 0;
  for (const kind of kinds.slice(1)) {
    const t = welch(taken.unknown, taken[kind]);
    worst = Math.max(worst, Math.abs(t));
    console.log(
      `time, unknown against ${kind}: ${mean(taken.unknown).toFixed(1)} and ${mean(taken[kind]).toFixed(1)} ms, t = ${t.toFixed(2)}`,
    );
  }
  console.log(`time, ${tries} tries each: ${worst < MOST_T ? 'reached' : 'MISSED'} (|t| below ${MOST_T})`);
  return worst >= MOST_T;
}

/** Whether guessing of passwords with old hashes slows readers down. */
async function readers() {
  const found = { idle: [], old: [], bcrypt: [] };
  for (let round = 0; round < rounds; round += 1) for (const kind of Object.keys(found)) found[kind].push(await latency(kind));
  const middle = Object.fromEntries(
    Object.entries(found).map(([kind, all]) => [kind, { p50: median(all.map(({ p50 }) => p50)), p99: median(all.map(({ p99 }) => p99)) }]),
  );
  for (const [kind, { p50, p99 }] of Object.entries(middle))
    console.log(`readers, ${kind}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  const ratio = Math.max(middle.old.p99, middle.bcrypt.p99) / middle.idle.p99;
  console.log(
    `readers, ${GUESSERS} guessers: ${ratio <= MOST_RATIO ? 'reached' : 'MISSED'} (p99 is ${ratio.toFixed(2)} times that of an idle service, ${MOST_RATIO} at most)`,
  );
  return ratio > MOST_RATIO;
}

async function latency(kind) {
  let going = true;
  let number = 0;
  const guessers = Array.from({ length: kind === 'idle' ? 0 : GUESSERS }, async () => {
    for (; going; number += 1) await guess(`${kind}-${number % names}`);
  });
  await sleep(500);
  const took = [];
  for (const until = performance.now() + ROUND_MS; performance.now() < until; await sleep(READ_EVERY_MS))
    took.push((await timed({ path: EVENTS })).ms);
  going = false;
  await Promise.all(guessers);
  took.sort((one, other) => one - other);
  return { p50: took[Math.floor(took.length * 0.5)], p99: took[Math.floor(took.length * 0.99)] };
}

function mean(all) {
  return all.reduce((sum, one) => sum + one, 0) / all.length;
}

function median(all) {
  return [...all].sort((one, other) => one - other)[Math.floor(all.length / 2)];
}

function welch(one, other) {
  const spread = (all, middle = mean(all)) => all.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (all.length - 1) / all.length;
  return (mean(one) - mean(other)) / Math.sqrt(spread(one) + spread(other));
}
