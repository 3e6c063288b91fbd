/*
 * The rows of our own tables, column by column. The steps in `migrations/` create the tables. Dates are `YYYY-MM-DD
 * HH:MM:SS`.
 */

/** The single row (id 1) with the change counter. */
export interface ChangesRow {
  id: number;
  counter: number;
  /** UTC. */
  changed_at: string;
}

/** A row that is locked while a name (slug, title, term) is being assigned. */
export interface LockRow {
  name: string;
  touched: number;
}

/** A source from which data have been imported. */
export interface ImportRow {
  id: number;
  /** The name of the source. */
  source: string;
  /** The number of its last run. */
  run: number;
  /** Whether that run is unfinished. */
  open: number;
  /** Number of entries of the source that have been processed in that run. */
  done: number;
  /** The report of the run so far, as JSON. */
  report: string;
  /** UTC. */
  touched_at: string;
}

/** Maps a record of a source to our record that was made from it. */
export interface ImportIdRow {
  import_id: number;
  /** Digest of the kind and of the name of the record in the source. */
  item: string;
  kind: string;
  target: number;
  /** Digest of the imported data; empty if the record is to be examined again. */
  digest: string;
  run: number;
  /** The run that created our record; 0 if it existed before or this is not known. */
  made: number;
}

/** A record of ours that refers to records of the source that have not been imported yet. */
export interface ImportWaitingRow {
  import_id: number;
  item: string;
  kind: string;
  target: number;
  /** The records it refers to, as JSON. */
  wants: string;
}

/** An answer to a write with an idempotency key. `storage/rows/kept-answers.ts` defines both digests. */
export interface AnswerRow {
  id: string;
  fingerprint: string;
  /** UTC. */
  made_at: string;
  /** The reply as JSON; empty while the request is being processed. */
  answer: string;
}

/**
 * An occurrence of an event under one facet of the list index (`event-index-rows.ts`). Moments are numbers:
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
  /** 0 for an event that does not recur. */
  occurrence_id: number;
  /** The number of the event's language (`ContentLanguage`); 0 for an event without one. */
  language: number;
  /** The numbers of the languages in whose lists the event replaces a missing translation, as `,3,5,`. */
  stands_in: string;
}

/**
 * The number of public events that begin on a day (`YYYYMMDD`), and of those that run past its midnight; or the number
 * of events that begin in a month (`-YYYYMM - 1`).
 */
export interface DayRow {
  facet: number;
  day: number;
  n: number;
  running: number;
}

/** A recorded change (`src/storage/journal/entries.ts` explains the values). */
interface ChangeColumns {
  /** UTC. */
  at: string;
  kind: 'post' | 'term' | 'user' | 'option' | 'all';
  type: string;
  object: number;
  what: 'made' | 'changed' | 'removed';
  user: number;
  was_public: number;
  is_public: number;
}

/** A change in the journal. */
export interface JournalRow extends ChangeColumns {
  number: number;
  writer: 'fasti' | 'wordpress' | 'found';
}

/** A change recorded by the WordPress plugin. */
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
  /**
   * `paused`: by a person; `off`: because its receiver or its user does not exist any more. Neither state gets new
   * messages.
   */
  state: 'active' | 'paused' | 'off';
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
  /** `failed`: given up. */
  state: 'waiting' | 'done' | 'failed';
  attempts: number;
  next_at: string;
  created_at: string;
  status: number;
  error: string;
}

/** The state of an object when it was last taken over (`src/storage/freshness/prints.ts`). */
export interface PrintRow {
  kind: string;
  /** The id of a post, or the `term_taxonomy_id` of a term. */
  object: number;
  /** The type of a post, the taxonomy of a term. */
  type: string;
  /** For terms: the id of the term. */
  term: number;
  /** For terms: the id of the parent. */
  parent: number;
  is_public: number;
  digest: string;
}

/** A step of the schema that was applied. The columns are those of knex's table of migrations. */
export interface MigrationRow {
  id: number;
  name: string | null;
  /** Steps that were applied together have the same batch number. */
  batch: number | null;
  migration_time: string | null;
}

/** The single row that says whether a process is changing the schema. */
export interface MigrationLockRow {
  index: number;
  is_locked: number | null;
}

/** Name of a table without the prefix -> its row. */
export interface OwnTables {
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
