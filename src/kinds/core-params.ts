import { coreTerms } from './core-term.ts';
import { anything, LENGTHS, oneOf } from './grammar.ts';
import type { Param, PostKind, TermKind } from './kind.ts';
import {
  anyString,
  choices,
  dateTime,
  droppedString,
  integer,
  integers,
  object,
  rawString,
  strings,
  termIds,
  truth,
} from './schema-grammar.ts';

/*
 * What WordPress's own routes (`wp/v2`) take, as its controllers declare it.
 */

type Params = Readonly<Record<string, Param>>;

export const LONGEST_PAGE = 100;
/** How many records a page holds unless it is said. */
export const USUAL_PAGE = 10;

export const CONTEXT: Params = { context: { grammar: oneOf(['view', 'embed', 'edit'], 'enum'), fallback: 'view' } };
export const ID: Params = { id: { grammar: integer(), required: true } };
export const FORCE: Params = { force: { grammar: truth, fallback: false } };
/** What every reading route heeds without declaring it. */
export const EMBED: Params = { _embed: { grammar: anything(LENGTHS.word) } };

const PAGING: Params = {
  page: { grammar: integer({ minimum: 1 }), fallback: 1 },
  per_page: { grammar: integer({ minimum: 1, maximum: LONGEST_PAGE }), fallback: USUAL_PAGE },
};
/** Lists that WordPress's own query makes drop a search that is too long; others refuse it. */
const LIST: Params = { ...CONTEXT, ...PAGING, search: { grammar: anyString(LENGTHS.search) } };
const QUERIED: Params = { ...LIST, search: { grammar: droppedString } };
const PICKED: Params = { exclude: { grammar: integers, fallback: [] }, include: { grammar: integers, fallback: [] } };
const OFFSET: Params = { offset: { grammar: integer() } };
const DATED: Params = {
  after: { grammar: dateTime },
  modified_after: { grammar: dateTime },
  author: { grammar: integers, fallback: [] },
  author_exclude: { grammar: integers, fallback: [] },
  before: { grammar: dateTime },
  modified_before: { grammar: dateTime },
};
const ordered = (orders: readonly string[], standard: string, direction: 'asc' | 'desc'): Params => ({
  order: { grammar: oneOf(['asc', 'desc'], 'enum'), fallback: direction },
  orderby: { grammar: oneOf(orders, 'enum'), fallback: standard },
});
const POST_ORDERS = ['author', 'date', 'id', 'include', 'modified', 'parent', 'relevance', 'slug', 'include_slugs', 'title'];
/** Parts of a post that a search can be kept to. */
const SEARCHED: Params = { search_columns: { grammar: choices(['post_title', 'post_content', 'post_excerpt']), fallback: [] } };

/** Statuses that a list of posts may be asked for. */
const STATUSES = ['publish', 'future', 'draft', 'pending', 'private', 'trash', 'auto-draft', 'inherit', 'any'];

/** Filters of a list of events, venues or organizers (`WP_REST_Posts_Controller::get_collection_params`). */
export function postFilters(kind: PostKind): Params {
  const taxonomies = coreTerms(kind).map(({ restBase }) => restBase);
  return {
    ...QUERIED,
    ...DATED,
    ...PICKED,
    ...OFFSET,
    ...ordered(POST_ORDERS, 'date', 'desc'),
    ...SEARCHED,
    slug: { grammar: strings },
    status: { grammar: choices(STATUSES), fallback: 'publish' },
    ...(taxonomies.length === 0 ? {} : { tax_relation: { grammar: oneOf(['AND', 'OR'], 'enum') } }),
    ...Object.fromEntries(taxonomies.flatMap((name) => [name, `${name}_exclude`].map((param) => [param, { grammar: termIds }]))),
  };
}

/** What is written of an event, venue or organizer. */
export function postFields(kind: PostKind): Params {
  return {
    date: { grammar: dateTime },
    date_gmt: { grammar: dateTime },
    slug: { grammar: anyString(LENGTHS.slug) },
    status: { grammar: oneOf(['publish', 'future', 'draft', 'pending', 'private'], 'enum') },
    password: { grammar: anyString(LENGTHS.password) },
    title: { grammar: rawString(LENGTHS.text) },
    content: { grammar: rawString(LENGTHS.content) },
    excerpt: { grammar: rawString(LENGTHS.text) },
    author: { grammar: integer() },
    featured_media: { grammar: integer() },
    comment_status: { grammar: oneOf(['open', 'closed'], 'enum') },
    ping_status: { grammar: oneOf(['open', 'closed'], 'enum') },
    template: { grammar: anyString(LENGTHS.word) },
    meta: { grammar: object },
    ...Object.fromEntries(coreTerms(kind).map(({ restBase }) => [restBase, { grammar: integers }])),
  };
}

/** How one post is read; the password opens a protected one. */
export const POST_READING: Params = { ...CONTEXT, password: { grammar: anyString(LENGTHS.password) } };

/** Filters of the library (`WP_REST_Attachments_Controller::get_collection_params`). */
export const MEDIA_FILTERS: Params = {
  ...QUERIED,
  ...DATED,
  ...PICKED,
  ...OFFSET,
  ...ordered(POST_ORDERS, 'date', 'desc'),
  parent: { grammar: integers, fallback: [] },
  parent_exclude: { grammar: integers, fallback: [] },
  ...SEARCHED,
  slug: { grammar: strings },
  status: { grammar: choices(['inherit', 'private', 'trash']), fallback: 'inherit' },
  media_type: { grammar: choices(['image', 'video', 'text', 'application', 'audio']) },
  mime_type: { grammar: strings },
};

/** What is written of a file in the library besides the file itself. */
export const MEDIA_FIELDS: Params = {
  title: { grammar: rawString(LENGTHS.text) },
  author: { grammar: integer() },
  alt_text: { grammar: anyString(LENGTHS.text) },
  caption: { grammar: rawString(LENGTHS.text) },
  description: { grammar: rawString(LENGTHS.content) },
  post: { grammar: integer({ minimum: 0 }) },
};

/** Filters of a list of terms (`WP_REST_Terms_Controller::get_collection_params`). */
export const termFilters = ({ hierarchical }: TermKind): Params => ({
  ...LIST,
  ...PICKED,
  ...(hierarchical ? {} : OFFSET),
  ...ordered(['id', 'include', 'name', 'slug', 'include_slugs', 'term_group', 'description', 'count'], 'name', 'asc'),
  hide_empty: { grammar: truth, fallback: false },
  ...(hierarchical ? { parent: { grammar: integer() } } : {}),
  post: { grammar: integer() },
  slug: { grammar: strings },
});

export const termFields = ({ hierarchical }: TermKind, creating: boolean): Params => ({
  description: { grammar: anyString(LENGTHS.content) },
  name: { grammar: anyString(LENGTHS.name), ...(creating ? { required: true } : {}) },
  slug: { grammar: anyString(LENGTHS.slug) },
  ...(hierarchical ? { parent: { grammar: integer() } } : {}),
  meta: { grammar: object },
});

/** Filters of a list of people (`WP_REST_Users_Controller::get_collection_params`). */
export const USER_FILTERS: Params = {
  ...LIST,
  ...PICKED,
  ...OFFSET,
  ...ordered(['id', 'include', 'name', 'registered_date', 'slug', 'include_slugs', 'email', 'url'], 'name', 'asc'),
  slug: { grammar: strings },
  roles: { grammar: strings },
  capabilities: { grammar: strings },
  who: { grammar: oneOf(['authors'], 'enum') },
  has_published_posts: { grammar: anything(LENGTHS.word) },
};
