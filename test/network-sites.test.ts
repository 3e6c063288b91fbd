import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { wordpressTables } from '../migrations/001-wordpress-tables.ts';
import { loginOf, signIn } from '../src/accounts/logins.ts';
import { choosePassword, createPasswordLink, ownerOfLink } from '../src/accounts/password-links.ts';
import { runCli } from '../src/cli/program.ts';
import { openWordpressDatabase } from '../src/exchange/wordpress-database.ts';
import { type Database, hasTable, openDatabase } from '../src/storage/engine/database.ts';
import type { TableName } from '../src/storage/engine/tables.ts';
import { migrate } from '../src/storage/schema/migrate.ts';
import { createHookServer } from '../src/webhooks/deliver.ts';
import { addHook } from '../src/webhooks/hooks.ts';
import { LOGIN_KEY_OPTIONS } from '../src/wordpress/cookies.ts';
import { hashPassword } from '../src/wordpress/passwords.ts';
import { describeDatabases, urlOf } from './support/databases.ts';
import { openEventStream } from './support/event-stream.ts';
import { startReceiver } from './support/hook-receiver.ts';
import { sharp } from './support/image-library.ts';
import { serveDatabase } from './support/running-site.ts';
import { loadSite, makeNetwork } from './support/site.ts';

const OF_ALL: readonly TableName[] = ['users', 'usermeta'];
const HOME = 'http://network.example.org/two';

/**
 * Makes the sample site the second one of a network, with the network's users, of whom only the editor has a role in
 * it.
 */
async function makeSecondSite(db: Database): Promise<void> {
  await makeNetwork(db);
  await db.from('sitemeta').insert({ site_id: 1, meta_key: 'using_application_passwords', meta_value: '1' });
  for (const definition of wordpressTables.tables().filter(({ name }) => !OF_ALL.includes(name))) {
    for (const statement of db.dialect.createTable(definition, 'wp_2_')) await db.ask(statement);
    await db.knex.raw('INSERT INTO ?? SELECT * FROM ??', [`wp_2_${definition.name}`, db.table(definition.name)]);
  }
  const options = () => db.knex('wp_2_options');
  await options().whereIn('option_name', ['home', 'siteurl']).update({ option_value: HOME });
  await options().where('option_name', 'wp_user_roles').update({ option_name: 'wp_2_user_roles' });
  await db.from('usermeta').where({ user_id: 2, meta_key: 'wp_capabilities' }).update({ meta_key: 'wp_2_capabilities' });
}

describeDatabases('the second site of a network', (open, engine) => {
  let db: Database;
  beforeAll(async () => {
    db = await loadSite(await open());
    await makeSecondSite(db);
  });
  const fasti = async (url: string, own: Record<string, string>, ...args: readonly string[]) => {
    const [out, err]: [string[], string[]] = [[], []];
    const env = { DATABASE_URL: url, LOG_LEVEL: 'silent', UPLOADS_DIR: mkdtempSync(join(tmpdir(), 'fasti-network-')), ...own };
    const streams = {
      out: (text: string) => void out.push(text),
      err: (text: string) => void err.push(text),
      serve: async () => undefined,
    };
    return { code: await runCli(args, { env, isTerminal: false, ...streams }), out: out.join(''), err: err.join('') };
  };

  it('has tables of its own, and its users in those of the network', async () => {
    const running = await serveDatabase(db, { env: { NETWORK_SITE: '2' } });
    await migrate(running.site.db);
    const me = async (as: string) => (await running.send('GET', '/two/wp-json/wp/v2/users/me?context=edit', { as })).body;
    expect([(await me('ed')).roles, (await me('auth')).roles]).toEqual([['editor'], []]);
    const body = { title: 'Here', start_date: '2030-01-01 10:00:00', end_date: '2030-01-01 11:00:00' };
    const create = (as: string) => running.send('POST', '/two/wp-json/tribe/events/v1/events', { as, body });
    expect((await create('auth')).status).toBe(403);
    const made = await create('ed');
    expect(made).toMatchObject({ status: 201, body: { author: '2', url: expect.stringContaining(`${HOME}/event/`) } });
    expect([await db.knex('wp_2_posts').where('post_title', 'Here'), await db.from('posts').where('post_title', 'Here')]).toMatchObject([
      [{ ID: made.body.id }],
      [],
    ]);
    expect(await Promise.all(OF_ALL.map((name) => db.dialect.columns(db, `wp_2_${name}`)))).toEqual([[], []]);
    await running.close();
  });

  it('creates accounts in the network, and gives and removes their roles in this site', async () => {
    const url = urlOf(db);
    const on = { NETWORK_SITE: '2' };
    await db.from('sitemeta').where('meta_key', 'using_application_passwords').delete();
    for (const words of [
      ['create', 'fresh', 'fresh@example.org', '--role=author'],
      ['set-role', 'contrib', 'author'],
      ['application-password', 'create', 'contrib', 'tests'],
    ])
      expect(await fasti(url, on, 'user', ...words)).toMatchObject({ code: 0, err: '' });
    const roles = async () =>
      (await db.from('usermeta').where('meta_key', 'wp_2_capabilities').orderBy('user_id')).map(({ meta_value: role }) => role);
    const author = 'a:1:{s:6:"author";b:1;}';
    expect(await roles()).toEqual(['a:1:{s:6:"editor";b:1;}', author, author]);
    expect(await db.from('sitemeta').where('meta_key', 'using_application_passwords')).toMatchObject([{ site_id: 1, meta_value: '1' }]);
    for (const login of ['fresh', 'contrib'])
      expect(await fasti(url, on, 'user', 'delete', login, '--reassign=ed')).toMatchObject({ code: 0, err: '' });
    expect(await roles()).toHaveLength(1);
    expect((await db.from('users').where('user_login', 'fresh').first())?.user_email).toBe('fresh@example.org');
  });

  it('refuses users whom the network has marked as spam, as WordPress does, unless they have an application password', async () => {
    await db.knex.raw('ALTER TABLE ?? ADD COLUMN spam INTEGER NOT NULL DEFAULT 0', [db.table('users')]);
    const running = await serveDatabase(db, { env: { NETWORK_SITE: '2' } });
    await migrate(running.site.db);
    const { site } = running;
    const attempt = async (password: string) =>
      signIn(site, await site.settings(), { name: 'ed', password, remember: false, address: '203.0.113.7', agent: undefined });
    await db
      .from('users')
      .where('user_login', 'ed')
      .update({ user_pass: await hashPassword('correct horse', 'current') });
    expect(await attempt('correct horse')).toMatchObject({ login: { user: { row: { ID: 2 } } } });
    const link = await createPasswordLink(site, 'ed', 1800);
    expect((await ownerOfLink(site, link, '203.0.113.7')).row.ID).toBe(2);
    await db.from('users').where('user_login', 'ed').update({ spam: 1 });
    await expect(attempt('correct horse')).rejects.toMatchObject({ problem: 'spammer_account' });
    await expect(attempt('wrong')).rejects.toMatchObject({ problem: 'incorrect_password' });
    await expect(ownerOfLink(site, link, '203.0.113.7')).rejects.toMatchObject({ problem: 'password-link-invalid' });
    await expect(choosePassword(site, link, 'another long one', '203.0.113.7')).rejects.toMatchObject({ problem: 'password-link-invalid' });
    await expect(createPasswordLink(site, 'ed', 1800)).rejects.toMatchObject({ problem: 'user-is-spam' });
    const page = await running.send('POST', '/two/admin/sign-in', {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' },
      body: 'log=ed&pwd=correct+horse',
    });
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('marked as spam')]);
    expect((await running.send('GET', '/two/wp-json/wp/v2/users/me', { as: 'ed' })).status).toBe(200);
    await db.from('users').where('user_login', 'ed').update({ spam: 0 });
    await running.close();
  });

  it('shares its login cookies with all sites, whose keys the network stores', async () => {
    await db
      .from('users')
      .where('user_login', 'ed')
      .update({ user_pass: await hashPassword('correct horse', 'current') });
    const names = Object.values(LOGIN_KEY_OPTIONS);
    // The name of the cookie derives from it.
    await db.from('sitemeta').insert({ site_id: 1, meta_key: 'siteurl', meta_value: 'http://network.example.org' });
    await db.from('options').insert(names.map((name) => ({ option_name: name, option_value: `old ${name}`, autoload: 'no' })));
    const first = await serveDatabase(db, { env: { NETWORK_SITE: '1' } });
    const second = await serveDatabase(db, { env: { NETWORK_SITE: '2', CACHE_FRESHNESS_MS: '60000' } });
    const { site } = second;
    await migrate(site.db);
    const attempt = { name: 'ed', password: 'correct horse', remember: false, address: '203.0.113.7', agent: undefined };
    const { cookie } = await signIn(site, await site.settings(), attempt);
    const headers = { Cookie: `${cookie.name}=${encodeURIComponent(cookie.value)}` };
    expect([...(await site.settings()).raw.keys()]).toEqual(expect.arrayContaining(names));
    expect((await second.send('GET', '/two/admin/me', { headers })).status).toBe(200);
    const ownerAtFirst = async () => (await loginOf(first.site, await first.site.settings(), { cookie: headers.Cookie }))?.user.row.ID;
    expect(await ownerAtFirst()).toBe(2);
    expect((await db.from('sitemeta').whereIn('meta_key', names).select('meta_key')).map((row) => row.meta_key).sort()).toEqual(
      [...names].sort(),
    );
    expect(await db.knex('wp_2_options').whereIn('option_name', names)).toEqual([]);
    await db.from('sitemeta').where('meta_key', 'logged_in_salt').update({ meta_value: 'other' });
    expect(await ownerAtFirst()).toBeUndefined();
    await db.from('sitemeta').where('meta_key', 'siteurl').delete();
    await Promise.all([first.close(), second.close()]);
  });

  const sendImage = async (running: Awaited<ReturnType<typeof serveDatabase>>, name: string) => {
    const headers = { 'Content-Disposition': `attachment; filename=${name}`, 'Content-Type': 'image/png' };
    const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    return running.send('POST', '/two/wp-json/wp/v2/media', { as: 'ed', headers, body: png });
  };

  it('has its files in the folder where WordPress puts them', async () => {
    const running = await serveDatabase(db, { env: { NETWORK_SITE: '2' } });
    await migrate(running.site.db);
    const { body } = await sendImage(running, 'own.png');
    expect(body.source_url).toMatch(/^http:\/\/network\.example\.org\/two\/wp-content\/uploads\/sites\/2\/\d{4}\/\d\d\/own\.png$/);
    expect((await running.send('GET', new URL(body.source_url).pathname)).status).toBe(200);
    await running.close();
    const source = await openWordpressDatabase({ url: urlOf(db), prefix: 'wp_', site: 2 });
    const found: string[] = [];
    for await (const entry of source.entries()) if (entry.kind === 'attachment' && entry.url) found.push(entry.url);
    await source.close();
    expect(found).toContain(body.source_url);
  });

  it.each([
    ['an old network', 'ms_files_rewriting', '1', '/two/files'],
    ['a folder of its own', 'upload_path', 'media', '/two/media/sites/2'],
  ])('has its files at the address that WordPress gives them in %s', async (_, name, value, path) => {
    const opened = await openDatabase({ url: urlOf(db), prefix: 'wp_', site: 2 });
    const remove = async () => {
      await db.from('sitemeta').where('meta_key', name).delete();
      await opened.from('options').where('option_name', name).delete();
    };
    await remove();
    if (name.startsWith('ms_')) await db.from('sitemeta').insert({ site_id: 1, meta_key: name, meta_value: value });
    else await opened.from('options').insert({ option_name: name, option_value: value, autoload: 'yes' });
    const running = await serveDatabase(db, { env: { NETWORK_SITE: '2' } });
    try {
      const { body } = await sendImage(running, 'again.png');
      const url: string = body.source_url;
      expect(url).toMatch(new RegExp(`^http://network\\.example\\.org${path}/\\d{4}/\\d\\d/again[-\\d]*\\.png$`));
      expect((await running.send('GET', new URL(url).pathname)).status).toBe(200);
      expect((await running.send('GET', `${path}/none.png`)).status).toBe(404);
      expect((await running.send('GET', `${path}/..%2f..%2fetc/passwd`)).status).toBe(404);
    } finally {
      await running.close();
      await remove();
      await opened.close();
    }
  });

  it.each([
    [{ deleted: 1 }, 410, 'This site has been deleted.', 'deleted'],
    [{ deleted: 2 }, 500, 'This site is still waiting to be activated.', 'inactive'],
    [{ archived: 1 }, 410, 'This site has been closed by the administrators of its network.', 'suspended'],
    [{ spam: 1 }, 410, 'This site has been closed by the administrators of its network.', 'suspended'],
  ])('refuses every request while WordPress has %j in its list of sites', async (flags, status, message, state) => {
    const running = await serveDatabase(db, { env: { NETWORK_SITE: '2', PAGES: 'on', CACHE: 'on', CACHE_FRESHNESS_MS: '0' } });
    await migrate(running.site.db);
    const get = (path: string, headers = {}) => running.send('GET', `/two${path}`, { headers });
    const paths = ['/wp-json/tribe/events/v1/events', '/wp-json/', '/events/?ical=1', '/admin', '/doc'];
    const statuses = () => Promise.all(paths.map(async (path) => (await get(path)).status));
    const before = await statuses();
    expect(before).not.toContain(status);
    await db.from('blogs').where('blog_id', 2).update(flags);
    try {
      expect(await statuses()).toEqual(paths.map(() => status));
      expect((await get(paths[0]!)).body).toMatchObject({ code: 'wp_die', message, data: { status } });
      const page = await get('/events/', { accept: 'text/html' });
      expect([page.status, page.text]).toEqual([status, expect.stringContaining(status === 410 ? 'Site closed' : 'Something went wrong')]);
      expect((await running.send('GET', '/health/ready')).status).toBe(200);
      expect((await fasti(urlOf(db), { NETWORK_SITE: '2' }, 'status', '--format=json')).out).toContain(`{"site":2,"state":"${state}"}`);
      expect((await fasti(urlOf(db), { NETWORK_SITE: '2' }, 'doctor')).out).toContain('WordPress has closed this site');
      expect((await fasti(urlOf(db), { NETWORK_SITE: '2' }, 'option', 'list')).code).toBe(0);
    } finally {
      await db.from('blogs').where('blog_id', 2).update({ deleted: 0, archived: 0, spam: 0 });
    }
    expect(await statuses()).toEqual(before);
    await running.close();
  });

  it('ends a stream of changes when it is closed', async () => {
    const running = await serveDatabase(db, { env: { NETWORK_SITE: '2' } });
    await migrate(running.site.db);
    const stream = await openEventStream(`${running.base}/two/wp-json/calendar/events/v1/changes/stream`);
    await stream.next();
    await db.from('blogs').where('blog_id', 2).update({ archived: 1 });
    expect((await fasti(urlOf(db), { NETWORK_SITE: '2' }, 'venue', 'create', '--venue=Secret', '--user=ed')).code).toBe(0);
    await stream.ended;
    expect(stream.rest()).not.toContain('created');
    await db.from('blogs').where('blog_id', 2).update({ archived: 0 });
    await running.close();
  });

  it('sends nothing to webhooks while it is closed, and everything when it is open again', async () => {
    const running = await serveDatabase(db, { env: { NETWORK_SITE: '2', WEBHOOK_ADDRESSES: '127.0.0.1', CACHE_FRESHNESS_MS: '0' } });
    await migrate(running.site.db);
    const types: string[] = [];
    const receiver = await startReceiver(({ body }) => {
      types.push(body.type);
      return 204;
    });
    await addHook(running.site, { url: receiver.url, kinds: 'venue' });
    const hooks = createHookServer(running.site);
    const serve = async () => Promise.all(await hooks.serveDue());
    const create = async (name: string) =>
      expect((await fasti(urlOf(db), { NETWORK_SITE: '2' }, 'venue', 'create', `--venue=${name}`, '--user=ed')).code).toBe(0);
    await create('Barn');
    await serve();
    const before = types.splice(0);
    expect(before).toHaveLength(1);
    await db.from('blogs').where('blog_id', 2).update({ archived: 1 });
    await create('Secret barn');
    await serve();
    expect(types).toEqual([]);
    await db.from('blogs').where('blog_id', 2).update({ archived: 0 });
    await serve();
    expect(types).toEqual(['venue.created']);
    await Promise.all([receiver.close(), running.close()]);
  });

  it('is not opened by a table prefix alone, which would give it users of its own', async () => {
    const own = await openDatabase({ url: urlOf(db), prefix: 'wp_3_' });
    for (const definition of wordpressTables.tables().filter(({ name }) => !OF_ALL.includes(name)))
      for (const statement of db.dialect.createTable(definition, 'wp_3_')) await db.ask(statement);
    await expect(migrate(own)).rejects.toThrow('set TABLE_PREFIX=wp_ and NETWORK_SITE=3');
    expect(await hasTable(own, 'users')).toBe(false);
    await own.close();
  });

  it('is created by WordPress: a number without tables is refused, and no tables are created', async () => {
    const ninth = await openDatabase({ url: urlOf(db), prefix: 'wp_', site: 9 });
    await expect(migrate(ninth)).rejects.toThrow('there is no table wp_9_posts: the network has no such site');
    expect(await hasTable(ninth, 'fasti_changes')).toBe(false);
    for (const command of ['status', 'doctor', 'serve'])
      expect(await fasti(urlOf(db), { NETWORK_SITE: '9' }, command)).toMatchObject({
        code: 1,
        err: expect.stringContaining('this database has no site 9 of a network'),
      });
    await ninth.close();
  });

  it('is backed up with its users, and cannot be restored over the users of a network', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'fasti-network-')), 'second.backup');
    const url = urlOf(db);
    expect(await fasti(url, { NETWORK_SITE: '2' }, 'backup', file)).toMatchObject({ code: 0 });
    for (const site of ['1', '2'])
      expect(await fasti(url, { NETWORK_SITE: site }, 'restore', '--force', file)).toMatchObject({
        code: 1,
        err: expect.stringContaining('a network of sites'),
      });
    const target = await open({ migrated: false });
    // A copy of an SQLite file contains all sites of the network; the prefix selects one.
    const own = { TABLE_PREFIX: engine === 'SQLite' ? 'wp_2_' : 'wp_' };
    expect(await fasti(urlOf(target), own, 'restore', file)).toMatchObject({ code: 0 });
    const running = await serveDatabase(target, { env: own });
    expect((await running.send('GET', '/two/wp-json/wp/v2/users/me?context=edit', { as: 'ed' })).body.roles).toEqual(['editor']);
    await running.close();
  });
});
