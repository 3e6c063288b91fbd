import type { z } from 'zod';
import type { ProblemName } from '../errors.ts';
import type { Metas, Post } from '../wordpress/rows.ts';
import type { TermCondition } from './condition.ts';
import type { PostKindName, TermKindName } from './kind-names.ts';
import type { Control, ListParams, Orders } from './list-param.ts';
import type { Empty, Field, Param, ValuesOf } from './param.ts';
import type { Bundle, RenderContext, RuleContext } from './rendering.ts';

/*
 * What a kind of record is, as data. Routes, parsing, descriptions, reading, writing, listing, permissions and the
 * command line are written once and take a kind.
 */

/** Rows to write. A meta with an empty list is removed. */
export interface Rows {
  readonly columns: Partial<Post>;
  readonly metas: Readonly<Record<string, readonly string[]>>;
}

export interface Before {
  readonly row: Post;
  readonly metas: Metas;
}

/** Fields of posts: any, and those that every kind of posts has. */
export type PostFields = Readonly<Record<string, Field>> & {
  readonly author: Field<number, 'refused'>;
  readonly status: Field<string, 'refused'>;
  readonly date: Field<string, 'refused'>;
  readonly date_utc: Field<string, 'refused'>;
  readonly slug?: Field<string, 'refused'>;
};

/** A change of a post: values by field name, only those named. */
export type PostValues = ValuesOf<PostFields>;

/** Parameters of a list of posts: any, and those that every list of posts takes. */
export type PostFilters = ListParams & {
  readonly page: Control<number>;
  readonly per_page: Control<number>;
  readonly status: Control<readonly string[]>;
  readonly order: Control;
  readonly orderby: Control;
  readonly password: Control<string>;
  /** Where content has languages. */
  readonly language_fallback?: Control<boolean>;
};

/** The accepted values of a list of posts. */
export type PostListValues = ValuesOf<PostFilters>;

/** How events link to records of a kind, and the metas of these that a search looks into. */
export interface Linked {
  /** The meta of events that holds their ids, a row for each. */
  readonly link: string;
  readonly searched: readonly string[];
}

/** A published record of any kind. */
export type PublishedRecord = Record<string, unknown>;

/** How requests about a kind of posts are refused. */
export interface PostProblems {
  /** The caller may not read the record. */
  readonly notAccessible: ProblemName;
  /** The record is to be trashed, and is in the trash. */
  readonly isInTrash: ProblemName;
  /** The page is past the last one of a list. */
  readonly noSuchPage: ProblemName;
  /** A new record has no title with text in it. */
  readonly noTitle: ProblemName;
  /**
   * The id names no such record. Set where a problem of its own says so, and the request passes the check of its
   * parameters first; elsewhere the parameter `id` is refused.
   */
  readonly byId?: {
    /** No post has this id. */
    readonly missing: ProblemName;
    /** The post is of another type. */
    readonly otherType: ProblemName;
    /** The record is to be read, and is in the trash. */
    readonly trashed: ProblemName;
  };
  /** The record is protected by a password. Set where it cannot be read at all then; others are shown blanked. */
  readonly locked?: ProblemName;
}

/** `Published`: the record that `record` describes and `render` makes. */
export interface PostKind<Fields extends PostFields = PostFields, Published extends PublishedRecord = PublishedRecord> {
  readonly is: 'post';
  readonly name: PostKindName;
  readonly path: string;
  readonly postType: string;
  /** Plural of the capabilities that guard it: `edit_{capabilities}`. */
  readonly capabilities: string;
  /** The field that holds the title. */
  readonly titleField: string;
  readonly fields: Fields;
  /** Parameters of its list, in the order in which descriptions name them. */
  readonly filters: PostFilters;
  readonly orders: Orders;
  /** Pure: what else changes with this change. */
  follows(values: ValuesOf<Fields>, before: Before | undefined, context: RuleContext): Rows;
  /** Metas that a new record keeps of parameters that are no fields and appear in no description. */
  readonly extraMetas: Readonly<Record<string, string>>;
  /** Metas that link to other kinds, with the kind they lead to. */
  readonly links: Readonly<Record<string, 'venue' | 'organizer'>>;
  /** Set where events link to records of this kind. */
  readonly linked?: Linked;
  /** Which kinds of terms it carries. */
  readonly terms: readonly TermKindName[];
  /** Whether it takes part in the occurrence tables. */
  readonly dated: boolean;
  readonly problems: PostProblems;
  /** Whether a record that is to be created with the title of another is that other one (decision D8). */
  readonly reusesTitles: boolean;
  /** Whether drafts get a slug from their title. */
  readonly draftsGetSlugs: boolean;
  /** Whether the answer to a write shows a protected record whole. */
  readonly shownWholeAfterWrite: boolean;
  /** Whether the reference describes the parameter `password` for writes of one record, too. */
  readonly writesNamePassword: boolean;
  /** The meta that holds the status from before the trash, besides WordPress's own. */
  readonly trashedStatusMeta?: string;
  readonly record: z.ZodType<Published>;
  /** Pure map from the loaded rows to the published record. */
  readonly render: (id: number, bundle: Bundle, context: RenderContext) => Published;
}

export interface TermKind {
  readonly is: 'term';
  readonly name: TermKindName;
  readonly path: string;
  readonly taxonomy: string;
  readonly hierarchical: boolean;
  /** Name of its routes under `wp/v2`. */
  readonly restBase: string;
  /** Capabilities that all are needed to write one. */
  readonly manage: readonly string[];
  /**
   * The capability that WordPress's own routes ask for to make a new one, and to give one to a record. Whoever may give
   * a record tags may make new ones for it (`WP_REST_Terms_Controller::create_item_permissions_check`).
   */
  readonly inCore: { readonly create: string; readonly assign: string };
  readonly fields: TermFields;
  readonly filters: TermFilters;
  readonly record: z.ZodType;
}

/** A field of a term. */
export interface TermField<T = unknown, E extends Empty = Empty> extends Param<T> {
  readonly empty: E;
}

/** Fields of terms: any, and those that they may have. */
export type TermFields = Readonly<Record<string, TermField>> & {
  readonly name: TermField<string, 'refused'>;
  readonly slug: TermField<string, 'refused'>;
  readonly description: TermField<string, 'clears'>;
  readonly parent?: TermField<number, 'clears'>;
};

/** A change of a term: values by field name, only those named. */
export type TermValues = ValuesOf<TermFields>;

/** Parameters of a list of terms: any, and those that its handler looks at. */
export type TermFilters = ListParams<TermCondition> & {
  readonly page: Control<number>;
  readonly per_page: Control<number>;
  readonly order: Control<string>;
  readonly orderby: Control<string>;
  /** Where content has languages. */
  readonly language_fallback?: Control<boolean>;
};

export type TermListValues = ValuesOf<TermFilters>;

export type Kind = PostKind | TermKind;
