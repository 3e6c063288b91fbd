import { expect, it } from '@jest/globals';
import { addCustomField } from '../../src/records/custom-fields.ts';
import { DatabaseUnavailable } from '../../src/storage/engine/database.ts';
import { lockPost } from '../../src/storage/rows/posts.ts';
import { elements, formIn, openVisitor, textOf } from '../support/desk-visitor.ts';
import { describeRequests } from '../support/site-client.ts';

/** Input for an event of two hours on this day. */
const onDay = (day: string) => ({
  ...{ 'start_date[date]': day, 'start_date[time]': '10:00' },
  ...{ 'end_date[date]': day, 'end_date[time]': '12:00' },
});

/* Forms that are shown again: after errors, quick forms in lists, outdated forms, and the lists around them. */
describeRequests('forms of the desk', (ask) => {
  const atTheMill = (more: object = {}) =>
    ask.create('/events', {
      title: 'At the mill', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00', venue: { venue: 'Mill' }, organizer: { organizer: 'Millers' }, tags: ['flour'], ...more,
    }); // biome-ignore format: a record

  it('keep venue, organizers and tags if the quick form of a list is refused', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await atTheMill();
    const path = `/admin/events/${id}`;
    const list = await anna.get('/admin/events?search=mill');
    const refused = await anna.submit(list, path, { 'end_date[date]': '2026-12-31' });
    expect([refused.status, refused.text.includes('id="end_date-error"')]).toEqual([422, true]);
    expect(formIn(refused.text, path).map(([name]) => name)).toEqual(expect.arrayContaining(['venue[keep][]', 'organizer[keep][]']));
    expect((await anna.submit(refused, path, { 'end_date[date]': '2027-01-02' })).status).toBe(303);
    expect(await ask.read(`/events/${id}`)).toMatchObject({
      end_date: '2027-01-02 11:00:00',
      venue: { venue: 'Mill' },
      organizer: [{ organizer: 'Millers' }],
      tags: [{ name: 'flour' }],
    });
  });

  it('show the changes of another editor though they were refused for another reason before', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'Hall', city: 'Asti' });
    const path = `/admin/venues/${id}`;
    const page = await anna.get(path);
    await ask.update(`/venues/${id}`, { city: 'Alba' });
    const refused = await anna.submit(page, path, { website: 'javascript:alert(1)' });
    expect(refused.status).toBe(422);
    const again = await anna.submit(refused, path, { website: 'https://hall.example/' });
    expect([again.status, again.text.includes('Currently saved:</p>') || again.text.includes('Alba')]).toEqual([409, true]);
    expect((await anna.submit(again, path, { city: 'Alba' })).status).toBe(303);
    expect(await ask.read(`/venues/${id}`)).toMatchObject({ city: 'Alba', website: 'https://hall.example/' });
  });

  it('show the dates that another editor has saved in words', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await atTheMill();
    const path = `/admin/events/${id}`;
    const page = await anna.get(path);
    await ask.update(`/events/${id}`, { start_date: '2027-01-01 09:00' });
    const late = await anna.submit(page, path, { 'start_date[time]': '10:30' });
    const saved = elements(late.text, ({ attribs }) => attribs.class === 'saved-now').map(textOf);
    expect([late.status, saved]).toEqual([409, [expect.stringMatching(/^Friday, January 1, 2027 at 9:00\sAM$/)]]);
  });

  it('show the changes that another editor made to a category, next to the typed values', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/categories', { name: 'Mills', description: 'Old' });
    const path = `/admin/categories/${id}`;
    const page = await anna.get(path);
    await ask.update(`/categories/${id}`, { description: 'Theirs' });
    const refused = await anna.submit(page, path, { name: '' });
    expect(refused.status).toBe(422);
    const again = await anna.submit(refused, path, { name: 'Windmills' });
    const saved = elements(again.text, ({ attribs }) => attribs.class === 'saved-now').map(({ children: [text] }) =>
      String(Object(text).data),
    );
    expect([again.status, saved]).toEqual([409, ['Mills', 'Theirs']]);
    expect((await anna.submit(again, path, { description: 'Theirs' })).status).toBe(303);
    expect(await ask.read(`/categories/${id}`)).toMatchObject({ name: 'Windmills', description: 'Theirs' });
  });

  it("say that a field must be filled in, instead of the API's message about a parameter", async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/categories', { name: 'Mills' });
    const event = await ask.create('/events', { title: 'Fair', start_date: '2031-05-01 10:00', end_date: '2031-05-01 12:00' });
    for (const [page, action, emptied] of [
      ['/admin/categories', '/admin/categories', ['name']],
      [`/admin/categories/${id}`, `/admin/categories/${id}`, ['name']],
      [`/admin/events/${event.id}`, `/admin/events/${event.id}`, ['title', 'date[date]', 'start_date[date]']],
    ] as const) {
      const nothing = Object.fromEntries(emptied.map((name) => [name, '']));
      const again = await anna.submit(await anna.get(page), action, nothing);
      const said = elements(again.text, ({ attribs }) => attribs.class?.startsWith('notice') || attribs.class === 'error').map(textOf);
      expect([again.status, said]).toEqual([
        422,
        ['Not saved yet: please look at the fields marked below.', ...emptied.map(() => 'Please fill in this field.')],
      ]);
    }
  });

  it('show the description of a category that is 0', async () => {
    const { id } = await ask.create('/categories', { name: 'Mills', description: '0' });
    const anna = await openVisitor(ask, 'admin');
    const path = `/admin/categories/${id}`;
    const fields = new Map(formIn((await anna.get(path)).text, path));
    expect([fields.get('description'), fields.get('parent')]).toEqual(['0', '']);
  });

  it("keep the description of an image if a quick form conflicts with another editor's changes", async () => {
    const anna = await openVisitor(ask, 'admin');
    const image = await ask.db().from('posts').where({ post_type: 'attachment', post_mime_type: 'image/png' }).first('ID');
    const { id } = await atTheMill({ image: Number(image!.ID) });
    const path = `/admin/events/${id}`;
    const list = await anna.get('/admin/events?search=mill');
    await ask.update(`/events/${id}`, { cost: '7' });
    const again = await anna.submit(list, path, { title: 'At the old mill' });
    const [stored] = await ask.metaValues(Number(image!.ID), '_wp_attachment_image_alt');
    expect([again.status, new Map(formIn(again.text, path)).get('image[alt]')]).toEqual([409, stored ?? '']);
    expect(elements(again.text, ({ attribs }) => attribs.class === 'form-image')).toHaveLength(1);
  });

  it('link back to the page of the list that they were on, or to the last page if that page is gone', async () => {
    const anna = await openVisitor(ask, 'admin');
    const ids: number[] = [];
    for (const name of ['one', 'two', 'three']) ids.push((await ask.create('/venues', { venue: `Mill ${name}` })).id);
    const address = '/admin/venues?search=mill&per_page=2&page=2';
    const list = await anna.get(address);
    const [shown] = ids.filter((id) => list.text.includes(`name="ids[]" value="${id}"`));
    const path = `/admin/venues/${shown}`;
    expect((await anna.submit(list, path, { venue: 'Mill renamed' })).headers.location).toBe(`${address}&done=saved`);
    const done = await anna.submit(list, '/admin/venues/bulk', { action: 'trash', 'ids[]': String(shown) });
    expect(done.headers.location).toBe(`${address}&done=trashed&count=1`);
    const after = await anna.get(done.headers.location!);
    expect([after.status, after.text.match(/name="ids\[\]"/g)?.length]).toEqual([200, 2]);
    // Another order or status starts on the first page.
    expect(list.text).not.toMatch(/href="[^"]*orderby=[^"]*page=2|href="[^"]*(?<!per_)page=2[^"]*orderby=/);
  });

  it('replace the venue by a typed one, and add typed organizers to the existing ones', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await atTheMill();
    const path = `/admin/events/${id}`;
    const page = await anna.get(path);
    expect((await anna.submit(page, path, { 'venue[add][]': 'Barn', 'organizer[add][]': 'Farmers' })).status).toBe(303);
    expect(await ask.read(`/events/${id}`)).toMatchObject({
      venue: { venue: 'Barn' },
      organizer: [{ organizer: 'Millers' }, { organizer: 'Farmers' }],
    });
  });

  it('keep stored line breaks in texts with a single-line input', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'Hall', address: 'Via Roma 1' });
    await ask.writeRows((db) =>
      db.from('postmeta').where({ post_id: id, meta_key: '_VenueAddress' }).update({ meta_value: 'Via Roma 1\nScala B' }),
    );
    const path = `/admin/venues/${id}`;
    const page = await anna.get(path);
    expect(new Map(formIn(page.text, path)).get('address')).toBe('Via Roma 1 Scala B');
    expect((await anna.submit(page, path, { city: 'Asti' })).status).toBe(303);
    expect(await ask.metaValues(id, '_VenueAddress')).toEqual(['Via Roma 1\nScala B']);
  });

  it('begin a duplicate of a record without its external ID', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await atTheMill({ external_id: 'mill-1' });
    const copy = await anna.get(`/admin/events/${id}/duplicate`);
    expect((await anna.submit(copy, '/admin/events/new')).headers.location).toMatch(/done=created$/);
    expect(await ask.metaValues(id, '_fasti_external_id')).toEqual(['mill-1']);
  });

  it('begin a duplicate of a protected record that will have its password', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await atTheMill();
    expect((await anna.get(`/admin/events/${id}`)).text).not.toContain('Protected by a password');
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_password: 'river "1"' }));
    expect((await anna.get(`/admin/events/${id}`)).text).toContain('Protected by a password');
    const open = await anna.get(`/admin/events/${id}/duplicate`);
    const refused = await anna.submit(open, '/admin/events/new', { title: '' });
    for (const { text } of [open, refused]) expect(text).toContain('will be protected by the password of the original');
    const copyAs = async (status: string) => {
      const { headers } = await anna.submit(refused, '/admin/events/new', { title: `Copy ${status}`, status });
      return (await lockPost(ask.db(), Number(/events\/(\d+)\?/.exec(headers.location ?? '')?.[1])))?.post_password;
    };
    expect([await copyAs('publish'), await copyAs('private')]).toEqual(['river "1"', '']);
    await ask.writeRows((db) => db.from('posts').where('ID', id).delete());
    const lost = await anna.submit(refused, '/admin/events/new', { title: 'Copy' });
    expect([lost.status, lost.text.includes('no password protects the new record')]).toEqual([409, true]);
    expect((await anna.submit(lost, '/admin/events/new')).status).toBe(303);
  });

  it('create one record if they are sent twice, and another one if they are changed', async () => {
    const anna = await openVisitor(ask, 'admin');
    const path = '/admin/venues/new';
    const found = async () => (await ask.read('/venues?search=twice')).total;
    const refused = await anna.submit(await anna.get(path), path, { website: 'no address' });
    const send = (changes: Record<string, string> = {}) => anna.submit(refused, path, { venue: 'Sent twice', website: '', ...changes });
    const answers = [...(await Promise.all([send(), send()])), await send()];
    const [first] = answers.map(({ headers }) => headers.location);
    expect(answers.map(({ status, headers }) => [status, headers.location])).toEqual(answers.map(() => [303, first]));
    expect(await found()).toBe(1);
    expect((await send({ city: 'Asti' })).headers.location).not.toBe(first);
    const other = await anna.submit(await anna.get(path), path, { venue: 'Sent twice' });
    expect([other.headers.location === first, await found()]).toEqual([false, 3]);
  });

  it('lead to the record if they are sent again, though what it took has changed since', async () => {
    const anna = await openVisitor(ask, 'admin');
    const path = '/admin/events/new';
    const found = async () => (await ask.read('/events?search=again&start_date=2027-01-01')).total;
    const page = await anna.get(path);
    const linked = { title: 'Sent again', ...onDay('2027-01-01'), 'venue[add][]': 'Barn', 'venue[fresh][city]': 'Asti' };
    const send = () => anna.submit(page, path, linked);
    const answers = [...(await Promise.all([send(), send()])), await send()];
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
    expect([answers.map(({ status }) => status), await found()]).toEqual([[303, 303, 303], 1]);
    const { id } = await atTheMill();
    await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_password: 'river' }));
    const copy = await anna.get(`/admin/events/${id}/duplicate`);
    const first = await anna.submit(copy, path, { title: 'Copied again' });
    await ask.writeRows((db) => db.from('posts').where('ID', id).delete());
    const second = await anna.submit(copy, path, { title: 'Copied again' });
    expect([second.status, second.headers.location]).toEqual([303, first.headers.location]);
  });

  it('create another record if the first one was deleted or is in the trash', async () => {
    const anna = await openVisitor(ask, 'admin');
    const path = '/admin/venues/new';
    const page = await anna.get(path);
    const sentId = async () => {
      const { status, headers } = await anna.submit(page, path, { venue: 'Sent after all' });
      expect(status).toBe(303);
      return Number(/venues\/(\d+)\?done=created/.exec(headers.location ?? '')?.[1]);
    };
    const first = await sentId();
    await ask.writeRows((db) => db.from('posts').where('ID', first).delete());
    const second = await sentId();
    expect([second === first, await sentId()]).toEqual([false, second]);
    await ask.writeRows((db) => db.from('posts').where('ID', second).update({ post_status: 'trash' }));
    const third = await sentId();
    expect([[first, second].includes(third), await sentId()]).toEqual([false, third]);
  });

  it('create a record each if they have no key of their own', async () => {
    const anna = await openVisitor(ask, 'admin');
    const path = '/admin/venues/new';
    const page = await anna.get(path);
    const send = () => anna.submit(page, path, { venue: 'Without a key', form_key: null });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status, first.headers.location === second.headers.location]).toEqual([303, 303, false]);
  });

  it('say that the original has lost its password, and keep the input of the copy of a deleted one apart from that of others', async () => {
    const anna = await openVisitor(ask, 'admin');
    const path = '/admin/events/new';
    const { id } = await atTheMill();
    const setPassword = (password: string) => ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_password: password }));
    await setPassword('river');
    const copy = await anna.get(`/admin/events/${id}/duplicate`);
    await setPassword('');
    const open = await anna.submit(copy, path, { title: 'Copy' });
    expect([open.status, open.text.includes('no password protects the new record')]).toEqual([409, true]);
    expect(open.text).not.toContain('will be protected');
    await ask.writeRows((db) => db.from('posts').where('ID', id).delete());
    const draftIn = ({ text }: { readonly text: string }) =>
      elements(text, ({ attribs }) => 'data-draft' in attribs).map(({ attribs }) => attribs['data-draft']);
    const lost = await anna.submit(copy, path, { title: 'Copy' });
    const again = await anna.submit(lost, path, { title: '' });
    expect([lost.status, again.status]).toEqual([409, 422]);
    expect([draftIn(lost), draftIn(again)]).toEqual([draftIn(copy), draftIn(copy)]);
    expect((await anna.submit(again, path, { title: 'Copy' })).status).toBe(303);
  });

  it('link from each error to its field, also to one of several inputs', async () => {
    await ask.writeRows(async () => addCustomField(ask.running().site, { name: 'stage', type: 'choice', choices: ['Barn'] }));
    const anna = await openVisitor(ask, 'admin');
    const { text } = await anna.get('/admin/events/new');
    const ids = elements(text, ({ attribs }) => attribs.id !== undefined).map(({ attribs }) => attribs.id);
    expect(ids).toEqual(expect.arrayContaining(['start_date', 'venue', 'organizer', 'categories', 'image', 'custom_fields', 'title']));
    expect(new Set(ids).size).toBe(ids.length);
    const contributor = await openVisitor(ask, 'contrib');
    const page = await contributor.get('/admin/events/new');
    const refused = await contributor.submit(page, '/admin/events/new', { title: 'x', ...onDay('2027-01-01'), 'venue[keep][]': '999999' });
    expect([refused.status, refused.text.includes('href="#venue"'), refused.text.includes('id="venue-error"')]).toEqual([422, true, true]);
  });

  it('name the author of a record even if the author may no longer write', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await atTheMill();
    const sub = await ask.db().from('users').where('user_login', 'sub').first('ID', 'display_name');
    const authorOn = async (author: number) => {
      await ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_author: author }));
      const { text } = await anna.get(`/admin/events/${id}`);
      const [chosen] = elements(
        text,
        ({ name, attribs }) => name === 'option' && attribs.value === String(author) && 'selected' in attribs,
      );
      return chosen && textOf(chosen);
    };
    expect([await authorOn(Number(sub!.ID)), await authorOn(4444)]).toEqual([sub!.display_name, '#4444']);
  });

  it('give the time zone in lists of an event in another zone, and none of an event without dates', async () => {
    const anna = await openVisitor(ask, 'admin');
    await atTheMill({ timezone: 'America/New_York' });
    const { id } = await atTheMill({ title: 'At the mill, some day' });
    await ask.writeRows((db) => db.from('postmeta').where('post_id', id).where('meta_key', 'like', '_Event%Date%').delete());
    const { text } = await anna.get('/admin/events?search=mill');
    const when = elements(text, ({ attribs }) => attribs.class === 'column-when').map(textOf);
    expect(when.sort()).toEqual(['', expect.stringMatching(/10:00 –.*11:00 AM \(EST\)$/)]);
  });

  it('report no success if nothing could be changed', async () => {
    const { id } = await atTheMill();
    const contributor = await openVisitor(ask, 'contrib');
    const list = await contributor.get('/admin/events');
    const done = await contributor.submit(list, '/admin/events/bulk', { action: 'trash', 'ids[]': String(id) });
    expect(done.headers.location).toContain('done=trashed&count=0&failed=1');
    const { text } = await contributor.get(done.headers.location!);
    expect([text.includes('One record could not be changed'), text.includes('Moved to the trash.')]).toEqual([true, false]);
  });

  it('filter a list and keep its order and status', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { text } = await anna.get('/admin/events?status=draft&mine=1&orderby=title&order=asc&search=x&page=2');
    const [form] = elements(text, ({ name, attribs }) => name === 'form' && attribs.class === 'filters');
    const hidden = elements(
      text,
      ({ name, attribs, parent }) => name === 'input' && attribs.type === 'hidden' && Object(parent).attribs?.class === 'filters',
    );
    expect(form?.attribs.action).toBe('/admin/events');
    expect(hidden.map(({ attribs }) => `${attribs.name}=${attribs.value}`)).toEqual([
      'status=draft',
      'mine=1',
      'orderby=title',
      'order=asc',
    ]);
  });

  it('keep unsent text in the browser separate from that of other sites on the same host', async () => {
    await ask.options({ home: 'http://localhost/town' });
    const anna = await openVisitor(ask, 'admin');
    expect(/data-draft="([^"]*)"/.exec((await anna.get('/admin/venues/new')).text)?.[1]).toBe('1:/town/admin/venues/new');
  });

  it('of the settings keep options that another administrator has set meanwhile', async () => {
    const [anna, bruno] = [await openVisitor(ask, 'admin'), await openVisitor(ask, 'admin')];
    const [hers, his] = [await anna.get('/admin/settings'), await bruno.get('/admin/settings')];
    await anna.submit(hers, '/admin/settings', { title: 'Town and country', tagline: 'All that is on' });
    const refused = await bruno.submit(his, '/admin/settings', { currency_code: 'CHF', timezone: 'Nowhere' });
    expect(refused.status).toBe(422);
    expect((await bruno.submit(refused, '/admin/settings', { timezone: 'Europe/Zurich' })).status).toBe(303);
    const now = new Map(formIn((await anna.get('/admin/settings')).text, '/admin/settings'));
    expect(['title', 'tagline', 'currency_code', 'timezone'].map((name) => now.get(name))).toEqual([
      'Town and country',
      'All that is on',
      'CHF',
      'Europe/Zurich',
    ]);
  });

  it('of the settings show both values of an option that another administrator has changed, and save nothing', async () => {
    const [anna, bruno] = [await openVisitor(ask, 'admin'), await openVisitor(ask, 'admin')];
    const [hers, his] = [await anna.get('/admin/settings'), await bruno.get('/admin/settings')];
    await anna.submit(hers, '/admin/settings', { title: 'Town and country', clock: '12', tagline: 'All that is on' });
    const both = await bruno.submit(his, '/admin/settings', { title: 'Country', currency_code: 'CHF', tagline: 'All that is on' });
    expect([both.status, both.text.includes('Somebody else changed the settings marked below')]).toEqual([409, true]);
    expect(elements(both.text, ({ attribs }) => attribs.class === 'theirs').map(textOf)).toEqual(['Currently saved: Town and country']);
    const stored = async () => {
      const now = new Map(formIn((await anna.get('/admin/settings')).text, '/admin/settings'));
      return ['title', 'tagline', 'currency_code', 'clock'].map((name) => now.get(name));
    };
    const [, , currency] = await stored();
    expect(await stored()).toEqual(['Town and country', 'All that is on', currency, '12']);
    expect((await bruno.submit(both, '/admin/settings')).status).toBe(303);
    expect(await stored()).toEqual(['Country', 'All that is on', 'CHF', '12']);
  });

  it('of the settings show both values of an option that another program has changed a moment ago', async () => {
    const anna = await openVisitor(ask, 'admin');
    const page = await anna.get('/admin/settings');
    await ask.db().from('options').where({ option_name: 'blogname' }).update({ option_value: 'Named elsewhere' });
    const both = await anna.submit(page, '/admin/settings', { title: 'Country' });
    expect([both.status, both.text.includes('Named elsewhere')]).toEqual([409, true]);
  });

  it('of the settings save none of them if one is invalid, as their message says', async () => {
    const anna = await openVisitor(ask, 'admin');
    const stored = async () => new Map(formIn((await anna.get('/admin/settings')).text, '/admin/settings'));
    const before = await stored();
    const typed = { title: 'Town and country', events_slug: 'calendar', timezone: 'Nowhere' };
    const refused = await anna.submit(await anna.get('/admin/settings'), '/admin/settings', typed);
    expect(refused.status).toBe(422);
    expect(await stored()).toEqual(before);
    expect((await anna.submit(refused, '/admin/settings', { timezone: 'Europe/Zurich' })).status).toBe(303);
    expect(Object.fromEntries(await stored())).toMatchObject({ ...typed, timezone: 'Europe/Zurich' });
  });

  it('show an error next to its field for a new category, a new venue, a time without a day and a number', async () => {
    const anna = await openVisitor(ask, 'admin');
    const wrongIn = async (path: string, changes: Record<string, string>) => {
      const { text, status } = await anna.submit(await anna.get(path), path, changes);
      return status === 303 ? [] : elements(text, ({ attribs }) => attribs.class === 'error').map(textOf);
    };
    const event = { title: 'Fair', ...onDay('2027-03-04') };
    const path = '/admin/events/new';
    expect(await wrongIn(path, { ...event, 'categories[fresh]': 'x'.repeat(201) })).toEqual(['The text is too long.']);
    expect(await wrongIn(path, { ...event, tags: 'x'.repeat(201) })).toEqual(['The text is too long.']);
    expect(await wrongIn(path, { ...event, 'venue[add][]': 'Barn', 'venue[fresh][website]': 'no address <x>' })).toEqual([
      'Website: "no address ‹x›" is not a web address. For example: https://example.org/',
    ]);
    expect(await wrongIn(path, { ...event, 'start_date[date]': '', 'start_date[time]': '10:00' })).toEqual(['Please fill in this field.']);
    expect(await wrongIn('/admin/venues/new', { venue: 'Barn', geo_lat: 'north', geo_lng: '8' })).toEqual([
      '"north" is not a number. For example: 45.5',
    ]);
    expect(await wrongIn('/admin/venues/new', { venue: 'Barn', geo_lat: '143', geo_lng: '999' })).toEqual([
      'A latitude is between -90 and 90 degrees. Received: "143".',
      'A longitude is between -180 and 180 degrees. Received: "999".',
    ]);
  });

  it('refuse details of a new venue or organizer that belong to none', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'Town Hall', city: 'Bolzano' });
    const path = '/admin/events/new';
    const event = { title: 'Council', ...onDay('2027-03-04') };
    const send = async (changes: Record<string, string>) => anna.submit(await anna.get(path), path, { ...event, ...changes });
    const exists = 'This name exists already, so the details would be lost: Town Hall';
    for (const [changes, field, sentence] of [
      [{ 'venue[add][]': 'Town Hall', 'venue[fresh][city]': 'Trento' }, 'venue', exists],
      [{ 'venue[add][]': `Town Hall (#${id})`, 'venue[fresh][city]': 'Trento' }, 'venue', exists],
      [{ 'venue[fresh][city]': 'Trento' }, 'venue', 'Type the name of the new one, too'],
      [{ 'organizer[fresh][phone]': '123' }, 'organizer', 'Type the name of the new one, too'],
    ] as const) {
      const refused = await send(changes);
      const errors = elements(refused.text, ({ attribs }) => attribs.class === 'error');
      expect([refused.status, errors.map(textOf)]).toEqual([422, [expect.stringContaining(sentence)]]);
      expect(errors[0]?.attribs.id).toBe(`${field}-error`);
      expect(Object.fromEntries(formIn(refused.text, path))).toMatchObject(changes);
    }
    expect(await ask.db().from('posts').where('post_title', event.title)).toEqual([]);
    expect((await send({ 'venue[add][]': 'Town Hall' })).status).toBe(303);
    expect((await send({ 'venue[add][]': 'Town Hall (Trento)', 'venue[fresh][city]': 'Trento' })).status).toBe(303);
  });

  it('accept web addresses without a scheme, of new records and custom fields too, but no other texts', async () => {
    await ask.options({});
    await addCustomField(ask.running().site, { name: 'tickets', type: 'url', label: 'Tickets at', choices: [] });
    const anna = await openVisitor(ask, 'admin');
    const path = '/admin/events/new';
    const days = { title: 'Fair', ...onDay('2027-03-04') };
    const done = await anna.submit(await anna.get(path), path, {
      ...days,
      website: ' www.example.org/fair?day=4',
      'custom_fields[tickets]': 'città.example',
      ...{ 'venue[add][]': 'Fairground', 'venue[fresh][website]': 'Fairground.example' },
    });
    expect(done.status).toBe(303);
    const event = await ask.read(`/events/${/\d+/.exec(String(done.headers.location))?.[0]}`);
    expect([event.website, event.custom_fields.tickets.value, event.venue.website]).toEqual([
      'https://www.example.org/fair?day=4',
      'https://xn--citt-3na.example',
      'https://Fairground.example',
    ]);
    for (const website of ['anna@example.org', 'the mill', 'mill', 'www.', 'javascript:alert(1)', 'mill. Ask there'])
      expect((await anna.submit(await anna.get(path), path, { ...days, website })).status).toBe(422);
  });

  it('accept numbers with a decimal comma', async () => {
    const anna = await openVisitor(ask, 'admin');
    const done = await anna.submit(await anna.get('/admin/venues/new'), '/admin/venues/new', {
      venue: 'Barn',
      geo_lat: '44,9',
      geo_lng: '-8,25',
    });
    const id = /(\d+)\?/.exec(done.headers.location ?? '')?.[1];
    expect(await ask.read(`/venues/${id}`)).toMatchObject({ geo_lat: 44.9, geo_lng: -8.25 });
  });

  it('are shown again for another attempt if the database was unavailable for a moment', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'Mill' });
    const form = await anna.get('/admin/venues/new');
    const list = await anna.get('/admin/venues');
    const { db } = ask.running().site;
    const { transaction } = db;
    const away = () => Promise.reject(new DatabaseUnavailable('busy'));
    Object.assign(db, { transaction: away });
    const late = await anna.submit(form, '/admin/venues/new', { venue: 'Barn "two"', description: 'One\r\n\r\ntwo' });
    const button = await anna.submit(list, '/admin/venues/bulk', { action: 'trash', 'ids[]': String(id) });
    Object.assign(db, { transaction });
    expect([late.status, late.text.includes('Your changes are still here')]).toEqual([503, true]);
    expect([button.status, button.text.includes('Your changes are still here')]).toEqual([503, false]);
    const done = await anna.submit(late, '/admin/venues/new');
    const { venue, description } = await ask.read(`/venues/${/(\d+)\?/.exec(done.headers.location ?? '')?.[1]}`);
    expect([venue, description]).toEqual(['Barn &#8220;two&#8221;', '<p>One</p>\n<p>two</p>']);
  });

  it('keep fields that only another editor has changed meanwhile', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/venues', { venue: 'Hall', city: 'Asti', phone: '1', address: 'Via 1' });
    const path = `/admin/venues/${id}`;
    const refused = await anna.submit(await anna.get(path), path, { phone: '3', website: 'no address <x>' });
    expect(refused.status).toBe(422);
    await ask.update(`/venues/${id}`, { city: 'Alba', phone: '2', address: '' });
    const late = await anna.submit(refused, path, { website: '' });
    const values = new Map(formIn(late.text, path));
    expect([late.status, ...['city', 'phone', 'address'].map((name) => values.get(name))]).toEqual([409, 'Alba', '3', '']);
    expect(elements(late.text, ({ attribs }) => attribs.class === 'saved-now').map(textOf)).toEqual(['(nothing)', 'Alba', '2']);
    expect((await anna.submit(late, path)).status).toBe(303);
    const { city, phone, address = '' } = await ask.read(`/venues/${id}`);
    expect([city, phone, address]).toEqual(['Alba', '3', '']);
  });

  it('of categories keep a description whose lines end as browsers send them', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await ask.create('/categories', { name: 'Sports', description: 'Old' });
    const stored = () => ask.db().from('term_taxonomy').where('term_id', id);
    await stored().update({ description: 'One\r\ntwo' });
    const path = `/admin/categories/${id}`;
    const page = await anna.get(path);
    expect((await anna.submit(page, path, { name: 'Sport' })).status).toBe(303);
    expect(await stored()).toMatchObject([{ description: 'One\r\ntwo' }]);
    const other = await anna.get(path);
    await ask.update(`/categories/${id}`, { description: 'Theirs' });
    const late = await anna.submit(other, path, { name: 'Games' });
    expect([late.status, new Map(formIn(late.text, path)).get('description')]).toEqual([409, 'Theirs']);
  });

  it('of categories and of lists keep fields that only another editor has changed', async () => {
    const anna = await openVisitor(ask, 'admin');
    const term = await ask.create('/categories', { name: 'Dance', description: 'Waltz' });
    const own = `/admin/categories/${term.id}`;
    const page = await anna.get(own);
    await ask.update(`/categories/${term.id}`, { description: 'Tango' });
    const late = await anna.submit(page, own, { name: 'Dances' });
    expect(late.status).toBe(409);
    expect((await anna.submit(late, own)).status).toBe(303);
    expect(await ask.read(`/categories/${term.id}`)).toMatchObject({ name: 'Dances', description: 'Tango' });

    const { id } = await ask.create('/events', { title: 'Fair', start_date: '2027-03-04 10:00', end_date: '2027-03-04 12:00' });
    const path = `/admin/events/${id}`;
    const list = await anna.get('/admin/events?search=Fair');
    await ask.update(`/events/${id}`, { end_date: '2027-03-04 15:00', cost: '5' });
    const again = await anna.submit(list, path, { title: 'The fair' });
    expect(again.status).toBe(409);
    expect((await anna.submit(again, path)).status).toBe(303);
    expect(await ask.read(`/events/${id}`)).toMatchObject({ title: 'The fair', end_date: '2027-03-04 15:00:00', cost: '$5' });
  });

  it.each([
    ['events', { title: '', website: 'nonsense', 'end_date[date]': '2027-05-01' }, ['title', 'end_date', 'website']],
    ['events', { title: '<i></i>', 'start_date[date]': '', website: 'nonsense' }, ['title', 'start_date', 'website']],
    ['events', { title: '<i></i>', 'end_date[time]': '', 'venue[add][]': '<b></b>' }, ['title', 'end_date', 'venue']],
    ['venues', { venue: '', geo_lat: '91', geo_lng: 'east' }, ['venue', 'geo_lng', 'geo_lat']],
  ])('name all faults of a new record in %s at once: %j', async (kind, faults, named) => {
    const anna = await openVisitor(ask, 'admin');
    const path = `/admin/${kind}/new`;
    const fair = {
      title: 'Fair', 'start_date[date]': '2027-05-02', 'start_date[time]': '10:00', 'end_date[date]': '2027-05-02', 'end_date[time]': '12:00',
    }; // biome-ignore format: pairs
    const refused = await anna.submit(await anna.get(path), path, { ...(kind === 'events' ? fair : {}), ...faults });
    const errors = elements(refused.text, ({ attribs }) => attribs.class === 'error').map(({ attribs }) =>
      attribs.id?.replace('-error', ''),
    );
    expect([refused.status, errors.sort()]).toEqual([422, [...named].sort()]);
  });

  it('name all faults of a changed record at once', async () => {
    const anna = await openVisitor(ask, 'admin');
    const { id } = await atTheMill();
    const path = `/admin/events/${id}`;
    const refused = await anna.submit(await anna.get(path), path, {
      title: '<i></i>',
      'end_date[date]': '2026-12-31',
      website: 'nonsense',
    });
    const errors = elements(refused.text, ({ attribs }) => attribs.class === 'error').map(({ attribs }) =>
      attribs.id?.replace('-error', ''),
    );
    expect([refused.status, errors.sort()]).toEqual([422, ['end_date', 'title', 'website']]);
  });

  it('ask for the time of a date that has none, unless the event lasts all day', async () => {
    const anna = await openVisitor(ask, 'admin');
    const path = '/admin/events/new';
    const fair = { title: 'Fair without hours', 'start_date[date]': '2027-05-02', 'end_date[date]': '2027-05-03' };
    const save = (changes: Record<string, string>) => anna.get(path).then((page) => anna.submit(page, path, { ...fair, ...changes }));
    const errorsIn = (page: { readonly text: string }) =>
      elements(page.text, ({ attribs }) => attribs.class === 'error').map((one) => [one.attribs.id, textOf(one)]);
    const sentence = 'Enter a time, too, unless the event lasts all day.';
    const refused = await save({});
    expect([refused.status, errorsIn(refused)]).toEqual([422, ['start_date-error', 'end_date-error'].map((id) => [id, sentence])]);
    expect(errorsIn(await save({ 'start_date[time]': '10:00' }))).toEqual([['end_date-error', sentence]]);
    expect((await anna.submit(refused, path, { 'start_date[time]': '10:00', 'end_date[time]': '12:00' })).status).toBe(303);
    expect((await save({ title: 'Fair of whole days', all_day: '1' })).status).toBe(303);
    expect((await ask.read('/events?search=fair%20of%20whole&start_date=2027-01-01')).events).toMatchObject([
      { start_date: '2027-05-02 00:00:00', end_date: '2027-05-03 23:59:59', all_day: true },
    ]);
  });

  it('name a day or a time that does not exist, and take no other texts for days', async () => {
    const anna = await openVisitor(ask, 'admin');
    const path = '/admin/events/new';
    const fair = { title: 'Odd fair', 'end_date[date]': '2027-05-03', 'end_date[time]': '12:00' };
    const save = async (day: string, time: string, more: Record<string, string> = {}) => {
      const changes = { ...fair, 'start_date[date]': day, 'start_date[time]': time, ...more };
      const page = await anna.submit(await anna.get(path), path, changes);
      return [page.status, elements(page.text, ({ attribs }) => attribs.class === 'error').map(textOf)];
    };
    const noDay = [422, ['This is not a day of the calendar: enter one like 31/12/2026 or 2026-12-31.']];
    const noTime = [422, ['There is no such time: enter one from 00:00 to 23:59.']];
    for (const day of ['2027-02-30', '30/2/2027', '2027-13-01', 'x', 'tomorrow', '0020-05-01', '@0', '5/1'])
      expect([day, await save(day, '10:00')]).toEqual([day, noDay]);
    expect(await save('tomorrow', '', { all_day: '1' })).toEqual(noDay);
    for (const time of ['24:00', '25:00', '10:75', 'x', 'noon']) expect([time, await save('2027-05-02', time)]).toEqual([time, noTime]);
    for (const time of ['9:30', '9.30', '09:30:00', '9:30 am']) expect([time, await save('2/5/2027', time)]).toEqual([time, [303, []]]);
    const saved = await ask.read('/events?search=odd%20fair&start_date=2027-01-01');
    expect(saved.events.map((event: { start_date: string }) => event.start_date)).toEqual(Array(4).fill('2027-05-02 09:30:00'));
    const inTheEvening = ['11:30 pm', '11:30:00 pm', '11.30.00 PM', '11:30 p.m.'];
    const late = { title: 'Night fair', 'end_date[date]': '2027-05-04' };
    for (const time of inTheEvening) expect([time, await save('2027-05-02', time, late)]).toEqual([time, [303, []]]);
    const { events } = await ask.read('/events?search=night%20fair&start_date=2027-01-01');
    expect(events.map((event: { start_date: string }) => event.start_date)).toEqual(Array(4).fill('2027-05-02 23:30:00'));
    // The day of publication is one, too.
    const { id } = await ask.create('/venues', { venue: 'Mill' });
    const own = `/admin/venues/${id}`;
    expect((await anna.submit(await anna.get(own), own, { 'date[date]': 'tomorrow' })).status).toBe(422);
  });

  it('ask for another time if the typed one is skipped by the change of the clocks', async () => {
    const anna = await openVisitor(ask, 'admin');
    const path = '/admin/events/new';
    const night = { title: 'Night', 'start_date[date]': '2027-03-28', 'end_date[date]': '2027-03-28', 'end_date[time]': '03:00' };
    const save = (changes: Record<string, string>) => anna.get(path).then((page) => anna.submit(page, path, { ...night, ...changes }));
    const refused = await save({ 'start_date[time]': '02:30' });
    const said = elements(refused.text, ({ attribs }) => attribs.class === 'error').map((one) => [one.attribs.id, textOf(one)]);
    expect([refused.status, said]).toEqual([
      422,
      [['start_date-error', 'In this time zone the clocks go forward over this hour: choose another one.']],
    ]);
    for (const changes of [{ 'start_date[time]': '01:30' }, { 'start_date[time]': '02:30', timezone: 'America/New_York' }])
      expect((await save(changes)).status).toBe(303);
    expect((await save({ 'start_date[time]': '02:30', 'end_date[time]': '23:00', all_day: '1' })).status).toBe(303);
    // A stored time is left alone, like all unchanged fields.
    const { id } = await ask.create('/events', { title: 'Late', start_date: '2027-03-28 01:30', end_date: '2027-03-28 04:00' });
    await ask.writeRows((db) =>
      db.from('postmeta').where({ post_id: id, meta_key: '_EventStartDate' }).update({ meta_value: '2027-03-28 02:30:00' }),
    );
    const own = `/admin/events/${id}`;
    expect((await anna.submit(await anna.get(own), own, { cost: '5' })).status).toBe(303);
  });
});
