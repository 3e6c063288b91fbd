import { fail } from '../../errors.ts';
import { BLOG_TYPES } from '../../kinds/core/blog.ts';
import { postFilters } from '../../kinds/core/post-params.ts';
import {
  SEARCHED_TAXONOMIES,
  SEARCHED_TYPES,
  type SearchHit,
  type SearchValues,
  searchRecord,
  subtypesOf,
} from '../../kinds/core/search.ts';
import { anyTermLink, blogCategory } from '../../kinds/core/term.ts';
import { routeOfPost } from '../../kinds/core/types.ts';
import { type Methods, methodsFor } from '../../kinds/core/view.ts';
import { narrow } from '../../kinds/filter.ts';
import { postKind, termKindOf, termKinds } from '../../kinds/index.ts';
import { permalink } from '../../kinds/post-record.ts';
import type { Site } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import { findPostIds } from '../../storage/lists/post-list.ts';
import { type FoundPost, searchPosts, searchTerms } from '../../storage/lists/site-search.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { loadTree } from '../../storage/rows/terms.ts';
import { blogUrl } from '../../wordpress/blog-links.ts';
import { mapMetaCap } from '../../wordpress/capabilities.ts';
import { renderTitle } from '../../wordpress/content/render.ts';
import type { Term } from '../../wordpress/rows.ts';
import { parseSearch } from '../../wordpress/search.ts';
import { tableOf } from '../../wordpress/table.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import type { Caller } from '../caller.ts';
import { listQuery } from '../list-query.ts';
import { languagesOf, languagesOfRecords } from '../record-languages.ts';
import { ancestors, languagesOfTerms, termMethods } from '../terms.ts';
import { listRights, OTHER_AUTHOR } from '../visibility.ts';
import { blogPlace, embeddedBlogPosts, slugsAbove } from './blog-posts.ts';
import { type CorePage, paging } from './lists.ts';
import { embeddedPosts } from './posts.ts';
import { embeddedTerms } from './terms.ts';

/*
 * The search of the whole site, as on WordPress's own route (`WP_REST_Search_Controller`): published events, posts and
 * pages, or terms.
 */

const EVENT = postKind('event');

/**
 * Searches the site. Events alone are listed as in their own list, by start and without past ones. Several types
 * together are sorted by relevance, then newest first.
 *
 * @throws rest_search_invalid_page_number past the last page
 */
export async function searchSite(site: Site, caller: Caller, values: SearchValues, embed: boolean): Promise<CorePage> {
  const { page, limit, offset } = paging(values);
  const { hits, total } = await FINDERS[values.type ?? 'post'](site, caller, values, { limit, offset });
  const pages = Math.ceil(total / limit);
  if (page > pages && total > 0) fail('rest_search_invalid_page_number');
  const embeddedRecords = embed ? await embedHits(site, caller, hits) : undefined;
  const records = hits.map((hit) => {
    const embeddedRecord = embeddedRecords?.get(hit);
    return { ...searchRecord(hit, caller), ...(embeddedRecord === undefined ? {} : { _embedded: { self: [embeddedRecord] } }) };
  });
  return { records, total, page, pages, timeliness: 'always' };
}

/** Returns the records of the results in their embedded form. */
async function embedHits(site: Site, caller: Caller, hits: readonly SearchHit[]): Promise<ReadonlyMap<SearchHit, unknown>> {
  const idsOf = (type: string) => hits.filter((hit) => (hit.subtype ?? hit.type) === type).map(({ id }) => id);
  const recordsByType = new Map<string, ReadonlyMap<number, unknown>>([
    [EVENT.postType, await embeddedPosts(site, caller, EVENT, idsOf(EVENT.postType))],
  ]);
  for (const type of BLOG_TYPES) recordsByType.set(type, await embeddedBlogPosts(site, caller, type, idsOf(type)));
  for (const kind of [...termKinds, blogCategory])
    recordsByType.set(kind.taxonomy, await embeddedTerms(site, caller, kind, idsOf(kind.taxonomy)));
  return new Map(hits.map((hit) => [hit, recordsByType.get(hit.subtype ?? hit.type)?.get(hit.id)]));
}

interface Slice {
  readonly limit: number;
  readonly offset: number;
}
interface Found {
  readonly hits: readonly SearchHit[];
  readonly total: number;
}
type Finder = (site: Site, caller: Caller, values: SearchValues, slice: Slice) => Promise<Found>;

const findPosts: Finder = (site, caller, values, slice) => {
  const types = subtypesOf(SEARCHED_TYPES, values.subtype, ['post']);
  return types.length === 1 && types[0] === EVENT.postType
    ? findEvents(site, caller, values, slice)
    : findMixed(site, caller, values, slice, types);
};

/** Finds nothing: post formats belong to themes, and there are no themes here. */
const findFormats: Finder = async () => ({ hits: [], total: 0 });

const findTerms: Finder = async ({ db }, caller, { search = '', include = [], exclude = [], subtype }, slice) => {
  const taxonomies = subtypesOf(SEARCHED_TAXONOMIES, subtype, SEARCHED_TAXONOMIES);
  const { rows, total } = await searchTerms(db, { taxonomies, phrase: search.trim(), include, exclude, ...slice });
  const nestedTaxonomies = [...new Set(rows.filter(({ parent }) => parent > 0).map(({ taxonomy }) => taxonomy))];
  const trees = new Map(await Promise.all(nestedTaxonomies.map(async (taxonomy) => [taxonomy, await loadTree(db, taxonomy)] as const)));
  const languageOf = await languagesOfTerms(db, caller, rows);
  const toHit = (term: Term) => termHit(term, ancestors(term, trees.get(term.taxonomy) ?? new Map()), caller, languageOf(term));
  return { hits: rows.map(toHit), total };
};

const FINDERS: Readonly<Record<NonNullable<SearchValues['type']>, Finder>> = {
  post: findPosts,
  term: findTerms,
  'post-format': findFormats,
};

// ------------------------------------------------------------------------------------------------- posts
/** Searches events. Past ones are left out even if they are named, as in the reference. */
const findEvents: Finder = async (site, caller, { search = '', include = [], exclude = [] }, slice) => {
  const filterValues = { ...(search.trim() === '' ? {} : { search }), exclude: include.length > 0 ? [] : exclude };
  const { conditions } = narrow(postFilters(EVENT), filterValues, caller);
  const query = await listQuery(site, caller, {
    kind: EVENT,
    rights: listRights(caller.viewer, EVENT, { statuses: ['publish'], editing: true }),
    each: 'event',
    conditions: [...conditions, ...(include.length > 0 ? [{ by: 'id' as const, ids: include }] : [])],
    order: { by: 'start', descending: false },
    ...slice,
  });
  const { db } = site;
  const { ids, total } = await findPostIds(db, query);
  const rows = await loadPosts(db, ids);
  const foundRows = ids.flatMap((id) => rows.get(id) ?? []);
  const languageOf = await languagesOfEvents(db, caller, foundRows);
  return { hits: foundRows.map((row) => postHit(row, [], caller, languageOf(row))), total };
};

async function findMixed(
  { db }: Site,
  caller: Caller,
  { search = '', include = [], exclude = [] }: SearchValues,
  slice: Slice,
  types: readonly string[],
): Promise<Found> {
  const phrase = search.trim();
  const { viewer } = caller;
  const { rows, total } = await searchPosts(db, {
    types,
    editsAll: types.filter((type) => mayEdit(viewer, type, OTHER_AUTHOR)),
    editsOwn: types.filter((type) => viewer.id > 0 && mayEdit(viewer, type, viewer.id)),
    viewer: viewer.id,
    phrase,
    terms: phrase === '' ? [] : parseSearch(phrase),
    include,
    exclude,
    ...slice,
  });
  const parentSlugs = await slugsAbove({ db }, rows);
  const languageOf = await languagesOfEvents(db, caller, rows);
  return { hits: rows.map((row) => postHit(row, parentSlugs.get(row.ID) ?? [], caller, languageOf(row))), total };
}

/** The word in the capabilities of a type. */
const CAPABILITY_PLURALS: ReadonlyMap<string, string> = tableOf({ post: 'posts', page: 'pages', [EVENT.postType]: EVENT.capabilities });
const mayEdit = (viewer: Viewer, type: string, author: number) =>
  mapMetaCap('edit', viewer, { author, status: 'publish' }, CAPABILITY_PLURALS.get(type) ?? 'posts');

/** Returns the language codes of the events among these posts, since the address of an event is in its language. */
async function languagesOfEvents(db: Database, caller: Caller, rows: readonly FoundPost[]): Promise<(row: FoundPost) => string | null> {
  const kindLanguages = languagesOf(caller, EVENT);
  const ids = rows.filter((row) => row.post_type === EVENT.postType).map((row) => row.ID);
  const codes = kindLanguages && ids.length > 0 ? await languagesOfRecords(db, kindLanguages, ids) : new Map<number, string | null>();
  return ({ ID: id }) => codes.get(id) ?? null;
}

function postHit(row: FoundPost, parentSlugs: readonly string[], caller: Caller, language: string | null): SearchHit {
  const { ID: id, post_type: type } = row;
  return {
    id,
    title: renderTitle(row.post_title),
    url: type === EVENT.postType ? permalink(row, caller, language) : blogUrl(blogPlace(caller), row, parentSlugs),
    type: 'post',
    subtype: type,
    route: routeOfPost(row),
    typeRoute: `types/${type}`,
    methods: methodsOn(caller.viewer, row),
  };
}

function methodsOn(viewer: Viewer, { post_author: author, post_status: status, post_type: type }: FoundPost): Methods {
  const may = (verb: 'edit' | 'delete') => mapMetaCap(verb, viewer, { author, status }, CAPABILITY_PLURALS.get(type) ?? 'posts');
  return methodsFor({ edits: may('edit'), deletes: may('delete') });
}

// ------------------------------------------------------------------------------------------------- terms
function termHit(term: Term, ancestorSlugs: readonly string[], caller: Caller, language: string | null): SearchHit {
  const taxonomy = termKindOf(term.taxonomy) ?? blogCategory;
  return {
    id: term.term_id,
    title: term.name,
    url: anyTermLink(term, ancestorSlugs, caller, language),
    type: term.taxonomy,
    route: `${taxonomy.restBase}/${term.term_id}`,
    typeRoute: `taxonomies/${term.taxonomy}`,
    methods: termMethods(caller, taxonomy),
  };
}
