import type { ContentLanguages } from '../wordpress/content-languages.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import type { SearchTerm } from '../wordpress/search.ts';

/**
 * How a list may be narrowed. Every member becomes one bound condition of SQL in `storage/lists/post-conditions.ts`.
 * `guarded`: whether the answers of the API hide what the condition looks at when a password protects the
 * record; then protected records that are not open to the caller never match. Texts (`words`) are always guarded,
 * and so is what only the calendar's own routes ask for.
 */
export type Condition =
  | { readonly by: 'id'; readonly ids: readonly number[] }
  | { readonly by: 'notId'; readonly ids: readonly number[] }
  | { readonly by: 'author' | 'notAuthor' | 'parents' | 'notParents'; readonly ids: readonly number[] }
  | { readonly by: 'slug'; readonly slugs: readonly string[] }
  | { readonly by: 'parent'; readonly id: number }
  | { readonly by: 'place'; readonly place: number }
  /** A meta of exactly this value. */
  | { readonly by: 'metaIs'; readonly key: string; readonly value: string }
  | {
      readonly by: 'moment';
      readonly column: 'start_date' | 'end_date';
      readonly utc: boolean;
      readonly op: '<' | '<=' | '>' | '>=';
      readonly value: string;
    }
  /** `value`: by the wall clock of the site; `utc`: the moment itself, which counts where a record knows its own. */
  | { readonly by: 'modified' | 'published'; readonly op: '<' | '>'; readonly value: string; readonly utc?: string }
  /** Attachments by their MIME types, whole or as `image/`. */
  | { readonly by: 'mime'; readonly types: readonly string[] }
  | {
      readonly by: 'words';
      readonly terms: readonly SearchTerm[];
      readonly columns: readonly PostColumn[];
      readonly metas: readonly string[];
      readonly together: boolean;
    }
  /**
   * `roots`: those asked for, where `ids` holds what is below them too. `below`: what is below them is to be put
   * into `ids`.
   */
  | {
      readonly by: 'terms';
      readonly taxonomy: string;
      readonly ids: readonly number[];
      readonly roots?: readonly number[];
      readonly below?: boolean;
      readonly wanted?: 'any' | 'all' | 'none';
      readonly guarded: boolean;
    }
  /** Posts of the blog in one of these formats; those without any are in `standard`. */
  | { readonly by: 'format'; readonly formats: readonly string[] }
  /** Posts that one of several conditions fits. */
  | { readonly by: 'either'; readonly of: readonly Condition[] }
  /** `none`: posts that link to none of them. */
  | { readonly by: 'links'; readonly key: string; readonly ids: readonly number[]; readonly none?: boolean; readonly guarded: boolean }
  | { readonly by: 'linkedFrom'; readonly key: string; readonly event: number }
  /** `within`: by events of a language alone, and by those that link to a translation, too. */
  | {
      readonly by: 'linkedFromAny';
      readonly key: string;
      readonly wanted: boolean;
      readonly upcomingSince?: string;
      readonly within?: InLanguage;
    }
  | { readonly by: 'linkedMeta'; readonly link: string; readonly key: string; readonly value: string }
  | { readonly by: 'meta'; readonly key: string; readonly present: boolean; readonly guarded: boolean }
  /** Posts with a row of this value in one of these metas, in any case; always guarded. */
  | { readonly by: 'metaValue'; readonly keys: readonly string[]; readonly value: string }
  | { readonly by: 'placed'; readonly link?: string; readonly wanted: boolean }
  | { readonly by: 'near'; readonly link?: string; readonly lat: number; readonly lng: number; readonly km: number }
  | { readonly by: 'ticketed'; readonly wanted: boolean }
  | ({ readonly by: 'language' } & InLanguage);

/** The condition of this name. */
export type ConditionBy<By extends Condition['by'], Of = Condition> = Of extends { readonly by: infer Name }
  ? By extends Name
    ? Of
    : never
  : never;

/**
 * Records of one language. `fill`: also those of the default language whose group has no record of it that the list may
 * show (stand-ins), and those of no language (neutral).
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

/** How a list of terms may be narrowed: some members of the query that finds them. */
export interface TermCondition {
  readonly search?: string;
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  /** Only those right below this term; 0: those at the root. */
  readonly parent?: number;
  /** Only those right below one of these. */
  readonly parents?: readonly number[];
  readonly slugs?: readonly string[];
  /** Only the terms of this post. */
  readonly post?: number;
  /** Only terms that are used. */
  readonly hideEmpty?: boolean;
  readonly language?: InLanguage;
}

/** What a list of terms can be sorted by. */
export type TermOrder = 'name' | 'id' | 'slug' | 'count' | 'description' | 'parent' | 'term_group' | 'include' | 'include_slugs';

/** How a list of people may be narrowed, in the same way. */
export interface PersonCondition {
  readonly search?: string;
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  readonly slugs?: readonly string[];
  /** Those who hold one of these roles. */
  readonly roles?: readonly string[];
  /** Those who hold one of these capabilities, or one of the roles. */
  readonly capabilities?: readonly string[];
  /** Only those who may write: their level is not 0 (`WP_User_Query`, `who`). */
  readonly writers?: true;
  /** Only those who have published something of these types, or of any. */
  readonly publishedIn?: readonly string[] | true;
}
