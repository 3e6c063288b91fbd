/**
 * Shared by the scripts in this folder: a small site on each database, several processes of the built service, clients.
 */
import { mkdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';
import { fasti, startService } from '../bench/service.mjs';
import { API, eachDatabase } from '../bench/site.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';

export { API };

/** Whole numbers from the command line, by name, and `database`: `sqlite` or `mysql` alone. */
export function readFlags(defaults) {
  const options = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, { type: 'string', default: String(value) }]));
  const { database, ...numbers } = parseArgs({ options: { ...options, database: { type: 'string' } } }).values;
  return { ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)])), database };
}

/**
 * Creates a site on each database, serves it with several processes and runs `measure` on it, which returns a line of
 * figures and a list of faults. Prints a line per database; the process ends with status 1 if there are faults.
 */
export async function onEachDatabase({ database, processes }, measure) {
  const folder = scratchFolder('fasti-faults');
  await eachDatabase({ folder, kept: false, only: database }, async ({ title }, provide) => {
    const { env, remove } = await provide(0);
    const site = await openSite(env, processes);
    try {
      const begun = performance.now();
      const { line, faults } = await measure(site);
      console.log(`${title}: ${line}; ${((performance.now() - begun) / 1000).toFixed(1)} s`);
      for (const fault of faults) console.error(`  MISSED: ${fault}`);
      if (faults.length > 0) process.exitCode = 1;
    } finally {
      await site.close();
      await remove();
    }
  });
}

async function openSite(env, processes) {
  mkdirSync(env.UPLOADS_DIR, { recursive: true });
  fasti(['init', '--url=http://127.0.0.1'], env);
  const password = fasti(['user', 'application-password', 'create', 'admin', 'faults', '--porcelain'], env);
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  const { openDatabase } = await import('../../dist/src/storage/engine/database.js');
  const db = await openDatabase({ url: env.DATABASE_URL, prefix: 'wp_' });
  const start = () => startService({ ...env, LOG_LEVEL: 'silent', SITE_URL: 'http://127.0.0.1' }, '/health/ready');
  const services = [];
  for (let count = 0; count < processes; count += 1) services.push(await start());
  const agent = new Agent({ keepAlive: true });
  return {
    env,
    services,
    /** knex on the tables of the site, for checking the results. */
    knex: db.knex,
    /** Kills a process and starts another in its place. */
    replace: async (place) => {
      await services[place].stop();
      services[place] = await start();
    },
    /** Sends a request as the administrator. Returns `{status, headers, body}`; rejects if there is no answer. */
    ask: (base, method, path, { headers = {}, body } = {}) =>
      send(agent, base + path, method, { authorization, 'x-tec-eea': 'yes', ...headers }, body),
    close: async () => {
      for (const service of services) await service.stop();
      agent.destroy();
      await db.close();
    },
  };
}

function send(agent, url, method, headers, body) {
  const json = body === undefined ? undefined : JSON.stringify(body);
  const own = json === undefined ? headers : { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers: own }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: answer.statusCode, headers: answer.headers, body: text.startsWith('{') ? JSON.parse(text) : text });
      });
      answer.on('close', () => reject(new Error('no answer')));
    });
    sent.on('error', reject);
    sent.end(json);
  });
}

/** Runs `work(client)` for this many concurrent clients. */
export const atOnce = (clients, work) => Promise.all(Array.from({ length: clients }, (_, client) => work(client)));

/** Returns the created record of an answer, or throws with the answer if there is none. */
export async function made(site, path, body) {
  const answer = await site.ask(site.services[0].base, 'POST', API + path, { body });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** An event on 1 May 2031. */
export const eventOf = (title, more = {}) => ({ title, start_date: '2031-05-01 10:00:00', end_date: '2031-05-01 12:00:00', ...more });

/** The values that occur more than once. */
export function doublesIn(values) {
  const seen = new Set();
  return values.filter((value) => seen.size === seen.add(value).size);
}
