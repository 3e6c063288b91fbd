import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { addCustomField } from '../../src/records/custom-fields.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { accessibilityFaults, describeInBrowser, VIEWS } from '../support/browser.ts';
import { describeDatabases, type Open } from '../support/databases.ts';
import { elements, formIn, openVisitor, type Visitor } from '../support/desk-visitor.ts';
import { loadLanguages, resetLanguages } from '../support/languages.ts';
import { LOGIN_KEYS } from '../support/login-cookie.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { SUITE_TIME } from '../support/site-client.ts';

const EVENTS = '/wp-json/calendar/events/v1/events';
const VENUES = '/wp-json/calendar/events/v1/venues';

describeDatabases('translations at the desk', (open) => {
  let db: Database;
  let running: RunningSite;
  let admin: Visitor;
  beforeAll(async () => {
    ({ db, running } = await servedLanguages(open));
  });
  beforeEach(async () => {
    await resetLanguages(db, 'polylang');
    admin = await openVisitor({ send: running.send, running: () => running, writeRows: async (work) => void (await work(db)) }, 'admin');
  });
  afterAll(() => running.close());

  const made = async (): Promise<number> => {
    const body = {
      title: 'The mill walk',
      description: 'Bring shoes',
      start_date: '2027-05-01 10:00',
      end_date: '2027-05-01 12:00',
      language: 'en',
      status: 'publish',
      venue: { venue: 'The mill' },
      cost: '5',
    };
    const answer = await running.send('POST', EVENTS, { as: 'admin', body });
    expect([answer.status, answer.status === 201 ? '' : answer.text]).toEqual([201, '']);
    return answer.body.id;
  };

  it.each([
    ['en', 'it', ''],
    ['it', 'en', '?translation_of=ID&language=it'],
  ])('offer categories in the language of the form first: %s', async (own, other, query) => {
    const { text } = await admin.get(`/admin/events/new${query.replace('ID', String(await made()))}`);
    const offered = elements(text, ({ attribs }) => attribs.name === 'categories[ids][]').map(({ attribs }) => Number(attribs.value));
    const { body } = await running.send('GET', '/wp-json/calendar/events/v1/categories?lang=all&per_page=50&hide_empty=false', {
      as: 'admin',
    });
    const languageOf = new Map<number, string>(body.categories.map((term: { id: number; language: string }) => [term.id, term.language]));
    const languages = offered.map((term) => languageOf.get(term));
    const last = languages.lastIndexOf(own);
    expect(new Set(languages.slice(0, last + 1))).toEqual(new Set([own]));
    expect(languages.slice(last + 1)).toContain(other);
  });

  it('are linked to by their pages if the user may not edit them, and their texts are not shown', async () => {
    const author = (await db.from('users').where('user_login', 'auth').first())!.ID;
    await db.from('posts').where('ID', 111).update({ post_author: author });
    await db.from('fasti_changes').increment('counter');
    const { url } = (await running.send('GET', `${EVENTS}/110`)).body;
    const visitor = await openVisitor(
      { send: running.send, running: () => running, writeRows: async (work) => void (await work(db)) },
      'auth',
    );
    for (const [user, isLinkedForm] of [
      [visitor, false],
      [admin, true],
    ] as const) {
      const { status, text } = await user.get('/admin/events/111?beside=110');
      const addresses = elements(text, ({ name }) => name === 'a').map(({ attribs }) => attribs.href);
      expect([status, text.includes('class="saved-now"')]).toEqual([200, isLinkedForm]);
      expect([addresses.includes(url), addresses.includes('/admin/events/110?beside=111')]).toEqual([!isLinkedForm, isLinkedForm]);
    }
    const { text } = await visitor.get('/admin/events/111');
    expect(text).toContain('English: view');
  });

  it('begin with the values common to all languages, show the original text, and are linked to it', async () => {
    const id = await made();
    const form = await admin.get(`/admin/events/${id}`);
    const path = `/admin/events/new?translation_of=${id}&language=it`;
    expect(form.text).toContain(`href="${path.replace('&', '&amp;')}"`);
    const fresh = await admin.get(path);
    expect(fresh.text).toMatch(/class="saved-now" lang="en-US">The mill walk</);
    const fields = new Map(formIn(fresh.text, '/admin/events/new'));
    expect(['title', 'description', 'start_date[date]', 'end_date[time]', 'language', 'translation_of'].map((name) => fields.get(name))).toEqual([
      '', '', '2027-05-01', '12:00', 'it', String(id),
    ]); // biome-ignore format: a list
    // A refused form still shows the original text and remembers the translated record.
    const wrong = await admin.submit(fresh, '/admin/events/new', { title: '' });
    expect([wrong.status, new Map(formIn(wrong.text, '/admin/events/new')).get('translation_of')]).toEqual([422, String(id)]);
    expect(wrong.text).toContain('The mill walk');
    const done = await admin.submit(wrong, '/admin/events/new', { title: 'La passeggiata al mulino' });
    const other = Number(/events\/(\d+)\?done=created/.exec(done.headers.location ?? '')?.[1]);
    const { body } = await running.send('GET', `${EVENTS}/${other}`, { as: 'admin' });
    expect(body).toMatchObject({
      title: 'La passeggiata al mulino',
      language: 'it',
      start_date: '2027-05-01 10:00:00',
      translations: { en: { id } },
    });
    expect(body.venue).toMatchObject({ venue: 'The mill' });
  });

  it('keep a price of zero as a number, as do duplicates, so that each language has its own word for it', async () => {
    const id = await made();
    await running.send('POST', `${EVENTS}/${id}`, { as: 'admin', body: { cost: '0' } });
    const opened = [`/admin/events/new?translation_of=${id}&language=it`, `/admin/events/${id}/duplicate`];
    for (const path of opened) {
      const done = await admin.submit(await admin.get(path), '/admin/events/new', { title: 'Zero' });
      const other = Number(/events\/(\d+)\?done=created/.exec(done.headers.location ?? '')?.[1]);
      const costs = await Promise.all(
        ['en', 'it'].map(
          async (language) => (await running.send('GET', `${EVENTS}/${other}?translation_language=${language}`, { as: 'admin' })).body,
        ),
      );
      expect(costs.map(({ cost, cost_details: { values } }) => [cost, values])).toEqual([
        ['Free', ['0']],
        ['Gratis', ['0']],
      ]);
    }
  });

  it('keep every price, as do duplicates, unless the cost is changed', async () => {
    const detailsOf = async (of: string | number) => (await running.send('GET', `${EVENTS}/${of}`, { as: 'admin' })).body.cost_details;
    const priced = async () => {
      const id = await made();
      await running.send('POST', `${EVENTS}/${id}`, { as: 'admin', body: { cost: ['€30', '€10', '€20'] } });
      return id;
    };
    const details = await detailsOf(await priced());
    expect(details).toMatchObject({ values: ['10', '20', '30'], currency_symbol: '€' });
    const forms = [(id: number) => `new?translation_of=${id}&language=it`, (id: number) => `${id}/duplicate`];
    for (const form of forms)
      for (const [changed, expected] of [
        [{}, details],
        [{ cost: '€5' }, { ...details, values: ['5'] }],
      ] as const) {
        // A form that is shown again with an error.
        const begun = await admin.get(`/admin/events/${form(await priced())}`);
        const refused = await admin.submit(begun, '/admin/events/new', { title: '' });
        expect(refused.status).toBe(422);
        const done = await admin.submit(refused, '/admin/events/new', { title: 'Prices', ...changed });
        expect(await detailsOf(/events\/(\d+)\?done=created/.exec(done.headers.location ?? '')?.[1] ?? '')).toEqual(expected);
      }
    // The record that is copied may be gone by then.
    const id = await priced();
    const copy = await admin.get(`/admin/events/${id}/duplicate`);
    await running.send('DELETE', `${EVENTS}/${id}?force=true`, { as: 'admin' });
    expect((await admin.submit(copy, '/admin/events/new', { title: 'Copy' })).headers.location).toMatch(/done=created/);
  });

  it('do not copy values that were emptied in their form', async () => {
    const id = await made();
    const fresh = await admin.get(`/admin/events/new?translation_of=${id}&language=it`);
    const done = await admin.submit(fresh, '/admin/events/new', { title: 'La passeggiata', cost: '' });
    const other = Number(/events\/(\d+)\?done=created/.exec(done.headers.location ?? '')?.[1]);
    const { body } = await running.send('GET', `${EVENTS}/${other}`, { as: 'admin' });
    expect([body.cost, body.venue.venue]).toEqual(['', 'The mill']);
  });

  it('begin with the custom fields that are no texts, and do not copy those that were emptied', async () => {
    await addCustomField(running.site, { name: 'seats', type: 'number', label: 'Seats' });
    await addCustomField(running.site, { name: 'stage', type: 'choice', label: 'Stage', choices: ['Garden', 'Hall'] });
    await addCustomField(running.site, { name: 'note', type: 'text', label: 'Note' });
    const id = await made();
    const filled = { custom_fields: { seats: 5, stage: 'Garden', note: 'Bring boots' } };
    expect((await running.send('POST', `${EVENTS}/${id}`, { as: 'admin', body: filled })).status).toBe(200);
    const fresh = await admin.get(`/admin/events/new?translation_of=${id}&language=it`);
    const fields = new Map(formIn(fresh.text, '/admin/events/new'));
    expect(['seats', 'stage', 'note'].map((name) => fields.get(`custom_fields[${name}]`))).toEqual(['5', 'Garden', '']);
    const done = await admin.submit(fresh, '/admin/events/new', { title: 'La passeggiata', 'custom_fields[seats]': '' });
    const other = Number(/events\/(\d+)\?done=created/.exec(done.headers.location ?? '')?.[1]);
    const { body } = await running.send('GET', `${EVENTS}/${other}`, { as: 'admin' });
    expect(body.custom_fields).toEqual({ stage: { label: 'Stage', value: 'Garden' } });
  });

  it('are preferred in their language when a venue or organizer is looked up by name, before the original', async () => {
    const send = async (body: object) => (await running.send('POST', VENUES, { as: 'admin', body })).body.id;
    const en = await send({ venue: 'Odeon', city: 'Asti', language: 'en' });
    const it = await send({ venue: 'Odeon', city: 'Asti', translation_of: en, language: 'it' });
    const dates = { 'start_date[date]': '2027-05-01', 'end_date[date]': '2027-05-02', all_day: '1' };
    const linked = async (language: string, typed: string) => {
      const form = await admin.get('/admin/events/new');
      const done = await admin.submit(form, '/admin/events/new', { title: 'Film', language, 'venue[add][]': typed, ...dates });
      const id = Number(/events\/(\d+)\?done=created/.exec(done.headers.location ?? '')?.[1]);
      return Number((await db.from('postmeta').where({ post_id: id, meta_key: '_EventVenueID' }).first())?.meta_value);
    };
    expect([await linked('en', 'Odeon'), await linked('it', 'odeon'), await linked('it', `Odeon (#${en})`)]).toEqual([en, it, en]);
    const { text } = await admin.get('/admin/events/new');
    expect([text.includes(`Odeon · Asti (English) (#${en})`), text.includes(`Odeon · Asti (Italiano) (#${it})`)]).toEqual([true, true]);
    const found = (await admin.get('/admin/find/venues?q=odeon')).body;
    expect(found.sort()).toEqual([`Odeon · Asti (English) (#${en})`, `Odeon · Asti (Italiano) (#${it})`]);
  });

  it('are shown next to each other, and nothing else is shown next to them', async () => {
    const id = await made();
    const body = { title: 'Al mulino', translation_of: id, language: 'it', status: 'publish' };
    const { body: other } = await running.send('POST', EVENTS, { as: 'admin', body });
    const form = await admin.get(`/admin/events/${id}`);
    expect(form.text).toContain(`href="/admin/events/${other.id}?beside=${id}"`);
    expect((await admin.get(`/admin/events/${other.id}?beside=${id}`)).text).toMatch(/lang="en-US">Bring shoes</);
    expect((await admin.get(`/admin/events/${other.id}?beside=1`)).text).not.toContain('class="beside"');
  });

  it('are separate from new records, which begin in the language of the site, and previews have the path of their language', async () => {
    for (const path of ['/admin/events/new', '/admin/venues/new', '/admin/organizers/new'])
      expect([path, new Map(formIn((await admin.get(path)).text, path)).get('language')]).toEqual([path, 'en']);
    const body = { title: 'Al mulino', start_date: '2027-05-01 10:00', end_date: '2027-05-01 12:00', language: 'it', status: 'draft' };
    const { body: draft } = await running.send('POST', EVENTS, { as: 'admin', body });
    const { text } = await admin.get(`/admin/events/${draft.id}`);
    const path = `/it/?post_type=tribe_events&p=${draft.id}&preview=true`;
    expect(text).toContain(`<a href="${path.replaceAll('&', '&amp;')}">Preview</a>`);
    const page = await admin.get(path);
    expect([page.status, page.text.includes('<html lang="it"'), page.text.includes('Al mulino')]).toEqual([200, true, true]);
  });

  it.each([
    ['categories', 'tribe_events_cat'],
    ['tags', 'post_tag'],
  ])('exist for %s, whose language is given wherever they are offered', async (path, taxonomy) => {
    const api = EVENTS.replace('events/v1/events', `events/v1/${path}`);
    const list = await admin.get(`/admin/${path}`);
    const fields = new Map(formIn(list.text, `/admin/${path}`));
    expect([fields.get('language'), fields.get('translation_of')]).toEqual(['en', '']);
    await admin.submit(list, `/admin/${path}`, { name: 'Street theatre' });
    const { body: found } = await running.send('GET', `${api}?search=theatre&lang=all&hide_empty=false`, { as: 'admin' });
    const [{ id, language }] = found[path];
    expect(language).toBe('en');
    const page = await admin.get(`/admin/${path}/${id}`);
    const fresh = `/admin/${path}?translation_of=${id}&language=it`;
    expect(page.text).toContain(`href="${fresh.replace('&', '&amp;')}"`);
    await admin.submit(await admin.get(fresh), `/admin/${path}`, { name: 'Teatro di strada' });
    const { body: term } = await running.send('GET', `${api}/${id}`, { as: 'admin' });
    expect(Object.keys(term.translations).sort()).toEqual(['en', 'it']);
    const other = term.translations.it.id;
    expect((await admin.get(`/admin/${path}/${id}`)).text).toContain(`href="/admin/${path}/${other}"`);
    expect((await admin.get(`/admin/${path}`)).text).toContain('Teatro di strada (Italiano)');
    // Saving an unchanged form changes nothing; another language moves the term.
    const untouched = await admin.get(`/admin/${path}/${other}`);
    await admin.submit(untouched, `/admin/${path}/${other}`, { description: 'In piazza' });
    const row = await db.from('term_taxonomy').where({ taxonomy, term_id: other }).first('description');
    expect(row?.description).toBe('In piazza');
    expect((await running.send('GET', `${api}/${other}`, { as: 'admin' })).body.language).toBe('it');
  });

  it('of a category are kept apart from new categories in the unsent text', async () => {
    const term = { as: 'admin', body: { name: 'Mills', language: 'en' } };
    const { id } = (await running.send('POST', '/wp-json/calendar/events/v1/categories', term)).body;
    const drafts = await Promise.all(
      ['/admin/categories', `/admin/categories?translation_of=${id}&language=it`, `/admin/categories/${id}`].map(
        async (path) => /data-draft="([^"]*)"/.exec((await admin.get(path)).text)?.[1],
      ),
    );
    expect(drafts).toEqual([
      '1:/admin/categories',
      `1:/admin/categories?translation_of=${id}&amp;language=it`,
      `1:/admin/categories/${id}`,
    ]);
  });

  it('of one record are kept apart by language in the unsent text, also in a form that is shown again', async () => {
    const id = await made();
    const draftOf = ({ text }: { readonly text: string }) => /data-draft="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    const own = `/admin/events/new?translation_of=${id}&language=it`;
    const form = await admin.get(own);
    const again = await admin.submit(form, '/admin/events/new', { title: '', language: 'en' });
    const later = await admin.submit(again, '/admin/events/new', { title: '' });
    expect([form, again, later].map(draftOf)).toEqual(Array.from({ length: 3 }, () => `1:${own}`));
    expect(draftOf(await admin.get(`/admin/events/new?translation_of=${id}&language=de`))).toBe(`1:${own.replace('=it', '=de')}`);
    const term = { as: 'admin', body: { name: 'Mills', language: 'en' } };
    const { id: termId } = (await running.send('POST', '/wp-json/calendar/events/v1/categories', term)).body;
    const ownTerm = `/admin/categories?translation_of=${termId}&language=it`;
    const refused = await admin.submit(await admin.get(ownTerm), '/admin/categories', { name: '', language: 'en' });
    expect([refused.status, draftOf(refused)]).toEqual([422, `1:${ownTerm}`]);
  });

  it('show an error if the category to translate is gone', async () => {
    const term = { as: 'admin', body: { name: 'Mills', language: 'en' } };
    const { id } = (await running.send('POST', '/wp-json/calendar/events/v1/categories', term)).body;
    const form = await admin.get(`/admin/categories?translation_of=${id}&language=it`);
    await running.send('DELETE', `/wp-json/calendar/events/v1/categories/${id}`, { as: 'admin' });
    const again = await admin.submit(form, '/admin/categories', { name: 'Mulini' });
    expect([again.status, again.text.includes('There is no such record'), again.text.includes('translation_of:')]).toEqual([
      422,
      true,
      false,
    ]);
    expect(again.text).not.toContain('Invalid parameter');
  });

  it('are not begun for a record in the trash, which has no others but may have some', async () => {
    const id = await made();
    const offered = async () => (await admin.get(`/admin/events/${id}`)).text.includes(`translation_of=${id}`);
    expect(await offered()).toBe(true);
    await running.send('DELETE', `${EVENTS}/${id}`, { as: 'admin' });
    expect(await offered()).toBe(false);
  });

  it('of a record that was moved to the trash meanwhile are refused under the label of the field', async () => {
    const id = await made();
    const path = `/admin/events/new?translation_of=${id}&language=it`;
    const form = await admin.get(path, { 'Accept-Language': 'it' });
    await running.send('DELETE', `${EVENTS}/${id}`, { as: 'admin' });
    const fields = formIn(form.text, '/admin/events/new').map(([name, value]): [string, string] => [
      name,
      name === 'title' ? 'Giro' : value,
    ]);
    const refused = await admin.post('/admin/events/new', fields, { 'Accept-Language': 'it' });
    expect([refused.status, refused.text.includes('Translation of')]).toEqual([422, false]);
    expect(refused.text).toContain('Traduzione di');
  });

  it.each(['published by an editor', 'deleted for good'])('show what was typed if the record was %s meanwhile', async (what) => {
    const id = await made();
    await db.from('posts').where('ID', id).update({ post_author: 4, post_status: 'pending' });
    const person = await openVisitor(
      { send: running.send, running: () => running, writeRows: async (work) => void (await work(db)) },
      'contrib',
    );
    const form = await person.get(`/admin/events/new?translation_of=${id}&language=it`);
    const isDeleted = what === 'deleted for good';
    if (isDeleted) await running.send('DELETE', `/wp-json/wp/v2/tribe_events/${id}?force=true`, { as: 'admin' });
    else await running.send('POST', `${EVENTS}/${id}`, { as: 'admin', body: { status: 'publish' } });
    const refused = await person.submit(form, '/admin/events/new', { title: 'Giro <a>' });
    expect([refused.status, refused.text.includes('<dd>Giro &lt;a></dd>')]).toEqual([isDeleted ? 404 : 403, true]);
  });

  it('are filtered by language in lists', async () => {
    const id = await made();
    const body = { title: 'Passeggiata', translation_of: id, language: 'it', status: 'publish' };
    await running.send('POST', EVENTS, { as: 'admin', body });
    const shown = async (query: string) => (await admin.get(`/admin/events?${query}`)).text;
    expect(await shown('')).toContain('<option value="it">Italiano</option>');
    for (const [language, has, lacks] of [
      ['en', '>The mill walk<', '>Passeggiata<'],
      ['it', '>Passeggiata<', '>The mill walk<'],
    ] as const) {
      const text = await shown(`language=${language}`);
      expect([language, text.includes(has), text.includes(lacks)]).toEqual([language, true, false]);
    }
  });

  it('are not offered if content has no languages', async () => {
    await db.from('options').where('option_name', 'polylang').delete();
    await db.from('fasti_changes').increment('counter');
    const first = await db.from('posts').where({ post_type: 'tribe_events', post_status: 'publish' }).first('ID');
    expect((await admin.get(`/admin/events/${first?.ID}`)).text).not.toContain('translation_of');
  });
});

describeInBrowser('translations in a browser', (visit) => {
  describeDatabases('', (open) => {
    let db: Database;
    let running: RunningSite;
    beforeAll(async () => {
      ({ db, running } = await servedLanguages(open));
    });
    beforeEach(() => resetLanguages(db, 'polylang'));
    afterAll(() => running.close());

    it.each(
      VIEWS.flatMap((view) =>
        [true, false].map(
          (javaScriptEnabled) =>
            [`${view.viewport?.width} wide, ${javaScriptEnabled ? 'with' : 'without'} scripts`, view, javaScriptEnabled] as const,
        ),
      ),
    )('are written next to the original text, without accessibility faults (%s)', async (_, view, javaScriptEnabled) => {
      const { page, complaints } = await visit({ ...view, javaScriptEnabled, locale: view.colorScheme === 'dark' ? 'it' : 'en' });
      for (const role of ['admin', 'ed', 'contrib']) {
        const person = await openVisitor(
          { send: running.send, running: () => running, writeRows: async (work) => void (await work(db)) },
          role,
        );
        const body = {
          title: `A walk of ${role}`,
          start_date: '2027-05-01 10:00',
          end_date: '2027-05-01 12:00',
          language: 'en',
          status: 'draft',
        };
        const made = await running.send('POST', EVENTS, { as: role, body });
        const [name = '', value = ''] = person.cookie().split('=');
        await page.context().clearCookies();
        await page.context().addCookies([{ name, value, url: `${running.base}/admin` }]);
        await page.goto(`${running.base}/admin/events/new?translation_of=${made.body.id}&language=it`);
        expect(await page.locator('.beside').first().textContent()).toContain(`A walk of ${role}`);
        if (javaScriptEnabled) expect([role, await accessibilityFaults(page)]).toEqual([role, []]);
        await page.locator('#title').fill('Una passeggiata');
        await page.locator('.form-buttons button').first().click();
        await page.locator('.notice-good').waitFor();
        await page.locator('.translations a').first().click();
        await page.waitForURL(/beside=|translation_of=|events\/\d+$/);
        expect(await page.locator('.beside').first().textContent()).toContain('Una passeggiata');
        if (javaScriptEnabled) expect([role, await accessibilityFaults(page)]).toEqual([role, []]);
        expect([role, complaints]).toEqual([role, []]);
      }
    });
  });
});

async function servedLanguages(open: Open): Promise<{ db: Database; running: RunningSite }> {
  const db = await loadLanguages(await open(), 'polylang');
  const running = await serveDatabase(db, { env: { CACHE: 'off', PAGES: 'on', ...LOGIN_KEYS }, clock: () => new Date(SUITE_TIME) });
  return { db, running };
}
