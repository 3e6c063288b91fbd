import { describe, expect, it } from '@jest/globals';
import { addParagraphs, unwrapShortcodes } from '../../../src/wordpress/content/paragraphs.ts';

describe('addParagraphs', () => {
  it.each([
    ['', ''],
    [' \n ', ''],
    ['a', '<p>a</p>\n'],
    ['a\nb\n\nc', '<p>a<br />\nb</p>\n<p>c</p>\n'],
    ['a\r\n\r\nb', '<p>a</p>\n<p>b</p>\n'],
    ['<p>a</p>', '<p>a</p>\n'],
    ['a<br>\nb', '<p>a<br />\nb</p>\n'],
    ['<div>a</div>', '<div>a</div>\n'],
    ['<ul>\n<li>a</li>\n</ul>', '<ul>\n<li>a</li>\n</ul>\n'],
    ['<blockquote>a</blockquote>', '<blockquote><p>a</p></blockquote>\n'],
    ['<pre>a\n\nb</pre>', '<pre>a\n\nb</pre>\n'],
    ['<script>a\n\nb</script>', '<p><script>a</p>\n<p>b</script></p>\n'],
    ['<script>a\nb</script>', '<p><script>a\nb</script></p>\n'],
    ['a<hr>b', '<p>a</p>\n<hr>\n<p>b</p>\n'],
    ['<p>\u00a0</p>', '<p>\u00a0</p>\n'],
    ['a\u00a0\u3000', '<p>a\u00a0\u3000</p>\n'],
    ['<a\nhref="x">a</a>', '<p><a\nhref="x">a</a></p>\n'],
    ['<blockquote title="a\nb">x</blockquote>', '<blockquote title="a\nb"><p>x</p></blockquote>\n'],
    [
      '<blockquote\r\nclass="a" title=\'\r\r\'>x\n\ny</blockquote>',
      '<blockquote\nclass="a" title=\'\n\n\'><p>x</p>\n<p>y</p></blockquote>\n',
    ],
  ])('formats %j', (text, html) => {
    expect(addParagraphs(text)).toBe(html);
  });

  it('removes the whitespace around each caption of a figure', () => {
    const figure = '<figure><img>\n<figcaption>x</figcaption>\n</figure>';
    expect(addParagraphs(`${figure}\n\n${figure}`).match(/<img><figcaption>x<\/figcaption><\/figure>/g)).toHaveLength(2);
  });

  it('keeps a very long run of spaces', () => {
    expect(addParagraphs(`a${' '.repeat(1000)}b`)).toBe(`<p>a${' '.repeat(1000)}b</p>\n`);
  });

  it.each(['<div <', '<script>', '<p><li', '<figcaption', '<pre', '<object></object', ' \n', '<option> ', '<br />\n', '<blockquote\n'])(
    'handles 200 kB of %j',
    (seed) => {
      const text = `<option></object><source>a${seed.repeat(Math.ceil(200_000 / seed.length))}`;
      expect(addParagraphs(text).startsWith('<p>')).toBe(true);
    },
  );
});

describe('unwrapShortcodes', () => {
  it.each([
    ['<p>[gallery]</p>', '[gallery]'],
    ['<p> [gallery ids="1"]\n</p>x', '[gallery ids="1"]x'],
    ['<p>[caption width="1"]<img> x[/caption]</p>', '[caption width="1"]<img> x[/caption]'],
    ['<p>[gallery] x</p>', '<p>[gallery] x</p>'],
    ['<p>[other]</p>', '<p>[other]</p>'],
    ['<p>[gallery /]</p><p>a</p>[gallery]', '[gallery /]<p>a</p>[gallery]'],
  ])('unwraps %j', (html, unwrapped) => {
    expect(unwrapShortcodes(html)).toBe(unwrapped);
  });
});
