import { fail, type Verdict } from '../../errors.ts';
import type { Condition } from '../../kinds/condition.ts';
import { type BlogType, blogPost } from '../../kinds/core/blog.ts';
import { BLOG_FILTERS, BLOG_STATUSES, type BlogListValues, type BlogReadValues } from '../../kinds/core/blog-params.ts';
import type { CoreContext } from '../../kinds/core/view.ts';
import { conditionsOf } from '../../kinds/filter.ts';
import type { Selected } from '../../kinds/param.ts';
import { isObject } from '../../objects.ts';
import type { Site } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import type { LookUp } from '../../storage/engine/look-up-once.ts';
import type { Page } from '../../storage/lists/event-index-list.ts';
import { findPostIds } from '../../storage/lists/post-list.ts';
import type { PostQuery } from '../../storage/lists/post-query.ts';
import { loadBundle, loadPosts } from '../../storage/rows/bundle.ts';
import { readOptions } from '../../storage/rows/options.ts';
import { findPost } from '../../storage/rows/posts.ts';
import { loadBlogTerms } from '../../storage/rows/terms.ts';
import { blogUrl } from '../../wordpress/blog-links.ts';
import { parseSerialized } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import { mapYielding } from '../../yielding.ts';
import { type Caller, renderContext } from '../caller.ts';
import { listQuery } from '../list-query.ts';
import { openedBy, publishedRights } from '../visibility.ts';
import { type CorePage, type CoreRecord, orderOf, paging, refuseStatuses, totalsOf, viewOf } from './lists.ts';

/*
 * Blog posts and pages. Published ones can be read as on WordPress's own routes (`wp/v2/posts`, `wp/v2/pages`);
 * everything else is left to WordPress.
 */

/**
 * Lists the requested posts or pages.
 *
 * @throws rest_post_invalid_page_number past the last page
 */
export async function listBlogPosts(site: Site, caller: Caller, type: BlogType, values: BlogListValues): Promise<CorePage> {
  const pageValues = paging(values);
  const { limit, offset } = pageValues;
  const narrowing = conditionsOf(BLOG_FILTERS[type], values, caller);
  const conditions = [...narrowing, ...(values.sticky === undefined ? [] : [await stickyCondition(site.db, values.sticky)])];
  const result = await findBlogPosts(site, caller, type, { conditions, order: orderOf(values), limit, offset });
  const totals = totalsOf(result, pageValues);
  const hasFront = values.ignore_sticky === false && pageValues.page === 1 && isWholeBlog(values, narrowing);
  const ids = hasFront ? await stickyFirst(site, caller, result.ids, conditions) : result.ids;
  const records = await shownBlogPosts(site, caller, type, ids, values);
  return { records: [...records.values()], ...totals, timeliness: 'always' };
}

const findBlogPosts = async (
  site: Site,
  caller: Caller,
  type: BlogType,
  slice: Pick<PostQuery, 'conditions' | 'order' | 'limit' | 'offset'>,
): Promise<Page> => {
  const list = { kind: { postType: type, hasDates: false }, rights: publishedRights(caller.viewer), ...slice };
  return findPostIds(site.db, await listQuery(site, caller, list));
};

/**
 * Whether WordPress regards a list as that of the whole blog (`WP_Query::is_home`): without a search and without terms.
 */
const isWholeBlog = ({ search }: BlogListValues, conditions: readonly Condition[]): boolean =>
  search === undefined &&
  !conditions.some((condition) => [condition, ...(condition.by === 'either' ? condition.conditions : [])].some(isOfTerms));

const isOfTerms = (condition: Condition): boolean => condition.by === 'terms' && condition.quantifier !== 'none';

/**
 * Puts sticky posts first on the first page of the blog. Those that are not on it are added, so it may exceed its
 * length (`WP_Query::get_posts`).
 */
async function stickyFirst(
  site: Site,
  caller: Caller,
  ids: readonly number[],
  conditions: readonly Condition[],
): Promise<readonly number[]> {
  const sticky = await stickyPosts(site.db);
  const excludedIds = new Set(conditions.flatMap((condition) => (condition.by === 'notId' ? condition.ids : [])));
  const missingIds = [...sticky].filter((id) => !ids.includes(id) && !excludedIds.has(id));
  const order = { by: 'date', descending: true } as const;
  const fetchedIds =
    missingIds.length === 0
      ? []
      : (
          await findBlogPosts(site, caller, 'post', {
            conditions: [{ by: 'id', ids: missingIds }],
            order,
            limit: missingIds.length,
            offset: 0,
          })
        ).ids;
  return [...ids.filter((id) => sticky.has(id)), ...fetchedIds, ...ids.filter((id) => !sticky.has(id))];
}

/**
 * Reads one post or page.
 *
 * @throws rest_post_incorrect_password, rest_post_invalid_id
 */
export async function readBlogPost(site: Site, caller: Caller, type: BlogType, id: number, values: BlogReadValues): Promise<CoreRecord> {
  const { password = '' } = values;
  const row = await findPost(site.db, id);
  if (password !== '' && row && row.post_password !== password) fail('rest_post_incorrect_password');
  return (await shownBlogPosts(site, caller, type, [id], values)).get(id) ?? fail('rest_post_invalid_id');
}

/** Returns posts or pages in their embedded form, by id. */
export const embeddedBlogPosts = (site: Site, caller: Caller, type: BlogType, ids: readonly number[]): Promise<Map<number, CoreRecord>> =>
  shownBlogPosts(site, caller, type, ids, { context: 'embed' });

/** Whether a list may be requested. Only published posts are listed, for every caller. */
export function mayListBlog({ viewer }: Caller, type: BlogType, { status = ['publish'] }: BlogListValues): Verdict {
  refuseStatuses(viewer, status, { defaultStatus: 'publish', knownStatuses: BLOG_STATUSES, mayList: viewer.can(`edit_${type}s`) });
  return true;
}

/** Whether a post may be read. Unpublished posts cannot be read here by any caller. */
export async function mayReadBlogPost(lookUp: LookUp, type: BlogType, { id }: Selected): Promise<Verdict> {
  const row = await lookUp(findPost, id);
  if (row?.post_type !== type) return 'rest_post_invalid_id';
  return row.post_status === 'publish' ? true : 'rest_forbidden';
}

/** Bundle contents in addition to rows and images: the tags of posts. */
const BUNDLE_CONTENTS = { hasDates: false, terms: ['tag'], links: {} } as const;

async function shownBlogPosts(
  site: Site,
  caller: Caller,
  type: BlogType,
  ids: readonly number[],
  values: BlogReadValues,
): Promise<Map<number, CoreRecord>> {
  if (ids.length === 0) return new Map();
  const { viewer } = caller;
  const [bundle, terms, sticky] = await Promise.all([
    loadBundle(site.db, BUNDLE_CONTENTS, ids, {}),
    loadBlogTerms(site.db, ids),
    stickyPosts(site.db),
  ]);
  const rows = ids.flatMap((id) => bundle.posts.get(id) ?? []).filter((row) => row.post_type === type && row.post_status === 'publish');
  const parentSlugs = await slugsAbove(site, rows);
  const rights = { mayRead: () => false, isOpen: openedBy(viewer, { password: values.password, editing: false }) };
  const context: CoreContext = { ...renderContext(caller, rights), translatesLinks: false, view: viewOf(values) };
  const render = (row: Post) =>
    blogPost(type, row.ID, bundle, context, {
      methods: ['GET'],
      link: blogUrl(blogPlace(caller), row, parentSlugs.get(row.ID)),
      terms: terms.get(row.ID) ?? [],
      sticky: sticky.has(row.ID),
    });
  return new Map(await mapYielding(rows, (row) => [row.ID, render(row)] as const));
}

/** Returns the condition that posts are sticky, or not sticky. */
const stickyCondition = async (db: Database, isSticky: boolean): Promise<Condition> => ({
  by: isSticky ? 'id' : 'notId',
  ids: [...(await stickyPosts(db))],
});

/** Returns the ids of the sticky posts (option `sticky_posts`). */
async function stickyPosts(db: Database): Promise<ReadonlySet<number>> {
  const option = parseSerialized((await readOptions(db, ['sticky_posts'])).get('sticky_posts') ?? '');
  return new Set(isObject(option) ? Object.values(option).map(Number).filter(Number.isSafeInteger) : []);
}

// ------------------------------------------------------------------------------------------------- addresses
/** Returns the data that the addresses of posts and pages depend on. */
export const blogPlace = ({ home, settings }: Caller) => ({ home, permalinkStructure: settings.permalinkStructure });

/** Maximum depth of nested pages; each level takes one query. */
const MAX_PAGE_DEPTH = 10;

/** Returns the slugs from the root down to the parent of each page, by its id; an empty list for other posts. */
export async function slugsAbove(
  { db }: Pick<Site, 'db'>,
  rows: readonly Pick<Post, 'ID' | 'post_parent' | 'post_type'>[],
): Promise<Map<number, string[]>> {
  const pagesById = new Map<number, { readonly post_name: string; readonly post_parent: number }>();
  let parentIds = rows.filter((row) => row.post_type === 'page').map((row) => row.post_parent);
  for (let level = 0; level < MAX_PAGE_DEPTH; level += 1) {
    parentIds = parentIds.filter((id) => id > 0 && !pagesById.has(id));
    if (parentIds.length === 0) break;
    for (const [id, row] of await loadPosts(db, parentIds)) pagesById.set(id, row);
    parentIds = parentIds.flatMap((id) => pagesById.get(id)?.post_parent ?? []);
  }
  const path = (id: number, level = 0): string[] => {
    const row = level < MAX_PAGE_DEPTH ? pagesById.get(id) : undefined;
    return row ? [...path(row.post_parent, level + 1), row.post_name] : [];
  };
  return new Map(rows.map((row) => [row.ID, path(row.post_parent)]));
}
