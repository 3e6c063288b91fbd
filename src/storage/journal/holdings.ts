import type { Database } from '../engine/database.ts';
import type { JournalEntry } from './entries.ts';
import type { OwnChange } from './own-changes.ts';

/*
 * What an answer was made of, so that a change of something else leaves it as it is. Each function that reads rows of
 * objects says which (`goesBy`). A query of any other function may depend on anything: forgetting to say it costs
 * speed, never a right answer.
 */

/**
 * A post by its id, a term by its id below zero; all posts of a type, all terms of a taxonomy; or what a list looks at
 * of all posts of a type.
 */
export type Tag = number | string | Outlook;

/** What a list looks at of all posts of a type, so that other changes of them leave it as it is. */
export interface Outlook {
  readonly posts: string;
  /** Whether the list may be another one after a change of this process; `isOf`: of a post of the type. */
  readonly isConcernedBy: (own: OwnChange, isOf: boolean) => boolean;
}

export const termTag = (id: number): Tag => -id;
export const allPosts = (type: string): Tag => `posts ${type}`;
export const allTerms = (taxonomy: string): Tag => `terms ${taxonomy}`;

/** What a piece of work has read; undefined: it may be anything. */
export type Holdings = readonly Tag[] | undefined;

/** Taxonomies in which Polylang keeps the languages of a site: every address and every record may depend on them. */
const LANGUAGES: readonly string[] = ['language', 'term_language'];

/** The tags that a change touches; undefined: all of them. */
export function touchedBy({ kind, type, object }: JournalEntry): Holdings {
  if (kind === 'post') return [object, allPosts(type)];
  if (kind === 'term') return LANGUAGES.includes(type) ? undefined : [termTag(object), allTerms(type)];
  // Users are read by no function that says what it goes by.
  return kind === 'user' ? [] : undefined;
}

/**
 * The database for a query that depends on nothing but these objects. An object counts though it is not there: its id
 * was looked for.
 */
export function goesBy(db: Database, tags: Iterable<Tag>): Database {
  if (!db.reading) return db;
  db.reading.note(tags);
  return db.reading.plain;
}

/** Adds what was found to what a reading goes by. */
export const heldToo = (db: Database, tags: Iterable<Tag>): void => db.reading?.note(tags);

/** A database for one piece of work that reads, and what the work has read so far. */
export function followReading(plain: Database): { readonly db: Database; readonly holdings: () => Holdings } {
  const tags = new Set<Tag>();
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
    reading: {
      plain,
      note: (more) => {
        // The database doesn't know what it carries: only tags are noted.
        for (const tag of more) tags.add(tag as Tag);
      },
    },
  };
  return { db, holdings: () => (anything ? undefined : [...tags]) };
}
