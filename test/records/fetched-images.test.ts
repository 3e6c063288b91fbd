import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { loadViewer } from '../../src/accounts/viewer.ts';
import { postKind } from '../../src/kinds/index.ts';
import { callerFor } from '../../src/records/caller.ts';
import { acceptParams } from '../../src/records/input.ts';
import { createPost } from '../../src/records/writes/post-writes.ts';
import { discardImages } from '../../src/records/writes/prepared-images.ts';
import { DatabaseUnavailable } from '../../src/storage/engine/database.ts';
import { sharp } from '../support/image-library.ts';
import { describeRequests, type Json } from '../support/site-client.ts';

/*
 * Images that a request names by the URL of another server are fetched before anything is written.
 */

describeRequests('fetched images of a request', (ask) => {
  let server: Server;
  let elsewhere: string;
  let requests = 0;
  /** Ends the answers that the other server still owes, by their paths. */
  const waiting = new Map<string, () => void>();

  beforeAll(async () => {
    const picture = await sharp({ create: { width: 20, height: 20, channels: 3, background: '#c06040' } })
      .png()
      .toBuffer();
    server = createServer((request, response) => {
      requests += 1;
      const end = () => response.end(request.url?.endsWith('.png') ? picture : '<html></html>');
      if (!request.url?.startsWith('/slow')) return void end();
      waiting.set(request.url, end);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    elsewhere = `http://pictures.example:${(server.address() as AddressInfo).port}`;
    const fetching = { allowAddress: (ip: string) => ip === '127.0.0.1', resolve: async () => [{ address: '127.0.0.1', family: 4 }] };
    Object.assign(ask.running().site, { fetching });
  });
  beforeEach(() => {
    requests = 0;
  });
  afterAll(() => void server.close());

  const EVENT = { title: 'Fair', start_date: '2027-05-01 10:00', end_date: '2027-05-01 11:00' };
  const callerNamed = async (user: 'admin' | 'ed' | 'auth', waited = 0) => {
    const { site } = ask.running();
    const settings = await site.settings();
    const { ID } = (await site.db.from('users').where('user_login', user).first('ID'))!;
    const viewer = (await loadViewer(site.db, settings, ID))!;
    return { site, caller: callerFor(site, settings, viewer, { language: 'en', receivedAt: performance.now() - waited }) };
  };
  const accepted = async (raw: object, waited = 0) => {
    const { site, caller } = await callerNamed('admin', waited);
    return acceptParams(site, caller, postKind('event').fields, { ...EVENT, ...raw }, 'create');
  };
  /** The id of the picture of a new event. */
  const pictureOfEvent = async (user: 'admin' | 'ed' | 'auth', image: string) => {
    const { site, caller } = await callerNamed(user);
    const kind = postKind('event');
    const { record } = await createPost(site, caller, kind, await acceptParams(site, caller, kind.fields, { ...EVENT, image }, 'create'));
    return Number((await ask.metaValues(Number(record.id), '_thumbnail_id'))[0]);
  };
  const hide = (id: number) => ask.writeRows((db) => db.from('posts').where('ID', id).update({ post_status: 'private', post_author: 1 }));
  const files = async () =>
    (await readdir(ask.running().site.config.uploadsDir, { recursive: true, withFileTypes: true })).filter((file) => file.isFile()).length;

  it.each([
    ['a linked record', { organizer: [{ organizer: 'Ann', image: '/a.png' }, { organizer: '' }] }],
    [
      'a linked record and the picture of another',
      {
        organizer: [
          { organizer: 'Ann', image: '/a.png' },
          { organizer: 'Bea', image: '/b' },
        ],
      },
    ],
    ['its own picture', { venue: { venue: 'Hall', image: '/a.png' }, image: '/b' }],
    ['an organizer', { venue: { venue: 'Hall', image: '/a.png' }, organizer: [999_999] }],
  ])('leave no file behind if another value is refused: %s', async (_, raw) => {
    const body = JSON.parse(JSON.stringify(raw).replaceAll('"image":"', `"image":"${elsewhere}`));
    const before = await files();
    await expect(accepted(body)).rejects.toMatchObject({ problem: 'rest_invalid_param' });
    expect([requests > 0, await files()]).toEqual([true, before]);
  });

  it('are fetched only within some minutes after the request arrived', async () => {
    const raw = { image: `${elsewhere}/late.png`, venue: { venue: 'Hall', image: `${elsewhere}/later.png` } };
    await expect(accepted(raw, 300_000)).rejects.toMatchObject({ problem: 'rest_invalid_param' });
    expect(requests).toBe(0);
    await discardImages(await accepted(raw, 200_000));
    expect(requests).toBe(2);
  });

  it.each([
    ['its file', 'http://127.0.0.1:8081/wp-content/uploads/2026/11/wide.png'],
    ['one of its sizes', 'http://127.0.0.1:8081/wp-content/uploads/2026/11/wide-300x200.png'],
    ['its file, with another scheme', 'https://127.0.0.1:8081/wp-content/uploads/2026/11/wide.png'],
  ])('are no private files of the library, by the address of %s, as by their ids', async (_which, image) => {
    expect((await ask.create('/events', { ...EVENT, image }, 'auth')).image.id).toBe(11);
    await ask.writeRows((db) => db.from('postmeta').where('meta_key', '_thumbnail_id').where('meta_value', '11').delete());
    await hide(11);
    for (const value of [11, image]) {
      const { status, body } = await ask.post('/events', { ...EVENT, image: value }, 'auth');
      expect([value, status, body.code]).toEqual([value, 400, 'rest_invalid_param']);
    }
    expect((await ask.create('/events', { ...EVENT, image }, 'ed')).image.id).toBe(11);
  });

  it('are fetched again if those fetched earlier from the same address are private', async () => {
    const address = `${elsewhere}/plan.png`;
    const hidden = await pictureOfEvent('ed', address);
    expect([await pictureOfEvent('auth', address), requests]).toEqual([hidden, 1]);
    await ask.writeRows((db) =>
      db
        .from('postmeta')
        .where({ meta_key: '_thumbnail_id', meta_value: String(hidden) })
        .delete(),
    );
    await hide(hidden);
    const own = await pictureOfEvent('auth', address);
    expect([own === hidden, requests]).toEqual([false, 2]);
    expect([await pictureOfEvent('auth', address), await pictureOfEvent('ed', address), requests]).toEqual([own, hidden, 2]);
  });

  it.each([
    ['without a key', {}],
    ['with a key', { 'Idempotency-Key': '"pictures"' }],
  ])('stay on the disk if the transaction of a batch runs again: %s', async (_, headers) => {
    const { site } = ask.running();
    const before = await files();
    let conflicts = 0;
    const stop = site.db.driver.listen(({ sql }) => {
      if (conflicts > 0 || !/^INSERT INTO `?wp_postmeta/i.test(sql)) return;
      conflicts += 1;
      throw new DatabaseUnavailable('busy');
    });
    const requests = ['a', 'b'].map((name) => ({
      path: '/calendar/events/v1/events',
      body: { ...EVENT, title: name, image: `${elsewhere}/${name}.png` },
    }));
    const { body } = await ask.send('POST', '/wp-json/batch/v1', { as: 'admin', headers, body: { requests } });
    stop();
    expect([conflicts, body.responses.map(({ status }: Json) => status), await files()]).toEqual([1, [201, 201], before + 2]);
  });

  it('leave no file behind if a batch with a key fails', async () => {
    const { site } = ask.running();
    const before = await files();
    const stop = site.db.driver.listen(({ sql }) => {
      if (/^INSERT INTO `?wp_postmeta/i.test(sql)) throw new DatabaseUnavailable('full');
    });
    const requests = [{ path: '/calendar/events/v1/events', body: { ...EVENT, image: `${elsewhere}/c.png` } }];
    const { status } = await ask.send('POST', '/wp-json/batch/v1', {
      as: 'admin',
      headers: { 'Idempotency-Key': '"full"' },
      body: { requests },
    });
    stop();
    expect([status, await files()]).toEqual([507, before]);
  });

  it('are fetched two at a time for one user, and four for all', async () => {
    const fetches = (['ed', 'auth', 'admin'] as const).flatMap((user) =>
      [1, 2, 3, 4].map((number) => pictureOfEvent(user, `${elsewhere}/slow-${user}-${number}.png`)),
    );
    const seen = new Map<string, number>();
    while (requests < fetches.length || waiting.size > 0) {
      await sleep(100);
      const users = [...waiting.keys()].map((path) => path.split('-')[1]!);
      for (const user of ['all', ...users]) {
        const count = user === 'all' ? users.length : users.filter((one) => one === user).length;
        seen.set(user, Math.max(seen.get(user) ?? 0, count));
      }
      const [[path, end] = []] = waiting;
      if (path !== undefined) waiting.delete(path);
      end?.();
    }
    await Promise.all(fetches);
    expect(Object.fromEntries(seen)).toEqual({ all: 4, ed: 2, auth: 2, admin: 2 });
  });
});
