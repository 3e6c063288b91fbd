import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { differencesOf } from '../../src/exchange/verify/compare.ts';
import { decisionOf } from '../../src/exchange/verify/decisions.ts';
import { describedMembers } from '../../src/exchange/verify/describe.ts';

const FOLDER = process.env.CONFORMANCE_RECORDINGS ?? join(dirname(fileURLToPath(import.meta.url)), '../fixtures/recordings');

// biome-ignore lint/suspicious/noExplicitAny: recordings hold bodies of every shape
type Json = any;

/** Returns the answer of the reference, which is recorded in full or as changes to our expectation. */
function referenceOf({ response, reference }: Json): { status: number; body: Json } {
  const { changes, ignore: _, ...rest } = reference;
  if (!changes) return { ...response, ...rest };
  const body = structuredClone(response.body);
  for (const [keys, ...value] of changes) {
    const parent = keys.slice(0, -1).reduce((object: Json, key: string) => object[key], body);
    if (value.length > 0) parent[keys.at(-1)] = value[0];
    else delete parent[keys.at(-1)];
  }
  return { ...response, ...rest, body };
}

const HOME = { home: 'http://127.0.0.1:8081', namespace: 'tribe/events/v1' };
const ROUTE = /\/wp-json\/tribe\/events\/v1\/([^?]*)$/;
const recordings = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.jsonl'))
  .flatMap((file) => readFileSync(join(FOLDER, file), 'utf8').trim().split('\n'))
  .map((line): Json => JSON.parse(line))
  .filter(
    ({ kind, reference, request, reduce, as, aside, unordered, why }) =>
      kind === 'read' &&
      reference &&
      request.method === 'GET' &&
      !reduce &&
      !aside &&
      !unordered &&
      [null, undefined, 'admin'].includes(as) &&
      /D\d/.test(why ?? '') &&
      ROUTE.test(request.path),
  )
  // Exclude parameters in brackets, requests that a comparison cannot make (IDs of invisible records), and lists
  // recorded as unordered.
  .filter(
    ({ request, name }) =>
      !/%5B/i.test(request.query ?? '') &&
      !/^events-list\/((venue|organizer)-0[4-6]|post_parent-9)|list-orderby-(count|parent|description)$/.test(name),
  );

describe('recorded differences from the reference', () => {
  it('exist', () => expect(recordings.length).toBeGreaterThan(20));
  it.each(recordings.map((recording) => [recording.name, recording] as const))('are classified as deliberate: %s', (_, recording) => {
    const [, route = ''] = ROUTE.exec(recording.request.path) ?? [];
    const query = Object.fromEntries(new URLSearchParams(recording.request.query ?? ''));
    const [before, after] = [referenceOf(recording), recording.response];
    const places =
      before.status === after.status
        ? differencesOf(before.body, after.body, { old: HOME, new: HOME }, query)
        : [{ path: 'status', old: before.status, new: after.status }];
    const rows = places.map(
      (place) =>
        decisionOf({ ...place, route: route.replace(/\/$/, ''), query }, { old: before, new: after }) ?? `not meant: ${place.path}`,
    );
    expect(rows.filter((row) => row.startsWith('not'))).toEqual([]);
  });
});

describe('date bounds in the URLs of lists', () => {
  const list = (end: string) => ({ rest_url: `${HOME.home}/wp-json/x/events/?page=1&start_date=2027-01-01 10:00:00&end_date=${end}` });
  const places = (query: Record<string, string>) =>
    differencesOf(list('2028-11-21 09:00:00'), list('2028-11-21 09:00:02'), { old: HOME, new: HOME }, query).map(({ path }) => path);
  it('are equal if they depend on the current time', () => {
    expect(places({})).toEqual([]);
    expect(places({ end_date: '+2 years' })).toEqual([]);
  });
  it('are different if they were requested', () => expect(places({ end_date: '2028-11-21 09:00:00' })).toEqual(['$.rest_url']));
});

describe('members that only Fasti shows', () => {
  const decided = (before: object, after: object, described?: { old: ReadonlySet<string>; new: ReadonlySet<string> }) => {
    const answers = { old: { status: 200, body: before }, new: { status: 200, body: after } };
    return differencesOf(before, after, { old: HOME, new: HOME }).map((place) =>
      decisionOf({ ...place, route: 'venues/1', query: {} }, answers, described),
    );
  };
  const full = { id: 1, external_id: 'x', language: 'it', geo_lat: 45.4 };
  const all = new Set(['external_id', 'language', 'geo_lat']);
  it('are deliberate where the other site does not know them', () => {
    expect(decided(full, { id: 1 }, { old: all, new: new Set() })).toEqual(['additions', 'additions', 'D27']);
    expect(decided({ id: 1 }, full, { old: new Set(), new: all })).toEqual(['additions', 'additions', 'D27']);
  });
  it('are lost where the other site knows them', () => {
    expect(decided(full, { id: 1 }, { old: all, new: all })).toEqual([undefined, undefined, undefined]);
    expect(decided({ id: 1 }, full, { old: all, new: new Set() })).toEqual([undefined, undefined, undefined]);
  });
  it('are different places if their numbers are', () => {
    expect(decided({ id: 1, geo_lat: '45.40' }, { id: 1, geo_lat: 45.4 })).toEqual(['D27']);
    expect(decided({ id: 1, geo_lat: 45.4 }, { id: 1, geo_lat: 9.2 })).toEqual([undefined]);
  });
  it('are read from the description of a site', () => {
    const routes = { '/x/venues': { endpoints: [{ args: { page: {} } }, { args: { external_id: {}, language: {} } }] } };
    expect([...describedMembers({ routes })]).toEqual(['page', 'external_id']);
    const languages = { available: [{ code: 'it' }] };
    expect([...describedMembers({ routes, languages })].sort()).toEqual(['external_id', 'language', 'page', 'translations']);
    expect([...describedMembers('?')]).toEqual([]);
  });
});

describe('languages of records', () => {
  const event = { id: 1, title: 'Jazz', venue: { id: 2 } };
  const spoken = { language: 'it', translations: { it: { id: 1 } } };
  const decided = (before: object, after: object) => {
    const answers = { old: { status: 200, body: before }, new: { status: 200, body: after } };
    return differencesOf(before, after, { old: HOME, new: HOME }).map((place) =>
      decisionOf({ ...place, route: 'events/1', query: {} }, answers),
    );
  };
  it('are additions if only one of two sites states them', () => {
    const after = { ...event, ...spoken, venue: { ...event.venue, ...spoken } };
    expect(decided(event, after)).toEqual(['additions', 'additions', 'additions', 'additions']);
    expect(decided(after, event)).toEqual(['additions', 'additions', 'additions', 'additions']);
  });
  it('are compared if both sites state them', () =>
    expect(decided({ ...event, ...spoken }, { ...event, ...spoken, language: 'en' })).toEqual([undefined]));
});

describe('cost that two sites show differently', () => {
  const told = (cost: string, values: readonly string[], price: string) => ({
    id: 1,
    cost,
    cost_details: { values },
    json_ld: { offers: { price } },
  });
  const decided = (before: object, after: object) => {
    const answers = { old: { status: 200, body: before }, new: { status: 200, body: after } };
    const places = differencesOf(before, after, { old: HOME, new: HOME });
    return [...new Set(places.map((place) => decisionOf({ ...place, route: 'events/1', query: {} }, answers)))];
  };
  it.each([
    ['a list', told('Free', ['10,20', ',30'], '0'), told('$10 – $30', ['10', '20', '30'], '10 – 30')],
    ['thousands and cents', told('$1.000', [',50', '1.000'], '1.000'), told('$1.000,50', ['1000.50'], '1000.50')],
    ['thousands and a point', told('$0.75 – $1', ['1,500', '.75'], '0.75'), told('$1,500.75', ['1500.75'], '1500.75')],
    ['lakhs', told('Free', ['1,00', ',000'], '0'), told('₹1,00,000', ['100000'], '100000')],
    ['cents behind a comma', told('Free', ['10,50'], '0'), told('€10,50', ['10.50'], '10.50')],
    ['cents that are none', told('$10', ['10'], '10'), told('$10.00', ['10.00'], '10.00')],
    ['words', told('By donation', ['By donation'], 'By donation'), told('By donation', ['by-donation'], 'By donation')],
  ])('is a deliberate difference: %s', (_, before, after) => {
    expect(decided(before, after)).toEqual(['D37']);
    expect(decided(after, before)).toEqual(['D37']);
  });
  const range = told('$20 – $35', ['20', '35'], '20 – 35');
  it.each([
    ['all of it', range, told('$25 – $99', ['25', '99'], '25 – 99')],
    ['its cost alone', range, { ...range, cost: '$25 – $99' }],
    ['its values alone', range, { ...range, cost_details: { values: ['20', '99'] } }],
    ['its offer alone', range, { ...range, json_ld: { offers: { price: '99' } } }],
    ['one amount more', told('$20', ['20'], '20'), told('$20 – $99', ['20', '99'], '20 – 99')],
    ['one amount less', range, told('$20', ['20'], '20')],
    ['a digit twice', told('$5', ['5'], '5'), told('$55', ['55'], '55')],
    ['ten times as much', told('$10', ['10'], '10'), told('$100', ['100'], '100')],
    ['a thousand times as much', told('$1', ['1'], '1'), told('$1000', ['1000'], '1000')],
    ['nothing', told('Free', ['0'], '0'), told('$10', ['10'], '10')],
    ['nothing in words', told('Free', ['10'], '10'), told('$10', ['10'], '10')],
    ['other words', told('By donation', ['by-donation'], '0'), told('Sold out', ['sold-out'], '0')],
  ])('is a different price: %s', (_, before, after) => {
    expect(decided(before, after)).toEqual([undefined]);
    expect(decided(after, before)).toEqual([undefined]);
  });
});
