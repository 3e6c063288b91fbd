import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { openerOnServer } from '../support/databases.ts';
import { connectTo, type PrivateMysql, startPrivateMysql } from '../support/private-mysql.mjs';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { SUITE_TIME } from '../support/site-client.ts';

/*
 * Global settings as hosting providers choose them, which each session of the service has to override.
 */

const SETTINGS = [
  '--max-allowed-packet=1M',
  '--group-concat-max-len=4',
  '--sql-mode=ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ONLY_FULL_GROUP_BY',
  '--character-set-server=latin1',
  '--collation-server=latin1_swedish_ci',
  '--default-storage-engine=MyISAM',
  '--default-time-zone=+05:30',
  '--transaction-isolation=SERIALIZABLE',
];

const folder = mkdtempSync(join(tmpdir(), 'fasti-hosted-'));
const server = process.env.TEST_MYSQL_URL ? await startPrivateMysql(folder, SETTINGS) : { reason: 'MySQL is not tested' };

('reason' in server ? describe.skip : describe)('shared database server with restrictive settings', () => {
  const open = openerOnServer((server as PrivateMysql).url);
  let db: Database;
  let running: RunningSite;
  // The setting affects only sessions that begin later, which are those of the service.
  beforeAll(async () => {
    db = await loadSite(await open());
    const host = await connectTo((server as PrivateMysql).url);
    await host.query('SET GLOBAL max_join_size = 10');
    await host.end();
    running = await serveDatabase(db, { clock: () => new Date(SUITE_TIME) });
  });
  afterAll(async () => {
    await running?.close();
    if ('stop' in server) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    'tribe/events/v1/events',
    'tribe/events/v1/events?geoloc_lat=45&geoloc_lng=9&geoloc_radius=500',
    'tribe/events/v1/venues?has_events=true&search=a',
    'tribe/events/v1/categories',
    'wp/v2/tribe_events?orderby=title&search=a',
    'wp/v2/search?search=a',
  ])('returns 200 for %s', async (path) => {
    const { status, body } = await running.send('GET', `/wp-json/${path}`);
    expect({ status, ...(status === 200 ? {} : { body }) }).toEqual({ status: 200 });
  });

  it('inserts many long rows', async () => {
    const meta_value = 'long '.repeat(50_000);
    await insertRows(
      db,
      'postmeta',
      Array.from({ length: 20 }, (_, n) => ({ post_id: 9000 + n, meta_key: 'long', meta_value })),
    );
    expect(await db.from('postmeta').where('meta_key', 'long').pluck('post_id')).toHaveLength(20);
  });
});
