import { trimAscii } from '../trim.ts';
import { decodeEntities, escHtml } from './entities.ts';
import { forwardSearch } from './html-pieces.ts';

/** Returns the text without tags, scripts and styles, trimmed (`wp_strip_all_tags`). */
export const stripAllTags = (text: string): string => trimAscii(stripTags(withoutScripts(text)));

/**
 * Returns one line of plain text (`sanitize_text_field`): without tags and percent-encoded bytes, runs of white space
 * as single spaces, trimmed.
 */
export function sanitizeTextField(text: string): string {
  let out = text.replace(/\p{Surrogate}/gu, '\ufffd');
  // "<\n" is escaped, since removing the line break in a later step could turn it into a tag.
  if (out.includes('<')) out = stripAllTags(escapeUnclosedTags(out)).replaceAll('<\n', '&lt;\n');
  out = trimAscii(out.replace(/[\r\n\t ]+/g, ' '));
  const stripped = withoutPercentEncoded(out);
  return stripped === out ? out : trimAscii(stripped.replace(/ +/g, ' '));
}

/** The same for a text to be stored: control characters are also removed (decision D39). */
export const storedTextField = (text: string): string => sanitizeTextField(stripControlCharacters(text));

/**
 * Returns the start of a text, with a maximum number of characters as a column counts them. Surrogate pairs are not
 * split.
 */
export const firstCharacters = (text: string, limit: number): string =>
  text.length <= limit ? text : [...text.slice(0, 2 * limit)].slice(0, limit).join('');

/** Returns the text without control characters; tabs and line breaks stay (decision D39). */
export const stripControlCharacters = (text: string): string => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '');

/**
 * Returns whether an HTML text has visible content: letters, digits, signs or emoji outside tags and comments. Entities
 * are decoded; white space and zero-width characters do not count (decision D39).
 */
export function hasVisibleText(html: string): boolean {
  const text = decodeEntities(withoutScripts(html).replace(/<(?:!--.*?(?:-->|$)|[a-z/!?][^>]*(?:>|$))/gis, ''));
  return /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

/**
 * Removes tags as PHP's `strip_tags` does: a `>` within quotes does not end a tag, a `<` before white space is not a
 * tag, and comments, processing instructions and unclosed tags are removed as a whole.
 */
export function stripTags(text: string): string {
  if (!/[<>\0]/.test(text)) return text;
  const scan: Scan = { text, at: 0, out: '', state: 'text', depth: 0, quote: '', last: '', brackets: 0, xml: false };
  for (; scan.at < text.length; scan.at++) {
    const char = text[scan.at] as string;
    if (char === '>' && scan.depth > 0 && scan.state !== 'comment') scan.depth--;
    else STEPS[scan.state](scan, char);
  }
  return scan.out;
}

/** The construct that a character belongs to. */
type State = 'text' | 'tag' | 'instruction' | 'declaration' | 'comment';

/** State of scanning a text, with the variables of PHP's state machine (`php_strip_tags_ex`). */
interface Scan {
  readonly text: string;
  at: number;
  out: string;
  state: State;
  /** Number of open `<` within a tag. */
  depth: number;
  /** The open quote, or the empty text. */
  quote: string;
  /** The last significant character: a quote, a bracket, the end of a tag. */
  last: string;
  /** Number of open round brackets within an instruction. */
  brackets: number;
  /** Whether the tag is an XML declaration. */
  xml: boolean;
}

/** The transition for a character, by state. */
const STEPS: Readonly<Record<State, (scan: Scan, char: string) => void>> = {
  text: (scan, char) => {
    if (opensTag(scan, char)) {
      scan.state = 'tag';
      scan.last = '<';
    } else if (char !== '\0') scan.out += char;
  },
  tag: (scan, char) => {
    const { quote, xml } = scan;
    if (quote === '' && opensTag(scan, char)) scan.depth++;
    else if (char === '>' && quote === '') {
      scan.last = '>';
      if (!(xml && previousCharacter(scan) === '-')) endTag(scan);
    } else if (isQuote(char)) toggleQuote(scan, char);
    else if (char === '!' && previousCharacter(scan) === '<') {
      scan.state = 'declaration';
      scan.last = char;
    } else if (char === '?' && previousCharacter(scan) === '<') {
      scan.state = 'instruction';
      scan.brackets = 0;
    }
  },
  instruction: (scan, char) => {
    if ((char === '(' || char === ')') && !isQuote(scan.last)) {
      scan.last = char;
      scan.brackets += char === '(' ? 1 : -1;
    } else if (char === '>' && scan.quote === '') {
      if (scan.brackets === 0 && scan.last !== '"' && previousCharacter(scan) === '?') endTag(scan);
    } else if (isQuote(char) && previousCharacter(scan) !== '\\') {
      if (scan.last === char) scan.last = '\0';
      else if (scan.last !== '\\') scan.last = char;
      toggleQuote(scan, char);
    } else if (/l/i.test(char) && scan.at > 4 && isPrecededBy(scan, /<\?xm$/i, 4)) {
      scan.state = 'tag';
      scan.xml = true;
    }
  },
  declaration: (scan, char) => {
    if (char === '>' && scan.quote === '') endTag(scan);
    else if (isQuote(char) && previousCharacter(scan) !== '\\') toggleQuote(scan, char);
    else if (char === '-' && previousCharacter(scan) === '-' && previousCharacter(scan, 2) === '!') scan.state = 'comment';
    else if (/e/i.test(char) && scan.at > 6 && isPrecededBy(scan, /<!doctyp$/i, 8)) scan.state = 'tag';
  },
  comment: (scan, char) => {
    if (char === '>' && scan.quote === '' && previousCharacter(scan) === '-' && previousCharacter(scan, 2) === '-') endTag(scan);
  },
};

const previousCharacter = ({ text, at }: Scan, by = 1): string | undefined => text[at - by];

/** Returns whether the preceding characters, at most `limit` of them, match a pattern. */
const isPrecededBy = ({ text, at }: Scan, word: RegExp, limit: number): boolean => word.test(text.slice(Math.max(0, at - limit), at));

const opensTag = ({ text, at }: Scan, char: string): boolean => char === '<' && !/[ \t\n\r\f\v]/.test(text[at + 1] ?? '');

const isQuote = (char: string): boolean => char === '"' || char === "'";

/** Opens a quote, or closes the open one. Within a quote, the other quotation mark has no meaning. */
function toggleQuote(scan: Scan, char: string): void {
  if (scan.quote === '' || scan.quote === char) scan.quote = scan.quote === '' ? char : '';
}

function endTag(scan: Scan): void {
  scan.state = 'text';
  scan.quote = '';
  scan.xml = false;
}

/**
 * Replaces the `<` of a tag that is interrupted by another `<` or the end of the text by `&lt;`
 * (`wp_pre_kses_less_than`).
 */
export const escapeUnclosedTags = (text: string): string => text.replace(/<[^<>]*>?/g, (tag) => (tag.endsWith('>') ? tag : escHtml(tag)));

/** Removes `%41` and the like, including those that result from removing others. */
function withoutPercentEncoded(text: string): string {
  if (!/%[a-f0-9]{2}/i.test(text)) return text;
  const characters: string[] = [];
  for (const char of text) {
    characters.push(char);
    if (isHex(char) && isHex(characters.at(-2)) && characters.at(-3) === '%') characters.length -= 3;
  }
  return characters.join('');
}

const isHex = (char: string | undefined) => char !== undefined && /^[a-f0-9]$/i.test(char);

/** Returns the text without `script` and `style` elements and their content. */
export function withoutScripts(text: string): string {
  if (!/<(?:script|style)/i.test(text)) return text;
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const closings = { script: forwardSearch(lower, '</script>'), style: forwardSearch(lower, '</style>') };
  const endOfOpening = forwardSearch(lower, '>');
  const opening = /<(script|style)/g;
  let out = '';
  let position = 0;
  for (let match = opening.exec(lower); match !== null; match = opening.exec(lower)) {
    const name = match[1] as 'script' | 'style';
    const tagEnd = endOfOpening(match.index);
    const closing = tagEnd === -1 ? -1 : closings[name](tagEnd + 1);
    if (closing === -1) continue;
    out += text.slice(position, match.index);
    position = closing + name.length + 3;
    opening.lastIndex = position;
  }
  return out + text.slice(position);
}
