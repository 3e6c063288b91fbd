import sharp from 'sharp';

/** A picture drawn as SVG, as the bytes of a JPEG file. The drawing must be our own: SVG from elsewhere can refer to files. */
export const drawnPicture = (svg: string): Promise<Buffer> => sharp(Buffer.from(svg)).jpeg({ quality: 84, progressive: true }).toBuffer();
