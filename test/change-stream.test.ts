import http from 'node:http';
import { expect, it } from '@jest/globals';
import { describeAsking, type Json } from './support/asking.ts';
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
          resolve({ status: response.statusCode ?? 0, headers: response.headers, next, ended, close: () => request.destroy() });
        });
        request.on('error', reject);
      });

    it('tells what happens from now on, and goes on where a client was', async () => {
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

    it('tells what somebody else has written', async () => {
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

    it('is there for so many clients and no more', async () => {
      const streams = [await listen(), await listen()];
      const refused = await ask.get('/changes/stream');
      expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 503, code: 'rest_server_busy' });
      for (const stream of streams) stream.close();
    });
  },
  { CHANGE_STREAMS: '2' },
);
