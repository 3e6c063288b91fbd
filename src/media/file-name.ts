import { removeAccents } from '../wordpress/accents.ts';
import { trimEndOf, trimOf } from '../wordpress/trim.ts';
import type { ImageType } from './image-type.ts';

/**
 * Maximum length of a name without its extension in bytes, so that `-2048x2048` and a number fit into the 255 bytes of
 * file systems.
 */
const MAX_NAME_BYTES = 200;
const DEFAULT_NAME = 'image';

/**
 * Characters that are removed from names of uploads (`sanitize_file_name`), including control characters up to U+009F.
 */
const REMOVED_CHARACTERS = /[?[\]/\\=<>:;,'"&$#*()|~`!{}%+’«»”“\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/**
 * Returns a safe file name (WordPress `sanitize_file_name`): no path, no special characters, spaces as hyphens, no
 * inner part that a web server could interpret as the extension of a script. The extension is always one of the image's
 * type.
 */
export function sanitizeFileName(text: string, type: ImageType): string {
  const safe = removeAccents(text)
    .replaceAll('\u00a0', ' ')
    .replace(/%20|\+/g, '-')
    .replace(REMOVED_CHARACTERS, '')
    .replace(/[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .replace(/[\r\n\t -]+/g, '-');
  const clean = trimOf(safe, '.-_');
  const extension = /\.([^.]*)$/.exec(clean)?.[1] ?? '';
  const fits = type.extensions.includes(extension.toLowerCase());
  const isImageExtension = IMAGE_EXTENSION.test(extension);
  const stem = fits || isImageExtension ? clean.slice(0, -extension.length - 1) : clean;
  // The cut may remove the mark of the last part.
  const name = markExtensions(truncateName(markExtensions(trimEndOf(stem, '.-'))));
  return `${name || DEFAULT_NAME}.${fits ? extension.toLowerCase() : type.extension}`;
}

/** Appends `_` to each part of a name that a web server could interpret as an extension. */
function markExtensions(name: string): string {
  const [first = '', ...parts] = name.split('.');
  return [first, ...parts.map((part) => (/^[a-z]{2,5}\d?$/i.test(part) ? `${part}_` : part))].join('.');
}

const IMAGE_EXTENSION = /^(jpe?g|jpe|png|gif|webp|avif|bmp|ico|tiff?|heic|svg)$/i;

/**
 * Returns whether the extension of a file name says that the file is not an image (`wp_check_filetype_and_ext`). A name
 * without an extension does not.
 */
export function hasOtherExtension(name: string): boolean {
  const extension = /\.([a-z0-9]{1,8})$/i.exec(name.trim())?.[1];
  return extension !== undefined && !IMAGE_EXTENSION.test(extension);
}

/**
 * Returns the first free form of a file name in its folder: the name itself, or with `-1`, `-2` and so on (WordPress
 * `wp_unique_filename`). A name that looks like a size or a derived version of an image always gets a number, and so
 * does a name whose sizes would conflict with those of another file.
 *
 * @param fileNames names of the files in the folder
 */
export function uniqueFileName(name: string, fileNames: readonly string[]): string {
  const names = new Set(fileNames.map((other) => other.toLowerCase()));
  const stems = new Set([...names].flatMap((other) => (DERIVED_STEM_SUFFIX.test(other) ? [other.replace(DERIVED_STEM_SUFFIX, '')] : [])));
  const dot = name.lastIndexOf('.');
  const [stem, extension] = [name.slice(0, dot), name.slice(dot)];
  const isTaken = (candidate: string) => names.has(`${candidate}${extension}`.toLowerCase()) || stems.has(candidate.toLowerCase());
  if (!DERIVED_SUFFIX.test(`${/-[^-]*$/.exec(stem)?.[0] ?? ''}${extension}`) && !isTaken(stem)) return name;
  for (let number = 1; ; number += 1) if (!isTaken(`${stem}-${number}`)) return `${stem}-${number}${extension}`;
}

/** Suffixes that WordPress adds to the name of an image for the files made from it. */
const DERIVED_SUFFIX = /^-(\d+x\d+|scaled|rotated)\.[^.]+$/i;
const DERIVED_STEM_SUFFIX = new RegExp(DERIVED_SUFFIX.source.slice(1), 'i');

/** Returns the start of a name, cut after a whole character. */
function truncateName(name: string): string {
  let start = '';
  let bytes = 0;
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_NAME_BYTES) break;
    start += character;
  }
  return trimEndOf(start, '.-');
}
