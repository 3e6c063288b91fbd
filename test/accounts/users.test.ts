import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createApplicationPassword,
  listApplicationPasswords,
  revokeApplicationPassword,
} from '../../src/accounts/application-passwords.ts';
import { attemptsOf } from '../../src/accounts/attempts.ts';
import { readClaim } from '../../src/accounts/credentials.ts';
import { loginOf, signIn } from '../../src/accounts/logins.ts';
import { renamePassword } from '../../src/accounts/own-passwords.ts';
import { choosePassword, createPasswordLink, ownerOfLink } from '../../src/accounts/password-links.ts';
import { listPeople, mayActFor, mayReadPerson } from '../../src/accounts/people.ts';
import {
  createUser,
  deleteUser,
  listUsers,
  type NewAccount,
  pageOfUsers,
  selectableWriters,
  setEmail,
  setRole,
  usersById,
} from '../../src/accounts/users.ts';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { readSettings, settingNames } from '../../src/calendar/settings.ts';
import { readConfig } from '../../src/config/config.ts';
import type { ApiError } from '../../src/errors.ts';
import { createLog } from '../../src/log.ts';
import { columnText, trustOf } from '../../src/records/clean-text.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { lookUpOnce } from '../../src/storage/engine/look-up-once.ts';
import { joinWriters } from '../../src/storage/journal/reported-changes.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { insertPost, updatePost } from '../../src/storage/rows/posts.ts';
import {
  existingUserIds,
  findUserByLoginOrEmail,
  loadUsers,
  lockUser,
  lockUserForRemoval,
  removeUser,
} from '../../src/storage/rows/users.ts';
import { verifyPassword } from '../../src/wordpress/passwords.ts';
import { parseSerialized, serializedMembers, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { measureCostRatio } from '../support/growth.ts';
import { serveDatabase } from '../support/running-site.ts';
import { loadSite, makeNetwork, setOptions } from '../support/site.ts';
import { readFixture } from '../support/site-data.mjs';

const NOW = new Date('2026-11-20T12:00:00Z');

describeDatabases('accounts', (open) => {
  let db: Database;
  let site: Site;
  beforeAll(async () => {
    db = await open();
    site = {
      config: readConfig({}),
      db,
      log: createLog({ logLevel: 'silent' }),
      clock: () => NOW,
      settings: async () => readSettings(await readOptions(db, settingNames(db.prefix)), db.prefix),
    } as unknown as Site;
  });
  beforeEach(() => loadSite(db));

  const problemOf = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: { problem?: string }) => error.problem,
    );
  const anna: NewAccount = { login: 'anna', email: 'anna@example.test', role: 'editor' };
  const metasOf = async (id: number) =>
    Object.fromEntries((await db.from('usermeta').where('user_id', id).orderBy('umeta_id')).map((row) => [row.meta_key, row.meta_value]));

  describe('createUser', () => {
    it('inserts the rows that WordPress inserts', async () => {
      const { id } = await createUser(site, { ...anna, login: 'Anna Rossi', password: 'correct horse', displayName: 'Anna' });
      const { row } = (await loadUsers(db, [id], [])).get(id)!;
      expect(row).toMatchObject({
        user_login: 'Anna Rossi', user_nicename: 'anna-rossi', user_email: 'anna@example.test', user_url: '', user_registered: '2026-11-20 12:00:00',
        user_activation_key: '', user_status: 0, display_name: 'Anna',
      }); // biome-ignore format: a table
      expect(await verifyPassword('correct horse', row.user_pass)).toBe(true);
      const metas = await metasOf(id);
      expect(metas).toMatchObject({ nickname: 'Anna Rossi', wp_capabilities: 'a:1:{s:6:"editor";b:1;}', wp_user_level: '7' });
      // WordPress created the metas of the users of the sample site.
      const theirs = readFixture()
        .usermeta!.rows.filter(([, user]) => user === 2)
        .map(([, , key]) => key);
      expect(Object.keys(metas).sort()).toEqual(theirs.filter((key) => key !== '_application_passwords').sort());
      expect((await readOptions(db, ['user_count'])).get('user_count')).toBe('6');
    });

    it('stores a display name sanitized and cut to its column, as WordPress does', async () => {
      const named = async (login: string, displayName: string) => {
        const account = await createUser(site, { ...anna, login, email: `${login}@example.test`, displayName });
        return [(await loadUsers(db, [account.id], [])).get(account.id)!.row.display_name, account.displayName];
      };
      expect(await named('one', '<script>alert(1)</script>Ed & "friends"')).toEqual(['Ed &amp; "friends"', 'Ed & "friends"']);
      expect(await named('two', '<b> </b>')).toEqual(['two', 'two']);
      expect(await named('three', '&'.repeat(300))).toEqual(['&amp;'.repeat(50), '&'.repeat(50)]);
      expect((await named('four', 'é'.repeat(300)))[0]).toBe('é'.repeat(250));
    });

    it.each([
      ['a login that is taken', { login: 'ED' }, 'login-taken'],
      ['a login that is the address of somebody else', { login: 'ED@example.test' }, 'login-taken'],
      ['an address that is taken', { email: 'Ed@Example.test' }, 'email-taken'],
      ['a login with signs', { login: 'a<b>' }, 'login-invalid'],
      ['an empty login', { login: '' }, 'login-invalid'],
      ['a login that is too long', { login: 'a'.repeat(61) }, 'login-invalid'],
      ['a login with blanks around it', { login: ' anna' }, 'login-invalid'],
      ['no address', { email: 'anna' }, 'email-invalid'],
      ['an unknown role', { role: 'king' }, 'role-unknown'],
      ['an inherited word as role', { role: 'constructor' }, 'role-unknown'],
      ['a blank password', { password: ' ' }, 'password-empty'],
      ['a password that is too long', { password: 'x'.repeat(4097) }, 'password-long'],
      // A form passes quotation marks on with backslashes, and a longer password would never be accepted.
      ['a password that is too long in forms', { password: '"'.repeat(2049) }, 'password-long'],
    ])('refuses %s and writes nothing', async (_, change, problem) => {
      expect(await problemOf(createUser(site, { ...anna, ...change }))).toBe(problem);
      expect(await listUsers(site)).toHaveLength(5);
    });

    it('allows several users without an e-mail address, which the empty address does not find', async () => {
      const { id } = await createUser(site, { ...anna, email: undefined });
      await createUser(site, { ...anna, login: 'bruno', email: undefined });
      expect(await findUserByLoginOrEmail(db, '', [])).toBeUndefined();
      expect(await setEmail(site, id, 'anna@example.test')).toMatchObject({ id, email: 'anna@example.test' });
      expect((await findUserByLoginOrEmail(db, 'ANNA@example.test', []))?.row.ID).toBe(id);
      expect((await setEmail(site, 'anna', 'Anna@example.test')).email).toBe('Anna@example.test');
      expect(await problemOf(setEmail(site, id, 'ED@example.test'))).toBe('email-taken');
      expect(await problemOf(setEmail(site, id, ''))).toBe('email-invalid');
      expect(await problemOf(setEmail(site, 'nobody', 'x@example.test'))).toBe('user-unknown');
    });

    it.each([
      // WordPress 6.1, 6.7 and 6.8.
      ['53496', 'on', 'phpass'],
      ['58975', 'on', 'phpass'],
      ['60421', 'on', 'current'],
      ['', 'on', 'current'],
      ['53496', 'off', 'current'],
    ] as const)('stores hashes that a WordPress beside it understands: version %s, shared %s', async (version, shared, format) => {
      const formats = { phpass: [/^\$P\$B/, /^\$P\$B/], current: [/^\$wp\$2y\$/, /^\$generic\$/] } as const;
      const [account, generated] = formats[format];
      await setOptions(db, { db_version: version });
      const { site: sharing, send, close } = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: shared }, clock: () => NOW });
      try {
        const { id } = await createUser(sharing, { ...anna, password: 'correct horse' });
        const row = async () => (await db.from('users').where('ID', id).first())!;
        expect((await row()).user_pass).toMatch(account);
        const link = await createPasswordLink(sharing, id, 3600);
        expect((await row()).user_activation_key.replace(/^\d+:/, '')).toMatch(generated);
        await choosePassword(sharing, link, 'a long enough password', '192.0.2.1');
        expect((await row()).user_pass).toMatch(account);
        const { password, entry } = await createApplicationPassword(sharing, id, 'phone');
        expect(entry.password).toMatch(generated);
        const authorization = `Basic ${Buffer.from(`${anna.login}:${password}`).toString('base64')}`;
        expect((await send('GET', '/wp-json/wp/v2/users/me', { headers: { authorization } })).status).toBe(200);
        const credentials = {
          name: anna.login,
          password: 'a long enough password',
          remember: false,
          address: '192.0.2.1',
          agent: undefined,
        };
        const { cookie } = await signIn(sharing, await sharing.settings(), credentials);
        const header = `${cookie.name}=${encodeURIComponent(cookie.value)}`;
        expect((await loginOf(sharing, await sharing.settings(), { cookie: header }))?.user.row.ID).toBe(id);
      } finally {
        await close();
      }
    });

    it('invalidates a password link when the e-mail address changes', async () => {
      const link = await createPasswordLink(site, 2, 3600);
      await setEmail(site, 2, (await usersById(site, [2]))[0]!.email);
      expect((await ownerOfLink(site, link, '192.0.2.1')).row.ID).toBe(2);
      await setEmail(site, 2, 'other@example.test');
      expect(await problemOf(ownerOfLink(site, link, '192.0.2.1'))).toBe('password-link-invalid');
    });

    it('hashes one password for a link that is sent many times at once', async () => {
      const choose = async (times: number) => {
        const link = await createPasswordLink(site, 2, 3600);
        const results = await Promise.allSettled(
          Array.from({ length: times }, () => choosePassword(site, link, 'a long enough password', '192.0.2.1')),
        );
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      };
      const ratio = await measureCostRatio({ work: () => choose(16), reference: () => choose(1), limit: 6 });
      expect(ratio).toBeLessThan(6);
    });

    it('limits wrong password links of an address separately, since pages of other sites can make a browser open them', async () => {
      const link = await createPasswordLink(site, 2, 3600);
      const address = '203.0.113.9';
      for (let time = 0; time < 200; time += 1)
        expect(await problemOf(ownerOfLink(site, { ...link, key: 'wrong' }, address))).toBe('password-link-invalid');
      expect(await problemOf(ownerOfLink(site, link, address))).toBe('too-many-requests');
      expect(attemptsOf(site, 'sign-in').secondsToWait(address, NOW)).toBeUndefined();
    });

    it('gives similar logins different nicenames', async () => {
      const one = await createUser(site, { ...anna, login: 'anna b' });
      const two = await createUser(site, { ...anna, login: 'anna-b', email: 'b@example.test' });
      const users = await loadUsers(db, [one.id, two.id], []);
      expect([...users.values()].map(({ row }) => row.user_nicename)).toEqual(['anna-b', 'anna-b-2']);
    });

    it('shortens a nicename for its number if logins begin with the same 50 letters', async () => {
      const logins = ['a', 'b', 'c'].map((letter) => 'anna'.repeat(12) + letter.repeat(10));
      const made = [];
      for (const login of ['xx', ...logins.map((login) => login.slice(0, 50).replace(/.{2}$/, 'xx') + login.slice(50)), ...logins])
        made.push(await createUser(site, { ...anna, login, email: `${login.slice(0, 50)}${made.length}@example.test` }));
      const names = [
        ...(
          await loadUsers(
            db,
            made.map(({ id }) => id),
            [],
          )
        ).values(),
      ].map(({ row }) => row.user_nicename);
      expect(names).toEqual([...new Set(names)]);
      expect(names.filter((name) => name.length > 50)).toEqual([]);
      expect(names.slice(1, 4)).toEqual([`${'anna'.repeat(12)}xx`, `${'anna'.repeat(12)}-2`, `${'anna'.repeat(12)}-3`]);
    });

    it('creates only one of several concurrent users with the same login', async () => {
      const answers = await Promise.all(
        [1, 2, 3].map((number) => problemOf(createUser(site, { ...anna, email: `a${number}@example.test` }))),
      );
      expect(answers.sort()).toEqual(['done', 'login-taken', 'login-taken']);
    });
  });

  it('lists users with their roles', async () => {
    expect((await listUsers(site)).map(({ id, login, roles }) => `${id} ${login} ${roles}`)).toEqual([
      '1 admin administrator',
      '2 ed editor',
      '3 auth author',
      '4 contrib contributor',
      '5 sub subscriber',
    ]);
  });

  it('never takes the id of a user who was deleted for the login of another one', async () => {
    const { id } = await createUser(site, anna);
    await createUser(site, { ...anna, login: String(id), email: 'other@example.test' });
    await deleteUser(site, 'anna');
    expect(await problemOf(createPasswordLink(site, id, 3600))).toBe('user-unknown');
    expect(await problemOf(createApplicationPassword(site, id, 'late'))).toBe('user-unknown');
    expect(await problemOf(createPasswordLink(site, String(id), 3600))).toBe('done');
  });

  describe('deleteUser', () => {
    it('leaves no application password of a user who is deleted while it is created', async () => {
      let begin = () => {};
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const deleting = db.transaction(async (tx) => {
        await lockUser(tx, 5);
        await removeUser(tx, 5);
        begin();
        await sleep(200);
      });
      await begun;
      expect(await problemOf(createApplicationPassword(site, 5, 'late'))).toBe('user-unknown');
      await deleting;
      expect(await metasOf(5)).toEqual({});
    });
    it('waits for a concurrent write by the user', async () => {
      let begin = () => {};
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const writing = db.transaction(async (tx) => {
        await insertPost(tx, { post_author: 5, post_type: 'tribe_events', post_title: 'Late' });
        begin();
        await sleep(200);
        joinWriters(tx);
      });
      await begun;
      expect(await problemOf(deleteUser(site, 5))).toBe('user-owns-posts');
      await writing;
      expect(await existingUserIds(db, [5])).toEqual(new Set([5]));
      expect((await deleteUser(site, 5, { reassign: 2 })).login).toBe('sub');
      expect(await db.from('posts').where('post_title', 'Late').pluck('post_author')).toEqual([2]);
    });

    it('refuses later writes that would make the deleted user an author', async () => {
      const [first] = await db.from('posts').where('post_author', 1).select('ID');
      const lateOnes: ((tx: Database) => Promise<unknown>)[] = [
        (tx) => insertPost(tx, { post_author: 5, post_type: 'tribe_events', post_title: 'Late' }),
        (tx) => insertPost(tx, { ID: 9_999_999, post_author: 5, post_type: 'tribe_events', post_title: 'Late' }),
        (tx) => updatePost(tx, first!.ID, { post_author: 5 }),
      ];
      let begin = () => {};
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const deleting = db.transaction(async (tx) => {
        await lockUser(tx, 5);
        await lockUserForRemoval(tx, 5);
        await removeUser(tx, 5);
        begin();
        await sleep(200);
        joinWriters(tx);
      });
      await begun;
      const write = (work: (tx: Database) => Promise<unknown>) =>
        db.transaction(async (tx) => {
          await work(tx);
          joinWriters(tx);
        });
      const refused = await Promise.all(
        lateOnes.map((late) =>
          write(late).then(
            () => 'written',
            (error: ApiError) => error.problem,
          ),
        ),
      );
      await deleting;
      expect(refused).toEqual(lateOnes.map(() => 'rest_invalid_author'));
      expect(await db.from('posts').where('post_author', 5).select('ID')).toEqual([]);
    });

    it('refuses to delete an author of posts without another user to reassign them to', async () => {
      expect(await problemOf(deleteUser(site, 'auth'))).toBe('user-owns-posts');
      expect(await existingUserIds(db, [3])).toEqual(new Set([3]));
    });

    it('reassigns the posts to another user and counts the change', async () => {
      const [before, theirs] = [await changes(db), await db.from('posts').where('post_author', 3).select('ID')];
      await deleteUser(site, 'auth', { reassign: 'ed@example.test' });
      expect(await existingUserIds(db, [3])).toEqual(new Set());
      expect(await metasOf(3)).toEqual({});
      const now = await db
        .from('posts')
        .whereIn(
          'ID',
          theirs.map(({ ID }) => ID),
        )
        .select('post_author');
      expect(new Set(now.map((row) => row.post_author))).toEqual(new Set([2]));
      expect(await changes(db)).toBeGreaterThan(before);
    });

    it('deletes a user without posts, once', async () => {
      expect((await deleteUser(site, 5)).login).toBe('sub');
      expect(await problemOf(deleteUser(site, 5))).toBe('user-unknown');
    });

    it('removes a user of a network only from this site', async () => {
      const network = await loadSite(await open());
      await makeNetwork(network);
      const keys = async () => (await network.from('usermeta').where('user_id', 5).orderBy('umeta_id')).map(({ meta_key: key }) => key);
      await network.from('usermeta').insert({ user_id: 5, meta_key: 'wp_2_capabilities', meta_value: 'a:1:{s:6:"editor";b:1;}' });
      const before = await keys();
      await deleteUser({ ...site, db: network }, 5);
      expect(await existingUserIds(network, [5])).toEqual(new Set([5]));
      expect(await keys()).toEqual(before.filter((key) => key !== 'wp_capabilities' && key !== 'wp_user_level'));
      expect(await keys()).toContain('wp_2_capabilities');
    });

    it('refuses to reassign posts to an unknown user or to the deleted user', async () => {
      expect(await problemOf(deleteUser(site, 'auth', { reassign: 99 }))).toBe('user-unknown');
      expect(await problemOf(deleteUser(site, 'auth', { reassign: 'AUTH' }))).toBe('reassign-to-self');
      expect(await existingUserIds(db, [3])).toEqual(new Set([3]));
    });
  });

  describe('in a network of sites', () => {
    const inNetwork = async (admins: readonly string[]): Promise<Site> => {
      const network = await loadSite(await open());
      await makeNetwork(network);
      await network.from('sitemeta').insert({ site_id: 1, meta_key: 'site_admins', meta_value: toSerialized(admins) });
      // User 4 has a role only on another site of the network.
      await network.from('usermeta').where({ user_id: 4, meta_key: 'wp_capabilities' }).update({ meta_key: 'wp_2_capabilities' });
      return { ...site, db: network, settings: async () => readSettings(await readOptions(network, settingNames('wp_')), 'wp_') };
    };

    it('shows only users of this site', async () => {
      const own = await inNetwork(['admin']);
      const settings = await own.settings();
      const viewer = (await loadViewer(own.db, settings, 1))!;
      const ids = (accounts: readonly { id: number }[] | undefined) => accounts?.map(({ id }) => id);
      expect(ids(await listUsers(own))).toEqual([1, 2, 3, 5]);
      expect(await pageOfUsers(own, { search: '', page: 1 })).toMatchObject({ total: 4 });
      expect(ids(await usersById(own, [4, 5]))).toEqual([5]);
      expect(ids(await selectableWriters(own))).not.toContain(4);
      expect((await listPeople(own, settings, viewer, {})).people.map(({ id }) => id)).not.toContain(4);
      const may = (id: number) => mayReadPerson(lookUpOnce(own.db), viewer, { id });
      expect([await may(4), await may(5)]).toEqual(['rest_user_invalid_id', true]);
    });

    it('gives administrators of the network all capabilities on every site', async () => {
      const rightsOf = async (admins: readonly string[]) => {
        const own = await inNetwork(admins);
        const viewer = (await loadViewer(own.db, await own.settings(), 4))!;
        return ['manage_options', 'edit_others_tribe_events', 'edit_users'].map(viewer.can);
      };
      const { user_login: login } = (await db.from('users').where('ID', 4).first())!;
      expect(await rightsOf([login])).toEqual([true, true, true]);
      expect(await rightsOf(['admin'])).toEqual([false, false, false]);
    });

    it.each([
      ['admin', 1, ['admin'], true],
      ['an administrator of the site', 1, ['somebody'], false],
      ['an editor', 2, ['somebody'], false],
    ])('keeps scripts in the texts of %s only if the user manages the network', async (_, id, admins, expected) => {
      const own = await inNetwork(admins);
      const settings = await own.settings();
      const viewer = (await loadViewer(own.db, settings, id))!;
      expect(viewer.can('edit_others_tribe_events')).toBe(true);
      const text = '<p>Come!</p><script>alert(1)</script>';
      expect(columnText('description', 'post_content', text, trustOf(viewer)).includes('<script>')).toBe(expected);
    });
    it.each([
      ['lets those edit users who manage the network', ['admin'], true],
      ['lets no administrator of a site edit users, who are everybody’s', ['somebody'], false],
    ])('%s', async (_, admins, expected) => {
      const own = await inNetwork(admins);
      const settings = await own.settings();
      const viewer = (await loadViewer(own.db, settings, 1))!;
      expect(viewer.can('manage_options')).toBe(true);
      expect(['edit_users', 'create_users'].map(viewer.can)).toEqual([expected, expected]);
      expect(await mayActFor(lookUpOnce(own.db), settings, viewer, 5)).toBe(expected);
      expect(await mayActFor(lookUpOnce(own.db), settings, viewer, 1)).toBe(true);
      await own.db.from('sitemeta').insert({ site_id: 1, meta_key: 'add_new_users', meta_value: '1' });
      expect((await loadViewer(own.db, await own.settings(), 1))!.can('create_users')).toBe(true);
    });
  });

  it('reads and writes the use of application passwords in the sitemeta table of a network', async () => {
    const network = await loadSite(await open());
    await makeNetwork(network);
    await network.from('sitemeta').insert({ site_id: 1, meta_key: 'siteurl', meta_value: 'http://127.0.0.1:8081/' });
    const settings = async () => readSettings(await readOptions(network, settingNames('wp_')), 'wp_');
    // In a network WordPress ignores the option of the site.
    expect((await settings()).applicationPasswords).toBe(false);
    await createApplicationPassword({ ...site, db: network }, 3, 'first');
    await createApplicationPassword({ ...site, db: network }, 4, 'second');
    const noted = await network.from('sitemeta').where('meta_key', 'using_application_passwords').select('site_id', 'meta_value');
    expect(noted.map((row) => ({ ...row }))).toEqual([{ site_id: 1, meta_value: '1' }]);
    expect((await settings()).applicationPasswords).toBe(true);
  });

  describe('setRole', () => {
    it('replaces roles and level and keeps individual capabilities', async () => {
      await db
        .from('usermeta')
        .where({ user_id: 4, meta_key: 'wp_capabilities' })
        .update({ meta_value: 'a:3:{s:11:"contributor";b:1;s:12:"upload_files";b:1;s:4:"read";b:0;}' });
      expect((await setRole(site, 'contrib', 'author')).roles).toEqual(['author']);
      const { wp_capabilities: capabilities, wp_user_level: level } = await metasOf(4);
      expect(parseSerialized(capabilities!)).toEqual({ upload_files: true, read: false, author: true });
      expect(level).toBe('2');
    });

    it('refuses an unknown role or user', async () => {
      expect(await problemOf(setRole(site, 'contrib', 'king'))).toBe('role-unknown');
      expect(await problemOf(setRole(site, 'nobody', 'author'))).toBe('user-unknown');
    });
  });

  describe('application passwords', () => {
    it('can be renamed even if another one has no name', async () => {
      const { uuid } = await createApplicationPassword(site, 5, 'One');
      const { _application_passwords: stored } = await metasOf(5);
      const list = [...Object.values(serializedMembers(stored)), { uuid: 'nameless', password: '$generic$x' }];
      await db
        .from('usermeta')
        .where({ user_id: 5, meta_key: '_application_passwords' })
        .update({ meta_value: toSerialized(list) });
      await renamePassword(site, 5, uuid, 'Two');
      expect((await listApplicationPasswords(site, 5)).map(({ name }) => name)).toContain('Two');
    });

    const works = async (login: string, password: string) =>
      readClaim(site, await site.settings(), {
        authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`,
        secure: true,
        address: '192.0.2.1',
        isForeignPage: false,
      })
        .identify(undefined)
        .then(
          ({ viewer }) => viewer.login === login,
          () => false,
        );

    it('are returned once, stored as WordPress hashes, and valid immediately', async () => {
      await setOptions(db, { using_application_passwords: '0' });
      const { uuid, password } = await createApplicationPassword(site, 'contrib', ' phone ');
      expect(password).toMatch(/^[A-Za-z0-9]{24}$/);
      expect(await works('contrib', password)).toBe(true);
      const stored = parseSerialized((await metasOf(4))._application_passwords!) as Record<string, unknown>[];
      expect(Object.keys(stored[1]!)).toEqual(['uuid', 'app_id', 'name', 'password', 'created', 'last_used', 'last_ip']);
      expect(stored[1]).toMatchObject({
        uuid,
        app_id: '',
        name: 'phone',
        password: expect.stringMatching(/^\$generic\$/),
        created: NOW.getTime() / 1000,
      });
      expect(stored[0]).toMatchObject({ name: 'replay', last_ip: '127.0.0.1' });
      expect((await readOptions(db, ['using_application_passwords'])).get('using_application_passwords')).toBe('1');
    });

    it('are listed without their hashes', async () => {
      const [one] = await listApplicationPasswords(site, 1);
      expect(one).toEqual({
        uuid: '9a1df6ba-6b20-4aaf-a26b-416d9056d94b',
        name: 'replay',
        created: '2026-11-20 07:45:35',
        lastUsed: '2026-11-20 07:45:40',
        lastAddress: '127.0.0.1',
      });
    });

    it('require a unique name that is not empty', async () => {
      expect(await problemOf(createApplicationPassword(site, 'ed', 'Replay'))).toBe('name-taken');
      expect(await problemOf(createApplicationPassword(site, 'ed', ' '))).toBe('name-empty');
      expect(await problemOf(createApplicationPassword(site, 'nobody', 'phone'))).toBe('user-unknown');
      expect(await listApplicationPasswords(site, 'ed')).toHaveLength(1);
    });

    it('are revoked by name or UUID without the others', async () => {
      const one = await createApplicationPassword(site, 'ed', 'one');
      const two = await createApplicationPassword(site, 'ed', 'two');
      await revokeApplicationPassword(site, 'ed', 'one');
      expect([await works('ed', one.password), await works('ed', two.password)]).toEqual([false, true]);
      await revokeApplicationPassword(site, 'ed', two.uuid);
      expect((await listApplicationPasswords(site, 'ed')).map(({ name }) => name)).toEqual(['replay']);
      expect(await problemOf(revokeApplicationPassword(site, 'ed', 'one'))).toBe('password-unknown');
      await revokeApplicationPassword(site, 'ed', 'replay');
      expect(await metasOf(2)).not.toHaveProperty('_application_passwords');
    });

    it('are all stored when several are created concurrently', async () => {
      await Promise.all(['a', 'b', 'c', 'd'].map((name) => createApplicationPassword(site, 'sub', name)));
      expect((await listApplicationPasswords(site, 'sub')).map(({ name }) => name).sort()).toEqual(['a', 'b', 'c', 'd', 'replay']);
    });
  });
});

/** The value of the change counter. */
async function changes(db: Database): Promise<number> {
  const row = await db.from('fasti_changes').where('id', 1).select('counter').first();
  return Number(row?.counter);
}
