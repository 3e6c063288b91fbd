import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, resetSite } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';

const EVENT = { title: 'Counted', start_date: '2030-01-01 10:00', end_date: '2030-01-01 11:00' };
const [ONE, OTHER, TAG] = [5, 6, 12];

describeDatabases('count of a term', (open) => {
  let db: Database;
  let site: RunningSite;
  beforeAll(async () => {
    db = await loadSite(await open());
    site = await serveDatabase(db);
  });
  beforeEach(() => resetSite(db));
  afterAll(() => site.close());

  const send = async (method: string, path: string, body: object | null = null) => {
    const { status, body: answer } = await site.send(method, ROOT + path, { body, as: 'admin' });
    expect(status).toBeLessThan(300);
    return answer;
  };
  const counts = async () => {
    const rows = await db.from('term_taxonomy').whereIn('term_taxonomy_id', [ONE, OTHER, TAG]).orderBy('term_taxonomy_id').select('count');
    return rows.map(({ count }) => count);
  };
  const moved = (before: readonly number[], by: readonly number[]) => before.map((count, place) => count + by[place]!);

  it('changes with the status, the terms and the deletion of an event', async () => {
    const before = await counts();
    const { id } = await send('POST', '/events', { ...EVENT, status: 'draft', categories: [ONE], tags: [TAG] });
    expect(await counts()).toEqual(before);
    await send('PATCH', `/events/${id}`, { status: 'publish' });
    expect(await counts()).toEqual(moved(before, [1, 0, 1]));
    await send('PATCH', `/events/${id}`, { categories: [OTHER] });
    expect(await counts()).toEqual(moved(before, [0, 1, 1]));
    await send('PATCH', `/events/${id}`, { title: 'Counted still' });
    expect(await counts()).toEqual(moved(before, [0, 1, 1]));
    await send('PATCH', `/events/${id}`, { status: 'private', tags: [] });
    expect(await counts()).toEqual(before);
    await send('PATCH', `/events/${id}`, { status: 'publish', categories: [ONE, OTHER] });
    expect(await counts()).toEqual(moved(before, [1, 1, 0]));
    await send('DELETE', `/events/${id}`);
    expect(await counts()).toEqual(before);
  });

  it('is incremented or decremented instead of counted again', async () => {
    await db.from('term_taxonomy').where('term_taxonomy_id', ONE).update({ count: 1_000_000 });
    const { id } = await send('POST', '/events', { ...EVENT, categories: [ONE] });
    expect((await counts())[0]).toBe(1_000_001);
    await db.from('term_taxonomy').where('term_taxonomy_id', ONE).update({ count: 0 });
    await send('DELETE', `/events/${id}`);
    expect((await counts())[0]).toBe(0);
  });
});
