import type { z } from 'zod';
import type { SiteSettings } from '../calendar/settings.ts';
import type { Metas, Post, PostColumn, Term } from '../wordpress/rows.ts';
import type { SearchTerm } from '../wordpress/search.ts';
import type { Grammar } from './grammar.ts';
import type { Timeliness } from './timeliness.ts';

/**
 * What a kind of record is, as data. Routes, parsing, descriptions, reading, writing, listing, permissions and the command line
 * are written once and take a kind.
 */
export type PostKindName = 'event' | 'venue' | 'organizer';
export type TermKindName = 'category' | 'tag';
export type KindName = PostKindName | TermKindName;

/** Where a field rests. `rule`: nowhere by itself; the kind's `follows` says what it leads to. */
export type Place =
  | { readonly in: 'column'; readonly column: PostColumn }
  | { readonly in: 'meta'; readonly key: string }
  | { readonly in: 'terms'; readonly kind: TermKindName }
  | { readonly in: 'links'; readonly key: string; readonly kind: 'venue' | 'organizer' }
  | { readonly in: 'image' }
  | { readonly in: 'rule' };

/** A parameter: its grammar, and what an empty value means. */
export interface Param {
  readonly grammar: Grammar;
  readonly required?: boolean;
  /** Shown as default in descriptions; `undefined`: none is shown. */
  readonly fallback?: unknown;
}

export interface Field extends Param {
  readonly place: Place;
  /** What an empty value does on update: it clears the field, is refused, or means false. On create it counts as absent. */
  readonly empty: 'clears' | 'refused' | 'false';
  /**
   * A yes puts the record before those of others: it takes the right to publish such records, or to edit other people's
   * (decision D36).
   */
  readonly promotes?: true;
  /** The API's value as stored texts; the empty list removes the rows. Metas and columns only. */
  readonly store?: (value: unknown) => readonly string[];
}

/**
 * How a list may be narrowed. Every member becomes one bound condition of SQL in `storage/post-conditions.ts`.
 * `guarded`: whether the answers of the interface hide what the condition looks at when a password protects the
 * record; then protected records that are not open to the caller never match. Texts (`words`) are always guarded,
 * and so is what only the calendar's own routes ask for.
 */
export type Condition =
  | { readonly by: 'id'; readonly ids: readonly number[] }
  | { readonly by: 'notId'; readonly ids: readonly number[] }
  | { readonly by: 'author' | 'notAuthor' | 'parents' | 'notParents'; readonly ids: readonly number[] }
  | { readonly by: 'slug'; readonly slugs: readonly string[] }
  | { readonly by: 'parent'; readonly id: number }
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
  /** `roots`: those asked for, where `ids` holds what stands below them too. */
  | {
      readonly by: 'terms';
      readonly kind: TermKindName;
      readonly ids: readonly number[];
      readonly roots?: readonly number[];
      readonly wanted?: 'any' | 'all' | 'none';
      readonly guarded: boolean;
    }
  /** `none`: posts that link to none of them. */
  | { readonly by: 'links'; readonly key: string; readonly ids: readonly number[]; readonly none?: boolean; readonly guarded: boolean }
  | { readonly by: 'linkedFrom'; readonly key: string; readonly event: number }
  | { readonly by: 'linkedFromAny'; readonly key: string; readonly wanted: boolean; readonly upcomingSince?: string }
  | { readonly by: 'linkedMeta'; readonly link: string; readonly key: string; readonly value: string }
  | { readonly by: 'meta'; readonly key: string; readonly present: boolean; readonly guarded: boolean }
  | { readonly by: 'placed'; readonly link?: string; readonly wanted: boolean }
  | { readonly by: 'near'; readonly link?: string; readonly lat: number; readonly lng: number; readonly km: number }
  | { readonly by: 'ticketed'; readonly wanted: boolean };

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

/** What a list request comes to: conditions, order, and what its URLs carry. */
export interface Narrowed {
  readonly conditions: readonly Condition[];
  readonly order: Order;
  /** Effective parameters for the list's URLs, in their order (decision D21); paging and status are added by the caller. */
  readonly echo: readonly (readonly [string, string])[];
  /** When the list changes without any write. */
  readonly timeliness: Timeliness;
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
}

/** All rows that the records of one answer are made of; loaded at once, rendered without waiting. */
export interface Bundle {
  readonly posts: ReadonlyMap<number, Post>;
  readonly metas: ReadonlyMap<number, Metas>;
  /** Terms of each post, by name. */
  readonly terms: ReadonlyMap<number, readonly Term[]>;
  /** Images attached to posts that galleries ask for; 0: to none. */
  readonly attached: ReadonlyMap<number, readonly number[]>;
}

/** A change of a post: values by field name, only those named. `null` clears. */
export type Values = Readonly<Record<string, unknown>>;

/** Rows to write. A meta with an empty list is removed. */
export interface Rows {
  readonly columns: Partial<Post>;
  readonly metas: Readonly<Record<string, readonly string[]>>;
}

export interface Before {
  readonly row: Post;
  readonly metas: Metas;
}

export interface PostKind {
  readonly is: 'post';
  readonly name: PostKindName;
  readonly path: string;
  readonly postType: string;
  /** Plural of the capabilities that guard it: `edit_{capabilities}`. */
  readonly capabilities: string;
  /** The field that holds the title. */
  readonly titleField: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly filters: Readonly<Record<string, Param>>;
  /** Pure: conditions, order and URL parameters of a list request. */
  readonly narrow: (values: Values, context: RuleContext) => Narrowed;
  /** Pure: what else changes with this change. */
  readonly follows: (values: Values, before: Before | undefined, context: RuleContext) => Rows;
  /** Metas that a new record keeps of parameters that are no fields and appear in no description. */
  readonly strays: Readonly<Record<string, string>>;
  /** Metas that link to other kinds, with the kind they lead to. */
  readonly links: Readonly<Record<string, 'venue' | 'organizer'>>;
  /** Which kinds of terms it carries. */
  readonly terms: readonly TermKindName[];
  /** Whether it takes part in the occurrence tables. */
  readonly dated: boolean;
  readonly record: z.ZodType;
  /** Pure map from the loaded rows to the published record. `single`: a GET of this one record. */
  readonly render: (id: number, bundle: Bundle, context: RenderContext, single: boolean) => Record<string, unknown>;
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
  readonly fields: Readonly<Record<string, Param & { readonly empty: 'clears' | 'refused' }>>;
  readonly filters: Readonly<Record<string, Param>>;
  readonly record: z.ZodType;
}

export type Kind = PostKind | TermKind;
