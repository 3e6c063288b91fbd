import { describe, expect, it } from '@jest/globals';
import { kinds, postKind } from '../../src/kinds/index.ts';
import { nearestName } from '../../src/kinds/nearest-name.ts';
import { unknownFields } from '../../src/records/unknown-fields.ts';
import { describeRequests, ROOT } from '../support/site-client.ts';

const EVENT = { title: 'New', start_date: '2027-01-01 10:00', end_date: '2027-01-01 11:00' };
const HEADER = 'x-fasti-warning';

describe('nearestName', () => {
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
  ])('finds for %j the field %j', (name, near) => expect(nearestName(name, known)).toBe(near));
});

describe.each(kinds.map((kind) => [kind.name, kind] as const))('unknown fields of a kind (%s)', (_, kind) => {
  it('do not include fields of the kind or members of its records', () => {
    const shown = 'shape' in kind.record ? Object.keys(kind.record.shape as object) : [];
    expect(shown.length).toBeGreaterThan(5);
    const raw = Object.fromEntries([...Object.keys(kind.fields), ...shown, '_links'].map((name) => [name, 1]));
    expect(unknownFields(kind, kind.fields, raw)).toEqual([]);
  });
  it('are limited to ten names', () => {
    const raw = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`unknown${at}`, 1]));
    expect(unknownFields(kind, kind.fields, raw)).toHaveLength(10);
  });
});

describeRequests('warning about an unknown field', (ask) => {
  const warningOf = async (body: object, path = '/events') => (await ask.post(path, body as Record<string, unknown>)).headers[HEADER];

  it('is a header that suggests the nearest field', async () =>
    expect(await warningOf({ ...EVENT, titel: 'x', colour: 'red' })).toBe(
      'unknown field: titel (did you mean title?), unknown field: colour',
    ));
  it('is also part of an error response', async () => {
    const { status, headers } = await ask.post('/events', { titel: 'x' });
    expect([status, headers[HEADER]]).toEqual([400, 'unknown field: titel (did you mean title?)']);
  });
  it('covers fields of a nested new record', async () =>
    expect(await warningOf({ ...EVENT, venue: { venue: 'Barn', citty: 'Asti' } })).toBe('unknown field: venue.citty (did you mean city?)'));
  it('is in the language of the caller', async () =>
    expect(await warningOf({ ...EVENT, titel: 'x', lang: 'it' })).toBe('campo sconosciuto: titel (forse intendevi title?)'));
  it.each(['tags', 'categories', 'venues', 'organizers'])('is also given by %s', async (path) =>
    expect(await warningOf({ slgu: 'x' }, `/${path}`)).toMatch(/^unknown field: slgu/),
  );

  it('is also given by the routes of webhooks', async () => {
    const send = (method: string, path: string, body: object) => ask.send(method, `${ROOT}${path}`, { as: 'admin', body });
    const added = await send('POST', '/webhooks', { url: 'http://10.0.0.1/hook', kind: 'event' });
    expect([added.status, added.headers[HEADER]]).toEqual([201, 'unknown field: kind (did you mean kinds?)']);
    const { secret: _, ...hook } = added.body;
    const changed = await send('PUT', `/webhooks/${hook.id}`, hook);
    expect([changed.status, changed.headers[HEADER]]).toEqual([200, undefined]);
  });

  it('cannot inject other headers', async () => {
    const name = 'a\r\nSet-Cookie: x=1, b\u0000\u{1F600}è';
    const { status, headers } = await ask.post('/events', { ...EVENT, [name]: 1, ['y'.repeat(5000)]: 1 });
    expect([status, headers['set-cookie']]).toEqual([201, undefined]);
    const told = String(headers[HEADER]).split(', ');
    expect(told).toHaveLength(2);
    for (const warning of told) expect(warning).toMatch(/^[\x20-\x7e]{1,100}$/);
  });
  it('is omitted for reads and for records that are sent back unchanged', async () => {
    expect((await ask.get('/events?titel=x')).headers[HEADER]).toBeUndefined();
    const { categories: _, tags: __, venue: ___, organizer: ____, image: _____, ...read } = await ask.read('/events/38');
    const { status, headers } = await ask.put('/events/38', read);
    expect([status, headers[HEADER]]).toEqual([200, undefined]);
  });
  it('is omitted by wp/v2, whose clients send more fields than the API knows', async () => {
    const { headers } = await ask.send('POST', '/wp-json/wp/v2/tribe_events', { as: 'admin', body: { title: 'x', titel: 'x' } });
    expect(headers[HEADER]).toBeUndefined();
  });
  it.each([ROOT, '/wp-json/wp/v2'])('names a parent below the category itself, which counts as none, in %s', async (root) => {
    const path = root === ROOT ? 'categories' : 'tribe_events_cat';
    const made = async (name: string, parent: number) => (await ask.create('/categories', { name, parent })).id;
    const top = await made('Top', 0);
    const child = await made('Child', await made('Middle', top));
    const move = (parent: number) => ask.send('POST', `${root}/${path}/${top}`, { as: 'admin', body: { parent } });
    const { status, body, headers } = await move(child);
    expect([status, body.parent]).toEqual([200, 0]);
    expect(headers[HEADER]).toBe('parent: it is below this category itself; the category is now at the top level');
    expect((await move(0)).headers[HEADER]).toBeUndefined();
    expect((await move(await made('Other', 0))).headers[HEADER]).toBeUndefined();
  });
  it('is exposed to cross-origin scripts', async () => {
    const { headers } = await ask.send('GET', `${ROOT}/events`, {});
    expect(headers['access-control-expose-headers']).toContain('X-Fasti-Warning');
  });
});
