import { fail } from '../../errors.ts';
import { feedFilters } from '../../kinds/feed-list.ts';
import { ICAL_PARAM_NAMES } from '../../kinds/feed-pages.ts';
import { postKind, termKind } from '../../kinds/index.ts';
import { LINKED_KIND_NAMES, type LinkedKindName, type TermKindName } from '../../kinds/kind-names.ts';
import { termLink } from '../../kinds/term-record.ts';
import { feedTerms, loadNamedEvents } from '../../records/feed-events.ts';
import { linkedById } from '../../records/linked-pages.ts';
import { urlByOldSlug } from '../../records/old-slugs.ts';
import { ancestorsOf, languagesOfTerms, termsByLanguage } from '../../records/terms.ts';
import type { FeedAddress } from './address.ts';
import type { FeedRequest } from './feed-request.ts';

/**
 * Returns the address to which WordPress redirects a calendar request at a non-canonical address
 * (`redirect_canonical`): the path with single slashes and one at its end, or the page of the term or event that the
 * query names. Undefined if there is no redirect. News feeds are not redirected.
 */
export async function redirectOf(request: FeedRequest): Promise<string | undefined> {
  const { address, page, queryText, hasExtraSlashes } = request;
  if (address.format !== 'ical' && address.format !== undefined) return undefined;
  const cleanQuery = address.format === undefined ? withoutEmpty(queryText) : queryText;
  // Browsers only follow the redirect of a form on the host of its page, whatever name that host was reached by, so the
  // location has no host. A path that begins with two slashes would name one.
  if (cleanQuery !== queryText) return withQuery(new URL(page).pathname.replace(/^\/{2,}/, '/'), cleanQuery);
  if (!address.isPath) return redirectOfQuery(request);
  const { permalinkStructure } = request.caller.settings;
  const canonicalPage = permalinkStructure.endsWith('/') && !page.endsWith('/') ? `${page}/` : page;
  return hasExtraSlashes || canonicalPage !== page ? withQuery(canonicalPage, queryText) : undefined;
}

/**
 * Returns the current address of an event, venue or organizer whose slug has changed; undefined if there is none. Call
 * it if the page was not found.
 */
export async function findNewAddress({ site, caller, address, query, queryText }: FeedRequest): Promise<string | undefined> {
  const { page, format, isPath } = address;
  if (!isPath || (format !== undefined && format !== 'ical')) return undefined;
  const { slug, occurrence } = page.of === 'event' ? page : page.of === 'linked' ? { slug: page.slug, occurrence: undefined } : {};
  if (slug === undefined) return undefined;
  const url = await urlByOldSlug(site, caller, page.of === 'linked' ? page.kind : 'event', { slug, occurrence });
  if (url === undefined) return undefined;
  const isNamedByPath = format === 'ical' && !ICAL_PARAM_NAMES.some((name) => Object.hasOwn(query, name));
  return withQuery(isNamedByPath ? calendarOf(url) : url, queryText);
}

/** Returns the address of the calendar of a page. */
const calendarOf = (url: string): string => (url.includes('?') ? `${url}&ical=1` : `${url}${url.endsWith('/') ? '' : '/'}ical/`);

async function redirectOfQuery(request: FeedRequest): Promise<string | undefined> {
  const { address, caller, query, queryText } = request;
  const hasPermalinks = caller.settings.permalinkStructure !== '';
  const { page } = address;
  if (page.of === 'event' && page.id !== undefined) {
    const kind = linkedKindOf(query.post_type);
    if (kind === undefined && !hasPermalinks && query.post_type !== undefined) return undefined;
    const url = await (kind === undefined ? eventUrl(request, page.id) : linkedUrl(request, kind, page.id));
    return url === undefined ? undefined : withQuery(url, withoutParams(queryText, ['p', 'post_type']));
  }
  if (!hasPermalinks) return undefined;
  const term = termOf(address);
  if (term === undefined) return undefined;
  return withQuery(await pageOfTerm(request, term), withoutParams(queryText, [QUERY_NAMES[term.kind]]));
}

const QUERY_NAMES = { category: 'tribe_events_cat', tag: 'tag' } as const;

interface NamedTerm {
  readonly kind: TermKindName;
  readonly slug: string;
}

/** Returns the term that a query names, if it names only one. */
function termOf({ page }: FeedAddress): NamedTerm | undefined {
  if (page.of !== 'list') return undefined;
  const terms = [
    ...page.categories.flat().map((slug): NamedTerm => ({ kind: 'category', slug })),
    ...page.tags.flat().map((slug): NamedTerm => ({ kind: 'tag', slug })),
  ];
  return terms.length === 1 ? terms[0] : undefined;
}

/** Returns the kind of a post type; undefined if it is not that of venues or organizers. */
const linkedKindOf = (type: unknown): LinkedKindName | undefined => LINKED_KIND_NAMES.find((name) => postKind(name).postType === type);

/** Returns the page of a venue or an organizer. */
const linkedUrl = async ({ site, caller }: FeedRequest, kind: LinkedKindName, id: number): Promise<string | undefined> =>
  (await linkedById(site, caller, kind, id))?.record.url;

/** Returns the page of an event, or of one of its dates, which have ids of their own. */
async function eventUrl({ site, caller }: FeedRequest, id: number): Promise<string | undefined> {
  const { events } = await loadNamedEvents(site, caller, { ids: [id] });
  return events[0]?.record.url;
}

/** Returns the page of a term in the requested language, which shows the events of that language, translated or not. */
async function pageOfTerm({ site, caller }: FeedRequest, { kind, slug }: NamedTerm): Promise<string> {
  const [[term] = []] = await feedTerms(site, caller, kind, [[slug]]);
  if (term === undefined) return fail('rest_no_route');
  const { content } = caller;
  const chosenLanguage = content.isChosen ? content.code : undefined;
  const group = await termsByLanguage(site.db, caller, termKind(kind), term);
  const placedTerm = group?.get(chosenLanguage ?? '') ?? { term, ancestors: await ancestorsOf(site.db, termKind(kind), term) };
  const languageOf = await languagesOfTerms(site.db, caller, [term]);
  return termLink(placedTerm.term, placedTerm.ancestors, caller, chosenLanguage ?? languageOf(term));
}

/** Removes the fields of forms that were left empty, to keep them out of the page's address. */
const withoutEmpty = (query: string): string =>
  query
    .split('&')
    .filter((pair) => !EMPTY_FIELDS.has(pair))
    .join('&');

const EMPTY_FIELDS: ReadonlySet<string> = new Set(
  ['tribe-bar-search', 'tribe-bar-date', ...Object.keys(feedFilters)].map((name) => `${name}=`),
);

/** Removes these parameters, including lists, from a query. The others stay as they were written. */
const withoutParams = (query: string, names: readonly string[]): string =>
  query
    .split('&')
    .filter((pair) => !names.includes(/^[\w-]*/.exec(pair)?.[0] ?? ''))
    .join('&');

/**
 * Appends a query to an address, without pairs that the address already has: if the language occurred twice, neither
 * would count.
 */
function withQuery(url: string, query: string): string {
  const existingPairs = url.split('?')[1]?.split('&') ?? [];
  const newPairs = query.split('&').filter((pair) => pair !== '' && !existingPairs.includes(pair));
  return newPairs.length === 0 ? url : `${url}${existingPairs.length > 0 ? '&' : '?'}${newPairs.join('&')}`;
}
