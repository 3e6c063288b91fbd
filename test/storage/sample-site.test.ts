import { beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import type { TableName } from '../../src/storage/engine/tables.ts';
import { readOptions } from '../../src/storage/rows/options.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite, resetSite, setOptions } from '../support/site.ts';
import { readFixture } from '../support/site-data.mjs';

describeDatabases('sample site', (open) => {
  let db: Database;
  const fixture = readFixture();
  beforeAll(async () => {
    db = await loadSite(await open());
  });

  const everything = async (): Promise<Record<string, unknown>> => {
    const tables: [string, unknown][] = [];
    for (const name of Object.keys(fixture)) {
      const { columns } = fixture[name] ?? { columns: [] };
      const rows: Record<string, unknown>[] = await db
        .knex(db.table(name as TableName))
        .select(columns)
        .orderBy(columns.slice(0, 2));
      tables.push([name, rows.map((row) => columns.map((column) => row[column]))]);
    }
    return Object.fromEntries(tables);
  };
  const expected = Object.fromEntries(Object.entries(fixture).map(([name, { rows }]) => [name, rows]));

  it('contains exactly the rows of the fixture', async () => {
    expect(await everything()).toEqual(expected);
  });

  it('is restored after any write, and the reset increments the change counter', async () => {
    const counter = async () => (await db.from('fasti_changes').first())?.counter ?? 0;
    await db.from('posts').insert([{ post_title: 'new' }, { post_title: 'newer' }]);
    await db.from('postmeta').del();
    await db.from('terms').update({ name: 'x' });
    const before = await counter();
    await resetSite(db);
    expect(await everything()).toEqual(expected);
    expect(await counter()).toBeGreaterThan(before);
  });

  it('gives the next post the id 93 and the next term the id 19', async () => {
    await resetSite(db);
    expect(await db.from('posts').insert({ post_title: 'next' })).toEqual([93]);
    expect(await db.from('terms').insert({ name: 'next' })).toEqual([19]);
    await resetSite(db);
    expect(await db.from('posts').insert({ post_title: 'next' })).toEqual([93]);
  });

  it('accepts other options, including members of a serialized option', async () => {
    await setOptions(db, {
      timezone_string: '',
      gmt_offset: '-3.5',
      posts_per_page: 4,
      tribe_events_calendar_options: { multiDayCutoff: '06:00' },
    });
    const options = await readOptions(db, ['timezone_string', 'gmt_offset', 'posts_per_page', 'tribe_events_calendar_options']);
    expect([options.get('timezone_string'), options.get('gmt_offset'), options.get('posts_per_page')]).toEqual(['', '-3.5', '4']);
    const serialized = options.get('tribe_events_calendar_options');
    expect(serialized).toMatch(/^a:16:\{/);
    expect(serialized).toContain('s:14:"multiDayCutoff";s:5:"06:00";');
    expect(serialized).toContain('s:21:"earliest_date_markers";a:1:{i:0;i:36;}');
    await resetSite(db);
    expect((await readOptions(db, ['timezone_string'])).get('timezone_string')).toBe('Europe/Rome');
  });
});
