/** A newer file of the same source updates earlier records, including data that is no longer in the file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exportEntries, itemsOf } from '../../src/exchange/exporter.ts';
import { calendarHeadOf, eventRecords } from '../../src/exchange/ical/records.ts';
import { writeCalendar } from '../../src/exchange/ical/write.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import type { ImportOptions } from '../../src/exchange/import/options.ts';
import { hiddenForm } from '../../src/exchange/items/hidden-form.ts';
import type { PostItem } from '../../src/exchange/items/items.ts';
import { isIncomplete } from '../../src/exchange/items/report.ts';
import { openSource } from '../../src/exchange/sources.ts';
import { postKind, termKind } from '../../src/kinds/index.ts';
import { deleteTerm } from '../../src/records/terms.ts';
import { deletePost, restorePost, trashPost } from '../../src/records/writes/post-writes.ts';
import type { Site } from '../../src/site.ts';
import { setTermsOf } from '../../src/storage/rows/term-links.ts';
import { insertTerm, loadTermsOf } from '../../src/storage/rows/terms.ts';
import { sanitizeTitle } from '../../src/wordpress/slug.ts';
import { describeDatabases } from '../support/databases.ts';
import { setOptions } from '../support/site.ts';
import { allOf, bareSite, callerOf, importSource, metaRows, streamOf } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-newer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const calendar = (...lines: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'X-WR-CALNAME:Newer', 'BEGIN:VEVENT', ...lines, 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
const page = (event: object) => `<script type="application/ld+json">${JSON.stringify({ '@type': 'Event', ...event })}</script>`;
const table = (...cells: string[]) =>
  ['Event Name,Event Start Date,Event Start Time,All Day Event,Hide Event From Event Listings,Feature Event,Sticky', cells.join(',')].join(
    '\n',
  );

describeDatabases('newer file', (open) => {
  let site: Site;
  beforeAll(async () => {
    site = await bareSite(await open());
  });
  afterAll(() => site.close());

  const imported = async (
    name: string,
    text: string,
    { status, ...options }: Partial<ImportOptions> & { readonly status?: string } = {},
  ) => {
    writeFileSync(join(folder, name), text);
    const source = await openSource([join(folder, name)], { caller: await callerOf(site), prefix: 'wp_', target: '', status });
    return importSource(site, source, options);
  };
  /** Returns the flags and the status of an event as stored. */
  const flagsOf = async (title: string) => {
    const [post] = await site.db.from('posts').where({ post_title: title, post_type: 'tribe_events' });
    const names = ['_EventAllDay', '_EventHideFromUpcoming', '_tribe_featured', '_tribe_events_status'];
    const metas = await site.db.from('postmeta').where('post_id', post!.ID).whereIn('meta_key', names);
    const filled = metas.filter(({ meta_value: value }) => value !== '').map(({ meta_key: key, meta_value: value }) => `${key}=${value}`);
    return [...filled, ...(post!.menu_order === 0 ? [] : [`menu_order=${post!.menu_order}`])].sort();
  };

  it('of a calendar sets the times of an all-day event and withdraws its cancellation', async () => {
    const event = ['UID:1', 'SUMMARY:Fair'];
    await imported('a.ics', calendar(...event, 'DTSTART;VALUE=DATE:20261201', 'STATUS:CANCELLED'));
    expect(await flagsOf('Fair')).toEqual(['_EventAllDay=1', '_tribe_events_status=canceled']);
    // If the calendar does not state the status, the stored status remains.
    const { updated } = await imported('a.ics', calendar(...event, 'DTSTART:20261202T190000Z'));
    expect([updated.event, await flagsOf('Fair')]).toEqual([1, ['_tribe_events_status=canceled']]);
    await imported('a.ics', calendar(...event, 'DTSTART:20261202T190000Z', 'STATUS:CONFIRMED'));
    expect(await flagsOf('Fair')).toEqual([]);
    const again = await imported('a.ics', calendar(...event, 'DTSTART:20261202T190000Z', 'STATUS:CONFIRMED'));
    expect(again.unchanged.event).toBe(1);
  });

  it('of The Events Calendar corrects the names of organizers that an earlier version imported percent-encoded', async () => {
    const event = ['UID:feed', 'SUMMARY:Feed', 'DTSTART:20261202T190000Z', 'ORGANIZER;CN="Caff%C3%A8%3A Bar":MAILTO:bar@club.example'];
    const organizers = () => site.db.from('posts').where('post_type', 'tribe_organizer').where('post_title', 'like', 'Caff%');
    // Without the name of the plugin, names are read as before.
    await imported('feed.ics', calendar(...event));
    const [before] = await organizers();
    const { created } = await imported(
      'feed.ics',
      calendar(...event).replace('VERSION', 'PRODID:-//Site - ECPv6.17.2//NONSGML v1.0//EN\r\nVERSION'),
    );
    expect([before!.post_title, created]).toEqual(['Caff%C3%A8%3A Bar', {}]);
    expect((await organizers()).map(({ ID, post_title: title }) => [ID, title])).toEqual([[before!.ID, 'Caffè: Bar']]);
  });

  it('without location and organizer takes an event out of its venue, and keeps what only editors state', async () => {
    const linksOf = async (title: string) => {
      const metas = site.db.from('postmeta').whereIn('post_id', site.db.from('posts').select('ID').where('post_title', title));
      const rows = await metas.whereIn('meta_key', ['_EventVenueID', '_EventOrganizerID', '_EventURL']).orderBy('meta_key');
      return rows.filter(({ meta_value: value }) => value !== '').map(({ meta_key: key }) => key);
    };
    const event = ['UID:moved', 'SUMMARY:Moved online', 'DTSTART:20261202T190000Z', 'STATUS:CONFIRMED'];
    await imported('l.ics', calendar(...event, 'LOCATION:Hall', 'ORGANIZER;CN=Club:mailto:c@club.example', 'URL:https://club.example/'));
    expect(await linksOf('Moved online')).toEqual(['_EventOrganizerID', '_EventURL', '_EventVenueID']);
    const online = await imported('l.ics', calendar(...event, 'DESCRIPTION:Now online'));
    expect([online.updated, await linksOf('Moved online')]).toEqual([{ event: 1 }, ['_EventURL']]);
    expect((await imported('l.ics', calendar(...event, 'DESCRIPTION:Now online'))).updated).toEqual({});

    const lesson = {
      '@id': 'https://club.example/1',
      name: 'Lesson',
      startDate: '2026-12-02T19:00',
      organizer: 'Club',
      url: 'https://club.example/',
    };
    await imported('l.html', page({ ...lesson, location: { name: 'Hall' } }));
    expect(await linksOf('Lesson')).toEqual(['_EventOrganizerID', '_EventURL', '_EventVenueID']);
    await imported('l.html', page({ ...lesson, location: { '@type': 'VirtualLocation', url: 'https://video.example/' } }));
    expect(await linksOf('Lesson')).toEqual(['_EventOrganizerID', '_EventURL']);
    await imported('l.html', page({ ...lesson, url: undefined, organizer: undefined }));
    expect(await linksOf('Lesson')).toEqual(['_EventURL']);
  });

  it('of a table clears what its cells do not state any more, and leaves what it has no columns for', async () => {
    const event = 'Name,Start Date,External ID,Description,Excerpt,Venue,Organizers,Cost,Website,Stage';
    const cells = 'Cleared,2027-03-01 10:00,e9,Text,Short,Hall,Club,10,https://club.example/,Garden';
    const empty = 'Cleared,2027-03-01 10:00,e9,,,,,,,';
    const few = 'Name,Start Date,External ID\nCleared,2027-03-01 11:00,e9';
    await setOptions(site.db, {
      tribe_events_calendar_options: { 'custom-fields': { 1: { name: '_ecp_custom_1', label: 'Stage', type: 'text', values: '' } } },
    });
    const stored = async (title: string) => {
      const [post] = await site.db.from('posts').where({ post_title: title });
      const rows = await site.db.from('postmeta').where('post_id', post!.ID).orderBy('meta_key');
      const isDefault = /^(0|1|)$|^20\d\d-/;
      return [
        post!.post_content,
        post!.post_excerpt,
        ...rows.flatMap(({ meta_key: key, meta_value: value }) =>
          /Origin|Currency|Timezone|Duration|_fasti/.test(key ?? '') || isDefault.test(value ?? '') ? [] : [key],
        ),
      ];
    };
    await imported('cv.csv', 'Venue Name,Venue City\nHall,Rome');
    await imported('co.csv', 'Organizer Name,Organizer Phone\nClub,1');
    await imported('c.csv', `${event}\n${cells}`);
    const [full, keys] = [
      ['Text', 'Short'],
      ['_ecp_custom_1', '_EventCost', '_EventOrganizerID', '_EventURL'],
    ];
    const all = await stored('Cleared');
    expect(all).toEqual(expect.arrayContaining([...full, ...keys, '_EventVenueID']));
    await imported('c.csv', few);
    expect(await stored('Cleared')).toEqual(all);
    // A row that a line break has cut states nothing about the cells that it lacks.
    await imported('c.csv', `${event}\nCleared,2027-03-01 10:00,e9,Other text`);
    expect(await stored('Cleared')).toEqual(['Other text', ...all.slice(1)]);
    await imported('c.csv', `${event}\n${empty}`);
    expect(await stored('Cleared')).toEqual(['', '']);
    expect((await imported('c.csv', `${event}\n${empty}`)).updated).toEqual({});

    const venue =
      'Venue Name,Venue Country,Venue Address,Venue Address 2,Venue City,Venue State/Province,Venue Zip,Venue Phone,Venue Website';
    await imported('v.csv', `${venue}\nArena,Italy,Via 1,,Rome,RM,00100,123,https://arena.example/`);
    expect((await stored('Arena')).slice(2)).toHaveLength(8);
    await imported('v.csv', `${venue}\nArena,,,,,,,,`);
    expect(await stored('Arena')).toEqual(['', '']);
  });

  it('of a table leaves a link to a venue that is not published, which tables do not contain', async () => {
    const event = (venue: string, cost: string) => `Name,Start Date,Venue,Cost\nSecret place,2027-03-01 10:00,${venue},${cost}`;
    await imported('sv.csv', 'Venue Name,Venue City\nHideout,Rome');
    await imported('s.csv', event('Hideout', '1'));
    const linked = async () =>
      site.db
        .from('postmeta')
        .where('meta_key', '_EventVenueID')
        .whereIn('post_id', site.db.from('posts').select('ID').where('post_title', 'Secret place'))
        .pluck('meta_value');
    const before = await linked();
    expect(before).toHaveLength(1);
    await site.db.from('posts').where('ID', before[0]).update({ post_status: 'draft' });
    await imported('s.csv', event('', '2'));
    expect(await linked()).toEqual(before);
    await site.db.from('posts').where('ID', before[0]).update({ post_status: 'publish' });
    await imported('s.csv', event('', '3'));
    expect(await linked()).toEqual([]);
  });

  it('keeps the links to organizers that are not published next to those that it states', async () => {
    const event = (organizers: string, cost: string) => `Name,Start Date,Organizers,Cost\nShared,2027-03-01 10:00,"${organizers}",${cost}`;
    const names = ['Hidden club', 'Open club', 'New club'];
    await imported('so.csv', `Organizer Name,Organizer Phone\n${names.map((name) => `${name},1`).join('\n')}`);
    const idOf = async (name: string) => String((await site.db.from('posts').where({ post_title: name }).first('ID'))!.ID);
    const [hiddenId, openId, newId] = [await idOf('Hidden club'), await idOf('Open club'), await idOf('New club')];
    const linked = async () =>
      site.db
        .from('postmeta')
        .where('meta_key', '_EventOrganizerID')
        .whereIn('post_id', site.db.from('posts').select('ID').where('post_title', 'Shared'))
        .orderBy('meta_id')
        .pluck('meta_value');
    await imported('sh.csv', event('Hidden club,Open club', '1'));
    expect(await linked()).toEqual([hiddenId, openId]);
    await site.db.from('posts').where('ID', Number(hiddenId)).update({ post_status: 'draft' });
    await imported('sh.csv', event('Open club', '2'));
    expect(await linked()).toEqual([hiddenId, openId]);
    await imported('sh.csv', event('New club', '3'));
    expect(await linked()).toEqual([newId, hiddenId]);
    // None is removed while another one is missing.
    await imported('sh.csv', event('Open club,Late club', '4'));
    expect(await linked()).toEqual([newId, hiddenId, openId]);
    await imported('sh.csv', event('Open club', '4'));
    expect(await linked()).toEqual([openId, hiddenId]);
    await site.db.from('posts').where('ID', Number(hiddenId)).update({ post_status: 'publish' });
    await imported('sh.csv', event('Open club', '5'));
    expect(await linked()).toEqual([openId]);
  });

  it('that publishes drafts gives them unique slugs and dates', async () => {
    const event = (id: number, columns: object) => {
      const dates = { _EventStartDate: '2026-12-02 19:00:00', _EventEndDate: '2026-12-02 21:00:00', _EventTimezone: 'UTC' };
      const item = {
        kind: 'event',
        sourceId: `d${id}`,
        columns: { post_title: 'Draft fair', ...columns },
        metas: Object.entries(dates),
        links: [],
        terms: [],
        complete: false,
      };
      const lines = [{ format: 'fasti', version: 1, home: 'https://drafts.example' }, item, { end: true, items: 1 }];
      return lines.map((line) => JSON.stringify(line)).join('\n');
    };
    const rows = () => site.db.from('posts').where({ post_title: 'Draft fair', post_type: 'tribe_events' }).orderBy('ID');
    const old = { post_date: '2025-01-01 13:00:00', post_date_gmt: '2025-01-01 12:00:00' };
    await imported('d0.jsonl', event(0, { post_status: 'publish' }));
    await imported('d1.jsonl', event(1, { post_status: 'draft' }));
    await imported('d2.jsonl', event(2, { post_status: 'draft', ...old }));
    const [, first, second] = await rows();
    expect([first!.post_name, first!.post_date_gmt, second!.post_name]).toEqual(['', '0000-00-00 00:00:00', '']);
    // A draft may have the slug of another record.
    await site.db.from('posts').where('ID', second!.ID).update({ post_name: 'draft-fair' });
    expect((await imported('d1.jsonl', event(1, { post_status: 'publish' }), { dryRun: true })).updated).toEqual({ event: 1 });
    await imported('d1.jsonl', event(1, { post_status: 'publish' }));
    await imported('d2.jsonl', event(2, { post_status: 'publish', ...old }));
    expect((await rows()).map((row) => [row.post_status, row.post_name, row.post_date, row.post_date_gmt])).toEqual([
      ['publish', 'draft-fair', '2026-11-21 10:00:00', '2026-11-21 09:00:00'],
      ['publish', 'draft-fair-2', '2026-11-21 10:00:00', '2026-11-21 09:00:00'],
      ['publish', 'draft-fair-3', '2025-01-01 13:00:00', '2025-01-01 12:00:00'],
    ]);
  });

  it('sets the modification date of changed records to the date in the file, or else to now', async () => {
    const event = (uid: string, ...lines: string[]) => calendar(`UID:${uid}`, 'DTSTART:20261202T190000Z', ...lines);
    const modified = async (title: string) => {
      const { post_modified: local, post_modified_gmt: utc } = (await site.db.from('posts').where({ post_title: title }).first())!;
      return [local, utc];
    };
    const NEW = ['2026-11-21 10:00:00', '2026-11-21 09:00:00'];
    await imported('m1.ics', event('m1', 'SUMMARY:Silent', 'CREATED:20250101T120000Z'));
    expect(await modified('Silent')).toEqual(['2025-01-01 13:00:00', '2025-01-01 12:00:00']);
    await imported('m1.ics', event('m1', 'SUMMARY:Silent', 'CREATED:20250101T120000Z', 'DESCRIPTION:More'));
    expect(await modified('Silent')).toEqual(NEW);
    await imported('m2.ics', event('m2', 'SUMMARY:Told', 'LAST-MODIFIED:20250101T120000Z'));
    await imported('m2.ics', event('m2', 'SUMMARY:Told', 'LAST-MODIFIED:20250701T120000Z', 'DESCRIPTION:More'));
    expect(await modified('Told')).toEqual(['2025-07-01 14:00:00', '2025-07-01 12:00:00']);
    // Some programs change events without updating LAST-MODIFIED.
    await imported('m2.ics', event('m2', 'SUMMARY:Told', 'LAST-MODIFIED:20250701T120000Z', 'DESCRIPTION:Even more'));
    expect(await modified('Told')).toEqual(NEW);
    await imported('m3.csv', table('Listed', '2026-12-01', '10:00', '', '', '', ''));
    await site.db
      .from('posts')
      .where({ post_title: 'Listed' })
      .update({ post_modified: '2026-01-01 01:00:00', post_modified_gmt: '2026-01-01 00:00:00' });
    await imported('m3.csv', table('Listed', '2026-12-01', '10:00', '', '', 'yes', ''));
    expect(await modified('Listed')).toEqual(NEW);
  });

  it('of a calendar updates an event in the trash without restoring it', async () => {
    const event = (summary: string) => calendar('UID:out', `SUMMARY:${summary}`, 'DTSTART:20261203T190000Z');
    await imported('out.ics', event('Out'));
    const [post] = await site.db.from('posts').where({ post_title: 'Out' });
    await trashPost(site, await callerOf(site), postKind('event'), post!.ID);
    expect((await imported('out.ics', event('Out again'))).updated).toEqual({ event: 1 });
    const [after] = await site.db.from('posts').where('ID', post!.ID);
    expect([after!.post_title, after!.post_status, after!.post_name]).toEqual(['Out again', 'trash', 'out__trashed']);
    await restorePost(site, await callerOf(site), postKind('event'), post!.ID);
    const [back] = await site.db.from('posts').where('ID', post!.ID);
    expect([back!.post_status, back!.post_name]).toEqual(['publish', 'out']);
  });

  it('of a calendar leaves an event away that was deleted for good, and creates it again by request', async () => {
    const event = (summary: string) => calendar('UID:unwanted', `SUMMARY:${summary}`, 'DTSTART:20261204T190000Z', 'CATEGORIES:Gambling');
    await imported('unwanted.ics', event('Unwanted'));
    const found = () => site.db.from('posts').where('post_title', 'like', 'Unwanted%').where('post_type', 'tribe_events');
    const [post] = await found();
    await deletePost(site, await callerOf(site), postKind('event'), post!.ID);
    const categories = () => site.db.from('terms').where('name', 'Gambling');
    const [category] = await categories();
    await deleteTerm(site, await callerOf(site), termKind('category'), category!.term_id);
    for (const [summary, dryRun] of [
      ['Unwanted', true],
      ['Unwanted', false],
      ['Unwanted, changed', false],
    ] as const) {
      const report = await imported('unwanted.ics', event(summary), { dryRun });
      expect(report).toMatchObject({ created: {}, updated: {}, unchanged: { event: 1 } });
      expect(report.losses).toMatchObject([{ reason: 'deleted-here', count: 1 }]);
      expect([isIncomplete(report), await found(), await categories()]).toEqual([false, [], []]);
    }
    const restored = await imported('unwanted.ics', event('Unwanted'), { restoreDeleted: true });
    expect(restored.created).toEqual({ event: 1, category: 1 });
    expect([restored.losses.map(({ reason }) => reason), isIncomplete(restored)]).toEqual([['restored-here'], false]);
    expect(await imported('unwanted.ics', event('Unwanted'))).toMatchObject({ created: {}, unchanged: { event: 1 }, losses: [] });
  });

  it.each([
    [
      'a calendar',
      (title: string, cost: string) => [
        'terms.ics',
        calendar('UID:terms', `SUMMARY:${title}`, 'DTSTART:20270101T190000Z', `DESCRIPTION:${cost}`),
      ],
    ],
    ['a table', (title: string, cost: string) => ['terms.csv', `Event Name,Event Start Date,Event Cost\n${title},2027-01-01,${cost}`]],
    [
      'a page',
      (title: string, cost: string) => [
        'terms.html',
        page({ '@id': 'https://x.example/#terms', name: title, startDate: '2027-01-01T20:00', description: cost }),
      ],
    ],
  ] as const)('of %s keeps categories and tags that it does not mention', async (what, write) => {
    const title = `Terms of ${what}`;
    const file = (cost: string) => write(title, cost) as [string, string];
    await imported(...file('10'));
    const [post] = await site.db.from('posts').where({ post_title: title });
    const named = { category: `Own of ${what}`, tag: `Seen in ${what}` };
    for (const name of ['category', 'tag'] as const) {
      const kind = termKind(name);
      const id = await insertTerm(site.db, kind, { name: named[name], slug: sanitizeTitle(named[name]), description: '', parent: 0 });
      await setTermsOf(site.db, post!.ID, kind.taxonomy, [id]);
    }
    expect((await imported(...file('12'))).updated).toEqual({ event: 1 });
    const terms = (await loadTermsOf(site.db, [post!.ID])).get(post!.ID) ?? [];
    expect(terms.map(({ name }) => name).sort()).toEqual([named.category, named.tag]);
  });

  it('of a calendar creates a deleted category again for a changed event', async () => {
    const event = (title: string) => calendar('UID:gone', `SUMMARY:${title}`, 'DTSTART:20270103T190000Z', 'CATEGORIES:Vanished');
    const termsOf = () => site.db.from('terms').where('name', 'Vanished').pluck('term_id');
    await imported('gone.ics', event('Gone'));
    const [before] = await termsOf();
    await deleteTerm(site, await callerOf(site), termKind('category'), before!);
    expect(await termsOf()).toEqual([]);
    const rehearsed = await imported('gone.ics', event('Gone on'), { dryRun: true });
    const { created, updated } = await imported('gone.ics', event('Gone on'));
    expect([rehearsed.created, created, updated]).toEqual([{ category: 1 }, { category: 1 }, { event: 1 }]);
    const [post] = await site.db.from('posts').where({ post_title: 'Gone on' });
    expect((await loadTermsOf(site.db, [post!.ID])).get(post!.ID)?.map(({ name }) => name)).toEqual(['Vanished']);
  });

  it('of a calendar or table replaces the categories of an event if it mentions any', async () => {
    const namesOf = async (title: string) => {
      const [post] = await site.db.from('posts').where({ post_title: title });
      return ((await loadTermsOf(site.db, [post!.ID])).get(post!.ID) ?? []).map(({ name }) => name).sort();
    };
    const event = (categories: string) => calendar('UID:spoken', 'SUMMARY:Spoken', 'DTSTART:20270102T190000Z', `CATEGORIES:${categories}`);
    await imported('spoken.ics', event('Jazz,Rock'));
    await imported('spoken.ics', event('Rock,Folk'));
    expect(await namesOf('Spoken')).toEqual(['Folk', 'Rock']);
    const row = (cells: string) => `Event Name,Event Start Date,Event Category,Event Tags\nCells,2027-01-02,${cells}`;
    await imported('spoken.csv', row('Jazz,free'));
    await imported('spoken.csv', row(',late'));
    expect(await namesOf('Cells')).toEqual(['late']);
  });

  describe('of a calendar with a recurring event', () => {
    const year = new Date().getUTCFullYear() + 1;
    const weekly = (uid: string, more: readonly string[] = [], time = '180000') =>
      calendar(`UID:${uid}`, `SUMMARY:${uid}`, `DTSTART:${year}0105T${time}Z`, ...more);
    const COUNT = 'RRULE:FREQ=WEEKLY;COUNT=4';
    /** Returns day and hour of the visible events with a title, in order. */
    const datesOf = async (title: string) => {
      const posts = await site.db.from('posts').where({ post_title: title, post_status: 'publish' });
      const ids = posts.map(({ ID }) => ID);
      const metas = await site.db.from('postmeta').whereIn('post_id', ids).where('meta_key', '_EventStartDateUTC');
      return metas.map(({ meta_value: value }) => String(value).slice(5, 13)).sort();
    };

    it.each([
      ['it excepts', 'Excepted', [COUNT, `EXDATE:${year}0112T180000Z`], ['01-05 18', '01-19 18', '01-26 18']],
      ['lie after an earlier end', 'Ended', [`RRULE:FREQ=WEEKLY;UNTIL=${year}0112T235959Z`], ['01-05 18', '01-12 18']],
      ['no longer repeat', 'Once', [], ['01-05 18']],
    ])('removes dates that %s', async (_, title, lines, dates) => {
      const file = `${title}.ics`;
      await imported(file, weekly(title, [COUNT]));
      expect(await datesOf(title)).toHaveLength(4);
      const { created, trashed, unchanged, lost } = await imported(file, weekly(title, lines));
      expect([await datesOf(title), trashed.event, lost]).toEqual([dates, 4 - dates.length, {}]);
      // The remaining events are the same records.
      expect([created, unchanged.event]).toEqual([{}, dates.length]);
      // The events come back if the old file is imported again.
      await imported(file, weekly(title, [COUNT]));
      expect(await datesOf(title)).toEqual(['01-05 18', '01-12 18', '01-19 18', '01-26 18']);
    });

    it('removes no dates if a single event becomes recurring', async () => {
      await imported('Again.ics', weekly('Again'));
      const { created, trashed, unchanged } = await imported('Again.ics', weekly('Again', [COUNT]));
      expect([created, trashed, unchanged.event, await datesOf('Again')]).toEqual([
        { event: 3 },
        {},
        1,
        ['01-05 18', '01-12 18', '01-19 18', '01-26 18'],
      ]);
    });

    it('replaces all dates if the event is moved to another time', async () => {
      await imported('Moved.ics', weekly('Moved', [COUNT]));
      const { created, trashed } = await imported('Moved.ics', weekly('Moved', [COUNT], '190000'));
      expect([created.event, trashed.event, await datesOf('Moved')]).toEqual([4, 4, ['01-05 19', '01-12 19', '01-19 19', '01-26 19']]);
    });

    it('updates a single changed date and keeps dates that the file does not mention', async () => {
      await imported('Part.ics', weekly('Part', [COUNT]));
      const change = calendar('UID:Part', 'SUMMARY:Part', `RECURRENCE-ID:${year}0112T180000Z`, `DTSTART:${year}0112T200000Z`);
      const { trashed } = await imported('Part.ics', change);
      expect([trashed, await datesOf('Part')]).toEqual([{}, ['01-05 18', '01-12 20', '01-19 18', '01-26 18']]);
      // Nor does it remove dates of other events.
      expect((await imported('Part.ics', weekly('Other', [COUNT]))).trashed).toEqual({});
      expect(await datesOf('Part')).toHaveLength(4);
    });

    it('keeps past dates', async () => {
      const past = (...more: string[]) => calendar('UID:Past', 'SUMMARY:Past', `DTSTART:${year - 2}1201T180000Z`, ...more);
      await imported('Past.ics', past('RRULE:FREQ=WEEKLY;COUNT=3'));
      const before = await datesOf('Past');
      const { trashed } = await imported('Past.ics', past(`RRULE:FREQ=WEEKLY;COUNT=3`, `EXDATE:${year - 2}1208T180000Z`));
      expect([trashed, await datesOf('Past')]).toEqual([{}, before]);
    });

    // It is 10 o'clock in the zone of the site.
    it.each([
      ['removes a date that is still ahead in a zone further west', 'America/Los_Angeles', '20261114T030000', '11-21 11', false],
      ['keeps a date that is over in a zone further east', 'Pacific/Auckland', '20261114T180000', '11-21 05', true],
    ])('%s', async (_, zone, first, moment, isKept) => {
      const zoned = (...more: string[]) => calendar(`UID:${zone}`, `SUMMARY:${zone}`, `DTSTART;TZID=${zone}:${first}`, ...more);
      await imported(`${first}.ics`, zoned('RRULE:FREQ=WEEKLY;COUNT=3'));
      const before = await datesOf(zone);
      expect(before).toEqual(expect.arrayContaining([moment]));
      const exception = `EXDATE;TZID=${zone}:${first.replace('1114T', '1121T')}`;
      const { trashed } = await imported(`${first}.ics`, zoned('RRULE:FREQ=WEEKLY;COUNT=3', exception));
      expect([trashed, await datesOf(zone)]).toEqual(isKept ? [{}, before] : [{ event: 1 }, before.filter((date) => date !== moment)]);
    });

    it('reports removed dates that the calendar has brought under another name too', async () => {
      const lines = [COUNT, `EXDATE:${year}0112T180000Z`];
      const renamed = (more: readonly string[]) => weekly('Renamed', more).replace('Newer', 'Renamed');
      await imported('Renamed.ics', weekly('Renamed', [COUNT]));
      await imported('Renamed.ics', renamed([COUNT]));
      for (const dryRun of [true, false]) {
        const report = await imported('Renamed.ics', renamed(lines), { dryRun });
        expect(report.losses.map(({ reason, examples }) => [reason, examples[0]?.of])).toEqual([['date-kept', 'Renamed']]);
        expect([report.trashed, await datesOf('Renamed')]).toEqual([{}, ['01-05 18', '01-12 18', '01-19 18', '01-26 18']]);
      }
    });

    it('removes no dates once the same calendar is imported again in the meantime', async () => {
      await imported('Twice.ics', weekly('Twice', [COUNT]));
      const before = await datesOf('Twice');
      const excepted = weekly('Twice', [COUNT, `EXDATE:${year}0112T180000Z`]);
      // The second import begins right before the first one removes the date.
      const { db } = site;
      let steps = 0;
      const transaction: typeof db.transaction = async (...given) => {
        steps += 1;
        if (steps === 3) await db.from('fasti_imports').increment('run', 1);
        return db.transaction(...given);
      };
      const overtaken: Site = { ...site, db: Object.assign(Object.create(db), { transaction }) };
      writeFileSync(join(folder, 'Twice.ics'), excepted);
      const source = await openSource([join(folder, 'Twice.ics')], { caller: await callerOf(site), prefix: 'wp_', target: '' });
      await expect(importSource(overtaken, source)).rejects.toMatchObject({ fault: 'superseded' });
      expect([steps, await datesOf('Twice')]).toEqual([3, before]);
    });

    it('keeps the records of its dates if the file writes them in another way', async () => {
      const zoned = (...lines: string[]) => calendar('UID:Respelt', 'SUMMARY:Respelt', ...lines);
      const [inRome, inUtc] = [`DTSTART;TZID=Europe/Rome:${year}0105T190000`, `DTSTART:${year}0105T180000Z`];
      await imported('Respelt.ics', zoned(inRome, COUNT));
      const recordsOf = () => site.db.from('posts').where('post_title', 'Respelt').orderBy('ID').select('ID', 'post_status');
      const [draft] = await recordsOf();
      await site.db.from('posts').where('ID', draft!.ID).update({ post_status: 'draft' });
      const before = await recordsOf();
      const rehearsed = await imported('Respelt.ics', zoned(inUtc, COUNT), { dryRun: true });
      const done = await imported('Respelt.ics', zoned(inUtc, COUNT));
      for (const report of [rehearsed, done]) expect(report).toMatchObject({ created: {}, trashed: {}, unchanged: { event: 4 } });
      expect(await recordsOf()).toEqual(before);
      // A change that names only the day of its date changes that date.
      const moved = `END:VEVENT\r\nBEGIN:VEVENT\r\nUID:Respelt\r\nSUMMARY:Respelt\r\nRECURRENCE-ID;VALUE=DATE:${year}0112`;
      const changed = await imported('Respelt.ics', zoned(inUtc, COUNT, moved, `DTSTART:${year}0112T200000Z`));
      expect(changed).toMatchObject({ created: {}, trashed: {}, updated: { event: 1 } });
      expect(await recordsOf()).toEqual(before);
    });

    it('reports removed dates in a dry run', async () => {
      await imported('Tried.ics', weekly('Tried', [COUNT]));
      const before = await datesOf('Tried');
      const report = await imported('Tried.ics', weekly('Tried', [COUNT, `EXDATE:${year}0112T180000Z`]), { dryRun: true });
      expect([report.trashed, await datesOf('Tried')]).toEqual([{ event: 1 }, before]);
    });

    it('counts removed dates in a dry run as the import does, despite equal category IDs and dates in the trash', async () => {
      const titled = (...lines: string[]) => weekly('Counted', [...lines]);
      await imported('Counted.ics', titled(COUNT));
      const posts = await site.db.from('posts').where('post_title', 'Counted').orderBy('ID').select('ID');
      // A category whose ID equals that of a date to be removed, and a date that is already in the trash.
      const [first, second] = posts.map(({ ID }) => ID);
      await site.db.from('terms').insert([{ term_id: second!, name: 'Same number', slug: 'same-number', term_group: 0 }]);
      await site.db
        .from('term_taxonomy')
        .insert([{ term_id: second!, taxonomy: 'tribe_events_cat', description: '', parent: 0, count: 0 }]);
      await trashPost(site, await callerOf(site), postKind('event'), first!);
      const newer = calendar('UID:Counted', 'SUMMARY:Moved on', `DTSTART:${year}0301T180000Z`, 'CATEGORIES:Same number');
      const rehearsed = await imported('Counted.ics', newer, { dryRun: true });
      const done = await imported('Counted.ics', newer);
      expect([rehearsed.trashed, done.trashed]).toEqual([{ event: 3 }, { event: 3 }]);
    });
  });

  it('of a calendar or a page names another venue or organizer of the same name where place or e-mail address are others', async () => {
    const at = (uid: string, location: string, email: string, ...lines: string[]) =>
      calendar(
        `UID:${uid}`,
        `SUMMARY:At ${uid}`,
        'DTSTART:20261202T190000Z',
        `LOCATION:${location.replaceAll(',', '\\,')}`,
        `ORGANIZER;CN=Town library:mailto:${email}`,
        ...lines,
      );
    const venues = () => site.db.from('posts').where({ post_title: 'Library', post_type: 'tribe_venue' }).orderBy('ID');
    const address = async (id: number, key = '_VenueAddress') =>
      (await site.db.from('postmeta').where({ post_id: id, meta_key: key }).first())?.meta_value;
    const linked = async (uid: string, key: string) => {
      const { ID } = (await site.db
        .from('posts')
        .where({ post_title: `At ${uid}` })
        .first())!;
      return Number((await site.db.from('postmeta').where({ post_id: ID, meta_key: key }).first())!.meta_value);
    };
    await imported('v1.ics', at('arezzo', 'Library, Via Roma 1, 52100 Arezzo', 'a@example.org'));
    for (const dryRun of [true, false])
      expect((await imported('v2.ics', at('pisa', 'Library, Via Roma 1, 56100 Pisa', 'p@example.org'), { dryRun })).created).toEqual({
        venue: 1,
        organizer: 1,
        event: 1,
      });
    expect((await imported('v3.ics', at('short', 'Library, Via Roma 1, Arezzo AR', 'A@example.org'))).created).toEqual({ event: 1 });
    expect((await imported('v4.ics', at('bare', 'Library', 'p@example.org'))).created).toEqual({ event: 1 });
    expect((await imported('v5.ics', at('far', 'Library', 'a@example.org', 'GEO:45.4;9.2'))).created).toEqual({ event: 1 });
    const [arezzo, pisa, ...others] = await venues();
    expect(others).toEqual([]);
    expect([await address(pisa!.ID), await address(arezzo!.ID)]).toEqual(['Via Roma 1, 56100 Pisa', 'Via Roma 1, Arezzo AR']);
    for (const uid of ['arezzo', 'short', 'bare', 'far']) expect(await linked(uid, '_EventVenueID')).toBe(arezzo!.ID);
    expect(await linked('pisa', '_EventVenueID')).toBe(pisa!.ID);
    expect(await linked('pisa', '_EventOrganizerID')).not.toBe(await linked('arezzo', '_EventOrganizerID'));
    const place = { '@type': 'Place', name: 'Library', address: { streetAddress: 'Via Po 3', addressLocality: 'Siena' } };
    const organizer = [
      { name: 'Town library', email: 's@example.org' },
      { name: 'Town museum', email: 's@example.org' },
    ];
    const event = { '@id': 'siena', name: 'At siena', startDate: '2026-12-02T20:00', location: place, organizer };
    expect((await imported('v.html', page(event))).created).toEqual({ venue: 1, organizer: 2, event: 1 });
  });

  it.each(['&', '&amp;'])('finds a venue, an organizer and an event whose names are stored with %s', async (sign) => {
    const day = sign === '&' ? '2026-12-03' : '2026-12-04';
    const storedNames = [
      ['tribe_venue', `Bar ${sign} Grill ${day}`],
      ['tribe_organizer', `Rossi ${sign} C. ${day}`],
    ] as const;
    const [venue, organizer, event] = [`Bar & Grill ${day}`, `Rossi & C. ${day}`, `Rock & Roll ${day}`];
    const head = 'Event Name,Event Start Date,Event Start Time,Event Venue Name,Event Organizer Name';
    await imported('and-v.csv', `Venue Name\n${venue}\n`);
    await imported('and-o.csv', `Organizer Name\n${organizer}\n`);
    await imported('and.csv', `${head}\n${event},${day},20:00,${venue},${organizer}\n`);
    for (const [post_type, post_title] of [...storedNames, ['tribe_events', `Rock ${sign} Roll ${day}`]] as const)
      await site.db.from('posts').where({ post_type }).where('post_title', 'like', `%${day}`).update({ post_title });
    const lines = [`UID:and-${day}`, 'SUMMARY:Other', `DTSTART:${day.replaceAll('-', '')}T210000Z`];
    const ics = calendar(...lines, `LOCATION:${venue}\\, Via Roma 1\\, Pisa`, `ORGANIZER;CN=${organizer}:mailto:r@example.org`);
    expect((await imported(`and-${day}.ics`, ics)).created).toEqual({ event: 1 });
    const onPage = { name: event, startDate: `${day}T20:00`, location: venue, organizer };
    expect((await imported(`and-${day}.html`, page(onPage))).created).toEqual({});
    const again = await imported(`again-${day}.csv`, `${head}\n${event},${day},20:00,${venue},${organizer}\n`);
    expect([again.created, again.losses]).toEqual([{}, []]);
  });

  it('tells names apart that differ after a sign that begins no tag', async () => {
    const day = '2026-12-05';
    const head = 'Event Name,Event Start Date,Event Start Time,Event Venue Name';
    const endings = ['', ' <6', ' <12'];
    const posts = (type: string) => site.db.from('posts').where('post_type', type).where('post_title', 'like', '%signed%').orderBy('ID');
    await imported('signs-v.csv', `Venue Name\n${endings.map((_, place) => `Room signed ${place}`).join('\n')}\n`);
    await imported('signs.csv', `${head}\n${endings.map((_, place) => `Kids signed ${place},${day},20:00,`).join('\n')}\n`);
    const [venues, events] = [await posts('tribe_venue'), await posts('tribe_events')];
    for (const [place, ending] of endings.entries()) {
      await site.db
        .from('posts')
        .where('ID', venues[place]!.ID)
        .update({ post_title: `Room signed${ending}` });
      await site.db
        .from('posts')
        .where('ID', events[place]!.ID)
        .update({ post_title: `<em>Kids</em> signed${ending}` });
    }
    const rows = endings.map((ending, place) => `Kids signed${ending},${day},20:00,Room signed${endings.at(place - 1)}`);
    const again = await imported('signs-again.csv', `${head}\n${rows.join('\n')}\n`);
    const links = await site.db.from('postmeta').where('meta_key', '_EventVenueID').orderBy('post_id');
    const venueOf = (id: number) => Number(links.find((meta) => meta.post_id === id)?.meta_value);
    const expected = events.map(({ ID: id }, place) => [id, venues.at(place - 1)!.ID]);
    expect([again.created, again.losses, events.map(({ ID: id }) => [id, venueOf(id)])]).toEqual([{}, [], expected]);
  });

  it('of a calendar leaves a venue its fields where it says the same on one line', async () => {
    const event = (uid: string, location: string) =>
      calendar(`UID:${uid}`, `SUMMARY:${uid}`, 'DTSTART:20261202T190000Z', `LOCATION:${location.replaceAll(',', '\\,')}`);
    await imported('f.csv', 'Venue Name,Venue Address,Venue City,Venue Zip,Venue Country\nTheatre,Piazza Grande 1,Arezzo,52100,Italy\n');
    const { ID } = (await site.db.from('posts').where({ post_title: 'Theatre' }).first())!;
    const address = async () => (await site.db.from('postmeta').where({ post_id: ID, meta_key: '_VenueAddress' }).first())?.meta_value;
    await imported('f1.ics', event('said', 'Theatre, Piazza Grande 1, 52100 Arezzo, Italy'));
    expect(await address()).toBe('Piazza Grande 1');
    await imported('f2.ics', event('moved', 'Theatre, Piazza Grande 2, 52100 Arezzo, Italy'));
    expect(await address()).toBe('Piazza Grande 2, 52100 Arezzo, Italy');
  });

  it('of a table resets flags to which it says no', async () => {
    await imported('a.csv', table('Gala', '2026-12-05', '', 'yes', 'yes', 'yes', 'yes'));
    expect(await flagsOf('Gala')).toEqual(['_EventAllDay=1', '_EventHideFromUpcoming=yes', '_tribe_featured=1', 'menu_order=-1']);
    await imported('a.csv', table('Gala', '2026-12-05', '00:00', '', '', '', ''));
    expect(await flagsOf('Gala')).toEqual(['_EventHideFromUpcoming=yes', '_tribe_featured=1', 'menu_order=-1']);
    await imported('a.csv', table('Gala', '2026-12-05', '00:00', 'no', 'no', 'no', 'no'));
    expect(await flagsOf('Gala')).toEqual([]);
  });

  it('of a page sets the times of an all-day event and withdraws its cancellation', async () => {
    const event = { '@id': 'https://x.example/1', name: 'Ball' };
    await imported('a.html', page({ ...event, startDate: '2026-12-06', eventStatus: 'https://schema.org/EventCancelled' }));
    expect(await flagsOf('Ball')).toEqual(['_EventAllDay=1', '_tribe_events_status=canceled']);
    await imported('a.html', page({ ...event, startDate: '2026-12-06T20:00', eventStatus: 'https://schema.org/EventScheduled' }));
    expect(await flagsOf('Ball')).toEqual([]);
  });

  it('exported by the site contains cancellations, and titles as they were written', async () => {
    await imported('b.ics', calendar('UID:2', 'SUMMARY:The "Trio"', 'DTSTART:20261209T190000Z', 'STATUS:CANCELLED'));
    const caller = await callerOf(site);
    const items = itemsOf(exportEntries(site, caller, { kinds: ['event'], statuses: ['publish'] }), () => undefined);
    const records = await allOf(eventRecords(site, caller, items));
    expect(records.map(({ title, state }) => [title, state])).toContainEqual(['The "Trio"', 'canceled']);
  });

  it('exported by the site has X-NAME for names that contain commas', async () => {
    const lines = [
      'LOCATION;X-NAME="Bar, Grill":Bar\\, Grill\\, Via Roma 1',
      'CONTACT;X-NAME="Rossi; Bianchi, & C.":Rossi\\; Bianchi\\, & C.\\, +39 050 12345',
    ];
    await imported('c.ics', calendar('UID:3', 'SUMMARY:Names', 'DTSTART:20261210T190000Z', ...lines));
    const caller = await callerOf(site);
    const items = itemsOf(exportEntries(site, caller, { kinds: ['event'], statuses: ['publish'] }), () => undefined);
    const written = await allOf(writeCalendar(eventRecords(site, caller, items), calendarHeadOf(site, caller, 'en')));
    const unfolded = written.join('').replaceAll('\r\n ', '').split('\r\n');
    expect(unfolded.filter((line) => /X-NAME/.test(line))).toEqual(lines);
  });

  it('of a calendar removes an excluded date of a series whose rule ends with a day only, and keeps the doubtful one', async () => {
    const event = ['UID:until-day', 'SUMMARY:Until a day', 'DTSTART;TZID=America/New_York:20270104T200000'];
    await imported('until.ics', calendar(...event, 'RRULE:FREQ=DAILY;UNTIL=20270107T010000Z'));
    const { trashed } = await imported(
      'until.ics',
      calendar(...event, 'RRULE:FREQ=DAILY;UNTIL=20270106', 'EXDATE;TZID=America/New_York:20270105T200000'),
    );
    const rows = await site.db.from('posts').where({ post_title: 'Until a day', post_type: 'tribe_events' }).orderBy('ID');
    expect([trashed, rows.map(({ post_status: status }) => status)]).toEqual([{ event: 1 }, ['publish', 'trash', 'publish']]);
  });

  it('of a page gives an event one origin, and changes none that an earlier version imported', async () => {
    const fair = { '@id': 'https://p.example/#fair', name: 'Page fair', startDate: '2027-05-01T18:00' };
    await imported('origin.html', page(fair));
    const [post] = await site.db.from('posts').where({ post_title: 'Page fair', post_type: 'tribe_events' });
    const origins = () =>
      site.db
        .from('postmeta')
        .where({ post_id: post?.ID ?? 0, meta_key: '_EventOrigin' })
        .pluck('meta_value');
    expect(await origins()).toEqual(['json-ld']);
    expect((await imported('origin.html', page({ ...fair, description: 'New' }))).updated).toEqual({ event: 1 });
    expect(await origins()).toEqual(['json-ld']);
  });

  describe('with moments in an hour that the clock shows twice', () => {
    const momentsOf = async (title: string) => {
      const [post] = await site.db.from('posts').where({ post_title: title, post_type: 'tribe_events' });
      const names = ['_EventStartDate', '_EventStartDateUTC', '_EventEndDateUTC', '_EventTimezone'];
      const metas = await site.db
        .from('postmeta')
        .where('post_id', post?.ID ?? 0)
        .whereIn('meta_key', names);
      return names.map((name) => metas.find(({ meta_key: key }) => key === name)?.meta_value);
    };
    const head = 'Event Name,Event Start Date,Event End Date';

    it('stores the moments that a table states', async () => {
      const first = 'First hour,2027-10-31T00:30:00Z,2027-10-31T00:50:00Z';
      const second = 'Second hour,2027-10-31T01:30:00Z,2027-10-31T01:50:00Z';
      const both = 'Both hours,2027-10-31T00:30:00Z,2027-10-31T01:15:00Z';
      const report = await imported('moments.csv', [head, first, second, both].join('\n'));
      expect([report.created, report.losses]).toEqual([{ event: 3 }, []]);
      expect(await momentsOf('First hour')).toEqual(['2027-10-31 02:30:00', '2027-10-31 00:30:00', '2027-10-31 00:50:00', 'Europe/Rome']);
      expect(await momentsOf('Second hour')).toEqual(['2027-10-31 02:30:00', '2027-10-31 01:30:00', '2027-10-31 01:50:00', 'Europe/Rome']);
      expect(await momentsOf('Both hours')).toEqual(['2027-10-31 02:30:00', '2027-10-31 00:30:00', '2027-10-31 01:15:00', 'Europe/Rome']);
    });

    it('moves them to other days by the clock of the site', async () => {
      const write = (...cells: string[]) =>
        imported('repeated.csv', `${head},External ID\n${['Repeated', ...cells, 'repeated'].join(',')}`);
      await write('2027-10-31T00:30:00Z', '2027-10-31T00:50:00Z');
      expect((await write('2027-10-31T00:30:00Z', '2027-10-31T00:50:00Z')).updated).toEqual({});
      await write('2027-11-14T19:00:00Z', '2027-11-14T20:00:00Z');
      expect(await momentsOf('Repeated')).toEqual(['2027-11-14 20:00:00', '2027-11-14 19:00:00', '2027-11-14 20:00:00', 'Europe/Rome']);
      await write('2027-11-15 20:00', '2027-11-15 21:00');
      expect(await momentsOf('Repeated')).toEqual(['2027-11-15 20:00:00', '2027-11-15 19:00:00', '2027-11-15 20:00:00', 'Europe/Rome']);
    });

    it('stores a moment without an end', async () => {
      await imported('moment.csv', 'Event Name,Event Start Date\nOne moment,2027-10-31T00:30:00Z');
      expect(await momentsOf('One moment')).toEqual(['2027-10-31 02:30:00', '2027-10-31 00:30:00', '2027-10-31 00:30:00', 'Europe/Rome']);
    });

    it.each([
      ['05:10', '05:30', '01:10'],
      ['06:10', '06:30', '01:10'],
      ['05:40', '06:20', '01:40'],
    ])('moves an event in another zone to %s - %s UTC', async (start, end, local) => {
      const name = `Abroad ${start}`;
      const write = (heading: string, ...cells: string[]) =>
        imported('abroad.csv', `${head},External ID${heading}\n${[name, ...cells].join(',')}`);
      await write(',Timezone', '2027-11-07T04:00:00Z', '2027-11-07T05:30:00Z', name, 'America/New_York');
      const { updated } = await write('', `2027-11-07T${start}:00Z`, `2027-11-07T${end}:00Z`, name);
      expect([updated, await momentsOf(name)]).toEqual([
        { event: 1 },
        [`2027-11-07 ${local}:00`, `2027-11-07 ${start}:00`, `2027-11-07 ${end}:00`, 'America/New_York'],
      ]);
    });
  });

  describe('with private events', () => {
    const eventOf = (uid: string, ...lines: string[]) =>
      ['BEGIN:VEVENT', `UID:${uid}@private.example`, `SUMMARY:${uid}`, 'DTSTART:20280301T190000Z', ...lines, 'END:VEVENT'].join('\r\n');
    const visit = eventOf(
      'visit',
      'CLASS:PRIVATE',
      'LOCATION:Dr. Bianchi\\, Via Roma 1',
      'ORGANIZER;CN=Anna Rossi:mailto:anna@private.example',
      'ATTACH;FMTTYPE=image/png:https://private.example/x-ray.png',
    );
    const shared = (name: string, ...lines: string[]) => eventOf(name, 'LOCATION:Shared hall', ...lines);
    const file = (...events: string[]) => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...events, 'END:VCALENDAR', ''].join('\r\n');
    const statusOf = async (title: string) => (await site.db.from('posts').where('post_title', title).first())?.post_status;

    it('keeps a venue, an organizer and an image private that only private events name, and publishes those of others', async () => {
      const secret = shared('secret', 'CLASS:CONFIDENTIAL');
      const daily = ['DTSTART:20280401T190000Z', 'RRULE:FREQ=DAILY;COUNT=3', 'SUMMARY:Course'];
      const series = ['BEGIN:VEVENT', 'UID:course@private.example', ...daily, 'LOCATION:Practice', 'CLASS:PRIVATE', 'END:VEVENT'];
      writeFileSync(join(folder, 'private.ics'), file(visit, secret, shared('open'), series.join('\r\n')));
      const source = await openSource([join(folder, 'private.ics')], { caller: await callerOf(site), prefix: 'wp_', target: '' });
      const entries = await allOf(source.entries());
      expect(entries.flatMap((entry) => ('url' in entry ? [entry.columns.post_status] : []))).toEqual(['private']);
      await importSource(site, source);
      const titles = ['visit', 'Dr. Bianchi', 'Anna Rossi', 'secret', 'open', 'Shared hall', 'Course', 'Practice'];
      expect(await Promise.all(titles.map(statusOf))).toEqual([
        ...['private', 'private', 'private', 'private', 'publish', 'publish', 'private', 'private'],
      ]);
    });

    it('publishes a venue that it imported as private once a public event names it, but not one that editors have withdrawn', async () => {
      const talk = (...lines: string[]) => eventOf('talk', 'LOCATION:Town hall', ...lines);
      const open = eventOf('party', 'LOCATION:Town hall');
      await imported('later.ics', file(talk('CLASS:PRIVATE')));
      expect(await statusOf('Town hall')).toBe('private');
      const { updated } = await imported('later.ics', file(talk('CLASS:PRIVATE'), open));
      expect([await statusOf('Town hall'), updated]).toEqual(['publish', { venue: 1 }]);
      // Changes by editors are kept whether or not a public event still names the venue.
      const change = (columns: object) => site.db.from('posts').where('post_title', 'like', 'Town hall%').update(columns);
      await change({ post_title: 'Town hall of Pisa' });
      await imported('later.ics', file(talk('CLASS:PRIVATE')));
      await change({ post_status: 'private' });
      await imported('later.ics', file(talk('CLASS:PRIVATE'), open));
      expect(await statusOf('Town hall of Pisa')).toBe('private');
    });

    it('replaces the venue and the organizer of a private event', async () => {
      const linksOf = async (title: string) => {
        const { ID } = (await site.db.from('posts').where('post_title', title).first())!;
        const ids = await site.db
          .from('postmeta')
          .where('post_id', ID)
          .whereIn('meta_key', ['_EventVenueID', '_EventOrganizerID'])
          .orderBy('meta_id')
          .pluck('meta_value');
        const rows = await site.db.from('posts').whereIn('ID', ids.map(Number)).orderBy('ID');
        return rows.map(({ post_title: name }) => name);
      };
      const dinner = (...lines: string[]) => file(eventOf('dinner', 'CLASS:PRIVATE', ...lines));
      await imported('dinner.ics', dinner('LOCATION:Home of Carla', 'ORGANIZER;CN=Carla:mailto:carla@private.example'));
      expect(await linksOf('dinner')).toEqual(['Home of Carla', 'Carla']);
      await imported('dinner.ics', dinner('ORGANIZER;CN=Bruno:mailto:bruno@private.example'));
      expect(await linksOf('dinner')).toEqual(['Bruno']);
    });

    it('publishes a venue also if the public event words it differently', async () => {
      const talk = eventOf('worded', 'LOCATION:Word house', 'GEO:45.4;9.2', 'CLASS:PRIVATE');
      await imported('worded.ics', file(talk));
      await imported('worded.ics', file(talk, eventOf('worded openly', 'LOCATION:Word House')));
      expect(await statusOf('Word House')).toBe('publish');
      expect((await imported('worded.ics', file(talk, eventOf('worded openly', 'LOCATION:Word House')))).updated).toEqual({});
    });

    it('publishes no detail that only private events have stated', async () => {
      const detailsOf = async (title: string) => {
        const { ID, post_status: status } = (await site.db.from('posts').where('post_title', title).first())!;
        const rows = await site.db.from('postmeta').where('post_id', ID).where('meta_value', '!=', '').select('meta_key', 'meta_value');
        return [
          status,
          rows.filter(({ meta_key: key }) => /Address|Lat|Lng|Phone|Email|Website/.test(key ?? '')).map((row) => row.meta_value),
        ];
      };
      const secret = eventOf('secret talk', 'CLASS:PRIVATE', 'LOCATION:House\\, Via Roma 3\\, Pisa', 'CONTACT:Dora\\, +39 050 123456');
      await imported('details.ics', file(secret));
      await imported('details.ics', file(secret, eventOf('open talk', 'LOCATION:House', 'CONTACT:Dora')));
      expect(await detailsOf('Dora')).toEqual(['publish', []]);
      expect((await detailsOf('House')).flat().join(' ')).not.toMatch(/publish.*Roma/);
      // Another calendar names the same records with less about them.
      const guest = 'ORGANIZER;CN=Elsa:mailto:elsa@private.example';
      await imported('hidden.ics', file(eventOf('hidden', 'CLASS:PRIVATE', guest)).replace('VERSION:2.0', 'X-WR-CALNAME:hidden'));
      await imported('shown.ics', file(eventOf('shown', 'CONTACT:Elsa')).replace('VERSION:2.0', 'X-WR-CALNAME:shown'));
      expect((await detailsOf('Elsa')).flat().join(' ')).not.toMatch(/publish.*elsa@/);
    });

    it('does not publish again what an editor has withdrawn after another calendar had published it', async () => {
      const named = (name: string, ...lines: string[]) =>
        file(eventOf(`${name} withdrawn`, 'LOCATION:Withdrawn hall', ...lines)).replace('VERSION:2.0', `X-WR-CALNAME:${name} withdrawn`);
      await imported('a.ics', named('a', 'CLASS:PRIVATE'));
      await imported('b.ics', named('b', 'DESCRIPTION:open'));
      expect(await statusOf('Withdrawn hall')).toBe('publish');
      await site.db.from('posts').where('post_title', 'Withdrawn hall').update({ post_status: 'private' });
      await imported('a.ics', named('a', 'DESCRIPTION:open'));
      expect(await statusOf('Withdrawn hall')).toBe('private');
    });

    it.each([true, false])(
      'publishes a venue that a public event names after a private one in the same file (dry run: %s)',
      async (dryRun) => {
        const venue: PostItem = {
        kind: 'venue', sourceId: 'venue:late', columns: { post_title: 'Late hall', post_status: 'publish' }, metas: [], links: [],
        complete: false, match: 'details', initial: ['post_status'],
      }; // biome-ignore format: short
        const report = await importItems(site, await callerOf(site), streamOf([hiddenForm(venue), venue]), { source: 'late', dryRun });
        expect([report.created, report.updated, await statusOf('Late hall')]).toEqual([
          { venue: 1 },
          { venue: 1 },
          dryRun ? undefined : 'publish',
        ]);
      },
    );

    it('does not publish venues that an earlier import made private because its user wanted that', async () => {
      const walk = file(eventOf('walk', 'LOCATION:Withheld park'));
      await imported('withheld.ics', walk, { status: 'private' });
      await imported('withheld.ics', walk);
      expect(await statusOf('Withheld park')).toBe('private');
    });

    it.each(['public', 'private first'])('publishes a venue that a private event of another calendar has brought: %s', async (order) => {
      const named = (name: string, ...lines: string[]) =>
        file(eventOf(`${name} ${order}`, `LOCATION:Joint ${order}`, ...lines)).replace('VERSION:2.0', `X-WR-CALNAME:${name} ${order}`);
      await imported('one.ics', named('one', 'CLASS:PRIVATE'));
      if (order === 'private first') await imported('two.ics', named('two', 'CLASS:PRIVATE'));
      expect(await statusOf(`Joint ${order}`)).toBe('private');
      await imported('two.ics', named('two', 'DESCRIPTION:open'));
      expect(await statusOf(`Joint ${order}`)).toBe('publish');
      expect(await site.db.from('posts').where('post_title', `Joint ${order}`)).toHaveLength(1);
    });

    it.each(['same', 'other'])(
      'publishes an image once a public event of the %s calendar names it, with or without its file',
      async (which) => {
        const url = `https://private.example/poster-${which}.png`;
        const show = (name: string, ...lines: string[]) => eventOf(`${name} ${which}`, `ATTACH;FMTTYPE=image/png:${url}`, ...lines);
        const status = async () => (await site.db.from('posts').where('guid', url).first())?.post_status;
        const metas = metaRows([
          ['_wp_attached_file', `2026/01/${which}.png`],
          ['_tribe_importer_original_url', url],
        ]);
        const fetchFile: ImportOptions['fetchFile'] = async (item, stored) => ({
          item: stored?.size ? item : { ...item, metas: [...item.metas, ...metas] },
        });
        await imported('posters.ics', file(show('secret show', 'CLASS:PRIVATE')), { fetchFile });
        expect(await status()).toBe('private');
        const [name, options] = which === 'same' ? (['posters.ics', { fetchFile }] as const) : (['other-posters.ics', {}] as const);
        const text = file(show('secret show', 'CLASS:PRIVATE'), show('open show')).replace('VERSION:2.0', `X-WR-CALNAME:${which}`);
        const { updated } = await imported(
          name,
          which === 'same' ? file(show('secret show', 'CLASS:PRIVATE'), show('open show')) : text,
          options,
        );
        expect([await status(), updated.attachment]).toEqual(['inherit', 1]);
      },
    );
  });
});
