import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { deskRoutes } from '../../src/desk/routes.ts';
import { fail } from '../../src/errors.ts';
import { companionNamespaces } from '../../src/http/companion/namespaces.ts';
import { createRoutes } from '../../src/http/routes.ts';
import { createConnectionOrder, createTurns, type Turns } from '../../src/http/turns.ts';
import { isWrite } from '../../src/storage/engine/driver.ts';
import { describeDatabases } from '../support/databases.ts';
import { serveDatabase } from '../support/running-site.ts';
import { loadSite, setOptions } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';
import { until } from '../support/until.mjs';

/** A request of a user, or of an anonymous caller at an address. */
const requestOf = (clientAddress: string, user = 0) => {
  const socket = Object.assign(new EventEmitter(), { destroyed: false });
  return { notes: { id: '', url: '/', clientAddress, user, startedAt: 0 }, headers: {}, socket } as unknown as IncomingMessage;
};

/** Closes the connection of a request, as a client that does not want the answer any more. */
function hangUp({ socket }: IncomingMessage): void {
  Object.assign(socket, { destroyed: true });
  socket.emit('close');
}

describe('turns', () => {
  /** Runs work that ends when it is told to, and lists what has begun. */
  const follow = (turns: Turns) => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const run = (name: string, req: IncomingMessage) =>
      turns.run(req, () => {
        begun.push(name);
        return new Promise<void>((end) => ends.push(end));
      });
    const endAll = async () => {
      while (ends.length > 0) {
        ends.shift()!();
        await nextTurn();
        await nextTurn();
      }
    };
    return { begun, run, endAll };
  };

  it('run a few at a time, and let the callers take turns', async () => {
    const { begun, run, endAll } = follow(createTurns(2));
    const runs = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => run(name, requestOf(`192.0.2.${name.charCodeAt(0)}`)));
    expect(begun).toEqual(['a1', 'a2']);
    await endAll();
    await Promise.all(runs);
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2']);
  });

  it('let other events pass between two that do not wait for anything', async () => {
    const turns = createTurns(1);
    let others = 0;
    const othersBefore: number[] = [];
    const runs = [1, 2, 3].map(() => turns.run(requestOf('192.0.2.1'), async () => void othersBefore.push(others)));
    for (; othersBefore.length < 3; others += 1) await nextTurn();
    await Promise.all(runs);
    expect(new Set(othersBefore).size).toBe(3);
  });

  it('refuse more than a share of the places to anonymous callers at one address, and to one user', async () => {
    const { run, endAll } = follow(createTurns(1));
    const runs = Array.from({ length: 129 }, () => run('flood', requestOf('192.0.2.1')));
    await expect(run('more', requestOf('192.0.2.1'))).rejects.toThrow('server-busy');
    const others = Array.from({ length: 64 }, (_, index) => run('other', requestOf(`198.51.100.${index}`)));
    await expect(run('more', requestOf('203.0.113.9'))).rejects.toThrow('server-busy');
    const users = Array.from({ length: 64 }, () => run('user', requestOf('192.0.2.1', 7)));
    await expect(run('more', requestOf('192.0.2.1', 7))).rejects.toThrow('server-busy');
    await endAll();
    await Promise.all([...runs, ...others, ...users]);
    const later = run('later', requestOf('192.0.2.1'));
    await endAll();
    await later;
  });

  it('are neither kept from others nor used for clients that have gone', async () => {
    const { begun, run, endAll } = follow(createTurns(1));
    const first = run('first', requestOf('192.0.2.1'));
    const gone = Array.from({ length: 128 }, () => requestOf('192.0.2.1'));
    const refusals = Promise.allSettled(gone.map((req) => run('gone', req)));
    const own = run('own', requestOf('192.0.2.2'));
    gone.forEach(hangUp);
    await expect(run('gone', gone[0]!)).rejects.toThrow('request-aborted');
    const others = Array.from({ length: 128 }, () => run('other', requestOf('192.0.2.1')));
    await endAll();
    await Promise.all([first, own, ...others]);
    expect((await refusals).every(({ status }) => status === 'rejected')).toBe(true);
    expect(begun).toEqual(['first', 'own', ...others.map(() => 'other')]);
  });

  it('go on after an error', async () => {
    const turns = createTurns(1);
    await expect(turns.run(requestOf('192.0.2.1'), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await turns.run(requestOf('192.0.2.1'), async () => 'yes')).toBe('yes');
  });
});

describe('requests on one connection', () => {
  /** Serves requests in order, and connects to the server. */
  const connectInOrder = async () => {
    const inOrder = createConnectionOrder();
    const handled: { readonly url: string; readonly res: ServerResponse }[] = [];
    const server = createServer((req, res) => inOrder(req, res, () => handled.push({ url: req.url!, res }))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.resume();
    const send = (count: number) =>
      socket.write(Array.from({ length: count }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
    const close = async () => {
      socket.destroy();
      await new Promise((closed) => server.close(closed));
    };
    return { handled, port, socket, send, close };
  };
  const pass = async (turns: number) => {
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
  };

  it('are handled one after the other', async () => {
    const { handled, send, close } = await connectInOrder();
    send(50);
    for (let index = 0; index < 50; index += 1) {
      while (handled.length <= index) await nextTurn();
      await pass(3);
      expect(handled).toHaveLength(index + 1);
      handled[index]!.res.end('done');
    }
    expect(handled.map(({ url }) => url)).toEqual(Array.from({ length: 50 }, (_, index) => `/${index}`));
    await close();
  });

  it('are not handled any more if the client closes it', async () => {
    const { handled, socket, send, close } = await connectInOrder();
    send(2);
    while (handled.length < 1) await nextTurn();
    const isOver = once(handled[0]!.res, 'close');
    socket.resetAndDestroy();
    await isOver;
    await pass(20);
    expect(handled.map(({ url }) => url)).toEqual(['/0']);
    await close();
  });

  it('are not handled after an answer that closes it', async () => {
    const { handled, socket, send, close } = await connectInOrder();
    send(2);
    while (handled.length < 1) await nextTurn();
    handled[0]!.res.setHeader('Connection', 'close').end('done');
    await once(socket, 'close');
    expect(handled.map(({ url }) => url)).toEqual(['/0']);
    await close();
  });

  it('are not counted any more once their connections are closed', async () => {
    const { handled, port, close } = await connectInOrder();
    const pipelined = (count: number) => {
      const one = connect(port, '127.0.0.1').on('error', () => undefined);
      one.resume().write(Array.from({ length: count }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
      return one;
    };
    const sockets = Array.from({ length: 25 }, () => pipelined(90));
    await until('the first requests', () => handled.length === sockets.length);
    await pass(20);
    for (const socket of sockets) socket.resetAndDestroy();
    await until('their ends', () => handled.every(({ res }) => res.destroyed || res.closed));
    const before = handled.length;
    const last = pipelined(2);
    await until('its first request', () => handled.length === before + 1);
    handled.at(-1)!.res.end('done');
    await until('its second request', () => handled.length === before + 2);
    last.destroy();
    await close();
  });

  it('close it if too many wait on all connections together', async () => {
    const inOrder = createConnectionOrder();
    const request = (socket: object) => {
      const res = new EventEmitter() as unknown as ServerResponse;
      inOrder({ socket } as unknown as IncomingMessage, res, () => undefined);
      return res;
    };
    const sockets = Array.from({ length: 21 }, () => Object.assign(new EventEmitter(), { writable: true, destroy: (): void => undefined }));
    let closed = 0;
    const firstAnswers = sockets.map((socket) => {
      socket.destroy = () => {
        closed += 1;
      };
      return request(socket);
    });
    for (const socket of sockets.slice(0, 20)) for (let count = 0; count < 100; count += 1) request(socket);
    expect(closed).toBe(0);
    request(sockets[20]!);
    expect(closed).toBe(1);
    firstAnswers[0]!.emit('close');
    request(sockets[20]!);
    expect(closed).toBe(2);
  });

  it('close it if there are too many', async () => {
    const { handled, socket, send, close } = await connectInOrder();
    send(500);
    await once(socket, 'close');
    expect(handled.length).toBeLessThanOrEqual(1);
    await close();
  });
});

describeDatabases('an answer for which several callers wait', (open) => {
  it('is computed in the turn of the first of them, and not again for the others', async () => {
    const waiting: { readonly address: string; readonly start: () => void }[] = [];
    // Turns that the test gives out.
    const turns: Turns = {
      run: async (req, work) => {
        await new Promise<void>((start) => waiting.push({ address: String(req.headers['x-forwarded-for']), start }));
        return work();
      },
    };
    let computed = 0;
    const site = await serveDatabase(await loadSite(await open()), { turns, env: { TRUST_PROXY: 'on', SHARED_WITH_WORDPRESS: 'off' } });
    const ask = (address: string) => site.send('GET', `${ROOT}/venues`, { headers: { 'X-Forwarded-For': address } });
    const stop = site.site.db.driver.listen(({ sql }) => {
      if (/posts/.test(sql)) computed += 1;
    });
    const answers = [ask('192.0.2.1'), ask('192.0.2.2')];
    while (waiting.length < 2) await nextTurn();
    waiting.find(({ address }) => address === '192.0.2.2')!.start();
    const second = await answers[1]!;
    const queries = computed;
    expect([second.status, queries > 0]).toEqual([200, true]);
    waiting.find(({ address }) => address === '192.0.2.1')!.start();
    expect((await answers[0]!).text).toBe(second.text);
    expect(computed).toBe(queries);
    stop();
    await site.close();
  });
});

describeDatabases('streams of changes', (open) => {
  it('hold their places while they wait for their turn, with GET and HEAD', async () => {
    const db = await loadSite(await open());
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let waiting = 0;
    const turns: Turns = {
      run: async (_, work) => {
        waiting += 1;
        await held;
        return work();
      },
    };
    const site = await serveDatabase(db, { turns, env: { CHANGE_STREAMS: '40' } });
    const places = 10;
    const answers = Array.from({ length: places }, () => site.send('HEAD', `${ROOT}/changes/stream?include=records`));
    await until('the first readings', () => waiting === places);
    for (const method of ['GET', 'HEAD']) expect((await site.send(method, `${ROOT}/changes/stream`)).status).toBe(503);
    expect(waiting).toBe(places);
    letGo();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array.from({ length: places }, () => 200));
    expect((await site.send('HEAD', `${ROOT}/changes/stream`)).status).toBe(200);
    await site.close();
  });
});

const filledIn = (path: string): string =>
  path.replace(/\(\?P<(\w+)>[^)]+\)/g, (_, name: string) => (name === 'slug' ? 'new-year-concert' : '44'));

/** Paths of the routes of the API, with the methods of each. */
const API_ROUTES = [...new Map([['calendar/events/v1', createRoutes(['en', 'it'])], ...companionNamespaces()])].flatMap(
  ([namespace, routes]) =>
    routes.map(({ pattern, endpoints }) => ({
      path: filledIn(`/wp-json/${namespace}${pattern}`),
      methods: endpoints.flatMap(({ methods }) => methods),
    })),
);

/** Paths of all routes that can be read: those of the API, the desk and the pages. */
const READ_PATHS = [
  ...API_ROUTES.flatMap(({ path, methods }) => (methods.includes('GET') ? [path] : [])),
  ...deskRoutes.flatMap((route) => (route.method === 'GET' && !route.takesLong ? [`/admin${route.path.replace(/:\w+/g, '44')}`] : [])),
  ...['/wp-json/', '/wp-json/batch/v1', '/doc', '/it/doc', '/robots.txt', '/sitemap.xml', '/sitemap-events-1.xml', '/'],
  ...['/events/', '/events/month/', '/event/new-year-concert/', '/events/?ical=1', '/events/feed/', '/?s=concert&post_type=tribe_events'],
  '/events/suggest/',
];

/** Paths of the desk's forms, which anybody may send. */
const FORM_PATHS = deskRoutes.flatMap((route) => (route.method === 'POST' ? [`/admin${route.path.replace(/:\w+/g, '44')}`] : []));

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' };
const KEY = 'a'.repeat(32);

describeDatabases('a process that has too much to do', (open) => {
  it('refuses everything that it would have to compute, and nothing else', async () => {
    const db = await loadSite(await open());
    await setOptions(db, { fasti_suggest_slug: 'suggest' });
    const turns: Turns = { run: async () => fail('server-busy') };
    for (const CACHE of ['on', 'off']) {
      const site = await serveDatabase(db, { env: { PAGES: 'on', CACHE }, turns });
      const statusOf = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
        const { status, headers: received } = await site.send(method, path, { headers });
        return `${path} ${status}${received['retry-after'] === undefined ? '' : ' later'}`;
      };
      const statuses = await Promise.all(READ_PATHS.map((path) => statusOf(path)));
      expect(statuses.filter((status) => !status.endsWith(' 503 later'))).toEqual([]);
      expect(statuses.length).toBeGreaterThan(100);
      const override = { 'X-HTTP-Method-Override': 'GET', 'Content-Type': 'application/json' };
      expect(await statusOf(`${ROOT}/events`, override, 'POST')).toMatch(/ 503 later$/);
      expect(await statusOf('/health/live')).toBe('/health/live 200');
      expect(await statusOf('/favicon.ico')).toMatch(/ 30\d$/);
      expect((await site.send('POST', `${ROOT}/tags`, { as: 'admin', body: { name: `While busy ${CACHE}` } })).status).toBe(201);
      await site.close();
    }
  });

  it('reads no record for anybody else, whatever the method', async () => {
    const db = await loadSite(await open());
    await setOptions(db, { fasti_suggest_slug: 'suggest' });
    const turns: Turns = { run: async () => fail('server-busy') };
    // Without looks for foreign changes, which read the same tables in the background.
    const site = await serveDatabase(db, { env: { PAGES: 'on', SHARED_WITH_WORDPRESS: 'off' }, turns });
    const read: string[] = [];
    const stop = site.site.db.driver.listen(({ sql }) => {
      if (/posts|postmeta|term|occurrences|tec_events|fasti_(?:entries|days|prints|journal\b|answers)/.test(sql)) read.push(sql);
    });
    const postForm = (path: string, body: string, Cookie = '') => site.send('POST', path, { headers: { ...FORM, Cookie }, body });
    const waiting = [
      ...API_ROUTES.flatMap(({ path, methods }) => methods.map((method) => () => site.send(method, path, { body: {} }))),
      () => site.send('POST', '/wp-json/batch/v1', { body: { requests: [{ path: `${ROOT}/venues`, body: { venue: 'Mill' } }] } }),
      () => postForm('/event/new-year-concert/', 'post_password=a'),
      () => postForm('/events/feed/', 'post_password=a'),
      () => postForm('/events/suggest/', 'title=x'),
      () => postForm('/events/suggest/', `key=${KEY}&title=`, `fasti_suggest=${KEY}`),
    ];
    const statuses = await Promise.all(waiting.map(async (ask) => (await ask()).status));
    expect([new Set(statuses), read]).toEqual([new Set([503]), []]);
    const readers: string[] = [];
    for (const path of new Set([...READ_PATHS.filter((one) => !one.startsWith('/wp-json/')), ...FORM_PATHS]))
      for (const method of ['POST', 'PUT']) {
        await site.send(method, path, { headers: FORM, body: 'post_password=a' });
        if (read.splice(0).length > 0) readers.push(`${method} ${path}`);
      }
    expect(readers).toEqual([]);
    stop();
    await site.close();
  });

  it('writes a suggestion without holding a turn, since its writer may be busy', async () => {
    const db = await loadSite(await open());
    await setOptions(db, { fasti_suggest_slug: 'suggest' });
    let held = 0;
    const turns: Turns = {
      run: async (_, work) => {
        held += 1;
        try {
          return await work();
        } finally {
          held -= 1;
        }
      },
    };
    const site = await serveDatabase(db, { env: { PAGES: 'on', SHARED_WITH_WORDPRESS: 'off' }, turns });
    const heldAtReads: number[] = [];
    const heldAtWrites: number[] = [];
    const stop = site.site.db.driver.listen((query) => {
      if (query.table === 'posts') (isWrite(query) ? heldAtWrites : heldAtReads).push(held);
    });
    const fields = {
      key: KEY, title: 'Mill', 'start_date[date]': '2027-03-04', 'start_date[time]': '21:00', 'end_date[date]': '2027-03-04', 'end_date[time]': '23:00',
      from_name: 'Rosa', from_email: 'rosa@example.org', 'venue[add][]': 'Mill',
    }; // biome-ignore format: pairs
    const headers = { ...FORM, Cookie: `fasti_suggest=${KEY}` };
    const body = String(new URLSearchParams(fields));
    expect((await site.send('POST', '/events/suggest/', { headers, body })).status).toBe(303);
    expect([new Set(heldAtWrites), heldAtReads.includes(1)]).toEqual([new Set([0]), true]);
    stop();
    await site.close();
  });
});
