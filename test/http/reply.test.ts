import { describe, expect, it } from '@jest/globals';
import { postListReply, termListReply } from '../../src/http/reply.ts';
import { category } from '../../src/kinds/category.ts';
import { event } from '../../src/kinds/event.ts';
import { ANY_LANGUAGE, type Caller } from '../../src/records/caller.ts';
import type { Listing } from '../../src/records/posts.ts';

const caller = (permalinkStructure: string) =>
  ({ content: ANY_LANGUAGE, home: 'https://x.test/it', namespace: 'tribe/events/v1', settings: { permalinkStructure } }) as Caller;
const PRETTY = caller('/%postname%/');
const PLAIN = caller('');
const listing = (page: number, more: Partial<Listing> = {}): Listing => ({
  records: [],
  timeliness: 'never',
  total: 25,
  pages: 3,
  page,
  query: [
    ['per_page', '10'],
    ['start_date', '2030-01-01 00:00:00'],
    ['categories', '7,9'],
  ],
  ...more,
});

const EVENTS = 'https://x.test/it/wp-json/tribe/events/v1/events/?';
const SHAPE = 'per_page=10&start_date=2030-01-01%2000%3A00%3A00&categories=7%2C9';

describe('page of events', () => {
  it('gives the totals in the body and in headers', () => {
    const { status, body, headers } = postListReply(PRETTY, event, listing(1));
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 25, total_pages: 3 });
    expect(headers).toEqual({ 'X-TEC-Total': '25', 'X-TEC-TotalPages': '3', 'X-WP-Total': '25', 'X-WP-TotalPages': '3' });
  });

  it('links to itself and its neighbors with all parameters of the list', () => {
    expect(postListReply(PRETTY, event, listing(2)).body).toMatchObject({
      rest_url: `${EVENTS}page=2&${SHAPE}`,
      next_rest_url: `${EVENTS}${SHAPE}&page=3`,
      previous_rest_url: `${EVENTS}${SHAPE}`,
    });
    expect(postListReply(PRETTY, event, listing(3)).body).toMatchObject({ previous_rest_url: `${EVENTS}${SHAPE}&page=2` });
  });

  it('has its members in the order of the reference', () => {
    expect(Object.keys(postListReply(PRETTY, event, listing(2)).body as object)).toEqual([
      'events',
      'rest_url',
      'next_rest_url',
      'previous_rest_url',
      'total',
      'total_pages',
    ]);
  });

  it.each([
    [1, ['events', 'rest_url', 'next_rest_url', 'total', 'total_pages']],
    [3, ['events', 'rest_url', 'previous_rest_url', 'total', 'total_pages']],
  ])('has no link to a missing neighbor of page %d', (page, keys) => {
    expect(Object.keys(postListReply(PRETTY, event, listing(page)).body as object)).toEqual(keys);
  });

  it('has rest_route URLs on a site without pretty permalinks', () => {
    expect(postListReply(PLAIN, event, listing(1)).body).toMatchObject({
      rest_url: `https://x.test/it/index.php?rest_route=%2Ftribe%2Fevents%2Fv1%2Fevents%2F&page=1&${SHAPE}`,
      next_rest_url: `https://x.test/it/index.php?rest_route=%2Ftribe%2Fevents%2Fv1%2Fevents%2F&${SHAPE}&page=2`,
    });
  });
});

describe('page of categories', () => {
  const CATEGORIES = 'https://x.test/it/wp-json/tribe/events/v1/categories/';

  it('has the page number only in the URLs of its neighbors', () => {
    expect(termListReply(PRETTY, category, listing(2, { query: [] })).body).toEqual({
      rest_url: CATEGORIES,
      total: 25,
      total_pages: 3,
      categories: [],
      next_rest_url: `${CATEGORIES}?page=3`,
      previous_rest_url: CATEGORIES,
    });
  });

  it('past the last one still links to the previous page', () => {
    const body = termListReply(PRETTY, category, listing(9, { query: [['per_page', '2']] })).body;
    expect(body).toMatchObject({ previous_rest_url: `${CATEGORIES}?per_page=2&page=8` });
    expect(body).not.toHaveProperty('next_rest_url');
  });
});
