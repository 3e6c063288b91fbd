import { memoize } from '../memo.ts';
import { renderTitle } from '../wordpress/content/render.ts';
import { globalId } from '../wordpress/global-id.ts';
import { eventDateUrl, type LinkedPost, postUrl } from '../wordpress/links.ts';
import { metaOf, type Post, textsOf } from '../wordpress/rows.ts';
import { isPublic } from '../wordpress/status.ts';
import { trimAscii } from '../wordpress/trim.ts';
import { publishedText } from './cached-texts.ts';
import { contentImage, type ImageRecord, imageRecord, thumbnailOf } from './image-record.ts';
import type { Bundle, OccurrencePage, RenderContext } from './rendering.ts';
import { languageCodeOf, languageMember, pageIn, translatedLink, translationsMember } from './translations.ts';

/** Returns whether a record is protected by a password that the request did not bring (`post_password_required`). */
export const isLocked = (row: Post, { isOpen }: Pick<RenderContext, 'isOpen'>): boolean => row.post_password !== '' && !isOpen(row);

/** Members of every published post, in the order of the record; the position of `global_id` differs by kind. */
export function postMembers(row: Post, url: string) {
  return {
    author: String(row.post_author),
    status: row.post_status,
    date: row.post_date,
    date_utc: row.post_date_gmt,
    modified: row.post_modified,
    modified_utc: row.post_modified_gmt,
    url,
  };
}

/** Returns the URL of a record's page on the site, in the language of the record. */
export function permalink(row: LinkedPost, context: Pick<RenderContext, 'home' | 'settings'>, code?: string | null): string {
  const { permalinkStructure, calendar } = context.settings;
  return pageIn(context, code, (home) => postUrl({ home, permalinkStructure, singleEventSlug: calendar.singleEventSlug }, row));
}

/**
 * Returns whether a record of this status has a preview. Published records have a public page, and trashed ones have
 * none.
 */
export const isPreviewed = (status: string): boolean => status !== 'publish' && status !== 'trash';

/** Returns the URL at which editors preview a record, which contains its id (WordPress `get_preview_post_link`). */
export const previewUrl: typeof permalink = (row, context, code) =>
  `${permalink({ ...row, post_status: 'draft' }, context, code)}&preview=true`;

/** Returns the URL of the page of one date of a recurring event, which contains the date. */
function occurrenceUrl(
  row: Post,
  context: Pick<RenderContext, 'home' | 'settings'>,
  page: OccurrencePage,
  code: string | null | undefined,
): string {
  const { permalinkStructure, calendar } = context.settings;
  return pageIn(context, code, (home) => eventDateUrl({ home, permalinkStructure, singleEventSlug: calendar.singleEventSlug }, row, page));
}

/** Returns the URL of the page of a record, or of one date if the id is that of a date. */
export function pageUrl(id: number, bundle: Bundle, context: Pick<RenderContext, 'home' | 'settings'>): string {
  const [row, page] = [bundle.posts.get(id)!, bundle.pages.get(id)];
  const code = languageCodeOf(row, bundle, context);
  return page ? occurrenceUrl(row, context, page, code) : permalink(row, context, code);
}

/**
 * Returns the members that name the translations of a record; none if its kind has no languages. `path`: route path of
 * the kind.
 */
export const translationMembers = (id: number, path: string, bundle: Bundle, context: RenderContext) =>
  translationsMember(bundle.posts.get(id)!, path, bundle, context, (row, code) => permalink(row, context, code));

/**
 * Returns `global_id` and its lineage: the record's own, which is the same in every language (decision D48), then those
 * of the sources that it was imported from.
 */
export function globalIds(id: number, bundle: Bundle, { settings }: Pick<RenderContext, 'settings'>) {
  const ownId = globalId(settings.home, id);
  return { global_id: ownId, global_id_lineage: [ownId, ...textsOf(bundle.metas.get(id), '_tribe_aggregator_global_id_lineage')] };
}

/** Returns functions that render the texts of a post. */
export function renderedTexts(row: Post, bundle: Bundle, context: RenderContext) {
  const { smilies } = context.settings;
  const options = {
    smilies,
    images: (id: number) => contentImage(id, row, bundle, context),
    attachedImages: (id: number) => attachedImages(id || (context.withinPost ? row.ID : 0), row.ID, bundle, context),
  };
  return {
    title: () => cachedTitle(row.post_title),
    description: () => trimAscii(publishedText('content', row.post_content, options)),
    excerpt: () => trimAscii(publishedText('excerpt', row.post_excerpt, options)),
  };
}

/**
 * Returns the images of a gallery that shows the attachments of `post` (0: files without a parent), in the text of the
 * record `ownId`. Empty if the caller may not read that post or a password protects it (`gallery_shortcode`).
 */
export function attachedImages(post: number, ownId: number, bundle: Bundle, context: RenderContext): readonly number[] {
  const images = bundle.attached.get(post) ?? [];
  const row = bundle.posts.get(post);
  if (images.length === 0 || post === 0 || post === ownId) return images;
  return row && (isPublic(row.post_status) || context.mayRead(row)) && !isLocked(row, context) ? images : [];
}

const cachedTitle = memoize(renderTitle);

/** Differences between the records of venues and organizers. `Between`, `After`: members that only one of them has. */
interface LinkedShape<Name extends string, Texts, Between, After> {
  /** Name of the member with the title. */
  readonly name: Name;
  /** Text members and their metas, in order. */
  readonly texts: Texts;
  /** Members before and after the flags and ids that are always present. */
  readonly between: Between;
  readonly after: After;
}

/** Members of a venue or organizer that are left out if empty, except the title, which is always present. */
type Present<Name extends string, Texts> = { [Member in Name]: string } & {
  [Member in keyof Texts | 'description' | 'excerpt' | 'slug']?: string;
} & { image?: ImageRecord };

/**
 * Returns the published venue or organizer without empty members. In a protected one the texts become empty members,
 * and the name stays readable (decision D18).
 */
export function linkedRecord<Name extends string, Texts extends Readonly<Record<string, string>>, Between, After>(
  id: number,
  bundle: Bundle,
  context: RenderContext,
  { name, texts, between, after }: LinkedShape<Name, Texts, Between, After>,
) {
  const row = bundle.posts.get(id)!;
  const metas = bundle.metas.get(id);
  const rendered = renderedTexts(row, bundle, context);
  const locked = isLocked(row, context);
  const members: [member: string, value: unknown][] = [
    [name, rendered.title()],
    ['description', rendered.description()],
    ['excerpt', rendered.excerpt()],
    ['slug', row.post_name],
    ['image', locked ? false : imageRecord(thumbnailOf(id, bundle), bundle, context)],
    ...Object.entries(texts).map(([member, key]): [string, unknown] => [member, metaOf(metas, key) ?? '']),
  ];
  const filledMembers: Record<string, unknown> = {};
  for (const [member, value] of members) {
    const isOpen = !locked || member === name || member === 'slug';
    // The title is present even if it is empty, as WordPress stores some, and may be 0 (decision D47).
    if (member === name || (value !== '' && value !== '0' && value !== false)) filledMembers[member] = isOpen ? value : '';
  }
  // The compiler does not track names through entries: they are those of `members`, with their values.
  const shownMembers = filledMembers as Present<Name, Texts>;
  return {
    id,
    ...postMembers(row, pageUrl(id, bundle, context)),
    ...shownMembers,
    ...between,
    ...after,
    ...globalIds(id, bundle, context),
    ...languageMember(row, bundle, context),
  };
}

/**
 * Returns the ids of linked records that exist, are not in the trash and may be read by the caller (decision D15), in
 * the order of their rows. If the context asks for it, each is replaced by its translation into the event's language.
 */
export function linkedIds(id: number, key: string, bundle: Bundle, { mayRead, translatesLinks, settings }: RenderContext): number[] {
  const storedIds = (bundle.metas.get(id)?.get(key) ?? []).map(Number);
  const language = translatesLinks ? languageCodeOf(bundle.posts.get(id)!, bundle, { settings }) : undefined;
  const ids = new Set(language ? storedIds.map((linkedId) => translatedLink(linkedId, language, bundle, { settings })) : storedIds);
  return [...ids].filter((linkedId) => {
    const row = bundle.posts.get(linkedId);
    return row !== undefined && row.post_status !== 'trash' && mayRead(row);
  });
}

/** Members of JSON-LD that come from the post itself. */
export function postJsonLd(id: number, bundle: Bundle) {
  const row = bundle.posts.get(id)!;
  return {
    title: row.post_title,
    content: row.post_content,
    excerpt: row.post_excerpt,
    status: row.post_status,
    protected: row.post_password !== '',
  };
}
