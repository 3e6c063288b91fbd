import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import type { TableName } from '../../src/storage/engine/tables.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, resetSite } from '../support/site.ts';
import { readFixture } from '../support/site-data.mjs';

const EVENTS = '/wp-json/tribe/events/v1/events?start_date=1900-01-01&per_page=50';
const READS = [
  EVENTS,
  '/wp-json/tribe/events/v1/events?start_date=1900-01-01&search=e&categories=7&orderby=title',
  '/wp-json/tribe/events/v1/events/44',
  '/wp-json/tribe/events/v1/venues?search=e',
  '/wp-json/tribe/events/v1/venues/12',
  '/wp-json/tribe/events/v1/organizers',
  '/wp-json/tribe/events/v1/categories',
  '/wp-json/tribe/events/v1/tags',
  '/wp-json/wp/v2/tribe_events?_embed=1',
  '/wp-json/wp/v2/media',
  '/wp-json/wp/v2/users?context=edit',
  '/wp-json/tec/v1/events',
  '/events/ical/',
  '/events/feed/',
];

/** Address that names a record, which may no longer be one if its row is damaged; all others are always answered. */
const NAMES_RECORD = /\/\d+$|categories=\d+/;

/** Rows of each table that belong to event 44, its venue, its terms or its author. */
const ROWS: readonly [TableName, Record<string, number | string>][] = [
  ['posts', { ID: 44 }],
  ['posts', { ID: 12 }],
  ['posts', { ID: 10 }],
  ['postmeta', { post_id: 44 }],
  ['postmeta', { post_id: 12 }],
  ['postmeta', { post_id: 10 }],
  ['terms', { term_id: 7 }],
  ['term_taxonomy', { term_id: 7 }],
  ['users', { ID: 2 }],
  ['usermeta', { user_id: 2 }],
  ['tec_occurrences', { post_id: 44 }],
];
const KEYS = ['ID', 'meta_id', 'umeta_id', 'term_id', 'term_taxonomy_id', 'occurrence_id', 'event_id', 'post_id', 'user_id'];

const fixture = readFixture();
const cases = ROWS.flatMap(([table, where]) =>
  fixture[table]!.columns.filter((column) => !KEYS.includes(column)).flatMap((column) => [[table, column, where] as const]),
);

/** Only SQLite can store bytes in a text column: MySQL enforces the type of every column. */
describeDatabases('bytes stored in text columns', (open, engine) => {
  if (engine !== 'SQLite') {
    return it('cannot occur in MySQL, since no column has the type of bytes', async () => {
      const db = await loadSite(await open());
      const types = await db.rows<{ name: string; type: string }>`
        SELECT CONCAT(table_name, '.', column_name) AS name, data_type AS type
        FROM information_schema.columns WHERE table_schema = DATABASE()`;
      const typeOf = new Map(types.map(({ name, type }) => [name, type]));
      const found = cases.map(([table, column]) => typeOf.get(`${db.table(table)}.${column}`) ?? 'none');
      expect(found.filter((type) => /blob|binary|none/.test(type))).toEqual([]);
    });
  }
  let db: Database;
  let running: RunningSite;
  let events: number;
  const logged: string[] = [];
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db, { log: createLog({ logLevel: 'error' }, { write: (line) => logged.push(line) }) });
    events = (await running.send('GET', EVENTS)).body.total;
  });
  afterAll(() => running.close());

  it.each(cases)('in %s.%s cause no server error and do not hide other events (row %j)', async (table, column, where) => {
    for (const bytes of ['CAST(?? AS BLOB)', "x'ff00fe27223c'"]) {
      await resetSite(db);
      const binding = bytes.includes('??') ? [column] : [];
      await db
        .knex(db.table(table))
        .where(where)
        .update({ [column]: db.knex.raw(bytes, binding) });
      await db.from('fasti_changes').increment('counter');
      logged.length = 0;
      const failed: string[] = [];
      for (const path of READS) {
        const { status, text } = await running.send('GET', path, { as: 'admin' });
        const isRefused = status !== 200 && !NAMES_RECORD.test(path);
        if (status >= 500 || isRefused) failed.push(`${bytes}: ${path} => ${status} ${text} ${logged.join(' ').slice(0, 500)}`);
      }
      expect(failed).toEqual([]);
      const { total } = (await running.send('GET', EVENTS)).body;
      expect(total).toBeGreaterThanOrEqual(events - 1);
    }
  });

  it('are returned as text when they are valid text', async () => {
    await resetSite(db);
    const before = (await running.send('GET', '/wp-json/tribe/events/v1/events/44', { as: 'admin' })).body;
    await db
      .knex(db.table('posts'))
      .where('ID', 44)
      .update({ post_title: db.knex.raw('CAST(post_title AS BLOB)') });
    await db
      .knex(db.table('postmeta'))
      .where('post_id', 44)
      .update({ meta_value: db.knex.raw('CAST(meta_value AS BLOB)') });
    await db.from('fasti_changes').increment('counter');
    expect((await running.send('GET', '/wp-json/tribe/events/v1/events/44', { as: 'admin' })).body).toEqual(before);
  });
});
