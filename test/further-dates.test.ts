import { beforeEach, expect, it } from '@jest/globals';
import { withoutDate } from '../src/calendar/set-changes.ts';
import { addFurtherDates } from '../src/records/further-dates.ts';
import { auditRecurrences } from '../src/storage/audit/recurrence-audit.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { reindexEvents } from '../src/storage/index/event-index-rebuild.ts';
import { addDays } from '../src/wordpress/time.ts';
import { describeDatabases } from './support/databases.ts';
import { readPage } from './support/html-page.ts';
import { loadRecurringSite } from './support/recurring-site.ts';
import { serveDatabase } from './support/running-site.ts';
import { setOptions } from './support/site.ts';

/** Every Monday at 8 from 3 February 2031 on, without an end; the sample site has the first ten dates. */
const ENDLESS = 510;

describeDatabases('a recurrence rule without an end', (open) => {
  let db: Database;
  let now: Date;
  beforeEach(async () => {
    now = new Date('2031-02-01T12:00:00Z');
    db = await loadRecurringSite(await open());
    await reindexEvents(db, () => now, { marksComplete: true });
  });

  const rows = () => db.from('tec_occurrences').where('post_id', ENDLESS).orderBy('start_date_utc');
  /** Deactivates the calendar plugins and sets the number of months for which dates are created in advance. */
  const settings = (months: number) =>
    setOptions(db, {
      active_plugins: 'a:0:{}',
      tribe_events_calendar_options: `a:1:{s:24:"recurrenceMaxMonthsAfter";i:${months};}`,
    });

  it('gets further dates for as many months as the settings say, and keeps its existing dates', async () => {
    await settings(12);
    const before = await rows();
    const running = await serveDatabase(db, { clock: () => now });
    try {
      const others = () => db.from('tec_occurrences').whereNot('post_id', ENDLESS).orderBy('occurrence_id');
      const untouched = await others();
      // 2031-02-03 to 2032-01-26 are 52 Mondays.
      expect(await addFurtherDates(running.site)).toBe(42);
      const after = await rows();
      expect(after.length).toBe(52);
      const told = (some: typeof after) =>
        some.map(({ occurrence_id, start_date, start_date_utc, is_rdate }) => [occurrence_id, start_date, start_date_utc, is_rdate]);
      expect(told(after.slice(0, 10))).toEqual(told(before));
      // At eight in the morning in summer as well.
      expect(after.map(({ start_date }) => start_date!.slice(11))).toEqual(after.map(() => '08:00:00'));
      expect(after.every(({ has_recurrence, sequence }) => has_recurrence === 1 && sequence === after[0]!.sequence)).toBe(true);
      expect(await others()).toEqual(untouched);

      const listed = await running.send('GET', '/wp-json/tribe/events/v1/events?start_date=2032-01-20&end_date=2032-01-31');
      expect(listed.body.events.map((event: { start_date: string }) => event.start_date)).toEqual(['2032-01-26 08:00:00']);

      expect(await addFurtherDates(running.site)).toBe(0);
      now = new Date('2031-02-20T12:00:00Z');
      expect(await addFurtherDates(running.site)).toBe(0);
      now = new Date('2031-03-10T12:00:00Z');
      expect(await addFurtherDates(running.site)).toBe(6);

      // A clock that was ahead is set right, after another program has deleted the last dates.
      now = new Date('2031-03-09T12:00:00Z');
      await db.from('tec_occurrences').where('post_id', ENDLESS).where('start_date', '>', '2031-12-01').delete();
      expect(await addFurtherDates(running.site)).toBeGreaterThan(0);
    } finally {
      await running.close();
    }
  });

  it('gets dates up to one that was added far in the future, and keeps the dates of its rule after that', async () => {
    await settings(12);
    const running = await serveDatabase(db, { clock: () => now });
    try {
      const body = { start_date: '2031-12-31 18:00', end_date: '2032-01-01 02:00' };
      const added = await running.send('POST', `/wp-json/tribe/events/v1/events/${ENDLESS}/dates`, { as: 'admin', body });
      expect(added.status).toBe(201);
      expect(await faults()).toEqual([]);
      const feed = await running.send('GET', '/event/monday-yoga-without-end/?ical=1');
      expect([feed.text.includes('RDATE;TZID=Europe/Rome:20311231T180000'), feed.text.includes('EXDATE')]).toEqual([true, false]);
      expect(await addFurtherDates(running.site)).toBe(42);
      expect((await rows()).filter(({ is_rdate }) => is_rdate === 1).map(({ start_date }) => start_date)).toEqual(['2031-12-31 18:00:00']);
      expect(await faults()).toEqual([]);
      expect(await addFurtherDates(running.site)).toBe(0);
    } finally {
      await running.close();
    }
  });

  const faults = async (): Promise<string[]> => {
    const found = [];
    for await (const { post, fault } of auditRecurrences(db, '2031-02-01 12:00:00')) if (post === ENDLESS) found.push(fault);
    return found;
  };

  it.each([
    ['2031-10-06', 201, 36],
    ['2032-06-07', 409, 10],
  ])('gets all dates up to an excluded one that takes place again, if it has dates as far ahead (%s)', async (day, status, count) => {
    await settings(12);
    const event = () => db.from('tec_events').where('post_id', ENDLESS);
    const rules = () => db.from('postmeta').where({ post_id: ENDLESS, meta_key: '_EventRecurrence' });
    const first = { start: '2031-02-03 08:00:00', end: '2031-02-03 08:45:00' };
    const stored = { set: (await event().first())!.rset!, rules: String((await rules().first())!.meta_value), first };
    const excluded = withoutDate(stored, `${day} 08:00:00`)!;
    await event().update({ rset: excluded.set });
    await rules().update({ meta_value: excluded.rules });
    const running = await serveDatabase(db, { clock: () => now });
    try {
      const body = { start_date: `${day} 08:00`, end_date: `${day} 08:45` };
      const url = `/wp-json/tribe/events/v1/events/${ENDLESS}/dates`;
      expect((await running.send('POST', url, { as: 'admin', body })).status).toBe(status);
      expect((await rows()).length).toBe(count);
      expect(await faults()).toEqual([]);
      await addFurtherDates(running.site);
      expect((await rows()).length).toBe(52);
      expect((await running.send('GET', '/event/monday-yoga-without-end/?ical=1')).text.includes('EXDATE')).toBe(day === '2032-06-07');
    } finally {
      await running.close();
    }
  });

  it.each([
    ['Europe/London', '2031-02-03', '17:30:00', '17:30:00', '2031-04-07 18:30:00'],
    ['America/New_York', '2031-02-03', '20:30:00', '01:30:00', '2031-04-07 21:30:00'],
  ])('in UTC gives dates by the clock of its event (%s)', async (timezone, day, start, utc, inSummer) => {
    await settings(12);
    const utcDay = utc < start ? '2031-02-04' : day;
    const moments = {
      start_date: `${day} ${start}`,
      end_date: `${day} ${start.replace(':30', ':50')}`,
      start_date_utc: `${utcDay} ${utc}`,
      end_date_utc: `${utcDay} ${utc.replace(':30', ':50')}`,
      duration: 1200,
    };
    const rset = `DTSTART:${utcDay.replaceAll('-', '')}T${utc.replaceAll(':', '')}Z\nRRULE:FREQ=WEEKLY`;
    await db
      .from('tec_events')
      .where('post_id', ENDLESS)
      .update({ ...moments, rset, timezone });
    const metas = { _EventTimezone: timezone, _EventStartDate: moments.start_date, _EventEndDate: moments.end_date };
    const utcMetas = { _EventStartDateUTC: moments.start_date_utc, _EventEndDateUTC: moments.end_date_utc };
    for (const [meta_key, meta_value] of Object.entries({ ...metas, ...utcMetas }))
      await db.from('postmeta').where({ post_id: ENDLESS, meta_key }).update({ meta_value });
    const [first] = await rows();
    await db.from('tec_occurrences').where('post_id', ENDLESS).whereNot('occurrence_id', first!.occurrence_id).delete();
    await db.from('tec_occurrences').where('post_id', ENDLESS).update(moments);
    const running = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => now });
    try {
      expect(await addFurtherDates(running.site)).toBe(51);
      const stored = await rows();
      expect(stored.map((row) => [row.start_date, row.start_date_utc])).toContainEqual([inSummer, `${addDays(`${utcDay} ${utc}`, 63)}`]);
      expect((await faults()).filter((fault) => fault !== 'rules-differ')).toEqual([]);
      const { text } = await running.send('GET', '/event/monday-yoga-without-end/');
      const { links } = readPage(text);
      const days = links.flatMap((link) => /\/(\d{4}-\d\d-\d\d)\/$/.exec(link)?.[1] ?? []);
      expect(days.slice(0, 2)).toEqual(['2031-02-10', '2031-02-17']);
      expect((await running.send('GET', `/event/monday-yoga-without-end/${days[1]}/`)).status).toBe(200);
    } finally {
      await running.close();
    }
  });

  it.each([
    ['it has an exclusion rule with an end', 'RRULE:FREQ=WEEKLY\nEXRULE:FREQ=DAILY;UNTIL=20310401T000000Z', 42],
    ['it has a negative number of dates', 'RRULE:FREQ=WEEKLY;COUNT=-1', 42],
    ['only its exclusion rule has no end', 'RRULE:FREQ=WEEKLY;COUNT=30\nEXRULE:FREQ=DAILY', 0],
  ])('gets the dates that its rule gives if %s', async (_, rule, added) => {
    await settings(12);
    const { rset = '' } = (await db.from('tec_events').where('post_id', ENDLESS).first())!;
    await db
      .from('tec_events')
      .where('post_id', ENDLESS)
      .update({ rset: rset!.replace(/RRULE:.*/, rule) });
    const running = await serveDatabase(db, { clock: () => now });
    try {
      expect(await addFurtherDates(running.site)).toBe(added);
    } finally {
      await running.close();
    }
  });

  it('gets no dates if WordPress runs the plugin, if the event is in the trash, or if the rule is unreadable', async () => {
    await settings(12);
    for (const harm of [
      () => setOptions(db, { active_plugins: 'a:1:{i:0;s:43:"the-events-calendar/the-events-calendar.php";}' }),
      () => db.from('posts').where('ID', ENDLESS).update({ post_status: 'trash' }),
      () => db.from('tec_events').where('post_id', ENDLESS).update({ rset: 'DTSTART;TZID=Nowhere:20310203T080000\nRRULE:FREQ=WEEKLY' }),
    ]) {
      await loadRecurringSite(db);
      await settings(12);
      await harm();
      const running = await serveDatabase(db, { clock: () => now });
      try {
        expect(await addFurtherDates(running.site)).toBe(0);
        expect((await rows()).length).toBe(10);
      } finally {
        await running.close();
      }
    }
  });
});
