import { coreUrl } from '../../wordpress/links.ts';
import { postClasses } from '../../wordpress/post-classes.ts';
import { formatOf } from '../../wordpress/post-formats.ts';
import type { Term } from '../../wordpress/rows.ts';
import { thumbnailOf } from '../image-record.ts';
import { isLocked } from '../post-record.ts';
import type { Bundle } from '../rendering.ts';
import { coreMeta } from './meta.ts';
import { authorAndPicture, type CorePostFacts, postCore } from './post.ts';
import { type CoreContext, CURIES, membersInView, VIEW_AND_EDIT, type View } from './view.ts';

/*
 * Blog posts and pages. They are not records of the calendar: they can be read here, and only WordPress writes them.
 */

/** Route names of blog posts and pages. */
export const BLOG_BASES = { post: 'posts', page: 'pages' } as const;
export type BlogType = keyof typeof BLOG_BASES;
export const BLOG_TYPES: readonly BlogType[] = ['post', 'page'];

/** Data shown of a blog post or page that is not in its rows. `sticky`: whether the blog keeps it at the top. */
export interface BlogFacts extends Pick<CorePostFacts, 'methods'> {
  readonly link: string;
  /** Its categories and its format. */
  readonly terms: readonly Term[];
  readonly sticky: boolean;
}

const MEMBER_VIEWS: Readonly<Record<string, readonly View[]>> = {
  date_gmt: VIEW_AND_EDIT, guid: VIEW_AND_EDIT, modified: VIEW_AND_EDIT, modified_gmt: VIEW_AND_EDIT, status: VIEW_AND_EDIT, content: VIEW_AND_EDIT, parent: VIEW_AND_EDIT, menu_order: VIEW_AND_EDIT, comment_status: VIEW_AND_EDIT,
  ping_status: VIEW_AND_EDIT, sticky: VIEW_AND_EDIT, template: VIEW_AND_EDIT, format: VIEW_AND_EDIT, meta: VIEW_AND_EDIT, categories: VIEW_AND_EDIT, tags: VIEW_AND_EDIT, class_list: VIEW_AND_EDIT,
}; // biome-ignore format: pairs

/**
 * Returns a blog post or page as WordPress's own routes show it
 * (`WP_REST_Posts_Controller::prepare_item_for_response`).
 */
export function blogPost(type: BlogType, id: number, bundle: Bundle, context: CoreContext, facts: BlogFacts): Record<string, unknown> {
  const row = bundle.posts.get(id)!;
  const isPage = type === 'page';
  const { title, content, excerpt, template, ...members } = postCore(id, bundle, context);
  const terms = [...facts.terms, ...(bundle.terms.get(id) ?? [])];
  const ids = (taxonomy: string) => terms.filter((term) => term.taxonomy === taxonomy).map((term) => term.term_id);
  const record = {
    ...members,
    link: facts.link,
    title,
    content,
    excerpt,
    ...authorAndPicture(row, bundle),
    ...(isPage ? { parent: row.post_parent, menu_order: row.menu_order } : {}),
    comment_status: row.comment_status,
    ping_status: row.ping_status,
    ...(isPage ? {} : { sticky: facts.sticky }),
    template,
    ...(isPage ? {} : { format: formatOf(terms) }),
    meta: coreMeta('blog', bundle.metas.get(id), isLocked(row, context)),
    ...(isPage ? {} : { categories: ids('category'), tags: ids('post_tag') }),
    class_list: postClasses(row, { locked: row.post_password !== '', hasPicture: thumbnailOf(id, bundle) !== undefined, terms }),
  };
  return { ...membersInView(record, context.view, MEMBER_VIEWS), _links: links(type, id, bundle, context, facts) };
}

function links(type: BlogType, id: number, bundle: Bundle, context: CoreContext, { methods }: BlogFacts) {
  const row = bundle.posts.get(id)!;
  const [base, imageId] = [BLOG_BASES[type], thumbnailOf(id, bundle)];
  const term = (taxonomy: string, route: string) => ({ taxonomy, embeddable: true, href: coreUrl(context, route, [['post', String(id)]]) });
  return {
    self: [{ href: coreUrl(context, `${base}/${id}`), targetHints: { allow: methods } }],
    collection: [{ href: coreUrl(context, base) }],
    about: [{ href: coreUrl(context, `types/${type}`) }],
    ...(row.post_author > 0 ? { author: [{ embeddable: true, href: coreUrl(context, `users/${row.post_author}`) }] } : {}),
    ...(row.post_parent > 0 ? { up: [{ embeddable: true, href: coreUrl(context, `${base}/${row.post_parent}`) }] } : {}),
    ...(imageId === undefined ? {} : { 'wp:featuredmedia': [{ embeddable: true, href: coreUrl(context, `media/${imageId}`) }] }),
    'wp:attachment': [{ href: coreUrl(context, 'media', [['parent', String(id)]]) }],
    ...(type === 'page' ? {} : { 'wp:term': [term('category', 'categories'), term('post_tag', 'tags')] }),
    curies: CURIES,
  };
}
