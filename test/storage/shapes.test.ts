import { expect, it } from '@jest/globals';
import { shapes } from '../../migrations/005-shapes.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { postsWithSlugsFrom } from '../../src/storage/rows/posts.ts';
import { describeDatabases } from '../support/databases.ts';

describeDatabases('statistics of the shape of tables', (open, engine) => {
  if (engine === 'MySQL') {
    it('are not written for MySQL, which collects its own', async () => {
      const { dialect } = await open();
      expect(dialect.storeStatistics({ posts: { post_name: [10, 1] } }, 'wp_')).toEqual([]);
    });
    return;
  }

  const IDS = Array.from({ length: 500 }, (_, place) => place + 1);
  const NAMES = IDS.map((id) => `name-${id}`);
  const KEYS = ['_EventVenueID', '_EventOrganizerID', '_tribe_featured'];
  const plan = async (db: Database, table: string, where: object): Promise<string> => {
    const query = db.knex(table);
    for (const [column, values] of Object.entries(where)) query.whereIn(column, values);
    const { sql, bindings } = query.toSQL().toNative();
    const rows = (await db.knex.raw(`EXPLAIN QUERY PLAN ${sql}`, bindings as never)) as { detail: string }[];
    return rows.map(({ detail }) => detail).join();
  };

  it.each([
    ['posts by their ids', 'wp_posts', { ID: IDS, post_type: ['tribe_events'] }, 'PRIMARY KEY'],
    ['posts by their names', 'wp_posts', { post_name: NAMES, post_type: ['tribe_events'] }, 'wp_posts_post_name'],
    ['metas by their posts', 'wp_postmeta', { post_id: IDS, meta_key: KEYS }, 'wp_postmeta_post_id'],
    [
      'terms by their posts',
      'wp_term_relationships',
      { object_id: IDS, term_taxonomy_id: [1, 2] },
      'sqlite_autoindex_wp_term_relationships_1',
    ],
  ])('make SQLite find %s', async (_what, table, where, key) => {
    expect(await plan(await open(), table, where)).toContain(key);
  });

  it('make SQLite find posts by slug prefixes through the index, however many prefixes', async () => {
    const db = await open();
    const asked: { sql: string; bindings: readonly unknown[] }[] = [];
    const stop = db.driver.listen((query) => asked.push(query));
    await postsWithSlugsFrom(db, 'tribe_events', NAMES.slice(0, 100), 0);
    stop();
    expect(asked).toHaveLength(1);
    const rows = (await db.knex.raw(`EXPLAIN QUERY PLAN ${asked[0]!.sql}`, asked[0]!.bindings as never)) as { detail: string }[];
    const reads = rows.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH)/.test(detail));
    expect(reads.length).toBeGreaterThanOrEqual(100);
    expect(reads.filter((detail) => !detail.includes('wp_posts_post_name'))).toEqual([]);
  });

  it('do not replace results of ANALYZE, and exist for every table prefix', async () => {
    const db = await open({ prefix: 'site_' });
    const stat = async (idx: string) => (await db.knex('sqlite_stat1').where({ idx }).pluck('stat')) as string[];
    expect(await stat('site_posts_post_name')).toEqual(['1000000 1']);
    await db.knex('sqlite_stat1').where({ idx: 'site_posts_post_name' }).update({ stat: '7 1' });
    await shapes.up({ ...db, columns: (table) => db.dialect.columns(db, table), keys: async () => [] });
    expect(await stat('site_posts_post_name')).toEqual(['7 1']);
    expect(await plan(db, 'site_postmeta', { post_id: IDS, meta_key: KEYS })).toContain('site_postmeta_post_id');
  });
});
