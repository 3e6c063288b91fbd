import { memoizeByObject } from '../../memo.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import type { TermCondition } from '../condition.ts';
import { filterOf } from '../filter.ts';
import { MAX_BYTES } from '../grammars/grammar.ts';
import { anyString, booleanParam, integer, object, strings } from '../grammars/schema.ts';
import type { TermKind } from '../kind.ts';
import type { Params, ValuesOf } from '../param.ts';
import { ITEM_LIST_PARAMS, OFFSET, orderParams, READ_CONTEXT, unlessEmpty } from './params.ts';
import { blogCategory } from './term.ts';

/*
 * Parameters of the routes of terms.
 */

const termFilter = filterOf<TermCondition>();
const TERM_ORDERS = ['id', 'include', 'name', 'slug', 'include_slugs', 'term_group', 'description', 'count'] as const;
const TERM_NAME = { grammar: anyString(MAX_BYTES.name) };
const PARENT = { parent: { grammar: integer() } } satisfies Params;

/** Filters of a list of terms (`WP_REST_Terms_Controller::get_collection_params`). */
export const termFilters = memoizeByObject(({ hierarchical }: Pick<TermKind, 'hierarchical'>) => ({
  ...ITEM_LIST_PARAMS,
  ...(hierarchical ? {} : OFFSET),
  ...orderParams(TERM_ORDERS, 'name', 'asc'),
  hide_empty: termFilter({ grammar: booleanParam, fallback: false, narrows: (hideEmpty) => [{ hideEmpty }] }),
  ...(hierarchical ? { parent: termFilter({ ...PARENT.parent, narrows: (parent) => [{ parent }] }) } : {}),
  post: termFilter({ grammar: integer(), narrows: (post) => (post === 0 ? [] : [{ post }]) }),
  slug: termFilter({
    grammar: strings,
    narrows: (slugs) => unlessEmpty(slugs, { slugs: slugs.map((slug) => sanitizeTitle(slug, 'query')) }),
  }),
}));
/** Filters of a list of blog categories, for readers. */
export const BLOG_CATEGORY_FILTERS = { ...termFilters(blogCategory), ...READ_CONTEXT };
export type CoreTermListValues = ValuesOf<ReturnType<typeof termFilters>>;

/** Returns the fields of terms that WordPress's own routes write. */
export const termFields = ({ hierarchical }: Pick<TermKind, 'hierarchical'>) => ({
  description: { grammar: anyString(MAX_BYTES.content) },
  name: TERM_NAME,
  slug: { grammar: anyString(MAX_BYTES.slug) },
  ...(hierarchical ? PARENT : {}),
  meta: { grammar: object },
});
/**
 * Tags have no parent: the parameter is accepted so that it can be refused with an error
 * (`rest_taxonomy_not_hierarchical`).
 */
export const unlistedTermFields = ({ hierarchical }: Pick<TermKind, 'hierarchical'>) => (hierarchical ? {} : PARENT);
/** Fields of a new term, which must have a name. */
export const newTermFields = (kind: Pick<TermKind, 'hierarchical'>) => ({ ...termFields(kind), name: { ...TERM_NAME, required: true } });
export type CoreTermFieldValues = ValuesOf<ReturnType<typeof termFields>>;
