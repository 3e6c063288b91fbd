import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, setOptions } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';
import { until } from '../support/until.mjs';

/** An answer as it came over the connection. */
interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Splits what came over a connection into answers, each of which names its length. */
function answersIn(text: string, method: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, end);
    const length = method === 'HEAD' ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    answers.push({ status: Number(head.split(' ')[1]), head, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

const locationOf = ({ head }: RawAnswer) => /^location: (.*)$/im.exec(head)?.[1];

describeDatabases('an address that is not percent-encoded', (open) => {
  let db: Database;
  let running: RunningSite;
  const lines: { msg: string; method?: string; url?: string; status?: number; refusal?: object }[] = [];
  beforeAll(async () => {
    db = await loadSite(await open());
    const log = createLog({ logLevel: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
    running = await serveDatabase(db, { log });
  });
  afterAll(() => running.close());

  /** Sends bytes, and returns all that comes back until the server ends the connection. */
  const exchange = (...parts: readonly (string | Buffer)[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(running.base);
      const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
      socket.on('end', () => {
        socket.destroy();
        resolve(Buffer.concat(chunks).toString('latin1'));
      });
      for (const part of parts) socket.write(part);
    });
  const headOf = (method: string, address: string | Buffer, ...headers: readonly string[]): Buffer =>
    Buffer.concat([
      Buffer.from(`${method} `),
      Buffer.from(address),
      Buffer.from([' HTTP/1.1', 'Host: x', ...headers, '', ''].join('\r\n')),
    ]);
  const answerTo = async (method: string, address: string | Buffer): Promise<RawAnswer> => {
    const [answer, ...others] = answersIn(await exchange(headOf(method, address)), method);
    expect(others).toEqual([]);
    return answer!;
  };

  it.each([
    ['a query', `${ROOT}/events?search=caffè&page=2`, `${ROOT}/events?search=caff%C3%A8&page=2`],
    ['a path', '/event/caffè/?ical=1', '/event/caff%C3%A8/?ical=1'],
    ['escapes too', `${ROOT}/tags?search=m%C3%BAsica+ñ`, `${ROOT}/tags?search=m%C3%BAsica+%C3%B1`],
    ['another encoding', Buffer.from(`${ROOT}/tags?search=caf\xe9`, 'latin1'), `${ROOT}/tags?search=caf%E9`],
    ['a question mark only', Buffer.from('/?\xe9', 'latin1'), '/?%E9'],
  ])('is redirected to the encoded one (%s)', async (_which, address, expected) => {
    const answer = await answerTo('GET', address);
    expect([answer.status, locationOf(answer)]).toEqual([308, expected]);
    expect(answer.head).toMatch(/^connection: close$/im);
    expect(JSON.parse(answer.body)).toEqual({
      code: 'rest_invalid_encoding',
      message: expect.stringContaining('percent-encoded'),
      data: { status: 308 },
    });
    expect(await answerTo('HEAD', address)).toEqual({
      status: 308,
      head: expect.stringContaining(`Location: ${expected}\r\n`),
      body: '',
    });
  });

  it('finds the same as the encoded one', async () => {
    const answer = await answerTo('GET', `${ROOT}/events?start_date=2020-01-01&search=fête`);
    const followed = await running.send('GET', locationOf(answer)!);
    expect(followed.status).toBe(200);
  });

  it('gets the path of the home, if a proxy has removed it', async () => {
    const { home } = await running.site.settings();
    await setOptions(db, { home: 'https://site.example/cms' });
    try {
      await running.send('GET', '/wp-json/');
      expect(locationOf(await answerTo('GET', '/wp-json/é'))).toBe('/cms/wp-json/%C3%A9');
      expect(locationOf(await answerTo('GET', '/cms/wp-json/é'))).toBe('/cms/wp-json/%C3%A9');
    } finally {
      await setOptions(db, { home });
      await running.send('GET', '/wp-json/');
    }
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is refused in an answer of the API with %s', async (method) => {
    const answer = await answerTo(method, `${ROOT}/events?title=caffè`);
    expect(answer.status).toBe(400);
    expect(answer.head).toMatch(/^content-type: application\/json/im);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'rest_invalid_encoding', data: { status: 400 } });
  });

  it('is answered although a body follows that the server does not read', async () => {
    const text = await exchange(headOf('POST', '/wp-json/é', 'Content-Length: 3000000'), Buffer.alloc(3_000_000, 'x'));
    expect(answersIn(text, 'POST').map(({ status }) => status)).toEqual([400]);
  });

  it.each([
    ['another host', '//evil.example/é'],
    ['another host, as browsers understand it', '/\\evil.example/é'],
    ['a whole URL', 'http://evil.example/é'],
    ['no path', 'é'],
    ['a tab', '/wp-json/\té'],
    ['more than proxies take', `/wp-json/${'é'.repeat(500)}`],
  ])('is refused as by Node if it has %s', async (_which, address) => {
    expect(await exchange(headOf('GET', address))).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  });

  it('is refused if it arrives in parts', async () => {
    const { hostname, port } = new URL(running.base);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const received = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString('latin1'))));
    await once(socket, 'connect');
    await new Promise<void>((sent) => socket.write('GET /wp-json/?search=caff', () => sent()));
    // The server is in this process, and reads between one of these and the next.
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    socket.write('è HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await received).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });

  it.each([
    ['without a host', 'GET / HTTP/1.1\r\n\r\n'],
    ['with an unknown expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: foo\r\n\r\n'],
  ])('ends its connection, and nothing else, after a request that Node answers itself (%s)', async (_which, before) => {
    const { hostname, port } = new URL(running.base);
    const socket = connect({ port: Number(port), host: hostname });
    socket.on('error', () => undefined);
    const ended = new Promise((end) => socket.once('close', end));
    socket.resume().write(Buffer.concat([Buffer.from(before), headOf('GET', '/é'), headOf('GET', '/é')]));
    await ended;
    expect((await running.send('GET', `${ROOT}/tags`)).status).toBe(200);
  });

  it('is answered once, even if other refused bytes follow while the answer is being sent', async () => {
    const answers = answersIn(await exchange(headOf('GET', '/wp-json/é'), headOf('GET', '/wp-json/é'), 'nonsense\r\n\r\n'), 'GET');
    expect(answers.map(({ status }) => status)).toEqual([308]);
  });

  it('ends a connection that is kept open, and what follows on it is not read', async () => {
    const first = headOf('GET', `${ROOT}/tags`);
    const { hostname, port } = new URL(running.base);
    const socket = connect({ port: Number(port), host: hostname });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    const ended = new Promise((end) => socket.once('close', end));
    socket.write(first);
    await until('the first answer', () => answersIn(text, 'GET').length === 1 && text.endsWith(answersIn(text, 'GET')[0]!.body));
    lines.length = 0;
    socket.write(Buffer.concat([headOf('GET', '/wp-json/é'), headOf('DELETE', `${ROOT}/tags/7`), first]));
    await ended;
    expect(answersIn(text, 'GET').map(({ status }) => status)).toEqual([200, 308]);
    await until('the log', () => lines.length > 0);
    expect(lines).toMatchObject([{ msg: 'request completed', method: 'GET', url: '/wp-json/%C3%A9', status: 308 }]);
  });

  it('ends the connection without an answer while a request before it is answered', async () => {
    const text = await exchange(Buffer.concat([headOf('GET', `${ROOT}/venues`), headOf('GET', '/wp-json/é')])).catch(() => '');
    expect(text).not.toContain('308');
    expect(text).not.toContain('400 Bad');
  });

  it('is logged without its secrets, with the reason if it is refused', async () => {
    lines.length = 0;
    await answerTo('POST', '/wp-json/é?password=secret');
    await until('the log', () => lines.length > 0);
    expect(lines).toMatchObject([{ method: 'POST', status: 400, refusal: { problem: 'address-not-encoded' } }]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it.each([
    ['431 Request Header Fields Too Large', headOf('GET', '/', `X-Long: ${'x'.repeat(20_000)}`)],
    ['400 Bad Request', Buffer.from('nonsense\r\n\r\n')],
    [
      '413 Payload Too Large',
      Buffer.concat([headOf('POST', ROOT, 'Transfer-Encoding: chunked'), Buffer.from(`1;${'x'.repeat(20_000)}\r\n`)]),
    ],
  ])('leaves other faults as they are: %s', async (status, request) => {
    const text = await exchange(request).catch((error: Error) => error.message);
    expect(text).toBe(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  });
});
