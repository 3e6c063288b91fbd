import type { ContentLanguages } from '../wordpress/content-languages.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import type { SearchTerm } from '../wordpress/search.ts';

/**
 * A condition that narrows a list. Every member becomes one bound SQL condition in `storage/lists/post-conditions.ts`.
 * `guarded`: whether the answers of the API hide the filtered data when a password protects the record. If so,
 * protected records that are not open to the caller never match. Texts (`words`) are always guarded, and so are the
 * conditions that only the calendar's own routes use.
 */
export type Condition =
  | { readonly by: 'id'; readonly ids: readonly number[] }
  | { readonly by: 'notId'; readonly ids: readonly number[] }
  | { readonly by: 'author' | 'notAuthor' | 'parents' | 'notParents'; readonly ids: readonly number[] }
  | { readonly by: 'slug'; readonly slugs: readonly string[] }
  | { readonly by: 'parent'; readonly id: number }
  | { readonly by: 'place'; readonly place: number }
  /** A meta with exactly this value; if no record of the kind has it, with the value `former`. */
  | { readonly by: 'metaIs'; readonly key: string; readonly value: string; readonly former?: string | undefined }
  | {
      readonly by: 'moment';
      readonly column: 'start_date' | 'end_date';
      readonly utc: boolean;
      readonly op: '<' | '<=' | '>' | '>=';
      readonly value: string;
    }
  /** Events that end after a moment, or start at it or later: not those that last until that moment. */
  | { readonly by: 'overlap'; readonly utc: boolean; readonly value: string }
  /**
   * `value`: in the site's local time; `utc`: the same moment in UTC, compared with records that have a UTC date of
   * their own.
   */
  | { readonly by: 'modified' | 'published'; readonly op: '<' | '>'; readonly value: string; readonly utc?: string }
  /** Attachments by MIME type, in full or as a prefix such as `image/`. */
  | { readonly by: 'mime'; readonly types: readonly string[] }
  | {
      readonly by: 'words';
      readonly terms: readonly SearchTerm[];
      readonly columns: readonly PostColumn[];
      readonly metas: readonly string[];
      readonly together: boolean;
    }
  /**
   * `withDescendants`: the descendants of these terms still have to be added to `ids`. `roots`: the terms that were
   * asked for, once they have been added.
   */
  | {
      readonly by: 'terms';
      readonly taxonomy: string;
      readonly ids: readonly number[];
      readonly roots?: readonly number[];
      readonly withDescendants?: boolean;
      readonly quantifier?: 'any' | 'all' | 'none';
      readonly guarded: boolean;
    }
  /** Posts of the blog in one of these formats. A post without a format is `standard`. */
  | { readonly by: 'format'; readonly formats: readonly string[] }
  /** Posts that match at least one of several conditions. */
  | { readonly by: 'either'; readonly conditions: readonly Condition[] }
  /** `none`: posts that link to none of these records. */
  | ({ readonly by: 'links'; readonly key: string; readonly none?: boolean; readonly guarded: boolean } & LinkedRecords)
  | { readonly by: 'linkedFrom'; readonly key: string; readonly event: number }
  /** `inLanguage`: only links from events of this language, and from events that link to a translation. */
  | {
      readonly by: 'linkedFromAny';
      readonly key: string;
      readonly isLinked: boolean;
      readonly upcomingSince?: string;
      readonly inLanguage?: InLanguage;
    }
  | ({ readonly by: 'linkedMeta'; readonly link: string; readonly key: string; readonly value: string } & ThroughGroups)
  | { readonly by: 'meta'; readonly key: string; readonly isPresent: boolean; readonly guarded: boolean }
  /** Posts with a row of this value in one of these metas, ignoring case; always guarded. */
  | { readonly by: 'metaValue'; readonly keys: readonly string[]; readonly value: string }
  | ({ readonly by: 'placed'; readonly link?: string; readonly isPlaced: boolean } & ThroughGroups)
  | ({ readonly by: 'near'; readonly link?: string; readonly lat: number; readonly lng: number; readonly km: number } & ThroughGroups)
  | { readonly by: 'ticketed'; readonly hasTickets: boolean }
  | ({ readonly by: 'language' } & InLanguage);

/** The condition with this name. */
export type ConditionBy<By extends Condition['by'], Of = Condition> = Of extends { readonly by: infer Name }
  ? By extends Name
    ? Of
    : never
  : never;

/**
 * The records of which posts have links. `replaced`: further ones that only posts of a language match, since these show
 * translations in their place.
 */
export interface LinkedRecords {
  readonly ids: readonly number[];
  readonly replaced?: readonly { readonly ids: readonly number[]; readonly postsIn: InLanguage }[];
}

/**
 * Part of a condition on linked records. `eventsIn`: the language of the events listed, if a linked record matches
 * together with its translations.
 */
export interface ThroughGroups {
  readonly eventsIn?: InLanguage;
}

/**
 * Records of one language. `fill`: also include records of the default language whose translation group has no record
 * in it that the list may show (stand-ins), and records without a language (neutral).
 */
export interface InLanguage {
  readonly languages: ContentLanguages;
  readonly code: string;
  readonly fill: 'nothing' | 'stand-ins' | 'stand-ins-and-neutral';
}

export type Order = {
  readonly by:
    | 'start'
    | 'date'
    | 'modified'
    | 'title'
    | 'id'
    | 'include'
    | 'distance'
    | 'end'
    | 'slug'
    | 'author'
    | 'parent'
    | 'slugs'
    | 'place'
    | 'menu';
  readonly descending: boolean;
};

/** The best matches of a search first. Those that match alike are in the order of their dates. */
export interface Relevance {
  readonly by: 'relevance';
  readonly phrase: string;
  /** Whether the dates, not the matches, are in descending order. */
  readonly descending: boolean;
}

/** Filters of a list of terms, as members of the query that finds them. */
export interface TermCondition {
  readonly search?: string;
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  /** Only direct children of this term; 0: only root terms. */
  readonly parent?: number;
  /** Only direct children of one of these terms. */
  readonly parents?: readonly number[];
  readonly slugs?: readonly string[];
  /** Only the terms of this post. */
  readonly post?: number;
  /** Only terms that have posts. */
  readonly hideEmpty?: boolean;
  /** Events whose terms also count as posts of the translations of these terms. */
  readonly usesInGroups?: UsesInGroups;
  readonly language?: InLanguage;
}

/** Published events; `listedIn`: only those that a list of events in a language contains. */
export interface UsesInGroups {
  readonly languages: ContentLanguages;
  readonly listedIn?: InLanguage | undefined;
}

/** Orders of a list of terms. */
export type TermOrder = 'name' | 'id' | 'slug' | 'count' | 'description' | 'parent' | 'term_group' | 'include' | 'include_slugs';

/** Filters of a list of people, as members of the query that finds them. */
export interface PersonCondition {
  readonly search?: string;
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  readonly slugs?: readonly string[];
  /** People with one of these roles. */
  readonly roles?: readonly string[];
  /** People with one of these capabilities, or with one of the roles. */
  readonly capabilities?: readonly string[];
  /** Only people who may write: their user level is not 0 (`WP_User_Query`, `who`). */
  readonly writers?: true;
  /** Only people who have published posts of these types, or of any type. */
  readonly publishedIn?: readonly string[] | true;
}
