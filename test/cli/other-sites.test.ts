import { beforeAll, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '../../src/storage/engine/database.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { commandIn, type Fasti, temporaryFolder } from './command.ts';

const folder = temporaryFolder();

describeDatabases('a database with a site under another table prefix', (open) => {
  let db: Database;
  let fasti: Fasti;
  let inNamed: (prefix: string) => Fasti;
  const tables = async () => (await db.dialect.tables(db)).filter((name) => !name.startsWith('wpab_'));

  beforeAll(async () => {
    db = await open({ prefix: 'wpab_' });
    const env = { DATABASE_URL: urlOf(db), UPLOADS_DIR: `${folder}/${db.dialect.name}`, PORT: '0' };
    inNamed = (prefix) => commandIn({ ...env, TABLE_PREFIX: prefix });
    fasti = commandIn(env);
    expect((await inNamed('wpab_')('init')).code).toBe(0);
    expect((await inNamed('wpab_')('backup', `${folder}/${db.dialect.name}.backup`)).code).toBe(0);
    // A further site of that network is no installation of its own.
    for (const name of ['posts', 'postmeta', 'options'])
      await db.knex.raw('CREATE TABLE ?? AS SELECT * FROM ??', [`wpab_2_${name}`, `wpab_${name}`]);
  });

  it.each([['start'], ['serve'], ['init'], ['migrate'], ['event', 'list'], ['doctor', '--fix', '--yes']])(
    'gets no second one by a forgotten TABLE_PREFIX: %s',
    async (...args) => {
      const { code, err, served } = await fasti(...args);
      expect({ code, served }).toEqual({ code: 1, served: [] });
      expect(err).toMatch(/^Error: there is no site with the table prefix wp_ in this database, but there is one with wpab_: TABLE_PREFIX/);
      expect(await tables()).toEqual([]);
    },
  );

  it('gets none by `start` with a wrong prefix, nor by a restore or a server', async () => {
    const wrong = inNamed('wpab');
    const backup = `${folder}/${db.dialect.name}.backup`;
    for (const args of [['start'], ['restore', backup]]) expect(await wrong(...args)).toMatchObject({ code: 1, served: [] });
    const other = await openDatabase({ url: urlOf(db), prefix: 'wp_' });
    await expect(migrate(other)).rejects.toThrow('there is no site with the table prefix wp_ in this database, but with wpab_');
    await other.close();
    expect(await tables()).toEqual([]);
  });

  it('gets one by `init` with TABLE_PREFIX, and by `restore --force`', async () => {
    expect((await inNamed('wp_')('init')).code).toBe(0);
    expect((await fasti('start')).served).toHaveLength(1);
    expect((await inNamed('cal_')('restore', `${folder}/${db.dialect.name}.backup`, '--force')).code).toBe(0);
    expect((await inNamed('cal_')('status')).code).toBe(0);
  });
});
