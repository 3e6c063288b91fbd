import { type RenderOptions, renderTitle } from '../../wordpress/content/render.ts';
import { coreUrl } from '../../wordpress/links.ts';
import { postClasses } from '../../wordpress/post-classes.ts';
import type { Post } from '../../wordpress/rows.ts';
import { readableSlug } from '../../wordpress/slug.ts';
import { ZERO_DATE } from '../../wordpress/time.ts';
import { toUtc } from '../../wordpress/zones.ts';
import { publishedText } from '../cached-texts.ts';
import { contentImage, thumbnailOf } from '../image-record.ts';
import type { PostKind } from '../kind.ts';
import { attachedImages, isLocked, pageUrl, permalink } from '../post-record.ts';
import type { Bundle, RenderContext } from '../rendering.ts';
import { languageCodeOf } from '../translations.ts';
import { actionLinks } from './actions.ts';
import { coreMeta } from './meta.ts';
import { coreTerms } from './term.ts';
import { type CoreContext, type CoreFacts, CURIES, EDIT_ONLY, isoDate, membersInView, VIEW_AND_EDIT, type View } from './view.ts';

/** Revisions of a post: their number, and the id of the last one. */
export interface Revisions {
  readonly count: number;
  readonly last: number;
}

/** Data shown of a post that is not in its rows. */
export interface CorePostFacts extends CoreFacts {
  readonly revisions: Revisions | undefined;
}

/** Members that are not shown in every context (`WP_REST_Posts_Controller::get_item_schema`). */
const MEMBER_VIEWS: Readonly<Record<string, readonly View[]>> = {
  date_gmt: VIEW_AND_EDIT, guid: VIEW_AND_EDIT, modified: VIEW_AND_EDIT, modified_gmt: VIEW_AND_EDIT, status: VIEW_AND_EDIT, content: VIEW_AND_EDIT, template: VIEW_AND_EDIT, meta: VIEW_AND_EDIT, tags: VIEW_AND_EDIT,
  tribe_events_cat: VIEW_AND_EDIT, class_list: VIEW_AND_EDIT, password: EDIT_ONLY, permalink_template: EDIT_ONLY, generated_slug: EDIT_ONLY,
}; // biome-ignore format: pairs

/** Returns whether posts of this type have public pages: events and files do. */
export const isViewable = (postType: string): boolean => postType === 'tribe_events' || postType === 'attachment';

/**
 * Returns an event, venue or organizer as WordPress's own routes show it
 * (`WP_REST_Posts_Controller::prepare_item_for_response`).
 */
export function corePost(kind: PostKind, id: number, bundle: Bundle, context: CoreContext, facts: CorePostFacts): Record<string, unknown> {
  const row = bundle.posts.get(id)!;
  const { title, content, excerpt, template, ...members } = postCore(id, bundle, context);
  const record = {
    ...members,
    password: row.post_password,
    ...(isViewable(row.post_type) ? sample(row, facts.sampleSlug, context, languageCodeOf(row, bundle, context)) : {}),
    title,
    content,
    excerpt,
    ...authorAndPicture(row, bundle),
    template,
    meta: coreMeta(kind, bundle.metas.get(id), isLocked(row, context)),
    ...termMembers(kind, id, bundle),
  };
  return { ...membersInView(record, context.view, MEMBER_VIEWS), _links: postLinks(kind, id, bundle, context, facts) };
}

/** Returns the members that posts and revisions of all types share: dates, URL and texts. */
export function postCore(id: number, bundle: Bundle, context: RenderContext) {
  const row = bundle.posts.get(id)!;
  const locked = isLocked(row, context);
  const options = {
    smilies: context.settings.smilies,
    images: (image: number) => contentImage(image, row, bundle, context),
    // Unlike the calendar's own routes, those of WordPress render in the context of the post.
    attachedImages: (post: number) => attachedImages(post || id, id, bundle, context),
  };
  const content = () => publishedText('content', row.post_content, options);
  const isProtected = row.post_password !== '';
  return {
    id,
    ...datesAndPlace(row, pageUrl(id, bundle, context), context),
    title: { raw: row.post_title, rendered: renderTitle(row.post_title) },
    content: {
      raw: row.post_content,
      rendered: locked ? '' : content(),
      protected: isProtected,
      block_version: row.post_content.includes('<!-- wp:') ? 1 : 0,
    },
    excerpt: { raw: row.post_excerpt, rendered: locked ? '' : shownExcerpt(row, options), protected: isProtected },
    template: '',
  };
}

/**
 * Returns dates, slug, status, type and URL of a post of any type. Drafts have no stored UTC date: it is computed from
 * the local one.
 */
export function datesAndPlace(row: Post, link: string, { settings }: Pick<RenderContext, 'settings'>) {
  const utc = (utcText: string, localText: string) => isoDate(utcText === ZERO_DATE ? toUtc(localText, settings.zone) : utcText);
  return {
    date: isoDate(row.post_date),
    date_gmt: utc(row.post_date_gmt, row.post_date),
    guid: { rendered: row.guid, raw: row.guid },
    modified: isoDate(row.post_modified),
    modified_gmt: utc(row.post_modified_gmt, row.post_modified),
    slug: row.post_name,
    status: row.post_status,
    type: row.post_type,
    link,
  };
}

/** The author and the featured image of a post. */
export const authorAndPicture = (row: Post, bundle: Bundle) => ({
  author: row.post_author,
  featured_media: thumbnailOf(row.ID, bundle) ?? 0,
});

/** Returns the terms of an event and the CSS classes that follow from them; an empty object for kinds without terms. */
export function termMembers(
  kind: PostKind,
  id: number,
  bundle: Bundle,
): Readonly<Record<string, unknown>> & { readonly class_list?: string[] } {
  const row = bundle.posts.get(id)!;
  if (!isViewable(row.post_type)) return {};
  const terms = bundle.terms.get(id) ?? [];
  const ids = (taxonomy: string) => terms.filter((term) => term.taxonomy === taxonomy).map((term) => term.term_id);
  return {
    ...Object.fromEntries(coreTerms(kind).map(({ restBase, taxonomy }) => [restBase, ids(taxonomy)])),
    // The class says that there is a password even if the request brings it.
    class_list: postClasses(row, { locked: row.post_password !== '', hasPicture: thumbnailOf(id, bundle) !== undefined, terms }),
  };
}

/** Returns the excerpt as shown; an empty one is made from the content (`wp_trim_excerpt`). */
export function shownExcerpt({ post_excerpt: storedExcerpt, post_content: content }: Post, options: RenderOptions): string {
  return publishedText('excerpt', storedExcerpt === '' ? publishedText('words', content, options) : storedExcerpt, options);
}

/**
 * Returns the slug that the title would give the record, and the URL with a placeholder for it
 * (`get_sample_permalink`).
 */
function sample(row: Post, slug: string | undefined, context: RenderContext, language: string | null | undefined) {
  const gap = context.settings.permalinkStructure === '' ? (slug ?? row.post_name) : '%pagename%';
  return {
    permalink_template: permalink({ ...row, post_status: 'publish', post_name: gap }, context, language),
    generated_slug: readableSlug(slug ?? row.post_name),
  };
}

/** The links to the revisions of a post. `href`: the URL of the list of revisions. */
export const revisionLinks = (href: string, revisions: Revisions | undefined): Record<string, unknown> => ({
  'version-history': [{ count: revisions?.count ?? 0, href }],
  ...(revisions ? { 'predecessor-version': [{ id: revisions.last, href: `${href}/${revisions.last}` }] } : {}),
});

function postLinks(
  kind: PostKind,
  id: number,
  bundle: Bundle,
  context: CoreContext,
  { methods, actions, revisions }: CorePostFacts,
): Record<string, unknown> {
  const row = bundle.posts.get(id)!;
  const ownRoute = `${kind.postType}/${id}`;
  const imageId = thumbnailOf(row.ID, bundle);
  const terms = coreTerms(kind).map(({ taxonomy, restBase }) => ({
    taxonomy,
    embeddable: true,
    href: coreUrl(context, restBase, [['post', String(row.ID)]]),
  }));
  return {
    self: [{ href: coreUrl(context, ownRoute), targetHints: { allow: methods } }],
    collection: [{ href: coreUrl(context, kind.postType) }],
    about: [{ href: coreUrl(context, `types/${kind.postType}`) }],
    ...(row.post_author > 0 ? { author: [{ embeddable: true, href: coreUrl(context, `users/${row.post_author}`) }] } : {}),
    ...revisionLinks(coreUrl(context, `${ownRoute}/revisions`), revisions),
    ...(imageId === undefined ? {} : { 'wp:featuredmedia': [{ embeddable: true, href: coreUrl(context, `media/${imageId}`) }] }),
    'wp:attachment': [{ href: coreUrl(context, 'media', [['parent', String(row.ID)]]) }],
    ...(terms.length === 0 ? {} : { 'wp:term': terms }),
    ...actionLinks(actions, coreUrl(context, ownRoute)),
    curies: CURIES,
  };
}
