import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, resetSite } from '../support/site.ts';

/* The rules of wp_insert_term and wp_update_term for names and slugs, on the sample site. */
describeDatabases('names and slugs of terms', (open) => {
  let db: Database;
  let running: RunningSite;

  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db);
  });
  afterAll(() => running.close());
  beforeEach(() => resetSite(db));

  const post = async (path: string, body: object) =>
    (await running.send('POST', `/wp-json/calendar/events/v1/${path}`, { as: 'admin', body })).body;

  describe('of a new term', () => {
    it.each([
      ['categories', { name: 'Jazz' }, 'Jazz', 'jazz-2'],
      ['categories', { name: 'Jazz', parent: 2 }, 'Jazz', 'jazz-music'],
      ['categories', { name: 'Evenements' }, 'Evenements', 'evenements-2'],
      ['tags', { name: 'ete 2030' }, 'ete 2030', 'ete-2030-2'],
      ['categories', { name: 'Music', slug: 'other' }, 'Music', 'other'],
      ['categories', { name: 'x', slug: 'music', parent: 2 }, 'x', 'music-music'],
      ['categories', { name: 'x', slug: '!!!' }, 'x', 'x'],
      ['tags', { name: '!!!' }, '!!!', '19'],
      ['tags', { name: 'two\nlines' }, 'two lines', 'two-lines'],
      ['tags', { name: '<script>x</script>y' }, 'y', 'y'],
      ['tags', { name: 'Music' }, 'Music', 'music'],
    ])('in %s from %j are %s and %s', async (path, body, name, slug) => {
      expect(await post(path, body)).toMatchObject({ id: 19, name, slug });
    });

    it.each([
      ['categories', { name: 'MUSIC' }, 2],
      ['categories', { name: 'Music', slug: 'music' }, 2],
      ['categories', { name: 'jazz', parent: 3 }, 4],
      ['tags', { name: 'FREE' }, 11],
      ['tags', { name: 'free', slug: 'outdoor' }, 11],
    ])('in %s from %j return term_exists', async (path, body, id) => {
      expect(await post(path, body)).toMatchObject({ code: 'term_exists', data: { status: 400, term_id: id } });
    });

    it.each([
      [{ name: ' ' }, 'empty_term_name'],
      [{ name: '<b></b>' }, 'invalid_term_name'],
      [{ name: 'x', parent: '' }, 'rest_taxonomy_not_hierarchical'],
    ])('refuse %j', async (body, code) => {
      expect(await post('tags', body)).toMatchObject({ code, data: { status: 400 } });
    });

    it('refer to one term for all names of an event with the same slug', async () => {
      const { tags } = await post('events', { title: 'x', start_date: '2031-05-01', end_date: '2031-05-02', tags: ['é1', 'e1', 'É1'] });
      expect(tags).toMatchObject([{ id: 19, name: 'é1', slug: 'e1' }]);
    });
  });

  describe('of a changed term', () => {
    it.each([
      [{ slug: '!!!' }, { name: 'Concerts', slug: 'concerts' }],
      [
        { name: 'Sport', slug: '!!!' },
        { name: 'Sport', slug: 'sport-music' },
      ],
      [
        { slug: 'sport', parent: 5 },
        { parent: 5, slug: 'sport-sport' },
      ],
      [{ slug: 'sport' }, { code: 'duplicate_term_slug' }],
      [{ name: ' ' }, { code: 'empty_term_name' }],
    ])('after %j match %j', async (body, expected) => expect(await post('categories/3', body)).toMatchObject(expected));

    it('are refused if another taxonomy has the same row, as before WordPress 4.2, unless they stay the same', async () => {
      await db.from('term_taxonomy').insert({ term_id: 3, taxonomy: 'post_tag', description: '', parent: 0, count: 0 });
      const { name, slug } = (await db.from('terms').where('term_id', 3).first())!;
      expect(await post('categories/3', { name: 'Other' })).toMatchObject({ code: 'term-shared' });
      expect(await post('categories/3', { slug: 'other' })).toMatchObject({ code: 'term-shared' });
      expect(await post('categories/3', { name, slug, description: 'Told' })).toMatchObject({ name, slug, description: 'Told' });
      expect(await db.from('terms').where('term_id', 3).first()).toMatchObject({ name, slug });
    });

    it('ignore a parent of null if the taxonomy is not hierarchical', async () => {
      expect(await post('tags/11', { parent: null })).toMatchObject({ id: 11 });
      expect(await post('tags/11', { parent: '' })).toMatchObject({ code: 'rest_taxonomy_not_hierarchical' });
    });
  });
});
