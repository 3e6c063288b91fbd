import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { parameterCarriers } from '../support/outside-texts.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

/*
 * Text that a column cannot hold is refused, since MySQL would silently store something else. Columns of SQLite hold
 * any text.
 */

/** Tables of an old WordPress whose character set lacks the characters outside the basic multilingual plane. */
const OLD = ['posts', 'postmeta', 'terms', 'term_taxonomy', 'options', 'users', 'usermeta'] as const;
const TEXTS = {
  posts: ['post_title', 'post_content', 'post_excerpt', 'post_name', 'post_password', 'guid'],
  postmeta: ['meta_value'],
  terms: ['name', 'slug'],
  term_taxonomy: ['description'],
  options: ['option_value'],
  users: ['display_name', 'user_email'],
  usermeta: ['meta_value'],
} as const;

describeDatabases('text that a column cannot hold', (open, engine) => {
  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await loadSite(await open());
    if (engine === 'MySQL')
      for (const table of OLD)
        await runScript(db, `ALTER TABLE wp_${table} CONVERT TO CHARACTER SET utf8mb3 COLLATE utf8mb3_unicode_520_ci`);
    running = await serveDatabase(db);
  });
  afterAll(() => running.close());

  const held = async (text: string): Promise<string[]> => {
    const found: string[] = [];
    for (const [table, columns] of Object.entries(TEXTS))
      for (const column of columns) {
        const rows = await db.ask<{ value: string }>(`SELECT ${column} AS value FROM wp_${table} WHERE ${column} LIKE '%${text}%'`);
        found.push(...rows.map(({ value }) => `${table}.${column}: ${value}`));
      }
    return found;
  };

  it('is stored unchanged or refused in every parameter of every route', async () => {
    const faults: string[] = [];
    let refused = 0;
    for (const [at, { name, parameter, inPath, request }] of parameterCarriers('admin').entries()) {
      const { method, path, ...others } = request(`kept 🎉 ${at}`);
      if (method === 'DELETE') continue;
      const query = method === 'GET' && !inPath ? `?${new URLSearchParams({ [parameter]: `kept 🎉 ${at}` })}` : '';
      const { status, text, body } = await running.send(method, path + query, {
        ...others,
        body: method === 'GET' ? null : (others.body ?? {}),
      });
      if (body?.code === 'rest_text_not_storable') refused += 1;
      if (status >= 500 && !/"code":"rest_(upload_\w+|not_implemented|trash_not_supported)"/.test(text))
        faults.push(`${name}: ${status} ${text}`);
    }
    expect(faults).toEqual([]);
    expect(refused > 20).toBe(engine === 'MySQL');
    expect(await held('kept ?')).toEqual([]);
    expect((await held('kept 🎉').catch(() => [])).length > 20).toBe(engine === 'SQLite');
  });

  it('is refused with a message in the language of the caller, without a partial write', async () => {
    const body = {
      title: 'Plain',
      start_date: '2031-05-01 20:00',
      end_date: '2031-05-01 22:00',
      venue: { venue: 'Fine', address: 'Via 🚀 1' },
    };
    const answer = await running.send('POST', '/it/wp-json/calendar/events/v1/events', { as: 'admin', body });
    if (engine === 'SQLite') return expect([answer.status, answer.body.venue.address]).toEqual([201, 'Via 🚀 1']);
    expect([answer.status, answer.body.code, answer.body.message]).toEqual([
      400,
      'rest_text_not_storable',
      expect.stringContaining('emoji'),
    ]);
    expect([await held('Plain'), await held('Fine')]).toEqual([[], []]);
    return undefined;
  });

  it.each([
    ['a text that is too long', { option_name: 'x'.repeat(300), option_value: '', autoload: 'off' }],
    ['letters that the character set lacks, which nobody sent', { option_name: 'letters', option_value: '🎉', autoload: 'off' }],
  ])('is also refused when Fasti itself inserts it: %s', async (_, row) => {
    const writing = db.transaction((tx) => insertRows(tx, 'options', [row]));
    if (engine === 'SQLite') return expect(await writing).toBeGreaterThan(0);
    await expect(writing).rejects.toThrow(/would not be stored as it is|text-not-storable/);
    expect(await db.from('options').whereIn('option_name', ['x'.repeat(191), 'letters'])).toEqual([]);
    return undefined;
  });
});
