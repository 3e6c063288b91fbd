import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { firstAdministrator, pageOfUsers, selectableWriters, usersById } from '../../src/accounts/users.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { settingFindings } from '../../src/upkeep/doctor/site-findings.ts';
import { toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { elements, formIn, openVisitor, textOf } from '../support/desk-visitor.ts';
import { insertAll } from '../support/insert-all.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, makeNetwork } from '../support/site.ts';
import { describeRequests } from '../support/site-client.ts';

const FIRST = 1001;
const CUSTOMERS = 3000;

describeDatabases('users of another site of the network', (open) => {
  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await loadSite(await open());
    await makeNetwork(db);
    await db.from('sitemeta').insert({ site_id: 1, meta_key: 'site_admins', meta_value: toSerialized(['somebody']) });
    running = await serveDatabase(db, { env: { PAGES: 'on' } });
  });
  afterAll(() => running.close());

  it('cannot be given access, invited or named by an administrator of this site', async () => {
    const rows = async (work: (db: Database) => PromiseLike<unknown>) => void (await work(db));
    const admin = await openVisitor({ send: running.send, running: () => running, writeRows: rows }, 'admin');
    const page = await admin.get('/admin/people/5');
    await db.from('usermeta').where({ user_id: 4, meta_key: 'wp_capabilities' }).update({ meta_key: 'wp_2_capabilities' });
    const send = (path: string, fields: Record<string, string>) =>
      admin.post(path, [...formIn(page.text, '/admin/people/5').filter(([name]) => name !== 'role'), ...Object.entries(fields)]);
    expect((await admin.get('/admin/people/4')).status).toBe(404);
    expect((await send('/admin/people/4', { role: 'subscriber' })).status).toBe(404);
    expect((await send('/admin/people/4/delete', {})).status).toBe(404);
    expect((await admin.get('/admin/people')).text).not.toContain('contrib@example.test');
    const left = await send('/admin/people/5/delete', { reassign: '4' });
    expect([left.status, left.text.includes('contrib@example.test')]).toEqual([422, false]);
    expect((await send('/admin/people/5', { role: 'author' })).status).toBe(303);
  });
});

describeRequests('users of a site', (ask) => {
  /** Creates many customers, of whom the given number may write. */
  const withCustomers = (writers: number) =>
    ask.writeRows(async (db) => {
      const ids = Array.from({ length: CUSTOMERS }, (_, place) => FIRST + place);
      const row = { user_pass: '', user_url: '', user_registered: '2026-01-01 00:00:00', user_activation_key: '', user_status: 0 };
      const users = ids.map((ID) => ({
        ...{ ...row, ID, user_login: `shop${ID}`, user_nicename: `shop${ID}` },
        ...{ user_email: `shop${ID}@example.test`, display_name: `Customer ${ID}` },
      }));
      const metas = ids.flatMap((user_id, place) => {
        const [role, level] = place < writers ? ['author', '2'] : ['subscriber', '0'];
        return [
          { user_id, meta_key: 'wp_capabilities', meta_value: `a:1:{s:${role.length}:"${role}";b:1;}` },
          { user_id, meta_key: 'wp_user_level', meta_value: level },
        ];
      });
      await insertAll(db, 'users', users, 50);
      await insertAll(db, 'usermeta', metas, 100);
    });
  /** Returns the site, and a count of the rows of users and their metas that were read. */
  const counting = () => {
    const { site } = ask.running();
    const seen = { rows: 0 };
    const db: Site['db'] = {
      ...site.db,
      rows: async (...asked: Parameters<Site['db']['rows']>) => {
        const rows = await site.db.rows(...asked);
        seen.rows += rows.length;
        return rows as never;
      },
    };
    return { site: { ...site, db }, seen };
  };
  const namesOn = (text: string) => elements(text, ({ name, attribs }) => name === 'th' && attribs.scope === 'row').map(textOf);

  it('are listed and searched page by page, and single users are read without the others', async () => {
    await withCustomers(0);
    const { site, seen } = counting();
    expect(await pageOfUsers(site, { search: '', page: 61 })).toMatchObject({ total: 3005, page: 61, pages: 61 });
    expect((await pageOfUsers(site, { search: 'shop200', page: 9 })).accounts.map(({ login }) => login)).toHaveLength(10);
    expect(await firstAdministrator(site)).toMatchObject({ id: 1, login: 'admin', roles: ['administrator'] });
    expect((await settingFindings(site)).map(({ name }) => name)).not.toContain('no-administrator');
    expect((await selectableWriters(site))?.map(({ login }) => login).sort()).toEqual(['admin', 'auth', 'contrib', 'ed']);
    expect(await usersById(site, [FIRST])).toMatchObject([{ id: FIRST, roles: ['subscriber'] }]);
    expect(seen.rows).toBeLessThan(100);
  });

  it('are shown at the desk on linked pages, which a search filters', async () => {
    await withCustomers(0);
    const admin = await openVisitor(ask, 'admin');
    const { text } = await admin.get('/admin/people');
    expect([namesOn(text).length, text.includes('3,005 people.') || text.includes('3005 people.')]).toEqual([50, true]);
    expect(text).toContain('href="/admin/people?page=2"');
    const found = await admin.get('/admin/people?search=shop20&page=2');
    expect(namesOn(found.text)).toHaveLength(50);
    expect(found.text).toContain('href="/admin/people?search=shop20&amp;page=1"');
    const person = await admin.get(`/admin/people/${FIRST}`);
    expect(elements(person.text, ({ name }) => name === 'option').map(textOf)).not.toContain(`Customer ${FIRST + 1}`);
    expect((await admin.get('/admin/people/999999')).status).toBe(404);
  });

  it('leave their records to an heir whose name is typed if there are too many to choose from', async () => {
    await withCustomers(200);
    const admin = await openVisitor(ask, 'admin');
    expect(await selectableWriters(ask.running().site)).toBeUndefined();
    const path = '/admin/people/3/delete';
    const page = await admin.get('/admin/people/3');
    expect(formIn(page.text, path).map(([name]) => name)).toContain('heir');
    const written = async (author: number) => (await ask.db().from('posts').where('post_author', author).select('ID')).length;
    await ask.writeRows((db) => db.from('posts').where('ID', 1).update({ post_author: 3 }));
    const [of, before] = [await written(3), await written(FIRST)];
    const unknown = await admin.confirm(page, path, { heir: 'nobody-here' });
    expect([unknown.status, new Map(formIn(unknown.text, path)).get('heir')]).toEqual([422, 'nobody-here']);
    // A user name consisting of digits is not taken for an id.
    expect((await admin.confirm(page, path, { heir: String(FIRST) })).status).toBe(422);
    expect((await admin.confirm(page, path, { heir: `shop${FIRST}` })).headers.location).toBe('/admin/people?done=removed');
    expect([await written(3), await written(FIRST)]).toEqual([0, before + of]);
  });

  const idOf = async (login: string) => Number((await ask.db().from('users').where('user_login', login).first('ID'))?.ID);

  it('without a role keep none when their form is saved unchanged', async () => {
    const admin = await openVisitor(ask, 'admin');
    const sub = await idOf('sub');
    const path = `/admin/people/${sub}`;
    await ask.writeRows((db) => db.from('usermeta').where({ user_id: sub, meta_key: 'wp_capabilities' }).update({ meta_value: 'a:0:{}' }));
    const page = await admin.get(path);
    expect(new Map(formIn(page.text, path)).get('role')).toBe('');
    expect((await admin.submit(page, path)).headers.location).toBe(path);
    expect(await usersById(ask.running().site, [sub])).toMatchObject([{ roles: [] }]);
    expect((await admin.submit(page, path, { role: 'author' })).status).toBe(303);
    expect(await usersById(ask.running().site, [sub])).toMatchObject([{ roles: ['author'] }]);
  });

  it('get password links, or are deleted, only by users who have all of their capabilities', async () => {
    // The capabilities of WooCommerce's shop managers.
    const manager =
      'a:6:{s:4:"read";b:1;s:10:"list_users";b:1;s:10:"edit_users";b:1;s:12:"delete_users";b:1;s:10:"edit_posts";b:1;s:7:"level_9";b:1;}';
    const [subscriber, administrator] = [await idOf('sub'), 1];
    const contrib = await idOf('contrib');
    await ask.writeRows((db) =>
      db.from('usermeta').where({ user_id: contrib, meta_key: 'wp_capabilities' }).update({ meta_value: manager }),
    );
    const shop = await openVisitor(ask, 'contrib');
    const nonce = new Map(formIn((await shop.get('/admin/people')).text, '/admin/sign-out')).get('_wpnonce')!;
    expect((await shop.get(`/admin/people/${subscriber}`)).text).toContain(`/admin/people/${subscriber}/link`);
    expect((await shop.post(`/admin/people/${subscriber}/link`, { _wpnonce: nonce })).status).toBe(200);
    expect((await shop.get(`/admin/people/${administrator}`)).text).not.toContain(`/admin/people/${administrator}/link`);
    expect((await shop.post(`/admin/people/${administrator}/link`, { _wpnonce: nonce })).status).toBe(403);
    expect((await shop.post(`/admin/people/${administrator}/passwords/x/revoke`, { _wpnonce: nonce })).status).toBe(403);
    expect((await shop.get(`/admin/people/${administrator}`)).text).not.toContain(`/admin/people/${administrator}/delete`);
    expect((await shop.post(`/admin/people/${administrator}/delete`, { _wpnonce: nonce, reassign: String(contrib) })).status).toBe(403);
    const passwords = (person: number, as: 'admin' | 'contrib') =>
      ask.send('POST', `/wp-json/wp/v2/users/${person}/application-passwords`, { as, body: { name: `By ${as}` } });
    expect((await passwords(administrator, 'contrib')).status).toBe(403);
    expect((await passwords(subscriber, 'contrib')).status).toBe(201);
    expect((await passwords(subscriber, 'admin')).status).toBe(201);
    expect((await shop.get(`/admin/people/${subscriber}`)).text).toContain(`/admin/people/${subscriber}/delete`);
  });

  it('with several roles keep them when their form is saved unchanged', async () => {
    const admin = await openVisitor(ask, 'admin');
    const sub = await idOf('sub');
    const path = `/admin/people/${sub}`;
    const setRoles = (roles: string) =>
      ask.writeRows((db) => db.from('usermeta').where({ user_id: sub, meta_key: 'wp_capabilities' }).update({ meta_value: roles }));
    const saved = async (changes = {}) => {
      expect((await admin.submit(await admin.get(path), path, changes)).status).toBe(303);
      return (await usersById(ask.running().site, [sub]))[0]?.roles;
    };
    await setRoles('a:2:{s:6:"author";b:1;s:11:"contributor";b:1;}');
    expect(await saved()).toEqual(['author', 'contributor']);
    expect(await saved({ role: 'editor' })).toEqual(['editor']);
  });

  it('can be invited only with the default role by users who assign no roles', async () => {
    const inviter = 'a:3:{s:4:"read";b:1;s:10:"list_users";b:1;s:12:"create_users";b:1;}';
    const contrib = await idOf('contrib');
    await ask.writeRows((db) =>
      db.from('usermeta').where({ user_id: contrib, meta_key: 'wp_capabilities' }).update({ meta_value: inviter }),
    );
    const visitor = await openVisitor(ask, 'contrib');
    const page = await visitor.get('/admin/people');
    expect(page.text.match(/<option value="[^"]*"/g)).toEqual(['<option value="subscriber"']);
    const invited = await visitor.submit(page, '/admin/people', { login: 'uma', email: 'uma@example.org' });
    expect([invited.status, (await usersById(ask.running().site, [await idOf('uma')]))[0]?.roles]).toEqual([200, ['subscriber']]);
    const more = { login: 'vito', email: 'vito@example.org', role: 'author' };
    expect((await visitor.submit(page, '/admin/people', more)).status).toBe(403);
    await ask.options({ default_role: 'author' });
    const changed = await visitor.get('/admin/people');
    expect(changed.text.match(/<option value="[^"]*"/g)).toEqual(['<option value="author"']);
    expect((await visitor.submit(changed, '/admin/people', more)).status).toBe(200);
    expect((await usersById(ask.running().site, [await idOf('vito')]))[0]?.roles).toEqual(['author']);
    await ask.options({ default_role: 'gone' });
    expect((await visitor.get('/admin/people')).text.match(/<option value="[^"]*"/g)).toEqual(['<option value="subscriber"']);
  });
});
