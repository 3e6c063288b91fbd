import { forwardSearch } from './html-pieces.ts';

/** The shortcodes of WordPress itself; others stay in the text unchanged. */
export const SHORTCODES = ['wp_caption', 'caption', 'gallery', 'playlist', 'audio', 'video', 'embed'] as const;
export type ShortcodeName = (typeof SHORTCODES)[number];

/** The start of a shortcode, and its name. */
const OPENING = new RegExp(`\\[(?=(?:${SHORTCODES.join('|')})(?![\\w-]))`, 'g');
const TAG = new RegExp(`\\[(${SHORTCODES.join('|')})(?![\\w-])`, 'y');

/**
 * One use of a shortcode in a text: its position, its name, its raw attributes, and the enclosed content (null: `[tag]`
 * alone).
 */
export interface Shortcode {
  readonly start: number;
  readonly end: number;
  readonly name: ShortcodeName;
  readonly attributes: string;
  readonly content: string | null;
  /** `[[tag]]`: shown as `[tag]`. */
  readonly isEscaped: boolean;
  /** Its end if the enclosed content is not counted. */
  readonly tagEnd: number;
}

/** Attributes of a shortcode: named ones in lower case, unnamed ones under their position. */
export type ShortcodeAttributes = Readonly<Record<string, string>>;

/**
 * Returns all uses of the given shortcodes, in order and not overlapping, as `get_shortcode_regex` finds them: the tag
 * ends at the first `]`, `/]` closes it at once, otherwise it extends to its closing tag if there is one.
 */
export function findShortcodes(text: string, names: readonly ShortcodeName[] = SHORTCODES): Shortcode[] {
  if (!text.includes('[')) return [];
  const next = shortcodeReader(text, names);
  const shortcodes: Shortcode[] = [];
  const opening = new RegExp(OPENING);
  let lastEnd = 0;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const shortcode = next(match.index, match.index > lastEnd && text[match.index - 1] === '[');
    if (shortcode === null) continue;
    shortcodes.push(shortcode);
    lastEnd = shortcode.end;
    opening.lastIndex = shortcode.end;
  }
  return shortcodes;
}

/**
 * Returns a function that reads the shortcode whose `[` is at a position; null if there is none. It must be called with
 * increasing positions.
 */
export function shortcodeReader(
  text: string,
  names: readonly ShortcodeName[] = SHORTCODES,
): (open: number, isDoubled?: boolean) => Shortcode | null {
  const tag = new RegExp(TAG);
  const bracket = forwardSearch(text, ']');
  const closings = new Map(names.map((name) => [name, forwardSearch(text, `[/${name}]`)]));
  return (open, isDoubled = false) => {
    tag.lastIndex = open;
    const name = tag.exec(text)?.[1] as ShortcodeName | undefined;
    if (name === undefined || !names.includes(name)) return null;
    const close = bracket(open);
    if (close === -1) return null;
    const attributesStart = open + 1 + name.length;
    const selfClosing = close > attributesStart && text[close - 1] === '/';
    const closing = selfClosing ? -1 : (closings.get(name)?.(close + 1) ?? -1);
    const innerEnd = closing === -1 ? close + 1 : closing + name.length + 3;
    const isEscaped = isDoubled && text[innerEnd] === ']';
    return {
      start: isEscaped ? open - 1 : open,
      end: isEscaped ? innerEnd + 1 : innerEnd,
      name,
      attributes: text.slice(attributesStart, selfClosing ? close - 1 : close),
      content: closing === -1 ? null : text.slice(close + 1, closing),
      isEscaped,
      tagEnd: close + 1,
    };
  };
}

/**
 * Returns the index after the `]` or `]]` of a shortcode's tag whose name ends at `from`, or -1. The tag may contain
 * HTML elements but no other bracket. This stricter reading is the one of `wptexturize`; here, the tag contains no
 * comment either, since its end may be behind the tag.
 */
export function shortcodeTagEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const char = text[at];
    if (char === ']') return text[at + 1] === ']' ? at + 2 : at + 1;
    if (char === '[' || char === '>' || text.startsWith('<!--', at)) return -1;
    if (char === '<') {
      const stop = nextOf(text, at + 1, '[]>');
      if (text[stop] !== '>') return -1;
      at = stop + 1;
    } else at = nextOf(text, at + 1, '[]<>');
  }
  return -1;
}

function nextOf(text: string, from: number, chars: string): number {
  let at = from;
  while (at < text.length && !chars.includes(text[at] as string)) at++;
  return at;
}

/**
 * Returns the attributes of a shortcode's tag (`shortcode_parse_atts`): `a="b"`, `a='b'`, `a=b`, and values without a
 * name.
 */
export function parseShortcodeAttributes(raw: string): ShortcodeAttributes {
  const text = raw.replace(/[\u00a0\u200b]+/g, ' ').trim();
  const pattern =
    /([\w-]+)\s*=\s*"([^"]*)"(?=\s|$)|([\w-]+)\s*=\s*'([^']*)'(?=\s|$)|([\w-]+)\s*=\s*([^\s'"]+)(?=\s|$)|"([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|(\S+)/g;
  const attributes: Record<string, string> = Object.create(null);
  let position = 0;
  for (const match of text.matchAll(pattern)) {
    const name = match[1] ?? match[3] ?? match[5];
    const value = match[2] ?? match[4] ?? match[6] ?? match[7] ?? match[8] ?? match[9] ?? '';
    attributes[name?.toLowerCase() ?? String(position++)] = withoutUnclosedElement(value.replace(/\\(.)/gs, '$1'));
  }
  return attributes;
}

/** Returns the value, or the empty text if it contains an HTML element that is not closed. */
const withoutUnclosedElement = (value: string) => (value.lastIndexOf('<') > value.lastIndexOf('>') ? '' : value);
