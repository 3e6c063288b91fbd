import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { readConfig } from '../src/config/config.ts';
import { LANGUAGE_TABLES, SETTINGS_TABLES } from '../src/settings-reader.ts';
import { openSite, type Site } from '../src/site.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { writeOption } from '../src/storage/rows/options.ts';
import { writeMetas } from '../src/storage/rows/posts.ts';
import { asStored } from '../src/wordpress/php/serialized.ts';
import { describeDatabases, urlOf } from './support/databases.ts';
import { loadLanguages } from './support/languages.ts';
import { loadSite, makeNetwork } from './support/site.ts';

describeDatabases('the settings that a process has cached', (open) => {
  let db: Database;
  let site: Site;
  beforeAll(async () => {
    db = await loadSite(await open());
  });
  afterEach(() => site.close());

  const start = async (freshness: string, cache = 'on', env: Record<string, string> = {}) => {
    const settings = { DATABASE_URL: urlOf(db), TABLE_PREFIX: db.prefix, LOG_LEVEL: 'silent', CACHE: cache, CACHE_FRESHNESS_MS: freshness };
    site = await openSite(readConfig({ ...settings, ...env }));
  };
  const rename = (by: Database, name: string) => by.transaction((tx) => writeOption(tx, 'blogname', asStored(name)));
  const name = async () => (await site.settings()).raw.get('blogname');
  const queriesOf = async (work: () => Promise<unknown>) => {
    const before = site.db.queries();
    await work();
    return site.db.queries() - before;
  };

  it('contain its own changes at once', async () => {
    await start('60000');
    for (const wanted of ['first', 'second', 'third']) {
      await rename(site.db, wanted);
      expect(await name()).toBe(wanted);
    }
  });

  it('contain the changes of other programs once the cached ones are too old', async () => {
    await start('60000');
    await rename(db, 'before');
    expect(await name()).toBe('before');
    await rename(db, 'after');
    expect(await name()).toBe('before');
    await site.close();
    await start('0');
    expect(await name()).toBe('after');
    await rename(db, 'again');
    expect(await name()).toBe('again');
  });

  it('are read once if only other options change', async () => {
    await start('60000');
    await name();
    await site.db.transaction((tx) => writeOption(tx, 'tribe_last_save_post', asStored('1')));
    expect(await queriesOf(name)).toBe(0);
    await rename(site.db, 'changed');
    expect(await queriesOf(name)).toBe(1);
    expect(await queriesOf(name)).toBe(0);
  });

  it('contain nothing that an open transaction may still roll back, nor anything read before it ended', async () => {
    await start('60000');
    await rename(site.db, 'kept');
    await name();
    await site.db
      .transaction(async (tx) => {
        await writeOption(tx, 'blogname', asStored('taken back'));
        expect(await name()).toBe('kept');
        throw new Error('taken back');
      })
      .catch(() => undefined);
    expect(await name()).toBe('kept');
    await site.db.transaction(async (tx) => {
      await writeOption(tx, 'blogname', asStored('written'));
      expect(await name()).toBe('kept');
    });
    expect(await name()).toBe('written');
  });

  it('are read for each request if the cache is off', async () => {
    await start('60000', 'off');
    // On the first uses the process finds out whether the site belongs to a network, and opens SQLite.
    await name();
    await name();
    expect(await queriesOf(async () => [await name(), await name()])).toBe(site.db.driver.state ? 0 : 2);
  });

  it('are read again after any write if the cache is off', async () => {
    await start('60000', 'off');
    for (const [by, wanted] of [
      [db, 'by another'],
      [site.db, 'by itself'],
      [db, 'by another again'],
    ] as const) {
      await name();
      await rename(by, wanted);
      expect(await name()).toBe(wanted);
    }
    await site.db.change`UPDATE {options} SET option_value = 'outside of transactions' WHERE option_name = 'blogname'`;
    expect(await name()).toBe('outside of transactions');
  });

  it('are not read again on SQLite after writes of this process to other tables and options', async () => {
    await start('60000', 'off');
    await name();
    await name();
    await site.db.transaction((tx) => writeMetas(tx, 44, { _anything: [asStored('new')] }));
    await site.db.transaction((tx) => writeOption(tx, 'tribe_last_save_post', asStored('2')));
    expect(await queriesOf(name)).toBe(site.db.driver.state ? 0 : 1);
    await site.db.raw("UPDATE ?? SET option_value = 'by a statement that names no table' WHERE option_name = 'blogname'", [
      site.db.table('options'),
    ]);
    expect(await name()).toBe('by a statement that names no table');
  });

  it.each(['polylang', 'wpml'] as const)('are read from the listed tables only (%s)', async (form) => {
    const other = await loadLanguages(await open(), form);
    await makeNetwork(other);
    await start('0', 'off', { DATABASE_URL: urlOf(other) });
    const read = new Set<string>();
    site.db.driver.listen(({ sql }) => {
      for (const [, table] of sql.matchAll(/(?:FROM|JOIN) `wp_(\w+)`/gi)) read.add(table!);
    });
    expect((await site.settings()).contentLanguages?.form).toBe(form);
    const languages = LANGUAGE_TABLES.filter((table) => (form === 'wpml') === table.startsWith('icl_'));
    expect([...read].sort()).toEqual([...languages, 'options', ...SETTINGS_TABLES].sort());
  });

  it('are read again beside WordPress only after another program has committed something', async () => {
    await start('60000', 'off', { SHARED_WITH_WORDPRESS: 'on', FOLLOW_WORDPRESS: 'on' });
    site.startFollowing();
    const optionsRead = async () => {
      let reads = 0;
      const stop = site.db.driver.listen(({ sql, bindings }) => {
        if (/`wp_options`/.test(sql) && bindings.includes('blogname')) reads += 1;
      });
      await name();
      stop();
      return reads;
    };
    // Other tests write to other databases of the same server.
    do await site.takenOverSince(performance.now());
    while ((await optionsRead()) > 0);
    for (const wanted of ['one', 'other', 'third']) {
      await rename(db, wanted);
      expect(await name()).toBe(wanted);
    }
    await rename(site.db, 'its own');
    expect(await name()).toBe('its own');
  });
});
