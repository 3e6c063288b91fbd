import { describe, expect, it } from '@jest/globals';
import { addressOf, basePath, languageOfAddress, originForm, splitTarget } from '../../src/http/addressing.ts';

const ROOT = { base: '', languages: ['en', 'it'] };
const CMS = { base: '/cms', languages: ['en', 'it'] };

describe('addressOf', () => {
  it.each([
    ['/wp-json', '/'],
    ['/wp-json/', '/'],
    ['/wp-json/tribe/events/v1', '/tribe/events/v1'],
    ['/wp-json/tribe/events/v1/', '/tribe/events/v1'],
    ['/wp-json/tribe/events/v1/events/44', '/tribe/events/v1/events/44'],
    ['/index.php/wp-json/tribe/events/v1/events/44', '/tribe/events/v1/events/44'],
    ['/wp-json/tribe/events/v1/events//44', '/tribe/events/v1/events//44'],
    ['/wp-json/tribe/events/v1/events/by-slug/a%2Fb', '/tribe/events/v1/events/by-slug/a%2Fb'],
  ])('maps %s to the route %s', (path, route) => {
    expect(addressOf(path, undefined, ROOT)).toEqual({ route, language: undefined });
  });

  it.each([
    ['/', '/tribe/events/v1/events'],
    ['/index.php', '/tribe/events/v1/events'],
    ['/', '/tribe/events/v1/events/'],
  ])('maps %s with rest_route=%s to the list of events', (path, restRoute) => {
    expect(addressOf(path, restRoute, ROOT)).toEqual({ route: '/tribe/events/v1/events', language: undefined });
  });

  it('keeps a rest_route without a leading slash unchanged', () => {
    expect(addressOf('/', 'tribe/events/v1', ROOT)?.route).toBe('tribe/events/v1');
  });

  it.each([
    ['/it/wp-json/tribe/events/v1/events', undefined],
    ['/it/index.php/wp-json/tribe/events/v1/events', undefined],
    ['/index.php/it/wp-json/tribe/events/v1/events', undefined],
    ['/language/it/wp-json/tribe/events/v1/events', undefined],
    ['/it/', '/tribe/events/v1/events'],
    ['/it', '/tribe/events/v1/events'],
    ['/it/index.php', '/tribe/events/v1/events'],
  ])('finds the language in %s', (path, restRoute) => {
    expect(addressOf(path, restRoute, ROOT)).toEqual({ route: '/tribe/events/v1/events', language: 'it' });
  });

  it.each([
    ['/cms/wp-json/tribe/events/v1', undefined, undefined],
    ['/cms/it/wp-json/tribe/events/v1', undefined, 'it'],
    ['/cms/', '/tribe/events/v1', undefined],
    ['/cms', '/tribe/events/v1', undefined],
    ['/wp-json/tribe/events/v1', undefined, undefined],
  ])('maps %s on a site in a subfolder', (path, restRoute, language) => {
    expect(addressOf(path, restRoute, CMS)).toEqual({ route: '/tribe/events/v1', language });
  });

  it.each([
    ['//wp-json/tribe/events/v1', undefined, undefined],
    ['///wp-json/tribe/events/v1/', undefined, undefined],
    ['//index.php/wp-json/tribe/events/v1', undefined, undefined],
    ['/index.php//wp-json/tribe/events/v1', undefined, undefined],
    ['//it/wp-json/tribe/events/v1', undefined, 'it'],
    ['//', '/tribe/events/v1', undefined],
    ['//index.php', '/tribe/events/v1', undefined],
    ['//index.php//', '/tribe/events/v1', undefined],
    ['//it/', '/tribe/events/v1', 'it'],
  ])('maps %s with rest_route=%s, where a home ends with a slash', (path, restRoute, language) => {
    expect(addressOf(path, restRoute, ROOT)).toEqual({ route: '/tribe/events/v1', language });
  });

  it.each([
    ['/cms//wp-json/tribe/events/v1', undefined],
    ['//cms//wp-json/tribe/events/v1', undefined],
    ['//wp-json/tribe/events/v1', undefined],
    ['/cms//', '/tribe/events/v1'],
  ])('maps %s with rest_route=%s, where a home in a subfolder ends with a slash', (path, restRoute) => {
    expect(addressOf(path, restRoute, CMS)).toEqual({ route: '/tribe/events/v1', language: undefined });
  });

  it('keeps double slashes at the start of the route', () => {
    expect(addressOf('//wp-json//tribe/events/v1', undefined, ROOT)?.route).toBe('//tribe/events/v1');
  });

  it.each([
    ['/', undefined],
    ['/', ''],
    ['/', ['/tribe/events/v1']],
    ['/events/', '/tribe/events/v1'],
    ['/de/wp-json/tribe/events/v1', undefined],
    ['/it/en/wp-json/tribe/events/v1', undefined],
    ['/wp-jsonx/tribe', undefined],
    ['/other/wp-json/tribe', undefined],
    ['/it//wp-json/tribe/events/v1', undefined],
    ['//evil.example/wp-json/tribe/events/v1', undefined],
  ])('returns undefined for %s with rest_route %j', (path, restRoute) => {
    expect(addressOf(path, restRoute, ROOT)).toBeUndefined();
  });
});

describe('the language of an address', () => {
  it.each([
    ['/it/wp-json/tribe/events/v1', undefined, 'it'],
    ['/index.php/it/', '/tribe/events/v1', 'it'],
    ['/language/it/nothing/here', undefined, 'it'],
    ['//cms//it/wp-json//x', undefined, 'it'],
    ['/cms/it/wp-json//x', undefined, 'it'],
    ['/wp-json/it', undefined, undefined],
    ['/de/events', undefined, undefined],
  ])('in %s with rest_route %j is %j', (path, restRoute, language) => {
    expect(languageOfAddress(path, restRoute, CMS)).toBe(language);
  });
});

describe('request target', () => {
  it.each([
    ['/wp-json/?a=1&b=%20', '/wp-json/', 'a=1&b=%20'],
    ['/a?b?c', '/a', 'b?c'],
    ['http://example.test/wp-json/x?y=1', '/wp-json/x', 'y=1'],
    ['http://example.test', '/', ''],
    ['HTTPS://example.test:80?y=1', '/', 'y=1'],
    ['/a#b?c', '/a', ''],
  ])('%s is split into path and query', (target, path, query) => {
    expect(splitTarget(target)).toEqual({ path, query });
  });

  it.each([
    ['http://example.test/wp-json/x?y=1#z', '/wp-json/x?y=1#z'],
    ['https://user@example.test', '/'],
    ['http://example.test?y=1', '/?y=1'],
    ['http://example.test//two', '//two'],
    ['/http://example.test/', '/http://example.test/'],
    ['//example.test/', '//example.test/'],
    ['*', '*'],
    ['', ''],
  ])('%s has the origin form %s', (target, form) => {
    expect(originForm(target)).toBe(form);
  });

  it.each([
    ['https://example.test', ''],
    ['https://example.test/', ''],
    ['https://example.test/cms/', '/cms'],
    ['', ''],
  ])('has the base path of the home %j', (home, base) => {
    expect(basePath(home)).toBe(base);
  });
});
