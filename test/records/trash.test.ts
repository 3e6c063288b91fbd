import { expect, it } from '@jest/globals';
import { formIn, openVisitor } from '../support/desk-visitor.ts';
import { describeRequests, expectBody } from '../support/site-client.ts';

const EVENT = { title: 'Harvest fair', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const KINDS = [
  ['/events', EVENT],
  ['/venues', { venue: 'Old barn' }],
  ['/organizers', { organizer: 'Old farmers' }],
] as const;
const TRASH_METAS = ['_wp_trash_meta_status', '_wp_trash_meta_time', '_wp_desired_post_slug', '_tribe_ignored_event_previous_status'];

describeRequests('records in the trash', (ask) => {
  const restore = async (path: string, id: number) => {
    const anna = await openVisitor(ask, 'admin');
    const nonce = new Map(formIn((await anna.get(`/admin${path}`)).text, `/admin${path}/bulk`)).get('_wpnonce')!;
    await anna.post(`/admin${path}/${id}/restore`, { _wpnonce: nonce });
    return ask.read(`${path}/${id}`, 'admin');
  };
  const stored = (id: number) => ask.db().from('posts').where('ID', id).first();
  const trashMetas = async (id: number) => {
    const values = await Promise.all(TRASH_METAS.map((key) => ask.metaValues(id, key)));
    return Object.fromEntries(TRASH_METAS.flatMap((key, index) => (values[index]!.length > 0 ? [[key, values[index]!.join()]] : [])));
  };
  const metasOf = (path: string, status: string, time: number, slug: string) => ({
    _wp_trash_meta_status: status,
    _wp_trash_meta_time: String(time),
    _wp_desired_post_slug: slug,
    ...(path === '/events' ? { _tribe_ignored_event_previous_status: status } : {}),
  });

  it.each(KINDS)('D1 keep their date of publication if it was missing in UTC: %s', async (path, values) => {
    const dates = { post_date: '2021-03-04 10:00:00', post_date_gmt: '2021-03-04 09:00:00' };
    const { id } = await ask.create(path, values);
    const lose = () =>
      ask.writeRows((db) =>
        db
          .from('posts')
          .where('ID', id)
          .update({ ...dates, post_date_gmt: '0000-00-00 00:00:00' }),
      );
    await lose();
    await ask.update(`${path}/${id}`, { description: 'Changed' });
    expect(await stored(id)).toMatchObject({ ...dates, post_status: 'publish' });
    await lose();
    expectBody(await ask.del(`${path}/${id}`));
    expect(await stored(id)).toMatchObject({ ...dates, post_status: 'trash' });
    await lose();
    expect(await restore(path, id)).toMatchObject({ status: 'publish' });
    expect(await stored(id)).toMatchObject({ ...dates, post_status: 'publish' });
  });

  it.each(KINDS)('remember the status that they were deleted with, and nothing once they have left it: %s', async (path, values) => {
    const { id, slug } = await ask.create(path, values);
    const time = Date.parse('2026-11-20T12:00:00Z') / 1000;
    expectBody(await ask.del(`${path}/${id}`));
    expect(await trashMetas(id)).toEqual(metasOf(path, 'publish', time, slug));
    await ask.update(`${path}/${id}`, { status: 'draft' });
    expect(await trashMetas(id)).toEqual({});
    await ask.update(`${path}/${id}`, { status: 'trash' });
    expect(await trashMetas(id)).toEqual({ _wp_desired_post_slug: slug });
    expect(await restore(path, id)).toMatchObject({ status: 'draft', slug });
    expect(await trashMetas(id)).toEqual({});
  });

  it.each(['restored', 'published'])('get their comments back if WordPress trashed them: %s', async (way) => {
    const { id } = await ask.create('/events', EVENT);
    const time = '2026-11-20 10:00:00';
    const comment = { comment_content: 'Fine', comment_date: time, comment_date_gmt: time, comment_author: 'Eva' };
    const [own, waiting, ofOther] = [7001, 7002, 7003];
    const statuses = async () =>
      (await ask.db().from('comments').whereIn('comment_ID', [own, waiting, ofOther]).orderBy('comment_ID')).map(
        ({ comment_approved: status }) => status,
      );
    await ask.writeRows(async (db) => {
      const rows = [own, waiting, ofOther].map((comment_ID) => ({
        ...comment,
        comment_ID,
        comment_post_ID: comment_ID === ofOther ? 38 : id,
        comment_approved: 'post-trashed',
      }));
      await db.from('comments').whereIn('comment_ID', [own, waiting, ofOther]).delete();
      await db.from('comments').insert(rows);
      // As `wp_trash_post` and `wp_trash_post_comments` write them.
      await db.from('posts').where('ID', id).update({ post_status: 'trash', post_name: 'harvest-fair__trashed' });
      const statuses = 'a:4:{i:7001;s:1:"1";i:7002;s:12:"post-trashed";i:7003;s:1:"1";s:1:"x";s:1:"1";}';
      await db.from('postmeta').insert([
        { post_id: id, meta_key: '_wp_trash_meta_status', meta_value: 'publish' },
        { post_id: id, meta_key: '_wp_trash_meta_comments_status', meta_value: statuses },
      ]);
    });
    if (way === 'restored') await restore('/events', id);
    else await ask.update(`/events/${id}`, { status: 'publish' });
    expect(await statuses()).toEqual(['1', '0', 'post-trashed']);
    expect(await ask.metaValues(id, '_wp_trash_meta_comments_status')).toEqual([]);
  });

  it('are drafts without a slug again, however many of them were in the trash', async () => {
    const drafts = [];
    for (const title of ['One', 'Two', 'Three']) drafts.push((await ask.create('/events', { ...EVENT, title, status: 'draft' })).id);
    for (const id of drafts) await ask.del(`/events/${id}`);
    for (const id of drafts) expect(await restore('/events', id)).toMatchObject({ status: 'draft', slug: '' });
  });

  it('forget their former status when an upsert restores them', async () => {
    const values = { ...EVENT, external_id: 'fair' };
    const { id } = await ask.create('/events', values);
    expectBody(await ask.del(`/events/${id}`));
    expect(expectBody(await ask.post('/events?upsert=external_id', values))).toMatchObject({ id, status: 'publish', slug: 'harvest-fair' });
    expect(await trashMetas(id)).toEqual({});
  });

  it.each([
    ['/venues', 'venue', 'city'],
    ['/organizers', 'organizer', 'phone'],
  ] as const)('are restored when an event brings them along by their external ID: %s', async (path, name, field) => {
    const { id, slug } = await ask.create(path, { [name]: 'Barn', external_id: 'barn' });
    expectBody(await ask.del(`${path}/${id}`));
    const linked = { [name]: 'Barn', external_id: 'barn', [field]: '555 123' };
    const event = await ask.create('/events', { ...EVENT, [name]: linked });
    expect([event[name]].flat()).toMatchObject([{ id, slug, status: 'publish', [field]: '555 123' }]);
    expect(await trashMetas(id)).toEqual({});
    expectBody(await ask.del(`${path}/${id}`));
    const update = await ask.update(`/events/${event.id}`, { [name]: { ...linked, status: 'private' } });
    expect([update[name]].flat()).toMatchObject([{ id, slug, status: 'private' }]);
  });
});
