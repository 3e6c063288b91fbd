import { describe, expect, it } from '@jest/globals';
import type { ContentImage } from '../../../src/wordpress/content/images.ts';
import { parseShortcodeAttributes } from '../../../src/wordpress/content/shortcode-grammar.ts';
import { galleryImageIds, galleryParents, runEmbeds, runShortcodes, stripShortcodes } from '../../../src/wordpress/content/shortcodes.ts';

const image = (name: string, more: Partial<ContentImage> = {}): ContentImage => ({
  url: `https://x.test/${name}.png`,
  width: 10,
  height: 20,
  sizes: {},
  ...more,
});
const library: Readonly<Record<number, ContentImage>> = {
  1: image('a', { link: 'https://x.test/a/' }),
  2: image('b', { caption: 'It\'s "b"' }),
};
const sources = { images: (id: number) => library[id], attachedImages: (post: number) => (post === 0 ? [1, 2] : []) };
const run = (html: string) => runShortcodes(html, sources);
const tag = (name: string, extra = '') =>
  `<img width="10" height="20" src="https://x.test/${name}.png" class="attachment-thumbnail size-thumbnail" alt=""${extra} />`;
const item = (inner: string, below = '') =>
  `<figure class='gallery-item'>\n\t\t\t<div class='gallery-icon portrait'>\n\t\t\t\t${inner}\n\t\t\t</div>${below}</figure>`;
const gallery = (items: string, classes = 'galleryid-0 gallery-columns-3') =>
  `<div id='gallery-1' class='gallery ${classes} gallery-size-thumbnail'>${items}\n\t\t</div>\n`;

describe('runShortcodes', () => {
  it.each([
    ['no shortcode', 'no shortcode'],
    ['[foo a="b"]x[/foo]', '[foo a="b"]x[/foo]'],
    ['[[gallery]] [[caption]x[/caption]]', '[gallery] [caption]x[/caption]'],
    ['[galleryx]', '[galleryx]'],
    ['<a title="[gallery]">x</a><!-- [gallery] -->[foo]', '<a title="[gallery]">x</a><!-- [gallery] -->[foo]'],
    ['[gallery ids="9"]', ''],
    ['a[gallery id="5"/]b', 'ab'],
    ['[playlist][embed]', ''],
    ['[audio]', ''],
    ['[audio src="x.exe"]', '<a class="wp-embedded-audio" href="http://x.exe">x.exe</a>'],
    ['[caption width="0"]<img src="a"> b[/caption]', '<img src="a">'],
    [
      '[caption id="attachment_5" align="alignleft" width="300"]<a href="x"><img src="a" /></a> A <b>cap</b>[/caption]',
      '<figure id="attachment_5" aria-describedby="caption-attachment-5" style="width: 300px" class="wp-caption alignleft"><a href="x"><img src="a" /></a><figcaption id="caption-attachment-5" class="wp-caption-text">A <b>cap</b></figcaption></figure>',
    ],
    [
      '[caption width="3" caption="c <script>d</script>" class="z"]x[/caption]',
      '<figure style="width: 3px" class="wp-caption alignnone z">x<figcaption class="wp-caption-text">c d</figcaption></figure>',
    ],
    [
      '[audio mp3="https://x.test/a.mp3" loop="on"]',
      '<audio class="wp-audio-shortcode" id="audio-0-1" loop="1" preload="none" style="width: 100%;" controls="controls"><source type="audio/mpeg" src="https://x.test/a.mp3?_=1" /><a href="https://x.test/a.mp3">https://x.test/a.mp3</a></audio>',
    ],
    [
      '[video src="https://x.test/a.mp4" width="320" height="200"][/video]',
      '<div style="width: 320px;" class="wp-video"><video class="wp-video-shortcode" id="video-0-1" width="320" height="200" preload="metadata" controls="controls"><source type="video/mp4" src="https://x.test/a.mp4?_=1" /><a href="https://x.test/a.mp4">https://x.test/a.mp4</a></video></div>',
    ],
    ['[gallery ids="1"]', gallery(item(`<a href='https://x.test/a/'>${tag('a')}</a>`))],
    ['[gallery ids="1" link="none" columns="2"]', gallery(item(tag('a')), 'galleryid-0 gallery-columns-2')],
    ['[gallery ids="1" link="file"]', gallery(item(`<a href='https://x.test/a.png'>${tag('a')}</a>`))],
    [
      '[gallery exclude="1"]',
      gallery(
        item(
          `<a href='https://x.test/b.png'>${tag('b', ' aria-describedby="gallery-1-2"')}</a>`,
          "\n\t\t\t\t<figcaption class='wp-caption-text gallery-caption' id='gallery-1-2'>\n\t\t\t\tIt&#8217;s &#8220;b&#8221;\n\t\t\t\t</figcaption>",
        ),
      ),
    ],
  ])('expands %j', (html, expected) => {
    expect(run(html)).toBe(expected);
  });

  it('numbers galleries', () => {
    expect(run('[gallery ids="1"][gallery ids="1"]').match(/id='gallery-\d'/g)).toEqual(["id='gallery-1'", "id='gallery-2'"]);
  });

  it.each(['[gallery ', '[gallery]', '[caption]', '[[caption]', '[audio src="', '[', '[gallery a=', '[caption width="1"]<a '])(
    'handles 200 kB of %j',
    (seed) => {
      expect(run(`x${seed.repeat(Math.ceil(200_000 / seed.length))}`).startsWith('x')).toBe(true);
    },
  );
});

describe('shortcode helpers', () => {
  it('read attributes in every notation', () => {
    expect({ ...parseShortcodeAttributes(` A="1 2" b='3' c=4 "five" six\u00a0d = "7" e="<b"`) }).toEqual({
      a: '1 2',
      b: '3',
      c: '4',
      0: 'five',
      1: 'six',
      d: '7',
      e: '',
    });
  });
  it('turn embeds into links', () => {
    expect(runEmbeds('[embed]https://x.test/?a=1&amp;b=2[/embed] [embed src="https://y.test"]')).toBe(
      '<a href="https://x.test/?a=1&#038;b=2">https://x.test/?a=1&amp;b=2</a> <a href="https://y.test">https://y.test</a>',
    );
  });
  it('leave embeds within tags and comments', () => {
    for (const html of [
      '<p title="[embed]onmouseover=alert(1)//[/embed]">x</p>',
      '<b title="[embed]">x[/embed]',
      '<!-- [embed]x[/embed] -->',
    ])
      expect(runEmbeds(html)).not.toContain('href');
    expect(runEmbeds('[embed]https://x.test/?a[]=1[/embed]')).toBe('<a href="https://x.test/?a%5B%5D=1">https://x.test/?a[]=1</a>');
  });
  it('strip shortcodes with their enclosed content', () => {
    expect(stripShortcodes('a[caption]b[/caption]c[gallery]d[foo]')).toBe('acd[foo]');
  });
  it('find the images and posts that galleries need', () => {
    expect(galleryImageIds('[gallery ids="3, 4"][gallery include="5"][gallery]')).toEqual([3, 4, 5]);
    expect(galleryParents('[gallery ids="3"][gallery][gallery id="8"]', 0)).toEqual([0, 8]);
  });
});
