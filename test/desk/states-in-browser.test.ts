import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { accessibilityFaults, describeInBrowser, faultsOfAnswer, VIEWS } from '../support/browser.ts';
import { openVisitor, type Visitor } from '../support/desk-visitor.ts';
import { describeRequests, SUITE_TIME, type UserName } from '../support/site-client.ts';

/*
 * Pages in all states in which users see them: with errors, without contents, during a task. For each role with access,
 * in both languages, light and dark, wide and narrow.
 */

const ROLES = ['admin', 'ed', 'auth', 'contrib'] as const satisfies readonly UserName[];
type Role = (typeof ROLES)[number];

interface State {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly path: string | ((ids: Ids) => string);
  /** Actions on the page of this path that lead to the state. */
  readonly steps?: (page: Page) => Promise<unknown>;
  /** Selector that the page must match in this state. */
  readonly shows: string;
}

/** Ids of the records that the states need. */
interface Ids {
  readonly suggestion: number;
  readonly event: number;
}

const STATES: readonly State[] = [
  { name: 'an empty list', roles: ROLES, path: '/admin/events?search=nothingofthekind', shows: 'main' },
  { name: 'the trash', roles: ROLES, path: '/admin/events?status=trash', shows: 'main' },
  {
    name: 'a form with errors',
    roles: ROLES,
    path: '/admin/events/new',
    steps: async (page) => {
      await page.locator('#title').fill('A walk');
      for (const side of ['start', 'end']) await page.locator(`[name="${side}_date[date]"]`).fill('2027-03-04');
      await page.locator('#website').fill('no address at all <x>');
      await page.locator('.form-buttons button').first().click();
    },
    shows: '#website-error',
  },
  {
    name: 'a form that somebody else saved meanwhile',
    roles: ['admin', 'ed'],
    path: ({ event }) => `/admin/events/${event}`,
    steps: async (page) => {
      await page.evaluate('document.querySelector(\'.record-form [name="version"]\').value = "1"');
      await page.locator('#cost').fill('7');
      await page.locator('.form-buttons button').first().click();
    },
    shows: '.notice-wrong',
  },
  {
    name: 'a suggestion that waits',
    roles: ['admin', 'ed'],
    path: ({ suggestion }) => `/admin/events/${suggestion}`,
    shows: '.suggested',
  },
  {
    name: 'the preview of what waits',
    roles: ['admin', 'ed'],
    path: ({ suggestion }) => `/?p=${suggestion}&preview=true`,
    shows: '.notice-quiet',
  },
  { name: 'the suggestions in the list', roles: ['admin', 'ed'], path: '/admin/events?status=pending', shows: 'table.list' },
  {
    name: 'the progress of an import',
    roles: ['admin'],
    path: '/admin/import/progress?source=csv%20long.csv&total=900',
    shows: '[data-refresh]',
  },
  {
    name: 'what would become of an import',
    roles: ['admin'],
    path: '/admin/import',
    steps: async (page) => {
      const buffer = Buffer.from('Event Name,Event Start Date,Event End Date\nBarn dance,2027-04-10 10:00,2027-04-10 18:00\n');
      await page.locator('#file').setInputFiles({ name: 'fair.csv', mimeType: 'text/csv', buffer });
      await page.locator('main form button').first().click();
    },
    shows: 'button[name="run"]',
  },
  { name: 'the backups', roles: ['admin'], path: '/admin/health', shows: '.backups li' },
  { name: 'a page that is not there', roles: ROLES, path: '/admin/nothing', shows: '.notice-wrong' },
  { name: 'what may not be done', roles: ['contrib'], path: '/admin/people', shows: '.notice-wrong' },
];

/** Pages for visitors. */
const PUBLIC: readonly Omit<State, 'roles'>[] = [
  {
    name: 'the boxes that narrow the calendar',
    path: '/events/list/?filters=open',
    shows: '.search-boxes select',
  },
  { name: 'a narrowed calendar', path: '/events/list/?categories=music&until=2030-12-31&featured=1', shows: '.chips a' },
  { name: 'a narrowed month', path: '/events/2030-08/?categories=music', shows: '.chips a' },
  { name: 'a calendar without events', path: '/events/list/?tribe-bar-search=nothingofthekind', shows: '.none' },
  { name: 'an address that cannot be understood', path: '/events/list/?venue=987654', shows: 'h1' },
  {
    name: 'a suggestion with errors',
    path: '/events/suggest/',
    steps: async (page) => {
      await page.evaluate("document.querySelector('.suggest-form').noValidate = true");
      await page.locator('.suggest-form button').click();
    },
    shows: '.error-summary',
  },
];

describeInBrowser('pages in every state', (visit) => {
  describeRequests(
    '',
    (ask) => {
      const at = (path: string) => ask.running().base + path;

      /** Creates the records that the states need. */
      const prepared = async (): Promise<Ids> => {
        await ask.options({ fasti_suggest_slug: 'suggest' });
        const rosa = await openVisitor(ask);
        const form = await rosa.get('/events/suggest/');
        await rosa.submit(form, '/events/suggest/', {
          title: 'A concert',
          'start_date[date]': '2027-03-04',
          'start_date[time]': '20:00',
          'end_date[date]': '2027-03-04',
          'end_date[time]': '22:00',
          from_name: 'Rosa',
          from_email: 'rosa@example.org',
          from_note: 'Parking is behind',
        });
        const [suggestion] = await ask.db().from('posts').where({ post_status: 'pending', post_author: 0 }).orderBy('ID', 'desc');
        const event = await ask.create('/events', { title: 'A fair', start_date: '2027-01-01 10:00', end_date: '2027-01-01 12:00' });
        const run = {
          source: 'csv long.csv',
          run: 1,
          done: 400,
          report: '',
          open: 1,
          touched_at: SUITE_TIME.slice(0, 19).replace('T', ' '),
        };
        await ask.writeRows(async (db) => {
          await db.from('fasti_imports').where('source', run.source).delete();
          await db.from('fasti_imports').insert(run);
        });
        const { backupsDir } = ask.running().site.config;
        mkdirSync(backupsDir, { recursive: true });
        writeFileSync(join(backupsDir, '2026-11-19-120000-admin.backup'), 'x');
        return { suggestion: Number(suggestion?.ID), event: Number(event.id) };
      };

      /** Accessibility faults of a state, and whether the page is in the state at all, for a user's browser. */
      const faultsOf = async (
        { name, path, steps, shows }: (typeof PUBLIC)[number],
        { person, page, view, ids }: { person: Visitor; page: Page; view: BrowserContextOptions & { locale: string }; ids: Ids },
      ): Promise<string[]> => {
        const address = typeof path === 'string' ? path : path(ids);
        const look = async (): Promise<string[]> => {
          await page.goto(at(address));
          await steps?.(page);
          await page.locator(shows).first().waitFor();
          const bytes = Buffer.byteLength(await page.content());
          return [...(await accessibilityFaults(page)), ...(bytes > 60 * 1024 ? [`${bytes} bytes`] : [])];
        };
        const answer = steps ? undefined : await person.get(address, { 'Accept-Language': view.locale });
        const faults = await (answer ? faultsOfAnswer(answer, ask.running().base, [view, shows], look) : look());
        return faults.map((fault) => `${name}: ${fault}`);
      };

      // The desk uses the language of the account.
      const CASES = VIEWS.map((view) => {
        const locale = view.colorScheme === 'dark' ? 'it' : 'en';
        return [`${view.colorScheme}, ${view.viewport?.width} wide`, { ...view, locale }] as const;
      });

      it.each(ROLES.flatMap((role) => CASES.map(([name, view]) => [role, name, view] as const)))(
        'of the desk have no accessibility faults for %s (%s)',
        async (role, _, view) => {
          const ids = await prepared();
          const person = await openVisitor(ask, role);
          const { page } = await visit(view);
          const [name = '', value = ''] = person.cookie().split('=');
          await page.context().addCookies([{ name, value, url: at('/admin') }]);
          const faults: string[] = [];
          for (const state of STATES) if (state.roles.includes(role)) faults.push(...(await faultsOf(state, { person, page, view, ids })));
          expect(faults).toEqual([]);
        },
      );

      it.each(CASES)('for visitors have no accessibility faults: %s', async (_, view) => {
        const ids = await prepared();
        const person = await openVisitor(ask);
        const { page, complaints } = await visit(view);
        const faults: string[] = [];
        for (const state of PUBLIC) faults.push(...(await faultsOf(state, { person, page, view, ids })));
        expect([faults, complaints.filter((one) => !/CONNECTION_REFUSED|status of 422/.test(one))]).toEqual([[], []]);
      });

      it.each([true, false])('let a visitor filter the calendar by its boxes, with scripts: %s', async (javaScriptEnabled) => {
        await ask.create('/events', {
          title: 'Fair',
          start_date: '2026-12-05 10:00',
          end_date: '2026-12-05 12:00',
          status: 'publish',
          tags: ['Bread'],
        });
        await ask.create('/events', {
          title: 'Walk',
          start_date: '2026-12-06 10:00',
          end_date: '2026-12-06 12:00',
          status: 'publish',
          tags: ['Shoes'],
        });
        const { page } = await visit({ javaScriptEnabled, locale: 'en', viewport: { width: 320, height: 700 } });
        // Links on pages begin with the address of the site, which another server has.
        await page.goto(at('/events/list/'));
        const more = new URL((await page.locator('.search-more a').getAttribute('href')) ?? '');
        await page.goto(at(more.pathname + more.search));
        await page.getByLabel('Tag', { exact: true }).selectOption({ label: 'Bread' });
        await page.getByRole('button', { name: 'Find events' }).click();
        await page.waitForURL(/\/events\/list\/\?tags=bread$/);
        expect(await page.locator('h3').allTextContents()).toEqual(['Fair']);
        const chip = await page.getByRole('link', { name: 'Remove the filter Tag: Bread' }).getAttribute('href');
        expect(chip).toMatch(/\/events\/list\/$/);
        await page.goto(at('/events/list/'));
        expect(await page.locator('h3').allTextContents()).toContain('Walk');
      });
    },
    { PAGES: 'on' },
  );
});
