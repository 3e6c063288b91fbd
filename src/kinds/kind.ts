import type { z } from 'zod';
import type { ProblemName } from '../errors.ts';
import type { StoredValue } from '../wordpress/php/serialized.ts';
import type { Post, StoredMetas } from '../wordpress/rows.ts';
import type { TermCondition } from './condition.ts';
import type { LinkedKindName, PostKindName, TermKindName } from './kind-names.ts';
import type { Control, ListParams, Orders } from './list-param.ts';
import type { Empty, Field, Param, ValuesOf } from './param.ts';
import type { Bundle, RenderContext, RuleContext } from './rendering.ts';
import type { TermRecord } from './shapes.ts';

/*
 * The declaration of a kind of records, as data. Routes, parsing, descriptions, reading, writing, listing, permissions
 * and the command line are written once and take a kind.
 */

/** Rows to write. A meta with an empty list is removed. */
export interface Rows {
  readonly columns: Partial<Post>;
  readonly metas: Readonly<Record<string, readonly StoredValue[]>>;
}

export interface StoredPost {
  readonly row: Post;
  readonly metas: StoredMetas;
}

/** Fields of posts, including those that every kind of posts has. */
export type PostFields = Readonly<Record<string, Field>> & {
  readonly author: Field<number, 'refused'>;
  readonly status: Field<string, 'refused'>;
  readonly date: Field<string, 'refused'>;
  readonly date_utc: Field<string, 'refused'>;
  readonly slug?: Field<string, 'stays'>;
};

/** A change of a post: values by field name. Only fields to be changed are present. */
export type PostValues = ValuesOf<PostFields>;

/** Parameters of a list of posts, including those that every list of posts has. */
export type PostFilters = ListParams & {
  readonly page: Control<number>;
  readonly per_page: Control<number>;
  readonly status: Control<readonly string[]>;
  readonly order: Control;
  readonly orderby: Control;
  readonly password: Control<string>;
  /** Present if the site's content has languages. */
  readonly language_fallback?: Control<boolean>;
};

/** Accepted values of the parameters of a list of posts. */
export type PostListValues = ValuesOf<PostFilters>;

/** The link from events to records of a kind, and the metas of these records that a search includes. */
export interface LinkedFromEvents {
  /** The meta of events that holds the ids, one row for each. */
  readonly link: string;
  readonly searchedMetas: readonly string[];
}

/** A published record of any kind. */
export type PublishedRecord = Record<string, unknown>;

/** Names of the errors of requests about a kind of posts. */
export interface PostProblems {
  /** The caller may not read the record. */
  readonly notAccessible: ProblemName;
  /** The record to be trashed is already in the trash. */
  readonly isInTrash: ProblemName;
  /** The page is past the last one of a list. */
  readonly noSuchPage: ProblemName;
  /** The title of a new record contains no text. */
  readonly noTitle: ProblemName;
  /**
   * Errors about the id. Set if such a request passes the parameter check and then fails with its own error; otherwise
   * the parameter `id` is refused.
   */
  readonly byId?: {
    /** No post has this id. */
    readonly missing: ProblemName;
    /** The post is of another type. */
    readonly otherType: ProblemName;
    /** The record to be read is in the trash. */
    readonly trashed: ProblemName;
  };
  /**
   * The record is protected by a password. Set if it then cannot be read at all; otherwise it is shown without its
   * texts.
   */
  readonly locked?: ProblemName;
}

/** A kind of posts. `Published`: the record that `record` describes and `render` returns. */
export interface PostKind<Fields extends PostFields = PostFields, Published extends PublishedRecord = PublishedRecord> {
  readonly is: 'post';
  readonly name: PostKindName;
  readonly path: string;
  readonly postType: string;
  /** Plural in the capabilities that guard it: `edit_{capabilities}`. */
  readonly capabilities: string;
  /** The field that holds the title. */
  readonly titleField: string;
  readonly fields: Fields;
  /** Parameters of its list, in the order in which descriptions name them. */
  readonly filters: PostFilters;
  readonly orders: Orders;
  /** Pure: returns the rows that follow from this change beyond those of its fields. */
  derivedRows(values: ValuesOf<Fields>, before: StoredPost | undefined, context: RuleContext): Rows;
  /** Metas of a new record that are set from parameters which are not fields and are not described anywhere. */
  readonly extraMetas: Readonly<Record<string, string>>;
  /** Metas that link to other kinds, with the linked kind. */
  readonly links: Readonly<Record<string, LinkedKindName>>;
  /** Set if events link to records of this kind. */
  readonly linkedFromEvents?: LinkedFromEvents;
  /** Kinds of terms that its records have. */
  readonly terms: readonly TermKindName[];
  /** Whether its records have rows in the occurrence tables. */
  readonly hasDates: boolean;
  readonly problems: PostProblems;
  /** Whether creating a record with the title of an existing one returns the existing one (decision D8). */
  readonly reusesTitles: boolean;
  /** Whether drafts get a slug from their title. */
  readonly draftsGetSlugs: boolean;
  /** Whether the answer to a write shows a protected record in full. */
  readonly showsProtectedAfterWrite: boolean;
  /** Whether the reference also describes the parameter `password` for writes of a single record. */
  readonly describesWritePassword: boolean;
  /** The meta that holds the status from before the trash, in addition to WordPress's own. */
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
  /** Capabilities that are all required to write one. */
  readonly manage: readonly string[];
  /**
   * Capabilities that WordPress's own routes require to create a term and to assign one to a record. A user who may
   * assign tags may also create them (`WP_REST_Terms_Controller::create_item_permissions_check`).
   */
  readonly coreCapabilities: { readonly create: string; readonly assign: string };
  readonly fields: TermFields;
  readonly filters: TermFilters;
  readonly record: z.ZodType<TermRecord>;
}

/** A field of a term. */
export interface TermField<T = unknown, E extends Empty = Empty> extends Param<T> {
  readonly empty: E;
}

/** Fields of terms, including those that only some kinds have. */
export type TermFields = Readonly<Record<string, TermField>> & {
  readonly name: TermField<string, 'refused'>;
  readonly slug: TermField<string, 'refused'>;
  readonly description: TermField<string, 'clears'>;
  readonly parent?: TermField<number, 'clears'>;
};

/** A change of a term: values by field name. Only fields to be changed are present. */
export type TermValues = ValuesOf<TermFields>;

/** Parameters of a list of terms, including those that its handler reads. */
export type TermFilters = ListParams<TermCondition> & {
  readonly page: Control<number>;
  readonly per_page: Control<number>;
  readonly order: Control<string>;
  readonly orderby: Control<string>;
  /** Present if the site's content has languages. */
  readonly language_fallback?: Control<boolean>;
};

export type TermListValues = ValuesOf<TermFilters>;

export type Kind = PostKind | TermKind;
