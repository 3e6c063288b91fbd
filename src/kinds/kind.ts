import type { z } from 'zod';
import type { SiteSettings } from '../calendar/settings.ts';
import type { ProblemName } from '../errors.ts';
import type { ContentLanguages, Memberships } from '../wordpress/content-languages.ts';
import type { Metas, Post, PostColumn, Term } from '../wordpress/rows.ts';
import type { SearchTerm } from '../wordpress/search.ts';
import type { Grammar } from './grammar.ts';
import type { Timeliness } from './timeliness.ts';

/**
 * What a kind of record is, as data. Routes, parsing, descriptions, reading, writing, listing, permissions and the
 * command line are written once and take a kind.
 */
export type PostKindName = 'event' | 'venue' | 'organizer';
export type TermKindName = 'category' | 'tag';
export type KindName = PostKindName | TermKindName;

/** Where a field is stored. `rule`: nowhere by itself; the kind's `follows` says what it leads to. */
export type Place =
  | { readonly in: 'column'; readonly column: PostColumn }
  | { readonly in: 'meta'; readonly key: string }
  | { readonly in: 'terms'; readonly kind: TermKindName }
  | { readonly in: 'links'; readonly key: string; readonly kind: 'venue' | 'organizer' }
  | { readonly in: 'image' }
  | { readonly in: 'rule' };

/** A parameter, as each route declares those that it takes. `T`: its value as handlers get it. */
export interface Param<T = unknown> {
  readonly grammar: Grammar<unknown, T>;
  /**
   * The reference does not have it. A field with this mark is a member of records that the reference does not have
   * either.
   */
  readonly ours?: true;
  readonly required?: boolean;
  /** Not required where this parameter is there and is sent: the value comes from there. */
  readonly unless?: string;
  /** Shown as default in descriptions; `undefined`: none is shown. */
  readonly fallback?: unknown;
}

/** Parameters by name. */
export type Params = Readonly<Record<string, Param>>;

/** Accepted values by name, where the declaration is not known. `null` clears. */
export type Values = Readonly<Record<string, unknown>>;

/** The type of the value that a declared parameter accepts; null where an empty one clears the field. */
export type ValueOf<Declared> =
  Declared extends Param<infer T> ? T | (Declared extends { readonly empty: 'clears' } ? null : never) : never;

/** The accepted values of declared parameters. Any of them may be absent: who calls decides what to send. */
export type ValuesOf<Declared> = { readonly [Name in keyof Declared]?: ValueOf<Declared[Name]> | undefined };

/** The record that the path of a request names; 0: there is none. */
export interface Selected {
  readonly id: number;
}

/**
 * What an empty value does on update: it clears the field, is refused, or means false. On create it counts as absent.
 */
export type Empty = 'clears' | 'refused' | 'false';

/*
 * Below, what takes a value is declared as a method. TypeScript compares the parameters of methods less strictly, so
 * that a field or filter of one type counts as a `Field` or `Filter` of any. That is sound as long as each gets the
 * value that its own grammar accepted, under its own name.
 */

/** What a field is called elsewhere. Without a name there it has its own; `false`: it is not known there. */
export interface FieldNames {
  /** The meta of WordPress's own routes. Without one it is the meta that the field is stored in. */
  readonly core?: string | false;
  /** The parameter of `tec/v1`. */
  readonly tec?: string | false;
  /**
   * The heading of its column in CSV files, where the plugin has none; made of its own name where this says nothing.
   */
  readonly csv?: string | false;
}

/** A member of a field whose value is an object. */
export interface FieldMember {
  readonly name: string;
  /** What people call it. */
  readonly label: string;
}

export interface Field<T = unknown, E extends Empty = Empty> extends Param<T> {
  readonly place: Place;
  readonly empty: E;
  readonly names?: FieldNames;
  /** Set on a text that records show as it is stored: whether searches look into it. */
  readonly text?: { readonly searched: boolean };
  /** Of a field whose value is an object: the member that WordPress's own routes know by a meta, by that meta. */
  readonly members?: ReadonlyMap<string, FieldMember>;
  /**
   * A yes puts the record before those of others: it takes the right to publish such records, or to edit other people's
   * (decision D36).
   */
  readonly promotes?: true;
  /**
   * The API's value as stored texts, the empty text where it clears; the empty list removes the rows. Metas and columns
   * only.
   */
  store?(value: T | ''): readonly string[];
}

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
  /** A meta of exactly this value. */
  | { readonly by: 'metaIs'; readonly key: string; readonly value: string }
  | {
      readonly by: 'moment';
      readonly column: 'start_date' | 'end_date';
      readonly utc: boolean;
      readonly op: '<' | '<=' | '>' | '>=';
      readonly value: string;
    }
  | { readonly by: 'modified' | 'published'; readonly op: '<' | '>'; readonly value: string }
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
      readonly kind: TermKindName;
      readonly ids: readonly number[];
      readonly roots?: readonly number[];
      readonly below?: boolean;
      readonly wanted?: 'any' | 'all' | 'none';
      readonly guarded: boolean;
    }
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
    | 'menu';
  readonly descending: boolean;
};

/** Parameters as the URLs of a list carry them, in order. */
export type Echo = readonly (readonly [name: string, value: string])[];

/** What the parameters of a list come to. `C`: how what is listed can be narrowed. */
export interface Narrowing<C = Condition> {
  readonly conditions: readonly C[];
  /**
   * Effective parameters for the list's URLs, in their order (decision D21); paging and status are added by the caller.
   */
  readonly echo: Echo;
  /** When the list changes without any write. */
  readonly timeliness: Timeliness;
}

/** The same with the order of the list. */
export interface Narrowed extends Narrowing {
  readonly order: Order;
}

/**
 * Where a parameter is in the URLs of a list: in its place among those declared, or `last`, after all that are not.
 */
interface Placed {
  readonly last?: true;
}

/** A parameter that narrows a list by itself. */
export interface Filter<T = unknown, C = Condition> extends Param<T>, Placed {
  narrows(value: NonNullable<T>, context: RuleContext): readonly C[];
  /**
   * How the URLs of the list carry it; undefined: not at all. Without this, they carry the value as text, lists as CSV.
   */
  echo?(value: NonNullable<T>): string | undefined;
  /** When the list changes without any write. Without this: never. */
  ages?(value: NonNullable<T>): Timeliness;
}

/** A parameter of a list that does not narrow it: paging, order. The URLs carry it only as `echo` says. */
export interface Control<T = unknown> extends Param<T>, Placed {
  readonly controls: true;
  echo?(value: NonNullable<T>): string | undefined;
}

/** What several parameters say together. It counts also where none of them is given. */
export interface Group<V = Values, C = Condition> extends Placed {
  narrows(values: V, context: RuleContext): readonly C[];
  /** How the URLs of the list carry them. Without this, they carry each value that is given as text. */
  echo?(values: V, context: RuleContext): Echo;
  ages?(values: V): Timeliness;
}

/** One of the parameters of a group. */
export interface Member<T = unknown, C = Condition> extends Param<T> {
  readonly saidBy: Group<Values, C>;
}

/**
 * A parameter of a list that narrows by conditions. There is no other: what is declared narrows, or says that it does
 * not.
 */
export type ListParam<T = unknown, C = Condition> = Filter<T, C> | Control<T> | Member<T, C>;
export type ListParams<C = Condition> = Readonly<Record<string, ListParam<unknown, C>>>;

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

/** The orders that a list can be asked for. `standard`: the order where none is asked for. */
export interface Orders {
  readonly names: ReadonlyMap<string, Order['by']>;
  readonly standard: (values: Values) => Order;
}

/** What pure rules may know: the site's settings and the moment. */
export interface RuleContext {
  readonly settings: SiteSettings;
  readonly now: Date;
}

/** What a rendering may know. */
export interface RenderContext extends RuleContext {
  /** Home address with the language segment of the request, without trailing slash. */
  readonly home: string;
  readonly namespace: string;
  /** Address of uploaded files, without trailing slash. */
  readonly uploads: string;
  /** Whether the request opens this protected record: by its password, or to edit it. */
  readonly opens: (row: Post) => boolean;
  /** The word for a price of nothing, in the caller's language. */
  readonly free: string;
  /** Whether the caller may read this venue, organizer or event. */
  readonly mayRead: (row: Post) => boolean;
  /** Whether linked records are shown in the language of the event, where they are translated into it. */
  readonly translatesLinks?: boolean;
}

/** All rows that the records of one answer are made of; loaded at once, rendered without waiting. */
export interface Bundle {
  readonly posts: ReadonlyMap<number, Post>;
  readonly metas: ReadonlyMap<number, Metas>;
  /** Terms of each post, by name. */
  readonly terms: ReadonlyMap<number, readonly Term[]>;
  /** Images attached to posts that galleries ask for; 0: to none. */
  readonly attached: ReadonlyMap<number, readonly number[]>;
  /** Pages of the single dates of events that recur; events without one have the page of their post. */
  readonly pages: ReadonlyMap<number, OccurrencePage>;
  /** Set where the content of the site has languages. */
  readonly languages?: BundleLanguages | undefined;
}

/** The languages of the records of a bundle, and of what they link to. */
export interface BundleLanguages extends Memberships {
  /** Other members of the groups of the records, as far as they are not among the posts of the bundle. */
  readonly siblings: ReadonlyMap<number, Post>;
  /** Terms by the id that groups name them by. */
  readonly termMembers: ReadonlyMap<number, Term>;
}

/** The page of one date of an event that recurs. */
export interface OccurrencePage {
  /** Of the event. */
  readonly slug: string;
  /** `YYYY-MM-DD`, local. */
  readonly date: string;
  /** Which of several on that day, from 1; undefined where there is one. */
  readonly number: number | undefined;
}

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
  /** Pure map from the loaded rows to the published record. `single`: a GET of this one record. */
  readonly render: (id: number, bundle: Bundle, context: RenderContext, single: boolean) => Published;
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
