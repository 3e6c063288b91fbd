import { trimAscii } from '../trim.ts';
import { hasBlocks } from './block-grammar.ts';
import { excerptBlocks, renderBlocks } from './blocks.ts';
import { convertChars } from './entities.ts';
import { EXCERPT_MORE, EXCERPT_WORDS, trimWords } from './excerpt.ts';
import { htmlPieces } from './html-pieces.ts';
import { addImageAttributes, type ContentImage, taggedImageIds } from './images.ts';
import { addParagraphs, unwrapShortcodes } from './paragraphs.ts';
import { galleryImageIds, galleryParents, runEmbeds, runShortcodes, stripShortcodes } from './shortcodes.ts';
import { convertSmilies } from './smilies.ts';
import { texturize } from './texturize.ts';

export type { ContentImage } from './images.ts';

/** What the site and its media library add to a text. */
export interface RenderOptions {
  /** The option `use_smilies`. */
  readonly smilies: boolean;
  /** The library image of an id; undefined when there is none. Load those of `imageIdsIn` beforehand. */
  readonly images: (id: number) => ContentImage | undefined;
  /**
   * The ids of the images attached to a post, ordered by menu_order and id; 0 for those attached to none. The
   * calendar's routes render outside of a post, so that a gallery that names no images shows the unattached ones.
   * Without this function such galleries are empty.
   */
  readonly attachedImages?: (postId: number) => readonly number[];
  /** The address of WordPress's folder `wp-includes/images/smilies`, for the two smilies that are pictures. */
  readonly smileyPictures?: string;
}

/** A title as it is published: HTML (the filters of `the_title`). No tag is taken out. */
export const renderTitle = (raw: string): string => trimAscii(convertChars(texturize(raw))).replaceAll('Wordpress', 'WordPress');

/** A content as it is published: HTML (the filters of `the_content`), trimmed; "" for an empty one. */
export function renderContent(raw: string, options: RenderOptions): string {
  return trimAscii(filteredContent(raw, options));
}

/** The same with the line breaks around it, as WordPress's own routes give it. */
export const filteredContent = (raw: string, options: RenderOptions): string =>
  withSmilies(addImageAttributes(contentHtml(raw, options), options.images), options);

/** A written excerpt as it is published: HTML (the filters of `the_excerpt`), trimmed; "" for an empty one. */
export function renderExcerpt(raw: string, options: RenderOptions): string {
  return trimAscii(filteredExcerpt(raw, options));
}

/** The same with the line breaks around it, as WordPress's own routes give it. */
export function filteredExcerpt(raw: string, options: RenderOptions): string {
  const text = convertChars(withSmilies(texturize(withoutNoncharacters(raw)), options));
  return addImageAttributes(unwrapShortcodes(addParagraphs(text)), options.images);
}

/** The first words of a content without tags, to be filtered as an excerpt (`wp_trim_excerpt`). */
export function wordsOf(content: string, options: RenderOptions, count = EXCERPT_WORDS): string {
  const shown = stripShortcodes(content);
  const text = withSmilies(contentHtml(hasBlocks(shown) ? excerptBlocks(shown) : shown, options), options).replaceAll(']]>', ']]&gt;');
  return trimWords(text, count, EXCERPT_MORE);
}

/** The ids of library images that rendering a content asks for by name. */
export const imageIdsIn = (raw: string): number[] => [...new Set([...taggedImageIds(raw), ...galleryImageIds(raw)])];

/**
 * The posts whose attached images rendering a content asks for (`attachedImages`): 0 for a gallery that names nothing.
 */
export const galleryParentsIn = (raw: string): number[] => galleryParents(raw, 0);

/**
 * The filters of `the_content` up to the shortcodes. With blocks there are no paragraphs to be found: they are marked.
 */
function contentHtml(raw: string, options: RenderOptions): string {
  const blocks = hasBlocks(raw);
  const embedded = embedMediaUrls(runEmbeds(withoutNoncharacters(raw)));
  const html = texturize(blocks ? renderBlocks(embedded) : embedded);
  return runShortcodes(correctName(unwrapShortcodes(blocks ? html : addParagraphs(html))), options);
}

/** The steps use noncharacters of Unicode as marks of their own. */
const withoutNoncharacters = (text: string) => text.replace(/[\ufdd0-\ufdef]/g, '');

const withSmilies = (html: string, { smilies, smileyPictures }: RenderOptions) => (smilies ? convertSmilies(html, smileyPictures) : html);

/** "WordPress" with its capital P, at the start of a word only (`capital_P_dangit`). */
const correctName = (html: string) => html.replace(/(?<=[ >(]|&#8216;|&#8220;)Wordpress/g, 'WordPress');

/**
 * The address of a sound or film that stands alone on its line becomes a player (`WP_Embed::autoembed` with the
 * handlers for files). Addresses of other sites stay as they are: asking their providers for HTML is not for a service
 * that must answer without the network.
 */
function embedMediaUrls(html: string): string {
  if (!/https?:\/\//i.test(html)) return html;
  const lines = htmlPieces(html)
    .map(({ kind, text }) => (kind === 'text' ? text : text.replaceAll('\n', LINE_BREAK)))
    .join('');
  const embedded = lines
    .replace(/^([ \t]*)(https?:\/\/[^ \t\r\n<>"]+)(?=[ \t\r]*$)/gim, (_whole, space: string, url: string) => space + mediaShortcode(url))
    .replace(
      /(<p(?: [^<>]*)?>[ \t\r\n]*)(https?:\/\/[^ \t\r\n<>"]+)(?=[ \t\r\n]*<\/p>)/gi,
      (_whole, start: string, url: string) => start + mediaShortcode(url),
    );
  return embedded.replaceAll(LINE_BREAK, '\n');
}

/** Hides the line breaks within tags. A noncharacter. */
const LINE_BREAK = '\ufdd0';

function mediaShortcode(url: string): string {
  if (/\.(?:mp3|ogg|flac|m4a|wav)$/i.test(url)) return `[audio src="${url}" /]`;
  if (/\.(?:mp4|m4v|webm|ogv|flv)$/i.test(url)) return `[video src="${url}" /]`;
  return url;
}
