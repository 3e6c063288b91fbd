import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { describeRequests } from '../support/site-client.ts';

/*
 * Permissions hold for the record as it is when it is written, not only when the request arrives.
 */

const CONTRIBUTOR = 4;
const EVENT = 38;
const IMAGE = 10;

describeRequests('a write whose record has changed after the permission was checked', (ask) => {
  let intervene: () => PromiseLike<unknown>;
  let restore: () => void;

  beforeEach(async () => {
    const post = (id: number) => ask.db().from('posts').where('ID', id);
    await ask.writeRows(async () => {
      await post(EVENT).update({ post_author: CONTRIBUTOR, post_status: 'pending' });
      await post(IMAGE).update({ post_author: 3 });
    });
    const { db } = ask.running().site;
    const { transaction } = db;
    // Another program changes the record as soon as a write is about to begin.
    Object.assign(db, {
      transaction: async (work: never) => {
        await intervene();
        return transaction.call(db, work);
      },
    });
    restore = () => void Object.assign(db, { transaction });
  });
  afterEach(() => restore());

  it.each([
    ['PATCH', `calendar/events/v1/events/${EVENT}`, { title: 'Spam' }],
    ['PATCH', `calendar/events/v1/events/${EVENT}`, {}],
    ['POST', `tribe/events/v1/events/${EVENT}`, { title: 'Spam' }],
    ['POST', `wp/v2/tribe_events/${EVENT}`, { title: 'Spam' }],
    ['PATCH', `tec/v1/events/${EVENT}`, { title: 'Spam' }],
    ['DELETE', `calendar/events/v1/events/${EVENT}`, null],
    ['DELETE', `wp/v2/tribe_events/${EVENT}`, null],
    ['DELETE', `wp/v2/tribe_events/${EVENT}?force=true`, null],
    ['DELETE', `tec/v1/events/${EVENT}`, null],
  ])('is refused if the event was published: %s %s %j', async (method, path, body) => {
    const published = () => ask.db().from('posts').where('ID', EVENT).update({ post_status: 'publish' });
    intervene = published;
    const rows = () => ask.db().from('posts').where('ID', EVENT).first('post_title', 'post_status');
    const before = await rows();
    const { status } = await ask.send(method, `/wp-json/${path}`, { as: 'contrib', body });
    expect(status).toBe(403);
    expect(await rows()).toEqual({ ...before, post_status: 'publish' });
  });

  it.each([
    ['POST', `wp/v2/media/${IMAGE}`, { title: 'Spam' }],
    ['DELETE', `wp/v2/media/${IMAGE}?force=true`, null],
  ])('is refused if the file was given to somebody else: %s %s', async (method, path, body) => {
    intervene = () => ask.db().from('posts').where('ID', IMAGE).update({ post_author: 1 });
    const { status } = await ask.send(method, `/wp-json/${path}`, { as: 'auth', body });
    expect(status).toBe(403);
    expect(await ask.db().from('posts').where('ID', IMAGE).first('post_author')).toEqual({ post_author: 1 });
  });
});
