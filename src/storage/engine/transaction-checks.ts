import { AsyncLocalStorage } from 'node:async_hooks';

/*
 * Checks of how transactions are used, for tests (`watched` of `openDatabase`). They track every promise of the
 * process, which is too expensive for a server.
 */

/** The actions of a watched transaction so far. */
interface ObservedActions {
  /** Whether its work is still running. */
  open: boolean;
  /**
   * Whether it has locked rows (`hasLocked`), has written (`hasWritten`), and has written the row that every writer
   * writes (`joinedWriters`).
   */
  hasLocked: boolean;
  hasWritten: boolean;
  joinedWriters: boolean;
  /** Whether it has locked names, and has written metas of users without having locked names. */
  lockedNames: boolean;
  wroteUnlockedUserMetas: boolean;
  /** Whether it has written records, and has reported them to the journal. */
  wroteRecords: boolean;
  reportedRecords: boolean;
  /** Whether it has changed rows by their numbers, without naming the records that they belong to. */
  trustedNumbers: boolean;
}

/** Checks of the transactions of one database. */
export interface TransactionChecks {
  /** Records what a statement does. Must be called with every statement, just before it runs. */
  readonly note: (sql: string) => void;
  /**
   * Must be called with every query outside of transactions. Throws if the query would run while a transaction of the
   * same caller is open.
   */
  readonly refuseOutside: () => void;
  /**
   * Runs the work of a transaction. `work` calls `reportWrites` with whether it reports the records it writes to the
   * journal.
   *
   * @throws Error for a transaction that locks rows and writes without writing the row that every writer writes, that
   * writes records without reporting them to the journal, that writes metas of users without having locked names, or
   * that changes rows by their numbers alone; otherwise whatever `work` throws
   */
  readonly run: <T>(work: (reportWrites: (namesRecords: boolean) => void) => Promise<T>) => Promise<T>;
  /**
   * Must be called before a part of a transaction. Returns a function that forgets the records of that part, to be
   * called if the part is undone.
   */
  readonly beginPart: () => () => void;
}

/** The current transaction of a piece of work. The work may belong to transactions of several databases. */
interface Context {
  readonly owner: object;
  readonly observed: ObservedActions;
  readonly outer: Context | undefined;
}

/** One storage for all databases: Node passes every promise of the process to each storage that is in use. */
const contexts = new AsyncLocalStorage<Context>();
/** Number of watched transactions that are open. While it is 0, no promises are tracked. */
let openTransactions = 0;

/** Creates checks for one database. `hasSingleWriter`: the database has a single writer, so no names are locked. */
export function transactionChecks(hasSingleWriter: boolean): TransactionChecks {
  const owner = {};
  const current = (): ObservedActions | undefined => {
    let at = contexts.getStore();
    while (at && at.owner !== owner) at = at.outer;
    return at?.observed;
  };
  return {
    note: (sql) => {
      const observed = current();
      if (observed) observe(observed, sql);
    },
    refuseOutside: () => {
      // A read would miss the writes of the transaction. A write would wait on SQLite for the transaction and so for
      // itself.
      if (current()?.open) throw new Error('inside a transaction, use the database given to it');
    },
    run: async (work) => {
      const noActions = {
        hasLocked: false,
        hasWritten: false,
        joinedWriters: false,
        lockedNames: hasSingleWriter,
        wroteUnlockedUserMetas: false,
        wroteRecords: false,
        reportedRecords: false,
        journaled: false,
        trustedNumbers: false,
      };
      const observed: ObservedActions = { open: true, ...noActions };
      const reportWrites = (namesRecords: boolean): void => {
        observed.reportedRecords ||= namesRecords;
      };
      openTransactions += 1;
      try {
        const result = await contexts.run({ owner, observed, outer: contexts.getStore() }, () => work(reportWrites));
        check(observed);
        return result;
      } finally {
        observed.open = false;
        openTransactions -= 1;
        if (openTransactions === 0) contexts.disable();
      }
    },
    beginPart: () => {
      const observed = current();
      const records = observed?.wroteRecords === true;
      return () => {
        if (observed) observed.wroteRecords = records;
      };
    },
  };
}

function check(observed: ObservedActions): void {
  const { hasLocked, hasWritten, joinedWriters, wroteUnlockedUserMetas, wroteRecords, reportedRecords, trustedNumbers } = observed;
  // A table that was restored only in part has no primary key, and several rows of one number.
  if (trustedNumbers) throw new Error('a transaction that changes a row must name its record beside its number');
  if (hasLocked && hasWritten && !joinedWriters)
    throw new Error('a transaction that locks rows and writes must call joinWriters or noteChange');
  // These rows have no unique key: two transactions could insert the same one.
  if (wroteUnlockedUserMetas) throw new Error('a transaction that writes metas of users must call lockUser, or lock all users, first');
  if (wroteRecords && !reportedRecords) throw new Error('a transaction that writes records must report them to the journal');
}

function observe(observed: ObservedActions, sql: string): void {
  observed.hasLocked ||= /\b(for update|lock in share mode)$/i.test(sql.trim());
  observed.hasWritten ||= /^(insert|update|delete|replace)\b/i.test(sql);
  observed.lockedNames ||= /^insert into `\w*fasti_locks`/i.test(sql);
  observed.wroteUnlockedUserMetas ||= !observed.lockedNames && /^(insert into|update|delete from) `\w*usermeta`/i.test(sql);
  observed.wroteRecords ||= changesRecords(sql);
  observed.trustedNumbers ||= trustsNumbers(sql);
  observed.joinedWriters ||= /^(insert|update) .*fasti_changes`/i.test(sql);
}

/** Matches a writing statement and captures the table that it changes. */
const CHANGED = /^(?:insert into|update|delete from) `(\w+)`/i;

/**
 * Tables that hold records, without the prefix. Metas of users are not among them, since they change with each login.
 */
const RECORDS = [
  'posts',
  'postmeta',
  'terms',
  'termmeta',
  'term_taxonomy',
  'term_relationships',
  'tec_events',
  'tec_occurrences',
  'tec_series_relationships',
  'users',
];

function changesRecords(sql: string): boolean {
  const table = CHANGED.exec(sql)?.[1];
  return table !== undefined && RECORDS.some((name) => table.endsWith(name));
}

/** Tables whose rows belong to records, without the prefix -> the column that numbers the rows. */
const NUMBERS = {
  postmeta: 'meta_id',
  usermeta: 'umeta_id',
  termmeta: 'meta_id',
  commentmeta: 'meta_id',
  comments: 'comment_ID',
  options: 'option_id',
  tec_events: 'event_id',
  tec_occurrences: 'occurrence_id',
  tec_series_relationships: 'relationship_id',
  icl_translations: 'translation_id',
} as const;

/** Matches a column that a condition compares. */
const COMPARED = /\b(\w+)\b`?\s?(?:[=<>!]|(?:not )?(?:in|like|between)\b|is\b)/gi;

/** Whether a statement changes rows and names them by nothing but their numbers. */
function trustsNumbers(sql: string): boolean {
  const [change = '', ...conditions] = sql.split(/ where /i);
  const table = /^(?:update|delete from) `(\w+)`/i.exec(change)?.[1];
  const [, number] = Object.entries(NUMBERS).find(([name]) => table?.endsWith(name)) ?? [];
  const columns = [...conditions.join(' ').matchAll(COMPARED)].map(([, column]) => column);
  return columns.length > 0 && columns.every((column) => column === number);
}
