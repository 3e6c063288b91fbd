import { POST_FORMATS } from '../../wordpress/post-formats.ts';
import { control, filter } from '../filter.ts';
import { MAX_BYTES } from '../grammars/grammar.ts';
import { anyString, booleanParam, choices, integer, statuses } from '../grammars/schema.ts';
import type { ListParams } from '../list-param.ts';
import type { ValuesOf } from '../param.ts';
import { tag } from '../tag.ts';
import { orderParams, READ_CONTEXT } from './params.ts';
import { byTaxonomies, PARENT_PARAMS, POST_LIST_PARAMS, POST_ORDERS } from './post-params.ts';
import { blogCategory } from './term.ts';

/*
 * Parameters of the routes of blog posts and pages, which are read-only.
 */

export const BLOG_STATUSES = ['publish'] as const;

/** Filters of a list of blog posts or pages: published ones only, for readers. */
const BLOG_LIST_PARAMS = {
  ...POST_LIST_PARAMS,
  ...READ_CONTEXT,
  status: control(statuses(BLOG_STATUSES), { fallback: 'publish' }),
} satisfies ListParams;
/**
 * `sticky`: only sticky posts, or all others; `ignore_sticky`: whether sticky posts keep their place among the others.
 * Their ids are in an option, which the handler looks up.
 */
const STICKY = { sticky: control(booleanParam), ignore_sticky: control(booleanParam, { fallback: true }) };
const PAGE_ORDERS = orderParams([...POST_ORDERS, 'menu_order'], 'date', 'desc');
export const BLOG_FILTERS = {
  post: {
    ...BLOG_LIST_PARAMS,
    ...byTaxonomies([blogCategory, tag]),
    ...STICKY,
    format: filter({ grammar: choices(POST_FORMATS), narrows: (formats) => (formats.length === 0 ? [] : [{ by: 'format', formats }]) }),
  },
  page: {
    ...BLOG_LIST_PARAMS,
    ...PAGE_ORDERS,
    ...PARENT_PARAMS,
    menu_order: filter({ grammar: integer(), narrows: (place) => [{ by: 'place', place }] }),
  },
};
export type BlogListValues = ValuesOf<Omit<typeof BLOG_LIST_PARAMS, 'orderby'> & typeof STICKY & Pick<typeof PAGE_ORDERS, 'orderby'>>;

/** Parameters for reading one blog post or page. */
export const BLOG_READ_PARAMS = { ...READ_CONTEXT, password: { grammar: anyString(MAX_BYTES.password) } };
export type BlogReadValues = ValuesOf<typeof BLOG_READ_PARAMS>;
