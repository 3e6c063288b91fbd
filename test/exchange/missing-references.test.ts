/** Records whose source names others that do not exist here, and that editors have completed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import { ledgerKey } from '../../src/exchange/import/ledger.ts';
import { type PostItem, splitMetas } from '../../src/exchange/items/items.ts';
import { openSource } from '../../src/exchange/sources.ts';
import { publishDuePosts } from '../../src/records/scheduled.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { bareFixture, callerOf, emptySite, importSource, metaRows, siteOf, streamOf } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-missing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WHEN = metaRows([
  ['_EventStartDate', '2031-05-01 20:00:00'],
  ['_EventEndDate', '2031-05-01 22:00:00'],
]);

describeDatabases('import with missing references', (open) => {
  let db: Database;
  let site: Site;
  beforeAll(async () => {
    db = await open();
    await loadSite(db, bareFixture());
    site = await siteOf(db);
  });
  beforeEach(async () => {
    await emptySite(db);
  });
  afterAll(() => site.close());

  const imported = async (name: string, lines: readonly string[], options: { readonly dryRun?: boolean } = {}) => {
    writeFileSync(join(folder, name), `${lines.join('\r\n')}\r\n`);
    const source = await openSource([join(folder, name)], { caller: await callerOf(site), prefix: 'wp_', target: '' });
    return importSource(site, source, options);
  };
  const storedEvent = async () => (await db.from('posts').where('post_type', 'tribe_events').first())!;
  const metasOf = async (key: string): Promise<(string | null)[]> =>
    (
      await db
        .from('postmeta')
        .where({ post_id: (await storedEvent()).ID, meta_key: key })
        .orderBy('meta_id')
        .pluck('meta_value')
    ).filter((value) => value !== '' && value !== '0');
  /** Creates a record as an editor, and returns its id as a meta links to it. */
  const created = async (post_type: string, post_title: string): Promise<string> => {
    const columns = { post_type, post_title, post_status: 'publish', post_content: '', post_excerpt: '', to_ping: '', pinged: '' };
    const [id] = await db.from('posts').insert({ ...columns, post_content_filtered: '' });
    return String(id);
  };
  const assign = async (meta_key: string, ...values: string[]) => {
    const { ID: post_id } = await storedEvent();
    await db.from('postmeta').where({ post_id, meta_key }).delete();
    for (const meta_value of values) await db.from('postmeta').insert({ post_id, meta_key, meta_value });
  };
  const rename = (post_title: string) => db.from('posts').where('post_type', 'tribe_events').update({ post_title });

  const calendar = (...lines: string[]) => [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'X-WR-CALNAME:Missing', 'BEGIN:VEVENT', 'UID:1', 'SUMMARY:Concrt'],
    ...['DTSTART:20310501T180000Z', 'ATTACH;FMTTYPE=image/png:https://images.example/a.png', ...lines, 'END:VEVENT', 'END:VCALENDAR'],
  ];

  it.each([
    ['changed since', 'Second', undefined],
    ['not changed', 'First', 'hall'],
  ])('of an interrupted run are forgotten only if the record has changed: %s', async (_, post_title, expectedVenue) => {
    const event = (title: string, venue?: string): PostItem => ({
      kind: 'event', sourceId: '1', columns: { post_title: title, post_status: 'publish' }, metas: WHEN, complete: true,
      links: venue === undefined ? [] : [{ key: '_EventVenueID', kind: 'venue', sourceId: venue }],
    }); // biome-ignore format: short
    const hall: PostItem = { kind: 'venue', sourceId: 'hall', columns: { post_title: 'Hall' }, metas: [], links: [], complete: true };
    const options = { source: 'x', itemsPerBatch: 1 };
    const caller = await callerOf(site);
    const broken = async function* () {
      yield event('First', 'hall');
      yield { ...hall, sourceId: 'other' };
      throw new Error('cut');
    };
    await expect(importItems(site, caller, broken(), options)).rejects.toThrow('cut');
    const items = [post_title === 'First' ? event('First', 'hall') : event('Second'), hall];
    await importItems(site, caller, streamOf(items), options);
    const [stored] = await db.from('posts').where('post_type', 'tribe_events');
    const venues = await db.from('postmeta').where({ post_id: stored!.ID, meta_key: '_EventVenueID' }).pluck('meta_value');
    const halls = await db.from('fasti_import_ids').where('item', ledgerKey('post', 'hall')).pluck('target');
    expect([stored!.post_title, venues]).toEqual([post_title, expectedVenue ? halls.map(String) : []]);
    expect((await importItems(site, caller, streamOf(items), options)).unchanged).toMatchObject({ event: 1 });
    expect(await db.from('fasti_import_waiting')).toEqual([]);
  });

  it.each([
    ['before', ['venue', 'event', 'organizer']],
    ['after', ['event', 'venue', 'organizer']],
  ])('publishes the drafts noted for a scheduled event that comes %s its venue with it, under their ids here', async (_, order) => {
    const linked = (kind: 'venue' | 'organizer', sourceId: string): PostItem => ({
      kind, sourceId, columns: { post_title: kind, post_status: 'draft' }, metas: [], links: [], complete: true,
    }); // biome-ignore format: short
    const event = (post_title: string): PostItem => ({
      kind: 'event', sourceId: '1', columns: { post_title, post_status: 'future', post_date_gmt: '2027-01-01 09:00:00' }, complete: true,
      ...splitMetas([...WHEN, ...metaRows([
        ['_EventVenueID', '57'], ['_EventOrganizerID', '58'], ['_fasti_published_with', '57'], ['_fasti_published_with', '99'],
      ])]),
    }); // biome-ignore format: short
    const itemsOf = (title: string) =>
      order.map((kind) => (kind === 'venue' ? linked(kind, '57') : kind === 'organizer' ? linked(kind, '58') : event(title)));
    const caller = await callerOf(site);
    await created('tribe_venue', 'Other');
    await importItems(site, caller, streamOf(itemsOf('Fair')), { source: 'x' });
    const idOf = async (type: string) => String((await db.from('posts').where({ post_type: type, post_status: 'draft' }).first())!.ID);
    const ids = [await idOf('tribe_venue'), await idOf('tribe_organizer')];
    const links = async () => [await metasOf('_EventVenueID'), await metasOf('_EventOrganizerID'), await metasOf('_fasti_published_with')];
    expect(await links()).toEqual([[ids[0]], [ids[1]], [ids[0]]]);
    expect(await importItems(site, caller, streamOf(itemsOf('Fair')), { source: 'x' })).toMatchObject({ updated: {}, losses: [] });
    expect(await importItems(site, caller, streamOf(itemsOf('Market')), { source: 'x' })).toMatchObject({
      updated: { event: 1 },
      losses: [],
    });
    expect(await links()).toEqual([[ids[0]], [ids[1]], [ids[0]]]);
    await db.from('posts').where('post_status', 'future').update({ post_date_gmt: '2026-01-01 09:00:00' });
    await publishDuePosts(site, loadViewer);
    const statuses = await db.from('posts').whereIn('ID', ids).orderBy('post_type').pluck('post_status');
    expect([(await storedEvent()).post_status, statuses]).toEqual(['publish', ['draft', 'publish']]);
  });

  it('publishes the drafts that JSON lines of an earlier version note for a scheduled event among its metas', async () => {
    const columns = { post_title: 'Fair', post_status: 'future', post_date_gmt: '2026-01-01 09:00:00' };
    const venue = { kind: 'venue', columns: { post_title: 'Hall', post_status: 'draft' }, metas: [], links: [], complete: true };
    const links = ['57', '58'].map((sourceId) => ({ key: '_EventVenueID', kind: 'venue', sourceId }));
    const metas = [...WHEN, ...['57', '99'].map((id) => ['_fasti_published_with', id])];
    const items = [
      { ...venue, sourceId: '57' },
      { ...venue, sourceId: '58' },
      { kind: 'event', sourceId: '1', columns, metas, links, complete: true },
    ];
    const lines = [{ format: 'fasti', version: 1, home: 'https://old.example' }, ...items, { end: true, items: items.length }];
    await imported(
      'earlier.jsonl',
      lines.map((line) => JSON.stringify(line)),
    );
    const statuses = () => db.from('posts').where('post_type', 'tribe_venue').orderBy('ID').pluck('post_status');
    expect([(await storedEvent()).post_status, await statuses()]).toEqual(['future', ['draft', 'draft']]);
    await publishDuePosts(site, loadViewer);
    expect([(await storedEvent()).post_status, await statuses()]).toEqual(['publish', ['publish', 'draft']]);
  });

  it('keeps what editors have set while the calendar is the same, and their image also when it changes', async () => {
    await imported('a.ics', calendar());
    const image = await created('attachment', 'Other image');
    await assign('_thumbnail_id', image);
    await rename('Concert');
    for (const dryRun of [true, false, false])
      expect(await imported('a.ics', calendar(), { dryRun })).toMatchObject({ unchanged: { event: 1 }, updated: {} });
    expect([(await storedEvent()).post_title, await metasOf('_thumbnail_id')]).toEqual(['Concert', [image]]);
    expect(await imported('a.ics', calendar('DESCRIPTION:New'))).toMatchObject({ updated: { event: 1 } });
    expect([(await storedEvent()).post_title, await metasOf('_thumbnail_id')]).toEqual(['Concrt', [image]]);
  });

  const table = (...cells: string[]) => ['External ID,Event Name,Event Start Date,Venue,Organizers,Event Cost', cells.join(',')];

  it('keeps the venue that editors have assigned in place of a missing one, also when that comes', async () => {
    const lossOf = async (cost: string) => (await imported('a.csv', table('1', 'Fair', '2031-05-01', 'Hall', '', cost))).losses;
    expect((await lossOf('1')).map(({ reason }) => reason)).toEqual(['link-missing']);
    const venue = await created('tribe_venue', 'Town hall');
    await assign('_EventVenueID', venue);
    for (const cost of ['1', '2']) {
      expect((await lossOf(cost)).map(({ reason }) => reason)).toEqual(['link-missing']);
      expect([await metasOf('_EventVenueID'), await metasOf('_EventCost')]).toEqual([[venue], [cost]]);
    }
    const hall = await created('tribe_venue', 'Hall');
    expect(await imported('a.csv', table('1', 'Fair', '2031-05-01', 'Hall', '', '2'))).toMatchObject({
      unchanged: { event: 1 },
      losses: [],
    });
    expect(await metasOf('_EventVenueID')).toEqual([venue]);
    // A table that has changed counts again.
    await lossOf('3');
    expect(await metasOf('_EventVenueID')).toEqual([hall]);
  });

  it('adds a missing organizer when it comes, and keeps what editors have done to the others until then', async () => {
    const again = (cost: string, dryRun = false) =>
      imported('a.csv', table('1', 'Fair', '2031-05-01', '', '"Anna, Bruno"', cost), { dryRun });
    const anna = await created('tribe_organizer', 'Anna');
    const carla = await created('tribe_organizer', 'Carla');
    await again('1');
    expect(await metasOf('_EventOrganizerID')).toEqual([anna]);
    await assign('_EventOrganizerID', carla);
    expect(await again('1')).toMatchObject({ unchanged: { event: 1 } });
    expect(await metasOf('_EventOrganizerID')).toEqual([carla]);
    await again('2');
    expect(await metasOf('_EventOrganizerID')).toEqual([carla, anna]);
    await assign('_EventOrganizerID', anna);
    const bruno = await created('tribe_organizer', 'Bruno');
    await rename('Great fair');
    expect(await again('2', true)).toMatchObject({ updated: { event: 1 }, losses: [] });
    expect(await again('2')).toMatchObject({ updated: { event: 1 }, losses: [] });
    expect([(await storedEvent()).post_title, await metasOf('_EventOrganizerID')]).toEqual(['Great fair', [anna, bruno]]);
    expect(await again('2')).toMatchObject({ unchanged: { event: 1 }, updated: {} });
  });

  it('links events to the other venue of the name if the one that was imported is in the trash, or reports that', async () => {
    const at = (uid: string, location = 'Hall') => [
      ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'X-WR-CALNAME:Trash', 'BEGIN:VEVENT', `UID:${uid}`, `SUMMARY:${uid}`],
      ...['DTSTART:20310501T180000Z', `LOCATION:${location}`, 'END:VEVENT', 'END:VCALENDAR'],
    ];
    const venueOf = async (post_title: string) => {
      const posts = db.from('posts').select('ID').where({ post_title, post_type: 'tribe_events' });
      return db.from('postmeta').whereIn('post_id', posts).where('meta_key', '_EventVenueID').pluck('meta_value');
    };
    await imported('t.ics', at('first'));
    const [venue] = await venueOf('first');
    await db.from('posts').where('ID', Number(venue)).update({ post_status: 'trash' });
    const { losses } = await imported('t.ics', at('second'));
    expect(losses.map(({ reason, examples }) => [reason, examples[0]?.of])).toEqual([['link-in-trash', 'Hall']]);
    expect((await imported('t.ics', at('second'))).losses).toEqual([]);
    const other = await created('tribe_venue', 'Hall');
    expect((await imported('t.ics', at('third'))).losses).toEqual([]);
    expect(await Promise.all(['first', 'second', 'third'].map(venueOf))).toEqual([[venue], [venue], [other]]);
  });

  it('notes what is missing of a record whose slug another one has', async () => {
    const run = async (...more: PostItem['links']) => {
      const item: PostItem = {
        ...{ kind: 'event', sourceId: 'one', metas: WHEN, complete: true, parent: 'none' },
        columns: { post_title: 'Fair', post_name: 'fair', post_status: 'publish' },
        links: more,
      };
      return importItems(site, await callerOf(site), streamOf([item]), { source: 'other.example' });
    };
    await db
      .from('posts')
      .where('ID', Number(await created('tribe_events', 'Old fair')))
      .update({ post_name: 'fair' });
    await run();
    await db.from('posts').where('post_title', 'Fair').update({ post_title: 'Great fair' });
    expect(await run()).toMatchObject({ unchanged: { event: 1 }, losses: [{ reason: 'parent-missing' }] });
    expect(await db.from('posts').where('post_title', 'Great fair')).toHaveLength(1);
  });
});
