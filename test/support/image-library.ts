import { imageLibrary } from '../../src/media/sharp.ts';

/**
 * The library that reads and writes images, in the instance of the sources. Another one would set the cache, which all
 * instances share, to its own default.
 */
export const sharp = await imageLibrary();
