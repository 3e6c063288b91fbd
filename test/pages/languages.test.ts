import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { addLanguage } from '../../src/storage/translations/site-languages.ts';
import { parseSerialized, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { readPage } from '../support/html-page.ts';
import { loadLanguages } from '../support/languages.ts';
import { filtersOn } from '../support/page-filters.ts';
import { loadRecurringSite } from '../support/recurring-site.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { setOptions } from '../support/site.ts';

const FORMS = ['polylang', 'wpml'] as const;

/** The links of a page to its translations, by language. */
const alternates = (read: ReturnType<typeof readPage>) =>
  read.elements.flatMap(({ attributes: { rel, hreflang = '', href = '' } }) =>
    rel === 'alternate' && hreflang !== '' ? [[hreflang, href] as const] : [],
  );

describeDatabases('pages of a site with content in several languages', (open) => {
  const sites = new Map<string, RunningSite>();
  beforeAll(async () => {
    for (const form of FORMS) {
      const db = await loadLanguages(await open(), form);
      sites.set(form, await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') }));
    }
  });
  afterAll(() => Promise.all([...sites.values()].map((site) => site.close())));

  const readerOf = async (form: string) => {
    const site = sites.get(form)!;
    const { home } = await site.site.settings();
    const page = async (url: string) => {
      const answer = await site.send('GET', url.replace(home, '') || '/');
      expect([url, answer.status]).toEqual([url, 200]);
      return readPage(answer.text);
    };
    return { site, home, page };
  };

  it.each(FORMS)('name the categories of their filters in their own language (%s)', async (form) => {
    const { site } = await readerOf(form);
    const { body } = await site.send('GET', '/wp-json/tribe/events/v1/categories?per_page=50&hide_empty=false');
    type Category = { name: string; slug: string; translations?: Record<string, { id: number }> };
    const category = (body.categories as Category[]).find(({ translations }) => translations?.it && translations?.en)!;
    const { body: translation } = await site.send('GET', `/wp-json/tribe/events/v1/categories/${category.translations!.it!.id}`);
    expect(translation.slug).not.toBe(category.slug);
    const { chips, chosen } = filtersOn((await site.send('GET', `/it/events/list/?categories=${category.slug}`)).text);
    expect([chips, chosen]).toEqual([[`Categoria: ${translation.name} ×`], [translation.name]]);
  });

  it.each(FORMS)('are found by former slugs that translations share, in the language of the address (%s)', async (form) => {
    const { site, home } = await readerOf(form);
    const { db } = site.site;
    for (const [kind, path] of [
      ['events', 'event'],
      ['venues', 'venue'],
    ]) {
      const list = (await site.send('GET', `/wp-json/tribe/events/v1/${kind}?lang=it&start_date=2000-01-01&per_page=50`)).body;
      type Listed = { id: number; url: string; language: string; translations?: Record<string, { id: number; url: string }> };
      const italian = (list[kind!] as Listed[]).find(({ language, translations }) => language === 'it' && translations?.en)!;
      const english = italian.translations!.en!;
      for (const post_id of [italian.id, english.id])
        await db.from('postmeta').insert({ post_id, meta_key: '_wp_old_slug', meta_value: 'former-name' });
      const led = async (at: string) => (await site.send('GET', at)).headers.location;
      expect(await led(`/${path}/former-name/`)).toBe(english.url);
      expect(await led(`/it/${path}/former-name/`)).toBe(italian.url);
      await db.from('postmeta').where({ post_id: italian.id, meta_value: 'former-name' }).delete();
      expect([home, await led(`/it/${path}/former-name/?x=1`)]).toEqual([home, `${english.url}?x=1`]);
    }
  });

  it.each(FORMS)('link to one another (%s)', async (form) => {
    const { site, home, page } = await readerOf(form);
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

  it.each(FORMS)('have one canonical URL in each language, whichever URL was requested (%s)', async (form) => {
    const { home, page } = await readerOf(form);
    const addressOf = async (path: string) => {
      const read = await page(home + path);
      const own = read.elements.find(({ attributes }) => attributes.rel === 'canonical')!.attributes.href!;
      return [own.replace(home, ''), alternates(read).map(([, href]) => href.replace(home, ''))];
    };
    const both = ['/events/list/', '/it/events/list/'];
    expect(await addressOf('/events/list/?lang=it')).toEqual(['/it/events/list/', both]);
    expect(await addressOf('/it/events/list/')).toEqual(['/it/events/list/', both]);
    expect(await addressOf('/en/events/list/')).toEqual(['/events/list/', both]);
  });

  it.each(FORMS)('of events link to those of their categories in their language (%s)', async (form) => {
    const { home, page } = await readerOf(form);
    const { elements } = await page(`${home}/it/event/concerto-destate/`);
    const links = elements.flatMap(({ attributes: { href = '' } }) => (href.includes('/category/') ? [href.replace(home, '')] : []));
    expect([...new Set(links)]).toEqual(['/it/events/category/musica/']);
  });

  it.each(FORMS)('and feeds have the language of their content, whatever the request prefers (%s)', async (form) => {
    const { site } = await readerOf(form);
    for (const [path, locale, words] of [
      ['/events/list/', 'en_US', 'X-WR-CALDESC:Events of '],
      ['/it/events/list/', 'it_IT', 'X-WR-CALDESC:Eventi di '],
    ] as const) {
      const headers = { 'accept-language': locale === 'it_IT' ? 'en' : 'it' };
      const { elements } = readPage((await site.send('GET', path, { headers })).text);
      expect([path, elements.find(({ name }) => name === 'html')?.attributes.lang]).toEqual([path, locale.slice(0, 2)]);
      const shown = elements.find(({ attributes }) => attributes.property === 'og:locale')?.attributes.content;
      expect([path, shown]).toEqual([path, locale]);
      expect((await site.send('GET', `${path}?ical=1`, { headers })).text).toContain(words);
    }
  });

  it('mark only the texts of an event as foreign, not its dates, on lists and months', async () => {
    const db = await loadLanguages(await open(), 'wpml');
    // WPML lets lists contain events that have no translation.
    await setOptions(db, { icl_sitepress_settings: { custom_posts_sync_option: { tribe_events: 2 } } });
    const site = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') });
    const list = (await site.send('GET', '/it/events/list/')).text;
    const cards = (list.match(/<article.*?<\/article>/g) ?? []).filter((card) => card.includes(' lang="en-US"'));
    expect(cards.length).toBeGreaterThan(0);
    for (const card of cards) {
      const marked = [...card.matchAll(/<(\w+)(?: class="([^"]*)")? lang="en-US"/g)].map(([, name, className]) => className ?? name);
      expect(marked.filter((name) => !['h3', 'card-where', 'card-summary', 'card-picture'].includes(name!))).toEqual([]);
    }
    const month = /datetime="(\d{4}-\d\d)/.exec(cards[0]!)?.[1];
    const { text } = await site.send('GET', `/it/events/${month}/`);
    const days = text.slice(text.indexOf('<tbody>'), text.indexOf('</tbody>'));
    expect(new Set(days.match(/<\w+(?= lang="en-US")/g))).toEqual(new Set(['<bdi']));
    await site.close();
  });

  it.each(FORMS)('that do not exist are in the language of their path, and have no canonical URL (%s)', async (form) => {
    const { site } = await readerOf(form);
    for (const [path, language] of [
      ['/it/nothing-here/', 'it'],
      ['/it/events/2026-13/', 'it'],
      ['/it/event/none/', 'it'],
      ['/nothing-here/', 'en'],
    ] as const) {
      const answer = await site.send('GET', path, { headers: { accept: 'text/html', 'accept-language': 'en' } });
      expect([path, answer.status, answer.text.includes(`<html lang="${language}`)]).toEqual([path, 404, true]);
      const named = readPage(answer.text).elements.filter(({ attributes: { rel, hreflang } }) => rel === 'canonical' || (hreflang && rel));
      expect([path, named.map(({ name, attributes: { rel } }) => `${name} ${rel}`)]).toEqual([path, []]);
    }
  });

  it.each(FORMS)('of a category or a tag link to its translations, and have one canonical URL each (%s)', async (form) => {
    const { site, home, page } = await readerOf(form);
    const terms: { url: string; slug: string; translations: Record<string, { url: string }> }[] = [];
    for (const path of ['categories', 'tags']) {
      const { body } = await site.send('GET', `/wp-json/tribe/events/v1/${path}?lang=all&per_page=50`);
      terms.push(...body[path].filter((term: (typeof terms)[number]) => Object.keys(term.translations ?? {}).length > 1));
    }
    expect(terms.length).toBeGreaterThan(1);
    const canonical = (read: ReturnType<typeof readPage>) =>
      read.elements.find(({ attributes: { rel } }) => rel === 'canonical')?.attributes.href;
    for (const { url, slug, translations } of terms) {
      const read = await page(url);
      const expected = Object.values(translations).map((other) => `${other.url.replace(/\/$/, '')}/list/`);
      const shown = alternates(read).map(([, href]) => href);
      expect([url, shown.map((href) => href.replace('/events/tag/', '/tag/')).sort()]).toEqual([url, expected.sort()]);
      expect(shown).toContain(canonical(read));
      // A page of one language requested under the home of another is the translation.
      for (const href of shown.filter((other) => other !== canonical(read)))
        expect([href, canonical(await page(href.replace(/[^/]+\/list\/$/, `${slug}/list/`)))]).toEqual([href, href]);
    }
    expect(home).toBeDefined();
  });
});

describeDatabases('pages of a site with query URLs', (open) => {
  it('link to pages in the language that a URL gives, and have canonical URLs in it', async () => {
    const db = await loadLanguages(await open(), 'polylang');
    await db.from('options').where('option_name', 'permalink_structure').update({ option_value: '' });
    const site = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') });
    const { home } = await site.site.settings();
    const month = '/?post_type=tribe_events&eventDisplay=month&eventDate=2030-08';
    for (const path of [month, '/?post_type=tribe_events&eventDisplay=list']) {
      const { elements } = readPage((await site.send('GET', `${path}&lang=it`)).text);
      const found = (rel: string) => elements.filter(({ attributes }) => attributes.rel === rel).map(({ attributes }) => attributes);
      expect(found('canonical').map(({ href }) => href)).toEqual([`${home}${path}&lang=it`]);
      expect(found('alternate').flatMap(({ hreflang, href }) => (hreflang ? [[hreflang, href]] : []))).toEqual([
        ['en-US', home + path],
        ['it-IT', `${home}${path}&lang=it`],
      ]);
      const links = elements.flatMap(({ attributes: { href = '', hreflang } }) => (hreflang ? [] : [decodeURIComponent(href)]));
      const ofPages = links.filter((href) => /tribe_events|tribe_events_cat/.test(href));
      expect(ofPages.length).toBeGreaterThan(10);
      expect(ofPages.filter((href) => !href.includes('lang=it'))).toEqual([]);
      expect(
        elements.some(({ attributes }) => attributes.type === 'hidden' && attributes.name === 'lang' && attributes.value === 'it'),
      ).toBe(true);
    }
    await site.close();
  });
});

describeDatabases('the suggestion page, with the language chosen by a parameter', (open) => {
  it('keeps the language from the link in the menu to the stored suggestion', async () => {
    const db = await loadLanguages(await open(), 'polylang');
    await db.from('options').where('option_name', 'permalink_structure').update({ option_value: '' });
    await db.from('options').insert({ option_name: 'fasti_suggest_slug', option_value: 'suggest' });
    const env = { PAGES: 'on', SITE_URL: 'http://www.example.org:81' };
    const site = await serveDatabase(db, { env, clock: () => new Date('2026-11-20T12:00:00Z') });
    const headers = { host: 'www.example.org:81', accept: 'text/html', 'accept-language': 'en' };
    const form = '/events/suggest/?lang=it';
    const list = await site.send('GET', '/?post_type=tribe_events&eventDisplay=list&lang=it', { headers });
    expect(list.text).toContain(`href="http://www.example.org:81${form}"`);
    const page = await site.send('GET', form, { headers });
    expect([page.status, page.text.includes('Proponi un evento'), page.text.includes(`action="${form}"`)]).toEqual([200, true, true]);
    const [cookie = ''] = [page.headers['set-cookie'] ?? []].flat();
    expect(cookie).toContain('Path=/events/suggest/;');
    const sent = new URLSearchParams({
      ...{ key: /fasti_suggest=([^;]*)/.exec(cookie)![1]!, title: 'Sagra del paese', from_name: 'Rosa', from_email: 'rosa@example.org' },
      ...{ 'start_date[date]': '2027-03-04', 'start_date[time]': '21:00', 'end_date[date]': '2027-03-04', 'end_date[time]': '23:00' },
    });
    const done = await site.send('POST', form, {
      headers: { ...headers, cookie: cookie.split(';')[0]!, 'content-type': 'application/x-www-form-urlencoded' },
      body: sent.toString(),
    });
    expect([done.status, done.headers.location]).toEqual([303, `${form}&sent=1`]);
    const { ID } = (await db.from('posts').where('post_title', 'Sagra del paese').first('ID'))!;
    const languages = await db
      .from('term_relationships', 'r')
      .join({ tt: db.table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
      .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
      .where({ 'r.object_id': ID, 'tt.taxonomy': 'language' })
      .select('t.slug');
    expect(languages).toEqual([{ slug: 'it' }]);
    await site.close();
  });
});

describeDatabases('pages of a site with languages by host or parameter', (open) => {
  it.each([
    ['hosts', 2, '/events/list/', 'it.example.org:81'],
    ['a parameter', 0, '/events/list/?lang=it', 'www.example.org:81'],
  ] as const)('are in the language of their content, whatever the request prefers (%s)', async (_by, form, path, host) => {
    const db = await loadLanguages(await open(), 'polylang');
    const row = await db.from('options').where('option_name', 'polylang').first();
    const value = toSerialized({ ...(parseSerialized(String(row?.option_value)) as object), force_lang: form });
    await db.from('options').where('option_name', 'polylang').update({ option_value: value });
    const env = { PAGES: 'on', SITE_URL: 'http://www.example.org:81' };
    const site = await serveDatabase(db, { env, clock: () => new Date('2026-11-20T12:00:00Z') });
    for (const _ of [1, 2]) {
      const { status, text } = await site.send('GET', path, { headers: { host, accept: 'text/html', 'accept-language': 'en' } });
      expect([status, /<html lang="([^"]*)"/.exec(text)?.[1], text.includes('Prossimi eventi')]).toEqual([200, 'it', true]);
    }
    await site.close();
  });
});

describeDatabases('pages of translations with the same slug', (open) => {
  it('are in the language of their path, and those of terms name only that language', async () => {
    const db = await loadLanguages(await open(), 'wpml');
    for (const [id, post_name] of [
      [102, 'town-hall'],
      [107, 'city-council'],
    ] as const)
      await db.from('posts').where('ID', id).update({ post_name });
    await db.from('terms').where('term_id', 40).update({ slug: 'music' });
    const site = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') });
    const heading = async (path: string) => {
      const { elements } = readPage((await site.send('GET', path)).text);
      return elements.find(({ name }) => name === 'h1')?.text;
    };
    expect([await heading('/venue/town-hall/'), await heading('/it/venue/town-hall/')]).toEqual(['Town Hall', 'Municipio']);
    expect([await heading('/organizer/city-council/'), await heading('/it/organizer/city-council/')]).toEqual(['City Council', 'Comune']);
    expect(await heading('/events/category/music/')).toBe('Music – Upcoming events');
    expect(await heading('/it/events/category/music/')).toBe('Musica | Prossimi eventi');
    expect((await site.send('GET', '/it/events/category/music/feed/')).text).toContain('<title>Musica - ');
    await site.close();
  });
});

describeDatabases('pages of a language without texts of the interface', (open) => {
  it('name the language of their content, and have its text direction', async () => {
    const db = await loadLanguages(await open(), 'polylang');
    await addLanguage(db, { code: 'ar', locale: 'ar', name: 'العربية', rtl: true, isDefault: false });
    const [language] = await db
      .from('term_taxonomy', 'tt')
      .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
      .where({ 't.slug': 'ar', 'tt.taxonomy': 'language' })
      .select('tt.term_taxonomy_id');
    const rows = [114, 105].map((object_id) => ({ object_id, term_taxonomy_id: language.term_taxonomy_id, term_order: 0 }));
    await db.from('term_relationships').insert(rows);
    await db.from('posts').whereIn('ID', [114, 105]).update({ post_title: 'مهرجان الموسيقى (2027)', post_content: 'نص!' });
    const site = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') });
    for (const path of ['/ar/event/legacy-meeting/', '/ar/venue/neutral-hall/']) {
      const { elements, links } = readPage((await site.send('GET', path)).text);
      const of = (wanted: string) =>
        elements.find(({ name, attributes }) => name === wanted || (name === 'div' && attributes.class === wanted));
      for (const name of ['h1', 'text'])
        expect([path, name, of(name)?.attributes]).toEqual([path, name, expect.objectContaining({ lang: 'ar', dir: 'auto' })]);
      const [doc = ''] = links.filter((link) => link.endsWith('/doc'));
      expect([doc, (await site.send('GET', new URL(doc).pathname)).status]).toEqual([expect.stringMatching(/\/ar\/doc$/), 200]);
    }
    const { elements } = readPage((await site.send('GET', '/ar/events/list/')).text);
    expect(elements.find(({ name }) => name === 'h3')?.attributes.dir).toBe('auto');
    await site.close();
  });
});

describeDatabases('the sitemap of a site with a hidden language', (open) => {
  it('leaves out records in that language, and contains records without a language', async () => {
    const db = await loadLanguages(await open(), 'wpml');
    const site = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') });
    const named = async () => {
      const files = ['pages', 'events', 'venues', 'organizers'].map((part) => site.send('GET', `/sitemap-${part}-1.xml`));
      const urls = (await Promise.all(files)).flatMap(({ text }) => [...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url]) => url!));
      return urls.map((url) => /([^/]+)\/$/.exec(url.replace(/\/list\/$/, '/'))?.[1]);
    };
    const italian = ['concerto-destate', 'municipio', 'comune', 'musica'];
    const others = ['summer-concert', 'legacy-meeting', 'town-hall', 'neutral-hall', 'city-council', 'music'];
    expect(await named()).toEqual(expect.arrayContaining([...italian, ...others]));
    await setOptions(db, { icl_sitepress_settings: { hidden_languages: ['it'] } });
    const now = await named();
    expect([now, now.filter((slug) => italian.includes(slug!))]).toEqual([expect.arrayContaining(others), []]);
    await site.close();
  });
});

describeDatabases('the sitemap of a site whose languages have hosts', (open) => {
  it('lists on each host the pages of its language, and each published record on one host', async () => {
    const db = await loadLanguages(await open(), 'polylang');
    const polylang = parseSerialized((await db.from('options').where('option_name', 'polylang').first())!.option_value!) as object;
    await setOptions(db, { polylang: { ...polylang, force_lang: 2 } });
    const env = { PAGES: 'on', SITE_URL: 'http://www.example.org' };
    const site = await serveDatabase(db, { env, clock: () => new Date('2026-11-20T12:00:00Z') });
    const read = async (host: string, path: string) => (await site.send('GET', path, { headers: { Host: host } })).text;
    const locations = (xml: string) => [...xml.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => url!);
    const pagesOf = async (host: string) => {
      const files = locations(await read(host, '/sitemap.xml'));
      const pages = await Promise.all(files.map(async (file) => locations(await read(host, new URL(file).pathname))));
      return { files, pages: pages.flat() };
    };
    for (const _ of ['computed', 'from memory']) {
      for (const host of ['www.example.org', 'it.example.org']) {
        const { files, pages } = await pagesOf(host);
        expect(await read(host, '/robots.txt')).toContain(`Sitemap: http://${host}/sitemap.xml`);
        expect([...files, ...pages].filter((url) => new URL(url).host !== host)).toEqual([]);
        const slug = host.startsWith('it') ? 'concerto-destate' : 'summer-concert';
        const paths = ['/events/list/', '/events/month/', `/event/${slug}/`];
        expect(pages).toEqual(expect.arrayContaining(paths.map((path) => `http://${host}${path}`)));
        expect(new Set(pages).size).toBe(pages.length);
      }
    }
    await site.close();
  });
});

const addEnglishAndItalian = async (db: Database): Promise<void> => {
  for (const [code, locale, isDefault] of [
    ['en', 'en_US', true],
    ['it', 'it_IT', false],
  ] as const)
    await addLanguage(db, { code, locale, name: code, rtl: false, isDefault });
};

describeDatabases('the page of a recurring event', (open) => {
  it('links to its other dates in the language of the event, whatever language the path has', async () => {
    const db = await loadRecurringSite(await open());
    await addEnglishAndItalian(db);
    const [language] = await db
      .from('term_taxonomy', 'tt')
      .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
      .where({ 't.slug': 'it', 'tt.taxonomy': 'language' })
      .select('tt.term_taxonomy_id');
    await db.from('term_relationships').insert({ object_id: 501, term_taxonomy_id: language.term_taxonomy_id, term_order: 0 });
    const site = await serveDatabase(db, {
      env: { PAGES: 'on', CONTENT_LANGUAGES: 'polylang' },
      clock: () => new Date('2026-11-20T12:00:00Z'),
    });
    for (const path of ['/event/tower-open-daily/', '/it/event/tower-open-daily/']) {
      const dates = readPage((await site.send('GET', path)).text).links.filter((link) => /\/\d{4}-\d\d-\d\d\//.test(link));
      expect(dates.length).toBeGreaterThan(3);
      for (const link of dates) expect([path, link]).toEqual([path, expect.stringContaining('/it/event/tower-open-daily/')]);
    }
    await site.close();
  });

  it('of a date link to the page of the same date in the other language, and back', async () => {
    const db = await loadRecurringSite(await open());
    await addEnglishAndItalian(db);
    const site = await serveDatabase(db, {
      env: { PAGES: 'on', CONTENT_LANGUAGES: 'polylang' },
      clock: () => new Date('2030-12-31T12:00:00Z'),
    });
    const events = '/wp-json/tribe/events/v1/events';
    expect((await site.send('PATCH', `${events}/502`, { as: 'admin', body: { language: 'en' } })).status).toBe(200);
    const body = { title: 'Coro', language: 'it', translation_of: 502, status: 'publish' };
    const translation = (await site.send('POST', events, { as: 'admin', body })).body;
    const { home } = await site.site.settings();
    const pageOf = async (url: string) => readPage((await site.send('GET', url.replace(home, ''))).text);
    const others = async (url: string) => Object.fromEntries(alternates(await pageOf(url)).map(([code, href]) => [code.slice(0, 2), href]));
    const italianDate = (await pageOf(translation.url)).links.filter((link) => /\/\d{4}-\d\d-\d\d\//.test(link))[1]!;
    const pair = await others(italianDate);
    expect([pair.it, pair.en]).toEqual([italianDate, expect.stringMatching(/\/\d{4}-\d\d-\d\d\//)]);
    expect(await others(pair.en!)).toEqual(pair);
    // A date that the translation does not have.
    const { body: list } = await site.send('GET', `${events}?lang=it&start_date=2031-01-01&end_date=2031-12-31&per_page=50`);
    const date = (list.events as { id: number; url: string }[]).find(({ url }) => url === italianDate)!;
    expect((await site.send('DELETE', `${events}/${date.id}?scope=date`, { as: 'admin' })).status).toBe(200);
    expect(await others(pair.en!)).toEqual({ en: pair.en });
    expect((await pageOf(pair.en!)).links).toContain(translation.url);
    await site.close();
  });
});

/** Ways to put the language into URLs, with the options of the site. */
const WAYS = [
  ['folders below `language/`', 'polylang', { polylang: { rewrite: false } }],
  ['a folder for the default language too', 'polylang', { polylang: { hide_default: false } }],
  ['nothing, the content alone', 'polylang', { polylang: { force_lang: 0 } }],
  ['folders, without rewriting', 'polylang', { permalink_structure: '/index.php/%postname%/' }],
  ['a parameter', 'wpml', { icl_sitepress_settings: { language_negotiation_type: 3 } }],
] as const;

describeDatabases('pages of a site with the language in the URL by', (open) => {
  const own = (read: ReturnType<typeof readPage>, wanted: string) =>
    read.elements.flatMap(({ attributes: { rel, hreflang = '', href = '' } }) =>
      rel === wanted && (rel !== 'alternate' || hreflang) ? [href] : [],
    );

  it.each(WAYS)('%s are at the URLs that other pages link to, and link to their translations', async (_, form, options) => {
    const db = await loadLanguages(await open(), form);
    await setOptions(db, { ...options, posts_per_page: '2' });
    const site = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') });
    const { home } = await site.site.settings();
    const [queue, pages] = [[`${home}/`], new Map<string, ReturnType<typeof readPage>>()];
    for (const url of queue) {
      if (pages.has(url) || pages.size > 35) continue;
      const { status, text, headers } = await site.send('GET', url.slice(home.length));
      expect([url, status]).toEqual([url, 200]);
      if (!headers['content-type']?.startsWith('text/html')) continue;
      const read = readPage(text);
      pages.set(url, read);
      // Days and months are left out, since they go on without end, and short URLs, which redirect.
      queue.push(
        ...read.links.filter(
          (link) => link.startsWith(home) && !/wp-json|rest_route|\d{4}-\d\d|today|filters|ical|feed|[?&]p=\d/.test(link),
        ),
      );
    }
    expect(pages.size).toBeGreaterThan(25);
    const sitemap = (await site.send('GET', '/sitemap-pages-1.xml')).text;
    for (const list of own(pages.get(`${home}/`)!, 'alternate')) expect(sitemap).toContain(`<loc>${list}</loc>`);
    const categories = [...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)]
      .map(([, loc]) => loc!.replaceAll('&amp;', '&'))
      .filter((loc) => loc.includes('/category/'));
    expect(categories.length).toBeGreaterThan(1);
    for (const url of categories) expect(own(readPage((await site.send('GET', url.slice(home.length))).text), 'canonical')).toEqual([url]);
    const named = new Map([...pages.values()].map((read) => [own(read, 'canonical')[0]!, own(read, 'alternate')]));
    for (const [url, others] of named) {
      if (others.length > 0) expect(others).toContain(url);
      for (const other of others) expect([url, other, named.get(other) ?? others]).toEqual([url, other, others]);
    }
    const isMutual = (url: string, others: readonly string[]) => others.some((other) => other !== url && named.has(other));
    expect([...named].filter(([url, others]) => isMutual(url, others)).length).toBeGreaterThan(3);
    await site.close();
  });

  it('a parameter have a second page of a venue, and their calendars and redirects keep the language', async () => {
    const db = await loadLanguages(await open(), 'wpml');
    await setOptions(db, { icl_sitepress_settings: { language_negotiation_type: 3 }, posts_per_page: '1' });
    const site = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') });
    const { home } = await site.site.settings();
    const first = await site.send('GET', '/venue/municipio/?lang=it');
    const [next] = own(readPage(first.text), 'next');
    expect(next).toBe(`${home}/venue/municipio/page/2/?lang=it`);
    expect(own(readPage((await site.send('GET', next!.slice(home.length))).text), 'prev')[0]).toBe(`${home}/venue/municipio/?lang=it`);
    const { headers } = await site.send('GET', '/?post_type=tribe_events&tribe_events_cat=musica&ical=1&lang=it');
    expect(headers.location).toBe(`${home}/events/category/musica/?lang=it&post_type=tribe_events&ical=1`);
    await site.close();
  });

  it('a parameter lead to feeds in their language, even if the pages themselves are not served', async () => {
    const db = await loadLanguages(await open(), 'wpml');
    await setOptions(db, { icl_sitepress_settings: { language_negotiation_type: 3 } });
    const site = await serveDatabase(db, { env: { PAGES: 'off' } });
    const { home } = await site.site.settings();
    const { status, headers } = await site.send('GET', '/events/list/?lang=it');
    const feeds = [...String(headers.link).matchAll(/<([^>]*)>; rel="alternate"; type="(?:text\/calendar|application\/rss)/g)].map(
      ([, url]) => url,
    );
    expect([status, feeds]).toEqual([404, [`${home}/events/?ical=1&lang=it`, `${home}/events/feed/?lang=it`]]);
    await site.close();
  });

  it('folders redirect feeds of categories and tags within the language, even if these have no translation', async () => {
    for (const [form, path] of [
      ['polylang', 'tribe_events_cat=archive'],
      ['wpml', 'tag=free'],
    ] as const) {
      const db = await loadLanguages(await open(), form);
      const site = await serveDatabase(db, { env: { PAGES: 'on' }, clock: () => new Date('2026-11-20T12:00:00Z') });
      const { headers } = await site.send('GET', `/it/?post_type=tribe_events&${path}&ical=1`);
      expect(headers.location).toMatch(/^http:\/\/[\w.:]+\/it\//);
      const translated = await site.send('GET', '/it/?post_type=tribe_events&tribe_events_cat=music&ical=1');
      expect(translated.headers.location).toContain('/it/events/category/musica/?');
      await site.close();
    }
  });
});
