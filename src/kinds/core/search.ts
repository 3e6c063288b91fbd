import { coreUrl } from '../../wordpress/links.ts';
import { choice, choices, integers, searchPhrase } from '../grammars/schema.ts';
import type { ValuesOf } from '../param.ts';
import type { RenderContext } from '../rendering.ts';
import { PAGING, READ_CONTEXT } from './params.ts';
import type { Methods } from './view.ts';

/** Post types that a search of the whole site covers: those with public pages. */
export const SEARCHED_TYPES = ['post', 'page', 'tribe_events'] as const;
/** Taxonomies that a search of the whole site covers. */
export const SEARCHED_TAXONOMIES = ['category', 'post_tag', 'tribe_events_cat'] as const;
const ANY = 'any';

/** Parameters of a search of the whole site (`WP_REST_Search_Controller::get_collection_params`). */
export const SEARCH_PARAMS = {
  ...READ_CONTEXT,
  ...PAGING,
  search: { grammar: searchPhrase },
  type: { grammar: choice(['post', 'term', 'post-format']), fallback: 'post' },
  subtype: { grammar: choices([...SEARCHED_TYPES, ...SEARCHED_TAXONOMIES, ANY]), fallback: ANY },
  exclude: { grammar: integers, fallback: [] },
  include: { grammar: integers, fallback: [] },
};
export type SearchValues = ValuesOf<typeof SEARCH_PARAMS>;

/**
 * Returns the known types that were asked for, or all known types if none were named. `fallbackTypes`: returned if all
 * named types are of another object type, since WordPress's queries are then not restricted.
 */
export function subtypesOf<T extends string>(
  allTypes: readonly T[],
  names: readonly string[] | undefined,
  fallbackTypes: readonly T[],
): readonly T[] {
  if (names === undefined || names.includes(ANY)) return allTypes;
  const types = allTypes.filter((type) => names.includes(type));
  return types.length === 0 ? fallbackTypes : types;
}

/** A result of a search. `route`, `typeRoute`: its own route and that of its type, below `wp/v2`. */
export interface SearchHit {
  readonly id: number;
  readonly title: string;
  readonly url: string;
  readonly type: string;
  readonly subtype?: string;
  readonly route: string;
  readonly typeRoute: string;
  readonly methods: Methods;
}

/** Returns a search result as WordPress shows it (`WP_REST_Search_Controller::prepare_item_for_response`). */
export function searchRecord(hit: SearchHit, context: Pick<RenderContext, 'home' | 'settings'>): Record<string, unknown> {
  const { route, typeRoute, methods, ...record } = hit;
  return {
    ...record,
    _links: {
      self: [{ embeddable: true, href: coreUrl(context, route), targetHints: { allow: methods } }],
      about: [{ href: coreUrl(context, typeRoute) }],
      collection: [{ href: coreUrl(context, 'search') }],
    },
  };
}
