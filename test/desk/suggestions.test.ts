import { expect, it } from '@jest/globals';
import { DatabaseUnavailable } from '../../src/storage/engine/database.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { accessibilityFaults, describeInBrowser, VIEWS } from '../support/browser.ts';
import { elements, type FormFields, formIn, openVisitor, textOf, type Visitor } from '../support/desk-visitor.ts';
import { describeRequests, SUITE_TIME } from '../support/site-client.ts';

const FORM = '/events/suggest/';
const CONCERT = {
  title: 'Concert <b>at</b> the barn', 'start_date[date]': '2027-03-04', 'start_date[time]': '21:00', 'end_date[date]': '2027-03-04', 'end_date[time]': '23:00',
  description: 'Bring <script>alert(1)</script> chairs', 'venue[add][]': 'The old barn', cost: '€ 5', from_name: 'Rosa “R” Bianchi', from_email: 'rosa@example.org', from_note: 'Parking is behind',
}; // biome-ignore format: pairs

describeRequests(
  'suggestions from the public',
  (ask) => {
    // Each test has an hour of its own, since suggestions are counted by address.
    let hours = 0;
    const on = () => {
      ask.setClock(new Date(Date.parse(SUITE_TIME) + ++hours * 7_200_000).toISOString());
      return ask.options({ fasti_suggest_slug: 'suggest' });
    };
    const pending = async () =>
      (await ask.db().from('posts').where({ post_type: 'tribe_events', post_status: 'pending', post_author: 0 })).map((row) =>
        Number(row.ID),
      );
    const suggested = async (
      changes: Readonly<Record<string, string | null>> = {},
    ): Promise<{ rosa: Visitor; done: Awaited<ReturnType<Visitor['submit']>> }> => {
      const rosa = await openVisitor(ask);
      const page = await rosa.get(FORM);
      expect(page.status).toBe(200);
      return { rosa, done: await rosa.submit(page, FORM, { ...CONCERT, ...changes }) };
    };

    it('are off until the site sets the address of the form', async () => {
      const rosa = await openVisitor(ask);
      expect((await rosa.get(FORM)).status).toBe(404);
      expect((await rosa.post(FORM, CONCERT)).status).toBe(404);
      expect((await rosa.get('/events/list/')).text).not.toContain('suggest');
      await on();
      const list = await rosa.get('/events/list/');
      expect(elements(list.text, ({ name, attribs }) => name === 'a' && attribs.href?.endsWith(FORM) === true)).toHaveLength(1);
      const page = await rosa.get(`/it${FORM}`, {});
      expect([page.status, page.headers['cache-control']]).toEqual([200, expect.stringContaining('no-store')]);
      expect(page.text).toContain('Proponi un evento');
      // Fields for editors are not offered.
      const asked = elements(page.text, ({ name }) => ['input', 'textarea', 'select'].includes(name)).map(({ attribs }) => attribs.name);
      expect(asked).toEqual(expect.arrayContaining(['title', 'categories[ids][]', 'from_note']));
      for (const field of ['external_id', 'categories[fresh]', 'status', 'tags']) expect(asked).not.toContain(field);
    });

    it('that are too long, or come from another site, are refused in words', async () => {
      await on();
      const rosa = await openVisitor(ask);
      const page = await rosa.get(FORM);
      const refused = async (changes: Record<string, string>, headers: Record<string, string>) => {
        const { status, text } = await rosa.post(FORM, [...formIn(page.text, FORM), ...Object.entries(changes)], {
          Accept: 'text/html',
          ...headers,
        });
        return [status, ...elements(text, ({ name }) => name === 'h1').map(textOf)];
      };
      expect(await refused({ description: 'è'.repeat(11_000) }, {})).toEqual([413, 'This is too long']);
      expect(await refused(CONCERT, { 'Sec-Fetch-Site': 'cross-site' })).toEqual([403, 'This was not accepted']);
      expect(await refused(CONCERT, { 'Sec-Fetch-Site': 'cross-site', 'Accept-Language': 'it' })).toEqual([403, 'Invio non accettato']);
    });

    it.each([
      [
        { title: '', website: 'ftp:/x', from_email: 'rosa', 'end_date[date]': '2027-03-03' },
        ['title', 'end_date', 'website', 'from_email'],
      ],
      [{ title: '<b></b>', website: 'nonsense', 'start_date[date]': '' }, ['title', 'start_date', 'website']],
      [{ title: '<i> </i>', 'end_date[date]': '2027-03-03', from_name: '' }, ['title', 'end_date', 'from_name']],
      [{ title: '<i> </i>', 'start_date[time]': '' }, ['title', 'start_date']],
    ])('name all faults of a form at once: %j', async (faults, named) => {
      await on();
      const { done } = await suggested(faults);
      const errors = elements(done.text, ({ attribs }) => attribs.class === 'error').map(({ attribs }) =>
        attribs.id?.replace('-error', ''),
      );
      expect([done.status, errors]).toEqual([422, named]);
      const links = elements(done.text, ({ name, attribs }) => name === 'a' && /^#/.test(attribs.href ?? ''));
      expect(links.map(textOf).length).toBeGreaterThanOrEqual(named.length);
    });

    it('sent twice by a double click are stored once', async () => {
      await on();
      const rosa = await openVisitor(ask);
      const page = await rosa.get(FORM);
      const before = await pending();
      const twice = await Promise.all([rosa.submit(page, FORM, CONCERT), rosa.submit(page, FORM, CONCERT)]);
      expect(twice.map(({ status }) => status)).toEqual([303, 303]);
      expect(await pending()).toHaveLength(before.length + 1);
      await rosa.submit(page, FORM, { ...CONCERT, title: 'Another concert at the barn' });
      expect(await pending()).toHaveLength(before.length + 2);
      expect((await suggested()).done.status).toBe(303);
      expect(await pending()).toHaveLength(before.length + 3);
    });

    it('wait for a user who may publish, and nobody else learns who sent them', async () => {
      await on();
      const { rosa, done } = await suggested();
      expect([done.status, done.headers.location]).toEqual([303, `${FORM}?sent=1`]);
      expect((await rosa.get(`${FORM}?sent=1`)).text).toContain('Thank you!');
      const [id] = await pending();
      expect(await ask.metaValues(id!, '_fasti_suggestion')).toEqual([expect.stringContaining('rosa@example.org')]);
      for (const as of [undefined, 'sub', 'contrib', 'auth'] as const)
        expect((await ask.get(`/events/${id}`, as)).status).toBeGreaterThan(400);
      const record = await ask.read(`/events/${id}`, 'ed');
      expect(record).toMatchObject({ status: 'pending', title: expect.stringContaining('the barn'), cost: '€5', venue: [] });
      for (const path of [
        `/wp-json/wp/v2/tribe_events/${id}?context=edit`,
        `/wp-json/tec/v1/events/${id}`,
        `/wp-json/calendar/events/v1/events/${id}`,
      ]) {
        const { status, text } = await ask.send('GET', path, { as: 'ed' });
        expect([path, status]).toEqual([path, 200]);
        expect(text).not.toMatch(/rosa@example|Parking is behind/);
      }
      expect(record.description).not.toContain('<script');
    });

    it("are shown to editors with the sender's note, and published with the suggested venue", async () => {
      await on();
      await suggested();
      const [id] = await pending();
      const ed = await openVisitor(ask, 'ed');
      const list = await ed.get('/admin/events?status=pending');
      expect(list.text).toContain('Suggested by Rosa “R” Bianchi');
      const path = `/admin/events/${id}`;
      const form = await ed.get(path);
      const panel = elements(form.text, ({ attribs }) => attribs.class === 'suggested').map(textOf);
      expect(panel).toEqual([expect.stringMatching(/rosa@example\.org.*Parking is behind.*The old barn/)]);
      expect((await ed.submit(form, path, { publish: '1' })).headers.location).toBe(`${path}?done=saved`);
      expect(await ask.read(`/events/${id}`)).toMatchObject({
        status: 'publish',
        venue: { venue: 'The old barn' },
        start_date: '2027-03-04 21:00:00',
      });
      expect((await ask.get(`/events/${id}`)).text).not.toContain('rosa@example');
      const later = (await ed.get(path)).text;
      expect([later.includes('Parking is behind'), later.includes('not in the calendar yet')]).toEqual([true, false]);
    });

    it('have no author, in their form and for the health check', async () => {
      await on();
      await suggested();
      const [id] = await pending();
      const ed = await openVisitor(ask, 'ed');
      const { text } = await ed.get(`/admin/events/${id}`);
      const [author] = elements(text, ({ name, attribs }) => name === 'select' && attribs.name === 'author');
      expect(textOf(author!)).toMatch(/^\(nobody\)/);
      const { findings } = await examine(ask.running().site, '0');
      expect(findings.filter(({ name }) => name === 'authors-gone')).toEqual([]);
    });

    it('link to an e-mail to the sender only', async () => {
      await on();
      await suggested({ from_email: 'rosa?bcc=x&body=@example.org' });
      const ed = await openVisitor(ask, 'ed');
      const { text } = await ed.get(`/admin/events/${(await pending())[0]}`);
      const [link] = elements(text, ({ attribs }) => attribs.href?.startsWith('mailto:') === true);
      expect(link?.attribs.href).toBe('mailto:rosa%3Fbcc%3Dx%26body%3D@example.org');
    });

    it('store a name with a comma as one venue and one organizer', async () => {
      await on();
      await suggested({ 'venue[add][]': 'Teatro Regio, Parma', 'organizer[add][]': 'Rossi, Bianchi & C.' });
      const [id] = await pending();
      const ed = await openVisitor(ask, 'ed');
      const path = `/admin/events/${id}`;
      expect((await ed.submit(await ed.get(path), path, { publish: '1' })).status).toBe(303);
      const { venue, organizer } = await ask.read(`/events/${id}`);
      expect([venue.venue, organizer.map(({ organizer: name }: { organizer: string }) => name)]).toEqual([
        'Teatro Regio, Parma',
        ['Rossi, Bianchi &#038; C.'],
      ]);
    });

    it('name records, never ids: a draft that a visitor names stays a draft', async () => {
      await on();
      const draft = async (path: string, values: object) => (await ask.create(path, { ...values, status: 'draft' })).id;
      const hall = await draft('/venues', { venue: 'Secret hall' });
      const band = await draft('/organizers', { organizer: 'Secret band' });
      for (const name of [`Hall (#${hall})`, `Hall (#${hall})\x01`, `Hall (#${hall}) (#${hall}) `])
        expect((await suggested({ 'venue[add][]': name })).done.status).toBe(422);
      const cutAtTheId = `${'x'.repeat(250 - String(band).length)} (#${band})${'y'.repeat(20)}`;
      await suggested({ title: 'By its title', 'venue[add][]': 'Secret hall', 'organizer[add][]': cutAtTheId });
      await suggested({ title: 'By its id', 'venue[add][]': 'Hall' });
      const stored = await ask.db().from('postmeta').where({ meta_key: '_fasti_suggestion' }).orderBy('meta_id', 'desc').first();
      await ask
        .db()
        .from('postmeta')
        .where({ meta_id: Number(stored?.meta_id) })
        .update({ meta_value: String(stored?.meta_value).replace('"Hall"', `"Hall (#${hall})"`) });
      const ed = await openVisitor(ask, 'ed');
      const list = await ed.get('/admin/events?status=pending');
      const ids = await pending();
      expect(ids).toHaveLength(2);
      for (const id of ids) expect((await ed.get(`/admin/events/${id}`)).text).not.toMatch(/\(#\d+\)"[^>]*name="(venue|organizer)\[add/);
      const nonce = new Map(formIn(list.text, '/admin/events/bulk')).get('_wpnonce')!;
      for (const id of ids) expect((await ed.post(`/admin/events/${id}/publish`, { _wpnonce: nonce })).status).toBe(303);
      for (const path of [`/venues/${hall}`, `/organizers/${band}`]) expect((await ask.get(path)).status).toBeGreaterThan(400);
      const venues = await Promise.all(ids.map(async (id) => (await ask.read(`/events/${id}`)).venue.venue));
      expect(venues).toEqual(['Secret hall', 'Hall']);
    });

    it('never become HTML of the editor who publishes, corrects or copies them', async () => {
      await on();
      const attack = '<img src=x onerror=alert(1)><script>alert(2)</script>';
      const entities = attack.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      await suggested({
        title: `Jazz ${entities} & wine, 3 < 4`,
        'venue[add][]': `Evil ${attack} hall`,
        'organizer[add][]': `Band ${entities}`,
      });
      const [id] = await pending();
      const ed = await openVisitor(ask, 'ed');
      const path = `/admin/events/${id}`;
      const form = await ed.get(path);
      const title = new Map(formIn(form.text, path)).get('title')!;
      expect(title).toContain('& wine, 3 < 4');
      expect((await ed.submit(form, path, { title: title.replace('Jazz', 'Jazz:'), publish: '1' })).status).toBe(303);
      await suggested({ title: `Blues ${entities}`, 'venue[add][]': `Other ${attack} hall` });
      const [other] = await pending();
      const nonce = new Map(formIn((await ed.get('/admin/events?status=pending')).text, '/admin/events/bulk')).get('_wpnonce')!;
      await ed.post(`/admin/events/${other}/publish`, { _wpnonce: nonce });
      const copy = await ed.get(`${path}/duplicate`);
      const copied = await ed.submit(copy, '/admin/events/new', { publish: '1' });
      const copyId = Number(/\/events\/(\d+)/.exec(String(copied.headers.location))?.[1]);
      for (const one of [id, other, copyId]) {
        const record = await ask.read(`/events/${one}`);
        expect(JSON.stringify([record.title, record.venue, record.organizer])).not.toMatch(/<(img|script)/);
        expect(record.venue.venue).toMatch(/ hall$/);
      }
    });

    it('look up a few names at most', async () => {
      await on();
      const rosa = await openVisitor(ask);
      const page = await rosa.get(FORM);
      const countOf = async (names: number) => {
        const fields: FormFields = [
          ...formIn(page.text, FORM),
          ...Array.from({ length: names }, (_, place): [string, string] => ['organizer[add][]', `band ${place}`]),
        ];
        const before = ask.running().site.db.queries();
        expect((await rosa.post(FORM, fields)).status).toBe(422);
        return ask.running().site.db.queries() - before;
      };
      expect(await countOf(900)).toBeLessThan((await countOf(0)) + 100);
    });

    it('are published or rejected from the list', async () => {
      await on();
      await suggested();
      await suggested({ title: 'Another one' });
      const [first, second] = await pending();
      const ed = await openVisitor(ask, 'ed');
      const nonce = new Map(formIn((await ed.get('/admin/events?status=pending')).text, '/admin/events/bulk')).get('_wpnonce')!;
      await ed.post(`/admin/events/${first}/publish`, { _wpnonce: nonce });
      await ed.post(`/admin/events/${second}/trash`, { _wpnonce: nonce });
      expect(await ask.read(`/events/${first}`)).toMatchObject({ venue: { venue: 'The old barn' } });
      expect(await pending()).toEqual([]);
      const contributor = await openVisitor(ask, 'contrib');
      const own = new Map(formIn((await contributor.get('/admin/events')).text, '/admin/events/bulk')).get('_wpnonce')!;
      expect((await contributor.post(`/admin/events/${first}/publish`, { _wpnonce: own })).status).toBe(403);
    });

    it('list errors in the order of the form', async () => {
      await on();
      const { done } = await suggested({ title: '', 'end_date[date]': '', 'end_date[time]': '', from_name: '', from_email: 'rosa' });
      const summary = elements(done.text, ({ name, attribs }) => name === 'a' && /^#(?!content)/.test(attribs.href ?? ''));
      expect(summary.map(({ attribs }) => attribs.href)).toEqual(['#title', '#end_date', '#from_name', '#from_email']);
    });

    it('are refused if their day is a text that only PHP takes for one', async () => {
      await on();
      const { done } = await suggested({ 'start_date[date]': 'tomorrow' });
      const errors = elements(done.text, ({ attribs }) => attribs.class === 'error').map(textOf);
      expect([done.status, errors]).toEqual([422, ['This is not a day of the calendar: enter one like 31/12/2026 or 2026-12-31.']]);
    });

    it('keep the suggested venue and organizers whichever form publishes them', async () => {
      await on();
      for (const title of ['By the boxes', 'By the quick form']) await suggested({ title, 'organizer[add][]': "Ugo's band" });
      const [first, second] = await pending();
      const ed = await openVisitor(ask, 'ed');
      const list = await ed.get('/admin/events?status=pending&orderby=title&order=asc');
      await ed.submit(list, '/admin/events/bulk', { action: 'publish', 'ids[]': String(first) });
      await ed.submit(list, `/admin/events/${second}`, { status: 'publish' });
      for (const id of [first, second])
        expect(await ask.read(`/events/${id}`)).toMatchObject({
          status: 'publish',
          venue: { venue: 'The old barn' },
          organizer: [{ organizer: 'Ugo&#8217;s band' }],
        });
      expect(await ask.read('/venues?search=old%20barn')).toMatchObject({ total: 1 });
    });

    it.each([
      ['without a title', { title: '' }, 'title'],
      ['that ends before it begins', { 'end_date[date]': '2027-03-03' }, 'end_date'],
      ['without a time', { 'start_date[time]': '' }, 'start_date'],
      [
        'at an hour that no clock shows',
        { 'start_date[date]': '2027-03-28', 'start_date[time]': '02:30', 'end_date[date]': '2027-03-28', 'end_date[time]': '04:00' },
        'start_date',
      ],
      ['with an address that runs something', { website: 'javascript:alert(1)' }, 'website'],
      ['without an e-mail address', { from_email: 'rosa' }, 'from_email'],
      ['with a note beyond measure', { from_note: 'x'.repeat(2001) }, 'from_note'],
    ])('are shown again with an error if sent %s', async (_, changes, field) => {
      await on();
      const { rosa, done } = await suggested(changes);
      expect([done.status, await pending()]).toEqual([422, []]);
      expect(done.text).toContain(`id="${field}-error"`);
      const kept = new Map(formIn(done.text, FORM));
      expect([kept.get('from_name'), kept.get('venue[add][]')]).toEqual([CONCERT.from_name, CONCERT['venue[add][]']]);
      expect((await rosa.submit(done, FORM, { website: '', ...CONCERT })).status).toBe(303);
    });

    it('are refused from pages of other sites, without the cookie, and from programs that fill in every field', async () => {
      await on();
      const rosa = await openVisitor(ask);
      const page = await rosa.get(FORM);
      const fields: FormFields = formIn(page.text, FORM).map(([name, value]) => [name, (CONCERT as Record<string, string>)[name] ?? value]);
      expect((await rosa.post(FORM, fields, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
      const stale = await (await openVisitor(ask)).post(FORM, fields);
      expect([stale.status, new Map(formIn(stale.text, FORM)).get('from_note')]).toEqual([403, CONCERT.from_note]);
      expect((await rosa.submit(page, FORM, { ...CONCERT, homepage: 'https://spam.example/' })).status).toBe(303);
      expect(await pending()).toEqual([]);
    });

    it('cannot set a status, author, category or venue that visitors may not choose', async () => {
      await on();
      const { done } = await suggested({
        status: 'publish',
        author: '1',
        featured: '1',
        'categories[fresh]': 'Spam',
        'venue[fresh][city]': 'X',
        slug: 'mine',
      });
      expect(done.status).toBe(303);
      const [id] = await pending();
      expect(await ask.read(`/events/${id}`, 'ed')).toMatchObject({
        status: 'pending',
        author: '0',
        featured: false,
        categories: [],
        slug: '',
      });
      expect(await ask.db().from('posts').where({ post_title: 'The old barn' })).toEqual([]);
      const written = await ask.send('POST', '/wp-json/calendar/events/v1/events', {
        body: { title: 'x', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00', status: 'pending' },
      });
      expect(written.status).toBe(401);
    });

    it.each([
      ['busy', 'Not sent yet: the calendar cannot store anything'],
      ['uncertain', 'may or may not have arrived'],
    ] as const)('are shown again if the database fails when they are stored (%s)', async (reason, sentence) => {
      await on();
      const { db } = ask.running().site;
      const { transaction } = db;
      const rosa = await openVisitor(ask);
      const page = await rosa.get(FORM);
      Object.assign(db, { transaction: () => Promise.reject(new DatabaseUnavailable(reason)) });
      const failed = await rosa.submit(page, FORM, CONCERT);
      Object.assign(db, { transaction });
      expect([failed.status, failed.text.includes(sentence)]).toEqual([503, true]);
      expect(new Map(formIn(failed.text, FORM)).get('from_note')).toBe('Parking is behind');
      expect((await rosa.submit(failed, FORM)).status).toBe(303);
    });

    it('are stored once if the connection was lost after they were stored, and they are sent again unchanged', async () => {
      await on();
      const { db } = ask.running().site;
      const { transaction } = db;
      const rosa = await openVisitor(ask);
      const page = await rosa.get(FORM);
      const before = await pending();
      const commitAndLose = async (...args: Parameters<typeof transaction>) => {
        await transaction.apply(db, args);
        throw new DatabaseUnavailable('uncertain');
      };
      Object.assign(db, { transaction: commitAndLose });
      const failed = await rosa.submit(page, FORM, { ...CONCERT, 'organizer[add][]': 'The choir of the barn' });
      Object.assign(db, { transaction });
      expect([failed.status, failed.text.includes('it will arrive only once')]).toEqual([503, true]);
      expect(await pending()).toHaveLength(before.length + 1);
      expect((await rosa.submit(failed, FORM)).status).toBe(303);
      expect(await pending()).toHaveLength(before.length + 1);
    });

    it.each([
      ['the database', new DatabaseUnavailable('unreachable'), 503, 'The database cannot be reached at the moment.'],
      ['the code', new Error('a mistake'), 500, 'Please try again in a moment.'],
    ])('say why they were not stored if %s fails before they are checked', async (_, error, status, sentence) => {
      await on();
      const rosa = await openVisitor(ask);
      const page = await rosa.get(FORM);
      const { db } = ask.running().site;
      const { rows, from } = db;
      const away = () => {
        throw error;
      };
      Object.assign(db, { rows: away, from: away });
      const failed = await rosa.post(FORM, [...formIn(page.text, FORM), ...Object.entries(CONCERT)], { Accept: 'text/html' });
      Object.assign(db, { rows, from });
      expect([failed.status, failed.text.includes(sentence)]).toEqual([status, true]);
    });

    it('are refused for a while if too many come from one address, or too many are pending', async () => {
      await on();
      ask.setClock('2027-01-01T12:00:00Z');
      const codes: number[] = [];
      for (let count = 0; count < 11; count++) codes.push((await suggested({ title: `Number ${count}` })).done.status);
      expect(codes).toEqual([...Array.from({ length: 10 }, () => 303), 429]);
      ask.setClock('2027-01-01T13:30:00Z');
      const [id] = await pending();
      const row = await ask.db().from('posts').where({ ID: id! }).first();
      await ask.writeRows(async (db) => {
        for (let count = 0; count < 200; count++) await db.from('posts').insert({ ...row!, ID: 800_000 + count });
      });
      const { done } = await suggested();
      expect([done.status, /Many suggestions are waiting/.test(done.text)]).toEqual([429, true]);
    });
  },
  { PAGES: 'on' },
);

describeInBrowser('suggesting an event in a browser', (visit) => {
  describeRequests(
    '',
    (ask) => {
      it.each(
        VIEWS.flatMap((view, place) =>
          [true, false].map(
            (javaScriptEnabled) =>
              [
                `${view.viewport?.width} wide, ${javaScriptEnabled ? 'with' : 'without'} scripts`,
                { ...view, javaScriptEnabled, locale: place === 0 ? 'en' : 'it' },
              ] as const,
          ),
        ),
      )('takes a visitor from the calendar to the thanks (%s)', async (_, options) => {
        await ask.options({ fasti_suggest_slug: 'proponi' });
        const { page, complaints } = await visit(options);
        await page.goto(`${ask.running().base}/events/proponi/`);
        if (options.javaScriptEnabled) expect(await accessibilityFaults(page)).toEqual([]);
        await page.locator('#title').fill('A walk');
        for (const [name, value] of Object.entries(CONCERT))
          if (/date|from_/.test(name)) await page.locator(`[name="${name}"]`).fill(value);
        await page.locator('[name="venue[add][]"]').fill('Town gate');
        await page.locator('.suggest-form button').click();
        await page.waitForURL(/sent=1/);
        if (options.javaScriptEnabled) expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.locator('[role=status]').textContent()).toMatch(/Thank you|Grazie/);
        expect(complaints.filter((one) => !/CONNECTION_REFUSED/.test(one))).toEqual([]);
        expect(await ask.db().from('posts').where({ post_title: 'A walk', post_status: 'pending' }).count({ number: '*' })).toEqual([
          { number: 1 },
        ]);
      });
    },
    { PAGES: 'on' },
  );
});
