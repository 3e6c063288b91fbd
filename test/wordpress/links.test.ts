import { describe, expect, it } from '@jest/globals';
import { postUrl, restRoot, restUrl, termUrl } from '../../src/wordpress/links.ts';

const home = 'http://example.com';
const PRETTY = '/%postname%/';
const post = (post_type: string, post_status: string, post_name = 'my-slug') => ({ ID: 6, post_type, post_status, post_name });

describe('postUrl', () => {
  const place = { home, permalinkStructure: PRETTY, singleEventSlug: 'event' };
  it.each([
    ['tribe_events', 'publish', 'http://example.com/event/my-slug/'],
    ['tribe_events', 'private', 'http://example.com/event/my-slug/'],
    ['tribe_events', 'draft', 'http://example.com/?post_type=tribe_events&p=6'],
    ['tribe_events', 'future', 'http://example.com/?post_type=tribe_events&p=6'],
    ['tribe_events', 'trash', 'http://example.com/?post_type=tribe_events&p=6'],
    ['tribe_venue', 'publish', 'http://example.com/venue/my-slug/'],
    ['tribe_organizer', 'publish', 'http://example.com/organizer/my-slug/'],
    ['tribe_organizer', 'pending', 'http://example.com/?post_type=tribe_organizer&p=6'],
  ])('returns the URL of a %s with the status %s', (type, status, url) => expect(postUrl(place, post(type, status))).toBe(url));
  it.each([
    [{ singleEventSlug: 'appuntamento' }, 'http://example.com/appuntamento/my-slug/'],
    [{ home: 'http://example.com/it' }, 'http://example.com/it/event/my-slug/'],
    [{ permalinkStructure: '/%year%/%postname%' }, 'http://example.com/event/my-slug'],
    [{ permalinkStructure: '/blog/%postname%/' }, 'http://example.com/event/my-slug/'],
    [{ permalinkStructure: '/index.php/%postname%/' }, 'http://example.com/index.php/event/my-slug/'],
    [{ permalinkStructure: '' }, 'http://example.com/?tribe_events=my-slug'],
  ])('follows the settings %j', (change, url) => expect(postUrl({ ...place, ...change }, post('tribe_events', 'publish'))).toBe(url));
  it('keeps percent-encoded slugs', () =>
    expect(postUrl(place, post('tribe_venue', 'publish', '%e6%97%a5'))).toBe('http://example.com/venue/%e6%97%a5/'));
});

describe('termUrl', () => {
  const place = { home, permalinkStructure: PRETTY, eventsSlug: 'events', tagBase: '' };
  const jazz = { taxonomy: 'tribe_events_cat', slug: 'jazz' };
  const free = { taxonomy: 'post_tag', slug: 'free' };
  it('includes the parents of a category', () =>
    expect(termUrl(place, jazz, ['music', 'concerts'])).toBe('http://example.com/events/category/music/concerts/jazz/'));
  it.each([
    [{}, 'http://example.com/tag/free/'],
    [{ tagBase: 'tag' }, 'http://example.com/tag/free/'],
    [{ tagBase: 'argomento' }, 'http://example.com/argomento/free/'],
    [{ permalinkStructure: '/blog/%postname%/' }, 'http://example.com/blog/tag/free/'],
    [{ permalinkStructure: '/blog/%postname%/', tagBase: 'thema' }, 'http://example.com/thema/free/'],
    [{ permalinkStructure: '/%year%/%monthnum%/%postname%/' }, 'http://example.com/tag/free/'],
    [{ permalinkStructure: '/index.php/%postname%/' }, 'http://example.com/index.php/tag/free/'],
    [{ permalinkStructure: '' }, 'http://example.com/?tag=free'],
  ])('returns the URL of a tag with the settings %j', (change, url) => expect(termUrl({ ...place, ...change }, free)).toBe(url));
  it('uses a query for a category without permalinks', () =>
    expect(termUrl({ ...place, permalinkStructure: '' }, jazz, ['music'])).toBe('http://example.com/?tribe_events_cat=jazz'));
});

describe('restRoot and restUrl', () => {
  it.each([
    [PRETTY, 'http://example.com/wp-json/'],
    ['/index.php/%postname%/', 'http://example.com/index.php/wp-json/'],
    ['', 'http://example.com/index.php?rest_route=/'],
  ])('follow the permalink structure %j', (permalinkStructure, root) => {
    expect(restRoot({ home, permalinkStructure })).toBe(root);
    expect(restUrl({ home, settings: { permalinkStructure } }, 'ns/v1/events/6')).toBe(`${root}ns/v1/events/6`);
  });
  const query = [
    ['page', '2'],
    ['start_date', '2030-01-01 00:00:00'],
    ['search', 'a&b=ü'],
  ] as const;
  const encoded = 'page=2&start_date=2030-01-01%2000%3A00%3A00&search=a%26b%3D%C3%BC';
  it('percent-encode parameters', () =>
    expect(restUrl({ home, settings: { permalinkStructure: PRETTY } }, 'ns/v1/events/', query)).toBe(
      `http://example.com/wp-json/ns/v1/events/?${encoded}`,
    ));
  it('append parameters to a route that is itself a parameter', () =>
    expect(restUrl({ home, settings: { permalinkStructure: '' } }, 'ns/v1/events/', query)).toBe(
      `http://example.com/index.php?rest_route=%2Fns%2Fv1%2Fevents%2F&${encoded}`,
    ));
});
