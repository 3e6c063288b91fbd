import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeDatabases } from '../support/databases.ts';
import { readPage } from '../support/html-page.ts';
import { loadLanguages } from '../support/languages.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';

const FORMS = ['polylang', 'wpml'] as const;

describeDatabases('pages of a site whose content has languages', (open) => {
  const sites = new Map<string, RunningSite>();
  beforeAll(async () => {
    for (const form of FORMS) {
      const db = await loadLanguages(await open(), form);
      sites.set(form, await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') }));
    }
  });
  afterAll(() => Promise.all([...sites.values()].map((site) => site.close())));

  it.each(FORMS)('lead from one to another (%s)', async (form) => {
    const site = sites.get(form)!;
    const { home } = await site.site.settings();
    const page = async (url: string) => {
      const answer = await site.send('GET', url.replace(home, '') || '/');
      expect([url, answer.status]).toEqual([url, 200]);
      return readPage(answer.text);
    };
    const alternates = (read: ReturnType<typeof readPage>) =>
      read.elements.flatMap(({ attributes: { rel, hreflang = '', href = '' } }) =>
        rel === 'alternate' && hreflang !== '' ? [[hreflang, href] as const] : [],
      );
    const list = await page(`${home}/events/list/`);
    expect(alternates(list).map(([language]) => language.slice(0, 2))).toEqual(['en', 'it']);
    const titles = await Promise.all(alternates(list).map(async ([, href]) => (await page(href)).text));
    expect(new Set(titles).size).toBe(2);

    const { body } = await site.send('GET', '/wp-json/tribe/events/v1/events?start_date=2000-01-01&per_page=50');
    const translated = (body.events as { url: string; translations?: Record<string, { url: string }> }[]).filter(
      ({ translations = {} }) => Object.keys(translations).length > 0,
    );
    expect(translated.length).toBeGreaterThan(0);
    for (const { url, translations = {} } of translated.slice(0, 5)) {
      const shown = alternates(await page(url)).map(([, href]) => href);
      expect(shown.sort()).toEqual([...new Set([url, ...Object.values(translations).map((other) => other.url)])].sort());
      for (const href of shown)
        expect(
          alternates(await page(href))
            .map(([, other]) => other)
            .sort(),
        ).toEqual(shown);
    }
  });
});
