import { describe, expect, it } from '@jest/globals';
import { addImageAttributes, type ContentImage, imageTag, taggedImageIds } from '../../../src/wordpress/content/images.ts';

const file = (name: string, width: number, height: number) => ({ url: `https://x.test/wp-content/uploads/2026/01/${name}`, width, height });
const wide: ContentImage = {
  ...file('wide.png', 1200, 800),
  sizes: {
    medium: file('wide-300x200.png', 300, 200),
    thumbnail: file('wide-150x150.png', 150, 150),
    huge: file('wide-2400x1600.png', 2400, 1600),
  },
  alt: 'A "view"',
};
const tiny: ContentImage = { ...file('tiny.png', 10, 10), sizes: {} };
const images = (id: number) => ({ 1: wide, 2: tiny })[id];
const sources = `${wide.url} 1200w, ${wide.sizes.medium?.url} 300w`;

describe('addImageAttributes', () => {
  it.each([
    ['<img src="a.png" onerror="x()">', '<img decoding="async" src="a.png" onerror="x()">'],
    ["<img src='a.png'>", "<img src='a.png'>"],
    ['<img src="a.png" width="5" height="6">', '<img loading="lazy" decoding="async" src="a.png" width="5" height="6">'],
    [
      '<img src="a.png" width="5" height="6" loading="eager" decoding="sync">',
      '<img src="a.png" width="5" height="6" loading="eager" decoding="sync">',
    ],
    [
      '<img src="a.png" width="5" height="6" fetchpriority="high">',
      '<img decoding="async" src="a.png" width="5" height="6" fetchpriority="high">',
    ],
    ['<img src="a.png" width="100%" height="6">', '<img decoding="async" src="a.png" width="100%" height="6">'],
    [
      `<img class="wp-image-2" src="${tiny.url}">`,
      `<img loading="lazy" decoding="async" width="10" height="10" class="wp-image-2" src="${tiny.url}">`,
    ],
    [
      `<img class="wp-image-1" src="${wide.url}" alt=""/>`,
      `<img loading="lazy" decoding="async" width="1200" height="800" class="wp-image-1" src="${wide.url}" alt="" srcset="${sources}" sizes="auto, (max-width: 1200px) 100vw, 1200px" />`,
    ],
    [`<img class="wp-image-1" src="other.png">`, '<img decoding="async" class="wp-image-1" src="other.png">'],
    [`<img class="wp-image-9" src="a.png">`, '<img decoding="async" class="wp-image-9" src="a.png">'],
    ['<iframe src="x" width="1" height="2"></iframe>', '<iframe loading="lazy" src="x" width="1" height="2"></iframe>'],
    ['<iframe src="x"></iframe>', '<iframe src="x"></iframe>'],
    ['<iframe src="x" width="1" height="2" loading="eager"></iframe>', '<iframe src="x" width="1" height="2" loading="eager"></iframe>'],
    ['<imgx src="a">', '<imgx src="a">'],
  ])('rewrites %j', (html, expected) => {
    expect(addImageAttributes(html, images)).toBe(expected);
  });

  it('scales both dimensions to a width set by a style', () => {
    const html = `<img class="wp-image-2" style="width: 5px;" src="${tiny.url}">`;
    expect(addImageAttributes(html, images)).toContain('width="5" height="5"');
  });
});

describe('imageTag', () => {
  it('shows the requested size and offers other sizes of the same shape', () => {
    expect(imageTag(wide, 'medium')).toBe(
      `<img width="300" height="200" src="${wide.sizes.medium?.url}" class="attachment-medium size-medium" alt="A &quot;view&quot;" srcset="${wide.sizes.medium?.url} 300w, ${wide.url} 1200w" sizes="(max-width: 300px) 100vw, 300px" />`,
    );
  });
  it('uses the original file, fitted to the size, if the image does not have that size', () => {
    expect(imageTag(tiny, 'thumbnail')).toBe(
      `<img width="10" height="10" src="${tiny.url}" class="attachment-thumbnail size-thumbnail" alt="" />`,
    );
    expect(imageTag({ ...file('big.png', 600, 300), sizes: {} }, 'medium')).toContain('width="300" height="150"');
  });
});

it('taggedImageIds returns each image once', () => {
  expect(
    taggedImageIds('<img class="a wp-image-7"><img class="wp-image-7"> wp-image-8 <img class="wp-image-0"><img class="wp-image-9" />'),
  ).toEqual([7, 9]);
});
