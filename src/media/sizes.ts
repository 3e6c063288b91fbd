import type { ImageType } from './image-type.ts';
import { type Dimensions, type Fit, MAX_COPY_SIZE, openPicture } from './picture.ts';

/**
 * A size that the site makes of every image. A dimension of 0 is unlimited. `crop`: exactly this size, cut from the
 * center.
 */
export interface SizeRule {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly crop: boolean;
}

/** The value of `_wp_attachment_metadata`, ready to be serialized; the order of its members is WordPress's. */
export type ImageMetadata = Readonly<Record<string, unknown>>;

/**
 * The result of making sizes. `file`: name of the file to show, which is not the original if that was too large or
 * rotated.
 */
export interface MadeSizes {
  readonly file: string;
  readonly metadata: ImageMetadata;
}

/**
 * Returns the sizes of the site in the order in which WordPress makes them (`wp_get_registered_image_subsizes`,
 * `_wp_make_subsizes`), from its options.
 */
export function sizeRules(options: ReadonlyMap<string, string>): SizeRule[] {
  const measure = (name: string, fallback: number) => Math.max(0, Number.parseInt(options.get(name) ?? String(fallback), 10) || 0);
  const rule = (name: string, width: number, height: number, crop = false): SizeRule => ({
    name,
    width: measure(`${name}_size_w`, width),
    height: measure(`${name}_size_h`, height),
    crop,
  });
  return [
    rule('medium', 300, 300),
    rule('large', 1024, 1024),
    rule('thumbnail', 150, 150, !['', '0'].includes(options.get('thumbnail_crop') ?? '1')),
    rule('medium_large', 768, 0),
    { name: '1536x1536', width: 1536, height: 1536, crop: false },
    { name: '2048x2048', width: 2048, height: 2048, crop: false },
  ].filter(({ width, height }) => width > 0 || height > 0);
}

/** Returns the dimensions of a size, or undefined if the image is too small for it (`image_resize_dimensions`). */
export function fitSize(image: Dimensions, rule: Omit<SizeRule, 'name'>): Fit | undefined {
  const fit = rule.crop ? cropToFill(image, rule) : fitWithin(image, rule);
  const isSame = (one: number, other: number) => Math.abs(one - other) <= 1;
  return isSame(fit.width, image.width) && isSame(fit.height, image.height) ? undefined : fit;
}

/**
 * Writes the sizes of an image next to it and returns the metadata of all of them (`wp_create_image_subsizes`):
 * `name-300x200.png`; an image above 2560 pixels (except PNG) gets a smaller replacement `name-scaled.jpg`, and one
 * stored in another orientation an upright `name-rotated.jpg`. Animations become still images in the sizes.
 *
 * @param file the name of the image in its folder; `subfolder`: the folder as in metadata, e.g. `2026/11/`
 * @param write writes a file into that folder
 * @throws ImageUnreadable, or the error of `write`
 */
export async function makeSizes(
  { bytes, type, file, subfolder }: { bytes: Buffer; type: ImageType; file: string; subfolder: string },
  rules: readonly SizeRule[],
  write: (name: string, bytes: Buffer) => Promise<void>,
): Promise<MadeSizes> {
  const { isTurned, draw, ...image } = await openPicture(bytes, type);
  const save = async (fit: Fit | undefined, name: string): Promise<Buffer> => {
    const content = await draw(fit);
    await write(name, content);
    return content;
  };
  const display = await makeDisplayCopy({ image, isTurned, type, file }, save);

  const sizes: Record<string, unknown> = {};
  for (const rule of rules) {
    const fit = fitSize(image, rule);
    if (!fit) continue;
    const name = withSuffix(file, `${fit.width}x${fit.height}`);
    const content = await save(fit, name);
    sizes[rule.name] = { file: name, width: fit.width, height: fit.height, 'mime-type': type.mime, filesize: content.length };
  }
  const metadata = {
    width: display?.width ?? image.width,
    height: display?.height ?? image.height,
    file: subfolder + (display?.file ?? file),
    filesize: display?.filesize ?? bytes.length,
    sizes,
    image_meta: { ...EMPTY_IMAGE_META, orientation: display ? 1 : EMPTY_IMAGE_META.orientation },
    ...(display ? { original_image: file } : {}),
  };
  return { file: display?.file ?? file, metadata };
}

/** The image metadata that WordPress stores (`wp_read_image_metadata`), for an image without EXIF and IPTC data. */
const EMPTY_IMAGE_META = {
  aperture: '0', credit: '', camera: '', caption: '', created_timestamp: '0', copyright: '', focal_length: '0', iso: '0', shutter_speed: '0',
  title: '', orientation: '0', keywords: [], alt: '',
}; // biome-ignore format: a table

interface DisplayCopy extends Dimensions {
  readonly file: string;
  readonly filesize: number;
}

/**
 * Creates the file that is shown instead of the original, if one is needed. PNG images are not scaled down, since a
 * smaller PNG may be a larger file.
 */
async function makeDisplayCopy(
  { image, isTurned, type, file }: { image: Dimensions; isTurned: boolean; type: ImageType; file: string },
  save: (fit: Fit | undefined, name: string) => Promise<Buffer>,
): Promise<DisplayCopy | undefined> {
  const large = type.mime !== 'image/png' && Math.max(image.width, image.height) > MAX_COPY_SIZE;
  const fit = large ? fitSize(image, { width: MAX_COPY_SIZE, height: MAX_COPY_SIZE, crop: false }) : undefined;
  if (!fit && !isTurned) return undefined;
  const name = withSuffix(file, fit ? 'scaled' : 'rotated');
  const content = await save(fit, name);
  return { width: fit?.width ?? image.width, height: fit?.height ?? image.height, file: name, filesize: content.length };
}

/** Returns the name of a file made from another one. */
const withSuffix = (file: string, suffix: string): string => file.replace(/(\.[^.]+)$/, `-${suffix}$1`);

/** `wp_constrain_dimensions`: fits an image into both dimensions, keeping the proportions, without enlarging it. */
function fitWithin({ width, height }: Dimensions, rule: Dimensions): Fit {
  const widthRatio = rule.width > 0 && width > rule.width ? rule.width / width : 1;
  const heightRatio = rule.height > 0 && height > rule.height ? rule.height / height : 1;
  const fits = (ratio: number) => Math.round(width * ratio) <= rule.width && Math.round(height * ratio) <= rule.height;
  const larger = Math.max(widthRatio, heightRatio);
  const ratio = fits(larger) ? larger : Math.min(widthRatio, heightRatio);
  // Rounding may end one pixel below the limiting dimension.
  const scaled = (length: number, limit: number, isLimiting: boolean) => {
    const rounded = Math.max(1, Math.round(length * ratio));
    return isLimiting && rounded === limit - 1 ? limit : rounded;
  };
  return { width: scaled(width, rule.width, widthRatio < 1), height: scaled(height, rule.height, heightRatio < 1) };
}

/**
 * Returns the center of the image, in the proportions of the size. A dimension in which the image is smaller is not
 * enlarged.
 */
function cropToFill(image: Dimensions, rule: Dimensions): Fit {
  const shape = image.width / image.height;
  const [cropWidth, cropHeight] = [Math.min(rule.width, image.width), Math.min(rule.height, image.height)];
  const width = Math.max(1, cropWidth || Math.round(cropHeight * shape));
  const height = Math.max(1, cropHeight || Math.round(cropWidth / shape));
  const ratio = Math.max(width / image.width, height / image.height);
  const part = { width: Math.round(width / ratio), height: Math.round(height / ratio) };
  const middle = { left: Math.floor((image.width - part.width) / 2), top: Math.floor((image.height - part.height) / 2) };
  return { width, height, cropArea: { ...middle, ...part } };
}
