import fc from 'fast-check';
import { SHORTCODES } from '../../src/wordpress/content/shortcode-grammar.ts';

/*
 * Texts of authors who try to bring a script into a page: the parts of HTML and of everything that a later step of
 * rendering treats specially, in every order and nested in each other.
 */

/** The call that none of the texts may run. */
const CALL = 'alert(1)';

const BLANKS = [
  '',
  ' ',
  ' ',
  '\t',
  '\n',
  '\n\n',
  '\r',
  '\r\n',
  '\f',
  '\v',
  '\u00a0',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u3000',
  '\ufeff',
  '&nbsp;',
];
const NOISE = [
  '\0', '\x01', '\x0b', '\x1f', '\x7f', '\x80', '\u200b', '\u200d', '\u202e', '\ufdd0', '\ufdd1', '\ufdd3', '\ufde8', '\ufde9', '\ufdea',
  '\ufffd', '\uffff', '\ud83c', '\udf1e', 'ſ', 'K', 'İ', '😀', 'e\u0301', '＜', '＞', '＂', '\x85', 'a'.repeat(70),
]; // biome-ignore format: a list
const QUOTES = ['"', "'", '`', '&quot;', '&#34;', '&#x22;', '&#039;', '&apos;', '&amp;quot;', '&amp;#34;', '\\"', "\\'", '″', '``', "''"];
const SIGNS = [
  '<', '>', '/', '=', '/>', '</', '<!', '<?', '?>', '<!--', '-->', '--!>', '<!-->', '--', '---', '<![CDATA[', ']]>', '[', ']', '[[', ']]', '[/', '/]',
  '\\', '\\\\', ';', ':', '&', '&amp;', '&#', '#', '{', '}', '(', ')', '...', '(tm)', '9x9', "'99", '6\'2"', 'Wordpress', '<!doctype ', '%0a', '%3c', '+',
]; // biome-ignore format: a list
const ENTITIES = [
  '&lt;', '&gt;', '&amp;lt;', '&amp;gt;', '&amp;amp;lt;', '&#60;', '&#x3c;', '&#62;', '&#0;', '&#x0;', '&#10;', '&#13;', '&#9;', '&Tab;', '&NewLine;',
  '&colon;', '&#58;', '&#0000058', '&#x3A', '&lpar;', '&#129;', '&#141;', '&#150;', '&#55356;', '&#91;', '&#93;', '&lbrack;', '&lsqb;', '\\u003c', '\\u0022',
]; // biome-ignore format: a list
const SMILIES = [':)', ' :-) ', ' :mrgreen: ', ':roll:', ' ;) ', '8-O'];
const HANDLERS = [
  `onerror=${CALL}`, ` onmouseover=${CALL} `, ` onload="${CALL}"`, `' onfocus='${CALL}' autofocus '`, `"><img src=x onerror=${CALL}>`, `'><svg onload=${CALL}>`,
  `<script>${CALL}</script>`, `</p><script>${CALL}</script>`, ` style="position:fixed;inset:0;behavior:url(x)" `, ` srcdoc="<script>${CALL}</script>" `,
  ` formaction=javascript:${CALL} `, `/onpointerover=${CALL}//`, `onbegin=${CALL}`, '<base href=//x.test>', '<meta http-equiv=refresh content=0>',
  '<iframe src=//x.test>', `<math href="javascript:${CALL}">`, '<form action=//x.test>', '<style>*{}', '<link rel=stylesheet href=//x.test>',
]; // biome-ignore format: a list
const URLS = [
  `javascript:${CALL}`, `java\tscript:${CALL}`, `java&#10;script:${CALL}`, `javascript&colon;${CALL}`, `javascript&#58;${CALL}`, `&#106;avascript:${CALL}`,
  `\x01javascript:${CALL}`, `JaVaScRiPt:${CALL}//.mp3`, `javascript://x.test/%0a${CALL}//.mp4`, `data:text/html,<script>${CALL}</script>`, 'vbscript:x',
  'https://x.test/a.mp3', 'https://x.test/a.mp4', 'http://x.test/a.mp3?b=c&d=e', 'https://x.test/a.png', `https://x.test/'onmouseover='${CALL}.mp3`,
  `https://x.test/onmouseover=${CALL}//.mp3`, `https://x.test/]"onmouseover=${CALL}//.mp3`, '//x.test/a.ogg', '/a.webm', '#a', '?b', 'a.php', 'a.mp3',
  `http:javascript:${CALL}`, `javascript;//x.test/%0a${CALL}`, 'https://x.test/[audio src=a.mp3]/', `java/?script:${CALL}`, 'https://[::1]/a.mp4',
]; // biome-ignore format: a list
const ELEMENTS = [
  'p', 'a', 'b', 'i', 'div', 'span', 'img', 'br', 'hr', 'pre', 'code', 'kbd', 'tt', 'ul', 'ol', 'li', 'table', 'td', 'h2', 'blockquote', 'figure',
  'figcaption', 'audio', 'video', 'source', 'track', 'textarea', 'button', 'details', 'summary', 'map', 'area', 'q', 'abbr', 'font', 'label', 'section',
  'script', 'style', 'svg', 'math', 'iframe', 'object', 'embed', 'form', 'input', 'select', 'title', 'noscript', 'template', 'xmp', 'plaintext', 'base',
  'meta', 'link', 'P', 'IMG', 'ScRiPt', 'x-y', 'caption', 'image', 'animate', 'foreignObject', 'mtext', 'mglyph', 'body', 'html', 'frameset', 'marquee',
]; // biome-ignore format: a list
const ATTRIBUTES = [
  'href', 'src', 'class', 'id', 'title', 'style', 'alt', 'cite', 'poster', 'srcset', 'sizes', 'width', 'height', 'loading', 'name', 'target', 'usemap',
  'data-x', 'data-a.b', 'aria-label', 'onclick', 'onerror', 'ONLOAD', 'xml:lang', 'xlink:href', 'action', 'formaction', 'CLASS', 'download', 'hidden',
]; // biome-ignore format: a list
const STYLES = [
  'color:red', 'width:1px', 'width: 100%;', `background:url(javascript:${CALL})`, 'background:url("https://x.test/a.png")', "background-image:url('",
  'width:expression(alert(1))', '--x:url(javascript:x)', 'color:red}', '/*', '*/', 'width:calc(1px + (2px))', '\\75rl(x)', 'behavior:url(x)', '@import "x"',
]; // biome-ignore format: a list
const BLOCKS = [
  'paragraph', 'heading', 'list', 'list-item', 'group', 'columns', 'column', 'cover', 'gallery', 'image', 'buttons', 'quote', 'details', 'shortcode',
  'html', 'freeform', 'more', 'nextpage', 'post-title', 'post-content', 'latest-posts', 'block', 'embed', 'audio', 'video', 'media-text', 'my-plugin/box',
]; // biome-ignore format: a list
const SHORTCODE_ATTRIBUTES = [
  'id', 'ids', 'src', 'mp3', 'mp4', 'poster', 'caption', 'width', 'height', 'align', 'class', 'caption_id', 'link', 'size', 'columns', 'preload', 'loop',
  'autoplay', 'include', 'exclude', 'source',
]; // biome-ignore format: a list
const LONE = [
  '<!--more-->', '<!--more Go on-->', '<!--nextpage-->', '<!--noteaser-->', '<!-- wpnl -->', '<pre wp-pre-tag-0></pre>', 'wp-image-3', '<p>', '</p>', '<br />',
  '<img class="wp-image-3" src="https://site.test/uploads/p.png" />', '<img src="https://site.test/uploads/p-1.png" width="10" height="10" class="wp-image-3">',
  '[gallery ids="3"]', '[gallery ids="3,4" link="file"]', '[gallery]', '[embed]', '[/embed]', '[caption]', '[/caption]', '[audio', '[video',
]; // biome-ignore format: a list

const oneOf = (...lists: readonly (readonly string[])[]) => fc.constantFrom(...lists.flat());
const concat = (...parts: readonly fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));
const many = (part: fc.Arbitrary<string>, maxLength: number) => fc.array(part, { maxLength }).map((texts) => texts.join(''));

const quote = oneOf(['"', '"', "'", "'", '', '&quot;', '`', '"\'']);
const blank = oneOf([' ', ' ', ' ', ' '], BLANKS, NOISE.slice(0, 6));
const atom = oneOf(QUOTES, SIGNS, ENTITIES, SMILIES, BLANKS, NOISE, HANDLERS, URLS, LONE, [
  'a',
  'x y',
  'http',
  'https://',
  '.mp3',
  '.mp4',
  'one two',
]);

/** `name="value"`, with the quotation marks that belong to each other or others. */
const pair = (names: readonly string[], value: fc.Arbitrary<string>) =>
  fc
    .tuple(blank, oneOf(names), oneOf(['=', '=', '=', '=', ' = ', '', '=\n']), quote, value, fc.option(quote, { freq: 6 }))
    .map(([before, name, equals, open, text, close]) => `${before}${name}${equals}${open}${text}${close ?? open}`);

const keptShortcode = fc
  .tuple(oneOf(SHORTCODES), oneOf(SHORTCODE_ATTRIBUTES), oneOf(['"', "'", '']), oneOf(URLS, ['3', 'x', 'a b', '100']))
  .map(([name, attribute, mark, value]) => `[${name} ${attribute}=${mark}${value}${mark}]`);

const KEPT_ELEMENTS = [
  'p',
  'p',
  'a',
  'div',
  'img',
  'h2',
  'ul',
  'span',
  'figure',
  'pre',
  'code',
  'table',
  'blockquote',
  'textarea',
  'audio',
  'video',
];
const KEPT_ATTRIBUTES = [
  'title',
  'title',
  'class',
  'id',
  'alt',
  'href',
  'src',
  'data-x',
  'style',
  'aria-label',
  'width',
  'poster',
  'loading',
];

const keptValue = fc.oneof(atom, oneOf(['\n', '\n\n', '\r\n', ' ', '\u2028']), oneOf(SMILIES, LONE, URLS), keptShortcode);

/** An attribute that stays when it is cleaned, with a value that some later step may misread. */
const keptPairOf = (names: readonly string[]) =>
  fc
    .tuple(oneOf([' ', ' ', '\n', '\u2028']), oneOf(names), oneOf(['"', "'"]), many(keptValue, 5))
    .map(([before, name, mark, text]) => `${before}${name}=${mark}${text.replace(/[<>]/g, '').replaceAll(mark, '')}${mark}`);
const keptTag = fc
  .tuple(oneOf(KEPT_ELEMENTS), many(keptPairOf(KEPT_ATTRIBUTES), 3))
  .map(([name, attributes]) => ({ name, open: `<${name}${attributes}>` }));

const json = (value: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.dictionary(oneOf(['className', 'layout', 'align', 'a', '__proto__']), value, { maxKeys: 3 }).map((found) => JSON.stringify(found)),
    fc.tuple(oneOf(['type', 'orientation', 'justifyContent']), value).map(([key, text]) => JSON.stringify({ layout: { [key]: text } })),
    concat(fc.constant('{"a":"'), value, fc.constant('"}')),
  );

const { text: anyText } = fc.letrec<{ text: string; part: string; value: string }>((tie) => ({
  text: many(tie('part'), 5),
  value: fc.oneof(
    { maxDepth: 4 },
    many(atom, 4),
    oneOf(URLS),
    oneOf(STYLES),
    concat(oneOf(STYLES), fc.constant(';'), oneOf(STYLES)),
    concat(many(atom, 2), tie('part'), many(atom, 2)),
  ),
  part: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'hostile' },
    { weight: 5, arbitrary: atom },
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          oneOf(['<', '<', '<', '</', '< ', '<\n']),
          oneOf(ELEMENTS),
          many(pair(ATTRIBUTES, tie('value')), 3),
          oneOf(['>', '>', '>', ' />', '/>', '', '\n>']),
        )
        .map((texts) => texts.join('')),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(oneOf(ELEMENTS), many(pair(ATTRIBUTES, tie('value')), 2), tie('text'))
        .map(([name, attributes, inner]) => `<${name}${attributes}>${inner}</${name}>`),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          oneOf(SHORTCODES),
          many(pair(SHORTCODE_ATTRIBUTES, tie('value')), 3),
          fc.option(tie('text')),
          oneOf([']', ']', '/]', ' ', '>']),
        )
        .map(([name, attributes, inner, end]) => `[${name}${attributes}${inner === null ? end : `]${inner}[/${name}]`}`),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(oneOf(BLOCKS), fc.option(json(tie('value'))), tie('text'), oneOf([' -->', ' -->', ' /-->', '-->', ' --!>']))
        .map(([name, given, inner, end]) => `<!-- wp:${name}${given === null ? '' : ` ${given}`}${end}${inner}<!-- /wp:${name} -->`),
    },
    {
      weight: 6,
      arbitrary: fc
        .tuple(keptTag, tie('text'), oneOf(BLANKS))
        .map(([{ name, open }, inner, blanks]) => `${blanks}${open}${blanks}${inner}</${name}>`),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(oneOf(BLOCKS), fc.option(json(tie('value'))), keptTag, tie('text'))
        .map(
          ([block, given, { name, open }, inner]) =>
            `<!-- wp:${block} ${given === null ? '' : `${given} `}-->${open}${inner}</${name}><!-- /wp:${block} -->`,
        ),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(oneOf(SHORTCODES), many(keptPairOf(SHORTCODE_ATTRIBUTES), 4), tie('text'))
        .map(([name, attributes, inner]) => `[${name}${attributes}]${inner}[/${name}]`),
    },
    { weight: 1, arbitrary: concat(fc.constant('<!--'), tie('text'), fc.constant('-->')) },
    // A URL alone on its line, or what looks like a line.
    { weight: 2, arbitrary: concat(oneOf(BLANKS), oneOf(URLS), oneOf(BLANKS)) },
    { weight: 1, arbitrary: concat(fc.constant('<p>'), oneOf(BLANKS), oneOf(URLS), oneOf(BLANKS), fc.constant('</p>')) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  ),
}));

/** A text that a hostile author may write. A text without blocks is rendered in other steps than one with blocks. */
export const hostileText = fc.oneof(
  anyText,
  anyText.map((text) => text.replaceAll('<!-- wp:', '<!-- ')),
);
