import { describe, expect, it } from '@jest/globals';
import { homeAddress, siteAddress } from '../../src/wordpress/site-address.ts';

describe('siteAddress', () => {
  it.each([
    ['https://example.org', 'https://example.org'],
    ['https://example.org/blog/', 'https://example.org/blog'],
    ['HTTP://Example.org:8080', 'HTTP://Example.org:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    [' https://example.org ', 'https://example.org'],
    ['//example.org/blog', 'http://example.org/blog'],
    ['example.org', 'http://example.org'],
    ['localhost:8080/blog', 'http://localhost:8080/blog'],
    ['', undefined],
    ['/', undefined],
    ['/blog', undefined],
    ['https://', undefined],
    ['https:///blog', undefined],
    ['http://?x', undefined],
    ['https://exa mple.org', undefined],
    ['https://example.org:99999', undefined],
    ['ftp://example.org', undefined],
    ['javascript:alert(1)', undefined],
    ['garbage', undefined],
    ['<b>', undefined],
    [undefined, undefined],
  ])('takes %j for %j', (stored, address) => expect(siteAddress(stored)).toBe(address));
});

describe('homeAddress', () => {
  it.each([
    ['https://example.org', 'https://other.example', 'https://example.org'],
    ['/blog', 'https://other.example', 'https://other.example'],
    ['/blog/', '', 'http://localhost:8080/blog'],
    ['/blog?x=<b>', '', 'http://localhost:8080'],
    ['', '', 'http://localhost:8080'],
  ])('of %j and %j is %j', (home, siteurl, address) => expect(homeAddress({ home, siteurl }, 'http://localhost:8080')).toBe(address));
});
