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
 * One of the two. Posts are named by their ids, terms by the id that the form's rows use for them (`termKey`).
 */
export interface LanguageForm {
  /** The column of `Term` by which terms are named. */
  readonly termKey: 'term_id' | 'term_taxonomy_id';
  /** The languages of the site; undefined where its options and rows say none. */
  readonly read: (db: Database, options: ReadonlyMap<string, string>) => Promise<SiteLanguages | undefined>;
  /** The languages and groups of these records, in one query. */
  readonly memberships: (db: Database, languages: ContentLanguages, records: RecordKeys) => Promise<Memberships>;
  /** Narrows a list to the records that have a language, or none. */
  readonly whereLanguage: (db: Database, where: QueryBuilder, languages: ContentLanguages, records: Listed, code: string | null) => void;
  /** Narrows a list to the records whose group has a certain member. */
  readonly whereInGroup: (db: Database, where: QueryBuilder, languages: ContentLanguages, records: Listed, member: Member) => void;
  /** The group of one record, kept from other writers until the end of the transaction; undefined: it has none. */
  readonly lockGroup: (db: Database, languages: ContentLanguages, record: RecordName) => Promise<LockedGroup | undefined>;
}

/** What a form reads of a site, without what the program adds. */
export type SiteLanguages = Omit<ContentLanguages, 'form' | 'pluginRuns'>;

/** The ids by which a form may know a term. */
export type TermKeys = Pick<Term, 'term_id' | 'term_taxonomy_id'>;

/** Records that are asked about. */
export interface RecordKeys {
  readonly posts: readonly number[];
  readonly terms: readonly TermKeys[];
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

/** One record. `name`: its post type or taxonomy; `id`: of the post, or the `termKey` of the term. */
export interface RecordName {
  readonly is: 'post' | 'term';
  readonly name: string;
  readonly id: number;
}

/** Where the records of a list are: in `posts`, by its alias, or in `terms` as `t` and `term_taxonomy` as `tt`. */
export type Listed =
  | { readonly is: 'post'; readonly name: string; readonly alias: string }
  | { readonly is: 'term'; readonly name: string };

/** A member of a group: one in a language; `isShown` narrows members that are posts, as `member`. */
export interface Member {
  readonly code: string;
  readonly isShown?: ((member: QueryBuilder) => void) | undefined;
}

/** A group as its own rows say it. */
export interface LockedGroup {
  /** The `term_taxonomy_id` of the group's term, or the `trid`. */
  readonly id: number;
  readonly members: ReadonlyMap<string, number>;
  /** What is stored beside the members, as it is; empty where the form stores none. */
  readonly stored: string;
}
