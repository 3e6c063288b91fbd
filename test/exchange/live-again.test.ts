import { mkdtempSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { openLiveSite } from '../../src/exchange/live/site.ts';
import { findSite, type RequestOptions } from '../../src/exchange/live/site-client.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { passwordOf, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import type { Json } from '../support/site-client.ts';
import { bareSite, importSource, NOW } from './sites.ts';

/* Tests of what a second import of a running site changes, and of sites whose answers differ from ours. */

const FAST: RequestOptions = { rate: 100_000, concurrency: 4, firstPauseMs: 1 };
const admin = { login: 'admin', password: passwordOf('admin') };

interface Sent {
  readonly status: number;
  readonly body: Json;
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
      res.writeHead(sent.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(sent.body));
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

  const importAgain = async (asking: RequestOptions = FAST) => {
    const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const folder = mkdtempSync(join(tmpdir(), 'fasti-walk-'));
    const options = { settings: await target.settings(), freeWords: ['Free'], now: NOW, resume: false, target: 'test', folder };
    const source = await openLiveSite(await findSite(base, asking), options);
    try {
      return await importSource(target, source);
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
    await category('POST', `/${made.id}`, { slug: 'old-swing', name: 'Old swing' });
    const { body: other } = await category('POST', '', { name: 'New swing', slug: 'swing' });
    await importAgain();
    expect(await stored()).toEqual([renamed, { term_id: other.id, slug: 'swing', name: 'New swing' }]);
    const again = await importAgain();
    expect([again.created, again.updated, again.losses.filter(({ reason }) => reason === 'slug-taken')]).toEqual([{}, {}, []]);
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
});
