/**
 * Loads the library that reads and writes images. It is loaded when the first image is processed, since that takes a
 * tenth of a second, and memory that most processes never need.
 */
export const imageLibrary = async () => (await import('sharp')).default;
