/** The measured site: generated events in a separate database, and the values that scenarios need from it. */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { loadSqlite } from '../../bin/sqlite.mjs';
import { connectTo } from '../support/private-mysql.mjs';
import { fasti, provideMysql } from './service.mjs';

/** Path of the API, relative to the address of the service. */
export const API = '/wp-json/calendar/events/v1';

/**
 * Measures on SQLite and, if available, on MySQL or MariaDB, by `measure({name, title, pid}, provide)`.
 * `provide(events)` returns the database of a site with this number of events: environment variables, and a function to
 * remove it. `pid`: the process ID of a database server that this script started. If `folder` is `kept`, a later run
 * gets the same databases of this `sort`. `only`: `sqlite` or `mysql`.
 */
export async function eachDatabase({ folder, kept, only, sort = '' }, measure) {
  const below = (events) => {
    const place = join(folder, `${sort}${events}`);
    mkdirSync(place, { recursive: true });
    return place;
  };
  if (only !== 'mysql') await measure({ name: 'SQLite', title: await sqliteTitle() }, async (events) => sqliteDatabase(below(events)));
  if (only === 'sqlite') return;
  const { reason, url, version, pid, stop } = await provideMysql(folder);
  if (reason !== undefined) {
    console.error(`MySQL is skipped: ${reason}`);
    return;
  }
  const named = (events) => `fasti_bench_${kept ? '' : `${process.pid}_`}${sort}${events}`;
  await measure({ name: 'MySQL', title: version, pid }, async (events) => mysqlDatabase(below(events), url, named(events)));
  await stop?.();
}

async function sqliteTitle() {
  return `SQLite ${new (loadSqlite())(':memory:').prepare('SELECT sqlite_version()').pluck().get()}`;
}

const sqliteDatabase = (folder) => ({
  env: { DATABASE_URL: `sqlite:${join(folder, 'site.sqlite')}`, UPLOADS_DIR: join(folder, 'uploads') },
  remove: async () => {},
});

/** Returns a database on a server, created if there is none of that name. */
async function mysqlDatabase(folder, address, name) {
  const run = async (sql) => {
    const connection = await connectTo(address);
    await connection.query(sql);
    await connection.end();
  };
  await run(`CREATE DATABASE IF NOT EXISTS \`${name}\` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci`);
  const url = new URL(address);
  url.pathname = `/${name}`;
  return { env: { DATABASE_URL: url.href, UPLOADS_DIR: join(folder, 'uploads') }, remove: () => run(`DROP DATABASE \`${name}\``) };
}

/**
 * Fills an empty database. Returns the header that authenticates the administrator, and the duration in milliseconds.
 * `inTwoLanguages`: half of the events in each, half of them translations of one another; else all of them in English.
 */
export async function seed(env, events, { inTwoLanguages = false } = {}) {
  const begun = performance.now();
  // The sample calendar is in English and Italian.
  fasti(['init', '--sample', '--url=http://127.0.0.1'], env);
  fasti(['seed', `--events=${events}`, ...(inTwoLanguages ? ['--every-language'] : [])], env);
  await analyze(env.DATABASE_URL);
  const seedMs = performance.now() - begun;
  const password = fasti(['user', 'application-password', 'create', 'admin', 'bench', '--porcelain'], env);
  return { authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`, seedMs };
}

/** Does the same as `seed` unless an earlier run has left a site there. */
export async function seedOnce(env, events, options) {
  try {
    fasti(['event', 'list', '--per_page=1'], env);
    return {};
  } catch {
    return await seed(env, events, options);
  }
}

/**
 * Makes MySQL update its table statistics. It does so by itself some ten seconds after many writes, but not if it is
 * stopped before; without current statistics it reads whole tables instead of using an index.
 */
async function analyze(address) {
  if (address.startsWith('sqlite:')) return;
  const { ask, close } = await askMysql(address);
  const tables = await ask('SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()');
  await ask(`ANALYZE TABLE ${tables.map(({ name }) => `\`${name}\``).join()}`);
  await close();
}

/**
 * Repeats the entries of the journal under ascending numbers until it has this number of entries, and sets the change
 * counter to the last one. Returns the number of entries.
 */
export async function lengthenJournal(address, entries) {
  const { ask, close } = address.startsWith('sqlite:') ? askSqlite(address) : await askMysql(address);
  const copied = 'writer, at, kind, type, object, what, user, was_public, is_public';
  const state = async () => (await ask('SELECT COUNT(*) AS entries, MAX(number) AS last FROM wp_fasti_journal'))[0];
  for (let now = await state(); Number(now.entries) < entries; now = await state()) {
    if (now.last === null) throw new Error('the journal has no entry to repeat');
    const rest = entries - Number(now.entries);
    await ask(
      `INSERT INTO wp_fasti_journal (number, ${copied}) SELECT number + ${now.last}, ${copied} FROM wp_fasti_journal ORDER BY number LIMIT ${rest}`,
    );
  }
  const { entries: reached, last } = await state();
  await ask(`UPDATE wp_fasti_changes SET counter = ${last} WHERE id = 1 AND counter < ${last}`);
  await close();
  return Number(reached);
}

function askSqlite(address) {
  const db = new (loadSqlite())(address.slice('sqlite:'.length));
  const ask = async (sql) => {
    const statement = db.prepare(sql);
    return statement.reader ? statement.all() : statement.run();
  };
  return { ask, close: async () => db.close() };
}

async function askMysql(address) {
  const connection = await connectTo(address, { database: new URL(address).pathname.slice(1) });
  return { ask: async (sql) => (await connection.query(sql))[0], close: () => connection.end() };
}

/** Returns the values for the names in braces in scenarios, from the site that answers at `base`. */
export async function findWords(base) {
  const ask = async (path) => (await fetch(base + API + path)).json();
  const [image] = await (await fetch(`${base}/wp-json/wp/v2/media?per_page=1`)).json();
  const { categories } = await ask('/categories?orderby=count&order=desc&per_page=2');
  const { events, total } = await ask('/events?per_page=1');
  const { venues } = await ask('/venues?per_page=1');
  const { organizers } = await ask('/organizers?per_page=1');
  const day = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const words = {
    category: categories[0].id,
    'second category': categories[1].id,
    event: events[0].id,
    venue: venues[0].id,
    organizer: organizers[0].id,
    image: image.id,
    today: day(0),
    'in a month': day(30),
  };
  return { words, total };
}

/**
 * Returns the request of a scenario: path, method, headers and body with all braces filled in. `writes`: the number of
 * writes in it.
 */
export function requestOf(
  { path: one, method = 'GET', as, body: own, batch, unchanged = false, status = 200, clients },
  words,
  authorization,
) {
  const { path, body } = batch ? batchOf({ path: one, body: own }, batch) : { path: API + one, body: own };
  const fill = (text) => text.replace(/\{([a-z ]+)\}/g, (whole, word) => words[word] ?? whole);
  return {
    path: fill(path),
    method,
    status,
    unchanged,
    clients,
    writes: batch ?? 1,
    headers: { ...(as ? { authorization } : {}), ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: fill(JSON.stringify(body)) } : {}),
  };
}

const batchOf = ({ path, body: { title, ...body } }, writes) => ({
  path: '/wp-json/batch/v1',
  body: {
    requests: Array.from({ length: writes }, (_, place) => ({
      path: API.replace('/wp-json', '') + path,
      body: { title: `${title} ${place}`, ...body },
    })),
  },
});

/**
 * Returns the statements of a request that the process has seen before, including BEGIN and COMMIT, with their values,
 * and the ID of the record if one was created. For this, the service runs within this process.
 */
export async function traceQueries(env, request) {
  process.env.TZ = 'UTC';
  const [{ readConfig }, { openSite }, { createApp }] = await Promise.all(
    ['config/config', 'site', 'http/app'].map((name) => import(`../../dist/src/${name}.js`)),
  );
  const site = await openSite(readConfig({ ...env, LOG_LEVEL: 'silent' }));
  const server = createServer(createApp(site));
  await new Promise((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  await send(server, request, 'once');
  const statements = [];
  site.db.driver.listen(({ sql, bindings = [] }) => statements.push({ sql, bindings }));
  const { id } = await send(server, request, 'twice');
  server.closeAllConnections();
  server.close();
  await site.close();
  return { statements, ...(request.method === 'POST' ? { created: id } : {}) };
}

async function send(server, { path, method, headers, body }, time) {
  const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, {
    method,
    headers,
    ...(body ? { body: body.replaceAll('[<id>]', time) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${await response.text()}`);
  return response.json();
}
