import { createRequire } from 'node:module';

type ImageLibrary = typeof import('sharp')['default'];

let library: ImageLibrary | undefined;

/**
 * Loads the library that reads and writes images. It is loaded when the first image is processed, since that takes a
 * tenth of a second, and memory that most processes never need. If that fails, as without free file descriptors, the
 * next image loads it again: `require` does so, while `import` remembers a failure for ever.
 */
export const imageLibrary = async (): Promise<ImageLibrary> => {
  library ??= load();
  return library;
};

/** Its cache is off, since it keeps whole decoded images, up to 400 MB each, although no image is read twice. */
function load(): ImageLibrary {
  const sharp: ImageLibrary = createRequire(import.meta.url)('sharp');
  sharp.cache(false);
  return sharp;
}
