#!/usr/bin/env node
/**
 * Loads the sample site into the database of a running service, for replaying recorded requests against it.
 *
 *   site-tool.mjs load      creates missing tables (needs `npm run build`), loads the site and its files
 *   site-tool.mjs reset     restores rows and files quickly
 *   site-tool.mjs setup     reads options as JSON from stdin and sets them; an object contains members to change in a
 *                           serialized option
 *   site-tool.mjs rows      reads JSON from stdin: {"posts": [ids], "terms": [ids], "after": {"posts": n, "terms": n}},
 *                           and prints the matching rows as JSON
 *
 * Environment: DATABASE_URL (sqlite:PATH or mysql://...), TABLE_PREFIX (wp_), UPLOADS_DIR (no files if not set),
 * FIXTURE (a file to use instead of the sample site), FIXTURE_UPLOADS (a folder to use instead of its uploads).
 */
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSqlite } from '../../bin/sqlite.mjs';
import { FIXTURES, optionScript, optionText, readFixture, resetScript } from './site-data.mjs';

const {
  DATABASE_URL: url = '',
  TABLE_PREFIX: prefix = 'wp_',
  UPLOADS_DIR: uploads,
  FIXTURE: fixtureFile,
  FIXTURE_UPLOADS: fixtureUploads,
} = process.env;
const COMMANDS = { load, reset, setup, rows };

const command = COMMANDS[process.argv[2]];
if (!command || !/^(sqlite|mysql):/.test(url)) {
  console.error(`usage: DATABASE_URL=sqlite:PATH|mysql://... site-tool.mjs ${Object.keys(COMMANDS).join('|')}`);
  process.exit(2);
}
const engine = url.startsWith('sqlite:') ? 'sqlite' : 'mysql';
const counter = `UPDATE \`${prefix}fasti_changes\` SET counter = counter + 1;`;
await command();

async function load() {
  const { openDatabase } = await import('../../dist/src/storage/engine/database.js').catch(() => {
    console.error('npm run build first');
    process.exit(1);
  });
  const { migrate } = await import('../../dist/src/storage/schema/migrate.js');
  const db = await openDatabase({ url, prefix });
  await migrate(db);
  await db.close();
  await reset();
}

async function reset() {
  const fixture = readFixture(fixtureFile);
  const db = await connect();
  // A WordPress database that the service has not used yet has no change counter.
  const counted = (await db.tables()).includes(`${prefix}fasti_changes`);
  await db.run(resetScript(fixture, { engine, prefix, counted }));
  await db.close();
  if (uploads) resetFiles(fixtureUploads ?? fileURLToPath(new URL('uploads', FIXTURES)), uploads);
}

async function setup() {
  const options = JSON.parse(readFileSync(0, 'utf8'));
  const db = await connect();
  const scripts = [];
  for (const [name, value] of Object.entries(options)) {
    const [stored] = await db.select(`SELECT option_value FROM \`${prefix}options\` WHERE option_name = ?`, [name]);
    scripts.push(optionScript(name, await optionText(stored?.option_value, value), { engine, prefix }));
  }
  await db.run([...scripts, counter].join('\n'));
  await db.close();
}

async function rows() {
  const { posts, terms, after } = JSON.parse(readFileSync(0, 'utf8'));
  const list = (ids) => [0, ...ids].map(Number).join(',');
  const which = (column, ids, last) => `(${column} IN (${list(ids)}) OR ${column} > ${Number(last)})`;
  const linked = `SELECT term_taxonomy_id FROM \`${prefix}term_relationships\` WHERE ${which('object_id', posts, after.posts)}`;
  const conditions = {
    posts: [which('ID', posts, after.posts), 'ID'],
    postmeta: [which('post_id', posts, after.posts), 'meta_id'],
    terms: [which('term_id', terms, after.terms), 'term_id'],
    term_taxonomy: [`${which('term_id', terms, after.terms)} OR term_taxonomy_id IN (${linked})`, 'term_taxonomy_id'],
    term_relationships: [which('object_id', posts, after.posts), 'object_id'],
    tec_events: [which('post_id', posts, after.posts), 'event_id'],
    tec_occurrences: [which('post_id', posts, after.posts), 'occurrence_id'],
  };
  const db = await connect();
  const found = {};
  for (const [table, [where, order]] of Object.entries(conditions))
    found[table] = await db.select(`SELECT * FROM \`${prefix}${table}\` WHERE ${where} ORDER BY ${order}`);
  await db.close();
  console.log(JSON.stringify(found));
}

/** Writes only files that differ, since the service may be reading them. */
function resetFiles(from, to) {
  const files = (folder) => {
    try {
      return readdirSync(folder, { recursive: true }).filter((file) => statSync(join(folder, file)).isFile());
    } catch {
      return [];
    }
  };
  const wanted = files(from);
  for (const file of files(to)) if (!wanted.includes(file)) rmSync(join(to, file));
  for (const file of wanted) {
    const there = statSync(join(to, file), { throwIfNoEntry: false });
    if (there?.size !== statSync(join(from, file)).size) cpSync(join(from, file), join(to, file), { recursive: true });
  }
}

/** Connects with the plain drivers, since a quick start matters here. */
async function connect() {
  return engine === 'sqlite' ? connectSqlite() : connectMysql();
}

async function connectSqlite() {
  const Sqlite = loadSqlite();
  // The service has the file open at the same time; the timeout waits for its transactions.
  const db = new Sqlite(url.slice('sqlite:'.length), { timeout: 10_000 });
  db.pragma('synchronous = OFF');
  return {
    run: async (script) => db.exec(script),
    select: async (sql, values = []) => db.prepare(sql).all(values),
    tables: async () => db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all(),
    close: async () => db.close(),
  };
}

async function connectMysql() {
  const { createConnection } = await import('mysql2/promise');
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const socketPath = searchParams.get('socketPath');
  const db = await createConnection({
    ...(socketPath ? { socketPath } : { host: hostname, port: Number(port || 3306) }),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    charset: 'utf8mb4_unicode_520_ci',
    dateStrings: true,
    multipleStatements: true,
  });
  await db.query("SET SESSION sql_mode = '', time_zone = '+00:00'");
  return {
    run: (script) => db.query(script),
    select: async (sql, values) => (await db.query(sql, values))[0],
    tables: async () => (await db.query({ sql: 'SHOW TABLES', rowsAsArray: true }))[0].flat(),
    close: () => db.end(),
  };
}
