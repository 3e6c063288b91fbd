import { expect, it } from '@jest/globals';
import { deskRoutes } from '../../src/desk/routes.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { PAYLOADS } from '../attacks/_xss-payloads.mjs';
import { describeInBrowser, faultsOfAnswer } from '../support/browser.ts';
import { openVisitor } from '../support/desk-visitor.ts';
import { addRecurringEvents } from '../support/recurring-site.ts';
import { describeRequests } from '../support/site-client.ts';
import { isTextMeta, TEXT_COLUMNS } from '../support/stored-texts.ts';

describeInBrowser('stored texts with scripts, in a browser', (visit) => {
  describeRequests(
    '',
    (ask) => {
      it('run no script on any page of the calendar and of the editors', async () => {
        await ask.options({ fasti_suggest_slug: 'suggest' });
        let written = 0;
        const pages = await paths(ask.db());
        await ask.writeRows(async (db) => {
          await addRecurringEvents(db);
          written = await spoil(db);
        });
        expect(written).toBeGreaterThan(PAYLOADS.length);
        const admin = await openVisitor(ask, 'admin');
        const [name = '', value = ''] = admin.cookie().split('=');
        const { page } = await visit({ locale: 'en' });
        const ran: string[] = [];
        page.on('dialog', (dialog) => ran.push(`${page.url()}: ${dialog.message()}`));
        // Checks that a script that runs would be noticed: the browser reports its dialogs.
        await page.goto(`${ask.running().base}/events/suggest/`);
        await page.evaluate('alert("heard")');
        expect(ran.splice(0)).toEqual([expect.stringContaining('heard')]);
        await page.context().addCookies([{ name, value, url: `${ask.running().base}/admin` }]);
        const { base } = ask.running();
        const faults: string[] = [];
        for (const path of pages) {
          const answer = await admin.get(path, { 'Accept-Language': 'en' });
          if (answer.status >= 400) faults.push(`${path}: ${answer.status}`);
          const found = await faultsOfAnswer(answer, base, [path, hiddenIn(answer.text)], async () => {
            await page.goto(base + path, { waitUntil: 'domcontentloaded' });
            // Event handlers of broken images and of focused elements run a little later.
            await page.keyboard.press('Tab');
            await page.waitForTimeout(30);
            return ran.splice(0);
          });
          faults.push(...found);
        }
        expect([...faults, ...ran]).toEqual([]);
      });
    },
    { PAGES: 'on' },
  );
});

/** Hidden fields that depend on the session or the site, and contain no text of a user. */
const OF_SESSION = /\bname="(_wpnonce|version|key)"[^>]* value="[\w.-]*"/;
/** The other hidden fields of a page, which must be equal for two pages to count as the same in a browser. */
const hiddenIn = (html: string): string[] =>
  (html.match(/<input\b[^>]*\btype="hidden"[^>]*>/g) ?? []).filter((field) => !OF_SESSION.test(field));

/** A recurring event. */
const RECURRING = 502;
/** Pages of the desk that are not asked for: answers for scripts, and pages for those who are not signed in. */
const APART = /^\/(find\/\w+|welcome|sign-in)$/;

/** All pages of the desk, and the pages of the calendar that show texts. */
async function paths(db: Database): Promise<string[]> {
  const first = async (type: string) =>
    (await db.from('posts').where({ post_type: type, post_status: 'publish' }).orderBy('ID').first('ID'))?.ID ?? 0;
  const term = async (taxonomy: string) => (await db.from('term_taxonomy').where({ taxonomy }).first('term_id'))?.term_id ?? 0;
  const ids: Record<string, number> = {
    events: await first('tribe_events'),
    venues: await first('tribe_venue'),
    organizers: await first('tribe_organizer'),
    categories: await term('tribe_events_cat'),
    tags: await term('post_tag'),
    people: 1,
  };
  const pages = deskRoutes.filter(({ method, path }) => method === 'GET' && !APART.test(path));
  const idIn = (path: string) => (path.endsWith('/dates') ? RECURRING : ids[path.split('/')[1]!]);
  const desk = pages.map(({ path }) => `/admin${path.replace(':id', String(idIn(path)))}`);
  expect(desk.filter((path) => /:|undefined|\/0(\/|$)/.test(path))).toEqual([]);
  const slugs = await db
    .from('posts')
    .whereIn('post_type', ['tribe_events', 'tribe_venue', 'tribe_organizer'])
    .where('post_status', 'publish')
    .select('post_name', 'post_type');
  const records = slugs.map(
    ({ post_name: slug, post_type: type }) => `/${String(type).replace('tribe_events', 'event').replace('tribe_', '')}/${slug}/`,
  );
  return [
    ...desk,
    '/events/list/',
    '/events/2030-08/',
    '/events/2030-08-05/',
    '/events/?eventDisplay=past',
    '/events/suggest/',
    '/doc',
    ...records,
  ];
}

/**
 * Writes the next payload into each stored text, without the checks of the API. Returns the number of texts written.
 */
async function spoil(db: Database): Promise<number> {
  let at = 0;
  const next = () => {
    at += 1;
    return PAYLOADS[at % PAYLOADS.length]!.text(`alert(${at})`);
  };
  const types = ['tribe_events', 'tribe_venue', 'tribe_organizer', 'attachment'];
  for (const { ID } of await db.from('posts').whereIn('post_type', types).orderBy('ID').select('ID'))
    await db
      .from('posts')
      .where({ ID })
      .update(Object.fromEntries(TEXT_COLUMNS.map((column) => [column, next()])));
  const metas = await db.from('postmeta').orderBy('meta_id').select('meta_id', 'meta_key');
  for (const { meta_id: id, meta_key: key } of metas)
    if (isTextMeta(String(key))) await db.from('postmeta').where({ meta_id: id }).update({ meta_value: next() });
  for (const { term_id: id } of await db.from('terms').orderBy('term_id').select('term_id'))
    await db
      .from('terms')
      .where({ term_id: id })
      .update({ name: next().slice(0, 200) });
  await db.from('term_taxonomy').update({ description: next() });
  await db.from('users').update({ display_name: next().slice(0, 250) });
  await db.from('options').whereIn('option_name', ['blogname', 'blogdescription']).update({ option_value: next() });
  return at;
}
