import { control } from '../filter.ts';
import { integer } from '../grammars/schema.ts';
import type { ListParams } from '../list-param.ts';
import type { Params, ValuesOf } from '../param.ts';
import { LONGEST_PAGE, OFFSET, orderParams } from './params.ts';
import { PICKED, QUERIED } from './post-params.ts';

/*
 * Parameters of the routes of revisions.
 */

/**
 * Filters of the revisions of a post (`WP_REST_Revisions_Controller::get_collection_params`). As in WordPress, the page
 * length has no default in the description.
 */
export const REVISION_FILTERS = {
  ...QUERIED,
  per_page: control(integer({ minimum: 1, maximum: LONGEST_PAGE })),
  ...PICKED,
  ...OFFSET,
  ...orderParams(['date', 'id', 'include', 'relevance', 'slug', 'include_slugs', 'title'], 'date', 'desc'),
} satisfies ListParams;
export type RevisionListValues = ValuesOf<typeof REVISION_FILTERS>;
/** The post whose revisions are requested. */
export const PARENT_ID = { parent: { grammar: integer(), required: true } } satisfies Params;
