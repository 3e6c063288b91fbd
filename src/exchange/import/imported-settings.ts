import { CUSTOM_FIELDS_OPTION } from '../../calendar/custom-fields.ts';
import {
  CALENDAR_OPTION,
  type CalendarSettings,
  INDEX_OPTION,
  OCCURRENCE_BASE_OPTION,
  type SettingName,
  SUGGEST_SLUG_OPTION,
  VERSION_KEY_OPTION,
} from '../../calendar/settings.ts';
import { typedKeys } from '../../typed-keys.ts';
import type { NETWORK_OPTIONS } from '../../wordpress/network.ts';
import { SITE_PLUGINS } from '../../wordpress/plugins.ts';
import { FIELDS_MEMBER } from '../items/field-definitions.ts';

/*
 * The settings that imports take over on request: those that answers depend on. Addresses, ids, secrets, users and
 * whatever tells how the tables are used belong to one site and stay. A new setting must be classified here, or the
 * code does not compile.
 */

type OwnOption = (typeof NETWORK_OPTIONS)[number] | `${string}user_roles`;

const OPTIONS: Readonly<Record<Exclude<SettingName, OwnOption>, 'imported' | 'own'>> = {
  blogname: 'imported', blogdescription: 'imported', timezone_string: 'imported', gmt_offset: 'imported', WPLANG: 'imported',
  date_format: 'imported', time_format: 'imported', start_of_week: 'imported', permalink_structure: 'imported', category_base: 'imported',
  tag_base: 'imported', posts_per_page: 'imported', posts_per_rss: 'imported', rss_use_excerpt: 'imported', use_smilies: 'imported',
  blog_public: 'imported', default_comment_status: 'imported', show_avatars: 'imported', avatar_default: 'imported', avatar_rating: 'imported',
  thumbnail_size_w: 'imported', thumbnail_size_h: 'imported', thumbnail_crop: 'imported', medium_size_w: 'imported', medium_size_h: 'imported',
  medium_large_size_w: 'imported', medium_large_size_h: 'imported', large_size_w: 'imported', large_size_h: 'imported',
  [CALENDAR_OPTION]: 'imported', [CUSTOM_FIELDS_OPTION]: 'imported',
  home: 'own', siteurl: 'own', upload_path: 'own', upload_url_path: 'own', uploads_use_yearmonth_folders: 'own', page_for_posts: 'own',
  page_on_front: 'own', show_on_front: 'own', site_icon: 'own', site_logo: 'own', admin_email: 'own', default_role: 'own',
  using_application_passwords: 'own', db_version: 'own', logged_in_key: 'own', logged_in_salt: 'own', nonce_key: 'own', nonce_salt: 'own',
  [SITE_PLUGINS]: 'own', polylang: 'own', icl_sitepress_settings: 'own', tec_ct1_migration_state: 'own', tec_custom_tables_v1_active: 'own',
  tec_ct1_series_relationship_table_schema_version: 'own', tec_ct1_events_field_schema_version: 'own',
  tec_ct1_occurrences_field_schema_version: 'own', [OCCURRENCE_BASE_OPTION]: 'own', [VERSION_KEY_OPTION]: 'own', [INDEX_OPTION]: 'own',
  // Whether visitors may suggest events is decided for each site.
  [SUGGEST_SLUG_OPTION]: 'own',
}; // biome-ignore format: a table

/** The members of the calendar's option in which its settings are stored. */
const MEMBERS: Readonly<Record<keyof CalendarSettings, readonly string[]>> = {
  postsPerPage: ['posts_per_page'],
  eventsPerPage: ['postsPerPage'],
  view: ['viewOption'],
  monthsAhead: ['recurrenceMaxMonthsAfter'],
  cutoff: ['multiDayCutoff'],
  timezoneMode: ['tribe_events_timezone_mode'],
  currencySymbol: ['defaultCurrencySymbol'],
  currencyCode: ['defaultCurrencyCode'],
  isCurrencyAfterAmount: ['reverseCurrencyPosition'],
  eventsSlug: ['eventsSlug'],
  singleEventSlug: ['singleEventSlug'],
  customFields: [FIELDS_MEMBER],
  restDisabled: ['rest-v1-disabled'],
  formats: ['dateWithYearFormat', 'dateWithoutYearFormat', 'dateTimeSeparator', 'timeRangeSeparator'],
  // They follow from the events.
  edges: [],
};

/** Options that are imported. Of `CALENDAR_OPTION`, only `IMPORTED_MEMBERS` are. */
export const IMPORTED_OPTIONS: readonly string[] = typedKeys(OPTIONS).filter((name) => OPTIONS[name] === 'imported');

/** Members of `CALENDAR_OPTION` that are imported; others are keys for third-party services, for example. */
export const IMPORTED_MEMBERS: readonly string[] = Object.values(MEMBERS).flat();
