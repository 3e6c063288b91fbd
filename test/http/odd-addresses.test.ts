import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';

/*
 * WordPress options that should be URLs but are not.
 */

const ODD = [
  '',
  '/',
  '/blog',
  'https://',
  'https:///blog',
  '//',
  'example.org',
  'garbage',
  'https://exa mple.org',
  'javascript:alert(1)',
  '%',
  'https://żółw.example',
  'https://日本.example/カレンダー',
];
const PATHS = ['/', '/wp-json/', `${ROOT}/events`, `${ROOT}/events/44`, `${ROOT}/doc`, '/wp-json/wp/v2/media', '/wp-json/tec/v1/events'];
const PAGES = ['/events/', '/events/?ical=1', '/events/feed/', '/sitemap.xml', '/admin'];
const HEADERS = { 'X-TEC-EEA': 'yes' };

describeDatabases('site with invalid URLs in its options', (open) => {
  let db: Database;
  let running: RunningSite;
  beforeAll(async () => {
    db = await loadSite(await open());
    running = await serveDatabase(db, { env: { CACHE: 'off', PAGES: 'on' } });
  });
  afterAll(() => running.close());

  const set = async (values: Readonly<Record<string, string>>) => {
    for (const [option_name, option_value] of Object.entries(values)) {
      if ((await db.from('options').where({ option_name }).update({ option_value })) === 0)
        await db.from('options').insert({ option_name, option_value });
    }
    await db.from('fasti_changes').increment('counter');
  };

  it.each(
    ODD.flatMap((value) =>
      [['home'], ['home', 'siteurl'], ['upload_url_path']].map((names) => [names.join(' and '), value, names] as const),
    ),
  )('serves requests if %s is %j', async (_which, value, names) => {
    const sound = { home: 'https://site.example', siteurl: 'https://site.example', upload_url_path: '' };
    await set({ ...sound, ...Object.fromEntries(names.map((name) => [name, value])) });
    const base = value === '/blog' && names.includes('siteurl') ? '/blog' : '';
    for (const path of [...PATHS, ...PAGES]) {
      const { status } = await running.send('GET', base + path, { headers: HEADERS });
      expect({ path, status: path === '/admin' ? 401 : 200 }).toEqual({ path, status });
    }
    const written = await running.send('POST', `${base}${ROOT}/events`, {
      as: 'admin',
      body: { title: 'Fair', start_date: '2030-01-01', end_date: '2030-01-01', image: '/wp-content/uploads/2026/11/wide.jpg' },
    });
    expect([201, 400]).toContain(written.status);
  });

  it('writes an internationalized home in Punycode in headers and as stored elsewhere', async () => {
    await set({ home: 'https://żółw.example', siteurl: 'https://żółw.example', upload_url_path: '' });
    const { headers, text } = await running.send('GET', '/events/list/', {});
    expect(headers['x-tec-api-origin']).toBe('https://xn--w-uga1v8h.example');
    expect(headers.link).toContain('<https://xn--w-uga1v8h.example/wp-json/>');
    expect(text).toContain('<link rel="canonical" href="https://żółw.example/events/list/"');
    const moved = await running.send('GET', '/?post_type=tribe_events&tag=outdoor&ical=1', {});
    expect([moved.status, moved.headers.location]).toEqual([
      301,
      expect.stringMatching(/^https:\/\/xn--w-uga1v8h\.example\/tag\/outdoor\//),
    ]);
  });
});
