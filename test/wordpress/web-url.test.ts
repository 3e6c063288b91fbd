import { describe, expect, it } from '@jest/globals';
import { escUrl, normalizeWebUrl, withoutBadProtocol } from '../../src/wordpress/web-url.ts';

describe('normalizeWebUrl (D38)', () => {
  it.each([
    'https://example.test/',
    'https://example.test',
    'http://example.test/a?b=c&d=e#f',
    'HTTP://Example.Test',
    'ftp://x.test/',
    'mailto:a@b.test',
    'tel:+390501234',
    'https://localhost:8080/x',
    'https://user:pass@x.test/',
    'https://[::1]/',
    'https://x.test/?a[]=1',
    'https://x.test/%zz',
    'https://x.test.',
  ])('keeps %j', (url) => {
    expect(normalizeWebUrl(url)).toBe(url);
  });

  it.each([
    ['https://exämple.test/', 'https://xn--exmple-cua.test/'],
    ['https://x.test/日本', 'https://x.test/%E6%97%A5%E6%9C%AC'],
    ['https://x.test/é?q=ü#ß', 'https://x.test/%C3%A9?q=%C3%BC#%C3%9F'],
    ['http://日本。jp:81', 'http://xn--wgv71a.jp:81'],
    ['mailto:ü@x.test', 'mailto:%C3%BC@x.test'],
    ['https://x.test/<b>"\\^`{}', 'https://x.test/b'],
  ])('stores %j as %j', (url, stored) => {
    expect(normalizeWebUrl(url)).toBe(stored);
  });

  it.each([
    '',
    'nope',
    'example.com',
    '//x.test',
    'javascript:alert(1)',
    'javascript://x.test/%0aalert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ssh://x.test',
    'http:x.test',
    'http:///x',
    'https://',
    'mailto:',
    'https://a b.test',
    ' https://x.test',
    'https://x.test\n',
    'https://x..test',
    'https://-x.test',
    'https://a_b.test',
    'https://x.test:99999',
    'https://x.test:80:90',
    'https://a@b@c.test',
    'https://x.test\\@y.test',
    'https://\ud800.test',
    'https://%00.test',
  ])('returns null for %j', (url) => {
    expect(normalizeWebUrl(url)).toBeNull();
  });
});

describe('escUrl', () => {
  it.each([
    ['https://x.test/?a=1&b=2', 'https://x.test/?a=1&#038;b=2'],
    ["https://x.test/it's", 'https://x.test/it&#039;s'],
    [' https://x.test/a b', 'https://x.test/a%20b'],
    ['x.test', 'http://x.test'],
    ['/path#x', '/path#x'],
    ['javascript:alert(1)', ''],
    ['java\nscript:alert(1)', ''],
    ['https://x.test/"<>{}', 'https://x.test/'],
    ['https://x.test/%0%0DAx%0d', 'https://x.test/x'],
    ['https://x.test/?a[0]=1', 'https://x.test/?a%5B0%5D=1'],
    ['mailto:a@b.test', 'mailto:a@b.test'],
    ['HTTP://X.test/A', 'http://X.test/A'],
    ['', ''],
  ])('escapes %j', (url, shown) => expect(escUrl(url)).toBe(shown));
});

describe('withoutBadProtocol', () => {
  it.each([
    ['javascript:alert(1)', 'alert(1)'],
    ['java&#115;cript:x', 'x'],
    ['java\tscript&#58;x', 'x'],
    ['javascript&colon;javascript:x', 'x'],
    ['MAILTO:a', 'mailto:a'],
    ['relative/path', 'relative/path'],
    ['#a:b', 'b'],
  ])('cleans %j', (url, clean) => {
    expect(withoutBadProtocol(url)).toBe(clean);
  });
});
