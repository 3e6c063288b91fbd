/**
 * What somebody would write by hand: an Express app whose one handler runs the same SQL as the service with the
 * database's driver, one statement after the other, and sends the rows as they come. Started by service.mjs.
 *
 * Of a request that writes it runs the bare transaction: what the service inserted and updated, for a new record whose
 * id stands where the service's own stood; what must be unique in the table of occurrences is drawn by lot.
 */
import { randomBytes } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import express from 'express';
import mysql from 'mysql2/promise';
import { foldForSearch, foldText } from '../../dist/src/storage/engine/collation.js';

const { PORT, DATABASE_URL: address, STATEMENTS } = process.env;
const { statements: all, created } = JSON.parse(STATEMENTS);
const statements = created === undefined ? all : all.filter(({ sql }) => !/^select/i.test(sql));
const CONNECTIONS = 10;
const POSTS = /^insert into `\w*_posts`/i;
const HASH = /^[0-9a-f]{40}$/;

const run = address.startsWith('sqlite:') ? sqliteRunner(address.slice('sqlite:'.length)) : mysqlRunner(address);
const app = express();
app.set('etag', false);
app.disable('x-powered-by');
app.get('/ready', (_req, res) => res.sendStatus(204));
app.get('/{*path}', async (_req, res) => res.json(await run()));
app.post('/{*path}', express.json(), async (_req, res) => res.status(201).json(await run()));
app.listen(Number(PORT), '127.0.0.1');

/** The values of a statement for a record of its own. */
function renewed(bindings, id) {
  if (created === undefined) return bindings;
  return bindings.map((value) => (value === created && id !== undefined ? id : HASH.test(value) ? randomBytes(20).toString('hex') : value));
}

function sqliteRunner(path) {
  const db = new Sqlite(path, { timeout: 5000 });
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  // SQLite has no collation like MySQL's: the service brings its own, for ordering and for searching.
  db.function('fold', { deterministic: true }, (text) => (text === null ? null : foldText(String(text))));
  db.function('holds', { deterministic: true }, (text, part) => Number(foldForSearch(String(text)).includes(String(part))));
  const prepared = statements.map(({ sql, bindings }) => ({ statement: db.prepare(sql), bindings, isRecord: POSTS.test(sql) }));
  return async () => {
    let id;
    const answers = [];
    for (const { statement, bindings, isRecord } of prepared) {
      if (statement.reader) {
        answers.push(statement.all(renewed(bindings, id)));
      } else {
        const { lastInsertRowid } = statement.run(renewed(bindings, id));
        if (isRecord) id = Number(lastInsertRowid);
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
      let id;
      const answers = [];
      for (const { sql, bindings } of statements) {
        const [rows] = await connection.query(sql, renewed(bindings, id));
        if (Array.isArray(rows)) answers.push(rows);
        else if (POSTS.test(sql)) id = rows.insertId;
      }
      return answers;
    } finally {
      connection.release();
    }
  };
}
