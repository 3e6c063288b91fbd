#!/usr/bin/env node
/**
 * Clients of two processes create records of the same few names: no duplicate slugs, titles or terms.
 *
 *   --creates N      creates per process, of all kinds together (2000)
 *   --clients N      concurrent clients per process (32)
 *   --names N        different names (10)
 *   --processes N    processes that serve them (2)
 *   --database NAME  only sqlite or mysql
 */
import { API, atOnce, doublesIn, eventOf, onEachDatabase, readFlags } from './_sites.mjs';

const BATCH = '/wp-json/batch/v1';
/** The path of a write within a batch. */
const EVENTS = `${API.replace('/wp-json', '')}/events`;

const flags = readFlags({ creates: 2000, clients: 32, names: 10, processes: 2 });

await onEachDatabase(flags, async (site) => {
  const kinds = [
    (name) => ['/events', eventOf(name), [201]],
    (name) => ['/events', eventOf(`Of ${name}`, { slug: `wanted ${name}` }), [201]],
    (name) => ['/events', eventOf(name, { tags: [`Brought ${name}`], venue: { venue: `Brought ${name}` } }), [201]],
    (name, other) => [
      '/events',
      eventOf(name, { tags: [`Two ${name}`, `Two ${other}`], categories: [`Two ${other}`, `Two ${name}`] }),
      [201],
    ],
    (name, other) => [
      '/events',
      eventOf(name, { venue: { venue: `Two ${name}` }, organizer: [{ organizer: `Two ${other}` }, { organizer: `Two ${name}` }] }),
      [201],
    ],
    (name, other) => [
      BATCH,
      { requests: [name, other, name].map((one) => ({ path: EVENTS, body: eventOf(one, { tags: [`Brought ${other}`, `Two ${one}`] }) })) },
      [207],
    ],
    (name) => ['/venues', { venue: `Hall ${name}` }, [201]],
    (name) => ['/organizers', { organizer: `Club ${name}` }, [201]],
    (name) => ['/categories', { name: `Category ${name}` }, [201, 400]],
    (name) => ['/tags', { name: `Tag ${name}` }, [201, 400]],
  ];
  const anyName = () => `name ${Math.floor(Math.random() * flags.names)}`;
  const faults = [];
  let busy = 0;
  let next = 0;
  const all = flags.creates * flags.processes;
  await atOnce(flags.clients * flags.processes, async (client) => {
    const { base } = site.services[client % flags.processes];
    while (next < all) {
      next += 1;
      const [path, body, expected] = kinds[next % kinds.length](anyName(), anyName());
      const answer = await site.ask(base, 'POST', path === BATCH ? path : API + path, { body });
      const refused = (answer.body.responses ?? []).filter(({ status }) => status !== 201);
      if (refused.length > 0) faults.push(`in a batch: ${JSON.stringify(refused)}`);
      if (answer.status === 503) busy += 1;
      else if (!expected.includes(answer.status) || (answer.status === 400 && answer.body.code !== 'term_exists'))
        faults.push(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
  });

  const posts = await site
    .knex('wp_posts')
    .whereIn('post_type', ['tribe_events', 'tribe_venue', 'tribe_organizer'])
    .select('post_type', 'post_name', 'post_title');
  const terms = await site
    .knex({ t: 'wp_terms' })
    .join({ tt: 'wp_term_taxonomy' }, 'tt.term_id', 't.term_id')
    .select('tt.taxonomy', 't.name', 't.slug');
  const doubles = {
    slug: doublesIn(posts.map(({ post_type: type, post_name: slug }) => `${type} ${slug}`)),
    title: doublesIn(
      posts.filter(({ post_type: type }) => type !== 'tribe_events').map(({ post_type: type, post_title: title }) => `${type} ${title}`),
    ),
    term: doublesIn(terms.map(({ taxonomy, name }) => `${taxonomy} ${name}`)),
    'slug of a term': doublesIn(terms.map(({ taxonomy, slug }) => `${taxonomy} ${slug}`)),
  };
  const found = Object.entries(doubles).flatMap(([what, list]) => list.map((one) => `two of one ${what}: ${one}`));
  return {
    line:
      `${all} creates by ${flags.clients} clients on each of ${flags.processes} processes over ${flags.names} names: ` +
      `${posts.length} posts, ${terms.length} terms, ${found.length} duplicates, ${busy} times 503`,
    faults: [...faults.slice(0, 10), ...found.slice(0, 10)],
  };
});
