import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { imageType } from '../../src/media/image-type.ts';
import { ImageUnreadable, openPicture } from '../../src/media/picture.ts';
import { fitSize, makeSizes, sizeRules } from '../../src/media/sizes.ts';
import { parseSerialized } from '../../src/wordpress/php/serialized.ts';
import { sharp } from '../support/image-library.ts';
import { FIXTURES, readFixture } from '../support/site-data.mjs';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fasti-sizes-'));
});
afterAll(() => rm(folder, { recursive: true }));

const plain = (width: number, height: number, format: 'png' | 'jpeg' | 'webp' | 'gif' | 'avif') =>
  sharp({ create: { width, height, channels: 3, background: '#c06040' } })
    .toFormat(format)
    .toBuffer();

/** Writes other dimensions into the header of an image of 10 x 10 pixels. */
const claims: Record<'png' | 'jpeg' | 'webp' | 'gif' | 'avif', (bytes: Buffer, size: number) => void> = {
  png: (bytes, size) => [16, 20].forEach((at) => void bytes.writeUInt32BE(size, at)),
  jpeg: (bytes, size) => [5, 7].forEach((at) => void bytes.writeUInt16BE(size, bytes.indexOf(Buffer.of(0xff, 0xc2)) + at)),
  gif: (bytes, size) => {
    const frame = bytes.indexOf(Buffer.of(0x2c, 0, 0, 0, 0, 10, 0));
    for (const at of [6, 8, frame + 5, frame + 7]) bytes.writeUInt16LE(size, at);
  },
  webp: (bytes, size) => void bytes.writeUInt32LE((size - 1) * 2 ** 14 + size - 1, bytes.indexOf('VP8L') + 9),
  avif: (bytes, size) => [8, 12].forEach((at) => void bytes.writeUInt32BE(size, bytes.indexOf('ispe') + at)),
};

/** Returns a small file that claims to be a large image, in the form that is decoded whole. */
async function wholeImage(format: keyof typeof claims, size: number): Promise<Buffer> {
  const picture = sharp({ create: { width: 10, height: 10, channels: 3, background: '#c06040' } });
  const bytes = await picture.toFormat(format, format === 'webp' ? { lossless: true } : { progressive: true }).toBuffer();
  claims[format](bytes, size);
  return bytes;
}

async function made(bytes: Buffer, file: string, options: Record<string, string> = {}) {
  const type = imageType(bytes)!;
  const written: string[] = [];
  const write = (name: string, content: Buffer) => {
    written.push(join(folder, name));
    return writeFile(join(folder, name), content);
  };
  const result = await makeSizes({ bytes, type, file, subfolder: '2026/11/' }, sizeRules(new Map(Object.entries(options))), write);
  return {
    ...result,
    written,
    metadata: result.metadata as {
      width: number;
      height: number;
      file: string;
      sizes: Record<string, { file: string; filesize: number }>;
      [key: string]: unknown;
    },
  };
}

it('makeSizes works on two images at a time, so that threads remain for everything else', async () => {
  const bytes = await plain(1200, 800, 'webp');
  const busy: number[] = [];
  const looking = setInterval(() => busy.push(sharp.counters().process + sharp.counters().queue), 1);
  await Promise.all(Array.from({ length: 12 }, (_, place) => made(bytes, `at-once-${place}.webp`)));
  clearInterval(looking);
  expect(busy.length).toBeGreaterThan(5);
  // A finished image may still be counted until the next one has started.
  expect(Math.max(...busy)).toBeLessThanOrEqual(4);
});

describe('fitSize', () => {
  const rule = (width: number, height: number, crop = false) => ({ width, height, crop });

  it.each([
    [1200, 800, rule(300, 300), '300x200'],
    [1200, 800, rule(1024, 1024), '1024x683'],
    [1200, 800, rule(768, 0), '768x512'],
    [1200, 800, rule(150, 150, true), '150x150'],
    [1200, 800, rule(1536, 1536), undefined],
    [10, 10, rule(150, 150, true), undefined],
    [300, 200, rule(300, 300), undefined],
    [301, 200, rule(300, 300), undefined],
    [302, 200, rule(300, 300), '300x199'],
    [800, 1200, rule(300, 300), '200x300'],
    [1200, 100, rule(150, 150, true), '150x100'],
    [100, 1200, rule(150, 150, true), '100x150'],
    [1200, 800, rule(0, 200), '300x200'],
    [5000, 1, rule(300, 300), '300x1'],
    [1999, 1333, rule(1024, 1024), '1024x683'],
  ])('shrinks %d x %d with %j to %s', (width, height, wanted, result) => {
    const fit = fitSize({ width, height }, wanted);
    expect(fit && `${fit.width}x${fit.height}`).toBe(result);
  });

  it('crops from the middle', () => {
    expect(fitSize({ width: 1200, height: 800 }, rule(150, 150, true))?.cropArea).toEqual({ left: 200, top: 0, width: 800, height: 800 });
  });
});

describe('sizeRules', () => {
  it('are those of WordPress, in its order, without options', () => {
    expect(sizeRules(new Map()).map(({ name }) => name)).toEqual([
      'medium',
      'large',
      'thumbnail',
      'medium_large',
      '1536x1536',
      '2048x2048',
    ]);
  });

  it('follow the options of the site, where 0 x 0 means no size', () => {
    const options = new Map([
      ['thumbnail_size_w', '100'],
      ['thumbnail_size_h', '80'],
      ['thumbnail_crop', '0'],
      ['large_size_w', '0'],
      ['large_size_h', '0'],
    ]);
    const rules = sizeRules(options);
    expect(rules.find(({ name }) => name === 'thumbnail')).toEqual({ name: 'thumbnail', width: 100, height: 80, crop: false });
    expect(rules.find(({ name }) => name === 'large')).toBeUndefined();
  });
});

describe('makeSizes', () => {
  it('describes the sample image as WordPress did, except for file sizes', async () => {
    const bytes = await readFile(new URL('uploads/2026/11/wide.png', FIXTURES));
    const row = readFixture().postmeta!.rows.find(([, post, key]) => post === 11 && key === '_wp_attachment_metadata');
    const lengths = (text: string) => text.replace(/"filesize":\d+/g, '"filesize":0');
    const { metadata, file } = await made(bytes, 'wide.png');
    expect(lengths(JSON.stringify(metadata))).toBe(lengths(JSON.stringify(parseSerialized(String(row![3])))));
    expect(metadata.filesize).toBe(bytes.length);
    expect(file).toBe('wide.png');
  });

  it.each(['png', 'jpeg', 'webp', 'gif', 'avif'] as const)(
    'makes files of the same format from %s, with the announced dimensions',
    async (format) => {
      const { metadata, written } = await made(await plain(400, 200, format), `kind.${format}`);
      expect(Object.keys(metadata.sizes)).toEqual(['medium', 'thumbnail']);
      for (const size of Object.values(metadata.sizes)) {
        const bytes = await readFile(join(folder, size.file));
        expect(size).toMatchObject({ 'mime-type': `image/${format}`, filesize: bytes.length });
        const { width, height } = await sharp(bytes).metadata();
        expect(size.file).toBe(`kind-${width}x${height}.${format}`);
        expect(imageType(bytes)?.mime).toBe(`image/${format}`);
        expect(written).toContain(join(folder, size.file));
      }
    },
  );

  it('makes a scaled copy of an image above 2560 pixels, and names the sizes after the original', async () => {
    const { file, metadata } = await made(await plain(3000, 1500, 'jpeg'), 'large.jpg');
    expect(file).toBe('large-scaled.jpg');
    expect(metadata).toMatchObject({ width: 2560, height: 1280, file: '2026/11/large-scaled.jpg', original_image: 'large.jpg' });
    expect(Object.keys(metadata.sizes)).toEqual(['medium', 'large', 'thumbnail', 'medium_large', '1536x1536', '2048x2048']);
    expect(metadata.sizes.medium?.file).toBe('large-300x150.jpg');
    expect(await sharp(join(folder, 'large-scaled.jpg')).metadata()).toMatchObject({ width: 2560, height: 1280 });
  });

  it('does not scale down a large PNG', async () => {
    const { file, metadata } = await made(await plain(3000, 100, 'png'), 'long.png');
    expect(file).toBe('long.png');
    expect(metadata).toMatchObject({ width: 3000, height: 100 });
    expect(metadata).not.toHaveProperty('original_image');
  });

  it('rotates an image according to its EXIF orientation', async () => {
    const bytes = await sharp({ create: { width: 400, height: 200, channels: 3, background: '#c06040' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const { file, metadata } = await made(bytes, 'side.jpg');
    expect(file).toBe('side-rotated.jpg');
    expect(metadata).toMatchObject({ width: 200, height: 400, original_image: 'side.jpg', image_meta: { orientation: 1 } });
    expect(metadata.sizes.medium?.file).toBe('side-150x300.jpg');
  });

  it('refuses an image that would exhaust the memory', async () => {
    // The header of the PNG claims 30000 x 30000 pixels in a file of a few hundred bytes.
    const bomb = await plain(10, 10, 'png');
    bomb.writeUInt32BE(30_000, 16);
    bomb.writeUInt32BE(30_000, 20);
    await expect(made(bomb, 'bomb.png')).rejects.toThrow(ImageUnreadable);
  });

  it.each([
    ['a GIF', 50, 'gif', 7100],
    ['a WebP', 50, 'webp', 7100],
    ['an AVIF', 25, 'avif', 5100],
    ['a progressive JPEG', 50, 'jpeg', 7100],
    ['an interlaced PNG', 50, 'png', 7100],
  ] as const)('refuses %s of more than %d megapixels, which would be decoded whole', async (_kind, _limit, format, width) => {
    await expect(made(await wholeImage(format, width), 'whole')).rejects.toThrow(/pixels are too many/);
  });

  it('decodes an image once for all its sizes, and keeps nothing of it', async () => {
    const bytes = await plain(3000, 2000, 'jpeg');
    const { draw } = await openPicture(bytes, imageType(bytes)!);
    const sizes = [
      { width: 2560, height: 1707 },
      { width: 300, height: 200 },
    ];
    const first = await draw(sizes[0]);
    bytes.fill(0);
    expect(await sharp(first).metadata()).toMatchObject(sizes[0]!);
    expect(await sharp(await draw(sizes[1])).metadata()).toMatchObject(sizes[1]!);
    expect(sharp.cache()).toMatchObject({ memory: { max: 0 }, items: { current: 0, max: 0 } });
  });

  it('cuts a size from the middle of an image that has been made smaller, even if it is long', async () => {
    const half = (width: number, background: string) =>
      sharp({ create: { width, height: 200, channels: 3, background } })
        .png()
        .toBuffer();
    const bytes = await sharp(await half(8000, '#ff0000'))
      .composite([{ input: await half(4000, '#0000ff'), left: 4000, top: 0 }])
      .png()
      .toBuffer();
    await made(bytes, 'halves.png');
    const { data, info } = await sharp(join(folder, 'halves-150x150.png')).raw().toBuffer({ resolveWithObject: true });
    const pixel = (x: number) => [...data.subarray((75 * info.width + x) * info.channels, (75 * info.width + x) * info.channels + 3)];
    expect([pixel(70), pixel(80)]).toEqual([
      [255, 0, 0],
      [0, 0, 255],
    ]);
  });

  it('refuses a truncated image', async () => {
    const bytes = await sharp(Buffer.from(Array.from({ length: 400 * 300 * 3 }, (_, place) => (place * 7919) % 251)), {
      raw: { width: 400, height: 300, channels: 3 },
    })
      .jpeg()
      .toBuffer();
    const before = await readdir(folder);
    await expect(made(bytes.subarray(0, bytes.length / 2), 'torn.jpg')).rejects.toThrow(ImageUnreadable);
    expect(await readdir(folder)).toEqual(before);
  });
});
