import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, setOptions } from '../support/site.ts';

const NS = '/wp-json/tribe/events/v1';
const EVENT = `${NS}/events/44`;
/** Symbolic links in the uploads folder, and their targets. */
const LINKS = [
  ['inside.png', 'uploads/2026/picture.png'],
  ['out.txt', 'outside.txt'],
  ['out', ''],
] as const;
/** Files that must not be downloadable if one folder is used for everything. */
const PRIVATE = ['old.backup', '2026/A.BACKUP', 'new.backup.0a1b2c3d.part', 'administrator-password.txt', 'administrator-password-2.txt'];

describeDatabases('server', (open) => {
  let running: RunningSite;
  const folder = mkdtempSync(join(tmpdir(), 'fasti-http-'));
  const uploads = join(folder, 'uploads');
  beforeAll(async () => {
    const db = await loadSite(await open());
    mkdirSync(join(uploads, '2026'), { recursive: true });
    writeFileSync(join(folder, 'outside.txt'), 'outside');
    for (const name of ['picture.png', 'drawing.svg', 'page.html', '.hidden', 'nameless', 'sound.mp3'])
      writeFileSync(join(uploads, '2026', name), 'x');
    for (const [name, target] of LINKS) symlinkSync(join(folder, target), join(uploads, '2026', name));
    for (const name of PRIVATE) writeFileSync(join(uploads, name), 'x');
    // The uploads folder may itself be a symbolic link.
    symlinkSync(uploads, join(folder, 'link'));
    running = await serveDatabase(db, { env: { UPLOADS_DIR: join(folder, 'link'), BODY_LIMIT: '10kb' } });
  });
  afterAll(() => running.close());
  const get = (path: string, headers: Record<string, string> = {}) => running.send('GET', path, { headers });

  describe('reports', () => {
    it('that it is live and ready', async () => {
      expect((await get('/health/live')).status).toBe(200);
      expect(await get('/health/ready')).toMatchObject({ status: 200, body: { status: 'ready' } });
    });

    it.each(['/', '/wp-json-x', '/wp-admin/', '/%zz%', '//../../etc/passwd', '/de/wp-json/', `${EVENT}%`])(
      '404 rest_no_route for %s',
      async (path) => {
        expect(await get(path)).toMatchObject({ status: 404, body: { code: 'rest_no_route' } });
      },
    );

    it('304 if the ETag matches', async () => {
      const { headers } = await get(EVENT);
      expect(await get(EVENT, { 'If-None-Match': headers.etag! })).toMatchObject({ status: 304, text: '' });
      expect((await running.send('HEAD', EVENT)).headers).toMatchObject({
        etag: headers.etag,
        'content-length': headers['content-length'],
      });
    });
  });

  describe('responds', () => {
    it('in both namespaces, with URLs in the namespace of the request', async () => {
      expect((await get('/wp-json/calendar/events/v1/events/44')).body.rest_url).toMatch(/\/wp-json\/calendar\/events\/v1\/events\/44$/);
      expect((await get(EVENT)).body.rest_url).toMatch(/\/wp-json\/tribe\/events\/v1\/events\/44$/);
    });

    it('in the language of the parameter, else of the path, else of Accept-Language', async () => {
      const [english, italian] = ['en', 'it'].map((language) => running.site.texts.t(language, 'problems:rest-event-not-found'));
      const message = async (path: string, reader = '') => (await get(path, { 'Accept-Language': reader })).body.message;
      expect(await message(`${NS}/events/9999`)).toBe(english);
      expect(await message(`${NS}/events/9999`, 'it-CH, de;q=0.5')).toBe(italian);
      expect(await message(`/it${NS}/events/9999`, 'en')).toBe(italian);
      expect(await message(`/it${NS}/events/9999?translation_language=en`, 'it')).toBe(english);
      expect(await message(`${NS}/events/9999?lang=it`)).toBe(italian);
      expect(await message(`${NS}/events/9999?lang=de`)).toBe(english);
    });

    it('with the same records whatever the browser prefers', async () => {
      const paths = [EVENT, '/wp-json/tec/v1/events/44', '/wp-json/wp/v2/types', '/wp-json/wp/v2/taxonomies?context=view'];
      const eventPaths = ['/wp-json/tribe/events/v1/events?start_date=2020-01-01&per_page=50&search=free', ...paths];
      for (const path of eventPaths) {
        const [english, italian] = await Promise.all(
          ['en', 'it'].map((language) => get(path, { 'Accept-Language': language, 'X-TEC-EEA': 'yes' })),
        );
        expect([path, english?.status, italian?.text]).toEqual([path, 200, english?.text]);
      }
    });

    it('with prices and names of types in the language of the address or the parameter', async () => {
      const { id } = (
        await running.send('POST', `${NS}/events`, {
          as: 'admin',
          body: { title: 'Open day', start_date: '2027-03-01', end_date: '2027-03-01', cost: '0', status: 'publish' },
        })
      ).body;
      const cost = async (path: string, language = 'it') => (await get(path, { 'Accept-Language': language, 'X-TEC-EEA': 'y' })).body.cost;
      for (const path of [`${NS}/events/${id}`, `/wp-json/tec/v1/events/${id}`]) {
        expect([path, await cost(path)]).toEqual([path, 'Free']);
        expect([path, await cost(`/it${path}`, 'en')]).toEqual([path, 'Gratis']);
        expect([path, await cost(`${path}?lang=it`, 'en')]).toEqual([path, 'Gratis']);
        expect([path, await cost(`/it${path}?lang=en`)]).toEqual([path, 'Free']);
      }
      const names = async (query: string) =>
        Promise.all(
          ['types/tribe_events', 'taxonomies/tribe_events_cat'].map(
            async (path) => (await get(`/wp-json/wp/v2/${path}${query}`, { 'Accept-Language': 'it' })).body.name,
          ),
        );
      expect(await names('')).toEqual(['Events', 'Event Categories']);
      expect((await names('?lang=it'))[0]).toBe('Eventi');
    });

    it.each([
      ['//wp-json/tribe/events/v1/events/44', 'a path'],
      ['///wp-json/tribe/events/v1/events/44/', 'several slashes'],
      ['//?rest_route=/tribe/events/v1/events/44', 'a query'],
      ['//index.php?rest_route=/tribe/events/v1/events/44', 'a query of index.php'],
      ['/index.php//wp-json/tribe/events/v1/events/44', 'index.php'],
    ])('at %s, where a home ends with a slash (%s), as without it, also from memory', async (path) => {
      const { text } = await get(EVENT);
      for (let time = 0; time < 3; time += 1) expect(await get(path)).toMatchObject({ status: 200, text });
      expect(await get(path.replace('44', '9999'))).toMatchObject({ status: 404, body: { code: 'rest-event-not-found' } });
    });

    it.each(['//evil.example/wp-json/', '//evil.example/..', '//evil.example/events/', '/\\evil.example/'])(
      'to %s without repeating the host',
      async (path) => {
        const { status, headers, text } = await get(path);
        expect([status, JSON.stringify(headers) + text]).toEqual([404, expect.not.stringContaining('evil')]);
      },
    );

    it('with 404 to double slashes within the route', async () => {
      for (const path of ['/wp-json//tribe/events/v1/events', '//wp-json//tribe/events/v1', `${NS}//events`])
        expect(await get(path)).toMatchObject({ status: 404, body: { code: 'rest_no_route' } });
    });

    it('with URLs that contain the language segment of the request', async () => {
      const { body, headers } = await get(`/it${EVENT}`);
      expect(body.url).toMatch(/^http:\/\/127\.0\.0\.1:8081\/it\/event\//);
      expect(headers.link).toBe('<http://127.0.0.1:8081/it/wp-json/>; rel="https://api.w.org/"');
    });

    it('with 400 rest_not_in_enum to an unknown translation_language', async () => {
      const { status, body } = await get(`${EVENT}?translation_language=de`);
      expect(status).toBe(400);
      expect(body.data.details.translation_language.code).toBe('rest_not_in_enum');
    });

    it('with no-store to authenticated callers and a cacheable response to anonymous ones', async () => {
      const { headers } = await running.send('GET', EVENT, { as: 'admin' });
      expect(headers['cache-control']).toMatch(/no-store, private/);
      expect((await get(EVENT)).headers['cache-control']).toBe('public, no-cache');
    });

    it('with no-store if the answer depends on the body, which caches ignore', async () => {
      const ask = async (body: object | string, type = 'application/json') => {
        const { headers } = await running.send('GET', EVENT, { body, headers: { 'Content-Type': type } });
        return [headers['cache-control'], headers['surrogate-key']];
      };
      const personal = [expect.stringMatching(/no-store, private/), undefined];
      const open = ['public, no-cache', expect.any(String)];
      expect(await ask({ translation_language: 'it' })).toEqual(personal);
      expect(await ask('translation_language=it', 'application/x-www-form-urlencoded')).toEqual(personal);
      expect(await ask({})).toEqual(open);
    });

    it('with a function call to JSONP requests', async () => {
      const { text, headers } = await get(`${EVENT}?_jsonp=show&_fields=id`);
      expect([text, headers['content-type']?.toLowerCase()]).toEqual(['/**/show({"id":44})', 'application/javascript; charset=utf-8']);
    });

    it('with an X-Request-Id header and without X-Powered-By', async () => {
      const { headers } = await get(EVENT);
      expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
      expect(headers['x-powered-by']).toBeUndefined();
    });
  });

  describe('refuses', () => {
    /** The status of a response that arrives while the request body is still being sent. */
    const statusWhileSending = (headers: http.OutgoingHttpHeaders, begin: Buffer): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(running.base);
        const request = http.request({ hostname, port, method: 'POST', path: `${NS}/events`, headers }, (response) => {
          resolve(response.statusCode);
          request.destroy();
        });
        request.on('error', reject);
        request.write(begin);
      });

    it('a body whose Content-Length is too large before it is sent', async () => {
      expect(await statusWhileSending({ 'Content-Length': 1e12 }, Buffer.from('{'))).toBe(413);
    });

    it('a chunked body as soon as it exceeds the limit', async () => {
      expect(await statusWhileSending({ 'Transfer-Encoding': 'chunked' }, Buffer.alloc(20_000, 32))).toBe(413);
    });

    it('wrong credentials before routing', async () => {
      const headers = { Authorization: `Basic ${Buffer.from('admin:wrong').toString('base64')}` };
      for (const [method, path] of [
        ['GET', EVENT],
        ['GET', `${NS}/nope`],
        ['OPTIONS', EVENT],
      ] as const) {
        const answer = await running.send(method, path, { headers });
        expect(answer).toMatchObject({ status: 401, body: { code: 'incorrect_password' } });
        expect(answer.headers.allow).toBeUndefined();
      }
    });

    it('everything but the index if the REST API of the calendar is disabled', async () => {
      const { db } = running.site;
      await setOptions(db, { tribe_events_calendar_options: { 'rest-v1-disabled': true } });
      expect((await get(EVENT)).body.code).toBe('rest_no_route');
      const index = await get('/wp-json/');
      expect([index.status, index.body.namespaces.filter((name: string) => name.includes('events/v1'))]).toEqual([200, []]);
      await setOptions(db, { tribe_events_calendar_options: { 'rest-v1-disabled': false } });
      expect((await get(EVENT)).status).toBe(200);
    });
  });

  describe('serves a file', () => {
    const file = (name: string) => get(`/wp-content/uploads/2026/${name}`);

    it('that is an image inline and cacheable', async () => {
      const { status, headers } = await file('picture.png');
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'image/png',
        'cache-control': 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
      });
      expect(headers['content-disposition']).toBeUndefined();
    });

    it('that is a recording for the player of the browser, which loads it from the same address', async () => {
      const { headers } = await file('sound.mp3');
      expect(headers).toMatchObject({ 'content-type': 'audio/mpeg', 'access-control-allow-origin': '*' });
      expect(headers['content-disposition']).toBeUndefined();
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; media-src 'self';/);
    });

    it.each(['drawing.svg', 'page.html', 'nameless'])('that a browser might execute, %s, as a download', async (name) => {
      const { status, headers } = await file(name);
      expect([status, headers['content-disposition']]).toEqual([200, 'attachment']);
    });

    it('only if it meets the conditions of the request, and has the part that is wanted', async () => {
      const path = '/wp-content/uploads/2026/picture.png';
      const etag = String((await get(path)).headers.etag);
      const unmet = { status: 412, text: '', body: undefined };
      expect(await get(path, { 'If-Match': '"other"' })).toMatchObject(unmet);
      expect(await get(path, { 'If-Unmodified-Since': 'Fri, 01 Jan 2021 00:00:00 GMT' })).toMatchObject(unmet);
      const beyond = await get(path, { Range: 'bytes=500-' });
      expect([beyond.status, beyond.headers['content-range'], beyond.text]).toEqual([416, 'bytes */1', '']);
      expect(beyond.headers['cache-control']).toBeUndefined();
      expect(await get(path, { 'If-Match': etag, Range: 'bytes=0-' })).toMatchObject({ status: 206, text: 'x' });
      expect((await get('/wp-content/uploads/2026/none.png', { 'If-Match': etag })).status).toBe(404);
    });

    it('also if the request names its whole URL', async () => {
      const whole = await get('http://example.org/wp-content/uploads/2026/picture.png');
      expect([whole.status, whole.text]).toEqual([200, 'x']);
    });

    it('through a symbolic link inside the uploads folder', async () => expect((await file('inside.png')).status).toBe(200));

    it.each([
      '2026/out.txt',
      '2026/out/outside.txt',
      '2026/%6fut/outside.txt',
      '2026/',
      '2026',
      '',
      '2026/.hidden',
      '2026/none.png',
      '../outside.txt',
      '..%2foutside.txt',
      '%2e%2e/outside.txt',
      '..%5coutside.txt',
      '2026/../../outside.txt',
      '%00',
      '%zz',
      ...PRIVATE,
    ])('but returns 404 for %s', async (name) => {
      expect((await get(`/wp-content/uploads/${name}`)).status).toBe(404);
    });
  });
});

describeDatabases('site in a subfolder without pretty permalinks', (open) => {
  let running: RunningSite;
  beforeAll(async () => {
    const db = await loadSite(await open());
    await setOptions(db, { permalink_structure: '' });
    running = await serveDatabase(db, { env: { SITE_URL: 'https://x.test/cms/' } });
  });
  afterAll(() => running.close());

  it.each([
    '/cms/wp-json/tribe/events/v1/events',
    '/cms/?rest_route=/tribe/events/v1/events',
    '/cms/it/index.php?rest_route=/tribe/events/v1/events',
  ])('serves %s', async (path) => {
    expect((await running.send('GET', path)).body).toHaveProperty('events');
  });

  it('gives URLs that lead to the next page and back', async () => {
    const first = await running.send('GET', '/cms/it/?rest_route=/tribe/events/v1/events&per_page=2&search=e');
    expect(first.headers.link).toBe('<https://x.test/cms/it/index.php?rest_route=/>; rel="https://api.w.org/"');
    const next = new URL(first.body.next_rest_url);
    expect(next.href).toMatch(/^https:\/\/x\.test\/cms\/it\/index\.php\?rest_route=%2Ftribe%2Fevents%2Fv1%2Fevents%2F&/);
    const second = await running.send('GET', next.pathname + next.search);
    expect(second.body.total).toBe(first.body.total);
    expect(second.body.previous_rest_url).not.toMatch(/[&?]page=/);
  });
});
