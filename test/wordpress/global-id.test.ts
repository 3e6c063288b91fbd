import { describe, expect, it } from '@jest/globals';
import { globalId } from '../../src/wordpress/global-id.ts';

describe('globalId', () => {
  it.each([
    ['http://127.0.0.1:8081', '127.0.0.1?id=6'],
    ['https://example.com', 'example.com?id=6'],
    ['https://example.com/it', 'example.com/it?id=6'],
    ['https://example.com/it/', 'example.com/it?id=6'],
  ])('contains neither scheme nor port of %s', (home, id) => expect(globalId(home, 6)).toBe(id));
});
