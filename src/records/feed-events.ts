import { LAST_SAVE_OPTION } from '../calendar/settings.ts';
import { fail } from '../errors.ts';
import type { EventPage } from '../kinds/calendar-page.ts';
import type { Condition, Order } from '../kinds/condition.ts';
import { event as EVENT } from '../kinds/event.ts';
import { withAllDay } from '../kinds/events/dates.ts';
import { STATE } from '../kinds/events/metas.ts';
import { eventTerms } from '../kinds/events/record.ts';
import type { EventRecord } from '../kinds/events/shape.ts';
import { type FeedSpan, feedFilters, NOT_HIDDEN, narrowSpan } from '../kinds/feed-list.ts';
import { narrow } from '../kinds/filter.ts';
import { featuredImageAlt } from '../kinds/image-record.ts';
import { termKind } from '../kinds/index.ts';
import type { TermKindName } from '../kinds/kind-names.ts';
import { shortestTimeliness, type Timeliness } from '../kinds/timeliness.ts';
import type { Site } from '../site.ts';
import { readOptions } from '../storage/rows/options.ts';
import { findPostsByPath } from '../storage/rows/posts.ts';
import { loadUsers } from '../storage/rows/users.ts';
import { isTranslated } from '../wordpress/content-languages.ts';
import { metaOf, type Post, type Term } from '../wordpress/rows.ts';
import { slugPathForQuery } from '../wordpress/slug.ts';
import { textFromUnix } from '../wordpress/time.ts';
import type { Caller } from './caller.ts';
import { contentConditions, idInLanguage } from './content-lists.ts';
import { acceptParams } from './input.ts';
import { recordOfDate } from './occurrences.ts';
import { listedIds, narrowedPosts, type Rendered, readablePosts } from './posts.ts';
import { termLookUp } from './references.ts';
import { termsOfLanguage } from './term-languages.ts';

/** Selects the events of a feed. */
export interface FeedQuery {
  readonly span: FeedSpan;
  /** Conditions on terms: an event must have any term of each list. */
  readonly terms: readonly Condition[];
  /** Parameters that filter the list of events, as they were sent. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** Whether to leave out events that their authors hide from lists. */
  readonly withoutHidden: boolean;
  /** Whether to include all events, whatever their dates, latest published first. */
  readonly archive: boolean;
  /** An order that replaces that of the view. */
  readonly order?: Order | undefined;
  readonly limit: number;
  readonly offset: number;
  /** Password that opens protected events. */
  readonly password?: string | undefined;
  /** Whether records include their JSON-LD. */
  readonly withJsonLd?: boolean | undefined;
}

/** An event of a feed: the record that the API shows, its row, and what is public even if it is protected. */
export interface FeedEvent {
  /** Id of the record; each date of a recurring event has its own. */
  readonly id: number;
  /** Unlike in the API, `all_day` is never hidden, as in the plugin's feeds: without it, the dates are shown wrong. */
  readonly record: EventRecord;
  readonly row: Post;
  readonly locked: boolean;
  readonly categories: readonly FeedTerm[];
  readonly tags: readonly FeedTerm[];
  /**
   * The stored state of an event that does not take place as planned; empty if there is none, or if a password hides
   * it.
   */
  readonly state: string;
  /** Alternative text of its picture. */
  readonly imageText: string;
}

/** A term as the event shows it, with its language code, if any. */
export interface FeedTerm extends Term {
  readonly language: string | null | undefined;
}

export interface FeedEvents {
  readonly events: readonly FeedEvent[];
  /** Total number of events on all pages. */
  readonly total: number;
  readonly timeliness: Timeliness;
}

/**
 * Returns the events of a feed that the caller may see, with a small, fixed number of queries.
 *
 * @throws rest_invalid_param for filters that the list of events refuses
 */
export async function loadFeedEvents(site: Site, caller: Caller, query: FeedQuery): Promise<FeedEvents> {
  const values = await acceptParams(site, caller, feedFilters, query.filters, 'read');
  const narrowing = narrow(feedFilters, values, caller);
  const span = query.archive ? ARCHIVE_SPAN : narrowSpan(query.span, caller);
  const conditions = [...span.conditions, ...narrowing.conditions, ...query.terms, ...(query.withoutHidden ? [NOT_HIDDEN] : [])];
  const allConditions = await contentConditions(site, caller, EVENT, conditions);
  const { events, total } = await eventsBy(site, caller, { ...query, conditions: allConditions, order: query.order ?? span.order });
  return { events, total, timeliness: shortestTimeliness([span.timeliness, narrowing.timeliness]) };
}

const ARCHIVE_SPAN = { conditions: [], order: { by: 'date', descending: true }, timeliness: 'never' } as const;

/** Names of single events: their ids, or one slug, optionally with one of its dates. */
export type NamedEvents =
  | { readonly ids: readonly number[] }
  | { readonly slug: string; readonly occurrence?: { readonly date: string; readonly number: number | undefined } | undefined };

/** Events are named by their own slug, without those of their ancestors. */
export const toNamedEvents = ({ slug, id = 0, occurrence }: EventPage): NamedEvents =>
  slug === undefined ? { ids: [id] } : { slug: slugPathForQuery(encodeURIComponent(slug)).at(-1) ?? '', occurrence };

/**
 * Returns named events, including hidden ones, in the order of the ids. Those that the caller may not see are left out.
 * `options`: the password for protected ones, whether they include JSON-LD, and whether they are shown as they will be
 * once they are published.
 */
export async function loadNamedEvents(
  site: Site,
  caller: Caller,
  names: NamedEvents,
  options: Pick<FeedQuery, 'password' | 'withJsonLd'> & { readonly asPublished?: boolean | undefined } = {},
): Promise<FeedEvents> {
  const ids = 'ids' in names ? names.ids : await idsOfSlug(site, caller, names);
  if (ids.length === 0) return { events: [], total: 0, timeliness: 'never' };
  const events = eventsOf(caller, await readablePosts(site, caller, EVENT, ids, { ...options, withinPost: true }), options.password);
  return { events, total: events.length, timeliness: 'never' };
}

/**
 * Finds the event with a slug, at any depth, or the record of one of its dates. An event without dates is in no list,
 * but has a page.
 */
async function idsOfSlug(
  site: Site,
  caller: Caller,
  { slug, occurrence }: Exclude<NamedEvents, { ids: readonly number[] }>,
): Promise<number[]> {
  if (slug === '') return [];
  const order: Order = { by: 'id', descending: false };
  const ids = await listedIds(site, caller, EVENT, { conditions: [{ by: 'slug', slugs: [slug] }], order, statuses: undefined });
  const postIds = ids.length > 0 ? ids : await findPostsByPath(site.db, EVENT.postType, [slug]);
  const post = await idInLanguage(site.db, caller, EVENT, postIds);
  const record = post !== undefined && occurrence ? await recordOfDate(site.db, caller, post, occurrence) : post;
  return record === undefined ? [] : [record];
}

interface EventSlice extends Pick<FeedQuery, 'limit' | 'offset' | 'password' | 'withJsonLd'> {
  readonly conditions: readonly Condition[];
  readonly order: Order;
}

async function eventsBy(
  site: Site,
  caller: Caller,
  { password, withJsonLd, ...slice }: EventSlice,
): Promise<Pick<FeedEvents, 'events' | 'total'>> {
  const posts = await narrowedPosts(site, caller, EVENT, { ...slice, statuses: undefined }, { password, withJsonLd, withinPost: true });
  return { events: eventsOf(caller, posts, password), total: posts.total };
}

const eventsOf = (caller: Caller, { records, bundle }: Rendered<EventRecord>, password: string | undefined): FeedEvent[] => {
  const context = { settings: caller.settings, translatesLinks: caller.content.code !== undefined };
  return records.map((shown) => {
    const { id } = shown;
    const record = withAllDay(shown, bundle.metas.get(id));
    const row = bundle.posts.get(id)!; // records are made of rows, so the row exists
    const terms = eventTerms(id, bundle, context).map((term) => ({
      ...term,
      language: bundle.languages?.terms.get(term.term_id)?.language,
    }));
    const locked = row.post_password !== '' && row.post_password !== password;
    return {
      id,
      record,
      row,
      locked,
      state: (locked ? undefined : metaOf(bundle.metas.get(row.ID), STATE)) ?? '',
      categories: terms.filter(({ taxonomy }) => taxonomy === 'tribe_events_cat'),
      tags: terms.filter(({ taxonomy }) => taxonomy === 'post_tag'),
      imageText: featuredImageAlt(id, bundle),
    };
  });
};

/** Returns the public names of the authors of these events, by id. */
export async function authorNames({ db }: Site, events: readonly FeedEvent[]): Promise<ReadonlyMap<number, string>> {
  const users = await loadUsers(
    db,
    events.map(({ row }) => row.post_author),
    [],
  );
  return new Map([...users].map(([id, { row }]) => [id, row.display_name]));
}

/** Returns the time of the last save on the site in UTC, as recorded by the calendar; undefined if there is none. */
export async function lastSave({ db }: Site): Promise<string | undefined> {
  const savedAt = Number((await readOptions(db, [LAST_SAVE_OPTION])).get(LAST_SAVE_OPTION) ?? 0);
  return savedAt > 0 ? textFromUnix(Math.floor(savedAt)) : undefined;
}

/**
 * Finds terms by lists of slugs; for each list, the terms that exist. In a requested language, a slug matches the terms
 * of all languages that have it, with those of that language first. Protected events are not left out: the page of a
 * term shows them to visitors, as in WordPress, so their terms are no secret here.
 *
 * @throws rest_no_route if none of a list exists
 */
export async function feedTerms(
  { db }: Pick<Site, 'db'>,
  caller: Caller,
  name: TermKindName,
  lists: readonly (readonly string[])[],
): Promise<Term[][]> {
  if (lists.length === 0) return [];
  const kind = termKind(name);
  const { code } = caller.content;
  const isLanguageChosen = code !== undefined && isTranslated(caller.settings.contentLanguages, kind.taxonomy);
  const preferred = isLanguageChosen ? (terms: Term[]) => termsOfLanguage(db, caller, kind, terms, { code }) : undefined;
  const { byToken, everyByToken } = await termLookUp(db, name, lists.flat(), preferred);
  return lists.map((slugs) => {
    const terms = slugs.flatMap((slug) => (isLanguageChosen ? everyByToken(slug) : (byToken(slug) ?? [])));
    return terms.length === 0 ? fail('rest_no_route') : terms;
  });
}

/** Returns the condition that an event has any of these terms, or of their descendants. */
export const termsCondition = (kind: TermKindName, terms: readonly Term[]): Condition => ({
  by: 'terms',
  taxonomy: termKind(kind).taxonomy,
  ids: terms.map(({ term_id: id }) => id),
  withDescendants: true,
  guarded: false,
});
