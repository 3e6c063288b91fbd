import { POST_FORMATS } from '../../wordpress/post-formats.ts';
import { control, filter } from '../filter.ts';
import { LENGTHS } from '../grammars/grammar.ts';
import { anyString, choices, integer, statuses, truth } from '../grammars/schema.ts';
import type { ListParams } from '../list-param.ts';
import type { ValuesOf } from '../param.ts';
import { tag } from '../tag.ts';
import { orderParams, READ_CONTEXT } from './params.ts';
import { byTaxonomies, LISTED, PARENTS, POST_ORDERS } from './post-params.ts';
import { blogCategory } from './term.ts';

/*
 * Parameters of the routes of blog posts and pages, which are read-only.
 */

export const BLOG_STATUSES = ['publish'] as const;

/** Filters of a list of blog posts or pages: published ones only, for readers. */
const OF_BLOG = {
  ...LISTED,
  ...READ_CONTEXT,
  status: control(statuses(BLOG_STATUSES), { fallback: 'publish' }),
} satisfies ListParams;
/**
 * `sticky`: only sticky posts, or all others; `ignore_sticky`: whether sticky posts keep their place among the others.
 * Their ids are in an option, which the handler looks up.
 */
const STICKY = { sticky: control(truth), ignore_sticky: control(truth, { fallback: true }) };
const PAGE_ORDERS = orderParams([...POST_ORDERS, 'menu_order'], 'date', 'desc');
export const BLOG_FILTERS = {
  post: {
    ...OF_BLOG,
    ...byTaxonomies([blogCategory, tag]),
    ...STICKY,
    format: filter({ grammar: choices(POST_FORMATS), narrows: (formats) => (formats.length === 0 ? [] : [{ by: 'format', formats }]) }),
  },
  page: {
    ...OF_BLOG,
    ...PAGE_ORDERS,
    ...PARENTS,
    menu_order: filter({ grammar: integer(), narrows: (place) => [{ by: 'place', place }] }),
  },
};
export type BlogListValues = ValuesOf<Omit<typeof OF_BLOG, 'orderby'> & typeof STICKY & Pick<typeof PAGE_ORDERS, 'orderby'>>;

/** Parameters for reading one blog post or page. */
export const BLOG_READING = { ...READ_CONTEXT, password: { grammar: anyString(LENGTHS.password) } };
export type BlogReadValues = ValuesOf<typeof BLOG_READING>;
