import { imageLibrary } from './sharp.ts';

/**
 * Renders an SVG drawing as the bytes of a JPEG file. The drawing must be our own, since SVG from other sources can
 * refer to files.
 */
export async function renderDrawing(svg: string): Promise<Buffer> {
  const sharp = await imageLibrary();
  return sharp(Buffer.from(svg)).jpeg({ quality: 84, progressive: true }).toBuffer();
}
