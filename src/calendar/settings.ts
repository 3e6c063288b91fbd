import { parseRoles, type Roles } from '../wordpress/capabilities.ts';
import type { ContentLanguages } from '../wordpress/content-languages.ts';
import { LOGIN_KEY_OPTIONS } from '../wordpress/cookies.ts';
import { NETWORK_OPTIONS, type Network, networkOf } from '../wordpress/network.ts';
import { serializedMembers } from '../wordpress/php/serialized.ts';
import { activePlugins, SITE_PLUGINS } from '../wordpress/plugins.ts';
import { homeAddress, publicWordpressAddress } from '../wordpress/site-address.ts';
import { trimEndOf } from '../wordpress/trim.ts';
import { siteZone, type Zone } from '../wordpress/zones.ts';
import { CUSTOM_FIELDS_OPTION, type CustomField, readCustomFields } from './custom-fields.ts';

/**
 * The site's options, read once for each request (WordPress's `get_option`, The Events Calendar's `tribe_get_option`).
 */
export interface SiteSettings {
  /** Public URL of the site without a trailing slash. */
  readonly home: string;
  /** Public URL of WordPress itself without a trailing slash (`site_url`). */
  readonly siteUrl: string;
  readonly name: string;
  readonly description: string;
  readonly zone: Zone;
  /** The zone's name as The Events Calendar stores it: `Europe/Rome` or `UTC+2`. */
  readonly timezone: string;
  readonly timezoneString: string;
  readonly gmtOffset: string;
  readonly permalinkStructure: string;
  readonly tagBase: string;
  readonly postsPerPage: number;
  /** Number of events in a news feed, and whether it only contains their excerpts. */
  readonly postsPerRss: number;
  readonly rssExcerpts: boolean;
  /** The language of the site's own texts, such as `en-US`. */
  readonly contentLanguage: string;
  readonly smilies: boolean;
  readonly applicationPasswords: boolean;
  readonly roles: Roles;
  /** The network (multisite) of the site; undefined: none. */
  readonly network: Network | undefined;
  /**
   * Whether occurrence rows are used (`tec_ct1_migration_state`, `tec_custom_tables_v1_active`); otherwise lists read
   * the metas.
   */
  readonly occurrenceTables: boolean;
  /** Whether another program writes to these tables: WordPress, with The Events Calendar active. */
  readonly shared: boolean;
  readonly calendar: CalendarSettings;
  /** Slug of the page on which visitors suggest events, below the page of all events; empty: there is none. */
  readonly suggestSlug: string;
  /** Undefined: the tables do not support recurring events. */
  readonly recurrence: RecurrenceSettings | undefined;
  /** Content languages; undefined: content has no languages. */
  readonly contentLanguages: ContentLanguages | undefined;
  /** The secret for record versions (`postVersion`); empty if there is none. */
  readonly versionKey: string;
  /** Number of this reading of the options: another number means other options. */
  readonly readingNumber: number;
  /** The raw options, for code that needs a rarely used one. */
  readonly raw: RawOptions;
}

/** Options by name. It is an error to ask for one that is not read, since it would always be missing. */
export interface RawOptions extends ReadonlyMap<string, string> {
  get(name: SettingName): string | undefined;
  has(name: SettingName): boolean;
}

/** Additions of The Events Calendar's paid extension to the database for recurring events. */
export interface RecurrenceSettings {
  /** The public id of an occurrence is this number plus its `occurrence_id`; post ids are lower. */
  readonly base: number;
  /** Whether there is a table that assigns events to series (`tec_series_relationships`). */
  readonly series: boolean;
}

/** Members of `tribe_events_calendar_options`. */
export interface CalendarSettings {
  readonly postsPerPage: number | undefined;
  /** Number of events on a page of the calendar (`postsPerPage`); undefined: the site's number of posts. */
  readonly eventsPerPage: number | undefined;
  /** The view of the calendar's first page. */
  readonly view: 'list' | 'month' | 'day';
  /** Number of months ahead for which rules without end get dates. */
  readonly monthsAhead: number;
  /** `HH:MM`: the time at which the calendar's day begins. */
  readonly cutoff: string;
  readonly timezoneMode: 'event' | 'site';
  readonly currencySymbol: string;
  readonly currencyCode: string;
  readonly isCurrencyAfterAmount: boolean;
  readonly eventsSlug: string;
  readonly singleEventSlug: string;
  readonly customFields: readonly CustomField[];
  readonly restDisabled: boolean;
  /**
   * The first start and the last end of all events as stored by The Events Calendar (UTC); empty texts if they are
   * missing.
   */
  readonly edges: { readonly first: string; readonly last: string };
  readonly formats: DateFormats;
}

/** PHP formats of dates in texts. */
export interface DateFormats {
  readonly date: string;
  /** For dates of the present year. */
  readonly dateWithoutYear: string;
  readonly time: string;
  /** Separators between a date and its time, and between start and end. */
  readonly beforeTime: string;
  readonly beforeEnd: string;
}

/** The option with The Events Calendar's settings. */
export const CALENDAR_OPTION = 'tribe_events_calendar_options';

/** The option with `SiteSettings.suggestSlug`. */
export const SUGGEST_SLUG_OPTION = 'fasti_suggest_slug';

/** The option with `versionKey`. */
export const VERSION_KEY_OPTION = 'fasti_version_key';

/**
 * The option that marks the list index as complete. It is stored in WordPress's `options`, so that it disappears if
 * these are replaced.
 */
export const INDEX_OPTION = 'fasti_index';

/** The option in which the calendar stores when an event was last saved (Unix time as text with a fraction). */
export const LAST_SAVE_OPTION = 'tribe_last_save_post';

/** The option with `RecurrenceSettings.base`. */
export const OCCURRENCE_BASE_OPTION = 'tec_custom_tables_v1_provisional_post_base_provisional_id';

/** Options that indicate that the paid extension may have changed the tables. */
const RECURRENCE_OPTIONS = [
  OCCURRENCE_BASE_OPTION,
  'tec_ct1_series_relationship_table_schema_version',
  'tec_ct1_events_field_schema_version',
  'tec_ct1_occurrences_field_schema_version',
] as const;

/** Default if the option is missing. */
export const DEFAULT_BASE = 10_000_000;

/** Returns whether the options indicate that there may be recurring events, so that the tables have to be checked. */
export const mayHaveRecurrence = (options: ReadonlyMap<string, string>): boolean => RECURRENCE_OPTIONS.some((name) => options.has(name));

/** Returns the number after which public ids of occurrences begin. */
export const occurrenceBase = (options: ReadonlyMap<string, string>): number => {
  const text = options.get(OCCURRENCE_BASE_OPTION) ?? '';
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : DEFAULT_BASE;
};

/** The paid extension raises the base in steps of `DEFAULT_BASE` when the ids of posts come this close to it. */
const APART = 50_000;

/** Returns the highest id that posts may have, so that it is not that of a date, now or soon. */
export const highestIdBelow = (base: number): number => base - APART - 1;

/** Returns this base or, if posts up to this id come too close to it, the next one that is far enough above them. */
export function baseAbove(base: number, highestId: number): number {
  const deficit = highestId - highestIdBelow(base);
  return deficit <= 0 ? base : base + Math.ceil(deficit / DEFAULT_BASE) * DEFAULT_BASE;
}

/** Names of the options that are read, except that of the roles, of which the table prefix is a part. */
const SETTING_NAMES = [
  'home', 'siteurl', 'blogname', 'blogdescription', 'timezone_string', 'gmt_offset', 'permalink_structure', 'category_base', 'tag_base', 'posts_per_page',
  'posts_per_rss', 'rss_use_excerpt', 'use_smilies', 'using_application_passwords', 'db_version', CALENDAR_OPTION, 'tec_ct1_migration_state',
  'tec_custom_tables_v1_active',
  'page_for_posts', 'page_on_front', 'show_on_front', 'site_icon', 'site_logo', 'upload_path', 'upload_url_path', 'uploads_use_yearmonth_folders',
  'thumbnail_size_w', 'thumbnail_size_h', 'thumbnail_crop', 'medium_size_w', 'medium_size_h', 'medium_large_size_w', 'medium_large_size_h',
  'large_size_w', 'large_size_h', SITE_PLUGINS, ...NETWORK_OPTIONS, 'date_format', 'time_format', 'show_avatars', 'avatar_default', 'avatar_rating',
  'default_comment_status', 'WPLANG', 'admin_email', 'default_role', 'start_of_week', 'blog_public', INDEX_OPTION, VERSION_KEY_OPTION, CUSTOM_FIELDS_OPTION, ...RECURRENCE_OPTIONS,
  'polylang', 'icl_sitepress_settings', SUGGEST_SLUG_OPTION, ...Object.values(LOGIN_KEY_OPTIONS),
] as const; // biome-ignore format: a list of names

/** The name of an option that is read. */
export type SettingName = (typeof SETTING_NAMES)[number] | `${string}user_roles`;

/** Returns the names of the options that `readSettings` needs; `prefix` is the table prefix, part of one name. */
export const settingNames = (prefix: string): SettingName[] => [...SETTING_NAMES, `${prefix}user_roles`];

/** URL of a site if neither its options nor the configuration contain one. */
const LOCALHOST_URL = 'http://localhost';

/**
 * Returns the settings in these option rows; missing or invalid ones have WordPress's default. `siteUrl`: URL of the
 * site from the configuration, if set; `defaultUrl`: the URL used if there is none in the options either.
 */
export function readSettings(
  options: ReadonlyMap<string, string>,
  prefix: string,
  siteUrl?: string,
  defaultUrl = LOCALHOST_URL,
): SiteSettings {
  const text = (name: string) => options.get(name) ?? '';
  const flag = (name: string, fallback: string) => !['', '0'].includes(options.get(name) ?? fallback);
  const home = trimEndOf(siteUrl ?? homeAddress({ home: text('home'), siteurl: text('siteurl') }, defaultUrl), '/');
  const { zone, name } = siteZone({ timezone_string: text('timezone_string'), gmt_offset: text('gmt_offset') });
  return {
    home,
    siteUrl: publicWordpressAddress(home, options),
    name: text('blogname'),
    description: text('blogdescription'),
    zone,
    timezone: name,
    timezoneString: text('timezone_string'),
    gmtOffset: text('gmt_offset'),
    permalinkStructure: text('permalink_structure'),
    tagBase: text('tag_base') || 'tag',
    postsPerPage: pageSizeOf(text('posts_per_page')) ?? 20,
    postsPerRss: Math.max(1, Number.parseInt(text('posts_per_rss'), 10) || 10),
    rssExcerpts: flag('rss_use_excerpt', ''),
    contentLanguage: (text('WPLANG') || 'en_US').replaceAll('_', '-'),
    smilies: flag('use_smilies', '1'),
    applicationPasswords: flag('using_application_passwords', ''),
    roles: parseRoles(text(`${prefix}user_roles`)),
    network: networkOf(options),
    occurrenceTables: flag('tec_custom_tables_v1_active', '1') && areOccurrencesUsed(options.get('tec_ct1_migration_state')),
    shared: activePlugins(options).includes('the-events-calendar'),
    calendar: readCalendar(
      serializedMembers(options.get(CALENDAR_OPTION)),
      serializedMembers(options.get(CUSTOM_FIELDS_OPTION)),
      text('date_format'),
      text('time_format'),
    ),
    suggestSlug: text(SUGGEST_SLUG_OPTION),
    recurrence: undefined,
    contentLanguages: undefined,
    versionKey: text(VERSION_KEY_OPTION),
    readingNumber: 0,
    raw: options,
  };
}

/** Returns whether the site asks search engines not to index its pages (`wp_robots_noindex`). */
export const isHiddenFromSearch = ({ raw }: Pick<SiteSettings, 'raw'>): boolean => raw.get('blog_public') === '0';

function areOccurrencesUsed(state: string | undefined): boolean {
  return ['migration-not-required', 'migration-complete'].includes(String(serializedMembers(state).phase));
}

/** Page length for sites that want all records on one page. */
const MAX_PAGE_SIZE = 400;

/** Returns the number of events in a list on the calendar's pages, according to the settings, with an upper limit. */
export const eventsOnPage = ({ calendar, postsPerPage }: Pick<SiteSettings, 'calendar' | 'postsPerPage'>): number =>
  Math.min(calendar.eventsPerPage ?? postsPerPage, MAX_PAGE_SIZE);

/** Returns a stored page length; undefined if it is not set. WordPress uses -1 for all records. */
function pageSizeOf(value: unknown): number | undefined {
  const length = Number.parseInt(String(value), 10) || undefined;
  return length !== undefined && length < 0 ? MAX_PAGE_SIZE : length;
}

/** Number of months ahead for which The Events Calendar creates dates of rules without end: default and maximum. */
const DEFAULT_MONTHS_AHEAD = 60;
const MAX_MONTHS_AHEAD = 120;

function readCalendar(members: Record<string, unknown>, ownFields: unknown, dateFormat: string, timeFormat: string): CalendarSettings {
  const text = (name: string, fallback: string) => (typeof members[name] === 'string' && members[name] !== '' ? members[name] : fallback);
  return {
    postsPerPage: pageSizeOf(members.posts_per_page),
    eventsPerPage: pageSizeOf(members.postsPerPage),
    view: members.viewOption === 'month' || members.viewOption === 'day' ? members.viewOption : 'list',
    monthsAhead: Math.min(Math.max(1, Math.trunc(Number(members.recurrenceMaxMonthsAfter)) || DEFAULT_MONTHS_AHEAD), MAX_MONTHS_AHEAD),
    cutoff: /^\d\d:\d\d$/.test(text('multiDayCutoff', '')) ? text('multiDayCutoff', '') : '00:00',
    timezoneMode: members.tribe_events_timezone_mode === 'site' ? 'site' : 'event',
    // `tribe_get_option`: an emptied symbol means none, and not the default.
    currencySymbol: members.defaultCurrencySymbol === '' ? '' : text('defaultCurrencySymbol', '$'),
    currencyCode: text('defaultCurrencyCode', ''),
    isCurrencyAfterAmount: isTruthy(members.reverseCurrencyPosition),
    eventsSlug: text('eventsSlug', 'events'),
    singleEventSlug: text('singleEventSlug', 'event'),
    customFields: readCustomFields(members['custom-fields'], ownFields),
    restDisabled: isTruthy(members['rest-v1-disabled']),
    edges: { first: text('earliest_date', ''), last: text('latest_date', '') },
    formats: {
      date: text('dateWithYearFormat', dateFormat || 'F j, Y'),
      dateWithoutYear: text('dateWithoutYearFormat', 'F j'),
      time: timeFormat || 'g:i a',
      beforeTime: text('dateTimeSeparator', ' @ '),
      beforeEnd: text('timeRangeSeparator', ' - '),
    },
  };
}

/**
 * `tribe_is_truthy`: 1, enable, enabled, on, y, yes and true in any case are true, other texts false; numbers are true
 * if they are not zero.
 */
export function isTruthy(value: unknown): boolean {
  if (typeof value === 'string') return /^(1|enable|enabled|on|y|yes|true)$/i.test(value);
  return Boolean(value);
}
