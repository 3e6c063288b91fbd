/*
 * The rows of the tables, column by column. The tables are WordPress's and the calendar's and their columns are never
 * changed here; only those beginning with `fasti_` are our own. Dates are `YYYY-MM-DD HH:MM:SS`, or zeros for "never".
 */

export interface PostRow {
  ID: number;
  post_author: number;
  /** Site-local wall clock; `post_date_gmt` beside it is UTC, zeros for a draft that was never published. */
  post_date: string;
  post_date_gmt: string;
  post_content: string;
  post_title: string;
  post_excerpt: string;
  post_status: string;
  comment_status: string;
  ping_status: string;
  post_password: string;
  /** The slug. */
  post_name: string;
  to_ping: string;
  pinged: string;
  post_modified: string;
  post_modified_gmt: string;
  post_content_filtered: string;
  post_parent: number;
  guid: string;
  menu_order: number;
  post_type: string;
  post_mime_type: string;
  comment_count: number;
}

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

/** The one row (id 1) that counts what was ever changed. */
export interface ChangesRow {
  id: number;
  counter: number;
  /** UTC. */
  changed_at: string;
}

/** A row is locked while a name (slug, title, term) is being given. */
export interface LockRow {
  name: string;
  touched: number;
}

/** A source that something was imported from. */
export interface ImportRow {
  id: number;
  /** The name of the source. */
  source: string;
  /** The number of its last run. */
  run: number;
  /** Whether that run has not come to its end. */
  open: number;
  /** How many entries of the source are dealt with in that run. */
  done: number;
  /** What the run has to report so far, as JSON. */
  report: string;
  /** UTC. */
  touched_at: string;
}

/** Which record of ours a record of a source became. */
export interface ImportIdRow {
  import_id: number;
  /** Digest of the kind and the name that the source has for it. */
  item: string;
  kind: string;
  target: number;
  /** Digest of what came in; empty where it is to be looked at again. */
  digest: string;
  run: number;
  /** The run that made it; 0: it was here before, or nobody knows. */
  made: number;
}

/** A record of ours that names records of the source which have not come in yet. */
export interface ImportWaitingRow {
  import_id: number;
  item: string;
  kind: string;
  target: number;
  /** What it names, as JSON. */
  wants: string;
}

/** An answer that was given to a write with a key; both digests as `storage/rows/kept-answers.ts` has them. */
export interface AnswerRow {
  id: string;
  fingerprint: string;
  /** UTC. */
  made_at: string;
  /** The reply as JSON; empty while the request is under way. */
  answer: string;
}

/**
 * An occurrence of an event under one of the headings it is listed by (`event-index-rows.ts`). Moments are numbers:
 * `YYYYMMDDHHMMSS`.
 */
export interface EntryRow {
  facet: number;
  start_at: number;
  posted_at: number;
  post_id: number;
  end_at: number;
  status: number;
  hidden: number;
  locked: number;
  featured: number;
  /** 0 for an event that takes place once. */
  occurrence_id: number;
  /** The number of its language (`ContentLanguage`); 0 for an event without one. */
  language: number;
}

/**
 * How many public events begin on a day (`YYYYMMDD`), and how many run past its midnight; or how many begin in a month
 * (`-YYYYMM - 1`).
 */
export interface DayRow {
  facet: number;
  day: number;
  n: number;
  running: number;
}

/** A change that was noted (`src/storage/journal/entries.ts` says what the words mean). */
interface ChangeColumns {
  /** UTC. */
  at: string;
  kind: string;
  type: string;
  object: number;
  what: string;
  user: number;
  was_public: number;
  is_public: number;
}

/** A change in the journal. */
export interface JournalRow extends ChangeColumns {
  number: number;
  writer: string;
}

/** A change that the WordPress plugin has noted. */
export interface InboxRow extends ChangeColumns {
  id: number;
}

/** A webhook. */
export interface HookRow {
  id: number;
  url: string;
  secret: string;
  kinds: string;
  user: number;
  state: string;
  position: number;
  busy_until: string;
  created_at: string;
}

/** A message to a webhook. */
export interface HookMessageRow {
  id: string;
  hook: number;
  number: number;
  subject: string;
  payload: string;
  state: string;
  attempts: number;
  next_at: string;
  created_at: string;
  status: number;
  error: string;
}

/** What was last seen of an object (`src/storage/freshness/prints.ts`). */
export interface PrintRow {
  kind: string;
  /** The id of a post; of a term the row in its taxonomy. */
  object: number;
  /** The type of a post, the taxonomy of a term. */
  type: string;
  /** The id of a term. */
  term: number;
  /** Of a term. */
  parent: number;
  is_public: number;
  digest: string;
}

/**
 * A step of the schema that was applied. The columns are those that knex gave to its own journal of migrations, which
 * this once was.
 */
export interface MigrationRow {
  id: number;
  name: string | null;
  /** Steps that were applied together have the same number. */
  batch: number | null;
  migration_time: string | null;
}

/** One row that says whether a process is changing the schema. */
export interface MigrationLockRow {
  index: number;
  is_locked: number | null;
}

/** A setting of a network of sites. Most databases have no such table. */
export interface SiteMetaRow {
  meta_id: number;
  site_id: number;
  meta_key: string;
  meta_value: string;
}

/** Name of a table without the prefix -> its row. */
export interface Tables {
  posts: PostRow;
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
  fasti_changes: ChangesRow;
  fasti_locks: LockRow;
  fasti_imports: ImportRow;
  fasti_import_ids: ImportIdRow;
  fasti_import_waiting: ImportWaitingRow;
  fasti_entries: EntryRow;
  fasti_days: DayRow;
  fasti_answers: AnswerRow;
  fasti_journal: JournalRow;
  fasti_journal_inbox: InboxRow;
  fasti_hooks: HookRow;
  fasti_hook_messages: HookMessageRow;
  fasti_prints: PrintRow;
  fasti_migrations: MigrationRow;
  fasti_migrations_lock: MigrationLockRow;
}

export type TableName = keyof Tables;
