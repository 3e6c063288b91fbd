import { expect, it } from '@jest/globals';
import { storedText } from '../../src/wordpress/php/serialized.ts';
import { addDays } from '../../src/wordpress/time.ts';
import { elements, openVisitor, textOf } from '../support/desk-visitor.ts';
import { describeRequests, type Json } from '../support/site-client.ts';

const SITE_ZONE = { tribe_events_calendar_options: { tribe_events_timezone_mode: 'site' } };

describeRequests(
  'days of the calendar',
  (ask) => {
    const text = async (path: string): Promise<string> => (await ask.send('GET', path)).text;
    const made = (values: object): Promise<Json> => ask.create('/events', { status: 'publish', ...values });
    const madeMany = async (name: string, day: string, count: number, hour = '10', end = `${day} ${hour}:30:00`): Promise<void> => {
      const body = { start_date: `${day} ${hour}:00:00`, end_date: end, status: 'publish' };
      for (let from = 0; from < count; from += 100) {
        const titles = Array.from({ length: Math.min(100, count - from) }, (_, at) => `${name} ${from + at}`);
        const requests = titles.map((title) => ({ method: 'POST', path: '/calendar/events/v1/events', body: { ...body, title } }));
        expect((await ask.send('POST', '/wp-json/batch/v1', { as: 'admin', body: { requests } })).status).toBe(207);
      }
    };
    /** The cells of the month with this path, by day. */
    const cellsOf = async (path: string): Promise<ReadonlyMap<string, string>> =>
      new Map((await text(path)).split('<td').map((cell) => [/datetime="([^"]*)"/.exec(cell)?.[1] ?? '', cell]));

    it('show an all-day event of a zone further east or west on its own day, whichever local time the site shows', async () => {
      for (const [siteZone, zone] of [
        ['America/Los_Angeles', 'Asia/Tokyo'],
        ['Asia/Tokyo', 'America/Los_Angeles'],
      ]) {
        // biome-ignore format: pairs
        await ask.options({ timezone_string: siteZone, ...SITE_ZONE });
        const title = `Whole day in ${zone}`;
        const { url } = await made({ title, start_date: '2035-12-25', end_date: '2035-12-25', all_day: true, timezone: zone });
        expect(await text(new URL(url).pathname)).toMatch(/December 25, 2035/);
        const days = ['24', '25', '26'].map((day) => `2035-12-${day}`);
        const shown = await Promise.all(days.map(async (day) => (await text(`/events/${day}/`)).includes(`>${title}<`)));
        expect([zone, shown]).toEqual([zone, [false, true, false]]);
        const feeds = await Promise.all(days.map(async (day) => (await text(`/events/${day}/?ical=1`)).includes(title)));
        expect([zone, feeds]).toEqual([zone, [false, true, false]]);
        const cells = new Map((await text('/events/2035-12/')).split('<td').map((cell) => [/datetime="([^"]*)"/.exec(cell)?.[1], cell.includes(title)])); // biome-ignore format: cells
        expect([zone, days.map((day) => cells.get(day))]).toEqual([zone, [false, true, false]]);
      }
    });

    it('show an all-day date of a rule on its own day only, also if clocks go forward on that day', async () => {
      await ask.options({ timezone_string: 'Europe/Rome' });
      const title = 'Sunday market';
      const { id } = await made({ title, start_date: '2030-03-31', end_date: '2030-03-31', all_day: true, timezone: 'Europe/Rome' });
      // All dates of a rule are stored with the same number of seconds.
      const end = { end_date: '2030-04-01 00:59:59', end_date_utc: '2030-03-31 22:59:59' };
      await ask.writeRows(async (db) => {
        for (const table of ['tec_occurrences', 'tec_events'] as const) await db.from(table).where({ post_id: id }).update(end);
        for (const [key, value] of [['_EventEndDate', end.end_date], ['_EventEndDateUTC', end.end_date_utc]] as const) // biome-ignore format: pairs
          await db
            .from('postmeta')
            .where({ post_id: id, meta_key: key })
            .update({ meta_value: storedText(value) });
      });
      expect((await ask.read(`/events/${id}`)).end_date).toBe(end.end_date);
      for (const [path, isShown] of [
        ['/events/2030-03-30/', false],
        ['/events/2030-03-31/', true],
        ['/events/2030-04-01/', false],
        ['/events/2030-03/', true],
        ['/events/2030-04/', false],
      ] as const)
        for (const feed of ['', '?ical=1']) {
          const answer = await text(path + feed);
          expect([path, feed, answer.includes(title)]).toEqual([path, feed, isShown]);
        }
      const admin = await openVisitor(ask, 'admin');
      const { text: month } = await admin.get('/admin/month?month=2030-04');
      expect(month).not.toContain(title);
    });

    it('show a protected all-day event as one that lasts all day, on its own day, and so do the feeds', async () => {
      await ask.options({ timezone_string: 'America/Los_Angeles', ...SITE_ZONE });
      const dates = { start_date: '2035-12-25', end_date: '2035-12-25', all_day: true, timezone: 'Asia/Tokyo' };
      const { id, url } = await made({ title: 'Retreat', ...dates });
      await ask.writeRows((db) => db.from('posts').where({ ID: id }).update({ post_password: 'sesame' }));
      const path = new URL(url).pathname;
      const page = await text(path);
      expect(page).toContain('Protected: Retreat');
      expect(page).toMatch(/Tuesday, December 25, 2035</);
      const days = ['24', '25', '26'].map((day) => `/events/2035-12-${day}/`);
      for (const feed of ['', '?ical=1', 'feed/']) {
        const shown = await Promise.all(days.map(async (day) => (await text(day + feed)).includes('Retreat')));
        expect([feed, shown]).toEqual([feed, [false, true, false]]);
      }
      expect(await text(`${path}?ical=1`)).toMatch(/DTSTART;VALUE=DATE:20351225\r\nDTEND;VALUE=DATE:20351226\r\n/);
      expect(await text(`${days[1]}feed/`)).toMatch(/<ev:startdate>2035-12-25<\/ev:startdate>\s*<ev:enddate>2035-12-25<\/ev:enddate>/);
      expect((await ask.read(`/events?include=${id}`)).events[0].all_day).toBeNull();
    });

    it('contain the same events in calendars and on pages: none that lasts until the day begins', async () => {
      await ask.options({});
      await made({ title: 'Ball', start_date: '2035-03-10 21:00:00', end_date: '2035-03-11 00:00:00' });
      await made({ title: 'Toast', start_date: '2035-03-11 00:00:00', end_date: '2035-03-11 00:00:00' });
      for (const path of ['/events/2035-03-11/', '/events/2035-03-11/?ical=1', '/events/2035-03-11/feed/']) {
        const answer = await text(path);
        expect([path, answer.includes('Ball'), answer.includes('Toast')]).toEqual([path, false, true]);
      }
    });

    it.each([
      ['2038-01-01', 'Europe/Rome', {}],
      ['2037-01-01', 'Europe/Rome', SITE_ZONE],
      ['2039-01-01', 'Pacific/Honolulu', SITE_ZONE],
      ['2040-01-01', 'Etc/GMT+12', SITE_ZONE],
    ])('have their own events in feeds, however many last until the day begins: %s in %s with %j', async (day, zone, mode) => {
      await ask.options({ ...mode, timezone_string: zone, posts_per_rss: '10' });
      const eve = addDays(`${day} 00:00:00`, -1).slice(0, 10);
      await madeMany('Countdown', eve, 31, '23', `${day} 00:00:00`);
      for (let place = 0; place < 31; place += 1) await made({ title: 'Eve', start_date: eve, end_date: eve, all_day: true });
      await made({ title: 'New Year concert', start_date: `${day} 11:00:00`, end_date: `${day} 13:00:00` });
      await made({ title: 'First toast', start_date: `${day} 00:00:00`, end_date: `${day} 00:00:00` });
      await made({ title: 'Long night', start_date: `${eve} 20:00:00`, end_date: `${day} 00:00:01` });
      for (const path of [day, day.slice(0, 7)])
        for (const feed of ['feed/', '?ical=1', '']) {
          const answer = await text(`/events/${path}/${feed}`);
          const shown = ['Countdown', 'New Year concert', 'First toast', 'Long night'].filter((title) => answer.includes(title));
          expect([path, feed, shown]).toEqual([path, feed, ['New Year concert', 'First toast', 'Long night']]);
        }
      const title = 'Sunrise of the year';
      await made({ title, start_date: day, end_date: day, all_day: true, timezone: 'Pacific/Kiritimati' });
      for (const feed of ['feed/', '?ical=1', '']) expect(await text(`/events/${day}/${feed}`)).toContain(title);
    });

    it('with more events than fit on their page lead to a list with all of them', async () => {
      await ask.options({});
      await madeMany('Stand', '2035-05-04', 500);
      const standsOn = (html: string) => [...html.matchAll(/>(Stand \d+)</g)].map(([, title]) => title!);
      const html = await text('/events/2035-05-04/');
      const path = '/events/list/?tribe-bar-date=2035-05-04&until=2035-05-04';
      const link = elements(html, ({ name, attribs }) => name === 'a' && (attribs.href ?? '').endsWith(path)).map(textOf);
      expect(link).toEqual([expect.stringMatching(/^All 50\d events of this day, page by page$/)]);
      await ask.options({ posts_per_page: '300' });
      const pages = [await text(path), await text(path.replace('list/', 'list/page/2/'))];
      expect(new Set(pages.flatMap(standsOn)).size).toBe(500);
      expect(await text('/events/2035-05-05/')).not.toContain('page by page');
    });

    it('of a month with more events than it shows link to those that may have more, also if they begin later than midnight', async () => {
      await ask.options({ tribe_events_calendar_options: { multiDayCutoff: '04:00' } });
      await madeMany('Stand', '2035-06-09', 398);
      await madeMany('Late show', '2035-06-12', 5, '01');
      const cells = await cellsOf('/events/2035-06/');
      const mayHaveMore = ['09', '10', '11', '12', '30'].map((day) => cells.get(`2035-06-${day}`)?.includes('All events'));
      expect(mayHaveMore).toEqual([false, false, true, true, true]);
    });

    it('of a month without events are followed by words that say so', async () => {
      await ask.options({});
      const said = async (path: string) => elements(await text(path), ({ attribs }) => attribs.class === 'none').map(textOf);
      expect(await said('/events/2041-03/')).toEqual(['No events.']);
      expect(await said('/it/events/2041-03/')).toEqual(['Nessun evento.']);
      expect(await said('/events/2041-03/?tribe-bar-search=ball')).toEqual(await said('/events/list/?tribe-bar-search=qwertz'));
      await made({ title: 'Ball', start_date: '2041-02-28 20:00:00', end_date: '2041-03-01 00:00:00' });
      expect(await said('/events/2041-03/')).toEqual(['No events.']);
      await made({ title: 'Ball', start_date: '2041-03-01 20:00:00', end_date: '2041-03-01 22:00:00' });
      expect(await said('/events/2041-03/')).toEqual([]);
    });

    it('in zones more than a day apart are those of all-day events, on pages and in calendars', async () => {
      for (const [siteZone, zone] of [
        ['Pacific/Pago_Pago', 'Pacific/Kiritimati'],
        ['Pacific/Kiritimati', 'Pacific/Pago_Pago'],
      ]) {
        // biome-ignore format: pairs
        await ask.options({ timezone_string: siteZone, ...SITE_ZONE });
        for (const [title, day] of [['First', '2036-02-01'], ['Last', '2036-02-29']]) // biome-ignore format: pairs
          await made({ title: `${title} of ${zone}`, start_date: day, end_date: day, all_day: true, timezone: zone });
        const shown = async (path: string) => {
          const page = await text(path);
          return ['First', 'Last'].filter((title) => page.includes(`${title} of ${zone}`));
        };
        for (const [path, ...titles] of [
          ['/events/2036-01-31/'],
          ['/events/2036-02-01/', 'First'],
          ['/events/2036-02-02/'],
          ['/events/2036-02-29/', 'Last'],
          ['/events/2036-03-01/'],
          ['/events/2036-01/'],
          ['/events/2036-02/', 'First', 'Last'],
          ['/events/2036-03/'],
        ] as const)
          expect([zone, path, await shown(path), await shown(`${path}?ical=1`)]).toEqual([zone, path, titles, titles]);
      }
    });

    it('of the last month of the year 9999 are shown and linked to like others, whatever zone the site has', async () => {
      for (const zone of ['America/Los_Angeles', 'Asia/Tokyo']) {
        await ask.options({ timezone_string: zone, ...SITE_ZONE });
        await made({ title: `Party in ${zone}`, start_date: '9999-12-30 10:00:00', end_date: '9999-12-30 11:00:00' });
        for (const path of ['/events/9999-12/', '/events/9999-12-30/', '/events/9999-12/?ical=1'])
          expect([zone, path, (await text(path)).includes(`Party in ${zone}`)]).toEqual([zone, path, true]);
        const next = async (path: string) =>
          elements(await text(path), ({ attribs }) => attribs.rel === 'next').map(({ attribs }) => attribs.href);
        await made({ title: 'Rehearsal', start_date: '9999-11-30 10:00:00', end_date: '9999-11-30 11:00:00' });
        expect((await next('/events/9999-11/'))[0]).toMatch(/\/events\/9999-12\/$/);
        expect((await next('/events/9999-11-30/'))[0]).toMatch(/\/events\/9999-12-01\/$/);
        expect([await next('/events/9999-12/'), await next('/events/9999-12-31/')]).toEqual([[], []]);
      }
    });

    it('that a list begins with are in its heading', async () => {
      const heading = async (path: string) => elements(await text(path), ({ name }) => name === 'h1').map(textOf)[0];
      expect(await heading('/events/list/')).toBe('Upcoming events');
      expect(await heading('/events/list/?tribe-bar-date=2026-01-01')).toBe('Events from Thursday, January 1, 2026');
      expect(await heading('/it/events/list/?tribe-bar-date=2026-01-01')).toBe('Eventi a partire da giovedì 1 gennaio 2026');
      expect(await heading('/events/list/?eventDisplay=past&tribe-bar-date=2030-01-01')).toBe('Events before Tuesday, January 1, 2030');
    });

    it('that a list begins or ends with are labelled as such, and divide the calendar into that list and the other one', async () => {
      const label = async (path: string) => elements(await text(path), ({ attribs }) => attribs.for === 'from').map(textOf)[0];
      expect([await label('/events/list/'), await label('/it/events/list/')]).toEqual(['From', 'Dal']);
      const past = 'eventDisplay=past&tribe-bar-date=2026-12-15';
      expect([await label(`/events/list/?${past}`), await label(`/it/events/list/?${past}`)]).toEqual(['Before', 'Prima del']);
      const other = async (path: string) =>
        elements(await text(path), ({ name, attribs }) => name === 'a' && attribs.rel === 'prev')
          .map((link) => [textOf(link), link.attribs.href?.replace(/^.*?(?=\/events\/)/, '')])
          .at(0);
      const [from, before] = ['/events/list/?tribe-bar-date=2026-12-15', `/events/list/?${past}`];
      expect(await other(from)).toEqual(['Events before Tuesday, December 15, 2026', before]);
      expect(await other(before)).toEqual(['Events from Tuesday, December 15, 2026', from]);
      expect(await other('/events/list/')).toEqual(['Past events', '/events/list/?eventDisplay=past']);
    });

    it('are read with the day first where a browser sends them as typed', async () => {
      const inList = async (query: string) => {
        const { status, text: html } = await ask.send('GET', `/events/list/?${query}`);
        return [status, html.includes('>Snow ball<'), html.includes('>Ice ball<')];
      };
      await made({ title: 'Snow ball', start_date: '2037-12-05 20:00:00', end_date: '2037-12-05 22:00:00' });
      await made({ title: 'Ice ball', start_date: '2037-12-30 20:00:00', end_date: '2037-12-30 22:00:00' });
      expect(await inList('tribe-bar-search=ball&until=05/12/2037')).toEqual([200, true, false]);
      expect(await inList('tribe-bar-search=ball&until=31.12.2037')).toEqual([200, true, true]);
      expect(await inList('tribe-bar-date=06/12/2037')).toEqual([200, false, true]);
      const html = await text('/events/list/?tribe-bar-date=06/12/2037&until=31/12/2037');
      const inputs = elements(html, ({ attribs }) => attribs.type === 'date').map(({ attribs }) => [attribs.name, attribs.value]);
      expect(inputs).toEqual([['tribe-bar-date', '2037-12-06'], ['until', '2037-12-31']]); // biome-ignore format: pairs
    });
  },
  { PAGES: 'on' },
);
