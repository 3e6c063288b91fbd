import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '../../src/storage/engine/database.ts';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { completeSchema, migrate } from '../../src/storage/schema/migrate.ts';
import type { Migration } from '../../src/storage/schema/migration.ts';
import { describeDatabases, runScript, urlOf } from '../support/databases.ts';

const ALL = [
  '001-wordpress-tables',
  '002-own-tables',
  '003-imports',
  '004-list-index',
  '005-shapes',
  '006-months',
  '007-kept-answers',
  '008-occurrences',
  '009-entry-languages',
  '010-journal',
  '011-webhooks',
  '012-import-makers',
  '013-stand-ins',
  '014-imported-records',
];
const WORDPRESS = [
  'commentmeta',
  'comments',
  'links',
  'options',
  'postmeta',
  'posts',
  'term_relationships',
  'term_taxonomy',
  'termmeta',
  'terms',
  'usermeta',
  'users',
];
const CALENDAR = ['tec_events', 'tec_occurrences'];
const OWN = [
  'fasti_answers',
  'fasti_changes',
  'fasti_days',
  'fasti_entries',
  'fasti_import_ids',
  'fasti_import_waiting',
  'fasti_imports',
  'fasti_journal',
  'fasti_journal_inbox',
  'fasti_hooks',
  'fasti_hook_messages',
  'fasti_locks',
  'fasti_migrations',
  'fasti_migrations_lock',
  'fasti_prints',
];

describeDatabases('migrate', (open, engine) => {
  const names = async (db: Database): Promise<string[]> => {
    const list =
      engine === 'MySQL'
        ? 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()'
        : "SELECT name FROM sqlite_master WHERE type = 'table'";
    const rows = engine === 'MySQL' ? (await db.knex.raw(list))[0] : await db.knex.raw(list);
    return rows
      .map((row: { name: string }) => row.name)
      .filter((name: string) => !name.startsWith('sqlite_'))
      .sort();
  };

  it('creates all tables in an empty database and none the second time', async () => {
    const db = await open({ migrated: false });
    expect(await migrate(db)).toEqual(ALL);
    expect(await names(db)).toEqual([...WORDPRESS, ...CALENDAR, ...OWN].map((name) => `wp_${name}`).sort());
    const before = db.queries();
    expect(await migrate(db)).toEqual([]);
    expect(db.queries() - before).toBe(2);
  });

  it('respects the table prefix, so that two sites can share a database', async () => {
    const db = await open({ migrated: false, prefix: 'first_' });
    expect(await migrate(db)).toEqual(ALL);
    const second = await openDatabase({ url: urlOf(db), prefix: 'second_' });
    expect(await migrate(second, { besideOthers: true })).toEqual(ALL);
    expect((await names(db)).filter((name) => name.startsWith('second_'))).toHaveLength(WORDPRESS.length + CALENDAR.length + OWN.length);
    await second.close();
  });

  it('leaves the tables of an existing WordPress unchanged and does not add missing ones', async () => {
    const db = await open({ migrated: false });
    await runScript(db, 'CREATE TABLE wp_posts (ID bigint PRIMARY KEY, post_title text, of_a_plugin text);');
    expect(await migrate(db)).toEqual(ALL);
    expect(await names(db)).toEqual(['posts', ...OWN].map((name) => `wp_${name}`).sort());
    expect(await db.dialect.columns(db, 'wp_posts')).toEqual(['ID', 'post_title', 'of_a_plugin']);
  });

  it('resumes a creation that was interrupted', async () => {
    const db = await open();
    await db.knex.schema.dropTable('wp_posts');
    await db.knex.schema.dropTable('wp_users');
    await db.knex('wp_fasti_migrations').del();
    expect(await migrate(db)).toEqual(ALL);
    expect(await db.from('posts')).toEqual([]);
    expect(await db.from('users')).toEqual([]);
  });

  it('forgets no applied step if missing tables cannot be created', async () => {
    const db = await open();
    let isAllowed = true;
    const step: Migration = {
      name: '901-table',
      tables: () => [],
      up: async () => {
        if (!isAllowed) throw new Error('not allowed');
      },
    };
    await migrate(db, { steps: [step] });
    await db.knex.schema.dropTable('wp_fasti_answers');
    isAllowed = false;
    await expect(completeSchema(db, { steps: [step] })).rejects.toThrow('not allowed');
    expect(await db.from('fasti_migrations').orderBy('id').pluck('name')).toEqual([...ALL, '901-table']);
    expect(await migrate(db)).toEqual([]);
    await completeSchema(db);
    expect(await db.from('fasti_answers')).toEqual([]);
    expect(await db.from('fasti_migrations').orderBy('id').pluck('name')).toEqual([...ALL, '901-table']);
  });

  it('applies each migration once when several processes start at the same time', async () => {
    const db = await open({ migrated: false });
    const others = await Promise.all([1, 2, 3].map(() => openDatabase({ url: urlOf(db), prefix: 'wp_' })));
    const applied = await Promise.all([db, ...others].map((one) => migrate(one)));
    expect(applied.flat()).toEqual(ALL);
    expect(await db.knex('wp_fasti_migrations').pluck('name')).toEqual(ALL);
    expect(await db.from('fasti_changes')).toEqual([{ id: 1, counter: 1, changed_at: expect.any(String) }]);
    await Promise.all(others.map((one) => one.close()));
  });

  if (engine === 'SQLite')
    it('counts its steps also if another process locks the database right after them', async () => {
      const db = await open({ migrated: false });
      const other = new Sqlite(urlOf(db).slice('sqlite:'.length));
      let isHeld = false;
      db.driver.listen(({ sql }) => {
        if (isHeld || !/^delete from `wp_options`/i.test(sql)) return;
        isHeld = true;
        other.exec('BEGIN IMMEDIATE');
        setTimeout(() => other.exec('COMMIT'), 1);
      });
      expect(await migrate(db)).toEqual(ALL);
      expect(isHeld).toBe(true);
      other.close();
    });

  /** Two steps as on a large table: the second takes much longer than a lock may go without renewal. */
  const slowSteps = (): Migration[] => [
    {
      name: '901-table',
      tables: () => [],
      up: async ({ knex }) => void (await knex.schema.createTable('wp_large', (table) => table.integer('one'))),
    },
    {
      name: '902-column',
      tables: () => [],
      up: async ({ knex, dialect, columns }) => {
        if ((await columns('wp_large')).includes('two')) return;
        await sleep(6 * PATIENCE_MS);
        await knex.schema.raw(dialect.addColumn('wp_large', 'two', 'int NULL'));
      },
    },
  ];
  const PATIENCE_MS = 500;

  it('waits for another process, however long one of its steps takes', async () => {
    const db = await open({ migrated: false });
    const others = await Promise.all([1, 2].map(() => openDatabase({ url: urlOf(db), prefix: 'wp_' })));
    const options = { steps: slowSteps(), lockTimeoutMs: PATIENCE_MS };
    const applied = await Promise.all([db, ...others].map((one) => migrate(one, options)));
    expect(applied.flat()).toEqual(['901-table', '902-column']);
    expect(await db.from('fasti_migrations_lock')).toEqual([{ index: 1, is_locked: 0 }]);
    await Promise.all(others.map((one) => one.close()));
  });

  it('takes over the lock of a process that died during a migration', async () => {
    const db = await open();
    await db.from('fasti_migrations_lock').update({ is_locked: 7 });
    const steps = slowSteps().slice(0, 1);
    expect(await migrate(db, { steps, lockTimeoutMs: PATIENCE_MS })).toEqual(['901-table']);
    expect(await db.from('fasti_migrations_lock')).toEqual([{ index: 1, is_locked: 0 }]);
  });

  it('releases the lock after a step that failed', async () => {
    const db = await open();
    const [first, second] = slowSteps() as [Migration, Migration];
    const failing: Migration = { ...second, up: () => Promise.reject(new Error('no room')) };
    await expect(migrate(db, { steps: [first, failing], lockTimeoutMs: PATIENCE_MS })).rejects.toThrow('no room');
    expect(await db.from('fasti_migrations_lock')).toEqual([{ index: 1, is_locked: 0 }]);
  });

  describe('tables', () => {
    it('never reuse the id of a deleted post', async () => {
      const db = await open();
      const [first] = await db.from('posts').insert({ post_title: 'first' });
      await db.from('posts').del();
      const [second] = await db.from('posts').insert({ post_title: 'second' });
      expect([first, second]).toEqual([1, 2]);
    });

    it('fill unnamed columns with the defaults of WordPress', async () => {
      const db = await open();
      await db.from('posts').insert({});
      expect(await db.from('posts').first()).toEqual({
        ID: 1,
        post_author: 0,
        post_date: '0000-00-00 00:00:00',
        post_date_gmt: '0000-00-00 00:00:00',
        post_content: '',
        post_title: '',
        post_excerpt: '',
        post_status: 'publish',
        comment_status: 'open',
        ping_status: 'open',
        post_password: '',
        post_name: '',
        to_ping: '',
        pinged: '',
        post_modified: '0000-00-00 00:00:00',
        post_modified_gmt: '0000-00-00 00:00:00',
        post_content_filtered: '',
        post_parent: 0,
        guid: '',
        menu_order: 0,
        post_type: 'post',
        post_mime_type: '',
        comment_count: 0,
      });
      await db.from('tec_events').insert({ post_id: 1, start_date: '2026-01-01 10:00:00', start_date_utc: '2026-01-01 09:00:00' });
      expect(await db.from('tec_events').first()).toMatchObject({
        timezone: 'UTC',
        duration: 7200,
        end_date: null,
        hash: '',
        updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      });
    });

    it('reject a second row with the same unique key', async () => {
      const db = await open();
      const twice = async (insert: () => PromiseLike<unknown>): Promise<boolean> => {
        await insert();
        return Promise.resolve(insert()).then(() => false, db.dialect.isDuplicate);
      };
      expect(await twice(() => db.from('options').insert({ option_name: 'a' }))).toBe(true);
      expect(await twice(() => db.from('tec_events').insert({ post_id: 3, start_date: '', start_date_utc: '' }))).toBe(true);
      expect(await twice(() => db.from('tec_occurrences').insert({ hash: 'h', start_date: '2026-01-01 10:00:00' }))).toBe(true);
      expect(await twice(() => db.from('term_relationships').insert({ object_id: 1, term_taxonomy_id: 1 }))).toBe(true);
      expect(await twice(() => db.from('term_taxonomy').insert({ term_id: 1, taxonomy: 'post_tag' }))).toBe(true);
    });

    it('find slugs and logins regardless of case', async () => {
      const db = await open();
      await db.from('posts').insert({ post_name: 'jazz-night' });
      await db.from('users').insert({ user_login: 'Anna' });
      expect(await db.from('posts').where('post_name', 'Jazz-Night')).toHaveLength(1);
      expect(await db.from('users').where('user_login', 'anna')).toHaveLength(1);
    });
  });
});
