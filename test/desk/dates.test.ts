import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DomUtils } from 'htmlparser2';
import { parseRule } from '../../src/calendar/recurrence-rule.ts';
import { i18nIn } from '../../src/html/i18n.ts';
import { ruleInWords } from '../../src/html/rule-words.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { loadTexts } from '../../src/texts.ts';
import { accessibilityFaults, describeInBrowser, VIEWS } from '../support/browser.ts';
import { describeDatabases } from '../support/databases.ts';
import { elements, formIn, openVisitor, textOf, type Visitor } from '../support/desk-visitor.ts';
import { loadRecurringSite } from '../support/recurring-site.ts';
import { type Answer, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { serveRecurringSite } from '../support/served-recurring-site.ts';
import { setOptions } from '../support/site.ts';

const NOW = new Date('2030-12-31T12:00:00Z');
const CHOIR = 502;
const PAGE = `/admin/events/${CHOIR}/dates`;

describeDatabases('dates of a recurring event at the desk', (open) => {
  let db: Database;
  let running: RunningSite;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    ({ db, running, putBack } = await serveRecurringSite(await open(), NOW));
  });
  beforeEach(() => putBack());
  afterAll(() => running.close());

  const as = (login?: string): Promise<Visitor> =>
    openVisitor({ send: running.send, running: () => running, writeRows: async (work) => void (await work(db)) }, login);
  const days = async (anna: Visitor) =>
    elements(
      (await anna.get(PAGE)).text,
      ({ name, parent }) => name === 'li' && (parent as { attribs?: { class?: string } } | null)?.attribs?.class === 'dates',
    ).map((one) => textOf(elements(textHtml(one), ({ name }) => name === 'span')[0]!));
  const dates = async (): Promise<string[]> => {
    const { body } = await running.send(
      'GET',
      '/wp-json/tribe/events/v1/events?search=choir,&start_date=2031-01-01&end_date=2031-12-31&per_page=50',
    );
    return body.events.map((event: { start_date: string }) => event.start_date);
  };

  it('are linked from the event, with the rule in words', async () => {
    const anna = await as('admin');
    expect((await anna.get(`/admin/events/${CHOIR}`)).text).toContain(`href="${PAGE}"`);
    const page = await anna.get(PAGE);
    expect([page.status, /Takes place: <strong>every week, on Tuesday/.test(page.text)]).toEqual([200, true]);
    expect((await days(anna)).length).toBeGreaterThan(3);
    expect((await anna.get('/admin/events/38')).text).not.toContain('/dates"');
    expect((await anna.get('/admin/events/38/dates')).status).toBe(404);
    expect((await (await as('contrib')).get(PAGE)).status).toBe(403);
  });

  it("are linked from the event's page, each of several on one day separately", async () => {
    const [second] = await db.rows<Record<string, unknown>>`
      SELECT * FROM {tec_occurrences} WHERE post_id = ${CHOIR} AND start_date > ${'2031-01-01'} ORDER BY start_date LIMIT 1 OFFSET 1`;
    const { occurrence_id: _id, ...row } = second!;
    const at = (moment: unknown) => String(moment).replace(/ \d\d:/, ' 08:');
    const early = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, /_date/.test(name) ? at(value) : value]));
    await db.from('tec_occurrences').insert({ ...early, hash: 'another one' });
    const day = String(row.start_date).slice(0, 10);
    const { url } = (await running.send('GET', `/wp-json/tribe/events/v1/events/${CHOIR}`)).body;
    const { text } = await running.send('GET', new URL(url).pathname);
    const links = [...text.matchAll(/<li><a href="([^"]*)">([^<]*)</g)].filter(([, href]) => href?.includes(day));
    expect(links.map(([, href]) => href?.slice(href.indexOf(day)))).toEqual([`${day}/1/`, `${day}/2/`]);
    expect(links.map(([, , words]) => /(8:00 AM|7:00 PM|\d+:\d\d)/.test(words ?? ''))).toEqual([true, true]);
    const starts = await Promise.all(
      links.map(async ([, href]) => /dateTime="([^"]*)"/i.exec((await running.send('GET', new URL(href!).pathname)).text)?.[1]),
    );
    expect(starts.map((start) => start?.slice(0, 13))).toEqual([`${day}T08`, String(row.start_date).slice(0, 13).replace(' ', 'T')]);
  });

  it('are linked by their numbers within a day, whatever their order', async () => {
    const own = { post_id: 512, meta_key: '_EventSequence_2031-07-10' };
    const stored = (await db.from('postmeta').where(own).first())!.meta_value ?? '';
    const swapped = stored.replace(/i:[12];a/g, (number) => (number === 'i:1;a' ? 'i:2;a' : 'i:1;a'));
    await db.from('postmeta').where(own).update({ meta_value: swapped });
    const { url } = (await running.send('GET', '/wp-json/tribe/events/v1/events/512')).body;
    const linksOn = async (page: string) => {
      const { text } = await running.send('GET', new URL(page).pathname);
      return [...text.matchAll(/<li><a href="([^"]*2031-07-10[^"]*)">[^<]* at ([^<]*)</g)].map(([, href, time]) => ({ href: href!, time }));
    };
    // The page of the event shows its first date, at 10:00.
    const [afternoon, ...more] = await linksOn(url);
    expect([afternoon?.href.slice(-3), afternoon?.time, more]).toEqual(['/1/', '3:00 PM', []]);
    const [morning, ...others] = await linksOn(afternoon!.href);
    expect([morning?.href.slice(-3), morning?.time, others]).toEqual(['/2/', '10:00 AM', []]);
    for (const { href, time } of [afternoon!, morning!])
      expect((await running.send('GET', new URL(href).pathname)).text).toContain(`2031-07-10T${time === '3:00 PM' ? 15 : 10}:00:00`);
    await db.from('postmeta').where(own).update({ meta_value: stored });
  });

  it('are linked from the slug that their event had before', async () => {
    const { url } = (await running.send('GET', '/wp-json/tribe/events/v1/events/10000308')).body;
    await running.send('PATCH', `/wp-json/tribe/events/v1/events/${CHOIR}`, { as: 'admin', body: { slug: 'choir' } });
    const { status, headers } = await running.send('GET', new URL(url).pathname);
    expect([status, headers.location?.replace(/.*\/event/, '')]).toEqual([301, '/choir/2031-01-21/']);
    expect((await running.send('GET', new URL(url).pathname.replace('-21', '-20'))).status).toBe(404);
  });

  it('are those of a copy of the event, unless the copy begins at another time', async () => {
    const anna = await as('admin');
    const copyWith = async (changes: Record<string, string>): Promise<string[]> => {
      const form = await anna.get(`/admin/events/${CHOIR}/duplicate`);
      expect(form.text).toContain('The new event will have all dates of the series.');
      const again = await anna.submit(form, '/admin/events/new', { title: '' });
      expect([again.status, again.text.includes('The new event will have all dates of the series.')]).toEqual([422, true]);
      const { headers } = await anna.submit(again, '/admin/events/new', { title: 'Copy', ...changes });
      const id = Number(/events\/(\d+)\?done=created/.exec(headers.location ?? '')?.[1]);
      expect((await anna.get(`/admin/events/${id}`)).text.includes('/dates"')).toBe(Object.keys(changes).length === 0);
      const rows = await db.from('tec_occurrences').where('post_id', id).orderBy('start_date').select('start_date');
      return rows.map((row: { start_date?: unknown }) => String(row.start_date));
    };
    const stored = await db.from('tec_occurrences').where('post_id', CHOIR).orderBy('start_date').select('start_date');
    expect(stored.length).toBeGreaterThan(3);
    expect(await copyWith({})).toEqual(stored.map((row: { start_date?: unknown }) => String(row.start_date)));
    expect(await copyWith({ 'start_date[time]': '18:00' })).toHaveLength(1);
    expect((await anna.get('/admin/events/38/duplicate')).text).not.toContain('all dates of the series');
  });

  it('are not lost without a word if the event that is copied is moved or deleted meanwhile', async () => {
    const anna = await as('admin');
    const path = '/admin/events/new';
    const form = await anna.get(`/admin/events/${CHOIR}/duplicate`);
    const metas = await db
      .from('postmeta')
      .where('post_id', CHOIR)
      .where('meta_key', 'like', '_Event%Date%')
      .select('meta_id', 'meta_value');
    for (const { meta_id: id, meta_value: value } of metas)
      await db
        .from('postmeta')
        .where('meta_id', Number(id))
        .update({ meta_value: String(value).replace(/:00:00$/, ':30:00') });
    await db.from('fasti_changes').increment('counter');
    const startIn = ({ text }: { readonly text: string }) => new Map(formIn(text, path)).get('start_date[time]');
    const moved = await anna.submit(form, path, { title: 'Copy' });
    expect([moved.status, moved.text.includes('was moved in the meantime')]).toEqual([409, true]);
    expect(startIn(moved)).toBe(startIn(form)?.replace(/:00$/, ':30'));
    expect(new Map(formIn(moved.text, path)).get('title')).toBe('Copy');
    const countOf = async (answer: Answer) =>
      (
        await db
          .from('tec_occurrences')
          .where('post_id', Number(/events\/(\d+)\?/.exec(answer.headers.location ?? '')?.[1]))
          .select('post_id')
      ).length;
    expect(await countOf(await anna.submit(moved, path))).toBeGreaterThan(3);
    // A user who chose the time does not get another one.
    expect(await countOf(await anna.submit(form, path, { title: 'Copy', 'start_date[time]': '06:00' }))).toBe(1);
    const later = await anna.get(`/admin/events/${CHOIR}/duplicate`);
    await running.send('DELETE', `/wp-json/wp/v2/tribe_events/${CHOIR}?force=true`, { as: 'admin' });
    const lost = await anna.submit(later, path, { title: 'Copy' });
    expect([lost.status, lost.text.includes('If you save again, the new event takes place once')]).toEqual([409, true]);
    expect(await countOf(await anna.submit(lost, path))).toBe(1);
  });

  it('are lost together with the password of the event that is copied, and the form says both', async () => {
    const anna = await as('admin');
    const path = '/admin/events/new';
    const setPassword = async (password: string) => {
      await db.from('posts').where('ID', CHOIR).update({ post_password: password });
      await db.from('fasti_changes').increment('counter');
    };
    await setPassword('river');
    const form = await anna.get(`/admin/events/${CHOIR}/duplicate`);
    await setPassword('');
    const metas = db.from('postmeta').where('post_id', CHOIR).where('meta_key', 'like', '_Event%Date%');
    for (const { meta_id: id, meta_value: value } of await metas.select('meta_id', 'meta_value'))
      await db
        .from('postmeta')
        .where('meta_id', Number(id))
        .update({ meta_value: String(value).replace(/:00:00$/, ':30:00') });
    await db.from('fasti_changes').increment('counter');
    const moved = await anna.submit(form, path, { title: 'Copy' });
    expect([moved.status, moved.text.includes('was moved in the meantime')]).toEqual([409, true]);
    expect(moved.text).toContain('no password protects the new record');
    await setPassword('river');
    const later = await anna.get(`/admin/events/${CHOIR}/duplicate`);
    await running.send('DELETE', `/wp-json/wp/v2/tribe_events/${CHOIR}?force=true`, { as: 'admin' });
    const lost = await anna.submit(later, path, { title: 'Copy' });
    expect([lost.status, lost.text.includes('the new event takes place once')]).toEqual([409, true]);
    expect(lost.text).toContain('no password protects the new record');
    expect(lost.text.match(/Nothing has been saved/g)).toHaveLength(1);
    expect((await anna.submit(lost, path)).status).toBe(303);
  });

  it('name the zone of their times if it is not that of the site', async () => {
    const anna = await as('admin');
    expect((await anna.get(PAGE)).text).not.toContain('The times are local times');
    await setOptions(running.site.db, { timezone_string: 'Asia/Tokyo' });
    expect((await anna.get(PAGE)).text).toMatch(/The times are local times of \w/);
  });

  it('are not said to be on the days of a rule in UTC if they are on other days by the clock of the event', async () => {
    const anna = await as('admin');
    // On Fridays at 20:00 in New York.
    const jam = 504;
    const told = async (zone: string, start: string, rule: string) => {
      const [day, hour] = start.split('T') as [string, string];
      const rset = `DTSTART${zone}:${day}T${hour}0000${zone === '' ? 'Z' : ''}\nRRULE:FREQ=WEEKLY;COUNT=20${rule}`;
      await db.from('tec_events').where('post_id', jam).update({ rset, duration: 10_800 });
      return /Takes place: <strong>([^<]*)</.exec((await anna.get(`/admin/events/${jam}/dates`)).text)?.[1];
    };
    expect(await told('', '20310201T01', ';BYDAY=SA')).toBe('by a rule in another time zone (UTC); its dates are below');
    expect(await told('', '20310201T01', '')).toBe('every week, 20 times');
    expect(await told(';TZID=America/New_York', '20310131T20', ';BYDAY=FR')).toBe('every week, on Friday, 20 times');
  });

  it('are removed one by one, except the first', async () => {
    const anna = await as('admin');
    const before = await dates();
    const page = await anna.get(PAGE);
    const form = elements(page.text, ({ name, attribs }) => name === 'form' && attribs.action === `${PAGE}/leave-out`);
    const starts = form.map((one) => elements(textHtml(one), ({ attribs }) => attribs.name === 'date')[0]!.attribs.value!);
    const nonce = elements(page.text, ({ attribs }) => attribs.name === '_wpnonce')[0]!.attribs.value!;
    expect((await anna.post(`${PAGE}/leave-out`, { _wpnonce: nonce, date: starts[1]! })).headers.location).toBe(`${PAGE}?done=saved`);
    const after = await dates();
    expect([after.length, before.filter((one) => !after.includes(one)).length]).toEqual([before.length - 1, 1]);
    const [first] = await db.rows<{ start: string }>`SELECT MIN(start_date_utc) AS start FROM {tec_occurrences} WHERE post_id = ${CHOIR}`;
    expect(starts).not.toContain(first!.start);
    const refused = await anna.post(`${PAGE}/leave-out`, { _wpnonce: nonce, date: first!.start });
    expect([refused.status, refused.text.includes('it is the first of the series')]).toEqual([422, true]);
  });

  it.each(['leave-out', 'move'])('are gone for an editor whose page is outdated (%s)', async (action) => {
    const [anna, otto] = [await as('admin'), await as('ed')];
    const stale = await anna.get(PAGE);
    const start = elements(stale.text, ({ attribs }) => attribs.name === 'date')[1]!.attribs.value!;
    const nonce = elements(stale.text, ({ attribs }) => attribs.name === '_wpnonce')[0]!.attribs.value!;
    const own = elements((await otto.get(PAGE)).text, ({ attribs }) => attribs.name === '_wpnonce')[0]!.attribs.value!;
    expect((await otto.post(`${PAGE}/leave-out`, { _wpnonce: own, date: start })).status).toBe(303);
    const span = {
      'start_date[date]': '2031-03-01',
      'start_date[time]': '10:00',
      'end_date[date]': '2031-03-01',
      'end_date[time]': '11:00',
    };
    const late = await anna.post(`${PAGE}/${action}`, { _wpnonce: nonce, date: start, ...span });
    expect([late.status, late.text.includes('This date no longer exists')]).toEqual([422, true]);
    const kept = elements(late.text, ({ name }) => name === 'dd').map(textOf);
    expect(kept).toEqual(['2031-03-01 10:00', '2031-03-01 11:00']);
    // A button sends no span of its own.
    const { text } = await anna.post(`${PAGE}/leave-out`, { _wpnonce: nonce, date: start });
    expect([text.includes('This date no longer exists'), text.includes('<dl')]).toEqual([true, false]);
  });

  it('that cannot be left out keep their own moment in the form for moving them', async () => {
    const anna = await as('admin');
    const day = '2031-01-18';
    const span = { 'start_date[time]': '19:00', 'end_date[date]': day, 'end_date[time]': '21:00' };
    await anna.submit(await anna.get(PAGE), PAGE, { ...span, 'start_date[date]': day });
    // As a program leaves it that changes the rules, but not the dates.
    const [row] = await db.rows<{ rset: string }>`SELECT rset FROM {tec_events} WHERE post_id = ${CHOIR}`;
    const { rset } = row!;
    const unlisted = rset.replace(/\nRDATE[^\n]*/g, '');
    expect(unlisted).not.toBe(rset);
    await db.from('tec_events').where('post_id', CHOIR).update({ rset: unlisted });
    const page = await anna.get(PAGE);
    const date = new Map(formIn(page.text, `${PAGE}/move`)).get('date')!;
    const nonce = elements(page.text, ({ attribs }) => attribs.name === '_wpnonce')[0]!.attribs.value!;
    const refused = await anna.post(`${PAGE}/leave-out`, { _wpnonce: nonce, date });
    expect([refused.status, refused.text.includes('This date cannot be left out')]).toEqual([422, true]);
    expect(new Map(formIn(refused.text, `${PAGE}/move`)).get('start_date[date]')).toBe(day);
    expect(elements(refused.text, ({ name, attribs }) => name === 'details' && 'open' in attribs)).toEqual([]);
  });

  it('are all in the month, link to the event and cannot be dragged', async () => {
    const anna = await as('admin');
    const shown = async (month: string): Promise<[day: string, href: string][]> => {
      const { text } = await anna.get(`/admin/month?month=${month}`);
      expect(elements(text, ({ attribs }) => attribs['data-event'] === String(CHOIR))).toEqual([]);
      return elements(text, ({ attribs }) => attribs['data-day'] !== undefined).flatMap((day) =>
        elements(textHtml(day), ({ name }) => name === 'a')
          .filter((link) => textOf(link).startsWith('Choir, '))
          .map((link): [string, string] => [day.attribs['data-day']!, link.attribs.href!]),
      );
    };
    const all = [...(await shown('2031-01')), ...(await shown('2031-02'))];
    expect(all.map(([day]) => day)).toEqual((await dates()).map((start) => start.slice(0, 10)));
    const page = await anna.get(all.at(-1)![1]);
    expect([page.status, page.text.includes(`action="/admin/events/${CHOIR}"`)]).toEqual([200, true]);
  });

  it('of whole days keep their length when the form for moving them is sent unchanged', async () => {
    await setOptions(db, { tribe_events_calendar_options: 'a:1:{s:14:"multiDayCutoff";s:5:"04:00";}' });
    const path = '/wp-json/tribe/events/v1/events';
    const days = { start_date: '2031-06-07', end_date: '2031-06-08' };
    const { body } = await running.send('POST', `${path}/507/dates`, { as: 'admin', body: days });
    expect([body.start_date, body.end_date]).toEqual(['2031-06-07 04:00:00', '2031-06-09 03:59:59']);
    const anna = await as('admin');
    const page = await anna.get('/admin/events/507/dates');
    const form = elements(page.text, ({ name, attribs }) => name === 'form' && /507\/dates\/move$/.test(attribs.action ?? '')).at(-1)!;
    const sent = new Map(elements(textHtml(form), ({ name }) => name === 'input').map(({ attribs }) => [attribs.name, attribs.value]));
    expect(sent.get('end_date[date]')).toBe('2031-06-08');
    await anna.post('/admin/events/507/dates/move', Object.fromEntries(sent) as Record<string, string>);
    const { body: after } = await running.send('GET', `${path}/${body.id}`);
    expect([after.start_date, after.end_date]).toEqual([body.start_date, body.end_date]);
  });

  it.each([
    ['2029-01-01', 'This cannot be done with this date'],
    ['2031-02-30', 'This is not a day of the calendar'],
  ])('keep a move that was refused in the form of its date (%s)', async (day, sentence) => {
    const anna = await as('admin');
    const span = { 'start_date[time]': '19:00', 'end_date[date]': '2031-01-18', 'end_date[time]': '21:00' };
    await anna.submit(await anna.get(PAGE), PAGE, { ...span, 'start_date[date]': '2031-01-18' });
    const page = await anna.get(PAGE);
    expect(elements(page.text, ({ name, attribs }) => name === 'details' && 'open' in attribs)).toEqual([]);
    const refused = await anna.submit(page, `${PAGE}/move`, { 'start_date[date]': day, 'end_date[date]': day });
    expect([refused.status, refused.text.includes(sentence)]).toEqual([422, true]);
    const startDay = (action: string) => new Map(formIn(refused.text, action)).get('start_date[date]');
    expect([startDay(PAGE), startDay(`${PAGE}/move`)]).toEqual(['', day]);
    const [open, ...others] = elements(refused.text, ({ name, attribs }) => name === 'details' && 'open' in attribs);
    expect([textHtml(open!).includes(`value="${day}"`), others]).toEqual([true, []]);
    expect((await anna.submit(refused, `${PAGE}/move`, { 'start_date[date]': '2031-01-20', 'end_date[date]': '2031-01-20' })).status).toBe(
      303,
    );
    expect((await dates()).filter((start) => /-(18|20) 19/.test(start))).toEqual(['2031-01-20 19:00:00']);
  });

  it('are added, and added dates can be moved', async () => {
    const anna = await as('admin');
    const page = await anna.get(PAGE);
    const span = (day: string, time: string) => ({
      'start_date[date]': day,
      'start_date[time]': time,
      'end_date[date]': day,
      'end_date[time]': '21:00',
    });
    const added = await anna.submit(page, PAGE, span('2031-01-18', '19:00'));
    expect([added.status, added.headers.location]).toEqual([303, `${PAGE}?done=saved`]);
    expect(await dates()).toContain('2031-01-18 19:00:00');
    const shown = await anna.get(PAGE);
    expect((await anna.submit(shown, `${PAGE}/move`, span('2031-01-19', '18:00'))).status).toBe(303);
    expect(await dates()).toContain('2031-01-19 18:00:00');
    expect(await dates()).not.toContain('2031-01-18 19:00:00');
    const refused = await anna.submit(shown, PAGE, span('2029-01-01', '19:00'));
    expect([refused.status, refused.text.includes('This cannot be done with this date'), refused.text.includes('2029-01-01')]).toEqual([
      422,
      true,
      true,
    ]);
    expect(new Map(formIn(refused.text, PAGE)).get('start_date[date]')).toBe('2029-01-01');
    const wrong = await anna.submit(shown, PAGE, { 'start_date[date]': 'soon', 'end_date[date]': '2031-02-02' });
    expect(wrong.status).toBe(422);
    const skipped = await anna.submit(shown, PAGE, span('2031-03-30', '02:30'));
    expect([skipped.status, skipped.text.includes('Begins: In this time zone the clocks go forward over this hour')]).toEqual([422, true]);
  });
});

describeInBrowser('dates of an event in a browser', (visit) => {
  describeDatabases('', (open) => {
    it.each(VIEWS)('have no accessibility faults (%j)', async (view) => {
      const db = await loadRecurringSite(await open());
      const running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: 'off' }, clock: () => NOW });
      try {
        const anna = await openVisitor(
          { send: running.send, running: () => running, writeRows: async (work) => void (await work(db)) },
          'admin',
        );
        const [name = '', value = ''] = anna.cookie().split('=');
        const { page } = await visit({ ...view, locale: view.colorScheme === 'dark' ? 'it' : 'en' });
        await page.context().addCookies([{ name, value, url: `${running.base}/admin` }]);
        await page.goto(running.base + PAGE);
        expect(await page.locator('.dates li').count()).toBeGreaterThan(3);
        expect(await accessibilityFaults(page)).toEqual([]);
      } finally {
        await running.close();
      }
    });
  });
});

const textHtml = (element: Parameters<typeof textOf>[0]): string => DomUtils.getOuterHTML(element);

describe('a rule in words', () => {
  it.each([
    ['FREQ=DAILY', 'every day', 'ogni giorno'],
    [
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;UNTIL=20261231',
      'every 2 weeks, on Monday and Thursday, until Thursday, December 31, 2026',
      'ogni 2 settimane, nei giorni: lunedì e giovedì, fino a giovedì 31 dicembre 2026',
    ],
    ['FREQ=MONTHLY;BYDAY=2SU;COUNT=3', 'every month, on the second Sunday, 3 times', 'ogni mese, nei giorni: la seconda domenica, 3 volte'],
    ['FREQ=MONTHLY;BYDAY=-1FR', 'every month, on the last Friday', "ogni mese, nei giorni: l'ultimo venerdì"],
    ['FREQ=MONTHLY;BYMONTHDAY=1', 'every month, on day 1 of the month', 'ogni mese, il giorno 1 del mese'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', 'every month, on the last day of the month', "ogni mese, l'ultimo giorno del mese"],
    [
      'FREQ=MONTHLY;BYMONTHDAY=15,-1',
      'every month, on day 15 and the last day of the month',
      "ogni mese, il giorno 15 e l'ultimo giorno del mese",
    ],
    ['FREQ=YEARLY;BYMONTH=7', 'every year, in July', 'ogni anno, nei mesi: luglio'],
    ['FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2', undefined, undefined],
    ['FREQ=YEARLY;BYDAY=20MO', undefined, undefined],
    ['FREQ=HOURLY', undefined, undefined],
  ])('describes %s', async (rule, english, italian) => {
    const texts = await loadTexts(['en', 'it']);
    const told = ['en', 'it'].map((language) => ruleInWords(i18nIn(texts, language, 'en-US'), parseRule(rule)!));
    expect(told).toEqual([english, italian]);
  });
});
