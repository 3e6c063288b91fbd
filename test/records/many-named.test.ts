import { expect, it } from '@jest/globals';
import { sampleSlugs } from '../../src/records/core/sample-slugs.ts';
import type { Post } from '../../src/wordpress/rows.ts';
import { countQueries } from '../support/count-queries.ts';
import { measureCpuTime } from '../support/growth.ts';
import { insertAll } from '../support/insert-all.ts';
import { describeRequests } from '../support/site-client.ts';

/*
 * The cost of records that a text or a URL names stays low, however many there are.
 */

describeRequests('thousands of named records', (ask) => {
  it('in galleries do not prevent lists and events from being returned', async () => {
    const ids = Array.from({ length: 40_000 }, (_, place) => 100_000 + place);
    const description = `[gallery ids="${ids.join()}"]`;
    await ask.update('/events/38', { description });
    await ask.update('/events/39', { description });
    expect((await ask.read('/events?per_page=50')).events.length).toBeGreaterThan(1);
    expect((await ask.read('/events/38')).id).toBe(38);
    const { status } = await ask.send('GET', '/wp-json/wp/v2/tribe_events?per_page=50');
    expect(status).toBe(200);
  });

  it('in a path of slugs are looked up in few queries', async () => {
    const { site } = ask.running();
    const path = Array.from({ length: 120 }, () => 'a').join('%2F');
    const unknown = await ask.get('/events/by-slug/nothing-of-that-name');
    const { result, queries } = await countQueries(site, () => ask.get(`/events/by-slug/${path}`));
    expect(result.body).toEqual(unknown.body);
    expect(queries).toBeLessThan(15);
    const nested = await ask.create('/events', { title: 'Inside', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' });
    await ask.writeRows(async (db) => {
      await db.from('posts').where('ID', nested.id).update({ post_parent: 38 });
    });
    const { slug } = await ask.read('/events/38');
    expect((await ask.read(`/events/by-slug/${slug}%2Finside`)).id).toBe(nested.id);
    expect((await ask.get(`/events/by-slug/${slug}%2F${slug}`)).body).toEqual(unknown.body);
  });

  it('with the same title get slug proposals in roughly linear time', async () => {
    const row = (place: number) => ({
      ID: 200_000 + place, post_type: 'attachment', post_status: 'inherit', post_title: 'Same', post_name: place === 1 ? 'same' : `same-${place}`,
    }); // biome-ignore format: one row
    const costs: number[] = [];
    for (const [from, to] of [
      [1, 1000],
      [1001, 8000],
    ] as const) {
      await ask.writeRows((db) =>
        insertAll(
          db,
          'posts',
          Array.from({ length: to - from + 1 }, (_, place) => row(from + place)),
          500,
        ),
      );
      const rows = Array.from({ length: 50 }, (_, place) => ({ ...row(1), ID: 1 + place })) as Post[];
      costs.push(await measureCpuTime(() => sampleSlugs(ask.db(), rows), 3));
      expect((await sampleSlugs(ask.db(), [{ ...rows[0]!, ID: 1 } as Post])).get(1)).toBe(`same-${to + 1}`);
    }
    // With eight times as many rows, comparing each with all would take sixty-four times the work.
    expect(costs[1]! / costs[0]!).toBeLessThan(30);
  });
});
