import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { DomUtils } from 'htmlparser2';
import { elements, formIn, openVisitor } from '../support/desk-visitor.ts';
import type { Answer } from '../support/running-site.ts';
import { describeRequests } from '../support/site-client.ts';

/** A geocoder that gives the answers of a test and records the requests. */
const geocoder = { status: 200, body: '', asked: [] as { address: string | null; agent: string; language: string }[] };
const server = createServer((req, res) => {
  const { searchParams } = new URL(req.url ?? '/', 'http://localhost');
  const { 'user-agent': agent = '', 'accept-language': language = '' } = req.headers;
  geocoder.asked.push({ address: searchParams.get('q'), agent, language });
  res.writeHead(geocoder.status, { 'Content-Type': 'application/json', Location: '/elsewhere' }).end(geocoder.body);
});
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
afterAll(() => void server.close());

const NOMINATIM = [
  { lat: '43.4663', lon: '11.8829', display_name: 'Piazza Grande, Arezzo' },
  { lat: '1', lon: '2', display_name: 'Elsewhere' },
];
const GEOJSON = {
  type: 'FeatureCollection',
  features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [11.8829, 43.4663, 296] }, properties: { name: 'Piazza Grande' } }],
};

const answering = (body: unknown, status = 200) =>
  Object.assign(geocoder, { status, body: typeof body === 'string' ? body : JSON.stringify(body) });
const noticeOf = ({ text }: Answer) => /<p class="notice notice-(\w+)"[^>]*>([^<]*)/.exec(text)?.slice(1);
const fieldsOf = (page: Answer, action: string) => Object.fromEntries(formIn(page.text, action));

describeRequests(
  'the coordinates of an address',
  (ask) => {
    const NEW = '/admin/venues/new';
    const TYPED = { venue: 'Fair', address: 'Piazza Grande', city: 'Arezzo', zip: '52100' };
    beforeEach(() => {
      geocoder.asked = [];
      answering(NOMINATIM);
    });

    it.each([
      ['a list of places', NOMINATIM, 'Found: Piazza Grande, Arezzo. Latitude and longitude are filled in; save to keep them.'],
      ['GeoJSON', GEOJSON, 'Found: Piazza Grande. Latitude and longitude are filled in; save to keep them.'],
    ])('are filled in from %s, and saved with the form', async (_, body, notice) => {
      answering(body);
      const admin = await openVisitor(ask, 'admin');
      const before = (await ask.allRows()).posts?.length;
      const page = await admin.submit(await admin.get(NEW), NEW, { ...TYPED, locate: '1' });
      expect([page.status, noticeOf(page)]).toEqual([200, ['good', notice]]);
      expect(fieldsOf(page, NEW)).toMatchObject({ ...TYPED, geo_lat: '43.4663', geo_lng: '11.8829' });
      expect((await ask.allRows()).posts?.length).toBe(before);
      expect(geocoder.asked).toEqual([{ address: 'Piazza Grande, 52100, Arezzo', agent: expect.stringMatching(/^Fasti/), language: 'en' }]);
      const saved = await admin.submit(page, NEW);
      const id = Number(/venues\/(\d+)/.exec(String(saved.headers.location))?.[1]);
      expect(await ask.read(`/venues/${id}`)).toMatchObject({ geo_lat: 43.4663, geo_lng: 11.8829, address: 'Piazza Grande' });
    });

    it.each([
      ['nothing is found', [], 200, 'No place was found for this address'],
      ['nothing is found', { type: 'FeatureCollection', features: [] }, 200, 'No place was found for this address'],
      ['it fails', NOMINATIM, 500, 'does not answer at the moment'],
      ['it leads elsewhere', NOMINATIM, 302, 'does not answer at the moment'],
      ['it is no JSON', '<html>', 200, 'does not answer at the moment'],
      ['it is JSON of another kind', { error: 'no' }, 200, 'does not answer at the moment'],
      ['the place has no coordinates', [{ lat: null, lon: null, display_name: 'Nowhere' }], 200, 'does not answer at the moment'],
      ['the coordinates are no numbers', [{ lat: '43,4', lon: '', display_name: 'Nowhere' }], 200, 'does not answer at the moment'],
      ['the place is nowhere on Earth', [{ lat: '91', lon: '0', display_name: '' }], 200, 'does not answer at the moment'],
    ])('stay as they are if %s', async (_, body, status, notice) => {
      answering(body, status);
      const admin = await openVisitor(ask, 'admin');
      const page = await admin.submit(await admin.get(NEW), NEW, { ...TYPED, geo_lat: '1.5', geo_lng: '2.5', locate: '1' });
      expect([page.status, noticeOf(page)]).toEqual([200, ['wrong', expect.stringContaining(notice)]]);
      expect(fieldsOf(page, NEW)).toMatchObject({ ...TYPED, geo_lat: '1.5', geo_lng: '2.5' });
      expect(geocoder.asked).toHaveLength(1);
    });

    it('are not looked up without an address, or in forms without coordinates', async () => {
      const admin = await openVisitor(ask, 'admin');
      const page = await admin.submit(await admin.get(NEW), NEW, { venue: 'Fair', locate: '1' });
      expect(noticeOf(page)).toEqual(['wrong', 'Fill in the address first.']);
      const organizer = '/admin/organizers/new';
      const saved = await admin.submit(await admin.get(organizer), organizer, { organizer: 'Someone', locate: '1' });
      expect(saved.status).toBe(303);
      expect(geocoder.asked).toEqual([]);
    });

    it('are written as numbers that the form accepts, however small they are', async () => {
      answering([{ lat: 1e-9, lon: -0.12345678, display_name: 'Null Island' }]);
      const admin = await openVisitor(ask, 'admin');
      const page = await admin.submit(await admin.get(NEW), NEW, { ...TYPED, locate: '1' });
      expect(fieldsOf(page, NEW)).toMatchObject({ geo_lat: '0', geo_lng: '-0.123457' });
      expect((await admin.submit(page, NEW)).status).toBe(303);
    });

    it('come with the name of the place, whose markup is escaped', async () => {
      answering([{ lat: 1, lon: 2, display_name: '<script>alert(1)</script>' }]);
      const admin = await openVisitor(ask, 'admin');
      const page = await admin.submit(await admin.get(NEW), NEW, { ...TYPED, locate: '1' });
      expect(page.text).toContain('&lt;script>');
      expect(page.text).not.toContain('<script>alert');
    });

    it('are not looked up by the Enter key, which saves the form with its first button', async () => {
      const admin = await openVisitor(ask, 'admin');
      const [form] = elements((await admin.get(NEW)).text, ({ attribs }) => attribs.action === NEW);
      const buttons = DomUtils.findAll(({ name, attribs }) => name === 'button' && attribs.type === 'submit', form?.children ?? []);
      expect(buttons.map(({ attribs }) => attribs.name)).toEqual([undefined, 'locate', undefined]);
    });
  },
  { GEOCODER_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/search?format=jsonv2&q={address}` },
);

describeRequests('a site without a geocoder', (ask) => {
  it("has no button for it, and saves the form if the button's value is sent", async () => {
    const admin = await openVisitor(ask, 'admin');
    const path = '/admin/venues/new';
    const page = await admin.get(path);
    expect(elements(page.text, ({ attribs }) => attribs.name === 'locate')).toEqual([]);
    expect((await admin.submit(page, path, { venue: 'Fair', city: 'Arezzo', locate: '1' })).status).toBe(303);
  });
});
