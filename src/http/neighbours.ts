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
 * accepted query with another page. Returns undefined if there are none, or if the header would be too long. If the
 * query has an offset, `page` has no effect, so the offset changes instead. `route`: the path with the namespace.
 */
export function neighbourLinks(context: RestPlace, route: string, query: RawParams, values: Values, paging: Paging): string | undefined {
  const linkTo = ({ rel, ...change }: Neighbour) =>
    `<${restUrl(context, route)}${querySeparator(context)}${queryFor(query, values, Object.entries(change)[0]!)}>; rel="${rel}"`;
  const header = neighbours(paging).map(linkTo).join(', ');
  return header === '' || header.length > MAX_HEADER_LENGTH ? undefined : header;
}

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
function queryFor(query: RawParams, values: Values, [changedName, number]: readonly [name: string, value: number]): string {
  const entries = Object.entries(query).filter(([name]) => name !== 'rest_route');
  const pairs = entries.map(
    ([name, value]) => [name, name === changedName ? number : Object.hasOwn(values, name) ? values[name] : value] as const,
  );
  const allPairs = Object.hasOwn(query, changedName) ? pairs : [...pairs, [changedName, number] as const];
  return allPairs.flatMap(([name, value]) => queryPairs(urlEncode(name), value)).join('&');
}

/**
 * Writes a value as `add_query_arg` does: list members by index, true as 1, an empty value as the name alone. False is
 * written as 0; WordPress writes it as empty, too, and then refuses it as a boolean.
 */
function queryPairs(name: string, value: unknown): string[] {
  if (isObject(value)) return Object.entries(value).flatMap(([key, member]) => queryPairs(`${name}%5B${urlEncode(key)}%5D`, member));
  const text = typeof value === 'boolean' ? String(Number(value)) : urlEncode(String(value ?? ''));
  return [text === '' ? name : `${name}=${text}`];
}
