import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createBudget, SMALL_BODY_BYTES } from '../../src/http/limits.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { loadUsers, writeUserMeta } from '../../src/storage/rows/users.ts';
import { loginCookieName } from '../../src/wordpress/cookies.ts';
import { createNonce } from '../../src/wordpress/nonces.ts';
import { toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { createLoginCookie, LOGIN_KEYS } from '../support/login-cookie.ts';
import { basic, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

const EVENTS = '/wp-json/tribe/events/v1/events';
const MEDIA = '/wp-json/wp/v2/media';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' };
const PARTS_TYPE = { 'Content-Type': 'multipart/form-data; boundary=X' };
const TOO_LARGE = { status: 413, body: { code: 'rest_request_too_large', data: { status: 413 } } };
const READING = { status: 401, body: { code: 'rest_forbidden' } };

const spaces = (length: number) => `{${' '.repeat(length - 2)}}`;
const part = (name: string, value: string, more = '') => `--X\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const repeated = (count: number, piece: (number: number) => string, between = '') =>
  Array.from({ length: count }, (_, number) => piece(number)).join(between);

describeDatabases('request bodies', (open) => {
  let db: Database;
  let running: RunningSite;
  let send: RunningSite['send'];
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db, {
      env: { ...LOGIN_KEYS, BODY_LIMIT: '200kb', UPLOAD_LIMIT: '300kb', BODY_MEMORY: '2mb' },
      clock: () => new Date('2026-11-20T12:00:00Z'),
    });
    send = running.send;
  });
  afterAll(() => running.close());

  /** Opens a connection and sends only a part of the body. */
  async function begin(method: string, path: string, headers: Record<string, string>, sent: Buffer | string): Promise<Talk> {
    const { hostname, port } = new URL(running.base);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    socket.write(sent);
    return { socket, status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text: () => text };
  }
  interface Talk {
    readonly socket: Socket;
    readonly status: () => number;
    readonly text: () => string;
  }

  describe('of anonymous callers', () => {
    it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'OPTIONS'])('are limited to a small size for every method (%s)', async (method) => {
      const path = method === 'POST' ? EVENTS : `${EVENTS}/44`;
      const within = await send(method, path, { headers: JSON_TYPE, body: spaces(SMALL_BODY_BYTES) });
      expect(within.status).not.toBe(413);
      expect(await send(method, path, { headers: JSON_TYPE, body: spaces(SMALL_BODY_BYTES + 1) })).toMatchObject(TOO_LARGE);
    });

    it('are not read if the credentials are wrong', async () => {
      const headers = { ...JSON_TYPE, Authorization: `Basic ${btoa('admin:wrong')}`, 'Content-Length': '150000' };
      const talk = await begin('POST', EVENTS, headers, '{');
      while (talk.status() === 0) await sleep(10);
      talk.socket.destroy();
      expect(talk.status()).toBe(401);
    });

    it('are not read if the nonce is wrong', async () => {
      const talk = await begin('POST', EVENTS, { ...JSON_TYPE, 'X-WP-Nonce': 'wrong', 'Content-Length': '150000' }, '{');
      while (talk.status() === 0) await sleep(10);
      talk.socket.destroy();
      expect(talk.status()).toBe(403);
    });
  });

  describe('of authenticated callers', () => {
    it.each(['GET', 'DELETE', 'OPTIONS'])('are limited to a small size for methods without a body (%s)', async (method) => {
      const answer = await send(method, `${EVENTS}/9999`, { headers: JSON_TYPE, body: spaces(SMALL_BODY_BYTES + 1), as: 'admin' });
      expect(answer).toMatchObject(TOO_LARGE);
    });

    it.each([
      ['JSON', JSON_TYPE, (length: number) => spaces(length)],
      ['a form', FORM_TYPE, (length: number) => `a=${'x'.repeat(length - 2)}`],
      ['a form of parts', PARTS_TYPE, (length: number) => ' '.repeat(length)],
      ['something else', { 'Content-Type': 'text/plain' }, (length: number) => ' '.repeat(length)],
    ])('may be as large as BODY_LIMIT for writes (%s)', async (_, headers, body) => {
      const limit = 200 * 1024;
      expect((await send('POST', EVENTS, { headers, body: body(limit), as: 'admin' })).status).toBe(400);
      expect(await send('POST', EVENTS, { headers, body: body(limit + 1), as: 'admin' })).toMatchObject(TOO_LARGE);
    });

    it('may be as large as UPLOAD_LIMIT for uploads, except for their text fields', async () => {
      const [fields, all] = [200 * 1024, 300 * 1024];
      const raw = (length: number) =>
        send('POST', MEDIA, { headers: { 'Content-Type': 'image/png' }, body: Buffer.alloc(length), as: 'auth' });
      expect(await raw(all)).toMatchObject({ status: 400, body: { code: 'rest_upload_no_content_disposition' } });
      expect(await raw(all + 1)).toMatchObject(TOO_LARGE);
      const namedForm = (length: number, as: string) =>
        send('POST', MEDIA, {
          headers: { ...FORM_TYPE, 'Content-Disposition': 'form-data; filename="a.png"' },
          body: Buffer.alloc(length),
          as,
        });
      expect(await namedForm(all, 'auth')).toMatchObject({ status: 500, body: { code: 'rest_upload_sideload_error' } });
      expect(await namedForm(all + 1, 'auth')).toMatchObject(TOO_LARGE);
      expect(await namedForm(fields + 1, 'sub')).toMatchObject(TOO_LARGE);
      const parts = (text: number, file: number) =>
        `${part('other', 'x'.repeat(text))}${part('file', 'x'.repeat(file), '; filename="a.png"')}--X--\r\n`;
      const inParts = (text: number, file: number) => send('POST', MEDIA, { headers: PARTS_TYPE, body: parts(text, file), as: 'auth' });
      expect(await inParts(100, 250_000)).toMatchObject({ status: 500, body: { code: 'rest_upload_unknown_error' } });
      expect(await inParts(fields - 5, 100)).toMatchObject({ status: 500, body: { code: 'rest_upload_unknown_error' } });
      expect(await inParts(fields - 4, 100)).toMatchObject(TOO_LARGE);
      expect(await inParts(1, all)).toMatchObject(TOO_LARGE);
      expect(await send('POST', MEDIA, { headers: JSON_TYPE, body: spaces(fields + 1), as: 'auth' })).toMatchObject(TOO_LARGE);
    });
  });

  describe('without a type', () => {
    const values = { title: 'Untyped', start_date: '2026-12-01', end_date: '2026-12-01', status: 'draft' };
    const written = async (method: string, body: string, headers: Record<string, string> = {}) => {
      const { id } = (await send('POST', EVENTS, { body: values, as: 'admin' })).body;
      const answer = await send(method, `${EVENTS}/${id}`, { headers, body, as: 'admin' });
      return [answer.status, answer.body.title];
    };

    it.each(['PUT', 'PATCH'])('are read as forms by %s, as in WordPress', async (method) => {
      expect(await written(method, 'title=New+title')).toEqual([200, 'New title']);
      expect(await written('POST', 'title=New+title', { 'X-HTTP-Method-Override': method })).toEqual([200, 'New title']);
    });

    it('are read as forms by DELETE', async () => {
      const { id } = (await send('POST', EVENTS, { body: values, as: 'admin' })).body;
      const path = `/wp-json/wp/v2/tribe_events/${id}`;
      expect(await send('DELETE', path, { body: 'force=true', as: 'admin' })).toMatchObject({ status: 200, body: { deleted: true } });
    });

    it('are ignored by POST', async () => {
      expect(await written('POST', 'title=New+title')).toEqual([200, 'Untyped']);
    });

    it('are no JSON, whatever they look like', async () => {
      expect(await written('PUT', '{"title":"New title"}')).toEqual([200, 'Untyped']);
    });
  });

  it('and queries of writes are refused if they are not UTF-8', async () => {
    const count = async () => Number((await send('GET', `${EVENTS}?status=draft`, { as: 'admin' })).body.total);
    const before = await count();
    const form = 'title=Caf%E9&start_date=2026-12-01&end_date=2026-12-01&status=draft';
    for (const answer of [
      await send('POST', EVENTS, { headers: FORM_TYPE, body: form, as: 'admin' }),
      await send('POST', `${EVENTS}?${form}`, { as: 'admin' }),
      await send('POST', `${EVENTS}/44?_method=PUT&title=%E9`, { as: 'admin' }),
      await send('DELETE', `${EVENTS}/44?reason=%E9`, { as: 'admin' }),
    ])
      expect(answer).toMatchObject({ status: 400, body: { code: 'rest_invalid_encoding' } });
    expect(await count()).toBe(before);
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      expect([method, (await send(method, `${EVENTS}?search=caf%E9&utm_source=%E9`)).status]).toEqual([method, 200]);
    const written = await send('POST', EVENTS, { headers: FORM_TYPE, body: form.replace('%E9', '%C3%A9'), as: 'admin' });
    expect(written).toMatchObject({ status: 201, body: { title: 'Café' } });
  });

  describe('of callers with a login cookie', () => {
    const now = Date.parse('2026-11-20T12:00:00Z') / 1000;
    let cookie: string;
    let nonce: string;
    beforeAll(async () => {
      const { user_pass: userPass } = (await loadUsers(db, [3], [])).get(3)!.row;
      const made = createLoginCookie({ login: 'auth', userPass, expiration: now + 3600 }, 'a-keya-salt');
      cookie = `${loginCookieName('http://127.0.0.1:8081')}=${encodeURIComponent(made.value)}`;
      nonce = createNonce({ user: 3, token: made.token }, 'n-keyn-salt', now);
      await writeUserMeta(db, 3, 'session_tokens', toSerialized({ [made.sessionKey]: { expiration: now + 3600, ip: '192.0.2.1' } }));
    });
    const large = 'x'.repeat(SMALL_BODY_BYTES);
    const FIELDS = { title: 'Form', start_date: '2031-05-01 20:00', end_date: '2031-05-01 22:00', status: 'draft' };
    const form = (fields: Record<string, string>) => new URLSearchParams({ ...FIELDS, ...fields }).toString();
    const parts = (fields: Record<string, string>) =>
      `${Object.entries({ ...FIELDS, ...fields })
        .map(([name, value]) => part(name, value))
        .join('')}--X--\r\n`;

    it.each([
      ['in a header', {}, 'header'],
      ['in the form', {}, 'form'],
      ['in the form, while a header has a wrong one', { 'X-WP-Nonce': 'wrong' }, 'form'],
      ['in the form, while other credentials are there', { Authorization: `Basic ${btoa('staging:secret')}` }, 'form'],
    ])('may be large with a nonce %s', async (_, more, place) => {
      const inForm: Record<string, string> = place === 'form' ? { _wpnonce: nonce } : {};
      const headers = { Cookie: cookie, ...(place === 'form' ? {} : { 'X-WP-Nonce': nonce }), ...more };
      for (const [type, write] of [
        [FORM_TYPE, form],
        [PARTS_TYPE, parts],
      ] as const) {
        const answer = await send('POST', EVENTS, { headers: { ...headers, ...type }, body: write({ description: large, ...inForm }) });
        expect(answer).toMatchObject({ status: 201, headers: { 'x-wp-nonce': nonce }, body: { author: '3' } });
      }
    });

    it('need no more queries with a nonce in the form than with one in a header', async () => {
      const costOf = async (headers: Record<string, string>, body: string) => {
        const before = running.site.db.queries();
        expect(await send('POST', EVENTS, { headers: { Cookie: cookie, ...headers }, body })).toMatchObject({ status: 201 });
        return running.site.db.queries() - before;
      };
      const asJson = await costOf({ ...JSON_TYPE, 'X-WP-Nonce': nonce }, JSON.stringify(FIELDS));
      expect(await costOf(FORM_TYPE, form({ _wpnonce: nonce }))).toBe(asJson);
    });

    it('are anonymous without a nonce and refused with a wrong one', async () => {
      const headers = { Cookie: cookie, ...FORM_TYPE };
      expect(await send('POST', EVENTS, { headers, body: form({ description: large }) })).toMatchObject(READING);
      const wrong = await send('POST', EVENTS, { headers, body: form({ description: large, _wpnonce: 'wrong' }) });
      expect(wrong).toMatchObject({ status: 403, body: { code: 'rest_cookie_invalid_nonce' } });
    });

    it('are limited to a small size with a forged cookie, even with a valid nonce', async () => {
      const forged = cookie.slice(0, -3);
      const body = form({ description: large, _wpnonce: nonce });
      expect(await send('POST', EVENTS, { headers: { Cookie: forged, ...FORM_TYPE }, body })).toMatchObject(TOO_LARGE);
      const small = await send('POST', EVENTS, { headers: { Cookie: forged, ...FORM_TYPE }, body: form({ _wpnonce: nonce }) });
      expect(small).toMatchObject({ status: 403, body: { code: 'rest_cookie_invalid_nonce' } });
    });
  });

  it.each([
    ['too many values', JSON_TYPE, `{"a":[${repeated(50_000, () => '1', ',')}]}`, 413],
    ['too many members', JSON_TYPE, `{${repeated(16_000, (number) => `"${number}":{}`, ',')}}`, 400],
    ['lists within lists', JSON_TYPE, '['.repeat(100_000), 400],
    ['too many fields', FORM_TYPE, repeated(1001, (number) => `a${number}=1`, '&'), 413],
    ['as many fields as may be', FORM_TYPE, repeated(1000, (number) => `a${number}=1`, '&'), 400],
    ['too many parts', PARTS_TYPE, `${repeated(1001, (number) => part(`a${number}`, '1'))}--X--\r\n`, 413],
    ['as many parts as may be', PARTS_TYPE, `${repeated(1000, (number) => part(`a${number}`, '1'))}--X--\r\n`, 400],
    ['too many files', PARTS_TYPE, `${repeated(21, (number) => part(`a${number}`, '1', '; filename="a.txt"'))}--X--\r\n`, 413],
    ['parts without names', PARTS_TYPE, `${repeated(900, () => '--X\r\nContent-Disposition: form-data\r\n\r\nx\r\n')}--X--\r\n`, 400],
  ])('that contain %s return the expected status', async (_, headers, body, status) => {
    expect(Buffer.byteLength(body)).toBeLessThan(200 * 1024);
    const answer = await send('POST', EVENTS, { headers, body, as: 'admin' });
    expect(answer).toMatchObject(status === 413 ? TOO_LARGE : { status });
  });

  it('are read completely, whatever the size of their chunks', async () => {
    const bytes = Buffer.from(JSON.stringify({ description: Array.from({ length: 20_000 }, (_, number) => number).join(' ') }));
    for (const size of [1, 7, 4095, 4096, 4097, 65_536, bytes.length]) {
      const talk = await begin('POST', `${EVENTS}/44`, { ...JSON_TYPE, Authorization: basic('admin'), 'Transfer-Encoding': 'chunked' }, '');
      for (let at = 0; at < bytes.length; at += size) {
        const piece = bytes.subarray(at, at + size);
        talk.socket.write(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]));
      }
      talk.socket.write('0\r\n\r\n');
      while (talk.status() === 0) await sleep(10);
      talk.socket.destroy();
      expect(talk.status()).toBe(200);
      const { post_content: content } = (await db.from('posts').where('ID', 44).first('post_content'))!;
      expect(
        createHash('sha1')
          .update(JSON.stringify({ description: content }))
          .digest('hex'),
      ).toBe(createHash('sha1').update(bytes).digest('hex'));
    }
  });

  it.each([
    ['sent', ' '.repeat(SMALL_BODY_BYTES - 10)],
    ['announced', ''],
  ])('return 503 if anonymous bodies %s take too much memory together, but not for authenticated callers', async (_, start) => {
    const length = { 'Content-Length': String(SMALL_BODY_BYTES) };
    const talks: Talk[] = [];
    for (let number = 0; number < 12; number += 1) talks.push(await begin('POST', EVENTS, { ...JSON_TYPE, ...length }, start));
    while (talks.filter(({ status }) => status() === 503).length === 0) await sleep(10);
    const refused = talks.find(({ status }) => status() === 503)!;
    expect(refused.text()).toMatch(/\r\nRetry-After: 2\r\n/i);
    expect(refused.text()).toMatch(/"code":"rest_server_busy"/);
    const another = () => send('POST', EVENTS, { headers: JSON_TYPE, body: spaces(SMALL_BODY_BYTES) });
    expect(await another()).toMatchObject({ status: 503, body: { data: { status: 503 } } });
    expect((await send('POST', EVENTS, { headers: JSON_TYPE, body: spaces(150_000), as: 'admin' })).status).toBe(400);
    expect((await send('GET', EVENTS)).status).toBe(200);
    for (const { socket } of talks) socket.destroy();
    let status = 503;
    while (status === 503) status = (await another()).status;
    expect(status).toBe(400);
  });

  it('of one user leave memory for other users, even if they are only announced', async () => {
    const headers = { 'Content-Type': 'image/png' };
    const announcing = { ...headers, 'Content-Length': '290000', Authorization: basic('auth') };
    const talks: Talk[] = [];
    for (let number = 0; number < 12; number += 1) talks.push(await begin('POST', MEDIA, announcing, ''));
    while (!talks.some(({ status }) => status() === 503)) await sleep(10);
    const upload = (as: 'admin' | 'auth') => send('POST', MEDIA, { headers, body: Buffer.alloc(290_000), as });
    expect(await upload('auth')).toMatchObject({ status: 503, body: { code: 'rest_server_busy' } });
    // It gets memory and fails only because the file has no name.
    expect((await upload('admin')).status).toBe(400);
    for (const { socket } of talks) socket.destroy();
    let status = 503;
    while (status === 503) status = (await upload('auth')).status;
    expect(status).toBe(400);
  });

  it('may be as large as an upload only for users who may upload', async () => {
    const sent = { headers: { 'Content-Type': 'image/png' }, body: Buffer.alloc(290_000) };
    expect(await send('POST', MEDIA, { ...sent, as: 'sub' })).toMatchObject(TOO_LARGE);
    expect(await send('POST', MEDIA, { ...sent, as: 'auth' })).toMatchObject({ status: 400 });
  });

  it('release their memory, whether accepted or refused', async () => {
    const raw = (length: number) => ({ headers: { 'Content-Type': 'image/png' }, body: Buffer.alloc(length) });
    for (let round = 0; round < 20; round += 1) {
      expect((await send('POST', MEDIA, { ...raw(290_000), as: 'auth' })).status).toBe(400);
      expect((await send('POST', MEDIA, { ...raw(310_000), as: 'auth' })).status).toBe(413);
      expect((await send('POST', EVENTS, { headers: PARTS_TYPE, body: spaces(150_000), as: 'admin' })).status).toBe(400);
      const wrong = repeated(1001, (number) => part(`a${number}`, '1'));
      expect((await send('POST', EVENTS, { headers: PARTS_TYPE, body: wrong, as: 'admin' })).status).toBe(413);
    }
  });

  it.each([
    ['', 'Host: a.test\r\nHost: b.test'],
    ['the same ', 'Host: a.test\r\nhost: a.test'],
  ])('are irrelevant for a request with %stwo Host headers, which returns 400', async (_, hosts) => {
    const { hostname, port } = new URL(running.base);
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${EVENTS} HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toMatch(/"code":"rest_invalid_host"/);
  });
});

describe('memory budget for bodies', () => {
  const LIMITS = { bodyMemory: 4_000_000, bodyLimit: 100_000, uploadLimit: 100_000 };

  it('is shared by all callers and gives anonymous ones a quarter', () => {
    const budget = createBudget(LIMITS);
    const [stranger, other, one, two] = [budget.share(0), budget.share(0), budget.share(1), budget.share(2)];
    stranger.reserve(900_000);
    expect(() => other.reserve(100_001)).toThrow('server-busy');
    other.reserve(100_000);
    one.reserve(2_000_000);
    two.reserve(1_000_000);
    expect(() => two.reserve(1)).toThrow('server-busy');
    stranger.release();
    two.reserve(900_000);
    expect(() => other.reserve(1)).toThrow('server-busy');
  });

  it('gives at most two thirds to one user and the rest to others', () => {
    const budget = createBudget({ ...LIMITS, bodyMemory: 3_000_000 });
    const [share, next, other] = [budget.share(1), budget.share(1), budget.share(2)];
    share.reserve(1_500_000);
    next.reserve(500_000);
    expect(() => next.reserve(1)).toThrow('server-busy');
    other.reserve(1_000_000);
    expect(() => other.reserve(1)).toThrow('server-busy');
    share.release();
    next.reserve(1_500_000);
  });

  it('returns a share only once, however often it is released', () => {
    const budget = createBudget(LIMITS);
    const share = budget.share(1);
    share.reserve(2_500_000);
    share.release();
    share.release();
    const next = budget.share(1);
    next.reserve(2_500_000);
    expect(() => share.reserve(200_000)).toThrow('server-busy');
  });

  it('keeps no more of a share than was needed', () => {
    const budget = createBudget(LIMITS);
    const [share, next] = [budget.share(0), budget.share(0)];
    share.reserve(1_000_000);
    share.releaseAllBut(400_000);
    share.releaseAllBut(500_000);
    next.reserve(600_000);
    expect(() => next.reserve(1)).toThrow('server-busy');
    share.release();
    next.reserve(400_000);
    expect(() => share.reserve(1)).toThrow('server-busy');
  });

  it('is never less than the size of one body', () => {
    const share = createBudget({ bodyMemory: 1, bodyLimit: 1, uploadLimit: 1_000_000 }).share(1);
    expect(() => share.reserve(1_000_000)).not.toThrow();
  });
});
