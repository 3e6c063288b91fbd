import { decodeEntities, escHtml } from './entities.ts';
import { forwardSearch } from './html-pieces.ts';
import { trimAscii } from './trim.ts';

/** The text without its tags, without scripts and styles, trimmed (`wp_strip_all_tags`). */
export const stripAllTags = (text: string): string => trimAscii(stripTags(withoutScripts(text)));

/** One line of plain text (`sanitize_text_field`): no tags, no percent-encoded bytes, white space as single blanks, trimmed. */
export const sanitizeTextField = (text: string): string => sanitizeText(text, false);

/** The text without control characters; tab and line breaks stay (decision D39). */
export const stripControlCharacters = (text: string): string => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '');

/**
 * Whether anything is to be seen of an HTML text: letters, digits, signs or emoji outside tags and comments, entities counting as what they stand
 * for, blanks and characters without width not at all (decision D39).
 */
export function hasVisibleText(html: string): boolean {
  const text = decodeEntities(withoutScripts(html).replace(/<(?:!--.*?(?:-->|$)|[a-z/!?][^>]*(?:>|$))/gis, ''));
  return /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

/**
 * Removes tags as PHP's `strip_tags` does: quotes within a tag hide its `>`, `<` before a blank is no tag, comments and processing
 * instructions go whole, and so does what is never closed.
 */
export function stripTags(text: string): string {
  if (!/[<>\0]/.test(text)) return text;
  let out = '';
  let state: 'text' | 'tag' | 'instruction' | 'declaration' | 'comment' = 'text';
  let depth = 0;
  let quote = '';
  let last = '';
  let brackets = 0;
  let xml = false;
  const toText = () => {
    state = 'text';
    quote = '';
    xml = false;
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    const before = text[at - 1];
    const isQuote = char === '"' || char === "'";
    if (char === '>' && depth > 0 && state !== 'comment') depth--;
    else if (state === 'text') {
      if (char === '<' && !/[ \t\n\r\f\v]/.test(text[at + 1] ?? '')) {
        state = 'tag';
        last = '<';
      } else if (char !== '\0') out += char;
    } else if (state === 'tag') {
      if (char === '<' && quote === '' && !/[ \t\n\r\f\v]/.test(text[at + 1] ?? '')) depth++;
      else if (char === '>' && quote === '') {
        last = '>';
        if (!(xml && before === '-')) toText();
      } else if (isQuote && (quote === '' || quote === char)) quote = quote === '' ? char : '';
      else if (char === '!' && before === '<') {
        state = 'declaration';
        last = char;
      } else if (char === '?' && before === '<') {
        state = 'instruction';
        brackets = 0;
      }
    } else if (state === 'instruction') {
      if (char === '(' && last !== '"' && last !== "'") {
        last = '(';
        brackets++;
      } else if (char === ')' && last !== '"' && last !== "'") {
        last = ')';
        brackets--;
      } else if (char === '>' && quote === '') {
        if (brackets === 0 && last !== '"' && before === '?') toText();
      } else if (isQuote && before !== '\\') {
        if (last === char) last = '\0';
        else if (last !== '\\') last = char;
        if (quote === '' || quote === char) quote = quote === '' ? char : '';
      } else if (/l/i.test(char) && /<\?xm$/i.test(text.slice(Math.max(0, at - 4), at)) && at > 4) {
        state = 'tag';
        xml = true;
      }
    } else if (state === 'declaration') {
      if (char === '>' && quote === '') toText();
      else if (isQuote && before !== '\\' && (quote === '' || quote === char)) quote = quote === '' ? char : '';
      else if (char === '-' && before === '-' && text[at - 2] === '!') state = 'comment';
      else if (/e/i.test(char) && at > 6 && /<!doctyp$/i.test(text.slice(Math.max(0, at - 8), at))) state = 'tag';
    } else if (char === '>' && quote === '' && before === '-' && text[at - 2] === '-') toText();
  }
  return out;
}

function sanitizeText(text: string, keepLines: boolean): string {
  let out = text.replace(/\p{Surrogate}/gu, '\ufffd');
  // A tag that a later step could complete by taking line breaks away is made harmless: "<\n".
  if (out.includes('<')) out = stripAllTags(escapeUnclosedTags(out)).replaceAll('<\n', '&lt;\n');
  if (!keepLines) out = out.replace(/[\r\n\t ]+/g, ' ');
  out = trimAscii(out);
  const decoded = withoutPercentEncoded(out);
  return decoded === out ? out : trimAscii(decoded.replace(/ +/g, ' '));
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
function withoutScripts(text: string): string {
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
