#!/usr/bin/env node
/**
 * WordPress and Fasti write to one database in turn: soon after each write, cached answers equal the tables.
 *
 * Two processes serve the sample site, one with the cache and one without it. Random writes come through either, or
 * past both as statements of WordPress, each of which commits by itself. After each write the process with the cache is
 * asked until its answers equal those of the other. Counts of terms and the calendar's options are checked, too.
 *
 *   --writes N       number of writes (1000)
 *   --warm N         percentage of writes before which all answers are cached (15)
 *   --seed N         of the random numbers (1)
 *   --database NAME  only sqlite or mysql
 */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { unserialize } from 'php-serialize';
import { startService } from '../bench/service.mjs';
import { API, eachDatabase } from '../bench/site.mjs';
import { scratchFolder } from '../support/leave-nothing.mjs';
import { until } from '../support/until.mjs';

const { values: flags } = parseArgs({
  options: {
    writes: { type: 'string', default: '1000' },
    warm: { type: 'string', default: '15' },
    seed: { type: 'string', default: '1' },
    database: { type: 'string' },
  },
});
const SITE_TOOL = fileURLToPath(new URL('../support/site-tool.mjs', import.meta.url));
const { admin } = JSON.parse(readFileSync(new URL('../fixtures/credentials.json', import.meta.url), 'utf8'));
const AUTHORIZATION = `Basic ${Buffer.from(`admin:${admin.application_password}`).toString('base64')}`;
const EVERYTHING = 'start_date=2019-01-01&end_date=2040-12-31&per_page=50';
const PATHS = [
  `/events?${EVERYTHING}`,
  `/events?${EVERYTHING}&page=2`,
  `/events?${EVERYTHING}&featured=true`,
  `/events?${EVERYTHING}&categories=2,5`,
  `/events?${EVERYTHING}&tags=11,12`,
  '/events',
  '/venues?per_page=50',
  '/organizers?per_page=50',
  '/categories?per_page=50&hide_empty=false',
  '/tags?per_page=50&hide_empty=false',
  '/events/44',
  '/venues/12',
].map((path) => API + path);
/**
 * Time after which an answer must be right in any case: the configured bound, the time that a process may take to look,
 * and an allowance for a slow machine.
 */
const LONGEST_MS = 70_000;
const ENOUGH_MS = 250;
/** Number of connections that a write needs. */
const CONNECTIONS = 3;

const random = generator(Number(flags.seed));
const below = (number) => Math.floor(random() * number);
const oneOf = (list) => list[below(list.length)];

async function run() {
  const folder = scratchFolder('fasti-beside');
  await eachDatabase({ folder, kept: false, only: flags.database }, async ({ name, title }, provide) => {
    const { env, remove } = await provide(0);
    const { status, stderr } = spawnSync(process.execPath, [SITE_TOOL, 'load'], { env: { ...process.env, ...env }, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    const { openDatabase } = await import('../../dist/src/storage/engine/database.js');
    const db = await openDatabase({ url: env.DATABASE_URL, prefix: 'wp_' });
    const shared = { ...env, LOG_LEVEL: 'silent', SHARED_WITH_WORDPRESS: 'on', FOLLOW_WORDPRESS: 'on' };
    const remembering = await startService(shared, '/health/ready');
    // It reads WordPress's tables only, and is always right.
    const forgetful = await startService({ ...shared, CACHE: 'off', FOLLOW_WORDPRESS: 'off' }, '/health/ready');
    try {
      await measure(title, name, tablesOf(db), { remembering: remembering.base, forgetful: forgetful.base });
    } finally {
      await remembering.stop();
      await forgetful.stop();
      await db.close();
      await remove();
    }
  });
}

/** Builds statements on any table, each of which commits by itself, and transactions. */
const tablesOf = (db) =>
  Object.assign((...args) => db.knex(...args), {
    raw: (...args) => db.knex.raw(...args),
    // Opened in advance: on a busy machine, opening may take longer than the second that a statement waits.
    connected: () =>
      until('a connection', () =>
        Promise.all(Array.from({ length: CONNECTIONS }, () => db.knex.raw('SELECT 1'))).catch((error) => {
          if (error.reason !== 'exhausted') throw error;
        }),
      ),
    transaction: (work) => db.transaction((transaction) => work(transaction.knex)),
  });

async function measure(title, engine, knex, { remembering, forgetful }) {
  const counted = await wrongCounts(knex);
  const sources = {
    WordPress: () => oneOf([...WORDPRESS, ...(engine === 'MySQL' ? HARD : [])]),
    'the process that remembers': () => fastiWrite(remembering),
    'another process': () => fastiWrite(forgetful),
  };
  const found = new Map(Object.keys(sources).map((source) => [source, []]));
  const faults = [];
  let warmed = 0;
  for (let write = 1; write <= Number(flags.writes); write += 1) {
    if (random() * 100 < Number(flags.warm)) warmed += await warm(remembering);
    const source = oneOf(['WordPress', 'WordPress', 'the process that remembers', 'another process']);
    const work = sources[source]();
    await knex.connected();
    await work(knex);
    const { stale, wrong } = await staleness(remembering, forgetful);
    found.get(source).push(stale);
    if (wrong.length > 0) faults.push(`write ${write} (${work.name || source}): ${wrong.join(', ')} still wrong after ${LONGEST_MS} ms`);
    if (write % 100 === 0) console.log(`  ${write} writes, ${faults.length} faults`);
    if (write % 50 === 0)
      faults.push(...(await wrongCounts(knex)).filter((line) => !counted.includes(line)), ...(await wrongOptions(knex)));
  }
  const lines = [...found].map(([source, times]) => {
    const sorted = times.toSorted((one, other) => one - other);
    const [median = 0, last = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
    return `${times.length} by ${source}: stale for ${median.toFixed(0)} ms in the middle, ${last.toFixed(0)} ms at most`;
  });
  console.log(`${title}: ${flags.writes} writes, everything remembered before ${warmed} of them`);
  for (const line of lines) console.log(`  ${line}`);
  for (const fault of faults) console.error(`  MISSED: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

// ------------------------------------------------------------------------------------------------- asking
/** Digests of the answers of all URLs, which suffice for the comparison, and the time of each request. */
async function answers(base) {
  const found = [];
  for (const path of PATHS) {
    const { at, text } = await available(path, async () => {
      const at = performance.now();
      const response = await fetch(base + path);
      return { status: response.status, at, text: await response.text() };
    });
    found.push({ at, digest: createHash('sha1').update(text).digest('hex') });
  }
  return found;
}

/** The result of `ask`, repeated while the answer is 503 because a busy machine provides no connection in time. */
const available = (what, ask) =>
  until(what, async () => {
    const answer = await ask();
    return answer.status === 503 ? undefined : answer;
  });

/**
 * The time in milliseconds, after a write that has just ended, until which a caller was given a cached answer that
 * differed from the tables.
 */
async function staleness(remembering, forgetful) {
  const begun = performance.now();
  const readings = [];
  const read = async () => readings.push(await answers(remembering));
  const truth = answers(forgetful);
  do await read();
  while (performance.now() - begun < ENOUGH_MS);
  const right = (await truth).map(({ digest }) => digest);
  const wrongIn = (reading) => reading.filter(({ digest }, index) => digest !== right[index]);
  while (wrongIn(readings.at(-1)).length > 0 && performance.now() - begun < LONGEST_MS) {
    await sleep(50);
    await read();
  }
  const latest = Math.max(begun, ...readings.flatMap(wrongIn).map(({ at }) => at));
  return { stale: latest - begun, wrong: PATHS.filter((_, index) => readings.at(-1)[index].digest !== right[index]) };
}

/** Waits until earlier writes have settled, and has all answers cached. Returns 1. */
async function warm(base) {
  await sleep(4000);
  await answers(base);
  await answers(base);
  return 1;
}

// ------------------------------------------------------------------------------------------------- Fasti writes
/** A random write through the interface. */
function fastiWrite(base) {
  const send = async (method, path, body) => {
    const response = await available(path, () =>
      fetch(`${base}${API}${path}`, {
        method,
        headers: { Authorization: AUTHORIZATION, 'Content-Type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    );
    const answer = await response.json();
    if (response.status >= 400 && response.status !== 404)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const kinds = [
    async function create() {
      await send('POST', '/events', { title: word('Event'), ...dates(), categories: [oneOf([2, 3, 5])], tags: [oneOf([11, 12])] });
    },
    async function rename(knex) {
      await send('PATCH', `/events/${await anEvent(knex)}`, { title: word('Renamed') });
    },
    async function move(knex) {
      await send('PATCH', `/events/${await anEvent(knex)}`, dates());
    },
    async function assign(knex) {
      await send('PATCH', `/events/${await anEvent(knex)}`, {
        categories: [oneOf([2, 3, 5])],
        tags: oneOf([[], [11], [11, 12]]),
        featured: random() < 0.3,
      });
    },
    async function trash(knex) {
      await send('DELETE', `/events/${await anEvent(knex)}`);
    },
    async function venue() {
      await send('PATCH', '/venues/12', { city: word('City') });
    },
    async function category() {
      await send('POST', '/categories', { name: word('Category'), parent: oneOf([2, 5]) });
    },
  ];
  return oneOf(kinds);
}

const word = (text) => `${text} ${randomBytes(4).toString('hex')}`;

/** A day in winter, when the site's time zone is an hour ahead of UTC. */
function dates() {
  const day = `20${27 + below(8)}-0${1 + below(2)}-${String(1 + below(28)).padStart(2, '0')}`;
  return { start_date: `${day} 10:00:00`, end_date: `${day} 12:00:00` };
}

async function anEvent(knex) {
  const rows = await knex('wp_posts')
    .where({ post_type: 'tribe_events', post_status: 'publish', post_password: '' })
    .whereNot('ID', 44)
    .select('ID');
  return rows.length === 0 ? 44 : oneOf(rows).ID;
}

// ------------------------------------------------------------------------------------------------- WordPress writes
/** The statements of WordPress and the calendar plugin, in their order; each commits by itself. */
const WORDPRESS = [
  async function createsAnEvent(knex) {
    const title = word('Event');
    const { start_date: start, end_date: end } = dates();
    const now = clock();
    const row = {
      post_author: 1,
      post_content: '',
      post_title: title,
      post_excerpt: '',
      post_status: 'publish',
      post_type: 'tribe_events',
    };
    const rest = { to_ping: '', pinged: '', post_content_filtered: '', guid: '', post_name: title.toLowerCase().replaceAll(' ', '-') };
    const times = { post_date: now, post_date_gmt: now, post_modified: now, post_modified_gmt: now };
    const [id] = await knex('wp_posts').insert({ ...row, ...rest, ...times });
    await knex('wp_posts')
      .where('ID', id)
      .update({ guid: `http://127.0.0.1:8081/event/${rest.post_name}/` });
    await note(knex);
    const [startUtc, endUtc] = [anHourBefore(start), anHourBefore(end)];
    const metas = {
      _EventStartDate: start, _EventEndDate: end, _EventStartDateUTC: startUtc, _EventEndDateUTC: endUtc, _EventDuration: '7200', _EventVenueID: '12',
      _EventTimezone: 'Europe/Rome', _EventTimezoneAbbr: 'CET', _EventCost: String(below(90)), _EventOrigin: 'events-calendar',
    }; // biome-ignore format: pairs
    for (const [meta_key, meta_value] of Object.entries(metas)) await knex('wp_postmeta').insert({ post_id: id, meta_key, meta_value });
    const span = { start_date: start, end_date: end, start_date_utc: startUtc, end_date_utc: endUtc, duration: 7200 };
    const [event] = await knex('wp_tec_events').insert({ post_id: id, timezone: 'Europe/Rome', hash: '', ...span });
    await note(knex);
    await knex('wp_tec_occurrences').insert({
      event_id: event,
      post_id: id,
      ...span,
      hash: randomBytes(20).toString('hex'),
      updated_at: now,
    });
    await assign(knex, id, oneOf([2, 3, 5]));
    await note(knex);
  },
  async function renamesAnEvent(knex) {
    const now = clock();
    const changes = { post_title: word('Renamed'), post_modified: now, post_modified_gmt: now };
    await knex('wp_posts')
      .where('ID', await anEvent(knex))
      .update(changes);
    await note(knex);
  },
  async function movesAnEvent(knex) {
    const id = await anEvent(knex);
    const { start_date: start, end_date: end } = dates();
    const [startUtc, endUtc] = [anHourBefore(start), anHourBefore(end)];
    const metas = {
      _EventStartDate: start,
      _EventEndDate: end,
      _EventStartDateUTC: startUtc,
      _EventEndDateUTC: endUtc,
      _EventTimezone: 'Europe/Rome',
    };
    for (const [meta_key, meta_value] of Object.entries(metas))
      await knex('wp_postmeta').where({ post_id: id, meta_key }).update({ meta_value });
    const span = { start_date: start, end_date: end, start_date_utc: startUtc, end_date_utc: endUtc, duration: 7200 };
    await knex('wp_tec_events')
      .where('post_id', id)
      .update({ ...span, timezone: 'Europe/Rome' });
    const old = await knex('wp_tec_occurrences').where('post_id', id).first();
    await knex('wp_tec_occurrences').where('post_id', id).delete();
    if (old) await knex('wp_tec_occurrences').insert({ ...old, ...span, hash: randomBytes(20).toString('hex') });
    await note(knex);
  },
  async function trashesAnEvent(knex) {
    const id = await anEvent(knex);
    const row = await knex('wp_posts').where('ID', id).first();
    const metas = { _wp_trash_meta_status: 'publish', _wp_trash_meta_time: '1795385369', _wp_desired_post_slug: row.post_name };
    for (const [meta_key, meta_value] of Object.entries(metas)) await knex('wp_postmeta').insert({ post_id: id, meta_key, meta_value });
    await knex('wp_posts')
      .where('ID', id)
      .update({ post_name: `${row.post_name}__trashed` });
    await knex('wp_posts').where('ID', id).update({ post_status: 'trash' });
    for (const { term_taxonomy_id } of await knex('wp_term_relationships').where('object_id', id)) await recount(knex, term_taxonomy_id);
    await note(knex);
  },
  async function assignsATerm(knex) {
    await assign(knex, await anEvent(knex), oneOf([2, 3, 5, 11, 12]));
  },
  async function takesATermAway(knex) {
    const links = await knex('wp_term_relationships as r')
      .join('wp_posts as p', 'p.ID', 'r.object_id')
      .where('p.post_status', 'publish')
      .select('r.*');
    if (links.length === 0) return;
    const { object_id, term_taxonomy_id } = oneOf(links);
    await knex('wp_term_relationships').where({ object_id, term_taxonomy_id }).delete();
    await recount(knex, term_taxonomy_id);
  },
  async function addsACategory(knex) {
    const name = word('Category');
    const [term_id] = await knex('wp_terms').insert({ name, slug: name.toLowerCase().replaceAll(' ', '-'), term_group: 0 });
    await knex('wp_term_taxonomy').insert({ term_id, taxonomy: 'tribe_events_cat', description: '', parent: 2, count: 0 });
    await knex('wp_options').where('option_name', 'tribe_events_cat_children').delete();
  },
  async function renamesATerm(knex) {
    await knex('wp_terms')
      .where('term_id', oneOf([2, 3, 5, 11, 12]))
      .update({ name: word('Term') });
  },
  async function changesAMeta(knex) {
    await knex('wp_postmeta')
      .where({ post_id: 12, meta_key: '_VenueCity' })
      .update({ meta_value: word('City') });
  },
  async function changesAnOption(knex) {
    await knex('wp_options')
      .where('option_name', 'date_format')
      .update({ option_value: oneOf(['F j, Y', 'j F Y', 'Y-m-d']) });
  },
  async function changesTheName(knex) {
    await knex('wp_options')
      .where('option_name', 'blogname')
      .update({ option_value: word('Calendar') });
  },
  async function locksAPage(knex) {
    await knex('wp_postmeta').insert({ post_id: 2, meta_key: '_edit_lock', meta_value: `${below(1e9)}:1` });
  },
];

/**
 * Changes that the server reports late or with an old time: a long statement, a long transaction with a quick statement
 * during it, a rebuilt table.
 */
const HARD = [
  async function changesSlowly(knex) {
    await Promise.all([
      knex.raw("UPDATE wp_postmeta SET meta_value = IF(SLEEP(1) = 0, ?, '') WHERE post_id = 12 AND meta_key = '_VenueCity'", [
        word('City'),
      ]),
      quick(knex),
    ]);
  },
  async function changesInATransaction(knex) {
    await knex.transaction(async (transaction) => {
      await transaction('wp_postmeta')
        .where({ post_id: 12, meta_key: '_VenueCity' })
        .update({ meta_value: word('City') });
      await quick(knex);
      await sleep(500 + below(2500));
    });
  },
  async function rebuildsATable(knex) {
    await knex('wp_posts')
      .where('ID', 44)
      .update({ post_title: word('Rebuilt') });
    await knex.raw('OPTIMIZE TABLE wp_posts');
  },
];

const quick = (knex) =>
  knex('wp_posts')
    .where('ID', 2)
    .update({ post_title: word('Page') });
const clock = () => new Date().toISOString().slice(0, 19).replace('T', ' ');
const anHourBefore = (time) => new Date(Date.parse(`${time.replace(' ', 'T')}Z`) - 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
const note = (knex) =>
  knex('wp_options')
    .where('option_name', 'tribe_last_save_post')
    .update({ option_value: String(Date.now() / 1000) });

async function assign(knex, id, term_taxonomy_id) {
  const link = { object_id: id, term_taxonomy_id };
  if (!(await knex('wp_term_relationships').where(link).first())) await knex('wp_term_relationships').insert({ ...link, term_order: 0 });
  await recount(knex, term_taxonomy_id);
}

async function recount(knex, id) {
  const count = (
    await knex('wp_term_relationships as r')
      .join('wp_posts as p', 'p.ID', 'r.object_id')
      .where({ 'r.term_taxonomy_id': id, 'p.post_status': 'publish' })
  ).length;
  await knex('wp_term_taxonomy').where('term_taxonomy_id', id).update({ count });
}

// ------------------------------------------------------------------------------------------------- both sides
/** Terms whose count differs from the number of their published records. */
async function wrongCounts(knex) {
  const terms = await knex('wp_term_taxonomy').whereIn('taxonomy', ['tribe_events_cat', 'post_tag']);
  const links = await knex('wp_term_relationships as r')
    .join('wp_posts as p', 'p.ID', 'r.object_id')
    .where('p.post_status', 'publish')
    .select('r.term_taxonomy_id');
  return terms.flatMap(({ term_taxonomy_id: id, count }) => {
    const real = links.filter((link) => link.term_taxonomy_id === id).length;
    return count === real ? [] : [`term ${id} counts ${count}, ${real} records have it`];
  });
}

/** Options that the other program could not read. */
async function wrongOptions(knex) {
  const option = async (name) => (await knex('wp_options').where('option_name', name).first())?.option_value;
  const faults = [];
  if (!(Number(await option('tribe_last_save_post')) > 0)) faults.push('tribe_last_save_post is no time');
  const settings = unserialize(await option('tribe_events_calendar_options'));
  if (typeof settings.earliest_date !== 'string') faults.push('the calendar has lost its earliest date');
  const children = await option('tribe_events_cat_children');
  if (children) {
    const parents = await knex('wp_term_taxonomy').where('taxonomy', 'tribe_events_cat').where('parent', '>', 0);
    const listed = Object.values(unserialize(children)).flatMap((ids) => Object.values(ids)).length;
    if (listed !== parents.length) faults.push(`tribe_events_cat_children lists ${listed} categories, ${parents.length} hang below others`);
  }
  return faults;
}

/** Random numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

await run();
