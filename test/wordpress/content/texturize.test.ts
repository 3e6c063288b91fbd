import { describe, expect, it } from '@jest/globals';
import { texturize } from '../../../src/wordpress/content/texturize.ts';

/** Each row: the input and the output. Typographic characters are written literally here and compared as entities. */
const entities = (text: string) => text.replace(/[“”‘’′″–—…™×]/g, (mark) => `&#${mark.codePointAt(0)};`);

const rows: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'double quotes': [
    ['"a"', '“a”'],
    ['say "a b" now', 'say “a b” now'],
    ['("x") ["y"] {"z"}', '(“x”) [“y”] {“z”}'],
    ['-"x"', '-“x”'],
    ['&lt;"x"', '&lt;“x”'],
    ['a\u00a0"x"', 'a\u00a0“x”'],
    ['a&nbsp;"x"', 'a&nbsp;“x”'],
    ['a " b', 'a ” b'],
    ['"42"', '“42”'],
    ['"1,000.50" of', '“1,000.50” of'],
    ["``x''", '“x”'],
    ['&quot;x&quot;', '&quot;x&quot;'],
    ['“x”', '“x”'],
  ],
  'single quotes and apostrophes': [
    ["it's", 'it’s'],
    ["'a b'", '‘a b’'],
    ["the dogs' bowl", 'the dogs’ bowl'],
    ["('x')", '(‘x’)'],
    ["a 'b' c", 'a ‘b’ c'],
    ["'0.42'", '‘0.42’'],
    ["'99", '’99'],
    ["the '90s", 'the ’90s'],
    ["class of '99's", 'class of ’99’s'],
    ["he said 'in '99'", 'he said ‘in ’99’'],
    ['"in \'99"', '“in ’99”'],
    ["'9", '‘9'],
    ["'99%", '‘99%'],
    ["'999", '‘999'],
    ["rock 'n' roll", 'rock ‘n’ roll'],
    ["'twas", '’twas'],
    ["'tain't", '’tain’t'],
    ["give 'em", 'give ’em'],
    ["l'été", 'l’été'],
    ["d'Évian", 'd’Évian'],
    ["O'Neil's", 'O’Neil’s'],
    ['"\'nested\' x"', '“‘nested’ x”'],
  ],
  primes: [
    ["6' tall", '6′ tall'],
    ["a 6' b 2' c", 'a 6′ b 2′ c'],
    ['6"x4', '6″x4'],
    ['He is 6\'2"', 'He is 6’2″'],
    ['a 12"x9"', 'a 12″x9″'],
    ['"6 foot 4" tall"', '“6 foot 4″ tall”'],
    ['"it is 6\'4""', '“it is 6’4″”'],
    ['"read chapter 12"', '“read chapter 12”'],
    ['"a 9" b 8". c', '“a 9″ b 8”. c'],
  ],
  dashes: [
    ['a - b', 'a – b'],
    ['a -- b', 'a — b'],
    ['a--b', 'a–b'],
    ['a---b', 'a—b'],
    ['- a', '– a'],
    ['a -', 'a –'],
    ['well-known', 'well-known'],
    ['xn--exmple-cua', 'xn--exmple-cua'],
    ['10-12', '10-12'],
  ],
  'other signs': [
    ['wait...', 'wait…'],
    ['X (tm)', 'X ™'],
    ['X(tm) (c) 1/2', 'X(tm) (c) 1/2'],
    ['9x9', '9×9'],
    ['1,024x768', '1,024×768'],
    ['0x9999', '0x9999'],
    ['00x9', '00×9'],
    ['9x9a', '9x9a'],
    ['1x1.1x1', '1×1.1×1'],
    ['a9x9', 'a9x9'],
    ['9.x9', '9.x9'],
    ['1x1 9.x9', '1×1 9.×9'],
  ],
  ampersands: [
    ['a & b', 'a &#038; b'],
    ['&amp; &#38; &#x26; &eacute;', '&amp; &#38; &#x26; &eacute;'],
    ['&&', '&#038;&#038;'],
    ['AT&T', 'AT&#038;T'],
    ['&toolongname;', '&#038;toolongname;'],
    ['<a href="?a&b">', '<a href="?a&#038;b">'],
  ],
  'what stays': [
    ['<a title="it\'s">it\'s</a>', '<a title="it\'s">it’s</a>'],
    ['<!-- "x" & -->"y"', '<!-- "x" & -->“y”'],
    ['<pre>"x" & y</pre> "z"', '<pre>"x" & y</pre> “z”'],
    ['<code>a--b</code><kbd>"</kbd><tt>...</tt>', '<code>a--b</code><kbd>"</kbd><tt>...</tt>'],
    ['<pre><code>"</pre>"</code>"', '<pre><code>"</pre>"</code>"'],
    ['<script>"x"</script>"y"', '<script>"x"</script>“y”'],
    ['<PRE>"x"</PRE>', '<PRE>“x”</PRE>'],
    ['<code class="x">"</code>', '<code class="x">"</code>'],
    ['[gallery ids="1"] [caption caption=\'x\']"y"[/caption]', '[gallery ids="1"] [caption caption=\'x\']“y”[/caption]'],
    ['[[gallery ids="1"]]', '[[gallery ids="1"]]'],
    ['[caption <!-- <br> ] a --> -- b', '[caption <!-- <br> ] a --> &#8212; b'],
    ['[other ids="1"]', '[other ids=”1″]'],
    ['<b "never closed', '<b "never closed'],
    ['<!-- "never closed', '<!-- "never closed'],
    ['', ''],
  ],
};

describe('texturize', () => {
  for (const [subject, table] of Object.entries(rows)) {
    it.each(table)(`${subject}: %j`, (raw, shown) => {
      expect(texturize(raw)).toBe(raw === shown ? raw : entities(shown));
    });
  }

  it('recognizes a closing quote after an element only before a space, since each run of text is processed separately', () => {
    expect(texturize('"<b>x</b>" and "<i>y</i>"')).toBe('&#8220;<b>x</b>&#8221; and &#8220;<i>y</i>&#8220;');
  });

  it.each([
    '"\'-<[&',
    '"',
    "'",
    '1,1.',
    '1x',
    'x1',
    '[gallery ',
    '[gallery <',
    '<!--',
    '<pre>',
    "'1",
    '"1 ',
    '--',
    ' - ',
    '&',
    '&#',
    '...',
  ])('handles 200 kB of %j', (seed) => {
    const text = seed.repeat(Math.ceil(200_000 / seed.length));
    expect(texturize(text).length).toBeGreaterThanOrEqual(text.length / 3);
  });
});
