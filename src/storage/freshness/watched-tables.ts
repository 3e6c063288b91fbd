import { typedKeys } from '../../typed-keys.ts';
import type { SignedTables } from '../engine/change-signs.ts';
import { type Database, hasTable } from '../engine/database.ts';
import type { Tables } from '../engine/tables.ts';

/** Describes how the rows of a table are compared. */
interface WatchedTable<Row> {
  /** The column whose ranges are compared: the first column of a key, with positive numbers as values. */
  readonly key: keyof Row & string;
  /** Columns of numbers and dates that are never NULL. */
  readonly plain: readonly (keyof Row & string)[];
  /** Columns of texts, and columns that may be NULL. */
  readonly texts: readonly (keyof Row & string)[];
}

/**
 * The tables that cached answers are made from, with all their columns. Options are not included, because WordPress
 * writes them constantly (cron, transients); the few relevant ones are read with each look. Users are not included,
 * because their metas change with every login; answers that show users are cached for a second at most.
 */
export const WATCHED = {
  posts: {
    key: 'ID',
    plain: [
      'ID',
      'post_author',
      'post_date',
      'post_date_gmt',
      'post_modified',
      'post_modified_gmt',
      'post_parent',
      'menu_order',
      'comment_count',
    ],
    texts: [
      'post_content',
      'post_title',
      'post_excerpt',
      'post_status',
      'comment_status',
      'ping_status',
      'post_password',
      'post_name',
      'to_ping',
      'pinged',
      'post_content_filtered',
      'guid',
      'post_type',
      'post_mime_type',
    ],
  },
  postmeta: { key: 'meta_id', plain: ['meta_id', 'post_id'], texts: ['meta_key', 'meta_value'] },
  terms: { key: 'term_id', plain: ['term_id', 'term_group'], texts: ['name', 'slug'] },
  term_taxonomy: {
    key: 'term_taxonomy_id',
    plain: ['term_taxonomy_id', 'term_id', 'parent', 'count'],
    texts: ['taxonomy', 'description'],
  },
  term_relationships: { key: 'object_id', plain: ['object_id', 'term_taxonomy_id', 'term_order'], texts: [] },
  tec_occurrences: {
    key: 'occurrence_id',
    plain: ['occurrence_id', 'event_id', 'post_id', 'start_date', 'start_date_utc', 'end_date', 'end_date_utc'],
    texts: ['duration', 'hash', 'updated_at'],
  },
  // By group, so that all members of a group are in one range.
  icl_translations: {
    key: 'trid',
    plain: ['translation_id', 'trid'],
    texts: ['element_type', 'element_id', 'language_code', 'source_language_code'],
  },
} as const satisfies { readonly [Name in keyof Tables]?: WatchedTable<Tables[Name]> };

export type WatchedName = keyof typeof WATCHED;

export const watchedNames = typedKeys(WATCHED);

/** The tables that the settings of a site are read from (`createSettingsReader`). */
const settingsTables = [
  'options',
  'sitemeta',
  'blogs',
  'icl_languages',
  'icl_languages_translations',
  'icl_locale_map',
] as const satisfies readonly (keyof Tables)[];

/** Returns the tables whose change signs a look reads. */
export const signedTables = (db: Database): SignedTables => ({
  watched: watchedNames.map(db.table),
  positionOnly: settingsTables.map(db.table),
});

/** Tables of plugins, which may be absent. */
const PLUGIN_TABLES: readonly WatchedName[] = ['tec_occurrences', 'icl_translations'];

/** Whether the database has this table. A plugin may create or drop its own tables at any time. */
export const hasWatchedTable = async (db: Database, table: WatchedName): Promise<boolean> =>
  !PLUGIN_TABLES.includes(table) || (await hasTable(db, table));
