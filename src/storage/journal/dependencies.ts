import { LANGUAGE_TAXONOMIES } from '../../wordpress/polylang.ts';
import type { Database } from '../engine/database.ts';
import type { JournalEntry } from './entries.ts';
import type { OwnChange } from './own-changes.ts';

/*
 * The dependencies of an answer, so that it stays in memory while other things change. Each function that reads rows of
 * objects declares which ones (`dependingOn`). A query without a declaration may depend on anything: a missing
 * declaration reduces speed, but never causes a wrong answer.
 */

/** A post by its id, a term by its negated id; all posts of a type or all terms of a taxonomy as text; or a list. */
export type Dependency = number | string | ListDependency;

/** A list's dependency on the posts of a type. Not every change of one of them affects the list. */
export interface ListDependency {
  /** The post type. */
  readonly posts: string;
  /** Whether a change by this process may affect the list; `isOf`: whether the changed object is a post of the type. */
  readonly isAffectedBy: (change: OwnChange, isOf: boolean) => boolean;
}

/** Returns the dependency on one term. */
export const termDependency = (id: number): Dependency => -id;

/** Returns the dependency on all posts of a type. */
export const allPosts = (type: string): Dependency => `posts ${type}`;

/** Returns the dependency on all terms of a taxonomy. */
export const allTerms = (taxonomy: string): Dependency => `terms ${taxonomy}`;

/** Everything that a computation has read; undefined: it may be anything. */
export type Dependencies = readonly Dependency[] | undefined;

/** Every URL and every record may depend on the languages of a site. */
const LANGUAGES: ReadonlySet<string> = new Set(LANGUAGE_TAXONOMIES);

/** Returns the dependencies that a change affects; undefined: all of them. */
export function dependenciesOf({ kind, type, object }: JournalEntry): Dependencies {
  if (kind === 'post') return [object, allPosts(type)];
  if (kind === 'term') return LANGUAGES.has(type) ? undefined : [termDependency(object), allTerms(type)];
  // No function that declares its dependencies reads users.
  return kind === 'user' ? [] : undefined;
}

/**
 * Returns the database for a query that depends only on these objects. An object that does not exist counts too,
 * because its id was looked up.
 */
export function dependingOn(db: Database, dependencies: Iterable<Dependency>): Database {
  if (!db.tracker) return db;
  db.tracker.note(dependencies);
  return db.tracker.plain;
}

/** Adds dependencies that are known only after the query, or that belong to a cached value. */
export const addDependencies = (db: Database, dependencies: Iterable<Dependency>): void => db.tracker?.note(dependencies);

/** Returns a database for one computation, and a function that returns what the computation has read from it so far. */
export function trackReads(plain: Database): { readonly db: Database; readonly dependencies: () => Dependencies } {
  const dependencies = new Set<Dependency>();
  let dependsOnAnything = false;
  const noting = <Member extends object>(member: Member): Member =>
    new Proxy(member, {
      apply: (target, self, args) => {
        dependsOnAnything = true;
        return Reflect.apply(target as never, self, args);
      },
      get: (target, name) => {
        dependsOnAnything = true;
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
        // The interface in `engine/` cannot name this type; it is called only by the functions above.
        for (const one of more) dependencies.add(one as Dependency);
      },
    },
  };
  return { db, dependencies: () => (dependsOnAnything ? undefined : [...dependencies]) };
}
