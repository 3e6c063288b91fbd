import { fail } from '../../errors.ts';
import { feedFilters } from '../../kinds/feed-list.ts';
import { termKind } from '../../kinds/index.ts';
import { permalink } from '../../kinds/post-record.ts';
import { termLink } from '../../kinds/term-record.ts';
import { feedTerms, namedEvents } from '../../records/feed-events.ts';
import { urlByOldSlug } from '../../records/old-slugs.ts';
import { ancestorsOf, languagesOfTerms, termsByLanguage } from '../../records/terms.ts';
import type { FeedAddress } from './address.ts';
import type { FeedRequest } from './feed-request.ts';

/**
 * Where WordPress sends whoever asks for a calendar at another address than its own (`redirect_canonical`): to the path
 * with a slash at its end, to the page of a term or an event that the query names. Undefined: nowhere. Feeds of news
 * are not redirected.
 */
export async function redirectOf(wanted: FeedRequest): Promise<string | undefined> {
  const { address, page, queryText } = wanted;
  if (address.form !== 'ical' && address.form !== undefined) return undefined;
  const filled = address.form === undefined ? withoutEmpty(queryText) : queryText;
  // Browsers follow what a form leads to on the very server of its page alone, by whatever name it was reached.
  // A path that begins with two slashes would name a host.
  if (filled !== queryText) return withQuery(new URL(page).pathname.replace(/^\/{2,}/, '/'), filled);
  if (!address.byPath) return redirectOfQuery(wanted);
  const { permalinkStructure } = wanted.caller.settings;
  return permalinkStructure.endsWith('/') && !page.endsWith('/') ? withQuery(`${page}/`, queryText) : undefined;
}

/**
 * Where the page of an event, a venue or an organizer is by now that had another slug before; undefined: nowhere. To be
 * asked where there is no such page.
 */
export async function movedTo({ site, caller, address, queryText }: FeedRequest): Promise<string | undefined> {
  const { page, form, byPath } = address;
  if (!byPath || (form !== undefined && form !== 'ical')) return undefined;
  const { slug, on } = page.of === 'event' ? page : page.of === 'linked' ? { slug: page.slug, on: undefined } : {};
  if (slug === undefined) return undefined;
  const url = await urlByOldSlug(site, caller, page.of === 'linked' ? page.kind : 'event', { slug, on });
  return url === undefined ? undefined : withQuery(url, queryText);
}

async function redirectOfQuery(wanted: FeedRequest): Promise<string | undefined> {
  const { address, caller, query, queryText } = wanted;
  const readable = caller.settings.permalinkStructure !== '';
  const { page } = address;
  if (page.of === 'event' && page.id !== undefined) {
    if (!readable && query.post_type !== undefined) return undefined;
    const url = await eventUrl(wanted, page.id);
    return url === undefined ? undefined : withQuery(url, withoutParams(queryText, ['p', 'post_type']));
  }
  if (!readable) return undefined;
  const named = termOf(address);
  if (named === undefined) return undefined;
  return withQuery(await pageOfTerm(wanted, named), withoutParams(queryText, [QUERY_NAMES[named.kind]]));
}

const QUERY_NAMES = { category: 'tribe_events_cat', tag: 'tag' } as const;

interface NamedTerm {
  readonly kind: 'category' | 'tag';
  readonly slug: string;
}

/** The one term that a query names. */
function termOf({ page }: FeedAddress): NamedTerm | undefined {
  if (page.of !== 'list') return undefined;
  const named = [
    ...page.categories.flat().map((slug): NamedTerm => ({ kind: 'category', slug })),
    ...page.tags.flat().map((slug): NamedTerm => ({ kind: 'tag', slug })),
  ];
  return named.length === 1 ? named[0] : undefined;
}

async function eventUrl({ site, caller }: FeedRequest, id: number): Promise<string | undefined> {
  const { events } = await namedEvents(site, caller, { ids: [id] });
  return events[0] && permalink(events[0].row, caller, events[0].record.language);
}

/** The page of a term, in the language that is asked for: it holds the events of that, translated or not. */
async function pageOfTerm({ site, caller }: FeedRequest, { kind, slug }: NamedTerm): Promise<string> {
  const [[term] = []] = await feedTerms(site, caller, kind, [[slug]]);
  if (term === undefined) return fail('rest_no_route');
  const { content } = caller;
  const chosen = content.chosen ? content.code : undefined;
  const group = await termsByLanguage(site.db, caller, termKind(kind), term);
  const shown = group?.get(chosen ?? '') ?? { term, ancestors: await ancestorsOf(site.db, termKind(kind), term) };
  const languageOf = await languagesOfTerms(site.db, caller, [term]);
  return termLink(shown.term, shown.ancestors, caller, chosen ?? languageOf(term));
}

/** Forms send boxes that were left empty, too; the address of a page is better without them. */
const withoutEmpty = (query: string): string =>
  query
    .split('&')
    .filter((pair) => !EMPTY_BOXES.has(pair))
    .join('&');

const EMPTY_BOXES: ReadonlySet<string> = new Set(
  ['tribe-bar-search', 'tribe-bar-date', ...Object.keys(feedFilters)].map((name) => `${name}=`),
);

/** A query without these parameters, each perhaps a list; the others as they were written. */
const withoutParams = (query: string, names: readonly string[]): string =>
  query
    .split('&')
    .filter((pair) => !names.includes(/^[\w-]*/.exec(pair)?.[0] ?? ''))
    .join('&');

/** The address with this query behind it, but for what it says already: of two languages none would be heeded. */
function withQuery(url: string, query: string): string {
  const said = url.split('?')[1]?.split('&') ?? [];
  const more = query.split('&').filter((pair) => pair !== '' && !said.includes(pair));
  return more.length === 0 ? url : `${url}${said.length > 0 ? '&' : '?'}${more.join('&')}`;
}
