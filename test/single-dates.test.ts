import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { auditRecurrences, repairRecurrence } from '../src/storage/audit/recurrence-audit.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { describeDatabases } from './support/databases.ts';
import type { RunningSite } from './support/running-site.ts';
import { serveRecurringSite } from './support/served-recurring-site.ts';

/* Single dates of recurring events whose time zone is missing, or another than that of their set of dates. */

const NOW = new Date('2030-12-31T12:00:00Z');
const EVENTS = '/wp-json/tribe/events/v1/events';
/** Tuesdays and Thursdays at 18:30 in Rome, from 14 January to the end of February 2031. */
const CHOIR = 502;
/** One of its dates after the first. */
const LATER_DATE = 10_000_308;

describeDatabases('a single date of a recurring event', (open) => {
  let db: Database;
  let running: RunningSite;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    ({ db, running, putBack } = await serveRecurringSite(await open(), NOW));
  });
  beforeEach(() => putBack());
  afterAll(() => running.close());

  const zone = () => db.from('postmeta').where({ post_id: CHOIR, meta_key: '_EventTimezone' });
  const add = (start_date: string, end_date: string) =>
    running.send('POST', `${EVENTS}/${CHOIR}/dates`, { as: 'admin', body: { start_date, end_date } });
  const faults = async (): Promise<string[]> => {
    const found = [];
    for await (const { post, fault } of auditRecurrences(db, '2030-12-31 12:00:00')) if (post === CHOIR) found.push(fault);
    return found;
  };

  it.each<[string, () => PromiseLike<unknown>]>([
    ['is missing', () => zone().delete()],
    ['is unknown', () => zone().update({ meta_value: 'Nowhere/Land' })],
  ])('is added and moved in the zone of the site if that of the event %s', async (_, harm) => {
    await harm();
    const added = await add('2031-01-24 10:00:00', '2031-01-24 11:00:00');
    expect([added.status, added.body.start_date, added.body.utc_start_date]).toEqual([201, '2031-01-24 10:00:00', '2031-01-24 09:00:00']);
    const body = { scope: 'date', start_date: '2031-01-25 10:00:00', end_date: '2031-01-25 12:00:00' };
    const moved = await running.send('POST', `${EVENTS}/${added.body.id}`, { as: 'admin', body });
    expect([moved.status, moved.body.start_date, moved.body.end_date]).toEqual([200, body.start_date, body.end_date]);
    expect(await faults()).toEqual([]);
  });

  it('is refused where the time of the event is another than that of its set', async () => {
    await zone().update({ meta_value: 'Europe/London' });
    await db
      .from('tec_occurrences')
      .where('post_id', CHOIR)
      .update({ start_date_utc: db.ref('start_date'), end_date_utc: db.ref('end_date') });
    const rset = 'DTSTART:20310114T183000Z\nDTEND:20310114T200000Z\nRRULE:FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20310228T235959Z\nEXDATE:20310130';
    await db.from('tec_events').where('post_id', CHOIR).update({ rset, timezone: 'Europe/London' });
    const summer = await add('2031-07-10 10:00:00', '2031-07-10 11:00:00');
    expect([summer.status, summer.body.code]).toEqual([409, 'rest_recurring_event_dates']);
    expect((await add('2031-03-29 22:00:00', '2031-03-30 10:00:00')).status).toBe(409);
    expect((await db.from('tec_events').where('post_id', CHOIR).first())?.rset).toBe(rset);
    const winter = await add('2031-01-24 10:00:00', '2031-01-24 11:00:00');
    expect([winter.status, winter.body.start_date, winter.body.utc_start_date]).toEqual([
      201,
      '2031-01-24 10:00:00',
      '2031-01-24 10:00:00',
    ]);
    expect(await faults()).toEqual([]);
  });

  it('takes place again if it was left out on a day when clocks change, whichever end is named', async () => {
    const market = 507;
    const [start, days] = ['2031-03-16 00:00:00', 'FREQ=WEEKLY;COUNT=4;BYDAY=SU'];
    const rset = `DTSTART;TZID=Europe/Rome:20310316T000000\nDTEND;TZID=Europe/Rome:20310316T235959\nRRULE:${days}`;
    const first = {
      start_date: start,
      end_date: '2031-03-16 23:59:59',
      start_date_utc: '2031-03-15 23:00:00',
      end_date_utc: '2031-03-16 22:59:59',
    };
    await db
      .from('tec_events')
      .where('post_id', market)
      .update({ ...first, rset, duration: 86_399 });
    await db.transaction((trx) => repairRecurrence(trx, market, '2030-12-31 12:00:00'));
    const dates = () =>
      db
        .from('tec_occurrences')
        .where('post_id', market)
        .orderBy('start_date')
        .select('start_date', 'end_date', 'start_date_utc', 'end_date_utc', 'duration', 'is_rdate');
    const before = await dates();
    expect(before.map((row) => row.end_date)[2]).toBe('2031-03-31 00:59:59');
    for (const end_date of ['2031-03-30', '2031-03-31 00:59:59']) {
      const day = await db.from('tec_occurrences').where({ post_id: market, start_date: '2031-03-30 00:00:00' }).first();
      const url = `${EVENTS}/${10_000_000 + day!.occurrence_id}?scope=date`;
      expect((await running.send('DELETE', url, { as: 'admin' })).status).toBe(200);
      const body = { start_date: '2031-03-30', end_date };
      const added = await running.send('POST', `${EVENTS}/${market}/dates`, { as: 'admin', body });
      expect([added.status, added.body.start_date, added.body.end_date]).toEqual([201, '2031-03-30 00:00:00', '2031-03-31 00:59:59']);
      expect(await dates()).toEqual(before);
      expect((await db.from('tec_events').where('post_id', market).first())?.rset).toBe(rset);
    }
  });

  const write = (url: string, etag: unknown, body: object) =>
    running.send('PATCH', url, { as: 'admin', headers: { 'If-Match': String(etag) }, body });

  it.each(['calendar/events/v1/events', 'tribe/events/v1/events', 'tec/v1/events', 'wp/v2/tribe_events'])(
    'under %s accepts the ETag with which it or its event was read, once',
    async (path) => {
      const [date, event] = [`/wp-json/${path}/${LATER_DATE}`, `/wp-json/${path}/${CHOIR}`];
      for (const url of [date, event]) {
        const { headers } = await running.send('GET', url, { as: 'admin' });
        const statuses = [];
        for (const excerpt of ['Sing along', 'Sing'])
          statuses.push((await write(date, headers.etag, { excerpt: `${excerpt} ${url}` })).status);
        expect([url, ...statuses]).toEqual([url, 200, 412]);
      }
    },
  );

  it('is neither added, moved nor removed if the event was published after the permission was checked', async () => {
    const { body } = await add('2031-01-24 10:00:00', '2031-01-24 11:00:00');
    const event = () => db.from('posts').where('ID', CHOIR);
    const dates = () => db.from('tec_occurrences').where('post_id', CHOIR).orderBy('start_date').pluck('start_date');
    const before = await dates();
    const { transaction } = running.site.db;
    Object.assign(running.site.db, {
      transaction: async (work: never) => {
        await event().update({ post_status: 'publish' });
        return transaction.call(running.site.db, work);
      },
    });
    const span = { start_date: '2031-01-25 10:00:00', end_date: '2031-01-25 12:00:00' };
    try {
      for (const [method, path, sent] of [
        ['POST', `${CHOIR}/dates`, span],
        ['PATCH', body.id, { scope: 'date', ...span }],
        ['DELETE', `${body.id}?scope=date`, null],
      ] as const) {
        await event().update({ post_author: 4, post_status: 'pending' });
        const { status } = await running.send(method, `${EVENTS}/${path}`, { as: 'contrib', body: sent });
        expect([method, status]).toEqual([method, 403]);
      }
    } finally {
      Object.assign(running.site.db, { transaction });
    }
    expect(await dates()).toEqual(before);
  });

  it('is changed, moved and removed with the ETag of the answer before', async () => {
    const added = await add('2031-01-24 10:00:00', '2031-01-24 11:00:00');
    const url = `${EVENTS}/${added.body.id}`;
    const changed = await write(url, added.headers.etag, { cost: '7' });
    const span = { scope: 'date', start_date: '2031-01-25 10:00:00', end_date: '2031-01-25 12:00:00' };
    const moved = await write(url, changed.headers.etag, span);
    const remove = (etag: unknown) => running.send('DELETE', `${url}?scope=date`, { as: 'admin', headers: { 'If-Match': String(etag) } });
    const answers = [added, changed, moved, await remove(changed.headers.etag), await remove(moved.headers.etag)];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 412, 200]);
  });
});
