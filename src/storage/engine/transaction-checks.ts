import { AsyncLocalStorage } from 'node:async_hooks';

/*
 * Checks of how transactions are used, for tests (`watched` of `openDatabase`): they follow every promise of the
 * process, which costs too much for a server.
 */

/** What a watched transaction has done so far. */
interface Observed {
  /** Whether its work is still going on. */
  open: boolean;
  /** It has locked rows; it has written something; it has written the row that every writer writes. */
  locked: boolean;
  wrote: boolean;
  counted: boolean;
  /** It has locked names; it has written metas of users without. */
  named: boolean;
  unnamed: boolean;
  /** It has written records; the journal knows which. */
  records: boolean;
  journaled: boolean;
}

/** Watches the transactions of one database. */
export interface TransactionChecks {
  /** Notes what a statement does that runs now. Call it with every statement, just before it runs. */
  readonly note: (sql: string) => void;
  /** Call it with every query outside of transactions. Throws if it would run beside one that is open. */
  readonly refuseBeside: () => void;
  /**
   * Runs the work of a transaction. `work` calls `reportWrites` with whether the journal gets to know which records it
   * writes.
   *
   * @throws Error for a transaction that locks rows and writes without writing the row that every writer writes, that
   * writes records without reporting them to the journal, or metas of users without having locked names; else whatever
   * `work` throws
   */
  readonly run: <T>(work: (reportWrites: (namesRecords: boolean) => void) => Promise<T>) => Promise<T>;
  /** Call it before a part of a transaction. Returns what forgets the records of that part, which was undone. */
  readonly beginPart: () => () => void;
}

/** A piece of work may belong to transactions of several databases. */
interface Context {
  readonly owner: object;
  readonly observed: Observed;
  readonly outer: Context | undefined;
}

/** One for all databases: Node passes every promise of the process to each of them that is used. */
const contexts = new AsyncLocalStorage<Context>();
/** How many watched transactions are open. While there is none, no promise has to be followed. */
let openTransactions = 0;

/** Checks for one database. `alone`: one transaction writes at a time, so that no names are locked. */
export function transactionChecks(alone: boolean): TransactionChecks {
  const owner = {};
  const current = (): Observed | undefined => {
    let at = contexts.getStore();
    while (at && at.owner !== owner) at = at.outer;
    return at?.observed;
  };
  return {
    note: (sql) => {
      const observed = current();
      if (observed) observe(observed, sql);
    },
    refuseBeside: () => {
      // It would miss what was just written; one that writes waits on SQLite for itself.
      if (current()?.open) throw new Error('inside a transaction, use the database given to it');
    },
    run: async (work) => {
      const nothing = { locked: false, wrote: false, counted: false, named: alone, unnamed: false, records: false, journaled: false };
      const observed: Observed = { open: true, ...nothing };
      const reportWrites = (namesRecords: boolean): void => {
        observed.journaled ||= namesRecords;
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
      const records = observed?.records === true;
      return () => {
        if (observed) observed.records = records;
      };
    },
  };
}

function check({ locked, wrote, counted, unnamed, records, journaled }: Observed): void {
  if (locked && wrote && !counted) throw new Error('a transaction that locks rows and writes must call joinWriters or noteChange');
  // They have no unique key: two transactions could insert the same one.
  if (unnamed) throw new Error('a transaction that writes metas of users must call lockUser, or lock all users, first');
  if (records && !journaled) throw new Error('a transaction that writes records must report them to the journal');
}

function observe(observed: Observed, sql: string): void {
  observed.locked ||= /\b(for update|lock in share mode)$/i.test(sql.trim());
  observed.wrote ||= /^(insert|update|delete|replace)\b/i.test(sql);
  observed.named ||= /^insert into `\w*fasti_locks`/i.test(sql);
  observed.unnamed ||= !observed.named && /^(insert into|update|delete from) `\w*usermeta`/i.test(sql);
  observed.records ||= changesRecords(sql);
  observed.counted ||= /^(insert|update) .*fasti_changes`/i.test(sql);
}

/** The table that a statement changes. */
const CHANGED = /^(?:insert into|update|delete from) `(\w+)`/i;

/** What records are made of, without the prefix. Metas of users are not: they change with each login. */
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
