#!/usr/bin/env node
/**
 * Concurrent read-modify-writes under `If-Match` lose no update: the counter is exact.
 *
 *   --clients N      concurrent clients (100)
 *   --processes N    processes that serve them (2)
 *   --database NAME  only sqlite or mysql
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.mjs';
import { API, atOnce, eventOf, made, onEachDatabase, readFlags } from './_sites.mjs';

const flags = readFlags({ clients: 100, processes: 2 });

await onEachDatabase(flags, async (site) => {
  const event = await made(site, '/events', eventOf('Counter', { website: 'https://counter.example/0' }));
  const venue = await made(site, '/venues', { venue: 'Counter', phone: '1' });
  const category = await made(site, '/categories', { name: 'Counter', description: 'Count 0' });
  const counters = [
    ['event', `${API}/events/${event.id}`, 'website', (count) => `https://counter.example/${count}`],
    ['event by slug', `${API}/events/by-slug/${event.slug}`, 'website', (count) => `https://counter.example/${count}`],
    ['venue', `${API}/venues/${venue.id}`, 'phone', String],
    ['category', `${API}/categories/${category.id}`, 'description', (count) => `Count ${count}`],
    [
      'wp/v2 tag',
      `/wp-json/wp/v2/tags/${(await made(site, '/tags', { name: 'Counter', description: 'Count 0' })).id}`,
      'description',
      (count) => `Count ${count}`,
    ],
  ];
  const figures = [];
  let busy = 0;
  const faults = [];
  for (const [name, path, field, text] of counters) {
    /** Repeats a request while the service is too busy for it. */
    const insist = (...args) =>
      until('an answer other than 503', async () => {
        const answer = await site.ask(...args);
        if (answer.status !== 503) return answer;
        busy += 1;
        await sleep(1000 * Number(answer.headers['retry-after']) * Math.random());
      });
    const read = async (base) => {
      const { status, body, headers } = await insist(base, 'GET', path);
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      return { count: Number(/\d+/.exec(body[field])[0]), tag: headers.etag };
    };
    const { count: before } = await read(site.services[0].base);
    let refused = 0;
    await atOnce(flags.clients, async (client) => {
      const { base } = site.services[client % flags.processes];
      for (;;) {
        const { count, tag } = await read(base);
        const { status, body } = await insist(base, 'POST', path, { headers: { 'if-match': tag }, body: { [field]: text(count + 1) } });
        if (status === 200) return;
        if (status !== 412) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
        refused += 1;
      }
    });
    const { count } = await read(site.services[0].base);
    figures.push(`${name} ${count - before} (${refused} times 412)`);
    if (count - before !== flags.clients) faults.push(`${name} counted to ${count - before} instead of ${flags.clients}`);
  }
  return {
    line: `${flags.clients} clients at once on ${flags.processes} processes counted: ${figures.join(', ')}; ${busy} times 503`,
    faults,
  };
});
