import { DEFAULT_BASE, type SiteSettings } from '../../calendar/settings.ts';
import { DATES } from '../../kinds/events/metas.ts';
import { type Entry, isItem, isPostItem } from '../items/items.ts';
import { foldedTitle } from '../items/record-names.ts';
import { type LossEntry, lossEntry } from '../items/report.ts';
import { keyOfTerm } from './items.ts';
import type { Query, RemoteSite } from './site-client.ts';
import { type SiteFacts, siteFacts } from './site-facts.ts';

/** Facts about the target and the time, which decide how records are read. */
export interface ReadingOptions {
  readonly settings: Pick<SiteSettings, 'smilies' | 'calendar' | 'contentLanguages'>;
  /** Words for "free" in the languages that a site may have. */
  readonly freeWords: readonly string[];
  readonly now: Date;
}

/** State of a walk, collected from earlier pages. */
export interface Walk {
  readonly site: RemoteSite;
  readonly options: ReadingOptions;
  /** Names of users by id; undefined for users that the site does not show. */
  readonly people: Map<number, string | undefined>;
  /** Ids of images that were yielded already. */
  readonly images: Set<number>;
  /** Ids of events that were yielded already. */
  readonly events: Set<string>;
  /** Names of categories and tags in items, by `keyOfTerm`. */
  readonly termNames: Map<string, string>;
  /** Dates of recurring events, by `nameOfDate`: each comes with its own id. */
  readonly dates: Set<string>;
  /** Records that were read, as `stage/id`, including those that could not be used. */
  readonly seenRecords: Set<string>;
  /** Routes of WordPress that the site lacks or denies us, with their contexts (`media edit`) -> the status. */
  readonly unavailableRoutes: Map<string, number>;
  /** Number of empty pages at the end of what was read of the present list. */
  readonly emptyPages: { count: number };
  /** Names and labels of the custom fields that events have shown so far. */
  readonly shownFields: Map<string, string>;
  /** Returns the facts that the site states about itself; it is asked once. */
  readonly facts: () => Promise<SiteFacts>;
}

/** Returns the state of a walk that has not read anything yet. */
export function newWalk(site: RemoteSite, options: ReadingOptions): Walk {
  let facts: Promise<SiteFacts> | undefined;
  return {
    site,
    options,
    people: new Map(),
    images: new Set(),
    events: new Set(),
    termNames: new Map(),
    dates: new Set(),
    seenRecords: new Set(),
    unavailableRoutes: new Map(),
    emptyPages: { count: 0 },
    shownFields: new Map(),
    facts: () => {
      facts ??= siteFacts(site);
      return facts;
    },
  };
}

/** Adds an entry, new or from the spool, to the state of the walk. */
export function noteEntry(walk: Walk, entry: Entry): void {
  const place = entry.kind === 'loss' ? entry.loss.place : isItem(entry) && isPostItem(entry) ? entry.place : undefined;
  if (place !== undefined) walk.seenRecords.add(place);
  if ((entry.kind === 'category' || entry.kind === 'tag') && entry.id !== undefined)
    walk.termNames.set(keyOfTerm(entry.kind, entry.id), entry.sourceId);
  if (entry.kind === 'attachment' && entry.id !== undefined) walk.images.add(entry.id);
  if (entry.kind === 'event') {
    walk.events.add(entry.sourceId);
    const { post_name: slug = '', post_title: title = '' } = entry.columns;
    const start = String(new Map(entry.metas).get(DATES.start));
    if (Number(entry.sourceId) > DEFAULT_BASE) walk.dates.add(nameOfDate({ slug, title, start, language: entry.language }));
  }
  if (entry.kind === 'author' && entry.id !== undefined) walk.people.set(entry.id, entry.sourceId);
}

/** The members that a recurring event has in common with its first date. */
interface FirstDate {
  readonly slug: string;
  readonly title: string;
  readonly start: string;
  readonly language: string | undefined;
}

/**
 * Name of one date of an event, in `Walk.dates`. Translations may share a slug and a start, and drafts have no slug.
 */
export const nameOfDate = ({ slug, title, start, language = '' }: FirstDate): string =>
  [slug, slug === '' ? foldedTitle(title) : '', start, language].join('\n');

/** A page of the entries of a stage. */
export interface Page {
  readonly entries: readonly Entry[];
  readonly isLast: boolean;
  /** Whether the list has become so short that this page no longer exists. */
  readonly isGone?: true;
  /** Number of records in the list, if the site reports it, and on this page. */
  readonly total?: number;
  readonly length?: number;
}

export const EMPTY_PAGE: Page = { entries: [], isLast: true };

/**
 * Requests all languages. By default, WPML and Fasti list only one. Polylang lists all by default, and would take
 * `lang=all` for its default language; it ignores this parameter.
 */
export const IN_ALL_LANGUAGES: Query = { wpml_language: 'all' };

/** The period of a list that contains the events of all times. */
export const OF_ALL_TIMES = { start_date: '1001-01-01', end_date: '2999-12-31' } as const;

/** Size of the pages that are requested from the lists of the calendar. */
export const PAGE_SIZE = 50;
/**
 * Maximum number of times that earlier pages of a list are read again, so that the walk ends even if the list keeps
 * changing.
 */
export const MAX_STEPS_BACK = 20;

/** Maximum number of empty pages in a row: a site may announce more pages than anybody could read. */
const MAX_EMPTY_PAGES = 10;

/**
 * Notes a page of a list, and returns whether the list does not end: its last pages were all empty, or it has more
 * pages than records. `length`: number of records on the page; `known`: number of different records in the list so far.
 */
export function isEndless({ emptyPages }: Pick<Walk, 'emptyPages'>, page: number, length: number, known = page): boolean {
  const before = page === 1 ? 0 : emptyPages.count;
  emptyPages.count = length === 0 ? before + 1 : 0;
  return emptyPages.count >= MAX_EMPTY_PAGES || page >= known + MAX_EMPTY_PAGES;
}

/** Returns the loss that a list does not end. `list`: its stage. */
export const endlessListLoss = ({ site: { home } }: Pick<Walk, 'site'>, list: string): LossEntry =>
  lossEntry({ reason: 'site-list-endless', kind: 'source', of: home, detail: list });
