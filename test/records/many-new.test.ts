import { expect, it } from '@jest/globals';
import { describeRequests } from '../support/site-client.ts';

/*
 * One request creates a limited number of records beside its own.
 */

describeRequests('many new records in the fields of an event', (ask) => {
  const EVENT = { title: 'Fair', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' };
  const named = (count: number, start = 0) => Array.from({ length: count }, (_, place) => `Number ${start + place}`);
  const organizers = (count: number, start = 0) => named(count, start).map((organizer) => ({ organizer }));
  const post = (body: object, as = 'admin') => ask.send('POST', '/wp-json/calendar/events/v1/events', { as, body: { ...EVENT, ...body } });
  const countOf = async (post_type: string) => (await ask.db().from('posts').where({ post_type })).length;

  it.each([
    ['organizer', organizers],
    ['venue', (count: number) => named(count).map((venue) => ({ venue }))],
    ['tags', named],
    ['categories', named],
  ])('are created up to fifty; with one more %s, the request is refused', async (field, values) => {
    const before = await Promise.all(['tribe_events', 'tribe_organizer', 'tribe_venue'].map(countOf));
    const refused = await post({ [field]: values(51) });
    expect([refused.status, refused.body.code]).toEqual([400, 'rest_invalid_param']);
    expect(refused.body.data.params[field]).toBe(
      'At most 50 of these can be created in one request. Create the others first, and send their IDs.',
    );
    expect(await Promise.all(['tribe_events', 'tribe_organizer', 'tribe_venue'].map(countOf))).toEqual(before);
    const created = await post({ [field]: values(50) });
    expect([created.status, created.body[field].length]).toEqual([201, 50]);
    // Existing terms are named like new ones.
    if (['tags', 'categories'].includes(field)) expect((await post({ [field]: values(60).slice(0, 51) })).status).toBe(201);
  });

  it('are created up to three hundred by a batch', async () => {
    const before = await countOf('tribe_organizer');
    const requests = Array.from({ length: 9 }, (_, place) => ({
      path: '/calendar/events/v1/events',
      body: { ...EVENT, organizer: place === 8 ? organizers(1, 1) : organizers(40, 40 * place) },
    }));
    const { body } = await ask.send('POST', '/wp-json/batch/v1', { as: 'contrib', body: { requests } });
    expect(body.responses.map((one: { status: number }) => one.status)).toEqual([201, 201, 201, 201, 201, 201, 201, 400, 201]);
    expect(body.responses[7].body.data.params.organizer).toBe(
      'The events of a batch can create at most 300 venues and organizers. Send this one in another batch.',
    );
    // The last event names an organizer of the first one.
    expect(await countOf('tribe_organizer')).toBe(before + 280);
  });
});
