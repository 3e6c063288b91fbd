import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readConfig } from '../../src/config/config.ts';
import { createApp } from '../../src/http/app.ts';
import { openSite } from '../../src/site.ts';
import { openDatabase } from '../../src/storage/engine/database.ts';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { accessibilityFaults, describeInBrowser, VIEWS } from '../support/browser.ts';
import { basic } from '../support/running-site.ts';
import { setOptions } from '../support/site.ts';
import { readFixture, resetScript } from '../support/site-data.mjs';

const PATHS = [
  '/events/list/',
  '/events/2030-08/',
  '/events/2030-08-05/',
  '/events/?eventDisplay=past',
  '/events/category/music/',
  '/it/events/2030-08/',
  '/nothing',
];

describeInBrowser('the pages in a browser', (visit) => {
  let base = '';
  let close = async (): Promise<void> => undefined;
  let record = { url: '', venue: '' };
  beforeAll(async () => {
    ({ base, close } = await serveSample());
    const answer = await fetch(`${base}/wp-json/tribe/events/v1/events?start_date=2000-01-01&per_page=50`);
    const { events } = (await answer.json()) as { events: { url: string; venue: { url?: string } }[] };
    const held = events.find(({ venue }) => venue.url !== undefined)!;
    record = { url: held.url, venue: held.venue.url! };
  });
  afterAll(() => close());

  it.each(VIEWS)('have no accessibility faults (%j)', async (view) => {
    const { page, complaints } = await visit(view);
    const faults: string[] = [];
    for (const url of [...PATHS.map((path) => base + path), record.url, record.venue, `${base}/doc`]) {
      await page.goto(url);
      faults.push(...(await accessibilityFaults(page)).map((fault) => `${url}: ${fault}`));
    }
    expect([faults, complaints]).toEqual([[], []]);
  });

  it('wrap names that are wider than the screen of a phone', async () => {
    const word = 'Donaudampfschifffahrtsgesellschaftskapitänsmütze';
    const made = await create(base, {
      ...{ title: word, start_date: '2031-12-05 10:00:00', end_date: '2031-12-05 12:00:00', cost: word },
      ...{ categories: [`${word}e`], tags: [`${word}n`], venue: { venue: word, city: word }, organizer: { organizer: word } },
    });
    const { url, venue } = (await made.json()) as { url: string; venue: { url: string } };
    const { page } = await visit({ viewport: { width: 320, height: 700 } });
    for (const address of [url, venue.url, `${base}/events/2031-12/`, `${base}/events/2031-12-05/?filters=open&city=${word}`]) {
      await page.goto(address);
      expect([address, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([address, true]);
    }
  });

  it('can be operated by keyboard, with a link that skips to the content', async () => {
    const { page } = await visit();
    await page.goto(`${base}/events/list/`);
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('search');
    await page.keyboard.type('fair');
    await page.keyboard.press('Enter');
    await page.waitForURL(/tribe-bar-search=fair/);
    expect(await page.textContent('h1')).toBe('Search: fair');
  });

  it('are printed without the parts that are useful only on a screen', async () => {
    const { page } = await visit();
    const shown = async (selector: string) => {
      const all = page.locator(selector);
      const states = await all.evaluateAll((found) => found.map((one) => [one.className || one.tagName, one.checkVisibility()] as const));
      return states.flatMap(([name, isVisible]) => (isVisible ? [name] : []));
    };
    const tools = 'nav, form, button, .site-footer, .subscribe, .chips, .steps, .buttons, .back';
    for (const url of [...[...PATHS, '/events/list/?categories=music&featured=1'].map((path) => base + path), record.url, record.venue]) {
      await page.emulateMedia({ media: 'screen' });
      await page.goto(url);
      expect([url, (await shown(tools)).length > 0]).toEqual([url, true]);
      await page.emulateMedia({ media: 'print' });
      expect([url, await shown(tools)]).toEqual([url, []]);
    }
    await page.goto(record.url);
    expect(await shown('h1, .record-when, .record-where, .facts')).toEqual(['H1', 'record-when', 'record-where', 'facts']);
  });

  it('send requests from the API reference, with the login entered there', async () => {
    const { page, complaints } = await visit();
    await page.goto(`${base}/doc#get-venues`);
    const form = page.locator('#get-venues form.try');
    await form.locator('[name=per_page]').fill('1');
    await form.locator('button').click();
    await form.locator('output pre').waitFor();
    expect(await form.locator('output strong').textContent()).toMatch(/^GET \/wp-json\/calendar\/events\/v1\/venues\?per_page=1\n200/);
    await page.fill('[name=user]', 'admin');
    await page.fill('[name=secret]', 'wrong');
    await form.locator('[name=login]').check();
    await form.locator('button').click();
    await form.locator('output strong', { hasText: '401' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('show each day of a month with many events by <fasti-events>', async () => {
    const { page } = await visit();
    const event = (number: number) => ({
      title: `No. ${number}`,
      start_date: '2030-08-30 10:00:00',
      end_date: '2030-08-30 11:00:00',
      url: base,
    });
    const asked: string[] = [];
    await page.route('**/wp-json/**', async (route) => {
      const number = Number(new URL(route.request().url()).searchParams.get('page') ?? 1);
      asked.push(String(number));
      const today = new Date().toISOString().slice(0, 8);
      const events = number === 3 ? [{ ...event(3), start_date: `${today}28 10:00:00`, end_date: `${today}28 11:00:00` }] : [event(number)];
      await route.fulfill({ json: { events, total: 101, total_pages: 3 } });
    });
    await page.goto(`${base}/events/list/`);
    await page.setContent(
      `<script type="module" src="${base}/_fasti/fasti-events.js"></script><div lang="it_IT"><fasti-events view="month"></fasti-events></div>`,
    );
    await page.locator('fasti-events li').first().waitFor();
    expect(asked.sort()).toEqual(['1', '2', '3']);
    expect(await page.locator('fasti-events li').allTextContents()).toEqual(['No. 3']);
  });

  it.each([
    [50, 1025, 980, 20],
    [10, 210, 180, 10],
  ])(
    'show all events of a month by <fasti-events>, however many are around it (pages of %i events)',
    async (length, total, fifth, sixth) => {
      const { page } = await visit();
      const [year, month] = new Date().toISOString().split('-').map(Number) as [number, number];
      const day = (number: number) => new Date(Date.UTC(year, month - 1, number)).toISOString().slice(0, 10);
      const eventOn = (date: string) => ({ title: date, start_date: `${date} 10:00:00`, end_date: `${date} 11:00:00`, url: base });
      const events = Array.from({ length: total }, (_, at) => eventOn(day(at < 20 ? 0 : at < 20 + fifth ? 5 : 6)));
      await page.route('**/wp-json/**', async (route) => {
        const first = (Number(new URL(route.request().url()).searchParams.get('page') ?? 1) - 1) * length;
        const json = { events: events.slice(first, first + length), total, total_pages: Math.ceil(total / length) };
        await route.fulfill({ json });
      });
      await page.goto(`${base}/events/list/`);
      await page.setContent(
        `<script type="module" src="${base}/_fasti/fasti-events.js"></script><fasti-events view="month"></fasti-events>`,
      );
      await page.locator('fasti-events table').waitFor();
      const shown = await page.locator('fasti-events li').allTextContents();
      expect([day(0), day(5), day(6)].map((date) => shown.filter((title) => title === date).length)).toEqual([0, fifth, sixth]);
    },
  );

  it.each([
    ['120', 120, ['1 50', '2 50', '3 50']],
    ['5', 5, ['1 5']],
    ['many', 10, ['1 10']],
  ])('show the requested number of events in a list by <fasti-events> (%s)', async (count, shown, pages) => {
    const { page } = await visit();
    const asked: string[] = [];
    await page.route('**/wp-json/**', async (route) => {
      const said = new URL(route.request().url()).searchParams;
      const [number, length] = [Number(said.get('page') ?? 1), Number(said.get('per_page'))];
      asked.push(`${number} ${length}`);
      const events = Array.from({ length }, (_, at) => ({
        ...{ title: `No. ${(number - 1) * length + at + 1}`, url: base },
        ...{ start_date: '2030-08-30 10:00:00', end_date: '2030-08-30 11:00:00' },
      }));
      await route.fulfill({ json: { events, total: 400, total_pages: Math.ceil(400 / length) } });
    });
    await page.goto(`${base}/events/list/`);
    await page.setContent(
      `<script type="module" src="${base}/_fasti/fasti-events.js"></script><fasti-events count="${count}"></fasti-events>`,
    );
    await page.locator('fasti-events li').first().waitFor();
    expect(asked.sort()).toEqual(pages);
    const titles = await page.locator('fasti-events li .title').allTextContents();
    expect([titles.length, titles.at(-1)]).toEqual([shown, `No. ${shown}`]);
  });

  it('show the requested number of events by <fasti-events> if pages of the API are shorter than usual', async () => {
    const { page } = await visit();
    await page.route('**/wp-json/**', async (route) => {
      const number = Number(new URL(route.request().url()).searchParams.get('page') ?? 1);
      const events = Array.from({ length: 5 }, (_, at) => ({
        ...{ title: `No. ${(number - 1) * 5 + at + 1}`, url: base },
        ...{ start_date: '2030-08-30 10:00:00', end_date: '2030-08-30 11:00:00' },
      }));
      await route.fulfill({ json: { events, total: 400, total_pages: 80 } });
    });
    await page.goto(`${base}/events/list/`);
    await page.setContent(`<script type="module" src="${base}/_fasti/fasti-events.js"></script><fasti-events count="12"></fasti-events>`);
    await page.locator('fasti-events li').first().waitFor();
    expect(await page.locator('fasti-events li').count()).toBe(12);
  });

  it('show an event on all its days in two months by <fasti-events>', async () => {
    const [year, month] = new Date().toISOString().split('-').map(Number) as [number, number];
    const dayOfMonth = (by: number, day: number) => new Date(Date.UTC(year, month - 1 + by, day)).toISOString().slice(0, 10);
    // An event that lasts until midnight is not on the next day.
    const dates = { start_date: `${dayOfMonth(-1, 20)} 10:00:00`, end_date: `${dayOfMonth(1, 3)} 00:00:00` };
    await create(base, { title: 'A long exhibition', ...dates });
    const { page } = await visit();
    await page.goto(`${base}/events/list/`);
    await page.setContent(
      `<script type="module" src="${base}/_fasti/fasti-events.js"></script><fasti-events view="month" language="en"></fasti-events>`,
    );
    const months = page.locator('fasti-events .month-name');
    const words = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
    /** The days with the event, in the month that is this many months from now. */
    const daysIn = async (by: number) => {
      await months.filter({ hasText: words.format(new Date(dayOfMonth(by, 1))) }).waitFor();
      return page.locator('fasti-events td:has(li:has-text("A long exhibition")) time').allTextContents();
    };
    expect(await daysIn(0)).toHaveLength(Number(dayOfMonth(1, 0).slice(8)));
    await page.locator('fasti-events button').last().click();
    expect(await daysIn(1)).toEqual(['1', '2']);
    await page.locator('fasti-events button').first().click();
    await daysIn(0);
    await page.locator('fasti-events button').first().click();
    expect((await daysIn(-1))[0]).toBe('20');
  });

  it.each([
    ['days begin after midnight', { multiDayCutoff: '04:00' }, { from: '01:00', to: '03:00' }],
    ['the site compares in its own zone', { tribe_events_timezone_mode: 'site' }, { from: '05:00', to: '06:00', timezone: 'Asia/Tokyo' }],
  ])('show an event on the first day of a month by <fasti-events>, if %s', async (_, options, { from, to, ...more }) => {
    const sample = await serveSample({}, { tribe_events_calendar_options: options });
    const day = `${new Date().toISOString().slice(0, 7)}-01`;
    const dates = { start_date: `${day} ${from}:00`, end_date: `${day} ${to}:00`, ...more };
    await create(sample.base, { title: 'Night walk', ...dates });
    const { page } = await visit();
    await page.goto(`${sample.base}/events/list/`);
    await page.setContent(
      `<script type="module" src="${sample.base}/_fasti/fasti-events.js"></script><fasti-events view="month"></fasti-events>`,
    );
    await page.locator('fasti-events table').waitFor();
    expect(await page.locator('fasti-events td:has(li:has-text("Night walk")) time').allTextContents()).toEqual(['1']);
    await sample.close();
  });

  it('show all-day dates of a rule on their own days by <fasti-events>, if clocks change', async () => {
    const { page } = await visit();
    const month = new Date().toISOString().slice(0, 8);
    const event = { title: 'Market', all_day: true, start_date: `${month}05 00:00:00`, end_date: `${month}06 00:59:59`, url: base };
    const others = [
      { ...event, title: 'Fair', start_date: `${month}07 04:00:00`, end_date: `${month}09 04:59:59` },
      { ...event, title: 'Course', start_date: `${month}11 00:00:00`, end_date: `${month}12 22:59:59` },
      { ...event, title: 'Camp', start_date: `${month}14 01:00:00`, end_date: `${month}15 23:59:59` },
      // For protected events it is hidden whether they last all day.
      { ...event, title: 'Retreat', all_day: null, start_date: `${month}17 00:00:00`, end_date: `${month}18 00:59:59` },
      { ...event, title: 'Hike', all_day: null, start_date: `${month}20 00:00:00`, end_date: `${month}21 22:59:59` },
      { ...event, title: 'Night', all_day: null, start_date: `${month}23 20:00:00`, end_date: `${month}24 20:59:59` },
    ];
    await page.route('**/wp-json/**', (route) => route.fulfill({ json: { events: [event, ...others], total: 7, total_pages: 1 } }));
    await page.goto(`${base}/events/list/`);
    await page.setContent(
      `<script type="module" src="${base}/_fasti/fasti-events.js"></script>
      <div lang="en"><fasti-events id="list"></fasti-events><fasti-events id="month" view="month"></fasti-events></div>`,
    );
    await page.locator('#month li').first().waitFor();
    const days = await page.locator('#month td:has(li)').locator('time').allTextContents();
    expect(days).toEqual(['5', '7', '8', '11', '12', '14', '15', '17', '20', '21', '23', '24']);
    const whens = await page.locator('#list .when').allTextContents();
    expect(whens[0]).not.toMatch(/\b6\b/);
    expect(whens.map((when) => when.includes(':'))).toEqual([false, false, false, false, false, false, true]);
  });

  it('show all-day events on their own days by <fasti-events>, if days begin after midnight', async () => {
    const { page } = await visit();
    const month = new Date().toISOString().slice(0, 8);
    const event = { title: 'Fair', all_day: true, start_date: `${month}05 04:00:00`, end_date: `${month}07 03:59:59`, url: base };
    // For protected events it is hidden whether they last all day.
    const others = [
      { ...event, title: 'Retreat', all_day: null, start_date: `${month}08 04:00:00`, end_date: `${month}09 03:59:59` },
      { ...event, title: 'Walk', all_day: null, start_date: `${month}10 10:00:00`, end_date: `${month}10 12:30:00` },
    ];
    await page.route('**/wp-json/**', (route) => route.fulfill({ json: { events: [event, ...others], total: 3, total_pages: 1 } }));
    await page.goto(`${base}/events/list/`);
    await page.setContent(
      `<script type="module" src="${base}/_fasti/fasti-events.js"></script>
      <div lang="en"><fasti-events id="list"></fasti-events><fasti-events id="month" view="month"></fasti-events></div>`,
    );
    await page.locator('#month li').first().waitFor();
    expect(await page.locator('#month td.busy, #month td:has(li)').locator('time').allTextContents()).toEqual(['5', '6', '8', '10']);
    const [fair, retreat, walk] = await page.locator('#list .when').allTextContents();
    expect(fair).toMatch(/\b5\b.*\b6\b/);
    expect(fair).not.toMatch(/\b7\b/);
    expect([retreat, walk]).toEqual([expect.not.stringMatching(/:|\b9\b/), expect.stringMatching(/10:00.*12:30/)]);
  });

  it("show events without a title or dates by <fasti-events>, in the page's language, which they request", async () => {
    const { page } = await visit();
    const asked: string[] = [];
    await page.route('**/wp-json/**', async (route) => {
      const said = new URL(route.request().url()).searchParams;
      asked.push(['translation_language', 'wpml_language', 'lang'].map((name) => said.get(name)).join(' '));
      const month = new Date().toISOString().slice(0, 8);
      const events = [
        { title: '', start_date: `${month}05 10:00:00`, end_date: `${month}05 11:00:00`, url: base },
        { title: 'Some day', all_day: true, start_date: '', end_date: '', url: base },
        { title: 'Never', start_date: 'never', end_date: '', url: base },
      ];
      await route.fulfill({ json: { events, total: 3, total_pages: 1 } });
    });
    await page.goto(`${base}/events/list/`);
    await page.setContent(
      `<script type="module" src="${base}/_fasti/fasti-events.js"></script>
      <div lang="it"><fasti-events id="list" language="no language"></fasti-events></div>
      <div lang="pt_BR"><fasti-events id="month" view="month"></fasti-events></div>`,
    );
    await page.locator('#month li').first().waitFor();
    expect(await page.locator('#list li .title').allTextContents()).toEqual(['Evento senza titolo', 'Some day', 'Never']);
    expect(await page.locator('#list li .when').count()).toBe(1);
    expect(await page.locator('#month li').allTextContents()).toEqual(['Untitled event']);
    expect(asked.sort()).toEqual(['  it', ' pt-br pt']);
  });

  it('show events by <fasti-events> on pages in languages that the calendar lacks', async () => {
    const { page } = await visit();
    for (const [texts, languages] of [
      ['en', ['it', 'en-GB', 'de_AT']],
      ['it', ['en']],
    ] as const) {
      const sample = await serveSample({ LANGUAGES: texts });
      const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
      await create(sample.base, { title: 'Tomorrow', start_date: day, end_date: day });
      await page.goto(`${sample.base}/events/list/`);
      await page.setContent(
        `<script type="module" src="${sample.base}/_fasti/fasti-events.js"></script>
        ${languages.map((language) => `<div lang="${language}"><fasti-events count="1"></fasti-events></div>`).join('')}`,
      );
      const shown = page.locator('fasti-events').locator('.title, [role=alert]');
      await shown.nth(languages.length - 1).waitFor();
      expect([texts, await shown.allTextContents()]).toEqual([texts, languages.map(() => 'Tomorrow')]);
      await sample.close();
    }
  });

  it('show events on a page of another site by <fasti-events>', async () => {
    const other = http.createServer((_req, res) => {
      res.setHeader('Content-Type', 'text/html; charset=UTF-8');
      res.end(`<!doctype html><html lang="it"><title>Other</title><main><h1>Other</h1>
        <script type="module" src="${base}/_fasti/fasti-events.js"></script>
        <fasti-events id="list" count="3"></fasti-events><fasti-events id="month" view="month"></fasti-events></main></html>`);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { page, complaints } = await visit();
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    await page.locator('#list li').nth(2).waitFor();
    expect(await page.locator('#list li').count()).toBe(3);
    expect(await page.locator('#list li a').first().getAttribute('href')).toMatch(/\/event\//);
    await page.locator('#month table').waitFor();
    const name = () => page.locator('#month .month-name').textContent();
    const before = await name();
    await page.locator('#month button').last().click();
    await page.waitForFunction(
      `document.querySelector('#month').shadowRoot.querySelector('.month-name').textContent !== ${JSON.stringify(before)}`,
    );
    expect([await accessibilityFaults(page), complaints]).toEqual([[], []]);
    await new Promise((resolve) => other.close(resolve));
  });
});

/** Publishes an event on a site with this address. */
const create = (base: string, event: object): Promise<Response> =>
  fetch(`${base}/wp-json/tribe/events/v1/events`, {
    method: 'POST',
    headers: { authorization: basic('admin'), 'content-type': 'application/json' },
    body: JSON.stringify({ ...event, status: 'publish' }),
  });

/** Serves the sample site with pages, under the same address as in its links. */
async function serveSample(
  env: Record<string, string> = {},
  options: Readonly<Record<string, unknown>> = {},
): Promise<{ base: string; close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-pages-'));
  const url = `sqlite:${join(folder, 'site.sqlite')}`;
  const db = await openDatabase({ url, prefix: 'wp_' });
  await migrate(db);
  const raw = new Sqlite(join(folder, 'site.sqlite'));
  raw.exec(resetScript(readFixture(), { engine: 'sqlite', prefix: 'wp_' }));
  raw.close();
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await setOptions(db, { home: base, siteurl: base, ...options });
  await db.close();
  const site = await openSite(readConfig({ DATABASE_URL: url, PAGES: 'on', LOG_LEVEL: 'silent', UPLOADS_DIR: folder, ...env }));
  server.on('request', createApp(site));
  return {
    base,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await site.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
