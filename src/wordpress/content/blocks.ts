import { objectOf } from '../../objects.ts';
import { tableOf } from '../table.ts';
import { type BlockAttributes, blockTokens } from './block-grammar.ts';
import { addParagraphs } from './paragraphs.ts';

/**
 * Maximum depth of nested blocks. The HTML of a block is processed again for each block around it. Deeper blocks are
 * treated as a part of the block that contains them: their comments are removed, their HTML stays.
 */
const MAX_DEPTH = 100;

/**
 * Returns the HTML of a content made with the block editor (`do_blocks`): the comments are removed, and the saved HTML
 * of the blocks stays, with the classes that WordPress adds when it shows them. Blocks that a server renders from other
 * data (menus, lists of posts, comments) render to nothing.
 */
export function renderBlocks(content: string): string {
  const root: OpenBlock = { name: '', attributes: {}, parts: [], inner: 0 };
  const stack = [root];
  let rest = '';
  let tooDeep = 0;
  const tokens = blockTokens(content);
  for (const [index, token] of tokens.entries()) {
    const parent = stack.at(-1) as OpenBlock;
    if (token.kind === 'text') parent.parts.push(token.text);
    else if (token.kind === 'open' && stack.length > MAX_DEPTH) tooDeep++;
    else if (token.kind === 'open') stack.push({ name: token.name, attributes: token.attributes ?? {}, parts: [], inner: 0 });
    else if (token.kind === 'close' && tooDeep > 0) tooDeep--;
    else if (token.kind === 'void') addBlock(parent, { name: token.name, attributes: token.attributes ?? {}, parts: [], inner: 0 });
    else if (stack.length > 1) addBlock(stack.at(-2) as OpenBlock, stack.pop() as OpenBlock);
    else {
      // A closing comment without an opening one: the rest of the content is copied unchanged.
      rest = tokens
        .slice(index)
        .map(({ text }) => text)
        .join('');
      break;
    }
  }
  while (stack.length > 1) addBlock(stack.at(-2) as OpenBlock, stack.pop() as OpenBlock);
  return root.parts.join('') + rest;
}

/** Blocks whose text may be part of an excerpt (`excerpt_remove_blocks`), and those that only surround others. */
const EXCERPT_TEXTS = blockNames('freeform heading html list list-item media-text paragraph preformatted pullquote quote table verse');
const EXCERPT_WRAPPERS = blockNames('columns column group');

function blockNames(names: string): ReadonlySet<string> {
  return new Set(names.split(' ').map((name) => `core/${name}`));
}

/** A block, or a text outside of all blocks (`name` empty), with the place of its tokens. */
interface ExcerptPart {
  readonly name: string;
  readonly from: number;
  to: number;
  readonly inner: ExcerptPart[];
}

/**
 * Returns the content without the blocks that an excerpt leaves out, such as images and buttons. A block that contains
 * one of these, or blocks with blocks of their own, is left out as a whole, unless it only surrounds other blocks: of
 * such a block, and of the blocks in it, the innermost blocks stay.
 */
export function excerptBlocks(content: string): string {
  const tokens = blockTokens(content);
  const html = (parts: readonly ExcerptPart[]): string =>
    parts
      .flatMap(({ from, to }) => tokens.slice(from, to))
      .map(({ text }) => text)
      .join('');
  return html(
    excerptParts(tokens).flatMap((part) => (EXCERPT_WRAPPERS.has(part.name) ? innermost(part) : hasPlainText(part) ? [part] : [])),
  );
}

/** Whether an excerpt contains the whole of a part that is no wrapper. */
const hasPlainText = ({ name, inner }: ExcerptPart): boolean =>
  (name === '' || EXCERPT_TEXTS.has(name)) && inner.every((one) => EXCERPT_TEXTS.has(one.name) && one.inner.length === 0);

/** Returns the innermost blocks of a wrapper; a block with blocks of its own counts as one, whichever it is. */
function innermost(part: ExcerptPart): ExcerptPart[] {
  if (part.inner.length === 0) return [part];
  return part.inner.flatMap((one) => (EXCERPT_TEXTS.has(one.name) || EXCERPT_WRAPPERS.has(one.name) ? innermost(one) : []));
}

/**
 * Returns the outermost blocks and the texts between them. Blocks that are nested too deeply belong to the one around.
 */
function excerptParts(tokens: ReturnType<typeof blockTokens>): readonly ExcerptPart[] {
  const root: ExcerptPart = { name: '', from: 0, to: tokens.length, inner: [] };
  const stack = [root];
  let tooDeep = 0;
  for (const [from, token] of tokens.entries()) {
    const parent = stack.at(-1) as ExcerptPart;
    const part: ExcerptPart = {
      name: 'name' in token ? token.name : '',
      from,
      to: token.kind === 'open' ? tokens.length : from + 1,
      inner: [],
    };
    if (token.kind === 'open' && stack.length > MAX_DEPTH) tooDeep++;
    else if (token.kind === 'close' && tooDeep > 0) tooDeep--;
    else if (token.kind === 'close' && stack.length > 1) (stack.pop() as ExcerptPart).to = from + 1;
    // The rest after a closing comment without an opening one counts as a text.
    else if (token.kind === 'close') return [...root.inner, { ...part, name: '', to: tokens.length }];
    else if (token.kind !== 'text' || parent === root) parent.inner.push(part);
    if (token.kind === 'open' && parent.inner.at(-1) === part) stack.push(part);
  }
  return root.inner;
}

interface OpenBlock {
  readonly name: string;
  readonly attributes: BlockAttributes;
  /** Saved HTML and rendered inner blocks, in order. */
  readonly parts: string[];
  /** Number of inner blocks that have been rendered. */
  inner: number;
}

function addBlock(parent: OpenBlock, block: OpenBlock): void {
  parent.parts.push(renderBlock(block));
  parent.inner++;
}

/** Blocks that show other data of the site, and whose inner blocks are templates. */
const DYNAMIC =
  /^core\/(?:post-(?!content$)|comment|query-|navigation|site-|template-part$|block$|pattern$|archives$|avatar$|calendar$|categories$|latest-|loginout$|page-list|read-more$|rss$|search$|social-link$|tag-cloud$|term-|footnotes$)/;

function renderBlock(block: OpenBlock): string {
  if (DYNAMIC.test(block.name)) return '';
  const html = withLayout(block);
  switch (block.name) {
    case 'core/paragraph':
      return addClass(html, ['p'], 'wp-block-paragraph');
    case 'core/heading':
      return addClass(html, ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'], 'wp-block-heading');
    case 'core/list':
      return addClass(html, ['ul', 'ol'], 'wp-block-list');
    case 'core/shortcode':
      // The editor puts no blocks inside a shortcode block, and a text that was processed here would be processed again
      // at each level.
      return block.inner === 0 ? addParagraphs(html) : html;
    default:
      return html;
  }
}

/** Blocks that lay out their inner blocks, and their layout unless their attribute `layout` says otherwise. */
const LAYOUTS: ReadonlyMap<string, string> = tableOf({
  'core/group': 'flow',
  'core/column': 'flow',
  'core/quote': 'flow',
  'core/details': 'flow',
  'core/cover': 'flow',
  'core/columns': 'flex',
  'core/buttons': 'flex',
  'core/gallery': 'flex',
  'core/social-links': 'flex',
});

/** Adds the classes of a layout to the tag that contains the inner blocks (`wp_render_layout_support_flag`). */
function withLayout({ name, attributes, parts, inner }: OpenBlock): string {
  const defaultType = LAYOUTS.get(name);
  if (defaultType === undefined) return parts.join('');
  const layout = objectOf(attributes.layout);
  const type = typeof layout.type === 'string' && /^[a-z]+$/.test(layout.type) && layout.type !== 'default' ? layout.type : defaultType;
  const classes = [
    layout.orientation === 'vertical' ? 'is-vertical' : '',
    typeof layout.justifyContent === 'string' && /^[a-z-]+$/.test(layout.justifyContent)
      ? `is-content-justification-${layout.justifyContent}`
      : '',
    layout.flexWrap === 'nowrap' ? 'is-nowrap' : '',
    `is-layout-${type}`,
    `wp-block-${name.slice('core/'.length)}-is-layout-${type}`,
  ].filter((className) => className !== '');
  const [first = '', ...others] = parts;
  // The wrapper is the innermost tag that is open before the first inner block.
  const wrapper = inner > 0 ? first.search(/<[a-z][^<>]*>[^<]*$/i) : first.search(/<[a-z]/i);
  if (wrapper === -1) return parts.join('');
  return first.slice(0, wrapper) + addClass(first.slice(wrapper), null, classes.join(' ')) + others.join('');
}

/**
 * Returns the first complete opening tag with one of these names (null: any name). A `>` within quotes does not end a
 * tag.
 */
function firstTag(html: string, names: readonly string[] | null): RegExpExecArray | undefined {
  for (const tag of html.matchAll(TAG)) {
    if (tag[3] === '') return undefined;
    if (names === null || names.includes(tag[1]!.toLowerCase())) return tag;
  }
  return undefined;
}

const TAG = /<([a-z][a-z0-9-]*)(?=[ \t\n\r\f/>])((?:[^>"']|"[^"]*"|'[^']*')*)(>?)/gi;

/** An attribute of a tag: its name, and its value with the quotes around it. */
const ATTRIBUTE = /([^ \t\n\r\f/>=]+)(?:[ \t\n\r\f]*=[ \t\n\r\f]*("[^"]*"|'[^']*'|[^ \t\n\r\f>]*))?/g;

/**
 * Adds a class to the first tag with one of these names (null: any name), unless it already has it
 * (`WP_HTML_Tag_Processor::add_class`).
 */
function addClass(html: string, names: readonly string[] | null, className: string): string {
  const tag = firstTag(html, names);
  if (tag === undefined) return html;
  const [tagText, name = '', attributes = ''] = tag;
  // The text `class=` within the value of another attribute is not one.
  const classMatch = [...attributes.matchAll(ATTRIBUTE)].find(([, attribute]) => attribute?.toLowerCase() === 'class');
  const value = unquoted(classMatch?.[2] ?? '');
  if (value.split(/\s+/).includes(className)) return html;
  const written = `class="${value === '' ? '' : `${value.replaceAll('"', '&quot;')} `}${className}"`;
  const newAttributes =
    classMatch === undefined
      ? ` ${written}${attributes}`
      : attributes.slice(0, classMatch.index) + written + attributes.slice(classMatch.index + classMatch[0].length);
  return `${html.slice(0, tag.index)}<${name}${newAttributes}>${html.slice(tag.index + tagText.length)}`;
}

const unquoted = (value: string) => (/^["']/.test(value) ? value.slice(1, -1) : value);
