/** Calendars of The Events Calendar and of Fasti: UIDs contain the dates, and two sites may import each other's. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportEntries, itemsOf } from '../../src/exchange/exporter.ts';
import { calendarHeadOf, eventRecords } from '../../src/exchange/ical/records.ts';
import { writeCalendar } from '../../src/exchange/ical/write.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import { ledgerKey } from '../../src/exchange/import/ledger.ts';
import { isItem } from '../../src/exchange/items/items.ts';
import { lastingPart } from '../../src/exchange/items/lasting-uid.ts';
import { asWholeRecord, lossEntry } from '../../src/exchange/items/report.ts';
import { formerDigestOf } from '../../src/exchange/items/versions.ts';
import { openSource } from '../../src/exchange/sources.ts';
import { CALENDAR_UID } from '../../src/kinds/events/metas.ts';
import { postKind } from '../../src/kinds/index.ts';
import { acceptParams } from '../../src/records/input.ts';
import { changePost, createPost } from '../../src/records/writes/post-writes.ts';
import type { Site } from '../../src/site.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { allOf, bareFixture, callerOf, importSource, siteOf, streamOf } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-exchanged-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const EVENT = postKind('event');
const FAIR = { title: 'Fair & market', description: '<p>All <b>day</b></p>', start_date: '2027-03-04 10:00', end_date: '2027-03-04 12:00' };

/** A calendar as the plugin writes it; of each event, the UID and lines. */
const pluginCalendar = (events: Record<string, readonly string[]>, writer = '-//Town - ECPv6.17.2//NONSGML v1.0//EN') =>
  [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', `PRODID:${writer}`, 'X-WR-CALNAME:Town', 'X-ORIGINAL-URL:https://town.example'],
    ...Object.entries(events).flatMap(([uid, lines]) => ['BEGIN:VEVENT', `UID:${uid}`, ...lines, 'END:VEVENT']),
    ...['END:VCALENDAR', ''],
  ].join('\r\n');

describeDatabases('calendars that sites exchange', (open) => {
  let sites: Site[] = [];
  beforeEach(async () => {
    await Promise.all(sites.map((site) => site.close()));
    sites = [];
  });
  afterAll(() => Promise.all(sites.map((site) => site.close())));

  /** Opens a site without records whose address has this host. */
  const siteAt = async (host: string) => {
    const db = await open();
    await loadSite(db, bareFixture());
    await db
      .from('options')
      .whereIn('option_name', ['home', 'siteurl'])
      .update({ option_value: `https://${host}` });
    await db.from('options').where('option_name', 'blogname').update({ option_value: host });
    const site = await siteOf(db);
    sites.push(site);
    return site;
  };
  const create = async (site: Site, values: object) => {
    const caller = await callerOf(site);
    const { record } = await createPost(site, caller, EVENT, await acceptParams(site, caller, EVENT.fields, { ...values }, 'create'));
    return Number((record as { id?: unknown }).id);
  };
  const change = async (site: Site, id: number, values: object) => {
    const caller = await callerOf(site);
    await changePost(site, caller, EVENT, id, await acceptParams(site, caller, EVENT.fields, { ...values }, 'change'));
  };
  const exported = async (site: Site) => {
    const caller = await callerOf(site);
    const items = itemsOf(exportEntries(site, caller, { kinds: ['event'], statuses: ['publish'] }), () => undefined);
    return (await allOf(writeCalendar(eventRecords(site, caller, items), calendarHeadOf(site, caller, 'en')))).join('');
  };
  const sourceOf = async (site: Site, text: string) => {
    writeFileSync(join(folder, 'calendar.ics'), text);
    const range = { from: '2027-01-01', to: '2027-12-31' };
    return openSource([join(folder, 'calendar.ics')], { caller: await callerOf(site), prefix: 'wp_', target: '', ...range });
  };
  const imported = async (site: Site, text: string, options = {}) => importSource(site, await sourceOf(site, text), options);
  const eventsOf = (site: Site) => site.db.from('posts').where({ post_type: 'tribe_events', post_status: 'publish' }).orderBy('ID');
  const startsOf = async (site: Site) => {
    const ids = (await eventsOf(site)).map(({ ID }) => ID);
    const rows = await site.db.from('postmeta').whereIn('post_id', ids).where('meta_key', '_EventStartDate').orderBy('post_id');
    return rows.map(({ meta_value: value }) => value);
  };

  it('move events that have moved', async () => {
    const [one, other] = [await siteAt('d.example'), await siteAt('c.example')];
    const id = await create(one, FAIR);
    expect((await imported(other, await exported(one))).created.event).toBe(1);
    await change(one, id, { start_date: '2027-03-11 10:00', end_date: '2027-03-11 12:00' });
    const moved = await exported(one);
    expect((await imported(other, moved, { dryRun: true })).updated.event).toBe(1);
    expect((await imported(other, moved)).updated.event).toBe(1);
    expect(await startsOf(other)).toEqual(['2027-03-11 10:00:00']);
    expect((await imported(other, moved)).unchanged.event).toBe(1);
  });

  it('move events that earlier versions imported by their whole UIDs, and leave what people have changed', async () => {
    const site = await siteAt('c.example');
    const uid = '38-1804154400-1804161600@town.example';
    const text = pluginCalendar({ [uid]: ['SUMMARY:Fair', 'DTSTART:20270304T100000Z', 'DTEND:20270304T120000Z'] });
    await imported(site, text);
    const source = await sourceOf(site, text);
    const [item] = (await allOf(source.entries())).flatMap((entry) => (entry.kind === 'event' ? [entry] : []));
    expect(item!.sourceId).toBe('38@town.example');
    const former = { item: ledgerKey('post', uid), digest: formerDigestOf({ ...item!, sourceId: uid }) };
    await site.db.from('fasti_import_ids').where('kind', 'event').update(former);
    const [event] = await eventsOf(site);
    await change(site, event!.ID, { title: 'Our fair' });
    expect((await imported(site, text)).unchanged.event).toBe(1);
    expect((await eventsOf(site)).map(({ post_title: title }) => title)).toEqual(['Our fair']);
    const moved = { '38-1804240800-1804248000@town.example': ['SUMMARY:Fair', 'DTSTART:20270305T100000Z', 'DTEND:20270305T120000Z'] };
    expect((await imported(site, pluginCalendar(moved))).updated.event).toBe(1);
    expect((await eventsOf(site)).length).toBe(1);
  });

  describe('give events other ids or another host, so that they', () => {
    const CREATED = 'CREATED:20250101T100000Z';
    const yoga = (id: string, day: number, more: readonly string[] = []): [string, readonly string[]] => {
      const start = Date.UTC(2027, 2, day, 10) / 1000;
      const lines = ['SUMMARY:Yoga', `DTSTART:202703${String(day).padStart(2, '0')}T100000Z`, CREATED, ...more];
      return [id.replace('@', `-${start}-${start}@`), lines];
    };
    const file = (...events: [string, readonly string[]][]) => pluginCalendar(Object.fromEntries(events));
    const statesOf = async (site: Site) => {
      const events = await eventsOf(site);
      const rows = await site.db.from('postmeta').where('meta_key', '_tribe_events_status');
      const states = new Map(rows.map(({ post_id: id, meta_value: value }) => [id, value]));
      return events.map(({ ID, post_title: title }) => `${title} ${states.get(ID) ?? ''}`.trim());
    };

    /** Returns the ids and hosts in the UIDs of events, by their records in order. */
    const namesOf = async (site: Site) => {
      const rows = await site.db.from('postmeta').where('meta_key', CALENDAR_UID).orderBy('post_id');
      return rows.map(({ meta_value: uid }) => lastingPart(uid ?? ''));
    };

    it('go on as the first date of an event that begins to recur, and as the event that ceases to', async () => {
      const site = await siteAt('c.example');
      await imported(site, file(yoga('38@town.example', 4)));
      const dates = (...more: string[]) => file(yoga('10000101@town.example', 4, more), yoga('10000102@town.example', 11, more));
      expect(await imported(site, dates(), { dryRun: true })).toMatchObject({ created: { event: 1 }, updated: { event: 1 } });
      expect(await imported(site, dates())).toMatchObject({ created: { event: 1 }, updated: { event: 1 } });
      expect(await imported(site, dates())).toMatchObject({ created: {}, updated: {}, unchanged: { event: 2 } });
      expect((await imported(site, dates('STATUS:CANCELLED'))).updated.event).toBe(2);
      expect(await statesOf(site)).toEqual(['Yoga canceled', 'Yoga canceled']);
      expect(await imported(site, file(yoga('38@town.example', 4, ['STATUS:CONFIRMED'])))).toMatchObject({
        created: {},
        updated: { event: 1 },
      });
      expect(await statesOf(site)).toEqual(['Yoga', 'Yoga canceled']);
    });

    it('go on if the site moves to another host', async () => {
      const site = await siteAt('c.example');
      const events = (host: string, ...more: string[]) => file(yoga(`39@${host}`, 4, more), yoga(`38@${host}`, 4, more));
      const before = file(yoga('38@town.example', 4), yoga('39@town.example', 4));
      expect((await imported(site, before)).created.event).toBe(2);
      const [first] = await eventsOf(site);
      await site.db.from('posts').where('ID', first!.ID).update({ post_status: 'draft' });
      expect(await imported(site, events('www.town.example'))).toMatchObject({ created: {}, updated: { event: 2 } });
      expect(await namesOf(site)).toEqual(['38@www.town.example', '39@www.town.example']);
      expect(await imported(site, events('www.town.example', 'STATUS:CANCELLED'))).toMatchObject({ created: {}, updated: { event: 2 } });
      expect(await statesOf(site)).toEqual(['Yoga canceled']);
    });

    it('keep their records apart if the site moves and has other events that look the same', async () => {
      const site = await siteAt('c.example');
      await imported(site, file(yoga('38@town.example', 4), yoga('39@town.example', 4)));
      const moved = ['40', '41', '39'].map((id) => yoga(`${id}@www.town.example`, 4));
      for (const dryRun of [true, false])
        expect(await imported(site, file(...moved), { dryRun })).toMatchObject({ created: { event: 1 }, updated: { event: 2 } });
      expect(await namesOf(site)).toEqual(['40@www.town.example', '39@www.town.example', '41@www.town.example']);
    });

    it('stay apart from others that look the same, although those cannot be read this time', async () => {
      const site = await siteAt('c.example');
      const itemsIn = async (...ids: string[]) =>
        (await allOf((await sourceOf(site, file(...ids.map((id) => yoga(id, 4))))).entries())).filter(isItem);
      const [one, other] = await itemsIn('38@town.example', '39@town.example');
      const options = { source: 'calendar' };
      const caller = await callerOf(site);
      expect((await importItems(site, caller, streamOf([one!]), options)).created.event).toBe(1);
      const unread = asWholeRecord(lossEntry({ reason: 'site-record-unreadable', kind: 'event', of: 'Yoga' }), one!.sourceId);
      expect((await importItems(site, caller, streamOf([unread, other!]), options)).created.event).toBe(1);
    });

    it.each([
      ['a start', ['SUMMARY:Yoga', 'DTSTART:broken', CREATED]],
      ['a rule', ['SUMMARY:Yoga', 'DTSTART:20270304T100000Z', 'RRULE:FREQ=NEVER', CREATED]],
    ])('stay apart from others that look the same, although %s of theirs cannot be read', async (_, lines) => {
      const site = await siteAt('c.example');
      const [[uid], other] = [yoga('38@town.example', 4), yoga('39@town.example', 4)];
      await imported(site, file(yoga('38@town.example', 4)));
      expect((await imported(site, file([uid, lines], other))).created.event).toBe(1);
      expect(await namesOf(site)).toEqual(['38@town.example', '39@town.example']);
      expect(await imported(site, file(yoga('38@town.example', 4), other))).toMatchObject({ created: {}, unchanged: { event: 2 } });
    });

    it('stay apart from others that look the same and come later', async () => {
      const site = await siteAt('c.example');
      await imported(site, file(yoga('38@town.example', 4)));
      const both = file(yoga('39@town.example', 4), yoga('38@town.example', 4));
      expect(await imported(site, both)).toMatchObject({ created: { event: 1 }, unchanged: { event: 1 } });
      expect(await imported(site, both)).toMatchObject({ created: {}, updated: {}, unchanged: { event: 2 } });
      expect((await eventsOf(site)).length).toBe(2);
    });
  });

  it('keep dates apart that have one id in a file, and events of other programs', async () => {
    const site = await siteAt('c.example');
    const event = (day: number) => ['SUMMARY:Yoga', `DTSTART:202703${day}T100000Z`];
    const dates = { '38-1805018400-1805018400@town.example': event(14), '38-1805104800-1805104800@town.example': event(15) };
    expect((await imported(site, pluginCalendar(dates))).created.event).toBe(2);
    expect((await imported(site, pluginCalendar(dates))).unchanged.event).toBe(2);
    const [first, second] = ['20270316-100000-1@other.example', '20270316-110000-2@other.example'] as const;
    expect((await imported(site, pluginCalendar({ [first]: event(16) }, '-//Other//EN'))).created.event).toBe(1);
    expect((await imported(site, pluginCalendar({ [second]: event(16) }, '-//Other//EN'))).created.event).toBe(1);
  });

  it('bring an event of another calendar again if that of the same UID is a draft of somebody else', async () => {
    const site = await siteAt('c.example');
    const text = pluginCalendar({ '7@town.example': ['SUMMARY:Fair', 'DTSTART:20270304T100000Z'] }, '-//Other//EN');
    const from = (name: string) =>
      imported(site, text.replace('CALNAME:Town', `CALNAME:${name}`).replace('town.example\r\n', `${name}.example\r\n`));
    expect((await from('one')).created.event).toBe(1);
    expect((await from('two')).created).toEqual({});
    const [event] = await eventsOf(site);
    await site.db.from('posts').where('ID', event!.ID).update({ post_status: 'draft', post_author: 2 });
    expect((await from('three')).created.event).toBe(1);
    expect((await site.db.from('posts').where('ID', event!.ID).first())!.post_status).toBe('draft');
    // Those who have brought it before continue to find it.
    expect((await from('two')).created).toEqual({});
  });

  it('keep their events, however often two sites import each other', async () => {
    const [one, other] = [await siteAt('a.example'), await siteAt('b.example')];
    const id = await create(one, { ...FAIR, website: 'https://fair.example' });
    await create(other, { ...FAIR, title: 'Concert' });
    const before = await one.db.from('posts').where('ID', id).first();
    const exchange = async () => [await imported(other, await exported(one)), await imported(one, await exported(other))];
    expect((await exchange()).map(({ created }) => created.event)).toEqual([1, 1]);
    // A copy that people have changed does not change its origin.
    const copy = (await eventsOf(other)).find(({ post_title: title }) => /^Fair/.test(title));
    await change(other, copy!.ID, { title: 'Market', start_date: '2027-03-05 10:00', end_date: '2027-03-05 12:00' });
    for (let round = 0; round < 2; round += 1) expect((await exchange()).map(({ created }) => created)).toEqual([{}, {}]);
    expect([(await eventsOf(one)).length, (await eventsOf(other)).length]).toEqual([2, 2]);
    expect(await one.db.from('posts').where('ID', id).first()).toEqual(before);
  });

  it('leave the events of their own site as they are', async () => {
    const site = await siteAt('a.example');
    const id = await create(site, FAIR);
    const text = await exported(site);
    const before = await site.db.from('posts').where('ID', id).first();
    expect(await imported(site, text)).toMatchObject({ created: {}, updated: {}, unchanged: { event: 1 } });
    await change(site, id, { start_date: '2027-03-11 10:00', end_date: '2027-03-11 12:00' });
    expect((await imported(site, text)).created).toEqual({});
    expect((await site.db.from('posts').where('ID', id).first())?.post_content).toBe(before?.post_content);
    expect(await startsOf(site)).toEqual(['2027-03-11 10:00:00']);
  });

  it('bring events whose host and id are those of another event', async () => {
    const site = await siteAt('a.example');
    const id = await create(site, FAIR);
    const lines = ['SUMMARY:Concert', 'DTSTART:20270304T100000Z', 'CREATED:20250101T100000Z'];
    expect((await imported(site, pluginCalendar({ [`${id}-1804154400-1804154400@a.example`]: lines }))).created.event).toBe(1);
  });

  it('go on updating events under another name of the calendar', async () => {
    const site = await siteAt('c.example');
    const lines = ['SUMMARY:Fair', 'DTSTART:20270304T100000Z', 'CREATED:20250101T100000Z'];
    const text = (...more: string[]) => pluginCalendar({ '38-1804154400-1804154400@town.example': [...lines, ...more] });
    await imported(site, text());
    const renamed = (...more: string[]) => text(...more).replace('CALNAME:Town', 'CALNAME:City');
    expect((await imported(site, renamed())).created).toEqual({});
    expect((await imported(site, renamed('DESCRIPTION:New'))).updated.event).toBe(1);
  });

  it('update events under another name of the calendar, whatever program wrote it', async () => {
    const site = await siteAt('c.example');
    const calendar = (name: string, ...events: (readonly string[])[]) =>
      pluginCalendar({}, '-//Other//EN')
        .replace('CALNAME:Town', `CALNAME:${name}`)
        .replace('END:VCALENDAR', [...events.flatMap((lines) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT']), 'END:VCALENDAR'].join('\r\n'));
    const fair = (start: string) => ['UID:fair-of-2027', 'SUMMARY:Fair', `DTSTART:${start}`];
    const yoga = ['UID:yoga', 'SUMMARY:Yoga', 'DTSTART:20270301T100000Z', 'RRULE:FREQ=WEEKLY;COUNT=3'];
    expect((await imported(site, calendar('One', fair('20270304T100000Z'), yoga))).created.event).toBe(4);
    const moved = calendar('Two', fair('20270311T100000Z'), [...yoga, 'DESCRIPTION:Bring a mat']);
    expect(await imported(site, moved, { dryRun: true })).toMatchObject({ created: {}, updated: { event: 4 } });
    expect(await imported(site, moved)).toMatchObject({ created: {}, updated: { event: 4 } });
    expect(await imported(site, moved)).toMatchObject({ created: {}, updated: {}, unchanged: { event: 4 } });
    expect((await startsOf(site))[0]).toBe('2027-03-11 11:00:00');
    // Some programs give many events one UID.
    const other = calendar('Three', ['UID:fair-of-2027', 'SUMMARY:Concert', 'DTSTART:20270501T100000Z']);
    expect((await imported(site, other)).created.event).toBe(1);
    // A date that the new calendar lacks may still be in the old one.
    const shorter = calendar('Two', fair('20270311T100000Z'), yoga.with(3, 'RRULE:FREQ=WEEKLY;COUNT=2'));
    expect((await imported(site, shorter)).trashed).toEqual({});
  });

  it('move the dates of a series whose UID changes with them, and drop its old dates', async () => {
    const site = await siteAt('c.example');
    const series = (uid: string, start: string) =>
      pluginCalendar({ [uid]: ['SUMMARY:Yoga', `DTSTART:${start}`, 'RRULE:FREQ=WEEKLY;COUNT=3'] });
    await imported(site, series('38-1803895200-1803902400@town.example', '20270301T100000Z'));
    const moved = series('38-1803981600-1803988800@town.example', '20270302T100000Z');
    expect((await imported(site, moved, { dryRun: true })).trashed.event).toBe(3);
    expect((await imported(site, moved)).trashed.event).toBe(3);
    expect(await startsOf(site)).toEqual(['2027-03-02 11:00:00', '2027-03-09 11:00:00', '2027-03-16 11:00:00']);
  });

  it('leave a venue its street if the line of a calendar adds a country', async () => {
    const site = await siteAt('c.example');
    const caller = await callerOf(site);
    const VENUE = postKind('venue');
    const hall = { venue: 'Hall', address: 'Piazza Grande 5', city: 'Borgo', zip: '06099' };
    await createPost(site, caller, VENUE, await acceptParams(site, caller, VENUE.fields, hall, 'create'));
    const event = (street: string) => ['SUMMARY:Play', 'DTSTART:20270304T100000Z', `LOCATION:Hall\\, ${street}\\, 06099 Borgo\\, Italy`];
    const addresses = async () => (await site.db.from('postmeta').where('meta_key', '_VenueAddress')).map(({ meta_value: value }) => value);
    await imported(site, pluginCalendar({ said: event('Piazza Grande 5') }));
    expect(await addresses()).toEqual(['Piazza Grande 5']);
    await imported(site, pluginCalendar({ moved: event('Piazza Grande 7') }));
    expect(await addresses()).toEqual(['Piazza Grande 7, 06099 Borgo, Italy']);
  });
});
