import { ANY_STATUS } from '../kinds/grammars/lists.ts';
import type { Kind, PostKind, TermKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import type { Caller } from '../records/caller.ts';
import type { Listing } from '../records/posts.ts';
import type { VersionedRecord } from '../records/versions.ts';
import { restUrl } from '../wordpress/links.ts';
import { languageHeaders, listLanguage } from './language-headers.ts';
import type { Reply } from './route.ts';
import type { TermView } from './term-view.ts';

/** A reply of a route. */
export interface LinkedReply extends Reply {
  /** Links of the answer itself, separate from the members that `_fields` selects from. */
  readonly links?: Readonly<Record<string, unknown>>;
  /** Whether `_fields` selects among the links too, as at the root of the API. */
  readonly linksAreFields?: true;
  /** Members that `_fields` can only name as a whole: a path into one finds nothing. */
  readonly indivisibleMembers?: readonly string[] | undefined;
  /** For WordPress's own routes, whose records have `_links` and `_embedded`: whether the request has `_embed`. */
  readonly embeds?: boolean | undefined;
  /** The kind of the records in the reply. */
  readonly kind?: Kind | undefined;
}

/** Returns the reply 200 with this body. */
export const ok = (body: unknown): Reply => ({ status: 200, body });

/** Replies with a record that was read and changes only by writes. Headers give its language and its translations. */
export function recordReply(versionedRecord: VersionedRecord<unknown>, { settings }: Caller): Reply {
  const { contentLanguages } = settings;
  const headers = contentLanguages ? languageHeaders(versionedRecord.record, contentLanguages) : undefined;
  return { ...writtenReply(versionedRecord), timeliness: 'never', ...(headers ? { headers } : {}) };
}

/** Replies with a record after a write. */
export const writtenReply = ({ record: body, version }: VersionedRecord<unknown>): Reply => ({
  status: 200,
  body,
  ...(version === undefined ? {} : { version }),
});

/** Replies with a created record. `location`: its address, for routes on which WordPress sends it. */
export const createdReply = (versionedRecord: VersionedRecord<unknown>, location?: string): Reply => ({
  ...writtenReply(versionedRecord),
  status: 201,
  ...(location === undefined ? {} : { headers: { Location: location } }),
});

/** Replies with a description of the API, whose `_links` become links of the answer. */
export function descriptionReply(description: object): LinkedReply {
  const { _links: links, ...body } = description as { _links?: Record<string, unknown> };
  return { status: 200, body, ...(links ? { links } : {}) };
}

/** Replies with a page of events, venues or organizers (totals in headers: decision D26). */
export function postListReply(caller: Caller, kind: PostKind, listing: Listing, carriedValues: Values = {}): Reply {
  const { total, pages, page } = listing;
  const query = queryOf(listing, carriedValues);
  const urls = neighbours(caller, kind, listing, query);
  const ownUrl = restUrl(caller, route(caller, kind), [['page', String(page)], ...query]);
  return {
    status: 200,
    body: { [kind.path]: listing.records, rest_url: ownUrl, ...urls, total, total_pages: pages },
    headers: { ...totalHeaders(listing), ...listLanguage(caller, kind.postType, listing.records) },
    timeliness: listing.timeliness,
  };
}

/** Replies with a page of categories or tags. The page number is only in the URLs of the neighbours. */
export function termListReply(caller: Caller, kind: TermKind, listing: Listing<TermView>, carriedValues: Values = {}): Reply {
  const { total, pages } = listing;
  const query = queryOf(listing, carriedValues);
  const ownUrl = restUrl(caller, route(caller, kind), query);
  return {
    status: 200,
    body: { rest_url: ownUrl, total, total_pages: pages, [kind.path]: listing.records, ...neighbours(caller, kind, listing, query) },
    headers: { ...totalHeaders(listing), ...listLanguage(caller, kind.taxonomy, listing.records) },
    timeliness: listing.timeliness,
  };
}

type Query = readonly (readonly [string, string])[];

/**
 * Returns the parameters of the list's URLs: first those with an effect, then the carried ones as they were sent, with
 * lists as CSV.
 */
function queryOf({ query }: Pick<Listing, 'query'>, carriedValues: Values): Query {
  const names = new Set(query.map(([name]) => name));
  const toText = (value: unknown) =>
    [value]
      .flat()
      .filter((item) => ['string', 'number', 'boolean'].includes(typeof item))
      .join(',');
  return [
    ...query,
    ...Object.entries(carriedValues).flatMap(([name, value]) =>
      names.has(name) || toText(value) === '' ? [] : [[name, toText(value)] as const],
    ),
  ];
}

/**
 * Returns the URLs of the next and the previous page: all parameters that shape the list, then the page. The first page
 * has no number unless `status=any` needs it (decisions D21, D25).
 */
function neighbours(
  caller: Caller,
  kind: PostKind | TermKind,
  { page, pages }: Pick<Listing, 'page' | 'pages'>,
  query: Query,
): { next_rest_url?: string; previous_rest_url?: string } {
  const bare = (number: number) => number === 1 && !query.some(([name, value]) => name === 'status' && value === ANY_STATUS);
  const pageUrl = (number: number) => restUrl(caller, route(caller, kind), bare(number) ? query : [...query, ['page', String(number)]]);
  return { ...(page < pages ? { next_rest_url: pageUrl(page + 1) } : {}), ...(page > 1 ? { previous_rest_url: pageUrl(page - 1) } : {}) };
}

const route = ({ namespace }: Caller, { path }: PostKind | TermKind): string => `${namespace}/${path}/`;

const totalHeaders = ({ total, pages }: Pick<Listing, 'total' | 'pages'>): Record<string, string> => ({
  'X-TEC-Total': String(total),
  'X-TEC-TotalPages': String(pages),
  'X-WP-Total': String(total),
  'X-WP-TotalPages': String(pages),
});
