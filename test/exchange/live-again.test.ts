import { mkdtempSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { isItem, isPostItem, type PostItem } from '../../src/exchange/items/items.ts';
import { openLiveSite } from '../../src/exchange/live/site.ts';
import { findSite, type RequestOptions } from '../../src/exchange/live/site-client.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { passwordOf, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import type { Json } from '../support/site-client.ts';
import { bareSite, importSource, NOW, storeFormerDigests } from './sites.ts';

/* Tests of what a second import of a running site changes, and of sites whose answers differ from ours. */

const FAST: RequestOptions = { rate: 100_000, concurrency: 4, firstPauseMs: 1 };
const admin = { login: 'admin', password: passwordOf('admin') };

interface Sent {
  readonly status: number;
  readonly body: Json;
  readonly headers?: Record<string, string>;
}

describeDatabases('a running site that is imported again', (open) => {
  let original: Database;
  let old: RunningSite;
  let proxy: http.Server;
  let target: Site;
  /** Changes answers of the site. */
  let change: (url: URL, sent: Sent) => Sent;
  beforeAll(async () => {
    original = await open();
    await loadSite(original);
    old = await serveDatabase(original, { clock: () => NOW });
    proxy = http.createServer(async (req, res) => {
      const { authorization = '' } = req.headers;
      const { status, body } = await old.send('GET', req.url!, { headers: { host: '127.0.0.1:8081', authorization } });
      const sent = change(new URL(req.url!, 'http://127.0.0.1'), { status, body });
      res.writeHead(sent.status, { 'Content-Type': 'application/json', ...sent.headers }).end(JSON.stringify(sent.body));
    });
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  });
  afterAll(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await old.close();
  });

  beforeEach(async () => {
    change = (_, sent) => sent;
    await loadSite(original);
    target = await bareSite(await open());
  });
  afterEach(() => target.close());

  /** Items of the last import. */
  let items: PostItem[] = [];
  const importAgain = async (asking: RequestOptions = FAST) => {
    const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const folder = mkdtempSync(join(tmpdir(), 'fasti-walk-'));
    const options = { settings: await target.settings(), freeWords: ['Free'], now: NOW, resume: false, target: 'test', folder };
    const source = await openLiveSite(await findSite(base, asking), options);
    try {
      items = [];
      const entries = async function* () {
        for await (const entry of source.entries()) {
          if (isItem(entry) && isPostItem(entry)) items.push(entry);
          yield entry;
        }
      };
      return await importSource(target, { ...source, entries });
    } finally {
      await source.close();
    }
  };

  it('keeps categories and tags apart that share a slug, as WPML allows', async () => {
    const terms: [id: number, taxonomy: string, slug: string, name: string, parent: number][] = [
      [901, 'tribe_events_cat', 'fest', 'Feast', 0],
      [902, 'tribe_events_cat', 'fest', 'Festa', 0],
      [903, 'tribe_events_cat', 'village-fest', 'Sagra', 902],
      [904, 'post_tag', 'open', 'Open', 0],
      [905, 'post_tag', 'open', 'Aperto', 0],
    ];
    await original.from('terms').insert(terms.map(([term_id, , slug, name]) => ({ term_id, slug, name })));
    await original.from('term_taxonomy').insert(
      terms.map(([term_id, taxonomy, , , parent]) => ({
        term_taxonomy_id: term_id,
        term_id,
        taxonomy,
        description: '',
        parent,
        count: 1,
      })),
    );
    await original.from('term_relationships').insert([
      { object_id: 39, term_taxonomy_id: 902 },
      { object_id: 39, term_taxonomy_id: 905 },
      { object_id: 44, term_taxonomy_id: 901 },
      { object_id: 44, term_taxonomy_id: 904 },
    ]);
    const stored = async (db: Database) => ({
      terms: await db
        .from('terms', 't')
        .join({ tt: db.table('term_taxonomy') }, 't.term_id', 'tt.term_id')
        .where('t.term_id', '>', 900)
        .orderBy('t.term_id')
        .select('t.term_id', 't.name', 't.slug', 'tt.taxonomy', 'tt.parent'),
      links: await db
        .from('term_relationships', 'r')
        .join({ tt: db.table('term_taxonomy') }, 'r.term_taxonomy_id', 'tt.term_taxonomy_id')
        .where('tt.term_id', '>', 900)
        .orderBy(['r.object_id', 'tt.term_id'])
        .select('r.object_id', 'tt.term_id'),
    });
    const { losses } = await importAgain();
    expect(await stored(target.db)).toEqual(await stored(original));
    expect(losses.filter(({ reason }) => reason === 'version-older')).toEqual([]);
    const again = await importAgain();
    expect([again.created, again.updated]).toEqual([{}, {}]);
    // The names of those that remain move up.
    for (const table of ['terms', 'term_taxonomy'] as const) await original.from(table).where('term_id', 901).delete();
    await original.from('term_relationships').where('term_taxonomy_id', 901).delete();
    const third = await importAgain();
    expect([third.created, third.updated]).toEqual([{}, { event: 1 }]);
    expect((await stored(target.db)).links).toEqual((await stored(original)).links);
  });

  it('renames a category whose slug was changed, even if a new one has its former slug', async () => {
    const category = (method: string, path: string, body: object) =>
      old.send(method, `/wp-json/tribe/events/v1/categories${path}`, { as: 'admin', body });
    const { body: made } = await category('POST', '', { name: 'Swing', slug: 'swing' });
    await importAgain();
    await category('POST', `/${made.id}`, { slug: 'old-swing', name: 'Old swing' });
    await importAgain();
    const stored = () => target.db.from('terms').where('slug', 'like', '%swing%').orderBy('term_id').select('term_id', 'slug', 'name');
    const renamed = { term_id: made.id, slug: 'old-swing', name: 'Old swing' };
    expect(await stored()).toEqual([renamed]);
    await category('POST', `/${made.id}`, { slug: 'swing', name: 'Swing' });
    await importAgain();
    expect(await stored()).toEqual([{ term_id: made.id, slug: 'swing', name: 'Swing' }]);
    await category('POST', `/${made.id}`, { slug: 'old-swing', name: 'Old swing' });
    const { body: other } = await category('POST', '', { name: 'New swing', slug: 'swing' });
    await importAgain();
    expect(await stored()).toEqual([renamed, { term_id: other.id, slug: 'swing', name: 'New swing' }]);
    const again = await importAgain();
    expect([again.created, again.updated, again.losses.filter(({ reason }) => reason === 'slug-taken')]).toEqual([{}, {}, []]);
  });

  it('keeps the record of an event that begins to recur, whose dates have ids of their own', async () => {
    const jazz = {
      ...{ title: 'Jazz in the park', start_date: '2027-07-01 20:00', end_date: '2027-07-01 22:00', status: 'publish' },
      timezone: 'Europe/Rome',
    };
    const { body: made } = await old.send('POST', '/wp-json/tribe/events/v1/events', { as: 'admin', body: jazz });
    const recordsOf = async () =>
      (await target.db.from('posts').where({ post_title: jazz.title, post_type: 'tribe_events' }).orderBy('ID')).map(
        ({ ID, post_name: slug }) => [ID, slug],
      );
    await importAgain();
    expect(await recordsOf()).toEqual([[made.id, made.slug]]);
    const onDay = (record: Json, id: number, day: string) => ({
      ...JSON.parse(JSON.stringify(record).replaceAll('2027-07-01', day)),
      id,
    });
    // The list of the calendar shows the dates, that of WordPress the post.
    const recurring: typeof change = (url, sent) =>
      url.pathname.endsWith('/tribe/events/v1/events') || url.pathname.endsWith('/calendar/events/v1/events')
        ? {
            ...sent,
            body: {
              ...sent.body,
              events: sent.body.events.flatMap((record: Json) =>
                record.id === made.id ? [onDay(record, 10_000_201, '2027-07-01'), onDay(record, 10_000_202, '2027-07-08')] : [record],
              ),
            },
          }
        : sent;
    change = recurring;
    expect((await importAgain()).created.event).toBe(1);
    const both = await recordsOf();
    expect(both).toEqual([
      [made.id, made.slug],
      [10_000_202, expect.anything()],
    ]);
    expect(await importAgain()).toMatchObject({ created: {}, updated: {} });
    // It ceases to recur.
    change = (_, sent) => sent;
    expect((await importAgain()).created).toEqual({});
    expect(await recordsOf()).toEqual(both);
  });

  it('removes a password that was removed', async () => {
    await original.from('posts').where('ID', 44).update({ post_password: 'secret' });
    const credentials = { ...FAST, credentials: admin };
    await importAgain(credentials);
    const password = async () => (await target.db.from('posts').where('ID', 44).first())?.post_password;
    expect(await password()).toBe('secret');
    await original.from('posts').where('ID', 44).update({ post_password: '' });
    await importAgain();
    expect(await password()).toBe('secret');
    await importAgain(credentials);
    expect(await password()).toBe('');
  });

  it('keeps what editors have changed in records that an earlier version imported', async () => {
    const alt = { post_id: 10, meta_key: '_wp_attachment_image_alt' };
    await original.from('posts').where('ID', 33).update({ post_password: 'secret' });
    await target.db.from('postmeta').where(alt).delete();
    for (const credentials of [undefined, admin]) {
      const asking = { ...FAST, ...(credentials ? { credentials } : {}) };
      await importAgain(asking);
      await storeFormerDigests(target, items, ({ kind, columns, absent }) => ({
        columns: { ...columns, post_password: columns.post_password || undefined },
        absent: kind === 'attachment' ? undefined : absent,
      }));
      const edits = { post_title: 'Edited here', post_password: 'ours' };
      await target.db.from('posts').whereIn('ID', [10, 44]).update(edits);
      const { updated } = await importAgain(asking);
      expect(updated).toEqual({});
      expect(await target.db.from('posts').whereIn('ID', [10, 44]).select('post_title', 'post_password')).toEqual([edits, edits]);
    }
    await original.from('posts').where('ID', 33).update({ post_password: '' });
    expect((await importAgain({ ...FAST, credentials: admin })).updated).toMatchObject({ event: 1 });
    expect((await target.db.from('posts').where('ID', 33).first())?.post_password).toBe('');
  });

  it('keeps what editors have changed in an image whose caption the site does not show', async () => {
    change = (url, sent) =>
      url.pathname.endsWith('/wp/v2/media') ? { ...sent, body: sent.body.map(({ caption: _, ...shown }: Json) => shown) } : sent;
    await importAgain();
    await storeFormerDigests(target, items.filter(({ kind }) => kind === 'attachment'), ({ columns: { post_title, ...columns } }) => ({
      columns: { post_title, ...columns, post_excerpt: '' },
      absent: undefined,
    })); // biome-ignore format: short
    const edits = { post_title: 'Edited here', post_excerpt: 'Ours' };
    await target.db.from('posts').where('ID', 10).update(edits);
    expect((await importAgain()).updated).toEqual({});
    expect(await target.db.from('posts').where('ID', 10).first()).toMatchObject(edits);
  });

  it.each([403, 500])('keeps stored texts that the site does not show this time (%s), and reports it', async (status) => {
    const credentials = { ...FAST, credentials: admin };
    const stored = { post_title: 'Jazz -- "live"', post_content: '[unknown]\n\nThe "first"', post_excerpt: '<b>Over</b>' };
    await original.from('posts').whereIn('ID', [12, 33, 39, 10]).update(stored);
    await importAgain(credentials);
    change = (url, sent) =>
      /\/wp\/v2\/(tribe|media)/.test(url.pathname) && url.searchParams.get('context') === 'edit'
        ? { status, body: { code: 'denied' } }
        : sent;
    const { losses } = await importAgain(credentials);
    const rows = await target.db.from('posts').whereIn('ID', [10, 12, 33, 39]).select('post_title', 'post_content', 'post_excerpt');
    expect(rows).toEqual([stored, stored, stored, stored]);
    const unread = losses.find(({ reason }) => reason === 'site-texts-unread');
    expect(unread?.examples.map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([`wp/v2/tribe_venue ${status} denied`, `wp/v2/tribe_events ${status} denied`, `wp/v2/media ${status} denied`]),
    );
    change = (_, sent) => sent;
    const again = await importAgain(credentials);
    expect([again.created, again.updated, again.losses.filter(({ reason }) => reason === 'site-texts-unread')]).toEqual([{}, {}, []]);
  });

  it('takes the captions of images as visitors see them, and removes alternative texts that were removed', async () => {
    const alt = { post_id: 10, meta_key: '_wp_attachment_image_alt' };
    await original.from('postmeta').where(alt).delete();
    await original.from('postmeta').insert({ ...alt, meta_value: 'A hall' });
    await original.from('posts').where('ID', 10).update({ post_excerpt: 'The "hall"' });
    await importAgain();
    const stored = async () => [
      (await target.db.from('posts').where('ID', 10).first())?.post_excerpt,
      await target.db.from('postmeta').where(alt).pluck('meta_value'),
    ];
    expect(await stored()).toEqual(['The "hall"', ['A hall']]);
    change = (url, sent) => (url.pathname.endsWith('/wp/v2/media') ? { status: 500, body: {} } : sent);
    await target.db.from('posts').where('ID', 10).update({ post_title: 'Edited here' });
    await importAgain();
    expect(await stored()).toEqual(['The "hall"', ['A hall']]);
    expect((await target.db.from('posts').where('ID', 10).first())?.post_title).toBe('Edited here');
    change = (_, sent) => sent;
    await original.from('postmeta').where(alt).update({ meta_value: '' });
    await importAgain();
    expect(await stored()).toEqual(['The "hall"', []]);
  });

  it('removes a value of a custom field that was removed, even if only later events show the field', async () => {
    // Hidden events come after the others.
    const [first, last] = [44, 39];
    await original.from('postmeta').insert({ post_id: last, meta_key: '_EventHideFromUpcoming', meta_value: 'yes' });
    let shown = [first, last];
    const withField = (event: Json) =>
      shown.includes(event.id) ? { ...event, custom_fields: { _ecp_custom_2: { label: 'Stage', value: 'Main' } } } : event;
    change = (_, sent) => {
      if (!sent.body || Array.isArray(sent.body)) return sent;
      const { events } = sent.body;
      return { ...sent, body: events ? { ...sent.body, events: events.map(withField) } : withField(sent.body) };
    };
    const stored = () => target.db.from('postmeta').where('meta_key', '_ecp_custom_2').orderBy('post_id').pluck('post_id');
    await importAgain();
    expect(await stored()).toEqual([first, last].sort((one, other) => one - other));
    shown = [last];
    await importAgain();
    expect(await stored()).toEqual([last]);
  });

  it('stops reading a list whose pages are empty, and reports it', async () => {
    let pageCount = 0;
    change = (url, sent) => {
      if (!url.pathname.endsWith('/wp/v2/tribe_events') || url.searchParams.get('_fields') !== 'id') return sent;
      pageCount += 1;
      return { status: 200, body: [], headers: { 'X-WP-TotalPages': pageCount < 40 ? '1000000' : '1' } };
    };
    const { losses } = await importAgain();
    expect([pageCount, losses.filter(({ reason }) => reason === 'site-list-unread')]).toMatchObject([10, [{ count: 1 }]]);
  });

  it('reads all pages of a list that leaves out records, and takes no error for a parent', async () => {
    await original.from('postmeta').insert({ post_id: 39, meta_key: '_EventHideFromUpcoming', meta_value: 'yes' });
    let list: Json = [];
    change = (url, sent) => {
      if (url.pathname.includes('/by-slug/')) return { status: 500, body: {} };
      if (!url.pathname.endsWith('/wp/v2/tribe_events') || url.searchParams.get('_fields') !== 'id') return sent;
      const isFirst = url.searchParams.get('page') === '1';
      if (isFirst) list = sent.body;
      return { status: 200, body: isFirst ? [] : list, headers: { 'X-WP-TotalPages': '2' } };
    };
    const { losses } = await importAgain();
    expect(losses.filter(({ reason }) => reason === 'site-parent-unknown')).toEqual([]);
    expect(await target.db.from('posts').where('ID', 39)).toHaveLength(1);
  });
});
