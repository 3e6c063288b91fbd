import { expect, it } from '@jest/globals';
import { blogUrl } from '../../src/wordpress/blog-links.ts';

const POST = { ID: 5, post_type: 'post', post_name: 'news', post_date: '2026-11-27 18:00:00' } as Parameters<typeof blogUrl>[1];

it.each([
  ['/%year%/%monthnum%/%postname%/', '/2026/11/news/'],
  ['/archives/%post_id%', '/archives/5'],
  ['/%constructor%/%postname%/', '/%constructor%/news/'],
  ['/%category%/%postname%/', '/?p=5'],
])('the URL of a post follows the permalink structure %s', (permalinkStructure, path) => {
  expect(blogUrl({ home: 'https://example.org', permalinkStructure }, POST)).toBe(`https://example.org${path}`);
});
