import { expect, it } from '@jest/globals';
import { eventsIn } from '../../src/exchange/json-ld/nodes.ts';
import { exponentOf, MOST_EXPONENT } from '../support/growth.ts';

/*
 * A page of somebody else says what it likes: as many nodes of one thing, or of things that are one, as fit into it.
 * What is put together of them costs no more than in proportion to what they say.
 */

const times = <Made>(count: number, make: (at: number) => Made): Made[] => Array.from({ length: count }, (_, at) => make(at));
const event = { '@type': 'Event', name: 'Concert' };
/** More members than are taken over into another node, so that what follows grows with the page alone. */
const large = (count: number) => Object.fromEntries(times(count, (at) => [`member${at}`, at]));

/** What a page may hold, of so many nodes. */
const SHAPES: Readonly<Record<string, (count: number) => unknown[]>> = {
  'one event, another member in each node': (count) => times(count, (at) => ({ '@id': 'one', '@type': 'Event', [`member${at}`]: at })),
  'one event, the same in each node': (count) => times(count, () => ({ '@id': 'one', '@type': 'Event' })),
  'one event, another name in each node': (count) => times(count, (at) => ({ '@id': 'one', '@type': 'Event', name: `Name ${at}` })),
  'events of one name that begin at other times': (count) => times(count, (at) => ({ ...event, '@id': 'one', startDate: `2027, ${at}` })),
  'such events, and as much that completes them': (count) =>
    times(count, (at) => (at % 2 ? { '@id': 'one', [`member${at}`]: at } : { ...event, '@id': 'one', startDate: `2027, ${at}` })),
  'events at a place with many members': (count) => [
    ...times(count / 10, () => ({ ...event, location: { '@id': 'place' } })),
    { '@id': 'place', ...large(count) },
  ],
  'events at a place with many names': (count) => [
    ...times(count, () => ({ ...event, location: { '@id': 'place' } })),
    ...times(count, (at) => ({ '@id': 'place', name: `Name ${at}` })),
  ],
  'events within events': (count) => [times(count, (at) => at).reduce<object>((inner) => ({ ...event, subEvent: inner }), event)],
};

it.each(Object.entries(SHAPES))('costs no more than in proportion: %s', async (_, shape) => {
  const pages = new Map<number, unknown[]>();
  const work = (count: number) => eventsIn(pages.get(count) ?? []);
  for (const count of [2000, 8000, 32_000]) pages.set(count, shape(count));
  const exponent = await exponentOf(work, { longest: 8000, floor: 100_000, confirmedAt: 4 });
  expect(exponent ?? 0).toBeLessThanOrEqual(MOST_EXPONENT);
});

it('takes over what is said, whatever it is called', () => {
  const said = JSON.parse('[{"@id":"one","@type":"Event","name":"A","__proto__":{"location":"B"}}]');
  expect(eventsIn([said])[0]?.location).toBeUndefined();
});
