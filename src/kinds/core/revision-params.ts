import { control } from '../filter.ts';
import { integer } from '../grammars/schema.ts';
import type { ListParams } from '../list-param.ts';
import type { Params, ValuesOf } from '../param.ts';
import { MAX_PAGE_SIZE, OFFSET, orderParams } from './params.ts';
import { ID_PARAMS, QUERY_PARAMS } from './post-params.ts';

/*
 * Parameters of the routes of revisions.
 */

/**
 * Filters of the revisions of a post (`WP_REST_Revisions_Controller::get_collection_params`). As in WordPress, the page
 * length has no default in the description.
 */
export const REVISION_FILTERS = {
  ...QUERY_PARAMS,
  per_page: control(integer({ minimum: 1, maximum: MAX_PAGE_SIZE })),
  ...ID_PARAMS,
  ...OFFSET,
  ...orderParams(['date', 'id', 'include', 'relevance', 'slug', 'include_slugs', 'title'], 'date', 'desc'),
} satisfies ListParams;
export type RevisionListValues = ValuesOf<typeof REVISION_FILTERS>;
/** The post whose revisions are requested. */
export const PARENT_ID = { parent: { grammar: integer(), required: true } } satisfies Params;
