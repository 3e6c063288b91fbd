import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { createLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { type Answer, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, resetSite } from '../support/site.ts';
import { smallDisk } from '../support/small-disk.ts';

const EVENTS = '/wp-json/calendar/events/v1/events';
const MEDIA = '/wp-json/wp/v2/media';
const SECRET = 'a title that nobody may find in the log';
const IMAGE = readFileSync(new URL('../fixtures/uploads/2026/11/wide-1024x683.png', import.meta.url));
const MEGABYTE = 1024;

const disks: { remove: () => void }[] = [];
const folder = mkdtempSync(join(tmpdir(), 'fasti-faults-'));
afterAll(() => {
  for (const disk of disks) disk.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A disk with little room, where the tests may make one; elsewhere nothing is tested. */
const disk = smallDisk(8 * MEGABYTE);
if (disk) disks.push(disk);
const withDisk = disk ? describe : describe.skip;
/** What lies below a folder, files alone. */
const filesIn = (path: string) => readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

describeDatabases('a service in trouble', (open, engine) => {
  let db: Database;
  let running: RunningSite | undefined;
  let lines: string[];
  beforeAll(async () => {
    db = await loadSite(await open());
  });
  afterEach(async () => {
    await running?.close();
    running = undefined;
    await resetSite(db);
  });

  const serve = async (env: Record<string, string>): Promise<RunningSite> => {
    lines = [];
    running = await serveDatabase(db, { env, log: createLog({ logLevel: 'info' }, { write: (line) => lines.push(line) }) });
    return running;
  };
  const create = ({ send }: RunningSite) =>
    send('POST', EVENTS, { as: 'admin', body: { title: SECRET, start_date: '2030-01-01', end_date: '2030-01-01' } });
  const upload = ({ send }: RunningSite) =>
    send('POST', MEDIA, {
      as: 'admin',
      body: IMAGE,
      headers: { 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename="new.png"' },
    });
  /** Statuses of the three addresses, and the reason. */
  const health = async ({ send }: RunningSite) => {
    // What was found is kept for a moment.
    await new Promise((later) => setTimeout(later, 600));
    const [ready, readable, live] = [
      await send('GET', '/health/ready'),
      await send('GET', '/health/readable'),
      await send('GET', '/health/live'),
    ];
    return [ready.status, ready.body.reason, readable.status, live.status];
  };
  /** In WordPress's form, and without anything of the inside. */
  const expectRefusal = ({ status, body, text }: Answer, code: string, as: number) => {
    expect([status, body]).toEqual([as, { code, message: expect.any(String), data: { status: as }, request_id: expect.any(String) }]);
    expect(text).not.toMatch(/insert|sqlite|wp_|select|\/tmp|denied|ENO/i);
  };

  withDisk('whose disk for uploads is full', () => {
    it('says so, leaves nothing behind, and goes on when there is room', async () => {
      const place = join(disk!.folder, `${engine}-uploads`);
      mkdirSync(place);
      const site = await serve({ UPLOADS_DIR: place });
      disk!.fill();
      expectRefusal(await upload(site), 'rest_insufficient_storage', 507);
      expect(filesIn(place)).toEqual([]);
      expect((await site.send('GET', '/health/ready')).body).toEqual({ status: 'ready', uploads: 'full' });
      disk!.free();
      expect((await upload(site)).status).toBe(201);
      expect(filesIn(place).length).toBeGreaterThan(1);
    });
  });

  it('says that files cannot be stored where that is so', async () => {
    const file = join(folder, `${engine}-file`);
    writeFileSync(file, '');
    const site = await serve({ UPLOADS_DIR: join(file, 'uploads') });
    expectRefusal(await upload(site), 'rest_uploads_unavailable', 503);
    expect((await site.send('GET', '/health/ready')).body).toEqual({ status: 'ready', uploads: 'read-only' });
    expect((await create(site)).status).toBe(201);
  });

  if (engine === 'MySQL') {
    it('whose table somebody locks answers from memory for as long as it may, and everything when the lock is gone', async () => {
      const site = await serve({ CACHE_FRESHNESS_MS: '1500', SHARED_WITH_WORDPRESS: 'off' });
      const ask = async () => (await site.send('GET', EVENTS)).status;
      expect([await ask(), await ask()]).toEqual([200, 200]);
      const other = await createConnection(urlOf(db));
      try {
        await other.query(`LOCK TABLES ${db.table('fasti_changes')} WRITE`);
        expect(await ask()).toBe(200);
        await new Promise((later) => setTimeout(later, 1600));
        // Nothing was asked meanwhile, and what others have written since is not known.
        const late = ask();
        const first = await Promise.race([late, new Promise((later) => setTimeout(later, 300, 'waits'))]);
        expect(first).toBe('waits');
        await other.query('UNLOCK TABLES');
        expect(await late).toBe(200);
      } finally {
        await other.end();
      }
    });
    it('whose user may not write says so, and answers what is read', async () => {
      const url = new URL(urlOf(db));
      const name = `reader_${process.pid}`;
      const database = url.pathname.slice(1);
      await db.knex.raw(`CREATE USER '${name}'@'%' IDENTIFIED BY 'secret'`);
      try {
        await db.knex.raw(`GRANT SELECT ON \`${database}\`.* TO '${name}'@'%'`);
        [url.username, url.password] = [name, 'secret'];
        const site = await serve({ DATABASE_URL: url.href });
        expectRefusal(await create(site), 'rest_database_unavailable', 503);
        expect((await site.send('GET', EVENTS)).status).toBe(200);
        expect(await health(site)).toEqual([503, 'database read-only', 200, 200]);
        expect(lines.join('')).not.toContain(SECRET);
      } finally {
        await db.knex.raw(`DROP USER '${name}'@'%'`);
      }
    });
    return;
  }

  /** A copy of the database, with a site of its own. */
  const copied = (to: string): string => {
    const file = join(to, `site-${process.hrtime.bigint()}.sqlite`);
    const original = new Sqlite(urlOf(db).slice('sqlite:'.length));
    original.exec(`VACUUM INTO '${file}'`);
    original.close();
    return file;
  };

  withDisk('whose disk is full', () => {
    it('refuses writes, answers what is read, and goes on when there is room', async () => {
      const file = copied(disk!.folder);
      const site = await serve({ DATABASE_URL: `sqlite:${file}` });
      expect((await create(site)).status).toBe(201);
      disk!.fill();
      let answer = await create(site);
      // Pages that are there already take some more.
      for (let tries = 0; answer.status === 201 && tries < 500; tries += 1) answer = await create(site);
      expectRefusal(answer, 'rest_insufficient_storage', 507);
      expect((await site.send('GET', EVENTS)).status).toBe(200);
      expect(await health(site)).toEqual([503, 'database full', 200, 200]);
      disk!.free();
      expect((await create(site)).status).toBe(201);
      const check = new Sqlite(file);
      expect(check.pragma('integrity_check', { simple: true })).toBe('ok');
      check.close();
    });
  });

  it.each([
    ['file was deleted', (file: string) => rmSync(file)],
    ['file was replaced', (file: string) => renameSync(copied(folder), file)],
    ['log was deleted', (file: string) => rmSync(`${file}-wal`)],
    ['log was replaced', (file: string) => renameSync(copied(folder), `${file}-wal`)],
    ['index of the log was deleted', (file: string) => rmSync(`${file}-shm`)],
  ])('whose %s writes nothing that would be lost', async (_how, change) => {
    const file = copied(folder);
    const site = await serve({ DATABASE_URL: `sqlite:${file}` });
    expect((await create(site)).status).toBe(201);
    expect(await health(site)).toEqual([200, undefined, 200, 200]);
    change(file);
    expectRefusal(await create(site), 'rest_database_unavailable', 503);
    expect(await health(site)).toEqual([503, 'database replaced', 503, 200]);
    expect(lines.join('')).toContain('is not the file that was opened');
    // Outside of transactions too.
    await expect(site.site.db.from('fasti_changes').increment('counter')).rejects.toThrow('database replaced');
  });

  it('whose log was deleted keeps what it has acknowledged', async () => {
    const file = copied(folder);
    const site = await serve({ DATABASE_URL: `sqlite:${file}` });
    const { id } = (await create(site)).body as { id: number };
    rmSync(`${file}-wal`);
    await site.close();
    running = undefined;
    expect((await (await serve({ DATABASE_URL: `sqlite:${file}` })).send('GET', `${EVENTS}/${id}`)).status).toBe(200);
  });
});
