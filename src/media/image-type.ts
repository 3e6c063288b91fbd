/** A type of image that the library accepts. */
export interface ImageType {
  readonly mime: string;
  /** The default extension of its files, without dot. */
  readonly extension: string;
  /** All extensions of the type. */
  readonly extensions: readonly string[];
}

const JPEG: ImageType = { mime: 'image/jpeg', extension: 'jpg', extensions: ['jpg', 'jpeg', 'jpe'] };
const PNG: ImageType = { mime: 'image/png', extension: 'png', extensions: ['png'] };
const GIF: ImageType = { mime: 'image/gif', extension: 'gif', extensions: ['gif'] };
const WEBP: ImageType = { mime: 'image/webp', extension: 'webp', extensions: ['webp'] };
const AVIF: ImageType = { mime: 'image/avif', extension: 'avif', extensions: ['avif'] };

/** The MIME type of each extension of library images, in lower case and without dot. */
export const imageMimes: ReadonlyMap<string, string> = new Map(
  [JPEG, PNG, GIF, WEBP, AVIF].flatMap(({ mime, extensions }) => extensions.map((extension) => [extension, mime] as const)),
);

/** MIME types by extension: those of library images, and others that images of other sites may have. */
const MIMES: ReadonlyMap<string, string> = new Map([
  ...imageMimes, ['svg', 'image/svg+xml'], ['bmp', 'image/bmp'], ['ico', 'image/x-icon'], ['tif', 'image/tiff'], ['tiff', 'image/tiff'],
  ['heic', 'image/heic'], ['heif', 'image/heif'],
]); // biome-ignore format: a table

/** Returns the MIME type that the extension of a URL or a file name states; undefined if it is none of images. */
export const imageMimeOf = (address: string): string | undefined => MIMES.get(extensionIn(address));

/** Returns the extension in a URL or a file name, in lower case and without dot; "" if there is none. */
export const extensionIn = (address: string): string => /\.(\w+)$/.exec(address.replace(/[?#].*/s, ''))?.[1]?.toLowerCase() ?? '';

/** Number of bytes in which the brands of an ISO media file are searched. */
const BRAND_BYTES = 64;

/**
 * Returns the type of an image from its first bytes, or undefined for anything else. SVG is not accepted, since it is
 * markup that can contain scripts.
 */
export function imageType(bytes: Uint8Array): ImageType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, BRAND_BYTES)).toString('latin1');
  if (head.startsWith('\xff\xd8\xff')) return JPEG;
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return PNG;
  if (/^GIF8[79]a/.test(head)) return GIF;
  if (/^RIFF[\s\S]{4}WEBP/.test(head)) return WEBP;
  return isAvif(head) ? AVIF : undefined;
}

/** Returns whether bytes are an ISO media file with AVIF as its main brand or one of the others. */
function isAvif(head: string): boolean {
  if (head.slice(4, 8) !== 'ftyp') return false;
  const box = head.slice(8, Math.min(Buffer.from(head.slice(0, 4), 'latin1').readUInt32BE(), head.length));
  return (box.match(/[\s\S]{4}/g) ?? []).some((brand) => brand === 'avif' || brand === 'avis');
}
