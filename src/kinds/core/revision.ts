import { coreUrl } from '../../wordpress/links.ts';
import type { PostKind } from '../kind.ts';
import type { Bundle } from '../rendering.ts';
import { coreMeta } from './meta.ts';
import { postCore } from './post.ts';
import { type CoreContext, membersInView, VIEW_AND_EDIT, type View } from './view.ts';

/** A type of posts with revisions: records of a kind, or blog posts and pages. */
export interface RevisedType {
  readonly postType: string;
  /** Route name of the type. */
  readonly base: string;
  /** Absent for blog posts and pages. */
  readonly kind?: PostKind;
}

const MEMBER_VIEWS: Readonly<Record<string, readonly View[]>> = {
  date_gmt: VIEW_AND_EDIT, guid: VIEW_AND_EDIT, modified: VIEW_AND_EDIT, modified_gmt: VIEW_AND_EDIT, content: VIEW_AND_EDIT, meta: VIEW_AND_EDIT,
}; // biome-ignore format: pairs

/**
 * Returns a revision of a post as WordPress's own routes show it
 * (`WP_REST_Revisions_Controller::prepare_item_for_response`).
 */
export function coreRevision({ kind, base }: RevisedType, id: number, bundle: Bundle, context: CoreContext): Record<string, unknown> {
  const row = bundle.posts.get(id)!;
  const { date, date_gmt, guid, modified, modified_gmt, slug, title, content, excerpt } = postCore(id, bundle, context);
  const record = {
    author: row.post_author,
    date,
    date_gmt,
    id,
    modified,
    modified_gmt,
    parent: row.post_parent,
    slug,
    guid,
    title,
    content: { raw: content.raw, rendered: content.rendered },
    // Unlike the excerpt of a post, that of a revision is never made from the content.
    excerpt: { raw: excerpt.raw, rendered: row.post_excerpt === '' ? '' : excerpt.rendered },
    meta: coreMeta(kind ?? 'blog', bundle.metas.get(id)),
  };
  return {
    ...membersInView(record, context.view, MEMBER_VIEWS),
    _links: { parent: [{ href: coreUrl(context, `${base}/${row.post_parent}`) }] },
  };
}
