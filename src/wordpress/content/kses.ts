import { isObject } from '../../objects.ts';
import { trimAscii } from '../trim.ts';
import { withoutBadProtocol } from '../web-url.ts';
import { type BlockAttributes, blockComment, blockTokens } from './block-grammar.ts';
import { convertInvalidEntities, normalizeEntities, specialChars } from './entities.ts';
import { forwardSearch } from './html-pieces.ts';
import { allowedStyle } from './kses-style.ts';
import { type AllowedElements, INLINE_ELEMENTS, POST_ELEMENTS, URL_ATTRIBUTES, VALUELESS_ATTRIBUTES } from './kses-tables.ts';
import { escapeUnclosedTags, firstCharacters, sanitizeTextField } from './plain-text.ts';

/**
 * Cleans the content or excerpt of a post by a user without the capability `unfiltered_html` (`wp_filter_post_kses`):
 * tags and attributes that are not allowed are removed, text between tags and comments stay. If nothing is removed, the
 * text stays unchanged except for lone `&`.
 */
export const ksesPost = (html: string): string => kses(html, POST_ELEMENTS);

/** Cleans the title of a post: only inline tags are allowed (`wp_filter_kses`). A lone `&` becomes `&amp;`. */
export const ksesTitle = (html: string): string => kses(html, INLINE_ELEMENTS);

/**
 * Returns the name of a term as it is stored, for all users (the filters of `pre_term_name`): plain text, `&` as
 * `&amp;`, quotes unchanged.
 */
export const sanitizeTermName = (raw: string): string => trimAscii(specialChars(kses(sanitizeTextField(raw), INLINE_ELEMENTS)));

/** Maximum number of characters of the column with a person's name. */
const MAX_DISPLAY_NAME = 250;

/**
 * Returns the name of a person as it is stored, for all users (the filters of `pre_user_display_name`), since themes
 * print it unescaped. A name that is too long for its column is cut.
 */
export function sanitizeDisplayName(raw: string): string {
  for (let limit = MAX_DISPLAY_NAME; ; limit -= 1) {
    const name = sanitizeTermName(firstCharacters(raw, limit));
    if ([...name].length <= MAX_DISPLAY_NAME) return name;
  }
}

/** Returns the description of a term as it is stored, for all users (the filters of `pre_term_description`). */
export const sanitizeTermDescription = (raw: string): string => kses(raw, INLINE_ELEMENTS);

/**
 * Returns a content or excerpt with the changes that are made before storing it, for all users (`content_save_pre`).
 */
export const storedContent = (html: string): string => convertInvalidEntities(html);

/** Maximum depth of comments within comments; real texts have none. */
const MAX_DEPTH = 8;

/**
 * `wp_kses`. Implemented here instead of by a library that parses HTML and writes it again, since allowed markup must
 * stay as it was typed.
 */
function kses(html: string, allowed: AllowedElements, depth = 0): string {
  if (depth > MAX_DEPTH) return '';
  const clean = normalizeEntities(html.replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, ''));
  return ksesTokens(cleanBlocks(escapeUnclosedTags(clean), allowed, depth), allowed, depth);
}

/**
 * Splits the text into tags and comments, as `wp_kses_split` does, and cleans each. A comment must end on its line;
 * otherwise it ends at the first `>`.
 */
function ksesTokens(html: string, allowed: AllowedElements, depth: number): string {
  const commentEnd = forwardSearch(html, '-->');
  const lineEnd = forwardSearch(html, '\n');
  const tagEnd = forwardSearch(html, '>');
  const marks = /[<>]/g;
  let out = '';
  let position = 0;
  for (let mark = marks.exec(html); mark !== null; mark = marks.exec(html)) {
    const start = mark.index;
    out += html.slice(position, start);
    position = start + 1;
    if (mark[0] === '>') out += '&gt;';
    else {
      position = endOf(start);
      out += cleanToken(html.slice(start, position), allowed, depth);
      marks.lastIndex = position;
    }
  }
  return out + html.slice(position);

  function endOf(start: number): number {
    const close = tagEnd(start);
    if (html.startsWith('<!--', start)) {
      const line = lineEnd(start);
      const end = commentEnd(start + 4);
      if (end !== -1 && (line === -1 || end < line)) return end + 3;
      if (line === -1 || line === html.length - 1) return line === -1 ? html.length : line;
    }
    return close === -1 ? html.length : close + 1;
  }
}

function cleanToken(token: string, allowed: AllowedElements, depth: number): string {
  if (/^(?:<\/[^a-zA-Z][^>]*>|<![a-z][^>]*>)$/.test(token)) return `<${token[1]}${cleanUntilStable(token.slice(2, -1), allowed, depth)}>`;
  if (token.startsWith('<!--')) {
    const comment = cleanUntilStable(token.replaceAll('<!--', '').replaceAll('-->', ''), allowed, depth);
    return comment === '' ? '' : `<!--${comment.replace(/--+/g, '-').replace(/-$/, '')}-->`;
  }
  const [opening = '', slash, name = ''] = /^<[ \t\n\r\f\v]*(\/[ \t\n\r\f\v]*)?([a-zA-Z0-9-]+)/.exec(token) ?? [];
  const attributes = token.slice(opening.length, token.endsWith('>') ? -1 : undefined);
  const allowedAttributes = allowed.get(name.toLowerCase());
  if (allowedAttributes === undefined) return '';
  if (slash !== undefined) return `</${name}>`;
  const selfClosing = /\/[ \t\n\r\f\v]*$/.test(attributes) ? ' /' : '';
  const keptAttributes = readAttributes(attributes).filter((attribute) => isAllowedName(attribute.name, allowedAttributes));
  const attributeTexts = keptAttributes.map(writeAttribute).filter((attribute) => attribute !== null);
  return `<${name}${attributeTexts
    .map((attribute) => ` ${attribute}`)
    .join('')
    .replace(/[<>]/g, '')}${selfClosing}>`;
}

/** Cleans a text repeatedly until it does not change. */
function cleanUntilStable(text: string, allowed: AllowedElements, depth: number): string {
  let current = text;
  for (let round = 0; round < MAX_DEPTH; round++) {
    const next = kses(current, allowed, depth + 1);
    if (next === current) return current;
    current = next;
  }
  return '';
}

/** An attribute as written; `value` is null if it has none, `quote` is "" if the value is unquoted. */
interface Attribute {
  readonly name: string;
  readonly value: string | null;
  readonly quote: string;
}

const NAME = /([_a-zA-Z][-_a-zA-Z0-9:.]*)/y;
const EQUALS = /[ \t\n\r\f\v]*=[ \t\n\r\f\v]*/y;
const VALUE = /(?:"([^"]*)"|'([^']*)'|([^ \t\n\r\f\v"']+))(?:[ \t\n\r\f\v]+|\/?$)/y;
const BLANKS = /[ \t\n\r\f\v]+/y;

/**
 * Returns the attributes of a tag, each name once (`wp_kses_hair`). Invalid text is skipped up to the next white space
 * outside quotes.
 */
function readAttributes(text: string): Attribute[] {
  const attributes = new Map<string, Attribute>();
  let at = 0;
  const read = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  const add = (attribute: Attribute) => {
    if (!attributes.has(attribute.name)) attributes.set(attribute.name, attribute);
  };
  while (at < text.length) {
    const name = read(NAME)?.[1];
    if (name !== undefined && read(EQUALS) !== null) {
      const value = read(VALUE);
      if (value !== null) {
        const quote = value[1] !== undefined ? '"' : value[2] !== undefined ? "'" : '';
        add({ name, value: value[1] ?? value[2] ?? value[3] ?? '', quote });
        continue;
      }
    } else if (name !== undefined && (at === text.length || read(BLANKS) !== null)) {
      add({ name, value: null, quote: '' });
      continue;
    }
    at = skipJunk(text, at);
  }
  return [...attributes.values()];
}

function skipJunk(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isBlank(text[at])) {
    const closing = text[at] === '"' || text[at] === "'" ? text.indexOf(text[at] as string, at + 1) : at;
    at = closing === -1 ? text.length : closing + 1;
  }
  while (at < text.length && isBlank(text[at])) at++;
  return at;
}

const isBlank = (char: string | undefined) => char !== undefined && ' \t\n\r\f\v'.includes(char);

function isAllowedName(name: string, allowed: ReadonlySet<string>): boolean {
  const low = name.toLowerCase();
  return allowed.has(low) || (allowed.has('data-*') && /^data-[a-z0-9_-]+$/.test(low));
}

/** Returns the attribute with a harmless value, or null if it must be removed. */
function writeAttribute({ name, value, quote }: Attribute): string | null {
  const low = name.toLowerCase();
  if (VALUELESS_ATTRIBUTES.has(low) && value !== null) return null;
  if (value === null) return low === 'style' ? null : name;
  const clean = low === 'style' ? allowedStyle(value) : URL_ATTRIBUTES.has(low) ? withoutBadProtocol(value) : value;
  if (low === 'style' && clean === '') return null;
  return `${name}=${quote || '"'}${clean}${quote || '"'}`;
}

/** Cleans the texts in the attributes of blocks (`filter_block_content`); blocks without unsafe texts stay as typed. */
function cleanBlocks(html: string, allowed: AllowedElements, depth: number): string {
  if (!html.includes('<!-- wp:') || depth > 0) return html;
  return blockTokens(html)
    .map((token) => {
      if (token.kind === 'text' || token.kind === 'close' || token.attributes === null) return token.text;
      const clean = cleanJson(token.attributes, allowed, depth);
      return JSON.stringify(clean) === JSON.stringify(token.attributes)
        ? token.text
        : blockComment(token.name, clean as BlockAttributes, { isVoid: token.kind === 'void' });
    })
    .join('');
}

function cleanJson(value: unknown, allowed: AllowedElements, depth: number): unknown {
  if (typeof value === 'string') return kses(value, allowed, depth + 1);
  if (Array.isArray(value)) return value.map((item) => cleanJson(item, allowed, depth));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [kses(key, allowed, depth + 1), cleanJson(item, allowed, depth)]));
}
