import { expect, it } from '@jest/globals';
import { describeRequests, type UserName } from '../support/site-client.ts';

const CORE = '/wp-json/wp/v2';

describeRequests('wp/v2 for editors', (ask) => {
  const edited = async (path: string, as: UserName) =>
    (await ask.send('GET', `${CORE}/${path}${path.includes('?') ? '&' : '?'}context=edit`, as ? { as } : {})).body;

  it.each<[UserName, string, string[]]>([
    ['contrib', 'tribe_events/80', ['create-tags', 'assign-tags', 'assign-tribe_events_cat']],
    ['auth', 'tribe_events/79', ['publish', 'create-tags', 'assign-tags', 'create-tribe_events_cat', 'assign-tribe_events_cat']],
    ['ed', 'tribe_venue/12', ['publish', 'unfiltered-html', 'assign-author']],
    ['ed', 'media/10', ['unfiltered-html', 'assign-author']],
  ])('links the actions that %s may perform on %s in context edit', async (as, path, actions) => {
    const names = (links: object) => Object.keys(links).filter((name) => name.startsWith('wp:action-'));
    expect(names((await edited(path, as))._links)).toEqual(actions.map((name) => `wp:action-${name}`));
    expect(names((await ask.send('GET', `${CORE}/${path}`, as ? { as } : {})).body._links)).toEqual([]);
  });
  it('returns the slug that a draft would get', async () => {
    const made = await ask.send('POST', `${CORE}/tribe_events`, { as: 'ed', body: { title: 'Summer concert' } });
    expect(made.body).toMatchObject({
      slug: '',
      generated_slug: 'summer-concert-2',
      permalink_template: 'http://127.0.0.1:8081/event/%pagename%/',
    });
    expect(await edited('tribe_venue/12', 'ed')).not.toHaveProperty('generated_slug');
  });
  it.each(['tribe_events/80', 'tribe_events/44', 'tribe_venue/12', 'tribe_organizer/24', 'tags/11', 'tribe_events_cat/3', 'media/10'])(
    'accepts a record of context edit sent back unchanged: %s',
    async (path) => {
      const { modified, modified_gmt, _links, ...shown } = await edited(path, 'admin');
      expect(await ask.send('POST', `${CORE}/${path}`, { as: 'admin', body: shown })).toMatchObject({ status: 200, body: shown });
    },
  );
  it.each([
    ['tribe_events/44', ['title', 'content', 'excerpt']],
    ['tribe_venue/12', ['title', 'content', 'excerpt']],
    ['tribe_organizer/24', ['title', 'content', 'excerpt']],
    ['media/10', ['title', 'description', 'caption']],
  ])('keeps the texts of a record that is sent back as readers see it: %s', async (path, texts) => {
    const { modified, modified_gmt, _links, ...before } = await edited(path, 'admin');
    const shown = (await ask.send('GET', `${CORE}/${path}`)).body;
    const sent = { ...shown, ...Object.fromEntries(texts.map((text) => [text, { rendered: 'Rendered' }])) };
    for (const method of ['POST', 'PUT', 'PATCH'])
      expect(await ask.send(method, `${CORE}/${path}`, { as: 'admin', body: sent })).toMatchObject({ status: 200, body: before });
  });
  it.each([{}, [], ['Other'], { rendered: 'Other' }, { raw: null }])(
    'keeps a text for which %j is sent, and changes the rest',
    async (value) => {
      for (const [path, ...texts] of [
        ['tribe_events/44', 'title', 'content', 'excerpt'],
        ['tribe_venue/12', 'title', 'content', 'excerpt'],
        ['media/10', 'title', 'description', 'caption'],
      ] as const) {
        const before = await edited(path, 'admin');
        const body = { ...Object.fromEntries(texts.map((text) => [text, value])), slug: `another-${path.length}` };
        const { status, body: after } = await ask.send('PUT', `${CORE}/${path}`, { as: 'admin', body });
        expect({ status, slug: after.slug, ...Object.fromEntries(texts.map((text) => [text, after[text]])) }).toEqual({
          status: 200,
          slug: `another-${path.length}`,
          ...Object.fromEntries(texts.map((text) => [text, before[text]])),
        });
      }
    },
  );
  it.each([{ raw: {} }, { raw: ['Other'] }, { raw: true }])('refuses %j for a text', async (value) => {
    const { status, body } = await ask.send('PUT', `${CORE}/tribe_events/44`, { as: 'admin', body: { title: value } });
    expect([status, body.code, Object.keys(body.data.params)]).toEqual([400, 'rest_invalid_param', ['title']]);
  });
  it.each(['tribe_events/44', 'tribe_venue/12', 'tribe_organizer/24'])(
    'accepts the status trash for %s only while it is in the trash',
    async (path) => {
      const change = (as: UserName) =>
        ask.send('PUT', `${CORE}/${path}`, { ...(as ? { as } : {}), body: { status: 'trash', title: 'New' } });
      const refused = { status: 400, body: { data: { details: { status: { code: 'rest_not_in_enum' } } } } };
      expect(await change('admin')).toMatchObject(refused);
      expect((await change(undefined)).status).toBe(401);
      const create = await ask.send('POST', `${CORE}/${path.split('/')[0]}`, { as: 'admin', body: { status: 'trash', title: 'New' } });
      expect(create).toMatchObject(refused);
      await ask.send('DELETE', `${CORE}/${path}`, { as: 'admin' });
      expect(await change('admin')).toMatchObject({ status: 200, body: { status: 'trash', title: { raw: 'New' } } });
      expect(await edited(path, 'admin')).toMatchObject({ status: 'trash', title: { raw: 'New' } });
    },
  );
  it('creates no record with an object without a text as its title', async () => {
    const create = (body: object) => ask.send('POST', `${CORE}/tribe_venue`, { as: 'admin', body });
    expect(await create({ title: { rendered: 'Barn' } })).toMatchObject({ status: 400, body: { code: (await create({})).body.code } });
  });
  it('needs no more queries for the generated slugs of a longer list', async () => {
    let queries = 0;
    const { site } = ask.running();
    const note = () => {
      queries += 1;
    };
    const count = async (perPage: number) => {
      queries = 0;
      await edited(`tribe_events?per_page=${perPage}`, 'ed');
      return queries;
    };
    const stop = site.db.driver.listen(note);
    await count(25);
    const [few, many] = [await count(25), await count(40)];
    stop();
    expect(many).toBeLessThanOrEqual(few);
  });
  it('includes child categories if a filter has include_children', async () => {
    const ids = async (query: string) =>
      (await ask.send('GET', `${CORE}/tribe_events?per_page=100&${query}`)).body.map(({ id }: { id: number }) => id);
    const alone = await ids('tribe_events_cat[terms]=2');
    const below = await ids('tribe_events_cat[terms]=2&tribe_events_cat[include_children]=true');
    expect(below).toEqual(expect.arrayContaining([...alone, ...(await ids('tribe_events_cat=3'))]));
    expect(below.length).toBeGreaterThan(alone.length);
  });
  it('names the meta of the wrong type and the invalid item of it', async () => {
    const send = (meta: object) => ask.send('POST', `${CORE}/tribe_events/44`, { as: 'ed', body: { meta } });
    expect((await send({ _EventAllDay: 'no' })).body).toMatchObject({
      code: 'rest_invalid_type',
      message: 'meta._EventAllDay is not of type boolean.',
      additional_data: [{ param: 'meta._EventAllDay' }],
    });
    expect((await send({ _EventVenueID: [12, 'x'] })).body.additional_data).toEqual([{ param: 'meta._EventVenueID[1]' }]);
    expect((await send({ _EventVenueID: '12,13' })).body.meta._EventVenueID).toEqual([12, 13]);
  });
  it.each<[string, string, object, string, string]>([
    ['tribe_events/44', '_EventURL', { _EventURL: 'x' }, '_EventURL', '"x" is not a web address. For example: https://example.org/'],
    ['tribe_events/44', '_EventVenueID', { _EventVenueID: [999_999] }, '_EventVenueID', 'There is no such venue'],
    [
      'tribe_events/44',
      'the end',
      { _EventEndDate: '2020-01-01 10:00' },
      '_EventEndDate',
      'The end must not come before the start. Received',
    ],
    ['tribe_events', 'what is missing', { _EventAllDay: true }, '_EventStartDate', 'The event needs a start.'],
    ['tribe_venue/12', '_VenueLat', { _VenueLat: 'x'.repeat(100_000) }, '_VenueLat', 'The text is too long.'],
    ['tribe_organizer/24', '_OrganizerWebsite', { _OrganizerWebsite: 'x' }, '_OrganizerWebsite', '"x" is not a web address.'],
  ])('names the meta of %s with an invalid value: %s', async (path, _of, meta, key, sentence) => {
    const { body } = await ask.send('POST', `${CORE}/${path}`, { as: 'ed', body: { title: 'Any', meta } });
    expect(body).toMatchObject({ code: 'rest_invalid_param', message: `Invalid parameter(s): meta.${key}` });
    expect(Object.entries(body.data.params)).toEqual([[`meta.${key}`, expect.stringContaining(sentence)]]);
  });
  it.each(['_EventAllDay', '_EventStartDate', '_EventTimezone', '_EventURL'])('accepts null for the absent meta %s', async (key) => {
    const { status } = await ask.send('POST', `${CORE}/tribe_events`, { as: 'ed', body: { title: 'Any', meta: { [key]: null } } });
    expect(status).toBe(201);
  });
});

describeRequests('site with disabled custom tables', (ask) => {
  const TABLES = ['tec_events', 'tec_occurrences'] as const;
  const found = async () => (await ask.read('/events?include=44')).total;

  it.each(['0', ''])('reads and writes events through metas only if the option is %j', async (option_value) => {
    await ask.writeRows(async (db) => {
      for (const table of TABLES) await db.from(table).delete();
    });
    expect(await found()).toBe(0);
    await ask.writeRows((db) => db.from('options').insert({ option_name: 'tec_custom_tables_v1_active', option_value, autoload: 'on' }));
    expect(await found()).toBe(1);
    const event = await ask.create('/events', { title: 'New', start_date: '2027-05-01 10:00', end_date: '2027-05-01 11:00' });
    expect((await ask.read('/events?start_date=2027-05-01&end_date=2027-05-01')).events.map(({ id }: { id: number }) => id)).toContain(
      event.id,
    );
    expect(await ask.db().from('tec_occurrences').select('post_id')).toEqual([]);
  });
});

describeRequests(
  'site with custom tables disabled by a constant',
  (ask) => {
    it('reads events from metas', async () => {
      await ask.writeRows((db) => db.from('tec_occurrences').delete());
      expect((await ask.read('/events?include=44')).total).toBe(1);
    });
  },
  { CUSTOM_TABLES: 'off' },
);
