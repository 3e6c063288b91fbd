import type { CustomField } from '../../calendar/custom-fields.ts';
import { postKinds } from '../../kinds/index.ts';
import type { PostKindName, TermKindName } from '../../kinds/kind-names.ts';
import { PUBLISHED_WITH } from '../../records/writes/linked-drafts.ts';
import type { StoredRecurrence, StoredSeries } from '../../storage/rows/recurrences.ts';
import { type StoredValue, storedText, textOfStored } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { NonItemEntry } from './report.ts';

/**
 * Bulk data as plain objects, one item at a time. Every reader (a file, another site) yields a stream of items, every
 * writer consumes one; the importer does not know where they come from.
 *
 * Items reference each other by `sourceId`, the name that the source itself uses: a post's id, a UID, a URL; a term's
 * slug or id. They may come in any order, and may reference items that come later or never. Names are separate for
 * three groups: posts (events, venues, organizers, attachments), terms of one kind, and authors.
 */
export type Item = PostItem | TermItem | AuthorItem | SettingsItem;

interface IdentifiedItem {
  /** Name in the source; the same in every export of that source. */
  readonly sourceId: string;
  /** The id in the source, which is kept if it is free. */
  readonly id?: number | undefined;
  /** Position in the source, for reports: `export.xml, line 120`. Does not identify the item. */
  readonly place?: string | undefined;
}

/** Language of an item, and its translations. */
interface LanguageMembers {
  /** Language code. */
  readonly language?: string | undefined;
  /** A name that all translations of one record share, within their kind. */
  readonly translation_group?: string | undefined;
}

/** A meta as its row holds it. */
export type MetaPair = readonly [key: string, value: StoredValue];

/** Returns metas that hold texts. */
export const textMetas = (texts: readonly (readonly [key: string, text: string])[]): MetaPair[] =>
  texts.map(([key, text]) => [key, storedText(text)]);

/** Returns the first text of a meta; empty if there is none. */
export const textIn = (metas: readonly MetaPair[], name: string): string => textOfStored(metas.find(([key]) => key === name)?.[1] ?? '');

/** Returns metas with other texts in those that are named. */
export const withTexts = (metas: readonly MetaPair[], texts: ReadonlyMap<string, string>): MetaPair[] =>
  metas.map(([key, value]) => {
    const text = texts.get(key);
    return [key, text === undefined ? value : storedText(text)];
  });

/** An event, a venue, an organizer or an attachment, in the form of its rows. */
export interface PostItem extends IdentifiedItem, LanguageMembers {
  readonly kind: PostKindName | 'attachment';
  /** Columns as WordPress stores them. Absent columns get WordPress's defaults, or are left unchanged in an update. */
  readonly columns: PostColumns;
  /** Author: the `sourceId` of an author item, or the login of a user of this site. Absent: the user who imports. */
  readonly author?: string | undefined;
  /** `sourceId` of the parent post. */
  readonly parent?: string | undefined;
  /** In order, without those in `links`. */
  readonly metas: readonly MetaPair[];
  /** Metas that reference other posts, in order. */
  readonly links: readonly Link[];
  /** Terms of the post; undefined if the source has no information about them. */
  readonly terms?: readonly TermReference[] | undefined;
  /** Kinds of terms that the source has no information about; an update keeps the current ones. */
  readonly unsaid?: readonly TermKindName[] | undefined;
  /** Whether `metas` and `links` are complete: if so, an update deletes all others; otherwise, it keeps them. */
  readonly complete: boolean;
  /**
   * Metas that the record does not have according to the source, unless they are among `metas`; an update deletes them.
   */
  readonly absent?: readonly string[] | undefined;
  /**
   * The same, if it is only known from elsewhere that the source would show them: from its description or its other
   * records. Does not belong to the record, which has not changed when more of them are known.
   */
  readonly unshown?: readonly string[] | undefined;
  /**
   * Columns and metas that have a value only because new records need one: the source does not state it. An update
   * keeps the current value, which editors may have set.
   */
  readonly initial?: readonly string[] | undefined;
  /**
   * Whether the source gives the times of an event as moments, so that another zone shows them at other hours.
   * Otherwise, they are local times of whatever zone the event has.
   */
  readonly statesMoments?: true;
  /**
   * An alternative name that is used instead of `sourceId` if an earlier import has it: an event that has its UID or
   * URL to itself may have shared it with others in that import.
   */
  readonly narrowerId?: string | undefined;
  /**
   * Way of identifying the item if the source has no permanent names: by an existing record of the same name (for an
   * event, also the same start). `details`: unless its place or e-mail address shows that it is a different one.
   */
  readonly match?: 'name' | 'details' | undefined;
  /** Whether the record is private only because no public event of its source names it. */
  readonly isHidden?: true;
  /** For an attachment, the URL of its file. */
  readonly url?: string | undefined;
  /** The dates of an event, if the source can store recurring events. */
  readonly recurrence?: Recurrence | undefined;
  /** The series that the event belongs to. */
  readonly series?: StoredSeries | undefined;
}

/** The dates of an event. `base`: number that is added to their ids to get their public ids. */
export interface Recurrence extends StoredRecurrence {
  readonly base: number;
  /** Whether only some of the dates were selected. */
  readonly partial?: true;
}

/**
 * A post of the source or, if only a name is known, the record with this title; of several, the one in this language.
 */
export type Link =
  | { readonly key: string; readonly kind: LinkedKind; readonly sourceId: string }
  | { readonly key: string; readonly kind: LinkedKind; readonly name: string; readonly language?: string };

export type LinkedKind = 'venue' | 'organizer' | 'attachment';

export type PostColumns = Partial<Omit<Post, 'ID' | 'post_author' | 'post_parent' | 'post_type' | 'comment_count'>>;

/** A category or a tag. */
export interface TermItem extends IdentifiedItem, LanguageMembers {
  readonly kind: TermKindName;
  /** As stored, with entities. */
  readonly name: string;
  readonly slug: string;
  /**
   * Number of terms with the same slug that come before this one; absent: none. Terms of several languages may share a
   * slug.
   */
  readonly namesake?: number | undefined;
  readonly description: string;
  /** `sourceId` of the parent category. */
  readonly parent?: string | undefined;
  /** Metas of the term, including those of plugins, in order. */
  readonly metas?: readonly MetaPair[] | undefined;
  /** The `term_taxonomy_id` in the source. */
  readonly taxonomyId?: number | undefined;
}

/** A term by its `sourceId`. If no item of that name comes, a term is created from `name` and `slug`. */
export interface TermReference {
  readonly kind: TermKindName;
  readonly sourceId: string;
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  /** Language of the name, if it is known. */
  readonly language?: string | undefined;
}

/**
 * Qualifies references to terms with the language of their record, since the same name in another language is another
 * term.
 */
export const withTermLanguage = (language: string | undefined, terms: readonly TermReference[]): readonly TermReference[] =>
  language === undefined ? terms : terms.map((term) => ({ ...term, sourceId: `${language}\n${term.sourceId}`, language }));

/** An author of posts. */
export interface AuthorItem extends IdentifiedItem {
  readonly kind: 'author';
  readonly login: string;
  readonly email: string;
  readonly displayName: string;
  /** Additional columns of `users`, if the source has them (password hash, registration). */
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /**
   * Metas as texts, or as stored if they are none; keys of roles and levels come without the table prefix of the source
   * (`capabilities`, `user_level`).
   */
  readonly metas: readonly (readonly [key: string, value: string])[];
  /** Whether the network of the source has marked the user as spam, so that nobody can sign in there as this user. */
  readonly isSpam?: true;
}

/** Options of the source as stored; imported only on request. */
export interface SettingsItem extends IdentifiedItem {
  readonly kind: 'settings';
  readonly options: Readonly<Record<string, string>>;
  /** Custom fields of the source, if the options are not included. */
  readonly fields?: readonly CustomField[] | undefined;
}

/** Returns the ids of the records as which an item of this site is shown: for a recurring event, one for each date. */
export const publicIdsOf = ({ id, recurrence }: PostItem): number[] => {
  if (recurrence?.recurs) return recurrence.dates.map((date) => recurrence.base + date.id);
  return id === undefined ? [] : [id];
};

/** Returns the name of a post for reports. */
export const nameOf = ({ columns, sourceId }: PostItem): string => columns.post_title || sourceId;

/** Returns the name of any item for reports. */
export function titleOf(item: Item): string {
  if (isPostItem(item)) return nameOf(item);
  if (isTermItem(item)) return item.name;
  return item.kind === 'author' ? item.login : item.sourceId;
}

/** Whether an item is a post: an event, a venue, an organizer or an image. */
export const isPostItem = (item: Item): item is PostItem => 'links' in item;
/** Whether an item is a category or a tag. */
export const isTermItem = (item: Item): item is TermItem => item.kind === 'category' || item.kind === 'tag';

/** Metas that reference other posts -> the kinds of those posts. */
export const LINK_METAS: ReadonlyMap<string, LinkedKind> = new Map([
  ...postKinds.flatMap(({ links }) => Object.entries(links)),
  ['_thumbnail_id', 'attachment'],
]);

/**
 * Splits the metas of a post into links to other posts and the others. Drafts that are published with it are links,
 * too.
 */
export function splitMetas(metas: readonly MetaPair[]): Pick<PostItem, 'metas' | 'links'> {
  const linkOf = ([key, value]: MetaPair) => {
    const kind = LINK_METAS.get(key);
    return kind !== undefined && isId(value) ? [{ key, kind, sourceId: value }] : [];
  };
  return withNotedLinks({ metas: metas.filter((meta) => linkOf(meta).length === 0), links: metas.flatMap(linkOf) });
}

/**
 * Moves the drafts that a scheduled record publishes with it from its metas to its links, in addition to those that
 * show them. Drafts that it does not show are left out, since they are never published.
 */
export function withNotedLinks<Linked extends Pick<PostItem, 'metas' | 'links'>>(item: Linked): Linked {
  const notes = item.metas.filter(([key]) => key === PUBLISHED_WITH);
  if (notes.length === 0) return item;
  const kinds = new Map(item.links.flatMap((link) => ('sourceId' in link ? [[link.sourceId, link.kind]] : [])));
  const links = notes.flatMap(([key, sourceId]): Link[] => {
    const kind = kinds.get(sourceId);
    return kind === undefined ? [] : [{ key, kind, sourceId }];
  });
  return { ...item, metas: item.metas.filter(([key]) => key !== PUBLISHED_WITH), links: [...item.links, ...links] };
}

/** Returns the links that a record shows: all but those to drafts that are published with it, which it shows, too. */
export const shownLinks = ({ links }: Pick<PostItem, 'links'>): Link[] => links.filter(({ key }) => key !== PUBLISHED_WITH);

const isId = (text: string): boolean => /^[1-9]\d{0,14}$/.test(text);

/**
 * An error because of which a source cannot be read. Its text comes from `locales/<language>/exchange.json` and says in
 * one line what is wrong, and where.
 */
export class SourceFault extends Error {
  override readonly name = 'SourceFault';
  /** Key of a sentence in `exchange:faults`. */
  readonly fault: string;
  /** Values for the sentence; `file` and `line` (or `place`) give the position. */
  readonly values: Readonly<Record<string, string | number>>;

  constructor(fault: string, values: Readonly<Record<string, string | number>> = {}, cause?: unknown) {
    super(`${fault} ${JSON.stringify(values)}`, { cause });
    this.fault = fault;
    this.values = values;
  }
}

/** An entry of a reader: an item, or a note about something that it skipped or could not keep. */
export type Entry = Item | NonItemEntry;

/** Whether an entry is something to import, not a remark about the source. */
export const isItem = (entry: Entry): entry is Item => entry.kind !== 'skipped' && entry.kind !== 'loss' && entry.kind !== 'dates';
