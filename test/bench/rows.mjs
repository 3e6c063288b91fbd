/**
 * A handwritten equivalent: an Express app whose one handler runs the same SQL as the service with the database's
 * driver, one statement after the other, and sends the raw rows. Started by service.mjs.
 *
 * For a request that writes, it runs the bare transaction: the service's inserts and updates, for a new record whose ID
 * replaces that of the service's record. The numbers in the journal follow the change counter, and unique values in the
 * table of occurrences are random.
 */
import { randomBytes } from 'node:crypto';
import express from 'express';
import mysql from 'mysql2/promise';
import { loadSqlite } from '../../bin/sqlite.mjs';
import { foldForSearch, foldText } from '../../dist/src/storage/engine/collation.js';

const { PORT, DATABASE_URL: address, STATEMENTS } = process.env;
const { statements: all, created } = JSON.parse(STATEMENTS);
const statements = created === undefined ? all : all.filter(({ sql }) => !/^select/i.test(sql));
const CONNECTIONS = 10;
const POSTS = /^insert into `\w*_posts`/i;
const COUNTER = /^update `\w*_fasti_changes`/i;
const JOURNAL = /^insert into `\w*_fasti_journal` \((`number`[^)]*)\)/i;
const HASH = /^[0-9a-f]{40}$/;

const run = address.startsWith('sqlite:') ? sqliteRunner(address.slice('sqlite:'.length)) : mysqlRunner(address);
const app = express();
app.set('etag', false);
app.disable('x-powered-by');
app.get('/ready', (_req, res) => res.sendStatus(204));
app.get('/{*path}', async (_req, res) => res.json(await run()));
app.post('/{*path}', express.json(), async (_req, res) => res.status(201).json(await run()));
app.listen(Number(PORT), '127.0.0.1');

/** Returns the values of a statement for a new record. `id`: the ID of the record. `counter`: the change counter. */
function renewed({ sql, bindings }, { id, counter }) {
  if (created === undefined) return bindings;
  const columns = JOURNAL.exec(sql)?.[1].split(',').length;
  return bindings.map((value, at) => {
    if (at % columns === 0) return counter - (bindings.at(-columns) - value);
    if (value === created && id !== undefined) return id;
    return HASH.test(value) ? randomBytes(20).toString('hex') : value;
  });
}

function sqliteRunner(path) {
  const db = new (loadSqlite())(path, { timeout: 5000 });
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  // SQLite has no collation like MySQL's. The service has its own functions for ordering and searching.
  db.function('fold', { deterministic: true }, (text) => (text === null ? null : foldText(String(text))));
  db.function('holds', { deterministic: true }, (text, part) => Number(foldForSearch(String(text)).includes(String(part))));
  const prepared = statements.map((one) => ({ ...one, statement: db.prepare(one.sql) }));
  return async () => {
    const drawn = {};
    const answers = [];
    for (const { statement, ...one } of prepared) {
      if (statement.reader) {
        const rows = statement.all(renewed(one, drawn));
        if (COUNTER.test(one.sql)) drawn.counter = rows[0].id;
        answers.push(rows);
      } else {
        const { lastInsertRowid } = statement.run(renewed(one, drawn));
        if (POSTS.test(one.sql)) drawn.id = Number(lastInsertRowid);
      }
    }
    return answers;
  };
}

function mysqlRunner(url) {
  const pool = mysql.createPool({ uri: url, connectionLimit: CONNECTIONS, dateStrings: true });
  return async () => {
    const connection = await pool.getConnection();
    try {
      const drawn = {};
      const answers = [];
      for (const one of statements) {
        const [rows] = await connection.query(one.sql, renewed(one, drawn));
        if (Array.isArray(rows)) answers.push(rows);
        else if (POSTS.test(one.sql)) drawn.id = rows.insertId;
        else if (COUNTER.test(one.sql)) drawn.counter = rows.insertId;
      }
      return answers;
    } finally {
      connection.release();
    }
  };
}
