import type { Values } from '../kinds/param.ts';
import { type RestPlace, restUrl } from '../wordpress/links.ts';
import { urlEncode } from '../wordpress/web-url.ts';
import type { Raw } from './input.ts';
import type { Paging } from './route.ts';

/**
 * Proxies and clients refuse answers with longer ones: a list of a thousand ids would come to 40 kB. The totals show
 * further pages all the same.
 */
const LONGEST_HEADER = 4000;

/**
 * The header `Link` of a page that names its neighbours (WordPress `WP_REST_Posts_Controller::get_items`): the query as
 * it was accepted, with another page; undefined where there are none, or they are too long. Where the query passes over
 * records, a page changes nothing: there the neighbours pass over others. `route`: its path with the namespace.
 */
export function neighbourLinks(place: RestPlace, route: string, query: Raw, accepted: Values, paging: Paging): string | undefined {
  const at = ({ rel, ...changed }: Neighbour) =>
    `<${restUrl(place, route)}${glue(place)}${queryFor(query, accepted, Object.entries(changed)[0]!)}>; rel="${rel}"`;
  const header = neighbours(paging).map(at).join(', ');
  return header === '' || header.length > LONGEST_HEADER ? undefined : header;
}

const glue = ({ settings }: RestPlace) => (settings.permalinkStructure === '' ? '&' : '?');

/** What is different in the query of a neighbour: its page, or how many records it passes over. */
type Neighbour = { readonly rel: 'prev' | 'next' } & ({ readonly page: number } | { readonly offset: number });

function neighbours({ page, pages, skipped }: Paging): Neighbour[] {
  if (skipped) {
    const { offset, limit, total } = skipped;
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

/** What is different stands where it stood, or at the end. */
function queryFor(query: Raw, accepted: Values, [changed, number]: readonly [name: string, value: number]): string {
  const named = Object.entries(query).filter(([name]) => name !== 'rest_route');
  const pairs = named.map(
    ([name, value]) => [name, name === changed ? number : Object.hasOwn(accepted, name) ? accepted[name] : value] as const,
  );
  const all = Object.hasOwn(query, changed) ? pairs : [...pairs, [changed, number] as const];
  return all.flatMap(([name, value]) => queryPairs(urlEncode(name), value)).join('&');
}

/**
 * A value as `add_query_arg` writes it: members of lists by number, true as 1, what is empty as the name alone.
 * WordPress writes false as nothing, too, and refuses that as a boolean.
 */
function queryPairs(name: string, value: unknown): string[] {
  if (value !== null && typeof value === 'object')
    return Object.entries(value).flatMap(([key, member]) => queryPairs(`${name}%5B${urlEncode(key)}%5D`, member));
  const text = typeof value === 'boolean' ? String(Number(value)) : urlEncode(String(value ?? ''));
  return [text === '' ? name : `${name}=${text}`];
}
