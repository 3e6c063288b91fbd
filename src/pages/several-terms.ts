import type { ListPage } from '../kinds/calendar-page.ts';
import type { QueryPairs } from './urls.ts';

/*
 * The terms to which a page of the calendar is restricted, if they are several. A path can name only one.
 */

/** Names of the filters by terms, with the parameters by which addresses name the same terms. */
const PARAMETERS = { categories: 'tribe_events_cat', tags: 'tag' } as const;
const FILTERS = ['categories', 'tags'] as const satisfies readonly (keyof typeof PARAMETERS)[];

type PageTerms = Pick<ListPage, keyof typeof PARAMETERS>;

/** Returns the terms of a page as parameters of its address. */
export const termParameters = (page: PageTerms): QueryPairs =>
  FILTERS.flatMap((name) => {
    const groups = page[name];
    if (groups.length === 0) return [];
    return [[PARAMETERS[name], groups.length === 1 ? groups.flat().join(',') : groups.flat().join('+')] as const];
  });

/** Terms of a page, as filters and as parameters of its address. */
interface DividedTerms {
  /** Filters that mean the same as the terms. Filters mean any of several terms. */
  readonly asFilters: QueryPairs;
  /** The other terms: of those, an event must have all, or any besides any that a filter names. */
  readonly asParameters: QueryPairs;
}

/** Divides the terms of a page with these filters into those that filters can name as well, and all others. */
export function divideTerms(page: PageTerms, filters: QueryPairs): DividedTerms {
  const areFilters = (name: keyof PageTerms) => page[name].length === 1 && !filters.some(([filter]) => filter === name);
  const others = { categories: areFilters('categories') ? [] : page.categories, tags: areFilters('tags') ? [] : page.tags };
  return {
    asFilters: FILTERS.filter(areFilters).map((name) => [name, page[name].flat().join(',')] as const),
    asParameters: termParameters(others),
  };
}

/** Returns the parameters of the API's list with the events of these terms; none if it cannot be restricted to them. */
export function listQuery(page: PageTerms): QueryPairs {
  const { asFilters, asParameters } = divideTerms(page, []);
  return asParameters.length > 0 ? [] : asFilters;
}
