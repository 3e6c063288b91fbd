import { expect, it } from '@jest/globals';
import { sampleSlugs } from '../../src/records/core/sample-slugs.ts';
import type { Post } from '../../src/wordpress/rows.ts';
import { countQueries } from '../support/count-queries.ts';
import { measureCostRatio } from '../support/growth.ts';
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
    const titled = (title: string, count: number, firstId: number) =>
      Array.from({ length: count }, (_, at) => ({
        ID: firstId + at,
        post_type: 'attachment',
        post_status: 'inherit',
        post_title: title,
        post_name: (at ? `${title}-${at + 1}` : title).toLowerCase(),
      })) as Post[];
    const few = titled('Few', 1000, 200_000);
    const many = titled('Many', 8000, 300_000);
    await ask.writeRows((db) => insertAll(db, 'posts', [...few, ...many], 500));
    /** The proposals for fifty other posts of that title. */
    const proposals = ([first]: readonly Post[]) =>
      sampleSlugs(
        ask.db(),
        Array.from({ length: 50 }, (_, at) => ({ ...first!, ID: 1 + at })),
      );
    expect((await proposals(few)).get(1)).toBe('few-1001');
    expect((await proposals(many)).get(1)).toBe('many-8001');
    // With eight times as many rows, comparing each with all would take sixty-four times the work.
    const ratio = await measureCostRatio({ work: () => proposals(many), reference: () => proposals(few), limit: 30 });
    expect(ratio).toBeLessThanOrEqual(30);
  });
});
