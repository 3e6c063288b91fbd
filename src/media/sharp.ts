type ImageLibrary = typeof import('sharp')['default'];

let library: Promise<ImageLibrary> | undefined;

/**
 * Loads the library that reads and writes images. It is loaded when the first image is processed, since that takes a
 * tenth of a second, and memory that most processes never need.
 */
export const imageLibrary = (): Promise<ImageLibrary> => {
  library ??= load();
  return library;
};

/** Its cache is off, since it keeps whole decoded images, up to 400 MB each, although no image is read twice. */
async function load(): Promise<ImageLibrary> {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  return sharp;
}
