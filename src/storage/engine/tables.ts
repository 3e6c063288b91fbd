import type { Post } from '../../wordpress/rows.ts';
import type { OwnTables } from './own-tables.ts';

/*
 * The rows of the tables of WordPress, the calendar and WPML, column by column: never changed here. Dates are
 * `YYYY-MM-DD HH:MM:SS`, or zeros for "never".
 */

export interface PostMetaRow {
  meta_id: number;
  post_id: number;
  meta_key: string | null;
  /** Raw text, serialized PHP where WordPress serializes. */
  meta_value: string | null;
}

export interface TermRow {
  term_id: number;
  /** Entity-encoded, as WordPress stores it. */
  name: string;
  slug: string;
  term_group: number;
}

export interface TermTaxonomyRow {
  term_taxonomy_id: number;
  term_id: number;
  taxonomy: string;
  description: string;
  /** The `term_id` of the parent, 0 at the top. */
  parent: number;
  count: number;
}

export interface TermRelationshipRow {
  object_id: number;
  term_taxonomy_id: number;
  term_order: number;
}

export interface TermMetaRow {
  meta_id: number;
  term_id: number;
  meta_key: string | null;
  meta_value: string | null;
}

export interface UserRow {
  ID: number;
  user_login: string;
  user_pass: string;
  user_nicename: string;
  user_email: string;
  user_url: string;
  user_registered: string;
  user_activation_key: string;
  user_status: number;
  display_name: string;
}

export interface UserMetaRow {
  umeta_id: number;
  user_id: number;
  meta_key: string | null;
  meta_value: string | null;
}

export interface OptionRow {
  option_id: number;
  option_name: string;
  option_value: string;
  autoload: string;
}

export interface CommentRow {
  comment_ID: number;
  comment_post_ID: number;
  comment_author: string;
  comment_author_email: string;
  comment_author_url: string;
  comment_author_IP: string;
  comment_date: string;
  comment_date_gmt: string;
  comment_content: string;
  comment_karma: number;
  comment_approved: string;
  comment_agent: string;
  comment_type: string;
  comment_parent: number;
  user_id: number;
}

export interface CommentMetaRow {
  meta_id: number;
  comment_id: number;
  meta_key: string | null;
  meta_value: string | null;
}

export interface LinkRow {
  link_id: number;
  link_url: string;
  link_name: string;
}

/** One row for each event: its dates as the event has them. */
export interface TecEventRow {
  event_id: number;
  post_id: number;
  start_date: string;
  end_date: string | null;
  timezone: string;
  start_date_utc: string;
  end_date_utc: string | null;
  /** Seconds. */
  duration: number | null;
  /** UTC. MySQL sets it by itself when a row changes; SQLite does not, so every writer sets it. */
  updated_at: string | null;
  hash: string;
  /**
   * The rule of a recurring event as iCalendar lines; empty or null: a single one. Only where the paid extension was.
   */
  rset?: string | null;
}

/** One row for each time an event takes place; without recurrence, one for each event. */
export interface TecOccurrenceRow {
  occurrence_id: number;
  event_id: number;
  post_id: number;
  start_date: string;
  start_date_utc: string;
  end_date: string;
  end_date_utc: string;
  duration: number | null;
  hash: string;
  updated_at: string | null;
  /** These three only where the paid extension was. 1 in all rows of an event that recurs. */
  has_recurrence?: number | null;
  /** Which save of the event made the row: a number that rises. */
  sequence?: number | null;
  /** 1 where the date was listed, not made by the rule. */
  is_rdate?: number | null;
}

/** An event as a member of a series. The table is there only where the paid extension was. */
export interface SeriesRelationshipRow {
  relationship_id: number;
  series_post_id: number;
  /** Of `tec_events`. */
  event_id: number;
  event_post_id: number;
}

/** WPML: the language of a record, and its group (`trid`). */
export interface IclTranslationRow {
  translation_id: number;
  /** `post_` and a post type, or `tax_` and a taxonomy. */
  element_type: string;
  /** Of a post, or the `term_taxonomy_id` of a term; null while the translation is only planned. */
  element_id: number | null;
  trid: number;
  language_code: string;
  /** Null for what was not translated from anything. */
  source_language_code: string | null;
}

/** WPML: a language it knows. */
export interface IclLanguageRow {
  id: number;
  code: string;
  english_name: string;
  active: number;
  default_locale: string | null;
}

/** WPML: what a language is called in another. */
export interface IclLanguageNameRow {
  id: number;
  language_code: string;
  display_language_code: string;
  name: string;
}

/** WPML: a locale that a site chose for a language. */
export interface IclLocaleRow {
  code: string;
  locale: string | null;
}

/** A setting of a network of sites. Most databases have no such table. */
export interface SiteMetaRow {
  meta_id: number;
  site_id: number;
  meta_key: string;
  meta_value: string;
}

/** Name of a table without the prefix -> its row. */
export interface Tables extends OwnTables {
  posts: Post;
  postmeta: PostMetaRow;
  terms: TermRow;
  term_taxonomy: TermTaxonomyRow;
  term_relationships: TermRelationshipRow;
  termmeta: TermMetaRow;
  users: UserRow;
  usermeta: UserMetaRow;
  options: OptionRow;
  comments: CommentRow;
  commentmeta: CommentMetaRow;
  links: LinkRow;
  tec_events: TecEventRow;
  tec_occurrences: TecOccurrenceRow;
  tec_series_relationships: SeriesRelationshipRow;
  sitemeta: SiteMetaRow;
  icl_translations: IclTranslationRow;
  icl_languages: IclLanguageRow;
  icl_languages_translations: IclLanguageNameRow;
  icl_locale_map: IclLocaleRow;
}

export type TableName = keyof Tables;
