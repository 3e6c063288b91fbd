import { control } from '../filter.ts';
import { integer } from '../grammars/schema.ts';
import type { ListParams } from '../list-param.ts';
import type { Params, ValuesOf } from '../param.ts';
import { LONGEST_PAGE, OFFSET, orderParams } from './params.ts';
import { PICKED, QUERIED } from './post-params.ts';

/*
 * What the routes of earlier versions of posts take.
 */

/**
 * Filters of the earlier versions of a post (`WP_REST_Revisions_Controller::get_collection_params`). No length of a
 * page is described as the usual one, as in WordPress.
 */
export const REVISION_FILTERS = {
  ...QUERIED,
  per_page: control(integer({ minimum: 1, maximum: LONGEST_PAGE })),
  ...PICKED,
  ...OFFSET,
  ...orderParams(['date', 'id', 'include', 'relevance', 'slug', 'include_slugs', 'title'], 'date', 'desc'),
} satisfies ListParams;
export type RevisionListValues = ValuesOf<typeof REVISION_FILTERS>;
/** The post whose earlier versions are meant. */
export const PARENT_ID = { parent: { grammar: integer(), required: true } } satisfies Params;
