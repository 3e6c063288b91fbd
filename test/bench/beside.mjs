#!/usr/bin/env node
/**
 * What `npm run bench:beside` runs: lists without memory beside a program that saves an event every ten seconds as
 * WordPress does, in short statements that commit by themselves, on MySQL or MariaDB. A process that follows it takes
 * turns with one that believes to be alone and reads the same index. Prints both rates and what part the first is of
 * the second, in the middle over all rounds.
 *
 *   --events N    how many events (20000)
 *   --rounds N    how many turns each has, of twenty seconds and ten (6)
 *   --keep FOLDER where the site is left for the next run
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { connectTo } from '../support/private-mysql.mjs';
import { startService } from './service.mjs';
import { API, eachDatabase, seedOnce } from './site.mjs';

const { values: flags } = parseArgs({
  options: { events: { type: 'string', default: '20000' }, rounds: { type: 'string', default: '6' }, keep: { type: 'string' } },
});
const SAVE_MS = 10_000;
/** Between two statements of a save. */
const STATEMENT_MS = 1;
const CLIENTS = 4;
/** For the metrics, which say whether lists are read from the index. */
const TOKEN = 'the-token-of-the-benchmark';
const PATHS = ['/events', '/events?start_date=2027-01-01&end_date=2027-02-01'];
const temporary = mkdtempSync(join(tmpdir(), 'fasti-beside-'));

try {
  await eachDatabase({ folder: flags.keep ?? temporary, kept: flags.keep !== undefined, only: 'mysql' }, async ({ title }, provide) => {
    const { env, remove } = await provide(`${flags.events}_beside`);
    seedOnce(env, Number(flags.events));
    const settings = { ...env, CACHE: 'off', LOG_LEVEL: 'silent' };
    const following = await startService({ ...settings, SHARED_WITH_WORDPRESS: 'on', METRICS_TOKEN: TOKEN }, '/health/ready');
    await untilIndexed(following.base);
    const alone = await startService({ ...settings, SHARED_WITH_WORDPRESS: 'off' }, '/health/ready');
    const writer = await startWriter(env.DATABASE_URL);
    try {
      console.log(`${title}, ${flags.events} events, a save every ${SAVE_MS / 1000} s, ${CLIENTS} clients, nothing from memory:`);
      for (const path of PATHS) await measure(path, { following: following.base, alone: alone.base });
      console.log(`${writer.saves()} saves`);
    } finally {
      await writer.stop();
      await following.stop();
      await alone.stop();
      if (flags.keep === undefined) await remove();
    }
  });
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

async function measure(path, { following, alone }) {
  const rounds = [];
  for (const base of [following, alone]) await load(base + API + path, 3);
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    // Whole times from one save to the next, with half of the other before and half of it after.
    const before = await load(alone + API + path, SAVE_MS / 2000);
    const beside = await load(following + API + path, (2 * SAVE_MS) / 1000);
    const after = await load(alone + API + path, SAVE_MS / 2000);
    rounds.push({ beside, alone: (before + after) / 2, part: (2 * beside) / (before + after) });
  }
  const middle = (name) => rounds.map((round) => round[name]).toSorted((one, other) => one - other)[rounds.length >> 1];
  const parts = rounds.map(({ part }) => part.toFixed(2)).join(' ');
  console.log(
    `  ${path}: ${middle('beside').toFixed(0)} a second beside it, ${middle('alone').toFixed(0)} alone: ${middle('part').toFixed(2)} (${parts})`,
  );
}

async function load(url, duration) {
  const { requests, errors, non2xx, duration: took } = await autocannon({ url, connections: CLIENTS, duration });
  if (errors + non2xx > 0) throw new Error(`${url}: ${errors + non2xx} requests failed`);
  return requests.total / took;
}

async function untilIndexed(base) {
  for (const until = Date.now() + 300_000; ; await sleep(200)) {
    await fetch(`${base}${API}/events`);
    if (/^fasti_index_in_use.* 1$/m.test(await (await fetch(`${base}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } })).text()))
      return;
    if (Date.now() > until) throw new Error('the index was not made');
  }
}

/** Saves an event every ten seconds. */
async function startWriter(address) {
  const connection = await connectTo(address);
  await connection.query(`USE \`${new URL(address).pathname.slice(1)}\``);
  const [rows] = await connection.query("SELECT ID FROM wp_posts WHERE post_type = 'tribe_events' AND post_status = 'publish' LIMIT 500");
  let saves = 0;
  const save = async () => {
    saves += 1;
    const { ID: id } = rows[saves % rows.length];
    for (const [sql, values] of statementsOf(id, saves)) {
      await connection.query(sql, values);
      await sleep(STATEMENT_MS);
    }
  };
  let running = Promise.resolve();
  const clock = setInterval(() => (running = running.then(save)), SAVE_MS);
  return {
    saves: () => saves,
    stop: async () => {
      clearInterval(clock);
      await running;
      await connection.end();
    },
  };
}

/** What WordPress and the calendar write when an event is saved. */
function statementsOf(id, number) {
  const now = new Date().toISOString().slice(0, 19).replace('T', ' ');
  const noted = ['UPDATE wp_options SET option_value = ? WHERE option_name = ?', [String(Date.now() / 1000), 'tribe_last_save_post']];
  const metas = ['_EventOrigin', '_EventCost', '_EventURL', '_EventPhone', '_EventNote', '_EventShowMap'];
  return [
    ['UPDATE wp_posts SET post_title = ?, post_modified = ?, post_modified_gmt = ? WHERE ID = ?', [`Saved ${number}`, now, now, id]],
    noted,
    ...metas.flatMap((key) => [
      ['DELETE FROM wp_postmeta WHERE post_id = ? AND meta_key = ?', [id, key]],
      ['INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (?, ?, ?)', [id, key, String(number)]],
    ]),
    ['UPDATE wp_tec_occurrences SET updated_at = ? WHERE post_id = ?', [now, id]],
    ['UPDATE wp_term_taxonomy SET count = count WHERE term_taxonomy_id = 1', []],
    noted,
    ['DELETE FROM wp_postmeta WHERE post_id = ? AND meta_key = ?', [id, '_edit_last']],
    ['INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (?, ?, ?)', [id, '_edit_last', '1']],
  ];
}
