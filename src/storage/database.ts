import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Client } from 'knex/lib/execution/runner.js';
import { DatabaseUnavailable, type Dialect, type Engine } from './dialect.ts';
import { openMysql } from './mysql.ts';
import { openSqlite } from './sqlite.ts';
import { type Place, statements } from './statement.ts';
import { runStraight } from './straight-runner.ts';
import type { TableName, Tables } from './tables.ts';
import { type Transaction, transact } from './transaction.ts';

export { DatabaseUnavailable } from './dialect.ts';

/** A query on one table that knows its columns. */
export type TableQuery<Name extends TableName> = ReturnType<typeof queryOf<Tables[Name]>>;

/** A database, or a transaction in it: both are used alike. */
export interface Database {
  readonly knex: Knex;
  readonly dialect: Dialect;
  readonly prefix: string;

  /** The name of a table with the prefix of the site. */
  table(name: TableName): string;

  /** A query on that table, `alias` for use in joins. Where the database is watched it throws when the query would run beside an open transaction. */
  from<Name extends TableName>(name: Name, alias?: string): TableQuery<Name>;

  /** Runs a statement that reads, written out as a template (`statement.ts`), and gives its rows. */
  rows<Row>(text: TemplateStringsArray, ...places: Place[]): Promise<Row[]>;

  /** The same for one that inserts. Gives the number that the database gave to a single row. */
  insert(text: TemplateStringsArray, ...places: Place[]): Promise<number>;

  /** The same for one that changes or removes. Gives how many rows it met. */
  change(text: TemplateStringsArray, ...places: Place[]): Promise<number>;

  /**
   * Runs `work` as one transaction: all of it is written or nothing. When someone else is in the way the whole of `work` runs again, so it must
   * not do anything but ask and write through the database it is given. Inside a transaction it runs in that one.
   *
   * @throws DatabaseUnavailable `busy` when it was in the way too often, or whatever `work` throws
   */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>;

  /** How many queries ran so far, BEGIN and COMMIT among them. */
  queries(): number;

  /** Ends all connections. */
  close(): Promise<void>;
}

/** Where the data are, and what the names of the tables begin with. */
export interface DatabaseSettings {
  /** `sqlite:PATH`, `sqlite::memory:` or `mysql://user:password@host:port/name`. */
  readonly url: string;
  readonly prefix: string;
  /** Refuses queries beside the transaction that is open, which would miss what it wrote. For tests: to know it, every promise of the process is followed. */
  readonly watched?: boolean;
}

/**
 * Opens the database. A server that is absent is not missed until the first query.
 *
 * @throws Error with one clear line when the address or the prefix can't be right, or the file can't be opened
 */
export async function openDatabase({ url, prefix, watched = false }: DatabaseSettings): Promise<Database> {
  if (!/^\w*$/.test(prefix)) throw new Error(`a table prefix consists of letters, digits and underscores, unlike "${prefix}"`);
  return root(engineAt(url), prefix, watched ? new AsyncLocalStorage() : undefined);
}

/**
 * Asks the database for a sign of life.
 *
 * @throws DatabaseUnavailable saying why there is none
 */
export async function ping(db: Database): Promise<void> {
  await db.knex.raw('SELECT 1');
}

/** How long a transaction is run again and again, and how long writers of this process wait for their turn. */
const LONGEST_WAIT_MS = 8000;
const FIRST_PAUSE_MS = 2;
/** More writers than this in the queue are turned away at once. */
const MOST_WAITING = 1000;

const queryOf = <Row extends object>(knex: Knex, table: Knex.TableDescriptor | Knex.AliasDict) => knex<Row>(table);

function engineAt(url: string): Engine {
  const scheme = /^\w+:/.exec(url)?.[0];
  if (scheme === 'sqlite:') return openSqlite(url);
  if (scheme !== 'mysql:') throw new Error('the address of the database must begin with "sqlite:" or "mysql://"');
  if (!URL.canParse(url)) throw new Error('the address of the database must look like mysql://user:password@host:port/name');
  return openMysql(url);
}

/** `inside`: where the transaction that a piece of work belongs to is remembered. */
function root({ knex, dialect }: Engine, prefix: string, inside: AsyncLocalStorage<{ open: boolean }> | undefined): Database {
  const inTurn = turnstile(dialect.writers);
  const statementOf = statements(prefix);
  const client = knex.client as Client;
  const outside: Transaction = { knex, run: (query) => runStraight(client, query) };
  let count = 0;
  knex.on('query', () => {
    count += 1;
  });

  /** Beside a transaction of one's own a query misses what was just written; one that writes waits on SQLite for itself. */
  const refuseBeside = (): void => {
    if (inside?.getStore()?.open) throw new Error('inside a transaction, use the database given to it');
  };

  const once = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
    const state = { open: true };
    try {
      return await transact(client, (transaction) => {
        const inner = () => work(handle(transaction));
        return inside ? inside.run(state, inner) : inner();
      });
    } finally {
      state.open = false;
    }
  };

  const retried = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
    const until = Date.now() + LONGEST_WAIT_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, dialect.longestPause)) {
      try {
        return await once(work);
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || error.reason !== 'busy' || Date.now() > until) throw error;
        await sleep(pause * (0.5 + Math.random()));
      }
    }
  };

  /** The database as seen from `way`: from outside, or from a transaction. */
  const handle = (way: Transaction): Database => {
    const ask = (method: 'select' | 'insert' | 'update', text: TemplateStringsArray, places: Place[]): Promise<unknown> => {
      if (way === outside) refuseBeside();
      return way.run({ method, ...statementOf(text, places) });
    };
    const db: Database = {
      get knex() {
        return way.knex;
      },
      dialect,
      prefix,
      table: (name) => prefix + name,
      from: <Name extends TableName>(name: Name, alias?: string) => {
        if (way === outside) refuseBeside();
        return queryOf<Tables[Name]>(way.knex, alias === undefined ? prefix + name : { [alias]: prefix + name });
      },
      rows: <Row>(text: TemplateStringsArray, ...places: Place[]) => ask('select', text, places) as Promise<Row[]>,
      insert: async (text, ...places) => Number(((await ask('insert', text, places)) as [number | bigint])[0]),
      change: async (text, ...places) => Number(await ask('update', text, places)),
      transaction: async (work) => {
        if (way !== outside) return work(db);
        refuseBeside();
        return inTurn(() => retried(work));
      },
      queries: () => count,
      close: async () => {
        await knex.destroy();
      },
    };
    return db;
  };
  return handle(outside);
}

/** Lets `limit` works run at a time, the others in the order of their coming. */
function turnstile(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  const turn = async (): Promise<void> => {
    if (running < limit) {
      running += 1;
      return;
    }
    if (waiting.length >= MOST_WAITING) throw new DatabaseUnavailable('exhausted');
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(patience);
        resolve();
      };
      const patience = setTimeout(() => {
        waiting.splice(waiting.indexOf(enter), 1);
        reject(new DatabaseUnavailable('exhausted'));
      }, LONGEST_WAIT_MS);
      waiting.push(enter);
    });
  };
  return async (work) => {
    await turn();
    try {
      return await work();
    } finally {
      // The turn is handed on, so that nobody slips in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
