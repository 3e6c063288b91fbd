import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { costOf } from '../../src/calendar/cost.ts';
import { fetchFile } from '../../src/exchange/import/media.ts';
import type { PostItem } from '../../src/exchange/items/items.ts';
import type { Report } from '../../src/exchange/items/report.ts';
import { type LiveOptions, openLiveSite } from '../../src/exchange/live/site.ts';
import { findSite, type RequestOptions } from '../../src/exchange/live/site-client.ts';
import { storedContent, storedCost, storedTitle } from '../../src/exchange/live/texts.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { lockFile } from '../../src/storage/engine/file-lock.ts';
import { renderContent, renderTitle } from '../../src/wordpress/content/render.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadRecurringSite } from '../support/recurring-site.ts';
import { passwordOf, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { allOf, bareSite, callerOf, importSource, NOW } from './sites.ts';

const FAST: RequestOptions = { rate: 100_000, concurrency: 4, firstPauseMs: 1 };
const admin = { login: 'admin', password: passwordOf('admin') };

/**
 * Starts a site with `count` venues and categories, of which `deleted` are removed at the first request for a second
 * page. `fails`: that request fails; `core`: status of WordPress's own routes.
 */
async function shrinking(count: number, deleted: number, { fails = false, core = 404 } = {}) {
  const made = (name: string) => Array.from({ length: count }, (_, place) => ({ id: 1000 + place, name: `${name} ${place}` }));
  const lists = new Map([
    ['venues', made('Hall')],
    ['categories', made('Genre')],
  ]);
  const shrunk = new Set<string>();
  let asked = 0;
  const server = http.createServer((req, res) => {
    const url = new URL(req.url!, 'http://127.0.0.1');
    const send = (status: number, body: unknown) => res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    const name = url.pathname.split('/').at(-1)!;
    asked += 1;
    if (name === '') return send(200, { namespaces: ['tribe/events/v1'], home: 'https://shrinking.example' });
    if (url.pathname.includes('/wp/v2/')) return send(core, {});
    const page = Number(url.searchParams.get('page'));
    if (page === 2 && !shrunk.has(name)) {
      shrunk.add(name);
      lists.get(name)?.splice(0, deleted);
      if (fails && name === 'venues') return send(500, {});
    }
    const all = lists.get(name) ?? [];
    const records = all.slice((page - 1) * 50, page * 50).map(({ id, name: own }) => ({
      id,
      name: own,
      venue: own,
      slug: own.toLowerCase().replace(' ', '-'),
      status: 'publish',
      show_map: true,
    }));
    const pages = Math.ceil(all.length / 50);
    return page > 1 && page > pages ? send(404, {}) : send(200, { [name]: records, total: all.length, total_pages: pages });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    left: (name: string) => lists.get(name)!.map((one) => one.name),
    asked: () => asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts a proxy whose list of events of `wp/v2` has no past ones, as that of the plugin. */
async function withoutPastEvents(old: RunningSite, original: Database) {
  const past = await original.from('postmeta').where('meta_key', '_EventEndDate').where('meta_value', '<', '2026-11-21').select('post_id');
  const isPast = new Set(past.map(({ post_id: id }) => id));
  const server = http.createServer((req, res) => {
    const { authorization = '' } = req.headers;
    void old.send('GET', req.url!, { headers: { host: '127.0.0.1:8081', authorization } }).then(({ status, body }) => {
      const isList = new URL(req.url!, 'http://127.0.0.1').pathname.endsWith('/wp/v2/tribe_events') && Array.isArray(body);
      const shown = (record: { id: number }) => ({ ...record, comment_status: 'open', ping_status: 'closed' });
      const sent = isList ? body.filter(({ id }: { id: number }) => !isPast.has(id)).map(shown) : body;
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(sent));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describeDatabases('import of a running site', (open) => {
  let original: Database;
  let old: RunningSite;
  beforeAll(async () => {
    original = await open();
    await loadSite(original);
    old = await serveDatabase(original, { clock: () => NOW });
  });
  afterAll(() => old.close());

  const folder = () => mkdtempSync(join(tmpdir(), 'fasti-walk-'));
  const optionsOf = async (target: Site, more: Partial<LiveOptions> = {}): Promise<LiveOptions> => ({
    settings: await target.settings(),
    freeWords: ['Free', 'Gratis'],
    now: NOW,
    resume: false,
    target: 'test',
    folder: folder(),
    ...more,
  });
  const source = async (target: Site, asking = FAST, more: Partial<LiveOptions> = {}, base = old.base) =>
    openLiveSite(await findSite(base, asking), await optionsOf(target, more));
  /** Returns the files in which downloads are kept. */
  const walksIn = (place: string) => readdirSync(place).filter((file) => file.endsWith('.jsonl'));
  /** Returns the reason, record and detail of each loss. */
  const lossesOf = ({ losses }: Report) =>
    losses.flatMap(({ reason, examples }) => examples.map(({ of, detail }) => [reason, of, detail].filter(Boolean).join(' '))).sort();

  it('includes events of past centuries and events without a real end', async () => {
    const days = [
      ['Unity', '1861-03-17', '1861-03-17'],
      ['Museum', '2026-01-01', '9999-12-31'],
    ] as const;
    const path = '/wp-json/tribe/events/v1/events';
    const made = [];
    for (const [title, start_date, end_date] of days)
      made.push((await old.send('POST', path, { as: 'admin', body: { title, start_date, end_date, all_day: true } })).body.id);
    const target = await bareSite(await open());
    await importSource(target, await source(target));
    const found = await target.db.from('posts').whereIn('post_title', ['Unity', 'Museum']).orderBy('post_title').select('post_title');
    expect(found.map((row) => row.post_title)).toEqual(['Museum', 'Unity']);
    for (const id of made) await old.send('DELETE', `${path}/${id}?force=true`, { as: 'admin' });
    await original.from('posts').whereIn('ID', made).delete();
    await target.close();
  });

  it('uses the public API and reports what it cannot read', async () => {
    const target = await bareSite(await open());
    const report = await importSource(target, await source(target));
    expect(report.created).toMatchObject({ venue: 8, organizer: 5, category: 9, tag: 8, attachment: 2 });
    expect(lossesOf(report)).toEqual([
      'author-without-role auth',
      'author-without-role ed',
      'link-missing With secret venue 22',
      'link-missing With secret venue 30',
      'protected Password protected',
      'protected Secret organizer',
      'protected Secret venue',
      'site-parent-unknown Child event',
      'site-text-differs Café &#038; crème “quoted” <b>bold</b> description',
    ]);
    await target.close();
  });

  it('is complete with an application password', async () => {
    const target = await bareSite(await open());
    const report = await importSource(target, await source(target, { ...FAST, credentials: admin }));
    expect(report.created).toMatchObject({ event: 52, venue: 10, organizer: 7, category: 9, tag: 8, attachment: 2 });
    expect(lossesOf(report)).toEqual([
      'author-without-role auth',
      'author-without-role contrib',
      'author-without-role ed',
      'site-parent-unknown Child event',
    ]);
    await target.close();
  });

  it('includes the stored form of past events, which the plugin leaves out of the list of WordPress, and those with a password', async () => {
    const stored = { post_content: 'The "first"\n\n[unknown]', post_excerpt: '<b>Over</b>' };
    await original
      .from('posts')
      .where('ID', 33)
      .update({ ...stored, post_password: 'secret' });
    await original.from('posts').where('ID', 34).update(stored);
    const wordpress = await withoutPastEvents(old, original);
    const target = await bareSite(await open());
    const report = await importSource(target, await source(target, { ...FAST, credentials: admin }, {}, wordpress.base));
    expect(report.created.event).toBe(52);
    expect(
      await target.db.from('posts').whereIn('ID', [33, 34]).orderBy('ID').select('post_content', 'post_excerpt', 'post_password'),
    ).toEqual([
      { ...stored, post_password: 'secret' },
      { ...stored, post_password: '' },
    ]);
    wordpress.close();
    await loadSite(original);
    await target.close();
  });

  it('includes what only the routes of WordPress show: footnotes, states of past events, comments, texts and parents of images', async () => {
    const metas = [
      { post_id: 44, meta_key: 'footnotes', meta_value: '[{"content":"Note","id":"n"}]' },
      { post_id: 44, meta_key: '_tribe_events_status_reason', meta_value: 'Rain' },
      { post_id: 33, meta_key: '_tribe_events_status', meta_value: 'canceled' },
    ];
    await original.from('postmeta').insert(metas);
    await original.from('posts').where('ID', 10).update({ post_content: 'Long text', post_parent: 39, ping_status: 'open' });
    const wordpress = await withoutPastEvents(old, original);
    const target = await bareSite(await open());
    const importOnce = async () => importSource(target, await source(target, { ...FAST, credentials: admin }, {}, wordpress.base));
    await importOnce();
    const keys = metas.map(({ meta_key: key }) => key);
    const stored = async () =>
      target.db
        .from('postmeta')
        .whereIn('meta_key', keys)
        .whereNot('meta_value', '')
        .orderBy('meta_key')
        .select('post_id', 'meta_key', 'meta_value');
    expect(await stored()).toEqual([metas[2], metas[1], metas[0]]);
    const [image] = await target.db.from('posts').where('ID', 10).select('post_content', 'post_parent', 'comment_status', 'ping_status');
    expect(image).toEqual({ post_content: 'Long text', post_parent: 39, comment_status: 'open', ping_status: 'open' });
    expect((await target.db.from('posts').where('ID', 44).first())?.comment_status).toBe('open');
    await original.from('postmeta').where({ post_id: 44 }).whereIn('meta_key', keys).delete();
    await importOnce();
    expect((await stored()).map(({ post_id: id }) => id)).toEqual([33]);
    wordpress.close();
    await loadSite(original);
    await target.close();
  });

  it('includes the images in texts', async () => {
    const image = await original.from('posts').where('ID', 10).first();
    const files = await original
      .from('postmeta')
      .where('post_id', 10)
      .whereIn('meta_key', ['_wp_attached_file', '_wp_attachment_metadata'])
      .select('meta_key', 'meta_value');
    for (const ID of [900, 901, 902]) {
      await original
        .from('posts')
        .insert({ ...image!, ID, post_name: `p-${ID}`, ...(ID === 902 ? { post_mime_type: 'application/pdf' } : {}) });
      await original.from('postmeta').insert(files.map((meta) => ({ ...meta, post_id: ID })));
    }
    const tag = (id: number) => `<img src="http://127.0.0.1:8081/x.png" class="wp-image-${id}">`;
    await original
      .from('posts')
      .where('ID', 44)
      .update({ post_content: tag(900) + tag(902) + tag(999) });
    await original.from('posts').where('ID', 12).update({ post_content: '[gallery ids="901,10"]' });
    const imported = async (asking: RequestOptions) => {
      const target = await bareSite(await open());
      const report = await importSource(target, await source(target, asking));
      const rows = await target.db.from('posts').where('post_type', 'attachment').orderBy('ID').select('ID');
      const metas = await target.db
        .from('postmeta')
        .where('post_id', 900)
        .where('meta_key', '_wp_attachment_metadata')
        .select('meta_value');
      await target.close();
      expect(report.lost.attachment ?? 0).toBe(0);
      expect(metas[0]?.meta_value).toContain('"width";i:10;');
      return rows.map(({ ID }) => ID);
    };
    expect(await imported(FAST)).toEqual([10, 11, 900]);
    expect(await imported({ ...FAST, credentials: admin })).toEqual([10, 11, 900, 901]);
    await loadSite(original);
  });

  it('keeps IDs, slugs, authors, dates and metas', async () => {
    const target = await bareSite(await open());
    await importSource(target, await source(target, { ...FAST, credentials: admin }));
    const rows = async (db: Database) =>
      db
        .from('posts')
        .whereIn('ID', [39, 80, 84, 12, 24])
        .orderBy('ID')
        .select(
          'ID',
          'post_title',
          'post_name',
          'post_status',
          'post_content',
          'post_excerpt',
          'post_date',
          'post_date_gmt',
          'post_modified',
          'post_author',
          'guid',
        );
    expect(await rows(target.db)).toEqual(await rows(original));
    const metas = async (db: Database) =>
      (await db.from('postmeta').where('post_id', 33).orderBy('meta_key').select('meta_key', 'meta_value')).filter(
        ({ meta_key: key }) => key !== '_tribe_modified_fields',
      );
    expect(await metas(target.db)).toEqual(await metas(original));
    await target.close();
  });

  it('reads from the single record what only it contains: that a coming event is cancelled', async () => {
    await original.from('postmeta').insert({ post_id: 44, meta_key: '_tribe_events_status', meta_value: 'canceled' });
    const target = await bareSite(await open());
    await importSource(target, await source(target));
    expect((await target.db.from('postmeta').where({ post_id: 44, meta_key: '_tribe_events_status' }).first())?.meta_value).toBe(
      'canceled',
    );
    await original.from('postmeta').where('meta_key', '_tribe_events_status').delete();
    await target.close();
  });

  it('updates changed records and adds new ones the next time', async () => {
    const target = await bareSite(await open());
    await importSource(target, await source(target));
    const again = await importSource(target, await source(target));
    expect([again.created, again.updated]).toEqual([{}, {}]);
    await old.send('POST', '/wp-json/tribe/events/v1/events/39', { as: 'admin', body: { title: 'Moved concert' } });
    const made = await old.send('POST', '/wp-json/tribe/events/v1/events', {
      as: 'admin',
      body: { title: 'New', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' },
    });
    const third = await importSource(target, await source(target));
    expect([third.created, third.updated]).toEqual([{ event: 1 }, { event: 1 }]);
    expect((await target.db.from('posts').where('ID', 39).first())?.post_title).toBe('Moved concert');
    expect((await target.db.from('posts').where('ID', made.body.id).first())?.post_title).toBe('New');
    const flags = async () => {
      const names = ['_EventAllDay', '_tribe_featured', '_EventHideFromUpcoming'];
      const metas = await target.db.from('postmeta').where('post_id', 39).whereIn('meta_key', names);
      return metas.flatMap(({ meta_key: key, meta_value: value }) => (value ? [key] : [])).sort();
    };
    for (const on of [true, false]) {
      const body = { all_day: on, featured: on, hide_from_listings: on };
      await old.send('POST', '/wp-json/tribe/events/v1/events/39', { as: 'admin', body });
      await importSource(target, await source(target));
      expect(await flags()).toEqual(on ? ['_EventAllDay', '_EventHideFromUpcoming', '_tribe_featured'] : []);
    }
    await loadSite(original);
    await target.close();
  });

  it('includes each date of a recurring event once, and hidden events', async () => {
    const recurring = await loadRecurringSite(await open());
    await recurring.from('postmeta').insert({ post_id: 50, meta_key: '_EventHideFromUpcoming', meta_value: 'yes' });
    const there = await serveDatabase(recurring, { clock: () => NOW });
    const target = await bareSite(await open());
    const { losses } = await importSource(target, await source(target, FAST, {}, there.base));
    const ofUnknownParents = losses.flatMap(({ reason, examples }) => (reason === 'site-parent-unknown' ? examples : []));
    expect(ofUnknownParents.map(({ of }) => of)).toEqual(['Child event']);
    const named = async (title: string) =>
      (await target.db.from('posts').where({ post_type: 'tribe_events', post_title: title }).orderBy('ID')).map(({ ID }) => ID);
    expect(await named('Tower open, daily')).toEqual([10000301, 10000302, 10000303, 10000304, 10000305]);
    expect(await target.db.from('posts').where('ID', 50)).toHaveLength(1);
    await there.close();
    await target.close();
  });

  it('includes hidden drafts that begin when others do', async () => {
    const path = '/wp-json/tribe/events/v1/events';
    const draft = { start_date: '2027-08-01 10:00', end_date: '2027-08-01 11:00', status: 'draft' };
    const titles = ['Draft to list', 'Draft to hide'];
    const ids: number[] = [];
    for (const title of titles) {
      const { body } = await old.send('POST', path, { as: 'admin', body: { ...draft, title, hide_from_listings: title !== titles[0] } });
      expect(body.slug).toBe('');
      ids.push(body.id);
    }
    const target = await bareSite(await open());
    await importSource(target, await source(target, { ...FAST, credentials: admin }));
    const found = await target.db.from('posts').whereIn('post_title', titles).orderBy('ID').select('post_title');
    expect(found.map(({ post_title: title }) => title)).toEqual(titles);
    for (const id of ids) await old.send('DELETE', `${path}/${id}?force=true`, { as: 'admin' });
    await original.from('posts').whereIn('ID', ids).delete();
    await target.close();
  });

  it('removes what was removed at the source: texts, cost, links and images', async () => {
    const target = await bareSite(await open());
    const change = (path: string, body: object) => old.send('POST', `/wp-json/tribe/events/v1/${path}`, { as: 'admin', body });
    await change('events/39', { website: 'https://x.example/', cost: '12', image: 10 });
    await change('organizers/24', { phone: '1', email: 'a@example.org', image: 10 });
    await importSource(target, await source(target));
    await change('events/39', { website: '', cost: '', venue: [], organizer: [], image: '' });
    await change('venues/12', { address: '', city: '', phone: '', zip: '', image: '' });
    await change('organizers/24', { phone: '', email: '', image: '' });
    const report = await importSource(target, await source(target));
    expect(report.updated).toEqual({ event: 1, venue: 1, organizer: 1 });
    const kept = async (id: number) => {
      const rows = await target.db.from('postmeta').where('post_id', id).whereNot('meta_value', '').select('meta_key');
      return rows
        .map(({ meta_key: key }) => key)
        .filter((key) => /Cost|URL|VenueID|OrganizerID|thumbnail|Phone|City|Address|Zip|Email/.test(key ?? ''));
    };
    // The website of the venue was not removed.
    expect([await kept(39), await kept(12), await kept(24)]).toEqual([[], ['_VenueURL'], []]);
    const again = await importSource(target, await source(target));
    expect([again.created, again.updated]).toEqual([{}, {}]);
    await loadSite(original);
    await target.close();
  });

  it('does not repeat successful requests after a failure', async () => {
    const target = await bareSite(await open());
    const asked: string[] = [];
    let fails = true;
    const proxy = http.createServer((req, res) => {
      asked.push(req.url!);
      if (fails && req.url!.includes('/organizers?')) res.destroy();
      else
        void old
          .send('GET', req.url!, { headers: { host: '127.0.0.1:8081' } })
          .then(({ status, text }) => res.writeHead(status, { 'Content-Type': 'application/json' }).end(text));
    });
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
    const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const place = folder();
    const first = await source(target, FAST, { folder: place }, base);
    await expect(importSource(target, first)).rejects.toMatchObject({ fault: 'site-unreachable' });
    await first.close();
    expect(await target.db.from('posts')).toEqual([]);
    expect(walksIn(place)).toHaveLength(1);
    for (const file of readdirSync(place)) expect(statSync(join(place, file)).mode & 0o77).toBe(0);
    const before = asked.length;
    fails = false;
    const second = await source(target, FAST, { folder: place }, base);
    const report = await importSource(target, second);
    expect(asked.slice(before).some((url) => /\/venues\?|\/categories\?/.test(url))).toBe(false);
    expect(report.created).toMatchObject({ venue: 8, organizer: 5, category: 9 });
    await second.close();
    expect(walksIn(place)).toEqual([]);
    proxy.closeAllConnections();
    proxy.close();
    await target.close();
  });

  it.each([
    ['one of many', 120, 1],
    ['more than a page', 160, 70],
    ['so many that there is no such page any more', 51, 1],
  ])('is complete if records are deleted while it reads: %s', async (_, count, deleted) => {
    const site = await shrinking(count, deleted);
    const target = await bareSite(await open());
    const report = await importSource(target, await source(target, FAST, {}, site.base));
    expect(report.losses).toEqual([]);
    // Records that were read before their deletion are imported as well.
    const names = new Set(
      (await target.db.from('posts').where('post_type', 'tribe_venue').select('post_title')).map((row) => row.post_title),
    );
    expect([site.left('venues').length, site.left('categories').length]).toEqual([count - deleted, count - deleted]);
    expect(site.left('venues').filter((name) => !names.has(name))).toEqual([]);
    const terms = new Set((await target.db.from('terms').select('name')).map(({ name }) => name));
    expect(site.left('categories').filter((name) => !terms.has(name))).toEqual([]);
    expect(site.asked()).toBeLessThan(30);
    site.close();
    await target.close();
  });

  it('continues after an interruption, even if records were deleted in the meantime', async () => {
    const site = await shrinking(120, 1, { fails: true });
    const [target, place] = [await bareSite(await open()), folder()];
    const first = await source(target, FAST, { folder: place }, site.base);
    await expect(importSource(target, first)).rejects.toMatchObject({ fault: 'site-refused' });
    await first.close();
    const report = await importSource(target, await source(target, FAST, { folder: place }, site.base));
    expect(report.created.venue).toBe(120);
    site.close();
    await target.close();
  });

  it.each([
    ['takes 404 of an older plugin for an empty list', 404, { code: 'organizer-archive-page-not-found' }, undefined],
    ['says that the answer is not JSON', 200, 'Maintenance', 'site-not-json'],
    ['says that the site refuses', 404, { code: 'rest_no_route' }, 'site-refused'],
  ])('%s', async (_, status, body, fault) => {
    const server = http.createServer((req, res) => {
      const send = (code: number, sent: unknown) => res.writeHead(code).end(typeof sent === 'string' ? sent : JSON.stringify(sent));
      if (req.url === '/wp-json/') return send(200, { namespaces: ['tribe/events/v1'], home: 'https://old.example' });
      return req.url!.includes('/organizers?') ? send(status, body) : send(200, {});
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const target = await bareSite(await open());
    const walk = await source(target, FAST, {}, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const done = importSource(target, walk);
    if (fault === undefined) await done;
    else await expect(done).rejects.toMatchObject({ fault });
    server.closeAllConnections();
    server.close();
    await target.close();
  });

  it('reports if the list of hidden records fails', async () => {
    const site = await shrinking(1, 0, { core: 500 });
    const target = await bareSite(await open());
    const report = await importSource(target, await source(target, FAST, {}, site.base));
    expect(report).toMatchObject({ created: { venue: 1 }, losses: [{ reason: 'site-list-unread', examples: [{ detail: '500' }] }] });
    site.close();
    await target.close();
  });

  it('works for two databases at once without loss', async () => {
    const place = folder();
    const [one, other] = [await bareSite(await open()), await bareSite(await open())];
    const sources = [
      await source(one, FAST, { folder: place, target: 'one' }),
      await source(other, FAST, { folder: place, target: 'other' }),
    ];
    const whole = { venue: 8, organizer: 5, category: 9, tag: 8, attachment: 2 };
    const readings = await Promise.all(sources.map((each) => allOf(each.entries())));
    expect(readings[0]).toEqual(readings[1]);
    expect(walksIn(place)).toHaveLength(2);
    expect((await importSource(one, sources[0]!)).created).toMatchObject(whole);
    await sources[0]!.close();
    expect((await importSource(other, sources[1]!)).created).toMatchObject(whole);
    await sources[1]!.close();
    expect(walksIn(place)).toEqual([]);
    for (const site of [one, other]) await site.close();
  });

  it('runs only once at a time for a database, in any process', async () => {
    const target = await bareSite(await open());
    const place = folder();
    const first = await source(target, FAST, { folder: place });
    await expect(source(target, FAST, { folder: place })).rejects.toMatchObject({
      fault: 'import-running',
      values: { source: '127.0.0.1:8081' },
    });
    const rehearsal = await source(target, FAST, { folder: place, target: 'test rehearsal' });
    await rehearsal.close();
    await first.close();
    const second = await source(target, FAST, { folder: place });
    await second.close();
    await target.close();
  });

  it('can start again after a process that held the lock has ended, even by SIGKILL', async () => {
    const lock = join(folder(), 'walk.lock');
    const code = `import { loadSqlite } from '${new URL('../../bin/sqlite.mjs', import.meta.url).href}';
      globalThis.held = new (loadSqlite())(process.argv[1]);
      held.exec('BEGIN EXCLUSIVE');
      console.log('held');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code, lock], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((held) => child.stdout.once('data', held));
    expect(lockFile(lock)).toBeUndefined();
    const gone = new Promise((end) => child.on('exit', end));
    child.kill('SIGKILL');
    await gone;
    const release = lockFile(lock);
    expect(release).toBeDefined();
    expect(lockFile(lock)).toBeUndefined();
    release!();
    lockFile(lock)!();
  });

  it('fetches images through the filter for public addresses', async () => {
    const target = await bareSite(await open());
    const entries = await allOf((await source(target)).entries());
    const picture = entries.find((entry): entry is PostItem => entry.kind === 'attachment')!;
    expect(picture).toMatchObject({
      id: 10,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8081\/wp-content\/uploads\//),
      columns: { post_mime_type: 'image/png' },
    });
    expect((await fetchFile(target, await callerOf(target), picture)).fault).toBe('address');
    await target.close();
  });
});

describe('reconstruction of stored values from displayed ones', () => {
  const options = { smilies: true, images: () => undefined };
  it.each([
    ['Rock &#038; roll', 'Rock & roll'],
    ['&#8220;Live&#8221; &#8211; it&#8217;s on', '"Live" - it\'s on'],
    ['2010&#8211;2020&#8230;', '2010--2020...'],
    ['Caf&eacute; &amp; bar', 'Caf&eacute; &amp; bar'],
    ['<b>Bold</b>', '<b>Bold</b>'],
    ['', ''],
  ])('restores the title %s', (shown, text) => expect(storedTitle(shown)).toEqual({ text, isExact: true }));
  it.each([
    ['<p>One</p>\n<p>Two<br />\nlines</p>', 'One\n\nTwo\nlines'],
    ['<p>It&#8217;s &#8220;on&#8221;</p>', 'It\'s "on"'],
    ['<h2>Title</h2>\n<p>Text</p>', '<h2>Title</h2>\nText'],
    ['<p class="lead">Text</p>', '<p class="lead">Text</p>'],
  ])('restores the text %s', (shown, text) => expect(storedContent(shown, options)).toEqual({ text, isExact: true }));
  it('returns the displayed text and reports it if no better one is found', () =>
    expect(storedContent('One &hellip; <br>two\n\n three', options)).toEqual({ text: 'One &hellip; <br>two\n\n three', isExact: false }));
  it('returns text that renders to the same HTML, or reports it', () => {
    const words = fc.array(
      fc.constantFrom(
        'a',
        "it's",
        '"q"',
        ' - ',
        '--',
        '...',
        '&',
        '&amp;',
        '<b>x</b>',
        '<br>',
        '\n',
        '\n\n',
        ' ',
        '<p>',
        '</p>',
        '(c)',
        '2x3',
        '[gallery]',
        '&#8217;',
        '“',
        '<!-- c -->',
        '<pre>',
        ':)',
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(words, (parts) => {
        const stored = parts.join('');
        const [shown, title] = [renderContent(stored, options), renderTitle(stored)];
        const content = storedContent(shown, options);
        expect(renderContent(content.text, options) === shown).toBe(content.isExact);
        const guess = storedTitle(title);
        expect(renderTitle(guess.text) === title).toBe(guess.isExact);
      }),
      { numRuns: 500 },
    );
  });
  it.each([
    [
      { cost: '$10', symbol: '$', position: 'prefix', code: '', values: ['10'] },
      [
        ['_EventCost', '10'],
        ['_EventCurrencySymbol', '$'],
        ['_EventCurrencyPosition', 'prefix'],
      ],
    ],
    [{ cost: '$20', symbol: '', position: '', code: '', values: ['20'] }, [['_EventCost', '20']]],
    [{ cost: 'Free', symbol: '', position: '', code: '', values: ['0'] }, [['_EventCost', '0']]],
    [{ cost: 'Free', symbol: '', position: '', code: '', values: ['free'] }, [['_EventCost', 'Free']]],
    [
      { cost: '10€ – 20€', symbol: '€', position: 'postfix', code: 'EUR', values: ['10', '20'] },
      [
        ['_EventCost', '10'],
        ['_EventCost', '20'],
        ['_EventCurrencySymbol', '€'],
        ['_EventCurrencyPosition', 'postfix'],
        ['_EventCurrencyCode', 'EUR'],
      ],
    ],
    [{ cost: '', symbol: '', position: '', code: '', values: [] }, []],
  ])('restores the cost %j', (shown, metas) =>
    expect(storedCost(shown, { symbol: '$', after: false }, ['Free'])).toEqual({ metas, isExact: true }),
  );
  it.each<[string, readonly string[], string]>([
    ['a decimal comma', ['10,50'], ''],
    ['a range with a decimal comma', ['10,50 - 20'], ''],
    ['a range of decimal commas', ['10,50 - 20,00'], ''],
    ['two decimal commas', ['10,50', '20,75'], ''],
    ['thousands and a decimal comma', ['1.234,50'], ''],
    ['a decimal comma and a stored currency', ['10,50'], '€'],
    ['a decimal point', ['10.50 - 20'], ''],
  ])('stores a cost with %s as the source does', (_, costs, symbol) => {
    for (const after of [false, true]) {
      const position = symbol === '' ? '' : after ? 'postfix' : 'prefix';
      const options = { defaultCurrencySymbol: '€', reverseCurrencyPosition: after, freeText: 'Free' };
      const { cost, cost_details: details } = costOf(costs, { symbol, position, code: '' }, options);
      const shown = { cost, symbol: details.currency_symbol, position: details.currency_position, code: '', values: details.values };
      const { metas, isExact } = storedCost(shown, { symbol: '€', after }, ['Free']);
      expect([isExact, metas.filter(([key, value]) => key === '_EventCost' && value.includes('€'))]).toEqual([true, []]);
    }
  });
});
