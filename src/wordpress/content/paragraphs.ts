import { autop } from '@wordpress/autop';
import { SPACES } from './html-pieces.ts';
import { findShortcodes, type Shortcode, shortcodeReader } from './shortcode-grammar.ts';

/**
 * Adds paragraphs for blank lines and `<br />` for single line breaks (`wpautop`). A package does the main work. This
 * file adds the differences of PHP's function (non-ASCII spaces are not white space, every `figcaption` counts, an `hr`
 * ends a paragraph), and prevents the package's patterns from scanning a hostile text repeatedly.
 */
export function addParagraphs(text: string): string {
  const runs: string[] = [];
  const prepared = outsidePre(shieldManyPre(hideBreaksInQuotes(hideWideBlanks(text))), (part) => {
    const withoutDoubleBreaks = part.replace(/<br[ \t\n\r\f\v]*\/?>[ \t\n\r\f\v]*<br[ \t\n\r\f\v]*\/?>/g, '\n\n');
    const shielded = shieldUnclosed(shieldCrowds(withoutDoubleBreaks)).replace(/[ \t\n\r\f\v]+/g, (run) => {
      if (run.length < MIN_LONG_RUN) return run;
      if (/[\n\r]/.test(run)) return '\n\n';
      runs.push(run);
      return LONG_RUN_PLACEHOLDER;
    });
    return shieldCaptions(shielded.replace(/(<hr[ \t\n\r\f\v]*?\/?>)/g, '$1\n\n'));
  });
  const html = autop(prepared)
    .replaceAll(SHIELD, '')
    .replaceAll(SHIELDED_OPEN, '<')
    .replace(/\ufde9/g, () => runs.shift() ?? '');
  return showWideBlanks(html.replaceAll(TAG_BREAK, '\n'));
}

/** Removes the `<p>` around a shortcode that is alone in its paragraph (`shortcode_unautop`). */
export function unwrapShortcodes(text: string): string {
  if (findShortcodes(text).length === 0) return text;
  const read = shortcodeReader(text);
  const opening = new RegExp(OPENING);
  let result = '';
  let position = 0;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const start = match.index + match[0].length;
    const paragraph = standsAlone(text, read(start));
    if (paragraph === null) continue;
    result += text.slice(position, match.index) + text.slice(start, paragraph.end);
    position = paragraph.paragraphEnd;
    opening.lastIndex = position;
  }
  return result + text.slice(position);
}

/** The markup around a shortcode that is alone in its paragraph. */
const OPENING = new RegExp(`<p>(?:${SPACES})*(?=\\[)`, 'g');
const CLOSING = new RegExp(`(?:${SPACES})*</p>`, 'y');

/**
 * Returns the end of the shortcode and of its paragraph if `</p>` follows, either after the enclosed content or
 * directly after the tag; null otherwise.
 */
function standsAlone(text: string, shortcode: Shortcode | null): { end: number; paragraphEnd: number } | null {
  if (shortcode === null) return null;
  const closing = new RegExp(CLOSING);
  for (const end of [shortcode.end, shortcode.tagEnd]) {
    closing.lastIndex = end;
    const match = closing.exec(text);
    if (match !== null) return { end, paragraphEnd: end + match[0].length };
  }
  return null;
}

/** Applies a function to everything except the `pre` elements, which are found in the same way as in the package. */
function outsidePre(text: string, change: (part: string) => string): string {
  if (!text.includes('<pre')) return change(text);
  return text
    .split('</pre>')
    .map((part, index, parts) => {
      const start = index === parts.length - 1 ? -1 : part.indexOf('<pre');
      return start === -1 ? change(part) : change(part.slice(0, start)) + part.slice(start);
    })
    .join('</pre>');
}

/** A noncharacter inserted into the name of a tag so that the package does not recognise it. */
const SHIELD = '\ufde8';
/** Minimum length of a run of white space that is set aside. */
const MIN_LONG_RUN = 300;
/** Placeholder for such a run. */
const LONG_RUN_PLACEHOLDER = '\ufde9';
/** More `<` than this without a `>` between them are not HTML. */
const MAX_UNCLOSED = 50;
const MAX_PRE = 1000;
const SHIELDED_OPEN = '\ufdea';

/** Placeholder for a line break within a tag. The spaces end the name of the tag, as the line break did. */
const TAG_BREAK = ' \ufdeb ';

/**
 * Hides line breaks within the tags of `blockquote`. The package writes a comment instead, and takes the end of that
 * for the end of the tag, behind which it writes a `<p>`: within an attribute (as WordPress does). Later steps would
 * take the rest of the attribute for text.
 */
const hideBreaksInQuotes = (text: string): string => text.replace(/<blockquote[^<>]*>/gi, (tag) => tag.replace(/\r\n|\r|\n/g, TAG_BREAK));

/** Removes white space around every `figcaption` and hides the tag. The package only does that for the first one. */
function shieldCaptions(text: string): string {
  if (!text.includes('<figcaption')) return text;
  return text
    .replace(/(?<![ \t\n\r\f\v])[ \t\n\r\f\v]*<figcaption/g, `<figcaption${SHIELD}`)
    .replace(/<\/figcaption>[ \t\n\r\f\v]*/g, `</figcaption${SHIELD}>`);
}

/**
 * Hides all but the first few of many `<` (and of audio and video shortcodes) that no `>` follows, since the package
 * would treat each as the start of a tag that may extend to the end of the text. Does the same with `<p><li...` outside
 * lists.
 */
function shieldCrowds(text: string): string {
  let allowed = MAX_UNCLOSED;
  return text
    .split('>')
    .map((part) => {
      let count = 0;
      return part.replace(/<|\[(?=audio|video)/g, (open) =>
        ++count > MAX_UNCLOSED ? (open === '<' ? SHIELDED_OPEN : `[${SHIELD}`) : open,
      );
    })
    .join('>')
    .replace(/<p><li(?![ \t\n\r\f\v/>])/g, (start) => (--allowed < 0 ? `<p>${SHIELD}<li` : start));
}

/** Hides `pre` elements after the first thousand from the package, which restores each one with a separate search. */
function shieldManyPre(text: string): string {
  let count = 0;
  return text.replace(/<(\/?)pre/g, (tag, slash: string) => {
    if (slash === '') count++;
    return count > MAX_PRE ? `<${slash}${SHIELD}pre` : tag;
  });
}

/**
 * Hides elements that are never closed, so that the package does not search for the end of each of them. Line breaks in
 * them are not kept.
 */
function shieldUnclosed(text: string): string {
  return ['script', 'svg', 'style', 'math'].reduce((out, name) => {
    const last = out.lastIndexOf(`</${name}>`);
    return out.slice(0, last + 1) + out.slice(last + 1).replaceAll(`<${name}`, `<${name.slice(0, 1)}${SHIELD}${name.slice(1)}`);
  }, text);
}

/** White space in JavaScript that is not white space in PHP, and its placeholders. */
const WIDE_BLANKS = '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
const FIRST_PLACEHOLDER = 0xfdd4;

const hideWideBlanks = (text: string) =>
  text
    .replace(/[\ufdd0-\ufdef]/g, '')
    .replace(/(?![ \t\n\r\f\v])\s/g, (blank) => String.fromCharCode(FIRST_PLACEHOLDER + WIDE_BLANKS.indexOf(blank)));
const showWideBlanks = (text: string) =>
  text.replace(/[\ufdd4-\ufde6]/g, (mark) => WIDE_BLANKS[mark.charCodeAt(0) - FIRST_PLACEHOLDER] as string);
