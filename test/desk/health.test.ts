import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { findDamageInThread } from '../../src/upkeep/doctor/damage.ts';
import { runScript } from '../support/databases.ts';
import { elements, openVisitor, textOf } from '../support/desk-visitor.ts';
import { describeRequests } from '../support/site-client.ts';

describeRequests('the page about the health of the site', (ask, engine) => {
  it('refreshes only the backups while a backup is being made', async () => {
    const admin = await openVisitor(ask, 'admin');
    const { config, db } = ask.running().site;
    mkdirSync(config.backupsDir, { recursive: true });
    writeFileSync(join(config.backupsDir, 'other.backup.0123abcd.part'), '');
    const refreshed = (text: string) =>
      elements(text, ({ attribs }) => 'data-refresh' in attribs).map(({ attribs }) => attribs['data-refresh']);
    expect(refreshed((await admin.get('/admin/health')).text)).toEqual(['/admin/health/backups']);
    const before = db.queries();
    const { text } = await admin.get('/admin/health/backups');
    expect(db.queries() - before).toBeLessThan(10);
    expect([refreshed(text), text.includes('A backup is being made.')]).toEqual([['/admin/health/backups'], true]);
    rmSync(config.backupsDir, { recursive: true });
    expect(refreshed((await admin.get('/admin/health/backups')).text)).toEqual([]);
  });

  it('says what to do about a finding without a repair, as the command does', async () => {
    const admin = await openVisitor(ask, 'admin');
    const run = { source: 'csv long.csv', run: 1, done: 400, report: '', open: 1, touched_at: '2026-01-01 00:00:00' };
    await ask.writeRows((db) => db.from('fasti_imports').insert(run));
    const { text } = await admin.get('/admin/health');
    const [finding] = elements(text, ({ name }) => name === 'li').filter((one) => textOf(one).includes('Imports were interrupted'));
    expect(textOf(finding!)).toMatch(/Run the same import again .* At the desk, send the file again\.$/);
    await ask.writeRows((db) => db.from('fasti_imports').where('source', run.source).delete());
  });

  it('makes the other repairs if one fails, and names that one', async () => {
    const [db, admin] = [ask.db(), await openVisitor(ask, 'admin')];
    await runScript(
      db,
      `${engine === 'SQLite' ? 'DROP INDEX wp_options_option_name;' : 'ALTER TABLE wp_options DROP KEY option_name;'}
      INSERT INTO wp_options (option_name, option_value) VALUES ('blogname', 'Twice');
      INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (999999, 'left', 'x');`,
    );
    const repair = async () => admin.confirm(await admin.get('/admin/health'), '/admin/health/repair');
    const failed = await repair();
    expect(failed.status).toBe(500);
    expect(failed.text).toMatch(/Not repaired: Indexes are missing, so queries are slow \(.*option_name/);
    expect(await db.from('postmeta').where('post_id', 999999)).toEqual([]);
    await runScript(db, "DELETE FROM wp_options WHERE option_value = 'Twice';");
    expect((await repair()).status).toBe(303);
    expect((await admin.get('/admin/health')).text).not.toContain('Indexes are missing');
  });

  it('checks an SQLite file for damage without using the shared connection', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fasti-health-'));
    const path = join(folder, 'site.sqlite');
    const file = new Sqlite(path);
    file.exec('CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)');
    const insert = file.prepare('INSERT INTO texts (text) VALUES (?)');
    for (let row = 0; row < 500; row += 1) insert.run(`text ${row} `.repeat(50));
    file.close();
    // Without a database connection, a use of it would fail.
    const site = { db: undefined as unknown as Database, config: { ...ask.running().site.config, databaseUrl: `sqlite:${path}` } };
    expect(await findDamageInThread(site)).toEqual([]);
    writeSync(openSync(path, 'r+'), Buffer.alloc(4096, 0xff), 0, 4096, 8192);
    expect((await findDamageInThread(site)).length).toBeGreaterThan(0);
    rmSync(folder, { recursive: true });
  });
});
