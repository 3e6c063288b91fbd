import type { Sharp } from 'sharp';
import { limitConcurrency } from '../yielding.ts';
import type { ImageType } from './image-type.ts';
import { imageLibrary } from './sharp.ts';

export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

/** The dimensions of a size made of an image, and for a crop the part of the image that is used. */
export interface Fit extends Dimensions {
  readonly cropArea?: Dimensions & { readonly left: number; readonly top: number };
}

/** A file that cannot be read as an image, or one that would take too much memory. */
export class ImageUnreadable extends Error {
  override readonly name = 'ImageUnreadable';
}

/** An image of which sizes are made. Width and height are those of the upright image. */
export interface Picture extends Dimensions {
  /** Whether it is stored in another orientation. */
  readonly isTurned: boolean;
  /**
   * Makes an upright file of the same type: in a size, or in its own without one. An animation becomes a still image.
   *
   * @throws ImageUnreadable
   */
  readonly draw: (fit: Fit | undefined) => Promise<Buffer>;
}

/**
 * Maximum width and height of the copy from which sizes are made; also `big_image_size_threshold` of WordPress, the
 * largest size that it shows.
 */
export const MAX_COPY_SIZE = 2560;

/**
 * Opens an image. It is decoded once, to a copy from which the sizes are made, since decoding takes by far the most
 * time and memory.
 *
 * @throws ImageUnreadable
 */
export async function openPicture(bytes: Buffer, type: ImageType): Promise<Picture> {
  const sharp = await imageLibrary();
  const openOriginal = () =>
    sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' }).timeout({ seconds: TIMEOUT_SECONDS }).autoOrient();
  const shape = await withPictureLimit(() => readShape(openOriginal(), type));
  const withLimit = pixelsOf(shape) > MAX_SHARED_PIXELS ? withLargePictureLimit : withPictureLimit;
  const copyShape = withinCopySize(shape);
  let copy: Promise<Buffer> | undefined;
  const draw = async (fit: Fit | undefined): Promise<Buffer> => {
    const copiedFit = scaledFit(fit ?? shape, shape, copyShape);
    if (!copiedFit) return withLimit(() => encode(fit ? resize(openOriginal(), fit) : openOriginal(), type)).catch(throwUnreadable);
    copy ??= withLimit(() => makeCopy(openOriginal(), copyShape));
    const copyBytes = await copy.catch(throwUnreadable);
    const openCopy = () => sharp(copyBytes).timeout({ seconds: TIMEOUT_SECONDS });
    return withPictureLimit(() => encode(resize(openCopy(), copiedFit), type)).catch(throwUnreadable);
  };
  return { ...shape, draw };
}

/** Maximum width times height: a small file with more pixels could fill the memory (a decompression bomb). */
const MAX_PIXELS = 100_000_000;
/**
 * Maximum for images of which the library must decode all pixels before it can shrink them: 4 to 7 bytes for each.
 * Others are read in lines.
 */
const MAX_WHOLE_PIXELS = 50_000_000;
/** The same for AVIF, which takes about 18 bytes for each pixel. */
const MAX_AVIF_PIXELS = 25_000_000;
/** An image with more pixels is decoded alone. */
const MAX_SHARED_PIXELS = 16_000_000;
const TIMEOUT_SECONDS = 30;
/**
 * Maximum number of pictures that the process reads or makes at a time. Each may take hundreds of megabytes, and
 * occupies one of the few threads that also read files and compress responses.
 */
const MAX_CONCURRENT_PICTURES = 2;
const withPictureLimit = limitConcurrency(MAX_CONCURRENT_PICTURES);
const oneAtATime = limitConcurrency(1);
/** A large picture waits for the others of its kind first, so that small ones can still be made meanwhile. */
const withLargePictureLimit: typeof withPictureLimit = (work) => oneAtATime(() => withPictureLimit(work));

const throwUnreadable = (cause?: unknown): never => {
  throw new ImageUnreadable('no image that can be read', { cause });
};

const pixelsOf = ({ width, height }: Dimensions): number => width * height;

/**
 * Reads the dimensions after applying the EXIF orientation: 5 to 8 exchange width and height. Throws ImageUnreadable,
 * also for an image that would take too much memory.
 */
async function readShape(picture: Sharp, { mime }: ImageType): Promise<Dimensions & { isTurned: boolean }> {
  const { width, height, orientation = 1, isProgressive } = await picture.metadata().catch(throwUnreadable);
  if (!width || !height) return throwUnreadable();
  if (width * height > maxPixels(mime, isProgressive)) throw new ImageUnreadable(`${width}x${height} pixels are too many`);
  return orientation >= 5 ? { width: height, height: width, isTurned: true } : { width, height, isTurned: orientation > 1 };
}

/** `isProgressive`: whether a JPEG or PNG stores the whole image several times, each time with more details. */
function maxPixels(mime: string, isProgressive: boolean): number {
  if (mime === 'image/avif') return MAX_AVIF_PIXELS;
  return isProgressive || ['image/gif', 'image/webp'].includes(mime) ? MAX_WHOLE_PIXELS : MAX_PIXELS;
}

/** Returns the dimensions of the copy of an image: rounded up, so that no size of 2560 pixels is larger. */
function withinCopySize({ width, height }: Dimensions): Dimensions {
  const longest = Math.max(width, height);
  if (longest <= MAX_COPY_SIZE) return { width, height };
  // Multiplied first, so that an exact quotient is not rounded up.
  return { width: Math.ceil((width * MAX_COPY_SIZE) / longest), height: Math.ceil((height * MAX_COPY_SIZE) / longest) };
}

/** Returns how to make a size from the copy; undefined if the copy is too small for it. */
function scaledFit({ width, height, cropArea }: Fit, image: Dimensions, copy: Dimensions): Fit | undefined {
  const [across, down] = [copy.width / image.width, copy.height / image.height];
  const part = cropArea && {
    left: Math.floor(cropArea.left * across),
    top: Math.floor(cropArea.top * down),
    width: Math.round(cropArea.width * across),
    height: Math.round(cropArea.height * down),
  };
  const available = part ?? copy;
  if (width > available.width || height > available.height) return undefined;
  return part ? { width, height, cropArea: part } : { width, height };
}

/** Makes the copy as an uncompressed PNG, which keeps transparency, color profile and depth. Throws sharp's errors. */
const makeCopy = (original: Sharp, size: Dimensions): Promise<Buffer> =>
  resize(original, size).keepIccProfile().png({ compressionLevel: 0 }).toBuffer();

function resize(picture: Sharp, { width, height, cropArea }: Fit): Sharp {
  return (cropArea ? picture.extract(cropArea) : picture).resize({ width, height, fit: 'fill' });
}

/** Encodes an image. JPEG and WebP have WordPress's qualities: 82 and 86. */
function encode(picture: Sharp, { mime }: ImageType): Promise<Buffer> {
  const plain = picture.keepIccProfile();
  if (mime === 'image/png') return plain.png({ compressionLevel: 9 }).toBuffer();
  if (mime === 'image/gif') return plain.gif().toBuffer();
  if (mime === 'image/webp') return plain.webp({ quality: 86 }).toBuffer();
  if (mime === 'image/avif') return plain.avif({ quality: 60, effort: 2 }).toBuffer();
  return plain.jpeg({ quality: 82, progressive: true }).toBuffer();
}
