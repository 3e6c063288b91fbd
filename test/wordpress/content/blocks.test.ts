import { describe, expect, it } from '@jest/globals';
import { blockComment, blockTokens } from '../../../src/wordpress/content/block-grammar.ts';
import { excerptBlocks, renderBlocks } from '../../../src/wordpress/content/blocks.ts';

import { MAX_EXPONENT, measureGrowthExponent, repeatFiller } from '../../support/growth.ts';

const block = (name: string, html: string, attributes = '') =>
  `<!-- wp:${name} ${attributes}${attributes === '' ? '' : ' '}-->${html}<!-- /wp:${name} -->`;

describe('renderBlocks', () => {
  it.each([
    [block('paragraph', '<p>Block</p>'), '<p class="wp-block-paragraph">Block</p>'],
    [
      block('paragraph', '\n<p class="has-text-align-center">x</p>\n', '{"align":"center"}'),
      '\n<p class="has-text-align-center wp-block-paragraph">x</p>\n',
    ],
    [block('paragraph', '<p style="color:red">x</p>'), '<p class="wp-block-paragraph" style="color:red">x</p>'],
    [
      block('paragraph', `<p class='a" onmouseover="alert(1)'>x</p>`),
      '<p class="a&quot; onmouseover=&quot;alert(1) wp-block-paragraph">x</p>',
    ],
    [
      block('paragraph', `<p title=" class='a" id="b' onmouseover=alert(1) c=">x</p>`),
      `<p class="wp-block-paragraph" title=" class='a" id="b' onmouseover=alert(1) c=">x</p>`,
    ],
    [block('paragraph', '<p id=a CLASS = b lang>x</p>'), '<p id=a class="b wp-block-paragraph" lang>x</p>'],
    [block('paragraph', '<p class>x</p>'), '<p class="wp-block-paragraph">x</p>'],
    [block('heading', '<h3>x</h3>', '{"level":3}'), '<h3 class="wp-block-heading">x</h3>'],
    [block('heading', '<h2 class="wp-block-heading">x</h2>'), '<h2 class="wp-block-heading">x</h2>'],
    [block('list', `<ul>${block('list-item', '<li>a</li>')}</ul>`), '<ul class="wp-block-list"><li>a</li></ul>'],
    [block('html', '<i>x</i>'), '<i>x</i>'],
    [block('my-plugin/box', '<i>x</i>'), '<i>x</i>'],
    ['<!-- wp:latest-posts {"n":3} /-->', ''],
    [block('post-template', '<b>x</b>'), ''],
    [block('shortcode', '[foo]'), '<p>[foo]</p>\n'],
    [block('shortcode', `a${block('html', '<i>x</i>')}`), 'a<i>x</i>'],
    [
      block('group', `<div class="wp-block-group">${block('paragraph', '<p>x</p>')}</div>`, '{"layout":{"type":"constrained"}}'),
      '<div class="wp-block-group is-layout-constrained wp-block-group-is-layout-constrained"><p class="wp-block-paragraph">x</p></div>',
    ],
    [
      block('cover', `<div class="wp-block-cover"><span></span><div class="inner">${block('paragraph', '<p>x</p>')}</div></div>`),
      '<div class="wp-block-cover"><span></span><div class="inner is-layout-flow wp-block-cover-is-layout-flow"><p class="wp-block-paragraph">x</p></div></div>',
    ],
    ['a<!-- /wp:paragraph -->b', 'a<!-- /wp:paragraph -->b'],
    ['<!-- wp:paragraph --><p>open', '<p class="wp-block-paragraph">open'],
    ['<!-- wp:Wrong --><p>x</p>', '<!-- wp:Wrong --><p>x</p>'],
    ['classic <!--more--> text', 'classic <!--more--> text'],
  ])('renders %j', (content, html) => {
    expect(renderBlocks(content)).toBe(html);
  });

  it('treats blocks nested more than a hundred levels deep as text of their parent', () => {
    const nested = (depth: number, html: string): string => '<!-- wp:list -->'.repeat(depth) + html + '<!-- /wp:list -->'.repeat(depth);
    const list = '<ul class="wp-block-list">x</ul>';
    expect(renderBlocks(`${nested(99, block('list', '<ul>x</ul>'))}after`)).toBe(`${list}after`);
    expect(renderBlocks(`${nested(100, block('paragraph', '<p>x</p>'))}${block('paragraph', '<p>y</p>')}`)).toBe(
      '<p>x</p><p class="wp-block-paragraph">y</p>',
    );
  });

  const names = 'shortcode paragraph heading list group column quote details cover columns buttons gallery social-links'.split(' ');
  it.each([...names, 'post-content', 'html', 'query', 'latest-posts', 'my-plugin/box'])(
    'needs at most time proportional to the text for deeply nested blocks: %s',
    async (name) => {
      const faults: string[] = [];
      const closer = `<!-- /wp:${name} -->`;
      const made = (bytes: number, held: string) => repeatFiller([`<!-- wp:${name} -->`, held], bytes, ['', '']);
      for (const held of ['a\n', '<b>', '<', `<p>a</p>${closer}`, closer]) {
        const texts = new Map<number, string>();
        for (const bytes of [8192, 32_768, 131_072]) texts.set(bytes, made(bytes, held));
        const work = (bytes: number) => renderBlocks(texts.get(bytes) ?? '');
        const exponent = await measureGrowthExponent(work, { longest: 32_768, floor: 30_000, confirmationFactor: 4 });
        if ((exponent ?? 0) > MAX_EXPONENT) faults.push(`${held}: ${exponent}`);
      }
      expect(faults).toEqual([]);
    },
  );
});

describe('blockTokens', () => {
  it('reads names and attributes, including braces in strings', () => {
    expect(blockTokens('<!-- wp:a {"b":"} x","c":{"d":1}} /-->')).toEqual([
      { kind: 'void', name: 'core/a', attributes: { b: '} x', c: { d: 1 } }, text: '<!-- wp:a {"b":"} x","c":{"d":1}} /-->' },
    ]);
  });
  it('reads back attributes that blockComment escaped so that they cannot end the comment', () => {
    const comment = blockComment('core/x', { a: '--><b>&"' }, { isVoid: true });
    expect(comment).toBe('<!-- wp:x {"a":"\\u002d\\u002d\\u003e\\u003cb\\u003e\\u0026\\u0022"} /-->');
    expect(blockTokens(comment)[0]).toMatchObject({ attributes: { a: '--><b>&"' } });
  });
});

describe('excerptBlocks', () => {
  it('leaves out blocks other than plain text', () => {
    const image = block('image', '<figure><figcaption>cap</figcaption></figure>');
    expect(excerptBlocks(`${image}${block('paragraph', '<p>x</p>')}<!-- wp:rss /-->`)).toBe(block('paragraph', '<p>x</p>'));
  });
  const text = (words: string) => block('paragraph', `<p>${words}</p>`);
  const image = block('image', '<img>');
  it.each([
    ['a quote with an image', block('quote', `<blockquote>${text('one')}${image}</blockquote>`), ''],
    ['media and text with an image', block('media-text', `<div>${text('one')}${image}</div>`), ''],
    [
      'a quote with a list',
      block('quote', `<blockquote>${block('list', `<ul>${block('list-item', '<li>x</li>')}</ul>`)}</blockquote>`),
      '',
    ],
  ])('leaves out the whole of %s', (_, quote, rest) => expect(excerptBlocks(`${quote}${text('two')}`)).toBe(`${rest}${text('two')}`));
  it('keeps a quote of paragraphs, with its own HTML', () => {
    const quote = block('quote', `<blockquote>${text('one')}<cite>Ada</cite></blockquote>`);
    expect(excerptBlocks(quote)).toBe(quote);
  });
  it('keeps the innermost blocks of columns and groups', () => {
    const column = block('column', `<div>${text('one')}${image}${block('group', `<div>${text('two')}</div>`)}</div>`);
    const quote = block('quote', `<blockquote>${text('three')}${image}<cite>Ada</cite></blockquote>`);
    expect(excerptBlocks(block('columns', `<div>${column}${quote}</div>`))).toBe(text('one') + text('two') + text('three'));
  });
  it('keeps texts outside of blocks, and everything after a closing comment without an opening one', () => {
    expect(excerptBlocks(`a${image}b<!-- /wp:image -->c${image}`)).toBe(`ab<!-- /wp:image -->c${image}`);
  });
  it('ends with blocks nested very deeply', () => {
    const nested = '<!-- wp:group -->'.repeat(20_000) + text('x') + '<!-- /wp:group -->'.repeat(20_000);
    expect(excerptBlocks(nested)).toContain('<p>x</p>');
  });
});
