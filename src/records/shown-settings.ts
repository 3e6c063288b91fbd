import type { CalendarSettings, SiteSettings } from '../calendar/settings.ts';
import { typedKeys } from '../typed-keys.ts';

/*
 * Which settings records are rendered by. When one of these changes, all records are other ones, and no entry of the
 * journal says so. A new setting does not compile before it says here which it is.
 */

type Said<Name extends PropertyKey> = Readonly<Record<Name, 'shown' | 'not shown'>>;

const OF_SITE: Said<Exclude<keyof SiteSettings, 'calendar' | 'raw'>> = {
  home: 'shown', permalinkStructure: 'shown', tagBase: 'shown', smilies: 'shown', zone: 'shown', contentLanguages: 'shown',
  siteUrl: 'not shown', name: 'not shown', description: 'not shown', timezone: 'not shown', timezoneString: 'not shown',
  gmtOffset: 'not shown', postsPerPage: 'not shown', postsPerRss: 'not shown', rssExcerpts: 'not shown',
  contentLanguage: 'not shown', applicationPasswords: 'not shown', roles: 'not shown', network: 'not shown',
  occurrenceTables: 'not shown', shared: 'not shown', suggestSlug: 'not shown', recurrence: 'not shown',
  versionKey: 'not shown', edition: 'not shown',
}; // biome-ignore format: a table

const OF_CALENDAR: Said<keyof CalendarSettings> = {
  currencySymbol: 'shown', currencyCode: 'shown', currencyAfter: 'shown', eventsSlug: 'shown', singleEventSlug: 'shown',
  customFields: 'shown', postsPerPage: 'not shown', eventsPerPage: 'not shown', view: 'not shown', monthsAhead: 'not shown',
  cutoff: 'not shown', timezoneMode: 'not shown', restDisabled: 'not shown', edges: 'not shown', formats: 'not shown',
}; // biome-ignore format: a table

/** The address of uploads that are not below the site's. */
const OF_UPLOADS = 'upload_url_path';

/** What records show of the settings, as JSON can hold it, in an order of its own. */
export const shownSettings = ({ calendar, raw, ...site }: SiteSettings): readonly unknown[] => [
  shownOf(site, OF_SITE),
  shownOf(calendar, OF_CALENDAR),
  raw.get(OF_UPLOADS),
];

const shownOf = <Values extends object>(values: Values, said: Said<keyof Values>): readonly unknown[] =>
  typedKeys(said).flatMap((name) => (said[name] === 'shown' ? [values[name]] : []));
