import { expect, it } from '@jest/globals';
import { postKinds } from '../../src/kinds/index.ts';
import { lockPost } from '../../src/storage/rows/posts.ts';
import { elements, type FormFields, formIn, openVisitor, textOf } from '../support/desk-visitor.ts';
import { insertAll } from '../support/insert-all.ts';
import { describeRequests } from '../support/site-client.ts';

/** Values to fill in the form of each kind, and the members that the API then shows. */
const FILLED: Record<string, { fields: Record<string, string>; shown: Record<string, unknown> }> = {
  event: {
    fields: {
      title: 'A night at the “Barn” <3', description: 'Two\nlines', excerpt: 'Short', slug: 'night-barn', timezone: 'Europe/Paris', 'start_date[date]': '2027-03-04',
      'start_date[time]': '20:30', 'end_date[date]': '2027-03-04', 'end_date[time]': '23:00', cost: '€ 12', website: 'https://barn.example/', featured: '1', sticky: '1',
      hide_from_listings: '1', show_map: '1', show_map_link: '1', 'categories[fresh]': 'Nights', tags: 'late, 2027', 'venue[add][]': 'The Barn', 'venue[fresh][city]': 'Asti', 'organizer[add][]': 'Anna', status: 'private', 'date[date]': '2026-01-02', 'date[time]': '03:04', 'custom_fields[x]': '',
    }, // biome-ignore format: pairs
    shown: {
      title: 'A night at the “Barn” <3', slug: 'night-barn', timezone: 'Europe/Paris', start_date: '2027-03-04 20:30:00', end_date: '2027-03-04 23:00:00', cost: '€12',
      website: 'https://barn.example/', featured: true, sticky: true, hide_from_listings: true, show_map: true, show_map_link: true, status: 'private', date: '2026-01-02 03:04:00', all_day: false,
    }, // biome-ignore format: pairs
  },
  venue: {
    fields: {
      venue: 'Hall', description: 'Large', status: 'draft', address: 'Via 1', city: 'Asti', country: 'Italia', province: 'AT', state: 'Piemonte', stateprovince: 'AT', zip: '14100',
      phone: '0141 1', website: 'https://hall.example/', geo_lat: '44.9', geo_lng: '8.2', 'date[date]': '2026-01-02', 'date[time]': '03:04',
    }, // biome-ignore format: pairs
    shown: { venue: 'Hall', status: 'draft', address: 'Via 1', city: 'Asti', country: 'Italia', province: 'AT', state: 'Piemonte', stateprovince: 'AT', zip: '14100', phone: '0141 1', website: 'https://hall.example/', geo_lat: 44.9, geo_lng: 8.2, show_map: true }, // biome-ignore format: pairs
  },
  organizer: {
    fields: { organizer: 'Anna', description: 'Plays', status: 'draft', phone: '1', website: 'https://anna.example/', email: 'anna@example.org', 'date[date]': '2026-01-02', 'date[time]': '03:04' }, // biome-ignore format: pairs
    shown: { organizer: 'Anna', status: 'draft', phone: '1', website: 'https://anna.example/', email: 'anna@example.org' },
  },
};

describeRequests('records at the desk', (ask) => {
  const stored = async (id: number) => {
    const row = await lockPost(ask.db(), id);
    const metas = await ask
      .db()
      .from('postmeta')
      .where('post_id', id)
      .orderBy('meta_key')
      .orderBy('meta_id')
      .select('meta_key', 'meta_value');
    const { post_modified: _local, post_modified_gmt: _utc, ...columns } = row!;
    return { columns, metas: metas.filter(({ meta_key: key }) => !['_edit_last', '_edit_lock'].includes(String(key))) };
  };

  it.each(postKinds.map((kind) => [kind.name, kind] as const))(
    'creates a new %s with every field, and shows each of them in its form',
    async (name, kind) => {
      const anna = await openVisitor(ask, 'admin');
      const { fields, shown } = FILLED[name]!;
      const page = await anna.get(`/admin/${kind.path}/new`);
      const done = await anna.submit(page, `/admin/${kind.path}/new`, fields);
      expect([done.status, done.status === 303 ? '' : done.text]).toEqual([303, '']);
      const id = Number(/(\d+)\?done=created/.exec(done.headers.location ?? '')?.[1]);
      expect(await ask.read(`/${kind.path}/${id}`, 'admin')).toMatchObject(shown);
      const form = formIn((await anna.get(`/admin/${kind.path}/${id}`)).text, `/admin/${kind.path}/${id}`);
      const values = new Map(form);
      const kept = Object.entries(fields).filter(([field]) => !/\[(add|fresh)\]|custom_fields/.test(field) && field !== 'tags');
      expect(kept.map(([field]) => [field, values.get(field)?.replaceAll('\r\n', '\n')])).toEqual(
        kept.map(([field, value]) => [field, field === 'cost' ? '€12' : value]),
      );
    },
  );

  it.each(postKinds.map((kind) => [kind.name, kind] as const))(
    'leaves every stored %s unchanged when its form is sent unchanged',
    async (_, kind) => {
      const anna = await openVisitor(ask, 'admin');
      const rows = await ask
        .db()
        .from('posts')
        .where('post_type', kind.postType)
        .whereNotIn('post_status', ['auto-draft', 'trash'])
        .select('ID');
      expect(rows.length).toBeGreaterThan(1);
      for (const { ID } of rows) {
        const path = `/admin/${kind.path}/${ID}`;
        const before = await stored(Number(ID));
        const done = await anna.submit(await anna.get(path), path);
        expect([path, done.headers.location]).toEqual([path, `${path}?done=saved`]);
        expect(await stored(Number(ID))).toEqual(before);
      }
    },
  );

  it("shows both versions after another editor's change, and loses nothing", async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'Hall', city: 'Asti' });
    const path = `/admin/venues/${id}`;
    const page = await anna.get(path);
    await ask.update(`/venues/${id}`, { city: 'Alba' });
    const refused = await anna.submit(page, path, { venue: 'Great hall', city: 'Acqui' });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('Alba');
    expect(new Map(formIn(refused.text, path)).get('city')).toBe('Acqui');
    expect((await anna.submit(refused, path)).status).toBe(303);
    expect(await ask.read(`/venues/${id}`)).toMatchObject({ venue: 'Great hall', city: 'Acqui', status: 'publish' });
  });

  it.each([
    ['venue', '/venues/12', 'phone'],
    ['organizer', '/organizers/24', 'email'],
  ])('creates a new %s with an existing name, and leaves the existing record alone', async (name, path, field) => {
    const anna = await openVisitor(ask, 'admin');
    const before = await stored(Number(path.split('/').at(-1)));
    const title = String((await ask.read(path))[name]);
    const form = `/admin/${path.split('/')[1]}/new`;
    const typed = await anna.submit(await anna.get(form), form, { [name]: title, [field]: 'anna@example.org' });
    const copied = await anna.submit(await anna.get(`/admin${path}/duplicate`), form, { [field]: 'otto@example.org' });
    const ids = [typed, copied].map(({ headers }) => Number(/(\d+)\?done=created/.exec(headers.location ?? '')?.[1]));
    expect(new Set([...ids, before.columns.ID]).size).toBe(3);
    expect(await Promise.all(ids.map(async (id) => (await stored(id)).columns.post_title))).toEqual([title, title]);
    expect(await stored(Number(before.columns.ID))).toEqual(before);
  });

  it('links from a venue to a map, by its coordinates or else its address', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'Hall', address: 'Via 1', city: 'Asti' });
    expect((await anna.get(`/admin/venues/${id}`)).text).toContain('https://www.openstreetmap.org/search?query=Via%201%2C%20Asti');
    await ask.update(`/venues/${id}`, { geo_lat: 44.9, geo_lng: 8.2 });
    expect((await anna.get(`/admin/venues/${id}`)).text).toContain('https://www.openstreetmap.org/?mlat=44.9&amp;mlon=8.2#map=17/44.9/8.2');
  });

  it('shows an error next to its field, in the language of the reader', async () => {
    const anna = await openVisitor(ask, 'admin');
    const page = await anna.get('/admin/events/new', { 'Accept-Language': 'it' });
    const fields: FormFields = formIn(page.text, '/admin/events/new').map(([name, value]) => [
      name,
      { title: 'Festa', 'start_date[date]': '2027-05-02', 'end_date[date]': '2027-05-01', website: 'javascript:alert(1)' }[name] ?? value,
    ]);
    const refused = await anna.post('/admin/events/new', fields, { 'Accept-Language': 'it' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Non ancora salvato');
    for (const name of ['website', 'start_date']) expect(refused.text).toContain(`id="${name}-error"`);
    expect(new Map(formIn(refused.text, '/admin/events/new')).get('title')).toBe('Festa');
  });

  it('moves records to the trash, restores them with their former status, and deletes them permanently', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/events', { title: 'Gone', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' });
    const list = await anna.get('/admin/events');
    const nonce = new Map(formIn(list.text, '/admin/events/bulk')).get('_wpnonce')!;
    const act = (action: string) => anna.post(`/admin/events/${id}/${action}`, { _wpnonce: nonce, back: '?status=draft' });
    expect((await act('trash')).headers.location).toBe('/admin/events?status=draft&done=trashed');
    expect((await ask.get(`/events/${id}`)).status).toBe(403);
    await act('restore');
    expect(await ask.read(`/events/${id}`)).toMatchObject({ status: 'publish', slug: 'gone' });
    expect(await ask.metaValues(id, '_wp_trash_meta_status')).toEqual([]);
    await act('trash');
    await act('delete');
    expect((await ask.get(`/events/${id}`)).status).toBe(404);
  });

  it('empties the trash of the records that the user may delete', async () => {
    const values = (title: string) => ({ title, start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' });
    const [one, two] = [await ask.create('/events', values('One'), 'admin'), await ask.create('/events', values('Two'), 'auth')];
    const kept = await ask.create('/events', values('Kept'), 'auth');
    const anna = await openVisitor(ask, 'admin');
    const nonce = async (who: typeof anna) => new Map(formIn((await who.get('/admin/me')).text, '/admin/sign-out')).get('_wpnonce')!;
    for (const { id } of [one, two]) await anna.post(`/admin/events/${id}/trash`, { _wpnonce: await nonce(anna) });
    const author = await openVisitor(ask, 'auth');
    const empty = async (who: typeof anna) => who.confirm(await who.get('/admin/events?status=trash'), '/admin/events/empty-trash');
    const exists = async () =>
      (await ask.db().from('posts').whereIn('ID', [one.id, two.id, kept.id]).orderBy('ID').select('ID')).map(({ ID: id }) => id);
    expect((await empty(author)).headers.location).toContain('status=trash&done=deleted&count=1');
    expect(await exists()).toEqual([one.id, kept.id]);
    await empty(anna);
    expect(await exists()).toEqual([kept.id]);
    expect((await anna.get('/admin/events?status=trash')).text).not.toContain('empty-trash');
  });

  it('says how many records an action covers at most', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'Mill' });
    await ask.writeRows(async (db) => {
      const { ID: _own, ...row } = (await lockPost(db, id))!;
      const mills = Array.from({ length: 501 }, (_, place) => ({ ...row, post_name: `mill-${place}`, post_status: 'trash' }));
      await insertAll(db, 'posts', [...mills, ...mills.map((mill) => ({ ...mill, post_status: 'draft' }))], 25);
    });
    const says = async (status: string, text: RegExp) => text.test((await anna.get(`/admin/venues?status=${status}`)).text);
    // One record of each kind exists already.
    expect(await says('draft', /The first 500 of 502 that were found/)).toBe(true);
    expect(await says('trash', /Delete the first 500 records in the trash for good\?/)).toBe(true);
  });

  it('applies an action to all records that match a filter, on any page, and to no others', async () => {
    const anna = await openVisitor(ask, 'admin');
    const made = async (venue: string) => String((await ask.create('/venues', { venue })).id);
    const found = [await made('Mill one'), await made('Mill two'), await made('Mill three')];
    const other = await made('Barn');
    const list = await anna.get('/admin/venues?search=mill&per_page=2');
    expect(list.text).toContain('All 3 that were found');
    const done = await anna.submit(list, '/admin/venues/bulk', { action: 'trash', found: '1', 'ids[]': other });
    expect(done.headers.location).toContain('search=mill&per_page=2&done=trashed&count=3');
    const rows = await ask
      .db()
      .from('posts')
      .whereIn('ID', [...found, other])
      .orderBy('ID')
      .select('post_status');
    expect(rows.map(({ post_status: status }) => status)).toEqual(['trash', 'trash', 'trash', 'publish']);
    // If all records fit on one page, they can be selected there.
    expect((await anna.get('/admin/venues?search=barn')).text).not.toContain('name="found"');
  });

  it.each(['search=mill&status[]=draft', 'status%5B0%5D=draft&status%5B1%5D=future&search=mill'])(
    'applies a bulk action only to what the list shows if its URL has lists: %s',
    async (filter) => {
      const anna = await openVisitor(ask, 'admin');
      const made = async (venue: string, status: string) => (await ask.create('/venues', { venue, status })).id;
      const drafts = [await made('Mill one', 'draft'), await made('Mill two', 'draft')];
      const other = await made('Mill three', 'pending');
      const list = await anna.get(`/admin/venues?${filter}&per_page=1`);
      expect(list.text).toContain('All 2 that were found');
      const done = await anna.submit(list, '/admin/venues/bulk', { action: 'publish', found: '1' });
      expect(done.headers.location).toContain('done=published&count=2');
      expect((await anna.get(String(done.headers.location))).text).not.toContain('Mill three');
      const statuses = await ask
        .db()
        .from('posts')
        .whereIn('ID', [...drafts, other])
        .orderBy('ID')
        .select('post_status');
      expect(statuses.map(({ post_status: status }) => status)).toEqual(['publish', 'publish', 'pending']);
    },
  );

  it('does nothing to all records of a list that others have changed since the user saw it', async () => {
    const anna = await openVisitor(ask, 'admin');
    for (const venue of ['Mill one', 'Mill two']) await ask.create('/venues', { venue, status: 'draft' });
    const list = await anna.get('/admin/venues?search=mill&per_page=1');
    const { id } = await ask.create('/venues', { venue: 'Mill three', status: 'draft' });
    const done = await anna.submit(list, '/admin/venues/bulk', { action: 'publish', found: '1' });
    expect((await anna.get(String(done.headers.location))).text).toContain('Nothing has been changed: records have been added');
    expect((await lockPost(ask.db(), id))?.post_status).toBe('draft');
    expect((await ask.read('/venues?search=mill')).total).toBe(0);
  });

  it('does nothing to all records of a list in which others took the place of the same number that the user saw', async () => {
    const anna = await openVisitor(ask, 'admin');
    const drafts: number[] = [];
    for (const venue of ['Mill one', 'Mill two']) drafts.push((await ask.create('/venues', { venue, status: 'draft' })).id);
    const list = await anna.get('/admin/venues?search=mill&per_page=1');
    await ask.create('/venues', { venue: 'Mill three', status: 'draft' });
    await ask.update(`/venues/${drafts[0]}`, { venue: 'Barn' });
    const done = await anna.submit(list, '/admin/venues/bulk', { action: 'publish', found: '1' });
    expect(done.headers.location).toContain('done=list-changed');
    expect((await ask.read('/venues?search=mill')).total).toBe(0);
    // Other pages of the list offer the same records.
    const second = await anna.get('/admin/venues?search=mill&per_page=1&page=2');
    const published = await anna.submit(second, '/admin/venues/bulk', { action: 'publish', found: '1' });
    expect(published.headers.location).toContain('done=published&count=2');
  });

  it('heads the lists of categories and tags in Italian with the right gender', async () => {
    const anna = await openVisitor(ask, 'admin');
    for (const [path, heading] of [
      ['categories', 'Tutte le categorie'],
      ['tags', 'Tutti i tag'],
    ] as const) {
      const { text } = await anna.get(`/admin/${path}`, { 'Accept-Language': 'it' });
      expect(elements(text, ({ name }) => name === 'h2').map(textOf)).toContain(heading);
    }
  });

  it('offers new categories to users who may create them, and links from a venue or an organizer to its events', async () => {
    for (const [as, offered] of [['admin', true], ['ed', true], ['auth', true], ['contrib', false]] as const) {
      const { text } = await (await openVisitor(ask, as)).get('/admin/events/new');
      expect([as, text.includes('name="categories[ids][]"'), text.includes('name="categories[fresh]"')]).toEqual([as, true, offered]);
    }
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'The mill' });
    expect((await anna.get(`/admin/venues/${id}`)).text).toContain(`<a href="/admin/events?venue=${id}">Its events</a>`);
    const { id: other } = await ask.create('/organizers', { organizer: 'Millers' });
    expect((await anna.get(`/admin/organizers/${other}`)).text).toContain(`<a href="/admin/events?organizer=${other}">Its events</a>`);
  }); // biome-ignore format: pairs

  it('filters the list of events by tag, venue, organizer and author', async () => {
    const anna = await openVisitor(ask, 'admin');
    const event = await ask.create('/events', {
      title: 'At the mill', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00', venue: { venue: 'Mill' }, organizer: { organizer: 'Millers' }, tags: ['flour'],
    }); // biome-ignore format: pairs
    const page = (await anna.get('/admin/events')).text;
    const named = { tags: event.tags[0].id, venue: event.venue.id, organizer: event.organizer[0].id, author: 1 };
    for (const [name, id] of Object.entries(named)) {
      expect([name, new RegExp(`<select name="${name}">.*?<option value="${id}"`, 's').test(page)]).toEqual([name, true]);
      expect([name, (await anna.get(`/admin/events?${name}=${id}&search=mill`)).text.includes('At the mill')]).toEqual([name, true]);
    }
    // A tag without records is still shown when it is the filter of a list.
    const { id: unused } = await ask.create('/tags', { name: 'Unused' });
    const narrowed = (await anna.get(`/admin/events?tags=${unused}`)).text;
    expect(narrowed).toContain(`<option value="${unused}" selected>Unused</option>`);
    expect(narrowed).not.toContain('At the mill');
    expect((await anna.get('/admin/events?tags=999999')).status).toBe(400);
    expect((await anna.get(`/admin/events?venue=${(await ask.create('/venues', { venue: 'Barn' })).id}`)).text).not.toContain(
      'At the mill',
    );
  });

  it.each(['Infinity', '1e400', '9'.repeat(30), '-1', 'x'])('takes %s for the id of nothing', async (id) => {
    const anna = await openVisitor(ask, 'admin');
    for (const name of ['tags', 'venue', 'organizer', 'author', 'categories'])
      expect([name, (await anna.get(`/admin/events?${name}=${id}`)).status < 500]).toEqual([name, true]);
    const { id: own } = await ask.create('/events', { title: 'Fair', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' });
    const path = `/admin/events/${own}`;
    const page = await anna.get(path);
    for (const name of ['image[id]', 'author', 'categories[ids][]', 'venue[keep][]', 'copy_of', 'translation_of']) {
      expect([name, (await anna.submit(page, path, { [name]: id })).status < 500]).toEqual([name, true]);
      expect([name, (await anna.submit(await anna.get('/admin/events/new'), '/admin/events/new', { [name]: id })).status < 500]).toEqual([
        name,
        true,
      ]);
    }
    const month = await anna.get('/admin/month?month=2027-01');
    expect((await anna.submit(month, '/admin/month/move', { id, day: '2027-01-02' })).status).toBe(404);
    expect((await anna.get(`/admin/events?done=trashed&count=${id}`)).status).toBe(200);
  });

  it('offers "any" in a filter, whatever the gender of its noun, and "all" among the states', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { text } = await anna.get('/admin/events', { 'Accept-Language': 'it' });
    expect(text).toContain('<option value>Qualsiasi</option>');
    expect(text).not.toContain('<option value>Tutti</option>');
    expect(text).toMatch(/>Tutti <span class="count">/);
  });

  it('lists hidden and past events, by status, month, search and author', async () => {
    const anna = await openVisitor(ask, 'admin');
    await ask.create('/events', {
      title: 'Hidden feast',
      start_date: '2020-01-01 10:00',
      end_date: '2020-01-01 11:00',
      hide_from_listings: true,
    });
    for (const query of ['search=hidden', 'month=2020-01', 'mine=1&search=feast', 'orderby=title&order=asc&search=hidden'])
      expect([query, (await anna.get(`/admin/events?${query}`)).text.includes('Hidden feast')]).toEqual([query, true]);
    expect((await anna.get('/admin/events?month=2020-02')).text).not.toContain('Hidden feast');
    expect((await anna.get('/admin/events?status=draft')).text).not.toContain('Hidden feast');
  });
});

describeRequests(
  'records at the desk of a site without a trash',
  (ask) => {
    const notice = (html: string) => elements(html, ({ attribs }) => /\bnotice\b/.test(attribs.class ?? '')).map(textOf);
    const toTrash = (html: string) =>
      elements(html, ({ name, attribs }) =>
        /trash$/.test(attribs.action ?? attribs.formaction ?? (name === 'option' ? attribs.value : '') ?? ''),
      );

    it('are deleted after a warning and a confirmation', async () => {
      const anna = await openVisitor(ask, 'admin');
      const { id } = await ask.create('/venues', { venue: 'Hall' });
      const [form, list] = [await anna.get(`/admin/venues/${id}`), await anna.get('/admin/venues')];
      expect([toTrash(form.text), toTrash(list.text)]).toEqual([[], []]);
      const asks = (html: string, action: string) =>
        elements(html, ({ attribs }) => attribs['data-confirm'] !== undefined && (attribs.formaction ?? attribs.value) === action);
      expect(asks(list.text, `/admin/venues/${id}/delete`)).toHaveLength(1);
      expect(asks(list.text, 'delete')).toHaveLength(1);
      const done = await anna.confirm(form, `/admin/venues/${id}/delete`);
      expect(notice((await anna.get(done.headers.location!)).text)).toEqual(['Deleted for good.']);
      expect((await ask.get(`/venues/${id}`, 'admin')).status).toBe(400);
    });

    it('are deleted with a message, too, from a list loaded before the trash was switched off', async () => {
      const anna = await openVisitor(ask, 'admin');
      const { id } = await ask.create('/venues', { venue: 'Hall' });
      const done = await anna.submit(await anna.get('/admin/venues'), '/admin/venues/bulk', { action: 'trash', 'ids[]': String(id) });
      expect(notice((await anna.get(done.headers.location!)).text)).toEqual(['Deleted for good.']);
    });
  },
  { EMPTY_TRASH_DAYS: '0' },
);
