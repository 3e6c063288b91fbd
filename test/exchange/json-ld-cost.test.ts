import { describe, expect, it } from '@jest/globals';
import { eventsIn } from '../../src/exchange/json-ld/nodes.ts';
import { scheduledTimes } from '../../src/exchange/json-ld/schedule.ts';
import { parseZone } from '../../src/wordpress/zones.ts';
import { MAX_EXPONENT, measureCostRatio, measureGrowthExponent } from '../support/growth.ts';

/*
 * A foreign page may contain any number of nodes about one thing or about things with one ID. Merging them takes at
 * most time proportional to the size of the page.
 */

const times = <Made>(count: number, make: (at: number) => Made): Made[] => Array.from({ length: count }, (_, at) => make(at));
const event = { '@type': 'Event', name: 'Concert' };
/** More members than are copied into another node, so that the result grows only with the page. */
const large = (count: number) => Object.fromEntries(times(count, (at) => [`member${at}`, at]));

/** Cost in microseconds below which work on the longest page is harmless. */
const FLOOR = 100_000;
/** Pages that say 500 times as much may cost this many times as much: reading them takes time, too. */
const HIGHEST_RATIO = 20;

/** Pages by shape, made of the given number of nodes. */
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

it.each(Object.entries(SHAPES))('reading a page takes at most proportional time: %s', async (_, shape) => {
  const pages = new Map<number, unknown[]>();
  const work = (count: number) => eventsIn(pages.get(count) ?? []);
  for (const count of [2000, 8000, 32_000]) pages.set(count, shape(count));
  const exponent = await measureGrowthExponent(work, { longest: 8000, floor: FLOOR, confirmationFactor: 4 });
  expect(exponent ?? 0).toBeLessThanOrEqual(MAX_EXPONENT);
});

/** Pages that refer to one node repeatedly, or repeat its content. */
const REFERENCES: Readonly<Record<string, (count: number) => unknown[]>> = {
  'places of one event': (count) => [{ ...event, location: times(count, () => ({ '@id': 'one' })) }],
  'places that say something of their own': (count) => [{ ...event, location: times(count, () => ({ '@id': 'one', url: 'a' })) }],
  'places of many events': (count) => times(count, () => ({ ...event, location: { '@id': 'one', url: 'a' } })),
  'places with another name each': (count) => [
    { ...event, location: times(count, (at) => ({ '@id': 'one', name: `Name ${at}` })) },
    ...times(count, (at) => ({ '@id': 'one', name: `Name ${at}` })),
  ],
};

it.each(Object.entries(REFERENCES))('the cost of references does not depend on the size of the node: %s', async (_, shape) => {
  const references = shape(30_000);
  const pageWith = (count: number) => [...references, { '@id': 'one', ...large(count) }];
  const [short, long] = [pageWith(1), pageWith(500)];
  const ratio = await measureCostRatio({
    work: () => eventsIn(long),
    reference: () => eventsIn(short),
    limit: HIGHEST_RATIO,
    floor: FLOOR,
  });
  expect(ratio).toBeLessThanOrEqual(HIGHEST_RATIO);
});

describe('cost of recurring events', () => {
  const timesOf = (node: Record<string, unknown>) =>
    scheduledTimes({ ...event, ...node }, { site: parseZone('Europe/Rome')!, now: '2026-11-21 09:00:00', limit: 2000 });
  const daily = (at: number) => ({ startDate: '2026-12-01', startTime: `12:${10 + (at % 50)}`, repeatFrequency: 'P1D' });
  const schedules = (count: number) => ({ eventSchedule: times(count, daily) });
  const weeks = (count: number) => ({ ...daily(0), byDay: times(count, () => 'Monday'), byMonthWeek: times(count, () => 1) });

  it.each([
    ['many schedules than for a few', schedules(20_000), schedules(4)],
    ['an event with many members', { ...large(20_000), eventSchedule: daily(0) }, { ...large(1), eventSchedule: daily(0) }],
    ['many weeks and days of months', { eventSchedule: weeks(2000) }, { eventSchedule: weeks(1) }],
  ])('is not much higher for %s', async (_, long, short) => {
    const ratio = await measureCostRatio({
      work: () => timesOf(long),
      reference: () => timesOf(short),
      limit: HIGHEST_RATIO,
      floor: FLOOR,
    });
    expect(ratio).toBeLessThanOrEqual(HIGHEST_RATIO);
  });
});

it('ignores a member called __proto__', () => {
  const said = JSON.parse('[{"@id":"one","@type":"Event","name":"A","__proto__":{"location":"B"}}]');
  expect(eventsIn([said])[0]?.location).toBeUndefined();
});
