import { mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { OCCURRENCE_BASE_OPTION } from '../../src/calendar/settings.ts';
import { openCsv } from '../../src/exchange/csv/read.ts';
import { writeCsv } from '../../src/exchange/csv/write.ts';
import { exportEntries, itemsOf } from '../../src/exchange/exporter.ts';
import { calendarHeadOf, eventRecords } from '../../src/exchange/ical/records.ts';
import { writeCalendar } from '../../src/exchange/ical/write.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import { eachDate } from '../../src/exchange/items/each-date.ts';
import { isPostItem, type PostItem } from '../../src/exchange/items/items.ts';
import { openJsonLines, writeJsonLines } from '../../src/exchange/items/json-lines.ts';
import type { LossEntry, Report } from '../../src/exchange/items/report.ts';
import type { Source } from '../../src/exchange/items/source.ts';
import { openWordpressDatabase } from '../../src/exchange/wordpress-database.ts';
import { openWxr } from '../../src/exchange/wxr/read.ts';
import { writeWxr } from '../../src/exchange/wxr/write.ts';
import { EXTERNAL_ID } from '../../src/kinds/external-id.ts';
import { postKind } from '../../src/kinds/index.ts';
import { acceptParams } from '../../src/records/input.ts';
import { listPosts, readPost } from '../../src/records/posts.ts';
import { deleteDate } from '../../src/records/writes/post-writes.ts';
import type { Site } from '../../src/site.ts';
import { auditDates } from '../../src/storage/audit/event-audit.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { extendRule, withFurtherDates } from '../../src/storage/rows/rule-dates.ts';
import { parseZone } from '../../src/wordpress/zones.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { EXPECTED_DATES, loadRecurringSite } from '../support/recurring-site.ts';
import { allOf, bareSite, callerOf, importSource, metaRows, NOW, siteOf } from './sites.ts';

const IN_TABLES = EXPECTED_DATES.filter(({ form }) => form === 'tables');
const EVENT = postKind('event');

async function* again<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

it('keeps further dates of a rule in UTC with their times by the clock of the event', () => {
  const date = (start: string, startUtc: string) => ({
    id: 1,
    start,
    end: start,
    startUtc,
    endUtc: startUtc,
    duration: 600,
    sequence: 1,
    listed: false,
  });
  const first = date('2031-02-03 20:30:00', '2031-02-04 01:30:00');
  const further = date('2031-04-07 21:30:00', '2031-04-08 01:30:00');
  const imported = { recurs: true, rule: 'DTSTART:20310204T013000Z\nRRULE:FREQ=WEEKLY', dates: [first] };
  for (const start of [further.start, further.startUtc]) {
    const stored = { ...imported, dates: [first, { ...further, start }] };
    const kept = withFurtherDates(imported, stored, parseZone('America/New_York')!).dates.at(-1);
    expect([kept?.start, kept?.end, kept?.endUtc]).toEqual(['2031-04-07 21:30:00', '2031-04-07 21:40:00', '2031-04-08 01:40:00']);
  }
});

describeDatabases('import and export of recurring events', (open) => {
  let db: Database;
  let source: Site;
  beforeAll(async () => {
    db = await loadRecurringSite(await open());
    source = await siteOf(db);
  });
  afterAll(() => source?.close());

  const imported = async (into: Site, from: Source): Promise<Report> => {
    try {
      return await importItems(into, await callerOf(into), from.entries(), { source: from.name(), trustedAccounts: true });
    } finally {
      await from.close();
    }
  };
  const fromDatabase = () => openWordpressDatabase({ url: urlOf(db), prefix: db.prefix });

  /** Returns the tables of recurring events without IDs that each database assigns itself. */
  const tablesOf = async (of: Database) => ({
    rules: await of.from('tec_events').where('rset', '<>', '').orderBy('post_id').select('post_id', 'rset', 'start_date', 'end_date_utc'),
    dates: (await of.from('tec_occurrences').where('post_id', '>', 500).where('post_id', '<', 520).orderBy('occurrence_id')).map(
      ({ event_id: _event, updated_at: _at, sequence, ...row }) => ({ ...row, sequence: Number(sequence ?? 0) }),
    ),
    series: (
      await of
        .knex({ r: of.table('tec_series_relationships') })
        .join({ p: of.table('posts') }, 'p.ID', 'r.series_post_id')
        .orderBy('r.event_post_id')
        .select('r.event_post_id', 'p.post_title', 'p.post_name', 'p.ID')
    ).map((row) => ({ ...row })),
  });

  /** Returns the findings of fasti doctor about events whose dates were changed. */
  const faultsOf = async (site: Site) => {
    const findings: unknown[] = [];
    for await (const finding of auditDates(site.db, { rows: true, recurrence: (await site.settings()).recurrence }))
      if ([39, 501].includes(finding.id)) findings.push(finding);
    return findings;
  };

  const listedIn = async (site: Site) => {
    const caller = await callerOf(site, 0);
    const own = { ...site, config: { ...site.config, maxPerPage: 200 } };
    const values = await acceptParams(
      own,
      caller,
      EVENT.filters,
      { start_date: '2031-01-01', end_date: '2034-12-31', per_page: '200' },
      'read',
    );
    const { records, total } = await listPosts(own, caller, EVENT, values);
    return { total, dates: records.map(({ id, start_date, utc_end_date }) => ({ id, start_date, utc_end_date })) };
  };

  it('copies all dates from a database, and changes nothing the second time', async () => {
    const site = await bareSite(await open());
    const report = await imported(site, await fromDatabase());
    // In the old form of recurrence each date is a post, so the rules of its three events create no further dates.
    const losses = Object.fromEntries(report.losses.map(({ reason, count }) => [reason, count]));
    expect([losses.recurrence, losses['occurrence-ids'], losses['dates-unsound']]).toEqual([3, undefined, undefined]);
    expect(await tablesOf(site.db)).toEqual(await tablesOf(db));
    const { dates } = await listedIn(site);
    expect(dates).toEqual(
      expect.arrayContaining(
        IN_TABLES.filter(({ post_id: post }) => post !== 513).map((date) => ({
          id: date.provisional_id,
          start_date: date.start_date,
          utc_end_date: date.utc_end_date,
        })),
      ),
    );
    expect(dates.filter(({ start_date }) => String(start_date).startsWith('2031-09'))).toHaveLength(8);
    const entries = () => site.db.from('fasti_journal').orderBy('number').select('number', 'kind', 'type', 'object');
    const before = await entries();
    const again = await imported(site, await fromDatabase());
    expect([again.created.event ?? 0, again.updated.event ?? 0]).toEqual([0, 0]);
    // The journal contains no new changes.
    expect((await entries()).slice(before.length)).toEqual([]);
    await site.close();
  });

  it('follows a rule that changed in the source, and keeps the IDs of remaining dates', async () => {
    const own = await loadRecurringSite(await open());
    const site = await bareSite(await open());
    const from = () => openWordpressDatabase({ url: urlOf(own), prefix: own.prefix });
    await imported(site, await from());
    await own.from('tec_occurrences').where('occurrence_id', 303).delete();
    await own.from('tec_events').where('post_id', 501).update({
      rset: 'DTSTART;TZID=Europe/Rome:20310113T100000\nDTEND;TZID=Europe/Rome:20310113T110000\nRRULE:FREQ=DAILY;INTERVAL=1;COUNT=5\nEXDATE:20310115T100000',
    });
    const report = await imported(site, await from());
    expect(report.updated.event).toBe(1);
    expect(await tablesOf(site.db)).toEqual(await tablesOf(own));
    await site.close();
  });

  it('takes over metas that contradict the dates of an event in the source, and leaves its dates', async () => {
    const own = await loadRecurringSite(await open());
    const site = await bareSite(await open());
    const from = () => openWordpressDatabase({ url: urlOf(own), prefix: own.prefix });
    await imported(site, await from());
    const before = await tablesOf(site.db);
    const [end, endUtc] = ['2031-01-14 21:00:00', '2031-01-14 20:00:00'];
    for (const [meta_key, meta_value] of Object.entries({ _EventEndDate: end, _EventEndDateUTC: endUtc }))
      await own.from('postmeta').where({ post_id: 502, meta_key }).update({ meta_value });
    await own.from('posts').where('ID', 503).update({ post_title: 'Changed in the same batch' });
    const report = await imported(site, await from());
    expect(report.updated.event).toBe(2);
    expect(await tablesOf(site.db)).toEqual(before);
    expect((await site.db.from('postmeta').where({ post_id: 502, meta_key: '_EventEndDate' }).first())?.meta_value).toBe(end);
    expect((await imported(site, await from())).updated.event ?? 0).toBe(0);
    await site.close();
  });

  it('keeps the rules and dates of an event that recurs here if a file has others', async () => {
    const ownDb = await loadRecurringSite(await open());
    const own = await siteOf(ownDb);
    const site = await bareSite(await open());
    await imported(site, await openWordpressDatabase({ url: urlOf(ownDb), prefix: ownDb.prefix }));
    const dates = { start_date: '2031-01-21 18:30:00', end_date: '2031-01-21 20:00:00' };
    const row = await site.db
      .from('tec_occurrences')
      .where({ post_id: 502, ...dates })
      .first();
    await deleteDate(site, await callerOf(site), EVENT, 10_000_000 + row!.occurrence_id);
    const rules = () =>
      site.db
        .from('postmeta')
        .where('post_id', 502)
        .where('meta_key', 'like', '%ecurrence%')
        .orderBy('meta_key')
        .select('meta_key', 'meta_value');
    const before = [await rules(), await tablesOf(site.db)];
    await ownDb.from('posts').where('ID', 502).update({ post_title: 'Choir, with a new title' });
    const caller = await callerOf(own);
    const items = itemsOf(exportEntries(own, caller, { kinds: ['event'], statuses: ['publish'] }), () => undefined);
    const head = { home: caller.settings.home, title: 'Sample', description: '', language: 'en', now: NOW };
    const file = join(mkdtempSync(join(tmpdir(), 'fasti-recurring-')), 'events.xml');
    await writeFile(file, (await allOf(writeWxr(head, items))).join(''));
    const report = await imported(site, openWxr([file]));
    expect((await site.db.from('posts').where('ID', 502).first())?.post_title).toBe('Choir, with a new title');
    expect([await rules(), await tablesOf(site.db)]).toEqual(before);
    const losses = report.losses.filter(({ reason }) => reason === 'recurring-dates');
    expect(losses.map(({ examples, count }) => [examples[0]?.of, count])).toEqual([['Choir, with a new title', 1]]);
    await own.close();
    await site.close();
  });

  it('keeps the dates that a rule without end has got here since, and their IDs', async () => {
    const own = await loadRecurringSite(await open());
    const site = await bareSite(await open());
    const from = () => openWordpressDatabase({ url: urlOf(own), prefix: own.prefix });
    await imported(site, await from());
    const datesOf = async () =>
      (await site.db.from('tec_occurrences').where('post_id', 510).orderBy('start_date_utc')).map((row) => [
        row.occurrence_id,
        row.start_date,
        row.end_date,
      ]);
    const until = '2031-08-01 00:00:00';
    expect(await site.db.transaction((trx) => extendRule(trx, 510, { until, updatedAt: until }))).toBe(16);
    const before = await datesOf();
    await own.from('posts').where('ID', 510).update({ post_title: 'Yoga' });
    expect((await imported(site, await from())).updated.event).toBe(1);
    expect(await datesOf()).toEqual(before);
    // The source generates one of them itself, with another save.
    const last = (await own.from('tec_occurrences').where('post_id', 510).orderBy('start_date_utc', 'desc').first())!;
    await own.from('tec_occurrences').where('post_id', 510).update({ sequence: 2 });
    const { occurrence_id: _, ...row } = last;
    const next = { start_date: '2031-04-14 08:00:00', end_date: '2031-04-14 08:45:00' };
    const nextUtc = { start_date_utc: '2031-04-14 06:00:00', end_date_utc: '2031-04-14 06:45:00' };
    await own.from('tec_occurrences').insert({ ...row, ...next, ...nextUtc, sequence: 2, hash: 'next' });
    expect((await imported(site, await from())).updated.event).toBe(1);
    expect(await datesOf()).toEqual(before);
    await site.close();
  });

  it('gives the dates that a rule without end has got here since the length that the event has got in the source', async () => {
    const own = await loadRecurringSite(await open());
    const site = await bareSite(await open());
    const from = () => openWordpressDatabase({ url: urlOf(own), prefix: own.prefix });
    await imported(site, await from());
    const rows = () => site.db.from('tec_occurrences').where('post_id', 510).orderBy('start_date_utc');
    const until = '2031-08-01 00:00:00';
    await site.db.transaction((trx) => extendRule(trx, 510, { until, updatedAt: until }));
    const before = await rows();
    // The event lasts ten minutes longer, and its last row is from an earlier save.
    const longer = (text: string | null) => (text ?? '').replace(/:45:00$/, ':55:00');
    for (const table of ['tec_events', 'tec_occurrences'] as const)
      for (const { start_date, end_date, end_date_utc } of await own.from(table).where('post_id', 510))
        await own
          .from(table)
          .where({ post_id: 510, start_date })
          .update({ end_date: longer(end_date), end_date_utc: longer(end_date_utc), duration: 3300 });
    for (const { meta_id, meta_key, meta_value } of await own.from('postmeta').where('post_id', 510))
      if (/^_Event(End|Duration)/.test(meta_key ?? ''))
        await own
          .from('postmeta')
          .where({ meta_id })
          .update({ meta_value: meta_key === '_EventDuration' ? '3300' : longer(meta_value) });
    const { rset } = (await own.from('tec_events').where('post_id', 510).first())!;
    const longerSet = rset!.replace(/^(DTEND[^\n]*T)084500$/m, '$1085500');
    expect(longerSet).not.toBe(rset);
    await own.from('tec_events').where('post_id', 510).update({ rset: longerSet });
    const [firstRow] = await own.from('tec_occurrences').where('post_id', 510).orderBy('start_date_utc');
    await own.from('tec_occurrences').where('occurrence_id', firstRow!.occurrence_id).update({ sequence: 3 });
    expect((await imported(site, await from())).updated.event).toBe(1);
    const after = await rows();
    expect(after.map((row) => [row.occurrence_id, row.start_date, row.end_date, row.end_date_utc, row.duration])).toEqual(
      before.map((row) => [row.occurrence_id, row.start_date, longer(row.end_date), longer(row.end_date_utc), 3300]),
    );
    expect(after.at(-1)?.sequence).toBe(3);
    expect((await imported(site, await from())).updated.event).toBeUndefined();
    await site.close();
  });

  it('turns a recurring event into a single event if the source did so, at the new time', async () => {
    const own = await loadRecurringSite(await open());
    const site = await bareSite(await open());
    const from = () => openWordpressDatabase({ url: urlOf(own), prefix: own.prefix });
    await imported(site, await from());
    const once = {
      start_date: '2031-02-01 10:00:00',
      start_date_utc: '2031-02-01 09:00:00',
      end_date: '2031-02-01 11:00:00',
      end_date_utc: '2031-02-01 10:00:00',
    };
    await own.from('tec_occurrences').where('post_id', 501).whereNot('occurrence_id', 301).delete();
    await own
      .from('tec_occurrences')
      .where('post_id', 501)
      .update({ ...once, has_recurrence: 0 });
    await own
      .from('tec_events')
      .where('post_id', 501)
      .update({ ...once, rset: '' });
    const metas = { Start: once.start_date, StartUTC: once.start_date_utc, End: once.end_date, EndUTC: once.end_date_utc };
    for (const [name, value] of Object.entries(metas)) {
      const key = `_Event${name.replace(/(UTC)?$/, 'Date$1')}`;
      await own.from('postmeta').where({ post_id: 501, meta_key: key }).update({ meta_value: value });
    }
    await own.from('postmeta').where({ post_id: 501, meta_key: '_EventRecurrence' }).delete();
    const report = await imported(site, await from());
    expect([report.updated, report.losses.map(({ reason }) => reason)]).toEqual([{ event: 1 }, []]);
    expect(await faultsOf(site)).toEqual([]);
    expect(await site.db.from('tec_occurrences').where('post_id', 501)).toMatchObject([{ occurrence_id: 301, ...once }]);
    await site.close();
  });

  it('corrects wrong UTC times of other events, in metas and rows', async () => {
    const own = await loadRecurringSite(await open());
    const site = await bareSite(await open());
    const wrong = { start_date_utc: '2027-07-01 21:00:00', end_date_utc: '2027-07-01 23:30:00' };
    for (const table of ['tec_events', 'tec_occurrences'] as const) await own.from(table).where('post_id', 39).update(wrong);
    await own.from('postmeta').where({ post_id: 39, meta_key: '_EventStartDateUTC' }).update({ meta_value: wrong.start_date_utc });
    await own.from('postmeta').where({ post_id: 39, meta_key: '_EventEndDateUTC' }).update({ meta_value: wrong.end_date_utc });
    for (let round = 1; round <= 2; round += 1) {
      const report = await imported(site, await openWordpressDatabase({ url: urlOf(own), prefix: own.prefix }));
      expect(report.updated).toEqual({});
      expect(await faultsOf(site)).toEqual([]);
    }
    await site.close();
  });

  it('preserves recurring events in JSON lines', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'fasti-recurring-')), 'site.jsonl');
    const items = itemsOf(exportEntries(source, await callerOf(source)), () => undefined);
    await writeFile(file, (await allOf(writeJsonLines('http://127.0.0.1:8081', items))).join(''));
    const site = await bareSite(await open());
    await imported(site, openJsonLines([file]));
    expect(await tablesOf(site.db)).toEqual(await tablesOf(db));
    await site.close();
  });

  /** The events that an import from the address of a site makes of dates: each is a post with the public ID. */
  const datesOfAnotherSite = (...ids: readonly number[]) =>
    again(
      ids.map(
        (id): PostItem => ({
          kind: 'event',
          sourceId: String(id),
          id,
          place: `events/${id}`,
          complete: false,
          columns: { post_title: `Walk ${id}`, post_status: 'publish' },
          metas: metaRows([
            ['_EventStartDate', '2031-03-01 10:00:00'],
            ['_EventEndDate', '2031-03-01 12:00:00'],
            ['_EventTimezone', 'Europe/Rome'],
          ]),
          links: [],
          terms: [],
        }),
      ),
    );
  const recordOf = async (site: Site, id: number) => {
    const { record } = await readPost(site, await callerOf(site), EVENT, id);
    return [record.id, record.title];
  };

  it('gives no post the ID that a date has or may get', async () => {
    const site = await bareSite(await open());
    await imported(site, await fromDatabase());
    const report = await importSource(site, {
      name: () => 'other',
      entries: () => datesOfAnotherSite(10_000_301, 10_000_999, 9_980_000, 800),
      close: async () => undefined,
    });
    expect(report.losses).toMatchObject([{ reason: 'id-taken', count: 3 }]);
    const ids = await site.db.from('posts').where('post_title', 'like', 'Walk%').orderBy('post_title').select('ID', 'post_title');
    expect(ids.map(({ ID, post_title }) => [post_title, ID])).toEqual([
      ['Walk 10000301', 801],
      ['Walk 10000999', 802],
      ['Walk 800', 800],
      ['Walk 9980000', 803],
    ]);
    expect(await recordOf(site, 10_000_301)).toEqual([10_000_301, 'Tower open, daily']);
    expect(await recordOf(site, 801)).toEqual([801, 'Walk 10000301']);
    await site.close();
  });

  it('gives no date or series an ID after which later ones would no longer be exact numbers, and takes over no such base', async () => {
    const far = Number.MAX_SAFE_INTEGER;
    const items = (await allOf(itemsOf(exportEntries(source, await callerOf(source)), () => undefined))).map((item) => {
      if (!isPostItem(item) || !item.recurrence) return item;
      const dates = item.recurrence.dates.map((date) => ({ ...date, id: far - date.id }));
      return {
        ...item,
        recurrence: { ...item.recurrence, base: far, dates },
        ...(item.series ? { series: { ...item.series, id: far } } : {}),
      };
    });
    const site = await bareSite(await open());
    const report = await importItems(site, await callerOf(site), again(items), { source: 'x', trustedAccounts: true });
    expect(report.losses.map(({ reason }) => reason)).toContain('occurrence-ids');
    const base = await site.db.from('options').where('option_name', OCCURRENCE_BASE_OPTION).pluck('option_value');
    expect(base).toEqual(['10000000']);
    const dates: number[] = await site.db.from('tec_occurrences').pluck('occurrence_id');
    expect(dates.length).toBeGreaterThan(10);
    const series: number[] = await site.db.from('posts').where('post_type', 'tribe_event_series').pluck('ID');
    expect(series.length).toBeGreaterThan(0);
    expect([...dates, ...series].filter((id) => id > 10_000)).toEqual([]);
    await site.close();
  });

  it('gives no series the ID that a date has or may get', async () => {
    const items = (await allOf(itemsOf(exportEntries(source, await callerOf(source)), () => undefined))).map((item) =>
      isPostItem(item) && item.series ? { ...item, series: { ...item.series, id: 10_000_301 } } : item,
    );
    const site = await bareSite(await open());
    await importItems(site, await callerOf(site), again(items), { source: 'x', trustedAccounts: true });
    const series: number[] = await site.db.from('posts').where('post_type', 'tribe_event_series').pluck('ID');
    expect([series.length > 0, series.includes(10_000_301)]).toEqual([true, false]);
    expect(await recordOf(site, 10_000_301)).toEqual([10_000_301, 'Tower open, daily']);
    await site.close();
  });

  it('raises the base of public IDs above the posts that the site already has', async () => {
    const site = await bareSite(await open());
    await importSource(site, { name: () => 'other', entries: () => datesOfAnotherSite(10_000_301), close: async () => undefined });
    const report = await imported(site, await fromDatabase());
    expect((await site.settings()).recurrence?.base).toBe(20_000_000);
    expect(report.losses.map(({ reason }) => reason)).toContain('occurrence-ids');
    expect(await recordOf(site, 10_000_301)).toEqual([10_000_301, 'Walk 10000301']);
    expect(await recordOf(site, 20_000_301)).toEqual([20_000_301, 'Tower open, daily']);
    await site.close();
  });

  it('bring their series clean, with its password, and show a protected one to nobody who may not edit', async () => {
    const [relation] = await db.from('tec_series_relationships').select('series_post_id', 'event_post_id');
    const { series_post_id: id, event_post_id: event } = relation!;
    const before = (await db.from('posts').where('ID', id).first())!;
    const seriesIn = async (user: number) =>
      (await allOf(itemsOf(exportEntries(source, await callerOf(source, user)), () => undefined)))
        .filter(isPostItem)
        .find((item) => item.id === event)?.series;
    const subscriber = 5;
    await db.from('postmeta').insert({ post_id: id, meta_key: '_internal', meta_value: 'x' });
    expect((await seriesIn(subscriber))?.metas.map(([key]) => key)).not.toContain('_internal');
    expect((await seriesIn(1))?.metas.map(([key]) => key)).toContain('_internal');
    await db.from('posts').where('ID', id).update({ post_password: 'sesame' });
    expect([(await seriesIn(subscriber))?.id, (await seriesIn(1))?.columns.post_password]).toEqual([undefined, 'sesame']);

    const items = (await allOf(itemsOf(exportEntries(source, await callerOf(source)), () => undefined))).map((item) =>
      isPostItem(item) && item.series
        ? {
            ...item,
            series: { ...item.series, columns: { ...item.series.columns, post_title: 'A<script>alert(1)</script>', post_date: 'soon' } },
          }
        : item,
    );
    const site = await bareSite(await open());
    await importItems(site, await callerOf(site), again(items), { source: 'x', filterHtml: true });
    const made = await site.db.from('posts').where('post_type', 'tribe_event_series').orderBy('ID');
    expect(made.find(({ ID }) => ID === id)).toMatchObject({
      post_title: 'Aalert(1)',
      post_password: 'sesame',
      post_name: before.post_name,
    });
    await site.close();
    await db.from('posts').where('ID', id).update({ post_password: '' });
    await db.from('postmeta').where({ post_id: id, meta_key: '_internal' }).delete();
  });

  it('exports a CSV row for each date, and one iCalendar event with its rule', async () => {
    const caller = await callerOf(source);
    const options = { kinds: ['event'] as const, statuses: ['publish'], open: true, eachDate: true };
    const items = () => itemsOf(exportEntries(source, caller, options), () => undefined);
    const events = (await allOf(eachDate(items(), () => undefined))).filter(isPostItem).filter((item) => item.kind === 'event');
    const starts = events.map(({ metas }) => new Map(metas).get('_EventStartDate'));
    expect(starts).toEqual(expect.arrayContaining(EXPECTED_DATES.map((date) => date.start_date)));
    const text = (await allOf(writeCalendar(eventRecords(source, caller, items()), calendarHeadOf(source, caller, 'en')))).join('');
    const written = text.split('BEGIN:VEVENT').slice(1);
    const uids = written.filter((one) => !one.includes('RECURRENCE-ID')).map((one) => /^UID:(.*)/m.exec(one)![1]);
    expect(new Set(uids).size).toBe(uids.length);
    const posts = new Set(IN_TABLES.map(({ post_id: post }) => post));
    expect(uids.flatMap((uid) => (posts.has(Number.parseInt(uid!, 10)) ? [Number.parseInt(uid!, 10)] : [])).sort()).toEqual([...posts]);
    expect(uids.some((uid) => Number.parseInt(uid!, 10) > 10_000_000)).toBe(false);
  });

  it.each([1, 0, null])('recognizes the dates in CSV rows and changes no recurring event (rows marked with %s)', async (mark) => {
    const site = await siteOf(await loadRecurringSite(await open()));
    await site.db.from('tec_occurrences').where('post_id', 501).update({ has_recurrence: mark });
    const caller = await callerOf(site);
    await site.db.from('postmeta').insert({ post_id: 501, meta_key: EXTERNAL_ID, meta_value: 'crm 1' });
    const items = itemsOf(exportEntries(site, caller, { kinds: ['event'], statuses: ['publish'], eachDate: true }), () => undefined);
    const lost: string[] = [];
    const noted = ({ loss }: LossEntry) => lost.push(`${loss.reason}: ${loss.of}`);
    const table = (await allOf(writeCsv('event', eachDate(items, noted)))).join('').trimEnd();
    // One date ends later than stored, and one date is new.
    const first = table.split(/\r?\n/).find((line) => line.includes('Tower open') && line.includes('2031-01-13'))!;
    const changed = table.replace(/(2031-01-14,10:00:00,2031-01-14),11:00:00/, '$1,12:00:00');
    const file = join(mkdtempSync(join(tmpdir(), 'fasti-recurring-')), 'dates.csv');
    await writeFile(file, `${changed}\r\n${first.replaceAll('2031-01-13', '2031-01-20')}\r\n`);
    // The ID would be that of another date in the next export, and an import would move the record.
    expect([table.includes('crm 1'), lost]).toEqual([false, ['external-id-of-dates: Tower open, daily']]);
    const before = await tablesOf(site.db);
    const report = await imported(site, openCsv([file], { caller }));
    expect(report.created.event).toBe(1);
    const losses = report.losses.filter(({ reason }) => reason === 'recurring-dates');
    expect(losses.map(({ examples, count }) => [examples[0]?.of, count])).toEqual([['Tower open, daily', 1]]);
    expect(await tablesOf(site.db)).toEqual(before);
    await site.close();
  });

  it('recognizes the dates of an all-day rule in CSV rows, also on the days on which the clock changes', async () => {
    const site = await siteOf(await loadRecurringSite(await open()));
    const file = join(mkdtempSync(join(tmpdir(), 'fasti-recurring-')), 'market.jsonl');
    // All dates of a rule are stored with the same number of seconds.
    const dates = [
      ['2031-03-23 00:00:00', '2031-03-23 23:59:59', '2031-03-22 23:00:00', '2031-03-23 22:59:59'],
      ['2031-03-30 00:00:00', '2031-03-31 00:59:59', '2031-03-29 23:00:00', '2031-03-30 22:59:59'],
      ['2031-10-26 00:00:00', '2031-10-26 22:59:59', '2031-10-25 22:00:00', '2031-10-26 21:59:59'],
    ] as const;
    const [first] = dates;
    const market = {
      ...{ kind: 'event', sourceId: '701', id: 701, complete: true, links: [] },
      columns: { post_title: 'Flower fair', post_name: 'flower-fair', post_status: 'publish', post_date: '2030-01-01 10:00:00' },
      metas: Object.entries({
        ...{ _EventStartDate: first[0], _EventEndDate: first[1], _EventStartDateUTC: first[2], _EventEndDateUTC: first[3] },
        ...{ _EventTimezone: 'Europe/Rome', _EventTimezoneAbbr: 'CET', _EventAllDay: 'yes' },
      }),
      recurrence: {
        ...{ recurs: true, base: 10_000_000 },
        rule: 'DTSTART;TZID=Europe/Rome:20310323T000000\nDTEND;TZID=Europe/Rome:20310323T235959\nRDATE;TZID=Europe/Rome:20310330T000000,20311026T000000',
        dates: dates.map(([start, end, startUtc, endUtc], index) => ({
          ...{ id: 900 + index, start, end, startUtc, endUtc, duration: 86_399, sequence: 1, listed: false },
        })),
      },
    };
    const lines = [{ format: 'fasti', version: 1, home: 'https://a.example' }, market, { end: true, items: 1 }];
    await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const caller = await callerOf(site);
    expect((await imported(site, openJsonLines([file]))).created.event).toBe(1);
    const items = itemsOf(exportEntries(site, caller, { kinds: ['event'], statuses: ['publish'], eachDate: true }), () => undefined);
    const table = (
      await allOf(
        writeCsv(
          'event',
          eachDate(items, () => undefined),
        ),
      )
    ).join('');
    expect(table.match(/^"?Flower fair/gm)).toHaveLength(3);
    await writeFile(`${file}.csv`, table);
    const report = await imported(site, openCsv([`${file}.csv`], { caller }));
    expect(report.losses.filter(({ reason }) => reason === 'recurring-dates')).toEqual([]);
    await site.close();
  });

  it('exports only the requested dates', async () => {
    const caller = await callerOf(source);
    const filters = await acceptParams(source, caller, EVENT.filters, { start_date: '2031-01-15', end_date: '2031-01-17' }, 'read');
    const entries = exportEntries(source, caller, { kinds: ['event'], filters, statuses: ['publish'], eachDate: true });
    const items = await allOf(itemsOf(entries, () => undefined));
    const events = (await allOf(eachDate(again(items), () => undefined))).filter(isPostItem).filter((item) => item.kind === 'event');
    expect(events.map(({ id, metas }) => `${id} ${new Map(metas).get('_EventStartDate')}`).sort()).toEqual([
      '501 2031-01-15 10:00:00',
      '501 2031-01-16 10:00:00',
      '501 2031-01-17 10:00:00',
      '502 2031-01-16 18:30:00',
      '503 2031-01-15 18:00:00',
    ]);
    const text = (await allOf(writeCalendar(eventRecords(source, caller, again(items)), calendarHeadOf(source, caller, 'en')))).join('');
    expect([...text.matchAll(/^UID:(\d+)/gm)].map(([, id]) => Number(id)).sort()).toEqual([
      10000303, 10000304, 10000305, 10000307, 10000319,
    ]);
    expect(text).not.toMatch(/^RRULE.*COUNT/m);
  });
});
