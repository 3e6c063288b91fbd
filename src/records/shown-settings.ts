import type { CalendarSettings, SiteSettings } from '../calendar/settings.ts';
import { typedKeys } from '../typed-keys.ts';
import { NETWORK_REWRITING } from '../wordpress/network.ts';

/*
 * The settings that affect rendered records. When one of them changes, all records change without an entry in the
 * journal. A new setting must be classified here, or the code does not compile.
 */

type SettingClasses<Name extends PropertyKey> = Readonly<Record<Name, 'shown' | 'not shown'>>;

const SITE_SETTINGS: SettingClasses<Exclude<keyof SiteSettings, 'calendar' | 'raw'>> = {
  home: 'shown', permalinkStructure: 'shown', tagBase: 'shown', smilies: 'shown', zone: 'shown', contentLanguages: 'shown',
  siteUrl: 'not shown', name: 'not shown', description: 'not shown', timezone: 'not shown', timezoneString: 'not shown',
  gmtOffset: 'not shown', postsPerPage: 'not shown', postsPerRss: 'not shown', rssExcerpts: 'not shown',
  contentLanguage: 'not shown', applicationPasswords: 'not shown', roles: 'not shown', network: 'not shown',
  occurrenceTables: 'not shown', shared: 'not shown', suggestSlug: 'not shown', recurrence: 'not shown',
  versionKey: 'not shown', readingNumber: 'not shown',
}; // biome-ignore format: a table

const CALENDAR_SETTINGS: SettingClasses<keyof CalendarSettings> = {
  currencySymbol: 'shown', currencyCode: 'shown', isCurrencyAfterAmount: 'shown', eventsSlug: 'shown', singleEventSlug: 'shown',
  customFields: 'shown', postsPerPage: 'not shown', eventsPerPage: 'not shown', view: 'not shown', monthsAhead: 'not shown',
  cutoff: 'not shown', timezoneMode: 'not shown', restDisabled: 'not shown', edges: 'not shown', formats: 'not shown',
}; // biome-ignore format: a table

/** Options on which the address of uploads depends, apart from the site's address. */
const UPLOADS_OPTIONS = ['upload_url_path', 'upload_path', NETWORK_REWRITING] as const;

/** Returns the settings that affect rendered records, as JSON values in a fixed order. */
export const shownSettings = ({ calendar, raw, ...site }: SiteSettings): readonly unknown[] => [
  shownOf(site, SITE_SETTINGS),
  shownOf(calendar, CALENDAR_SETTINGS),
  ...UPLOADS_OPTIONS.map((name) => raw.get(name)),
];

const shownOf = <Values extends object>(values: Values, classes: SettingClasses<keyof Values>): readonly unknown[] =>
  typedKeys(classes).flatMap((name) => (classes[name] === 'shown' ? [values[name]] : []));
