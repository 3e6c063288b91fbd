import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  createWriteStream,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runCli } from '../../src/cli/program.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Site } from '../../src/site.ts';
import { indexState } from '../../src/storage/audit/audit.ts';
import { copySqlite, siteTables } from '../../src/storage/audit/snapshot.ts';
import { type Database, hasTable, openDatabase } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { sqlitePath } from '../../src/storage/engine/sqlite/connection.ts';
import { createForeignChangeHandler } from '../../src/storage/freshness/foreign-change-handler.ts';
import { rebuildIndex } from '../../src/storage/freshness/index-rebuild.ts';
import { ANYTHING_CHANGED, appendChanges, entriesAfter, lastNumber } from '../../src/storage/journal/entries.ts';
import { reportPostCreated } from '../../src/storage/journal/reported-changes.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { wpmlTables } from '../../src/storage/schema/wpml-tables.ts';
import { openBackup } from '../../src/upkeep/backup-read.ts';
import { restore } from '../../src/upkeep/restore.ts';
import { describeDatabases, runScript, urlOf } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { COMMAND } from '../support/program.mjs';
import { loadRecurringSite } from '../support/recurring-site.ts';
import { passwordOf, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { smallDisk } from '../support/small-disk.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-backup-'));
/** A disk with little room, on systems where the tests can make one. */
const disk = smallDisk(4096);
afterAll(() => disk?.remove());
const withDisk = disk ? it : it.skip;

/** Reads an open file from its start. */
function readAll(descriptor: number): Buffer {
  const bytes = Buffer.alloc(fstatSync(descriptor).size);
  readSync(descriptor, bytes, 0, bytes.length, 0);
  return bytes;
}

describeDatabases('fasti backup and restore', (open, engine) => {
  let db: Database;
  beforeAll(async () => {
    db = await loadSite(await open());
  });
  const fasti = async (url: string, args: readonly string[], env: Record<string, string> = {}) => {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runCli(args, {
      env: { DATABASE_URL: url, LOG_LEVEL: 'silent', UPLOADS_DIR: folder, ...env },
      isTerminal: false,
      out: (text) => out.push(text),
      err: (text) => err.push(text),
      serve: async () => {},
    });
    return { code, out: out.join(''), err: err.join('') };
  };
  const siteOn = (target: Database) => ({ db: target, clock: () => new Date(), config: readConfig({}) }) as Site;
  let number = 0;
  const fileName = () => {
    number += 1;
    return join(folder, `${engine}-${number}.backup`);
  };
  /**
   * Returns all rows of a site except those that a restore writes: the change counter, which continues to increase, and
   * the mark of an index that is given up.
   */
  const everything = async (of: Database) =>
    Object.fromEntries(
      await Promise.all(
        siteTables()
          .filter((name) => name !== 'fasti_changes')
          .map(async (name) => [name, await rowsIn(of, name)] as const),
      ),
    );
  const rowsIn = async (of: Database, name: string): Promise<string[]> =>
    ((await of.knex(of.prefix + name)) as object[])
      .map((row) => JSON.stringify(row))
      .filter((row) => !row.includes('fasti_index_given_up'))
      .sort();
  /** Makes an SQLite file that has the tables of a site but no rows. */
  const tablesAlone = async () => {
    const url = freshSqlite();
    const tables = await openDatabase({ url, prefix: 'wp_' });
    await migrate(tables);
    const copy = fileName();
    await copySqlite(sqlitePath(url)!, copy);
    await tables.close();
    return readFileSync(copy);
  };
  const freshSqlite = () => `sqlite:${join(mkdtempSync(join(folder, 'new-')), 'site.sqlite')}`;

  withDisk('leave no file behind if the disk is full or fills up while they write', async () => {
    const file = join(disk!.folder, 'site.backup');
    await fasti(urlOf(db), ['backup', file]);
    const whole = Math.ceil(statSync(file).size / 1024);
    rmSync(file);
    const codes: (number | undefined)[] = [];
    const said: string[] = [];
    for (const room of [0, whole / 2, ...Array.from({ length: 12 }, (_, step) => whole + 4 * step)]) {
      disk!.fill(Math.floor(room));
      const { code, err } = await fasti(urlOf(db), ['backup', file]);
      codes.push(code);
      if (code !== 0) said.push(err);
      expect([room, readdirSync(disk!.folder).filter((name) => !['filler', 'site.backup'].includes(name))]).toEqual([room, []]);
      rmSync(file, { force: true });
      disk!.free();
    }
    expect([codes.slice(0, 2), codes.at(-1)]).toEqual([[1, 1], 0]);
    // The message must not say that the database is full.
    for (const line of said) expect(line.replace(/\(.*\)/, '(why)')).toBe(`Error: ${file} cannot be written (why).\n`);
  });

  it('restore every row in another database', async () => {
    const file = fileName();
    const made = await fasti(urlOf(db), ['backup', file]);
    expect(made).toMatchObject({ code: 0, err: '', out: expect.stringMatching(new RegExp(`^1\\d{3} rows written to ${file}\\.\\n$`)) });
    expect([statSync(file).mode & 0o77, readdirSync(folder).filter((name) => /\.part|-wal|-shm|journal/.test(name))]).toEqual([0, []]);
    const target = await open({ migrated: false });
    expect((await fasti(urlOf(target), ['restore', file])).out).toMatch(/^1\d{3} rows restored from/);
    expect(await everything(target)).toEqual(await everything(db));
    const running = await serveDatabase(target);
    expect((await running.send('GET', '/wp-json/tribe/events/v1/events/39', { as: 'admin' })).body.title).toBe('Summer concert');
    expect(passwordOf('admin')).not.toBe('');
    const next = await running.send('POST', '/wp-json/tribe/events/v1/venues', { as: 'admin', body: { venue: 'After' } });
    expect(next.body.id).toBeGreaterThan(92);
    await running.close();
  });

  it('name the tables of other plugins, which they leave out and a restore leaves alone', async () => {
    const [file, shop] = [fileName(), await loadSite(await open())];
    for (const name of ['wp_wc_orders', 'wp_2_posts', 'wp_2_postmeta', 'wp_2_options', 'other'])
      await shop.knex.raw('CREATE TABLE ?? (id int)', [name]);
    const made = await fasti(urlOf(shop), ['backup', file]);
    const leftOut = 'Not in the backup, because they belong to other plugins or to the network: wp_wc_orders\n';
    expect(made).toMatchObject({ code: 0, err: shop.dialect.name === 'mysql' ? leftOut : '' });
    await shop.knex.raw('INSERT INTO wp_wc_orders (id) VALUES (7)');
    expect(await fasti(urlOf(shop), ['restore', file, '--force'])).toMatchObject({
      code: 0,
      err: 'Left as they were, because they belong to other plugins or to the network: wp_wc_orders\n',
    });
    expect(await shop.knex('wp_wc_orders')).toMatchObject([{ id: 7 }]);
  });

  it('include the dates of recurring events, with their rules and series', async () => {
    const [file, recurring] = [fileName(), await loadRecurringSite(await open())];
    expect((await fasti(urlOf(recurring), ['backup', file])).code).toBe(0);
    const url = freshSqlite();
    expect((await fasti(url, ['restore', file])).code).toBe(0);
    const other = await openDatabase({ url, prefix: 'wp_' });
    expect(await everything(other)).toEqual(await everything(recurring));
    const series = (of: Database) => of.from('tec_series_relationships').orderBy('relationship_id');
    expect((await series(other)).map((row) => ({ ...row }))).toEqual((await series(recurring)).map((row) => ({ ...row })));
    expect((await other.from('tec_events').where('post_id', 501).first())?.rset).toMatch(/^DTSTART/);
    // Restore again over the existing rows.
    expect((await fasti(url, ['restore', '--force', file])).code).toBe(0);
    expect(await series(other)).toHaveLength(4);
    await other.close();
  });

  it.each(['polylang', 'wpml'] as const)('keep the languages of records in the tables of %s', async (form) => {
    const [file, spoken] = [fileName(), await loadLanguages(await open(), form)];
    expect((await fasti(urlOf(spoken), ['backup', file])).code).toBe(0);
    const url = freshSqlite();
    expect((await fasti(url, ['restore', file])).code).toBe(0);
    const other = await openDatabase({ url, prefix: 'wp_' });
    expect(await everything(other)).toEqual(await everything(spoken));
    const rows = async (of: Database) =>
      form === 'wpml' ? Promise.all(wpmlTables().map(async (name) => (await of.from(name)).map((row) => JSON.stringify(row)).sort())) : [];
    expect(await rows(other)).toEqual(await rows(spoken));
    expect((await rows(other)).every((some) => some.length > 0)).toBe(true);
    const shown = JSON.parse((await fasti(url, ['event', 'get', '111', '--format=json'])).out);
    expect([shown.language, Object.keys(shown.translations)]).toEqual(['it', ['en', 'it']]);
    // Restore again over the existing rows.
    expect((await fasti(url, ['restore', '--force', file])).code).toBe(0);
    expect(await rows(other)).toEqual(await rows(spoken));
    await other.close();
  });

  it(engine === 'MySQL' ? 'carry a site from MySQL to SQLite' : 'make a file that is a database itself', async () => {
    const file = fileName();
    await fasti(urlOf(db), ['backup', file]);
    const url = engine === 'MySQL' ? freshSqlite() : `sqlite:${file}`;
    if (engine === 'MySQL') expect((await fasti(url, ['restore', file])).code).toBe(0);
    const other = await openDatabase({ url, prefix: 'wp_' });
    expect(await everything(other)).toEqual(await everything(db));
    await other.close();
  });
  if (engine === 'MySQL')
    it('transfer a site from SQLite to MySQL', async () => {
      const url = freshSqlite();
      const first = fileName();
      await fasti(urlOf(db), ['backup', first]);
      await fasti(url, ['restore', first]);
      const file = fileName();
      await fasti(url, ['backup', file]);
      const target = await open({ migrated: false });
      expect((await fasti(urlOf(target), ['restore', file])).code).toBe(0);
      expect(await everything(target)).toEqual(await everything(db));
    });

  it('keep unusual characters and NULL in texts', async () => {
    const text = '\u2028 \u0000\n\r\n"\\ 😀 \u{10ffff} é '.replace('\u0000', engine === 'MySQL' ? '\u0000' : '');
    await db.from('postmeta').insert({ post_id: 39, meta_key: 'strange', meta_value: text });
    await db.from('postmeta').insert({ post_id: 39, meta_key: 'nothing', meta_value: null });
    const file = fileName();
    await fasti(urlOf(db), ['backup', file]);
    const target = await open({ migrated: false });
    await fasti(urlOf(target), ['restore', file]);
    const values = await target.from('postmeta').whereIn('meta_key', ['strange', 'nothing']).orderBy('meta_key').select('meta_value');
    expect(values.map((row) => row.meta_value)).toEqual([null, text]);
    await db.from('postmeta').whereIn('meta_key', ['strange', 'nothing']).delete();
  });

  it('keep columns that plugins added, including binary and JSON values and long decimals', async () => {
    const [file, from, to] = [fileName(), await loadSite(await open()), await open()];
    for (const side of [from, to])
      for (const column of [
        'own_bytes blob',
        ...(engine === 'MySQL' ? ['own_json json', 'own_sum decimal(30,10)'] : ['own_json text', 'own_sum text']),
      ])
        await side.knex.schema.raw(`ALTER TABLE wp_options ADD COLUMN ${column}`);
    const own = { own_bytes: Buffer.from([0, 255, 128]), own_json: '{"a":[1]}', own_sum: '12345678901234567890.0123456789' };
    await from.knex('wp_options').where('option_name', 'blogname').update(own);
    expect((await fasti(urlOf(from), ['backup', file])).code).toBe(0);
    expect(await fasti(urlOf(to), ['restore', file])).toMatchObject({ code: 0, err: '' });
    const [row] = await to
      .knex('wp_options')
      .where('option_name', 'blogname')
      .select('own_json', to.knex.raw('HEX(own_bytes) AS bytes'), to.knex.raw('CAST(own_sum AS CHAR) AS total'));
    expect([row.bytes, JSON.parse(row.own_json), row.total]).toEqual(['00FF80', { a: [1] }, own.own_sum]);
    // If the target does not have such columns, everything else is restored.
    if (engine === 'MySQL') {
      await from.knex.schema.raw('ALTER TABLE wp_options ADD COLUMN own_place point');
      await from.knex.raw('UPDATE wp_options SET own_place = POINT(1, 2)');
      expect((await fasti(urlOf(from), ['backup', file, '--force'])).code).toBe(0);
    }
    const url = freshSqlite();
    expect((await fasti(url, ['restore', file])).code).toBe(0);
  });

  it('change the table prefix and the names of roles that contain it', async () => {
    const file = fileName();
    await fasti(urlOf(db), ['backup', file]);
    const target = await open({ migrated: false, prefix: 'cal_' });
    expect((await fasti(urlOf(target), ['restore', file], { TABLE_PREFIX: 'cal_' })).code).toBe(0);
    const users = await fasti(urlOf(target), ['user', 'list', '--format=json'], { TABLE_PREFIX: 'cal_' });
    expect(JSON.parse(users.out)[0]).toMatchObject({ login: 'admin', roles: ['administrator'] });
  });

  it.each(['', 'first_', 'wp_'])('rename only user metas that begin with the table prefix "%s"', async (prefix) => {
    const target = await openDatabase({ url: urlOf(await open({ migrated: false })), prefix: 'cal_' });
    const own = ['capabilities', 'user_level', 'user-settings', 'media_library_mode', 'persisted_preferences'];
    const plain = ['nickname', 'first_name', 'session_tokens', 'wp_mail', 'default_password_nag'];
    const rows = [...own.map((name) => prefix + name), ...plain].map((meta_key, at) => ({
      umeta_id: at + 1,
      user_id: 1,
      meta_key,
      meta_value: 'x',
    }));
    const roles = { option_id: 1, option_name: `${prefix}user_roles`, option_value: '', autoload: 'yes' };
    const tables = async function* () {
      yield { name: 'usermeta', last: 0, rows: Readable.from(rows) };
      yield { name: 'options', last: 0, rows: Readable.from([roles]) };
    };
    await restore(siteOn(target), { rows: 0, prefix, names: new Set<string>(), tables });
    const keys = await target.from('usermeta').orderBy('umeta_id').select('meta_key');
    expect(keys.map((row) => row.meta_key)).toEqual([...own.map((name) => `cal_${name}`), ...plain]);
    expect(await target.from('options').select('option_name')).toEqual([{ option_name: 'cal_user_roles' }]);
    await target.close();
  });

  it('do not restore roles that were left over under the new prefix', async () => {
    const target = await openDatabase({ url: urlOf(await open({ migrated: false })), prefix: 'cal_' });
    const metas = [
      { umeta_id: 1, user_id: 1, meta_key: 'cal_capabilities', meta_value: 'stale' },
      { umeta_id: 2, user_id: 1, meta_key: 'wp_capabilities', meta_value: 'in force' },
      { umeta_id: 3, user_id: 2, meta_key: 'cal_user_level', meta_value: '10' },
    ];
    const options = ['cal_user_roles', 'wp_user_roles'].map((option_name, at) => ({
      option_id: at + 1,
      option_name,
      option_value: option_name,
      autoload: 'yes',
    }));
    const tables = async function* () {
      yield { name: 'usermeta', last: 0, rows: Readable.from(metas) };
      yield { name: 'options', last: 0, rows: Readable.from(options) };
    };
    const backup = { rows: 5, prefix: 'wp_', names: new Set<string>(), tables };
    expect(await restore(siteOn(target), backup)).toBe(2);
    expect(await target.from('usermeta').select('meta_key', 'meta_value')).toEqual([
      { meta_key: 'cal_capabilities', meta_value: 'in force' },
    ]);
    expect(await target.from('options').select('option_name', 'option_value')).toEqual([
      { option_name: 'cal_user_roles', option_value: 'wp_user_roles' },
    ]);
    await target.close();
  });

  it('carry a site of a network to a single site, where its application passwords work, and where spammers still cannot sign in', async () => {
    const [file, network, target] = [fileName(), await loadSite(await open()), await open({ migrated: false })];
    await network.knex.raw('ALTER TABLE ?? ADD COLUMN spam INTEGER NOT NULL DEFAULT 0', [network.table('users')]);
    await network.from('users').where('user_login', 'ed').update({ spam: 1, user_activation_key: '1:link' });
    // A network stores this for all sites.
    await network.from('options').where('option_name', 'using_application_passwords').delete();
    const before = await network.from('users').orderBy('ID').select('user_login', 'user_pass');
    expect((await fasti(urlOf(network), ['backup', file])).code).toBe(0);
    expect((await fasti(urlOf(target), ['restore', file])).code).toBe(0);
    const after = await target.from('users').orderBy('ID').select('user_login', 'user_pass');
    expect(after).toEqual(before.map((user) => (user.user_login === 'ed' ? { ...user, user_pass: '*' } : user)));
    expect((await target.from('users').where('user_login', 'ed').first())?.user_activation_key).toBe('');
    const running = await serveDatabase(target);
    const statusFor = async (as: 'admin' | 'ed') => (await running.send('GET', '/wp-json/wp/v2/users/me', { as })).status;
    expect([await statusFor('admin'), await statusFor('ed')]).toEqual([200, 401]);
    await running.close();
  });

  it('leave users whom a network has marked as spam without passwords where the column of a former network is left', async () => {
    const [file, network] = [fileName(), await loadSite(await open())];
    await network.knex.raw('ALTER TABLE ?? ADD COLUMN spam INTEGER NOT NULL DEFAULT 0', [network.table('users')]);
    await network.from('users').where('user_login', 'ed').update({ spam: 1 });
    expect((await fasti(urlOf(network), ['backup', file])).code).toBe(0);
    expect((await fasti(urlOf(network), ['restore', file, '--force'])).code).toBe(0);
    const ed = await network.from('users').where('user_login', 'ed').first();
    expect(ed).toMatchObject({ spam: 1, user_pass: '*' });
    const metas = network.from('usermeta').where({ user_id: ed?.ID ?? 0, meta_key: '_application_passwords' });
    expect(await metas).toEqual([]);
  });

  it('prevent IDs of deleted records from being reused, in both kinds of databases', async () => {
    const [file, from] = [fileName(), await loadSite(await open())];
    const create = async (running: RunningSite, path: string, body: object): Promise<number> =>
      (await running.send('POST', `/wp-json/calendar/events/v1/${path}`, { as: 'admin', body })).body.id;
    const before = await serveDatabase(from);
    const gone = { venues: await create(before, 'venues', { venue: 'Gone' }), tags: await create(before, 'tags', { name: 'Gone' }) };
    await before.send('DELETE', `/wp-json/wp/v2/tribe_venue/${gone.venues}?force=true`, { as: 'admin' });
    await before.send('DELETE', `/wp-json/calendar/events/v1/tags/${gone.tags}`, { as: 'admin' });
    const users = await insertRows(from, 'users', [{ user_login: 'gone', user_email: 'gone@example.org' }]);
    await from.from('users').where('ID', users).delete();
    await before.close();
    expect((await fasti(urlOf(from), ['backup', file])).code).toBe(0);
    const same = await open({ migrated: false });
    for (const url of [urlOf(same), freshSqlite()]) {
      const target = await openDatabase({ url, prefix: 'wp_' });
      expect((await fasti(url, ['restore', file])).code).toBe(0);
      expect(await everything(target)).toEqual(await everything(from));
      const after = await serveDatabase(same, { env: { DATABASE_URL: url } });
      expect(await create(after, 'venues', { venue: 'New' })).toBeGreaterThan(gone.venues);
      expect(await create(after, 'tags', { name: 'New' })).toBeGreaterThan(gone.tags);
      expect(await insertRows(target, 'users', [{ user_login: 'new', user_email: 'new@example.org' }])).toBeGreaterThan(users);
      await after.close();
      await target.close();
    }
  });

  it('make clients that follow the changes start again, and delete pending webhook messages', async () => {
    const [file, from, to] = [fileName(), await loadSite(await open()), await open()];
    expect((await fasti(urlOf(from), ['backup', file])).code).toBe(0);
    const [before, after] = [await serveDatabase(from), await serveDatabase(to)];
    const write = async (running: typeof before, times: number) => {
      for (let at = 0; at < times; at += 1)
        expect(
          (await running.send('POST', '/wp-json/calendar/events/v1/tags', { as: 'admin', body: { name: `${times} ${at}` } })).status,
        ).toBe(201);
    };
    await write(before, 5);
    const api = '/wp-json/calendar/events/v1/changes';
    let [token, more] = ['', true];
    while (more) ({ next: token, more } = (await before.send('GET', `${api}?limit=500${token ? `&since=${token}` : ''}`)).body);
    const message = {
      id: 'msg_1',
      hook: 1,
      number: 1,
      subject: 's',
      payload: '{}',
      state: 'waiting',
      next_at: '',
      created_at: '',
    } as const;
    await insertRows(to, 'fasti_hook_messages', [message]);
    expect((await fasti(urlOf(to), ['restore', file, '--force'])).code).toBe(0);
    expect(await to.from('fasti_hook_messages')).toEqual([]);
    await write(after, 12);
    const counters = await Promise.all([from, to].map(async (one) => Number((await one.from('fasti_changes').first())?.counter)));
    expect(counters[1]).toBeGreaterThan(counters[0]!);
    expect((await before.send('GET', `${api}?since=${token}`)).status).toBe(200);
    expect((await after.send('GET', `${api}?since=${token}`)).status).toBe(410);
    await Promise.all([before.close(), after.close()]);
  });

  it.each([
    [[], 'active'],
    [['--pause-webhooks'], 'paused'],
  ] as const)('with %j, restore active webhooks as %s, and others unchanged', async (flags, restoredState) => {
    const [file, from, to] = [fileName(), await loadSite(await open()), await open()];
    const hook = { url: 'https://example.org/hook', secret: 's', kinds: '', user: 0, position: 0, created_at: '2026-01-01 00:00:00' };
    await insertRows(
      from,
      'fasti_hooks',
      (['active', 'off', 'paused'] as const).map((state) => ({ ...hook, state })),
    );
    expect((await fasti(urlOf(from), ['backup', file])).code).toBe(0);
    const { code, out } = await fasti(urlOf(to), ['restore', file, ...flags]);
    expect([code, out.includes('1 webhook is active')]).toEqual([0, restoredState === 'active']);
    const states = await to.from('fasti_hooks').orderBy('id').select('state');
    expect(states.map(({ state }) => state)).toEqual([restoredState, 'off', 'paused']);
    await Promise.all([from.close(), to.close()]);
  });

  it('restore a site whose tables were dropped', async () => {
    const file = fileName();
    const broken = await open();
    await loadSite(broken);
    await fasti(urlOf(broken), ['backup', file]);
    const before = await everything(broken);
    for (const table of ['tec_occurrences', 'termmeta', 'fasti_entries', 'fasti_hook_messages']) await broken.ask(`DROP TABLE wp_${table}`);
    expect(await fasti(urlOf(broken), ['restore', file, '--force'])).toMatchObject({ code: 0, err: '' });
    expect(await everything(broken)).toEqual(before);
    // A site without the calendar's own tables is restored without them.
    for (const table of ['tec_events', 'tec_occurrences']) await broken.ask(`DROP TABLE wp_${table}`);
    const old = fileName();
    expect((await fasti(urlOf(broken), ['backup', old])).code).toBe(0);
    expect(await fasti(urlOf(broken), ['restore', old, '--force'])).toMatchObject({ code: 0, err: '' });
    expect(await hasTable(broken, 'tec_events')).toBe(false);
  });

  it.each([
    ['is given up, and a running server rebuilds it, where WordPress writes too', 'on'],
    ['is kept where only Fasti writes', 'off'],
  ] as const)('replace the list index, which %s', async (_, shared) => {
    const [file, site] = [fileName(), await loadSite(await open())];
    const now = () => new Date('2026-11-20T12:00:00Z');
    const handler = createForeignChangeHandler(site, now);
    const takeOver = () => handler.takeOver({ isFull: false, tables: undefined, languages: undefined });
    if (shared === 'on') await takeOver();
    else await rebuildIndex(site, now, { marksComplete: true, languages: undefined, shared: false });
    expect(await indexState(site, undefined)).toBe('trusted');
    // The backup does not take this over, but the server does.
    if (shared === 'on') await runScript(site, "UPDATE wp_posts SET post_status = 'draft' WHERE ID = 39");
    expect((await fasti(urlOf(site), ['backup', file])).code).toBe(0);
    if (shared === 'on') await takeOver();
    const restored = await fasti(urlOf(site), ['restore', file, '--force'], { SHARED_WITH_WORDPRESS: shared });
    expect(restored).toMatchObject({ code: 0, err: '' });
    expect(await indexState(site, undefined)).toBe(shared === 'on' ? 'off' : 'trusted');
    expect(await site.from('fasti_prints')).toEqual([]);
    if (shared === 'off') return;
    const before = await lastNumber(site);
    await takeOver();
    expect(await indexState(site, undefined)).toBe('trusted');
    expect((await entriesAfter(site, before, 1000)).entries).toMatchObject([{ kind: 'all' }]);
  });

  it('do not replace a site that another process has created in the meantime', async () => {
    const file = fileName();
    await fasti(urlOf(db), ['backup', file]);
    const target = await open({ migrated: false });
    const outcomes = await Promise.all([1, 2].map(() => fasti(urlOf(target), ['restore', file])));
    expect(outcomes.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(outcomes.find(({ code }) => code === 1)!.err).toContain('not empty');
    expect(await everything(target)).toEqual(await everything(db));
  });

  it('overwrite nothing without --force', async () => {
    const file = fileName();
    writeFileSync(file, 'mine');
    expect(await fasti(urlOf(db), ['backup', file])).toMatchObject({ code: 1, err: expect.stringContaining('--force') });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await fasti(urlOf(db), ['backup', file, '--force'])).code).toBe(0);
    const target = await open();
    await loadSite(target);
    await target.from('posts').where('ID', 39).update({ post_title: 'Mine' });
    const before = Number((await target.from('fasti_changes').first())!.counter);
    expect(await fasti(urlOf(target), ['restore', file])).toMatchObject({ code: 1, err: expect.stringContaining('not empty') });
    expect((await target.from('posts').where('ID', 39).first())?.post_title).toBe('Mine');
    expect((await fasti(urlOf(target), ['restore', file, '--force'])).code).toBe(0);
    expect(await everything(target)).toEqual(await everything(db));
    expect(Number((await target.from('fasti_changes').first())!.counter)).toBeGreaterThan(before);
  });

  if (engine === 'MySQL')
    it('skip tables of a newer version', async () => {
      const [good, newer] = [fileName(), fileName()];
      await fasti(urlOf(db), ['backup', good]);
      const lines = gunzipSync(readFileSync(good)).toString().trimEnd().split('\n');
      const { rows } = JSON.parse(lines.at(-1)!);
      const more = ['{"table":"fasti_later","last":3}', '{"id":3,"name":"x"}'];
      const end = `{"end":true,"rows":${rows + 2}}`;
      writeFileSync(newer, gzipSync(`${[lines[0], ...more, ...lines.slice(1, -1), ...more, end].join('\n')}\n`));
      const target = await open({ migrated: false });
      expect(await fasti(urlOf(target), ['restore', newer])).toMatchObject({ code: 0, err: '' });
      expect(await everything(target)).toEqual(await everything(db));
    });

  it('refuse files that are not backups or are truncated or damaged, before anything is changed', async () => {
    const good = fileName();
    await fasti(urlOf(db), ['backup', good]);
    const bytes = readFileSync(good);
    const files: [string, Buffer, RegExp][] = [
      ['empty', Buffer.alloc(0), /is not a backup/],
      ['other', Buffer.from('hello, this is not a backup'), /is not a backup/],
      ['other.gz', gzipSync('{"format":"other"}\n'), /is not a backup/],
      ['cut', bytes.subarray(0, Math.floor(bytes.length / 2)), /is damaged or truncated/],
      // The file does not contain a complete line.
      ['stump', bytes.subarray(0, engine === 'MySQL' ? 20 : 3000), /is damaged or truncated\.$/m],
      ['no-site.gz', gzipSync('{"format":"fasti-backup","version":1,"prefix":"wp_"}\n{"end":true,"rows":0}\n'), /is not a backup/],
      ['no-site.sqlite', await tablesAlone(), /is not a backup/],
    ];
    if (engine === 'MySQL') {
      const lines = gunzipSync(bytes).toString().split('\n');
      files.push(
        ['short', gzipSync(`${lines.slice(0, -2).join('\n')}\n`), /is damaged or truncated/],
        ['less', gzipSync(lines.filter((_, place) => place !== 20).join('\n')), /is damaged or truncated/],
        [
          'nested',
          gzipSync(`${lines.slice(0, 30).join('\n')}\n${'['.repeat(2 ** 20)}\n${lines.slice(30).join('\n')}`),
          /is damaged or truncated \(line 31\)/,
        ],
        ['broken', gzipSync(`${lines.slice(0, 30).join('\n')}{oops\n${lines.slice(30).join('\n')}`), /is damaged or truncated \(line 30\)/],
      );
    }
    const target = await open();
    await loadSite(target);
    const before = await everything(target);
    for (const [name, content, message] of files) {
      const file = join(folder, `${engine}-${name}`);
      writeFileSync(file, content);
      expect(await fasti(urlOf(target), ['restore', file, '--force'])).toMatchObject({ code: 1, err: expect.stringMatching(message) });
    }
    expect((await fasti(urlOf(target), ['restore', join(folder, 'nothing')])).err).toContain('cannot be read (ENOENT)');
    expect(await everything(target)).toEqual(before);
  });

  it('report on standard error how much was written to a pipe or device, or that it cannot be written', async () => {
    const { code, out, err } = await fasti(urlOf(db), ['backup', '/dev/null', '--force']);
    expect([code, out]).toEqual([engine === 'MySQL' ? 0 : 1, '']);
    expect(err).toMatch(engine === 'MySQL' ? /^1\d{3} rows written to/ : /\/dev\/null is not a regular file/);
  });

  /** Runs `fasti backup -` in a separate process. */
  const backUpTo = (output: number | 'pipe', program: readonly string[] = [], env: NodeJS.ProcessEnv = {}) => {
    const [command = '', ...args] = [...program, process.execPath, COMMAND, 'backup', '-'];
    const child = spawn(command, args, {
      env: { ...process.env, DATABASE_URL: urlOf(db), UPLOADS_DIR: folder, NODE_OPTIONS: '', LANG: 'en', ...env },
      cwd: folder,
      stdio: ['ignore', output, 'pipe'],
    });
    const ended = Promise.all([once(child, 'exit'), text(child.stderr!)]).then(([[code], err]) => ({ code: code as number, err }));
    return { child, ended };
  };
  const DONE = { code: 0, err: expect.stringMatching(/^1\d{3} rows written to \/dev\/stdout\.\n$/) };

  it('write a backup named - to standard output', async () => {
    const [whole, deleted] = [fileName(), fileName()];
    for (const file of [whole, deleted]) {
      const output = openSync(file, 'w+');
      // The process cannot open this file by its name.
      if (file === deleted) rmSync(file);
      const { ended } = backUpTo(output);
      expect({ ...(await ended), named: existsSync(join(folder, '-')) }).toEqual({ ...DONE, named: false });
      if (file === deleted) writeFileSync(deleted, readAll(output));
      closeSync(output);
      expect(await fasti(freshSqlite(), ['restore', file])).toMatchObject({ code: 0 });
    }
    expect(readdirSync(tmpdir()).filter((name) => /^fasti-backup-\w{6}$/.test(name) && !folder.endsWith(name))).toEqual([]);
  });

  it('name the temporary folder if a backup of SQLite cannot be prepared there', async () => {
    if (engine === 'MySQL') return;
    const missing = join(folder, 'missing-temporary');
    const { child, ended } = backUpTo('pipe', [], { TMPDIR: missing });
    child.stdout!.resume();
    const { code, err } = await ended;
    expect(code).toBe(1);
    expect(err).toContain(missing);
    expect(err).not.toContain('/dev/stdout');
  });

  it('write a backup named - to a pipe and to a socket, which is what programs of Node give to their children', async () => {
    for (const program of [[], ['sh', '-c', '"$@" | cat', 'sh']]) {
      const file = fileName();
      const { child, ended } = backUpTo('pipe', program);
      await pipeline(child.stdout!, createWriteStream(file));
      expect(await ended).toEqual(DONE);
      expect(await fasti(freshSqlite(), ['restore', file])).toMatchObject({ code: 0 });
    }
  });

  it('report that the reader of a backup named - is gone', async () => {
    const { child, ended } = backUpTo('pipe');
    child.stdout!.destroy();
    expect(await ended).toEqual({ code: 1, err: 'Error: /dev/stdout cannot be written (EPIPE).\n' });
  });

  it('refuse to write a backup over the database itself', async () => {
    const copy = fileName();
    await fasti(urlOf(db), ['backup', copy]);
    const own = freshSqlite();
    await fasti(own, ['restore', copy]);
    const path = own.slice('sqlite:'.length);
    const other = await openDatabase({ url: own, prefix: 'wp_' });
    await other.from('options').where('option_name', 'blogname').update({ option_value: 'Written meanwhile' });
    const before = statSync(path).ino;
    for (const file of [path, `${path}-wal`, join(path, '..', '.', 'site.sqlite-shm')])
      expect(await fasti(own, ['backup', file, '--force'])).toMatchObject({
        code: 1,
        err: expect.stringContaining('part of the database'),
      });
    expect(await fasti(own, ['export', path, '--format=jsonl', '--force'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('part of the database'),
    });
    expect(await fasti(own, ['backup', folder, '--force'])).toMatchObject({ code: 1, err: expect.stringContaining('(EISDIR)') });
    expect(statSync(path).ino).toBe(before);
    await other.close();
  });

  if (engine === 'MySQL')
    it('restore at the first attempt while a writer is in the middle of its transaction', async () => {
      const [file, url] = [fileName(), urlOf(await loadSite(await open()))];
      await fasti(url, ['backup', file]);
      const [target, other] = [await openDatabase({ url, prefix: 'wp_' }), await openDatabase({ url, prefix: 'wp_' })];
      const isDeleting = new Promise<void>((resolve) => {
        target.driver.listen(({ sql }) => {
          if (/^delete from `wp_posts`/i.test(sql)) resolve();
        });
      });
      let write: Promise<unknown> = Promise.resolve();
      await new Promise<void>((isLocked) => {
        write = other.transaction(async (transaction) => {
          await transaction.rows`SELECT ID FROM {posts} WHERE ID = 39 FOR UPDATE`;
          isLocked();
          await isDeleting;
          await insertRows(transaction, 'postmeta', [{ post_id: 39, meta_key: 'late', meta_value: '1' }]);
          const origin = { writer: 'fasti', at: '2026-01-01 00:00:00', user: 0 } as const;
          await appendChanges(transaction, [ANYTHING_CHANGED, ANYTHING_CHANGED, ANYTHING_CHANGED], origin);
        });
      });
      const backup = await openBackup(file, 'wp_');
      let attempts = 0;
      const tables = () => {
        attempts += 1;
        return backup.tables();
      };
      await restore(siteOn(target), { ...backup, tables });
      await write;
      expect(attempts).toBe(1);
      const [state] = await target.rows<{ counter: number; number: number }>`
        SELECT (SELECT counter FROM {fasti_changes}) AS counter, (SELECT MAX(number) FROM {fasti_journal}) AS number`;
      expect(state?.counter).toBe(state?.number);
      await Promise.all([target.close(), other.close()]);
    });

  it('change nothing if a restore fails in the middle', async () => {
    const file = fileName();
    await fasti(urlOf(db), ['backup', file]);
    const target = await open();
    await loadSite(target);
    // The target refuses some of the rows.
    await target.knex.schema.raw(
      engine === 'MySQL'
        ? "CREATE TRIGGER no BEFORE INSERT ON wp_usermeta FOR EACH ROW SIGNAL SQLSTATE '45000'"
        : "CREATE TRIGGER no BEFORE INSERT ON wp_usermeta BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    const before = await everything(target);
    expect((await fasti(urlOf(target), ['restore', file, '--force'])).code).not.toBe(0);
    expect(await everything(target)).toEqual(before);
  });

  it('write a consistent snapshot while another process writes', async () => {
    const busy = await open();
    await loadSite(busy);
    await busy.from('options').insert([
      { option_name: 'one', option_value: '0', autoload: 'no' },
      { option_name: 'two', option_value: '0', autoload: 'no' },
    ]);
    const stop = engine === 'MySQL' ? await writing(busy) : await writingBeside(urlOf(busy).replace('sqlite:', ''));
    const counts: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const file = fileName();
      expect((await fasti(urlOf(busy), ['backup', file])).code).toBe(0);
      const target = await open({ migrated: false });
      expect((await fasti(urlOf(target), ['restore', file])).code).toBe(0);
      const options = await target.from('options').whereIn('option_name', ['one', 'two']).select('option_value');
      const posts = await target.from('posts').where('post_type', 'busy').orderBy('ID').select('ID');
      const metas = await target.from('postmeta').where('meta_key', 'busy').select('post_id');
      // Each transaction of the other process is included completely or not at all, and no transaction before the last
      // one is missing.
      expect(new Set(options.map((row) => row.option_value))).toEqual(new Set([String(posts.length)]));
      expect(metas.map((row) => row.post_id).sort((a, b) => a - b)).toEqual(posts.flatMap(({ ID }) => [ID, ID, ID]));
      counts.push(posts.length);
      await sleep(30);
    }
    await stop();
    expect(counts[3]).toBeGreaterThan(counts[0]!);
    expect(readdirSync(folder).filter((one) => one.endsWith('.part'))).toEqual([]);
  });
});

/** Writes posts with metas and two counters, each in one transaction, until it is told to stop. */
async function writing(of: Database): Promise<() => Promise<void>> {
  let going = true;
  const work = (async () => {
    for (let number = 1; going; number += 1) {
      await of.transaction(async (db) => {
        const [id] = await db.from('posts').insert({
          post_type: 'busy',
          post_title: String(number),
          post_content: '',
          post_excerpt: '',
          to_ping: '',
          pinged: '',
          post_content_filtered: '',
        });
        reportPostCreated(db, Number(id), { post_type: 'busy' });
        for (const place of [1, 2, 3])
          await db.from('postmeta').insert({ post_id: Number(id), meta_key: 'busy', meta_value: String(place) });
        for (const name of ['one', 'two'])
          await db
            .from('options')
            .where('option_name', name)
            .update({ option_value: String(number) });
      });
    }
  })();
  while ((await of.from('posts').where('post_type', 'busy').first()) === undefined) await sleep(5);
  return async () => {
    going = false;
    await work;
  };
}

/** Does the same in a separate process, on an SQLite file. */
async function writingBeside(path: string): Promise<() => Promise<void>> {
  const script = `
    import { loadSqlite } from './bin/sqlite.mjs';
    const db = new (loadSqlite())(process.argv[1], { timeout: 5000 });
    const post = db.prepare("INSERT INTO wp_posts (post_type, post_title) VALUES ('busy', ?)");
    const meta = db.prepare("INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (?, 'busy', ?)");
    const option = db.prepare('UPDATE wp_options SET option_value = ? WHERE option_name = ?');
    let number = 0;
    const write = db.transaction(() => {
      number += 1;
      const { lastInsertRowid } = post.run(String(number));
      for (const place of [1, 2, 3]) meta.run(lastInsertRowid, String(place));
      for (const name of ['one', 'two']) option.run(String(number), name);
    });
    const step = () => { write.immediate(); if (number === 1) console.log('going'); setTimeout(step, 1); };
    step();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, path], {
    cwd: new URL('../..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((going) => child.stdout.once('data', going));
  return async () => {
    const ended = new Promise((done) => child.once('exit', done));
    child.kill();
    await ended;
  };
}
