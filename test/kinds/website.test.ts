import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/calendar/settings.ts';
import { DATES } from '../../src/kinds/events/metas.ts';
import { websiteChange } from '../../src/kinds/events/website.ts';
import { type ContentLanguages, type LanguageUrls, urlIn } from '../../src/wordpress/content-languages.ts';
import { eventDateUrl, postUrl } from '../../src/wordpress/links.ts';
import { storedText } from '../../src/wordpress/php/serialized.ts';

/* The website of an event without a website is the URL of its own page. */

const HOME = 'https://example.org';
const FESTIVAL = { ID: 118, post_type: 'tribe_events', post_status: 'publish', post_name: 'festival', post_parent: 0 };
const RULES = 'a:1:{s:5:"rules";a:1:{i:0;a:1:{s:4:"type";s:9:"Every Day";}}}';
/** Metas of a post that is one date of an event, in the old form of recurrence. */
const DATED = new Map([
  [DATES.start, [storedText('2031-01-14 18:30:00')]],
  ['_EventRecurrence', [storedText(RULES)]],
]);
const URLS: readonly LanguageUrls[] = [
  { by: 'nothing' },
  { by: 'directory', before: '', bare: 'en' },
  { by: 'directory', before: 'language/', bare: 'en' },
  { by: 'subdomain', bare: 'en' },
  { by: 'host', hosts: [['it', 'esempio.it']] },
  { by: 'parameter', bare: 'en' },
];
const languageOf = (code: string, number: number) => ({
  code,
  locale: code,
  name: code,
  number,
  hidden: code === 'it',
  onPosts: 0,
  onTerms: 0,
});
const languagesWith = (urls: LanguageUrls): ContentLanguages => ({
  ...{ form: 'wpml', pluginRuns: true, sharesSlugs: true, defaultCode: 'en', translated: ['tribe_events'], withFallback: [], urls },
  languages: [languageOf('en', 1)],
  all: [languageOf('en', 1), languageOf('it', 2)],
});

const settingsWith = (permalinkStructure: string, urls?: LanguageUrls) => ({
  ...readSettings(new Map([['home', HOME]]), 'wp_'),
  ...{ permalinkStructure, contentLanguages: urls && languagesWith(urls) },
});
const placeOf = (permalinkStructure: string, home = HOME) => ({ home, permalinkStructure, singleEventSlug: 'event' });

const keeps = (website: string, settings: ReturnType<typeof settingsWith>, event = { row: FESTIVAL, metas: new Map() }): boolean =>
  Object.keys(websiteChange(website, event, settings)).length > 0;

describe.each(['/%postname%/', '/%postname%', '/index.php/%postname%/', ''])('website with the permalinks "%s"', (structure) => {
  const place = placeOf(structure);

  it.each(URLS)('is none if it is the own page, in any language: %j', (urls) => {
    const settings = settingsWith(structure, urls);
    for (const code of [undefined, 'en', 'it'])
      for (const date of [
        undefined,
        { slug: 'festival', date: '2031-01-14', number: undefined },
        { slug: 'festival', date: '2031-01-14', number: 2 },
      ]) {
        const url = urlIn(
          languagesWith(urls).all && { ...languagesWith(urls), languages: languagesWith(urls).all ?? [] },
          code,
          HOME,
          (home) => (date ? eventDateUrl({ ...place, home }, FESTIVAL, date) : postUrl({ ...place, home }, FESTIVAL)),
        );
        expect([url, keeps(url, settings)]).toEqual([url, true]);
      }
  });

  it('is none if it is the own page below the language of the request', () => {
    for (const home of [HOME, `${HOME}/it`]) {
      const url = postUrl({ ...place, home }, FESTIVAL);
      expect([url, keeps(url, settingsWith(structure))]).toEqual([url, true]);
    }
  });

  it('is none if it is the page of one date below the slug of its parent', () => {
    const row = { ...FESTIVAL, post_parent: 117, post_name: 'festival-2031-01-14' };
    const url = (date: string) => eventDateUrl(place, row, { slug: 'festival', date, number: undefined });
    expect(keeps(url('2031-01-14'), settingsWith(structure), { row, metas: DATED })).toBe(true);
    expect(keeps(url('2031-01-15'), settingsWith(structure), { row, metas: DATED })).toBe(false);
    expect(keeps(url('2031-01-14'), settingsWith(structure), { row, metas: new Map() })).toBe(false);
  });

  it('is stored if it is another page', () => {
    const settings = settingsWith(structure, { by: 'subdomain', bare: 'en' });
    const date = { slug: 'festival', date: '2031-01-14', number: undefined };
    const other = { ...FESTIVAL, post_name: 'fair' };
    for (const url of [
      ...[postUrl(place, other), postUrl(placeOf(structure, 'https://other.example'), FESTIVAL)],
      ...[eventDateUrl(place, other, { ...date, slug: 'fair' }), eventDateUrl(place, FESTIVAL, { ...date, date: '2031-1-14' })],
      ...[postUrl(placeOf(structure, 'https://de.example.org'), FESTIVAL), `${postUrl(place, FESTIVAL)}0`, HOME],
    ])
      expect([url, keeps(url, settings)]).toEqual([url, false]);
  });
});
