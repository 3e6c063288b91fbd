import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { findDamageInThread } from '../../src/upkeep/doctor/damage.ts';
import { elements, openVisitor } from '../support/desk-visitor.ts';
import { describeRequests } from '../support/site-client.ts';

describeRequests('the page about the health of the site', (ask) => {
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
