import { postKinds } from '../../kinds/index.ts';
import type { PostKindName, TermKindName } from '../../kinds/kind-names.ts';
import type { StoredRecurrence, StoredSeries } from '../../storage/rows/recurrences.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { Aside } from './report.ts';

/**
 * What goes in and out in bulk, one thing at a time and as plain data. Every reader (a file, another site) gives a
 * stream of items, every writer takes one; the importer knows nothing of where they come from.
 *
 * Items name each other by `sourceId`, the name that the source itself uses: a post's id, a UID, an address; a term's
 * slug or id. They may come in any order and may name what comes later or never. Three groups have names of their own:
 * posts (events, venues, organizers, attachments), terms of one kind, authors.
 */
export type Item = PostItem | TermItem | AuthorItem | SettingsItem;

interface Named {
  /** What the source calls it; the same in every export of that source. */
  readonly sourceId: string;
  /** The id it had: kept where it is free. */
  readonly id?: number | undefined;
  /** Where it stood, for the person who reads the report: `export.xml, line 120`. Says nothing of what it is. */
  readonly place?: string | undefined;
}

/** What is in a language, and which others it is a translation of. */
interface Spoken {
  /** The code of its language. */
  readonly language?: string | undefined;
  /** A name that all translations of one record have in common, within their kind. */
  readonly translation_group?: string | undefined;
}

/** An event, a venue, an organizer, or a file of the library, as rows hold it. */
export interface PostItem extends Named, Spoken {
  readonly kind: PostKindName | 'attachment';
  /**
   * Columns as WordPress stores them; those that are absent get WordPress's defaults, or stay as they are in an update.
   */
  readonly columns: PostColumns;
  /** Who wrote it: the `sourceId` of an author, or the login of a user of this site. Absent: whoever imports. */
  readonly author?: string | undefined;
  /** `sourceId` of the post above it. */
  readonly parent?: string | undefined;
  /** Keys and stored texts (serialized PHP as it is), in order, without those that are `links`. */
  readonly metas: readonly (readonly [key: string, value: string])[];
  /** Metas that name other posts, in order. */
  readonly links: readonly Link[];
  /** Its terms. Undefined: nothing is known of them. */
  readonly terms?: readonly TermReference[] | undefined;
  /** Kinds of terms of which the source does not speak: an update leaves those that are there. */
  readonly unsaid?: readonly TermKindName[] | undefined;
  /**
   * Whether `metas` and `links` are all there is: what an update does not find among them goes. Otherwise it
   * stays.
   */
  readonly complete: boolean;
  /** Metas that the source says it does not have, unless they are among `metas`: an update takes them away. */
  readonly absent?: readonly string[] | undefined;
  /**
   * A narrower name, which counts in the place of `sourceId` where an earlier import has it: what is alone under an
   * address now may have shared it then.
   */
  readonly narrowerId?: string | undefined;
  /**
   * What identifies the item where the source has no lasting names: an existing record of this name (of an event: and
   * this start) is the same one.
   */
  readonly match?: 'name' | undefined;
  /** Of an attachment: where its file can be fetched. */
  readonly url?: string | undefined;
  /** The dates of an event, where the source has a place for events that recur. */
  readonly recurrence?: Recurrence | undefined;
  /** The series that the event belongs to. */
  readonly series?: StoredSeries | undefined;
}

/** When an event takes place. `base`: public ids of its dates are this number plus their ids. */
export interface Recurrence extends StoredRecurrence {
  readonly base: number;
  /** Whether only some of the dates were chosen. */
  readonly partial?: true;
}

/** A post of the source or, where only a name is known, the record of this title. */
export type Link =
  | { readonly key: string; readonly kind: LinkedKind; readonly sourceId: string }
  | { readonly key: string; readonly kind: LinkedKind; readonly name: string };

export type LinkedKind = 'venue' | 'organizer' | 'attachment';

export type PostColumns = Partial<Omit<Post, 'ID' | 'post_author' | 'post_parent' | 'post_type' | 'comment_count'>>;

/** A category or a tag. */
export interface TermItem extends Named, Spoken {
  readonly kind: TermKindName;
  /** As stored, with entities. */
  readonly name: string;
  readonly slug: string;
  /** How many terms of this slug come before it; absent: none. Those of several languages may share one. */
  readonly namesake?: number | undefined;
  readonly description: string;
  /** `sourceId` of the category above it. */
  readonly parent?: string | undefined;
  /** What plugins keep with it, in order. */
  readonly metas?: readonly (readonly [key: string, value: string])[] | undefined;
  /** The `term_taxonomy_id` it had. */
  readonly taxonomyId?: number | undefined;
}

/** A term by its `sourceId`. Where no item of that name comes, one is made of `name` and `slug`. */
export interface TermReference {
  readonly kind: TermKindName;
  readonly sourceId: string;
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  /** The language in which it is named, where that is known. */
  readonly language?: string | undefined;
}

/** Terms that a record of a language names: the same name in another language is another term. */
export const termsIn = (language: string | undefined, terms: readonly TermReference[]): readonly TermReference[] =>
  language === undefined ? terms : terms.map((term) => ({ ...term, sourceId: `${language}\n${term.sourceId}`, language }));

/** Somebody who wrote something. */
export interface AuthorItem extends Named {
  readonly kind: 'author';
  readonly login: string;
  readonly email: string;
  readonly displayName: string;
  /** Columns of `users` besides, where the source has them (password hash, registration). */
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** Metas; the names of roles and levels without the prefix of the source (`capabilities`, `user_level`). */
  readonly metas: readonly (readonly [key: string, value: string])[];
}

/** Options of the source as they are stored, taken over only when that is wished. */
export interface SettingsItem extends Named {
  readonly kind: 'settings';
  readonly options: Readonly<Record<string, string>>;
}

/** The ids of the records that an item of this site is shown as: of an event that recurs one for each date. */
export const recordIdsOf = ({ id, recurrence }: PostItem): number[] => {
  if (recurrence?.recurs) return recurrence.dates.map((date) => recurrence.base + date.id);
  return id === undefined ? [] : [id];
};

/** What a report calls a post. */
export const nameOf = ({ columns, sourceId }: PostItem): string => columns.post_title || sourceId;

/** What a report calls any item. */
export function titleOf(item: Item): string {
  if (isPostItem(item)) return nameOf(item);
  if (isTermItem(item)) return item.name;
  return item.kind === 'author' ? item.login : item.sourceId;
}

export const isPostItem = (item: Item): item is PostItem => 'links' in item;
export const isTermItem = (item: Item): item is TermItem => item.kind === 'category' || item.kind === 'tag';

/** Metas that name other posts, and the kind they lead to. */
export const LINK_METAS: ReadonlyMap<string, LinkedKind> = new Map([
  ...postKinds.flatMap(({ links }) => Object.entries(links)),
  ['_thumbnail_id', 'attachment'],
]);

/** Metas of a post, those that name other posts apart from the others. */
export function splitMetas(metas: readonly (readonly [key: string, value: string])[]): Pick<PostItem, 'metas' | 'links'> {
  const links = metas.flatMap(([key, value]): Link[] => {
    const kind = LINK_METAS.get(key);
    return kind !== undefined && isId(value) ? [{ key, kind, sourceId: value }] : [];
  });
  return { metas: metas.filter(([key, value]) => !(LINK_METAS.has(key) && isId(value))), links };
}

const isId = (text: string): boolean => /^[1-9]\d{0,14}$/.test(text);

/**
 * What a file can't be read for; the message says in one line what and where, in the words of
 * `locales/<language>/exchange.json`.
 */
export class SourceFault extends Error {
  override readonly name = 'SourceFault';
  /** Name of a sentence in `exchange:faults`. */
  readonly fault: string;
  /** Values for the sentence; `file` and `line` (or `place`) say where. */
  readonly values: Readonly<Record<string, string | number>>;

  constructor(fault: string, values: Readonly<Record<string, string | number>> = {}, cause?: unknown) {
    super(`${fault} ${JSON.stringify(values)}`, { cause });
    this.fault = fault;
    this.values = values;
  }
}

/** What a reader gives: items, and what it passed over or could not keep. */
export type Entry = Item | Aside;

export const isItem = (entry: Entry): entry is Item => entry.kind !== 'skipped' && entry.kind !== 'loss' && entry.kind !== 'dates';
