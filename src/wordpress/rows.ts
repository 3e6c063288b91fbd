import { type StoredValue, textOfStored } from './php/serialized.ts';

/**
 * Rows of WordPress's tables as plain values, used by all modules above. Date columns are text, `YYYY-MM-DD HH:MM:SS`;
 * ids and counts are numbers.
 */
export interface Post {
  readonly ID: number;
  readonly post_author: number;
  /** In the site's local time; `post_date_gmt` is the same in UTC, zeros for a draft that was never published. */
  readonly post_date: string;
  readonly post_date_gmt: string;
  readonly post_content: string;
  readonly post_title: string;
  readonly post_excerpt: string;
  readonly post_status: string;
  readonly comment_status: string;
  readonly ping_status: string;
  readonly post_password: string;
  /** The slug. */
  readonly post_name: string;
  readonly to_ping: string;
  readonly pinged: string;
  readonly post_modified: string;
  readonly post_modified_gmt: string;
  readonly post_content_filtered: string;
  readonly post_parent: number;
  readonly guid: string;
  readonly menu_order: number;
  readonly post_type: string;
  readonly post_mime_type: string;
  readonly comment_count: number;
}

export type PostColumn = keyof Post;

/** A row of `terms` joined to its row of `term_taxonomy`. */
export interface Term {
  readonly term_id: number;
  readonly name: string;
  readonly slug: string;
  readonly term_group: number;
  readonly term_taxonomy_id: number;
  readonly taxonomy: string;
  readonly description: string;
  readonly parent: number;
  readonly count: number;
}

/** The metas of one post: every stored value of each key, in the order of their ids. */
export type Metas = ReadonlyMap<string, readonly string[]>;

/** The same as read from the rows, so that it may be written to others. */
export type StoredMetas = ReadonlyMap<string, readonly StoredValue[]>;

/** Returns the first value of a meta key as a text, or undefined if there is no row. */
export const metaOf = (metas: Metas | undefined, key: string): string | undefined => {
  const stored = metas?.get(key)?.[0];
  return stored === undefined ? undefined : textOfStored(stored);
};

/** Returns all values of a meta key as texts. */
export const textsOf = (metas: Metas | undefined, key: string): readonly string[] => metas?.get(key)?.map(textOfStored) ?? [];

/** Returns the ids in texts, such as metas that link to posts. WordPress stores any text there; others are left out. */
export const idsIn = (texts: readonly string[]): number[] => texts.map(Number).filter((id) => Number.isSafeInteger(id) && id > 0);

/** Metas that WordPress writes while a post is open in an editor; they are not shown in pages or answers. */
export const EDITOR_METAS: readonly string[] = ['_edit_lock', '_edit_last'];
