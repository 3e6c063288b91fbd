import { expect, it } from '@jest/globals';
import { describeRequests, expectBody } from '../support/site-client.ts';

const EVENT = { title: 'Concert', start_date: '2030-05-01 20:00:00', end_date: '2030-05-01 22:00:00' };

describeRequests('the currency of a cost in wp/v2', (ask) => {
  const setMeta = (id: number, key: string, value: string) =>
    ask.writeRows(async (db) => {
      await db.from('postmeta').where({ post_id: id, meta_key: key }).del();
      await db.from('postmeta').insert({ post_id: id, meta_key: key, meta_value: value });
    });
  const currency = async (id: number) =>
    (await Promise.all(['_EventCost', '_EventCurrencySymbol', '_EventCurrencyPosition'].map((key) => ask.metaValues(id, key)))).flat();
  const priced = async (): Promise<number> => {
    const { id } = await ask.create('/events', { ...EVENT, cost: '10' });
    await setMeta(id, '_EventCurrencySymbol', '€');
    await setMeta(id, '_EventCurrencyPosition', 'postfix');
    return id;
  };

  it.each([
    [{ _EventCost: '12', _EventCurrencySymbol: '€' }, ['12', '€', 'postfix']],
    [{ _EventCost: '12' }, ['12', '€', 'postfix']],
    [{ _EventCost: '12', _EventCurrencySymbol: 'Fr.' }, ['12', 'Fr.', 'postfix']],
    [{ _EventCost: '12', _EventCurrencySymbol: '', _EventCurrencyPosition: 'prefix' }, ['12', '', 'prefix']],
    [{ _EventCost: '' }, ['€', 'postfix']],
    [{ _EventCost: null }, ['€', 'postfix']],
    // A currency in the text of the cost is that of the event.
    [{ _EventCost: '$12' }, ['$12', '$', 'prefix']],
  ])('D37 stays if only the cost changes: %j', async (meta, stored) => {
    const id = await priced();
    expectBody(await ask.send('PATCH', `/wp-json/wp/v2/tribe_events/${id}`, { as: 'admin', body: { meta } }));
    expect(await currency(id)).toEqual(stored);
  });

  it('D37 goes with the cost in the API of the calendar', async () => {
    const id = await priced();
    await ask.update(`/events/${id}`, { cost: '12' });
    expect(await currency(id)).toEqual(['12', '', '']);
  });
});
