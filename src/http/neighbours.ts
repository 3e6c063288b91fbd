import type { Values } from '../kinds/param.ts';
import { isObject } from '../objects.ts';
import { type RestPlace, restUrl } from '../wordpress/links.ts';
import { urlEncode } from '../wordpress/web-url.ts';
import type { RawParams } from './input.ts';
import type { Paging } from './route.ts';

/**
 * Maximum length of the header. Proxies refuse answers with a long head (`fitHead`), and a list of a thousand ids would
 * come to 40 kB. The totals still show that there are further pages.
 */
const MAX_HEADER_LENGTH = 1500;

/**
 * Returns the header `Link` with the previous and next page (WordPress `WP_REST_Posts_Controller::get_items`): the
 * accepted query with another page. If it would be too long, lists are written with commas, then the previous page is
 * left out: clients follow the next one. Returns undefined if there are no such pages, or if it is still too long. If
 * the query has an offset, `page` has no effect, so the offset changes instead. `route`: the path with the namespace.
 */
export function neighbourLinks(context: RestPlace, route: string, query: RawParams, values: Values, paging: Paging): string | undefined {
  const linkTo = ({ rel, ...change }: Neighbour, form: ListForm) =>
    `<${restUrl(context, route)}${querySeparator(context)}${queryFor(query, values, Object.entries(change)[0]!, form)}>; rel="${rel}"`;
  const headerOf = (pages: readonly Neighbour[], form: ListForm) => pages.map((page) => linkTo(page, form)).join(', ');
  const pages = neighbours(paging);
  const nextPages = pages.filter(({ rel }) => rel === 'next');
  for (const [shownPages, form] of [
    [pages, 'indexed'],
    [pages, 'joined'],
    [nextPages, 'joined'],
  ] as const) {
    const header = headerOf(shownPages, form);
    if (header.length <= MAX_HEADER_LENGTH) return header || undefined;
  }
  return undefined;
}

/** Form of lists in a query: each member by its index, as WordPress writes them, or members joined by commas. */
type ListForm = 'indexed' | 'joined';

const querySeparator = ({ settings }: RestPlace) => (settings.permalinkStructure === '' ? '&' : '?');

/** The changed parameter in the query of the previous or next page: the page or the offset. */
type Neighbour = { readonly rel: 'prev' | 'next' } & ({ readonly page: number } | { readonly offset: number });

function neighbours({ page, pages, offsetPaging }: Paging): Neighbour[] {
  if (offsetPaging) {
    const { offset, limit, total } = offsetPaging;
    return [
      ...(offset > 0 ? [{ rel: 'prev', offset: Math.max(0, offset - limit) } as const] : []),
      ...(offset + limit < total ? [{ rel: 'next', offset: offset + limit } as const] : []),
    ];
  }
  return [
    ...(page > 1 ? [{ rel: 'prev', page: Math.min(page - 1, pages) } as const] : []),
    ...(page < pages ? [{ rel: 'next', page: page + 1 } as const] : []),
  ];
}

/** Builds the query of a neighbour. The changed parameter keeps its position, or is appended if it was absent. */
function queryFor(query: RawParams, values: Values, [changedName, number]: readonly [name: string, value: number], form: ListForm): string {
  const entries = Object.entries(query).filter(([name]) => name !== 'rest_route');
  const pairs = entries.map(
    ([name, value]) => [name, name === changedName ? number : Object.hasOwn(values, name) ? values[name] : value] as const,
  );
  const allPairs = Object.hasOwn(query, changedName) ? pairs : [...pairs, [changedName, number] as const];
  return allPairs.flatMap(([name, value]) => queryPairs(urlEncode(name), value, form)).join('&');
}

/**
 * Writes a value as `add_query_arg` does: list members by index, true as 1, an empty value as the name alone. False is
 * written as 0; WordPress writes it as empty, too, and then refuses it as a boolean.
 */
function queryPairs(name: string, value: unknown, form: ListForm): string[] {
  if (form === 'joined' && Array.isArray(value) && value.length > 0 && value.every(isPlainMember)) return [`${name}=${value.join()}`];
  if (isObject(value)) return Object.entries(value).flatMap(([key, member]) => queryPairs(`${name}%5B${urlEncode(key)}%5D`, member, form));
  const text = typeof value === 'boolean' ? String(Number(value)) : urlEncode(String(value ?? ''));
  return [text === '' ? name : `${name}=${text}`];
}

/** Whether a member of a list is the same after the list was split again (`wp_parse_list`). */
const isPlainMember = (member: unknown): boolean => typeof member === 'number' || (typeof member === 'string' && /^[\w.-]+$/.test(member));
