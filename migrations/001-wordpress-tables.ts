import type { TableDefinition } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * WordPress's tables (`wp_get_db_schema`, WordPress 7.1) and the calendar's two, for a database without them. In a
 * database of WordPress, nothing is changed: an old installation without the calendar's tables does not get them.
 */
export const wordpressTables: Migration = {
  name: '001-wordpress-tables',
  tables: () => TABLES,
  up: async ({ knex, dialect, prefix }) => {
    // `posts` is the last table in the list, so that an interrupted creation is continued.
    if (await knex.schema.hasTable(`${prefix}posts`)) return;
    for (const definition of TABLES) {
      for (const statement of dialect.createTable(definition, prefix)) await knex.schema.raw(statement);
    }
  },
};

const ID = 'bigint(20) unsigned NOT NULL AUTO_INCREMENT';
const REFERENCE = 'bigint(20) unsigned NOT NULL DEFAULT 0';
const NEVER = "datetime NOT NULL DEFAULT '0000-00-00 00:00:00'";
const TOUCHED = 'timestamp NULL DEFAULT current_timestamp() ON UPDATE current_timestamp()';
const LONG = 'longtext NOT NULL';
const text = (length: number, value = ''): string => `varchar(${length}) NOT NULL DEFAULT '${value}'`;

/** Returns one of the four tables of metas, which differ in two names. */
const metas = (name: TableDefinition['name'], id: string, owner: string): TableDefinition => ({
  name,
  columns: { [id]: ID, [owner]: REFERENCE, meta_key: 'varchar(255) DEFAULT NULL', meta_value: 'longtext DEFAULT NULL' },
  primary: [id],
  keys: { [owner]: [owner], meta_key: ['meta_key(191)'] },
});

const TABLES: readonly TableDefinition[] = [
  metas('postmeta', 'meta_id', 'post_id'),
  metas('termmeta', 'meta_id', 'term_id'),
  metas('usermeta', 'umeta_id', 'user_id'),
  metas('commentmeta', 'meta_id', 'comment_id'),
  {
    name: 'terms',
    columns: { term_id: ID, name: text(200), slug: text(200), term_group: 'bigint(10) NOT NULL DEFAULT 0' },
    primary: ['term_id'],
    keys: { slug: ['slug(191)'], name: ['name(191)'] },
    anyCase: ['slug'],
  },
  {
    name: 'term_taxonomy',
    columns: {
      term_taxonomy_id: ID,
      term_id: REFERENCE,
      taxonomy: text(32),
      description: LONG,
      parent: REFERENCE,
      count: 'bigint(20) NOT NULL DEFAULT 0',
    },
    primary: ['term_taxonomy_id'],
    unique: { term_id_taxonomy: ['term_id', 'taxonomy'] },
    keys: { taxonomy: ['taxonomy'] },
  },
  {
    name: 'term_relationships',
    columns: { object_id: REFERENCE, term_taxonomy_id: REFERENCE, term_order: 'int(11) NOT NULL DEFAULT 0' },
    primary: ['object_id', 'term_taxonomy_id'],
    keys: { term_taxonomy_id: ['term_taxonomy_id'] },
  },
  {
    name: 'users',
    columns: {
      ID,
      user_login: text(60),
      user_pass: text(255),
      user_nicename: text(50),
      user_email: text(100),
      user_url: text(100),
      user_registered: NEVER,
      user_activation_key: text(255),
      user_status: 'int(11) NOT NULL DEFAULT 0',
      display_name: text(250),
    },
    primary: ['ID'],
    keys: { user_login_key: ['user_login'], user_nicename: ['user_nicename'], user_email: ['user_email'] },
    anyCase: ['user_login', 'user_nicename', 'user_email'],
  },
  {
    name: 'options',
    columns: { option_id: ID, option_name: text(191), option_value: LONG, autoload: text(20, 'yes') },
    primary: ['option_id'],
    unique: { option_name: ['option_name'] },
    keys: { autoload: ['autoload'] },
    anyCase: ['option_name'],
  },
  {
    name: 'comments',
    columns: {
      comment_ID: ID,
      comment_post_ID: REFERENCE,
      comment_author: 'tinytext NOT NULL',
      comment_author_email: text(100),
      comment_author_url: text(200),
      comment_author_IP: text(100),
      comment_date: NEVER,
      comment_date_gmt: NEVER,
      comment_content: 'text NOT NULL',
      comment_karma: 'int(11) NOT NULL DEFAULT 0',
      comment_approved: text(20, '1'),
      comment_agent: text(255),
      comment_type: text(20, 'comment'),
      comment_parent: REFERENCE,
      user_id: REFERENCE,
    },
    primary: ['comment_ID'],
    keys: {
      comment_post_ID: ['comment_post_ID'],
      comment_approved_date_gmt: ['comment_approved', 'comment_date_gmt'],
      comment_date_gmt: ['comment_date_gmt'],
      comment_parent: ['comment_parent'],
      comment_author_email: ['comment_author_email(10)'],
    },
  },
  {
    name: 'links',
    columns: {
      link_id: ID,
      link_url: text(255),
      link_name: text(255),
      link_image: text(255),
      link_target: text(25),
      link_description: text(255),
      link_visible: text(20, 'Y'),
      link_owner: 'bigint(20) unsigned NOT NULL DEFAULT 1',
      link_rating: 'int(11) NOT NULL DEFAULT 0',
      link_updated: NEVER,
      link_rel: text(255),
      link_notes: 'mediumtext NOT NULL',
      link_rss: text(255),
    },
    primary: ['link_id'],
    keys: { link_visible: ['link_visible'] },
  },
  {
    name: 'tec_events',
    columns: {
      event_id: ID,
      post_id: 'bigint(20) unsigned NOT NULL',
      start_date: 'varchar(19) NOT NULL',
      end_date: 'varchar(19) DEFAULT NULL',
      timezone: text(30, 'UTC'),
      start_date_utc: 'varchar(19) NOT NULL',
      end_date_utc: 'varchar(19) DEFAULT NULL',
      duration: 'mediumint(30) DEFAULT 7200',
      updated_at: TOUCHED,
      hash: 'varchar(40) NOT NULL',
    },
    primary: ['event_id'],
    unique: { post_id: ['post_id'] },
  },
  {
    name: 'tec_occurrences',
    columns: {
      occurrence_id: ID,
      event_id: 'bigint(20) unsigned NOT NULL',
      post_id: 'bigint(20) unsigned NOT NULL',
      start_date: 'datetime NOT NULL',
      start_date_utc: 'datetime NOT NULL',
      end_date: 'datetime NOT NULL',
      end_date_utc: 'datetime NOT NULL',
      duration: 'mediumint(30) DEFAULT 7200',
      hash: 'varchar(40) NOT NULL',
      updated_at: TOUCHED,
    },
    primary: ['occurrence_id'],
    unique: { hash: ['hash'] },
    keys: {
      event_id: ['event_id'],
      'idx_{prefix}tec_occurrences_post_id_dates': ['post_id', 'end_date', 'start_date'],
      'idx_{prefix}tec_occurrences_post_id_dates_utc': ['post_id', 'end_date_utc', 'start_date_utc'],
    },
  },
  {
    name: 'posts',
    columns: {
      ID,
      post_author: REFERENCE,
      post_date: NEVER,
      post_date_gmt: NEVER,
      post_content: LONG,
      post_title: 'text NOT NULL',
      post_excerpt: 'text NOT NULL',
      post_status: text(20, 'publish'),
      comment_status: text(20, 'open'),
      ping_status: text(20, 'open'),
      post_password: text(255),
      post_name: text(200),
      to_ping: 'text NOT NULL',
      pinged: 'text NOT NULL',
      post_modified: NEVER,
      post_modified_gmt: NEVER,
      post_content_filtered: LONG,
      post_parent: REFERENCE,
      guid: text(255),
      menu_order: 'int(11) NOT NULL DEFAULT 0',
      post_type: text(20, 'post'),
      post_mime_type: text(100),
      comment_count: 'bigint(20) NOT NULL DEFAULT 0',
    },
    primary: ['ID'],
    keys: {
      post_name: ['post_name(191)'],
      type_status_date: ['post_type', 'post_status', 'post_date', 'ID'],
      post_parent: ['post_parent'],
      post_author: ['post_author'],
      type_status_author: ['post_type', 'post_status', 'post_author'],
    },
    anyCase: ['post_name'],
  },
];
