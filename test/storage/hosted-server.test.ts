import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inspectDatabase, missingKeys, missingPrimaryKeys } from '../../src/storage/audit/audit.ts';
import { type Database, openDatabase } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { writeOption } from '../../src/storage/rows/options.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { storedText } from '../../src/wordpress/php/serialized.ts';
import { openerOnServer, runScript, urlOf } from '../support/databases.ts';
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
  '--skip-character-set-client-handshake',
  '--max-error-count=0',
  '--lower-case-table-names=1',
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

  it('stores and reads every letter as it is', async () => {
    const text = 'Città 🎉';
    await running.send('POST', '/wp-json/tribe/events/v1/venues', { as: 'admin', body: { venue: text } });
    const [row] = await db.ask<{ title: string; hex: string; collation: string }>(
      `SELECT post_title AS title, HEX(post_title) AS hex, @@collation_connection AS collation FROM wp_posts WHERE post_title LIKE 'Citt%'`,
    );
    expect(row).toEqual({ title: text, hex: Buffer.from(text).toString('hex').toUpperCase(), collation: 'utf8mb4_unicode_520_ci' });
  });

  it('stores every letter for a user whose sessions begin with the statements of the host', async () => {
    const host = await connectTo((server as PrivateMysql).url);
    await host.query(`SET GLOBAL init_connect = "SET NAMES utf8"`);
    await host.query(`CREATE USER guest@'%' IDENTIFIED BY 'guest'`);
    await host.query(`GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON *.* TO guest@'%'`);
    const url = new URL(urlOf(db));
    url.username = 'guest';
    url.password = 'guest';
    const guest = await openDatabase({ url: url.href, prefix: 'wp_' });
    const text = '🎉';
    await insertRows(guest, 'options', [{ option_name: 'party', option_value: text, autoload: 'no' }]);
    expect(await guest.ask(`SELECT option_value AS text, HEX(option_value) AS hex FROM wp_options WHERE option_name = 'party'`)).toEqual([
      { text, hex: 'F09F8E89' },
    ]);
    await guest.close();
    await host.query('SET GLOBAL init_connect = ""');
    await host.end();
  });

  it('refuses what a column does not hold', async () => {
    const tooLong = insertRows(db, 'posts', [{ post_title: 'x', post_name: 'x'.repeat(300) }]);
    await expect(tooLong).rejects.toThrow('would not be stored as it is');
  });

  it('finds the missing keys of tables whose prefix has capital letters', async () => {
    const capitals = await open({ prefix: 'WP_' });
    await writeOption(capitals, 'siteurl', storedText('https://capitals.example'));
    await runScript(capitals, 'ALTER TABLE WP_posts DROP KEY post_name');
    const inspection = await inspectDatabase(capitals);
    expect(missingKeys(capitals, inspection)).toMatchObject([{ table: 'WP_posts', columns: ['post_name'] }]);
    expect(missingPrimaryKeys(capitals, inspection)).toEqual([]);
    await capitals.from('fasti_migrations').where('name', 'like', '%014%').delete();
    expect(await migrate(capitals)).toHaveLength(1);
  });

  it('inserts long rows of letters that take several bytes, each of which fits', async () => {
    const rows = [250_000, 200_000].map((length, n) => ({
      post_id: 9100 + n,
      meta_key: 'wide',
      meta_value: storedText('祭'.repeat(length)),
    }));
    await insertRows(db, 'postmeta', rows);
    expect(await db.from('postmeta').where('meta_key', 'wide').pluck('post_id')).toHaveLength(2);
  });

  it('refuses a text that is longer than the server accepts, and stays connected', async () => {
    const body = { venue: 'Long', description: "' ".repeat(400_000) };
    const answer = await running.send('POST', '/wp-json/tribe/events/v1/venues', { as: 'admin', body });
    expect([answer.status, answer.body.code]).toEqual([413, 'rest_text_too_long']);
    expect((await running.send('GET', '/wp-json/tribe/events/v1/venues')).status).toBe(200);
  });

  it.each(['x', "'", '祭'])('stores or refuses a text about as long as the server accepts, made of %s', async (letter) => {
    const sizes = { x: 1, "'": 2, 祭: 3 } as Readonly<Record<string, number>>;
    const outcomes = new Set<string>();
    for (let bytes = 2 ** 20 - 160; bytes < 2 ** 20; bytes += 10) {
      const rest = bytes % sizes[letter]!;
      const meta_value = storedText(letter.repeat((bytes - rest) / sizes[letter]!) + 'x'.repeat(rest));
      const insert = insertRows(db, 'postmeta', [{ post_id: 9200, meta_key: 'edge', meta_value }]);
      outcomes.add(await insert.then(() => 'stored', String));
    }
    expect([...outcomes]).toEqual(['stored', 'Error: text-too-long']);
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
