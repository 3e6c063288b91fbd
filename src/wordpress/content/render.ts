import { trimAscii } from '../trim.ts';
import { hasBlocks } from './block-grammar.ts';
import { excerptBlocks, renderBlocks } from './blocks.ts';
import { convertChars } from './entities.ts';
import { EXCERPT_MORE, EXCERPT_WORDS, teaserOf, trimWords } from './excerpt.ts';
import { htmlPieces } from './html-pieces.ts';
import { addImageAttributes, type ContentImage, taggedImageIds } from './images.ts';
import { addParagraphs, unwrapShortcodes } from './paragraphs.ts';
import { galleryImageIds, galleryParents, runEmbeds, runShortcodes, stripShortcodes } from './shortcodes.ts';
import { convertSmilies } from './smilies.ts';
import { texturize } from './texturize.ts';

export type { ContentImage } from './images.ts';

/** Data about the site and its media library for rendering a text. */
export interface RenderOptions {
  /** The option `use_smilies`. */
  readonly smilies: boolean;
  /**
   * Returns the library image with an id; undefined if there is none. Those of `imageIdsIn` must be loaded beforehand.
   */
  readonly images: (id: number) => ContentImage | undefined;
  /**
   * Returns the ids of the images attached to a post, ordered by menu_order and id; 0: images without a parent. The
   * calendar's routes render outside of a post, so a gallery without ids shows the unattached images. Without this
   * function such galleries are empty.
   */
  readonly attachedImages?: (postId: number) => readonly number[];
  /** The URL of WordPress's folder `wp-includes/images/smilies`, for the two smilies that are pictures. */
  readonly smileyPictures?: string;
}

/** Returns a title as published: HTML (the filters of `the_title`). Tags are not removed. */
export const renderTitle = (raw: string): string => trimAscii(convertChars(texturize(raw))).replaceAll('Wordpress', 'WordPress');

/** Returns a content as published: HTML (the filters of `the_content`), trimmed; "" for an empty one. */
export function renderContent(raw: string, options: RenderOptions): string {
  return trimAscii(filteredContent(raw, options));
}

/** Returns a content as published, including the line breaks around it, as WordPress's own routes return it. */
export const filteredContent = (raw: string, options: RenderOptions): string =>
  withSmilies(addImageAttributes(contentHtml(raw, options), options.images), options);

/** Returns a manual excerpt as published: HTML (the filters of `the_excerpt`), trimmed; "" for an empty one. */
export function renderExcerpt(raw: string, options: RenderOptions): string {
  return trimAscii(filteredExcerpt(raw, options));
}

/** Returns an excerpt as published, including the line breaks around it, as WordPress's own routes return it. */
export function filteredExcerpt(raw: string, options: RenderOptions): string {
  const text = convertChars(withSmilies(texturize(withoutNoncharacters(raw)), options));
  return addImageAttributes(unwrapShortcodes(addParagraphs(text)), options.images);
}

/**
 * Returns the first words of a content without tags, to be filtered as an excerpt (`wp_trim_excerpt`). They end where
 * the author divided the content.
 */
export function wordsOf(content: string, options: RenderOptions, count = EXCERPT_WORDS): string {
  const withoutShortcodes = stripShortcodes(teaserOf(content));
  // Without the marks of blocks, paragraphs are added between them, which separates words such as those of two cells.
  const raw = hasBlocks(withoutShortcodes) ? renderBlocks(excerptBlocks(withoutShortcodes)) : withoutShortcodes;
  const text = withSmilies(contentHtml(withoutFootnotes(raw), options), options).replaceAll(']]>', ']]&gt;');
  return trimWords(text, count, EXCERPT_MORE);
}

/** Removes the numbers that refer to footnotes (`excerpt_remove_footnotes`). */
const withoutFootnotes = (content: string): string =>
  content.includes('data-fn=')
    ? content.replace(/<sup data-fn="[^"<>]+" class="[^"<>]+">\s*<a href="[^"<>]+" id="[^"<>]+">\d+<\/a>\s*<\/sup>/g, '')
    : content;

/** Returns the ids of library images that rendering a content looks up. */
export const imageIdsIn = (raw: string): number[] => [...new Set([...taggedImageIds(raw), ...galleryImageIds(raw)])];

/**
 * Returns the posts whose attached images rendering a content looks up (`attachedImages`): 0 for a gallery without ids.
 */
export const galleryParentsIn = (raw: string): number[] => galleryParents(raw, 0);

/**
 * Applies the filters of `the_content` up to the shortcodes. A content with blocks already has its paragraphs marked
 * up.
 */
function contentHtml(raw: string, options: RenderOptions): string {
  const blocks = hasBlocks(raw);
  const withEmbeds = embedMediaUrls(runEmbeds(withoutNoncharacters(raw)));
  const html = texturize(blocks ? renderBlocks(withEmbeds) : withEmbeds);
  return runShortcodes(correctName(unwrapShortcodes(blocks ? html : addParagraphs(html))), options);
}

/** Removes the noncharacters of Unicode that the steps use as marks. */
const withoutNoncharacters = (text: string) => text.replace(/[\ufdd0-\ufdef]/g, '');

const withSmilies = (html: string, { smilies, smileyPictures }: RenderOptions) => (smilies ? convertSmilies(html, smileyPictures) : html);

/** Writes "WordPress" with a capital P, only at the start of a word (`capital_P_dangit`). */
const correctName = (html: string) => html.replace(/(?<=[ >(]|&#8216;|&#8220;)Wordpress/g, 'WordPress');

/**
 * Replaces the URL of an audio or video file that is alone on its line by a player (`WP_Embed::autoembed` with the
 * handlers for files). URLs of other sites stay as they are, since asking their providers for HTML would need the
 * network.
 */
function embedMediaUrls(html: string): string {
  if (!/https?:\/\//i.test(html)) return html;
  const lines = htmlPieces(html)
    .map(({ kind, text }) => (kind === 'text' ? text : text.replaceAll('\n', LINE_BREAK)))
    .join('');
  const withPlayers = lines
    // Lines end at `\n` alone: the other line ends of JavaScript may be in a tag.
    .replace(
      /(?<![^\n])([ \t]*)(https?:\/\/[^ \t\r\n<>"]+)(?=[ \t\r]*(?:\n|$))/gi,
      (_whole, space: string, url: string) => space + mediaShortcode(url),
    )
    .replace(
      /(<p(?: [^<>]*)?>[ \t\r\n]*)(https?:\/\/[^ \t\r\n<>"]+)(?=[ \t\r\n]*<\/p>)/gi,
      (_whole, start: string, url: string) => start + mediaShortcode(url),
    );
  return withPlayers.replaceAll(LINE_BREAK, '\n');
}

/** A noncharacter that replaces line breaks within tags. */
const LINE_BREAK = '\ufdd0';

function mediaShortcode(url: string): string {
  if (/\.(?:mp3|ogg|flac|m4a|wav)$/i.test(url)) return `[audio src="${url}" /]`;
  if (/\.(?:mp4|m4v|webm|ogv|flv)$/i.test(url)) return `[video src="${url}" /]`;
  return url;
}
