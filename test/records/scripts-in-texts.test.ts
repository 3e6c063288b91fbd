import { expect, it } from '@jest/globals';
import { postKinds } from '../../src/kinds/index.ts';
import type { PostKind } from '../../src/kinds/kind.ts';
import { describeRequests } from '../support/site-client.ts';

/*
 * A user without the capability to write scripts cannot store one in any row, whichever field it is sent in, including
 * fields that are copied from one meta into another and parameters that are not fields. `npm run attacks -- xss` opens
 * the same texts in a browser.
 */

const SCRIPT = '<img src=x onerror=alert(1)>Text';
const NEW: Readonly<Record<PostKind['name'], Record<string, string>>> = {
  event: { title: 'New', start_date: '2031-05-01 10:00', end_date: '2031-05-01 12:00' },
  venue: { venue: 'New' },
  organizer: { organizer: 'New' },
};
const FIELDS = postKinds.flatMap((kind) =>
  [...Object.keys(kind.fields), ...Object.keys(kind.extraMetas)].map((field) => [kind.path, field, kind] as const),
);
const DATES = { _EventStartDate: '2031-05-01 10:00:00', _EventEndDate: '2031-05-01 12:00:00' };
const ADDRESSES = postKinds.flatMap(({ postType }) =>
  ['_EventURL', '_VenueURL', '_OrganizerWebsite'].map((key) => [postType, key] as const),
);

describeRequests('script in a text', (ask) => {
  const rowsWithIt = async (id: number): Promise<unknown[]> => [
    ...(await ask.db().from('posts').where('ID', id)),
    ...(await ask.db().from('postmeta').where('post_id', id)),
  ];

  it.each(FIELDS)('in %s, field %s, is not stored on creation and change', async (path, field, kind) => {
    const created = await ask.post(`/${path}`, { ...NEW[kind.name], [field]: SCRIPT }, 'contrib');
    const { id } = created.status === 201 ? created.body : await ask.create(`/${path}`, NEW[kind.name], 'contrib');
    const changed = await ask.patch(`/${path}/${id}`, { [field]: SCRIPT }, 'contrib');
    expect([200, 400, 403]).toContain(changed.status);
    expect(JSON.stringify(await rowsWithIt(id))).not.toMatch(/onerror/);
    expect(JSON.stringify(await ask.read(`/${path}/${id}`, 'contrib'))).not.toMatch(/onerror/);
  });

  it.each(ADDRESSES)('in %s, meta %s, is refused as a URL, and quotes in a URL are escaped', async (type, key) => {
    const write = (address: string) =>
      ask.send('POST', `/wp-json/wp/v2/${type}`, {
        body: { title: 'New', status: 'publish', meta: { ...DATES, [key]: address } },
        as: 'auth',
      });
    expect((await write('javascript:alert(1)')).status).toBe(400);
    const { status, body } = await write(`https://example.org/'onclick='alert(1)"`);
    expect({ status, stored: await ask.metaValues(body.id, key) }).toEqual({
      status: 201,
      stored: ['https://example.org/%27onclick=%27alert(1)'],
    });
  });
});
