import { expect, it } from '@jest/globals';
import { postKinds } from '../../src/kinds/index.ts';
import type { PostKind } from '../../src/kinds/kind.ts';
import { looksSerialized, textOfStored, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { formIn, openVisitor } from '../support/desk-visitor.ts';
import { describeRequests, expectBody, SUITE_TIME } from '../support/site-client.ts';

/*
 * WordPress unserializes the metas that it reads, and creates the objects in them. A text in the form of a serialized
 * value is therefore stored serialized, as WordPress does it, whichever field it is sent in; records show the text.
 */

const OBJECT = 'O:8:"stdClass":1:{s:1:"a";i:1;}';
const ARRAY = 'a:1:{i:0;s:1:"x";}';
const NEW: Readonly<Record<PostKind['name'], Record<string, string>>> = {
  event: { title: 'New', start_date: '2031-05-01 10:00', end_date: '2031-05-01 12:00' },
  venue: { venue: 'New' },
  organizer: { organizer: 'New' },
};
const FIELDS = postKinds.flatMap((kind) =>
  [...Object.keys(kind.fields), ...Object.keys(kind.extraMetas)].map((field) => [kind.path, field, kind] as const),
);
const CUSTOM_FIELDS = {
  tribe_events_calendar_options: toSerialized({
    'custom-fields': [
      { name: '_ecp_custom_2', label: 'Stage', type: 'text', values: '' },
      { name: '_ecp_custom_3', label: 'Notes', type: 'textarea', values: '' },
      { name: '_ecp_custom_4', label: 'Choice', type: 'dropdown', values: OBJECT },
      { name: '_ecp_custom_5', label: 'Choices', type: 'checkbox', values: OBJECT },
    ],
  }),
};

describeRequests(
  'text in the form of a serialized value',
  (ask) => {
    /** The metas of a record that WordPress would not read as texts. */
    const misread = async (id: number) => {
      const rows = await ask.db().from('postmeta').where('post_id', id);
      return rows.filter(({ meta_value: value }) => value !== null && looksSerialized(value) && textOfStored(value) === value);
    };

    it.each(FIELDS)('in %s, field %s, is stored as a text on creation and change', async (path, field, kind) => {
      for (const text of [OBJECT, ARRAY]) {
        const created = await ask.post(`/${path}`, { ...NEW[kind.name], [field]: text });
        const { id } = created.status === 201 ? created.body : await ask.create(`/${path}`, NEW[kind.name]);
        expect(await misread(id)).toEqual([]);
        const changed = await ask.patch(`/${path}/${id}`, { [field]: text });
        expect([200, 400]).toContain(changed.status);
        expect(await misread(id)).toEqual([]);
        if (changed.status === 200 && kind.fields[field]?.text) expect((await ask.read(`/${path}/${id}`))[field]).toBe(text);
      }
    });

    it.each(postKinds.map(({ postType }) => postType))('in a meta of wp/v2 is stored as a text: %s', async (type) => {
      const dates = { _EventStartDate: '2031-05-01 10:00:00', _EventEndDate: '2031-05-01 12:00:00' };
      const names = [
        '_EventCost',
        '_EventCurrencySymbol',
        '_tribe_events_status_reason',
        '_VenueAddress',
        '_OrganizerPhone',
        '_EventDateTimeSeparator',
      ];
      for (const name of names) {
        const body = { title: 'New', status: 'publish', meta: { ...dates, [name]: OBJECT } };
        const { status, body: made } = await ask.send('POST', `/wp-json/wp/v2/${type}`, { as: 'admin', body });
        expect([name, status]).toEqual([name, 201]);
        expect(await misread(made.id)).toEqual([]);
        const read = await ask.send('GET', `/wp-json/wp/v2/${type}/${made.id}`, { as: 'admin' });
        if (name in read.body.meta) expect([name, read.body.meta[name]]).toEqual([name, OBJECT]);
        // Clients send back everything that they were shown.
        const back = await ask.send('PATCH', `/wp-json/wp/v2/${type}/${made.id}`, { as: 'admin', body: { meta: read.body.meta } });
        expect(back.status).toBe(200);
        expect(await misread(made.id)).toEqual([]);
      }
    });

    it('is shown as WordPress stored it, and found by filters, searches and the external ID', async () => {
      const { id } = await ask.create('/venues', { venue: 'Barn', city: OBJECT, external_id: ARRAY });
      expect(await ask.metaValues(id, '_VenueCity')).toEqual([toSerialized(OBJECT)]);
      expect(await ask.metaValues(id, '_fasti_external_id')).toEqual([toSerialized(ARRAY)]);
      expect(await ask.read(`/venues/${id}`)).toMatchObject({ city: OBJECT, external_id: ARRAY });
      const found = async (query: string) => (await ask.read(`/venues?${query}`)).venues.map((venue: { id: number }) => venue.id);
      expect(await found(`external_id=${encodeURIComponent(ARRAY)}`)).toEqual([id]);
      expect(await found(`search=${encodeURIComponent('O:8:"stdClass"')}`)).toEqual([id]);
      const again = await ask.post('/venues?upsert=external_id', { venue: 'Barn again', external_id: ARRAY });
      expect(expectBody(again, 200).id).toBe(id);
      const event = await ask.create('/events', { ...NEW.event, venue: { venue: 'Other', external_id: ARRAY } });
      expect(event.venue.id).toBe(id);
      const inCity = await ask.read(`/events?start_date=2031-01-01&end_date=2031-12-31&city=${encodeURIComponent(OBJECT)}`);
      expect(inCity.events.map((one: { id: number }) => one.id)).toEqual([event.id]);
    });

    it('in a field of the site is stored as a text and filters by it', async () => {
      await ask.options(CUSTOM_FIELDS);
      const [text, lines, choice, choices] = [2, 3, 4, 5].map((number) => `_ecp_custom_${number}`) as [string, string, string, string];
      const values = { [text]: OBJECT, [lines]: `${OBJECT}\n`, [choice]: OBJECT, [choices]: [OBJECT] };
      const made = await ask.create('/events', { ...NEW.event, custom_fields: values });
      const rows = await ask
        .db()
        .from('postmeta')
        .where('post_id', made.id)
        .whereIn('meta_key', [text, lines, choice, choices, `_${choices}`]);
      expect(rows.map(({ meta_value: value }) => value)).toEqual(Array(5).fill(toSerialized(OBJECT)));
      expect(made.custom_fields[text]).toMatchObject({ value: OBJECT });
      const filter = encodeURIComponent(OBJECT);
      const { events } = await ask.read(`/events?start_date=2031-01-01&end_date=2031-12-31&custom_fields[${text}]=${filter}`);
      expect(events.map((one: { id: number }) => one.id)).toEqual([made.id]);
    });

    it('as the cost of a suggestion from the public is stored as a text', async () => {
      ask.setClock(SUITE_TIME);
      await ask.options({ fasti_suggest_slug: 'suggest' });
      const visitor = await openVisitor(ask);
      const page = await visitor.get('/events/suggest/');
      ask.setClock(new Date(Date.parse(SUITE_TIME) + 60_000).toISOString());
      const fields = {
      title: 'Concert', 'start_date[date]': '2027-03-04', 'start_date[time]': '21:00', 'end_date[date]': '2027-03-04', 'end_date[time]': '23:00',
      cost: OBJECT, from_name: 'Rosa', from_email: 'rosa@example.org',
    }; // biome-ignore format: pairs
      expect(formIn(page.text, '/events/suggest/').map(([name]) => name)).toContain('cost');
      await visitor.submit(page, '/events/suggest/', fields);
      const [row] = await ask.db().from('posts').where({ post_type: 'tribe_events', post_status: 'pending', post_author: 0 });
      expect(await ask.metaValues(row!.ID, '_EventCost')).toEqual([toSerialized(OBJECT)]);
      expect(await misread(row!.ID)).toEqual([]);
    });

    it('as the alternative text of a picture is stored as a text', async () => {
      const [picture] = await ask.db().from('posts').where('post_type', 'attachment');
      const changed = await ask.send('POST', `/wp-json/wp/v2/media/${picture!.ID}`, { as: 'admin', body: { alt_text: OBJECT } });
      expect([changed.status, changed.body.alt_text]).toEqual([200, OBJECT]);
      expect(await ask.metaValues(picture!.ID, '_wp_attachment_image_alt')).toEqual([toSerialized(OBJECT)]);
    });

    it('of a user is shown as WordPress stored it', async () => {
      const nickname = { user_id: 2, meta_key: 'nickname' };
      await ask
        .db()
        .from('usermeta')
        .where(nickname)
        .update({ meta_value: toSerialized(ARRAY) });
      const { body } = await ask.send('GET', '/wp-json/wp/v2/users/2?context=edit', { as: 'admin' });
      expect(body.nickname).toBe(ARRAY);
    });
  },
  { PAGES: 'on' },
);

describeRequests('number beyond 2^53 in a serialized value', (ask) => {
  it('is shown in the preferences of a user as the nearest number', async () => {
    const [meta_key, meta_value] = ['wp_persisted_preferences', 'a:1:{s:1:"x";i:9007199254740993;}'];
    await ask.writeRows((db) => db.from('usermeta').insert({ user_id: 2, meta_key, meta_value }));
    const { status, body } = await ask.send('GET', '/wp-json/wp/v2/users?context=edit', { as: 'admin' });
    expect(status).toBe(200);
    const preferences = body.find((user: { id: number }) => user.id === 2).meta.persisted_preferences;
    expect(preferences).toEqual({ x: 9_007_199_254_740_992 });
  });

  it('is shown in a list of application passwords', async () => {
    const meta_value =
      'a:1:{i:0;a:5:{s:4:"uuid";s:1:"u";s:6:"app_id";i:9007199254740993;s:4:"name";i:5;s:8:"password";s:1:"x";s:7:"last_ip";i:9007199254740993;}}';
    await ask.writeRows((db) => db.from('usermeta').where({ user_id: 4, meta_key: '_application_passwords' }).del());
    await ask.writeRows((db) => db.from('usermeta').insert({ user_id: 4, meta_key: '_application_passwords', meta_value }));
    const { status, body } = await ask.send('GET', '/wp-json/wp/v2/users/4/application-passwords', { as: 'admin' });
    expect([status, body]).toMatchObject([200, [{ app_id: '9007199254740993', name: '5', last_ip: '9007199254740993' }]]);
  });
});
