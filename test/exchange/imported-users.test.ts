import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createUser, deleteUser } from '../../src/accounts/users.ts';
import type { ImportOptions } from '../../src/exchange/import/options.ts';
import { isIncomplete, type Report } from '../../src/exchange/items/report.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertUser } from '../../src/storage/rows/users.ts';
import { asStored, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite, makeNetwork } from '../support/site.ts';
import { bareSite, importDatabase, importSource, streamOf } from './sites.ts';

/* Tests of the accounts that an import from a database makes: who gets one, with which rights and passwords. */

const EDITOR = 2;
const PASSWORDS = [{ uuid: 'd0a4c6f8-6c0e-4b57-9b6f-1d8a7d2f3b4c', app_id: '', name: 'agenda', password: '$generic$abc', created: 1 }];

describeDatabases('users of an imported database', (open) => {
  let original: Database;
  let target: Site;
  beforeAll(async () => {
    original = await open();
  });
  beforeEach(async () => {
    await loadSite(original);
    target = await bareSite(await open());
  });
  afterEach(() => target.close());

  const imported = (options: Partial<ImportOptions> = {}) => importDatabase(target, original, options);
  const losses = (report: Report) =>
    report.losses.flatMap(({ reason, examples }) =>
      examples.map(({ of, detail }) => [reason, of, ...(detail === undefined ? [] : [detail])]),
    );
  const userHere = (login: string) => target.db.from('users').where('user_login', login).first();
  const metasHere = async (login: string) => {
    const rows = await target.db.from('usermeta').where('user_id', (await userHere(login))?.ID ?? 0);
    return Object.fromEntries(rows.map(({ meta_key: key, meta_value: value }) => [key, value]));
  };
  const addUser = (login: string, metas: Readonly<Record<string, string>> = {}) =>
    insertUser(
      original,
      {
        user_login: login, user_pass: `hash of ${login}`, user_nicename: login, user_email: `${login}@example.org`, user_url: '',
        user_registered: '2026-01-01 00:00:00', user_activation_key: '', user_status: 0, display_name: login,
      }, // biome-ignore format: a row
      Object.fromEntries(Object.entries(metas).map(([key, value]) => [key, asStored(value)])),
    );

  it('stay deleted if they were deleted here, and their events stay with those who got them', async () => {
    await imported();
    const eventsOf = (db: Database, id: number) => db.from('posts').where({ post_author: id, post_type: 'tribe_events' });
    const [event] = await eventsOf(target.db, EDITOR);
    await deleteUser(target, 'ed', { reassign: 1 });
    await original.from('posts').where('ID', event!.ID).update({ post_title: 'Changed there' });
    const rehearsal = await imported({ dryRun: true });
    const report = await imported();
    expect({ ...rehearsal, dryRun: false }).toEqual(report);
    expect(report).toMatchObject({ created: {}, updated: { event: 1 }, unchanged: { author: 4 } });
    expect([losses(report), isIncomplete(report)]).toEqual([[['author-removed', 'ed']], false]);
    expect(await userHere('ed')).toBeUndefined();
    expect(await target.db.from('posts').where('ID', event!.ID).first()).toMatchObject({ post_title: 'Changed there', post_author: 1 });
    expect(await imported()).toMatchObject({ created: {}, updated: {}, losses: [{ reason: 'author-removed', count: 1 }] });
  });

  it('are the users of the same name whom somebody has created in their place', async () => {
    await imported();
    await deleteUser(target, 'ed', { reassign: 1 });
    const { id } = await createUser(target, { login: 'ed', email: 'new@example.org', role: 'author' });
    const [event] = await original.from('posts').where({ post_author: EDITOR, post_type: 'tribe_events' });
    await original.from('posts').where('ID', event!.ID).update({ post_title: 'Changed there' });
    expect(await imported()).toMatchObject({ created: {}, updated: { event: 1 }, losses: [] });
    expect((await target.db.from('posts').where('ID', event!.ID).first())?.post_author).toBe(id);
  });

  it('get no ID of users of another source who were deleted here, whose records would be theirs', async () => {
    await imported();
    await deleteUser(target, 'ed', { reassign: 1 });
    const bob = { kind: 'author', sourceId: 'bob', id: EDITOR, login: 'bob', email: '', displayName: 'Bob', metas: [] } as const;
    await importSource(target, { name: () => 'other', entries: () => streamOf([bob]), close: async () => undefined });
    expect((await userHere('bob'))?.ID).toBeGreaterThan(EDITOR);
    const [event] = await original.from('posts').where({ post_author: EDITOR, post_type: 'tribe_events' });
    await original.from('posts').where('ID', event!.ID).update({ post_title: 'Changed there' });
    expect(losses(await imported())).toEqual([['author-removed', 'ed']]);
    expect(await target.db.from('posts').where('ID', event!.ID).first()).toMatchObject({ post_title: 'Changed there', post_author: 1 });
  });

  it('are looked up once in a step, also those who were deleted here', async () => {
    await imported();
    await deleteUser(target, 'ed', { reassign: 1 });
    await original.from('posts').where('post_type', 'tribe_events').update({ post_title: 'Changed', post_author: EDITOR });
    for (const dryRun of [true, false]) {
      let lookUps = 0;
      const stop = target.db.driver.listen(({ sql }) => {
        if (/^select `?ID`? from `?wp_users`? where `?ID`?/i.test(sql)) lookUps += 1;
      });
      const { updated } = await imported({ dryRun });
      stop();
      expect(updated.event).toBeGreaterThan(10);
      expect(lookUps).toBeLessThan(12);
    }
  });

  it('are reported if the site does not define their roles or capabilities', async () => {
    const roles = toSerialized({ manager: true, tribe_keeper: true, author: true, edit_pages: true, gone: false });
    await addUser('mgr', { wp_capabilities: roles });
    for (const dryRun of [true, false]) {
      const report = await imported({ dryRun });
      expect([losses(report), isIncomplete(report)]).toEqual([[['author-role-unknown', 'mgr', 'manager, tribe_keeper']], true]);
    }
    expect((await metasHere('mgr')).wp_capabilities).toBe(roles);
    expect(losses(await imported())).toEqual([]);
  });

  it('get no role if the source gives them none', async () => {
    const id = await addUser('former');
    await original.from('posts').where({ post_author: EDITOR, post_type: 'tribe_events' }).update({ post_author: id });
    await target.db.from('options').where('option_name', 'default_role').update({ option_value: 'author' });
    await imported();
    expect(await metasHere('former')).toMatchObject({ wp_capabilities: 'a:0:{}', wp_user_level: '0' });
  });

  it.each([true, false])('can use their application passwords at once, and no option says so without need: %s', async (has) => {
    const option = () => target.db.from('options').where('option_name', 'using_application_passwords');
    await option().delete();
    await original.from('usermeta').where('meta_key', '_application_passwords').delete();
    const metas = [{ user_id: EDITOR, meta_key: '_application_passwords', meta_value: toSerialized(has ? PASSWORDS : []) }];
    await original.from('usermeta').insert(metas);
    await imported();
    expect((await metasHere('ed'))._application_passwords).toBe(metas[0]!.meta_value);
    expect((await option()).map(({ option_value: value }) => value)).toEqual(has ? ['1'] : []);
  });
});

describeDatabases('users of an imported network', (open) => {
  let original: Database;
  let target: Site;
  beforeAll(async () => {
    original = await open();
    await loadSite(original);
    await makeNetwork(original);
    await original.knex.raw('ALTER TABLE ?? ADD COLUMN spam INTEGER NOT NULL DEFAULT 0', [original.table('users')]);
    target = await bareSite(await open());
  });
  afterAll(() => target.close());

  it('are administrators if the network has them as such, and have neither rights nor passwords if it has marked them as spam', async () => {
    const row = {
      user_pass: 'hash', user_email: '', user_url: '', user_registered: '2026-01-01 00:00:00', user_activation_key: '', user_status: 0,
    }; // biome-ignore format: a row
    for (const login of ['superu', 'nobody', 'ghost'])
      await insertUser(original, { ...row, user_login: login, user_nicename: login, display_name: login }, {});
    await original.from('sitemeta').insert({ site_id: 1, meta_key: 'site_admins', meta_value: toSerialized(['superu', 'auth', 'ghost']) });
    await original.from('usermeta').where({ user_id: EDITOR, meta_key: '_application_passwords' }).delete();
    await original.from('usermeta').insert({ user_id: EDITOR, meta_key: '_application_passwords', meta_value: toSerialized(PASSWORDS) });
    await original.from('users').whereIn('user_login', ['ed', 'ghost']).update({ spam: 1 });
    const report = await importDatabase(target, original);
    const { db } = target;
    const [users, metas] = [await db.from('users').orderBy('ID'), await db.from('usermeta')];
    const metaOf = (id: number, name: string) => metas.find(({ user_id, meta_key: key }) => user_id === id && key === name)?.meta_value;
    const rights = new Map(users.map((user) => [user.user_login, [metaOf(user.ID, 'wp_capabilities'), metaOf(user.ID, 'wp_user_level')]]));
    const administrator = ['a:1:{s:13:"administrator";b:1;}', '10'];
    const none = ['a:0:{}', '0'];
    expect([...rights.keys()]).not.toContain('nobody');
    expect(Object.fromEntries(rights)).toMatchObject({ superu: administrator, auth: administrator, ed: none, ghost: none });
    expect(rights.get('contrib')?.[0]).toBe('a:1:{s:11:"contributor";b:1;}');
    expect(Object.fromEntries(users.map((user) => [user.user_login, user.user_pass]))).toMatchObject({
      superu: 'hash',
      ed: '*',
      ghost: '*',
    });
    expect(metaOf(EDITOR, '_application_passwords')).toBeUndefined();
    expect(report.losses).toMatchObject([{ reason: 'author-spam', count: 2 }]);
    expect(isIncomplete(report)).toBe(false);
  });
});
