import { describe, expect, it } from '@jest/globals';
import { kinds, postKind } from '../../src/kinds/index.ts';
import { nearestName } from '../../src/kinds/nearest-name.ts';
import { unknownFields } from '../../src/records/unknown-fields.ts';
import { describeAsking, ROOT } from '../support/asking.ts';

const EVENT = { title: 'New', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' };
const HEADER = 'x-fasti-warning';

describe('the nearest name', () => {
  const known = Object.keys(postKind('event').fields);
  it.each([
    ['titel', 'title'],
    ['tittle', 'title'],
    ['startdate', 'start_date'],
    ['start-date', 'start_date'],
    ['startDate', 'start_date'],
    ['catgories', 'categories'],
    ['organiser', 'organizer'],
    ['colour', undefined],
    ['x', undefined],
    ['', undefined],
    ['title'.repeat(1000), undefined],
  ])('of %j is %j', (name, near) => expect(nearestName(name, known)).toBe(near));
});

describe.each(kinds.map((kind) => [kind.name, kind] as const))('a write of a kind (%s)', (_, kind) => {
  it('knows every field, and every member that records show', () => {
    const shown = 'shape' in kind.record ? Object.keys(kind.record.shape as object) : [];
    expect(shown.length).toBeGreaterThan(5);
    const raw = Object.fromEntries([...Object.keys(kind.fields), ...shown, '_links'].map((name) => [name, 1]));
    expect(unknownFields(kind, kind.fields, raw)).toEqual([]);
  });
  it('names ten unknown names at most', () => {
    const raw = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`unknown${at}`, 1]));
    expect(unknownFields(kind, kind.fields, raw)).toHaveLength(10);
  });
});

describeAsking('a field that does not exist', (ask) => {
  const warningOf = async (body: object, path = '/events') => (await ask.post(path, body as Record<string, unknown>)).headers[HEADER];

  it('is named beside the answer, with the field that may be meant', async () =>
    expect(await warningOf({ ...EVENT, titel: 'x', colour: 'red' })).toBe(
      'unknown field: titel (did you mean title?), unknown field: colour',
    ));
  it('is named beside a refusal', async () => {
    const { status, headers } = await ask.post('/events', { titel: 'x' });
    expect([status, headers[HEADER]]).toEqual([400, 'unknown field: titel (did you mean title?)']);
  });
  it('is named within a new record that another one brings along', async () =>
    expect(await warningOf({ ...EVENT, venue: { venue: 'Barn', citty: 'Asti' } })).toBe('unknown field: venue.citty (did you mean city?)'));
  it('is named in the language of the caller', async () =>
    expect(await warningOf({ ...EVENT, titel: 'x', lang: 'it' })).toBe('campo sconosciuto: titel (forse intendevi title?)'));
  it.each(['tags', 'categories', 'venues', 'organizers'])('is named by %s too', async (path) =>
    expect(await warningOf({ slgu: 'x' }, `/${path}`)).toMatch(/^unknown field: slgu/),
  );

  it('cannot put anything else into the headers', async () => {
    const name = 'a\r\nSet-Cookie: x=1, b\u0000\u{1F600}è';
    const { status, headers } = await ask.post('/events', { ...EVENT, [name]: 1, ['y'.repeat(5000)]: 1 });
    expect([status, headers['set-cookie']]).toEqual([201, undefined]);
    const told = String(headers[HEADER]).split(', ');
    expect(told).toHaveLength(2);
    for (const warning of told) expect(warning).toMatch(/^[\x20-\x7e]{1,100}$/);
  });
  it('is passed over in silence where nothing is written, and in records that are sent back', async () => {
    expect((await ask.get('/events?titel=x')).headers[HEADER]).toBeUndefined();
    const { categories: _, tags: __, venue: ___, organizer: ____, image: _____, ...read } = await ask.read('/events/38');
    const { status, headers } = await ask.put('/events/38', read);
    expect([status, headers[HEADER]]).toEqual([200, undefined]);
  });
  it('is not reported by the routes of WordPress, whose clients send more than these know', async () => {
    const { headers } = await ask.send('POST', '/wp-json/wp/v2/tribe_events', { as: 'admin', body: { title: 'x', titel: 'x' } });
    expect(headers[HEADER]).toBeUndefined();
  });
  it('may be read by scripts of other pages', async () => {
    const { headers } = await ask.send('GET', `${ROOT}/events`, {});
    expect(headers['access-control-expose-headers']).toContain('X-Fasti-Warning');
  });
});
