import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Database, hasTable } from '../../src/storage/engine/database.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { appendChanges } from '../../src/storage/journal/entries.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadSite, snapshotTables } from '../support/site.ts';
import { commandIn, temporaryFolder } from './command.ts';

const NOW = new Date('2026-11-21T09:00:00Z');

describeDatabases('fasti status', (open, engine) => {
  const folder = temporaryFolder();
  let db: Database;
  let putBack: () => Promise<void>;
  let answer = '{"status":"live"}';
  const server = createServer((_req, res) => res.end(answer));
  beforeAll(async () => {
    db = await loadSite(await open());
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    putBack = await snapshotTables(db);
  });
  beforeEach(() => putBack());
  afterAll(() => new Promise((done) => server.close(done)));

  const fasti = (env: Readonly<Record<string, string>> = {}) =>
    commandIn(
      {
        DATABASE_URL: urlOf(db),
        UPLOADS_DIR: `${folder}/uploads`,
        BACKUPS_DIR: `${folder}/backups`,
        PORT: '0',
        SHARED_WITH_WORDPRESS: 'off',
        ...env,
      },
      { now: NOW },
    );
  const status = async (env?: Readonly<Record<string, string>>) => JSON.parse((await fasti(env)('status', '--format=json')).out);

  it('reports the properties and the state of a site', async () => {
    const found = await status();
    expect(found).toMatchObject({
      name: 'Sample Calendar',
      home: 'http://127.0.0.1:8081',
      server: null,
      languages: [],
      index: 'missing',
      journal: { latestOfOthers: null },
      plugin: null,
      backup: null,
      database: { version: expect.stringContaining(engine === 'SQLite' ? 'SQLite' : 'M'), tablesMissing: [] },
      versions: { node: process.versions.node },
    });
    expect(found.database.bytes).toBeGreaterThan(10_000);
    const [trash, all] = await Promise.all([
      db.from('posts').where({ post_type: 'tribe_events', post_status: 'trash' }).count({ count: '*' }),
      db.from('posts').where({ post_type: 'tribe_events' }).count({ count: '*' }),
    ]);
    expect(found.records.events.all).toBe(Number(all[0]!.count) - Number(trash[0]!.count));
    expect(found.records.events.public).toBeLessThan(found.records.events.all);
    expect(found.records.categories.all).toBeGreaterThan(2);
  });

  it('fasti migrate names the command that builds the index, as long as there is none', async () => {
    expect((await fasti()('migrate')).out).toContain('Run `fasti reindex`');
    await fasti()('reindex');
    expect((await fasti()('migrate')).out).not.toContain('reindex');
  });

  it('reports whether there is an index, and the last change by another program', async () => {
    await reindexEvents(db, () => NOW, { marksComplete: true });
    const change = { kind: 'post', type: 'tribe_events', object: 38, what: 'changed', wasPublic: true, isPublic: true } as const;
    await appendChanges(db, [change], { writer: 'found', at: '2026-11-20 08:00:00', user: 0 });
    await appendChanges(db, [change], { writer: 'fasti', at: '2026-11-21 08:00:00', user: 1 });
    expect(await status()).toMatchObject({
      index: 'built',
      journal: { latest: '2026-11-21 08:00:00', latestOfOthers: '2026-11-20 08:00:00' },
    });
    const { out } = await fasti()('status');
    expect(out).toMatch(/^List index +built$/m);
    expect(out).toMatch(/^Last change by other programs +2026-11-20 08:00:00 UTC$/m);
    expect((await fasti()('status', '--language=it')).out).toMatch(/^Indice +pronto$/m);
  });

  it.each([
    [{}, 'missing', '`fasti reindex` builds it'],
    [{ SHARED_WITH_WORDPRESS: 'on' }, 'missing', '`fasti reindex` builds it'],
    [{ SHARED_WITH_WORDPRESS: 'on', FOLLOW_WORDPRESS: 'off' }, 'not-followed', 'FOLLOW_WORDPRESS is off'],
    [{ CUSTOM_TABLES: 'off' }, null, "none, since the calendar's own tables are not used"],
    [{ CUSTOM_TABLES: 'off', SHARED_WITH_WORDPRESS: 'on', FOLLOW_WORDPRESS: 'off' }, null, 'none'],
  ])('proposes to build the index only if lists would use it: %j', async (env, index, sentence) => {
    expect((await status(env)).index).toBe(index);
    expect((await fasti(env)('status')).out).toMatch(new RegExp(`^List index +.*${sentence}`, 'm'));
    const { out } = await fasti(env)('reindex');
    expect(out).toContain(index === 'missing' ? 'Lists are read from the index.' : 'Nothing to do');
    expect((await status(env)).index).toBe(index === 'missing' ? 'built' : index);
  });

  it('reports whether a server answers at its address', async () => {
    const { port } = server.address() as AddressInfo;
    expect((await status({ PORT: String(port) })).server).toEqual({ address: `http://127.0.0.1:${port}`, state: 'answers' });
    answer = '<h1>Something else</h1>';
    expect((await status({ PORT: String(port) })).server.state).toBe('other');
    expect((await status({ PORT: '1' })).server.state).toBe('silent');
  });

  it('works without missing tables of Fasti and does not create them', async () => {
    await db.ask(`DROP TABLE ${db.prefix}fasti_journal`);
    const { code, out, err } = await fasti()('status');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Journal +missing: `fasti migrate` creates it$/m);
    expect(out).toMatch(/^Tables +1 is missing: /m);
    expect(await hasTable(db, 'fasti_journal')).toBe(false);
  });

  it('rejects other formats and a database without a site', async () => {
    expect((await fasti()('status', '--format=csv')).code).toBe(2);
    expect(await fasti({ TABLE_PREFIX: 'none_' })('status')).toMatchObject({ code: 1, out: '' });
  });
});
