import { isRecord } from '../../objects.ts';
import { JSON_DEPTH, jsonExcess } from '../json.ts';

/** A token of a block document: HTML, or a comment that opens, closes or is a whole block (`void`). */
export type BlockToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'close'; readonly text: string; readonly name: string }
  | { readonly kind: 'open' | 'void'; readonly text: string; readonly name: string; readonly attributes: BlockAttributes | null };

/** The JSON object in the comment of a block. */
export type BlockAttributes = Readonly<Record<string, unknown>>;

/** Returns whether a content was made with the block editor (`has_blocks`). */
export const hasBlocks = (content: string): boolean => content.includes('<!-- wp:');

/**
 * Splits a content at its block comments (`WP_Block_Parser::next_token`): `<!-- wp:name {json} -->`, `<!-- /wp:name
 * -->`, `<!-- wp:name /-->`. Names include their namespace, which is `core/` by default. The concatenated texts of the
 * tokens are the content.
 */
export function blockTokens(content: string): BlockToken[] {
  const tokens: BlockToken[] = [];
  const readComment = commentReader(content);
  let position = 0;
  for (let at = content.indexOf('<!--'); at !== -1; at = content.indexOf('<!--', at + 4)) {
    if (at < position) continue;
    const comment = readComment(at);
    if (comment === null) continue;
    if (at > position) tokens.push({ kind: 'text', text: content.slice(position, at) });
    tokens.push(comment);
    position = at + comment.text.length;
  }
  if (position < content.length) tokens.push({ kind: 'text', text: content.slice(position) });
  return tokens;
}

/**
 * Returns the comment of a block as the editor writes it (`get_comment_delimited_block_content`), with everything
 * escaped that could end a comment or a tag.
 */
export function blockComment(name: string, attributes: BlockAttributes, { isVoid }: { readonly isVoid: boolean }): string {
  const json = JSON.stringify(attributes)
    .replaceAll('--', '\\u002d\\u002d')
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026')
    .replaceAll('\\"', '\\u0022');
  return `<!-- wp:${name.replace(/^core\//, '')} ${json === '{}' ? '' : `${json} `}${isVoid ? '/' : ''}-->`;
}

function commentReader(content: string): (at: number) => Exclude<BlockToken, { kind: 'text' }> | null {
  const start = /<!--[ \t\n\r\f\v]+(\/?)wp:((?:[a-z][a-z0-9_-]*\/)?[a-z][a-z0-9_-]*)[ \t\n\r\f\v]+/y;
  const end = /(\/?)-->/y;
  const jsonEnd = forwardPattern(content, /\}[ \t\n\r\f\v]+\/?-->/g);
  return (at) => {
    start.lastIndex = at;
    const [opening, slash, rawName] = start.exec(content) ?? [];
    if (opening === undefined || rawName === undefined) return null;
    let position = at + opening.length;
    let attributes: BlockAttributes | null = null;
    if (content[position] === '{') {
      const brace = jsonEnd(position);
      if (brace === -1) return null;
      attributes = parseObject(content.slice(position, brace + 1));
      position = brace + 1;
      while (/[ \t\n\r\f\v]/.test(content[position] ?? '')) position++;
    }
    end.lastIndex = position;
    const closing = end.exec(content);
    if (closing === null) return null;
    const name = rawName.includes('/') ? rawName : `core/${rawName}`;
    const text = content.slice(at, end.lastIndex);
    if (closing[1] === '/') return { kind: 'void', text, name, attributes };
    return slash === '/' ? { kind: 'close', text, name } : { kind: 'open', text, name, attributes };
  };
}

/** Like `forwardSearch`, for a pattern. */
function forwardPattern(text: string, pattern: RegExp): (from: number) => number {
  let index = -2;
  return (from) => {
    if (index === -1 || index >= from) return index;
    pattern.lastIndex = from;
    index = pattern.exec(text)?.index ?? -1;
    return index;
  };
}

/** Parses a JSON object with PHP's limit of depth, so that callers can process attributes recursively. */
function parseObject(json: string): BlockAttributes | null {
  if (jsonExcess(json, { depth: JSON_DEPTH, values: Number.POSITIVE_INFINITY })) return null;
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? (value as BlockAttributes) : null;
  } catch {
    return null;
  }
}
