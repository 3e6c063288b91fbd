import { describe, expect, it } from '@jest/globals';
import { toSerialized } from '../../src/wordpress/php/serialized.ts';
import { sharp } from '../support/image-library.ts';
import { describeRequests, type Json, SUITE_TIME } from '../support/site-client.ts';

/*
 * Surprising behavior of WordPress's own routes. The expected results come from a real WordPress
 * (`test/real-wordpress.test.ts` compares them again if one is installed).
 */

const CORE = '/wp-json/wp/v2';

describeRequests('wp/v2 like WordPress', (ask) => {
  const send = (method: string, path: string, body?: object, as: 'admin' | 'auth' | 'contrib' | undefined = 'admin') =>
    ask.send(method, `${CORE}/${path}`, { as, ...(body ? { body } : {}) });
  const ids = async (path: string): Promise<number[]> => (await ask.send('GET', `${CORE}/${path}`)).body.map(({ id }: Json) => id);
  const totals = async (path: string) => {
    const { headers, body } = await ask.send('GET', `${CORE}/${path}`);
    return [headers['x-wp-total'], headers['x-wp-totalpages'], body.length];
  };

  it('searches for the decoded text without tags', async () => {
    const [all] = await totals('tribe_events');
    expect((await totals('tribe_events?search=%2520'))[0]).toBe(all);
    expect((await totals('tribe_events?search=%3Ci%3Econcert%3C/i%3E'))[0]).toBe('2');
  });

  it.each(['tribe_events', 'media', 'posts', 'pages'])('returns a total of 0 for %s if the offset exceeds the total', async (base) => {
    expect(await totals(`${base}?offset=99`)).toEqual(['0', '0', 0]);
    expect(await totals(`${base}?offset=0&per_page=1`)).toEqual([expect.not.stringMatching(/^0$/), expect.anything(), 1]);
  });

  it('refuses a status before the context edit', async () => {
    for (const path of ['tribe_events?status=draft&context=edit', 'media?status=private&context=edit'])
      expect(await ask.send('GET', `${CORE}/${path}`)).toMatchObject({ status: 400, body: { code: 'rest_invalid_param' } });
    expect(await ask.send('GET', `${CORE}/tribe_events?context=edit`)).toMatchObject({ status: 401 });
  });

  it('orders terms as in include or slug, reversed with desc, and by name without them', async () => {
    expect(await ids('tags?orderby=include&include=13,11,12')).toEqual([13, 11, 12]);
    expect(await ids('tags?orderby=include&include=13,11,12&order=desc')).toEqual([12, 11, 13]);
    expect(await ids('tags?orderby=include_slugs&slug=outdoor,free,family')).toEqual([13, 11, 12]);
    expect(await ids('tags?orderby=include')).toEqual(await ids('tags'));
    expect(await ids('tags?orderby=include&order=desc')).toEqual((await ids('tags')).reverse());
  });

  it('orders users as in include or slug, and reverses only include with desc', async () => {
    expect(await ids('users?orderby=include&include=3,1,2')).toEqual([3, 1, 2]);
    expect(await ids('users?orderby=include&include=3,1,2&order=desc')).toEqual([2, 1, 3]);
    expect(await ids('users?orderby=include_slugs&slug=ed,admin&order=desc')).toEqual([2, 1]);
    expect(await ids('users?orderby=include&order=desc')).toEqual([2, 3, 1]);
  });

  it('ignores asterisks around a search for users', async () => {
    expect(await ids('users?search=*ed*')).toEqual([2]);
    expect(await ids('users?search=*')).toEqual(await ids('users'));
  });

  it('lists all terms for post 0 and refuses a post that does not exist', async () => {
    expect(await ids('tags?post=0')).toEqual(await ids('tags'));
    expect(await ask.send('GET', `${CORE}/tags?post=999`)).toMatchObject({ status: 400, body: { code: 'rest_post_invalid_id' } });
  });

  it('embeds no terms if there are none', async () => {
    const embedding = async () => (await ask.send('GET', `${CORE}/tribe_events/44?_embed=wp:term`)).body;
    expect((await embedding())._embedded['wp:term'].flat().length).toBeGreaterThan(0);
    await ask.writeRows((db) => db.from('term_relationships').where('object_id', 44).delete());
    expect(await embedding()).not.toHaveProperty('_embedded');
  });

  it('embeds the post that a file is attached to, for callers who may read it', async () => {
    const attach = (to: number) => ask.writeRows((db) => db.from('posts').where('ID', 10).update({ post_parent: to, post_author: 3 }));
    const embedded = async (query: string, as?: 'admin' | 'auth') =>
      (await ask.send('GET', `${CORE}/media${query}`, as ? { as } : {})).body;
    const attached = (type: string, id: number) => ({ 'wp:attached-to': [expect.objectContaining({ id, type })] });
    const linkOf = ({ _links: links }: Json) => new URL(links['wp:attached-to'][0].href).pathname;
    for (const [type, id, route] of [
      ['tribe_events', 44, 'tribe_events/44'],
      ['post', 1, 'posts/1'],
      ['page', 2, 'pages/2'],
    ] as const) {
      await attach(id);
      const file = await embedded('/10?_embed=wp:attached-to');
      expect([file._embedded, linkOf(file)]).toEqual([attached(type, id), `${CORE}/${route}`]);
      expect((await embedded('?include=10&_embed'))[0]._embedded).toMatchObject(attached(type, id));
    }
    await ask.writeRows((db) => db.from('posts').where('ID', 44).update({ post_status: 'draft', post_author: 1 }));
    await attach(44);
    expect((await embedded('/10?_embed', 'admin'))._embedded).toMatchObject(attached('tribe_events', 44));
    const ofAuthor = await embedded('/10?_embed', 'auth');
    expect(linkOf(ofAuthor)).toBe(`${CORE}/tribe_events/44`);
    expect(ofAuthor._embedded ?? {}).not.toHaveProperty('wp:attached-to');
  });

  it.each<[string, object, object]>([
    ['tags', { name: 'Loud', _fields: 'slug,name' }, { slug: 'loud', name: 'Loud' }],
    ['tags?_fields=id', { name: 'Loud', _fields: ['name'] }, { name: 'Loud' }],
    ['tags?_fields=name', { name: 'Loud' }, { name: 'Loud' }],
  ])('answers a write to %s of %j with the members named in _fields', async (path, body, answer) =>
    expect((await send('POST', path, body)).body).toEqual(answer),
  );

  it('lets users who may assign tags create them', async () => {
    expect(await send('POST', 'tags', { name: 'Of an author' }, 'auth')).toMatchObject({ status: 201 });
    const made = await send('POST', 'tags', { name: 'Of a contributor' }, 'contrib');
    expect(made).toMatchObject({ status: 201 });
    expect(await send('POST', `tags/${made.body.id}`, { name: 'X' }, 'contrib')).toMatchObject({ status: 403 });
  });

  describe('for users with other rights than those of roles', () => {
    /** Replaces the rights of a subscriber by these capabilities. */
    const grant = (...names: string[]) => {
      const meta_value = toSerialized(Object.fromEntries(names.map((name) => [name, true])));
      return ask.writeRows((db) => db.from('usermeta').where({ user_id: 5, meta_key: 'wp_capabilities' }).update({ meta_value }));
    };
    const sendAs = (method: string, path: string, body?: object) =>
      ask.send(method, `${CORE}/${path}`, { as: 'sub', ...(body ? { body } : {}) });
    const slugs = async (path: string) => Object.keys((await sendAs('GET', path)).body);

    it('refuses terms that they may not assign, but removes terms', async () => {
      await grant('edit_tribe_events', 'edit_others_tribe_events', 'edit_published_tribe_events');
      const refused = { status: 403, body: { code: 'rest_cannot_assign_term' } };
      expect(await sendAs('POST', 'tribe_events', { title: 'New', tags: [11] })).toMatchObject(refused);
      expect(await sendAs('POST', 'tribe_events', { title: 'New', tags: [11], status: 'publish' })).toMatchObject(refused);
      expect(await sendAs('PUT', 'tribe_events/44', { tags: [999, 11] })).toMatchObject(refused);
      expect(await sendAs('PUT', 'tribe_events/44', { tags: [999], tribe_events_cat: [2] })).toMatchObject({
        status: 200,
        body: { tags: [], tribe_events_cat: [2] },
      });
    });

    it('takes an id without a term for no name of a tag', async () => {
      const { body: year } = await send('POST', 'tags', { name: '2026' });
      const write = { tags: [2026], status: 'publish', title: 'New' };
      expect(await send('POST', 'tribe_events', write)).toMatchObject({ status: 201, body: { tags: [] } });
      expect(await send('PUT', 'tribe_events/44', { tags: [0, -1, 2026, 11] })).toMatchObject({ status: 200, body: { tags: [11] } });
      expect(await send('PUT', 'tribe_events/44', { tags: [year.id] })).toMatchObject({ status: 200, body: { tags: [year.id] } });
      await grant('edit_tribe_events', 'edit_others_tribe_events', 'edit_published_tribe_events');
      expect(await sendAs('PUT', 'tribe_events/44', { tags: [year.id] })).toMatchObject({ status: 403 });
      expect(await sendAs('PUT', 'tribe_events/44', { tags: [2026] })).toMatchObject({ status: 200, body: { tags: [] } });
    });

    it('attaches files of users with rights to blog posts only to these', async () => {
      await grant('edit_posts', 'edit_others_posts', 'edit_published_posts', 'edit_others_tribe_venues', 'upload_files');
      const attach = async (post: number) => (await sendAs('POST', 'media/10', { post })).status;
      expect(await Promise.all([44, 80, 86, 12].map(attach))).toEqual([403, 403, 403, 403]);
      expect(await attach(1)).toBe(200);
    });

    it('shows the types that they may edit, and the taxonomies whose terms they may assign, for editing', async () => {
      await grant('edit_tribe_events', 'edit_tribe_venues');
      expect(await slugs('types?context=edit')).toEqual(['tribe_venue', 'tribe_events']);
      expect(await slugs('taxonomies?context=edit')).toEqual(['tribe_events_cat']);
      expect(await slugs('types?context=embed')).toHaveLength(6);
      for (const path of ['types/tribe_events', 'taxonomies/tribe_events_cat'])
        expect(await sendAs('GET', `${path}?context=edit`)).toMatchObject({ status: 200, body: { capabilities: {} } });
      for (const path of ['types/post', 'types/tribe_organizer', 'taxonomies/post_tag'])
        expect(await sendAs('GET', `${path}?context=edit`)).toMatchObject({ status: 403, body: { code: 'rest_forbidden_context' } });
      expect(await sendAs('GET', 'taxonomies?context=edit&type=post')).toMatchObject({ status: 403, body: { code: 'rest_cannot_view' } });
    });
  });

  it('does not show pages for editing to authors', async () => {
    const shown = await send('GET', 'types?context=edit', undefined, 'auth');
    expect(Object.keys(shown.body)).toEqual(['post', 'attachment', 'tribe_venue', 'tribe_organizer', 'tribe_events']);
    expect(await send('GET', 'types/page?context=edit', undefined, 'auth')).toMatchObject({ status: 403 });
    expect(await send('GET', 'types/page?context=edit')).toMatchObject({ status: 200 });
  });

  it.each([0, 11])('refuses parent %i of a tag', async (parent) => {
    const refused = { status: 400, body: { code: 'rest_taxonomy_not_hierarchical' } };
    expect(await send('POST', 'tags', { name: 'Below', parent })).toMatchObject(refused);
    expect(await send('POST', 'tags/12', { parent })).toMatchObject(refused);
  });

  it('refuses to create a record with an existing id', async () => {
    const refused = { status: 400, body: { code: 'rest_post_exists' } };
    expect(await send('POST', 'tribe_events', { id: 44, title: 'Changed?' })).toMatchObject(refused);
    expect(await send('POST', 'tribe_events', { id: 0, title: 'New' })).toMatchObject({ status: 201 });
  });

  it('proposes slugs that are not percent-encoded', async () => {
    expect((await send('POST', 'tribe_events', { title: '日本 🎸' })).body.generated_slug).toBe('日本-🎸');
  });

  it('leaves the slug of a draft empty if none of it remains, instead of using its id', async () => {
    const awaiting = { title: 'Awaits review', slug: 'wish', status: 'pending' };
    for (const base of ['tribe_events', 'tribe_venue'])
      expect((await send('POST', base, awaiting, 'contrib')).body).toMatchObject({ status: 'pending', slug: '' });
    expect((await send('POST', 'tribe_events/80', { slug: 'wish', status: 'pending' }, 'contrib')).body).toMatchObject({ slug: '' });
    expect((await send('POST', 'tribe_events', { title: 'Draft', slug: '-' })).body).toMatchObject({ status: 'draft', slug: '' });
  });

  it('makes the slug of a draft unique', async () => {
    const asked = { title: 'Draft', slug: 'new-year-concert' };
    expect((await send('POST', 'tribe_events', asked)).body).toMatchObject({ status: 'draft', slug: 'new-year-concert-2' });
    expect((await send('POST', 'tribe_events/82', { slug: 'summer-concert' })).body.slug).toBe('summer-concert-2');
    // A draft without a requested slug has none.
    for (const base of ['tribe_events', 'tribe_venue', 'tribe_organizer'])
      expect((await send('POST', base, { title: 'Without' })).body).toMatchObject({ status: 'draft', slug: '' });
  });

  it('keeps the date that a draft was given when it is published', async () => {
    const { id } = (await send('POST', 'tribe_events', { title: 'Of old', date: '2020-02-02T10:00:00' })).body;
    const published = (await send('POST', `tribe_events/${id}`, { status: 'publish' })).body;
    expect(published).toMatchObject({ status: 'publish', date: '2020-02-02T10:00:00', date_gmt: '2020-02-02T09:00:00' });
  });

  it('sets the current date if the date is null', async () => {
    expect((await send('POST', 'tribe_events/44', { date: null })).body).toMatchObject({ status: 'publish', date: '2026-11-20T13:00:00' });
    expect((await send('POST', 'tribe_events/85', { date_gmt: null })).body).toMatchObject({ date_gmt: '2026-11-20T12:00:00' });
  });

  it.each([
    ['null', { date: null }, '2026-11-27T13:00:00'],
    ['a date', { date: '2027-01-01T10:00:00' }, '2027-01-01T10:00:00'],
  ])('dates a draft that had a date of its own when it is published, after %s', async (_, change, published) => {
    for (const base of ['tribe_events', 'tribe_venue']) {
      ask.setClock(SUITE_TIME);
      const { id } = (await send('POST', base, { title: 'Later', date: '2027-01-01T10:00:00' })).body;
      await send('POST', `${base}/${id}`, change);
      ask.setClock('2026-11-27T12:00:00Z');
      await send('POST', `${base}/${id}`, { title: 'Much later' });
      expect((await send('POST', `${base}/${id}`, { status: 'publish' })).body.date).toBe(published);
    }
  });

  it('leaves the date of a record open that becomes a draft with the date null', async () => {
    const draft = (await send('POST', 'tribe_events/44', { status: 'draft', date: null })).body;
    expect(draft).toMatchObject({ status: 'draft', date: '2026-11-20T13:00:00' });
    expect((await ask.db().from('posts').where('ID', 44).first())?.post_date_gmt).toBe('0000-00-00 00:00:00');
  });

  it('removes the password of a record that becomes private', async () => {
    expect((await send('POST', 'tribe_events/73', { status: 'private' })).body).toMatchObject({ status: 'private', password: '' });
    expect((await send('POST', 'tribe_events/84', { password: 'x' })).body).toMatchObject({ status: 'private', password: '' });
  });

  it('stores old slugs and dates for redirects', async () => {
    await send('POST', 'tribe_events/44', { slug: 'other', date: '2020-02-02T10:00:00' });
    expect(await ask.metaValues(44, '_wp_old_slug')).toEqual(['new-year-concert']);
    expect(await ask.metaValues(44, '_wp_old_date')).toEqual(['2022-01-13']);
    await send('POST', 'tribe_events/44', { slug: 'new-year-concert', date: '2022-01-13T10:00:00' });
    expect(await ask.metaValues(44, '_wp_old_slug')).toEqual(['other']);
    expect(await ask.metaValues(44, '_wp_old_date')).toEqual(['2020-02-02']);
  });

  it('changes the date and the slug of a file and stores the old ones', async () => {
    const { body } = await send('POST', 'media/10', {
      date: '2020-02-02T10:00:00',
      slug: 'other',
      comment_status: 'closed',
      status: 'publish',
    });
    expect(body).toMatchObject({
      date: '2020-02-02T10:00:00', date_gmt: '2020-02-02T09:00:00', slug: 'other', comment_status: 'closed', status: 'inherit',
      modified: '2026-11-20T13:00:00',
    }); // biome-ignore format: pairs
    expect(await ask.metaValues(10, '_wp_old_slug')).toEqual(['tiny']);
    expect(await ask.metaValues(10, '_wp_old_date')).toEqual(['2026-11-20']);
    const utc = await send('POST', 'media/10', { date_gmt: '2021-06-01T10:00:00' });
    expect(utc.body).toMatchObject({ date: '2021-06-01T12:00:00', date_gmt: '2021-06-01T10:00:00' });
    expect(await send('POST', 'media/10', { status: 'trash' })).toMatchObject({ status: 400 });
  });

  it('resets the date of a file if the date is null', async () => {
    const now = { date: '2026-11-20T13:00:00', date_gmt: '2026-11-20T12:00:00' };
    await send('POST', 'media/10', { date: '2020-02-02T10:00:00' });
    expect((await send('POST', 'media/10', { date: null })).body).toMatchObject(now);
    expect(await ask.metaValues(10, '_wp_old_date')).toEqual(['2020-02-02']);
  });

  it('stores no old date of a new file', async () => {
    const headers = { 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename="dot.png"' };
    const body = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    const { body: made } = await ask.send('POST', `${CORE}/media?date=2020-02-02T10:00:00&slug=of-old`, { headers, body, as: 'admin' });
    expect(made).toMatchObject({ date: '2020-02-02T10:00:00', slug: 'of-old' });
    expect(await ask.metaValues(made.id, '_wp_old_date')).toEqual([]);
  });

  it('makes a file private and public again', async () => {
    const listed = (query = '') => ids(`media?per_page=100${query}`);
    const seen = async () => [(await ask.send('GET', `${CORE}/media/10`)).status, (await listed()).includes(10)];
    expect(await seen()).toEqual([200, true]);
    expect(await send('POST', 'media/10', { status: 'private' })).toMatchObject({ status: 200, body: { status: 'private' } });
    expect(await seen()).toEqual([401, false]);
    expect((await send('GET', 'media?status=private')).body).toMatchObject([{ id: 10 }]);
    expect((await send('POST', 'media/10', { alt_text: 'A dot' })).body).toMatchObject({ status: 'private' });
    expect((await send('POST', 'media/10', { status: 'publish' })).body).toMatchObject({ status: 'inherit' });
    expect(await seen()).toEqual([200, true]);
    expect(await send('POST', 'media/10', { status: 'private' }, 'contrib')).toMatchObject({ body: { code: 'rest_cannot_edit' } });
  });

  it('requires publish_posts to make a file private', async () => {
    const headers = { 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename="dot.png"' };
    const body = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    const upload = (query: string) => ask.send('POST', `${CORE}/media${query}`, { headers, body, as: 'auth' });
    const { id } = (await upload('')).body as { id: number };
    const change = (status: string) => send('POST', `media/${id}`, { status }, 'auth');
    expect((await upload('?status=private')).body).toMatchObject({ status: 'private' });
    expect((await change('private')).body).toMatchObject({ status: 'private' });
    const rights = toSerialized({ author: true, publish_posts: false });
    await ask.writeRows((db) => db.from('usermeta').where({ user_id: 3, meta_key: 'wp_capabilities' }).update({ meta_value: rights }));
    for (const status of ['publish', 'future'])
      expect(await change(status)).toMatchObject({ status: 403, body: { code: 'rest_cannot_publish' } });
    expect(await upload('?status=private')).toMatchObject({ status: 403, body: { code: 'rest_cannot_publish' } });
    expect(await change('private')).toMatchObject({ status: 200 });
    expect((await change('draft')).body).toMatchObject({ status: 'inherit' });
  });

  it('derives the slug of a file from its title if the slug is emptied', async () => {
    expect((await send('POST', 'media/10', { slug: '', title: 'A Dot' })).body).toMatchObject({ slug: 'a-dot' });
    expect((await send('POST', 'media/10', { slug: '' })).body).toMatchObject({ slug: 'a-dot' });
  });

  it('renders the description of a file as its caption if it has none', async () => {
    expect((await send('POST', 'media/10', { description: 'What it shows' })).body.caption).toEqual({
      raw: '',
      rendered: '<p>What it shows</p>\n',
    });
  });
});
