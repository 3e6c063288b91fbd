import type { Values } from '../kinds/param.ts';
import { type RestPlace, restUrl } from '../wordpress/links.ts';
import { urlEncode } from '../wordpress/web-url.ts';
import type { Raw } from './input.ts';

/**
 * Proxies and clients refuse answers with longer ones: a list of a thousand ids would come to 40 kB. The totals show
 * further pages all the same.
 */
const LONGEST_HEADER = 4000;

/**
 * The header `Link` of a page that names its neighbours (WordPress `WP_REST_Posts_Controller::get_items`): the query as
 * it was accepted, with another page; undefined where there are none, or they are too long. `route`: its path with the
 * namespace.
 */
export function neighbourLinks(
  place: RestPlace,
  route: string,
  query: Raw,
  accepted: Values,
  { page, pages }: { page: number; pages: number },
): string | undefined {
  const at = (number: number, rel: string) => `<${restUrl(place, route)}${glue(place)}${queryFor(query, accepted, number)}>; rel="${rel}"`;
  const links = [...(page > 1 ? [at(Math.min(page - 1, pages), 'prev')] : []), ...(page < pages ? [at(page + 1, 'next')] : [])];
  const header = links.join(', ');
  return header === '' || header.length > LONGEST_HEADER ? undefined : header;
}

const glue = ({ settings }: RestPlace) => (settings.permalinkStructure === '' ? '&' : '?');

/** The page stands where it stood, or at the end. */
function queryFor(query: Raw, accepted: Values, page: number): string {
  const named = Object.entries(query).filter(([name]) => name !== 'rest_route');
  const pairs = named.map(
    ([name, value]) => [name, name === 'page' ? page : Object.hasOwn(accepted, name) ? accepted[name] : value] as const,
  );
  const all = Object.hasOwn(query, 'page') ? pairs : [...pairs, ['page', page] as const];
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
