import { trimAscii } from '../trim.ts';
import { decodeEntities, escHtml } from './entities.ts';
import { forwardSearch } from './html-pieces.ts';

/** The text without its tags, without scripts and styles, trimmed (`wp_strip_all_tags`). */
export const stripAllTags = (text: string): string => trimAscii(stripTags(withoutScripts(text)));

/**
 * One line of plain text (`sanitize_text_field`): no tags, no percent-encoded bytes, white space as single blanks,
 * trimmed.
 */
export function sanitizeTextField(text: string): string {
  let out = text.replace(/\p{Surrogate}/gu, '\ufffd');
  // A tag that a later step could complete by taking line breaks away is made harmless: "<\n".
  if (out.includes('<')) out = stripAllTags(escapeUnclosedTags(out)).replaceAll('<\n', '&lt;\n');
  out = trimAscii(out.replace(/[\r\n\t ]+/g, ' '));
  const decoded = withoutPercentEncoded(out);
  return decoded === out ? out : trimAscii(decoded.replace(/ +/g, ' '));
}

/** The beginning of a text: so many characters at most, as a column counts them. No emoji is cut in half. */
export const firstCharacters = (text: string, most: number): string =>
  text.length <= most ? text : [...text.slice(0, 2 * most)].slice(0, most).join('');

/** The text without control characters; tab and line breaks stay (decision D39). */
export const stripControlCharacters = (text: string): string => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '');

/**
 * Whether anything is to be seen of an HTML text: letters, digits, signs or emoji outside tags and comments, entities
 * counting as what they stand for, blanks and characters without width not at all (decision D39).
 */
export function hasVisibleText(html: string): boolean {
  const text = decodeEntities(withoutScripts(html).replace(/<(?:!--.*?(?:-->|$)|[a-z/!?][^>]*(?:>|$))/gis, ''));
  return /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

/**
 * Removes tags as PHP's `strip_tags` does: quotes within a tag hide its `>`, `<` before a blank is no tag, comments and
 * processing instructions go whole, and so does what is never closed.
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

/** What a character may be part of. */
type State = 'text' | 'tag' | 'instruction' | 'declaration' | 'comment';

/** How far a text was gone through, with the variables of PHP's state machine (`php_strip_tags_ex`). */
interface Scan {
  readonly text: string;
  at: number;
  out: string;
  state: State;
  /** How many `<` are open within a tag. */
  depth: number;
  /** The quote that is open, or nothing. */
  quote: string;
  /** The last sign that counted: a quote, a bracket, an end of a tag. */
  last: string;
  /** How many round brackets are open within an instruction. */
  brackets: number;
  /** Whether the tag is an XML declaration. */
  xml: boolean;
}

/** What a character does in each state. */
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
      if (!(xml && before(scan) === '-')) endTag(scan);
    } else if (isQuote(char)) turnQuote(scan, char);
    else if (char === '!' && before(scan) === '<') {
      scan.state = 'declaration';
      scan.last = char;
    } else if (char === '?' && before(scan) === '<') {
      scan.state = 'instruction';
      scan.brackets = 0;
    }
  },
  instruction: (scan, char) => {
    if ((char === '(' || char === ')') && !isQuote(scan.last)) {
      scan.last = char;
      scan.brackets += char === '(' ? 1 : -1;
    } else if (char === '>' && scan.quote === '') {
      if (scan.brackets === 0 && scan.last !== '"' && before(scan) === '?') endTag(scan);
    } else if (isQuote(char) && before(scan) !== '\\') {
      if (scan.last === char) scan.last = '\0';
      else if (scan.last !== '\\') scan.last = char;
      turnQuote(scan, char);
    } else if (/l/i.test(char) && scan.at > 4 && follows(scan, /<\?xm$/i, 4)) {
      scan.state = 'tag';
      scan.xml = true;
    }
  },
  declaration: (scan, char) => {
    if (char === '>' && scan.quote === '') endTag(scan);
    else if (isQuote(char) && before(scan) !== '\\') turnQuote(scan, char);
    else if (char === '-' && before(scan) === '-' && before(scan, 2) === '!') scan.state = 'comment';
    else if (/e/i.test(char) && scan.at > 6 && follows(scan, /<!doctyp$/i, 8)) scan.state = 'tag';
  },
  comment: (scan, char) => {
    if (char === '>' && scan.quote === '' && before(scan) === '-' && before(scan, 2) === '-') endTag(scan);
  },
};

const before = ({ text, at }: Scan, by = 1): string | undefined => text[at - by];

/** Whether the characters before, so many at most, are these. */
const follows = ({ text, at }: Scan, word: RegExp, most: number): boolean => word.test(text.slice(Math.max(0, at - most), at));

const opensTag = ({ text, at }: Scan, char: string): boolean => char === '<' && !/[ \t\n\r\f\v]/.test(text[at + 1] ?? '');

const isQuote = (char: string): boolean => char === '"' || char === "'";

/** Opens a quote, or closes the one that is open. Within a quote the other sign means nothing. */
function turnQuote(scan: Scan, char: string): void {
  if (scan.quote === '' || scan.quote === char) scan.quote = scan.quote === '' ? char : '';
}

function endTag(scan: Scan): void {
  scan.state = 'text';
  scan.quote = '';
  scan.xml = false;
}

/** `<` of a tag that another `<` or the end cuts off becomes `&lt;` (`wp_pre_kses_less_than`). */
export const escapeUnclosedTags = (text: string): string => text.replace(/<[^<>]*>?/g, (tag) => (tag.endsWith('>') ? tag : escHtml(tag)));

/** Takes out `%41` and the like, and those that arise from taking out. */
function withoutPercentEncoded(text: string): string {
  if (!/%[a-f0-9]{2}/i.test(text)) return text;
  const kept: string[] = [];
  for (const char of text) {
    kept.push(char);
    if (isHex(char) && isHex(kept.at(-2)) && kept.at(-3) === '%') kept.length -= 3;
  }
  return kept.join('');
}

const isHex = (char: string | undefined) => char !== undefined && /^[a-f0-9]$/i.test(char);

/** The text without `script` and `style` elements and what they hold. */
export function withoutScripts(text: string): string {
  if (!/<(?:script|style)/i.test(text)) return text;
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const closings = { script: forwardSearch(lower, '</script>'), style: forwardSearch(lower, '</style>') };
  const endOfOpening = forwardSearch(lower, '>');
  const opening = /<(script|style)/g;
  let out = '';
  let done = 0;
  for (let match = opening.exec(lower); match !== null; match = opening.exec(lower)) {
    const name = match[1] as 'script' | 'style';
    const tagEnd = endOfOpening(match.index);
    const closing = tagEnd === -1 ? -1 : closings[name](tagEnd + 1);
    if (closing === -1) continue;
    out += text.slice(done, match.index);
    done = closing + name.length + 3;
    opening.lastIndex = done;
  }
  return out + text.slice(done);
}
