import { removeAccents } from '../wordpress/accents.ts';
import { trimEndOf, trimOf } from '../wordpress/trim.ts';
import type { ImageType } from './image-type.ts';

/** Bytes of a name before its ending, so that `-2048x2048` and a number still fit into the 255 of a file system. */
const NAME_BYTES = 200;
const WITHOUT_NAME = 'image';

/**
 * Characters that never stand in the name of an upload (`sanitize_file_name`); control characters among them, up to
 * U+009F.
 */
const REFUSED = /[?[\]/\\=<>:;,'"&$#*()|~`!{}%+’«»”“\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/**
 * A file name that is safe to use (WordPress `sanitize_file_name`): no path, no special characters, blanks as hyphens,
 * nothing that a web server could take for the ending of a script before the real one. The ending is one of the image's
 * kind, whatever was asked for.
 */
export function sanitizeFileName(wanted: string, type: ImageType): string {
  const safe = removeAccents(wanted)
    .replaceAll('\u00a0', ' ')
    .replace(/%20|\+/g, '-')
    .replace(REFUSED, '')
    .replace(/[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .replace(/[\r\n\t -]+/g, '-');
  const clean = trimOf(safe, '.-_');
  const ending = /\.([^.]*)$/.exec(clean)?.[1] ?? '';
  const fits = type.extensions.includes(ending.toLowerCase());
  const isImageEnding = IMAGE_ENDING.test(ending);
  const [first = '', ...parts] = (fits || isImageEnding ? clean.slice(0, -ending.length - 1) : clean).split('.');
  const name = [first, ...parts.map((part) => (/^[a-z]{2,5}\d?$/i.test(part) ? `${part}_` : part))].join('.');
  return `${cutName(name) || WITHOUT_NAME}.${fits ? ending.toLowerCase() : type.extension}`;
}

const IMAGE_ENDING = /^(jpe?g|jpe|png|gif|webp|avif|bmp|ico|tiff?|heic|svg)$/i;

/**
 * Whether the ending of a file's name says that it is no image (`wp_check_filetype_and_ext`). A name without one says
 * nothing.
 */
export function namesAnotherType(name: string): boolean {
  const ending = /\.([a-z0-9]{1,8})$/i.exec(name.trim())?.[1];
  return ending !== undefined && !IMAGE_ENDING.test(ending);
}

/**
 * The first free form of a file's name in its folder: itself, or with `-1`, `-2` and so on (WordPress
 * `wp_unique_filename`). Names that look like a size or a derived version of an image are not taken as they are, and
 * neither is a name whose sizes would fall on those of another.
 *
 * @param present names of the files that are in the folder
 */
export function uniqueFileName(name: string, present: readonly string[]): string {
  const names = new Set(present.map((other) => other.toLowerCase()));
  const stems = new Set([...names].flatMap((other) => (DERIVED_END.test(other) ? [other.replace(DERIVED_END, '')] : [])));
  const dot = name.lastIndexOf('.');
  const [stem, ending] = [name.slice(0, dot), name.slice(dot)];
  const isTaken = (form: string) => names.has(`${form}${ending}`.toLowerCase()) || stems.has(form.toLowerCase());
  if (!DERIVED.test(`${/-[^-]*$/.exec(stem)?.[0] ?? ''}${ending}`) && !isTaken(stem)) return name;
  for (let number = 1; ; number += 1) if (!isTaken(`${stem}-${number}`)) return `${stem}-${number}${ending}`;
}

/** What WordPress puts behind the name of an image for the files it makes of it. */
const DERIVED = /^-(\d+x\d+|scaled|rotated)\.[^.]+$/i;
const DERIVED_END = new RegExp(DERIVED.source.slice(1), 'i');

/** The begin of a name, in whole characters. */
function cutName(name: string): string {
  let kept = '';
  let bytes = 0;
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > NAME_BYTES) break;
    kept += character;
  }
  return trimEndOf(kept, '.-');
}
