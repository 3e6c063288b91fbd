#!/usr/bin/env node
/**
 * Retries with an `Idempotency-Key` create no duplicates, though a proxy drops a third of the answers and processes are
 * killed.
 *
 *   --tries N        requests sent in total (10000)
 *   --clients N      concurrent clients (32)
 *   --kills N        number of times that a process is killed and replaced (6)
 *   --processes N    processes that serve them (2)
 *   --database NAME  only sqlite or mysql
 */
import { randomUUID } from 'node:crypto';
import { createServer, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.mjs';
import { API, atOnce, doublesIn, eventOf, made, onEachDatabase, readFlags } from './_sites.mjs';

const flags = readFlags({ tries: 10_000, clients: 32, kills: 6, processes: 2 });
const DROPPED = 1 / 3;

await onEachDatabase(flags, async (site) => {
  const proxy = await startProxy(() => site.services[Math.floor(Math.random() * flags.processes)].base);
  const counter = await made(site, '/events', eventOf('Counter'));
  const kinds = [
    (intent) => ['/events', eventOf(`Event ${intent}`)],
    (intent) => ['/events', eventOf('Event of one title', { website: `https://intent.example/${intent}` })],
    (intent) => ['/tags', { name: `Tag ${intent}` }],
    (intent) => ['/organizers', { organizer: `Organizer ${intent}` }],
    (intent) => [`/events/${counter.id}`, { cost: String(intent) }],
  ];
  const count = { tries: 0, intents: 0, unanswered: 0, waited: 0, replayed: 0, unavailable: 0 };
  const faults = [];
  const records = [];

  /** Repeats one write until it is answered. */
  const insist = async (intent) => {
    const [path, body] = kinds[intent % kinds.length](intent);
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await until(`an answer to ${path}`, async () => {
      count.tries += 1;
      const got = await site.ask(proxy.base, 'POST', API + path, { headers, body }).catch(() => undefined);
      if (got !== undefined && got.status !== 409 && got.status !== 503) return got;
      count[got === undefined ? 'unanswered' : got.status === 409 ? 'waited' : 'unavailable'] += 1;
      if (got !== undefined) await sleep(1000 * Number(got.headers['retry-after']) * Math.random());
    });
    if (answer.headers['idempotency-replayed']) count.replayed += 1;
    if (answer.status >= 300) faults.push(`${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
    records.push(`${path.split('/')[1]} ${answer.body.id}`);
    return path === '/events' || path === '/tags' || path === '/organizers';
  };

  let creating = 0;
  let killed = 0;
  const killing = (async () => {
    for (; killed < flags.kills; killed += 1) {
      await until('the next kill', () => count.tries >= ((killed + 1) * flags.tries) / (flags.kills + 1));
      await site.replace(killed % flags.processes);
    }
  })();
  await atOnce(flags.clients, async () => {
    while (count.tries < flags.tries) {
      count.intents += 1;
      if (await insist(count.intents)) creating += 1;
    }
  });
  await killing;
  await proxy.close();

  const created = records.filter((record) => record !== `events ${counter.id}`);
  const stored = await site
    .knex('wp_posts')
    .whereIn('post_type', ['tribe_events', 'tribe_organizer'])
    .whereNot('ID', counter.id)
    .count({ n: '*' });
  const terms = await site.knex('wp_term_taxonomy').where('taxonomy', 'post_tag').count({ n: '*' });
  const total = Number(stored[0].n) + Number(terms[0].n);
  const doubles = doublesIn(created);
  if (total !== creating) faults.push(`${total} records for ${creating} writes that make one`);
  if (doubles.length > 0) faults.push(`one record was the answer to several writes: ${doubles.slice(0, 5).join(', ')}`);
  return {
    line:
      `${count.tries} tries, ${count.unanswered} without an answer, ${killed} processes killed: ` +
      `${total} records for ${creating} intents to create one ` +
      `(${count.replayed} answers given again, ${count.waited} times 409, ${count.unavailable} times 503)`,
    faults: faults.slice(0, 10),
  };
});

/** Passes requests on and drops a third of the answers when they arrive. */
async function startProxy(target) {
  const server = createServer((from, to) => {
    const drops = Math.random() < DROPPED;
    const sent = request(target() + from.url, { method: from.method, headers: from.headers, agent: false }, (answer) => {
      if (drops) {
        answer.resume();
        answer.on('end', () => to.destroy());
        answer.on('error', () => to.destroy());
        return;
      }
      to.writeHead(answer.statusCode, answer.headers);
      answer.on('error', () => to.destroy());
      answer.pipe(to);
    });
    sent.on('error', () => to.destroy());
    from.pipe(sent);
  });
  await new Promise((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  return {
    base: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((closed) => {
        server.close(closed);
        server.closeAllConnections();
      }),
  };
}
