#!/usr/bin/env node
/**
 * Many writers on the same ten events and one tag see no errors and leave exact counts.
 *
 *   --writers N      concurrent writers (64)
 *   --writes N       writes per writer (40)
 *   --processes N    processes that serve them (2)
 *   --database NAME  only sqlite or mysql
 */
import { fasti } from '../bench/service.mjs';
import { API, atOnce, eventOf, made, onEachDatabase, readFlags } from './_sites.mjs';

const flags = readFlags({ writers: 64, writes: 40, processes: 2 });
const EVENTS = 10;

await onEachDatabase(flags, async (site) => {
  const term = await made(site, '/tags', { name: 'Contested' });
  const category = await made(site, '/categories', { name: 'Contested' });
  const events = [];
  for (let number = 0; number < EVENTS; number += 1) events.push((await made(site, '/events', eventOf(`Contested ${number}`))).id);

  const wishes = [
    () => ({ tags: [term.id], cost: '5' }),
    () => ({ tags: [], categories: [category.id] }),
    (writer) => ({ title: `By writer ${writer}`, tags: [term.id] }),
    () => ({ status: 'draft' }),
    () => ({ status: 'publish', categories: [] }),
    () => ({ start_date: '2031-06-01 10:00:00', end_date: '2031-06-02 12:00:00', tags: ['Contested', 'Second'] }),
  ];
  const answers = new Map();
  let slowest = 0;
  await atOnce(flags.writers, async (writer) => {
    const { base } = site.services[writer % flags.processes];
    for (let write = 0; write < flags.writes; write += 1) {
      const turn = writer * 7 + write;
      const [path, body] =
        turn % 8 === 0
          ? [`/tags/${term.id}`, { description: `By writer ${writer}` }]
          : [`/events/${events[turn % EVENTS]}`, wishes[turn % wishes.length](writer)];
      const begun = performance.now();
      const { status, body: answer } = await site.ask(base, 'PATCH', API + path, { body });
      slowest = Math.max(slowest, performance.now() - begun);
      const what = status === 200 ? '200' : `${status} ${answer.code}`;
      answers.set(what, (answers.get(what) ?? 0) + 1);
    }
  });

  const counts = await site
    .knex({ t: 'wp_term_taxonomy' })
    .select('t.term_taxonomy_id as id', 't.count')
    .whereIn('t.taxonomy', ['post_tag', 'tribe_events_cat']);
  const links = await site
    .knex({ r: 'wp_term_relationships' })
    .join({ p: 'wp_posts' }, 'p.ID', 'r.object_id')
    .where('p.post_status', 'publish')
    .select('r.term_taxonomy_id as id');
  const wrong = counts.filter(({ id, count }) => links.filter((link) => link.id === id).length !== count);
  const doctor = fasti(['doctor', '--format=json'], site.env);
  const { findings = [] } = JSON.parse(doctor);
  const errors = [...answers].filter(([what]) => what !== '200');
  return {
    line:
      `${flags.writers} writers on ${flags.processes} processes, ${flags.writers * flags.writes} writes ` +
      `to ${EVENTS} events and one tag: ${errors.reduce((sum, [, number]) => sum + number, 0)} errors, ` +
      `${wrong.length} of ${counts.length} counts wrong, slowest write ${(slowest / 1000).toFixed(1)} s`,
    faults: [
      ...errors.map(([what, number]) => `${number} times ${what}`),
      ...wrong.map(({ id, count }) => `the term ${id} is counted ${count} times`),
      ...findings.map((finding) => `doctor: ${JSON.stringify(finding)}`),
    ],
  };
});
