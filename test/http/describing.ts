import { readdirSync } from 'node:fs';
import { readSettings } from '../../src/calendar/settings.ts';
import { readConfig } from '../../src/config/config.ts';
import { createRoutes } from '../../src/http/routes.ts';
import { kinds } from '../../src/kinds/index.ts';
import { ANY_LANGUAGE, type Caller } from '../../src/records/caller.ts';
import type { Site } from '../../src/site.ts';
import { loadTexts } from '../../src/texts.ts';
import type { ContentLanguages } from '../../src/wordpress/content-languages.ts';
import { toSerialized } from '../../src/wordpress/php/serialized.ts';
import { ANONYMOUS } from '../../src/wordpress/viewer.ts';

/** Every language that has texts, English first. */
const found = readdirSync(new URL('../../locales', import.meta.url)).sort();
export const LANGUAGES = ['en', ...found.filter((language) => language !== 'en')];
export const routes = createRoutes(LANGUAGES);
export const config = readConfig({ LANGUAGES: LANGUAGES.join(',') });

const OPTIONS = {
  home: 'https://example.com:8443/town',
  siteurl: 'https://example.com:8443/town',
  blogname: 'Town calendar',
  blogdescription: 'What is on',
  timezone_string: 'Europe/Rome',
  permalink_structure: '/%postname%/',
  posts_per_page: '10',
  using_application_passwords: '1',
};

/** The parts of a site that descriptions need. */
export async function describedSite(): Promise<Pick<Site, 'texts' | 'config'>> {
  return { config, texts: await loadTexts(LANGUAGES) };
}

/** An anonymous caller on 20 November 2026, 12:00 in Rome; `options` of the site replace the usual ones. */
export function callerOf({
  language = 'en',
  namespace = 'calendar/events/v1',
  options = {},
}: {
  language?: string;
  namespace?: string;
  options?: Record<string, string>;
} = {}): Caller {
  const settings = readSettings(new Map(Object.entries({ ...OPTIONS, ...options })), 'wp_');
  const home = language === 'en' ? settings.home : `${settings.home}/${language}`;
  return {
    content: ANY_LANGUAGE,
    viewer: ANONYMOUS,
    settings,
    now: new Date('2026-11-20T11:00:00Z'),
    receivedAt: 0,
    language,
    recordLanguage: language,
    home,
    namespace,
    uploads: `${settings.home}/wp-content/uploads`,
    freeLabel: 'Free',
  };
}

/** Options of a site with a custom field. */
const WITH_FIELDS = {
  tribe_events_calendar_options: toSerialized({ 'custom-fields': [{ name: '_ecp_custom_2', label: 'Stage', type: 'text', values: '' }] }),
};

const CONTENT: ContentLanguages = {
  form: 'polylang',
  pluginRuns: false,
  sharesSlugs: false,
  languages: [
    { code: 'en', locale: 'en_US', name: 'English', number: 101, hidden: false, onPosts: 101, onTerms: 102 },
    { code: 'it', locale: 'it_IT', name: 'Italiano', number: 103, hidden: false, onPosts: 103, onTerms: 104 },
  ],
  defaultCode: 'en',
  translated: kinds.map((kind) => (kind.is === 'post' ? kind.postType : kind.taxonomy)),
  withFallback: [],
  urls: { by: 'nothing' },
};

/** The same caller on a site with a custom field, recurring events and content in two languages. */
export function fullCallerOf({ language = 'en' }: { language?: string } = {}): Caller {
  const caller = callerOf({ language, options: WITH_FIELDS });
  return { ...caller, settings: { ...caller.settings, recurrence: { base: 10_000_000, series: true }, contentLanguages: CONTENT } };
}
