import type { ContentLanguages, Memberships } from '../../wordpress/content-languages.ts';
import type { Term } from '../../wordpress/rows.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { type Dependency, termDependency } from '../journal/dependencies.ts';

/*
 * The two forms in which a database says languages stand behind one interface, as the two kinds of databases do. Nobody
 * outside this folder knows which one it is.
 */

/**
 * One of the two. Records are named by their ids, whatever the form's own rows name them by: `ID` of posts, `term_id`
 * of terms.
 */
export interface LanguageForm {
  /** The languages of the site; undefined where its options and rows say none. */
  readonly read: (db: Database, options: ReadonlyMap<string, string>) => Promise<SiteLanguages | undefined>;
  /** The languages and groups of these records, in one query. */
  readonly memberships: (db: Database, languages: ContentLanguages, records: RecordKeys) => Promise<Memberships>;
  /** Narrows a list to the records that have a language, or none. */
  readonly whereLanguage: (db: Database, where: QueryBuilder, languages: ContentLanguages, records: Listed, code: string | null) => void;
  /** Narrows a list to the records whose group has a certain member. */
  readonly whereInGroup: (db: Database, where: QueryBuilder, languages: ContentLanguages, records: Listed, member: Member) => void;
}

/** What a form reads of a site, without what the program adds. */
export type SiteLanguages = Omit<ContentLanguages, 'form' | 'pluginRuns'>;

/** A term that is asked about. Its row in the taxonomy is looked up where it is needed and not known. */
export type NamedTerm = Pick<Term, 'term_id' | 'taxonomy'> & Partial<Pick<Term, 'term_taxonomy_id'>>;

/** Records that are asked about. */
export interface RecordKeys {
  readonly posts: readonly number[];
  readonly terms: readonly NamedTerm[];
}

/**
 * What the languages and groups of records depend on: a change of a group is a change of each of its members, of those
 * that leave it and those that join it.
 */
export const dependenciesOf = ({ posts, terms }: RecordKeys): Dependency[] => [
  ...posts,
  ...terms.map((term) => termDependency(term.term_id)),
];

/** What the languages and groups of no records are. */
export const NO_MEMBERSHIPS: Memberships = { posts: new Map(), terms: new Map() };

/** Where the records of a list are: in `posts`, by its alias, or in `terms` as `t` and `term_taxonomy` as `tt`. */
export type Listed =
  | { readonly is: 'post'; readonly name: string; readonly alias: string }
  | { readonly is: 'term'; readonly name: string };

/** A member of a group: one in a language; `isShown` narrows members that are posts, as `member`. */
export interface Member {
  readonly code: string;
  readonly isShown?: ((member: QueryBuilder) => void) | undefined;
}
