import { expect, it } from '@jest/globals';
import { elements, openVisitor } from '../support/desk-visitor.ts';
import { insertAll } from '../support/insert-all.ts';
import { describeRequests } from '../support/site-client.ts';

describeRequests('categories offered in forms of the desk', (ask) => {
  it('are nested to any depth', async () => {
    const FIRST = 50_000;
    const ids = Array.from({ length: 3000 }, (_, at) => FIRST + at);
    await ask.writeRows(async (db) => {
      await insertAll(db, 'terms', ids.map((id) => ({ term_id: id, name: `C ${id}`, slug: `c-${id}` })), 500); // biome-ignore format: rows
      const rows = ids.map((id) => ({
        term_taxonomy_id: id,
        term_id: id,
        taxonomy: 'tribe_events_cat',
        description: '',
        parent: id === FIRST ? 0 : id - 1,
      }));
      await insertAll(db, 'term_taxonomy', rows, 500);
    });
    const admin = await openVisitor(ask, 'admin');
    const { status, text } = await admin.get('/admin/events/new');
    expect(status).toBe(200);
    const boxes = elements(text, ({ attribs }) => attribs.name === 'categories[ids][]').map(({ attribs }) => Number(attribs.value));
    expect(boxes.filter((id) => id >= FIRST)).toEqual(ids);
  });
});
