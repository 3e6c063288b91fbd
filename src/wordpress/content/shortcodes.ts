import { tableOf } from '../table.ts';
import { escUrl } from '../web-url.ts';
import { escAttr, escHtml } from './entities.ts';
import { htmlPieces } from './html-pieces.ts';
import { type ContentImage, type ImageLookup, imageTag } from './images.ts';
import { ksesPost } from './kses.ts';
import { findShortcodes, parseShortcodeAttributes, type Shortcode, type ShortcodeAttributes } from './shortcode-grammar.ts';
import { texturize } from './texturize.ts';

/** Data of the media library for shortcodes. */
export interface ShortcodeSources {
  readonly images: ImageLookup;
  /**
   * Returns the ids of the images attached to a post, in their order (0: images without a parent); for galleries
   * without ids.
   */
  readonly attachedImages?: (postId: number) => readonly number[];
}

/**
 * Runs WordPress's own shortcodes (`do_shortcode`): captions, galleries, audio and video players. `[[caption]]` becomes
 * `[caption]`; all others, and those within a tag, stay unchanged.
 */
export function runShortcodes(html: string, sources: ShortcodeSources): string {
  return replaceShortcodes(html, sources, { gallery: 0, player: 0, pictures: 0 });
}

/** Replaces `[embed]URL[/embed]` by a link, without asking a provider (`WP_Embed::run_shortcode`, which runs first). */
export function runEmbeds(html: string): string {
  const hidden = hideBrackets(html);
  const embedded = replaceEach(hidden, findShortcodes(hidden, ['embed']), ({ content, attributes }) => {
    const url = showBrackets(content || parseShortcodeAttributes(attributes).src || '').replaceAll('&amp;', '&');
    return url === '' ? '' : `<a href="${escUrl(url)}">${escHtml(url)}</a>`;
  });
  return showBrackets(embedded);
}

/** Returns the text without shortcodes and their enclosed content (`strip_shortcodes`). */
export const stripShortcodes = (html: string): string => replaceEach(html, findShortcodes(html), () => '');

/** Returns the ids of images that the galleries of a content name, up to the number that is shown. */
export const galleryImageIds = (html: string): number[] =>
  galleries(html)
    .flatMap((attributes) => idList(attributes.ids || attributes.include || ''))
    .slice(0, MAX_PICTURES);

/**
 * Returns the ids of posts whose attached images the galleries of a content show: `postId` for galleries without ids.
 */
export const galleryParents = (html: string, postId: number): number[] => [
  ...new Set(galleries(html).flatMap((attributes) => (attributes.ids || attributes.include ? [] : [galleryParent(attributes, postId)]))),
];

const galleries = (html: string) => findShortcodes(html, ['gallery']).map(({ attributes }) => parseShortcodeAttributes(attributes));
const galleryParent = (attributes: ShortcodeAttributes, postId: number) => Number.parseInt(attributes.id ?? '', 10) || postId;
const idList = (text: string) =>
  text
    .split(/[\s,]+/)
    .map((id) => Math.abs(Number.parseInt(id, 10)))
    .filter((id) => id > 0);

/** Numbers of galleries and players so far, for their ids. */
interface Counters {
  gallery: number;
  player: number;
  /** Number of images in all galleries so far. */
  pictures: number;
}

/**
 * Maximum number of images in all galleries of one text, since the HTML of an image is many times as long as its id.
 */
const MAX_PICTURES = 2000;

function replaceShortcodes(html: string, sources: ShortcodeSources, counters: Counters): string {
  const shielded = hideBrackets(html);
  const shortcodes = findShortcodes(shielded);
  if (shortcodes.length === 0) return html;
  return showBrackets(replaceEach(shielded, shortcodes, (shortcode) => render(shortcode, sources, counters)));
}

function replaceEach(html: string, shortcodes: readonly Shortcode[], replace: (shortcode: Shortcode) => string): string {
  let out = '';
  let position = 0;
  for (const shortcode of shortcodes) {
    out += html.slice(position, shortcode.start);
    out += shortcode.isEscaped ? html.slice(shortcode.start + 1, shortcode.end - 1) : replace(shortcode);
    position = shortcode.end;
  }
  return out + html.slice(position);
}

/**
 * Placeholders for brackets within tags and comments, where shortcodes do not run. They are noncharacters, which no
 * text contains.
 */
const OPEN_PLACEHOLDER = '\ufdd0';
const CLOSE_PLACEHOLDER = '\ufdd1';
const hideBrackets = (html: string) =>
  html.includes('[')
    ? htmlPieces(html)
        .map(({ kind, text }) => (kind === 'text' ? text : text.replaceAll('[', OPEN_PLACEHOLDER).replaceAll(']', CLOSE_PLACEHOLDER)))
        .join('')
    : html;
const showBrackets = (html: string) => html.replaceAll(OPEN_PLACEHOLDER, '[').replaceAll(CLOSE_PLACEHOLDER, ']');

function render({ name, attributes: raw, content }: Shortcode, sources: ShortcodeSources, counters: Counters): string {
  const attributes = parseShortcodeAttributes(raw);
  switch (name) {
    case 'caption':
    case 'wp_caption':
      return caption(attributes, content ?? '', (inner) => replaceShortcodes(inner, sources, counters));
    case 'gallery':
      counters.gallery += 1;
      return gallery(attributes, sources, counters);
    case 'audio':
      return audio(attributes, ++counters.player);
    case 'video':
      return video(attributes, ++counters.player);
    // A playlist would need attachments with sound; a remaining embed has no URL.
    case 'playlist':
    case 'embed':
      return '';
  }
}

const className = (text: string) => text.replace(/%[a-fA-F0-9]{2}/g, '').replace(/[^A-Za-z0-9_-]/g, '');

/** `img_caption_shortcode`, in the form for themes with HTML 5 captions. */
function caption(attributes: ShortcodeAttributes, inner: string, run: (html: string) => string): string {
  const match = /(?:<a [^<>]+>\s*)?<img [^<>]+>(?:\s*<\/a>)?/i.exec(inner);
  const image = match?.[0] ?? inner;
  const afterImage = match === null ? '' : inner.slice(match.index + image.length);
  const ownCaption = attributes.caption;
  const content = ownCaption === undefined ? image : inner;
  const text = ownCaption === undefined ? afterImage.trim() : ownCaption.includes('<') ? ksesPost(ownCaption) : ownCaption;
  const width = Number.parseInt(attributes.width ?? '', 10) || 0;
  if (width < 1 || text === '') return content;
  const id = className(attributes.id ?? '');
  const captionId = className(attributes.caption_id ?? '') || (id === '' ? '' : `caption-${id.replaceAll('_', '-')}`);
  const figure = [
    id === '' ? '' : `id="${id}" `,
    captionId === '' ? '' : `aria-describedby="${captionId}" `,
    `style="width: ${width}px" `,
    `class="${escAttr(`wp-caption ${attributes.align ?? 'alignnone'} ${attributes.class ?? ''}`.trim())}"`,
  ].join('');
  return `<figure ${figure}>${run(content)}<figcaption ${captionId === '' ? '' : `id="${captionId}" `}class="wp-caption-text">${text}</figcaption></figure>`;
}

/** `gallery_shortcode`, in the form for themes with HTML 5 galleries. Unknown and hidden images are skipped. */
function gallery(attributes: ShortcodeAttributes, { images, attachedImages }: ShortcodeSources, counters: Counters): string {
  const instance = counters.gallery;
  const idText = attributes.ids || attributes.include;
  const parent = galleryParent(attributes, 0);
  const excluded = new Set(idList(attributes.exclude ?? ''));
  const ids = idText ? idList(idText) : (attachedImages?.(parent) ?? []).filter((id) => !excluded.has(id));
  const items = ids.slice(0, MAX_PICTURES - counters.pictures).flatMap((id) => {
    const image = images(id);
    return image === undefined || image.isHidden ? [] : [galleryItem(id, image, attributes, `gallery-${instance}`)];
  });
  counters.pictures += items.length;
  if (items.length === 0) return '';
  const columns = attributes.columns === undefined ? 3 : Number.parseInt(attributes.columns, 10) || 0;
  const classes = `gallery galleryid-${parent} gallery-columns-${columns} gallery-size-${className(attributes.size ?? 'thumbnail')}`;
  return `<div id='gallery-${instance}' class='${classes}'>${items.join('')}\n\t\t</div>\n`;
}

function galleryItem(id: number, image: ContentImage, attributes: ShortcodeAttributes, selector: string): string {
  const text = (image.caption ?? '').trim();
  const tag = imageTag(image, attributes.size ?? 'thumbnail', text === '' ? '' : `aria-describedby="${selector}-${id}"`);
  const target = attributes.link === 'none' ? null : attributes.link === 'file' ? image.url : (image.link ?? image.url);
  const linkedTag = target === null ? tag : `<a href='${escUrl(target)}'>${tag}</a>`;
  const orientation = image.height > image.width ? 'portrait' : 'landscape';
  const captionHtml =
    text === ''
      ? ''
      : `\n\t\t\t\t<figcaption class='wp-caption-text gallery-caption' id='${selector}-${id}'>\n\t\t\t\t${texturize(text)}\n\t\t\t\t</figcaption>`;
  return `<figure class='gallery-item'>\n\t\t\t<div class='gallery-icon ${orientation}'>\n\t\t\t\t${linkedTag}\n\t\t\t</div>${captionHtml}</figure>`;
}

const AUDIO: ReadonlyMap<string, string> = tableOf({
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/mpeg',
  wav: 'audio/wav',
});
const VIDEO: ReadonlyMap<string, string> = tableOf({
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  webm: 'video/webm',
  ogv: 'video/ogg',
  flv: 'video/x-flv',
});

/**
 * Returns the files of a player as `source` tags, and the first of them; null if there are none. `unplayable`: the
 * file, if it has an unsupported type.
 */
function playerFiles(attributes: ShortcodeAttributes, types: ReadonlyMap<string, string>, instance: number) {
  const extension = (url: string) => /\.([a-z0-9]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  const source = attributes.src || attributes.source;
  if (source && !types.has(extension(source))) return { unplayable: source, first: source, sources: '' };
  const files = [source, ...[...types.keys()].map((type) => attributes[type])].filter((url) => url !== undefined && url !== '') as string[];
  const [first] = files;
  if (first === undefined) return null;
  const tags = files.map((url) => {
    const numbered = `${url}${url.includes('?') ? '&' : '?'}_=${instance}`;
    return `<source type="${types.get(extension(url)) ?? ''}" src="${escUrl(numbered)}" />`;
  });
  return { unplayable: undefined, first, sources: tags.join('') };
}

const isOn = (value: string | undefined) => value !== undefined && /^(?:1|on|true|yes|autoplay|loop|muted)$/i.test(value);
const flags = (attributes: ShortcodeAttributes, names: readonly string[]) =>
  names
    .filter((name) => isOn(attributes[name]))
    .map((name) => `${name}="1" `)
    .join('');

/** `wp_audio_shortcode`; returns nothing without a file (attachments are not searched). */
function audio(attributes: ShortcodeAttributes, instance: number): string {
  const files = playerFiles(attributes, AUDIO, instance);
  if (files === null) return '';
  if (files.unplayable !== undefined)
    return `<a class="wp-embedded-audio" href="${escUrl(files.unplayable)}">${escHtml(files.unplayable)}</a>`;
  const settings = `${flags(attributes, ['loop', 'autoplay'])}preload="${escAttr(attributes.preload ?? 'none')}" style="width: 100%;" controls="controls"`;
  const link = `<a href="${escUrl(files.first)}">${escHtml(files.first)}</a>`;
  return `<audio class="wp-audio-shortcode" id="audio-0-${instance}" ${settings}>${files.sources}${link}</audio>`;
}

/** `wp_video_shortcode`; returns nothing without a file. */
function video(attributes: ShortcodeAttributes, instance: number): string {
  const files = playerFiles(attributes, VIDEO, instance);
  if (files === null) return '';
  if (files.unplayable !== undefined)
    return `<a class="wp-embedded-video" href="${escUrl(files.unplayable)}">${escHtml(files.unplayable)}</a>`;
  const width = Number.parseInt(attributes.width ?? '', 10) || 640;
  const height = Number.parseInt(attributes.height ?? '', 10) || 360;
  const poster = attributes.poster ? `poster="${escUrl(attributes.poster)}" ` : '';
  const settings = `${poster}${flags(attributes, ['loop', 'autoplay', 'muted'])}preload="${escAttr(attributes.preload ?? 'metadata')}" controls="controls"`;
  const link = `<a href="${escUrl(files.first)}">${escHtml(files.first)}</a>`;
  return `<div style="width: ${width}px;" class="wp-video"><video class="wp-video-shortcode" id="video-0-${instance}" width="${width}" height="${height}" ${settings}>${files.sources}${link}</video></div>`;
}
