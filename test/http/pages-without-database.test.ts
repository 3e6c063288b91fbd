import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/config/config.ts';
import { createApp } from '../../src/http/app.ts';
import { openSite, type Site } from '../../src/site.ts';
import { DatabaseUnavailable } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { answerInMemory } from '../support/in-memory.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';

const PAGES = ['/', '/events/', '/admin', '/admin/events', '/nothing-here/'];
const request = (site: Site, path: string, accept = 'text/html,*/*', language = 'it') =>
  answerInMemory(createApp(site), '127.0.0.1', {
    method: 'GET',
    path,
    headers: { Accept: accept, 'Accept-Language': language },
    body: null,
  });

describeDatabases('a database that is away', (open) => {
  let running: RunningSite;
  let brokenSite: Site;
  beforeAll(async () => {
    running = await serveDatabase(await loadSite(await open()), { env: { PAGES: 'on' } });
    await running.site.settings();
    const settings = () => Promise.reject(new DatabaseUnavailable('unreachable'));
    brokenSite = { ...running.site, settings, forAnonymousReads: () => brokenSite };
  });
  afterAll(() => running.close());

  it.each(PAGES)('is reported at %s to a browser with a page in the look of the site', async (path) => {
    const { status, headers, text } = await request(brokenSite, path);
    expect([status, headers['content-type'], headers['retry-after']]).toEqual([503, 'text/html; charset=UTF-8', '2']);
    expect(text).toContain('<html lang="it">');
    expect(text).toContain('stylesheet');
  });

  it('is reported to programs, and by the API to everybody, as JSON', async () => {
    for (const [path, accept] of [
      ['/events/', '*/*'],
      [`${ROOT}/events`, 'text/html'],
      ['/?rest_route=/calendar/events/v1/events', 'text/html'],
    ] as const) {
      const { status, text } = await request(brokenSite, path, accept);
      expect([status, JSON.parse(text).code]).toEqual([503, 'rest_database_unavailable']);
    }
  });

  describe.each(['settings', 'version'] as const)('when the %s cannot be read', (part) => {
    const gone = () => Promise.reject(new DatabaseUnavailable('unreachable'));
    const site = (): Site => {
      if (part === 'settings') return brokenSite;
      const withoutVersion: Site = {
        ...running.site,
        freshness: { ...running.site.freshness, version: gone, cachedVersion: () => undefined },
        forAnonymousReads: () => withoutVersion,
      };
      return withoutVersion;
    };

    it.each([
      [`/it${ROOT}/events`, 'en', 'it'],
      [`/en${ROOT}/events`, 'it', 'en'],
      [`/en${ROOT}/events?translation_language=it`, 'en', 'it'],
      ['/index.php/it/?rest_route=/calendar/events/v1/events', 'en', 'it'],
      [`${ROOT}/events`, 'it', 'it'],
      ['/it/events/?ical=1', 'en', 'it'],
    ])('is reported at %s to readers of “%s” in “%s”', async (path, accepted, language) => {
      const { status, text } = await request(site(), path, '*/*', accepted);
      expect([status, JSON.parse(text).message]).toEqual([503, site().texts.t(language, 'problems:database-unavailable')]);
    });

    it('is reported in the form that the request asks for', async () => {
      const enveloped = await request(site(), `${ROOT}/events?_envelope=1`, '*/*');
      expect([enveloped.status, JSON.parse(enveloped.text)]).toMatchObject([
        200,
        { status: 503, body: { code: 'rest_database_unavailable' } },
      ]);
      const script = await request(site(), `${ROOT}/events?_jsonp=show`, '*/*');
      expect([script.status, script.headers['content-type']]).toEqual([503, 'application/javascript; charset=UTF-8']);
      expect(script.text).toMatch(/^\/\*\*\/show\(\{"code":"rest_database_unavailable"/);
      const misnamed = await request(site(), `${ROOT}/events?_jsonp=a-b`, '*/*');
      expect([misnamed.status, JSON.parse(misnamed.text).code]).toEqual([503, 'rest_database_unavailable']);
      expect((await request(site(), '/events/?ical=1&_envelope=1', '*/*')).status).toBe(503);
    });
  });
});

describe('a database that has been away since the start', () => {
  const siteWith = (pages: string) =>
    openSite(readConfig({ DATABASE_URL: 'mysql://u:p@127.0.0.1:1/n', PAGES: pages, LOG_LEVEL: 'silent', CACHE: 'off' }));

  it('is reported to a browser with a plain page', async () => {
    const site = await siteWith('on');
    for (const path of PAGES) {
      const { status, headers, text } = await request(site, path);
      expect([status, headers['content-type'], headers['retry-after']]).toEqual([503, 'text/html; charset=UTF-8', '2']);
      expect(text).toContain(site.texts.t('it', 'problems:database-unavailable'));
    }
    await site.close();
  });

  it('is reported with a page only by the desk if there are no other pages', async () => {
    const site = await siteWith('off');
    const types = await Promise.all(['/admin', '/events/'].map(async (path) => (await request(site, path)).headers['content-type']));
    expect(types).toEqual(['text/html; charset=UTF-8', expect.stringMatching(/^application\/json/)]);
    await site.close();
  });
});
