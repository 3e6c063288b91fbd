import { expect, it } from '@jest/globals';
import { DomUtils } from 'htmlparser2';
import { elements, formIn, openVisitor, textOf } from '../support/desk-visitor.ts';
import { insertAll } from '../support/insert-all.ts';
import { insertTerms } from '../support/insert-terms.ts';
import type { Answer } from '../support/running-site.ts';
import { describeRequests, type Json } from '../support/site-client.ts';

const FIRST = 50_000;

describeRequests('categories offered in forms of the desk', (ask) => {
  it('are nested to any depth', async () => {
    const ids = Array.from({ length: 1500 }, (_, at) => FIRST + at);
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

const EVENT = { title: 'Concert', start_date: '2030-05-01 20:00:00', end_date: '2030-05-01 22:00:00', status: 'publish' };
const TAXONOMIES = ['post_tag', 'tribe_events_cat'];
const TERM_COUNT = 10_001;

/* A site may have more terms than a form can offer. */
describeRequests('terms after the first ten thousand by name', (ask) => {
  const addTerms = () =>
    ask.writeRows(async (db) => {
      const ids = Array.from({ length: TAXONOMIES.length * TERM_COUNT }, (_, at) => FIRST + at);
      await insertAll(db, 'terms', ids.map((id) => ({ term_id: id, name: `a${id}`, slug: `a-${id}` })), 500); // biome-ignore format: rows
      const rows = ids.map((id) => ({ term_taxonomy_id: id, term_id: id, taxonomy: TAXONOMIES[id % 2], description: '', parent: 0 }));
      await insertAll(db, 'term_taxonomy', rows, 500);
    });
  const termIds = ({ tags, categories }: Json) => [tags, categories].map((terms: Json[]) => terms.map(({ id }) => Number(id)));
  const fieldsNamed = ({ text }: Answer, path: string, own: string) =>
    formIn(text, path).flatMap(([name, value]) => (name === own ? [value] : []));

  it('stay with an event that is saved, and are copied with it', async () => {
    await addTerms();
    const tag = await ask.create('/tags', { name: 'zzz' });
    const category = await ask.create('/categories', { name: 'zzz' });
    const { id } = await ask.create('/events', { ...EVENT, tags: [tag.id], categories: [category.id] });
    const path = `/admin/events/${id}`;
    const admin = await openVisitor(ask, 'admin');
    const form = await admin.get(path);
    expect(fieldsNamed(form, path, 'tags')).toEqual(['zzz']);
    expect((await admin.submit(form, path, { title: 'Another title', tags: 'zzz, fresh' })).status).toBe(303);
    const [tags = [], categories = []] = termIds(await ask.read(`/events/${id}`, 'admin'));
    expect([tags.includes(tag.id), tags.length, categories]).toEqual([true, 2, [category.id]]);
    const copy = await admin.get(`${path}/duplicate`);
    expect([
      fieldsNamed(copy, '/admin/events/new', 'tags')[0]?.split(', ').sort(),
      fieldsNamed(copy, '/admin/events/new', 'categories[ids][]'),
    ]).toEqual([['fresh', 'zzz'], [String(category.id)]]);
  });

  it('stay the parents of a category', async () => {
    await addTerms();
    const parent = await ask.create('/categories', { name: 'zzz' });
    const { id } = await ask.create('/categories', { name: 'zzzz', parent: parent.id });
    const path = `/admin/categories/${id}`;
    const admin = await openVisitor(ask, 'admin');
    const form = await admin.get(path);
    expect(fieldsNamed(form, path, 'parent')).toEqual([String(parent.id)]);
    expect((await admin.submit(form, path, { description: 'New' })).status).toBe(303);
    expect(await ask.read(`/categories/${id}`)).toMatchObject({ parent: parent.id, description: 'New' });
  });

  it('are found in the list of terms by a search, and on its last page', async () => {
    await addTerms();
    await ask.create('/tags', { name: 'zzz' });
    await ask.create('/categories', { name: 'zzz' });
    const admin = await openVisitor(ask, 'admin');
    const listed = ({ text }: Answer) =>
      elements(text, ({ name, attribs }) => name === 'li' && /^depth-/.test(attribs.class ?? '')).map(textOf);
    for (const kind of ['tags', 'categories']) {
      expect(listed(await admin.get(`/admin/${kind}?search=zzz`))).toEqual(['zzz']);
      const first = await admin.get(`/admin/${kind}`);
      expect(listed(first)).toHaveLength(200);
      const pages = Number(/Page 1 of (\d+)/.exec(first.text)?.[1]);
      expect(listed(await admin.get(`/admin/${kind}?page=${pages}`))).toContain('zzz');
    }
  });
});

describeRequests('tags by which a list of the desk is filtered', (ask) => {
  it('are up to 200, more than a page of the API', async () => {
    await insertTerms(ask, ['post_tag'], 220);
    const admin = await openVisitor(ask, 'admin');
    const { text } = await admin.get('/admin/events');
    const [filter] = elements(text, ({ name, attribs }) => name === 'select' && attribs.name === 'tags');
    const options = DomUtils.findAll(({ name, attribs }) => name === 'option' && attribs.value !== '', filter ? [filter] : []);
    expect(options).toHaveLength(200);
  });
});
