import { describe, expect, it } from '@jest/globals';
import { galleryParentsIn, imageIdsIn, renderContent, renderExcerpt, renderTitle, wordsOf } from '../../../src/wordpress/content/render.ts';

const options = { smilies: true, images: () => undefined };

describe('renderTitle', () => {
  it.each([
    ['Rock & Roll "Hall"', 'Rock &#038; Roll &#8220;Hall&#8221;'],
    ['Café & crème “quoted” <b>bold</b>', 'Café &#038; crème “quoted” <b>bold</b>'],
    ['  padded  ', 'padded'],
    ['line\nbreak', 'line\nbreak'],
    ['Wordpress & :-)', 'WordPress &#038; :-)'],
    ['<code>a & b</code>', '<code>a &#038; b</code>'],
    ['T <script>x</script>', 'T <script>x</script>'],
    ['', ''],
  ])('renders %j', (raw, html) => {
    expect(renderTitle(raw)).toBe(html);
  });
});

describe('renderContent', () => {
  it.each([
    ['', ''],
    ['crosses the change', '<p>crosses the change</p>'],
    ['Line one\nLine two\n\nPara', '<p>Line one<br />\nLine two</p>\n<p>Para</p>'],
    ["<!-- wp:paragraph --><p>It's</p><!-- /wp:paragraph -->\n\n", '<p class="wp-block-paragraph">It&#8217;s</p>'],
    ['a <!--more--> b', '<p>a <!--more--> b</p>'],
    ['[gallery ids="1"]', ''],
    ['[unknown x="1"]', '<p>[unknown x=&#8221;1&#8243;]</p>'],
    ['<script>alert("1")</script>hi', '<p><script>alert("1")</script>hi</p>'],
    ['x :-) y', '<p>x 🙂 y</p>'],
    ['on Wordpress, myWordpress', '<p>on WordPress, myWordpress</p>'],
    ['https://video.example.test/watch?v=1&t=2', '<p>https://video.example.test/watch?v=1&#038;t=2</p>'],
    ['<p>H</p>\n\nSecond.\n\n<img src="a.png">', '<p>H</p>\n<p>Second.</p>\n<p><img decoding="async" src="a.png"></p>'],
  ])('renders %j', (raw, html) => {
    expect(renderContent(raw, options)).toBe(html);
  });

  it('does not convert smilies if the site disables them', () => {
    expect(renderContent(':-)', { ...options, smilies: false })).toBe('<p>:-)</p>');
  });

  it('turns an audio URL on its own line into a player', () => {
    expect(renderContent('a\n\nhttps://x.test/b.mp3\n\nc', options)).toMatch(
      /^<p>a<\/p>\n<audio .*src="https:\/\/x.test\/b.mp3\?_=1" \/>.*<\/audio>\n<p>c<\/p>$/,
    );
  });

  it.each(['\r', '\u2028', '\u2029'])('does not take %j within a tag for the end of a line', (end) => {
    const html = renderContent(`<p title="a${end}https://x.test/onmouseover=alert(1)//.mp3${end}">x</p>`, options);
    expect(html).toBe(
      `<p title="a${end === '\r' ? '\n' : end}https://x.test/onmouseover=alert(1)//.mp3${end === '\r' ? '\n' : end}">x</p>`,
    );
  });

  it.each(['[audio src="x.mp3"]', ' :mrgreen: ', '[gallery ids="3"]'])('leaves %j in the attribute of a quotation', (text) => {
    const quotation = `<blockquote title='\n${text}'>x</blockquote>`;
    const pictures = { ...options, smileyPictures: 'https://x.test' };
    expect(renderContent(quotation, pictures)).toBe(quotation.replace('x</', '<p>x</p></'));
    const block = renderContent(`<!-- wp:shortcode -->${quotation}<!-- /wp:shortcode -->`, pictures);
    expect(block).toBe(quotation.replace('x</', '<p>x</p></'));
  });

  it('takes the URL of a file on a line of Windows for one of its own', () => {
    expect(renderContent('https://x.test/a.mp3\r\nb', options)).toContain('<audio');
  });

  it('removes the paragraph around a gallery that stands alone in it', () => {
    const image = { url: 'https://x.test/a.png', width: 10, height: 10, sizes: {}, link: 'https://x.test/a/' };
    const html = renderContent('a\n\n[gallery]', { smilies: true, images: () => image, attachedImages: () => [3] });
    expect(html).toBe(
      '<p>a</p>\n<div id=\'gallery-1\' class=\'gallery galleryid-0 gallery-columns-3 gallery-size-thumbnail\'><figure class=\'gallery-item\'>\n\t\t\t<div class=\'gallery-icon landscape\'>\n\t\t\t\t<a href=\'https://x.test/a/\'><img loading="lazy" decoding="async" width="10" height="10" src="https://x.test/a.png" class="attachment-thumbnail size-thumbnail" alt="" /></a>\n\t\t\t</div></figure>\n\t\t</div>',
    );
  });
});

describe('excerpts', () => {
  it.each([
    ['', ''],
    ['<b>bold</b>', '<p><b>bold</b></p>'],
    ['Short <em>excerpt</em> & "x" :-)', '<p>Short <em>excerpt</em> &#038; &#8220;x&#8221; 🙂</p>'],
    ['[gallery]', '[gallery]'],
  ])('render a stored excerpt: %j', (raw, html) => {
    expect(renderExcerpt(raw, options)).toBe(html);
  });

  it.each([
    ['<p>We <em>organize</em>.</p>', '<p>We organize.</p>'],
    ['', ''],
    ['word '.repeat(60), `<p>${'word '.repeat(55).trim()} [&hellip;]</p>`],
    ['[caption width="3"]<img src="a"> cap[/caption]text', '<p>text</p>'],
    [
      '<!-- wp:image --><figure><figcaption>cap</figcaption></figure><!-- /wp:image --><!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->',
      '<p>x</p>',
    ],
    ['One two\n\n<!--more-->\n\nthree', '<p>One two</p>'],
    ['One two <!--more Go on--> three <!--more--> four', '<p>One two</p>'],
    ['One <!--more\n--> two', '<p>One two</p>'],
    ['One <!--moreover', '<p>One</p>'],
    [
      '<!-- wp:paragraph --><p>One</p><!-- /wp:paragraph -->\n<!-- wp:more -->\n<!--more-->\n<!-- /wp:more -->\n<!-- wp:paragraph --><p>Two</p><!-- /wp:paragraph -->',
      '<p>One</p>',
    ],
    ['<p>concert<sup data-fn="a-1" class="fn"><a href="#a-1" id="a-1-link">1</a></sup> at <sup>2</sup></p>', '<p>concert at 2</p>'],
    [
      '<!-- wp:table --><figure class="wp-block-table"><table><tbody><tr><td>Friday</td><td>20:00</td></tr><tr><td>Sunday</td></tr></tbody></table></figure><!-- /wp:table -->',
      '<p>Friday 20:00 Sunday</p>',
    ],
    [
      '<!-- wp:pullquote --><figure class="wp-block-pullquote"><blockquote><p>Great show</p><cite>Anna</cite></blockquote></figure><!-- /wp:pullquote -->',
      '<p>Great show Anna</p>',
    ],
    ['One\n<!--nextpage-->\ntwo\n<!--nextpage-->\nthree', '<p>One</p>'],
    ['<!-- wp:nextpage -->\n<!--nextpage-->\n<!-- /wp:nextpage -->\nOne<!--nextpage-->two', '<p>One</p>'],
  ])('are generated from the content %j', (content, html) => {
    expect(renderExcerpt(wordsOf(content, options), options)).toBe(html);
  });
});

describe('preloading for a content', () => {
  it('finds the images and posts that the content shows', () => {
    expect(imageIdsIn('<img class="wp-image-4"> [gallery ids="4,5"]')).toEqual([4, 5]);
    expect(galleryParentsIn('x [gallery] [gallery id="7"]')).toEqual([0, 7]);
    expect(galleryParentsIn('x')).toEqual([]);
  });
});
