/*
 * The rows of our own tables, column by column. The steps in `migrations/` make them. Dates are `YYYY-MM-DD HH:MM:SS`.
 */

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
  /** The numbers of languages in whose lists it stands for a translation that is missing, as `,3,5,`. */
  stands_in: string;
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
  /** `paused`: by a person; `off`: because its receiver, or its user, is gone. Neither gets new messages. */
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
