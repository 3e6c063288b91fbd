import { expect, it } from '@jest/globals';
import { describeRequests, expectBody, type Json } from '../support/site-client.ts';

const CORE = '/wp-json/wp/v2';

describeRequests('dates of wp/v2 that are sent back', (ask) => {
  const patch = async (path: string, body: Json): Promise<Json> =>
    expectBody(await ask.send('PATCH', `${CORE}/${path}`, { as: 'admin', body }));
  const dateColumns = async (id: number) => {
    const rows: Json[] = [];
    await ask.writeRows(async (db) => {
      rows.push(...(await db.from('posts').where('ID', id).select('post_date', 'post_date_gmt')));
    });
    return rows[0];
  };

  it('leave a draft without a date of its own if its date is sent back', async () => {
    const { id, date } = expectBody(await ask.send('POST', `${CORE}/tribe_venue`, { as: 'admin', body: { title: 'New hall' } }), 201);
    await patch(`tribe_venue/${id}`, { title: 'Other hall', date });
    expect(await dateColumns(id)).toMatchObject({ post_date_gmt: '0000-00-00 00:00:00' });
    await patch(`tribe_venue/${id}`, { date: '2026-01-02T03:04:05' });
    expect(await dateColumns(id)).toEqual({ post_date: '2026-01-02 03:04:05', post_date_gmt: '2026-01-02 02:04:05' });
  });

  it.each(['tribe_venue/12', 'media/10'])('leave the dates of %s as they are after the zone of the site has changed', async (path) => {
    const id = Number(path.split('/')[1]);
    const before = await dateColumns(id);
    const { date, date_gmt } = expectBody(await ask.send('GET', `${CORE}/${path}`));
    await ask.options({ timezone_string: 'America/New_York' });
    await patch(path, { date_gmt });
    expect(await dateColumns(id)).toEqual(before);
    await patch(path, { date, date_gmt });
    expect(await dateColumns(id)).toEqual(before);
    await patch(path, { date: null });
    expect(await dateColumns(id)).not.toEqual(before);
  });
});
