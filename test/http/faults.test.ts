import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { createLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { asReader } from '../support/read-only-user.ts';
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

/** A small disk, where the tests may mount one; elsewhere the tests that need it are skipped. */
const disk = smallDisk(8 * MEGABYTE);
if (disk) disks.push(disk);
const withDisk = disk ? describe : describe.skip;
/** All files below a folder. */
const filesIn = (path: string) => readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

describeDatabases('service under failure', (open, engine) => {
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
  /** Statuses of the three health endpoints, and the reason. */
  const health = async ({ send }: RunningSite) => {
    // The result of a health check is cached for a moment.
    await new Promise((later) => setTimeout(later, 600));
    const [ready, readable, live] = [
      await send('GET', '/health/ready'),
      await send('GET', '/health/readable'),
      await send('GET', '/health/live'),
    ];
    return [ready.status, ready.body.reason, readable.status, live.status];
  };
  /** Expects an error in WordPress's format that reveals nothing internal. */
  const expectRefusal = ({ status, body, text }: Answer, code: string, as: number) => {
    expect([status, body]).toEqual([as, { code, message: expect.any(String), data: { status: as }, request_id: expect.any(String) }]);
    expect(text).not.toMatch(/insert|sqlite|wp_|select|\/tmp|denied|ENO/i);
  };

  withDisk('with a full disk for uploads', () => {
    it('returns 507 for an upload without leaving files, and recovers once there is space', async () => {
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

  it('returns 503 for an upload if the uploads folder cannot be written', async () => {
    const file = join(folder, `${engine}-file`);
    writeFileSync(file, '');
    const site = await serve({ UPLOADS_DIR: join(file, 'uploads') });
    expectRefusal(await upload(site), 'rest_uploads_unavailable', 503);
    expect((await site.send('GET', '/health/ready')).body).toEqual({ status: 'ready', uploads: 'read-only' });
    expect((await create(site)).status).toBe(201);
  });

  if (engine === 'MySQL') {
    it('with a locked table serves from memory within the freshness limit, and everything once the lock is released', async () => {
      const site = await serve({ CACHE_FRESHNESS_MS: '1500', SHARED_WITH_WORDPRESS: 'off' });
      const ask = async () => (await site.send('GET', EVENTS)).status;
      expect([await ask(), await ask()]).toEqual([200, 200]);
      const other = await createConnection(urlOf(db));
      try {
        await other.query(`LOCK TABLES ${db.table('fasti_changes')} WRITE`);
        expect(await ask()).toBe(200);
        await new Promise((later) => setTimeout(later, 1600));
        // Later writes of other programs would be unknown by now, so the request must wait for the database.
        const late = ask();
        const first = await Promise.race([late, new Promise((later) => setTimeout(later, 300, 'waits'))]);
        expect(first).toBe('waits');
        await other.query('UNLOCK TABLES');
        expect(await late).toBe(200);
      } finally {
        await other.end();
      }
    });
    it('with a read-only database user refuses writes and serves reads', async () => {
      await asReader(db, async (url) => {
        const site = await serve({ DATABASE_URL: url });
        expectRefusal(await create(site), 'rest_database_unavailable', 503);
        expect((await site.send('GET', EVENTS)).status).toBe(200);
        expect(await health(site)).toEqual([503, 'database read-only', 200, 200]);
        expect(lines.join('')).not.toContain(SECRET);
      });
    });
    return;
  }

  /** Copies the database file and returns the path of the copy. */
  const copied = (to: string): string => {
    const file = join(to, `site-${process.hrtime.bigint()}.sqlite`);
    const original = new Sqlite(urlOf(db).slice('sqlite:'.length));
    original.exec(`VACUUM INTO '${file}'`);
    original.close();
    return file;
  };

  withDisk('with a full disk for the database', () => {
    it('refuses writes, serves reads, and recovers once there is space', async () => {
      const file = copied(disk!.folder);
      const site = await serve({ DATABASE_URL: `sqlite:${file}` });
      expect((await create(site)).status).toBe(201);
      disk!.fill();
      let answer = await create(site);
      // Free space in existing pages may hold some more rows.
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
  ])('whose database %s refuses writes that would be lost', async (_how, change) => {
    const file = copied(folder);
    const site = await serve({ DATABASE_URL: `sqlite:${file}` });
    expect((await create(site)).status).toBe(201);
    expect(await health(site)).toEqual([200, undefined, 200, 200]);
    change(file);
    expectRefusal(await create(site), 'rest_database_unavailable', 503);
    expect(await health(site)).toEqual([503, 'database replaced', 503, 200]);
    expect(lines.join('')).toContain('is not the file that was opened');
    // Writes outside of transactions are refused, too.
    await expect(site.site.db.from('fasti_changes').increment('counter')).rejects.toThrow('database replaced');
  });

  it('whose database log was deleted keeps acknowledged writes', async () => {
    const file = copied(folder);
    const site = await serve({ DATABASE_URL: `sqlite:${file}` });
    const { id } = (await create(site)).body as { id: number };
    rmSync(`${file}-wal`);
    await site.close();
    running = undefined;
    expect((await (await serve({ DATABASE_URL: `sqlite:${file}` })).send('GET', `${EVENTS}/${id}`)).status).toBe(200);
  });
});
