import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { attemptsOf } from '../../src/accounts/attempts.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { serializedMembers, toSerialized } from '../../src/wordpress/php/serialized.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { type Answer, type RunningSite, serveDatabase } from '../support/running-site.ts';

const ROOT = '/wp-json/calendar/events/v1';
const SPAN = 'start_date=2031-01-01&end_date=2032-01-01&per_page=50';
const HOST = '127.0.0.1:8081';

describeDatabases('content in several languages', (open) => {
  let db: Database;
  let running: RunningSite;
  const sites: RunningSite[] = [];
  const serve = async (env: Record<string, string> = {}): Promise<RunningSite> => {
    const site = await serveDatabase(db, { env, clock: () => new Date('2026-11-22T21:30:00Z') });
    sites.push(site);
    return site;
  };
  beforeAll(async () => {
    db = await open();
    running = await serve();
  });
  beforeEach(async () => {
    await loadLanguages(db, 'polylang');
  });
  afterAll(() => Promise.all(sites.map((site) => site.close())));

  const ask = (
    path: string,
    { as, host = HOST, site = running }: { as?: string; host?: string; site?: RunningSite } = {},
  ): Promise<Answer> => site.send('GET', path, { headers: { Host: host }, ...(as ? { as } : {}) });
  const read = async (path: string, options: Parameters<typeof ask>[1] = {}) => {
    const answer = await ask(path, options);
    expect({ path, status: answer.status, ...(answer.status === 200 ? {} : { text: answer.text }) }).toEqual({ path, status: 200 });
    return answer.body;
  };
  const listed = async (path: string, options: Parameters<typeof ask>[1] = {}): Promise<number[]> => {
    const body = await read(path, options);
    const records = Object.values(body).find(Array.isArray) as { id: number }[];
    expect([path, body.total]).toEqual([path, records.length]);
    return records.map(({ id }) => id);
  };
  const rows = async (work: (db: Database) => PromiseLike<unknown>) => {
    await work(db);
    await db.from('fasti_changes').increment('counter');
  };
  /** Sets members of Polylang's option. */
  const option = (members: Record<string, unknown>) =>
    rows(async () => {
      const row = await db.from('options').where('option_name', 'polylang').first();
      const value = toSerialized({ ...serializedMembers(row?.option_value), ...members });
      await db.from('options').where('option_name', 'polylang').update({ option_value: value });
    });
  const addLanguage = async (code: string, locale: string) => {
    await db.from('terms').insert([
      { term_id: 90, name: code, slug: code, term_group: 2 },
      { term_id: 91, name: code, slug: `pll_${code}`, term_group: 0 },
    ]);
    await db.from('term_taxonomy').insert([
      { term_taxonomy_id: 120, term_id: 90, taxonomy: 'language', description: toSerialized({ locale }), parent: 0, count: 0 },
      { term_taxonomy_id: 121, term_id: 91, taxonomy: 'term_language', description: '', parent: 0, count: 0 },
    ]);
  };

  describe('translations', () => {
    const codesOf = async (id: number, as?: string) => Object.keys((await read(`${ROOT}/events/${id}`, as ? { as } : {})).translations);

    it('include only records that the caller may read and that are not in the trash', async () => {
      expect(await codesOf(110)).toEqual(['en', 'it']);
      expect([await codesOf(120), await codesOf(120, 'admin')]).toEqual([['it'], ['en', 'it']]);
      expect([await codesOf(121), await codesOf(121, 'admin')]).toEqual([['en'], ['en']]);
      expect(await codesOf(112)).toEqual(['en']);
      expect(await codesOf(114)).toEqual([]);
      await rows(() => db.from('posts').where('ID', 110).update({ post_status: 'private' }));
      expect([await codesOf(111), await codesOf(111, 'admin')]).toEqual([['it'], ['en', 'it']]);
      const { events } = await read(`/it${ROOT}/events?${SPAN}`);
      const shown = events.flatMap(({ translations }: { translations: object }) => Object.values(translations).map(({ id }) => id));
      expect(shown.filter((id: number) => [110, 119, 122, 125].includes(id))).toEqual([]);
    });

    it('are shown only to those who may see the record itself', async () => {
      const statuses = ['publish', 'future', 'draft', 'pending', 'private', 'trash'];
      for (const [is, path, ids] of [
        ['events', '/events', [110, 111]],
        ['venues', '/venues', [101, 102]],
        ['organizers', '/organizers', [106, 107]],
      ] as const) {
        const [shown, hidden] = ids;
        for (const post_status of statuses)
          for (const post_author of [1, 3]) {
            await rows(() => db.from('posts').where('ID', hidden).update({ post_status, post_author }));
            for (const as of [undefined, 'sub', 'contrib', 'auth', 'ed', 'admin']) {
              const who = as ? { as } : {};
              const readable = post_status !== 'trash' && (await ask(`${ROOT}${path}/${hidden}`, who)).status === 200;
              const single = (await read(`${ROOT}${path}/${shown}`, who)).translations;
              const list = (await read(`${ROOT}${path}?include=${shown}&${SPAN}`, who))[is];
              const listed = list.find(({ id }: { id: number }) => id === shown).translations;
              const place = { is, post_status, post_author, as };
              expect({ ...place, single: 'it' in single, listed: 'it' in listed }).toEqual({
                ...place,
                single: readable,
                listed: readable,
              });
            }
          }
      }
    });

    it('have public URLs in their own language, and API URLs in the language of the request', async () => {
      const { url, language, translations } = await read(`/it${ROOT}/events/110`);
      expect([url, language]).toEqual([`http://${HOST}/event/summer-concert/`, 'en']);
      expect(translations).toEqual({
        en: { id: 110, url: `http://${HOST}/event/summer-concert/`, rest_url: `http://${HOST}/it${ROOT}/events/110` },
        it: { id: 111, url: `http://${HOST}/it/event/concerto-destate/`, rest_url: `http://${HOST}/it${ROOT}/events/111` },
      });
      const { categories } = await read(`${ROOT}/categories?lang=it`);
      const musica = categories.find(({ id }: { id: number }) => id === 40);
      expect([musica.url, musica.translations.en.url]).toEqual([
        `http://${HOST}/it/events/category/musica/`,
        `http://${HOST}/events/category/music/`,
      ]);
    });

    it('have public URLs in their own language in wp/v2 and in the search of the site, too', async () => {
      const italian = `http://${HOST}/it/events/category/musica/`;
      expect((await read('/wp-json/wp/v2/tribe_events_cat/40')).link).toBe(italian);
      const links = async (path: string, member: string) =>
        (await read(path)).filter(({ id }: { id: number }) => [40, 111].includes(id)).map((one: Record<string, string>) => one[member]);
      expect(await links('/wp-json/wp/v2/tribe_events_cat?per_page=50', 'link')).toEqual([italian]);
      expect(await links('/it/wp-json/wp/v2/search?type=term&search=musica', 'url')).toEqual([italian]);
      const event = `http://${HOST}/it/event/concerto-destate/`;
      for (const subtype of ['tribe_events', 'any'])
        expect([subtype, await links(`/wp-json/wp/v2/search?search=concerto&subtype=${subtype}`, 'url')]).toEqual([subtype, [event]]);
      const { permalink_template: template } = await read('/wp-json/wp/v2/tribe_events/111?context=edit', { as: 'admin' });
      expect(template).toBe(`http://${HOST}/it/event/%pagename%/`);
    });

    it('are also in the headers', async () => {
      const { headers } = await ask(`${ROOT}/events/111`);
      expect(headers['content-language']).toBe('it');
      expect(headers.link).toContain(`<http://${HOST}/it/event/concerto-destate/>; rel="alternate"; hreflang="it"`);
      expect(headers.link).toContain(`<http://${HOST}/event/summer-concert/>; rel="alternate"; hreflang="x-default"`);
      expect(headers['surrogate-key']?.toString().split(' ')).toEqual(expect.arrayContaining(['event-111', 'event-110']));
      expect((await ask(`${ROOT}/events/114`)).headers['content-language']).toBeUndefined();
      expect((await ask(`/it${ROOT}/events?${SPAN}`)).headers['content-language']).toBe('it');
      expect((await ask(`${ROOT}/events?${SPAN}&lang=all`)).headers['content-language']).toBeUndefined();
    });

    it('are in the headers according to the records in a list, not to the requested language', async () => {
      const spoken = async (path: string) => {
        const { headers, body } = await ask(`/it${ROOT}${path}`);
        const records: { language: string | null }[] = Object.values(body).find(Array.isArray) ?? [];
        return [headers['content-language'], [...new Set(records.map(({ language }) => language))]];
      };
      // An English event, and an Italian one whose venue has no translation.
      expect(await spoken('/categories?event=110')).toEqual(['en', ['en']]);
      expect(await spoken('/venues?event=116')).toEqual(['en', ['en']]);
      expect(await spoken('/venues?event=118')).toEqual(['it', ['it']]);
      expect(await spoken(`/events?${SPAN}&language_fallback=true`)).toEqual([undefined, expect.arrayContaining(['en', 'it'])]);
      expect(await spoken(`/events?${SPAN}&language_fallback=`)).toEqual(await spoken(`/events?${SPAN}`));
      expect(await spoken('/venues?search=nowhere')).toEqual(['it', []]);
    });
  });

  describe('records within an event', () => {
    const venueOf = async () => (await read(`/it${ROOT}/events/118`)).venue.id;

    it('are the stored ones if the translation is not published', async () => {
      expect(await venueOf()).toBe(102);
      for (const post_status of ['draft', 'trash', 'private']) {
        await rows(() => db.from('posts').where('ID', 102).update({ post_status }));
        expect([post_status, await venueOf()]).toEqual([post_status, 101]);
      }
    });

    it('are shown once if two links have the same translation, and as stored without a chosen language', async () => {
      await rows(() => db.from('postmeta').insert({ meta_id: 9001, post_id: 118, meta_key: '_EventVenueID', meta_value: '102' }));
      expect(await venueOf()).toBe(102);
      expect((await read(`${ROOT}/events/118`)).venue.map(({ id }: { id: number }) => id)).toEqual([101, 102]);
      expect((await read(`${ROOT}/events/118?lang=all`)).venue.map(({ id }: { id: number }) => id)).toEqual([101, 102]);
    });

    it('are opened by their own password, which then is no wrong one', async () => {
      await rows(() => db.from('posts').where('ID', 102).update({ post_password: 'sesamo' }));
      await rows(() => db.from('posts').where('ID', 101).update({ post_password: 'sesame' }));
      const attempts = attemptsOf(running.site, 'record-password');
      const wait = () => attempts.secondsToWait('127.0.0.1', running.site.clock());
      for (let time = 0; time < 199; time += 1) attempts.countFailure('127.0.0.1', undefined, running.site.clock());
      expect((await read(`/it${ROOT}/events/118?password=sesamo`)).venue).toMatchObject({ id: 102, city: expect.stringMatching(/./) });
      expect((await read(`${ROOT}/events/118?password=sesame`)).venue).toMatchObject({ status: 'publish' });
      expect(wait()).toBeUndefined();
      await read(`/it${ROOT}/events/118?password=other`);
      expect(wait()).toBeGreaterThan(0);
    });

    it('have their language, but no translations', async () => {
      const { venue, organizer, categories } = await read(`/it${ROOT}/events/111`);
      for (const one of [venue, ...organizer, ...categories]) {
        expect([one.id, one.language]).toEqual([one.id, 'it']);
        expect(one).not.toHaveProperty('translations');
      }
    });
  });

  describe('the choice of a language', () => {
    const italian = [111, 113, 116, 118, 120];

    it('follows the parameters, then the path; an unknown code is ignored', async () => {
      const english = [110, 112, 115, 117, 121];
      expect(await listed(`/it${ROOT}/events?${SPAN}`)).toEqual(italian);
      expect(await listed(`/it${ROOT}/events?${SPAN}&lang=de`)).toEqual(italian);
      expect(await listed(`/it${ROOT}/events?${SPAN}&lang=en`)).toEqual(english);
      expect(await listed(`/it${ROOT}/events?${SPAN}&lang=en&translation_language=it`)).toEqual(italian);
      expect(await listed(`${ROOT}/events?${SPAN}&lang=en&wpml_language=it`)).toEqual(italian);
      expect(await listed(`/it${ROOT}/events?${SPAN}&lang=all`)).toHaveLength(11);
      expect((await ask(`${ROOT}/events?${SPAN}&translation_language=de`)).status).toBe(400);
      expect((await ask(`${ROOT}/events?${SPAN}&translation_language=all`)).status).toBe(200);
    });

    it('is contained once in the URLs of the pages of a list', async () => {
      const next = async (path: string) => (await read(path)).next_rest_url as string;
      const byParam = await next(`${ROOT}/events?${SPAN.replace('50', '2')}&lang=it&language_fallback=true`);
      expect([byParam.match(/\blang=it\b/g), byParam.match(/language_fallback=true/g)]).toEqual([['lang=it'], ['language_fallback=true']]);
      const bySegment = await next(`/it${ROOT}/events?${SPAN.replace('50', '2')}`);
      expect(bySegment).toMatch(/^http:\/\/127\.0\.0\.1:8081\/it\/wp-json\//);
      expect(bySegment).not.toMatch(/lang/);
      const against = await next(`/it${ROOT}/events?${SPAN.replace('50', '2')}&lang=en`);
      expect(against).toMatch(/^http:\/\/127\.0\.0\.1:8081\/wp-json\/.*lang=en/);
      const same = await next(`/it${ROOT}/events?${SPAN.replace('50', '2')}&translation_language=it`);
      expect(same).toMatch(/^http:\/\/127\.0\.0\.1:8081\/it\/wp-json\//);
      expect(same).not.toMatch(/translation_language/);
    });

    it('follows the setting if the request names no language', async () => {
      expect(await listed(`${ROOT}/events?${SPAN}`)).toHaveLength(11);
      expect(await listed(`${ROOT}/events?${SPAN}`, { site: await serve({ CONTENT_LANGUAGE_DEFAULT: 'it' }) })).toEqual(italian);
      const own = await serve({ SHARED_WITH_WORDPRESS: 'off' });
      await rows(() =>
        db
          .from('options')
          .where('option_name', 'active_plugins')
          .update({ option_value: toSerialized([]) }),
      );
      expect(await listed(`${ROOT}/events?${SPAN}`, { site: own })).toEqual([110, 112, 115, 117, 121]);
      expect(await listed(`${ROOT}/events?${SPAN}&lang=all`, { site: own })).toHaveLength(11);
    });

    it('follows the host if languages have hosts, in cached answers too', async () => {
      // A numeric host has no subdomains.
      await option({ force_lang: 2 });
      expect(await listed(`${ROOT}/events?${SPAN}`, { host: 'it.127.0.0.1:8081' })).toHaveLength(11);
      const site = await serve({ SITE_URL: 'http://www.example.org:81/cms' });
      for (const _ of [1, 2]) {
        expect(await listed(`/cms${ROOT}/events?${SPAN}`, { site, host: 'www.example.org:81' })).toHaveLength(11);
        expect(await listed(`/cms${ROOT}/events?${SPAN}`, { site, host: 'it.example.org:81' })).toEqual(italian);
      }
      const { rest_url, url } = await read(`/cms${ROOT}/events/111`, { site, host: 'it.example.org:81' });
      const root = 'http://it.example.org:81/cms';
      expect([rest_url, url]).toEqual([`${root}${ROOT}/events/111`, `${root}/event/concerto-destate/`]);
      const redirected = await ask('/cms/events/list?ical=1', { site, host: 'it.example.org:81' });
      expect([redirected.status, redirected.headers.location]).toEqual([301, `${root}/events/list/?ical=1`]);
      const news = await ask('/cms/events/feed/', { site, host: 'it.example.org:81' });
      expect(news.text).toContain(`<atom:link href="${root}/events/feed/" rel="self"`);
      const unserved = await ask('/cms/event/concerto-destate/', { site, host: 'it.example.org:81' });
      expect(unserved.headers.link).toContain(`<${root}/events/feed/>`);
      await option({ force_lang: 3, domains: { en: 'https://example.org', it: 'https://esempio.it' } });
      expect(await listed(`${ROOT}/events?${SPAN}`, { host: 'esempio.it' })).toEqual(italian);
      expect((await read(`${ROOT}/events/111`)).url).toBe('http://esempio.it/event/concerto-destate/');
    });

    it('follows the host that the proxy serves, not one that a client adds', async () => {
      await option({ force_lang: 2 });
      const site = await serve({ SITE_URL: 'http://www.example.org:81/cms', TRUST_PROXY: 'on' });
      const forged = { Host: 'www.example.org:81', 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Host': 'it.example.org' };
      const textAt = async (path: string, headers: Record<string, string>) => (await site.send('GET', path, { headers })).text;
      for (const path of [`/cms${ROOT}/events?${SPAN}`, '/cms/events/?ical=1', '/cms/events/feed/'])
        expect([path, await textAt(path, forged)]).toEqual([path, await textAt(path, { Host: 'www.example.org:81' })]);
      expect((await site.send('GET', `/cms${ROOT}/events?${SPAN}`, { headers: forged })).body.total).toBe(11);
    });

    it('adds records of the default language, and without a language, if fallback is requested', async () => {
      expect(await listed(`/it${ROOT}/events?${SPAN}&language_fallback=true`)).toEqual([111, 112, 113, 114, 116, 118, 120, 121]);
      expect(await listed(`/it${ROOT}/venues?language_fallback=true`)).toEqual([105, 104, 103, 102]);
      expect(await listed(`/it${ROOT}/events?${SPAN}&status=draft&lang=en`, { as: 'admin' })).toEqual([119]);
      expect(await listed(`${ROOT}/events?include=110,111&lang=it`)).toEqual([111]);
    });

    it('finds venues by the events of its language, including those of their translations', async () => {
      // Only the event of the English venue is Italian; the Italian venue is its translation.
      await rows(() => db.from('postmeta').where({ meta_key: '_EventVenueID', meta_value: '102' }).delete());
      expect(await listed(`/it${ROOT}/venues?has_events=true`)).toEqual([104, 102]);
      expect(await listed(`/it${ROOT}/venues?only_with_upcoming=true`)).toEqual([104, 102]);
      expect(await listed(`/it${ROOT}/venues?has_events=false`)).toEqual([]);
    });

    it('lists the terms of an event below a term or its translation', async () => {
      for (const parent of [38, 40]) expect(await listed(`/it${ROOT}/categories?event=118&parent=${parent}`)).toEqual([45]);
      expect(await listed(`/it${ROOT}/categories?event=118&parent=0`)).toEqual([40]);
    });

    it('filters lists of terms in wp/v2 if the request contains it, but not other lists there', async () => {
      const idsAt = async (path: string) => (await read(path)).map(({ id }: { id: number }) => id);
      const all = await idsAt('/wp-json/wp/v2/tribe_events_cat?per_page=50');
      expect([await idsAt('/wp-json/wp/v2/tribe_events_cat?lang=it'), await idsAt('/it/wp-json/wp/v2/tribe_events_cat')]).toEqual([
        [45, 40, 54, 49],
        [45, 40, 54, 49],
      ]);
      expect(await idsAt('/wp-json/wp/v2/tribe_events_cat?lang=all&per_page=50')).toEqual(all);
      expect(await idsAt('/wp-json/wp/v2/tags?lang=it')).toEqual([68, 63]);
      expect(await idsAt('/wp-json/wp/v2/tribe_events_cat?post=110&lang=it')).toEqual([38]);
      expect(await idsAt('/wp-json/wp/v2/tribe_venue?lang=it')).toEqual(await idsAt('/wp-json/wp/v2/tribe_venue'));
    });

    it('for a single slug falls back on the record that has it', async () => {
      expect((await read(`/it${ROOT}/events/by-slug/pottery-workshop`)).id).toBe(112);
      expect((await read(`/it${ROOT}/events/by-slug/festival`)).id).toBe(118);
    });
  });

  describe('unusual rows of plugins', () => {
    it('do not cause errors if a group is broken, outdated or has members twice', async () => {
      const describeGroup = (description: string) =>
        rows(() => db.from('term_taxonomy').where('term_taxonomy_id', 105).update({ description }));
      for (const broken of [
        '',
        'a:2:{s:2:"en"',
        'O:8:"stdClass":0:{}',
        'a:1:{s:2:"en";i:9999;}',
        'a:2:{s:2:"en";s:3:"110";s:4:"sync";a:0:{}}',
      ]) {
        await describeGroup(broken);
        expect([broken, Object.keys((await read(`${ROOT}/events/111`)).translations)]).toEqual([
          broken,
          broken.includes('110') ? ['en', 'it'] : ['it'],
        ]);
      }
      // An entry that names a record of another kind.
      await describeGroup('a:2:{s:2:"en";i:101;s:2:"it";i:111;}');
      expect(Object.keys((await read(`${ROOT}/events/111`)).translations)).toEqual(['it']);
    });

    it('with two languages for a record count as the lower one, in lists as in records', async () => {
      await rows(() => db.from('term_relationships').insert({ object_id: 113, term_taxonomy_id: 61, term_order: 0 }));
      expect((await read(`${ROOT}/events/113`)).language).toBe('en');
      expect(await listed(`${ROOT}/events?${SPAN}&lang=it`)).not.toContain(113);
      expect(await listed(`${ROOT}/events?${SPAN}&lang=en`)).toContain(113);
    });

    it('may contain the same slug for terms that are not translations of one another', async () => {
      // Event 113 is in term 54.
      await rows(() => db.from('terms').where('term_id', 54).update({ slug: 'music' }));
      const by = (query: string) => listed(`${ROOT}/events?${SPAN}&${query}`);
      const [linked, other] = [await by('categories=40&lang=it'), await by('categories=54&lang=it')];
      expect([linked.includes(113), other]).toEqual([false, expect.arrayContaining([113])]);
      const both = [...new Set([...linked, ...other])].sort((a, b) => a - b);
      expect((await by('categories=music&lang=it')).sort((a, b) => a - b)).toEqual(both);
      // Without a language, the slug means the first term.
      expect(await by('categories=music')).not.toContain(113);
      // The page of a slug includes the events of all terms that have it, under the name of the one in its language.
      const page = (await ask('/it/events/category/music/feed/')).text;
      expect([page.includes('<title>Sagre - '), page.includes('Sagra del paese'), page.includes('Festival')]).toEqual([true, true, true]);
    });

    it('may name deleted terms, which have no fallback', async () => {
      const before = await listed(`${ROOT}/categories?lang=it&language_fallback=true`);
      await rows(async () => {
        for (const table of ['terms', 'term_taxonomy'] as const) await db.from(table).where('term_id', 40).delete();
      });
      expect(await listed(`${ROOT}/categories?lang=it&language_fallback=true`)).toEqual(before.map((id) => (id === 40 ? 38 : id)));
    });

    it('may contain any languages, defaults and forms of URLs', async () => {
      await addLanguage('pt-br', 'pt_BR');
      await rows(() => db.from('term_relationships').insert({ object_id: 114, term_taxonomy_id: 120, term_order: 0 }));
      expect(await listed(`/pt-br${ROOT}/events?${SPAN}`)).toEqual([114]);
      expect((await read(`${ROOT}/events/114`)).url).toBe(`http://${HOST}/pt-br/event/legacy-meeting/`);
      expect((await read(`${ROOT}/events/114`)).json_ld.inLanguage).toBe('pt-BR');
      const { languages } = await read('/wp-json/');
      expect([languages.default, languages.available.map(({ code }: { code: string }) => code)]).toEqual(['en', ['en', 'it', 'pt-br']]);
      await option({ default_lang: 'it', hide_default: false, rewrite: false });
      expect((await read(`${ROOT}/events/111`)).url).toBe(`http://${HOST}/language/it/event/concerto-destate/`);
      await option({ hide_default: 1 });
      expect((await read(`${ROOT}/events/111`)).url).toBe(`http://${HOST}/event/concerto-destate/`);
      expect((await read(`${ROOT}/events/110`)).url).toBe(`http://${HOST}/language/en/event/summer-concert/`);
      await option({ force_lang: 0 });
      expect((await read(`${ROOT}/events/110`)).url).toBe(`http://${HOST}/event/summer-concert/`);
    });
  });

  it('costs a fixed number of further queries for a page', async () => {
    const costs = async (form: string, path: string): Promise<number> => {
      const site = await serve({ CACHE: 'off', CONTENT_LANGUAGES: form });
      await read(path, { site });
      const before = site.site.db.queries();
      await read(path, { site });
      return site.site.db.queries() - before;
    };
    for (const [path, more] of [
      [`${ROOT}/events?${SPAN}`, 1],
      [`${ROOT}/events?${SPAN}&lang=it`, 1],
      [`${ROOT}/venues?lang=it`, 2],
      [`${ROOT}/events/118?lang=it`, 1],
      [`${ROOT}/categories?lang=it`, 3],
    ] as const)
      expect([path, (await costs('polylang', path)) - (await costs('off', path))]).toEqual([path, more + 1]);
  });

  it('has feeds in the default language, in that of their path, and in all', async () => {
    const count = async (path: string) => ((await ask(path)).text.match(/^SUMMARY/gm) ?? []).length;
    expect(await count('/events/list/?ical=1&tribe-bar-date=2031-06-01')).toBe(5);
    expect(await count('/events/list/?ical=1&tribe-bar-date=2031-06-01&lang=all')).toBe(11);
    const { text } = await ask('/it/events/list/?ical=1&tribe-bar-date=2031-06-01&lang=en');
    expect(text).toContain("SUMMARY;LANGUAGE=it:Concerto d'estate");
    expect(text).not.toContain('Summer Concert');
    expect((await ask('/event/summer-concert/?ical=1')).text).toContain('SUMMARY;LANGUAGE=en:Summer Concert');
  });
});
