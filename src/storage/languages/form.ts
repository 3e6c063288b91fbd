import type { ContentLanguages, Membership, Memberships } from '../../wordpress/content-languages.ts';
import type { Term } from '../../wordpress/rows.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Selection, TextRow } from '../engine/select-together.ts';
import { type Dependency, termDependency } from '../journal/dependencies.ts';

/*
 * A common interface for the two forms in which a database stores languages, similar to the two kinds of databases.
 * Code outside this folder does not depend on the form.
 */

/**
 * One of the two forms. Records are identified by their own ids, independent of the form's rows: `ID` of posts,
 * `term_id` of terms.
 */
export interface LanguageForm {
  /** Reads the languages of the site; undefined if its options and rows define none. */
  readonly read: (db: Database, options: ReadonlyMap<string, string>) => Promise<SiteLanguages | undefined>;
  /** Reads the languages and groups of these records, in one query. */
  readonly memberships: (db: Database, languages: ContentLanguages, records: RecordKeys) => Promise<Memberships>;
  /** Selects the rows with the languages and groups of these posts, to be read together with other rows. */
  readonly rowsOfPosts: (db: Database, ids: readonly number[]) => Selection;
  /** Returns the languages and groups that these rows contain (`rowsOfPosts`). */
  readonly membershipsIn: (languages: ContentLanguages, rows: readonly TextRow[]) => ReadonlyMap<number, Membership>;
  /** Restricts a list to the records in a language, or without a language. */
  readonly whereLanguage: (
    db: Database,
    where: QueryBuilder,
    languages: ContentLanguages,
    records: ListedRecords,
    code: string | null,
  ) => void;
  /** Restricts a list to the records whose group has a certain member. */
  readonly whereInGroup: (db: Database, where: QueryBuilder, languages: ContentLanguages, records: ListedRecords, member: Member) => void;
}

/** The data that a form reads from a site, without those added by the program. */
export type SiteLanguages = Omit<ContentLanguages, 'form' | 'pluginRuns' | 'sharesSlugs'>;

/** A term to look up. Its `term_taxonomy_id` is looked up if it is needed and not known. */
export type NamedTerm = Pick<Term, 'term_id' | 'taxonomy'> & Partial<Pick<Term, 'term_taxonomy_id'>>;

/** Records to look up. */
export interface RecordKeys {
  readonly posts: readonly number[];
  readonly terms: readonly NamedTerm[];
}

/**
 * Returns the dependencies of the languages and groups of records. A change of a group counts as a change of all its
 * members, including those that leave or join it.
 */
export const dependenciesOf = ({ posts, terms }: RecordKeys): Dependency[] => [
  ...posts,
  ...terms.map((term) => termDependency(term.term_id)),
];

/** The result for an empty list of records. */
export const NO_MEMBERSHIPS: Memberships = { posts: new Map(), terms: new Map() };

/**
 * The location of the records of a list: in `posts`, under its alias, or in `terms` as `t` and `term_taxonomy` as `tt`.
 */
export type ListedRecords =
  | { readonly is: 'post'; readonly name: string; readonly alias: string }
  | { readonly is: 'term'; readonly name: string };

/** The member of a group in a language; `isShown` restricts it, as `member`: a post, or a row of `term_taxonomy`. */
export interface Member {
  readonly code: string;
  readonly isShown?: ((member: QueryBuilder) => void) | undefined;
}
