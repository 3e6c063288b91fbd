import http from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { requireLoginKeys } from '../src/accounts/login-keys.ts';
import { createSharedReadings } from '../src/http/shared-readings.ts';
import { createNonce } from '../src/wordpress/nonces.ts';
import { unixFromDate } from '../src/wordpress/time.ts';
import { commandIn, temporaryFolder } from './cli/command.ts';
import { urlOf } from './support/databases.ts';
import { formIn, openVisitor } from './support/desk-visitor.ts';
import { type EventStream, openEventStream } from './support/event-stream.ts';
import { basic } from './support/running-site.ts';
import { describeRequests, ROOT, SUITE_TIME } from './support/site-client.ts';
import { until } from './support/until.mjs';

/*
 * Changes as server-sent events.
 */

const DATES = { start_date: '2026-12-10 18:00:00', end_date: '2026-12-10 20:00:00' };

describeRequests(
  'the stream of changes',
  (ask) => {
    const folder = temporaryFolder();
    const listen = (query = '', headers: Record<string, string> = {}) =>
      openEventStream(`${ask.running().base}/wp-json/calendar/events/v1/changes/stream${query}`, headers);

    it('sends changes from now on, and continues where a reconnecting client stopped', async () => {
      const stream = await listen('?kinds=event&include=records');
      expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
      const first = await stream.next();
      expect(first).toMatchObject({ event: 'changes', data: { changes: [], next: first.id } });
      const { id } = await ask.create('/events', { title: 'Live', ...DATES });
      const told = await stream.next();
      expect(told.data.changes).toMatchObject([{ kind: 'event', id, change: 'created', record: { title: 'Live' } }]);
      stream.close();
      await ask.update(`/events/${id}`, { title: 'Missed' });
      const again = await listen('?kinds=event&include=records', { 'Last-Event-ID': told.id });
      expect((await again.next()).data.changes).toMatchObject([{ id, change: 'updated', record: { title: 'Missed' } }]);
      again.close();
    });

    it('answers HEAD with the headers only, and takes no place', async () => {
      for (let time = 0; time <= 4; time += 1) {
        const { status, headers, text } = await ask.send('HEAD', `${ROOT}/changes/stream`);
        expect([status, headers['content-type'], text]).toEqual([200, 'text/event-stream; charset=UTF-8', '']);
      }
      expect((await ask.send('HEAD', `${ROOT}/changes/stream?since=wrong`)).status).toBe(400);
    });

    it('is found by the parameter rest_route, with and without encoded slashes', async () => {
      const route = '/calendar/events/v1/changes/stream';
      for (const text of [route, encodeURIComponent(route), `${encodeURIComponent(route)}%2f`]) {
        const stream = await openEventStream(`${ask.running().base}/?rest_route=${text}&kinds=event`);
        expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
        stream.close();
      }
    });

    it('sends what another program has written', async () => {
      const stream = await listen('?kinds=venue', { Authorization: basic('admin') });
      await stream.next();
      const fasti = commandIn({ DATABASE_URL: urlOf(ask.db()), TABLE_PREFIX: ask.db().prefix, UPLOADS_DIR: folder });
      expect(await fasti('venue', 'create', '--venue=Draft', '--status=draft')).toMatchObject({ code: 0 });
      expect((await stream.next()).data.changes).toMatchObject([{ kind: 'venue', change: 'created' }]);
      stream.close();
    });

    it('lets scripts of other origins resume with Last-Event-ID', async () => {
      const { headers } = await ask.send('OPTIONS', `${ROOT}/changes/stream`, { headers: { Origin: 'https://app.example' } });
      for (const name of ['Authorization', 'Last-Event-ID', 'If-Modified-Since'])
        expect(headers['access-control-allow-headers']?.split(', ')).toContain(name);
    });

    it('refuses an invalid or expired token before the stream begins', async () => {
      expect((await ask.get('/changes/stream?since=x')).status).toBe(400);
      const { next } = await ask.read('/changes?kinds=event&limit=500');
      expect((await ask.get(`/changes/stream?since=${next}`)).status).toBe(410);
      expect((await ask.get('/changes/stream?kinds=page')).status).toBe(400);
    });

    it('sends what is written while it opens, even if a look has already told other streams', async () => {
      const { db } = ask.running().site;
      const { rows } = db;
      const other = await listen('?kinds=venue');
      await other.next();
      let isWritten = false;
      const read = async (text: TemplateStringsArray, ...places: never[]) => {
        const found = await rows(text, ...places);
        // The first changes have been read.
        if (text.join('').includes('WHERE j.number >') && !isWritten) {
          isWritten = true;
          await ask.create('/venues', { venue: 'Between' });
          await other.next();
          // Longer than between two looks.
          await sleep(2500);
        }
        return found;
      };
      Object.assign(db, { rows: read });
      const stream = await listen('?kinds=venue');
      try {
        expect((await stream.next()).data.changes).toEqual([]);
        expect((await stream.next()).data.changes).toMatchObject([{ kind: 'venue', change: 'created' }]);
      } finally {
        Object.assign(db, { rows });
        for (const one of [stream, other]) one.close();
      }
    }, 20_000);

    it('waits for a slow look before it starts the next one', async () => {
      const { freshness } = ask.running().site;
      const { version } = freshness;
      let looks = 0;
      let answer = (_: undefined) => {};
      const held = new Promise<undefined>((resolve) => {
        answer = resolve;
      });
      const stream = await listen();
      Object.assign(freshness, { version: () => (looks++ === 0 ? held : version()) });
      await until('a look', () => looks > 0);
      const begun = looks;
      await sleep(2200);
      expect(looks).toBe(begun);
      Object.assign(freshness, { version });
      answer(undefined);
      stream.close();
    });

    it('accepts a limited number of clients, and reserves some places for signed-in users', async () => {
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

    it('keeps to the limit if all clients connect at once, and never gives all places to one user', async () => {
      const coming = ['admin', 'ed'].map((user) => Array.from({ length: 12 }, () => listen('', { Authorization: basic(user) })));
      const streams = await Promise.all(coming.map((some) => Promise.all(some)));
      for (const stream of streams.flat()) stream.close();
      const [admins = 0, editors = 0] = streams.map((some) => some.filter(({ status }) => status === 200).length);
      expect(admins + editors).toBe(4);
      expect(Math.max(admins, editors)).toBeLessThan(4);
    });

    it('frees the places of clients that disconnect before the stream begins', async () => {
      const { site, base } = ask.running();
      const { settings } = site;
      let asked = 0;
      let letGo = () => {};
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      Object.assign(site, {
        settings: async () => {
          asked += 1;
          await held;
          return settings();
        },
      });
      const headers = { Authorization: basic('admin') };
      const gone = Array.from({ length: 3 }, () => http.get(`${base}${ROOT}/changes/stream`, { headers, agent: false }));
      for (const request of gone) request.on('error', () => undefined);
      await until('a request', () => asked >= gone.length);
      for (const request of gone) request.destroy();
      // When this request is answered, the server has noticed that the clients disconnected.
      await fetch(`${base}/health/live`);
      Object.assign(site, { settings });
      letGo();
      const streams = await Promise.all([...gone.map(() => listen('', headers)), listen()]);
      expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      for (const stream of streams) stream.close();
    });

    it('ends when the application password is revoked or the session ends', async () => {
      const password = '/wp-json/wp/v2/users/me/application-passwords';
      const { body } = await ask.send('POST', password, { as: 'admin', body: { name: 'Stream' } });
      const editor = await openVisitor(ask, 'ed');
      const { text } = await editor.get('/admin/me');
      const { nonceKey, nonceSalt } = await requireLoginKeys(ask.running().site, await ask.running().site.settings());
      const [, , token] = decodeURIComponent(editor.cookie().split('=')[1]!).split('|');
      const nonce = createNonce({ user: 2, token: token! }, nonceKey + nonceSalt, unixFromDate(new Date(SUITE_TIME)));
      const streams = [
        await listen('', { Authorization: `Basic ${Buffer.from(`admin:${body.password}`).toString('base64')}` }),
        await listen('', { Cookie: editor.cookie(), 'X-WP-Nonce': nonce }),
      ];
      for (const stream of streams) expect([stream.status, (await stream.next()).event]).toEqual([200, 'changes']);
      await ask.send('DELETE', `${password}/${body.uuid}`, { as: 'admin' });
      await editor.post('/admin/sign-out', Object.fromEntries(formIn(text, '/admin/sign-out')));
      await ask.create('/venues', { venue: 'Draft', status: 'draft' });
      for (const stream of streams) {
        await stream.ended;
        expect(stream.rest()).not.toContain('created');
      }
    });
  },
  { CHANGE_STREAMS: '4' },
);

describeRequests(
  'many streams of changes',
  (ask) => {
    const listen = (from: string, query = '?kinds=venue&include=records', { as, root = ROOT }: { as?: string; root?: string } = {}) =>
      openEventStream(`${ask.running().base}${root}/changes/stream${query}`, {
        'X-Forwarded-For': from,
        ...(as === undefined ? {} : { Authorization: basic(as) }),
      });
    /** Opens streams of anonymous callers, ten at each address. */
    const listenTimes = (count: number) => Promise.all(Array.from({ length: count }, (_, index) => listen(`192.0.2.${index % 10}`)));
    const closeAll = (streams: readonly EventStream[]) => {
      for (const stream of streams) stream.close();
    };
    /** Counts how often streams read the journal while `work` runs. */
    const readingsDuring = async (work: () => Promise<void>): Promise<number> => {
      const { db } = ask.running().site;
      const { rows } = db;
      let readings = 0;
      const count = (text: TemplateStringsArray, ...places: never[]) => {
        if (text.join('').includes('WHERE j.number >')) readings += 1;
        return rows(text, ...places);
      };
      Object.assign(db, { rows: count });
      await work().finally(() => Object.assign(db, { rows }));
      return readings;
    };
    const titlesOf = ({ data }: Awaited<ReturnType<EventStream['next']>>): string[] =>
      data.changes.map(({ record }: { record: { venue: string } }) => record.venue);

    it('read a change once for all anonymous callers who see it in the same form', async () => {
      const streams = await listenTimes(60);
      for (const stream of streams) await stream.next();
      const readings = await readingsDuring(async () => {
        await ask.create('/venues', { venue: 'Shared' });
        for (const stream of streams) expect(titlesOf(await stream.next())).toEqual(['Shared']);
      });
      expect(readings).toBeLessThan(streams.length / 4);
      closeAll(streams);
    });

    it('share nothing between callers who see different changes, or see them in another form', async () => {
      const streams = await Promise.all([
        listen('192.0.2.1', '?kinds=event&include=records'),
        listen('192.0.2.2', '?kinds=event&include=records'),
        listen('192.0.2.1', '?kinds=event&include=records', { as: 'admin' }),
        listen('192.0.2.1', '?kinds=event&include=records', { root: '/wp-json/tribe/events/v1' }),
        listen('192.0.2.1', '?kinds=event'),
        listen('192.0.2.1', '?kinds=venue,event&include=records'),
      ]);
      for (const stream of streams) await stream.next();
      const draft = await ask.create('/events', { title: 'Draft', status: 'draft', ...DATES });
      const [, , admin] = streams;
      expect((await admin!.next()).data.changes).toMatchObject([{ id: draft.id, change: 'created', record: { title: 'Draft' } }]);
      const { id } = await ask.create('/events', { title: 'Shown', ...DATES });
      const received = await Promise.all(streams.map(async (stream) => (await stream.next()).data.changes));
      for (const changes of received) expect(changes).toMatchObject([{ kind: 'event', id, change: 'created' }]);
      const own = `${ROOT}/events/${id}`;
      expect(received.map(([{ record }]) => record && new URL(record.rest_url).pathname)).toEqual([
        ...[own, own, own],
        `/wp-json/tribe/events/v1/events/${id}`,
        undefined,
        own,
      ]);
      for (const stream of streams) expect(stream.rest()).not.toContain('Draft');
      closeAll(streams);
    });

    it('miss nothing while changes come quickly', async () => {
      const streams = await listenTimes(40);
      for (const stream of streams) await stream.next();
      const names = Array.from({ length: 12 }, (_, index) => `Venue ${index}`);
      const received = streams.map(async (stream) => {
        const titles = new Set<string>();
        while (titles.size < names.length) for (const title of titlesOf(await stream.next())) titles.add(title);
        return [...titles].sort();
      });
      for (const venue of names) await ask.create('/venues', { venue });
      for (const titles of await Promise.all(received)) expect(titles).toEqual([...names].sort());
      closeAll(streams);
    });

    it('leave places to anonymous callers at other addresses', async () => {
      const [one, neighbour, other] = ['2001:db8:0:1::1', '[2001:db8:0:1::2]:50000', '2001:db8:0:2::1'];
      const taken = await Promise.all(Array.from({ length: 10 }, () => listen(one!)));
      const later = [await listen(one!), await listen(neighbour!), await listen(other!), await listen(one!, '', { as: 'admin' })];
      expect(taken.map(({ status }) => status)).toEqual(taken.map(() => 200));
      expect(later.map(({ status }) => status)).toEqual([503, 503, 200, 200]);
      const [first] = taken;
      first!.close();
      let last = later[0]!;
      await until('a place', async () => {
        last = await listen(neighbour!);
        return last.status === 200;
      });
      closeAll([...taken, ...later, last]);
    });

    it('keep to the limit of an address if all its clients connect at once', async () => {
      const streams = await Promise.all(Array.from({ length: 24 }, () => listen('192.0.2.77')));
      expect(streams.filter(({ status }) => status === 200)).toHaveLength(10);
      closeAll(streams);
    });
  },
  { CHANGE_STREAMS: '100', TRUST_PROXY: 'on' },
);

describe('readings that streams share', () => {
  /** Readings that end when the test says so, in the order in which they began. */
  const heldReadings = () => {
    const ends: (() => void)[] = [];
    const read = () =>
      new Promise<number>((resolve) => {
        const number = ends.length + 1;
        ends.push(() => resolve(number));
      });
    return { ends, read };
  };

  it('are joined while they wait or run, by equal streams only', async () => {
    const { ends, read } = heldReadings();
    const { share } = createSharedReadings<number>();
    const early = [share('a', read), share('a', read), share('b', read)];
    await until('both readings', () => ends.length === 2);
    const late = share('a', read);
    for (const end of ends) end();
    expect(await Promise.all([...early, late])).toEqual([1, 1, 2, 1]);
    const next = [share('a', read), share(undefined, read), share(undefined, read)];
    for (const begun of [3, 4, 5]) {
      await until('the next reading', () => ends.length >= begun);
      ends[begun - 1]!();
    }
    expect(await Promise.all(next)).toEqual([3, 4, 5]);
  });

  it('are not joined after a notice if they have begun, since they may lack the change', async () => {
    const { ends, read } = heldReadings();
    const { share, noteChange } = createSharedReadings<number>();
    const waiting = [share('a', read)];
    noteChange();
    waiting.push(share('a', read));
    await until('the reading', () => ends.length === 1);
    noteChange();
    waiting.push(share('a', read), share('a', read));
    await until('another reading', () => ends.length === 2);
    // The end of the first one leaves the second one.
    ends[0]!();
    expect(await waiting[0]).toBe(1);
    waiting.push(share('a', read));
    ends[1]!();
    expect(await Promise.all(waiting)).toEqual([1, 1, 2, 2, 2]);
  });

  it('fail for all who joined, and are then begun again', async () => {
    const { share } = createSharedReadings<number>();
    const failing = () => Promise.reject(new Error('gone'));
    const outcomes = await Promise.allSettled([share('a', failing), share('a', failing)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await share('a', async () => 1)).toBe(1);
  });

  it('take turns with other requests', async () => {
    const { share, inTurn } = createSharedReadings<number>();
    let done = 0;
    const count = () => {
      done += 1;
      return done;
    };
    const work = [
      ...Array.from({ length: 20 }, (_, index) => share(String(index), async () => count())),
      ...Array.from({ length: 20 }, () => inTurn(count)),
    ];
    expect(done).toBe(0);
    while (done < work.length) {
      const before = done;
      await nextTurn();
      expect(done - before).toBeLessThanOrEqual(4);
    }
    await Promise.all(work);
  });
});
