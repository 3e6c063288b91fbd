/**
 * Measures an import of many events from a WXR file, against bare inserts of the same rows. Needs a build (`npm run
 * build`).
 *
 *   node test/exchange/measure.mjs 20000          SQLite
 *   node test/exchange/measure.mjs 20000 mysql    a private MySQL or MariaDB
 *
 * The import runs in a process of its own, whose resident memory is read while it works. Bare inserts: rows of the same
 * tables, many in a statement, 200 events in a transaction, without reading a file or remembering anything.
 */
import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Where the build is. */
const DIST = process.env.DIST ?? join(ROOT, 'dist');
const built = (name) => import(pathToFileURL(join(DIST, 'src', name)).href);
const { writeWxr } = await built('exchange/wxr-write.js');
const { insertRows } = await built('storage/bulk.js');
const { openDatabase } = await built('storage/database.js');
const { migrate } = await built('storage/migrate.js');

const [events = '20000', engine = 'sqlite'] = process.argv.slice(2);
const EVENTS = Number(events);
const EVENTS_AT_ONCE = 200;
const TABLES = ['posts', 'postmeta', 'terms', 'term_taxonomy', 'term_relationships', 'tec_events', 'tec_occurrences'];
const folder = mkdtempSync(join(tmpdir(), 'fasti-measure-'));

const server = engine === 'mysql' ? await (await import('../support/private-mysql.mjs')).startPrivateMysql(folder) : undefined;
try {
  const file = join(folder, 'events.xml');
  await pipeline(
    Readable.from(writeWxr({ home: 'https://old.example.org', title: '', description: '', language: 'en', now: new Date() }, items())),
    createWriteStream(file),
  );
  const target = await place('target');
  const memory = await imported(file, target);
  const rows = await rowsOf(target);
  const bare = await place('bare');
  const bareSeconds = await inserted(rows, bare);
  const size = statSync(file).size;
  console.log(
    JSON.stringify(
      {
        engine,
        events: EVENTS,
        megabytes: round(size / 2 ** 20),
        importSeconds: round(memory.seconds),
        eventsPerSecond: Math.round(EVENTS / memory.seconds),
        bareInsertSeconds: round(bareSeconds),
        ratio: round(memory.seconds / bareSeconds),
        residentMegabytes: Math.round(memory.resident / 2 ** 20),
        startedMegabytes: Math.round(memory.started / 2 ** 20),
      },
      null,
      2,
    ),
  );
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function* items() {
  const author = 'anna';
  yield { kind: 'author', sourceId: author, id: 1, login: author, email: 'anna@example.org', displayName: 'Anna', metas: [] };
  for (let place = 0; place < 20; place += 1)
    yield {
      kind: place < 10 ? 'category' : 'tag',
      sourceId: `term-${place}`,
      id: 100 + place,
      name: `Term ${place}`,
      slug: `term-${place}`,
      description: '',
    };
  for (let place = 0; place < 200; place += 1) {
    for (const kind of ['venue', 'organizer']) {
      const id = 1000 + place * 2 + (kind === 'venue' ? 0 : 1);
      const metas =
        kind === 'venue'
          ? [
              ['_VenueCity', 'Roma'],
              ['_VenueAddress', 'Via Appia 1'],
              ['_VenueShowMap', '1'],
              ['_VenueShowMapLink', '1'],
            ]
          : [['_OrganizerPhone', '06 1234']];
      yield post(kind, id, metas);
    }
  }
  for (let place = 0; place < EVENTS; place += 1) yield event(5000 + place, place);

  function post(kind, id, metas, more = {}) {
    const date = '2026-01-01 10:00:00';
    return {
      kind,
      sourceId: String(id),
      id,
      columns: {
        post_title: `${kind} number ${id}`,
        post_name: `${kind}-number-${id}`,
        post_status: 'publish',
        post_content: `<p>${'Words about it. '.repeat(40)}</p>`,
        post_excerpt: 'In short.',
        post_date: date,
        post_date_gmt: date,
        post_modified: date,
        post_modified_gmt: date,
        comment_status: 'closed',
        ping_status: 'closed',
        guid: `https://old.example.org/?p=${id}`,
      },
      author,
      metas,
      links: [],
      terms: [],
      complete: true,
      ...more,
    };
  }

  function event(id, place) {
    const start = new Date(Date.UTC(2026, 0, 1) + place * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
    const end = new Date(Date.UTC(2026, 0, 1) + (place + 2) * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
    const metas = [
      ['_EventStartDate', start],
      ['_EventEndDate', end],
      ['_EventStartDateUTC', start],
      ['_EventEndDateUTC', end],
      ['_EventDuration', '7200'],
      ['_EventTimezone', 'UTC'],
      ['_EventTimezoneAbbr', 'UTC'],
      ['_EventOrigin', 'events-calendar'],
      ['_EventShowMap', '1'],
      ['_EventShowMapLink', '1'],
      ['_EventCost', '10'],
      ['_EventURL', 'https://example.org/'],
    ];
    const terms = [place % 10, 10 + (place % 10)].map((term) => ({
      kind: term < 10 ? 'category' : 'tag',
      sourceId: `term-${term}`,
      slug: `term-${term}`,
      name: `Term ${term}`,
    }));
    const links = [
      { key: '_EventVenueID', kind: 'venue', sourceId: String(1000 + (place % 200) * 2) },
      { key: '_EventOrganizerID', kind: 'organizer', sourceId: String(1001 + (place % 200) * 2) },
    ];
    return post('event', id, metas, { terms, links });
  }
}

/** A new database with an empty site. */
async function place(name) {
  const url = server ? `${server.url}${await created(name)}` : `sqlite:${join(folder, `${name}.sqlite`)}`;
  const { status } = await run(['init', '--url=http://localhost'], url);
  if (status !== 0) throw new Error('init failed');
  return url;
}

async function created(name) {
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ uri: server.url });
  await connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci`);
  await connection.end();
  return name;
}

function run(args, url, watch) {
  const child = spawn(process.execPath, [join(DIST, 'src/cli.js'), ...args], {
    cwd: ROOT,
    env: { ...process.env, DATABASE_URL: url, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const timer = watch ? setInterval(() => watch(child.pid), 20) : undefined;
  return new Promise((resolve) =>
    child.on('exit', (status) => {
      clearInterval(timer);
      resolve({ status });
    }),
  );
}

/** Seconds that an import took, start of the process left out, and the most memory it had resident. */
async function imported(file, url) {
  let resident = 0;
  let started = 0;
  const watch = (pid) => {
    try {
      const now = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
      started ||= now;
      resident = Math.max(resident, now);
    } catch {
      // It has ended.
    }
  };
  const idle = await seconds(() => run(['--help'], url));
  const all = await seconds(async () => {
    const { status } = await run(['import', file], url, watch);
    if (status !== 0) throw new Error(`import ended with ${status}`);
  });
  return { seconds: all - idle, resident, started };
}

async function rowsOf(url) {
  const db = await openDatabase({ url, prefix: 'wp_' });
  const rows = {};
  for (const table of TABLES) rows[table] = await db.knex(db.table(table));
  await db.close();
  return rows;
}

/** Seconds that the same rows take by bare inserts, in transactions of as many events. */
async function inserted(rows, url) {
  const db = await openDatabase({ url, prefix: 'wp_' });
  await migrate(db);
  for (const table of TABLES) await db.knex(db.table(table)).del();
  const taken = await seconds(async () => {
    const steps = Math.ceil(EVENTS / EVENTS_AT_ONCE);
    for (let step = 0; step < steps; step += 1) {
      await db.transaction(async (trx) => {
        for (const table of TABLES) {
          const size = Math.ceil(rows[table].length / steps);
          const part = rows[table].slice(step * size, (step + 1) * size);
          if (part.length > 0) await insertRows(trx, table, part);
        }
      });
    }
  });
  await db.close();
  return taken;
}

async function seconds(work) {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

function round(number) {
  return Math.round(number * 100) / 100;
}
