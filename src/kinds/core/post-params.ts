import type { SchemaFault } from '../../errors.ts';
import { memoizeByObject } from '../../memo.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import { localFromDate } from '../../wordpress/zones.ts';
import type { Condition } from '../condition.ts';
import { control, filter, group } from '../filter.ts';
import { MAX_BYTES } from '../grammars/grammar.ts';
import {
  anyString,
  choice,
  choices,
  dateTime,
  droppedSearchPhrase,
  integer,
  integers,
  notInEnum,
  object,
  rawString,
  statuses,
  strings,
  stringWithin,
  type TermQuery,
  termIds,
  type WantedTerms,
  wholeNumber,
} from '../grammars/schema.ts';
import type { PostKind } from '../kind.ts';
import type { ListParam, ListParams } from '../list-param.ts';
import { byIds, byMoment, bySearch } from '../narrowing.ts';
import type { Param, Params, ValuesOf } from '../param.ts';
import type { RuleContext } from '../rendering.ts';
import type { PageValues } from './params.ts';
import { CONTEXT, OFFSET, orderParams, PAGING } from './params.ts';
import { type CoreTaxonomy, coreTerms } from './term.ts';

/*
 * Parameters of the routes of events, venues and organizers in `wp/v2`.
 */

/**
 * Lists made by WordPress's own query ignore a search text that is too long; other lists refuse it. `search_columns`:
 * the columns of a post to search.
 */
const { search, search_columns } = group({
  params: {
    search: { grammar: droppedSearchPhrase },
    search_columns: { grammar: choices(['post_title', 'post_content', 'post_excerpt']), fallback: [] },
  },
  narrows: ({ search: sought = '', search_columns: columns }, context): Condition[] =>
    sought === '' ? [] : bySearch([], columns?.length ? columns : undefined)(sought, context),
});
export const QUERY_PARAMS = { ...CONTEXT, ...PAGING, search };

const byAuthor = (by: 'author' | 'notAuthor') => filter({ grammar: integers, fallback: [], narrows: byIds(by) });
const bySlug = filter({
  grammar: strings,
  narrows: (slugs) => (slugs.length === 0 ? [] : [{ by: 'slug', slugs: slugs.map((slug) => sanitizeTitle(slug)) }]),
});
const dateBound = (by: 'modified' | 'published', op: '<' | '>') => filter({ grammar: dateTime, narrows: byMoment(by, op) });
const DATE_AND_AUTHOR_PARAMS = {
  after: dateBound('published', '>'),
  modified_after: dateBound('modified', '>'),
  author: byAuthor('author'),
  author_exclude: byAuthor('notAuthor'),
  before: dateBound('published', '<'),
  modified_before: dateBound('modified', '<'),
};
const include = filter({ grammar: integers, fallback: [], narrows: byIds('id') });
/** Posts in `include` are listed even if `exclude` names them (`WP_Query`). */
const { exclude } = group({
  params: { exclude: { grammar: integers, fallback: [] } },
  alsoReads: { include },
  narrows: ({ exclude = [], include = [] }, context): Condition[] => (include.length > 0 ? [] : byIds('notId')(exclude, context)),
});
export const ID_PARAMS = { exclude, include };
export const PARENT_PARAMS = {
  parent: filter({ grammar: integers, fallback: [], narrows: byIds('parents') }),
  parent_exclude: filter({ grammar: integers, fallback: [], narrows: byIds('notParents') }),
};
export const POST_ORDERS = [
  'author',
  'date',
  'id',
  'include',
  'modified',
  'parent',
  'relevance',
  'slug',
  'include_slugs',
  'title',
] as const;

/** Statuses that a list of posts may be asked for. */
export const STATUSES = ['publish', 'future', 'draft', 'pending', 'private', 'trash', 'auto-draft', 'inherit', 'any'] as const;

/** As in the reference, past events are left out unless the request names events. */
const UPCOMING_UNLESS_NAMED = group({
  params: { include, slug: bySlug },
  narrows: ({ include: ids = [], slug: slugs = [] }, context): Condition[] => [
    ...include.narrows(ids, context),
    ...bySlug.narrows(slugs, context),
    ...(ids.length + slugs.length > 0 ? [] : [notEnded(context)]),
  ],
  ages: ({ include: ids = [], slug: slugs = [] }) => (ids.length + slugs.length > 0 ? 'never' : 'always'),
});

const notEnded = ({ now, settings }: RuleContext): Condition => ({
  by: 'moment',
  column: 'end_date',
  utc: false,
  op: '>=',
  value: localFromDate(now, settings.zone),
});

/**
 * Filters by terms of these taxonomies: posts that have them, or do not have them (`_exclude`), matching all of these
 * filters or any (`tax_relation`). As in WordPress, these routes show the terms of protected records to everybody, so
 * filtering by them reveals nothing.
 */
export function byTaxonomies(taxonomies: readonly CoreTaxonomy[]): ListParams {
  if (taxonomies.length === 0) return {};
  const taxonomyParams = taxonomies.flatMap(({ taxonomy, restBase, hierarchical }) => [
    { name: restBase, taxonomy, excluded: false, below: hierarchical },
    { name: `${restBase}_exclude`, taxonomy, excluded: true, below: hierarchical },
  ]);
  const params: Readonly<Record<string, Param<WantedTerms | string>>> = {
    tax_relation: { grammar: choice(['AND', 'OR']) },
    ...Object.fromEntries(
      taxonomyParams.map(({ name, excluded, below }) => [name, { grammar: termIds({ operator: !excluded, children: below }) }]),
    ),
  };
  return group({
    params,
    narrows: (values) => {
      const conditions = taxonomyParams.flatMap(({ name, taxonomy, excluded }) => {
        const terms = values[name];
        return typeof terms === 'object' ? withTerms(taxonomy, terms, excluded) : [];
      });
      return values.tax_relation === 'OR' && conditions.length > 1 ? [{ by: 'either', conditions }] : conditions;
    },
  });
}

function withTerms(taxonomy: string, wantedTerms: WantedTerms, isExcluded: boolean): Condition[] {
  const {
    terms: ids = [],
    operator,
    include_children: withDescendants = false,
  }: TermQuery = isList(wantedTerms) ? { terms: wantedTerms } : wantedTerms;
  const quantifier = isExcluded ? 'none' : operator === 'AND' ? 'all' : 'any';
  return ids.length === 0 ? [] : [{ by: 'terms', taxonomy, ids, quantifier, withDescendants, guarded: false }];
}

const isList = (terms: WantedTerms): terms is readonly number[] => Array.isArray(terms);

/** Filters of all records that are stored as posts. */
export const ANY_POST_PARAMS = {
  ...QUERY_PARAMS,
  ...DATE_AND_AUTHOR_PARAMS,
  ...ID_PARAMS,
  ...OFFSET,
  ...orderParams(POST_ORDERS, 'date', 'desc'),
  search_columns,
  slug: bySlug,
};
export const POST_LIST_PARAMS = {
  ...ANY_POST_PARAMS,
  status: control(statuses(STATUSES), { fallback: 'publish' }),
};

/** Parameters of a list of posts, including those that its handler reads. */
export type CoreFilters = ListParams &
  Pick<typeof POST_LIST_PARAMS, keyof PageValues | 'context' | 'search' | 'order' | 'orderby' | 'status'> & {
    readonly include: ListParam<readonly number[]>;
  };
export type CoreListValues = ValuesOf<CoreFilters>;

/** Filters of a list of events, venues or organizers (`WP_REST_Posts_Controller::get_collection_params`). */
export const postFilters = memoizeByObject(
  (kind: PostKind): CoreFilters => ({
    ...POST_LIST_PARAMS,
    ...(kind.hasDates ? UPCOMING_UNLESS_NAMED : {}),
    ...byTaxonomies(coreTerms(kind)),
  }),
);

/** Maximum length of the column `posts.post_password`. */
const PASSWORD_CHARACTERS = 255;

/** The id of an existing record. A request that creates a record but sends an id is refused (`rest_post_exists`). */
export const EXISTING_ID = { id: { grammar: integer() } } satisfies Params;
export type ExistingValues = ValuesOf<typeof EXISTING_ID>;

const anyAuthor = integer();
/** WordPress treats author 0 as not sent. */
export const AUTHOR = {
  grammar: { ...anyAuthor, read: (raw, can) => (wholeNumber(raw) === 0 ? {} : anyAuthor.read(raw, can)) },
} satisfies Param<number>;

const SETTABLE = ['publish', 'future', 'draft', 'pending', 'private'] as const;
const settableStatus = choice(SETTABLE);
/**
 * A status that can be set, or `trash`, which only a record that is in the trash may be sent back with
 * (`WP_REST_Posts_Controller::check_status`; see `statusFault`).
 */
const STATUS = {
  grammar: { ...settableStatus, read: (raw, can) => (raw === 'trash' ? { value: raw } : settableStatus.read(raw, can)) },
} satisfies Param<string>;

/** Returns the fault of an accepted status for a record with this stored one (undefined: a new record). */
export const statusFault = (status: string | undefined, statusBefore?: string): SchemaFault | undefined =>
  status === 'trash' && statusBefore !== 'trash' ? notInEnum(SETTABLE) : undefined;

/** Fields of an event, venue or organizer that can be written. */
const WRITABLE_FIELDS = {
  date: { grammar: dateTime },
  date_gmt: { grammar: dateTime },
  slug: { grammar: anyString(MAX_BYTES.slug) },
  status: STATUS,
  password: { grammar: stringWithin(PASSWORD_CHARACTERS) },
  title: { grammar: rawString(MAX_BYTES.text) },
  content: { grammar: rawString(MAX_BYTES.content) },
  excerpt: { grammar: rawString(MAX_BYTES.text) },
  author: AUTHOR,
  featured_media: { grammar: integer() },
  comment_status: { grammar: choice(['open', 'closed']) },
  ping_status: { grammar: choice(['open', 'closed']) },
  template: { grammar: anyString(MAX_BYTES.word) },
  meta: { grammar: object },
} satisfies Params;

/** Fields of a post, including those that its handler reads. */
export type CoreFields = Params & typeof WRITABLE_FIELDS;
export type CoreFieldValues = ValuesOf<CoreFields>;

/** Returns the fields that WordPress's own routes write, with one for each taxonomy. */
export const postFields = (kind: PostKind): CoreFields => ({
  ...WRITABLE_FIELDS,
  ...Object.fromEntries(coreTerms(kind).map(({ restBase }) => [restBase, { grammar: integers }])),
});

/** Parameters for reading one post; the password opens a protected one. */
export const POST_READ_PARAMS = { ...CONTEXT, password: { grammar: anyString(MAX_BYTES.password) } };
export type CoreReadValues = ValuesOf<typeof POST_READ_PARAMS>;
