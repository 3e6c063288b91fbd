import http from 'node:http';
import { expect, it } from '@jest/globals';
import { requireLoginKeys } from '../src/accounts/login-keys.ts';
import { createNonce } from '../src/wordpress/nonces.ts';
import { unixFromDate } from '../src/wordpress/time.ts';
import { describeAsking, type Json, NOON, ROOT } from './support/asking.ts';
import { formIn, visitor } from './support/desk-visitor.ts';
import { basic } from './support/running-site.ts';

/*
 * Changes as server-sent events.
 */

const DATES = { start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00' };

interface Listening {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** The next event, as soon as it comes. */
  readonly next: () => Promise<{ id: string; event: string; data: Json }>;
  /** What came that was not asked for by `next`. */
  readonly rest: () => string;
  readonly ended: Promise<void>;
  readonly close: () => void;
}

describeAsking(
  'the stream of changes',
  (ask) => {
    const listen = (query = '', headers: Record<string, string> = {}): Promise<Listening> =>
      new Promise((resolve, reject) => {
        const url = `${ask.running().base}/wp-json/calendar/events/v1/changes/stream${query}`;
        const request = http.get(url, { headers, agent: false }, (response) => {
          let text = '';
          let wake = () => {};
          response.setEncoding('utf8');
          response.on('data', (piece: string) => {
            text += piece;
            wake();
          });
          const next: Listening['next'] = async () => {
            for (;;) {
              const end = text.indexOf('\n\n');
              if (end < 0) {
                await new Promise<void>((arrived) => {
                  wake = arrived;
                });
                continue;
              }
              const lines = text.slice(0, end).split('\n');
              text = text.slice(end + 2);
              const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? '';
              if (field('data') !== '') return { id: field('id'), event: field('event'), data: JSON.parse(field('data')) };
            }
          };
          const ended = new Promise<void>((done) => response.once('close', done));
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            next,
            rest: () => text,
            ended,
            close: () => request.destroy(),
          });
        });
        request.on('error', reject);
      });

    it('sends what happens from now on, and goes on where a client was', async () => {
      const stream = await listen('?kinds=event&include=records');
      expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
      const first = await stream.next();
      expect(first).toMatchObject({ event: 'changes', data: { changes: [], next: first.id } });
      const { id } = await ask.made('/events', { title: 'Live', ...DATES });
      const told = await stream.next();
      expect(told.data.changes).toMatchObject([{ kind: 'event', id, change: 'created', record: { title: 'Live' } }]);
      stream.close();
      await ask.changed(`/events/${id}`, { title: 'Missed' });
      const again = await listen('?kinds=event&include=records', { 'Last-Event-ID': told.id });
      expect((await again.next()).data.changes).toMatchObject([{ id, change: 'updated', record: { title: 'Missed' } }]);
      again.close();
    });

    it('sends what somebody else has written', async () => {
      const stream = await listen('?kinds=venue', { Authorization: basic('admin') });
      await stream.next();
      const other = ask.running().site.db;
      await ask.made('/venues', { venue: 'Draft', status: 'draft' });
      expect((await stream.next()).data.changes).toMatchObject([{ kind: 'venue', change: 'created' }]);
      expect(other).toBeDefined();
      stream.close();
    });

    it('refuses what is no token, or an old one, before it begins', async () => {
      expect((await ask.get('/changes/stream?since=x')).status).toBe(400);
      const { next } = await ask.read('/changes?kinds=event&limit=500');
      expect((await ask.get(`/changes/stream?since=${next}`)).status).toBe(410);
      expect((await ask.get('/changes/stream?kinds=page')).status).toBe(400);
    });

    it('is there for so many clients and no more, some of them signed in', async () => {
      const busy = { status: 503, code: 'rest_server_busy' };
      const admin = { Authorization: basic('admin') };
      const refusal = async (as?: 'admin') => {
        const { status, body } = await ask.send('GET', `${ROOT}/changes/stream`, as ? { as } : {});
        return { status, code: body.code };
      };
      const streams = [await listen(), await listen(), await listen()];
      expect(await refusal()).toEqual(busy);
      streams.push(await listen('', admin));
      expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await refusal('admin')).toEqual(busy);
      for (const stream of streams) stream.close();
    });

    it('is there for no more clients where all of them come at once', async () => {
      const statuses = (await Promise.all(Array.from({ length: 12 }, () => listen('', { Authorization: basic('admin') })))).map(
        (stream) => {
          stream.close();
          return stream.status;
        },
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(4);
    });

    it('sends nothing more once the application password was taken back, or the session has ended', async () => {
      const password = '/wp-json/wp/v2/users/me/application-passwords';
      const { body } = await ask.send('POST', password, { as: 'admin', body: { name: 'Stream' } });
      const editor = await visitor(ask, 'ed');
      const { text } = await editor.get('/admin/me');
      const { nonceKey, nonceSalt } = await requireLoginKeys(ask.running().site);
      const [, , token] = decodeURIComponent(editor.cookie().split('=')[1]!).split('|');
      const nonce = createNonce({ user: 2, token: token! }, nonceKey + nonceSalt, unixFromDate(new Date(NOON)));
      const streams = [
        await listen('', { Authorization: `Basic ${Buffer.from(`admin:${body.password}`).toString('base64')}` }),
        await listen('', { Cookie: editor.cookie(), 'X-WP-Nonce': nonce }),
      ];
      for (const stream of streams) expect([stream.status, (await stream.next()).event]).toEqual([200, 'changes']);
      await ask.send('DELETE', `${password}/${body.uuid}`, { as: 'admin' });
      await editor.post('/admin/sign-out', Object.fromEntries(formIn(text, '/admin/sign-out')));
      await ask.made('/venues', { venue: 'Draft', status: 'draft' });
      for (const stream of streams) {
        await stream.ended;
        expect(stream.rest()).not.toContain('created');
      }
    });
  },
  { CHANGE_STREAMS: '4' },
);
