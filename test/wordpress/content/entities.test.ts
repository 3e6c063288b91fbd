import { describe, expect, it } from '@jest/globals';
import {
  convertChars,
  convertInvalidEntities,
  decodeEntities,
  escAttr,
  escHtml,
  escJs,
  normalizeEntities,
  specialChars,
} from '../../../src/wordpress/content/entities.ts';

describe('escHtml and escAttr', () => {
  it.each([
    ['a & b', 'a &amp; b'],
    ['&amp; &eacute; &#38; &#x26;', '&amp; &eacute; &#038; &#x26;'],
    ['&foo; &#0; &#xd800; &#99999999;', '&amp;foo;  &amp;#xd800; &amp;#99999999;'],
    [`<a "b" 'c'>`, '&lt;a &quot;b&quot; &#039;c&#039;&gt;'],
    ['&apos;', '&amp;apos;'],
    ['https://x.test/?a=1&b=2', 'https://x.test/?a=1&amp;b=2'],
    ['plain', 'plain'],
  ])('escape %j', (text, html) => {
    expect(escHtml(text)).toBe(html);
    expect(escAttr(text)).toBe(html);
  });
});

describe('specialChars', () => {
  it('escapes no quotes, or only double quotes', () => {
    expect(specialChars(`"a" 'b' &`)).toBe(`"a" 'b' &amp;`);
    expect(specialChars(`"a" 'b' &`, 'double')).toBe(`&quot;a&quot; 'b' &amp;`);
  });
});

describe('escJs', () => {
  it.each([
    ['<p>a</p>\n', '&lt;p&gt;a&lt;/p&gt;\\n'],
    ["it's", "it\\'s"],
    ['say "x"', 'say &quot;x&quot;'],
    ['&#8217; &#039; &#x27;', "&#8217; \\' \\'"],
    ['a\\b\r\nc', 'ab\\nc'],
    ['Café &#038; <b>', 'Café &#038; &lt;b&gt;'],
    ['dolor [&hellip;]', 'dolor [&hellip;]'],
  ])('escapes %j', (text, js) => {
    expect(escJs(text)).toBe(js);
  });
});

describe('convertChars', () => {
  it.each([
    ['a & b &c', 'a &#038; b &#038;c'],
    ['&amp; &#38;', '&amp; &#38;'],
    ['&é &', '&#038;é &'],
  ])('converts %j', (text, html) => {
    expect(convertChars(text)).toBe(html);
  });
});

describe('other functions for entities', () => {
  it('pad and lowercase numeric entities as WordPress does', () => {
    expect(normalizeEntities('&#0038; &#X0026; & &nbsp; &NBSP;')).toBe('&#038; &#x26; &amp; &nbsp; &amp;NBSP;');
  });
  it('decode the named entities of HTML 5', () => {
    expect(decodeEntities('&lt;&eacute;&#8217;&colon;&notanentity;')).toBe('<é’:&notanentity;');
  });
  it('convert numbers of Windows-1252 to the intended characters', () => {
    expect(convertInvalidEntities('&#150; &#128; &#129; &#160;')).toBe('&#8211; &#8364;  &#160;');
  });
});
