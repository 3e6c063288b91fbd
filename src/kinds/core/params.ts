import { memoizeByObject } from '../../memo.ts';
import { POST_FORMATS } from '../../wordpress/post-formats.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import { trimOf } from '../../wordpress/trim.ts';
import { nowLocal } from '../../wordpress/zones.ts';
import type { Condition, PersonCondition, TermCondition } from '../condition.ts';
import { control, filter, filterOf, group, groupOf } from '../filter.ts';
import { LENGTHS } from '../grammars/grammar.ts';
import { anything } from '../grammars/grammars.ts';
import {
  anyString,
  choice,
  choices,
  dateTime,
  droppedPhrase,
  integer,
  integers,
  object,
  phrase,
  rawString,
  statuses,
  strings,
  stringWithin,
  type TermQuery,
  termIds,
  truth,
  truthOrSome,
  type WantedTerms,
  wholeNumber,
} from '../grammars/schema.ts';
import { postTypes } from '../index.ts';
import type { PostKind, TermKind } from '../kind.ts';
import type { ListParam, ListParams } from '../list-param.ts';
import { byIds, byMoment, bySearch } from '../narrowing.ts';
import type { Param, Params, ValuesOf } from '../param.ts';
import type { RuleContext } from '../rendering.ts';
import { tag } from '../tag.ts';
import { blogCategory, type CoreTaxonomy, coreTerms } from './term.ts';

/*
 * What WordPress's own routes (`wp/v2`) take, as its controllers declare it.
 */

export const LONGEST_PAGE = 100;
/** How many records a page holds unless it is said. */
export const USUAL_PAGE = 10;

export const CONTEXT = { context: control(choice(['view', 'embed', 'edit']), { fallback: 'view' }) };
/** The same for what nobody edits here. */
export const READ_CONTEXT = { context: control(choice(['view', 'embed']), { fallback: 'view' }) };
export const ID = { id: { grammar: integer(), required: true } } satisfies Params;
export const FORCE = { force: { grammar: truth, fallback: false } } satisfies Params;
/** Which record to remove, and whether for good (`force`) rather than into the trash. */
export interface Removal {
  readonly id: number;
  readonly force?: boolean | undefined;
}
/** What every reading route takes without describing it. */
export const EMBED = { _embed: { grammar: anything(LENGTHS.word) } } satisfies Params;

export const PAGING = {
  page: control(integer({ minimum: 1 }), { fallback: 1 }),
  per_page: control(integer({ minimum: 1, maximum: LONGEST_PAGE }), { fallback: USUAL_PAGE }),
};
/** How many records to pass over. */
export const OFFSET = { offset: control(integer()) };

/** Where a page begins and how long it is. */
export type PageValues = ValuesOf<typeof PAGING & typeof OFFSET>;
/** In which form records are shown. */
export type ContextValues = ValuesOf<typeof CONTEXT>;

const orderParams = <const T extends string>(orders: readonly T[], standard: T, direction: 'asc' | 'desc') => ({
  order: control(choice(['asc', 'desc']), { fallback: direction }),
  orderby: control(choice(orders), { fallback: standard }),
});

// ------------------------------------------------------------------------------------------------- posts
/**
 * Lists that WordPress's own query makes drop a search that is too long; others refuse it. `search_columns`: parts of a
 * post to keep it to.
 */
const { search, search_columns } = group({
  params: {
    search: { grammar: droppedPhrase },
    search_columns: { grammar: choices(['post_title', 'post_content', 'post_excerpt']), fallback: [] },
  },
  narrows: ({ search: sought = '', search_columns: columns }, context): Condition[] =>
    sought === '' ? [] : bySearch([], columns?.length ? columns : undefined)(sought, context),
});
const QUERIED = { ...CONTEXT, ...PAGING, search };

const byAuthor = (by: 'author' | 'notAuthor') => filter({ grammar: integers, fallback: [], narrows: byIds(by) });
const bySlug = filter({
  grammar: strings,
  narrows: (slugs) => (slugs.length === 0 ? [] : [{ by: 'slug', slugs: slugs.map((slug) => sanitizeTitle(slug)) }]),
});
const bound = (by: 'modified' | 'published', op: '<' | '>') => filter({ grammar: dateTime, narrows: byMoment(by, op) });
const DATED = {
  after: bound('published', '>'),
  modified_after: bound('modified', '>'),
  author: byAuthor('author'),
  author_exclude: byAuthor('notAuthor'),
  before: bound('published', '<'),
  modified_before: bound('modified', '<'),
};
const include = filter({ grammar: integers, fallback: [], narrows: byIds('id') });
/** What is named is listed, whatever else leaves it out (`WP_Query`). */
const { exclude } = group({
  params: { exclude: { grammar: integers, fallback: [] } },
  alsoReads: { include },
  narrows: ({ exclude: left = [], include: named = [] }, context): Condition[] => (named.length > 0 ? [] : byIds('notId')(left, context)),
});
const PICKED = { exclude, include };
const PARENTS = {
  parent: filter({ grammar: integers, fallback: [], narrows: byIds('parents') }),
  parent_exclude: filter({ grammar: integers, fallback: [], narrows: byIds('notParents') }),
};
const POST_ORDERS = ['author', 'date', 'id', 'include', 'modified', 'parent', 'relevance', 'slug', 'include_slugs', 'title'] as const;

/** Statuses that a list of posts may be asked for. */
export const STATUSES = ['publish', 'future', 'draft', 'pending', 'private', 'trash', 'auto-draft', 'inherit', 'any'] as const;
export const BLOG_STATUSES = ['publish'] as const;
export const MEDIA_STATUSES = ['inherit', 'private', 'trash'] as const;

/** As in the reference, events that are over are left out, unless others are named. */
const UNLESS_NAMED = group({
  params: { include, slug: bySlug },
  narrows: ({ include: ids = [], slug: slugs = [] }, context): Condition[] => [
    ...include.narrows(ids, context),
    ...bySlug.narrows(slugs, context),
    ...(ids.length + slugs.length > 0 ? [] : [notOver(context)]),
  ],
  ages: ({ include: ids = [], slug: slugs = [] }) => (ids.length + slugs.length > 0 ? 'never' : 'always'),
});

const notOver = ({ now, settings }: RuleContext): Condition => ({
  by: 'moment',
  column: 'end_date',
  utc: false,
  op: '>=',
  value: nowLocal(now, settings.zone),
});

/**
 * Terms of these taxonomies that posts have, or do not have (`_exclude`), all of it or any (`tax_relation`). These
 * routes show everybody the terms of protected records, as WordPress does, so that filters may go by them.
 */
function byTaxonomies(taxonomies: readonly CoreTaxonomy[]): ListParams {
  if (taxonomies.length === 0) return {};
  const asked = taxonomies.flatMap(({ taxonomy, restBase, hierarchical }) => [
    { name: restBase, taxonomy, excluded: false, below: hierarchical },
    { name: `${restBase}_exclude`, taxonomy, excluded: true, below: hierarchical },
  ]);
  const params: Readonly<Record<string, Param<WantedTerms | string>>> = {
    tax_relation: { grammar: choice(['AND', 'OR']) },
    ...Object.fromEntries(asked.map(({ name, excluded, below }) => [name, { grammar: termIds({ operator: !excluded, below }) }])),
  };
  return group({
    params,
    narrows: (values) => {
      const conditions = asked.flatMap(({ name, taxonomy, excluded }) => {
        const wanted = values[name];
        return typeof wanted === 'object' ? withTerms(taxonomy, wanted, excluded) : [];
      });
      return values.tax_relation === 'OR' && conditions.length > 1 ? [{ by: 'either', of: conditions }] : conditions;
    },
  });
}

function withTerms(taxonomy: string, wanted: WantedTerms, excluded: boolean): Condition[] {
  const { terms: ids = [], operator, include_children: below = false }: TermQuery = isList(wanted) ? { terms: wanted } : wanted;
  const how = excluded ? 'none' : operator === 'AND' ? 'all' : 'any';
  return ids.length === 0 ? [] : [{ by: 'terms', taxonomy, ids, wanted: how, below, guarded: false }];
}

const isList = (wanted: WantedTerms): wanted is readonly number[] => Array.isArray(wanted);

const LISTED = {
  ...QUERIED,
  ...DATED,
  ...PICKED,
  ...OFFSET,
  ...orderParams(POST_ORDERS, 'date', 'desc'),
  search_columns,
  slug: bySlug,
  status: control(statuses(STATUSES), { fallback: 'publish' }),
};

/** Parameters of a list of posts: any, and those that its handler looks at. */
export type CoreFilters = ListParams &
  Pick<typeof LISTED, keyof PageValues | 'context' | 'search' | 'order' | 'orderby' | 'status'> & {
    readonly include: ListParam<readonly number[]>;
  };
export type CoreListValues = ValuesOf<CoreFilters>;

/** Filters of a list of events, venues or organizers (`WP_REST_Posts_Controller::get_collection_params`). */
export const postFilters = memoizeByObject(
  (kind: PostKind): CoreFilters => ({ ...LISTED, ...(kind.dated ? UNLESS_NAMED : {}), ...byTaxonomies(coreTerms(kind)) }),
);

/** Filters of a list of posts of the blog, or of pages: of what is published, for readers. */
const OF_BLOG = {
  ...LISTED,
  ...READ_CONTEXT,
  status: control(statuses(BLOG_STATUSES), { fallback: 'publish' }),
} satisfies ListParams;
/**
 * `sticky`: those that the blog keeps on top, or all others; `ignore_sticky`: whether they stay among the others. They
 * are in an option, which the handler looks up.
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

/** How one of them is read. */
export const BLOG_READING = { ...READ_CONTEXT, password: { grammar: anyString(LENGTHS.password) } };
export type BlogReadValues = ValuesOf<typeof BLOG_READING>;

/** What `posts.post_password` holds. */
const PASSWORD_CHARACTERS = 255;

/** What names a record that is there already: whoever creates one is told so (`rest_post_exists`). */
export const EXISTING = { id: { grammar: integer() } } satisfies Params;
export type ExistingValues = ValuesOf<typeof EXISTING>;

const anyAuthor = integer();
/** To WordPress, author 0 is none that is named. */
const AUTHOR = {
  grammar: { ...anyAuthor, read: (raw, can) => (wholeNumber(raw) === 0 ? {} : anyAuthor.read(raw, can)) },
} satisfies Param<number>;

/** What is written of an event, venue or organizer. */
const WRITTEN = {
  date: { grammar: dateTime },
  date_gmt: { grammar: dateTime },
  slug: { grammar: anyString(LENGTHS.slug) },
  status: { grammar: choice(['publish', 'future', 'draft', 'pending', 'private']) },
  password: { grammar: stringWithin(PASSWORD_CHARACTERS) },
  title: { grammar: rawString(LENGTHS.text) },
  content: { grammar: rawString(LENGTHS.content) },
  excerpt: { grammar: rawString(LENGTHS.text) },
  author: AUTHOR,
  featured_media: { grammar: integer() },
  comment_status: { grammar: choice(['open', 'closed']) },
  ping_status: { grammar: choice(['open', 'closed']) },
  template: { grammar: anyString(LENGTHS.word) },
  meta: { grammar: object },
} satisfies Params;

/** Fields of a post: any, and those that its handler looks at. */
export type CoreFields = Params & typeof WRITTEN;
export type CoreFieldValues = ValuesOf<CoreFields>;

export const postFields = (kind: PostKind): CoreFields => ({
  ...WRITTEN,
  ...Object.fromEntries(coreTerms(kind).map(({ restBase }) => [restBase, { grammar: integers }])),
});

/** How one post is read; the password opens a protected one. */
export const POST_READING = { ...CONTEXT, password: { grammar: anyString(LENGTHS.password) } };
export type CoreReadValues = ValuesOf<typeof POST_READING>;

/**
 * Filters of the earlier versions of a post (`WP_REST_Revisions_Controller::get_collection_params`): all of them,
 * unless a page is asked for.
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

// ------------------------------------------------------------------------------------------------- the library
const MEDIA_TYPES = ['image', 'video', 'text', 'application', 'audio'] as const;
/** What no file can be is passed over, as WordPress does: the name of a kind alone, or letters that no type has. */
const isMimeType = (text: string): boolean => /^[a-z]+\/[-\da-z.+]+$/.test(text) && MEDIA_TYPES.some((kind) => text.startsWith(`${kind}/`));
const { media_type, mime_type } = group({
  params: { media_type: { grammar: choices(MEDIA_TYPES) }, mime_type: { grammar: strings } },
  narrows: ({ media_type: kinds = [], mime_type: named = [] }): Condition[] => {
    const types = [...kinds.map((kind) => `${kind}/`), ...named.filter(isMimeType)];
    return types.length === 0 ? [] : [{ by: 'mime', types }];
  },
});

/** Filters of the library (`WP_REST_Attachments_Controller::get_collection_params`). */
export const MEDIA_FILTERS = {
  ...QUERIED,
  ...DATED,
  ...PICKED,
  ...OFFSET,
  ...orderParams(POST_ORDERS, 'date', 'desc'),
  ...PARENTS,
  search_columns,
  slug: bySlug,
  status: control(statuses(MEDIA_STATUSES), { fallback: 'inherit' }),
  media_type,
  mime_type,
} satisfies ListParams;
export type MediaListValues = ValuesOf<typeof MEDIA_FILTERS>;

/** What is written of a file in the library besides the file itself. */
export const MEDIA_FIELDS = {
  date: { grammar: dateTime },
  date_gmt: { grammar: dateTime },
  title: { grammar: rawString(LENGTHS.text) },
  author: AUTHOR,
  slug: { grammar: anyString(LENGTHS.slug) },
  alt_text: { grammar: anyString(LENGTHS.text) },
  caption: { grammar: rawString(LENGTHS.text) },
  description: { grammar: rawString(LENGTHS.content) },
  post: { grammar: integer({ minimum: 0 }) },
  // Taken and not looked at: a file has the status of what it is attached to.
  status: { grammar: choice(['publish', 'future', 'draft', 'pending', 'private', 'inherit']) },
  comment_status: { grammar: choice(['open', 'closed']) },
  ping_status: { grammar: choice(['open', 'closed']) },
} satisfies Params;
export type MediaFieldValues = ValuesOf<typeof MEDIA_FIELDS>;

// ------------------------------------------------------------------------------------------------- terms, people
/** What a list that names nothing, or a search for nothing, asks for. */
const some = <T extends string | readonly unknown[], C>(value: T, condition: C): C[] => (value.length === 0 ? [] : [condition]);

/** Terms and people are searched and picked in the same way. */
const picking = filterOf<TermCondition & PersonCondition>();
const LIST = {
  ...CONTEXT,
  ...PAGING,
  search: picking({ grammar: phrase, narrows: (search) => some(search, { search }) }),
  // What is named is listed, whatever else leaves it out (`WP_Term_Query`, `WP_User_Query`).
  ...groupOf<TermCondition & PersonCondition>()({
    params: { exclude: { grammar: integers, fallback: [] }, include: { grammar: integers, fallback: [] } },
    narrows: ({ exclude = [], include = [] }) => (include.length === 0 ? some(exclude, { exclude }) : [{ include }]),
  }),
};
const ofTerms = filterOf<TermCondition>();
const ofPeople = filterOf<PersonCondition>();
const TERM_ORDERS = ['id', 'include', 'name', 'slug', 'include_slugs', 'term_group', 'description', 'count'] as const;
const TERM_NAME = { grammar: anyString(LENGTHS.name) };
const PARENT = { parent: { grammar: integer() } } satisfies Params;

/** Filters of a list of terms (`WP_REST_Terms_Controller::get_collection_params`). */
export const termFilters = memoizeByObject(({ hierarchical }: Pick<TermKind, 'hierarchical'>) => ({
  ...LIST,
  ...(hierarchical ? {} : OFFSET),
  ...orderParams(TERM_ORDERS, 'name', 'asc'),
  hide_empty: ofTerms({ grammar: truth, fallback: false, narrows: (hideEmpty) => [{ hideEmpty }] }),
  ...(hierarchical ? { parent: ofTerms({ ...PARENT.parent, narrows: (parent) => [{ parent }] }) } : {}),
  post: ofTerms({ grammar: integer(), narrows: (post) => (post === 0 ? [] : [{ post }]) }),
  slug: ofTerms({ grammar: strings, narrows: (slugs) => some(slugs, { slugs: slugs.map((slug) => sanitizeTitle(slug, 'query')) }) }),
}));
/** The same for categories of the blog, for readers. */
export const BLOG_CATEGORY_FILTERS = { ...termFilters(blogCategory), ...READ_CONTEXT };
export type CoreTermListValues = ValuesOf<ReturnType<typeof termFilters>>;

export const termFields = ({ hierarchical }: Pick<TermKind, 'hierarchical'>) => ({
  description: { grammar: anyString(LENGTHS.content) },
  name: TERM_NAME,
  slug: { grammar: anyString(LENGTHS.slug) },
  ...(hierarchical ? PARENT : {}),
  meta: { grammar: object },
});
/** Tags have no parent: the parameter is taken so that it can be refused (`rest_taxonomy_not_hierarchical`). */
export const unlistedTermFields = ({ hierarchical }: Pick<TermKind, 'hierarchical'>) => (hierarchical ? {} : PARENT);
/** The same where a term is created, which needs a name. */
export const newTermFields = (kind: Pick<TermKind, 'hierarchical'>) => ({ ...termFields(kind), name: { ...TERM_NAME, required: true } });
export type CoreTermFieldValues = ValuesOf<ReturnType<typeof termFields>>;

/**
 * Filters of a list of people (`WP_REST_Users_Controller::get_collection_params`). Asterisks around what is searched
 * for stand for anything, which is around it anyway (`WP_User_Query`).
 */
export const USER_FILTERS = {
  ...LIST,
  search: ofPeople({
    grammar: phrase,
    narrows: (asked) => {
      const search = trimOf(asked, '*');
      return some(search, { search });
    },
  }),
  ...OFFSET,
  ...orderParams(['id', 'include', 'name', 'registered_date', 'slug', 'include_slugs', 'email', 'url'], 'name', 'asc'),
  slug: ofPeople({ grammar: strings, narrows: (slugs) => some(slugs, { slugs }) }),
  roles: ofPeople({ grammar: strings, narrows: (roles) => some(roles, { roles }) }),
  capabilities: ofPeople({ grammar: strings, narrows: (capabilities) => some(capabilities, { capabilities }) }),
  who: ofPeople({ grammar: choice(['authors']), narrows: () => [{ writers: true }] }),
  has_published_posts: ofPeople({
    grammar: truthOrSome(['post', 'page', 'attachment', ...postTypes]),
    narrows: (types) => (types === false || (types !== true && types.length === 0) ? [] : [{ publishedIn: types }]),
  }),
} satisfies ListParams<PersonCondition>;

export type PeopleListValues = ValuesOf<typeof USER_FILTERS>;
