import { restUrl } from '../../wordpress/links.ts';
import { choice, choices, integers, phrase } from '../grammars/schema.ts';
import type { ValuesOf } from '../param.ts';
import type { RenderContext } from '../rendering.ts';
import { PAGING, READ_CONTEXT } from './params.ts';
import type { Methods } from './view.ts';

/** Types of posts that a search of the whole site looks into: those whose pages everybody finds. */
export const SEARCHED_TYPES = ['post', 'page', 'tribe_events'] as const;
/** Taxonomies that it looks into. */
export const SEARCHED_TAXONOMIES = ['category', 'post_tag', 'tribe_events_cat'] as const;
const ANY = 'any';

/** What a search of the whole site takes (`WP_REST_Search_Controller::get_collection_params`). */
export const SEARCH_PARAMS = {
  ...READ_CONTEXT,
  ...PAGING,
  search: { grammar: phrase },
  type: { grammar: choice(['post', 'term', 'post-format']), fallback: 'post' },
  subtype: { grammar: choices([...SEARCHED_TYPES, ...SEARCHED_TAXONOMIES, ANY]), fallback: ANY },
  exclude: { grammar: integers, fallback: [] },
  include: { grammar: integers, fallback: [] },
};
export type SearchValues = ValuesOf<typeof SEARCH_PARAMS>;

/**
 * Those of the known types that are asked for; all of them unless any are named. `others`: what is looked into where
 * only types of another kind are, which WordPress's queries then leave open.
 */
export function subtypesOf<T extends string>(
  known: readonly T[],
  asked: readonly string[] | undefined,
  others: readonly T[],
): readonly T[] {
  if (asked === undefined || asked.includes(ANY)) return known;
  const named = known.filter((type) => asked.includes(type));
  return named.length === 0 ? others : named;
}

/** What a search has found. `route`, `about`: its own route and that of its type, below `wp/v2`. */
export interface SearchHit {
  readonly id: number;
  readonly title: string;
  readonly url: string;
  readonly type: string;
  readonly subtype?: string;
  readonly route: string;
  readonly about: string;
  readonly methods: Methods;
}

/** A result as WordPress shows it (`WP_REST_Search_Controller::prepare_item_for_response`). */
export function searchRecord(hit: SearchHit, place: Pick<RenderContext, 'home' | 'settings'>): Record<string, unknown> {
  const { route, about, methods, ...record } = hit;
  const core = (path: string) => restUrl(place, `wp/v2/${path}`);
  return {
    ...record,
    _links: {
      self: [{ embeddable: true, href: core(route), targetHints: { allow: methods } }],
      about: [{ href: core(about) }],
      collection: [{ href: core('search') }],
    },
  };
}
