import { defaultRoles } from '../wordpress/capabilities.ts';
import { type StoredValue, storedText, toSerialized } from '../wordpress/php/serialized.ts';

/** Values that are needed for a new site. */
export interface NewSite {
  /** Address, name and time zone, as WordPress's options. */
  readonly identity: Readonly<Record<string, string>>;
  readonly email: string;
}

/** An option of a new site: name, stored value, and whether WordPress loads it with every request. */
export type NewOption = readonly [name: string, value: StoredValue, autoload: 'on' | 'off' | 'auto'];

/**
 * Returns the options of a new site: those that WordPress itself would write (`populate_options`) and expects in its
 * database, and those of the calendar. `prefix`: the table prefix, which is part of one name.
 */
export function optionsOfNewSite({ identity, email }: NewSite, prefix: string): NewOption[] {
  return [
    ...toOptions({ admin_email: email, ...AUTOLOADED_OPTIONS, ...identity }, 'on'),
    ...toOptions(OPTIONS_LOADED_ON_DEMAND, 'off'),
    [`${prefix}user_roles`, toSerialized(defaultRoles()), 'on'],
    ...toOptions(
      {
        tribe_events_calendar_options: CALENDAR_OPTIONS,
        tec_ct1_migration_state: { complete_timestamp: null, phase: 'migration-not-required', preview_unsupported: false },
        tec_ct1_events_table_schema_version: '1.0.1',
        tec_ct1_occurrences_table_schema_version: '1.0.3',
      },
      'auto',
    ),
  ];
}

const toOptions = (values: Readonly<Record<string, unknown>>, autoload: NewOption[2]): NewOption[] =>
  Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? storedText(value) : toSerialized(value), autoload]);

const EMPTY_ARRAY: readonly never[] = [];

/**
 * Version of the tables in WordPress 7.1 (`$wp_db_version`). Later versions of WordPress upgrade the tables themselves.
 */
const WORDPRESS_DB_VERSION = '61833';

const AUTOLOADED_OPTIONS = {
  blogdescription: '', users_can_register: '0', start_of_week: '1', use_balanceTags: '0', use_smilies: '1', require_name_email: '1',
  comments_notify: '1', posts_per_rss: '10', rss_use_excerpt: '0', default_category: '1', default_comment_status: 'open',
  default_ping_status: 'open', default_pingback_flag: '1', posts_per_page: '10', date_format: 'j F Y', time_format: 'H:i',
  links_updated_date_format: 'j F Y H:i', comment_moderation: '0', moderation_notify: '1', permalink_structure: '/%postname%/', rewrite_rules: '',
  hack_file: '0', blog_charset: 'UTF-8', active_plugins: EMPTY_ARRAY, category_base: '', ping_sites: '', comment_max_links: '2', gmt_offset: '',
  default_email_category: '1', template: 'twentytwentyfive', stylesheet: 'twentytwentyfive', comment_registration: '0', html_type: 'text/html',
  use_trackback: '0', default_role: 'subscriber', db_version: WORDPRESS_DB_VERSION, uploads_use_yearmonth_folders: '1', upload_path: '', blog_public: '1',
  default_link_category: '2', show_on_front: 'posts', tag_base: '', show_avatars: '1', avatar_rating: 'G', upload_url_path: '',
  thumbnail_size_w: '150', thumbnail_size_h: '150', thumbnail_crop: '1', medium_size_w: '300', medium_size_h: '300', avatar_default: 'mystery',
  large_size_w: '1024', large_size_h: '1024', image_default_link_type: 'none', image_default_size: '', image_default_align: '',
  close_comments_for_old_posts: '0', close_comments_days_old: '14', thread_comments: '1', thread_comments_depth: '5', page_comments: '0',
  comments_per_page: '50', default_comments_page: 'newest', comment_order: 'asc', sticky_posts: EMPTY_ARRAY, page_for_posts: '0', page_on_front: '0',
  default_post_format: '0', link_manager_enabled: '0', finished_splitting_shared_terms: '1', site_icon: '0', medium_large_size_w: '768',
  medium_large_size_h: '0', wp_page_for_privacy_policy: '0', show_comments_cookies_opt_in: '1', comment_previously_approved: '1',
  initial_db_version: WORDPRESS_DB_VERSION, wp_attachment_pages_enabled: '0',
}; // biome-ignore format: a table

const OPTIONS_LOADED_ON_DEMAND = {
  moderation_keys: '',
  disallowed_keys: '',
  uninstall_plugins: EMPTY_ARRAY,
  auto_plugin_theme_update_emails: EMPTY_ARRAY,
  using_application_passwords: '1',
};

/** Settings of the calendar. The default currency is the euro. */
const CALENDAR_OPTIONS = {
  did_init: true,
  defaultCurrencySymbol: '€',
  defaultCurrencyCode: 'EUR',
  reverseCurrencyPosition: false,
  multiDayCutoff: '00:00',
};
