import { escHtml } from '../../wordpress/content/entities.ts';
import { imageTag } from '../../wordpress/content/images.ts';
import { filteredContent, renderTitle } from '../../wordpress/content/render.ts';
import { coreUrl } from '../../wordpress/links.ts';
import { postClasses } from '../../wordpress/post-classes.ts';
import { metaOf, type Post } from '../../wordpress/rows.ts';
import { readableSlug } from '../../wordpress/slug.ts';
import { escUrl } from '../../wordpress/web-url.ts';
import { attachmentPage, contentImage, metadataOf, storedSizes } from '../image-record.ts';
import type { Bundle } from '../rendering.ts';
import { actionLinks } from './actions.ts';
import { coreMeta } from './meta.ts';
import { authorAndPicture, datesAndPlace, shownExcerpt } from './post.ts';
import { routeOfPost } from './types.ts';
import { type CoreContext, type CoreFacts, CURIES, EDIT_ONLY, membersInView, VIEW_AND_EDIT, type View } from './view.ts';

/** Members that are not shown in every context (`WP_REST_Attachments_Controller::get_item_schema`). */
const MEMBER_VIEWS: Readonly<Record<string, readonly View[]>> = {
  date_gmt: VIEW_AND_EDIT, guid: VIEW_AND_EDIT, modified: VIEW_AND_EDIT, modified_gmt: VIEW_AND_EDIT, status: VIEW_AND_EDIT, comment_status: VIEW_AND_EDIT, ping_status: VIEW_AND_EDIT, template: VIEW_AND_EDIT, meta: VIEW_AND_EDIT,
  class_list: VIEW_AND_EDIT, description: VIEW_AND_EDIT, post: VIEW_AND_EDIT, filename: VIEW_AND_EDIT, filesize: VIEW_AND_EDIT, permalink_template: EDIT_ONLY, generated_slug: EDIT_ONLY, missing_image_sizes: EDIT_ONLY,
  exif_orientation: EDIT_ONLY, image_output_format: EDIT_ONLY, image_save_progressive: EDIT_ONLY, image_quality: EDIT_ONLY,
}; // biome-ignore format: pairs

/**
 * Returns a file of the media library as WordPress's own routes show it
 * (`WP_REST_Attachments_Controller::prepare_item_for_response`).
 */
export function coreMedia(id: number, bundle: Bundle, context: CoreContext, facts: CoreFacts): Record<string, unknown> {
  const row = bundle.posts.get(id)!;
  const metas = bundle.metas.get(id);
  const metadata = metadataOf(id, bundle);
  const file = metaOf(metas, '_wp_attached_file') ?? '';
  const url = file === '' ? row.guid : `${context.uploads}/${file}`;
  const options = { smilies: context.settings.smilies, images: (image: number) => contentImage(image, row, bundle, context) };
  const link = attachmentPage(row, bundle, context);
  const size = Number(metadata.filesize) || null;
  const record = {
    id,
    ...datesAndPlace(row, link, context),
    permalink_template: attachmentPage(row, bundle, context, null),
    generated_slug: readableSlug(facts.sampleSlug ?? row.post_name),
    title: { raw: row.post_title, rendered: renderTitle(row.post_title) },
    ...authorAndPicture(row, bundle),
    comment_status: row.comment_status,
    ping_status: row.ping_status,
    template: '',
    meta: coreMeta('attachment', metas),
    class_list: postClasses(row, { locked: false, hasPicture: false, terms: [] }),
    description: {
      raw: row.post_content,
      rendered: `${shownFile(row, url, bundle, context)}${row.post_content === '' ? '' : filteredContent(row.post_content, options)}`,
    },
    caption: { raw: row.post_excerpt, rendered: shownExcerpt(row, options) },
    alt_text: metaOf(metas, '_wp_attachment_image_alt') ?? '',
    media_type: row.post_mime_type.startsWith('image/') ? 'image' : 'file',
    mime_type: row.post_mime_type,
    media_details: mediaDetails(metadata, url, row.post_mime_type),
    post: row.post_parent === 0 ? null : row.post_parent,
    source_url: url,
    missing_image_sizes: [],
    ...(row.post_mime_type.startsWith('image/') ? editorSettings(metadata, row.post_mime_type) : {}),
    filename: url.slice(url.lastIndexOf('/') + 1),
    filesize: size,
  };
  return { ...membersInView(record, context.view, MEMBER_VIEWS), _links: mediaLinks(row, bundle, context, facts) };
}

/**
 * Returns the HTML of the file that precedes its description (`prepend_attachment`): an image in medium size, linked to
 * the full file.
 */
function shownFile(row: Post, url: string, bundle: Bundle, context: CoreContext): string {
  const image = contentImage(row.ID, row, bundle, context);
  const html = image ? withLazyLoading(imageTag(image, 'medium')) : escHtml(row.post_title);
  return `<p class="attachment"><a href='${escUrl(url)}'>${html}</a></p>\n`;
}

/**
 * Adds lazy loading to an image. Outside of post content, every image gets it
 * (`wp_get_loading_optimization_attributes`).
 */
const withLazyLoading = (tag: string) =>
  tag.replace('<img ', '<img loading="lazy" decoding="async" ').replace(' sizes="', ' sizes="auto, ');

/**
 * The settings with which WordPress's image editor treats the image. In WordPress, filters can change the last three
 * values; here they are constant.
 */
const editorSettings = ({ image_meta: imageMeta }: Readonly<Record<string, unknown>>, mime: string) => ({
  exif_orientation: Number((imageMeta as Readonly<Record<string, unknown>> | null | undefined)?.orientation) || 1,
  image_output_format: null,
  image_save_progressive: false,
  image_quality: { default: mime === 'image/webp' ? 86 : 82, sizes: [] },
});

/** Returns the metadata with the URLs of all sizes, including the full image. */
function mediaDetails(metadata: Readonly<Record<string, unknown>>, url: string, mime: string): Record<string, unknown> {
  const { sizes: _, ...rest } = metadata;
  const folder = url.slice(0, url.lastIndexOf('/') + 1);
  const sizeEntries = storedSizes(metadata).map(([name, { 'mime-type': type, ...members }]) => {
    return [
      name,
      { ...members, ...(type === undefined ? {} : { mime_type: type }), source_url: `${folder}${String(members.file)}` },
    ] as const;
  });
  const fullSize = { file: url.slice(folder.length), width: metadata.width, height: metadata.height, mime_type: mime, source_url: url };
  return { ...rest, sizes: sizeEntries.length === 0 ? {} : { ...Object.fromEntries(sizeEntries), full: fullSize } };
}

function mediaLinks(row: Post, bundle: Bundle, context: CoreContext, { methods, actions }: CoreFacts): Record<string, unknown> {
  const parent = bundle.posts.get(row.post_parent);
  const parentLink = parent && {
    embeddable: true,
    post_type: parent.post_type,
    id: parent.ID,
    href: coreUrl(context, routeOfPost(parent)),
  };
  return {
    self: [{ href: coreUrl(context, `media/${row.ID}`), targetHints: { allow: methods } }],
    collection: [{ href: coreUrl(context, 'media') }],
    about: [{ href: coreUrl(context, 'types/attachment') }],
    ...(row.post_author > 0 ? { author: [{ embeddable: true, href: coreUrl(context, `users/${row.post_author}`) }] } : {}),
    replies: [{ embeddable: true, href: coreUrl(context, 'comments', [['post', String(row.ID)]]) }],
    ...(parentLink ? { 'wp:attached-to': [parentLink] } : {}),
    ...actionLinks(actions, coreUrl(context, `media/${row.ID}`)),
    ...(parentLink || actions.length > 0 ? { curies: CURIES } : {}),
  };
}
