import type { Database } from '../engine/database.ts';
import type { JournalEntry } from './entries.ts';
import type { OwnChange } from './own-changes.ts';

/*
 * What an answer was made from, so that it stays in memory while other things change. Each function that reads rows of
 * objects declares which ones (`dependingOn`). A query without a declaration may depend on anything: a missing one
 * costs speed, never a right answer.
 */

/** A post by its id, a term by its negated id; all posts of a type or all terms of a taxonomy by text; or a list. */
export type Dependency = number | string | ListDependency;

/** What a list depends on of all posts of a type: not every change of one of them affects it. */
export interface ListDependency {
  /** The post type. */
  readonly posts: string;
  /** Whether a change by this process may alter the list; `isOf`: whether it is of a post of the type. */
  readonly isAffectedBy: (own: OwnChange, isOf: boolean) => boolean;
}

export const termDependency = (id: number): Dependency => -id;
export const allPosts = (type: string): Dependency => `posts ${type}`;
export const allTerms = (taxonomy: string): Dependency => `terms ${taxonomy}`;

/** What a computation has read; undefined: it may be anything. */
export type Dependencies = readonly Dependency[] | undefined;

/** Taxonomies in which Polylang keeps the languages of a site: every address and every record may depend on them. */
const LANGUAGES: readonly string[] = ['language', 'term_language'];

/** The dependencies that a change affects; undefined: all of them. */
export function dependenciesOf({ kind, type, object }: JournalEntry): Dependencies {
  if (kind === 'post') return [object, allPosts(type)];
  if (kind === 'term') return LANGUAGES.includes(type) ? undefined : [termDependency(object), allTerms(type)];
  // No function that declares its dependencies reads users.
  return kind === 'user' ? [] : undefined;
}

/**
 * The database for a query that depends on these objects alone. One that does not exist counts too: its id was looked
 * for.
 */
export function dependingOn(db: Database, dependencies: Iterable<Dependency>): Database {
  if (!db.tracker) return db;
  db.tracker.note(dependencies);
  return db.tracker.plain;
}

/** Adds dependencies that are known only after the query, or that came with a value from memory. */
export const addDependencies = (db: Database, dependencies: Iterable<Dependency>): void => db.tracker?.note(dependencies);

/** A database for one computation, and what the computation has read from it so far. */
export function trackReads(plain: Database): { readonly db: Database; readonly dependencies: () => Dependencies } {
  const found = new Set<Dependency>();
  let anything = false;
  const noting = <Member extends object>(member: Member): Member =>
    new Proxy(member, {
      apply: (target, self, args) => {
        anything = true;
        return Reflect.apply(target as never, self, args);
      },
      get: (target, name) => {
        anything = true;
        return Reflect.get(target, name);
      },
    });
  const { knex, raw, from, query, ask, rows, insert, change, transaction, part } = plain;
  const db: Database = {
    ...plain,
    knex: noting(knex),
    raw: noting(raw),
    from: noting(from),
    query: noting(query),
    ask: noting(ask),
    rows: noting(rows),
    insert: noting(insert),
    change: noting(change),
    transaction: noting(transaction),
    part: noting(part),
    tracker: {
      plain,
      note: (more) => {
        // The interface in `engine/` cannot name the type; the functions above are all that call it.
        for (const one of more) found.add(one as Dependency);
      },
    },
  };
  return { db, dependencies: () => (anything ? undefined : [...found]) };
}
