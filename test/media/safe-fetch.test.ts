import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FetchRefused, fetchImage, fetchPublic, isPublicAddress, postPublic } from '../../src/media/safe-fetch.ts';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

let server: Server;
let port: number;
let connections = 0;
let answer: RequestListener = (_, response) => response.end(PNG);

beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
afterEach(() => {
  connections = 0;
  answer = (_, response) => response.end(PNG);
});

const allowAddress = (ip: string) => ip === '127.0.0.1';
const allowed = { allowAddress };
/** Resolves every name to the test server, without DNS. */
const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
const faultOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'fetched',
    (error: unknown) => (error instanceof FetchRefused ? error.fault : String(error)),
  );

const LOOPBACK = [
  '127.0.0.1', '127.0.0.2', '127.1', '127.0.1', '127.255.255.254', '0.0.0.0', '0', '2130706433', '0x7f000001', '0x7f.0.0.1', '0x7f.1', '0177.0.0.1', '0177.1',
  '017700000001', '127.0x0.0.1', '127.0.0.01', '127.0.0.1.', '127.000.000.001', '①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '127｡0｡0｡1', '%31%32%37.0.0.1',
  'localhost', 'LOCALHOST', 'localhost.', 'ｌｏｃａｌｈｏｓｔ', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]', '[::127.0.0.1]', '[::7f00:1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:7f00:0001::1]',
  '[2001:0:7f00:1::]', '[fe80::1]', '[febf::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[ff0e::1]', '[100::1]', '[2001:db8::1]', '[3fff::1]', '[5f00::1]', '[4000::1]', '[2001:2::1]', '[2001:10::1]',
]; // biome-ignore format: a table
const ELSEWHERE = [
  '10.0.0.1', '10.255.255.255', '167772161', '0xa000001', '012.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.1', '3232235521', '0xc0a80001', '0300.0250.0.1', '169.254.169.254',
  '169.254.0.1', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::]', '100.64.0.1',
  '100.100.100.200', '100.127.255.255', '192.0.0.1', '192.0.0.192', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '198.19.255.255', '192.88.99.1', '224.0.0.1', '239.255.255.255', '240.0.0.1',
  '255.255.255.255', '4294967295', '0.1.2.3', '168.63.129.16', '192.175.48.1', '192.31.196.1', '[::ffff:10.0.0.1]', '[::ffff:c0a8:1]', '[::ffff:100.64.0.1]', '[::10.0.0.1]', '[2002:a00:1::]', '[2002:c0a8:1::]',
]; // biome-ignore format: a table

describe('address that is not public', () => {
  it('is spelled in more than a hundred ways here', () => expect(LOOPBACK.length + ELSEWHERE.length).toBeGreaterThan(100));

  it.each(LOOPBACK)('is not connected to as %s', async (host) => {
    for (const address of [`http://${host}:${port}/a.png`, `http://${host}/a.png`, `https://${host}/a.png`]) {
      expect(await faultOf(fetchPublic(address))).toMatch(/^(address|url|unreachable)$/);
    }
    expect(connections).toBe(0);
  });

  it.each(ELSEWHERE)('is refused as %s', async (host) => {
    expect(await faultOf(fetchPublic(`http://${host}/a.png`))).toBe('address');
  });

  it.each([
    'ftp://example.org/a',
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'gopher://127.0.0.1',
    'http://',
    'nothing',
    'http://user:secret@example.org/',
    '//example.org/a',
  ])('is refused as an invalid URL: %s', async (address) => expect(await faultOf(fetchPublic(address))).toBe('url'));

  it('is not connected to if a name resolves to it', async () => {
    expect(await faultOf(fetchPublic('http://canary.example/', { resolve }))).toBe('address');
    expect(connections).toBe(0);
  });

  it('is not connected to if it is one of several addresses of a name', async () => {
    const mixed = async () => [
      { address: '93.184.215.14', family: 4 },
      { address: '::1', family: 6 },
    ];
    expect(await faultOf(fetchPublic('http://canary.example/', { resolve: mixed }))).toBe('address');
  });

  it('is not connected to if a name resolves to it only at the second lookup', async () => {
    let asked = 0;
    const flipping = async () => {
      asked += 1;
      return [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    };
    await fetchPublic(`http://canary.example:${port}/`, { resolve: flipping, allowAddress });
    expect(asked).toBe(1);
    expect(connections).toBe(1);
  });

  it('is not connected to on a port that public web servers do not use', async () => {
    const abroad = async () => [{ address: '93.184.215.14', family: 4 }];
    expect(await faultOf(fetchPublic('http://example.org:22/', { resolve: abroad }))).toBe('address');
  });
});

describe('redirect', () => {
  it.each(['http://127.0.0.2:PORT/', 'http://[::1]:PORT/', 'http://2130706434:PORT/', '//127.0.0.3:PORT/', 'http://localhost:PORT/'])(
    'to %s is refused',
    async (target) => {
      answer = (_, response) => response.writeHead(302, { location: target.replace('PORT', String(port)) }).end();
      const only = async (host: string) => [{ address: host === 'localhost' ? '127.0.0.9' : '127.0.0.1', family: 4 }];
      expect(await faultOf(fetchPublic(`http://first.example:${port}/`, { ...allowed, resolve: only }))).toBe('address');
      expect(connections).toBe(1);
    },
  );

  it('to a local file is refused', async () => {
    answer = (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, allowed))).toBe('url');
  });

  it('is followed three times but not a fourth time', async () => {
    answer = ({ url = '' }, response) => {
      const left = Number(url.slice(1));
      if (left > 0) response.writeHead(301, { location: `/${left - 1}` }).end();
      else response.end('there');
    };
    expect((await fetchPublic(`http://127.0.0.1:${port}/3`, allowed)).bytes.toString()).toBe('there');
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/4`, allowed))).toBe('redirects');
  });

  it('does not send the Authorization header to another origin', async () => {
    const seen: (string | undefined)[] = [];
    answer = ({ headers, url }, response) => {
      seen.push(headers.authorization);
      if (url === '/first') response.writeHead(307, { location: `http://other.example:${port}/second` }).end();
      else response.end('there');
    };
    await fetchPublic(`http://first.example:${port}/first`, { ...allowed, resolve, headers: { Authorization: 'Basic abc' } });
    expect(seen).toEqual(['Basic abc', undefined]);
  });
});

describe('fetch of a public address', () => {
  it('sends the host name of the URL', async () => {
    let host: string | undefined;
    answer = ({ headers }, response) => {
      host = headers.host;
      response.end(PNG);
    };
    await fetchPublic(`http://pictures.example:${port}/a.png`, { ...allowed, resolve });
    expect(host).toBe(`pictures.example:${port}`);
  });

  it('is refused if the announced length is too large', async () => {
    answer = (_, response) => response.writeHead(200, { 'content-length': '1001' }).end(Buffer.alloc(1001));
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, { ...allowed, maxBytes: 1000 }))).toBe('size');
  });

  it('is refused if the body turns out too large', async () => {
    answer = (_, response) => {
      const more = () => response.write(Buffer.alloc(1000), () => (response.destroyed ? undefined : setImmediate(more)));
      more();
    };
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, { ...allowed, maxBytes: 10_000 }))).toBe('size');
  });

  it('is aborted if the response does not begin in time', async () => {
    answer = () => undefined;
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, { ...allowed, timeoutMs: 50 }))).toBe('time');
  });

  it('is aborted if the response does not end in time', async () => {
    answer = (_, response) => response.write('a');
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, { ...allowed, timeoutMs: 50 }))).toBe('time');
  });

  it.each([
    ['without a length', {}],
    ['with a length', { 'content-length': '1000' }],
    ['that says how it ends', { connection: 'close', 'transfer-encoding': 'identity' }],
  ])('is refused as incomplete when the time is up: response %s', async (_, headers) => {
    answer = (_request, response) => response.writeHead(200, headers).write('half of it');
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, { ...allowed, timeoutMs: 300 }))).toBe('time');
  });

  it.each([{}, { 'content-length': '1000' }, { connection: 'close', 'transfer-encoding': 'identity' }])(
    'is incomplete if the server hangs up in the middle (%j)',
    async (headers) => {
      answer = (_request, response) => {
        response.writeHead(200, headers).write('half of it', () => setTimeout(() => response.socket?.resetAndDestroy(), 50));
      };
      expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, allowed))).toBe('unreachable');
    },
  );

  it('is aborted if the name is not resolved in time', async () => {
    expect(await faultOf(fetchPublic('http://slow.example/', { resolve: () => new Promise(() => undefined), timeoutMs: 50 }))).toBe('time');
  });

  it.each([204, 206, 304, 403, 404, 500])('is refused for the status %d', async (status) => {
    answer = (_, response) => response.writeHead(status).end();
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, allowed))).toBe('status');
  });

  it('is refused if the response is compressed, which could be a bomb', async () => {
    answer = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, allowed))).toBe('type');
  });

  it('is unreachable if the server switches to another protocol, also for a POST', async () => {
    answer = (_, response) => {
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    };
    expect(await faultOf(fetchPublic(`http://127.0.0.1:${port}/`, allowed))).toBe('unreachable');
    expect(await faultOf(postPublic(`http://127.0.0.1:${port}/`, Buffer.from('{}'), allowed))).toBe('unreachable');
  });

  it('is unreachable if no server listens', async () => {
    expect(await faultOf(fetchPublic('http://127.0.0.1:1/', allowed))).toBe('unreachable');
  });
});

describe('fetched image', () => {
  const served = (bytes: Buffer | string, type: string) => {
    answer = (_, response) => response.writeHead(200, { 'content-type': type }).end(bytes);
    return faultOf(fetchImage(`http://127.0.0.1:${port}/a.png`, allowed).then(({ type: { mime } }) => Promise.reject(mime)));
  };

  it.each([
    ['JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'image/jpeg'],
    ['PNG', PNG, 'image/png'],
    ['GIF', Buffer.from('GIF89a...'), 'image/gif'],
    ['WebP', Buffer.from('RIFF\x01\x00\x00\x00WEBPVP8 '), 'image/webp'],
    ['AVIF', Buffer.from('\0\0\0\x1cftypavif\0\0\0\0mif1miaf', 'latin1'), 'image/avif'],
    ['AVIF by its other brands', Buffer.from('\0\0\0\x1cftypmif1\0\0\0\0avifmiaf', 'latin1'), 'image/avif'],
  ])('is recognized as %s by its first bytes, whatever its content type', async (_, bytes, mime) =>
    expect(await served(bytes, 'text/plain')).toBe(mime),
  );

  it.each([
    ['a page', '<html></html>'],
    ['a drawing with scripts', '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'],
    ['nothing', ''],
    ['a sound', Buffer.from('RIFF\x01\x00\x00\x00WAVEfmt ')],
    ['a film', Buffer.from('\0\0\0\x1cftypisom\0\0\0\0mp41', 'latin1')],
    ['a page after a blank', ' GIF89a'],
  ])('is refused if it is %s, even with the content type of an image', async (_, bytes) =>
    expect(await served(bytes, 'image/png')).toBe('type'),
  );
});

describe('isPublicAddress', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.215.14',
    '172.32.0.1',
    '172.15.255.255',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '2001:4860:4860::8888',
  ])('returns true for %s', (ip) => expect(isPublicAddress(ip)).toBe(true));
  it.each(['', 'localhost', '1.2.3', '::ffff:8.8.8.8', '::'])('returns false for %j', (ip) => expect(isPublicAddress(ip)).toBe(false));
});
