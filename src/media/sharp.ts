/**
 * The library that reads and writes images. It is loaded with the first image: that takes a tenth of a second, and
 * memory that most processes never need.
 */
export const imageLibrary = async () => (await import('sharp')).default;
